"""Errors of calls, as data: the ground on which corrections are written.

Knows issues, error codes and where in a value or a text something stands; words are `corrections.py`'s.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ErrorCode
from ..lenient.notation import Broken, Cut
from ..lenient.reader import Relaxed
from ..lenient.source import Source
from ..schema.validation import ANYTHING, Fault
from ..types import Issue, IssueKind

CODES: Mapping[IssueKind, ErrorCode] = {
    IssueKind.UNKNOWN_TOOL: ErrorCode.UNKNOWN_TOOL,
    IssueKind.TRUNCATED: ErrorCode.TRUNCATED,
    IssueKind.NOT_ALLOWED: ErrorCode.NOT_EXECUTED,
}
"""The kinds with codes of their own; all else is a matter of how the call was written."""
MEANT = frozenset({
    IssueKind.MALFORMED,
    IssueKind.INVALID_ARGUMENTS,
    IssueKind.UNKNOWN_TOOL,
    IssueKind.TRUNCATED,
    IssueKind.DUPLICATE_KEYS,
    IssueKind.NOT_ALLOWED,
})  # fmt: skip
"""Issues about a call that was meant and did not run; the model gets their correction, where there is one."""

AROUND = 60
HERE = "⟪HERE⟫"
STEP = re.compile(r'\.(?P<word>[^.\[]+)|\[(?P<index>\d+)\]|\["(?P<odd>[^"]*)"\]')


@dataclass(frozen=True, slots=True, kw_only=True)
class CallError:
    """One wrong call.

    `issue` says what is wrong, `arguments` is what was given as far as it could be read, `faults` where they fail the
    schema.  `native`: the wire carried the call, so that a result can answer it; `dialect` is what it was written in,
    where it was text and that is known.
    """

    issue: Issue
    arguments: Any = None
    faults: tuple[Fault, ...] = ()
    native: bool = False
    dialect: str = ""

    @property
    def code(self) -> ErrorCode:
        """The code for the model."""
        return CODES.get(self.issue.kind, ErrorCode.INVALID_ARGS)


def is_meant(issue: Issue) -> bool:
    """Is this about a call that should have run, and can the model mend it?"""
    return issue.kind in MEANT and bool(issue.correction)


NOTHING_THERE = object()


def value_at(value: Any, path: str) -> Any:
    """The value at a path as `Fault.path` writes it; `NOTHING_THERE` where there is none."""
    for step in STEP.finditer(path, 1):
        key: Any = int(step["index"]) if step["index"] else step["word"] or step["odd"]
        if isinstance(value, Mapping):
            value = value.get(key, NOTHING_THERE)
        elif isinstance(value, list | tuple) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return NOTHING_THERE
    return value


def break_of(text: str) -> str:
    """The place where `text` stops being one JSON value that can be read, with what stands around it; "" for none."""
    start = text.find("{")
    if start < 0:
        return ""
    source = Source()
    source.feed(text[start:])
    source.eof = True
    try:
        deque(Relaxed(source).value(_dropped, ANYTHING), maxlen=0)
    except (Broken, Cut):
        return _around(text, start + source.pos)
    return ""


def _around(text: str, at: int) -> str:
    first, last = max(0, at - AROUND), at + AROUND
    before, after = ("…" if first else ""), ("…" if last < len(text) else "")
    return f"{before}{text[first:at]}{HERE}{text[at:last]}{after}"


def _dropped(_: str) -> None:
    """Drop what is read: only where reading ends matters."""
