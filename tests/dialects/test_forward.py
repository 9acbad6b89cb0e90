"""Lines in which nothing counts: where the first mark is found."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dragoman import parse
from dragoman.dialects import DIALECTS
from dragoman.dialects.engine.forward import SHORT, Forward
from dragoman.dialects.engine.listening import Listening, listening
from dragoman.dialects.engine.search import Anchored
from dragoman.dialects.judge.declared import declared
from dragoman.dialects.writing.render import render
from dragoman.types import ToolCall
from tests.support.dialect_vectors import vectors

TOOL = {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}
SIGNS = ("a < b", "giant words", "auto=functions", "to=functions.x", "Here's it", "HERE IT is", "ſcommentary", "COMMENTARY",
         "ısn't", "K [1]", "an analysis", "✿ x", "｜x", "x\n</think>", "[inst]", "a [INST] b", "<", "it ends <too")  # fmt: skip


def heard() -> Listening:
    return listening(declared([TOOL]), "auto", "", (), (), strict=False, doubt="ask", native=False)


def test_what_finds_marks_in_an_ended_text_finds_what_finds_them_in_any() -> None:
    names, table = heard().names, heard().table
    ended, surely, signs, found = Forward(table), Forward(table), Forward(table), 0
    surely.__dict__["_lead"] = (Anchored(table.lead.search, reach=table.longest),)
    signs.__dict__["_lead"] = table.lead_signs
    for text in (*SIGNS, *(v["text"] for name in DIALECTS for v in vectors(name))):
        start, end = len(text) // 7, min(len(text), SHORT)
        first = ended._first(text, start, end, names)
        assert surely._first(text, start, end, names) == first, text
        assert signs._first(text, start, end, names) <= first, text  # within a word, too
        found += first < end
    assert found > len(SIGNS)


LINES = ("Here's what", "Here's my thought process:", "HERE ARE MY REASONING STEPS:", "好的，我来查一下。", "— look(x)", "look\r",
         "look \t{", "l\\ook(", "functions.look(", "it's look(", "Action: look", "ACTION：x", "Human: x", "User", "😀 look(")  # fmt: skip


def test_a_line_that_may_not_be_passed_is_found_and_few_others() -> None:
    names, ahead = heard().names, Forward(heard().table)
    found = {True: 0, False: 0}
    for text in (*SIGNS, *LINES, *(line for name in DIALECTS for v in vectors(name) for line in v["text"].splitlines())):
        line = text.lstrip(" \t\r")
        if not line or not line[0].isascii() or ahead._first(f"{line}\n", 0, 1, names) == 0:
            continue
        matters = ahead._why_not(f"{line}\n", 0, names) != 0
        seen = ahead._lines.match(f"\n{line}\n") is not None
        assert seen or not matters, line
        found[matters] += seen
    assert ahead._lines.match("\nHere's what\n") is None
    assert ahead._lines.match("\n好的，我来查一下。\n") is None
    assert found[True] > 500
    assert found[False]


@pytest.mark.parametrize("before", ["I will look there:\n\n", "x = 1\n", "print(1)\n\n" * 60, ""])
@pytest.mark.parametrize("opener", ["]<]minimax[>[<tool_call>\n]<]minimax[>[", "]<]minimax[>["])
def test_a_call_quoted_in_a_fence_does_not_run_though_its_value_holds_what_closes_one(opener: str, before: str) -> None:
    closer = "\n]<]minimax[>[</tool_call>" if "tool_call" in opener else ""
    call = f'{opener}<invoke name="look">]<]minimax[>[<at>a\n```\nb]<]minimax[>[</at>]<]minimax[>[</invoke>{closer}'
    assert [made.arguments for made in parse(call, tools=[TOOL]).calls] == [{"at": "a\n```\nb"}]
    quoted = parse(f"An example:\n\n```text\n{before}{call}", tools=[TOOL])
    assert not quoted.calls
    assert call in quoted.text


@pytest.mark.parametrize("size", [10, SHORT, 3000])
def test_a_mark_of_two_lines_is_found_where_the_second_may_begin_a_call(size: int) -> None:
    call = 'Action:\n```json\n[{"tool_name": "look", "parameters": {"at": "%s"}}]\n```\n'
    text = "word " * (size // 5) + "\n\n" + call % "a" + call % "b"
    calls = parse(text, tools=[TOOL], dialects="cohere_rplus_action_md").calls
    assert [made.arguments["at"] for made in calls] == ["a", "b"]


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder", "harmony", "deepseek_v3"])
def test_a_plain_call_is_read_without_what_only_others_need(name: str) -> None:
    text = "I will look there first.\n" + render([ToolCall(id="1", name="look", arguments={"at": "x"})], name)
    code = f"""import dragoman, sys
(call,) = dragoman.parse({text!r}, tools=[{TOOL!r}]).calls
unread = ("engine.parser", "judge.quotation", "judge.provenance", "engine.stops")
print(*[each for each in unread if "dragoman.dialects." + each in sys.modules])"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"
