"""Runs of text are told as they come, and as the reader would tell them, wherever the pieces end."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Generator, Sequence

import pytest

from dragoman import Parser, assemble
from dragoman.dialects.engine.lanes import KNOWN, LASTS, MOST, SHORT, RawLane
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


@pytest.mark.parametrize(("before", "piece"), [("the cap ", "to"), ("a tool", "to"), ("it is ", "an"), ("the m", "an")])
def test_letters_that_may_begin_a_mark_are_held_where_a_word_begins_each_time(before: str, piece: str) -> None:
    for _ in range(2):  # what is remembered of a piece that was held must not be told of one that goes on a word
        parser = Parser(tools=TOOLS)
        parser.feed("It is ")
        for sign in f"so {piece} ":
            parser.feed(sign)
        for part in (before[:4], before[4:]):
            parser.feed(part)
        assert bool(parser.feed(piece)) is before[-1].isalpha()


SPAN = "`a{}` is one,\n`b` another.\n  `` c`` as well\n\n"
SPANS = SAID + "".join(map(SPAN.format, range(40))) + "`write(path='a', text='b')`\n"


@pytest.mark.parametrize("size", [1, 3, 4, 40])
def test_code_spans_first_on_their_line_cost_the_patience_that_the_whole_text_costs(size: int) -> None:
    whole, pieces = Parser(tools=TOOLS), Parser(tools=TOOLS)
    events = whole.whole(SPANS)
    told = [event for i in range(0, len(SPANS), size) for event in pieces.feed(SPANS[i : i + size])] + pieces.close()
    assert pieces._patience.marks == whole._patience.marks > 80
    assert assemble(told) == assemble(events)


def test_code_span_first_on_its_line_is_told_without_the_reader() -> None:
    parser = Parser(tools=TOOLS)
    parser.feed("So it is:\nwords")
    resumes = _counting_resumes(parser)
    for n in range(50):
        for piece in ("\n", f"`a{n}", "`", " is one"):
            parser.feed(piece)
    assert len(resumes) <= 1


def test_reader_that_waits_for_so_much_text_is_left_alone_until_it_has_come() -> None:
    parser = Parser(tools=TOOLS)
    text = SAID + "[`a`][] is a link" + " and more words" * 30
    resumes = _counting_resumes(parser)
    events = [event for sign in text for event in parser.feed(sign)] + parser.close()
    assert assemble(events).text == text
    assert len(resumes) < 60


def _counting_resumes(parser: Parser) -> list[None]:
    reader, resumes = parser._reader, list[None]()

    def counted() -> Generator[None, None, None]:
        for _ in reader:
            resumes.append(None)
            yield

    parser._reader = counted()
    return resumes


def test_pieces_are_forgotten_when_many_more_have_come_and_then_others_are_remembered() -> None:
    parser = Parser(tools=TOOLS)
    parser.feed("So ")
    for n in range(KNOWN + 10):
        parser.feed(f" {n}")
    assert " 7" in parser._lane.known
    for _ in range(LASTS + 2 * MOST):
        parser.feed(" word")
    for _ in range(2):
        parser.feed(" others")
    assert " 7" not in parser._lane.known
    assert " others" in parser._lane.known


def test_event_of_a_piece_is_the_same_whether_it_was_seen_before_or_not() -> None:
    for before, kind in ((SAID + "So", TextDelta), ("<think>\nSo", ReasoningDelta), (CALL + "So", CallDelta)):
        parser = Parser(tools=TOOLS)
        parser.feed(before)
        parser.feed(" far")
        first, again = parser.feed(" unheard-of"), parser.feed(" unheard-of")
        assert first == again
        assert [type(event) for event in first] == [kind]
        with pytest.raises(dataclasses.FrozenInstanceError):
            first[0].text = first[0].json = ""  # type: ignore[union-attr, misc]
        assert parser.feed("") == []


def test_quick_lane_is_taken_again_behind_a_line_end_that_was_held() -> None:
    parser = Parser(tools=TOOLS)
    parser.feed(TAGS + "if a")
    parser.feed(" < b:\n")
    for _ in range(2):
        parser.feed("    return")
    assert isinstance(parser._lane, RawLane)
