"""What a soak runs, each in its own process: `python -m bench.soak.servers upstream|gateway PORT URL`.

upstream  the weak model without a tool API, erring; some connections are reset before the head or in the middle
gateway   the gateway in front of it
"""

from __future__ import annotations

import sys
from random import Random
from typing import Any

import uvicorn

from dragoman.gateway import GatewayConfig, Limits, create_app
from dragoman.provider import Tools
from dragoman.providers import COMPATIBLE
from dragoman.route import Route
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
    name, port, url = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    if name == "upstream":
        app: Any = Torn(weak(WeakModel(seed=1), delay=0.0), 1)
    else:
        row = COMPATIBLE["openai_chat"]
        to = Route(provider=row, base_url=f"{url}/v1", tools=Tools.TEXT)
        app = create_app(GatewayConfig(default=to, limits=Limits(concurrent=512)))
    uvicorn.run(app, port=port, log_level="critical", access_log=False)


if __name__ == "__main__":
    main()
