"""Whole texts are read in few steps, and what is passed over unread changes nothing."""

from __future__ import annotations

import random
import sys

import pytest

from dragoman.dialects.engine.parse import parse
from dragoman.dialects.engine.parsed import Parsed, fold
from dragoman.dialects.engine.parser import Parser
from dragoman.dialects.judge.paragraphs import Paragraphs
from dragoman.dialects.judge.quotation import Context
from dragoman.types import Tool

TOOLS = [Tool(name="ping", parameters={"type": "object", "properties": {"host": {"type": "string"}}})]
CALL = '<tool_call>\n{"name": "ping", "arguments": {"host": "a"}}\n</tool_call>'
CODE = "Look:\n\n```python\nprices = [x for x in y if x < 2]\nprint(f'{x}')\n```\n\nIt's `a` < b, as in [1].\n\n"
LINES = (
    "words here\n", "- item\n", "  - inner item\n", "1. one\n", "    deep\n", "\tdeep\n", "\n", "\n", "\n\n",
    "```\n", "```py\n", "~~~\n", "````\n", "> quoted\n", "| a | b |\n", "|---|---|\n", "+ added\n", "+added\n",
    "-gone\n", "@@ -1 +1 @@\n", "+++ b\n", "key: |\n", "  of it\n", "User: hi\n", "Assistant:\n", "### Human\n",
    "[source,py]\n", "----\n", "{code}\n", "#+begin_src\n", "#+end_src\n", "<code>\n", "</code>\n", "<!-- c\n", "-->\n",
    "\\begin{verbatim}\n", "\\end{verbatim}\n", "an `open span\n", "an \"open mark\n", "[INST] x\n", "text ``` inline\n",
    "a List<Sample> of it\n", "</sample> ends\n", "a \"\"\" b\n", "a /* b\n", "*/ b\n", "in ```</sample> c\n", "[/quote]\n", "[quote]\n",
    "{CODE}\n", "#+BEGIN_SRC\n", ".(Title)\n", "====\n",
)  # fmt: skip


def steps(text: str) -> int:
    """Python calls that one parse takes."""
    count = 0

    def note(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event == "call"

    parse(text, tools=TOOLS)
    sys.setprofile(note)
    try:
        parse(text, tools=TOOLS)
    finally:
        sys.setprofile(None)
    return count


def fed(text: str) -> Parsed:
    parser = Parser(tools=TOOLS)
    events = [event for sign in text for event in parser.feed(sign)]
    return fold([*events, *parser.close()])


def test_prose_with_code_between_takes_no_steps_of_its_own_for_lines() -> None:
    assert steps(CODE * 100 + CALL) - steps(CODE + CALL) < 100 * 60


def test_fences_that_hold_nothing_take_no_steps() -> None:
    assert steps("```\n" * 2000) < 2 * 2000


def test_an_element_that_never_closes_takes_no_steps_for_what_follows() -> None:
    opened = "A List<Sample> is meant.\n\n"
    assert steps(opened + CODE * 100 + CALL) - steps(opened + CODE + CALL) < 100 * 60


def test_what_closes_an_element_is_seen_behind_what_was_passed() -> None:
    closed = "<example>\n\n" + CODE * 50 + "</example>\n\n"
    assert len(parse(closed + CALL, tools=TOOLS).calls) == 1
    assert not parse("<example>\n\n" + CODE * 50 + CALL + "\n\n</example>", tools=TOOLS).calls


def test_a_call_is_found_whatever_is_passed_before_it() -> None:
    assert [call.name for call in parse(CODE * 50 + CALL, tools=TOOLS).calls] == ["ping"]


def test_what_stands_in_a_fence_that_was_passed_to_is_quoted() -> None:
    parsed = parse(CODE * 50 + "```\n" + CALL + "\n```\nThat is how.", tools=TOOLS)
    assert not parsed.calls
    assert parsed.text.endswith("That is how.")


@pytest.mark.parametrize("seed", range(60))
def test_paragraphs_that_are_passed_leave_the_place_as_reading_them_would(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    texts = ["".join(rng.choices(LINES, k=rng.randint(1, 30))) + rng.choice(("", "x ")) for _ in range(40)]
    passed = [standing(text) for text in texts]
    monkeypatch.setattr(Paragraphs, "passable", lambda _self, _pos, _until: None)
    for text, found in zip(texts, passed, strict=True):
        assert found == standing(text), text


def standing(text: str) -> object:
    context = Context()
    context.add(text)
    return context.standing(), context.turned(), context.any


@pytest.mark.parametrize("head", ["", "Words.\n\n", CALL + ".\n", CALL + "\n"])
@pytest.mark.parametrize("fence", ["```\nwords\n", "```py\nprint(x)\n```\n", "```tool\nwords\n", "```json\nx = 1\n```\n"])
def test_plain_fences_tell_the_same_in_pieces(head: str, fence: str) -> None:
    text = head + fence * 3 + CALL
    assert parse(text, tools=TOOLS) == fed(text)


def test_a_fence_that_holds_a_mark_which_may_stand_within_lines_is_read_as_in_pieces() -> None:
    text = "Some words.\n" * 60 + '```rust\nassistantcommentary to=functions.ping json{"host": "a"}\n```\n'
    parser = Parser()
    events = [event for sign in text for event in parser.feed(sign)] + parser.close()
    assert parse(text) == fold(events, text)


@pytest.mark.parametrize("depth", [1, 3, 16, 17, 3000])
def test_endless_printing_raises_nothing(depth: int) -> None:
    text = "print(" * depth + 'ping(host="a")' + ")" * depth
    assert len(parse(text, tools=TOOLS).calls) == (depth <= 16)


@pytest.mark.parametrize("text", [
    "<|tool_call_start|>[{'ping(host=\"a\")'}]<|tool_call_end|>",
    "<|python_start|>[{'ping(host=\"a\")'}]<|python_end|>",
    "[{'ping(host=\"a\")'}]",
    "[ {ping(host=\"a\")} ]",
])  # fmt: skip
def test_calls_in_braces_in_a_list_are_read_whole_as_in_pieces(text: str) -> None:
    parser = Parser(tools=TOOLS)
    pieces = fold([event for sign in text for event in parser.feed(sign)] + parser.close())
    whole = parse(text, tools=TOOLS)
    assert [call.arguments for call in whole.calls] == [{"host": "a"}]
    assert (pieces.calls, pieces.text, pieces.issues) == (whole.calls, whole.text, whole.issues)


@pytest.mark.parametrize("fence", ["```", "```json", "~~~"])
@pytest.mark.parametrize("end", ["", '\n```\n<tool_call>{"name": "ping", "arguments": {"host": "b"}}</tool_call>', "\n```\n]<|END_ACTION|>"])
def test_a_fence_in_a_list_of_calls_is_read_whole_as_in_pieces(fence: str, end: str) -> None:
    text = f'Hm.<|START_ACTION|>[{fence}\n{{"tool_name": "ping", "parameters": {{"host": "a"}}}}{end}'
    parser = Parser(tools=TOOLS)
    pieces = fold([event for sign in text for event in parser.feed(sign)] + parser.close(), text)
    assert parse(text, tools=TOOLS) == pieces


def test_a_short_call_takes_few_steps() -> None:
    assert steps(CALL) < 300
    assert steps("I will look at it now.\n\n" + CALL) < 340


def test_a_long_line_before_a_call_is_looked_at_no_oftener_than_a_short_one() -> None:
    words = "I will look at the file, as you asked; "
    assert steps(words * 50 + "\n\n" + CALL) < steps(words + "\n\n" + CALL) + 60
