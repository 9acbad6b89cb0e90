"""Texts that are made of marks: read as far as an answer could go, text from there on, whole as in pieces."""

from __future__ import annotations

import random

import pytest

from dragoman.dialects.engine.budget import MARKS, OPENERS, TRIED
from dragoman.dialects.engine.crowd import SIGNS
from dragoman.dialects.engine.parse import parse
from dragoman.dialects.engine.parsed import Parsed, fold
from dragoman.dialects.engine.parser import Parser
from dragoman.types import IssueKind, Tool

TOOLS = [Tool(name="ping", parameters={"type": "object", "properties": {"host": {"type": "string"}}})]
CALL = '<tool_call>\n{"name": "ping", "arguments": {"host": "a"}}\n</tool_call>'
MANY = 2 * MARKS


def fed(text: str) -> Parsed:
    rng, parser, at = random.Random(len(text)), Parser(tools=TOOLS), 0
    events = []
    while at < len(text):
        size = rng.randint(1, 900)
        events += parser.feed(text[at : at + size])
        at += size
    return fold([*events, *parser.close()])


@pytest.mark.parametrize("mark", ["<tool_call>", "[TOOL_CALLS]", "<|channel|>", "</think>x<function=", "</s>"])
def test_text_behind_too_many_marks_is_reported_as_text(mark: str) -> None:
    text = mark * MANY + CALL
    parsed = parse(text, tools=TOOLS)
    assert parsed == fed(text)
    assert not parsed.calls
    assert parsed.text.endswith(CALL)
    assert parsed.issues[-1].kind is IssueKind.NOISE
    assert "from here on none is read" in parsed.issues[-1].message


@pytest.mark.parametrize("mark", ["<tool_call>", "[TOOL_CALLS]", "</think>x<function=", "</s>"])
def test_a_call_behind_too_many_marks_is_in_doubt(mark: str) -> None:
    parsed = parse(mark * MANY + "\n\n" + CALL, tools=TOOLS)
    assert [(call.name, call.arguments) for call in parsed.doubtful] == [("ping", {"host": "a"})]


@pytest.mark.parametrize(
    "order", ['"name": "ping", "arguments": {"host": "a"}', '"arguments": {"host": "a"}, "name": "ping"']
)
def test_an_object_that_names_a_tool_is_read_behind_many_that_could_not_be(order: str) -> None:
    text = '{"id": "a", "arguments": {"host": "a"}, "x": }\n' * 3000 + "\nNow:\n{" + order + "}"
    parser = Parser(tools=TOOLS)
    parsed = fold(parser.whole(text))
    assert parser._trial._is_spent or parser._patience.marks > TRIED
    assert [call.name for call in parsed.doubtful] == ["ping"]
    assert parsed == fed(text)


@pytest.mark.parametrize("marks", range(OPENERS - 3, OPENERS + 1))
def test_a_call_that_ends_the_message_and_what_is_looked_at_is_told_as_in_pieces(marks: int) -> None:
    text = "call: x\n" * marks + "\n<think>x\n" + CALL.replace("ping", "pong")
    assert parse(text, tools=TOOLS) == fed(text)


def test_of_marks_that_need_not_be_looked_at_none_is_counted() -> None:
    text = "Words\n```\n[x\n<function=x> y\n" * 3
    whole, pieces = Parser(tools=TOOLS), Parser(tools=TOOLS)
    whole.whole(text)
    for sign in text:
        pieces.feed(sign)
    pieces.close()
    assert whole.looked == pieces.looked


def test_calls_that_cannot_be_read_wear_it_out_sooner() -> None:
    broken = '<tool_call>\n{"name": "ping", "arguments": {"host" "a"}}\n</tool_call>\n'
    parsed = parse(broken * 400 + CALL, tools=TOOLS)
    assert not parsed.calls
    assert parsed == fed(broken * 400 + CALL)
    assert parse(broken * 40 + CALL, tools=TOOLS).calls


def test_hundreds_of_calls_in_one_message_all_run() -> None:
    calls = [CALL.replace('"a"', f'"a{n}"') for n in range(900)]
    text = "\n".join(calls)
    parsed = parse(text, tools=TOOLS)
    assert [call.arguments["host"] for call in parsed.calls] == [f"a{n}" for n in range(900)]
    assert not parsed.issues


def test_calls_behind_more_than_anybody_makes_are_told_of_as_text() -> None:
    text = "\n".join(CALL.replace('"a"', f'"a{n}"') for n in range(3000))
    parsed = parse(text, tools=TOOLS)
    ran = len(parsed.calls)
    assert 1000 < ran < 1300
    assert parsed.issues[-1].kind is IssueKind.NOISE
    assert f'"a{ran}"' in parsed.text
    assert f'"a{ran - 1}"' not in parsed.text
    assert parsed == fed(text)


@pytest.mark.parametrize(
    ("head", "one", "tail"),
    [
        ("[", '{"name": "ping", "arguments": {"host": "a"}}, ', "]"),
        ("[", 'ping(host="a"), ', "]"),
        ("```json\n", '{"name": "ping", "arguments": {"host": "a"}}\n', "```"),
        ("<tool_call>[", '{"name": "ping", "arguments": {"host": "a"}}, ', "]</tool_call>"),
    ],
)
def test_a_list_of_more_calls_than_anybody_makes_is_told_of(head: str, one: str, tail: str) -> None:
    text = head + one * 2100 + tail
    parsed = parse(text, tools=TOOLS)
    assert any("holds more than 2000 calls" in i.message or "hold more than 2000 calls" in i.message for i in parsed.issues)
    assert parsed == fed(text)


