"""The parts of all units put together, in the order of the units, without the rows that came before.

Knows parts, keys and the manifest; nothing of rows or engines.  Contract: what is written depends on the parts alone;
memory holds the keys of a million rows at most, however many there are.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..arrow import schema
from .files import plainly, replace_text, replacing
from .job import Job
from .kept import kept_blocks, kept_rows
from .keys import SIZE
from .packings import packed
from .places import beside, packing_of_output
from .tally import Tally, tally_of

AT_ONCE = 1_000_000
"""Keys that are held at once."""
COPIED = 1 << 20


def finish(job: Job, records: Sequence[dict[str, Any]], inputs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Write the output, what was set aside and noted, and the manifest; then the parts are gone.  The manifest."""
    total = Tally()
    for record in records:
        total.add(tally_of(record["tally"]))
    doubles = duplicates(job, records) if job.dedup != "none" else {}
    count = sum(map(len, doubles.values()))
    if count:
        total.kept -= count
        total.dropped["duplicate"] += count
    total.check()
    outputs = {}
    if job.output:
        out = Path(job.output)
        outputs[out.name] = _table(job, records, out, doubles) if job.table else _lines(job, records, out, doubles)
        for what in ("aside", "notes"):
            path = beside(out, what)
            outputs[path.name] = _joined(job, records, path, what)
    told = manifest(job, records, inputs, total, outputs)
    if job.output:
        replace_text(beside(Path(job.output), "manifest"), json.dumps(told, indent=1, ensure_ascii=False) + "\n")
        shutil.rmtree(job.work, ignore_errors=True)
    return told


def manifest(
    job: Job, records: Sequence[dict[str, Any]], inputs: Sequence[dict[str, Any]], total: Tally, outputs: dict[str, Any]
) -> dict[str, Any]:
    """What was done with what: the same for the same inputs and job, whoever did it."""
    units = [{**r["unit"], "input": r["input"], "rows": r["tally"]["read"], "files": r["files"]} for r in records]
    return {
        "dragoman": job.as_json(), "digest": job.digest, "inputs": list(inputs), "outputs": outputs,
        "totals": total.as_json(), "units": units,
    }  # fmt: skip


# ── duplicates ───────────────────────────────────────────────────────────────


def duplicates(job: Job, records: Sequence[dict[str, Any]]) -> dict[int, set[int]]:
    """Unit → the numbers of its kept rows that stand in the corpus before."""
    rows = sum(record["files"]["keys"]["bytes"] for record in records) // SIZE
    passes = -(-rows // AT_ONCE) or 1
    found: dict[int, set[int]] = {}
    for turn in range(passes):
        seen: set[bytes] = set()
        for record in records:
            index = record["unit"]["index"]
            for number, key in enumerate(_keys(job.part(index, "keys"))):
                if int.from_bytes(key[:4], "big") % passes != turn:
                    continue
                if key in seen:
                    found.setdefault(index, set()).add(number)
                else:
                    seen.add(key)
    return found


def _keys(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(SIZE << 16):
            for start in range(0, len(chunk), SIZE):
                yield chunk[start : start + SIZE]


# ── putting together ─────────────────────────────────────────────────────────


def _lines(job: Job, records: Iterable[dict[str, Any]], out: Path, without: dict[int, set[int]]) -> dict[str, Any]:
    """The kept rows; their number, and the hash of the hashes of the units."""
    rows = 0
    told = hashlib.sha256()
    with plainly(out) as plain, packed(plain, packing_of_output(out)) as file:
        for record in records:
            index, kept = record["unit"]["index"], record["files"]["kept"]
            left = without.get(index)
            if left is None:
                for block in kept_blocks(job, record):
                    file.write(block)
                rows += kept["rows"]
                told.update(bytes.fromhex(kept["rows_sha256"]))
                continue
            own = hashlib.sha256()
            for number, row in enumerate(kept_rows(job, record)):
                if number not in left:
                    file.write(row + b"\n")
                    own.update(hashlib.sha256(row).digest())
            rows += kept["rows"] - len(left)
            told.update(own.digest())
    return {"bytes": out.stat().st_size, "rows": rows, "sha256_of_units": told.hexdigest()}


def _joined(job: Job, records: Iterable[dict[str, Any]], out: Path, what: str) -> dict[str, Any]:
    with replacing(out) as file:
        for record in records:
            file.write(job.part(record["unit"]["index"], what).read_bytes())
    return {"bytes": file.size, "sha256": file.digest}


def _table(job: Job, records: Iterable[dict[str, Any]], out: Path, without: dict[int, set[int]]) -> dict[str, Any]:
    import pyarrow as pa  # noqa: PLC0415  an extra
    import pyarrow.parquet as pq  # noqa: PLC0415

    from_here = out.with_name(f".{out.name}.table")
    with pq.ParquetWriter(from_here, schema(), compression="zstd", write_page_index=True) as writer:
        for record in records:
            index = record["unit"]["index"]
            table = pq.read_table(job.part(index, "kept"))
            if index in without:
                mask = [number not in without[index] for number in range(table.num_rows)]
                table = table.filter(pa.array(mask))
            if table.num_rows:
                writer.write_table(table)
    with replacing(out) as file, from_here.open("rb") as source:
        while chunk := source.read(COPIED):
            file.write(chunk)
    from_here.unlink()
    return {"bytes": file.size, "sha256": file.digest}
