"""One attempt to read what stands here as one dialect: its section, its calls, and the drafts they become.

The argument notations are read by `table.py`, one reader each; no reader knows a dialect by name.  Judging names and
arguments is asked of the `Judge`.  This module does not know where in the message it stands.

Contract: an attempt raises `Mismatch` while the text may still be something else, `Broken` or `Cut` when it is this
dialect, damaged or truncated.  `items` holds what was read so far, in order: drafts and events.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from ...late import late, late_call
from ...lenient.notation import Broken
from ...lenient.source import Need, Source
from ...types import Edit, IssueKind
from ..judge.candidate import Draft, close_json
from ..judge.judge import Judge, slip_of
from ..spec import JsonCall, KeywordArgs, Listing, Place
from .call_end import MAX_LATE, CallEnd
from .compiled import JOINTS, Row
from .marked_name import MAX_NAME, Mismatch, Swallowed
from .named import BRACKETS, UNDECIDED, Opener, opener
from .strays import TWO_ENDS, Behind, CallMarks, Strays

_skip_value: Callable[..., Need[bool]] = late_call(".skipped", "skip_value", __name__)
"""For a value that cannot be read."""

WRITTEN = r"[A-Za-z_$][\w\\.\-:]*+"
"""A tool's name as it is written before a parenthesis."""
CALL_NAME = late(rf"[\"'`]?(?P<name>{WRITTEN})[\"'`]?+\s*+(?=\()")
CALL_NAME_BEGUN = late(r"(?:[\"'`]?(?:[A-Za-z_$][\w\\.\-:]*[\"'`]?\s*)?)\Z")
"""Text that may go on as one."""
MORE = late(r"\s*[,;]\s*(?=[A-Za-z_$][\w\\.\-:]*\()")
OPERATOR = late(r"\s*\+\s*(?=[A-Za-z_$][\w\\.\-:]*\()")
KEYWORD = late(r"[A-Za-z_]\w*\s*=(?!=)")
KEYWORD_BEGUN = late(r"(?:[A-Za-z_]\w*\s*=?)?\Z")
"""An argument by its name, where a call should stand; and text that may go on as one."""
QUOTE_LEFT, NO_QUOTE = late(r"[^\n<\"']*[\"']"), late(r"[^\n<\"']*\Z")
"""A quote before the line or the text ends, and text in which one may still come."""
MAX_NESTED = 16
"""Calls inside lists inside lists, or printed as they are printed, are not looked for any deeper."""


