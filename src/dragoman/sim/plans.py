"""The weak model's abilities: plans, written as generators, and the interpreter that walks them.

A plan gets the task and yields *batches* of wishes (calls to make side by side); it is resumed with their results once
every wish of the batch has been granted, and returns the final answer.  Nothing is remembered between two replies: a
plan is walked from its beginning each time, over the calls and results that stand in the conversation.
This module does not know about dialects, prompts or wires.

Contract: `pursue` never raises on what stands in a conversation; a wish that keeps failing ends in an honest answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from ..dialects.writing.neutralise import restore
from ..jsontext import dumps
from ..types import NOTHING, JsonObject

MOST_TRIES = 3
"""Tries of a wish before the model says that it gives up."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as the prompt showed it; `properties` is empty where only a signature was understood."""

    name: str
    properties: Mapping[str, JsonObject] = field(default_factory=dict)
    required: tuple[str, ...] = ()

    def first_key(self, fallback: str) -> str:
        """The first argument a caller has to give."""
        return next(iter((*self.required, *self.properties)), fallback)


@dataclass(frozen=True, slots=True)
class Wish:
    """A call the model wants to make; `may_fail`: it is content with an error too."""

    tool: str
    arguments: JsonObject = NOTHING
    may_fail: bool = False


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call that stands in the conversation, with its result."""

    tool: str
    arguments: JsonObject
    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """The user's demand: the whole text, the words the plan's pattern found in it, the tools on offer."""

    text: str
    words: Mapping[str, str] = field(default_factory=dict)
    offers: tuple[Offer, ...] = ()

    def offer(self, wanted: str) -> Offer:
        """The tool called `wanted`, or the one whose name holds the same words; failing that, the bare name."""
        exact = [o for o in self.offers if o.name == wanted]
        alike = [o for o in self.offers if _words(wanted) <= _words(o.name)]
        return next(iter([*exact, *alike]), Offer(wanted))

    def knows(self, tool: str) -> bool:
        """Was such a tool offered?"""
        return any(o.name == tool for o in self.offers)


Batch: TypeAlias = Sequence[Wish]
Plan: TypeAlias = Callable[[Task], Generator[Batch, list[str], str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A kind of task: how it is recognised, what is done, and an example to show people."""

    name: str
    task: re.Pattern[str]
    plan: Plan
    example: str


# ── the interpreter ──────────────────────────────────────────────────────────


def pursue(scenario: Scenario, task: Task, seen: Sequence[PastCall]) -> tuple[Wish, ...] | str:
    """The calls to make now, or the final answer when there is nothing left to do."""
    plan, past = scenario.plan(task), list(seen)
    try:
        batch = next(plan)
        while True:
            wishes = [replace(w, tool=task.offer(w.tool).name) for w in batch]
            found = [_take(w, past) for w in wishes]
            missing = tuple(w for w, result in zip(wishes, found, strict=True) if result is None)
            lacking = [w.tool for w in missing if not task.knows(w.tool)]
            if lacking:
                return _no_tool(lacking[0], task)
            if missing:
                return _give_up(missing, past) or missing
            batch = plan.send([result.text for result in found if result is not None])
    except StopIteration as done:
        return str(done.value)


def _take(wish: Wish, past: list[PastCall]) -> PastCall | None:
    wanted = _plain(wish.arguments)
    for place, seen in enumerate(past):
        content = wish.may_fail or not seen.failed
        if seen.tool == wish.tool and content and _plain(seen.arguments) == wanted:
            return past.pop(place)
    return None


def _plain(arguments: JsonObject) -> object:
    """Arguments as they compare: what was made harmless in a text the model copied from is the same as what was not."""
    return json.loads(restore(dumps(arguments)))


def _give_up(missing: Sequence[Wish], past: Sequence[PastCall]) -> str:
    for wish in missing:
        vain = [seen for seen in past if seen.tool == wish.tool]
        if len(vain) >= MOST_TRIES:
            return f"I could not finish this: {wish.tool} keeps answering {vain[-1].text.strip()!r}."
    return ""


def _no_tool(name: str, task: Task) -> str:
    listed = ", ".join(o.name for o in task.offers) or "none"
    return f"I would need a tool called {name} for that; the tools I can see are: {listed}."


def recognise(text: str, scenarios: Sequence[Scenario]) -> tuple[Scenario, Mapping[str, str]] | None:
    """The first scenario that knows the task, and the words its pattern found."""
    for scenario in scenarios:
        found = scenario.task.search(text)
        if found:
            return scenario, {k: v for k, v in found.groupdict().items() if v is not None}
    return None


def _words(name: str) -> frozenset[str]:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return frozenset(re.findall(r"[a-z0-9]+", spaced.casefold()))
