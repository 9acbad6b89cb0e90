"""What a damaged JSON text may have been: strict JSON where one kind of sign is wrong, nothing where two are."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from dragoman.lenient.one_sign import is_json, readings
from dragoman.schema.validation import ANYTHING, shape

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "limit": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "grid": {"type": "array", "items": {"type": "array"}},
        "any": {"type": "array"},
        "steps": {"type": "array", "items": {"type": "object", "properties": {"do": {"type": "string"}}}},
    },
}
WANTED = {key: shape(SCHEMA).property(key) for key in SCHEMA["properties"]}


def read(text: str) -> list[Any]:
    """The values of all readings, each once."""
    found = [json.loads(reading.text) for reading in readings(text, WANTED)]
    return [value for at, value in enumerate(found) if value not in found[:at]]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'{\"query\": \"x\"}', {"query": "x"}),
        (r'{\"query\": \"say \\\"hi\\\"\\n\", \"limit\": 5}', {"query": 'say "hi"\n', "limit": 5}),
        (r'{\n  \"query\": \"x\"\n}', {"query": "x"}),
        (r'{\"query\": \"one\\ntwo\"}', {"query": "one\ntwo"}),
        (r'{\"query\": \"C:\\\\temp\"}', {"query": r"C:\temp"}),
        ('{"tags": ["a", "b", "limit": 5}', {"tags": ["a", "b"], "limit": 5}),
        ('{"tags": ["a", "b"}', {"tags": ["a", "b"]}),
        ('{"tags": "a", "b"], "limit": 5}', {"tags": ["a", "b"], "limit": 5}),
        ('{"steps": [{"do": "a"}, {"do": "b"}, "limit": 5}', {"steps": [{"do": "a"}, {"do": "b"}], "limit": 5}),
        ('{"query" = "x", "limit" = 5}', {"query": "x", "limit": 5}),
        ('{"query" => "a = b"}', {"query": "a = b"}),
        ("{query = \"x\"}", {"query": "x"}),
        ('{"query": "x", limit": 5}', {"query": "x", "limit": 5}),
        ('{"query": "x", "limit: 5}', {"query": "x", "limit": 5}),
        ("{'query: 'x'}", {"query": "x"}),
    ],
)
def test_a_text_with_one_sign_wrong_has_one_reading(text: str, value: Any) -> None:
    assert read(text) == [value]


@pytest.mark.parametrize(
    "text",
    [
        r'{\"query\": \"say \"hi\" now\"}',
        r'{\"query\": "x"}',
        r'{\"query\": \"x',
        r'{\"query\": \"C:\\temp\\new\"}',
        r'{"query": "x\"}',
        '{"tags": ["a", "b", "limit", 5}',
        '{"tags": ["a", "limit": 5, "b"]}',
        '{"tags": ["a", "b", "other": 5}',
        '{"tags": ["a", "b]", "limit": 5}',
        '{"tags": "[a", "b"], "limit": 5}',
        '{"tags": ["a", "b"',
        '{"tags": "a", "b", "limit": 5}',
        '{"query": ["a", "limit": 5}',
        '{"any": [1, "limit": 5}',
        '{"grid": [[1], [2, "limit": 5}',
        '{"steps": [{"do": "a"}, "do": "b"}',
        '{"query" == "x"}',
        '{"query" = "x", "other" = 1}',
        '{"query" = "a" = "b"}',
        '{"query": "x", "limit" >= 5}',
        '{"query": "x", other": 5}',
        '{"query": "x, limit": 5}',
        '{"query": "x", "limit: "5, "any": []}',
        '{"query:" x"}',
        '{"query": "x", limit": 5, tags": []}',
        ']', '}', ':', '{]', '{"tags": ]}', '"', "", "\\", '{\\"',
    ],
)
def test_a_text_with_two_signs_wrong_or_two_readings_has_none(text: str) -> None:
    assert read(text) == []


def test_every_reading_is_json_and_holds_all_of_the_text() -> None:
    for reading in readings('{"query": "x", limit": 5}', WANTED):
        assert is_json(reading.text)
        assert len(reading.text) == len('{"query": "x", limit": 5}') + 1


def test_a_key_that_stands_in_two_places_with_other_values_opens_no_list() -> None:
    assert [*readings('{"tags": ["a", "limit": 5}', {"tags": ANYTHING, "limit": ANYTHING})] == []


@pytest.mark.parametrize("unit", ["[", '\\"', '"\\"', "\\", ', "limit: 5', ', limit": 5', '"query" = 1,', '{\\"', ",", "="])
def test_the_steps_are_in_proportion_to_the_text(unit: str) -> None:
    begun = time.perf_counter()
    list(readings("{" + unit * (32_000 // len(unit)) + "}", WANTED))
    assert time.perf_counter() - begun < 1
