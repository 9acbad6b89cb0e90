"""Tagged calls that need nothing are read in one look, whatever stands between them, and to what pieces give."""

from __future__ import annotations

import itertools
import sys

import pytest

from dragoman.dialects.engine.parse import parse
from dragoman.dialects.engine.parsed import Parsed, fold
from dragoman.dialects.engine.parser import Parser
from dragoman.types import Tool

TEXT = {"type": "string"}
TOOLS = [
    Tool(name="put", parameters={"type": "object", "properties": {"path": TEXT, "n": {"type": "integer"}}}),
    Tool(name="ping", parameters={"type": "object", "properties": {}}),
]
CALL = "<tool_call>\n<function=put>\n<parameter=path>\na{}\n</parameter>\n</function>\n</tool_call>"
EMPTY = "<tool_call>\n<function=ping>\n</function>\n</tool_call>"
BETWEEN = (
    "\nNow the next one.\n", "\n", " and ", "\nA < b\n", "\n</parameter>\n", "\nx </parameter></function></tool_call>\n",
    "\n<br>\n", "\nword <parameter=path>\n", "\n</tool_call>\n", "", ", ", "\n<tool_call>\n",
)  # fmt: skip


def fed(text: str) -> Parsed:
    parser = Parser(tools=TOOLS)
    return fold([event for at in range(0, len(text), 3) for event in parser.feed(text[at : at + 3])] + parser.close())


@pytest.mark.parametrize(("first", "second"), [*itertools.product(BETWEEN, BETWEEN)])
def test_calls_are_read_the_same_whatever_stands_between(first: str, second: str) -> None:
    for middle, last in ((CALL.format(2), CALL.format(3)), (EMPTY, CALL.format(3)), (CALL.format(2), "")):
        text = f"{CALL.format(1)}{first}{middle}{second}{last}"
        whole, pieces = parse(text, tools=TOOLS), fed(text)
        assert (whole.calls, whole.doubtful, whole.issues) == (pieces.calls, pieces.doubtful, pieces.issues), text
        assert whole.text == pieces.text, text


def test_words_between_calls_cost_no_second_reading() -> None:
    assert steps("\nNow the next one.\n") < 40 * 300


def steps(between: str) -> int:
    count = 0

    def note(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event == "call"

    text = between.join(CALL.format(n) for n in range(40))
    parse(text, tools=TOOLS)
    sys.setprofile(note)
    try:
        parsed = parse(text, tools=TOOLS)
    finally:
        sys.setprofile(None)
    assert len(parsed.calls) == 40
    return count
