"""Messages that end in a call of which nothing is to be said are read at one look, and to the same value."""

from __future__ import annotations

import random
import sys
from contextlib import suppress
from typing import Any

import pytest

from dragoman.dialects.engine import usual
from dragoman.dialects.engine.listening import listening
from dragoman.dialects.engine.parse import parse
from dragoman.dialects.engine.parsed import Parsed, fold
from dragoman.dialects.engine.parser import Parser
from dragoman.dialects.judge.declared import declared
from dragoman.dialects.rows.table import ALL
from dragoman.dialects.writing.render import Unrenderable, render
from dragoman.types import Tool, ToolCall

TEXT = {"type": "string"}
TOOLS = [
    Tool(name="ping", parameters={"type": "object", "properties": {"host": TEXT, "n": {"type": "integer"}}}),
    Tool(name="Read_File", parameters={"type": "object", "properties": {"path": TEXT}, "required": ["path"]}),
    Tool(name="think", parameters={"type": "object", "properties": {"about": TEXT}}),
    Tool(name="list_all", parameters={"type": "object", "properties": {}}),
]
FEW = [TOOLS[0], TOOLS[3]]
CALL = '<tool_call>\n{"name": "ping", "arguments": {"host": "a"}}\n</tool_call>'
OF_IT = '"host": "a"'
VALUES = ("a", "x < y", "one\ntwo", "</parameter>", "é — ✿", "", " a", "1", '"q"', "`c`", '{"a": 1}', "\\n", "~~~")
LINES = (
    "words here\n", "Let me look.\n", "- item\n", "1. one\n", "    deep\n", "\n", "\n\n", "> quoted\n", "| a | b |\n",
    "```\ncode\n```\n", "```python\nprint(1)\nif a < b:\n    return x\n```\n", "```py\nping(1)\n```\n", "```\n", "~~~\n",
    '```json\n{"a": 1}\n```\n', "```c\n#include <x>\n```\n", f"```\n{CALL}\n```\n", "```tool\nx\n```\n", "+ added\n",
    "User: hi\n", "**User:** hi\n", "### Instruction\n", "[INST] x\n", "a [inst] b\n", "[source,py]\n", ".Title\n", "----\n",
    "{code}\n", "{CODE}\n", "#+begin_src\n", "<code>\n", "</code>\n", "<!-- c\n", "a List<Sample> of it\n", '"""\n', "/* a\n",
    "an `open span\n", 'an "open mark\n', "ping\n", "ping(1) there\n", "`ping` is it\n", "read_file\n", "Use ping with x\n",
    "[1] note\n", "{x}\n", "Action: ping\n", "Observation: x\n", "return x\n", "functools [x]\n", "Here's my response: x\n",
    "to=functions.ping x\n", "</think>\n", "<think>x</think>\n", "[THINK]\n", "<|im_end|>\n", "🔧 x\n", "✿ x\n", "Sure\n",
    "`ls -l` lists\n", "`f(1)` is\n", "`ping(1)` is\n", "``x`` is\n", ">>> f(1)\n", ">>> ping\n", ">>>x\n", "return ping(1)\n",
    "Returns x\n", "return f(1)\n", "['a', 'b']\n", "[x](y) z\n", "[f(1)]\n", "[ping(1)]\n", "Action: f(1)\n", "Answer: 42\n",
    "Tool: hammer\n", "Tool: ping\n", "<name>x</name>\n", "<ping>x</ping>\n", "@foo x\n", "To do so:\n", "to=ping x\n",
    "For example:\n", "Do not call this:\n", "Would you like:\n", "x =\n", "print(ping(1))\n", '{"name": "ping"}\n', "<<EOF\n",
)  # fmt: skip
THOUGHTS = ("", "I should look.\n", f"maybe {CALL}\n", "`</think>` ends it\n", "```\nx\n```\n", "so </thinking> it is\n")


def by_parser(text: str, tools: list[Tool] = TOOLS, **asked: Any) -> Parsed:
    return fold(Parser(tools=tools, **asked).whole(text), text)


