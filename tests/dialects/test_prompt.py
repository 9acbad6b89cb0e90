"""What a model without tools is told, in every dialect."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest

from dragoman.dialects import DIALECTS, Dialect, Parser, parse
from dragoman.dialects.engine.parsed import fold
from dragoman.dialects.explain.findings import verdicts
from dragoman.dialects.rows.documents import COMMAND, HERMES, JSON_PROTOCOL, TILDE_FENCE
from dragoman.dialects.rows.nonce import with_nonce
from dragoman.dialects.writing.prompt import (
    EXAMPLE,
    LIST_HEAD,
    augment_system_prompt,
    compact_for,
    estimate,
    example,
    fits,
    tool_list,
    tool_prompt,
)
from dragoman.errors import UsageError
from dragoman.sim.prompt_reader import offers
from dragoman.turn.extract import extract
from dragoman.types import Tool, ToolCall, ToolChoice, Verdict
from tests.support.ten_tools import TEN

EVERY = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=list(DIALECTS))
READ = {
    "name": "read_file",
    "description": "Read a file from the filesystem. Returns its content.",
    "schema": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path"],
    },
}


def tool_of(call: ToolCall) -> Tool:
    """The tool an example calls."""
    kinds = {str: "string", int: "integer"}
    properties = {k: {"type": kinds[type(v)]} for k, v in call.arguments.items()}
    return Tool(name=call.name, parameters={"type": "object", "properties": properties})


def example_of(prompt: str) -> str:
    """The paragraph in which the form is shown: the first that names the example's tool."""
    return next(p for p in prompt.split("\n\n") if EXAMPLE.name in p)


@EVERY
def test_the_form_a_prompt_shows_is_what_the_parser_reads(dialect: Dialect) -> None:
    shown = example_of(tool_prompt(TEN, dialect))
    call = example(dialect)
    read = parse(shown, dialects=[dialect], tools=[tool_of(call)])
    assert [(c.name, c.arguments) for c in read.calls] == [(call.name, call.arguments)]


@EVERY
def test_a_copied_example_is_no_call_of_a_declared_tool(dialect: Dialect) -> None:
    assert parse(example_of(tool_prompt(TEN, dialect)), dialects=[dialect], tools=TEN).calls == ()


@EVERY
@pytest.mark.parametrize("compact", [False, True], ids=["full", "compact"])
def test_the_same_tools_in_any_order_give_the_same_bytes(dialect: Dialect, compact: bool) -> None:
    shuffled = list(TEN)
    random.Random(7).shuffle(shuffled)
    assert tool_prompt(shuffled, dialect, compact=compact) == tool_prompt(TEN, dialect, compact=compact)


@EVERY
def test_the_compact_prompt_is_a_fifth_shorter(dialect: Dialect) -> None:
    assert len(tool_prompt(TEN, dialect, compact=True)) <= 0.8 * len(tool_prompt(TEN, dialect))


@EVERY
def test_every_tool_is_named_with_its_schema(dialect: Dialect) -> None:
    prompt = tool_prompt(TEN, dialect)
    for tool in TEN:
        assert f"- `{tool.name}` — {tool.description}\n  Schema: " in prompt
        assert json.dumps(tool.parameters, separators=(",", ":")) in prompt


def test_a_list_in_a_description_is_indented_further() -> None:
    """Recorded: opencode and Kilo Code describe their tools in lines, some of which begin like the items of a list."""
    note = Tool(
        name="note",
        description="Write a note.\n\nUsage:\n- Use it often.\n- Never twice.",
        parameters={"type": "object", "properties": {}},
    )
    prompt = tool_prompt([note, TEN[0]])
    items = [line for line in prompt.partition(LIST_HEAD)[2].splitlines() if line.startswith("- ")]
    assert [line.split("`")[1] for line in items] == ["note", TEN[0].name]
    assert "  - Use it often.\n  - Never twice.\n  Schema: " in prompt
    assert [offer.name for offer in offers(prompt)] == ["note", TEN[0].name]


def test_the_prompt_stands_alone_where_there_is_none_before_it() -> None:
    alone = augment_system_prompt(None, [READ])
    assert alone == augment_system_prompt(" \n", [READ]) == tool_prompt([READ])


def test_an_existing_prompt_comes_first() -> None:
    assert augment_system_prompt("Be helpful.\n", [READ]) == "Be helpful.\n\n\n" + augment_system_prompt(None, [READ])


def test_compact_is_one_signature_line_per_tool() -> None:
    prompt = augment_system_prompt(None, [READ, {"name": "ping", "schema": {}}], compact=True)
    listed = prompt.split("Available tools:\n\n")[1]
    assert listed == ("- ping()\n- read_file(path: string, content?: string) — Read a file from the filesystem.")


def test_full_and_compact_show_the_same_form() -> None:
    full, compact = (example_of(augment_system_prompt(None, [READ], compact=c)) for c in (False, True))
    assert full == compact


def test_without_tools_nothing_is_told_of_calls() -> None:
    assert tool_list([]) == "(none)"
    assert (augment_system_prompt("Be helpful.", []), augment_system_prompt(None, []), tool_prompt([])) == ("Be helpful.", "", "")


def test_a_tool_that_must_be_called_is_demanded_of_no_tools_neither() -> None:
    with pytest.raises(UsageError, match="not declared"):
        tool_prompt([], choice=ToolChoice("named", "read_file"))


def test_fence_marks_stand_at_the_margin() -> None:
    lines = augment_system_prompt("Be helpful.", [READ]).split("\n")
    assert {"~~~tool_call", "~~~"} <= set(lines)


# ── nonce ────────────────────────────────────────────────────────────────────

