"""How a stream is framed, by how it begins: some peers frame theirs otherwise than their API does, or do not at all.

Knows the beginnings of framings, not what a frame says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...jsontext import from_json
from .array_frames import ArrayReader, ObjectsReader
from .frames import CUTS, FrameKind, NdjsonReader, Reader, SseReader

_BEFORE = b"\xef\xbb\xbf \t\r\n"
LONGEST_LINE = 1024 * 1024

Framing = tuple[Callable[[], Reader], tuple[bytes, ...]]
"""What makes its reader, and bytes behind which, wherever they stand, no frame goes on."""
_ARRAY: Framing = (ArrayReader, ())
_EVENTS: Framing = (SseReader, CUTS[FrameKind.SSE])
_LINES: Framing = (NdjsonReader, CUTS[FrameKind.NDJSON])
OBJECTS: Framing = (ObjectsReader, ())
"""That of a body which is JSON texts one after the other, and not in lines."""
_OTHERWISE: Mapping[FrameKind, Mapping[int, Framing]] = {
    FrameKind.SSE: {ord("["): _ARRAY, ord("{"): _LINES},
    FrameKind.NDJSON: {ord("["): _ARRAY, **dict.fromkeys(b":deir", _EVENTS)},  # comment, data, event, id, retry
    FrameKind.AWS: {},
}
"""Framing of a wire → first byte of a stream that has another → that."""


def framing(begin: bytes, kind: FrameKind) -> tuple[bool, Framing | None]:
    """Is it known by now how this is framed, and how, where not as the wire frames its streams?"""
    said = begin.lstrip(_BEFORE)
    return bool(said), _OTHERWISE[kind].get(said[0]) if said else None


def is_framed(begin: bytes, kind: FrameKind, *, ended: bool = False) -> bool | None:
    """Does what begins so come in frames, and not as one JSON text?  None where more has to be seen.

    A line of JSON is a frame where another may follow it: on a wire that has no such frames, where more does.  One of
    more than 1 MiB is not waited for.
    """
    known, otherwise = framing(begin, kind)
    if not known:
        return False if ended else None
    said = begin.lstrip(_BEFORE)
    if not said.startswith(b"{"):
        return otherwise is not None or kind is not FrameKind.NDJSON
    return kind is not FrameKind.AWS and _is_lines(said, kind, ended=ended)


def _is_lines(said: bytes, kind: FrameKind, *, ended: bool) -> bool | None:
    """Is what begins with an object lines of JSON?"""
    line, end, behind = said.partition(b"\n")
    if not end:
        return False if ended or len(said) > LONGEST_LINE else None
    try:
        from_json(line)
    except (ValueError, RecursionError):
        return False
    if kind is FrameKind.NDJSON or behind.strip():
        return True
    return False if ended else None
