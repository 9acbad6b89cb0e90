"""Text that waits while it may hold a call that no marker leads to."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import pytest

from dragoman.dialects.engine.overlooked import failed
from dragoman.dialects.engine.parser import Parser
from dragoman.dialects.judge.declared import NO_TOOLS, declared
from dragoman.events import CallDoubted, Ended, Event, TextDelta
from dragoman.turn.overlooked_text import OverlookedText
from dragoman.turn.stream_parser import TextCallStream
from dragoman.types import Stop, Tool
from tests.dialects.test_overlooked import CALL, OPEN, QUOTED

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = (Tool(name="read_file", parameters=PATH), Tool(name="muse.read", parameters=PATH))
TAG = "Reading: <read_file><path>a.txt</path></read_file>"
DOTTED = 'Now: {"name": "muse.read", "arguments": {"path": "a.txt"}}'
UNDERSCORED = 'Now: {"name": "muse_read", "arguments": {"path": "a.txt"}}'
LIKE = [
    'Set {"name": "port", "value": 80} in it.',
    "if (a < b) { return <div>; }",
    "{" * 40,
    "<" * 40,
    'The {"name": "read_file',
    'The {"name": "read_file", ',
    f"{CALL} and {CALL} and then: {CALL}",
    '{"name": "read_file" no',
]
TEXTS = [*QUOTED.values(), *OPEN.values(), TAG, DOTTED, UNDERSCORED, *LIKE]


def told(pieces: Iterable[str]) -> list[list[Event]]:
    """The events of each piece, and of the end."""
    stream = TextCallStream(Parser(tools=TOOLS, native=True))
    text = OverlookedText(declared(TOOLS) or NO_TOOLS)
    events: list[Event] = [*map(TextDelta, pieces), Ended(Stop.END)]
    return [[last for made in stream.handle(event) for last in text.handle(made)] for event in events]


def folded(events: Sequence[list[Event]]) -> list[tuple[str, int, str]]:
    """Text by stretches, and what else there was."""
    out: list[tuple[str, int, str]] = []
    for event in (each for some in events for each in some):
        kind, doubt = type(event).__name__, getattr(event, "doubt", 0)
        if isinstance(event, TextDelta) and out and out[-1][:2] == (kind, doubt):
            out[-1] = (kind, doubt, out[-1][2] + event.text)
        elif not isinstance(event, TextDelta) or event.text:
            out.append((kind, doubt, event.text if isinstance(event, TextDelta) else ""))
    return out


def cut(text: str, seed: int) -> Iterable[str]:
    dice = random.Random(seed)
    while text:
        size = dice.randint(1, 9)
        yield text[:size]
        text = text[size:]


@pytest.mark.parametrize("text", TEXTS)
def test_any_chunking_gives_the_same(text: str) -> None:
    whole = folded(told([text]))
    assert all(folded(told(pieces)) == whole for pieces in (list(text), cut(text, 1), cut(text, 2)))
    assert "".join(said for kind, _, said in whole if kind == "TextDelta") == text


@pytest.mark.parametrize("text", [OPEN["behind a colon"], OPEN["key too many"], TAG, DOTTED, UNDERSCORED])
def test_a_call_in_doubt_stands_in_a_stretch_of_its_own(text: str) -> None:
    events = [event for some in told(list(text)) for event in some]
    doubted = [event for event in events if isinstance(event, CallDoubted)]
    assert [event.text for event in events if isinstance(event, TextDelta) and event.doubt] == [doubted[0].text]
    assert doubted[0].doubt == 1


def test_text_goes_out_once_it_can_be_no_call() -> None:
    words = " and so on" * 40
    events = told([f"With {CALL}", words, " The end."])
    assert [folded([some]) for some in events[:2]] == [
        [("TextDelta", 0, "With ")],
        [("TextDelta", 0, f"{CALL}{words}")],
    ]


@pytest.mark.parametrize("text", ["Look at a < b, ", "Set {x} to ", 'As {"name": "port", "value": 8}, ', "<pre>a</pre> "])
def test_other_signs_hold_nothing_back(text: str) -> None:
    assert folded(told([text, "so."])[:1]) == [("TextDelta", 0, text)]


@pytest.mark.parametrize("piece", ['{"name": "read_file", "x": [', "<read_file ", '{"name": "read_file"} ', "{", '{"na'])
@pytest.mark.costly
def test_hostile_text_is_looked_at_a_bounded_number_of_times(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def counted(text: str, names: tuple[str, ...]) -> bool:
        looked.append(len(text))
        return failed(text, names)

    monkeypatch.setattr("dragoman.turn.overlooked_text.failed", counted)
    text = piece * (200_000 // len(piece))
    told(text[at : at + 50] for at in range(0, len(text), 50))
    assert sum(looked) < 20 * len(text)
