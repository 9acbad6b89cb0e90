"""A dialect prepared for reading: its marks stripped of white space, and the sets of marks that follow from them.

Derived from the row, the declared tools' names and whether the caller asked for the dialect; knows nothing of text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeAlias

from ...late import late
from ...records import replace
from ..spec import Dialect, JsonCall, Listing, Place, Span, Strength, TaggedArgs
from .nesting import Nesting

NAME = "{name}"
"""In a spelling of `Dialect.call`: each declared tool's name."""
Form: TypeAlias = tuple[str, str]
"""An opener with a declared name in it: what stands before the name, and what behind."""
Marks: TypeAlias = tuple[str, ...]
"""The spellings of one mark, the first the one that is written."""
TELLING = 3
"""A mark of fewer characters stands in any text or JSON."""
NO_TAGS = TaggedArgs(key=Span(), value=Span())
NAMED = ' name="'
MINE = frozenset({Strength.OWN, Strength.ASKED})


JOINTS = frozenset({",", ";"})
"""What may stand between two calls that nothing holds together."""


class Row:
    """A dialect with its marks stripped of white space and its derived sets, made once.

    strong    a complete call counts where it stands       place   where its openers may stand
    special   its openers are special tokens, which nobody indents to quote them
    headed    a segment's header carries the tool's name
    openers   what begins it                               forms   what begins it with a declared tool's name in it
    """

    dialect: Dialect
    section_close: Marks
    section_open: Marks
    tool_close: Marks
    tool_open: Marks
    body_close: Marks
    body_open: Marks
    key_open: Marks
    key_close: Marks
    key_heads: Marks
    type_open: Marks
    type_close: Marks
    value_open: Marks
    value_close: Marks
    ends: Marks
    after_value: Marks
    after_body: Marks
    opens_call: Marks

    def __init__(self, dialect: Dialect, *, asked: bool = False) -> None:
        d = self.dialect = dialect
        mine = asked and d.strength in MINE
        self.strong: bool = d.strength is Strength.STRONG or mine
        self.addressed = False  # to the reader, by the segment that it stands in
        self.place: Place = Place.INLINE if mine or (asked and d.place is Place.LAST) else d.place
        self.section_open, self.section_close = _bare(d.section.open), _bare(d.section.close)
        opens = _bare(d.call.open)
        self.forms: tuple[Form, ...] = tuple(_form(o) for o in (*opens, *d.lead) if NAME in o)
        self.call_open: Marks = _plain(opens)
        self.call_close: Marks = _plain(_bare(d.call.close))
        self.headed: bool = d.segments is not None and bool(set(self.call_open) & set(d.segments.open))
        self.tool_open, self.tool_close = _bare(d.tool.open), _bare(d.tool.close, newline=True)
        tags = self.tool_open if self.section_open else ()
        self.torn_open: Marks = tuple(o[1:] for o in tags if o[0] == "<" and o[-1] in "\"'=")  # the first sign is lost
        self.body_open, self.body_close = _bare(d.body.open), _bare(d.body.close)
        self.closers: Marks = self.section_close or self.call_close or self.body_close
        self.between: Marks = _bare(d.between)
        self.items: Marks = tuple(mark for mark in self.between if mark and mark not in JOINTS)
        self.preface: re.Pattern[str] | None = late(d.preface, re.DOTALL) if d.preface else None
        closers = (close.lstrip(">") for close in self.call_close)
        self.pair_close: Marks = tuple(close for close in closers if close.startswith("</"))
        self.closer_needed: bool = bool(d.call.close and d.call.close[0]) and bool(self.call_open or self.tool_open)
        self._variants: dict[str, Row] = {}
        self._base: Row | None = None
        self.openers: Marks = self._openers()
        # A fence tagged as a call is one even when it holds nothing that can be read (seed 000: an error, not text).
        self.sure: bool = self.strong and any(o[:3] in {"~~~", "```"} for o in self.openers)
        self.special: bool = bool(self.openers) and all(any(c in "|｜‖" for c in o) for o in self.openers)
        self.again: Marks = self.call_open or self.tool_open or self._first()

    def suffixed(self, suffix: str) -> Row:
        """This row with `:suffix` in every tag."""
        return self._variant(suffix, lambda: Row(_with_suffix(self.dialect, suffix)))

    @property
    def paired(self) -> Row:
        """This row for a call whose tag has a body: a closing tag ends it, or the short end that was forgotten."""
        base = self._base or self
        return base._variant("", base._with_pair)

    def _with_pair(self) -> Row:
        close = (*self.pair_close, "/>")
        one = Row(replace(self.dialect, call=Span(self.dialect.call.open, close)))
        one.strong, one.place, one.addressed, one._base = self.strong, self.place, self.addressed, self
        return one

    def named(self, name: str) -> Row:
        """This row for the call of one tool: its closers are known."""
        base = self._base or self
        return base._variant(name, lambda: base._with_name(name))

    def _variant(self, key: str, make: Callable[[], Row]) -> Row:
        found = self._variants.get(key)
        if found is None:
            if len(self._variants) > 256:
                self._variants.clear()
            found = self._variants[key] = make()
        return found

    def _with_name(self, name: str) -> Row:
        call = self.dialect.call
        one = Row(replace(self.dialect, call=Span((), tuple(c.replace(NAME, name) for c in call.close))))
        one._tags()  # by the marks of the notation, not by the name
        one.strong, one.place, one.forms = self.strong, self.place, self.forms
        one.call_open = one.again = tuple(before + name + behind for before, behind in self.forms)
        one.openers, one._base = (), self
        return one

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Marks:
            """What is only asked while a call is read: most processes meet a row or two."""
            if name not in _OF_TAGS:
                raise AttributeError(f"{type(self).__name__!r} has no {name!r}")
            self._tags()
            return self.__dict__[name]

    def _tags(self) -> None:
        args = self.dialect.args
        tagged = isinstance(args, TaggedArgs)
        of = args if isinstance(args, TaggedArgs) else NO_TAGS
        self.key_open = _bare(of.key.open)
        self.key_close = _once(_bare(of.key.close, newline=True) + of.raw_flag + of.json_flag + of.joined)
        self.type_open, self.type_close = _bare(of.type.open), _bare(of.type.close)
        self.value_open, self.value_close = _bare(of.value.open), _bare(of.value.close)
        self.ends = _once(self.body_close + self.call_close + self.section_close)
        self.key_heads = _once(tuple(o[: -len(NAMED)] for o in self.key_open if o.endswith(NAMED)))
        self.after_value = self.key_open + self.key_heads + self.ends + self.tool_open if tagged else ()
        self.after_body = _once(self.ends + self.call_open + self.tool_open + self.section_open)
        around = self.section_open + self.call_open + self.tool_open
        self.opens_call = tuple(m for m in around if m not in self.key_open)

    @cached_property
    def bare_key(self) -> re.Pattern[str] | None:
        """A key that no mark opens, with the marks behind it; None where keys have openers."""
        if self.key_open or not (self.key_close and self.value_open):
            return None
        over, opens = (f"(?:{'|'.join(map(re.escape, marks))})" for marks in (self.key_close, self.value_open))
        return re.compile(rf"\s*+(?P<key>[^\W\d][\w.-]{{0,127}}+)\s*+{over}\s*+{opens}")

    @cached_property
    def nesting(self) -> Nesting:
        """Which marks in a value open and close what.  Made with the first call: most processes meet a row or two."""
        return Nesting(
            (self.value_open or self.key_open, self.value_close),
            (self.tool_open, self.body_close or self.call_close),
            (_plain(_bare(self.dialect.call.open)), self.call_close),
            (self.section_open, self.section_close),
        )

    @cached_property
    def value_marks(self) -> Marks:
        """The marks that a tagged value may end before, or hold."""
        return _once(self.nesting.marks + self.key_open) if isinstance(self.dialect.args, TaggedArgs) else ()

    def _first(self) -> tuple[str, ...]:
        return ("{",) if isinstance(self.dialect.args, JsonCall) else ()

    def _openers(self) -> tuple[str, ...]:
        marks = self.section_open + self.call_open + (self.tool_open if not self.call_open else ())
        if self.dialect.suffix:
            marks += tuple(m[:-1] + ":" for m in marks)
        if marks or NAME in "".join(self.dialect.call.open):
            return marks
        return ("[",) if self.dialect.listing is Listing.ARRAY else self._first()


