"""Messages that end in a call of which nothing is to be said: reasoning perhaps, text perhaps, and the call.
Or in one that is only in doubt because it proves little behind words.

Most messages with a call are such, and a parser takes three hundred steps to find that it did not have to wait for,
mend or look up anything.  Here the lines before the call are passed in one look (`forward.py`), it is read by the
readers of its notation, and judged by the same evidence and rules.  Knows what listens; reads no notation itself.

Contract: `read` gives exactly what the parser makes of the same text, folded, or which part of it the parser may pass;
many a text is not read here of which that would come to the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from ...late import late, late_call
from ...lenient.notation import Broken, Cut
from ...lenient.source import Source
from ...records import NamedTuple
from ...types import Part, Reasoning, Stop, Text, Tier, ToolCall
from ..judge import hints
from ..judge.candidate import Draft
from ..judge.evidence import Evidence, Mark, Place, habit_of, mark_of
from ..judge.rules import Decision, Outcome, decide
from ..reading.call import Attempt, Mismatch
from ..reading.compiled import Row
from ..reading.named import begins_word, forms_at, opener
from ..reading.strays import Strays
from ..reading.table import READERS, read_clean
from ..spec import AT_FIRST
from .beginning import may_open
from .budget import CALLS, EARLY, MARKS, OPENERS, TRIED
from .common_marks import FENCE_SIGNS
from .crowd import SIGNS, Crowd
from .forward import NO_LINE, forward
from .ids import default_id, free_id
from .listening import Listening
from .lookahead import unlike, unlike_all, untried
from .markers import VALUE_ENDS
from .overlooked import overlooked
from .parsed import Parsed
from .visible import BLOCK

if TYPE_CHECKING:
    from ..judge.boxes import Standing
    from ..judge.quotation import Context

_context: Callable[[], Context] = late_call("..judge.quotation", "Context", __name__)
_box_of: Callable[[Row, str], str] = late_call(".pending", "box_of", __name__)
_closes: Callable[[Standing, str], bool | None] = late_call("..judge.boxes", "closes", __name__)
_lasts: Callable[[Standing], bool] = late_call("..judge.boxes", "lasts", __name__)
"""Asked of calls that prove little: what nobody writes but to make a call is one in any box that is not sure."""
BLANKS, INDENT = re.compile(r"\s*+"), re.compile(r"[ \t\r\n]*+")
VALUES = ("{", "[")
"""What a message begins with that is a value: in a string of it whatever stands is quoted."""
FENCED_VALUE = late(r"(?:`{3}|~{3})[\w+#.-]{0,80}+[ \t]*+\r?\n\s*+[{\[]")
"""A fence that does not hold code."""
END = " "
"""What stands behind a text's end: no word."""
LAST = 200
"""So much of a text's end tells how it ends."""
LONGEST = 16_000
"""So much is read by readers that may find much to mend, which the parser would have to read once more."""
FEW = EARLY
"""So many marks behind what was passed change nothing together with those in it."""
SOME = 16
"""So many calls tell whether there are more than are read of any message."""


class Before(NamedTuple):
    """What stands before the call: reasoning (None: none), and where the visible text begins."""

    reasoning: str | None
    start: int


class Clear(NamedTuple):
    """Text in which nothing counts: from a place that any reader comes by, to the beginning of a line.

    Whoever reads it sign by sign looks at so many marks in it at the most.
    """

    start: int
    end: int
    marks: int = 0


NOWHERE = Clear(0, 0)


class Group(NamedTuple):
    """Calls that were read as one, the row they are of, where they end, and where the blanks behind them do."""

    drafts: list[Draft]
    row: Row
    end: int
    behind: int


def read(text: str, heard: Listening, finish: str) -> Parsed | Clear:
    """What the parser makes of `text`; where only it can tell, what it need not read."""
    judge = heard.judge
    if judge.tools is None or judge.strict or judge.watches_copies or judge.habits or judge.native:
        return NOWHERE
    if not heard.names.some or finish == Stop.LENGTH or len(text) > BLOCK:
        return NOWHERE
    if not text[-LAST:].rstrip().endswith(heard.table.closers):
        return NOWHERE
    before = _reasoning(text, heard)
    if before is None:
        return NOWHERE
    at = INDENT.match(text, before.start).end()  # type: ignore[union-attr]
    if text[at : at + 1] in VALUES and not _is_tag(text, at, heard):
        return _read_value(text, before, at, heard) or NOWHERE
    at, marks = _call(text, before.start, at, heard)
    if at < 0 or (marks > OPENERS and _costs(text, before.start, at, heard)):
        return NOWHERE
    read = _read_from(text, before, at, heard) or _read_unsure(text, before, at, heard)
    return read or (_clear(text, before, at, heard) if marks else Clear(before.start, at))