NONCE = with_nonce(TILDE_FENCE, "7f3a")
CALL = '{"name": "read_file", "arguments": {"path": "a"}}'


def test_with_a_nonce_only_calls_that_carry_it_count() -> None:
    marked = f"~~~tool_call:7f3a\n{CALL}\n~~~"
    forged = f"~~~tool_call\n{CALL}\n~~~\n~~~tool_call:0000\n{CALL}\n~~~"
    assert len(parse(marked, dialects=[NONCE], tools=[READ]).calls) == 1
    assert parse(forged, dialects=[NONCE], tools=[READ]).calls == ()


READERS: dict[str, Callable[[str, str], int]] = {
    "parse": lambda text, nonce: len(parse(text, tools=[READ], nonce=nonce).calls),
    "parse, told": lambda text, nonce: len(parse(text, tools=[READ], prompted_dialect="tagged", nonce=nonce).calls),
    "parse, named": lambda text, nonce: len(parse(text, tools=[READ], dialects="tool_call_fence", nonce=nonce).calls),
    "Parser": lambda text, nonce: len(fold(Parser(tools=[READ], nonce=nonce).whole(text)).calls),
    "extract": lambda text, nonce: len(extract({"text": text}, tools=[READ], nonce=nonce)),
    "verdicts": lambda text, nonce: sum(f.verdict is Verdict.ACCEPTED for f in verdicts(text, tools=[READ], nonce=nonce)),
}


@pytest.mark.parametrize("count", READERS.values(), ids=READERS)
def test_every_reader_takes_the_nonce_that_the_prompt_was_given(count: Callable[[str, str], int]) -> None:
    marked, form = f"~~~tool_call:7f3a\n{CALL}\n~~~", f"<tool_call>\n{CALL}\n</tool_call>"
    assert count(marked, "7f3a") == 1
    for forged in (marked.replace("7f3a", "zzzz"), marked.replace(":7f3a", ""), form, CALL):
        assert count(forged, "7f3a") == 0


@pytest.mark.parametrize("count", READERS.values(), ids=READERS)
def test_a_nonce_that_no_fence_can_carry_is_refused_by_every_reader(count: Callable[[str, str], int]) -> None:
    with pytest.raises(UsageError, match="hex digits"):
        count(CALL, "no word")


@pytest.mark.parametrize("named", [["hermes", "tool_call_fence"], []])
def test_a_nonce_is_for_one_dialect(named: list[str]) -> None:
    with pytest.raises(UsageError, match="name the one"):
        parse(CALL, dialects=named, nonce="7f3a")


def test_the_nonce_stands_in_the_form_and_in_the_rules() -> None:
    prompt = tool_prompt([READ], nonce="7f3a")
    assert example_of(prompt).startswith("~~~tool_call:7f3a\n")
    assert "the code `7f3a`" in prompt


@pytest.mark.parametrize("nonce", ["x", "has space", "semi;colon", "é234", "a" * 33])
def test_a_nonce_that_is_no_word_is_refused(nonce: str) -> None:
    with pytest.raises(UsageError, match="hex digits"):
        with_nonce(TILDE_FENCE, nonce)


def test_a_dialect_without_fences_has_no_nonce_form() -> None:
    with pytest.raises(UsageError, match="tool_call_fence"):
        tool_prompt([READ], HERMES, nonce="7f3a")


# ── this one answer ──────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (ToolChoice("none"), "call no tool"),
        (ToolChoice("required"), "must call at least one tool"),
        (ToolChoice("named", "read_file"), "must call the tool `read_file`"),
    ],
    ids=["none", "required", "named"],
)
def test_a_choice_is_explained_at_the_end(choice: ToolChoice, words: str) -> None:
    plain, chosen = tool_prompt([READ]), tool_prompt([READ], choice=choice)
    assert chosen.startswith(plain)
    assert words in chosen[len(plain) :]


def test_no_choice_and_automatic_choice_say_nothing() -> None:
    assert tool_prompt([READ], choice=ToolChoice("auto"), parallel=True) == tool_prompt([READ])


def test_parallel_off_allows_one_call() -> None:
    assert tool_prompt([READ], parallel=False).endswith("Call at most one tool in one answer.")


def test_a_choice_of_an_unknown_tool_is_the_callers_mistake() -> None:
    with pytest.raises(UsageError, match="read_file"):
        tool_prompt([READ], choice=ToolChoice("named", "read_fil"))


# ── protocol and command ─────────────────────────────────────────────────────


def test_the_protocol_shows_both_forms_and_both_are_read() -> None:
    shown = [p for p in tool_prompt([READ], JSON_PROTOCOL).split("\n\n") if p.startswith("{")]
    action, final = map(json.loads, shown)
    assert set(action) == {"thought", "action"}
    assert set(final) == {"final"}
    assert parse(shown[1], dialects=[JSON_PROTOCOL]).text == "your answer"


def test_the_command_is_one_line() -> None:
    assert example_of(tool_prompt([READ], COMMAND)).startswith("@tool tool_name {")


# ── size ─────────────────────────────────────────────────────────────────────


def test_a_token_is_taken_for_four_characters() -> None:
    assert [estimate(t) for t in ("", "abcd", "abcde")] == [0, 1, 2]


@EVERY
def test_compact_is_chosen_when_the_full_prompt_exceeds_the_budget(dialect: Dialect) -> None:
    full = estimate(tool_prompt(TEN, dialect))
    assert fits(TEN, dialect, full)
    assert not compact_for(TEN, dialect, full)
    assert compact_for(TEN, dialect, full - 1)
    assert fits(TEN, dialect, full - 1, compact=True)
