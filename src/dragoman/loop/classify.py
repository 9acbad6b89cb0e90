"""An answer without a call: is it the answer, or did the model mean to do something and not do it?

Knows responses, tools and how models announce what they then leave undone; decides nothing about budgets.
Contract: `read` gives exactly one kind of reply.  Only the shape of a short answer's last sentence counts as an
announcement (Qwen3#1817: six in ten thinking turns plan a call and do not make it), a question never does; a false
alarm costs one turn, not the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..dialects.reading.json import FINAL
from ..types import Issue, Response, Stop, Text, Tool
from .call_errors import is_meant
from .missed_calls import IDENTIFIER, misread, nearly


class AnswerKind(StrEnum):
    """The kinds of answers without calls."""

    ANSWER = "answer"
    FINAL = "final"  # the JSON protocol's last object
    BROKEN = "broken"  # a call that cannot be read, or of a tool that is not there
    ANNOUNCED = "announced"  # the model says what it will call, and does not
    EMPTY = "empty"
    CUT = "cut"  # at the length limit
    FAULTY = "faulty"  # the provider says that making it went wrong
    PAUSED = "paused"  # the provider wants to be asked again
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, classified; `value` is that of a final action, `issues` say what is broken."""

    kind: AnswerKind
    value: Any = None
    issues: tuple[Issue, ...] = ()


SHORT = {Stop.PAUSE: AnswerKind.PAUSED, Stop.LENGTH: AnswerKind.CUT, Stop.ERROR: AnswerKind.FAULTY}
REFUSALS = frozenset({Stop.REFUSED, Stop.FILTERED})


def read(response: Response, tools: Sequence[Tool]) -> Reply:
    """Classify `response`, which has no calls."""
    return next(filter(None, (reading(response, tools) for reading in READINGS)), Reply(AnswerKind.ANSWER))


def _refused(response: Response, tools: Sequence[Tool]) -> Reply | None:
    return Reply(AnswerKind.REFUSED) if response.stop in REFUSALS else None


def _broken(response: Response, tools: Sequence[Tool]) -> Reply | None:
    broken = tuple(issue for issue in response.issues if is_meant(issue))
    return Reply(AnswerKind.BROKEN, issues=broken) if broken else None


def _short(response: Response, tools: Sequence[Tool]) -> Reply | None:
    if response.stop not in SHORT:
        return None
    missed = _missed(response, tools) if response.stop is Stop.LENGTH else None
    return missed or Reply(SHORT[response.stop])


def _empty(response: Response, tools: Sequence[Tool]) -> Reply | None:
    return None if response.text.strip() or _finals(response.message.parts) else Reply(AnswerKind.EMPTY)


def _final(response: Response, tools: Sequence[Tool]) -> Reply | None:
    """The final action of the JSON protocol, which the turn has found."""
    found = _finals(response.message.parts)
    return Reply(AnswerKind.FINAL, found[0]) if found else None


def _missed(response: Response, tools: Sequence[Tool]) -> Reply | None:
    missed = misread(response.text.strip(), tools, cut=response.stop is Stop.LENGTH)
    return Reply(AnswerKind.BROKEN, issues=missed) if missed else None


def _announced(response: Response, tools: Sequence[Tool]) -> Reply | None:
    said = tools and announces(response.text.strip(), [tool.name for tool in tools])
    return Reply(AnswerKind.ANNOUNCED) if said else None


READINGS = (_refused, _broken, _short, _empty, _final, _missed, _announced)
"""In this order, the first that says what it is; else it is the answer."""


def _finals(parts: Sequence[Any]) -> list[Any]:
    return [part.metadata[FINAL] for part in parts if isinstance(part, Text) and FINAL in part.metadata]


# ── announcements ────────────────────────────────────────────────────────────

LONGEST = 600
"""Characters of an answer that may be a mere announcement; longer ones say something."""
SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
INTENT = re.compile(
    r"\b(?:I(?:'|’)?ll|I will|I(?:'m| am) going to|I(?:'m| am) (?:now )?(?:calling|using|running)|let me|let's|"
    r"I (?:need|have|want) to|I should|next,? I|now I|first,? I|the next step is|proceeding to|"
    r"ich werde|ich rufe|lass mich|als [Nn]ächstes|je vais|laissez-moi|j'appelle|voy a|déjame|vou|deixe-me|"
    r"sto per|lasciami|ora |ik ga|laat me)\b"
    r"|我将|我会|我来|让我|接下来|现在我|呼び出します|確認します|読み込みます|実行します|하겠습니다|할게요"
    r"|я вызову|сейчас|давайте",
    re.IGNORECASE,
)
IDLE = re.compile(r"\blet me know\b|\bI(?:(?:'|’)?ll| will) be (?:here|happy|glad)\b", re.IGNORECASE)
ASKS = re.compile(
    r"[?？]|\b(?:please|kindly) (?:\w+ )?(?:provide|tell|give|specify|confirm|share|send|choose|upload)\b"
    r"|\b(?:could|can|would) you\b|\bI need (?:you|your)\b|\bbitte\b|\bs'il vous plaît\b|\bpor favor\b"
    r"|请提供|请告诉|教えてください",
    re.IGNORECASE,
)
"""The model wants something of the user: whoever asks does not announce."""
CODE = re.compile(r"`[^`\n]+`|[^\W_]+(?:_[^\W_]+)+|[^\W\d_]+\.[^\W\d_]+")
WAITS = re.compile(r"[:：…]\s*\Z|\.\.\.\s*\Z")


def announces(text: str, names: Sequence[str]) -> bool:
    """Does `text` end by saying that a tool is to be called?"""
    if len(text) > LONGEST or ASKS.search(text):
        return False
    last = next((part for part in reversed(SENTENCES.split(text)) if part.strip()), "")
    if IDLE.search(last) or not INTENT.search(last):
        return False
    return bool(WAITS.search(last)) or any(_stands(name, last) for name in names) or _code(last, names)


def _code(text: str, names: Sequence[str]) -> bool:
    """Does a word stand in the text that is written like a tool's name, or nearly is one?"""
    return bool(CODE.search(text)) or nearly(IDENTIFIER.findall(text), names)


def _stands(name: str, text: str) -> bool:
    """Does the tool's name stand in the text, as itself or with its parts as words?"""
    words = re.sub(r"[_.\-/]+", " ", name)
    return any(re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text, re.IGNORECASE) for form in {name, words})
