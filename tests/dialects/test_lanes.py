"""Runs of text are told as they come, and as the reader would tell them, wherever the pieces end."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Sequence

import pytest

from dragoman import Parser, assemble
from dragoman.dialects.engine.lanes import KNOWN, SHORT
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
    SAID + "```py\nwrite" + "_all()\n``" + "`\n\nprint(wri" + 'te(path="a", text="b"))\n',
    SAID + '```\n{"name": "write", "arguments": {"path": "a", "text": "b"}}\n``' + "`\n~~" + "~\nx\n~~~\n",
    "````\n```\n````\n\n`a`\n``b``\n   ```x`y\n\n\n```\n \n\n```\n[1]\n",
    SAID + "return x, y\nreturn [a, b]\nreturn write(path='a', text='b')\n",
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


FENCE = "Then:\n\n```python\nif a < b:\n    print(f'{x}')\n```\n\n"


def test_fence_without_a_call_is_told_without_the_reader() -> None:
    parser = Parser(tools=TOOLS)
    parser.feed(SAID)
    reader, resumes = parser._reader, 0

    def counted() -> Generator[None, None, None]:
        nonlocal resumes
        for _ in reader:
            resumes += 1
            yield

    parser._reader = counted()
    for piece in FENCE * 20 + "End.":
        parser.feed(piece)
    assert resumes <= 2


def test_fences_cost_a_message_the_same_patience_in_any_pieces() -> None:
    whole, pieces = Parser(tools=TOOLS), Parser(tools=TOOLS)
    text = SAID + (FENCE + "[1] is it.\n~~~\nx\n~~~\n") * 30 + "End."
    whole.whole(text)
    for sign in text:
        pieces.feed(sign)
    pieces.close()
    assert pieces._patience.marks == whole._patience.marks > 0


def test_pieces_that_are_remembered_are_few_and_short() -> None:
    parser = Parser(tools=TOOLS)
    parser.feed("So ")
    for n in range(3 * KNOWN):
        parser.feed(f" {n}")
    parser.feed(" w" * 50)
    assert len(parser._lane.known) <= KNOWN
    assert max(map(len, parser._lane.known)) <= SHORT


def test_what_is_remembered_of_one_message_is_told_of_another_as_its_own_tools_say() -> None:
    text, other = "Now:\nwrite(path='a', text='b')\n", [{"name": "read", "parameters": {"type": "object"}}]
    for tools, calls in ((other, 0), (TOOLS, 1), (other, 0), (TOOLS, 1)):
        parser = Parser(tools=tools)
        events = [event for sign in text for event in parser.feed(sign)] + parser.close()
        assert len(assemble(events).calls) + len(assemble(events).doubtful) == calls


def test_long_run_leaves_nothing_behind_in_the_source() -> None:
    parser = Parser(tools=TOOLS)
    for _ in range(5000):
        parser.feed(" word")
        assert sum(map(len, parser._lane.run)) < 1000
    assert len(parser._src.buf) < 1000


NAMES = ["f", "ls", "a/b", "kom.memory.search", "print_it", "print", "Straße"]
WRITTEN = [
    "f:\n", "f:0(x=1)\n", "f(x=1)\n", "ls/\n", "LS\n", "functions.ls(x=1)\n", "print(f(x=1))\n", "print(ls(x=1))\n", "pri\n",
    "a/b(x=1)\n", "search(x=1)\n", "kom_memory_search(x=1)\n", "print\\_it(x=1)\n", "strasse\n", "<f/>\n", "< ls\n", "print(1)\n",
]


@pytest.mark.parametrize("name", NAMES)
def test_names_however_short_or_spelt_are_found_in_any_pieces(name: str) -> None:
    tools = [{"name": name, "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}]
    for written in WRITTEN:
        text = f"It is so.\n{written}{{\"x\": 1}}\n"
        told = []
        for size in (len(text), 1, 2, 3, 4):
            parser = Parser(tools=tools)
            events = [e for i in range(0, len(text), size) for e in parser.feed(text[i : i + size])]
            response = assemble(events + parser.close())
            told.append((response.message, response.issues, response.doubtful))
        assert all(one == told[0] for one in told), written
