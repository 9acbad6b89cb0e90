"""Conversations that grow: a sequence that knows its beginning, and what was made of that beginning before.

Agents send all they ever said with each turn.  Whoever reads such a request finds its beginning again, and what each
stage once made of it is found there; only what is new is looked at.  Knows sequences and functions; nothing of
messages, wires or bytes.
Contract: a `Grown` never changes, and neither do its items nor what is made of it.  A function `by_growth` gives the
same with and without: it is asked for what follows `items[:start]`, and given what it made of those.  What was made of
a beginning is held by it, and goes with it; of the beginnings of a `Grown` the last two are held.  Threads may share
all; what two of them make at once is equal.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import wraps
from operator import is_
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from ..memo import WORDS

T = TypeVar("T")
S = TypeVar("S")
P = ParamSpec("P")

MOST_MADE = 64
"""Results held by one beginning: some dozen stages make one each for a place that is asked."""


class Grown(tuple[T, ...]):
    """Items, of which the first `len(base)` are those of `base`."""

    base: Grown[T] | None
    made: dict[Hashable, tuple[Any, Any]]


def grown(base: Sequence[T] | None, more: Iterable[T], both: tuple[T, ...] | None = None) -> Grown[T]:
    """`base` and `more` behind it, `both` where these are at hand; of a base that is no `Grown` nothing is remembered.
    """
    if both is None:
        both = same(more) if base is None else same(base) + same(more)
    whole: Grown[T] = Grown(both)
    whole.base = base if type(base) is Grown else None
    whole.made = {}
    before = whole.base.base if whole.base is not None else None
    if before is not None:
        before.base = None  # what was made of it stands on its own, however many there were
    return whole


def same(items: Iterable[T]) -> tuple[T, ...]:
    """The items as a tuple: itself where it is one, of whatever kind."""
    return items if isinstance(items, tuple) else (*items,)


def by_growth(
    make: Callable[Concatenate[Sequence[T], int, Any, P], S],
) -> Callable[Concatenate[Sequence[T], P], S]:
    """`make(items, start, known, *constants)` as a function of the items and the constants.

    `known` is what it made of `items[:start]`, None where `start` is 0.  Constants are small values, or count by their
    identity.  What it makes never holds `items` themselves (`changed`): they would hold each other for ever.
    """

    @wraps(make)
    def of(items: Sequence[T], *constants: Any) -> S:
        if type(items) is not Grown:
            return make(items, 0, None, *constants)  # type: ignore[call-arg]
        key: Hashable = make
        if len(constants) == 1:
            one = constants[0]
            key = make, one if type(one) in WORDS else id(one)
        elif constants:
            key = make, *[one if type(one) in WORDS else id(one) for one in constants]
        made, base = items.made, items.base
        found = made.get(key)
        if found is None:
            if base is None:
                told = make(items, 0, None, *constants)  # type: ignore[call-arg]
            else:
                before = base.made.get(key)
                known = of(base, *constants) if before is None else before[0]
                told = make(items, len(base), known, *constants)  # type: ignore[call-arg]
            if len(made) >= MOST_MADE:
                made.clear()
            found = made[key] = told, constants  # whose identities stay their own
        result: S = found[0]
        return result

    return cast("Callable[Concatenate[Sequence[T], P], S]", of)


def behind(items: Sequence[T], *head: T) -> tuple[T, ...]:
    """`items` behind `head`: what stands beside a conversation on a wire, and in front of it here."""
    made: tuple[T, ...] = _behind(items, *head) if head else same(items)
    return made


@by_growth
def _behind(items: Sequence[T], start: int, known: tuple[T, ...] | None, *head: T) -> tuple[T, ...]:
    whole = grown(head if known is None else known, items[start:])
    return whole if type(items) is Grown else (*whole,)


@by_growth
def headless(items: Sequence[T], start: int, known: Sequence[T] | None, size: int) -> Sequence[T]:
    """`items` without the first `size`."""
    more = items[max(start, size) :]
    return grown(known, more) if type(items) is Grown else more


def changed(items: Sequence[T], start: int, known: Sequence[T] | None, made: Sequence[T]) -> Grown[T] | None:
    """What `items` became: `known`, which `items[:start]` became, and `made` behind it; None where nothing did."""
    if known is None:
        if len(made) == len(items) - start and all(map(is_, made, items[start:])):
            return None
        known = getattr(items, "base", None)
    return grown(known, made)
