"""Which models are served where no settings file says it: an address, a provider, or what runs on this machine.

Knows provider rows and discovery; nothing of the command line or of serving.  Contract: what can be known without
asking anybody is known at once (`named_route`); the rest is asked in a running loop (`look`), and said in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from ..codecs import CODECS
from ..errors import DragomanError, UsageError, nearest
from ..io.environment import route_to
from ..io.failures import origin
from ..providers.route import Route
from ..providers.rows import COMPATIBLE, PROVIDERS, Provider
from .config.model import GatewayConfig
from .discovery import Found, Place, adiscover, usual_places

Say = Callable[[str], None]
"""Is told what was found."""
NOTHING_FOUND = "found no model server on this machine (looked at {places})"
NO_API = "upstream_api is {api!r}; give one of {known}"
API_OF_NOBODY = "upstream_api says what an upstream speaks, and none is named; name it, or leave the API out"
NO_UPSTREAM = "{upstream!r} is no provider and no address; {near}"
TAKEN_FOR = (
    "nothing answers at {upstream} yet; taking it for openai_chat (--upstream-api, or upstream_api, says otherwise)"
)
WRITE_ADDRESS = "write one like http://127.0.0.1:8080, or a provider's name (dragoman list providers)"


class NothingFound(DragomanError):
    """No model server runs on this machine; whoever tells it says what to do."""


def named_route(upstream: str, api: str | None, fields: Mapping[str, Any]) -> Route | None:
    """The route to a provider's name, or to an address whose `api` is given; None where the address must be asked.

    Raises UsageError for what is neither, for an API there is not, and for a provider whose key is missing.
    """
    if api is not None and api not in COMPATIBLE:
        raise UsageError(NO_API.format(api=api, known=", ".join(COMPATIBLE)))
    if upstream in PROVIDERS:
        return route_to(PROVIDERS[upstream], **fields)
    parts = urlsplit(upstream)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        near = " or ".join(map(repr, nearest(upstream, PROVIDERS)))
        raise UsageError(
            NO_UPSTREAM.format(upstream=origin(upstream), near=f"did you mean {near}?" if near else WRITE_ADDRESS)
        )
    return Route(provider=COMPATIBLE[api], base_url=upstream, **fields) if api else None


async def look(upstream: str | None, api: str | None, fields: Mapping[str, Any], say: Say) -> GatewayConfig:
    """What is served in front of `upstream`; None stands for every server found on this machine.

    Raises what `named_route` does, UsageError for the API of no upstream, and NothingFound.
    """
    if upstream is None and api is not None:
        raise UsageError(API_OF_NOBODY)
    if upstream is None:
        return found_config(await adiscover(), fields, say)
    route = named_route(upstream, api, fields)
    route = route or Route(provider=await _ask(upstream, say), base_url=upstream, **fields)
    say(f"in front of {route.root()} ({CODECS[route.provider.codec].name})")
    return GatewayConfig(default=route)


def found_config(found: Sequence[Found], fields: Mapping[str, Any], say: Say) -> GatewayConfig:
    """Every server found serves its own models; the first serves what no other lists.  Raises NothingFound."""
    if not found:
        places = ", ".join(f"{place.provider.name} at {place.base_url}" for place in usual_places())
        raise NothingFound(NOTHING_FOUND.format(places=places))
    for server in found:
        say(f"found {server}")
    routes = [route_to(server.provider, base_url=server.base_url, **fields) for server in found]
    pairs = reversed(list(zip(found, routes, strict=True)))
    models = {model: route for server, route in pairs for model in server.models}
    return GatewayConfig(default=routes[0], models=models)


async def _ask(upstream: str, say: Say) -> Provider:
    """The row for a server at an address, by which of its lists it answers; OpenAI's where it answers none."""
    rows = [COMPATIBLE["ollama_chat"], COMPATIBLE["openai_chat"]]
    places = [Place(provider=row, base_url=Route(provider=row, base_url=upstream).root()) for row in rows]
    answered = await adiscover(places)
    if not answered:
        say(TAKEN_FOR.format(upstream=origin(upstream)))
        return rows[1]
    return replace(answered[0].provider, base_url="")
