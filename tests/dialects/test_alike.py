"""Text that repeats itself is read once, and comes to what reading all of it does."""

from __future__ import annotations

import random
import re

import pytest

from bench.counts import counting
from dragoman.dialects.engine.search import Lead
from dragoman.dialects.judge import quotation
from dragoman.dialects.judge.alike import FEWEST, Run, run_at
from dragoman.dialects.judge.quotation import Context
from dragoman.lenient.source import Source

UNITS = (
    "[INST]", "> ", ">>>f", "```", "~~~", "`", '"', "“", "”", "<b>", "<code>", "</code>", "<!--", "-->", "\n", "\n\n", "    ",
    "- ", "1. ", "| a | b |", "|---|---|", "a: |", "User:", "Assistant:", "@@ ", "+x", "-y", "[source]", "----", "#+begin_src",
    "#+end_src", "{code}", "cat <<EOF", "EOF", "\\begin{verbatim}", "\\end{verbatim}", "word ", "{", "]", '"""', "/*", "*/",
)  # fmt: skip
LINES = re.compile(r"\n")


@pytest.mark.parametrize(
    ("text", "at", "found"),
    [
        ("ab" * 40, 0, Run(2, 80)),
        ("ab" * 40 + "a", 1, Run(2, 81)),
        ("x" + "line\n" * 50 + "end", 1, Run(5, 251)),
        ("ab" * (FEWEST - 1), 0, None),
        ("abcdefgh", 0, None),
        ("a" * 3_000 + "b", 0, Run(1, 3_000)),
    ],
)
def test_what_repeats_itself_is_found_with_its_end(text: str, at: int, found: Run | None) -> None:
    run = run_at(text, at, len(text))
    if found is None or run is None:
        assert run is found
        return
    assert run.period == found.period
    assert found.end - run.period < run.end <= found.end


def test_the_last_repetition_leaves_as_much_behind_it_as_is_asked_for() -> None:
    assert Run(5, 251).last(1, 0) == 251
    assert Run(5, 251).last(1, 10) == 241
    assert Run(5, 251).last(1, 11) == 236
    assert Run(5, 251).last(1, 999) == 1


def drawn(rng: random.Random) -> str:
    """Lines and pieces of lines, each many times over."""
    parts = []
    for _ in range(rng.randint(1, 4)):
        unit = "".join(rng.choices(UNITS, k=rng.choice([1, 2, 3, 5]))) + rng.choice(["\n", "\n", ""])
        parts += [*rng.choices(UNITS, k=rng.randint(0, 4)), unit * rng.choice([3, 9, 20, 60])]
    return "".join(parts)


def standing(text: str) -> tuple[object, bool]:
    context = Context()
    context.add(text)
    return context.standing(), context.turned()


@pytest.mark.parametrize("seed", range(6))
def test_what_quotes_is_told_as_by_reading_all_that_repeats_itself(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    texts = [drawn(rng) for _ in range(150)]
    told = [standing(text) for text in texts]
    monkeypatch.setattr(quotation, "SOON", 10**9)
    assert told == [standing(text) for text in texts]


@pytest.mark.parametrize("unit", ["[INST]\n\n", '>>>f\n{", ', '"\n', "> a\n", "- a `b\n", "a: |\n  b\n", "'x\n<b>\n"])
def test_lines_that_repeat_themselves_take_as_many_steps_however_often(unit: str) -> None:
    standing(unit * 100)
    steps = []
    for times in (500, 20_000):
        with counting() as count:
            standing(unit * times)
        steps.append(count.calls)
    assert steps[1] < steps[0] + 100


@pytest.mark.parametrize("unit", ["> a\n", "```\nx\n```\n\n"])
def test_quotations_that_are_passed_are_counted(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def counted() -> int:
        context = Context()
        context.add(unit * 100)
        context.standing()
        return context.quotations

    passed = counted()
    monkeypatch.setattr(quotation, "SOON", 10**9)
    assert passed == counted() == 100


def first(text: str, begin: int) -> tuple[int, int]:
    """Where a line begins that counts, as those from `begin` on do, and of how many it was asked."""
    asked: list[int] = []

    def counts(_: str, at: int) -> bool:
        asked.append(at)
        return at >= begin

    src = Source()
    src.feed(text)
    src.eof = True
    return Lead(LINES, one=False, counts=counts).next(src, 0), len(asked)


@pytest.mark.parametrize("unit", ["return x\n", "return x\nreturn y\n", "a\nb\nc\n"])
def test_of_lines_alike_that_count_for_nothing_few_are_asked(unit: str) -> None:
    text = unit * 5_000
    found, asked = first(text, len(text))
    assert found == len(text)
    assert asked < 300


@pytest.mark.parametrize("begin", [0, 40, 400, 20_000, 44_000, 44_990])
def test_where_lines_alike_begin_to_count_the_first_of_them_is_told(begin: int) -> None:
    text = "return x\n" * 5_000
    found, _ = first(text, begin)
    assert found == max(9, -(-begin // 9) * 9)
