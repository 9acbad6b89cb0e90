"""One raw output of a model with the tools it was offered, out of plain data.

Knows the forms in which samples are given; nothing of files, and nothing of how they are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ....errors import UsageError
from ....schema.definitions import tools as read_definitions
from ....types import Tool

Written: TypeAlias = tuple[str, Mapping[str, Any]]
"""A call's name and arguments."""
MOST = 100_000
"""No longer output is learned from: a dialect shows in short ones, and looking for calls takes longer than reading."""
FORM = (
    'each sample is {"text": "…", "tools": […]}, or a text alone below a "tools" that stands for all; '
    '"calls" may say what was meant'
)


@dataclass(frozen=True, slots=True)
class Sample:
    """What a model wrote, and the tools it could have called; `meant` are its calls, None where nobody said."""

    text: str
    tools: tuple[Tool, ...]
    meant: tuple[Written, ...] | None = None
    id: str = ""


def samples_of(value: Any) -> tuple[Sample, ...]:
    """Samples out of plain data: an object with `tools` and `samples`, or a list of them (rows of JSON Lines).

    A row without `text` that holds `tools` says them for the rows after it.  Raises UsageError naming the row.
    """
    rows = value.get("samples") if isinstance(value, Mapping) else value
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise UsageError(f'samples are a list, or an object with "samples"; {FORM}')
    offered = value.get("tools") if isinstance(value, Mapping) else None
    shared = () if offered is None else read_definitions(offered) or ()
    found: list[Sample] = []
    for number, row in enumerate(rows, 1):
        if isinstance(row, Mapping) and "text" not in row and "tools" in row:
            shared = read_definitions(row["tools"]) or ()
        else:
            found.append(_sample(row, shared, f"sample {number}"))
    return tuple(found)


def _sample(row: Any, shared: tuple[Tool, ...], where: str) -> Sample:
    if isinstance(row, str):
        row = {"text": row}
    if not isinstance(row, Mapping) or not isinstance(row.get("text"), str):
        raise UsageError(f"{where} holds no text; {FORM}")
    if len(row["text"]) > MOST:
        raise UsageError(f"{where} is longer than {MOST:,} characters; outputs of ordinary length show as much")
    tools = shared if row.get("tools") is None else read_definitions(row["tools"]) or ()
    if not tools:
        raise UsageError(f'{where} names no tools; say below "tools" which the model was offered')
    meant = row.get("calls")
    calls = None if meant is None else tuple(_calls(meant, where))
    return Sample(row["text"], tools, calls, str(row.get("id") or where))


def _calls(meant: Any, where: str) -> Iterable[Written]:
    for call in meant if isinstance(meant, Sequence) else (meant,):
        if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
            raise UsageError(f'the calls of {where} are no list of {{"name": …, "arguments": {{…}}}}')
        yield call["name"], call.get("arguments") or {}
