"""Runs of text are told as they come, and as the reader would tell them, wherever the pieces end."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from dragoman import Parser, assemble
from dragoman.events import CallDelta, Event, ReasoningDelta, TextDelta

TEXT = {"type": "string"}
TOOLS = [{"name": "write", "parameters": {"type": "object", "properties": {"path": TEXT, "text": TEXT}}}]
SAID = "I see.\n"
CALL = '<tool_call>\n{"name": "write", "arguments": {"path": "a", "text": "'
TAGS = "<tool_call>\n<function=write>\n<parameter=text>\n"

AT_ONCE = [
    ("prose", SAID + "It is", [" so", ", and", " f(x)", " < 3", " here", " the"], TextDelta),
    ("a heading", SAID, ["\n##", " One", "\n\n- ", "two"], TextDelta),
    ("reasoning", "<think>\nIt is", [" so", ", I", " guess"], ReasoningDelta),
    ("code in a fence", SAID + "```python\nx = [1]", [" + y", "; z", " = 2"], TextDelta),
    ("a string of a call", CALL + "one", [" two", "\\n", "three", "\\u00e9", "'s"], CallDelta),
    ("a tagged argument", TAGS + "one", [" two", " three", "{4}"], CallDelta),
]


@pytest.mark.parametrize(("before", "pieces", "kind"), [row[1:] for row in AT_ONCE], ids=[row[0] for row in AT_ONCE])
def test_run_of_text_is_told_piece_by_piece(before: str, pieces: list[str], kind: type[Event]) -> None:
    parser = Parser(tools=TOOLS)
    parser.feed(before)
    for piece in pieces:
        events = parser.feed(piece)
        assert [type(event) for event in events] == [kind], piece


HALVES = [
    SAID + "so <tool" + " and <tool_call and h" + "ere is my re" + "ply\n",
    SAID + "\n``" + "`\n" + '{"a": 1}\n``' + "`\n",
    SAID + "\n  wri" + "te\n wr" + "ite(1)\n",
    CALL + "a\\" + "n\\u00" + "e9\\ud83d" + '\\ude00 \\"q\\" \\\\' + '"}}\n</tool_call> done',
    TAGS + "a\n\nb &l" + "t; <b" + ">c\n" + "\n</param" + "eter>\n</function>\n</tool_call>\n",
    "<think>a </th" + "ink>b <th" + "ink",
]


@pytest.mark.parametrize("text", HALVES)
def test_marks_cut_anywhere_give_what_the_whole_text_gives(text: str) -> None:
    whole = assemble(_fed([text]))
    for size in (1, 2, 3, 5, 7):
        assert assemble(_fed([text[i : i + size] for i in range(0, len(text), size)])) == whole
    for first, second in itertools.combinations(range(0, len(text), 3), 2):
        assert assemble(_fed([text[:first], text[first:second], text[second:]])) == whole


def _fed(pieces: Sequence[str]) -> list[Event]:
    parser = Parser(tools=TOOLS)
    events = [event for piece in pieces for event in parser.feed(piece)]
    return events + parser.close()


def test_long_run_leaves_nothing_behind_in_the_source() -> None:
    parser = Parser(tools=TOOLS)
    for _ in range(5000):
        parser.feed(" word")
        assert sum(map(len, parser._lane.run)) < 1000
    assert len(parser._src.buf) < 1000
