"""Which model servers run on this machine.

Knows the usual ports and how each server gives itself away; asks them all at once, briefly, on loopback only.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..effects import Machine, Open, Opened, Read, Timeouts, arun
from ..errors import DragomanError
from ..io.aio import AsyncPool
from ..io.environment import address
from ..providers.route import Route
from ..providers.rows import PROVIDERS, ModelList, Provider
from .http.models import MAX_LIST, names_in

BRIEFLY = Timeouts(connect=1.0, idle=2.0)

OWNERS: Mapping[str, str] = {
    "llamacpp": "llamacpp",  # llama.cpp tools/server, GET /v1/models
    "vllm": "vllm",  # vllm/entrypoints/openai/protocol.py, ModelCard
    "sglang": "sglang",  # sglang/srt/entrypoints/openai/protocol.py, ModelCard
    "organization_owner": "lmstudio",  # LM Studio's GET /v1/models
    "library": "ollama",  # Ollama's GET /v1/models
}
"""What servers write as the owner of their models → which server that is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a server may be: the row of the one that usually is there, and the root of its API."""

    provider: Provider
    base_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A server that answered: what it is, the root of its API, and the models it lists."""

    provider: Provider
    base_url: str
    models: tuple[str, ...]

    def __str__(self) -> str:
        few = ", ".join(self.models[:3]) or "no model loaded"
        more = f" and {len(self.models) - 3} more" if len(self.models) > 3 else ""
        return f"{self.provider.name} at {self.base_url} ({few}{more})"


def usual_places(environ: Mapping[str, str] | None = None) -> tuple[Place, ...]:
    """The local servers' own ports; where an environment variable of theirs says otherwise, that instead.

    A server with two APIs is asked once, by its first row.
    """
    places: dict[tuple[int, str], Place] = {}
    for row in PROVIDERS.values():
        if row.port:
            root = Route(provider=row, base_url=address(row, environ)).root()
            places.setdefault((row.port, root), Place(provider=row, base_url=root))
    return tuple(places.values())


def discover(places: Sequence[Place] | None = None) -> list[Found]:
    """The servers that answer, in the order of `places` (the usual ones); call it where no event loop runs."""
    return asyncio.run(adiscover(places))


async def adiscover(places: Sequence[Place] | None = None) -> list[Found]:
    """`discover` inside an event loop."""
    asked = usual_places() if places is None else places
    async with AsyncPool(use_proxies=False) as pool:
        found = await asyncio.gather(*(arun(look(place), pool.performer()) for place in asked))
    return [server for server in found if server is not None]


def look(place: Place) -> Machine[Found | None]:
    """Ask one place; None where nobody answers, or somebody who serves no models."""
    row = place.provider
    try:
        route = Route(provider=row, base_url=place.base_url)
        opened: Opened = yield Open(url=route.url(row.models.path), method="GET", timeouts=BRIEFLY)
        body = b""
        while opened.status == 200 and len(body) < MAX_LIST and (data := (yield Read())):
            body += data
    except DragomanError:
        return None
    names = names_in(body, row.models.items, row.models.name) if opened.status == 200 else None
    if names is None:
        return None
    return Found(provider=_who(body, row), base_url=route.root(), models=tuple(names))


def _who(body: bytes, usual: Provider) -> Provider:
    """The server by what it says of itself; on somebody else's port it may be another than usual."""
    if usual.models != ModelList():
        return usual
    listed = json.loads(body)["data"]
    owner = str(next((item.get("owned_by") for item in listed), ""))
    return PROVIDERS[OWNERS[owner]] if owner in OWNERS else usual
