"""Calls against the possible answers of a benchmark: which values, types, names and orders are right."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.batch.scores.possible import Expectation, Strictness, among, fits

FITS: list[tuple[Any, list[Any], bool]] = [
    ("New York", ["new-york"], True),
    ("Boston", ["New York", "Ulm"], False),
    (5, [5.0], True),
    (True, [1], False),
    ("", ["a", ""], True),
    ([1, 2], [[1, 2]], True),
    ([1, 2], [[2, 1]], False),
    ({"a": 1}, [{"a": [1, 2], "b": [""]}], True),
    ({"a": 1, "c": 1}, [{"a": [1]}], False),
    (None, [None], True),
]


@pytest.mark.parametrize(("value", "choices", "right"), FITS)
def test_a_value_fits_one_of_the_possible_ones(value: Any, choices: list[Any], right: bool) -> None:
    assert among(value, choices) is right


def schema(*keys: str, **types: Any) -> dict[str, dict[str, Any]]:
    properties: dict[str, Any] = {key: {} for key in keys} | types
    return {"f": {"type": "object", "properties": properties, "required": ["a"]}}


def one(category: str = "simple", **possible: Any) -> Expectation:
    return Expectation(({"f": possible},), category)


ROWS: list[tuple[list[Any], Expectation, bool]] = [
    ([("f", {"a": 1})], one(a=[1], b=["", 2]), True),
    ([("f", {"a": 1, "b": 3})], one(a=[1], b=["", 2]), False),
    ([("f", {"b": 2})], one(a=[1], b=[2]), False),
    ([("f", {"a": 1, "z": 1})], one(a=[1]), False),
    ([("g", {"a": 1})], one(a=[1]), False),
    ([("f", {"a": 1})] * 2, one(a=[1]), False),
    ([("f", {"a": "new ArrayList<>(Arrays.asList(1, 2))"})], one("java", a=[[1, 2]]), True),
    ([("f", {"a": "{x: 1, 'y': true}"})], one("javascript", a=[{"x": [1], "y": [True]}]), True),
    ([("f", {"a": "x + 1"})], one("javascript", a=["x+2"]), False),
    ([("f", {"a": 1})], one("executable_simple", a=[1]), True),
    ([("f", {"a": 2})], one("executable_simple", a=[1]), False),
    ([], one(a=[1]), False),
    ([], Expectation(()), True),
]


@pytest.mark.parametrize(("calls", "expected", "right"), ROWS)
def test_calls_fit_what_a_row_expects(calls: list[Any], expected: Expectation, right: bool) -> None:
    [possible] = expected.calls or ({"f": {}},)
    assert fits(calls, expected, schema(*possible["f"])) is right


TYPES: list[tuple[Any, Any, Any, bool]] = [
    (5, {"type": "integer"}, [5], True),
    (5.0, {"type": "integer"}, [5], False),
    (5, {"type": "float"}, [5.0], True),
    (5, {"type": "number"}, [5.0], True),
    ("5", {"type": "integer"}, ["5"], True),  # the answer's own type passes too
    (True, {"type": "boolean"}, [True], True),
    ([1, 2], {"type": "array", "items": {"type": "integer"}}, [[1, 2]], True),
    ([1.0, 2], {"type": "array", "items": {"type": "integer"}}, [[1, 2]], False),
    ([1, 2], {"type": "array", "items": {"type": "float"}}, [[1.0, 2.0]], True),
    ([1, 2], {"type": "tuple", "items": {"type": "integer"}}, [[1, 2]], True),
    ({"x": 1}, {"type": "dict", "properties": {"x": {"type": "integer"}}}, [{"x": [1]}], True),
]


@pytest.mark.parametrize(("value", "declared", "choices", "right"), TYPES)
def test_the_leaderboards_match_compares_types_one_level_deep(
    value: Any, declared: Any, choices: Any, right: bool
) -> None:
    assert fits([("f", {"a": value})], one(a=choices), schema(a=declared), Strictness.EXACT) is right


def test_the_loose_match_takes_equal_numbers_of_any_type() -> None:
    assert fits([("f", {"a": 5.0})], one(a=[5]), schema(a={"type": "integer"}), Strictness.LOOSE)


def test_several_calls_fit_in_any_order_each_its_own() -> None:
    two = Expectation(({"f": {"a": [1, 2]}}, {"f": {"a": [1]}}))
    assert fits([("f", {"a": 1}), ("f", {"a": 2})], two, schema("a"))
    assert not fits([("f", {"a": 2}), ("f", {"a": 2})], two, schema("a"))


def test_dots_in_names_may_be_written_as_underscores() -> None:
    expected = Expectation(({"math.add": {"a": [1]}},))
    parameters = {"math.add": {"properties": {"a": {}}, "required": ["a"]}}
    assert fits([("math_add", {"a": 1})], expected, parameters)
    assert not fits([("mathadd", {"a": 1})], expected, parameters)


def test_rows_of_names_only_want_one_call_with_an_address() -> None:
    expected = Expectation(({"get": {}},), "rest", names_only=True)
    assert fits([("get", {"base_url": "https://x"})], expected, {})
    assert not fits([("get", {"id": 1})], expected, {})
    assert not fits([("get", {"url": "x"})] * 2, expected, {})