def read(text: str) -> Parsed | None:
    heard = listening(declared(FEW), "auto", "", (), (), strict=False, doubt="ask", native=False)
    found = usual.read(text, heard, "")
    return found if isinstance(found, Parsed) else None


def drawn_call(rng: random.Random) -> ToolCall:
    given: dict[str, dict[str, Any]] = {
        "ping": {"host": rng.choice(VALUES), **({"n": rng.choice([0, -3, 10**20])} if rng.random() < 0.4 else {})},
        "Read_File": {"path": rng.choice(VALUES)},
        "think": {"about": rng.choice(VALUES)},
        "list_all": {},
    }
    name = rng.choice(["ping", "ping", *given])
    return ToolCall(id="c", name=name, arguments=given[name])


def drawn(rng: random.Random, dialect: str) -> str:
    """A message with calls at its end, or nearly."""
    row = next(row for row in ALL if row.name == dialect)
    groups = []
    for count in rng.choice([[1], [1], [2], [1, 1]]):
        with suppress(Unrenderable):
            groups.append(render([drawn_call(rng) for _ in range(count)], row, tools=TOOLS))
    thought = f"<think>{rng.choice(THOUGHTS)}</think>\n" if rng.random() < 0.3 else ""
    before = "".join(rng.choices(LINES, k=rng.choice([0, 1, 1, 2, 3]))) if rng.random() < 0.7 else "I look.\n\n"
    return thought + before + "\n".join(groups) + rng.choice(["", "", "", "\n", " \n", "\nDone.", "<|im_end|>"])


@pytest.mark.parametrize("dialect", [row.name for row in ALL])
def test_a_message_is_read_as_the_parser_reads_it(dialect: str) -> None:
    rng = random.Random(dialect)
    for _ in range(40):
        text = drawn(rng, dialect)
        assert parse(text, tools=TOOLS) == by_parser(text), text
        assert parse(text, tools=TOOLS, dialects=dialect) == by_parser(text, dialects=dialect), text


@pytest.mark.parametrize("text", [
    CALL, f"{CALL}\n", f"\n\n{CALL}", f"I will look.\n\n{CALL}", f"<think>\nLet me see.\n</think>\n\n{CALL}",
    f"<think></think>{CALL}", f"{CALL}\n{CALL.replace('ping', 'list_all').replace(OF_IT, '')}",
    f"```python\nprint('x')\nreturn 1\n```\n\nNow:\n\n{CALL}", f"A List<Sample>, x < y and f(x).\n\n{CALL}",
    '[TOOL_CALLS][{"name": "ping", "arguments": {"host": "a"}}]', '[{"name": "ping", "arguments": {"host": "a"}}]',
    '{"name": "ping", "arguments": {"host": "a"}}', '[ping(host="a"), list_all()]', f"- one\n- two\n\n{CALL}",
    f"好的，我来查一下。\n\n{CALL}", f"I'll look.\n{CALL}", f"To see it, I look.\n\n{CALL}", f"`ls -l` lists them.\n\n{CALL}",
    f"Returns nothing.\n\n{CALL}", f"So:\n\n[the page](x)\n\n{CALL}",
    "<tool_call>\n<function=ping>\n<parameter=host>\na\n</parameter>\n</function>\n</tool_call>",
])  # fmt: skip
def test_a_plain_message_is_read_at_one_look(text: str) -> None:
    assert read(text) == by_parser(text, FEW)
    assert read(text) is not None


