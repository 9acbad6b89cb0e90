"""Characters that a stream cut in two, as servers do that cut text by UTF-16 units: a frame whose string ends in the
first half of a surrogate pair waits for the frame with the other half.

Knows JSON's spelling and frames; nothing of an API.
Contract: a pair whose halves end and begin strings of one frame and the next stands whole in the next; every other
frame is given as it came, in its order, and `close` gives the one that still waits.
"""

from __future__ import annotations

import re

from .frames import Frame

ESCAPE = "\\u"
_ENDING = re.compile(r'(?<!\\)((?:\\\\)*)(\\u[dD][89abAB][0-9a-fA-F]{2})(?=")')
_BEGINNING = re.compile(r'"(?=\\u[dD][c-fC-F][0-9a-fA-F]{2})')


class Halves:
    """Joins them: only frames in which something is escaped need be given."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: Frame | None = None

    @property
    def waits(self) -> bool:
        """Does a frame wait for the next?"""
        return self._held is not None

    def feed(self, frame: Frame) -> list[Frame]:
        """The frames that are whole."""
        held, self._held = self._held, None
        ready = [] if held is None else [held]
        if held is not None and (joined := _joined(held, frame)) is not None:
            ready, frame = [joined[0]], joined[1]
        if _ENDING.search(frame.data) is None:
            return [*ready, frame]
        self._held = frame
        return ready

    def close(self) -> list[Frame]:
        """The frame whose other half never came."""
        held, self._held = self._held, None
        return [] if held is None else [held]


def _joined(first: Frame, second: Frame) -> tuple[Frame, Frame] | None:
    """Both, the halves that end strings of the first before those of the second; None where they are no pairs."""
    halves = [found[2] for found in _ENDING.finditer(first.data)]
    if len(halves) != len(_BEGINNING.findall(second.data)):
        return None
    left = iter(halves)
    return (
        first._replace(data=_ENDING.sub(r"\1", first.data)),
        second._replace(data=_BEGINNING.sub(lambda found: found[0] + next(left), second.data)),
    )
