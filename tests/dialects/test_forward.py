"""Lines in which nothing counts: where the first mark is found, word for word or by a pattern."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dragoman.dialects import DIALECTS
from dragoman.dialects.engine.forward import ENOUGH, Forward
from dragoman.dialects.engine.listening import Listening, listening
from dragoman.dialects.engine.search import LONG
from dragoman.dialects.judge.declared import declared
from dragoman.dialects.writing.render import render
from dragoman.types import ToolCall
from tests.support.dialect_vectors import vectors

TOOL = {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}
SIGNS = ("a < b", "giant words", "auto=functions", "to=functions.x", "Here's it", "HERE IT is", "ſcommentary", "COMMENTARY",
         "ısn't", "K [1]", "an analysis", "✿ x", "｜x", "x\n</think>", "[inst]", "a [INST] b", "<", "it ends <too")  # fmt: skip


def heard() -> Listening:
    return listening(declared([TOOL]), "auto", "", (), (), strict=False, doubt="ask", native=False)


def test_word_for_word_finds_what_the_pattern_finds() -> None:
    names, table = heard().names, heard().table
    forward, found = Forward(table), 0
    for text in (*SIGNS, *(v["text"] for name in DIALECTS for v in vectors(name))):
        start, end = len(text) // 7, min(len(text), LONG)
        forward._unmade = ENOUGH
        first = forward._first(text, start, end, names)
        forward._unmade = 0
        assert forward._first(text, start, end, names) == first, text
        found += first < end
    assert found > len(SIGNS)


def test_who_reads_much_has_the_pattern() -> None:
    forward = Forward(heard().table)
    for _ in range(ENOUGH):
        assert forward.to("Words.\n<tool_call>", 0, heard().names) == 7
    assert forward._unmade <= 0


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder", "harmony", "deepseek_v3"])
def test_a_plain_call_is_read_without_what_only_others_need(name: str) -> None:
    text = "I will look there first.\n" + render([ToolCall(id="1", name="look", arguments={"at": "x"})], name)
    code = f"""import dragoman, sys
(call,) = dragoman.parse({text!r}, tools=[{TOOL!r}]).calls
unread = ("engine.parser", "judge.quotation", "judge.provenance", "engine.stops")
print(*[each for each in unread if "dragoman.dialects." + each in sys.modules])"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"
