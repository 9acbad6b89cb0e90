"""Rows out of a reading: what stands around its cells becomes section, call, tool and body.

The marks before calls, between two and after the last are aligned over all samples; what differs in white space is cut
there, so that each span is written one way.  Proposes rows; whether they read anything is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ...spec import (
    AttributeArgs,
    BraceArgs,
    Dialect,
    ElementArgs,
    JsonArgs,
    KeywordArgs,
    Listing,
    Place,
    Span,
    Strength,
    TaggedArgs,
    YamlArgs,
    YamlCall,
    span,
)
from .alignment import HOLE, Run, alike, beginning, ending, usual
from .cells import Cell, Reading
from .sample import Sample

NAME = "{name}"
RARE = re.compile(r"[^\w\s.,;:!?'\"()\-*`/]")
"""Signs that prose does not hold."""
WORDY = re.compile(r"(?P<name>[^\s]+)")


@dataclass(frozen=True, slots=True)
class Around:
    """What stands around calls: once around all (`section`), around each (`call`), and between two."""

    section_open: Run
    call_open: Run
    call_close: Run
    section_close: Run
    between: str
    several: bool


def rows(reading: Reading, samples: Sequence[Sample], name: str) -> Iterator[Dialect]:
    """Rows that may read these cells, the plainest first."""
    in_closer = _name_closes(reading, samples)
    around = _around(reading, samples, in_closer)
    args = reading.args
    if isinstance(args, KeywordArgs):
        found = _python(around, reading)
    elif not reading.marked:
        found = _objects(around, reading)
    else:
        found = _marked(around, reading, in_closer)
    for row in found:
        yield _with_strength(replace(row, name=name, source="learned from what a model wrote"))


# ── what stands around ───────────────────────────────────────────────────────


def _name_closes(reading: Reading, samples: Sequence[Sample]) -> bool:
    """Does the name stand again in what closes a call (`</get_weather>`)?"""
    if not reading.marked:
        return False
    votes = [
        any(c.calls[0][0] in m for m in beginning([s.text[c.end :]]).marks[:3])
        for s, row in zip(samples, reading.cells, strict=True)
        for c in row
    ]
    return sum(votes) * 3 > len(votes) * 2


def _around(reading: Reading, samples: Sequence[Sample], in_closer: bool) -> Around:
    firsts, middles, lasts = list[str](), list[str](), list[str]()
    for sample, row in zip(samples, reading.cells, strict=True):
        if not row:
            continue
        firsts.append(sample.text[: row[0].start])
        for cell, following in pairwise(row):
            middles.append(_closing(sample.text[cell.end : following.start], cell, in_closer))
        lasts.append(_closing(sample.text[row[-1].end :], row[-1], in_closer))
    all_opener, all_closer = ending(firsts, holes=True), beginning(lasts)
    if not middles:
        return Around(Run(), all_opener, all_closer, Run(), "\n", several=False)
    opener = alike(all_opener, ending(middles, holes=True), at_end=True)
    closer = alike(beginning(middles), all_closer, at_end=False)
    opener = _not_shared(opener, closer, middles)
    section, end = all_opener[: len(all_opener.marks) - len(opener.marks)], all_closer[len(closer.marks) :]
    return Around(section, opener, closer, end, _between(middles, opener, closer), several=True)


def _closing(text: str, cell: Cell, in_closer: bool) -> str:
    return text.replace(cell.calls[0][0], NAME, 1) if in_closer else text


def _not_shared(opener: Run, closer: Run, middles: Sequence[str]) -> Run:
    """The opener without what already closes the call before it."""
    least = min((len(beginning([m]).marks) for m in middles), default=None)
    extra = 0 if least is None else len(opener.marks) + len(closer.marks) - least
    return opener[extra:] if extra > 0 else opener


def _between(middles: Sequence[str], opener: Run, closer: Run) -> str:
    """What stands between two calls: white space, or a separator."""
    if not middles:
        return "\n"
    inner = []
    for text in middles:
        run = beginning([text])
        part = run[len(closer.marks) : len(run.marks) - len(opener.marks)]
        inner.append(part.lead + part.text + (part.trail if part else ""))
    return usual(inner)


def _joined(run: Run) -> str:
    """A run as it is mostly written, with the white space at its ends."""
    return run.lead + run.text + run.trail if run else ""


def _opens(run: Run) -> str:
    return run.text + run.trail if run else ""


def _closes(run: Run) -> str:
    return run.lead + run.text if run else ""


# ── rows ─────────────────────────────────────────────────────────────────────


def _objects(around: Around, reading: Reading) -> Iterator[Dialect]:
    """Calls that are one object, one tag or one YAML mapping."""
    opener, closer = around.call_open, around.call_close
    args = reading.args
    if HOLE in opener.marks:
        opener = opener[len(opener.marks) - opener.marks[::-1].index(HOLE) :]
    section, end = around.section_open, around.section_close
    if reading.listing is Listing.ARRAY:
        section, end = (section, end) if section or end else (opener, closer)
        yield _base(args, section=span(_opens(section), _closes(end)), listing=Listing.ARRAY)
        return
    if isinstance(args, AttributeArgs):
        closer = closer[1:] if closer.marks[:1] in {("/>",), (">",), ("/",)} else closer
        yield _base(args, section=span(_opens(section), _closes(end)), call=span(_opens(opener), "/>"))
        return
    cut = opener.breaks[-1] if opener.breaks and not section else 0
    last = closer.breaks[0] if closer.breaks and not end else len(closer.marks)
    outer = Span()
    if section or end or cut or last < len(closer.marks):
        outer = span(_opens(section or opener[:cut]), _closes(end or closer[last:]))
    call = span(_opens(opener[cut:] if not section else opener), _closes(closer[:last]))
    yield _base(args, section=outer, call=call, between=(around.between,))
    if not isinstance(args, YamlCall):
        yield _base(args, section=span(_opens(section) + _opens(opener), _closes(closer) + _closes(end)))


def _python(around: Around, reading: Reading) -> Iterator[Dialect]:
    """Python calls: what stands around them is a section."""
    section = around.section_open or around.call_open
    end = around.section_close or around.call_close
    opens, closes = section.text, end.text
    if not opens and reading.listing is Listing.REPEAT:
        weak = {"place": Place.LINE, "strength": Strength.WEAK}
        yield _base(reading.args, lead=(NAME + "(",), between=("\n", ";", ","), **weak)
    if reading.listing is Listing.ARRAY:
        opens, closes = opens.removesuffix("["), closes.removeprefix("]")
    between = around.between if around.between.strip() else "\n"
    pad = "\n" if "\n" in section.trail else ""
    yield _base(
        reading.args, section=span(opens + pad, ("\n" if "\n" in end.lead else "") + closes), listing=reading.listing,
        between=(between,) if around.section_open or not around.several else ("\n",),
    )  # fmt: skip
    if around.section_open and around.call_open:
        yield _base(
            reading.args, section=span(_opens(around.section_open), _closes(around.section_close)),
            call=span(_opens(around.call_open), _closes(around.call_close)), between=(around.between,),
        )  # fmt: skip
    if around.call_open:
        call = span(_opens(around.call_open), _closes(around.call_close))
        yield _base(reading.args, call=call, between=(around.between,))


def _marked(around: Around, reading: Reading, in_closer: bool) -> Iterator[Dialect]:
    """Calls whose name stands in the markup."""
    gaps = [c.gap for row in reading.cells for c in row]
    section = span(_opens(around.section_open), _closes(around.section_close))
    opener, closer = around.call_open, around.call_close
    if in_closer:
        behind = usual(gaps)
        call = Span((opener.text + NAME + behind,), (_closes(closer),))
        yield _base(reading.args, section=section, call=call, between=(around.between,))
        return
    opener, before, form = _holes(opener)
    tool_close, body_open, tail, behind = _behind_name(gaps, reading)
    if not opener and not before:
        yield from _bare(around, reading, section, tool_close, behind)
    for cut in dict.fromkeys([*([opener.breaks[-1]] if opener.breaks else []), 0]):
        for last in dict.fromkeys([*([closer.breaks[0]] if closer.breaks else []), 0]):
            body = span(body_open, _closes(closer[:last]))
            call = span(_opens(opener[:cut] if cut else opener), _closes(closer[last:]))
            tool = Span((_opens(opener[cut:]),) if cut else (), _tool_ends(tool_close, reading, call, body))
            yield _base(
                reading.args, section=section, call=call, tool=tool, body=body, between=(around.between,),
                tool_re=before + _name_pattern(reading, tail) + tail, tool_form=form + behind,
            )  # fmt: skip


def _holes(opener: Run) -> tuple[Run, str, str]:
    """An opener with an id in it: what stands before, the pattern of the rest, and how it is written."""
    if HOLE not in opener.marks:
        return opener, "", NAME
    at = opener.marks.index(HOLE)
    rest = opener[at:]
    filled = opener.holes[0]
    counted = all(f.isdigit() and len(f) < 3 for f in filled)
    spelt, form = "", ""
    for number, mark in enumerate(rest.marks):
        gap = usual(rest.spaces[number]) if number else ""
        if number:
            spelt += r"\s*" + (r"[\w-]+" if mark == HOLE else re.escape(mark))
            form += gap + ("0" if mark == HOLE else mark)
        else:
            spelt, form = r"(?P<id>[\w-]*)", "{index}" if counted else "{id}"
    form = re.sub(r"\{(?!id\}|index\})", "{{", form)
    return opener[:at], f"(?:{spelt})?" + r"\s*", form + rest.trail + NAME


def _behind_name(gaps: Sequence[str], reading: Reading) -> tuple[str, str, str, str]:
    """What ends the name, what begins the body, the pattern of what may stand before its end, and how it is written."""
    run = ending(gaps, holes=True)
    tail = form = ""
    if HOLE in run.marks:
        at = len(run.marks) - run.marks[::-1].index(HOLE)
        tail, form = _counted(run[:at])
        run = run[at:]
    elif any(left := [_rest(g, run) for g in gaps]):
        pairs = {m.groups() for r in left if (m := re.fullmatch(r"\s*([\w:-]+)=(['\"]?)[\w-]+\2", r))}
        key, quote = next(iter(pairs), ("", ""))
        tail = rf"(?:\s+{re.escape(key)}={quote}(?P<id>[\w-]+){quote})?" if len(pairs) == 1 else r"(?:\s+.*)?"
    cut = run.breaks[0] if run.breaks and isinstance(reading.args, JsonArgs) else len(run.marks)
    end = _joined(run[:cut]) if run else usual(gaps)
    if end.strip() == "(":  # the renderer takes a bracket for the beginning of the arguments
        return end, end, tail, form
    return end, _opens(run[cut:]), tail, form


def _counted(run: Run) -> tuple[str, str]:
    """A mark behind the name that ends in an index or an id: its pattern, and how it is written."""
    counted = all(f.isdigit() and len(f) < 3 for f in run.holes[-1])
    inside = run[: len(run.marks) - 1]
    written = _joined(inside).replace("{", "{{").replace("}", "}}")
    spelt = r"\s*".join(r"[\w-]+" if m == HOLE else re.escape(m) for m in inside.marks)
    held = r"\d+" if counted else r"(?P<id>[\w-]+)"
    return rf"(?:\s*{spelt}\s*{held})?", written.replace(HOLE, "0") + ("{index}" if counted else "{id}")


def _rest(gap: str, run: Run) -> str:
    marks = beginning([gap])
    return marks[: len(marks.marks) - len(run.marks)].text


def _bare(around: Around, reading: Reading, section: Span, end: str, behind: str) -> Iterator[Dialect]:
    """Calls that begin with the declared name itself."""
    if behind or not isinstance(reading.args, JsonArgs):
        return
    close = span("", _closes(around.call_close))
    weak = {"place": Place.LINE, "strength": Strength.WEAK, "section": section}
    if end.strip() or "\n" in end:
        weak["strength"] = Strength.OWN if end.strip() else Strength.WEAK
        yield _base(reading.args, call=Span((NAME + end,), close.close), between=(around.between,), **weak)
    else:
        between = (around.between,) if around.between.strip() else ("\n", ";", ",")
        yield _base(reading.args, lead=(NAME + "{",), call=close, tool=span("", "{"), between=between, **weak)


def _name_pattern(reading: Reading, tail: str) -> str:
    if tail:
        return r"(?P<name>[^\s{}\"<>=]+?)"
    return r"(?P<name>[^\s{}\"<>=]+)" if isinstance(reading.args, TaggedArgs | ElementArgs) else r"(?P<name>\S+)"


def _tool_ends(end: str, reading: Reading, call: Span, body: Span) -> tuple[str, ...]:
    """The spellings that end a name: its own mark, else what begins or closes the arguments."""
    if end.strip():
        return (end,)
    own = (end,) if "\n" in end else ()
    match reading.args:
        case JsonArgs():
            return (*own, "{")
        case BraceArgs():
            return ("{",)
        case YamlArgs():
            return own or ("\n",)
        case TaggedArgs() | ElementArgs():
            closes = (*(s.strip() for s in (*body.close, *call.close)),)
            return tuple(dict.fromkeys(s for s in (*own, reading.key_open, *closes) if s))
        case _:
            return own


def _base(args: object, **fields: object) -> Dialect:
    return Dialect(name="learned", args=args, **fields)  # type: ignore[arg-type]


def _with_strength(row: Dialect) -> Dialect:
    """Openers that ordinary text could begin with prove little; they count where the caller names the dialect."""
    if row.strength is not Strength.STRONG:
        return row
    first = next((s[0] for s in (row.section.open, row.call.open, row.tool.open) if s), "")
    if len(RARE.findall(first.replace(NAME, "")[:24])) > 1:
        return row
    return replace(row, strength=Strength.OWN, place=Place.LINE)