def _costs(text: str, start: int, end: int, heard: Listening) -> bool:
    """May so many marks stand between these places that the parser reads no further?"""
    spent = forward(heard.table).counted(text, start, end, heard.names)
    return spent.marks > MARKS or spent.openers > OPENERS


def _clear(text: str, before: Before, at: int, heard: Listening) -> Clear:
    """What is passed up to the call at `at`, if reading it sign by sign changes nothing behind it."""
    spent = forward(heard.table).counted(text, before.start, at, heard.names)
    marks = spent.marks + spent.openers
    return Clear(before.start, at, marks) if marks <= TRIED - FEW else NOWHERE


def _read_value(text: str, before: Before, at: int, heard: Listening) -> Parsed | None:
    """The same of a message that is one value, in no tags: calls and nothing else."""
    if heard.judge.protocol or (heard.table.opens and _opens(text, at, heard)):
        return None
    group = _read(text, at, heard, alone=True, strong=False)
    if group is None or group.behind < len(text) or not all(_is_usual(draft, heard) for draft in group.drafts):
        return None
    return _message(text, before, text[before.start : at], [group], heard)


def _read_from(text: str, before: Before, at: int, heard: Listening) -> Parsed | None:
    """The same of a text whose first call may stand at `at`; None where only the parser can tell."""
    prose = text[before.start : at]
    groups = _groups(text, at, heard, alone=not prose or prose.isspace())
    if groups is None or not _is_plain(prose, groups[0].row) or _overlooks(prose, heard):
        return None
    return _message(text, before, prose, groups, heard)


def _read_unsure(text: str, before: Before, at: int, heard: Listening) -> Parsed | None:
    """The same of a text that a call ends which proves little behind words."""
    prose = text[before.start : at]
    if not prose or prose.isspace() or heard.judge.protocol:
        return None
    if text[at] in FENCE_SIGNS and FENCED_VALUE.match(text, at) is None:
        return None
    group = _read(text, at, heard, alone=False, strong=False)
    if group is None or group.end < len(text) or len(group.drafts) > 1 or not _is_usual(group.drafts[0], heard):
        return None
    if not _is_plain(prose, group.row) or _box_of(group.row, text[at:]) or _is_quoted(prose):
        return None
    midline = hints.opens_midline(prose[-hints.REACH :])
    decision = _decision(group.row, Place.AMONG, heard, midline=midline, ends=True)
    if decision.outcome is Outcome.RUN:
        return None if _overlooks(prose, heard) else _message(text, before, prose, [group], heard)
    return _doubtful(text, before, group.drafts[0], decision, heard)


def _is_plain(prose: str, row: Row) -> bool:
    """Is what stands before a call of this row no part of it, and no more crowded with signs than an answer is?"""
    return not (_says_against(row, prose) or (len(prose) > SIGNS and Crowd().will(prose)))


def _is_quoted(prose: str) -> bool:
    """May anything that is open behind this text quote what ends the message there, or is that another party's?"""
    context = _context()
    context.add(prose)
    standing = context.standing()
    if standing.quote is not None and (standing.sure or not _lasts(standing) or _closes(standing, END)):
        return True
    return context.turned()


# ── where the call stands ────────────────────────────────────────────────────


def _reasoning(text: str, heard: Listening) -> Before | None:
    """The block of reasoning that the message begins with, if one does; None where that is not plain to see."""
    table, at = heard.table, INDENT.match(text).end()  # type: ignore[union-attr]
    first = text[at : at + 1]
    if not ("!" <= first <= "~" or first.isalpha()) or (first in table.begun_signs and table.is_begun(text, at)):
        return None
    found = table.marker.match(text, at) if first in table.heads else None
    closers = table.think.get(found.group().casefold()) if found is not None else None
    if found is None or closers is None:
        return Before(None, 0)
    start = found.end()
    end = text.find(closers[0], start)
    thought = text[start:end]
    if at or end < 0 or begins_word(heard.names, text, 1) or thought[-1:] == "`" or _is_fenced(thought):
        return None
    return Before(thought, end + len(closers[0])) if forward(table).is_clear(text, start, end, heard.names) else None


def _is_fenced(text: str) -> bool:
    """Does a fence stand in it?  One sign is found ten times as fast as three of it."""
    return ("`" in text and "```" in text) or ("~" in text and "~~~" in text)


