"""The laws of the parser, held on every sample, whole and cut to pieces."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.dialects import Parsed, Parser, parse
from dragoman.dialects.engine.parsed import fold
from dragoman.dialects.judge.boxes import MAX_SPAN
from dragoman.dialects.rows.table import ALL
from dragoman.dialects.spec import Dialect
from dragoman.dialects.writing.render import Unrenderable, render
from dragoman.events import Event
from dragoman.types import Tool, ToolCall
from tests.support.dialect_vectors import MARKS, WORD, check_strict
from tests.support.samples import TEXTS, TOOLS

LOOK = Tool(name="look", parameters={"type": "object", "properties": {"at": {"type": "string"}}})
MODES: list[dict[str, Any]] = [{"tools": TOOLS}, {"tools": None}, {"tools": []}, {"tools": TOOLS, "strict": True}]


def events(chunks: list[str], **options: Any) -> list[Event]:
    parser = Parser(**options)
    return [e for c in chunks for e in parser.feed(c)] + parser.close()


def content_of(parsed: Parsed) -> Any:
    """Everything a parse tells, in a form that compares by content (spans and reports too)."""
    calls = [(c.id, c.name, json.dumps(c.arguments), c.report) for c in parsed.calls]
    return calls, parsed.text, parsed.reasoning, parsed.issues


@pytest.mark.parametrize("options", MODES)
@pytest.mark.parametrize("text", TEXTS)
def test_character_by_character_is_the_same_as_whole(text: str, options: dict[str, Any]) -> None:
    assert content_of(fold(events(list(text), **options))) == content_of(parse(text, **options))


@settings(max_examples=300)
@given(st.sampled_from(TEXTS), st.sampled_from(MODES), st.data())
def test_any_chunking_is_the_same_as_whole(text: str, options: dict[str, Any], data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    chunks = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert content_of(fold(events(chunks, **options))) == content_of(parse(text, **options))


@pytest.mark.parametrize("row", ALL, ids=lambda row: row.name)
def test_a_call_behind_words_is_the_same_in_any_pieces(row: Dialect) -> None:
    try:
        call = render([ToolCall(id="c", name="look", arguments={"at": "a b\nc"})], row, tools=[LOOK])
    except Unrenderable:
        pytest.skip("it cannot write this call")
    for before in ("Hi.\n", "```\nx\n```\n\n", "> ```\n", "<think>so</think>\n"):
        for asked in (dict[str, Any](), {"dialects": row.name}):
            text, options = before + call, {"tools": [LOOK], **asked}
            whole = fold(events([text], **options), text)
            assert parse(text, **options) == whole
            for size in (1, 3):
                pieces = [text[at : at + size] for at in range(0, len(text), size)]
                assert fold(events(pieces, **options), text) == whole, (text, size, asked)


@pytest.mark.parametrize("blank", ["\u2028", "\u3000", "\x0b", "\x85", "\u00a0", "\t", "\r"])
def test_white_space_of_any_kind_before_a_call_is_the_same_in_any_pieces(blank: str) -> None:
    for call in ('look(at="x")', '{"name": "look", "arguments": {"at": "x"}}', "Action: look\nAction Input: {}", "`look()`"):
        for text in (blank + call, f"Hi.\n{blank}{call}\n", f"\n{blank}{call}\nx"):
            whole = fold(events([text], tools=[LOOK]), text)
            assert parse(text, tools=[LOOK]) == whole
            assert fold(events(list(text), tools=[LOOK]), text) == whole, text


@pytest.mark.parametrize("unit", ["[x\n", "[1] y\n", "{x\n", "return x\n", "`x`\n"])
@pytest.mark.parametrize("fence", ["", "```\n", "> ```\n"])
def test_a_call_behind_many_marks_in_vain_is_told_of_in_any_pieces(fence: str, unit: str) -> None:
    text = f"{fence}{unit * 150}\n{render([ToolCall(id='c', name='look', arguments={'at': 'x'})], 'hermes')}"
    whole = fold(events([text], tools=[LOOK]), text)
    for size in (1, 64):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert fold(events(pieces, tools=[LOOK]), text) == whole, size


@pytest.mark.parametrize("opened", ["<code>", "<pre>\n", "<blockquote>", '"""', "'''"])
@pytest.mark.parametrize("behind", ["words of prose\n", "a paragraph\n\n"])
def test_a_broken_call_in_what_is_never_closed_is_told_of_alike_in_any_pieces(opened: str, behind: str) -> None:
    text = f"Hi.\n{opened}x\nreturn [ 'look' (x)\n{behind * (MAX_SPAN // len(behind) + 9)}"
    whole = fold(events([text], tools=[LOOK]), text)
    for size in (1, 64, 1000):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert fold(events(pieces, tools=[LOOK]), text) == whole, size


