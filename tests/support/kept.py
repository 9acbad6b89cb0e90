"""Machines that ask what is kept, run as a gateway would run them."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from dragoman.effects import Close, Effect, Machine, Recall, Retain, run
from dragoman.gateway.state.stores import StateStores

T = TypeVar("T")
Rows = dict[tuple[str, str], str]


def told(stores: StateStores, machine: Machine[T]) -> T:
    """What the machine finds out of these stores."""
    return asyncio.run(stores.ask(machine))


def alone(machine: Machine[T]) -> T:
    """What a machine gives that has nobody to ask."""

    def perform(effect: Effect) -> None:
        assert type(effect) is Close, effect

    return run(machine, perform)


class Behind:
    """What processes keep together, in memory; counts what it is asked."""

    def __init__(self, rows: Rows | None = None) -> None:
        self.rows: Rows = rows or {}
        self.queries: list[list[str]] = []

    def __call__(self, effect: Effect) -> object:
        match effect:
            case Recall(addresses):
                self.queries.append([key for _, key in addresses])
                return {each: self.rows[each] for each in addresses if each in self.rows}
            case Retain(rows):
                self.rows.update(rows)
                return True
        return None

    def told(self, machine: Machine[T]) -> T:
        """What the machine finds out here."""
        return run(machine, self)
