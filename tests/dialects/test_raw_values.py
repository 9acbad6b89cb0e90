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
