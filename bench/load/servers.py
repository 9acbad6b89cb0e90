"""The servers a load test runs beside the gateway, each in its own process:
`python -m bench.load.servers NAME PORT UPSTREAM`.

upstream   a model server of five APIs, which answers as the model's name says (`said.py`)
starlette  a pass-through as people write it: Starlette and aiohttp, bytes in, bytes out
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator

import aiohttp
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from .said import PATHS, manner, stream, whole

KINDS = {"ollama_chat": "application/x-ndjson"}


def upstream() -> Starlette:
    """The model server."""
    return Starlette(routes=[Route(path, _serving(api), methods=["POST"]) for api, path in PATHS.items()])


def _serving(api: str):  # type: ignore[no-untyped-def]
    async def serve(request: Request) -> Response:
        body = await request.json()
        streams = body.get("stream") or request.path_params.get("how", "").startswith("stream")
        if not streams:
            return Response(whole(api), media_type="application/json")
        kind, pause, chunks = manner(request.path_params.get("model") or body["model"])

        async def pieces() -> AsyncIterator[bytes]:
            for piece in stream(api, kind, chunks):
                if pause:
                    await asyncio.sleep(pause)
                yield piece

        return StreamingResponse(pieces(), media_type=KINDS.get(api, "text/event-stream"))

    return serve


def starlette(url: str) -> Starlette:
    """The pass-through."""
    held: list[aiohttp.ClientSession] = []

    async def serve(request: Request) -> Response:
        if not held:
            held.append(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
        body = await request.body()
        headers = {"content-type": "application/json"}
        answer = await held[0].post(f"{url}{request.url.path}", data=body, headers=headers)
        kind = answer.headers["content-type"]
        if "json" in kind and "ndjson" not in kind:
            return Response(await answer.read(), media_type=kind)

        async def pieces() -> AsyncIterator[bytes]:
            async for piece in answer.content.iter_any():
                yield piece

        return StreamingResponse(pieces(), media_type=kind)

    return Starlette(routes=[Route("/{path:path}", serve, methods=["POST"])])


def main() -> None:
    """Serve until ended."""
    name, port, url = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    app = upstream() if name == "upstream" else starlette(url)
    uvicorn.run(app, port=port, log_level="error", access_log=False)


if __name__ == "__main__":
    main()
