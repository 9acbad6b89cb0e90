"""Events of a stream on their way out: sealed, put into the words of the client's API, and written.

Knows what seals, crosses and writes by their methods; nothing of an API, nor of what comes of the bytes.
Contract: whatever is no event is nothing to write; what went out before, around this (`shortcut.py`), is told to what
crosses, and is not written again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..codecs.shared.frames import Frame
from ..codecs.shared.spec import StreamEncoder
from ..events import EVENTS, IssueReported
from ..types import Issue
from .crossing.answers import AnswerCrossing
from .seals import Sealer
from .shortcut import Shortcut


class Outgoing:
    """Writes the events of one answer into `pieces`; issues among them are told to `note`."""

    __slots__ = ("_across", "_encoder", "_note", "_pieces", "_sealer", "_shortcut", "_write")

    def __init__(  # noqa: PLR0917
        self, sealer: Sealer, across: AnswerCrossing, shortcut: Shortcut, encoder: StreamEncoder,
        write: Callable[[Frame], bytes], pieces: list[bytes], note: Callable[[Sequence[Issue]], None],
    ) -> None:  # fmt: skip
        self._sealer, self._across, self._shortcut = sealer, across, shortcut
        self._encoder, self._write, self._pieces, self._note = encoder, write, pieces, note

    def take(self, step: Any) -> tuple[()]:
        """Write it; there is nothing that goes on."""
        if type(step) in EVENTS:
            step = self._sealer.event(step)
            if type(step) is IssueReported:
                self._note([step.issue])
            went_out = self._shortcut.note(step)
            for event in self._across.feed(step):
                if not went_out:
                    self._pieces.extend(map(self._write, self._encoder.feed(event)))
        return ()
