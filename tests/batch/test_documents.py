"""Rows of a JSON document: streamed, numbered, each alone in its poison, however the document is set out."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.batch.options import Options
from dragoman.batch.running import documents
from dragoman.batch.running.documents import LISTS, Elements, mark_of
from dragoman.batch.running.engine import run
from dragoman.batch.running.job import Job
from dragoman.batch.running.sources import sources_of
from dragoman.batch.running.units import kind_of, plan, rows

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
)
VALUES = st.recursive(
    SCALARS | st.sampled_from(['a"b', "\\", "],[", "}\n  {", '{"a":']),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
STYLES: dict[str, Callable[[Any], str]] = {
    "on one line": lambda value: json.dumps(value, separators=(",", ":")),
    "with spaces": json.dumps,
    "indented": lambda value: json.dumps(value, indent=2, ensure_ascii=False),
    "with tabs": lambda value: json.dumps(value, indent="\t"),
    "without indent": lambda value: json.dumps(value, indent=0),
    "a line each": lambda value: "[\n" + ",\n".join(map(json.dumps, value)) + "\n]\n",
    "commas in front": lambda value: "[" + "\n  , ".join(map(json.dumps, value)) + "]",
    "CRLF": lambda value: json.dumps(value, indent=4).replace("\n", "\r\n"),
}


def elements(data: bytes, most: int = 1 << 20, chunk: int = 7) -> list[tuple[bytes, int, int]]:
    size, documents.CHUNK = documents.CHUNK, chunk
    try:
        return [
            (one.stretch.data, one.stretch.size, one.offset)
            for one in Elements(io.BytesIO(data), 0, most, b"", mark_of(data))
        ]
    finally:
        documents.CHUNK = size


@given(st.lists(VALUES, max_size=6), st.sampled_from(list(STYLES)), st.integers(1, 40))
def test_elements_are_those_that_json_says(values: list[Any], style: str, chunk: int) -> None:
    data = STYLES[style](values).encode("utf-8", "replace")
    found = elements(data, chunk=chunk)
    assert [json.loads(one) for one, _, _ in found] == json.loads(data)
    assert all(data[at : at + size] == one for one, size, at in found)


ROWS = [
    {"messages": [{"role": "user", "content": f"h{i}, [ok] {{"}], "n": i, "x": {"a": [1, {"b": 2}]}} for i in range(40)
]
POISON = {
    "NaN": b'{"a": NaN}', "a word": b"nonsense", "bad UTF-8": b'{"a": "\xff"}', "no value": b'{"a": }',
    "mixed brackets": b'{"a": [1, 2}', "one bracket too few": b'{"a": {"b": 1}', "one too many": b'{"a": 1}}',
    "an open list": b'{"a": [1, 2', "an open string": b'{"a": "x}', "a lone quote": b'{"a": 1"}',
    "a closed list": b'{"a": 1}]', "a long number": b'{"a": 123456789012345678901234567890}', "a raw newline": b'{"a": "x\ny"}',
    "a comma too few": b'{"a": 1} {"b": 2}', "a backslash": b'{"a": "\\"}', "a deep one": b'{"a":' + b"[" * 9000 + b"]" * 9000 + b"}",
}  # fmt: skip
BALANCED = {"NaN", "a word", "bad UTF-8", "no value", "a long number", "a raw newline", "a deep one", "a comma too few"}


@pytest.mark.parametrize("name", POISON)
@pytest.mark.parametrize("style", ["indented", "a line each", "with spaces"])
@pytest.mark.parametrize("at", [0, 4, 9])
def test_a_poisoned_element_costs_itself(name: str, style: str, at: int) -> None:
    """Where lines say where elements begin; where all stand on one line, what is closed again."""
    if style == "with spaces" and name not in BALANCED:
        pytest.skip("nothing says where the next one begins")
    mark = {"here": at}
    data = STYLES[style]([*ROWS[:at], mark, *ROWS[at:]]).encode()
    written = json.dumps(mark, indent=2 if style == "indented" else None).replace("\n", "\n  ").encode()
    assert data.count(written) == 1
    for chunk in (11, 1000, 1 << 20):
        found = [one for one, _, _ in elements(data.replace(written, POISON[name]), 1 << 20, chunk)]
        good = [value for one in found if (value := value_of(one)) in ROWS]
        assert good == ROWS, (chunk, found)
        assert b"".join(found).replace(b",", b"").count(POISON[name].replace(b",", b"")[:6]) >= 1


def value_of(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def spread(path: Path, most: int = 1 << 20) -> list[tuple[int, bytes, int]]:
    return [(raw.offset, raw.data, raw.size) for unit in plan([path]) for raw in rows(unit, most)]


def test_rows_on_several_lines_become_one_line_and_keep_their_digits(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(
        b'\xef\xbb\xbf\n [\n  {\n    "a": 1.50,\n    "b": "x \\n y",\n    "c": [1e5, 12345678901234567890123]\n  },\n  {"a": 2}\n]\n'
    )
    assert spread(path) == [(0, b'{"a":1.50,"b":"x \\n y","c":[1e5,12345678901234567890123]}', 57), (1, b'{"a": 2}', 8)]
    assert kind_of(path) == ("document", "")


def test_lists_in_objects_and_objects_alone_are_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    runs = {"info": {"m": 1}, "tasks": [{"id": "x" * 100}] * 30, "simulations": [{"a": 1}, {"a": 2}], "z": "]"}
    told = [(0, b'{"info":{"m":1},"a":1}', 22), (1, b'{"info":{"m":1},"a":2}', 22)]
    for indent in (1, 2, "\t"):
        path.write_text(json.dumps(runs, indent=indent))
        assert spread(path) == told
        path.write_bytes(gzip.compress(json.dumps(runs, indent=indent).encode()))
        assert spread(path) == told
    path.write_text(json.dumps({"messages": [], "data": [1]}, indent=1))
    assert spread(path) == [(0, b'{"messages":[],"data":[1]}', 26)]


def test_lines_of_lists_and_logs_are_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for text in (b'[{"a":1}]\n[{"a":2}]\n', b'[12:00] begun\n{"a":1}\n', b'[1]\n{"a":1}\n'):
        path.write_bytes(text)
        assert kind_of(path) == ("lines", "")
    path.write_bytes(b'[\n {"a":1}\n]\n[\n {"a":2}\n]\n')
    assert [data for _, data, _ in spread(path)] == [b'{"a":1}', b'{"a":2}']


def test_what_follows_a_long_list_is_a_row_more(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(json.dumps([{"a": "x" * 2_000_000}, {"a": 1}]).encode() + b' and {"b": 1}')
    assert [(number, size) for number, _, size in spread(path, 3_000_000)] == [(0, 2_000_009), (1, 8), (2, 12)]


def test_an_element_that_is_too_long_is_not_held(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    big = b'{"a": "' + b'x,]}\\"' * 5_000_000 + b'"}'
    path.write_bytes(b'[{"n":1},' + big + b',{"n":2}]')
    tracemalloc.start()
    found = spread(path, 100_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [(number, size) for number, _, size in found] == [(0, 7), (1, len(big)), (2, 7)]
    assert found[1][1] == big[:200]
    assert peak < 20 << 20


@pytest.mark.slow
def test_a_document_is_streamed(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with path.open("w") as file:
        file.write("[")
        for i in range(40_000):
            file.write(("," if i else "") + json.dumps({"n": i, "t": "x" * 1000}, indent=1))
        file.write("]")
    tracemalloc.start()
    count = sum(1 for unit in plan([path]) for _ in rows(unit, 1 << 20))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 40_000
    assert peak < 12 << 20


def test_cleaning_a_document_sets_the_poisoned_row_aside_and_resumes(tmp_path: Path) -> None:
    good = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Yes."}]}
    path, out = tmp_path / "in.json", tmp_path / "out.jsonl"
    path.write_text(json.dumps([good, {"bad": 1}, good], indent=2).replace('"bad": 1', '"bad": [1'))
    job = Job(command="clean", options=Options(), output=str(out))
    first = run([path], job)
    assert (first["totals"]["kept"], first["totals"]["aside"]) == (2, 1)
    assert [json.loads(line) for line in out.read_text().splitlines()] == [good, good]
    [aside] = [json.loads(line) for line in (tmp_path / "out.aside.jsonl").read_text().splitlines()]
    assert (aside["offset"], aside["codes"]) == (1, ["not_json"])
    kept = out.read_bytes()
    assert run([path], job, resume=True)["totals"] == first["totals"]
    run([path], job, overwrite=True)
    assert out.read_bytes() == kept


@pytest.mark.parametrize("key", LISTS)
@pytest.mark.parametrize("more", ['"n":1,', ""])
@pytest.mark.parametrize("size", [1, 30_000])
def test_a_document_on_one_line_is_a_document(key: str, more: str, size: int, tmp_path: Path) -> None:
    elements = [{"a": i, "s": 'x],"' * 5} for i in range(size)]
    for text in (f'{{{more}"{key}":{json.dumps(elements)}}}', f'{{{more} "{key}": {json.dumps(elements)}, "z": [1]}}\n'):
        (tmp_path / "a.json").write_text(text)
        units = plan(sources_of([tmp_path / "a.json"]))
        assert [json.loads(raw.data) for unit in units for raw in rows(unit, 1 << 24)] == elements


@pytest.mark.parametrize("text", [
    '{"data":[{"a":1}],"messages":[]}', '{"data":[1,2]}', '{"data":"[{"}', '{"rows":{"a":[{}]}}', '{"data":[{"a":1}]}\n{"data":[{"a":2}]}',
])  # fmt: skip
def test_rows_with_a_list_of_their_own_stay_rows(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(text)
    units = plan(sources_of([tmp_path / "a.jsonl"]))
    assert [raw.data.decode() for unit in units for raw in rows(unit, 1 << 24)] == text.split("\n")


def test_long_lines_that_begin_as_a_document_are_lines(tmp_path: Path) -> None:
    line = json.dumps({"data": [{"a": "x" * 100}] * 12_000})
    (tmp_path / "a.jsonl").write_text(f"{line}\n{line}\n")
    units = plan(sources_of([tmp_path / "a.jsonl"]))
    assert [raw.data.decode() for unit in units for raw in rows(unit, 1 << 24)] == [line, line]
