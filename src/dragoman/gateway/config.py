"""What a gateway is told: which models go where, and its limits.

Data only; nothing here reads files or environments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import ErrorKind, ProviderError
from ..route import Route
from ..types import NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayConfig:
    """One gateway.

    default           where models go that `models` does not name; None: they are not served
    models            model name, as clients say it → where it goes
    reasks            how often a model is asked again for what was wrong with its answer, before the client sees it
    stream_arguments  send a call's arguments as they come, instead of each call whole once it is complete
    keep_alive        seconds of silence after which an event stream gets a comment, so that nobody on the way hangs up
    max_body          bytes of a request; Anthropic's own limit is 32 MB
    """

    default: Route | None = None
    models: Mapping[str, Route] = NOTHING
    reasks: int = 2
    stream_arguments: bool = False
    keep_alive: float = 10.0
    max_body: int = 32 * 1024 * 1024

    def route(self, model: str) -> Route:
        """Where `model` goes.  Raises ProviderError (not found) for one that is not served."""
        found = self.models.get(model, self.default)
        if found is None:
            served = ", ".join(sorted(self.models)) or "none"
            message = f"the model {model!r} is not served here; ask for one of: {served}"
            raise ProviderError(message, status=404, kind=ErrorKind.NOT_FOUND, code="model_not_found")
        return found
