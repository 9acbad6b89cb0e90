"""Texts in which nothing is to be read: the parser finds the same, on texts that are drawn and in every vector."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.dialects.engine.listening import listening
from dragoman.dialects.engine.parser import Parser
from dragoman.dialects.engine.plain import PlainTexts
from dragoman.events import TextDelta
from dragoman.types import Tool
from tests.support.dialect_vectors import FOLDER
from tests.support.drawn_texts import drawn

TOOLS = [Tool(name="read_file"), Tool(name="bash"), Tool(name="web.search"), Tool(name="final_answer")]
WAYS: list[dict[str, Any]] = [
    {},
    {"native": True},
    {"dialects": "hermes", "prompted_dialect": "hermes"},
    {"prompted_dialect": "tool_call_fence", "native": False},
    {"doubt": "text", "strict": True},
]


def plain_in(way: dict[str, Any]) -> PlainTexts:
    """What asks whether a text is plain, for a parser made so."""
    heard = listening(
        TOOLS, way.get("dialects", "auto"), way.get("prompted_dialect", ""), (), (),
        strict=bool(way.get("strict")), doubt=str(way.get("doubt", "ask")), native=bool(way.get("native")),
    )  # fmt: skip
    return PlainTexts(heard.table, heard.names)


def events_of(text: str, way: dict[str, Any], pieces: int, finish: str) -> list[Any]:
    parser = Parser(tools=TOOLS, **way)
    cut = len(text) // pieces + 1
    events = [event for at in range(0, len(text), cut) for event in parser.feed(text[at : at + cut])]
    return [*events, *parser.close(finish)]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_parser_finds_nothing_in_plain_texts(way: dict[str, Any]) -> None:
    plain, held = plain_in(way), 0
    for seed in range(4000):
        text = drawn(seed)
        if not plain.hold(text):
            continue
        held += 1
        for finish in ("end", "stop_sequence"):
            events = events_of(text, way, 1 + seed % 3, finish)
            assert {type(event) for event in events} == {TextDelta}, text
            assert "".join(event.text for event in events if isinstance(event, TextDelta)) == text
    assert held > 400


def test_vectors_read_the_same_where_they_are_plain() -> None:
    for path in FOLDER.glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            vector = json.loads(line)
            if vector.get("prefix") or vector.get("finish") == "length":
                continue
            heard = listening(vector["tools"], "auto", "", (), (), strict=False, doubt="ask", native=False)
            if PlainTexts(heard.table, heard.names).hold(vector["text"]):
                events = [*(parser := Parser(tools=vector["tools"])).feed(vector["text"]), *parser.close("end")]
                assert {type(event) for event in events} == {TextDelta}, vector["id"]
                assert "".join(event.text for event in events if isinstance(event, TextDelta)) == vector["text"]


def test_words_of_ordinary_answers_are_plain() -> None:
    plain = plain_in({"native": True})
    assert plain.hold("It can stay as it is, as he said; what we'd change is one line.\n\nThen `make` it again (twice).")