class Attempt(CallEnd):
    """One dialect tried at one place."""

    closed: bool
    opener: str
    row: Row
    called: str
    ended: bool

    def __init__(
        self, src: Source, row: Row, judge: Judge, begun: Callable[[Draft], None], readers: Mapping[type, Reader]
    ) -> None:
        super().__init__(src, row, judge, begun)
        src.earlier = src.reread
        self._readers = readers
        self.closed = True
        self.guessed: list[Draft] = []
        self.ended = False
        self.strays: Strays | None = None
        self.ends: Callable[[], bool] | None = None
        self._summed = False

    @property
    def is_item(self) -> bool:
        """Is what is read now an item of the outermost list?"""
        return self._nested == 1

    # ── sections ─────────────────────────────────────────────────────────────

    def run(self) -> Need[None]:
        """Read everything this dialect has to say here."""
        src = self.src
        if self.spec.suffix:
            yield from self._suffix()
        row = self.row
        inside = (yield from src.literal(row.section_open)) if row.section_open else ""
        if inside or not "!" <= src.buf[src.pos : src.pos + 1] <= "~":
            yield from src.space()
        if self.spec.listing is Listing.ARRAY:
            yield from self._arrays(inside)
        else:
            yield from self._sequence(bool(inside))
        if inside:
            closed = yield from self.closing(row.section_close)
            if row.section_close and not closed and isinstance(self.spec.args, KeywordArgs):
                yield from self._doubt_rest()
            yield from self._doubt()
        elif isinstance(self.spec.args, KeywordArgs):
            yield from self.closing((";",))
            yield from self._doubt()
        elif isinstance(self.spec.args, JsonCall) and not self.row.strong and (yield from self.closing(("}",))):
            self.last_edit("stray_bracket")
        if not self.row.strong and isinstance(self.spec.args, KeywordArgs) and self.drafts:
            self._refuse_text()
        for draft in self.drafts if self._summed else ():
            draft.edits.append(Edit("operator"))
        if not self.items:
            raise Mismatch

    def _refuse_text(self) -> None:
        """A list of calls of which none could be read is text, such as a signature."""
        refusals = [draft.refusal for draft in self.drafts]
        if refusals[0] is not None and all(refusals):
            raise Broken(refusals[0].message)

    def _suffix(self) -> Need[None]:
        """If the opener here carries a suffix, go on with the row in which every tag does."""
        openers = self.row.section_open + self.row.call_open
        for mark in openers:
            head = yield from self.src.peek(len(mark))
            if head == mark[:-1] + ":":
                found = yield from self.src.match(re.compile(re.escape(head) + f"({self.spec.suffix})>"), 64)
                if found is None:
                    raise Mismatch
                self.row = self.row.suffixed(found[1])
                return

    def nested(self, read: Callable[[], Need[None]]) -> Need[None]:
        """Read what may hold its own like; no deeper than anybody would write it."""
        if self._nested >= MAX_NESTED:
            raise Broken(f"calls are nested deeper than {MAX_NESTED}")
        self._nested += 1
        try:
            yield from read()
        finally:
            self._nested -= 1

    def array(self) -> Need[None]:
        """A list of calls."""
        yield from self.nested(self._array)

    def _arrays(self, inside: str) -> Need[None]:
        """A list of calls; where nothing is around it, perhaps several, with a comma or semicolon between."""
        yield from self.array()
        while not inside and self.closed and self.drafts:
            size, found = yield from self.src.glance(("[",), (",", ";"))
            if found and (yield from self.src.glance((",", ";")))[1]:
                self.src.pos += size - 1
                yield from self.array()
            elif not (yield from self._goes_on()):
                return

    def _goes_on(self) -> Need[bool]:
        """Does another Python call follow behind a list that was closed too early?  Then it is read."""
        src = self.src
        found = (yield from src.match(MORE, MAX_NAME)) if isinstance(self.spec.args, KeywordArgs) else None
        if found is None:
            return False
        src.pos = found.end()
        yield from self._item()
        self.last_edit("stray_bracket")
        yield from self.closing(("]",))
        return True

    def _array(self) -> Need[None]:
        src = self.src
        c = yield from src.peek()
        if c != "[":
            if c == "{" and self.row.section_open:
                yield from self._bare_items()
                return
            raise Mismatch
        src.pos += 1
        while True:
            yield from src.space()
            c = yield from src.peek()
            if c == "]":
                src.pos += 1
                if self._nested == 1 and not self.row.section_close:
                    yield from self._bracket_too_many()
                return
            if not c and self.items:
                self._note_unclosed()
                return
            if self.items and (yield from src.match(KEYWORD, MAX_NAME, KEYWORD_BEGUN)) is not None:
                self._doubt_end()
            yield from self._item()
            if (yield from self._is_parted()):
                continue
            if src.eof and src.pos == len(src.buf):
                self._note_unclosed()
                return
            self._doubt_end()
            raise Broken("the list of calls is not closed")

    def _bracket_too_many(self) -> Need[None]:
        """One more bracket behind the list, which is not the end of a CDATA section."""
        if (yield from self.src.glance(("]", "]]>")))[1] == "]" and (yield from self.closing(("]",))):
            self.last_edit("stray_bracket")

    def _is_parted(self) -> Need[bool]:
        """Does what follows an item part it from the next one, or end the list?"""
        src, notation = self.src, self.spec.args
        yield from src.space()
        if (yield from src.literal((",", ";"))) or (yield from src.peek()) == "]":
            return True
        if isinstance(notation, KeywordArgs):
            return (yield from self._operator())
        if not isinstance(notation, JsonCall):
            return False
        if (yield from src.literal((")", "}"))):
            self.last_edit("stray_bracket")
            yield from src.space()
            if (yield from src.literal((",",))) or (yield from src.peek()) == "]":
                return True
        if (yield from src.peek()) == "{":
            self.last_edit("missing_comma")
            return True
        return False

    def _bare_items(self) -> Need[None]:
        """The calls of a list that has lost its brackets, with a comma or semicolon between."""
        yield from self._call()
        while (yield from self.src.glance(("{",), (",", ";")))[1] and (yield from self.src.glance((",", ";")))[1]:
            yield from self.src.literal((",", ";"))
            yield from self.src.space()
            yield from self._item()
            self.last_edit("missing_bracket")

    def _operator(self) -> Need[bool]:
        """A sign that would add what two calls give, with another call behind it."""
        size, found = yield from self.src.glance(("+",))
        if not found or (yield from self.src.match(OPERATOR, MAX_NAME)) is None:
            return False
        self.src.pos += size
        yield from self.src.space()
        self._summed = True
        return True

    def _doubt_end(self) -> None:
        """What follows a Python call cannot: a quote inside one of its strings was perhaps taken for its end."""
        draft, why = self.last, "where its last string ends is not clear"
        if isinstance(self.spec.args, KeywordArgs) and draft is not None:
            draft.refuse(IssueKind.MALFORMED, why, self.judge.correction(draft, why))

    def _doubt_rest(self) -> Need[None]:
        """A quote is left on a Python call's line, behind its end."""
        before = self.src.behind(MAX_LATE)
        if "\n" in before[len(before.rstrip()) :]:
            return
        if (yield from self.src.match(QUOTE_LEFT, MAX_LATE, NO_QUOTE)) is not None:
            self._doubt_end()

    def _item(self) -> Need[None]:
        """One call of a list; one that is damaged is refused alone, if its end can be found."""
        src = self.src
        depth = src.hold()
        try:
            yield from self._call()
        except Broken as why:
            src.unwind(depth)
            holds_another = isinstance(why, Swallowed) and isinstance(self.spec.args, KeywordArgs)
            if self.draft is None or holds_another:
                src.release()
                raise
            broken, self.draft = self.draft, None
            src.rewind()
            if not (yield from _skip_value(src, printed=isinstance(self.spec.args, KeywordArgs))):
                self.draft = broken
                raise
            broken.refuse(slip_of(why), str(why), self.judge.correction(broken, str(why)))
            broken.write(close_json(broken.text()))
            broken.end = src.at
        else:
            src.release()

    def _note_unclosed(self) -> None:
        if self.last is not None and any(edit.kind == "unescaped_quote" for edit in self.last.edits):
            self._doubt_end()
        self.last_edit("unclosed")
        self.closed = False

    def _sequence(self, inside: bool) -> Need[None]:
        src, row = self.src, self.row
        while True:
            yield from self._item() if isinstance(self.spec.args, KeywordArgs) else self._call()
            if inside and isinstance(self.spec.args, KeywordArgs):
                if not (yield from self._another_name()):
                    return
                continue
            if not inside and not (yield from self._joined()):
                return
            size, found = yield from self.another(row.between)
            if not found or (yield from self._is_end(size - len(found))):
                return
            src.pos += size - len(found)

    def _joined(self) -> Need[bool]:
        """Where nothing holds the calls together: does a comma or semicolon?  Behind the first of those that are looked
        for where a message begins, nobody else finds another."""
        marks = tuple([m for m in self.row.between if m in JOINTS])
        if self.row.place is Place.OPENING and self.row.forms:
            return bool((yield from self.another(marks))[1])
        if not marks:
            return isinstance(self.spec.args, KeywordArgs) and (yield from self._operator())
        _, mark = yield from self.src.glance(marks)
        _, found = yield from self.another(marks)
        return bool(mark and found) or (isinstance(self.spec.args, KeywordArgs) and (yield from self._operator()))

    def _another_name(self) -> Need[bool]:
        """Does another Python call follow, perhaps after a comma or semicolon, or what begins the items of a list?"""
        src = self.src
        yield from src.space()
        if (yield from src.literal((",", ";"))):
            yield from src.space()
        if self.row.items and (yield from src.literal(self.row.items)):
            yield from src.space()
        return (yield from src.match(CALL_NAME, MAX_NAME, CALL_NAME_BEGUN)) is not None

    def _is_end(self, ahead: int) -> Need[bool]:
        """Does the section's closer stand there rather than another call (`</x>` against `<`)?"""
        if not self.row.section_close:
            return False
        ahead_, mark = yield from self.src.glance(self.row.section_close)
        return bool(mark) and ahead_ - len(mark) == ahead

    def _call(self) -> Need[None]:
        src, row = self.src, self.row
        opener = self.opener = yield from self._opener()
        if self.called:
            row = self.row = row.named(self.called)
        if not self.called:
            yield from src.space()
        yield from self._read()
        while opener and row.tool_open and row.body_close and (yield from src.glance(row.tool_open))[1]:
            yield from src.space()
            yield from self._read()
        if self.ended:
            return
        closers = self.call_close
        if closers and not (yield from self.closing(closers)):
            yield from self._strays()
        if not self.is_inner or not isinstance(self.spec.args, KeywordArgs):
            yield from self._doubt()

    def _opener(self) -> Need[str]:
        """Take the call's opener; with a declared name in it, that is the tool that is called."""
        src, self.called = self.src, ""
        if not self.row.forms:
            return (yield from src.literal(self.row.call_open))
        found = yield from self._named(0)
        if found is None:
            raise Mismatch
        if found.form[1] in BRACKETS:
            return ""
        self.called, src.pos = found.name, found.end
        return found.form[0] + found.name + found.form[1]

    def _named(self, ahead: int) -> Need[Opener | None]:
        """The opener with a declared name in it that stands so far ahead."""
        src = self.src
        while True:
            found = opener(self.judge.declared, self.row.forms, src.buf, src.pos + ahead, eof=src.eof)
            if found is not UNDECIDED:
                return found
            yield

    def another(self, between: tuple[str, ...] = ()) -> Need[tuple[int, str]]:
        """Does another call of this row begin here, after white space and what may stand between?  As `glance`."""
        src = self.src
        if not self.row.forms:
            return (yield from src.glance(self.row.again, between))
        ahead = yield from src._over_space(0)
        size, mark = yield from src._option(ahead, between)
        if mark:
            ahead = yield from src._over_space(size)
        found = yield from self._named(ahead)
        return (found.end - src.pos, src.buf[src.pos + ahead : found.end]) if found else (0, "")

    def goes_on(self, size: int, marks: CallMarks, *, text: bool) -> Need[bool]:
        """Does a raw value, perhaps any `text`, go on behind its closer of `size` characters, as it holds such?"""
        if self.strays is None or not marks.ends or not (yield from self._ends_behind(size, marks.ends)):
            return False
        behind = yield from self.strays.behind(self.src, size, marks, self.another, text=text)
        draft = self.draft
        if behind is Behind.DOUBT and draft is not None:
            draft.refuse(IssueKind.MALFORMED, TWO_ENDS, self.judge.correction(draft, TWO_ENDS))
        return behind is Behind.VALUE

    def _ends_behind(self, size: int, ends: tuple[str, ...]) -> Need[bool]:
        src = self.src
        ahead = yield from src._over_space(size)
        return bool((yield from src._option(ahead, ends))[1])

    @property
    def stops(self) -> tuple[str, ...]:
        """Marks that end the call whatever bracket is still open."""
        marks = self.row.body_close + self.call_close + self.row.section_close
        return tuple(m for m in marks if len(m) > 2)

    def _read(self) -> Need[None]:
        """One call by the row's notation; a reader that takes the call's closer itself sets `ended`."""
        self.ended = self._framed = False
        yield from self._readers[type(self.spec.args)](self)



Reader: TypeAlias = Callable[[Attempt], Need[None]]

__all__ = ["CALL_NAME", "MAX_NAME", "Attempt", "Mismatch", "Reader", "Swallowed"]
