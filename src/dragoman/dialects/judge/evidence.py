"""Evidence: what was seen of a candidate, written down when it is decided.

Knows the values a rule may look at, and how they are said in words; nothing of text, markup or rules.
Contract: frozen; made once for a candidate, by whoever saw it; `words()` names every value that is not the usual one.
Source: judge-rules.md, second edition, "Evidence, then a rule, then a reason".
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ...records import dataclass
from ...types import Issue, JsonObject
from ..spec import Dialect, Listing

if TYPE_CHECKING:
    from .provenance import CopyOf


class Mark(StrEnum):
    """What opens the candidate."""

    TAG = "a mark of its own"
    FENCE = "a fenced block"
    OBJECT = "a bare object"
    LIST = "a bare list"
    NAME = "a bare call"
    COMMAND = "a command line"
    WIRE = "the API's own field"


class Place(StrEnum):
    """Where it stands among the words of the message, reasoning left aside."""

    ALONE = "alone"    # the message is this call, or these, and nothing else
    FIRST = "first"    # words follow, none precede
    AMONG = "among"    # words precede
    INLINE = "inline"  # words go on behind it on the same line


class Thought(StrEnum):
    """How it stands to the model's reasoning."""

    NONE = "none"      # outside of it
    ENDED = "ended"    # in reasoning that was closed, or went on behind it
    OPEN = "open"      # in reasoning that never closes, and the message stops at the call
    CUT = "cut"        # the same, but a limit ended the message


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was seen of one candidate.

    mark, strong   what opens it, and whether that alone proves a call
    asked          the prompt asked for this notation, or the caller named it
    habit          how this model writes here, in a word (`habit_of`);  confirmed: it has said before that it means it
    native         the request had native tools, so calls in text are not how it was told to call
    place, box     where it stands, and what quotes it there ("" nothing)
    thought        how it stands to reasoning
    told           the tools are known
    refusal        why it cannot run as it stands: an unknown name, arguments that do not fit, a text that was cut …
    edits          the kinds of mends it needed
    copy, repeats  what it copies; whether the same call was made before in this message
    hints          what the words around it say against it
    word           nothing but a name that no tool has stands in its markup, in the middle of a sentence
    """

    mark: Mark
    strong: bool
    asked: bool = False
    habit: str = ""
    confirmed: bool = False
    native: bool = False
    place: Place = Place.AMONG
    box: str = ""
    thought: Thought = Thought.NONE
    told: bool = True
    refusal: Issue | None = None
    edits: tuple[str, ...] = ()
    copy: CopyOf | None = None
    repeats: bool = False
    hints: tuple[str, ...] = ()
    word: bool = False

    def words(self) -> JsonObject:
        """The evidence as it stands in `Report.evidence`."""
        found: dict[str, Any] = {"mark": str(self.mark), "strong": self.strong, "place": str(self.place)}
        if self.usual:
            return found
        found.update(self._words())
        return found

    @property
    def usual(self) -> bool:
        """Does nothing but the mark and the place bear on it?"""
        flags = self.asked or self.confirmed or self.native or self.repeats or self.word
        seen = self.box or self.edits or self.hints or self.refusal is not None or self.copy is not None
        return is_usual(self.strong, self.told, self.thought, flags or seen)

    def _words(self) -> Iterator[tuple[str, object]]:
        for name in ("asked", "confirmed", "native", "repeats", "word"):
            if getattr(self, name):
                yield name, True
        if self.habit and not (self.strong or self.hints or self.place is Place.ALONE):
            yield "habit", self.habit
        if not self.told:
            yield "tools", "unknown"
        if self.box:
            yield "box", self.box
        if self.thought is not Thought.NONE:
            yield "thought", str(self.thought)
        if self.refusal is not None:
            yield "refusal", {"kind": str(self.refusal.kind), "message": self.refusal.message}
        if self.copy is not None:
            yield "copy", self.copy.words()
        for name in ("edits", "hints"):
            if getattr(self, name):
                yield name, list(getattr(self, name))


def is_usual(strong: bool, told: bool, thought: Thought, others: object) -> bool:
    """Has a strong mark been seen of declared tools, out of reasoning, and none of the `others` that may bear on it?"""
    return strong and told and not others and thought is Thought.NONE


def habit_of(dialect: str, mark: Mark, place: Place, *, ends: bool) -> str:
    """A way of writing calls among words, which a model may confirm: its notation, its mark, and where it stands.

    The place belongs to it: a model that ends its answers in a call has said nothing of objects amid a report.
    """
    where = "ends" if ends else "opens" if place is Place.FIRST else "between"
    return f"{dialect}:{_SPELT[mark]}:{where}"


_SPELT = {mark: mark.name.lower() for mark in Mark}


FENCES = ("```", "~~~")


def mark_of(dialect: Dialect, *, strong: bool) -> Mark:
    """What opens a candidate of this dialect."""
    if strong:
        return Mark.TAG
    opens = dialect.call.open + dialect.section.open
    if any(mark.startswith(FENCES) for mark in opens):
        return Mark.FENCE
    if opens:
        return Mark.COMMAND
    if type(dialect.args).__name__ in {"KeywordArgs"}:
        return Mark.NAME
    return Mark.LIST if dialect.listing is Listing.ARRAY else Mark.OBJECT
