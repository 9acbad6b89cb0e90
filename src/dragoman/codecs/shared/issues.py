"""What the stream decoders of all wires share: a frame's body, and the issues a wire gives rise to.

Knows frames and issues, no API.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...events import IssueReported
from ...types import Issue, IssueKind
from . import strict
from .arguments import as_text
from .body import kind
from .frames import Frame

_SHOWN = 2000
_TWICE = "data:"
"""What begins a frame that was framed once more (a server that hands lines of events on to sse-starlette)."""


def frame_body(frame: Frame) -> dict[str, Any] | IssueReported:
    """The object in `frame`, or the issue where there is none."""
    try:
        body = strict.loads_leniently(frame.data)
    except ValueError as fault:
        if frame.data.startswith(_TWICE):
            return frame_body(Frame(frame.data.removeprefix(_TWICE).strip()))
        return wire_fault(f"a frame is not JSON: {fault}; it was passed over", frame.data)
    if not isinstance(body, dict):
        return wire_fault(f"a frame is {kind(body)}, not an object; it was passed over", frame.data)
    return body


def wire_fault(message: str, raw: Any = "") -> IssueReported:
    """The wire did something no API describes."""
    return IssueReported(Issue(kind=IssueKind.WIRE_FAULT, message=message, raw=_shown(raw)))


BROKEN = "the stream ended "
"""How every wire begins to say that its answer broke off."""


def broke_off(issues: Iterable[Issue]) -> bool:
    """Is one of these that the stream ended before the wire said that this was all?"""
    return any(issue.kind is IssueKind.WIRE_FAULT and issue.message.startswith(BROKEN) for issue in issues)


OTHER_ANSWERS = "$.candidates"
"""The path of answers beside the first, where a wire's reader takes one."""


def unsupported(message: str, raw: Any = "", path: str = "") -> IssueReported:
    """Something was left out on purpose; `path` is where it stood in the answer."""
    return IssueReported(Issue(kind=IssueKind.UNSUPPORTED, message=message, raw=_shown(raw), path=path))


def out_of_tokens() -> IssueReported:
    """All tokens were used up before the answer began (seed system ChatCLI: "an error naming max_tokens")."""
    message = "the answer reached max_tokens before anything was said; raise max_tokens"
    return IssueReported(Issue(kind=IssueKind.TRUNCATED, message=message))


def _shown(raw: Any) -> str:
    return (raw if isinstance(raw, str) else as_text(raw))[:_SHOWN]
