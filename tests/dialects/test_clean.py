"""What is read in one look is what the row's own reader reads, to the same draft and the same place."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman import Tool, ToolCall, UsageError, dialects, render
from dragoman.dialects.judge.candidate import Draft
from dragoman.dialects.judge.judge import Judge
from dragoman.dialects.reading.call import Attempt, Mismatch
from dragoman.dialects.reading.compiled import Row
from dragoman.dialects.reading.table import CLEAN, READERS
from dragoman.lenient.reader import Broken, Cut
from dragoman.lenient.source import Source

PROPERTIES = {"city": {"type": "string"}, "days": {"type": "integer"}, "dry": {"type": "boolean"}, "any": {}}
TOOLS = [Tool(name="get_weather", parameters={"type": "object", "properties": PROPERTIES, "required": ["city"]})]
ROWS = {name: row for name, row in dialects.items() if type(row.args) in CLEAN}
TAKEN = ("hermes", "internlm2", "qwen3_coder", "glm45", "minimax_m2", "deepseek_v32", "step3")
"""Rows of which a plain call is read in one look."""
ARGUMENTS: tuple[dict[str, Any], ...] = (
    {"city": "Oslo"}, {"city": "São Paulo", "days": 3}, {"days": -12, "dry": True, "city": "x"}, {"city": ""},
    {"city": "\n"}, {"city": "\na\n"}, {"city": " a "}, {"city": 'say "a\\b"\tnow'}, {"city": "a < b"},
    {"city": "</parameter>"}, {"city": "&lt; &amp;"}, {"city": "3", "days": 1}, {"city": "function=x"}, {"any": 3},
    {"city": "{}"}, {"city": "null"}, {"city": "x", "other": "y"}, {"city": "é“q”\u2028"}, {},
)  # fmt: skip
BEHIND = ("", "\n", " \n\nDone.", ", and", "}", "</parameter>", "\n<", "\n</tool_call>", "\ufeff", ";", "`", '"')


def _attempt(row: Row, text: str) -> Attempt:
    src = Source()
    src.buf, src.eof = text, True
    return Attempt(src, row, Judge(TOOLS), lambda _: None, READERS)


def _told(draft: Draft) -> tuple[Any, ...]:
    return draft.name, draft.id, draft.text(), draft.edits, draft.refusal, draft.start, draft.end, draft.done


def _written(name: str, arguments: dict[str, Any]) -> str:
    try:
        return render([ToolCall(id="c0", name="get_weather", arguments=arguments)], dialects[name], tools=TOOLS)
    except UsageError:
        return ""


@pytest.mark.parametrize("name", ROWS)
def test_what_is_taken_in_one_look_is_what_the_reader_reads(name: str) -> None:
    row = Row(dialects[name])
    for text in filter(None, (_written(name, arguments) for arguments in ARGUMENTS)):
        for behind in BEHIND:
            quick = _attempt(row, text + behind)
            if not CLEAN[type(row.dialect.args)](quick):
                assert not quick.items, "what is not taken must leave nothing behind"
                assert quick.src.pos == 0
                continue
            slow = _attempt(row, text + behind)
            try:
                assert not list(slow.run())
            except (Mismatch, Broken, Cut) as why:
                pytest.fail(f"{text + behind!r} is none to the reader: {why!r}")
            assert [_told(draft) for draft in quick.drafts] == [_told(draft) for draft in slow.drafts], text + behind
            assert quick.src.pos == slow.src.pos, text + behind
            assert quick.closed
            assert slow.closed


@pytest.mark.parametrize("name", TAKEN)
def test_a_plain_call_is_taken(name: str) -> None:
    row = Row(dialects[name])
    assert CLEAN[type(row.dialect.args)](_attempt(row, _written(name, {"city": "Oslo", "days": 3})))


@pytest.mark.parametrize("name", TAKEN)
def test_a_text_that_has_not_ended_is_left_to_the_reader(name: str) -> None:
    row = Row(dialects[name])
    attempt = _attempt(row, _written(name, {"city": "Oslo"}))
    attempt.src.eof = False
    assert not CLEAN[type(row.dialect.args)](attempt)