_OF_TAGS = frozenset(
    {
        "key_open", "key_close", "key_heads", "type_open", "type_close", "value_open", "value_close", "ends",
        "after_value", "after_body", "opens_call",
    }
)  # fmt: skip


def telling(marks: Marks) -> Marks:
    """Those that nobody writes by chance."""
    return tuple(mark for mark in marks if len(mark) >= TELLING)


def _with_suffix(dialect: Dialect, suffix: str) -> Dialect:
    def tagged(marks: Span) -> Span:
        spelt = (tuple(m.replace(">", f":{suffix}>") for m in side) for side in (marks.open, marks.close))
        return Span(*spelt)

    args = dialect.args
    if isinstance(args, TaggedArgs):
        args = replace(args, key=tagged(args.key), value=tagged(args.value))
    section, call, tool = tagged(dialect.section), tagged(dialect.call), tagged(dialect.tool)
    return replace(dialect, section=section, call=call, tool=tool, args=args, suffix="")


def _form(spelling: str) -> Form:
    before, _, behind = spelling.partition(NAME)
    return before, behind


def _plain(spellings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(s for s in spellings if NAME not in s)


@lru_cache(maxsize=1024)
def _bare(spellings: tuple[str, ...], *, newline: bool = False) -> tuple[str, ...]:
    """Spellings without the white space at their ends; one that is nothing else stays only as a line end."""
    if not spellings:
        return ()
    return _once(tuple(s.strip() or ("\n" if newline and "\n" in s else "") for s in spellings))


def _once(marks: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(filter(None, dict.fromkeys(marks))) if marks else ()
