"""What is examined: one model behind one route, and what is known of it so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..effects import Machine
from ..providers.route import Route
from ..providers.spec import Tools
from ..turn.capabilities import Learned
from ..turn.machine import turn
from ..types import Message, Request, Response, Sampling, Tool
from .remedies import Ill, remedy


@dataclass(slots=True)
class Patient:
    """What is examined, and what is known of it so far."""

    route: Route
    model: str
    native: bool = False
    speaks: str = ""
    context: int = 0

    def ask(
        self, said: str, *, tools: Sequence[Tool] = (), route: Route | None = None, **more: object
    ) -> Machine[Response]:
        """One turn; every one begins without what others learnt."""
        request = Request(model=self.model, messages=(Message("user", said),), tools=tuple(tools))
        request = replace(request, sampling=Sampling(max_tokens=1024, temperature=0.0), **more)  # type: ignore[arg-type]
        return (yield from turn(request, route or self.best, Learned()))

    @property
    def best(self) -> Route:
        """The route in the way that works best, as far as is known."""
        if self.native:
            return replace(self.route, tools=Tools.NATIVE)
        return replace(self.route, tools=Tools.TEXT, prompt_dialect=self.speaks) if self.speaks else self.route

    def help(self, ill: Ill) -> str:
        """What to do here."""
        return remedy(self.route.provider.name, ill)