@pytest.mark.parametrize("call", [
    '[ping(host="a")]', '{"name": "ping", "arguments": {"host": "a"}}', '[{"name": "ping", "arguments": {"host": "a"}}]',
    '```json\n{"name": "ping", "arguments": {"host": "a"}}\n```', 'Action: ping\nAction Input: {"host": "a"}',
])  # fmt: skip
@pytest.mark.parametrize("before", [
    "I look.\n\n", "<think>\nHm.\n</think>\n\nNow:\n\n", "A List<Sample> of it.\n\nI look.\n\n",
])  # fmt: skip
def test_a_call_that_proves_little_behind_words_is_in_doubt_at_one_look(before: str, call: str) -> None:
    found = read(before + call)
    assert found == by_parser(before + call, FEW)
    assert found is not None
    assert [(call.name, call.arguments) for call in found.doubtful] == [("ping", {"host": "a"})]


@pytest.mark.parametrize("before", [
    "So `it is\n", "> quoted\n> ", "Do not run this:\n\n", "User: hi\n\n", "```\nx\n", "- so:\n\n      ",
    'x {"name": "ping", "arguments": {"host": "a"}} y\n', '[ping(host="a")] x\n',
])  # fmt: skip
def test_a_call_that_proves_little_behind_what_bears_on_it_is_left_to_the_parser(before: str) -> None:
    text = before + '[ping(host="a")]'
    assert read(text) is None
    assert parse(text, tools=FEW) == by_parser(text, FEW)


@pytest.mark.parametrize(
    "asked", [{"doubt": "run"}, {"doubt": "text"}, {"dialects": "pythonic"}, {"dialects": "hermes"}]
)
def test_what_becomes_of_a_call_in_doubt_is_the_callers_choice(asked: dict[str, Any]) -> None:
    text = 'I look.\n\n[ping(host="a")]'
    assert parse(text, tools=FEW, **asked) == by_parser(text, FEW, **asked)


def test_a_call_amid_words_is_told_of_beside_one_that_runs_where_arguments_are_required() -> None:
    text = f'So {{"name": "Read_File", "arguments": {{"path": "a"}}}} is it.\n{CALL}'
    parsed = parse(text, tools=TOOLS)
    assert parsed == by_parser(text)
    assert len(parsed.issues) == 1


