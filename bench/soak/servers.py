"""The model of a soak, in its own process: `python -m bench.soak.servers PORT`.

The weak model without a tool API, erring; some of its connections are reset before the head or in the middle.
"""

from __future__ import annotations

import sys
from random import Random
from typing import Any

import uvicorn

from dragoman.sim.model import WeakModel
from dragoman.sim.server import app as weak

RESETS = 0.05
"""How many answers break off: half of them before the first byte, half in the middle."""


class Torn:
    """An ASGI application whose connections are sometimes cut."""

    def __init__(self, app: Any, seed: int) -> None:
        self._app, self._luck = app, Random(seed)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve, or break off."""
        if scope["type"] != "http" or self._luck.random() >= RESETS:
            await self._app(scope, receive, send)
            return
        left = self._luck.choice([0, 3])

        async def cut(message: Any) -> None:
            nonlocal left
            if message["type"] == "http.response.body":
                left -= 1
                if left < 0:
                    scope["extensions"]["cut"]()
            await send(message)

        scope.setdefault("extensions", {})["cut"] = lambda: (_ for _ in ()).throw(ConnectionResetError("cut"))
        await self._app(scope, receive, cut)


def main() -> None:
    """Serve until ended."""
    model: Any = Torn(weak(WeakModel(seed=1), delay=0.0), 1)
    uvicorn.run(model, port=int(sys.argv[1]), log_level="critical", access_log=False)


if __name__ == "__main__":
    main()