def _call(text: str, start: int, at: int, heard: Listening) -> tuple[int, int]:
    """The beginning of the line that a call begins, with nothing that counts before it; -1 where that is not plain.

    The first word stands at `at`.  And how many marks were passed at the most.
    """
    table, names = heard.table, heard.names
    if at == len(text):
        return NO_LINE
    if text[at] in table.heads and (at == start or text[at - 1] == "\n") and _is_tag(text, at, heard):
        return at, 0
    if table.opens and may_open(table, names, text[at]) and _opens(text, at, heard):
        return NO_LINE
    return forward(table).to(text, start, names)


def _is_tag(text: str, at: int, heard: Listening) -> bool:
    """Does a mark stand here that nobody writes but to make a call?"""
    found = heard.table.marker.match(text, at)
    return found is not None and heard.table.opens_calls(found.group())


def _opens(text: str, at: int, heard: Listening) -> bool:
    """May a message be nothing but calls that begins with what stands here?"""
    table, names = heard.table, heard.names
    mark = next((mark for mark in table.opening_marks if text.startswith(mark, at)), "")
    for row in table.openings.get(mark, ()):
        look = unlike(row)
        if look is None or not look.ended(text, at):
            return True
    forms = forms_at(names, tuple(table.opening_forms), text, at, eof=True)
    return bool(forms) and opener(names, forms, text, at, eof=True) is not None


def _rows(text: str, at: int, heard: Listening, *, strong: bool) -> tuple[Row, ...]:
    """The rows that a call which stands here may be of; none where a tool's name is a mark, or not as `strong`."""
    table = heard.table
    found = table.marker.match(text, at)
    rows = table.rows.get(found.group().casefold(), ()) if found is not None else ()
    if not rows or rows[0].strong is not strong or forms_at(heard.names, table.named_first, text, at, eof=True):
        return ()
    looks = unlike_all(rows)
    return () if looks and all(look(text, at) for look in looks) else rows


# ── the calls ────────────────────────────────────────────────────────────────


def _groups(text: str, at: int, heard: Listening, *, alone: bool) -> list[Group] | None:
    """The calls that stand here, with which the text ends; None where anything else stands among or behind them."""
    groups: list[Group] = []
    begin, count = at, 0
    while True:
        found = _read(text, at, heard, alone=alone)
        if found is None or not all(_is_usual(draft, heard) for draft in found.drafts):
            return None
        groups.append(found)
        count += len(found.drafts)
        if count > CALLS:
            return None
        at = found.behind
        if at == len(text):
            return groups
        if "\n" not in text[found.end : at]:
            return None
        if count >= SOME and (len(text) - at) * count > (CALLS - count) * (at - begin):
            return None


def _read(text: str, at: int, heard: Listening, *, alone: bool, strong: bool = True) -> Group | None:
    """The calls that stand here, of the first row that can read them; None where one broke behind a call's name."""
    src = Source()
    src.feed(text)
    src.eof = True
    last = text[-LAST:].rstrip()
    for row in _rows(text, at, heard, strong=strong):
        other = untried(row)
        if (other is not None and other(text, at)) or not (strong or alone or row.place not in AT_FIRST):
            continue
        src.pos = at
        attempt = Attempt(src, row, heard.judge, _ignore, READERS)
        attempt.strays, attempt.alone = Strays(_never), alone
        try:
            read = row.strong is strong and _is_closed(row, last) and _is_whole(attempt)
        except (Mismatch, Broken, Cut):
            if attempt.drafts:
                return None
            continue
        drafts = attempt.drafts if read else []
        if not drafts or len(drafts) < len(attempt.items):
            return None
        return Group(drafts, row, src.pos, BLANKS.match(text, src.pos).end())  # type: ignore[union-attr]
    return None


def _is_closed(row: Row, last: str) -> bool:
    """Does a text with this end end as a call of this row does, or its arguments?  What was cut is not read twice."""
    return last.endswith((*VALUE_ENDS, *row.closers))


def _is_whole(attempt: Attempt) -> bool:
    """Is what stands here read, and nothing waited for?  Raises what the row's reader does."""
    if read_clean(attempt):
        return True
    src = attempt.src
    return len(src.buf) - src.pos <= LONGEST and next(attempt.run(), attempt) is attempt


def _is_usual(draft: Draft, heard: Listening) -> bool:
    """Does the call run, with nothing to be said of it?"""
    heard.judge.settle(draft)
    return draft.done and draft.refusal is None and not (draft.edits or draft.data)


