"""Knowledge of models, learnt from their answers: what they refuse, what they mean, and what they must get back.

Knows routes and tools by name; nothing of wires or of asking.  A cache, shared by turns: each process can relearn what
it has forgotten by one request that is refused.
Contract: it is bounded in models and in what is remembered of each, for clients choose both; what models must get back
is kept apart by owner.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from copy import copy
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from operator import or_

from ..jsontext import to_json
from ..memo import Backing, Recent
from ..providers.authorize import Tokens
from ..providers.route import Route
from ..types import Tool
from .habits import Habits
from .reasoning_store import ReasoningStore
from .tool_support import ToolSupport

MOST_MODELS = 4096
"""Models of which anything is remembered; the one that was asked about least recently goes first."""
MOST_DEMANDS = 256
"""Demands remembered of one model: schemas are among them, which clients write."""
MOST_SCHEMAS = 4096
"""Tools remembered of one model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """The refusals of one model: of native tools, a constraint on its decoding, schemas, demands on its answer.

    `schemas` are those of tools, as `signed` names them; `demands` are kinds of tool choices and of forms.
    """

    tools: bool = False
    constraint: bool = False
    schemas: frozenset[str] = frozenset()
    demands: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return self.tools or self.constraint or bool(self.schemas or self.demands)

    def __or__(self, more: Refusals) -> Refusals:
        return Refusals(
            tools=self.tools or more.tools,
            constraint=self.constraint or more.constraint,
            schemas=_both(self.schemas, more.schemas, MOST_SCHEMAS),
            demands=_both(self.demands, more.demands, MOST_DEMANDS),
        )


NOTHING = Refusals()
ALL = Refusals(tools=True, constraint=True, schemas=frozenset({""}), demands=frozenset({""}))


NO_HABITS: frozenset[str] = frozenset()


class Capabilities:
    """Knowledge of models.

    `habits` are ways of writing calls that they have confirmed, `reasoning` is what they must get back and clients
    drop, `support` is whether backends read the tools they are sent, `tokens` are the providers' own; `owner` is whose
    answers are asked for.  `refused` is what other processes were refused.
    """

    def __init__(
        self,
        reasoning: ReasoningStore | None = None,
        habits: Habits | None = None,
        support: ToolSupport | None = None,
        refused: Backing[Refusals] | None = None,
    ) -> None:
        self._models: Recent[tuple[str, str], Refusals] = Recent(MOST_MODELS)
        self._others = refused
        self.reasoning: ReasoningStore = ReasoningStore() if reasoning is None else reasoning
        self.habits: Habits = Habits() if habits is None else habits
        self.support: ToolSupport = ToolSupport() if support is None else support
        self.owner = ""
        self.tokens: Tokens = Tokens()
        self._alone = refused is None and self.habits.behind is None and self.support.behind is None

    def version(self) -> Hashable | None:
        """Equal as long as nothing more was learnt of any model, but for what it must get back; None where other
        processes learn too."""
        if not self._alone:
            return None
        return self._models.version, self.habits.own.version, self.support.own.version, self.owner

    def of(self, owner: str) -> Capabilities:
        """The same, for answers to `owner`: what models must get back comes back only into conversations of his."""
        if owner == self.owner:
            return self
        own = copy(self)
        own.owner = owner
        return own

    def whose(self, model: str) -> str:
        """Whose answers these are: the owner's and that model's, wherever it is served."""
        return f"{self.owner}\0{model.rpartition('/')[2]}"

    def confirmed(self, route: Route, model: str) -> frozenset[str]:
        """Ways of writing in which this model means calls, as it has said to this owner."""
        return self.habits.of(self.owner, route.root(), model) if self.habits else NO_HABITS

    def confirm(self, route: Route, model: str, habits: Iterable[str]) -> None:
        """This model has said that it means calls that it writes so."""
        self.habits.note(self.owner, route.root(), model, habits)

    def refused(self, route: Route, model: str) -> Refusals:
        """The refusals of this model so far."""
        known = NOTHING if self._models.version is None else self._models.get((route.root(), model)) or NOTHING
        if self._others is None:
            return known
        return reduce(or_, self._others.get(list(_parts(route, model, ALL))).values(), known)

    def note(self, route: Route, model: str, refused: Refusals) -> None:
        """This model has refused that too."""
        known = self.refused(route, model) | refused
        self._models.put((route.root(), model), known)
        if self._others is not None:
            self._others.put(_parts(route, model, known))


def _parts(route: Route, model: str, refused: Refusals) -> dict[str, Refusals]:
    """What is refused, each kind under a key of its own: of what several find out at once nothing is lost."""
    kinds = {
        "tools": Refusals(tools=refused.tools),
        "constraint": Refusals(constraint=refused.constraint),
        "schemas": Refusals(schemas=refused.schemas),
        "demands": Refusals(demands=refused.demands),
    }
    return {f"{route.root()}\0{model}\0{kind}": part for kind, part in kinds.items() if part}


def signed(tool: Tool) -> str:
    """A tool by name and schema: a mended one of the same name is another."""
    return f"{tool.name}\0{to_json(tool.parameters)}"


def _both(known: frozenset[str], more: frozenset[str], most: int) -> frozenset[str]:
    """Both, as far as they fit; where they do not, what was known is forgotten."""
    new = frozenset(islice(more, most))
    return new if len(known | new) > most else known | new
