"""The weak model: text in, text out, no tools, no memory, no network.

It walks a plan (`plans.py`) over what it can read in the conversation (`prompt_reader.py`), writes its calls in a text
dialect, errs on demand (`faults.py`), and cuts its text into pieces the size of tokens.  It is scripted and says so.

Contract: the same messages, model name and seed give the same reply; a reply never raises on what a message holds;
after a message that corrects it, it takes care and makes no mistake.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from types import MappingProxyType
from typing import Any

from ..dialects import DIALECTS
from ..dialects.rows.documents import TILDE_FENCE
from ..dialects.spec import Dialect, JsonCall, TaggedArgs
from ..dialects.writing.history import final_answer
from ..dialects.writing.render import Unrenderable, render
from ..errors import UsageError
from ..types import Message, Tool, ToolCall
from . import prompt_reader, scenarios
from .faults import FaultKind, Utterance, draw, stumble
from .plans import PastCall, Scenario, Task, Wish, pursue, recognise

FAMILY = "weak"
TOKEN = (1, 7)
"""The shortest and the longest piece, in characters."""


@dataclass(frozen=True, slots=True)
class WeakReply:
    """An answer: the text, its pieces as they are streamed, why it stopped ("stop" or "length")."""

    text: str
    chunks: tuple[str, ...]
    finish: str
    faults: frozenset[FaultKind] = frozenset()


@dataclass(frozen=True, slots=True)
class Habits:
    """A model's name, read: the dialect it insists on (None: the one it is shown) and how often it errs."""

    dialect: Dialect | None = None
    rates: Mapping[FaultKind, float] = field(default_factory=dict)


def habits(name: str) -> Habits:
    """Read a model's name: `weak`, `weak-hermes`, `weak-hermes+prose+truncated=0.2`, `weak+errors=0.1`.

    A fault without a rate always happens; `errors` sets the rate of every fault.  Raises `UsageError` (`UnknownName`
    for the dialect) when the name says something else.
    """
    head, *tail = name.split(":", 1)[0].split("+")
    family, _, dialect = head.partition("-")
    if family != FAMILY:
        raise UsageError(f"no model {name!r}; names are {FAMILY}, {FAMILY}-DIALECT, and either with +FAULT=RATE")
    rates: dict[FaultKind, float] = {}
    for item in tail:
        rates |= _rate(item)
    return Habits(DIALECTS[dialect] if dialect else None, rates)


def is_weak(name: str) -> bool:
    """Is this a name of the weak model, well spelt behind that or not?"""
    return re.split("[-+:]", name, maxsplit=1)[0] == FAMILY


def _rate(item: str) -> dict[FaultKind, float]:
    word, _, number = item.partition("=")
    try:
        faults = list(FaultKind) if word == "errors" else [FaultKind(word)]
        rate = float(number) if number else 1.0
    except ValueError:
        known = ", ".join(["errors", *FaultKind])
        raise UsageError(f"cannot read {item!r}; write one of {known}, with =RATE between 0 and 1") from None
    return dict.fromkeys(faults, rate)


@dataclass(slots=True)
class _Progress:
    """Everything since the task was set."""

    scenario: Scenario
    task: Task
    seen: list[PastCall] = field(default_factory=list)
    pending: tuple[ToolCall, ...] = ()
    wrote: str = ""
    corrected: bool = False
    answered: bool = False


class WeakModel:
    """A scripted model.

    `plans` are the tasks it knows, `seed` its luck; `rates` are the faults it makes and `dialect` what it writes,
    unless the name it is asked by says more.
    """

    def __init__(
        self,
        plans: Sequence[Scenario] = scenarios.SCENARIOS,
        *,
        rates: Mapping[FaultKind, float] = MappingProxyType({}),
        dialect: Dialect | None = None,
        seed: int = 0,
    ) -> None:
        self._plans, self._rates, self._dialect, self._seed = tuple(plans), dict(rates), dialect, seed

    def reply(
        self,
        messages: Sequence[Message],
        *,
        model: str = FAMILY,
        max_tokens: int | None = None,
        stop: Sequence[str] = (),
    ) -> WeakReply:
        """The reply to a conversation.  `max_tokens` counts pieces; `stop` ends the text before the first of them."""
        named = habits(model)
        prompt = "\n\n".join(m.text for m in messages if m.role == "system")
        shown = prompt_reader.shown_dialect(prompt)
        dialect = named.dialect or self._dialect or shown or TILDE_FENCE
        progress = self._follow(messages, prompt, tuple(dict.fromkeys([dialect, shown or dialect])))
        luck = Random("\n".join([str(self._seed), model, *(f"{m.role}: {m.text}" for m in messages)]))
        step = pursue(progress.scenario, progress.task, progress.seen)
        faults = frozenset() if progress.corrected else draw({**self._rates, **named.rates}, luck)
        if isinstance(step, str):
            return _cut(_answer(step, dialect, prompt), frozenset(), luck, max_tokens, stop)
        utterance = _ask(step, dialect, prompt_reader.as_tools(progress.task.offers), faults, luck)
        return _cut(utterance, faults, luck, max_tokens, stop)

    def _follow(self, messages: Sequence[Message], prompt: str, dialects: tuple[Dialect, ...]) -> _Progress:
        """Fold the conversation into the progress made on its last task.

        Its calls stand there in its own form, or in the one that the prompt shows, as whoever keeps them wrote them.
        """
        offers = prompt_reader.offers(prompt)
        progress = _Progress(scenarios.INTRODUCTION, Task("", {}, offers), answered=True)
        for message in messages:
            if message.role == "system":
                continue
            if message.role == "assistant":
                progress.wrote = message.text
                # Where no tools are offered any more, a call of the past is still one.
                tools = prompt_reader.as_tools(offers) or None
                progress.pending = prompt_reader.own_calls(message.text, dialects, tools)
                progress.corrected = False
                progress.answered = not progress.pending and _is_answer(message.text, progress)
                continue
            progress = self._take_in(message, dialects, progress)
        return progress

    def _take_in(self, message: Message, dialects: tuple[Dialect, ...], progress: _Progress) -> _Progress:
        """Take in a message that is not the model's own: results, a new task, a correction, or all of them."""
        text = message.text
        if progress.pending:
            back, text = prompt_reader.results(text, dialects[0])
            if message.role == "tool" and not back:
                back, text = (text,), ""
            _take_results(back, dialects, progress)
            if back and not text:
                return progress
        scenario, words = recognise(text, self._plans) or (scenarios.INTRODUCTION, {})
        task = Task(text, words, progress.task.offers)
        if not progress.answered and (prompt_reader.corrects(text) or isinstance(pursue(scenario, task, ()), str)):
            progress.corrected = True  # nothing that could be done: it is about the turn before
            return progress
        return _Progress(scenario, task)


