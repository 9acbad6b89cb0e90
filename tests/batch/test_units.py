"""Units of work: all rows of all files, each once, however the files are cut; poison costs its own row."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.batch.options import Options
from dragoman.batch.running.engine import run
from dragoman.batch.running.job import Job
from dragoman.batch.running.sources import sources_of
from dragoman.batch.running.units import kind_of, plan, rows
from dragoman.errors import UsageError

LINES = st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\n", b" ")), max_size=30)


def spread(path: Path, size: int) -> list[tuple[int, bytes]]:
    return [(raw.offset, raw.data) for unit in plan([path], size) for raw in rows(unit, 1 << 20)]


@given(LINES, st.integers(1, 64), st.booleans())
def test_any_cut_gives_the_same_lines(lines: list[bytes], size: int, last: bool) -> None:
    body = b"x" + b"\n".join(lines) + (b"\n" if last else b"")
    path = Path(f"/tmp/units-{hash((body, size))}.jsonl")
    path.write_bytes(body)
    try:
        wanted, at = [], 0
        for line in body.split(b"\n"):
            if line and not line.isspace():
                wanted.append((at, line))
            at += len(line) + 1
        assert spread(path, size) == wanted
    finally:
        path.unlink()


def test_a_long_row_is_set_aside_without_being_held(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":1}\n' + b'"' + b"x" * 300_000 + b'"\n{"b":2}\n')
    for size in (1 << 20, 70_000, 1000):
        found = [raw for unit in plan([path], size) for raw in rows(unit, 100_000)]
        assert [raw.offset for raw in found] == [0, 8, 300_011]
        assert (found[1].size, bool(found[1].digest), len(found[1].data) <= 200) == (300_002, True, True)


def test_packed_files_and_documents_are_found_by_their_bytes(tmp_path: Path) -> None:
    body = b'{"a":1}\n{"a":2}\n'
    (tmp_path / "gz.jsonl").write_bytes(gzip.compress(body[:8]) + gzip.compress(body[8:]))
    (tmp_path / "list.jsonl").write_bytes(b'[{"a":1},\n {"a":2}]')
    (tmp_path / "one.jsonl").write_bytes(b'{\n "simulations": [{"a":1}, {"a":2}]}')
    (tmp_path / "plain.parquet").write_bytes(body)
    kinds = {path.name: kind_of(path) for path in tmp_path.iterdir()}
    assert kinds == {"gz.jsonl": ("lines", "gzip"), "list.jsonl": ("document", ""), "one.jsonl": ("document", ""), "plain.parquet": ("lines", "")}
    for path in sources_of([tmp_path]):
        assert [json.loads(raw.data) for unit in plan([path]) for raw in rows(unit, 1 << 20)] == [{"a": 1}, {"a": 2}], path


def test_a_broken_first_line_makes_no_document_of_the_others(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for first in (b"{", b'{"a": [', b'{"a":1}}', b'{"a"\x00'):
        path.write_bytes(first + b'\n{"b":1}\n')
        assert kind_of(path) == ("lines", ""), first
        assert [data for _, data in spread(path, 1 << 20)] == [first, b'{"b":1}']


def test_zstandard_is_read_in_all_its_members(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    pack = zstandard.ZstdCompressor().compress
    (tmp_path / "a.jsonl.zst").write_bytes(pack(b'{"a":1}\n') + pack(b'{"a":2}\n'))
    assert [data for _, data in spread(tmp_path / "a.jsonl.zst", 10)] == [b'{"a":1}', b'{"a":2}']


def test_row_groups_are_units_of_a_table(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"messages": ['[{"role":"user"}]'] * 10, "n": list(range(10))})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=4)
    units = plan([tmp_path / "a.parquet"])
    assert [(unit.start, unit.first) for unit in units] == [(0, 0), (1, 4), (2, 8)]
    assert [raw.offset for unit in units for raw in rows(unit, 1 << 20)] == list(range(10))


def test_limits_take_the_first_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f'{{"a":{i}}}\n' for i in range(100)))
    units = plan([path], 50, limit=37)
    assert [json.loads(raw.data)["a"] for unit in units for raw in rows(unit, 1 << 20)] == list(range(37))


def test_folders_without_rows_say_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no file"):
        sources_of([tmp_path])
    with pytest.raises(UsageError, match="no file"):
        sources_of([tmp_path / "x"])


POISON = [
    b'{"messages":' + b"[" * 50_000, b'{"x":"' + b"y" * 200_000 + b'"}', b"\xff\xfe", b'{"a":NaN}', b'{"a":"\\udc00"}',
    b'{"a":123456789012345678901234567890}', b'{"a":1,"a":2}', b"\x00", b'"', b"1e999", b'{"a":1e999}', b"{}" * 3,
]  # fmt: skip


@pytest.mark.parametrize("poison", POISON, ids=lambda p: repr(p[:16]))
def test_poison_costs_its_own_row_and_says_why(poison: bytes, tmp_path: Path) -> None:
    good = b'{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"Yes."}]}'
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_bytes(b"\n".join([good, poison, good]))
    told = run([path], Job(command="clean", options=Options(max_row=100_000), output=str(out)), unit_bytes=60_000)
    assert (told["totals"]["kept"], told["totals"]["aside"]) == (2, 1)
    assert out.read_bytes() == good + b"\n" + good + b"\n"
    [aside] = [json.loads(line) for line in (tmp_path / "out.aside.jsonl").read_bytes().splitlines()]
    assert aside["codes"]
    assert aside["findings"][0]["message"]
    assert aside["offset"] == len(good) + 1


@pytest.mark.parametrize(("text", "hint"), [
    (b'{"a":1},\n{"a":2},\n', "comma"), (b'{\n "a": 1\n}\n{\n "a": 2\n}\n', "jq -c"), (b'{"a":1}\n{"a"\n', "Expecting"),
])  # fmt: skip
def test_rows_that_are_set_out_otherwise_say_how_to_write_them(text: bytes, hint: str, tmp_path: Path) -> None:
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_bytes(text)
    run([path], Job(command="clean", options=Options(), output=str(out)))
    aside = [json.loads(line) for line in (tmp_path / "out.aside.jsonl").read_bytes().splitlines()]
    said = [one["findings"][0]["message"] for one in aside if one["codes"] == ["not_json"]]
    assert said
    assert all(hint in one for one in said)
