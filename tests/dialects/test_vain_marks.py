"""Words that calls begin with and none follows: text, however many, and however the text comes."""

from __future__ import annotations

import pytest

from dragoman.dialects.engine.listening import listening
from dragoman.dialects.engine.markers import Table
from dragoman.dialects.engine.parse import parse
from dragoman.dialects.engine.parsed import Parsed, fold
from dragoman.dialects.engine.parser import Parser
from dragoman.dialects.judge.declared import Declared
from dragoman.types import Tool

HOST = {"type": "object", "properties": {"host": {"type": "string"}}}
CALL = '<tool_call>\n{"name": "ping", "arguments": {"host": "a"}}\n</tool_call>'
LISTINGS = (
    "def f(width):\n    return width\n",
    "if all:\n  return self.f(all, [1])\nreturn [n for n in all]\nreturn {'a': 1}\n",
    "Answer: 42\n\n",
)


def tools(*names: str) -> list[Tool]:
    return [Tool(name=name, parameters=HOST) for name in names]


def fed(text: str, size: int, known: list[Tool] | None, dialects: str = "auto") -> Parsed:
    parser = Parser(tools=known, dialects=dialects)
    events = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
    return fold([*events, *parser.close()])


def prepared(*names: str) -> tuple[Table, Declared]:
    _, table, known, _ = listening(tools(*names), "auto", "", (), (), strict=False, doubt="ask", native=False)
    return table, known


@pytest.mark.parametrize("size", [4, 64, 5000])
@pytest.mark.parametrize("listing", LISTINGS)
def test_a_call_behind_a_long_listing_in_no_fence_is_found(listing: str, size: int) -> None:
    text = f"So it is:\n\n{listing * 700}\n{CALL}"
    parsed = parse(text, tools=tools("ping"))
    assert [(call.name, call.arguments) for call in parsed.calls] == [("ping", {"host": "a"})]
    assert not parsed.issues
    assert fed(text, size, tools("ping")) == parsed


@pytest.mark.parametrize(
    ("text", "vain"),
    [
        ("return x\n", True),
        ("Answer: 42", True),
        ("return None", True),
        ("return other(x)", True),
        ("return ping.ping(x)", False),
        ("return functionsping1(x)", False),
        ("return pingpong(x)", True),
        ("return ping(x)", False),
        ("return  \n ping (x)", False),
        ("return functions.ping(x)", False),
        ("return ping.call(x)", False),
        ("return ping:1(x)", False),
        ("return pi\\ng(x)", False),
        ("return print(other(x))", False),
        ("return 'other'(x)", True),
        ("return 'ping'(x)", False),
        ("return \"Other('%s')\" % x", True),
        ("return [other(x)]", False),
        ("return [x for x in y]", True),
        ("return ['a', 'b']", True),
        ("return ['ping(x)']", False),
        ("return []\nping(x)", False),
        ("return {'a': 1}", True),
        ("return {ping(x)}", False),
        ("return (ping(x))", True),
        ("return ping", True),
        ("retur", False),
        ("x", False),
        ("Action: ping", False),
        ("return " + "x" * 400, True),
        ("return " + "p" + " " * 400, False),
    ],
)
def test_what_follows_tells_in_a_text_that_has_ended(text: str, vain: bool) -> None:
    table, names = prepared("ping")
    assert table.vain.is_vain(text, 0, names) is vain


@pytest.mark.parametrize(
    ("text", "vain"),
    [
        (">>> x = 1\n", True),
        (">>> from os import path\n", True),
        (">>>" + "x" * 300, True),
        (">>> x\n12", True),
        (">>> x\n\n  y", True),
        (">>> x", False),
        (">>> x = 1", False),
        (">>> x\n", False),
        (">>>\nx = 1\n", False),
        (">>> ping\n{", False),
        ('>>>other\n"{', False),
        (">>>other\n```json", False),
        (">>>all\n", False),
        (">>>>all\n", False),
        (">>", False),
        (">>> x" + "\n" * 400 + "y", False),
    ],
)
def test_prompt_is_vain_by_its_line_or_what_stands_below_it(text: str, vain: bool) -> None:
    table, names = prepared("ping")
    assert table.vain.is_vain(text, 0, names) is vain
    while_it_comes = [table.vain.is_vain(text[:size], 0, names, ended=False) for size in range(3, len(text) + 1)]
    assert {*while_it_comes} <= {None, vain}


