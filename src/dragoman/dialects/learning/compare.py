"""A dialect's row out of the turns a voice writes: calls of our choosing, compared with each other.

One call, two calls, no arguments, arguments of every type: what changes is ours, what stays is markup.  The comparison
proposes; `learn.py` proves.  This module finds what stands around calls and makes the row; the notation inside them is
`notation.py`, everything beside them `frames.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..spec import (
    Dialect,
    ElementArgs,
    JsonArgs,
    JsonCall,
    KeywordArgs,
    Listing,
    Place,
    Span,
    Strength,
    TaggedArgs,
    span,
)
from .frames import result_form, roles, text_frame, until_end, with_reasoning
from .marks import first, leading_space, prefix, suffix, trailing_space, values
from .notation import Form, form_of, span_of
from .samples import NEXT, ONE, TWO, body
from .voice import CannotWrite, NotUnderstood, Voice


@dataclass(frozen=True, slots=True)
class Cuts:
    """A text around its calls: before the first, between two (None where only one is ever written), after the last."""

    before: str
    between: str | None
    after: str


@dataclass(slots=True)
class Marks:
    """The spellings around calls, on their way into a row."""

    section: tuple[str, str] = ("", "")
    call: tuple[str, str] = ("", "")
    tool: str = ""
    body: str = ""
    between: str = "\n"
    notes: list[str] = field(default_factory=list)


def propose(voice: Voice, name: str) -> tuple[Dialect, list[str]]:
    """The row that the voice's turns suggest, and what is worth knowing about it.  Raises `NotUnderstood`."""
    text = body(voice, [TWO])
    form = form_of(text, voice)
    cuts = _cuts(voice, form)
    marks = _marks(cuts, form, voice)
    if form.listing is Listing.ARRAY or isinstance(form.args, KeywordArgs):
        _wrap(marks)
    row = _row(name, form, marks)
    row = _with_strength(row)
    row, notes = with_reasoning(row, voice)
    result, told = result_form(voice)
    quiet = tuple(dict.fromkeys([*text_frame(voice, row), *roles(voice)]))
    sample = text.strip()
    return replace(row, result=result, quiet=quiet, sample=sample), [*marks.notes, *notes, *told]


# ── where calls stand ────────────────────────────────────────────────────────


def _cuts(voice: Voice, form: Form) -> Cuts:
    """The text around calls, from a turn with two of them if the voice writes two."""
    if form.listing is Listing.ARRAY:
        return _cuts_of_list(voice)
    try:
        text = body(voice, [ONE, NEXT])
    except CannotWrite:
        text = ""
    spans = [span_of(text, c, form) for c in (ONE, NEXT)] if text else []
    if len(spans) == 2 and None not in spans:
        (begin, end), (again, last) = spans  # type: ignore[misc]
        return Cuts(text[:begin], text[end:again], text[last:])
    text = body(voice, [ONE])
    found = span_of(text, ONE, form)
    if found is None:
        raise NotUnderstood(f"one call was not found where two arguments were: {text.strip()[:300]!r}")
    return Cuts(text[: found[0]], None, text[found[1] :])


def _cuts_of_list(voice: Voice) -> Cuts:
    for calls in ([ONE, NEXT], [ONE]):
        try:
            text = body(voice, calls)
        except CannotWrite:
            continue
        for start, end, value in values(text):
            if isinstance(value, list) and len(value) == len(calls):
                return Cuts(text[:start], None, text[end:])
    raise NotUnderstood("the list of calls was not found again with fewer arguments")


# ── markers ──────────────────────────────────────────────────────────────────


def _marks(cuts: Cuts, form: Form, voice: Voice) -> Marks:
    """Section, call and separators, from what the two calls have in common."""
    if cuts.between is None:
        notes = [] if form.listing is Listing.ARRAY else ["the template writes one call in a turn; more were not seen"]
        marks = Marks(call=(cuts.before.lstrip(), until_end(cuts.after, voice).rstrip()), notes=notes)
    else:
        marks = _compared(cuts, voice)
    if form.markup:
        _split_name(marks, form)
    return marks


