"""What was learnt about models from their answers: what they refuse, and what they must get back.

Knows routes and tools by name; nothing of wires or of asking.  A cache, shared by turns: each process can relearn what
it has forgotten by one request that is refused.
Contract: it is bounded in models and in what is remembered of each, for clients choose both; what models must get back
is kept apart by owner.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field

from ..conversation.reasoning_store import SideCar
from ..jsontext import to_json
from ..providers.authorize import Tokens
from ..providers.route import Route
from ..types import Tool

MOST_MODELS = 4096
"""Models of which anything is remembered; the one known longest goes first."""
MOST_UNTOLD = 256
"""Demands remembered of one model: schemas are among them, which clients write."""
MOST_BARE = 4096
"""Tools remembered of one model."""


@dataclass(slots=True)
class _Refused:
    """What one model refused."""

    tools: bool = False
    constraint: bool = False
    schemas: set[str] = field(default_factory=set)
    demands: set[str] = field(default_factory=set)


NOTHING = _Refused()


class Learned:
    """What was learnt about models.

    `sidecar` is what models must get back and clients drop, `tokens` are the providers' own; `owner` is whose answers
    are asked for.
    """

    def __init__(self, sidecar: SideCar | None = None) -> None:
        self._models: dict[tuple[str, str], _Refused] = {}
        self.sidecar = SideCar() if sidecar is None else sidecar
        self.owner = ""
        self.tokens = Tokens()

    def of(self, owner: str) -> Learned:
        """The same, for answers to `owner`: what models must get back comes back only into conversations of his."""
        if owner == self.owner:
            return self
        told = copy(self)
        told.owner = owner
        return told

    def no_tools(self, route: Route, model: str) -> bool:
        """Has this model refused native tools before?"""
        return self._of(route, model).tools

    def note_no_tools(self, route: Route, model: str) -> None:
        """This model has refused native tools."""
        self._at(route, model).tools = True

    def free(self, route: Route, model: str) -> bool:
        """Has a constraint on this model's decoding been refused before?"""
        return self._of(route, model).constraint

    def note_free(self, route: Route, model: str) -> None:
        """A constraint on this model's decoding was refused."""
        self._at(route, model).constraint = True

    def untold(self, route: Route, model: str) -> frozenset[str]:
        """The demands on an answer that were refused before: kinds of tool choices and of forms."""
        return frozenset(self._of(route, model).demands)

    def note_untold(self, route: Route, model: str, demand: str) -> None:
        """A demand of this kind was refused."""
        _add(self._at(route, model).demands, (demand,), MOST_UNTOLD)

    def bare(self, route: Route, model: str) -> frozenset[str]:
        """The tools whose schemas were refused before, as `signed` names them."""
        return frozenset(self._of(route, model).schemas)

    def note_bare(self, route: Route, model: str, tools: Iterable[Tool]) -> None:
        """The schemas of these tools were refused."""
        _add(self._at(route, model).schemas, map(signed, tools), MOST_BARE)

    def _of(self, route: Route, model: str) -> _Refused:
        return self._models.get((route.root(), model), NOTHING)

    def _at(self, route: Route, model: str) -> _Refused:
        known = self._models.setdefault((route.root(), model), _Refused())
        if len(self._models) > MOST_MODELS:
            self._models.pop(next(iter(self._models)), None)
        return known


def signed(tool: Tool) -> str:
    """A tool by name and schema: a mended one of the same name is another."""
    return f"{tool.name}\0{to_json(tool.parameters)}"


def _add(known: set[str], more: Iterable[str], most: int) -> None:
    """Add what fits; where it does not, what was known is forgotten."""
    new = list(more)[:most]
    if len(known) + len(new) > most:
        known.clear()
    known.update(new)