def test_prompts_of_a_listing_are_not_read_and_cost_no_patience() -> None:
    text = "So it is:\n\n" + ">>> from os import path\n>>> path\n'x'\n" * 300
    for size in (1, 4, 50):
        parser = Parser(tools=tools("ping"))
        for at in range(0, len(text), size):
            parser.feed(text[at : at + size])
        assert not parser._teller.context._tail
        assert parser._patience.marks == parser._patience.openers == 0
    parsed = parse(f"{text}\n{CALL}", tools=tools("ping"))
    assert [call.name for call in parsed.calls] == ["ping"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("return", None), ("return ", None), ("return p", None), ("return oth", True), ("return oth(", True),
        ("return pri", None), ("return ping", None), ("return ping ", None), ("return pin ", None),
        ("return ping x", True), ("return ping(", False), ("return [", None), ("return [o", None), ("return ['", None),
        ("return 'p", None), ("return o", True), ("return " + "p" + " " * 400, False),
    ],
)  # fmt: skip
def test_while_text_comes_it_is_told_as_soon_as_it_is_sure(text: str, told: bool | None) -> None:
    table, names = prepared("ping")
    assert table.vain.is_vain(text, 0, names, ended=False) is told


@pytest.mark.parametrize("names", [("ping",), ("return",), ("returned", "ping"), ("answer", "self.f"), ("re", "foo")])
def test_any_pieces_give_the_same(names: tuple[str, ...]) -> None:
    behind = (
        "x", "ping(host='a')", "self.f(host='a')", "foo(host='a')", "[foo(1), ping(host='a')]", "print(ping(host='a'))",
        "'ping(host=\"a\")'", "", "[]", "return(host='a')", "\n\nping(host='a')", "re(host='a')", "{ping(host='a')}",
    )  # fmt: skip
    for word in ("return ", "Answer: ", "returned", "    return "):
        text = "So:\n" + "".join(f"{word}{rest}\n\nwords\n" for rest in behind)
        whole = fold(Parser(tools=tools(*names)).whole(text))
        assert parse(text, tools=tools(*names)) == whole
        assert [size for size in (1, 2, 3, 5, 8, 17) if fed(text, size, tools(*names)) != whole] == []


def test_calls_of_tools_that_are_declared_or_not_known_are_read_behind_such_a_word() -> None:
    text = "return ping(host='a')"
    assert [call.name for call in parse(text, tools=tools("ping")).doubtful + parse(text, tools=tools("ping")).calls]
    assert [call.name for call in parse(text).doubtful + parse(text).calls] == ["ping"]


def test_where_the_caller_named_the_dialect_a_call_of_no_tool_is_refused() -> None:
    text = "return other(host='a')"
    parsed = parse(text, tools=tools("ping"), dialects="labelled_call")
    assert [issue.message for issue in parsed.issues] == ["there is no tool named 'other'"]
    assert fed(text, 3, tools("ping"), "labelled_call") == parsed


def test_what_was_found_for_other_tools_is_not_gone_by() -> None:
    text = "x\nreturn foo(host='a')\n"
    for names in (("foobar",), ("foo",), ("foobar",)):
        known = tools(*names)
        assert fed(text, 30, known) == fold(Parser(tools=known).whole(text))
        assert fed(text, 4, known) == fold(Parser(tools=known).whole(text))


def test_a_list_of_anything_else_does_not_ask_how_it_stands() -> None:
    text = "Words.\n[1] The first note.\n['a', 'b']\nfunctools.reduce\nreturn x\n" + "w " * 300
    for size in (1, 4, 50):
        parser = Parser(tools=tools("ping"))
        for at in range(0, len(text), size):
            parser.feed(text[at : at + size])
        assert not parser._teller.context._tail  # nothing of it was read
        assert fold(parser.close()).text == ""
