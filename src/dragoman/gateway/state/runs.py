"""What processes must know of each other's responses in the background: who answers one, its events, whether to stop.

Knows texts on a shelf; nothing of tasks, answers or HTTP.  Contract: events come in chunks, in order, each under its
number from 0 on; a chunk that is there is never written again.  A runner says every few seconds that it lives; one
that has not said so for `SILENT` seconds is dead, and what it answered is answered by nobody.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...effects import Machine
from ...jsontext import dumps
from ...records import NamedTuple
from ...types import NOTHING, JsonObject
from .shelf import Shelf

BEAT = 2.0
"""Seconds between two signs of life."""
SILENT = 15.0
AT_ONCE = 16
"""Chunks looked up together."""
UNDER_WAY = frozenset({"queued", "in_progress"})
"""States of a response that has not ended."""
NOBODY = ""
"""Whose the signs of life are: keys have names."""


class Event(NamedTuple):
    """One event of a response: its number, its kind, and all of it as JSON."""

    number: int
    kind: str
    data: str


@dataclass(frozen=True, slots=True)
class Run:
    """A response in the background: who answers it, and whether it was asked for as a stream.

    `told` are headers that its answer would have had, once it has ended.
    """

    runner: str
    stream: bool = False
    told: JsonObject = NOTHING


class Gap(Exception):
    """Some of the events are kept no more."""


class Runs:
    """All of them; `clock` gives the seconds since 1970."""

    def __init__(self, shelf: Shelf, clock: Callable[[], float] = time.time) -> None:
        self._shelf, self._clock = shelf, clock

    def forget(self, name: str, owner: str) -> Machine[None]:
        """Keep no event of the response called `name`."""
        at, known = 0, True
        while known:
            chunks = yield from self._shelf.get(owner, _chunks(name, at))
            for chunk in chunks:
                yield from self._shelf.drop(owner, chunk)
            at, known = at + AT_ONCE, len(chunks) == AT_ONCE

    # ── whether to go on ─────────────────────────────────────────────────────

    def stop(self, name: str, owner: str) -> Machine[None]:
        """Ask its runner to end it."""
        yield from self._shelf.put(owner, {_stop(name): "1"})

    def stopped(self, names: Collection[str], owner: str) -> Machine[list[str]]:
        """Those of `names` that are to end."""
        found = yield from self._shelf.get(owner, [_stop(name) for name in names])
        return [name for name in names if _stop(name) in found]

    def clear(self, name: str, owner: str) -> Machine[None]:
        """Its runner knows that it is to end."""
        yield from self._shelf.drop(owner, _stop(name))

    # ── who lives ────────────────────────────────────────────────────────────

    def beat(self, runner: str) -> Machine[None]:
        """This runner lives."""
        yield from self._shelf.put(NOBODY, {_runner(runner): repr(self._clock())})

    def lives(self, runner: str) -> Machine[bool]:
        """Does it answer what it has begun?"""
        said = yield from self._shelf.one(NOBODY, _runner(runner))
        return said is not None and self._clock() - float(said) < SILENT

    # ── events ───────────────────────────────────────────────────────────────

    def add(self, name: str, owner: str, chunk: int, events: Sequence[Event]) -> Machine[None]:
        """The events that come next."""
        yield from self._shelf.put(owner, {_chunk(name, chunk): dumps([list(event) for event in events])})

    def events(self, name: str, owner: str, chunk: int) -> Machine[list[list[Event]]]:
        """The chunks from this one on, as far as they are there.  Raises Gap where one is kept no more."""
        names = _chunks(name, chunk)
        found = yield from self._shelf.get(owner, names)
        there = list(_leading(names, found))
        if len(there) < len(found):
            raise Gap
        return [[Event(*event) for event in json.loads(text)] for text in there]


def _leading(names: Sequence[str], found: Mapping[str, str]) -> Iterator[str]:
    for name in names:
        if name not in found:
            return
        yield found[name]


def _chunks(name: str, first: int) -> list[str]:
    return [_chunk(name, at) for at in range(first, first + AT_ONCE)]


def _chunk(name: str, at: int) -> str:
    return f"{name}/{at}"


def _stop(name: str) -> str:
    return f"{name}/stop"


def _runner(name: str) -> str:
    return f"runner/{name}"


def is_under_way(body: JsonObject) -> bool:
    """Has this answer not ended yet?"""
    return body.get("status") in UNDER_WAY
