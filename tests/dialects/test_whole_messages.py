"""A message that is nothing but calls makes them, however they are wrapped, listed or marked (judge-rules.md, A)."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from dragoman import Parser, Tool, parse
from dragoman.dialects.engine.parsed import Parsed, fold

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
TOOLS = [
    Tool(name="get_weather", parameters={"type": "object", "properties": {"city": TEXT, "days": WHOLE}}),
    Tool(name="send.mail", parameters={"type": "object", "properties": {"to": TEXT, "body": TEXT}}),
    Tool(name="lock_door", parameters={"type": "object", "properties": {}}),
]
CALLS = {
    "get_weather(city='Oslo', days=2)": ("get_weather", {"city": "Oslo", "days": 2}),
    'send.mail(to="a@b.c", body="Hi, you")': ("send.mail", {"to": "a@b.c", "body": "Hi, you"}),
}
OBJECTS = {
    '{"name": "get_weather", "arguments": {"city": "Oslo", "days": 2}}': CALLS["get_weather(city='Oslo', days=2)"],
    '{"name": "send.mail", "arguments": {"to": "a@b.c", "body": "Hi, you"}}': CALLS['send.mail(to="a@b.c", body="Hi, you")'],
}
AROUND = {
    "tuple": "({0}, {1})", "lines of a tuple": "(\n    {0},\n    {1},\n)", "list": "[{0}, {1}]", "lists by line": "[{0}]\n[{1}]",
    "bullets": "- {0}\n- {1}", "stars": "* {0}\n* {1}", "dots": "• {0}\n• {1}", "numbers": "1. {0}\n2. {1}",
    "numbers with a parenthesis": "1) {0}\n2) {1}", "lines": "{0}\n{1}", "blank line": "{0}\n\n{1}", "comma": "{0}, {1}",
    "semicolon": "{0}; {1}", "behind reasoning": "<think>\nBoth.\n</think>\n\n- {0}\n- {1}", "behind blanks": "\n\n({0}, {1})\n",
}  # fmt: skip
OF_CALLS = {
    "braces": "{{{0}, {1}}}", "prompts": ">>> {0}\n>>> {1}", "arrows": "→ {0}\n→ {1}", "awaited": "await {0}\nawait {1}",
    "strings": "['{0}', '{1}']", "bold": "**{0}**", "parenthesis": "({0})", "span": "`{0}`", "bulleted lists": "- [{0}]\n- [{1}]",
}  # fmt: skip
NAMED = [
    "/{0} {1}", "@{0} {1}", "#{0}{1}", "!{0} {1}", "{0}: {1}", "{0} -> {1}", "{0} => {1}", "{0} = {1}", "{0} with {1}",
    "[{0}] {1}", "`{0}` {1}", "`{0}`: {1}", "**{0}** {1}", "**{0}**: {1}", "**{0}:** {1}", "CALL {0} {1}", "Call {0} with {1}",
    "Calling {0} with {1}", "Using {0}: {1}", "Using tool: {0} {1}", "USE_TOOL: {0} {1}", "call {0} with arguments {1}",
    "\n {0} => {1}", "<think>\nSo.\n</think>\n\n/{0} {1}", "**Tool:** {0}\n**Arguments:** {1}",
]  # fmt: skip
EVERY = [
    *((name, form, calls) for name, form in AROUND.items() for calls in (CALLS, OBJECTS)),
    *((name, form, CALLS) for name, form in OF_CALLS.items()),
]
SAID = [
    "# get_weather\n\nTells the weather.", "/get_weather/oslo is a path", "[get_weather] is a tool", "`get_weather` {city}",
    "@get_weather: see {this}", "call me {later}", "Using get_weather is easy", '/get_weather {"city": "Oslo"} is how.',
    "- item one\n- item two", "(see below) it works", "1. First\n2. Second", '"Hello," she said', "'tis the season", "** bold **",
    "-5 is negative", "$ ls -la\nfoo", "→ next", "* get_weather is a tool\n* send.mail too", "(get_weather)", "- get_weather",
    "await the result", "- get_weather(city='Oslo'): the weather of Oslo\n- lock_door(): locks it",
    "1. get_weather(city='Oslo', days=2) - the weather\n2. lock_door()", "(lock_door()) is what I would call.",
]  # fmt: skip
COMPUTED = [
    "get_weather(city='Os' + 'lo')", "[get_weather(city='a' if north else 'b')]", "(get_weather(city='a' % 'b', days=1))",
    '- get_weather(city="a" + "b")', "<|tool_call_start|>[get_weather(city='Os' + 'lo')]<|tool_call_end|>",
]  # fmt: skip


def in_pieces(text: str, chance: random.Random) -> Parsed:
    parser = Parser(tools=TOOLS)
    cuts = sorted(chance.sample(range(len(text) + 1), min(6, len(text))))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    return fold([event for piece in pieces for event in parser.feed(piece)] + parser.close())


def made(parsed: Parsed) -> list[tuple[str, object]]:
    return [(call.name, dict(call.arguments)) for call in parsed.calls]


@pytest.mark.parametrize(("name", "form", "calls"), EVERY, ids=lambda given: given if isinstance(given, str) else "")
def test_calls_alone_are_made_whatever_stands_around(name: str, form: str, calls: dict[str, tuple[str, object]]) -> None:
    quoted = {text.replace("'", '"') if name == "strings" else text: call for text, call in calls.items()}
    wanted = [call for n, call in enumerate(quoted.values()) if f"{{{n}}}" in form]
    text = form.format(*quoted)
    assert made(parse(text, tools=TOOLS)) == wanted
    assert made(in_pieces(text, random.Random(name))) == made(in_pieces(text, random.Random(form))) == wanted


@pytest.mark.parametrize("form", NAMED)
def test_a_name_and_its_object_alone_are_a_call_under_any_sign(form: str) -> None:
    for name, given in (("get_weather", '{"city": "Oslo", "days": 2}'), ("lock_door", "{}")):
        text = form.format(name, given)
        wanted = [(name, json.loads(given))]
        assert made(parse(text, tools=TOOLS)) == made(in_pieces(text, random.Random(form))) == wanted
        assert not parse(f"{text} is how it is called.", tools=TOOLS).calls
        assert not parse(text.removesuffix("}"), tools=TOOLS, finish_reason="length").calls


@pytest.mark.parametrize("text", SAID)
def test_what_only_begins_so_is_text(text: str) -> None:
    parsed = parse(text, tools=TOOLS)
    assert not parsed.calls
    assert parsed.text == in_pieces(text, random.Random(text)).text == text


@pytest.mark.parametrize("text", COMPUTED)
def test_an_argument_that_is_computed_is_no_damaged_string(text: str) -> None:
    parsed = parse(text, tools=TOOLS)
    assert not parsed.calls
    assert [issue.name for issue in parsed.issues] == ["get_weather"]
    assert "computed" in parsed.issues[0].message


def test_a_quote_that_python_could_not_read_is_still_one_inside() -> None:
    (call,) = parse("get_weather(city='it's')", tools=TOOLS).calls
    assert call.arguments == {"city": "it's"}


@pytest.mark.parametrize("asked", [{"doubt": "run"}, {"dialects": "llama4_pythonic"}])
def test_a_call_made_twice_in_a_list_ends_once(asked: dict[str, Any]) -> None:
    twice = "return [get_weather(city='Oslo')]\n<|python_start|>[get_weather(city='Oslo'), get_weather(city='Rome')]<|python_end|>"
    found = [dict(call.arguments) for call in parse(f"x\n\n{twice}", tools=TOOLS, **asked).calls]
    assert found[-1] == {"city": "Rome"}