@pytest.mark.parametrize(
    ("head", "one", "tail", "most"),
    [
        ("<tool_call>\n<function=ping>\n", "<parameter=k{0}>\n{0}\n</parameter>\n", "</function>\n</tool_call>", 256),
        ("<ping>\n", "<k{0}>a</k{0}>\n", "</ping>", 256),
        ('<tool_call>{"name": "ping", "arguments": {', '"k{0}": {0}, ', '"host": "a"}}</tool_call>', 4096),
    ],
)
def test_a_call_with_more_arguments_than_any_tool_takes_is_refused(head: str, one: str, tail: str, most: int) -> None:
    text = head + "".join(map(one.format, range(most + 44))) + tail
    parsed = parse(text, tools=TOOLS)
    assert not parsed.calls
    assert any(f"more than {most} arguments" in issue.message for issue in parsed.issues)
    assert parsed == fed(text)


@pytest.mark.parametrize(
    "broken",
    [
        "```\n<tool_call>ping\n<arg_key>x\n```\n\nwords\n\n",
        "```\nping(host='a\n```\n\nwords\n\n",
        "```\n<function=ping>\n<parameter=host>a\n```\n\nwords\n\n",
        "\\begin{verbatim}\n<tool_call>ping\n<arg_key>host</arg_key>\n<arg_value>3</arg\\_value>\n</tool_call>\n"
        "\\end{verbatim}\n",
    ],
)
def test_calls_that_are_read_to_the_end_in_vain_are_soon_no_more_looked_for(broken: str) -> None:
    text = broken * (200_000 // len(broken)) + CALL
    parsed = parse(text, tools=TOOLS)
    assert parsed.issues[-1].kind is IssueKind.NOISE
    assert parsed.issues[-1].span is not None
    assert parsed.issues[-1].span[0] < 2_000
    assert [call.name for call in parsed.doubtful] == ["ping"]
    assert parsed == fed(text)
    assert [call.name for call in parse(broken * 8 + "\nNow:\n" + CALL, tools=TOOLS).calls] == ["ping"]


def test_calls_with_words_between_them_are_read_half_as_far() -> None:
    calls = [f"Step {n}.\n" + CALL.replace('"a"', f'"a{n}"') for n in range(700)]
    parsed = parse("\n".join(calls[:490]), tools=TOOLS)
    assert len(parsed.calls) == 490
    many = parse("\n".join(calls), tools=TOOLS)
    assert 500 <= len(many.calls) < 520
    assert many == fed("\n".join(calls))


def test_reasoning_ends_however_many_marks_stand_in_it() -> None:
    text = "<think>" + "<tool_call>" * MANY + "</think>Done."
    parsed = parse(text, tools=TOOLS)
    assert (parsed.text, parsed.calls) == ("Done.", ())
    assert parsed == fed(text)


def test_all_that_one_fence_quotes_counts_once() -> None:
    text = "This is how it looks:\n```xml\n" + (CALL + "\n") * MANY + "```\n" + CALL
    parsed = parse(text, tools=TOOLS)
    assert [c.name for c in parsed.calls] == ["ping"]
    assert parsed == fed(text)


def test_a_call_behind_long_code_is_read() -> None:
    text = 'Run `x = [1]` so:\n```python\nprint("<tool_call>")\n```\n> quoted\n' * 400 + CALL
    assert [c.name for c in parse(text, tools=TOOLS).calls] == ["ping"]


def test_a_call_behind_a_megabyte_of_dense_markdown_is_read() -> None:
    dense = (
        '## Head\n\nUse `a` and **b**, or "c" — see <https://x.y> and <b>bold</b>.\n\n```python\nx = [1, 2]\n'
        "print({'a': 1})\n```\n\n- item `one` {x}\n- [link](http://a.b)\n\n> quote <tag> `q`\n\n"
    )
    assert [c.name for c in parse(dense * 5000 + CALL, tools=TOOLS).calls] == ["ping"]


@pytest.mark.parametrize("unit", ["```json\n  ```\nx\n", "````  ```\n", "- ```\n``", "`a`"])
def test_behind_more_backticks_than_any_answer_has_all_is_text_from_the_same_place_in_any_pieces(unit: str) -> None:
    text = unit * (3 * SIGNS // unit.count("`")) + "\n\n" + CALL
    parsed = parse(text, tools=TOOLS)
    assert parsed == fed(text)
    assert not parsed.calls
    assert parsed.issues[0].kind is IssueKind.NOISE
    assert "from here on none is read" in parsed.issues[0].message


def test_backticks_in_reasoning_leave_the_answer_all_its_own() -> None:
    text = "<think>" + "```\n" * SIGNS + "</think>" + CALL
    parsed = parse(text, tools=TOOLS)
    assert [c.name for c in parsed.calls] == ["ping"]
    assert parsed == fed(text)


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>" + "[" * 3000,
        "<tool_call>" + '{"tool_calls": [' * 3000,
        "```tool_code\n" + "print(" * 3000,
        "<tool_call>[" * 3000,
        "[" + '{"tool_calls": [' * 3000,
    ],
)
def test_calls_nested_in_endless_lists_raise_nothing(text: str) -> None:
    parsed = parse(text, tools=TOOLS)
    assert not parsed.calls
    assert parsed == fed(text)
