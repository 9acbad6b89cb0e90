"""Raw text and JSON values made to fit their schema."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.schema.validation import coerce, faults, read_text, shape
from dragoman.types import Edit
from tests.support.schemas import BOOL, INT, INTS, LIST, NULL, NUM, OBJ, STR, STRS, TREE, VALID, VALUES, rows

BIG = "123456789012345678901234567890"
ENUM = {"enum": ["celsius", "fahrenheit", "in_progress"]}

# (text, schema, value, the kind of mend).  Sources: formats.md 4.1 (vLLM's order), malformations.md 4.
TEXT: list[tuple[str, dict[str, Any], Any, str]] = [
    ("42", {}, "42", ""),
    # a string and nothing else is never parsed
    ("00123", STR, "00123", ""),
    ("null", STR, "null", ""),
    ('{"a":1}', STR, '{"a":1}', ""),
    (" x\n", STR, " x\n", ""),
    ('"x"', STR, '"x"', ""),
    ("", STR, "", ""),
    # numbers
    ("42", INT, 42, ""),
    ("-7", INT, -7, ""),
    (BIG, INT, int(BIG), ""),
    (BIG, NUM, int(BIG), ""),
    ("007", INT, 7, "spelling"),
    ("+5", INT, 5, "spelling"),
    (" 42\n", INT, 42, "spelling"),
    ("5.0", INT, 5, "spelling"),
    (BIG + ".0", INT, int(BIG), "spelling"),
    ("1e3", INT, 1000, "spelling"),
    ("1e30", INT, "1e30", ""),
    ("5.5", INT, "5.5", ""),
    ("3.14", NUM, 3.14, ""),
    ("1.5e-3", NUM, 0.0015, ""),
    (".5", NUM, 0.5, ""),
    ("5.", NUM, 5.0, ""),
    ("5.0", NUM, 5.0, ""),
    ("1e400", NUM, "1e400", ""),
    ("NaN", NUM, "NaN", ""),
    ("Infinity", NUM, "Infinity", ""),
    ("-inf", NUM, "-inf", ""),
    ("9" * 5000, INT, "9" * 5000, ""),
    ("1_000", INT, "1_000", ""),
    ("1,000", INT, "1,000", ""),
    ("٣", INT, "٣", ""),
    ("0x10", INT, "0x10", ""),
    ("3.14.159", NUM, "3.14.159", ""),
    ("", INT, "", ""),
    ("not a number", INT, "not a number", ""),
    ('"42"', INT, 42, "unquoted"),
    ("'42'", INT, 42, "unquoted"),
    # booleans, null
    ("true", BOOL, True, ""),
    ("True", BOOL, True, "spelling"),
    ("FALSE", BOOL, False, "spelling"),
    ("1", BOOL, True, "spelling"),
    ("yes", BOOL, "yes", ""),
    ("null", NULL, None, ""),
    ("None", {"type": ["integer", "null"]}, None, "spelling"),
    ("null", INT, "null", ""),
    ("NULL", INT, "NULL", ""),
    # unions: the other kinds strictly, else the string
    ("42", {"type": ["integer", "string"]}, 42, ""),
    ("007", {"type": ["integer", "string"]}, "007", ""),
    ("5.0", {"type": ["integer", "string"]}, "5.0", ""),
    (" 42", {"type": ["integer", "string"]}, " 42", ""),
    ("true", {"type": ["boolean", "string"]}, True, ""),
    ("True", {"type": ["boolean", "string"]}, "True", ""),
    ("null", {"type": ["string", "null"]}, None, ""),
    ("None", {"type": ["string", "null"]}, None, ""),
    ("nothing", {"type": ["string", "null"]}, "nothing", ""),
    ("1", {"type": ["boolean", "integer"]}, 1, ""),
    ('{"a": 1}', {"anyOf": [STR, OBJ]}, {"a": 1}, ""),
    ("[1]", {"type": ["array", "string"]}, [1], ""),
    ("Error: none", {"type": ["array", "string"]}, "Error: none", ""),
    ("42.5", {"anyOf": [STR, NUM]}, 42.5, ""),
    # structures
    ('{"a": {"b": [1, 2.5, null]}}', OBJ, {"a": {"b": [1, 2.5, None]}}, ""),
    ("[]", LIST, [], ""),
    (" {} ", OBJ, {}, ""),
    (f'{{"n": {BIG}}}', OBJ, {"n": int(BIG)}, ""),
    ('{"n": 1e999}', OBJ, '{"n": 1e999}', ""),
    ("[NaN]", LIST, "[NaN]", ""),
    ('{"a":1,"a":2}', OBJ, '{"a":1,"a":2}', ""),
    ('{"a":1,"a":1}', OBJ, {"a": 1}, ""),
    ("[1, 2, unclosed", LIST, "[1, 2, unclosed", ""),
    ("{}", LIST, [{}], "wrapped"),
    ("[1]", OBJ, "[1]", ""),
    ('["1", 2]', INTS, [1, 2], "string_to_integer"),
    ("[" * 5000 + "]" * 5000, LIST, "[" * 5000 + "]" * 5000, ""),
    ("[" * 100_000, LIST, "[" * 100_000, ""),
    ("[" * 200 + "]" * 200, LIST, "[" * 200 + "]" * 200, ""),
    # a scalar for an array
    ("a", STRS, ["a"], "wrapped"),
    ("7", INTS, [7], "wrapped"),
    ('{"n":1}', {"items": OBJ}, [{"n": 1}], "wrapped"),
    ("x", INTS, "x", ""),
    ("", STRS, "", ""),
    ("a, b", STRS, "a, b", ""),
    ("a\nb", STRS, "a\nb", ""),
    ("1, 2", INTS, [1, 2], "missing_brackets"),
    ("1, x", INTS, "1, x", ""),
    ("a", {"items": STRS}, "a", ""),
    ("a", {"type": ["array", "string"], "items": STR}, "a", ""),
    # enumerations
    ("celsius", ENUM, "celsius", ""),
    ("Celsius", ENUM, "celsius", "enum_spelling"),
    (" CELSIUS\n", ENUM, "celsius", "enum_spelling"),
    ('"celsius"', ENUM, "celsius", "enum_spelling"),
    ("in progress", ENUM, "in_progress", "enum_spelling"),
    ("kelvin", ENUM, "kelvin", ""),
    ("In-Progress", ENUM, "in_progress", "enum_spelling"),
    ("x" * 10_000, ENUM, "x" * 10_000, ""),
    ("A B", {"enum": ["ab", "a b"]}, "A B", ""),
    ("a b", {"enum": ["ab", "a b"]}, "a b", ""),
    ("1 d", {"enum": ["1d", "1w"]}, "1d", "enum_spelling"),
    ("1", {"enum": ["-1", "0"]}, "1", ""),
    ("price", {"enum": ["-price", "name"]}, "price", ""),
    ("1", {"enum": [1, 2]}, 1, ""),
    ("3", {"enum": [1, 2]}, 3, ""),
    ("1", {"enum": ["1", "2"]}, "1", ""),
    ("null", {"enum": ["a", None]}, None, ""),
]


@pytest.mark.parametrize(("text", "schema", "value", "mend"), TEXT, ids=lambda v: str(v)[:40])
def test_raw_text_is_read_as_its_schema_says(text: str, schema: dict[str, Any], value: Any, mend: str) -> None:
    got, edit = read_text(text, shape(schema))
    assert (got, type(got)) == (value, type(value))
    assert (edit.kind if edit else "") == mend


SCALARS = st.one_of(
    st.tuples(st.just(INT), st.integers(-(10**30), 10**30)),
    st.tuples(st.just(NUM), st.floats(allow_nan=False, allow_infinity=False)),
    st.tuples(st.just(BOOL), st.booleans()),
    st.tuples(st.just({"type": ["null", "integer"]}), st.none()),
)


@given(SCALARS)
def test_json_spellings_are_read_without_a_mend(
    pair: tuple[dict[str, Any], Any],
) -> None:
    schema, value = pair
    text = json.dumps(value)
    assert read_text(text, shape(schema)) == (value, None)
    got, edits = coerce(text, shape(schema))
    assert got == value
    assert len(edits) == 1


@given(st.text())
def test_a_string_parameter_takes_any_text_as_it_is(text: str) -> None:
    assert read_text(text, shape(STR)) == (text, None)
    assert coerce(text, shape(STR)) == (text, [])


# Rows of others where we differ, and why a maintainer of theirs would agree.
DIFFERS = {
    "NULL": "the parameter is not nullable: None would be an invention, and the validator can tell the model so",
    "null": "a parameter that is a string and nothing else is never parsed",
    "yes": "`yes` is not a spelling of false; the text stays and the validator tells the model",
}


OLLAMA = [r for r in rows("text/ollama.jsonl", "value") if r.get("schema") and r["options"]["fn"] == "parseValue"]


@pytest.mark.skipif(not OLLAMA, reason="the outside vectors are not here")
@pytest.mark.parametrize("row", OLLAMA, ids=lambda row: row["id"])
def test_ollama_reads_values_the_same_way(row: dict[str, Any]) -> None:
    text, schema = row["text"], row["schema"]
    # Trimming one newline from each end belongs to the dialect there; a type list that is empty means a string.
    text = text.removeprefix("\n").removesuffix("\n")
    got, _ = read_text(text, shape(schema if schema["type"] else STR))
    if text in DIFFERS and schema["type"] != "string":
        assert got == text
    else:
        expected = row.get("expected_value")
        # Their file leaves an empty or null expectation out; there the text itself, or its JSON, is meant.
        assert got == (expected if expected is not None else got)
        if expected is None:
            assert got in ("", "null", [], {})


# (value, schema, fitted, the kinds of the edits with their paths)
FITS: list[tuple[Any, Any, Any, str]] = [
    ("3", INT, 3, "string_to_integer$"),
    ("3.0", INT, 3, "string_to_integer$"),
    (BIG, INT, int(BIG), "string_to_integer$"),
    ("0.5", NUM, 0.5, "string_to_number$"),
    ("3", NUM, 3, "string_to_integer$"),
    ("1e400", NUM, "1e400", ""),
    ("abc", INT, "abc", ""),
    ("true", BOOL, True, "string_to_boolean$"),
    ("False", BOOL, False, "string_to_boolean$"),
    ("yes", BOOL, "yes", ""),
    ("null", {"type": ["integer", "null"]}, None, "string_to_null$"),
    ("null", INT, "null", ""),
    ("null", {"type": ["string", "null"]}, "null", ""),
    (3, STR, "3", "integer_to_string$"),
    (int(BIG), STR, BIG, "integer_to_string$"),
    (True, STR, "true", "boolean_to_string$"),
    (1.5, STR, "1.5", "number_to_string$"),
    (None, STR, None, ""),
    ({"a": 1}, STR, {"a": 1}, ""),
    ([1], STR, [1], ""),
    (5.0, INT, 5, "number_to_integer$"),
    (5.5, INT, 5.5, ""),
    (1e300, INT, 1e300, ""),
    (5, NUM, 5, ""),
    (5.0, NUM, 5.0, ""),
    (1, BOOL, True, "integer_to_boolean$"),
    (2, BOOL, 2, ""),
    (True, INT, True, ""),
    (True, NUM, True, ""),
    ("42", {"type": ["integer", "string"]}, "42", ""),
    ("[1]", {"type": ["array", "string"]}, "[1]", ""),
    ("x", {}, "x", ""),
    ('["a"]', STRS, ["a"], "string_to_array$"),
    ('{"a": "1"}', {"properties": {"a": INT}}, {"a": 1}, "string_to_object$ string_to_integer$.a"),
    ("a", STRS, ["a"], "string_to_array$"),
    (7, INTS, [7], "wrapped$"),
    ("7", INTS, [7], "string_to_array$"),
    (7, STRS, ["7"], "wrapped$ integer_to_string$[0]"),
    ({"a": "1"}, {"items": {"properties": {"a": INT}}}, [{"a": 1}], "wrapped$ string_to_integer$[0].a"),
    ({}, STRS, {}, ""),
    (None, STRS, None, ""),
    ([None], STRS, [None], ""),
    ("a, b", STRS, "a, b", ""),
    ([1, "2", [3]], INTS, [1, 2, [3]], "string_to_integer$[1]"),
    (["1", "x"], {"prefixItems": [INT, STR]}, [1, "x"], "string_to_integer$[0]"),
    ("LOW", {"enum": ["low", "high"]}, "low", "enum_spelling$"),
    (1, {"enum": ["1", "2"]}, "1", "integer_to_string$"),
    ("2", {"enum": [1, 2]}, 2, "string_to_integer$"),
    ("mid", {"enum": ["low", "high"]}, "mid", ""),
    (
        {"a b": "1", "c": 2},
        {"properties": {"a b": INT, "c": STR}},
        {"a b": 1, "c": "2"},
        'string_to_integer$["a b"] integer_to_string$.c',
    ),
    ({"x": "1"}, {"additionalProperties": INT}, {"x": 1}, "string_to_integer$.x"),
    ({"x": "1"}, OBJ, {"x": "1"}, ""),
    (
        {"kids": [{"kids": [{"name": 3}]}]},
        TREE,
        {"kids": [{"kids": [{"name": "3"}]}]},
        "integer_to_string$.kids[0].kids[0].name",
    ),
]


@pytest.mark.parametrize(("value", "schema", "fitted", "edits"), FITS, ids=lambda v: str(v)[:40])
def test_a_value_is_made_to_fit(value: Any, schema: dict[str, Any], fitted: Any, edits: str) -> None:
    before = json.dumps(value)
    got, made = coerce(value, shape(schema))
    assert (got, type(got)) == (fitted, type(fitted))
    assert " ".join(e.kind + e.path for e in made) == edits
    assert json.dumps(value) == before
    assert got is value or made


def test_a_union_of_objects_is_told_apart_by_its_constants() -> None:
    variants = [{"properties": {"kind": {"const": k}, "v": v}} for k, v in (("number", INT), ("text", STR))]
    it = shape({"anyOf": variants})
    assert coerce({"kind": "number", "v": "3"}, it)[0] == {"kind": "number", "v": 3}
    assert coerce({"kind": "text", "v": 3}, it)[0] == {"kind": "text", "v": "3"}
    assert coerce({"kind": "other", "v": "3"}, it)[0] == {"kind": "other", "v": "3"}


def test_the_path_of_an_edit_continues_the_one_given() -> None:
    assert coerce({"a": "1"}, shape({"properties": {"a": INT}}), "$.args")[1] == [
        Edit("string_to_integer", "$.args.a", "1", "1")
    ]


def test_edits_are_short_however_long_the_value() -> None:
    _, edits = coerce({"a": "[" + "1," * 10_000 + "1]"}, shape({"properties": {"a": INTS}}))
    assert all(len(e.before) < 100 and len(e.after) < 100 for e in edits)


def test_a_value_nested_too_deep_is_left_alone() -> None:
    value: Any = {"name": 1}
    for _ in range(5000):
        value = {"kids": [value]}
    got, edits = coerce(value, shape(TREE))
    assert got is value
    assert edits == []


@given(VALID)
def test_what_is_valid_is_left_as_it_is(pair: tuple[dict[str, Any], Any]) -> None:
    schema, value = pair
    assert faults(schema, value) == []
    assert coerce(value, shape(schema)) == (value, [])


@given(VALID, VALUES)
def test_what_fits_once_needs_nothing_more(pair: tuple[dict[str, Any], Any], value: Any) -> None:
    fitted, _ = coerce(value, shape(pair[0]))
    again, edits = coerce(fitted, shape(pair[0]))
    assert edits == []
    assert again is fitted


@pytest.mark.parametrize(
    ("text", "kinds", "value"),
    [
        ("['a', None, True]", "array", ["a", None, True]),
        ("{'a': (1, 2)}", "object", {"a": [1, 2]}),
        ("{'a': 1, 'a': 2}", "object", "{'a': 1, 'a': 2}"),
        ("[f(1)]", "array", "[f(1)]"),
        ("[1 + 2]", "array", "[1 + 2]"),
        ("[1e999]", "array", "[1e999]"),
        ("['\\d']", "array", "['\\d']"),
        ("['a'", "array", "['a'"),
        ("['a']", ["string", "array"], "['a']"),
    ],
)
def test_python_literals_are_read_and_expressions_are_not(text: str, kinds: Any, value: Any) -> None:
    """Chat templates that print values (Seed-OSS, MiniCPM 5) teach their models to write so."""
    found, edit = read_text(text, shape({"type": kinds}))
    assert found == value
    assert (edit is not None and edit.kind == "python_literal") == (found != text)
