"""The servers a load test runs, each in its own process: `python -m bench.load.servers NAME PORT UPSTREAM`.

upstream   answers at once: a fixed whole answer, or a stream of 200 chunks
starlette  a pass-through as people write it: Starlette and aiohttp, bytes in, bytes out
dragoman   the gateway, in front of the upstream
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from dragoman.gateway import GatewayConfig, create_app
from dragoman.providers.route import Route as To
from dragoman.providers.rows import COMPATIBLE

CHUNKS = 200
HEAD = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m"}
USAGE = {"prompt_tokens": 20, "completion_tokens": CHUNKS, "total_tokens": 20 + CHUNKS}
WHOLE = json.dumps(
    {
        **HEAD,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "word " * 40}, "finish_reason": "stop"}],
        "usage": USAGE,
    }
).encode()


def _chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {**HEAD, "object": "chat.completion.chunk", "choices": [choice]}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


# LiteLLM ends streams in which one chunk comes again and again.
SAID = [_chunk({"content": f"{'a' if n % 2 else 'the'} word "}) for n in range(CHUNKS)]
STREAM = [_chunk({"role": "assistant"}), *SAID, _chunk({}, "stop"), b"data: [DONE]\n\n"]


def upstream() -> Starlette:
    """The model server."""

    async def chat(request: Request) -> Response:
        if not (await request.json()).get("stream"):
            return Response(WHOLE, media_type="application/json")

        async def pieces() -> AsyncIterator[bytes]:
            for piece in STREAM:
                yield piece

        return StreamingResponse(pieces(), media_type="text/event-stream")

    return Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"])])


def starlette(url: str) -> Starlette:
    """The pass-through."""
    held: list[aiohttp.ClientSession] = []

    async def chat(request: Request) -> Response:
        if not held:
            held.append(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
        body = await request.body()
        headers = {"content-type": "application/json"}
        answer = await held[0].post(f"{url}/v1/chat/completions", data=body, headers=headers)
        kind = answer.headers["content-type"]
        if "json" in kind:
            return Response(await answer.read(), media_type=kind)

        async def pieces() -> AsyncIterator[bytes]:
            async for piece in answer.content.iter_any():
                yield piece

        return StreamingResponse(pieces(), media_type=kind)

    return Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"])])


def dragoman(url: str) -> Any:
    """The gateway."""
    return create_app(GatewayConfig(default=To(provider=COMPATIBLE["openai_chat"], base_url=f"{url}/v1")))


def main() -> None:
    """Serve until ended."""
    name, port, url = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    app = upstream() if name == "upstream" else {"starlette": starlette, "dragoman": dragoman}[name](url)
    uvicorn.run(app, port=port, log_level="error", access_log=False)


if __name__ == "__main__":
    main()
