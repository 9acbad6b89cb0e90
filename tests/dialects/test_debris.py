"""A mark, a quote or a comma that is missing never makes a call run with what stood beside it.

A notation whose values are raw text, and JSON whose quotes are mended, have this in common: with one sign missing, the
next argument, the next call or the call's own end may be read as a part of a value.  Such a call is refused, its
neighbours run; and a value that merely looks so, being code or markup of its own, is left alone.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from dragoman.dialects import DIALECTS, Dialect, Parsed, Parser, parse
from dragoman.dialects.engine.parsed import fold
from dragoman.dialects.spec import ElementArgs, TaggedArgs
from dragoman.dialects.writing.render import Unrenderable, render
from dragoman.types import Tool, ToolCall


def tool(name: str, *required: str, **kinds: str) -> Tool:
    properties = {key: {"type": kind} for key, kind in kinds.items()}
    return Tool(name=name, parameters={"type": "object", "properties": properties, "required": list(required)})


TOOLS = (
    tool("get_weather", city="string", days="integer"),
    tool("search", query="string", limit="integer"),
    tool("send", text="string"),
    tool("ping"),
    tool("lookup", id="string", kind="string"),
)
CALLS = (
    ToolCall(id="a", name="get_weather", arguments={"city": "Oslo north", "days": 3}),
    ToolCall(id="b", name="search", arguments={"query": "red shoes", "limit": 5}),
    ToolCall(id="c", name="send", arguments={"text": "hello there"}),
)
VALUES = frozenset(("Oslo", "north", "3", "red", "shoes", "5", "hello", "there", "city", "days", "query", "limit", "text"))
TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
LONGEST = 6
"""Tokens that one damage takes at most."""


def read(text: str, tools: tuple[Tool, ...] = TOOLS) -> Parsed:
    """The reading of the text, which is the same character by character."""
    parser = Parser(tools=tools)
    parts = fold([e for c in text for e in parser.feed(c)] + parser.close())
    whole = parse(text, tools=tools)
    assert called(parts) == called(whole)
    return whole


def called(parsed: Parsed) -> list[tuple[str, Any]]:
    return [(c.name, dict(c.arguments)) for c in parsed.calls]


# ── attributes of one tag ────────────────────────────────────────────────────

SEND = '<tool_call>\n{"name": "send", "arguments": {"text": "hello"}}\n</tool_call>'
PING = '<tool_call name="ping" />'


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ('<tool_call name="get_weather">{"city": "Oslo"}\n', {"city": "Oslo"}),
        ('<tool_call name="get_weather">{"city": "Oslo"} />\n', {"city": "Oslo"}),
        ('<tool_call name="get_weather">{"city": "Oslo"}</tool_call>\n', {"city": "Oslo"}),
        ('<tool_call name="get_weather">{"city": "Oslo"}}</tool_call>\n', {"city": "Oslo"}),
        ('<tool_call name="send">Oslo</tool_call>\n', {"text": "Oslo"}),
        ('<tool_call name="send">{"text": "<tool_call name=\\"ping\\" />"}</tool_call>\n', {"text": PING}),
        ("<tool_call name=\"get_weather\" args='{\"city\": \"Oslo\"}'>\n", {"city": "Oslo"}),
        ("<tool_call name=\"get_weather\" args='{\"city\": \"Oslo\"}'> and then\n", {"city": "Oslo"}),
        ("<tool_call name=\"get_weather\" args='{\"city\": \"Oslo\"}'>I look.</tool_call>\n", {"city": "Oslo"}),
        ("<tool_call name=\"get_weather\" args='{\"city\": \"Oslo\"}' days=\"3\" />\n", {"city": "Oslo", "days": 3}),
        ('<tool_call name="get_weather" city="Oslo">{"days": 3}</tool_call>\n', {"city": "Oslo", "days": 3}),
        ('<tool_call name="get_weather" city="Oslo">{"city": "Oslo"}</tool_call>\n', {"city": "Oslo"}),
        ('<tool_call name="lookup" id="7" />\n', {"id": "7"}),
        ('<tool_call name="send">{"name": "send", "arguments": {"text": "a"}}</tool_call>\n', {"text": "a"}),
        ('<tool_call name="send" args=\'{"text": "&lt;h1>A&lt;/h1>"}\' />\n', {"text": "<h1>A</h1>"}),
        ('<tool_call type="function" name="lookup" id="c1" args=\'{"id": "7"}\' />\n', {"id": "7"}),
        ('<tool_call name="get_weather" city="Oslo">\n', {"city": "Oslo"}),
    ],
)
def test_what_a_tag_its_attributes_and_its_body_say_is_read_together(written: str, arguments: dict[str, Any]) -> None:
    name = re.search(r'name="(\w+)"', written)
    assert name is not None
    assert called(read(written + PING)) == [(name[1], arguments), ("ping", {})]


@pytest.mark.parametrize(
    "written",
    [
        '<tool_call name="get_weather">args:\'{"city": "Oslo north"}\' />\n',
        '<tool_call name="get_weather">Oslo\n',
        '<tool_call name="ping">Now the next one:\n',
        '<tool_call name="ping">hello</tool_call>\n',
        "<tool_call name=\"get_weather\" args='{\"city\": \"Oslo\"}'>{\"city\": \"Bergen\"}</tool_call>\n",
        '<tool_call name="get_weather" city="Oslo">{"city": "Bergen"}</tool_call>\n',
        "<tool_call name=\"get_weather\" args='{\"city\": \"Oslo\"}' city=\"Bergen\" />\n",
        "<tool_call name=\"get_weather\" args='{\"city\": \"Oslo' />\n",
        '<tool_call name="get_weather">{"city": "Oslo", "city": "Bergen"}</tool_call>\n',
        '<tool_call name="send">{"name": "search", "arguments": {"query": "a"}}</tool_call>\n',
    ],
)
def test_a_tag_that_says_two_things_or_nothing_clear_is_refused_alone(written: str) -> None:
    parsed = read(f"{written}{PING}")
    assert called(parsed) == [("ping", {})]
    assert parsed.issues[0].correction
    assert PING not in parsed.issues[0].raw


def test_a_call_inside_text_that_stands_in_a_tag_is_not_run() -> None:
    parsed = read(f'<tool_call name="send">Use {PING} with care</tool_call>')
    assert called(parsed) == [("send", {"text": f"Use {PING} with care"})]


# ── a string that is read past its call ──────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo""days": 3}}\n</tool_call>\n<tool_call>\n'
        '{"name": "send", "arguments": {"text": "hello"}}\n</tool_call>',
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo", "days"3}}\n</tool_call>\n<tool_call>\n'
        '{"name": "send", "arguments": {"text": "hello"}}\n</tool_call>',
        '<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Oslo", "days" 3}}, '
        '{"name": "send", "arguments": {"text": "hello"}}]',
        '<|tools_prefix|>[{"get_weather": {"city": "Oslo""days": 3}}, {"send": {"text": "hello"}}]<|tools_suffix|>',
        '[{"name": "get_weather", "parameters": {"city": "Oslodays": 3}}, '
        '{"name": "send", "parameters": {"text": "hello"}}]',
        'get_weather[TOOL_CALLS]{"city": "Oslo""days": 3}\nsend[TOOL_CALLS]{"text": "hello"}',
        'get_weather\n{"city": "Oslo""days": 3}\nsend\n{"text": "hello"}',
        '<|tool_call_start|>[get_weather(city="Oslo"days=3), send(text="hello")]<|tool_call_end|>',
        '<|tool_call_start|>[get_weather(city="Oslo" send(text="hello")]<|tool_call_end|>',
        '```tool_code\nget_weather(city="Oslodays=3)\nsend(text="hello")\n```',
    ],
)
def test_a_call_read_past_its_end_does_not_run_and_takes_no_other_with_it(text: str) -> None:
    parsed = read(text)
    assert [c for c in called(parsed) if c != ("send", {"text": "hello"})] == []
    assert parsed.issues


@pytest.mark.parametrize(
    "arguments",
    [
        '{"city": "Oslo", "days"3, "units": "metric"}',
        '{"city": "Oslo", days": 3, units": "metric"}',
        '{"city": "": "Oslo"}',
        '{"city": "Oslo", " "days": 3}',
        '{"city": "Oslo", "where": {"lat": 1, "days": 3}',
    ],
)
def test_an_argument_that_stands_in_another_and_is_missing_stops_the_call(arguments: str) -> None:
    keys = {"city": "string", "days": "integer", "units": "string", "where": "object"}
    text = f'<tool_call>{{"name": "forecast", "arguments": {arguments}}}</tool_call>'
    parsed = read(text, (tool("forecast", **keys),))
    assert called(parsed) == []
    assert parsed.issues[0].correction


def test_a_name_in_a_text_that_was_escaped_says_nothing_of_a_bracket() -> None:
    text = '<tool_call>{"arguments": {"city": "{\\"days\\": 3}", "name": "get_weather"}</tool_call>'
    assert called(read(text)) == [("get_weather", {"city": '{"days": 3}'})]


@pytest.mark.parametrize(
    "body",
    [
        "<parameter=query>\nred\n</parameter>\n<parameter=>\n5\n</parameter>",
        "<parameter=query>\nred\n</parameter>\n\nand five\n</parameter>",
        "<parameter=query>\nred\n</parameter\nlimit>\n5\n</parameter>",
        "<parameter=query>\nred\nparameter=limit>\n5\n</parameter>",
        "<parameter=query>\nred\n</limit>\n5\n</parameter>",
    ],
)
def test_a_raw_value_that_holds_what_is_left_of_a_mark_stops_the_call(body: str) -> None:
    parsed = read(f"<tool_call>\n<function=search>\n{body}\n</function>\n</tool_call>\n{SEND}")
    assert called(parsed) == [("send", {"text": "hello"})]
    assert parsed.issues[0].correction


def test_a_call_that_is_refused_behind_its_closer_takes_no_other_with_it() -> None:
    yaml = "<tool_call>\nname: search\narguments:\n  query: red\nlimit: 5\n</tool_call>\n"
    assert called(read(yaml + SEND)) == [("send", {"text": "hello"})]


def test_the_call_behind_one_that_was_read_past_its_end_runs() -> None:
    text = (
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo""days": 3}}\n</tool_call>\n<tool_call>\n'
        '{"name": "send", "arguments": {"text": "hello"}}\n</tool_call>'
    )
    parsed = read(text)
    assert called(parsed) == [("send", {"text": "hello"})]
    assert parsed.issues[0].raw == text[: text.index("\n<tool_call>", 5)]


# ── any damage, in any notation ──────────────────────────────────────────────


def damaged(dialect: Dialect, chance: random.Random, count: int) -> Iterator[tuple[str, list[ToolCall]]]:
    """Texts of two calls without one run of tokens that is no part of a value or a key."""
    for _ in range(count):
        calls = chance.sample(CALLS, 2)
        try:
            text = render(calls, dialect, tools=TOOLS)
        except Unrenderable:
            continue
        tokens = [(m.start(), m.end()) for m in TOKEN.finditer(text)]
        first = chance.randrange(len(tokens))
        last = min(len(tokens) - 1, first + chance.randrange(LONGEST))
        start, end = tokens[first][0], tokens[last][1]
        if VALUES.isdisjoint(re.findall(r"\w+", text[start:end])):
            yield text[:start] + text[end:], calls


def same(call: ToolCall, meant: ToolCall) -> bool:
    """Do they say the same, white space apart?"""

    def plain(one: ToolCall) -> dict[str, str]:
        return {key.strip(): "".join(str(value).split()) for key, value in one.arguments.items()}

    return call.name == meant.name and plain(call) == plain(meant)


def test_of_many_damages_hardly_one_makes_a_call_run_otherwise_than_it_was_meant() -> None:
    """What is left are readings that nothing tells from the right one (a key run together with its type, say)."""
    chance = random.Random(2026)
    wrong: list[str] = []
    tried = 0
    for dialect in DIALECTS.values():
        for text, calls in damaged(dialect, chance, 24):
            tried += 1
            ran = parse(text, tools=TOOLS).calls
            wrong += [text for call in ran if not any(same(call, meant) for meant in calls)]
    assert tried > 1500
    assert len(wrong) <= tried // 150, "\n\n".join(wrong)


# ── values that only look so ─────────────────────────────────────────────────

WRITE = tool("write_file", "path", "content", path="string", content="string", mode="string", limit="integer")
CODE = (
    '<form>\n<input type="text" name="mode">\n<input name="limit" value="5">\n</form>',
    'def f(path, mode="r", limit=5):\n    if limit>5 and mode>"a":\n        return dict(name="mode", limit=limit)\n',
    "mode: fast\nlimit: 5\n",
    "<config><mode>fast</mode><limit>5</limit></config>",
    "<mode>\nfast\n</mode>\n",
    "Set --mode=fast --limit 5.",
    "[mode]\nlimit = 5\n",
    'Field(name="mode", default="limit")\n',
    'see search(query="x", limit=5) and write_file("a")',
    "| mode | limit |\n|---|---|\n| a | 5 |\n",
    '<xs:element name="mode" type="string"/>\n<xs:element name="limit" type="number"/>',
    "a <b> c </b> limit>5 mode<",
    '<a href="x">limit</a><td>mode</td>',
    "the end of a tag >",
    "a < b",
    "if (a |",
    "</body>\n</html>",
)


@pytest.mark.parametrize("content", CODE)
def test_code_that_names_other_parameters_is_written_as_it_stands(content: str) -> None:
    call = ToolCall(id="a", name="write_file", arguments={"path": "a.txt", "content": content})
    tools = (WRITE, *TOOLS)
    rows = [d for d in DIALECTS.values() if isinstance(d.args, TaggedArgs | ElementArgs)]
    written = {}
    for dialect in rows:
        with suppress(Unrenderable):
            written[dialect.name] = render([call], dialect, tools=tools)
    assert len(written) > len(rows) / 2
    for name, text in written.items():
        assert called(parse(text, tools=tools)) == [("write_file", dict(call.arguments))], name


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</paramter>\n<parameter=days>\nthree\n</parameter>\n"
         "</function>\n</tool_call>\n<tool_call>\n<function=search>\n<parameter=query>\nred\n</parameter>\n</function>\n</tool_call>", "search"),
        ("<get_weather>\n<city>Oslo</ciyt>\n<days>3</days>\n</get_weather>\n<search>\n<query>red</query>\n</search>", "search"),
        ('<tool_call>{"name": "search", "arguments": {"query": "a" b", "limit" 3}}</tool_call>', ""),
        ('<function_calls>\n<invoke name="ping">\n</invoke>\n<invoke name="get_weather">\n<parameter name="city">Oslo'
         '<parameter name="days">3</parameter>\n</invoke>\n<invoke name="search">\n<parameter name="query">red</parameter>\n'
         "</invoke>\n</function_calls>", "search"),
    ],
    ids=["a raw value", "an element", "nothing", "not of one that ran before it"],
)  # fmt: skip
def test_of_a_call_that_was_read_into_another_it_is_said_that_it_did_not_run(text: str, told: str) -> None:
    [correction, *_] = [issue.correction for issue in read(text).issues]
    assert (f"If you called {told} behind it" in correction) if told else "behind it" not in correction
