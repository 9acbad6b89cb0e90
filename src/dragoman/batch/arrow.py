"""One unit of work for every engine: a batch of raw rows in, a batch of judged rows out, always the same columns.

Knows Arrow and the row judge; nothing of files or engines.  Needs pyarrow (extra `[data]`), which is imported when it
is first used.
Contract: `judge_batch` is pure: as many rows come out as went in, in their order, whatever stands in them, and never an
exception because of one.  Nested values are JSON text, so no engine invents a null, a type or a float.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .formats.chat import written_messages, written_tools
from .formats.spec import Demands
from .judging.row_judge import Outcome, judge
from .options import DEFAULTS, Options
from .result import JudgedCall
from .row_json import text

if TYPE_CHECKING:
    import pyarrow

COLUMNS: tuple[tuple[str, str], ...] = (
    ("row_id", "string"), ("source", "string"), ("offset", "int64"), ("format", "string"), ("verdict", "string"),
    ("codes", "list"), ("findings", "large_string"), ("n_calls", "int32"), ("messages", "large_string"),
    ("tools", "large_string"), ("calls", "large_string"), ("repairs", "large_string"), ("more", "large_string"),
    ("orig", "large_binary"), ("dup_of", "string"), ("leak_of", "string"), ("split", "string"), ("error", "string"),
)  # fmt: skip
NO_ARROW = "an extra is needed; install it: pip install 'dragoman[data]' (JSON lines, plain or gzip, work without)"


def arrow() -> Any:
    """The module `pyarrow`.  Raises `UsageError` where it is not installed."""
    try:
        import pyarrow as pa  # noqa: PLC0415  half a second, and nobody who reads JSON lines needs it
    except ImportError as error:
        raise UsageError(NO_ARROW) from error
    return pa


@cache
def schema() -> pyarrow.Schema:
    """The columns of judged rows."""
    pa = arrow()
    kinds = {"list": pa.list_(pa.string()), "int64": pa.int64(), "int32": pa.int32(), "string": pa.string(),
             "large_string": pa.large_string(), "large_binary": pa.large_binary()}  # fmt: skip
    return pa.schema([(name, kinds[kind]) for name, kind in COLUMNS])


@cache
def raw_schema() -> pyarrow.Schema:
    """The columns that `judge_batch` takes: the bytes of a row, its source and its offset there."""
    pa = arrow()
    return pa.schema([("orig", pa.large_binary()), ("source", pa.string()), ("offset", pa.int64())])


def raw_batch(rows: Iterable[bytes], source: str = "", offsets: Iterable[int] | None = None) -> pyarrow.RecordBatch:
    """Raw rows as a batch; `offsets` are counted where none are given."""
    pa = arrow()
    listed = list(rows)
    places = list(range(len(listed))) if offsets is None else list(offsets)
    return pa.record_batch([listed, [source] * len(listed), places], schema=raw_schema())


def judge_batch(batch: pyarrow.RecordBatch, options: Options = DEFAULTS) -> pyarrow.RecordBatch:
    """Every row of `batch` judged.

    batch    the columns of `raw_schema`: `orig` (the bytes or the text of a row), and, where there are such, `source`
             and `offset`
    options  what is asked

    Gives the columns of `schema`, a row for each row.
    """
    return batch_of([judge(original, options, origin) for original, origin in _raw(batch)], options)


def _raw(batch: pyarrow.RecordBatch) -> Iterator[tuple[bytes, tuple[str, int]]]:
    names = batch.schema.names
    if "orig" not in names:
        raise UsageError(f"the batch has no column `orig`, only {', '.join(names)}: give raw rows (raw_batch)")
    rows = batch.column("orig").to_pylist()
    sources = batch.column("source").to_pylist() if "source" in names else [""] * len(rows)
    offsets = batch.column("offset").to_pylist() if "offset" in names else range(len(rows))
    for row, source, offset in zip(rows, sources, offsets, strict=True):
        original = row.encode("utf-8", "surrogatepass") if isinstance(row, str) else row or b""
        yield original, (source or "", offset or 0)


def batch_of(outcomes: Sequence[Outcome], options: Options = DEFAULTS) -> pyarrow.RecordBatch:
    """Judged rows as a batch of the fixed columns."""
    rows = [record(outcome, options) for outcome in outcomes]
    return arrow().record_batch([[row[name] for row in rows] for name, _ in COLUMNS], schema=schema())


def record(outcome: Outcome, options: Options = DEFAULTS) -> dict[str, Any]:
    """A judged row as the fixed columns."""
    chat = outcome.chat
    demands = Demands(arguments=options.arguments or "string")
    made = dict.fromkeys((name for name, _ in COLUMNS), None) | {
        "row_id": outcome.id, "source": outcome.source, "offset": outcome.offset,
        "format": outcome.form.name if outcome.form else "", "verdict": str(outcome.verdict),
        "codes": list(outcome.codes), "findings": text([[f.code, f.path, f.message] for f in outcome.findings]),
        "repairs": text([repair_as_json(one) for one in outcome.repairs]),
        "calls": text([call_as_json(one) for one in outcome.calls]), "n_calls": len(outcome.every_call),
        "orig": outcome.original, "error": outcome.findings[0].message if chat is None and outcome.findings else None,
    }  # fmt: skip
    if chat is not None:
        made["messages"] = text(written_messages(chat.messages, demands))
        made["tools"] = None if chat.tools is None else text(written_tools(chat.tools, demands)["tools"])
        made["more"] = text(_more(outcome, demands))
        made["split"] = chat.labels.get("split") if isinstance(chat.labels.get("split"), str) else None
    return made


def _more(outcome: Outcome, demands: Demands) -> Mapping[str, Any]:
    chat = outcome.chat
    assert chat is not None
    branches = {name: written_messages(one, demands) for name, one in chat.branches.items()}
    more = {"branches": branches, "gold": chat.gold, "labels": chat.labels, "metadata": chat.metadata,
            "extra": chat.extra,
            "branch_calls": {k: [call_as_json(c) for c in v] for k, v in outcome.branches.items()}}  # fmt: skip
    return {key: value for key, value in more.items() if value}


def repair_as_json(one: Any) -> dict[str, Any]:
    """A repair as plain data."""
    made = {"code": one.code, "path": one.path, "span": list(one.span), "before": one.before, "after": one.after}
    return {**made, "mends": list(one.mends)} if one.mends else made


def call_as_json(one: JudgedCall) -> dict[str, Any]:
    """A judged call as plain data."""
    return {
        "message": one.message, "id": one.id, "name": one.name, "arguments": one.arguments, "raw": one.raw,
        "native": one.native, "dialect": one.dialect, "verdict": str(one.verdict), "declared": one.declared,
        "json_before": one.json_before, "valid_before": one.valid_before, "valid_after": one.valid_after,
        "faults": list(one.faults),
    }  # fmt: skip
