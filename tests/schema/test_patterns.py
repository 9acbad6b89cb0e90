"""A schema's own expressions hold nobody up: linear ones hold for every text, others on short texts and few of them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from dragoman.schema.patterns import BUDGET, LONGEST, PER_RETURN, affordable, is_linear
from dragoman.schema.validation import check_schema, faults

LINEAR = ["^[a-z]+$", "(a+)+$", r"\d{4}-\d\d", r"a\\1", "(?:x|y)*?", "(?i)abc", r"^\p{L}+$", "(?P<n>a)", "a++", r"[+*?][(][?]"]
GOES_BACK = [r"(a)\1", "(?=a)b", "^(?!x)", "(?<=a)b", "(?<!a)b", r"(?<n>a)\k<n>", r"(?:(?=.*b)a)+c"]
SLOW = r"(?:(?=.*b)a)+c"
"""On a text of n letters it takes n × n steps, and more."""


@pytest.mark.parametrize("pattern", LINEAR)
def test_what_neither_looks_around_nor_refers_back_is_linear(pattern: str) -> None:
    assert is_linear(pattern)


@pytest.mark.parametrize("pattern", GOES_BACK)
def test_what_looks_around_or_refers_back_is_not(pattern: str) -> None:
    assert not is_linear(pattern)


def test_a_linear_pattern_holds_for_texts_of_any_length() -> None:
    schema = {"type": "string", "pattern": "^a+$"}
    assert [fault.keyword for fault in faults(schema, "a" * 100_000 + "!")] == ["pattern"]
    assert faults(schema, "a" * 100_000) == []


def test_one_that_may_go_back_holds_for_short_texts_and_says_nothing_of_long_ones() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": r"^(?!.*\.\.)[\w./]+$"}}}
    assert [(fault.path, fault.keyword) for fault in faults(schema, {"a": "x/../y"})] == [("$.a", "pattern")]
    assert "must match the pattern" in faults(schema, {"a": "x/../y"})[0].message
    assert faults(schema, {"a": "x/y"}) == []
    assert faults(schema, {"a": "../" * LONGEST}) == []


def test_one_that_took_too_many_steps_says_nothing() -> None:
    hard = {"type": "string", "pattern": r"^(a|aa)+(?<!c)$"}
    assert faults(hard, "a" * 60 + "!") == []
    assert [fault.keyword for fault in faults(hard, "!")] == ["pattern"]
    both = {**hard, "maxLength": 10}
    assert [fault.keyword for fault in faults(both, "a" * 60 + "!")] == ["maxLength"]


def test_a_schema_has_a_few_of_them() -> None:
    schema = {"properties": {f"p{n}": {"pattern": f"(?=a{n})"} for n in range(100)}}
    bounded = affordable(deepcopy(schema))
    kept = [each for each in bounded["properties"].values() if "allOf" in each]
    assert 0 < len(kept) <= BUDGET // PER_RETURN
    assert not any("pattern" in each for each in bounded["properties"].values())
    stacked = affordable({"allOf": [{"pattern": f"(?=a{n})"} for n in range(100)]})
    assert sum("allOf" in each for each in stacked["allOf"]) <= BUDGET // PER_RETURN


def test_names_are_put_to_linear_patterns_alone_and_nothing_is_forbidden_for_the_others() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "patternProperties": {"^x-": {"type": "integer"}, "^(?!x-)y": {"type": "integer"}},
        "additionalProperties": False,
    }
    assert [fault.path for fault in faults(schema, {"x-a": "no", "yes": 1})] == ['$["x-a"]']


def test_none_hides_where_only_a_reference_finds_it() -> None:
    places = ("default", "examples", "dependencies", "$defs", "x")
    for place in places:
        held = [{"pattern": SLOW}] if place == "examples" else {"b": {"pattern": SLOW}}
        where = f"#/{place}/0" if place == "examples" else f"#/{place}/b"
        schema = {"properties": {"a": {"$ref": where}}, place: held}
        assert faults(schema, {"a": "a" * 5000 + "b"}) == []
        bounded = affordable(deepcopy(schema))
        assert f"'pattern': {SLOW!r}" not in str(bounded).replace(f"'then': {{'pattern': {SLOW!r}}}", "")


@pytest.mark.parametrize("pattern", [*LINEAR, *GOES_BACK])
def test_they_are_sound_still(pattern: str) -> None:
    check_schema({"type": "string", "pattern": pattern}, "a request")


def test_a_slow_pattern_is_tried_on_every_text_of_a_long_answer_and_ends() -> None:
    schema = {"type": "array", "items": {"type": "string", "pattern": SLOW}}
    faults(schema, ["a" * (LONGEST - 1) + "b"] * 20 + ["a" * 1_000_000 + "b"] * 3)
