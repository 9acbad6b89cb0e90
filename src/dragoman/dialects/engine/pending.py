"""A candidate that was read whole and whose verdict awaits what follows it.

Knows what it waits for; decides nothing.
"""

from __future__ import annotations

from enum import StrEnum

from ...events import Event
from ...records import dataclass, field
from ..judge.boxes import Quote, Standing
from ..judge.candidate import Draft
from ..judge.evidence import Mark
from ..reading.call import Attempt
from ..reading.compiled import Row
from ..spec import AT_FIRST, JsonCall

BOXES = {"`": Quote.SPAN, '"': Quote.MARKS, "'": Quote.MARKS}
"""What a candidate begins with that stands in a box of its own."""


class Awaits(StrEnum):
    """What a candidate waits for."""

    CLOSER = "closer"  # a closer that would quote it: a code span or quotation was open before it
    END = "end"        # the message's end: any word before shows that it is not all of the message
    WORDS = "words"    # the first line behind it, which may speak of it


@dataclass(slots=True)
class Pending:
    """`raws` is what each draft was written as; `before` the text before it; `live` says that its last draft is told.

    `whole`: no word of the message stands before it; `asked`: the notation was asked for; `fenced`: a fence around it;
    `box`: what stands around it, and quotes it unless it is all of the message.
    """

    items: list[Draft | Event]
    raw: str
    before: str
    raws: dict[int, str]
    mark: Mark
    strong: bool
    awaits: Awaits = Awaits.WORDS
    standing: Standing | None = None
    reasoning: bool = False
    fenced: bool = False
    whole: bool = False
    asked: bool = False
    inline: bool = False
    box: str = ""
    hints: tuple[str, ...] = ()
    after: list[str] = field(default_factory=list)
    size: int = 0

    @property
    def drafts(self) -> list[Draft]:
        """The calls of it."""
        return [item for item in self.items if type(item) is Draft]

    def follow(self, text: str) -> None:
        """`text` stands behind it."""
        self.after.append(text)
        self.size += len(text)


def box_of(row: Row, raw: str) -> str:
    """The box that belongs to the notation, where it is one for whole messages only."""
    if row.place in AT_FIRST:
        return str(BOXES.get(raw[:1], ""))
    return str(Quote.HTML) if not row.strong and raw.startswith("<code") else ""


def written_as(attempt: Attempt, drafts: list[Draft], raw: str, at: int) -> dict[int, str]:
    """What each draft of an attempt was written as; the opener too, where the name stands in the markup."""
    if len(drafts) == 1 and not isinstance(attempt.spec.args, JsonCall):
        return {id(drafts[0]): raw}
    return {id(d): raw[d.start - at : (d.end or at + len(raw)) - at] for d in drafts}