def _ignore(_: object) -> None:
    return None


def _never() -> bool:
    return False


# ── the message ──────────────────────────────────────────────────────────────


def _message(text: str, before: Before, prose: str, groups: list[Group], heard: Listening) -> Parsed | None:
    """The message of this text before these calls."""
    parts: list[Part] = [Reasoning(before.reasoning)] if before.reasoning else []
    calls: list[ToolCall] = []
    taken: dict[str, None] = {}
    again: dict[str, int] = {}
    said = prose
    blank, midline = not prose or prose.isspace(), hints.opens_midline(prose[-hints.REACH :])
    if prose:
        parts.append(Text(prose))
    for drafts, row, end, behind in groups:
        ends = behind == len(text)
        place = Place.AMONG if not blank else Place.ALONE if ends else Place.FIRST
        first = Place.FIRST if place is Place.ALONE and row.strong else place  # behind it another stands
        made: list[ToolCall] = []
        for some, where in ((drafts[:-1], first), (drafts[-1:], place)):
            if not some:
                continue
            made += _calls(some, _decision(row, where, heard, midline=midline and not calls, ends=ends), taken, again)
        calls += made
        parts += made
        if end < behind:
            said += text[end:behind]
            parts.append(Text(text[end:behind]))
    if len(calls) > 1 and not groups[0].row.strong and len({(call.name, call.raw) for call in calls}) < len(calls):
        return None  # what proves little and is made twice is the parser's to judge
    return Parsed(
        calls=tuple(calls), text=said, reasoning=before.reasoning or "", issues=(), parts=tuple(parts), source=text
    )


def _calls(drafts: list[Draft], decision: Decision, taken: dict[str, None], again: dict[str, int]) -> list[ToolCall]:
    """The calls of these drafts, where these ids are `taken`, and some were minted `again`."""
    made: list[ToolCall] = []
    for draft in drafts:
        identity = draft.id
        if not identity or identity in taken:
            identity = free_id(default_id(len(taken)), taken, again)
        taken[identity] = None
        tier = Tier.TAGGED if draft.strong else Tier.RAW_JSON
        report, given = draft.report(tier, decision), draft.arguments()
        made.append(ToolCall(id=identity, name=draft.name, arguments=given, raw=draft.text(), report=report))
    return made


def _doubtful(text: str, before: Before, draft: Draft, decision: Decision, heard: Listening) -> Parsed | None:
    """The message of this text, with whose last call it stays in doubt whether it was meant."""
    shown, written = text[before.start :], text[draft.start : draft.end]
    if decision.outcome is not Outcome.ASK or heard.judge.doubt != "ask":
        return None
    if before.start + shown.find(written) != draft.start or _overlooks(shown, heard, written):
        return None
    report, given = draft.report(Tier.RAW_JSON, decision), draft.arguments()
    call = ToolCall(id=draft.id or "call_0", name=draft.name, arguments=given, raw=draft.text(), report=report)
    parts: list[Part] = [Reasoning(before.reasoning)] if before.reasoning else []
    return Parsed(
        calls=(), text=shown, reasoning=before.reasoning or "", issues=(), parts=(*parts, Text(shown)),
        doubtful=(call,), source=text,
    )  # fmt: skip


# ── what is decided on them ──────────────────────────────────────────────────


def _says_against(row: Row, prose: str) -> bool:
    """Do the words before the call say anything against it, or belong to its notation?"""
    if not prose or prose.isspace():
        return False
    before = prose[-hints.KEPT :]
    if row.preface is not None and row.preface.fullmatch(before.strip()) is not None:
        return True
    return bool(hints.before(before, inline=False))


def _decision(row: Row, place: Place, heard: Listening, *, midline: bool, ends: bool) -> Decision:
    mark = mark_of(row.dialect, strong=row.strong)
    habit = "" if midline else habit_of(row.dialect.name, mark, place, ends=ends)
    return _decided(mark, row.strong, place, habit, heard.judge.asked_for(row.dialect.name))


@lru_cache(maxsize=1024)
def _decided(mark: Mark, strong: bool, place: Place, habit: str, asked: bool) -> Decision:
    return decide(Evidence(mark=mark, strong=strong, place=place, habit=habit, asked=asked))


def _overlooks(text: str, heard: Listening, *calls: str) -> bool:
    """Does the text hold a call that no mark led to, beside these, or may it?"""
    if heard.judge.asked_by_name:
        return False
    asked: list[str] = []
    return next(overlooked(text, heard.names, asked.append, calls=calls), None) is not None or bool(asked)
