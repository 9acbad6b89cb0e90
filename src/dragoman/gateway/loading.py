"""A request that asks nothing: clients of Ollama send one to have a model loaded, or let go of (`keep_alive: 0`).

Knows the words of Ollama's API and requests; nothing of wires, routes or HTTP.
Contract: where the model is served by Ollama it is asked, for loading takes it long; elsewhere there is nothing to
load, and the answer is the one that Ollama gives then.
Source: ollama/docs/api.md, "Load a model" and "Unload a model" of generate and of chat; `ollama run` begins with one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..codecs.shared.spec import WireFields
from ..effects import Machine, relay
from ..events import replay
from ..providers.route import Route
from ..turn.reask import Ask
from ..types import Message, Request, Response, Stop
from .fronts import Front

OLLAMA = ("ollama_chat", "ollama_generate")


def asks_nothing(front: Front, request: Request) -> bool:
    """Does it hold nothing to answer, where the API has a meaning for that?"""
    return front.loads is not None and all(message.role in front.loads for message in request.messages)


def load(request: Request, routes: Sequence[Route], ask: Ask) -> Machine[Response]:
    """The answer, with its events where they are streamed: by `ask` where all `routes` lead to Ollama."""
    if all(route.provider.codec in OLLAMA for route in routes):
        return (yield from ask(request) if request.stream else relay(ask(request), on_step=lambda _: ()))
    word = "unload" if _seconds(request.extra.get("keep_alive")) == 0 else "load"
    fields = WireFields(OLLAMA[0], {"done_reason": word})
    response = Response(message=Message("assistant", ()), stop=Stop.END, model=request.model, extra=fields)
    if request.stream:
        yield from replay(response)
    return response


def _seconds(given: object) -> float | None:
    """The leading number of `keep_alive`: 0, "0", "0s", "5m"."""
    digits = str(given).rstrip("smh")
    return float(digits) if digits.lstrip("-").isdecimal() else None
