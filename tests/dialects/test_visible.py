"""The visible text that is looked through once more: bounded, and the same under any chunking."""

from __future__ import annotations

import random
import tracemalloc
from typing import Any

import pytest

from dragoman import Parser, Tool
from dragoman.dialects.engine.visible import BLOCK, MOST_VISIBLE, NEAR, VisibleText

TOOL = Tool(
    name="get_weather", parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
)
LINE = "plain words of a long answer, none of them a mark of anything at all\n"
AMID = 'words and so on {"name": "get_weather", "arguments": {"city": "Oslo"}}\n'
"""A call that no marker leads to."""


def kept(text: str, sizes: Any) -> tuple[str, str]:
    visible, at = VisibleText(), 0
    while at < len(text):
        piece = text[at : at + next(sizes)]
        at += len(piece)
        visible.pieces.append(piece)
        visible.size += len(piece)
        if visible.size > MOST_VISIBLE:
            visible.cut()
        assert visible.size <= MOST_VISIBLE or len(piece) > BLOCK - NEAR
    end, context = visible.end()
    return end, str(context.standing()) if context else ""


def sizes(seed: int) -> Any:
    rng = random.Random(seed)
    while True:
        yield rng.choice((1_000, 30_000, 700_000))


@pytest.mark.parametrize("blank", ["\n\n", "\n"])
@pytest.mark.parametrize("size", [MOST_VISIBLE, MOST_VISIBLE + 1, 3 * BLOCK + 7, 5 * BLOCK])
def test_what_is_kept_depends_on_the_text_alone(size: int, blank: str) -> None:
    text = ("```\n" + (LINE * 20 + blank) * (size // (len(LINE) * 20) + 1))[:size]
    whole = kept(text, iter([size]))
    assert text.endswith(whole[0])
    assert len(whole[0]) == size if size <= MOST_VISIBLE else BLOCK - NEAR < len(whole[0]) <= MOST_VISIBLE
    assert ("fence" in whole[1].casefold()) is (size > MOST_VISIBLE)
    for seed in range(3):
        assert kept(text, sizes(seed)) == whole


def doubts(text: str, step: int) -> int:
    parser = Parser(tools=[TOOL])
    events = [e for at in range(0, len(text), step) for e in parser.feed(text[at : at + step])] + parser.close()
    return sum(type(e).__name__ == "CallDoubted" for e in events)


@pytest.mark.parametrize(("before", "found"), [("", 1), ("```\n", 0)])
def test_a_call_behind_megabytes_of_text_is_still_found_unless_they_quote_it(before: str, found: int) -> None:
    text = before + (LINE * 20 + "\n") * 2000 + AMID
    assert len(text) > MOST_VISIBLE
    assert doubts(text, 50_000) == doubts(text, len(text)) == found


@pytest.mark.slow
def test_the_memory_of_a_long_answer_is_bounded() -> None:
    parser, block = Parser(tools=[TOOL]), LINE * 200
    tracemalloc.start()
    try:
        for _ in range(600):
            parser.feed(block)
        assert tracemalloc.get_traced_memory()[0] < 600 * len(block) // 2
    finally:
        tracemalloc.stop()