@pytest.mark.parametrize("text", [
    "Nothing to do.", f"```\n{CALL}\n```", f"```\n{CALL}", f"> {CALL}", f"Do not run this:\n\n{CALL}", f"{CALL}\nDone.",
    '{"name": "pong", "arguments": {}}', '{"name": "ping", "arguments": {"host": "a"}}.', "[ping(host=x)]", "[]", "{}",
    f"User: hi\n\n{CALL}", f"It is `\n{CALL}`", f"<think>\n{CALL}", f"ping(1)\n\n{CALL}", f'{{"a": "\n{CALL}',
    CALL.replace("ping", "pong"), CALL.replace(OF_IT, '"host": [1]'), CALL.replace('"a"}', '"a",}'),
])  # fmt: skip
def test_what_wants_a_word_is_left_to_the_parser(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize("count", [65, 900, 1001, 1200])
def test_many_calls_one_behind_the_other_are_read_at_one_look(count: int) -> None:
    text = "\n".join(CALL.replace(OF_IT, f'"host": "a{n}"') for n in range(count))
    assert parse(text, tools=FEW) == by_parser(text, FEW)
    assert (read(text) is not None) is (count <= 1000)


@pytest.mark.parametrize("others", [1, 2, 70])
def test_a_call_that_stands_there_twice_is_read_at_one_look_and_runs_twice(others: int) -> None:
    text = "\n".join(CALL.replace(OF_IT, f'"host": "a{n % others}"') for n in range(71))
    parsed = read(text)
    assert parsed is not None
    assert len(parsed.calls) == 71
    assert parsed == by_parser(text, FEW)


@pytest.mark.parametrize("lead", ["", "Let me look.\n\n", "<think>I should.</think>\n"])
@pytest.mark.parametrize("ids", [
    ("call_1", ""), ("call_1", "", ""), ("a", "a"), ("call_2", "a", ""), ("a", "a", "a", "call_1"), ("", "call_0", ""),
    ("call_1",) * 12,
])  # fmt: skip
@pytest.mark.parametrize("alike", [True, False])
def test_no_two_calls_get_one_id_whatever_ids_the_text_gives(lead: str, ids: tuple[str, ...], alike: bool) -> None:
    calls = [
        CALL.replace('"name"', f'"id": "{id_}", "name"' if id_ else '"name"').replace(OF_IT, f'"host": "a{not alike and n}"')
        for n, id_ in enumerate(ids)
    ]
    text = lead + "\n".join(calls)
    parsed = parse(text, tools=FEW)
    assert len({call.id for call in parsed.calls}) == len(ids)
    assert parsed == by_parser(text, FEW)


def test_a_crowd_of_backticks_before_a_call_counts_as_in_pieces() -> None:
    text = "a `b` c\n" * 11_000 + CALL
    assert parse(text, tools=TOOLS) == by_parser(text)


@pytest.mark.parametrize("line", ["return x\n", "Answer: 42\n", "[1] x\n"])
def test_marks_in_vain_are_counted_as_the_parser_counts_them(line: str) -> None:
    text = (line + "word " * 100 + ".\n") * 700
    for call in (CALL, 'ping(host="a")'):
        assert parse(text + call, tools=TOOLS) == by_parser(text + call)


@pytest.mark.parametrize("line", ["<code> x\n", "[calling tool x\n"])
def test_lines_of_marks_in_vain_that_were_passed_count_for_the_parser_too(line: str) -> None:
    unit = line + "word " * 100 + ".\n"
    text = f"{unit * 100}<tool_call>x\n{unit * 560}\n\n{CALL}"
    assert parse(text, tools=TOOLS) == by_parser(text)


@pytest.mark.parametrize("line", ["call: x\n", "Tool: a\n"])
@pytest.mark.parametrize("end", [CALL, CALL.replace("},", "},,"), f"<tool_call>x\n{'[x' * 9}\n{CALL}"])
def test_marks_in_fences_of_code_that_were_passed_count_as_in_pieces(line: str, end: str) -> None:
    text = "Hello.\n" + ("```python\nx = 1\n" + line * 120 + "```\n\nwords\n\n") * 100 + end
    parser, events = Parser(tools=TOOLS), []
    for at in range(0, len(text), 500):
        events += parser.feed(text[at : at + 500])
    assert parse(text, tools=TOOLS) == fold([*events, *parser.close()], text)


def test_marks_that_were_passed_count_beside_those_behind_a_call_that_wants_a_word() -> None:
    text = "```python\nx = 1\ncall: x\n```\n" * 30 + CALL.replace('"a"', '"a",') + "\n" + "call: x\n" * 585 + CALL
    assert parse(text, tools=TOOLS) == by_parser(text)


def test_a_call_that_was_cut_by_a_limit_is_left_to_the_parser() -> None:
    assert parse(CALL, tools=TOOLS, finish_reason="length") == by_parser(CALL, finish_reason="length")


@pytest.mark.parametrize("asked", [
    {"strict": True}, {"doubt": "text"}, {"confirmed": ["hermes:tag:ends"]}, {"shown": [CALL]}, {"prefix": "<think>\n"},
    {"prompted_dialect": "hermes"}, {"finish_reason": "stop"},
])  # fmt: skip
def test_what_a_caller_asks_for_is_heard(asked: dict[str, Any]) -> None:
    text = f"I look.\n\n{CALL}"
    assert parse(text, tools=TOOLS, **asked) == by_parser(text, **asked)


def test_tools_that_can_be_read_once_only_are_read_once() -> None:
    assert len(parse(CALL, tools=iter(TOOLS)).calls) == 1
    assert len(parse(f"{CALL}\nDone.", tools=iter(TOOLS)).calls) == 1


def test_a_plain_message_takes_few_steps() -> None:
    count = 0

    def note(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event == "call"

    text = f"I will look at it now.\n\n{CALL}"
    parse(text, tools=TOOLS)
    sys.setprofile(note)
    try:
        parse(text, tools=TOOLS)
    finally:
        sys.setprofile(None)
    assert count < 120
