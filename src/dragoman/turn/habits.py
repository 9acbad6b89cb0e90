"""Ways of writing calls that models have confirmed: asked about once, not daily.

Knows routes and habits by their names; nothing of text, dialects or asking.
Contract: bounded in models and in what is remembered of each; what one owner's conversations taught holds for his
alone, since what a model confirms is steered by whoever speaks to it; a confirmation is remembered, a denial never: a
no is about one text, and a remembered one would lose the next call in silence.  What is remembered makes a call of
weak marks among words run, and nothing else: what is quoted, copied, rehearsed, inside a sentence or hinted against is
decided before any habit is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from ..memo import Backing, Recent
from ..records import NamedTuple

MOST_MODELS = 4096
MOST_HABITS = 32
"""Habits of one model; there are a few dozen notations, and a model has one or two."""

Written: TypeAlias = tuple[str, ...]
SEPARATOR = "\0"
INDEX = ""
"""The key under which the keys of all others stand, where nobody else knows them."""


class Habit(NamedTuple):
    """One way of writing: of which model, at which address, for whom."""

    owner: str
    place: str
    model: str
    name: str


class Habits:
    """What models have confirmed: to this process its `own`, `behind` is what others know and counts first."""

    def __init__(self, behind: Backing[Written] | None = None) -> None:
        self.own: Recent[str, Written] = Recent(MOST_MODELS)
        self.behind = behind

    def __bool__(self) -> bool:
        """May anything have been confirmed?"""
        return self.behind is not None or self.own.version is not None

    def of(self, owner: str, place: str, model: str) -> frozenset[str]:
        """What this model has confirmed."""
        return frozenset(self._get(_key(owner, place, model)))

    def note(self, owner: str, place: str, model: str, names: Iterable[str]) -> None:
        """This model has confirmed these."""
        key = _key(owner, place, model)
        known = self._get(key)
        new = tuple(name for name in dict.fromkeys(names) if name not in known)
        if new:
            self._put(key, (*known, *new)[-MOST_HABITS:])

    def forget(self, habit: Habit) -> None:
        """Forget this one."""
        key = _key(*habit[:3])
        self._put(key, tuple(name for name in self._get(key) if name != habit.name))

    def __iter__(self) -> Iterator[Habit]:
        for key in self.own.get(INDEX) or () if self.behind is None else self.behind.keys():
            owner, place, model = key.split(SEPARATOR)
            yield from (Habit(owner, place, model, name) for name in self._get(key))

    def _get(self, key: str) -> Written:
        if self.behind is not None and (found := self.behind.get([key])):
            return found[key]
        return self.own.get(key) or ()

    def _put(self, key: str, names: Written) -> None:
        self.own.put(key, names)
        if self.behind is not None:
            self.behind.put({key: names})
        elif key not in (keys := self.own.get(INDEX) or ()):
            self.own.put(INDEX, (*keys, key)[-MOST_MODELS:])


def _key(owner: str, place: str, model: str) -> str:
    key = SEPARATOR.join((owner, place, model))
    return key if key.count(SEPARATOR) == 2 else SEPARATOR.join(p.replace(SEPARATOR, "") for p in (owner, place, model))
