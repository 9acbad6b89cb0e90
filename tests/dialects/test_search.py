"""Where a marker may begin in a text that is all there: by one sign at a time, or by all of them at once."""

from __future__ import annotations

import itertools
import random
import re

import pytest

from dragoman import Parser, Tool, dialects, parse
from dragoman.dialects.engine.mark_starts import LOOK, starts
from dragoman.dialects.engine.markers import Table, table
from dragoman.dialects.engine.parsed import fold
from dragoman.dialects.engine.search import Lead
from dragoman.dialects.reading.named import leads
from dragoman.dialects.rows.table import ALL, resolve
from dragoman.events import Event
from dragoman.lenient.source import Source

PIECES = (
    "look", "_a.b", "f/g", "x:y", "[ARGS]", "[args]", " [ARGS]", "\t[ARGS]", "[TOOL_CALLS]", "<tool_call>", "</x>", "[",
    "]", "(", "{", '{"name"', "\n", " ", "  ", "word ", "ſ", "İ", "-", ".", "$v", "@at", "日本", "<|", "<|tool|>", "'",
)  # fmt: skip
PING = Tool(name="ping", parameters={"type": "object", "properties": {}})
LONG = "plain words " * 60 + "."


def _places(lead: Lead, text: str) -> list[int]:
    src = Source()
    src.feed(text)
    src.eof = True
    found, at = [], lead.next(src, 0)
    while at < len(text):
        found.append(at)
        at = lead.next(src, at + 1)
    return found


def _table(name: str) -> Table:
    return table(resolve(name), calls=True, asked=True)


SEARCHED = [name for name in dialects if _table(name).lead_signs]


def test_forms_that_may_stand_anywhere_are_searched_by_their_marks() -> None:
    assert _table("mistral").inline
    assert "mistral" in SEARCHED


@pytest.mark.parametrize("name", SEARCHED)
def test_single_signs_find_every_place_that_the_whole_pattern_finds(name: str) -> None:
    marks, rng = _table(name), random.Random(name)
    looked = starts(marks.every() - marks.line, LOOK), leads(tuple(marks.inline), line=False)
    whole = re.compile("|".join(itertools.chain(*looked)))
    for _ in range(12):
        text = LONG + "".join(rng.choice(PIECES) for _ in range(60)) + LONG
        by_signs = Lead(marks.lead, one=True, signs=lambda: marks.lead_signs)
        found = _places(by_signs, text)
        assert found == _places(Lead(whole, one=True), text)
        assert set(found) <= set(_places(Lead(marks.lead, one=True), text))  # which looks less far


@pytest.mark.parametrize("name", ["harmony", ""])
def test_a_mark_that_ends_another_hides_neither(name: str) -> None:
    marks, rng = table(resolve(name), calls=True) if name else table(ALL, calls=True), random.Random(name)
    inline = sorted(marks.every() - marks.line)
    ends = sorted(mark for mark in inline if any(other != mark and other.endswith(mark) for other in inline))
    for _ in range(30):
        pieces = [*rng.choices(ends, k=9), *rng.choices(inline, k=9), *rng.choices(("x", " ", "\n", "word ", "<"), k=9)]
        rng.shuffle(pieces)
        text = LONG + "".join(pieces) + LONG
        for signs in (lambda: marks.lead_signs, lambda: marks.sure_signs):
            found = set(_places(Lead(marks.lead, one=True, signs=signs), text))
            for at in range(len(text)):
                match = marks.marker.match(text, at) if marks.lead.match(text, at) else None
                assert match is None or match.group().casefold() in marks.line or at in found, text[at : at + 40]


@pytest.mark.parametrize("before", ["", "x"])
def test_a_mark_right_behind_its_like_is_found_in_a_whole_text_as_in_pieces(before: str) -> None:
    text = before + "assistantanalysis to=functions." * 700
    parser, events = Parser(tools=[PING]), list[Event]()
    for at in range(0, len(text), 7):
        events += parser.feed(text[at : at + 7])
    whole = parse(text, tools=[PING])
    assert fold([*events, *parser.close()]).issues == whole.issues
    assert len(whole.issues) == 1  # there are more marks than are looked at


@pytest.mark.parametrize("name", ["hermes", "deepseek_v3", "fenced_json", "react", ""])
def test_marks_are_found_by_their_first_signs_as_by_a_pattern_of_all(name: str) -> None:
    marks, rng = table(resolve(name), calls=True) if name else table(ALL, calls=True), random.Random(name)
    every = sorted(marks.every(), key=len, reverse=True)
    whole = re.compile("|".join(map(re.escape, every)), re.IGNORECASE)
    for mark in every:
        text = mark[: rng.randint(1, len(mark))] + rng.choice((*PIECES, *every, ""))
        text = rng.choice((text, text.upper(), f"x{text}"))
        for at in range(min(4, len(text))):
            assert str(marks.marker.match(text, at)) == str(whole.match(text, at))
