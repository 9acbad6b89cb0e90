"""Files that were cut, damaged or are of another kind: what can be read is, the rest is said, no other file suffers."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.batch.options import Options
from dragoman.batch.running.engine import run
from dragoman.batch.running.job import Job
from dragoman.batch.running.packings import PACKINGS, Unpacked, packed
from dragoman.batch.running.sources import sources_of
from dragoman.batch.running.units import plan, rows

zstandard = pytest.importorskip("zstandard")
ROWS = [b'{"messages":[{"role":"user","content":"%d"},{"role":"assistant","content":"Yes."}]}' % i for i in range(4000)]
BODY = b"\n".join(ROWS) + b"\n"
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress, "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
    "bzip2": bz2.compress, "xz": lzma.compress,
}  # fmt: skip
EVERY = pytest.mark.parametrize("packing", PACK)


def unpacked(data: bytes, packing: str) -> tuple[bytes, list[str]]:
    faults: list[str] = []
    stream, made = Unpacked(io.BytesIO(data), PACKINGS[packing], faults), b""
    while chunk := stream.read(1000):
        made += chunk
    return made, faults


@EVERY
def test_packed_files_are_read_in_all_their_members(packing: str) -> None:
    pack = PACK[packing]
    assert unpacked(pack(BODY) + pack(b"") + pack(BODY[:99]), packing) == (BODY + BODY[:99], [])


@EVERY
@given(share=st.floats(0, 1))
def test_a_file_cut_anywhere_gives_a_beginning_and_says_so(packing: str, share: float) -> None:
    whole = PACK[packing](BODY)
    made, faults = unpacked(whole[: max(1, int((len(whole) - 1) * share))], packing)
    assert BODY.startswith(made)
    assert faults


@EVERY
def test_what_stands_behind_a_packed_file_is_said(packing: str) -> None:
    made, faults = unpacked(PACK[packing](BODY) + b"garbage", packing)
    assert (made, len(faults)) == (BODY, 1)


@EVERY
def test_a_flipped_byte_is_said(packing: str) -> None:
    whole = bytearray(PACK[packing](BODY))
    whole[len(whole) // 2] ^= 0x55
    assert len(unpacked(bytes(whole), packing)[1]) == 1


def test_zeros_behind_gzip_are_no_damage() -> None:
    assert unpacked(gzip.compress(BODY) + bytes(300_000), "gzip") == (BODY, [])


def test_frames_that_zstd_skips_are_skipped() -> None:
    skipped, frame = b"\x50\x2a\x4d\x18\x03\0\0\0abc", PACK["zstd"](BODY)
    assert unpacked(skipped + frame + skipped, "zstd") == (BODY, [])


@EVERY
def test_what_is_packed_comes_back(packing: str) -> None:
    file = io.BytesIO()
    with packed(file, PACKINGS[packing]) as stream:
        stream.write(BODY)
    assert unpacked(file.getvalue(), packing) == (BODY, [])


def clean(tmp_path: Path, *files: Path, **more: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    out = tmp_path / "out" / "out.jsonl"
    told = run(files, Job(command="clean", options=Options(), output=str(out), **more))
    aside = out.with_name("out.aside.jsonl").read_bytes().splitlines()
    return told["totals"], [json.loads(line) for line in aside]


@EVERY
def test_a_cut_file_costs_its_end_and_no_other_file(packing: str, tmp_path: Path) -> None:
    cut, fine = tmp_path / "a.packed", tmp_path / "b.jsonl"
    body = PACK[packing](BODY)
    cut.write_bytes(body[:-40])
    fine.write_bytes(BODY)
    totals, aside = clean(tmp_path, cut, fine)
    assert totals["kept"] >= len(ROWS)
    assert (aside[-1]["source"], aside[-1]["codes"]) == (str(cut), ["unreadable_file"])
    assert list(totals["unreadable"]) == [str(cut)]
    assert totals["read"] == totals["kept"] + totals["aside"]


def test_a_sample_still_says_that_a_file_is_cut(tmp_path: Path) -> None:
    cut = tmp_path / "a.jsonl.gz"
    cut.write_bytes(gzip.compress(BODY)[:200])
    totals, _ = clean(tmp_path, cut, sample=0.0)
    assert totals["unreadable"]


def test_a_cut_document_gives_its_elements_and_says_so(tmp_path: Path) -> None:
    cut = tmp_path / "a.json.gz"
    cut.write_bytes(gzip.compress(b"[" + b",\n".join(ROWS) + b"]")[:-2000])
    totals, aside = clean(tmp_path, cut)
    assert totals["kept"] > 1
    assert aside[-1]["codes"] == ["unreadable_file"]


def table(path: Path) -> Path:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    talk = [[{"role": "user", "content": str(i)}, {"role": "assistant", "content": "Yes."}] for i in range(300)]
    pq.write_table(pa.table({"messages": talk}), path, row_group_size=100)
    return path


def test_a_table_without_its_end_costs_no_other_file(tmp_path: Path) -> None:
    cut, fine = table(tmp_path / "a.parquet"), tmp_path / "b.jsonl"
    cut.write_bytes(cut.read_bytes()[:-100])
    fine.write_bytes(BODY)
    totals, [aside] = clean(tmp_path, cut, fine)
    assert (totals["kept"], aside["codes"], aside["source"]) == (len(ROWS), ["unreadable_file"], str(cut))


def test_a_damaged_row_group_costs_no_other_group(tmp_path: Path) -> None:
    file = table(tmp_path / "a.parquet")
    body = bytearray(file.read_bytes())
    body[10:400] = bytes(390)
    file.write_bytes(body)
    totals, [aside] = clean(tmp_path, file)
    assert (totals["kept"], aside["codes"], aside["offset"]) == (200, ["unreadable_file"], 0)


FOREIGN = {
    "zip": b"PK\x03\x04" + bytes(40), "arrow": b"ARROW1\0\0" + bytes(40), "tar": bytes(257).replace(b"\0", b"n", 3) + b"ustar\0",
    "pickle": b"\x80\x04\x95" + bytes(9), "encrypted": b"PARE" + bytes(9),
}  # fmt: skip


@pytest.mark.parametrize("packing", ["", *PACK])
@pytest.mark.parametrize("kind", FOREIGN)
def test_a_file_of_another_kind_is_no_text(kind: str, packing: str, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(PACK[packing](FOREIGN[kind]) if packing else FOREIGN[kind])
    [only] = [raw for unit in plan(sources_of([file])) for raw in rows(unit, 1 << 20)]
    assert "it is" in only.fault
