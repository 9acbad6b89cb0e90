"""A dialect prepared for reading: its marks stripped of white space, and the sets of marks that follow from them.

Derived from the row alone, once per dialect; knows nothing of text.
"""

from __future__ import annotations

from .spec import Dialect, JsonCall, Listing, Place, Strength, TaggedArgs


class Row:
    """A dialect with its marks stripped of white space and its derived sets, made once."""

    def __init__(self, dialect: Dialect) -> None:
        d = self.dialect = dialect
        self.strong = d.strength is Strength.STRONG
        self.section_open, self.section_close = _bare(d.section.open), _bare(d.section.close)
        self.call_open, self.call_close = _bare(d.call.open), _bare(d.call.close)
        self.tool_open, self.tool_close = _bare(d.tool.open), _bare(d.tool.close, newline=True)
        self.body_open, self.body_close = _bare(d.body.open), _bare(d.body.close)
        self.between = _bare(d.between)
        self.pair_close = tuple(c for c in (s.lstrip(">") for s in self.call_close) if c.startswith("</"))
        self.closer_needed = bool(self.call_close) and bool(self.call_open or self.tool_open)
        self.chains = False
        self._tags()
        self.openers = self._openers()
        # A fence tagged as a call is one even when it holds nothing that can be read (seed 000: an error, not text).
        self.sure = self.strong and any(o[:3] in {"~~~", "```"} for o in self.openers)
        self.again = self.call_open or self.tool_open or self._first()

    def _tags(self) -> None:
        args = self.dialect.args
        tagged = isinstance(args, TaggedArgs)
        self.key_open = _bare(args.key.open) if isinstance(args, TaggedArgs) else ()
        flags = args.raw_flag + args.json_flag if isinstance(args, TaggedArgs) else ()
        self.key_close = _longest(_bare(args.key.close) + flags) if isinstance(args, TaggedArgs) else ()
        self.value_open = _bare(args.value.open) if isinstance(args, TaggedArgs) else ()
        self.value_close = _bare(args.value.close) if isinstance(args, TaggedArgs) else ()
        self.ends = self.body_close or self.call_close or self.section_close
        self.after_value = self.key_open + self.body_close + self.call_close + self.section_close if tagged else ()
        follows = self.section_close + self.call_open + self.tool_open
        self.after_body = self.call_close + follows if self.body_close else follows
        ends = self.body_close or self.call_close
        self.value_marks = _longest(self.value_close + self.key_open + ends) if tagged else ()
        self.tag_lead = self.key_open[0][0] if self.key_open else ""

    def _first(self) -> tuple[str, ...]:
        args = self.dialect.args
        if isinstance(args, JsonCall):
            return ("{",)
        return ()

    def _openers(self) -> tuple[str, ...]:
        marks = self.section_open + self.call_open + (self.tool_open if not self.call_open else ())
        if marks:
            return marks
        return ("[",) if self.dialect.listing is Listing.ARRAY else self._first()

    @property
    def place(self) -> Place:
        """Where the opener may stand."""
        return self.dialect.place


def _bare(spellings: tuple[str, ...], *, newline: bool = False) -> tuple[str, ...]:
    """Spellings without the white space at their ends; one that is nothing else stays only as a line end."""
    out = [s.strip() or ("\n" if newline and "\n" in s else "") for s in spellings]
    return tuple(dict.fromkeys(s for s in out if s))


def _longest(marks: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(marks))
