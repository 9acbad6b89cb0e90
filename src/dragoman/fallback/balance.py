"""How several routes share the requests of a model: by weight or by load, and kept to a conversation.

Knows routes, weights and the key of a session; nothing of requests, health, clocks or chance.
Contract: a conversation has a home, found by weighted rendezvous hashing of its key and the routes alone: every
process finds the same one without asking anybody, one more route takes only its share of the conversations and moves
no others, and one that rests gives its conversations away until it answers again.  By load, a conversation that finds
its home full goes elsewhere, and stays there as far as this process knows.  Without a conversation requests are dealt
out in turn, exactly by weight.  Routes of weight 0 come last, in their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from math import ceil, log

from ..memo import Recent
from ..providers.route import Route

BOUND = 1.25
"""A route is full with so many times its share of what is in flight (consistent hashing with bounded loads: Mirrokni,
Thorup and Zadimoghaddam 2018; HAProxy's `hash-balance-factor 125`)."""
STAY = 2.0
"""A conversation leaves where it went only when that has so many times its share: leaving costs all that is cached."""
REMEMBERED = 20_000
"""Conversations of which a process knows where they went."""
MOST = 1000
"""Routes that are remembered, busy ones apart: names with `*` make a route of each model asked for."""


class Sharing(StrEnum):
    """What a route's share of the requests goes by."""

    WEIGHTED = "weighted"
    LEAST_IN_FLIGHT = "least_in_flight"


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """How the routes of one model share its requests.

    affinity  keep a conversation to one route, whose prompt cache knows it
    """

    sharing: Sharing
    affinity: bool = True


class Balancer:
    """What the requests of a process know of each other: whose turn it is, and what is in flight where.

    Threads may share it: what is in flight is counted by single operations on sets; a turn that two threads take at
    once is one turn dealt out of order.
    """

    def __init__(self) -> None:
        self._turns: dict[str, dict[str, float]] = {}
        self._busy: dict[str, set[object]] = {}
        self.went: Recent[tuple[str, str], str] = Recent(REMEMBERED)

    def spread(self, balance: Balance, name: str, session: str = "") -> Spread:
        """The order for one request to the model `name`; `session` is the key of its conversation, "" for none."""
        return Spread(self, balance, name, session if balance.affinity else "")

    def in_flight(self, route: Route) -> int:
        """Requests that `route` is answering."""
        return len(self._busy.get(identity(route), ()))

    def enter(self, route: Route) -> Ticket:
        """A request goes to `route`, until it leaves with its ticket."""
        if len(self._busy) > MOST:
            for idle in [name for name, tickets in list(self._busy.items()) if not tickets]:
                self._busy.pop(idle, None)
        tickets = self._busy.setdefault(identity(route), set())
        ticket = Ticket(tickets)
        tickets.add(ticket)
        return ticket

    def turn(self, name: str, routes: Sequence[Route]) -> list[Route]:
        """`routes`, the one whose turn it is first: each gets exactly its share of turns, smoothly (as nginx does)."""
        credit = self._turns.setdefault(name, {})
        if len(credit) > MOST:
            credit.clear()
        for route in routes:
            credit[identity(route)] = credit.get(identity(route), 0.0) + route.weight
        order = sorted(routes, key=lambda route: -credit.get(identity(route), 0.0))
        credit[identity(order[0])] = credit.get(identity(order[0]), 0.0) - sum(route.weight for route in routes)
        return order


class Ticket:
    """A request in flight."""

    __slots__ = ("_among",)

    def __init__(self, among: set[object]) -> None:
        self._among = among

    def leave(self) -> None:
        """It is over."""
        self._among.discard(self)


class Spread:
    """The order in which the routes of one request are asked; asked again, it stays with its first choice."""

    def __init__(self, balancer: Balancer, balance: Balance, name: str, session: str) -> None:
        self._balancer, self._balance, self._name, self._session = balancer, balance, name, session
        self._choice = ""

    def order(self, routes: Sequence[Route]) -> list[Route]:
        """`routes`, none of which rests, in the order in which they are asked."""
        shared = [route for route in routes if route.weight > 0]
        return (self._shared(shared) if shared else []) + [route for route in routes if route.weight <= 0]

    def enter(self, route: Route) -> Ticket:
        """The request goes to `route`."""
        return self._balancer.enter(route)

    def _shared(self, routes: list[Route]) -> list[Route]:
        if any(identity(route) == self._choice for route in routes):
            return sorted(routes, key=lambda route: identity(route) != self._choice)
        order = homes(self._session, routes) if self._session else self._balancer.turn(self._name, routes)
        if self._balance.sharing is Sharing.LEAST_IN_FLIGHT:
            order = self._near(order) if self._session else sorted(order, key=self._load)
        self._choice = identity(order[0])
        return order

    def _load(self, route: Route) -> float:
        """What it would bear with one request more."""
        return (self._balancer.in_flight(route) + 1) / route.weight

    def _near(self, order: list[Route]) -> list[Route]:
        """Where the conversation went before, unless that is overcrowded; else the first that is not full.

        Those that are full come last, by their load.
        """
        known, went = (self._name, self._session), self._balancer.went
        before, crowded = went.get(known), self._full(order, STAY)
        full = self._full(order, BOUND)
        order = [route for route in order if route not in full] + sorted(full, key=self._load)
        if any(identity(route) == before for route in order if route not in crowded):
            order = sorted(order, key=lambda route: identity(route) != before)
        went.put(known, identity(order[0]))
        return order

    def _full(self, routes: Sequence[Route], bound: float) -> list[Route]:
        """Those that have `bound` times their share of what is in flight, this request counted."""
        most = bound * (sum(map(self._balancer.in_flight, routes)) + 1) / sum(route.weight for route in routes)
        return [route for route in routes if self._balancer.in_flight(route) >= ceil(most * route.weight)]


def identity(route: Route) -> str:
    """What a route is known by: where it leads, whatever its key; a new key moves no conversation."""
    return f"{route.provider.name}\0{route.model}\0{route.base_url}"


def homes(session: str, routes: Sequence[Route]) -> list[Route]:
    """`routes`, the home of the session first, then where it goes while that rests: a weighted lottery by hash."""
    return sorted(routes, key=lambda route: -log(_chance(session, identity(route))) / route.weight)


def _chance(session: str, name: str) -> float:
    """A number in (0, 1), always the same."""
    digest = blake2b(f"{session}\0{name}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return (int.from_bytes(digest) + 0.5) / 2.0**64
