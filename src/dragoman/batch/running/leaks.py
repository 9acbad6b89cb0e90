"""Rows of training data that stand in evaluation data: the same question with the same calls.

Shared tools are no leak, and neither is a greeting: a question without calls counts where it has `LEAST_WORDS` words.
Knows outcomes and keys; nothing of processes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..judging.row_judge import Outcome
from ..options import Options
from ..row_json import text
from .keys import calls_of, questions
from .sources import sources_of
from .units import plan
from .unread import judged_raw, whole

LEAST_WORDS = 4
Pairs = tuple[tuple[str, str], ...]
"""Key of an evaluation row, and where it stands."""


def marks(outcome: Outcome) -> Iterator[str]:
    """The keys by which a row is known again: its question with its calls, and its question alone."""
    chat = outcome.chat
    if chat is None:
        return
    asked = [one for one in questions(chat) if one]
    called = calls_of(chat)
    if asked and called:
        yield _key("calls", [asked, called])
    if sum(len(one.split()) for one in asked) >= LEAST_WORDS:
        yield _key("question", asked[:1])


def _key(kind: str, told: object) -> str:
    return hashlib.sha256(f"{kind} {text(told)}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def evaluation(inputs: Iterable[str | Path], options: Options) -> Pairs:
    """The keys of evaluation data: of a row with calls those of both, of a question alone its own."""
    found: dict[str, str] = {}
    for unit in plan(sources_of(inputs)):
        for raw in whole(unit, options.max_row):
            outcome = judged_raw(raw, unit.source, options)
            keys = list(marks(outcome))
            for key in keys[:1] if outcome.own_calls else keys[-1:]:
                found.setdefault(key, f"{unit.source}:{raw.offset}")
    return tuple(sorted(found.items()))