def _take_results(back: Sequence[str], dialects: tuple[Dialect, ...], progress: _Progress) -> None:
    """Put the results that came back to the calls that wait for them."""
    if len(back) != len(progress.pending):
        every = prompt_reader.own_calls(progress.wrote, dialects, None)  # also those of tools there are not
        progress.pending = every if len(back) == len(every) else progress.pending
    seen = prompt_reader.answered_calls(progress.pending, back)
    progress.seen += seen
    progress.pending = progress.pending[len(back) :]
    progress.corrected = progress.corrected or any(each.failed for each in seen)


def _is_answer(text: str, progress: _Progress) -> bool:
    """Was this the end of the task?  It was, if the plan says the same; otherwise the model had stumbled."""
    step = pursue(progress.scenario, progress.task, progress.seen)
    return isinstance(step, str) and (step in text or json.dumps(step, ensure_ascii=False) in text)


def _ask(
    wishes: Sequence[Wish], dialect: Dialect, tools: Sequence[Tool], faults: frozenset[FaultKind], luck: Random
) -> Utterance:
    calls = tuple(ToolCall(id="", name=w.tool, arguments=w.arguments) for w in wishes)
    known = {tool.name: tool for tool in tools}

    def write(utterance: Utterance) -> Utterance:
        """A tool by a wrong name is written with that tool's types."""
        pairs = [(known.get(meant.name), call.name) for meant, call in zip(calls, utterance.calls, strict=True)]
        misnamed = [replace(tool, name=name) for tool, name in pairs if tool is not None and name not in known]
        return replace(utterance, written=_written(utterance.calls, dialect, [*tools, *misnamed]))

    for mistakes in (faults, frozenset[FaultKind]()):  # a dialect may have no way to write a mistake
        try:
            return stumble(Utterance(calls), mistakes, luck, write)
        except Unrenderable as unable:
            why = unable
    return Utterance((), f"I cannot write this call: {why}")


def _written(calls: Sequence[ToolCall], dialect: Dialect, tools: Sequence[Tool]) -> str:
    """The calls in the model's form; markup that its values hold stands there as it is, as no model escapes it.

    Raises Unrenderable where the form has no room for a value as it is.
    """
    try:
        return render(calls, dialect, tools=tools)
    except Unrenderable:
        if not isinstance(dialect.args, TaggedArgs):
            raise
    raw: dict[str, str] = {}
    plain = [replace(call, arguments={k: _placed(v, raw) for k, v in call.arguments.items()}) for call in calls]
    text = render(plain, dialect, tools=tools)
    return re.sub("|".join(raw), lambda found: raw[found.group()], text)


def _placed(value: Any, raw: dict[str, str]) -> Any:
    """A word that stands for `value` until the call is written; what is no text stays."""
    if not isinstance(value, str):
        return value
    word = f"RAW{len(raw):04}TEXT"
    raw[word] = value
    return word


def _answer(text: str, dialect: Dialect, prompt: str) -> Utterance:
    """A final answer: plain text, or in the form the dialect keeps for answers where the prompt shows that form."""
    notation = dialect.args
    formal = isinstance(notation, JsonCall) and notation.answer and f'"{notation.answer[0]}"' in prompt
    return Utterance((), final_answer(text, notation) if formal and isinstance(notation, JsonCall) else text)


def _cut(
    utterance: Utterance, faults: frozenset[FaultKind], luck: Random, max_tokens: int | None, stop: Sequence[str]
) -> WeakReply:
    text = utterance.text
    ends = [place for word in stop if word and (place := text.find(word)) >= 0]
    finish = "stop" if ends else utterance.finish
    chunks = _tokens(text[: min(ends, default=len(text))], luck)
    if max_tokens is not None and len(chunks) > max_tokens:
        chunks, finish = chunks[:max_tokens], "length"
    return WeakReply("".join(chunks), tuple(chunks), finish, faults)


def _tokens(text: str, luck: Random) -> list[str]:
    chunks, place = [], 0
    while place < len(text):
        size = luck.randint(*TOKEN)
        chunks.append(text[place : place + size])
        place += size
    return chunks
