"""What is expected of answers, by the key of the question: the tools, the calls, and what another set answered.

Gold stands in the row itself, or in rows of files of its own: questions with their tools, possible answers, or whole
conversations whose calls are the right ones.  Knows formats' columns by the names `ChatRow` gives them; nothing of
scores' definitions.
Contract: rows with one key are one question, what a later one says is added; a row without an id has the key of what
the user says in it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...records import dataclass
from ..formats.chat_row import ChatRow, typed_tools
from ..formats.reading import parsed, read
from ..judging.row_judge import Outcome, judge_chat
from ..options import Options
from ..result import JudgedCall
from ..row_json import BadRow, text
from ..scores.metrics import CLASSES
from ..scores.possible import Expectation, Possible
from ..scores.sample import Gold, Sample
from .keys import questions
from .lines import Raw
from .sources import sources_of
from .units import plan
from .unread import judged_raw, whole

IDS = ("custom_id", "id", "uuid", "task_id", "instance_id", "request_id")
TASKS = ("task_id", "instance_id")
BROKEN = frozenset({"infrastructure_error", "unexpected_error"})
"""Ends of a trial that are nobody's but the machine's (tau-bench)."""
IRRELEVANT = "irrelevance"
OK = 200
_CATEGORY = re.compile(r"(\D*?)_\d")


@dataclass(slots=True)
class Question:
    """What is known of a question: its tools as the file has them, what is expected, and another set's answer."""

    tools: list[Any] | None = None
    gold: Gold = Gold()
    baseline: Sample | None = None


class Expected:
    """Questions by key."""

    def __init__(self, gold: Iterable[str], baseline: Iterable[str], options: Options) -> None:
        self._questions: dict[str, Question] = {}
        for chat, outcome in _judged(gold, options):
            question = self._questions.setdefault(key_of(chat), Question())
            question.tools = question.tools if chat.tools is None else chat.tools
            question.gold = _together(question.gold, gold_of(chat, outcome.own_calls, certain=True))
        for chat, outcome in _judged(baseline, options, self):
            self._questions.setdefault(key_of(chat), Question()).baseline = sample_of(outcome, self)

    def of(self, chat: ChatRow) -> Question:
        """What is known of the question that a row answers."""
        return self._questions.get(key_of(chat)) or Question()


def judged(raw: Raw, source: str, options: Options, expected: Expected | None) -> Outcome:
    """The judgment of an answer, with the tools of its question where it names none itself."""
    if expected is None or raw.digest:
        return judged_raw(raw, source, options)
    try:
        form, chat = read(parsed(raw.data, options), options)
    except BadRow:
        return judged_raw(raw, source, options)
    if chat.tools is None:
        chat.tools = expected.of(chat).tools
    return judge_chat(form, chat, raw.data, options, (source, raw.offset))


def _judged(
    inputs: Iterable[str], options: Options, expected: Expected | None = None
) -> Iterator[tuple[ChatRow, Outcome]]:
    for unit in plan(sources_of(inputs)) if inputs else ():
        for raw in whole(unit, options.max_row):
            outcome = judged(raw, unit.source, options, expected)
            if outcome.chat is not None:
                yield outcome.chat, outcome


# ── samples ──────────────────────────────────────────────────────────────────


def sample_of(outcome: Outcome, expected: Expected) -> Sample:
    """An answer as scores see it; the row was read."""
    chat = outcome.chat
    assert chat is not None
    question = expected.of(chat)
    labels, metadata = chat.labels, chat.metadata
    return Sample(
        key_of(chat), outcome.own_calls, _tools(chat), _together(question.gold, gold_of(chat, ())),
        reply=_reply(chat.extra.get("reply")), finish=_finish(chat),
        model=str(metadata.get("model") or _body(chat).get("model") or ""), category=category_of(chat),
        task=next((str(metadata[key]) for key in TASKS if metadata.get(key) is not None), ""),
        reward=_reward(labels), failed=_is_broken(chat),
    )  # fmt: skip


def _tools(chat: ChatRow) -> Any:
    try:
        return typed_tools(chat.tools)
    except BadRow:
        return None


def key_of(chat: ChatRow) -> str:
    """What joins rows about one question."""
    for name in IDS:
        value = chat.metadata.get(name)
        if isinstance(value, str | int) and value != "":
            return f"{value}"
    told = text(questions(chat)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(told).hexdigest()


def category_of(chat: ChatRow) -> str:
    """The category of a question: the column, else what stands before the number in a benchmark's id."""
    given = chat.metadata.get("category")
    if isinstance(given, str):
        return given
    found = _CATEGORY.match(str(chat.metadata.get("id", "")))
    return found[1] if found else ""


def _reward(labels: Mapping[str, Any]) -> float | None:
    info = labels.get("reward_info")
    value = labels.get("reward", info.get("reward") if isinstance(info, dict) else None)
    return float(value) if isinstance(value, int | float) else None


def _body(chat: ChatRow) -> Mapping[str, Any]:
    """What a server answered, in a row of a batch file."""
    response = chat.extra.get("response")
    body = response.get("body", response) if isinstance(response, dict) else None
    return body if isinstance(body, dict) else {}


def _finish(chat: ChatRow) -> str:
    choices = _body(chat).get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    return str(chat.labels.get("finish_reason") or first.get("finish_reason") or "")


def _is_broken(chat: ChatRow) -> bool:
    response = chat.extra.get("response")
    status = response.get("status_code", OK) if isinstance(response, dict) else OK
    return chat.extra.get("termination_reason") in BROKEN or bool(chat.extra.get("error")) or status != OK


def _reply(value: Any) -> Any:
    return value if value in CLASSES else ""


# ── gold ─────────────────────────────────────────────────────────────────────


def gold_of(chat: ChatRow, calls: Iterable[JudgedCall], *, certain: bool = False) -> Gold:
    """What a row says is right.

    `certain`: the row stands in a file of right answers, so its own calls are those that are expected.
    """
    reply = _reply(chat.labels.get("correct_answer"))
    if reply:
        return Gold("calls" if reply == "tool_call" else "none", None, reply)
    category = category_of(chat)
    wanted = chat.extra.get("expect")
    possible = _possible(chat.gold)
    if possible is None and certain:
        made = [{call.name: _as_possible(call.arguments)} for call in calls if call.arguments is not None]
        possible = tuple(made) or None
    if possible is None:
        return Gold("none" if wanted == "none" or IRRELEVANT in category else "")
    names_only = wanted == "name_only"
    needs = bool(possible) and wanted != "none"
    return Gold("calls" if needs else "none", Expectation(possible, category, names_only))


def _as_possible(arguments: Any) -> Mapping[str, list[Any]]:
    return {key: [value] for key, value in arguments.items()}


def _possible(given: Any) -> tuple[Possible, ...] | None:
    """Possible answers as the leaderboard writes them, or calls as they are; None for what is neither."""
    if not isinstance(given, list):
        return None
    made: list[Possible] = []
    for one in given:
        if not isinstance(one, dict):
            return None
        if isinstance(one.get("arguments"), dict) and isinstance(one.get("name"), str):
            made.append({one["name"]: _as_possible(one["arguments"])})
        elif len(one) == 1 and all(isinstance(value, dict) for value in one.values()):
            made.append(one)
        else:
            return None
    return tuple(made)


def _together(first: Gold, later: Gold) -> Gold:
    calls = first.calls if later.calls is None else later.calls
    return Gold(later.expects or first.expects, calls, later.reply or first.reply)
