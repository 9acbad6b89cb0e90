"""Markup in text the model did not write is harmless, and comes back as it was."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.dialects import DIALECTS, Dialect, parse
from dragoman.dialects.rows.documents import TILDE_FENCE
from dragoman.dialects.rows.nonce import with_nonce
from dragoman.dialects.rows.table import ALL
from dragoman.dialects.spec import Strength
from dragoman.dialects.writing.neutralise import JOINER, PIECE, WORD_ENDS, _markers, neutralise, restore
from dragoman.dialects.writing.render import render
from dragoman.types import Tool, ToolCall

TOOLS = (Tool(name="f", parameters={"type": "object", "properties": {"a": {"type": "string"}}}),)
CALL = ToolCall(id="", name="f", arguments={"a": "x"})
MARKED = [d for d in DIALECTS.values() if d.strength is Strength.STRONG or d.name == "command"]
CONTROL = [
    "<|im_start|>", "<|im_end|>", "<|eot_id|>", "<|start_header_id|>", "<|channel|>", "<|call|>", "<|python_tag|>",
    "<｜tool▁calls▁begin｜>", "<｜User｜>", "<|channel>", "<tool_call|>", "[INST]", "[/INST]", "[TOOL_CALLS]",
    "[THINK]", "<<SYS>>", "<s>", "</s>", "<start_of_turn>", "<end_of_turn>", "<think>", "</think>", "<tool_response>",
    "<function_results>", "<function=f>", "<invoke name=", "~~~tool_call", "~~~tool_result", "@tool f", "</TOOL_CALL>",
]  # fmt: skip
ORDINARY = [
    "The quick brown fox; a <b>bold</b> move, a[0] = {\"x\": 1} and `code`.",
    "```json\n{\"name\": \"f\", \"arguments\": {}}\n```",
    "# Title\n\n- item\n> quote\n~~~\nfence\n~~~\n[link](http://x.y) <toolbox> <stool> mail@toolbox.org",
    "if a < b and b > c: print('x|y') # <3",
    "[{\"id\": 1}, {\"id\": 2}]",
]

pieces = st.sampled_from([*CONTROL, JOINER, JOINER * 2, "<", "|", "\n", " "]) | st.text(max_size=5)
texts = st.lists(pieces).map("".join)
SPELT = _markers(tuple(ALL))
halves = st.sampled_from(SPELT).flatmap(
    lambda one: st.sampled_from([one, one.upper(), one.lower(), one[1:], one[:-1], one[:3], one[-3:]])
)
marked = st.lists(halves | st.sampled_from([" ", "a", "of", ":", "=", "<", "\n"]), max_size=8).map("".join)


@settings(max_examples=400, deadline=None)
@given(text=texts)
def test_restoring_gives_back_every_text(text: str) -> None:
    assert restore(neutralise(text)) == text


@settings(max_examples=200, deadline=None)
@given(text=texts)
def test_twice_made_harmless_is_twice_restored(text: str) -> None:
    assert restore(restore(neutralise(neutralise(text)))) == text


@pytest.mark.parametrize("dialect", MARKED, ids=[d.name for d in MARKED])
def test_a_copy_of_harmless_markup_is_no_call(dialect: Dialect) -> None:
    text = render([CALL, CALL], dialect, tools=TOOLS)
    assert len(parse(text, tools=TOOLS, dialects=[dialect]).calls) == 2
    assert parse(neutralise(text), tools=TOOLS, dialects=[dialect]).calls == ()


@pytest.mark.parametrize("dialect", MARKED, ids=[d.name for d in MARKED])
def test_a_copy_of_neutralised_markup_is_no_other_call(dialect: Dialect) -> None:
    text = neutralise(render([CALL, CALL], dialect, tools=TOOLS))
    read = parse(text, tools=TOOLS)
    assert read.calls == ()
    assert read.text == text


@pytest.mark.parametrize("token", CONTROL)
def test_every_control_token_is_broken(token: str) -> None:
    neutralised = neutralise(f"before {token} after")
    assert token not in neutralised
    assert neutralised.replace(JOINER, "") == f"before {token} after"


def test_markup_inside_markup_is_broken_too() -> None:
    assert "<tool_call>" not in neutralise("<tool_<tool_call>call>")
    assert "<|im_start|>" not in neutralise("<|im_<|im_start|>start|>")


def broken(text: str) -> set[int]:
    """The places of the characters of `text`, in which no joiner stands, behind which one is put."""
    found = [match.start() for match in re.finditer(JOINER, neutralise(text))]
    return {place - at - 1 for at, place in enumerate(found)}


@settings(max_examples=200, deadline=None)
@given(text=marked)
def test_every_marker_of_the_rows_is_broken_wherever_it_begins(text: str) -> None:
    begun = {
        found.start() for marker in SPELT if marker.lower() in text.lower()
        for found in re.finditer(f"(?=(?i:{re.escape(marker)}){WORD_ENDS})", text)
    }  # fmt: skip
    assert begun <= broken(text)


@pytest.mark.parametrize("marker", ["Action:", "assistant to=functions.", "<tool_call>"])
@pytest.mark.parametrize("before", [PIECE - len("Action:"), PIECE - 1, PIECE])
def test_a_marker_is_broken_where_a_long_text_is_cut(marker: str, before: int) -> None:
    assert before in broken("y" * before + marker + " z" * 300)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_comes_through_unchanged(text: str) -> None:
    assert neutralise(text) == text


def test_a_nonce_fence_is_broken_like_any_other() -> None:
    row = with_nonce(TILDE_FENCE, "7f3a")
    text = render([CALL], row)
    assert len(parse(text, tools=TOOLS, dialects=[row]).calls) == 1
    assert parse(neutralise(text), tools=TOOLS, dialects=[row]).calls == ()


def test_a_custom_row_is_neutralised_when_passed() -> None:
    own = Dialect(name="own", call=DIALECTS["hermes"].call, args=DIALECTS["hermes"].args, quiet=("§§call§§",))
    assert "§§call§§" in neutralise("x §§call§§ y")
    assert "§§call§§" not in neutralise("x §§call§§ y", [own])


def test_a_long_text_of_half_markers_is_done_at_once() -> None:
    text = "<tool <|a~~~" * 60_000
    assert restore(neutralise(text)) == text
