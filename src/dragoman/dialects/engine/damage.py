"""What becomes of a candidate that could not be read: a call that broke, an opener with nothing behind it, a word.

Knows what a row's marks are and why its reader gave up; tries no row itself (`candidates.py`).
Contract: every character of what broke is told once, as text or in an issue; nothing of it runs.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from itertools import accumulate, islice

from ...events import IssueReported
from ...late import late
from ...lenient.notation import Cut
from ...lenient.source import NO_LIMIT, Need, Source, same
from ...types import IssueKind, Stop
from ..judge.candidate import Draft, close_json
from ..judge.judge import Judge, slip_of, unreadable
from ..reading.call import Attempt
from ..reading.compiled import Row, telling
from ..reading.marked_name import Swallowed
from ..spec import BraceArgs, JsonArgs, JsonCall, KeywordArgs
from .budget import Patience
from .emitter import Teller
from .markers import Table
from .nests import Nests
from .pending import written_as

REST_OF_LINE = late(r"[ \t\r]*\n")
STRUCTURE = late(r"[{}\[\]<>\"'`]")
SHAPE_REACH = 200
"""Characters behind an opener that are looked at to tell a call from a word."""
SHAPE = late(r"\s*(?:[{\[]\s*(?:[\"'{\[]|\w+\s*[:=])|[\w.-]+\s*(?:[({]|</?\w|\n\s*[<{])|<[\w/|｜])")
"""How a call begins behind its opener, however damaged."""
OPENING, CLOSING = "{[", "}]"
BRACKET, NO_BRACKETS = late(r"[{}\[\]]"), late(r"[^{}\[\]]++")
ELEMENT = late(r"(?:\s*<(?P<name>[\w:.-]+)[^<>\n]*>)?[^<\n]*</[\w:.-]+>")
"""The rest of an element, or a whole one."""
WORD = late(r"\s*([\w.-]+)\s*")
CONTROL = frozenset({"<|", "<｜"})
TOKENS = late(r"\s*(?:<[|｜][^<>\s]{1,60}[|｜]>\s*)*(?:<(?:[|｜][^<>\s]{0,60})?\s*)?")
"""Control tokens, the last of them perhaps cut."""


class Damage:
    """Tells of what could not be read in one message.  `finish` is the stop reason, as soon as it is known."""

    judge: Judge
    src: Source
    teller: Teller
    finish: str
    table: Table

    def __init__(self, src: Source, table: Table, judge: Judge, teller: Teller, patience: Patience) -> None:
        self.src, self.table, self.judge, self.teller, self.finish = src, table, judge, teller, ""
        self._patience = patience
        self._weak_from = 0
        self._argument_to = -NO_LIMIT  # so far a call that broke had been read for an argument
        self._no_closer: dict[tuple[str, ...], None] = {}  # an empty set is three times as large

    @cached_property
    def _nests(self) -> Nests:
        return Nests(self.src)

    def _damaged(self, attempt: Attempt, row: Row, why: Exception, at: int) -> Need[None]:
        """An attempt that began a call and could not end it."""
        src, teller = self.src, self.teller
        self._patience.broke()
        kind, message = self._why(why, row, src.held())
        broken = attempt.draft
        if not row.strong and kind is not IssueKind.TRUNCATED:
            self._weak_damaged(attempt.drafts[-1], kind, message, at)
            return
        begun, swallowed = attempt.drafts[-1].start, isinstance(why, Swallowed)
        if kind is not IssueKind.TRUNCATED and (yield from self._nests.skip(row, begun, back=swallowed)):
            pass
        elif swallowed:
            yield from self._to_own_end(row)
        elif kind is not IssueKind.TRUNCATED:
            yield from self._to_rest(row)
        raw = src.held()
        src.release()
        behind = self.judge.calls_named(raw, [draft.name for draft in attempt.drafts])
        behind = behind if broken else behind[1:]
        issue = unreadable(kind, message, raw, broken.name if broken else "", at, behind=behind)
        if broken is not None:
            broken.done, broken.end = False, src.at
            broken.refuse(kind, message, issue.correction)
            broken.write(close_json(broken.text()))
        if teller.reasoning and not any(d is not broken for d in attempt.drafts):
            teller.say(raw)
            return
        if teller.queue:
            teller.release_all()
        teller.end_all(attempt.items, written_as(attempt, attempt.drafts, raw, at), raw, broken)
        if broken is None:
            teller.unread(issue)
        teller.new_line()

    def _to_rest(self, row: Row) -> Need[None]:
        """Skip the rest of a broken call, unless the next one begins right here."""
        if not ((yield from self._is_before_call(row)) or (yield from self._to_closer(row))):
            yield from self._over_rest(row)

    def _is_before_call(self, row: Row) -> Need[bool]:
        """Does the next call of this row begin where the reader gave up, outside of any text?"""
        marks = telling(row.openers)
        return bool(marks) and bool((yield from self.src.glance(marks))[1])

    def _to_closer(self, row: Row) -> Need[bool]:
        """Skip the rest of a broken call, if its closer comes; what stands before it is not live."""
        src, closers = self.src, row.call_close + row.section_close
        if not closers or closers in self._no_closer:
            return False
        if src.held().rstrip().endswith(closers):  # the reader had taken it when it found what is wrong
            return True
        src.hold()
        if (yield from src.until(closers, _ignore)):
            src.release()
            return True
        src.rewind()
        self._no_closer[closers] = None
        return False

    def _to_own_end(self, row: Row) -> Need[None]:
        """Skip the call that was read past its end: to its closer, or to where the next one begins."""
        src = self.src
        src.rewind()
        src.hold()
        src.pos += self._opener_size(row)
        mark = yield from src.until(row.call_close + row.section_close + row.openers, _ignore)
        if mark in row.openers:
            src.pos -= len(mark)

    def _over_rest(self, row: Row) -> Need[None]:
        """Skip what is left of a broken call that no closer ends: its brackets, or its line; its elements."""
        src = self.src
        if isinstance(row.dialect.args, JsonCall | JsonArgs | KeywordArgs | BraceArgs):
            text = src.held()
            depth = sum(map(text.count, OPENING)) - sum(map(text.count, CLOSING))
            src.hold()
            inner, longest = _inner(row.openers)
            while depth > 0:
                end = inner.match(src.buf, src.pos).end()  # type: ignore[union-attr]
                end = end if src.eof else min(end, len(src.buf) - longest)  # behind it a mark may have begun
                if end > src.pos:
                    depth, src.pos = _balance(src.buf, src.pos, end, depth)
                    if not depth:
                        break
                mark = yield from src.until((*OPENING, *CLOSING, "\n\n", *row.openers), _ignore)
                if not mark or (mark not in OPENING and mark not in CLOSING):
                    break
                depth += 1 if mark in OPENING else -1
            if not depth:
                src.release()
                return
            src.rewind()
            if depth > 0:
                mark = yield from src.until(("\n", *row.openers), _ignore)
                src.pos -= len(mark)
            return
        while found := (yield from src.match(ELEMENT, SHAPE_REACH)):
            if self.judge.known(found["name"] or ""):
                return
            src.pos = found.end()

    def _weak_damaged(self, draft: Draft, kind: IssueKind, message: str, at: int) -> None:
        """A weak candidate that broke is text, and noticed, since it named a tool.

        What was read for an argument of a declared one is none of its calls' place, though the argument was no good.
        """
        src, name = self.src, draft.name
        self._weak_from = max(self._weak_from, src.at)
        if draft.tool is not None:
            self._argument_to = max(self._argument_to, src.at)
        src.rewind()
        self.teller.emit(IssueReported(unreadable(kind, message, "", name, at)))
        first = src.buf[src.pos : src.pos + 1]
        src.pos += 1
        self.teller.say(first)

    def _unread(self, row: Row, why: Exception, at: int) -> Need[bool]:
        """A strong opener whose call could not be read at all: its text goes to an issue, up to its closer."""
        src, teller = self.src, self.teller
        if not (yield from self._looks_like_call(row)):
            return False
        self._patience.broke()
        src.hold()
        yield from self._to_end(row)
        raw = src.held()
        src.release()
        if teller.reasoning:
            teller.say(raw)
            return True
        if teller.queue:
            teller.release_all()
        kind, message = self._why(why, row, raw)
        teller.seen_call = True
        teller.unread(unreadable(kind, message, raw, "", at, behind=self.judge.calls_named(raw, ())[1:]))
        return True

    def _to_end(self, row: Row) -> Need[None]:
        """Skip to the closer of what could not be read; to the next opener, where nothing like a call precedes it."""
        src, got, begin = self.src, list[str](), self.src.at
        src.pos += self._opener_size(row)
        mark = yield from src.until(row.call_close + row.section_close + row.openers, got.append)
        if mark in row.openers and not STRUCTURE.search("".join(got)):
            src.pos -= len(mark)
        elif mark in row.openers and not (yield from self._nests.skip(row, begin, back=True)):
            yield from src.until(row.call_close + row.section_close, _ignore)

    def _why(self, why: Exception, row: Row, raw: str) -> tuple[IssueKind, str]:
        """Truncated or malformed?  A text that runs past its own closer to the end was not cut, it was never closed."""
        if not isinstance(why, Cut):
            return slip_of(why), str(why) or "there is no call object in it"
        if self.finish != Stop.LENGTH and raw.rstrip().endswith(row.call_close + row.section_close or ("\0",)):
            return IssueKind.MALFORMED, "a string or bracket is never closed"
        return IssueKind.TRUNCATED, "the text ends inside the call"

    def _is_call_fence(self, row: Row) -> bool:
        """Does a fence stand here whose whole info line is a call tag?"""
        if not row.sure:
            return False
        src = self.src
        for opener in row.openers:
            if src.buf[src.pos : src.pos + len(opener)].casefold() == opener.casefold():
                return REST_OF_LINE.match(src.buf, src.pos + len(opener)) is not None
        return False

    def _is_cut(self, row: Row) -> Need[bool]:
        """Does the message end in control tokens behind the one that stands here, glued to what precedes it?

        Or in a name that has only begun.
        """
        src, teller = self.src, self.teller
        if (yield from self._is_half_named(row)):
            return True
        if src.buf[src.pos : src.pos + 2] not in CONTROL or teller.reasoning:
            return False
        if teller.before[-1:] == " " and not teller.line_start(""):
            return False
        size = self._opener_size(row)
        if src.buf[src.pos : src.pos + size].casefold() in self.table.turns | self.table.headers:
            return False
        ahead = (yield from src.peek(size + SHAPE_REACH))[size:]
        return len(ahead) < SHAPE_REACH and TOKENS.fullmatch(ahead) is not None

    def _is_half_named(self, row: Row) -> Need[bool]:
        """Does the message end in a word behind the opener, which may be a tool's name, or is all there is?"""
        teller, size = self.teller, self._opener_size(row)
        if teller.reasoning or not teller.line_start(""):
            return False
        ahead = (yield from self.src.peek(size + SHAPE_REACH))[size:]
        word = WORD.fullmatch(ahead) if len(ahead) < SHAPE_REACH else None
        if word is None:
            return False
        alone = not (teller.context.any or teller.queue)
        return alone or any(name.startswith(word[1]) for name in self.judge.declared)

    def _looks_like_call(self, row: Row) -> Need[bool]:
        """Does what follows the opener look like a call?  A mark with words behind it is a word (J)."""
        src, size = self.src, self._opener_size(row)
        ahead = (yield from src.peek(size + SHAPE_REACH))[size:]
        if not ahead.strip() and not self.table.turns.isdisjoint(row.openers):
            return False  # a mark of turns that leaked, with no call behind it
        if row.sure or row.forms or SHAPE.match(ahead) or (yield from self._is_cut(row)):
            return True
        if not ahead.strip():
            return self.finish == Stop.LENGTH or not (self.teller.context.any or self.teller.queue)
        return self.judge.names_tool(ahead.partition("\n\n")[0])

    def _opener_size(self, row: Row) -> int:
        """How long the opener is that stands here."""
        buf, pos = self.src.buf, self.src.pos
        return max((len(o) for o in row.openers if same(buf[pos : pos + len(o)], o)), default=0)


@lru_cache(maxsize=256)
def _inner(openers: tuple[str, ...]) -> tuple[re.Pattern[str], int]:
    """A pattern for text in which no opener begins, and no blank line; the longest that may be begun at its end."""
    marks = [mark for mark in openers if mark not in OPENING]
    signs = re.escape("".join(sorted({mark[0] for mark in marks})))
    begun = "|".join(["\n\n", *map(re.escape, marks)])
    return re.compile(rf"(?:[^\n{signs}]++|(?!{begun})[\n{signs}])*+"), max([2, *map(len, openers)])


def _balance(text: str, pos: int, end: int, depth: int) -> tuple[int, int]:
    """How many brackets are open behind this text, and where it ends: at the latest where none is."""
    steps = [1 if sign in OPENING else -1 for sign in NO_BRACKETS.sub("", text[pos:end])]
    depths = list(accumulate(steps, initial=depth))
    if min(depths) > 0:
        return depths[-1], end
    *_, last = islice(BRACKET.finditer(text, pos, end), depths.index(0))
    return 0, last.end()


def _ignore(_: object) -> None:
    return None