def test_what_only_begins_as_the_end_of_a_here_document_ends_none() -> None:
    text = "<<f\n<think>\nfn"
    whole = fold(events([text], tools=[LOOK]), text)
    assert fold(events(list(text), tools=[LOOK]), text) == whole


@pytest.mark.parametrize("mark", ["<tool_call>", "answer:", "return ", "call: ", "[", "[[", "<<function>>", "Action: "])
@pytest.mark.parametrize("fill", ["a", "a.", " ", "\n"])
def test_a_name_or_blanks_longer_than_any_are_the_same_in_any_pieces(mark: str, fill: str) -> None:
    for size in (255, 256, 257, 290, 299, 300, 301, 310, 500):
        for call in ('({"at": "x"})', '(at="x")]', ' look(at="x")\n'):
            text = f"Hi.\n{mark}{fill * (size // len(fill))}{call}\n" + "words.\n" * 80
            whole = fold(events([text], tools=[LOOK]), text)
            for step in (1, 300):
                pieces = [text[at : at + step] for at in range(0, len(text), step)]
                assert fold(events(pieces, tools=[LOOK]), text) == whole, (size, call, step)


@pytest.mark.parametrize("text", TEXTS)
def test_every_prefix_of_a_text_ends_with_strict_json(text: str) -> None:
    for end in range(len(text)):
        check_strict(events([text[:end]], tools=TOOLS))
    check_strict(events(list(text), tools=TOOLS))


@pytest.mark.parametrize("text", TEXTS)
def test_no_word_the_model_wrote_is_lost(text: str) -> None:
    parsed = parse(text, tools=TOOLS)
    found = parsed.text + parsed.reasoning + "".join(i.raw for i in parsed.issues)
    found += "".join(f" {c.name} {json.dumps(c.arguments)} " for c in parsed.calls)
    missing = [w for w in WORD.findall(text) if w not in found and w.casefold() not in MARKS]
    assert not missing


@settings(max_examples=200)
@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3), st.data())
def test_damaged_text_never_raises_and_stays_strict(texts: list[str], data: st.DataObject) -> None:
    text = list("\n".join(texts))
    for _ in range(data.draw(st.integers(0, 6))):
        if text:
            text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.sampled_from(list('<>{}[]"\'`~|\n\\@:,= x')))
    check_strict(events(["".join(text)], tools=TOOLS))


@pytest.mark.parametrize("text", TEXTS)
def test_without_tools_nothing_runs_and_text_without_reasoning_is_untouched(text: str) -> None:
    parsed = parse(text, tools=[])
    assert parsed.calls == ()
    if "think" not in text and "<|" not in text:
        assert parsed.text == text


def work(text: str, size: int) -> int:
    """Characters the parser's source handled, a measure of work that no clock disturbs."""
    parser = Parser(tools=TOOLS)
    steps = 0
    source = parser._src
    for start in range(0, len(text), size):
        parser.feed(text[start : start + size])
        steps += len(source.buf)
    parser.close()
    return steps


HOSTILE = ["<tool_call>", "{", "<", "```\n", '{"a": ', "`", "[", "<tool_call>{", '<tool_call>{"name": "f", "arguments": {',
           "~~~tool_call\n", "@tool ", "<think>", "</think>", '"', "<tool_call>{\"arguments\": [", "\n{\"arguments\": [", "> "]


@pytest.mark.parametrize("seed", HOSTILE)
def test_unread_text_does_not_pile_up_on_hostile_input(seed: str) -> None:
    small, large = (work(seed * (n // len(seed)), 64) / n for n in (4_000, 64_000))
    assert large <= 4 * small + 1


def test_a_call_given_twice_is_two_calls() -> None:
    call = '<tool_call>{"name": "ping", "arguments": {}}</tool_call>'
    calls: tuple[ToolCall, ...] = parse(call * 2, tools=TOOLS).calls
    assert [c.name for c in calls] == ["ping", "ping"]
    assert calls[0].id != calls[1].id
