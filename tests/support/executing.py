"""A machine carried out in both worlds, over real sockets: what holds in one has to hold in the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from dragoman.effects import Machine, arun, run
from dragoman.gateway.direct import DirectPool
from dragoman.io import aio, sync

Runner = Callable[[Machine[Any]], Any]


def run_sync(machine: Machine[Any]) -> Any:
    with sync.Pool(use_proxies=False) as pool:
        return run(machine, pool.performer())


def run_async(machine: Machine[Any]) -> Any:
    async def go() -> Any:
        async with aio.AsyncPool(use_proxies=False) as pool:
            return await arun(machine, pool.performer())

    return asyncio.run(go())


def run_as_gateway(machine: Machine[Any]) -> Any:
    """As a gateway asks, which posts without a session."""

    async def go() -> Any:
        async with DirectPool(use_proxies=False) as pool:
            return await arun(machine, pool.performer())

    return asyncio.run(go())


both = pytest.mark.parametrize("execute", [run_sync, run_async], ids=["sync", "aio"])
each_way = pytest.mark.parametrize(
    "execute", [run_sync, run_as_gateway, run_async], ids=["sync", "direct", "session"]
)
"""Both worlds, and in the second all ways of sending a body."""
