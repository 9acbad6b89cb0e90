"""Both clients behind one shape, over scripted bytes: what a test asks of one it asks of the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from dragoman.client import AsyncClient, Client
from dragoman.sim.scripted import ScriptedPeer

URL = "http://model.test"
Do = Callable[..., Any]


@dataclass(frozen=True)
class Face:
    """`do(memory, "run", …)` asks; `listen` gives the steps of a stream and what it came to."""

    do: Do
    listen: Callable[..., tuple[list[Any], Any]]
    name: str

    def run(self, memory: ScriptedPeer, *args: Any, **kwargs: Any) -> Any:
        """What `client.run` gives."""
        return self.do(memory, "run", *args, **kwargs)


def settings(given: dict[str, Any]) -> dict[str, Any]:
    """What the client is made with, taken out of what a test gives."""
    made = given.pop("client", {})
    return {"model": "m", "base_url": URL, "raise_on_failure": False, **made}


def _do_now(memory: ScriptedPeer, what: str, *args: Any, **kwargs: Any) -> Any:
    with Client(**settings(kwargs), performer=memory.sync_performer) as client:
        return getattr(client, what)(*args, **kwargs)


def _listen_now(memory: ScriptedPeer, *args: Any, **kwargs: Any) -> tuple[list[Any], Any]:
    with Client(**settings(kwargs), performer=memory.sync_performer) as client, client.stream(*args, **kwargs) as steps:
        return list(steps), steps.run


def _do_later(memory: ScriptedPeer, what: str, *args: Any, **kwargs: Any) -> Any:
    async def go() -> Any:
        async with AsyncClient(**settings(kwargs), performer=memory.performer) as client:
            return await getattr(client, what)(*args, **kwargs)

    return asyncio.run(go())


def _listen_later(memory: ScriptedPeer, *args: Any, **kwargs: Any) -> tuple[list[Any], Any]:
    async def go() -> tuple[list[Any], Any]:
        async with (
            AsyncClient(**settings(kwargs), performer=memory.performer) as client,
            client.stream(*args, **kwargs) as steps,
        ):
            return [step async for step in steps], steps.run

    return asyncio.run(go())


NOW = Face(_do_now, _listen_now, "Client")
LATER = Face(_do_later, _listen_later, "AsyncClient")
both = pytest.mark.parametrize("face", [NOW, LATER], ids=lambda face: face.name)