def _compared(cuts: Cuts, voice: Voice) -> Marks:
    assert cuts.between is not None
    before = cuts.before or suffix(voice.header, cuts.between)
    opener = suffix(before, cuts.between)
    opener = opener[len(leading_space(opener)) :] if opener.strip() else ""
    section = before[: len(before) - len(opener)].lstrip()
    rest = cuts.between[: len(cuts.between) - len(opener)]
    after = until_end(cuts.after, voice)
    closer = prefix(rest, after)
    closer = closer[: len(closer) - len(trailing_space(closer))] if closer.strip() else ""
    end = after[len(closer) :].rstrip() if section else ""
    return Marks(section=(section, end), call=(opener, closer), between=rest[len(closer) :])


def _split_name(marks: Marks, form: Form) -> None:
    """The tag the name stands in, apart from what is around the call."""
    opener, closer = marks.call
    at = opener.rfind("<")
    if at < 0 or ">" in opener[at:]:
        return
    if isinstance(form.args, ElementArgs) and form.args.prefix and opener[:at].endswith(form.args.prefix):
        at -= len(form.args.prefix)
    wrapper, marks.tool = opener[:at], opener[at:]
    word = re.search(r"<([|｜]?[^\s=>]+)[\s=]", marks.tool)
    partner = next((m for m in (f"</{word[1]}>",) if m in closer), "") if word else ""
    if wrapper.strip() and partner:
        cut = closer.index(partner) + len(partner)
        marks.body, closer = closer[:cut], closer[cut:]
    marks.call = (wrapper, closer)


def _wrap(marks: Marks) -> None:
    """Python calls and lists stand in a section, not each in a call."""
    opener, closer = marks.call
    if not marks.section[0]:
        marks.section, marks.call = (opener, closer), ("", "")


def _row(name: str, form: Form, marks: Marks) -> Dialect:
    listing = form.listing
    section_open, section_close = marks.section
    if isinstance(form.args, KeywordArgs) and section_open.rstrip().endswith("["):
        listing = Listing.ARRAY
        section_open = section_open.rstrip()[:-1]
        section_close = section_close.lstrip().removeprefix("]")
    call = span(marks.call[0], marks.call[1])
    body_ = span("", marks.body)
    return Dialect(
        name=name,
        section=span(section_open, section_close),
        call=call,
        tool=_tool(form, marks, call, body_),
        tool_re=_tool_re(form),
        tool_form=form.tool_form,
        body=body_,
        args=form.args,
        between=(marks.between,),
        listing=listing,
        source="learned from a chat template",
    )


def _tool(form: Form, marks: Marks, call: Span, body_: Span) -> Span:
    if not form.markup:
        return Span()
    end = form.name_end
    if end.strip() or isinstance(form.args, JsonArgs):
        return span(marks.tool, end or "{")
    opens = form.args.key.open if isinstance(form.args, TaggedArgs) else ("<",)
    ends = (end, *(s.strip() for s in (*opens[:1], *(body_.close or call.close)[:1])))
    return span(marks.tool, tuple(dict.fromkeys(e for e in ends if e)))


def _tool_re(form: Form) -> str:
    """The pattern that splits the name's region; an id beside the name may be missing."""
    if form.tool_form == "functions.{name}:{index}":
        return r"(?P<id>(?:functions\.)?(?P<name>.+?)(?::\d+)?)"
    if "{id}" not in form.tool_form:
        plain = isinstance(form.args, TaggedArgs) and not form.name_end.strip()
        around = [re.escape(t) for t in form.tool_form.split("{name}")]
        return (r"(?P<name>[^\s{}\"<>=]+)" if plain else r"(?P<name>.+)").join(around)
    before, _, after = form.tool_form.partition("{name}")
    if "{id}" in before:
        head = re.escape(before).replace(re.escape("{id}"), "(?P<id>.*?)")
        return rf"(?:{head})?(?P<name>.+)"
    tail = re.escape(after).replace(re.escape("{id}"), "(?P<id>.*)")
    return rf"(?P<name>.+?)(?:{tail})?"


STRONG = re.compile(r"[<｜]\S|\[/?[A-Z_]{3,}\]|~~~\w|>>>")


def _with_strength(row: Dialect) -> Dialect:
    """Openers that ordinary text could begin with prove little."""
    opener = first(row.section.open or row.call.open or row.tool.open)
    if STRONG.search(opener + first(row.tool.close)):
        return row
    if not opener and not (row.listing is Listing.ARRAY or isinstance(row.args, JsonCall)):
        raise NotUnderstood("nothing marks where a call begins")
    return replace(row, strength=Strength.WEAK, place=Place.LINE)


def distinct(notes: Iterable[str]) -> tuple[str, ...]:
    """Each note once."""
    return tuple(dict.fromkeys(notes))
