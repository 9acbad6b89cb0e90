"""Values full of tags: many are passed at once, and come to what each of them alone would."""

from __future__ import annotations

import random

import pytest

from dragoman.dialects.engine.parse import parse
from dragoman.dialects.engine.parsed import Parsed, fold
from dragoman.dialects.engine.parser import Parser
from dragoman.dialects.reading import raw_values
from dragoman.types import Tool

TEXT = {"type": "string"}
TOOLS = [Tool(name="ping", parameters={"type": "object", "properties": {"host": TEXT, "note": TEXT, "deep": {}}})]
TAGS = (
    "<a>", "</a>", "<a b='c'>", "<br/>", "<b>x</b>", "</b>", "<host>", "</host>", "</ host >", "<host>x</host>", "<host/>", "<note>",
    "</note>", "<ping>", "</ping>", "<tool_call>", "</tool_call>", "<function=ping>", "</function>", "<parameter=host>", "</parameter>",
    "<parameter", "<parameter=", "<param name=", "<invoke name=\"ping\">", "</invoke>", "<tool", "<tool=", "</tool>", "<|im_end|>", "</|x|>",
    "< |", "<<", "<", "</", ">", "/>", "<!-- a -->", "<![CDATA[", "]]>", "<a\n>", "words ", " ", "\n", "\n\n", '"', "'", "&lt;", "<a" + "b" * 500,
)  # fmt: skip
OPENED = {
    "elements": "<ping><host>", "elements of no schema": "<ping><deep>", "XML": "<tool_call>\n<function=ping>\n<parameter=host>\n",
    "invoke": '<invoke name="ping"><parameter name="host">', "GLM": "<tool_call>ping\n<arg_key>host</arg_key>\n<arg_value>",
    "elements in a call": "<tool_call>\n<name>ping</name>\n<host>",
}  # fmt: skip
ENDS = ("", "</host></ping>", "</parameter>\n</function>\n</tool_call>", "</parameter></invoke> So.", "</arg_value></tool_call>")


def text(rng: random.Random, opened: str) -> str:
    few = rng.sample(TAGS, rng.randint(1, 8))
    return opened + "".join(rng.choices(few, k=rng.randint(20, 150))) + rng.choice(ENDS)


def fed(written: str, rng: random.Random) -> Parsed:
    parser, events, at = Parser(tools=TOOLS), [], 0
    while at < len(written):
        size = rng.choice((1, 4, 30, 300))
        events += parser.feed(written[at : at + size])
        at += size
    return fold([*events, *parser.close()])


@pytest.mark.parametrize("kind", OPENED)
@pytest.mark.parametrize("seed", range(40))
def test_many_marks_are_read_as_each_of_them_would_be(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(f"{kind} {seed}")
    written = text(rng, OPENED[kind])
    at_once, in_pieces = parse(written, tools=TOOLS), fed(written, rng)
    monkeypatch.setattr(raw_values, "MANY", len(written))
    assert at_once == parse(written, tools=TOOLS)
    assert at_once == in_pieces


READ = Tool(name="read_file", parameters={"type": "object", "required": ["path"], "properties": {
    "path": TEXT, "start": {"type": "integer"}, "whole": {"type": "boolean"}, "mode": TEXT,
}})  # fmt: skip
START, MODE = "<parameter=start>\n10\n</parameter>\n", "<parameter=mode>\nfast\n</parameter>\n"
WHOLE = "<parameter=whole>\ntrue\n</parameter>\n"


def read(inside: str, end: str = "</function>\n</tool_call>") -> Parsed:
    written = f"<tool_call>\n<function=read_file>\n<parameter=path>\n{inside}{end}"
    found, rng = parse(written, tools=[READ]), random.Random(written)
    parser, events = Parser(tools=[READ]), []
    for piece in written if rng.random() < 0.5 else [written[n : n + 3] for n in range(0, len(written), 3)]:
        events += parser.feed(piece)
    assert fold([*events, *parser.close()]) == found
    return found


@pytest.mark.parametrize(("behind", "given"), [
    (START, {"start": 10}),
    (START + WHOLE, {"start": 10, "whole": True}),
    (WHOLE + MODE, {"whole": True, "mode": "fast"}),
])  # fmt: skip
def test_a_value_whose_closer_is_missing_ends_where_a_number_is_given_next(behind: str, given: dict[str, object]) -> None:
    (call,) = read("a.rb\n" + behind).calls
    assert call.arguments == {"path": "a.rb", **given}
    assert call.report is not None
    assert [edit.kind for edit in call.report.edits] == ["unclosed_argument"]


@pytest.mark.parametrize("inside", [
    "a.rb\n" + MODE,                              # a text may hold the opener by itself
    "a.rb\n  " + START,
    "a.rb " + START,                              # within a line it may be spoken of
    "a.rb\n<parameter=start>\nten\n</parameter>\n",
    "a.rb\n<parameter=start>\n10</parameter> of it\n",
])  # fmt: skip
def test_a_value_that_may_go_on_behind_an_opener_is_not_guessed(inside: str) -> None:
    assert not read(inside).calls


def test_a_value_with_an_argument_in_it_and_a_closer_of_its_own_is_not_ended_there() -> None:
    assert not read("a.rb\n" + START + "more\n</parameter>\n").calls
    (call,) = read("a.rb\n" + START + "more\n</parameter>\n<parameter=start>\n7\n</parameter>\n").calls
    assert call.arguments == {"path": "a.rb\n" + START + "more", "start": 7}


@pytest.mark.parametrize("cut", ["<parameter=start>\n1", "<parameter=start>\n10\n</parameter>", "<parameter=start>\n10\n</para"])
def test_a_call_cut_behind_an_argument_in_a_value_never_runs(cut: str) -> None:
    assert not read("a.rb\n" + cut, end="").calls
