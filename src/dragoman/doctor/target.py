"""The deployment that is examined: one model behind one route, and its abilities as far as they are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..effects import Machine
from ..providers.route import Route
from ..providers.spec import Tools
from ..turn.capabilities import Capabilities
from ..turn.ignored_tools import canary
from ..turn.machine import turn
from ..types import Message, Request, Response, Sampling, Tool
from .remedies import Symptom, remedy


@dataclass(slots=True)
class ProbeTarget:
    """One model behind one route, and its abilities as far as they are known."""

    route: Route
    model: str
    native: bool = False
    prompt_dialect: str = ""
    context: int = 0

    def ask(
        self, message: str, *, tools: Sequence[Tool] = (), route: Route | None = None, **more: object
    ) -> Machine[Response]:
        """One turn; every one begins without what others learnt."""
        request = Request(model=self.model, messages=(Message("user", message),), tools=tuple(tools))
        request = replace(request, sampling=Sampling(max_tokens=1024, temperature=0.0), **more)  # type: ignore[arg-type]
        return (yield from turn(request, route or self.best, Capabilities()))

    def ignores_tools(self) -> Machine[bool]:
        """Is it sure that the server keeps the tools it is sent from its model?"""
        route = replace(self.route, tools=Tools.NATIVE)
        knows, _ = yield from canary(self.model, route, lambda request, to, _: turn(request, to, Capabilities()))
        return knows is False

    @property
    def best(self) -> Route:
        """The route in the way that works best, as far as is known."""
        if self.native:
            return replace(self.route, tools=Tools.NATIVE)
        return (
            replace(self.route, tools=Tools.TEXT, prompt_dialect=self.prompt_dialect)
            if self.prompt_dialect
            else self.route
        )

    def help(self, symptom: Symptom) -> str:
        """The remedy here."""
        return remedy(self.route.provider.name, symptom)
