"""Quotes of another kind in strings that they began: many are passed at once, as each of them would be."""

from __future__ import annotations

import random

import pytest

from dragoman.dialects.engine.parse import parse
from dragoman.dialects.engine.parsed import Parsed, fold
from dragoman.dialects.engine.parser import Parser
from dragoman.late import late
from dragoman.lenient import string_ends

PARAMETERS = {"type": "object", "properties": {"host": {"type": "string"}, "list": {"type": "array"}}}
TOOLS = [{"name": "ping", "parameters": PARAMETERS}]
SIGNS = (
    "'", "''", "' ", "`", "``", '"', '\\"', "\\", "a", "a b", "C:", ",", ", ", ": ", ":", "=", "}", "}}", "]", ")", "-", "/", "#", "//", "\n", "\t",
    "{", "[", "</tool_call>", "```", "host", "'host': ", "日", "é", ".", "?", ";", "\ud800",
)  # fmt: skip
OPENED = (
    "<tool_call>{'name': 'ping', 'arguments': {'host': '", "<tool_call>{'name': 'ping', 'arguments': {'", "{'name': 'ping', 'arguments': {'list': ['",
    "<tool_call>{`name`: `ping`, `arguments`: {`host`: `", "[TOOL_CALLS][{'name': 'ping', 'arguments': {'host': '", "ping(host='",
    "```json\n{'name': 'ping', 'arguments': {'host': '",
)  # fmt: skip
ENDS = ("", "'}}</tool_call>", "'}}", "`}}</tool_call>", "']}}", "'}}]", "')", "'}}\n```")


def fed(written: str, rng: random.Random) -> Parsed:
    parser, events, at = Parser(tools=TOOLS), [], 0
    while at < len(written):
        size = rng.choice((1, 4, 30))
        events += parser.feed(written[at : at + size])
        at += size
    return fold([*events, *parser.close()])


@pytest.mark.parametrize("opened", OPENED)
@pytest.mark.parametrize("seed", range(60))
def test_many_quotes_are_read_as_each_of_them_would_be(opened: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(f"{opened} {seed}")
    few = ["'", "`", *rng.sample(SIGNS, rng.randint(1, 5))]
    written = opened + "".join(rng.choices(few, k=rng.randint(1, 30))) + rng.choice(ENDS)
    at_once, in_pieces = parse(written, tools=TOOLS), fed(written, rng)
    monkeypatch.setattr(string_ends, "OTHERS", dict.fromkeys(string_ends.OTHERS, late("(?!)")))
    assert at_once == parse(written, tools=TOOLS)
    assert at_once == in_pieces
