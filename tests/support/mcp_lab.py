"""A real MCP server for tests: over stdio (`python -m tests.support.mcp_lab`), or over HTTP (`lab.app()`).

It is written with the official SDK and not with ours, so that a mistake of ours meets somebody else's code.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.runner import serve_loop
from mcp.server.sse import SseServerTransport
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}

MEMORY: dict[str, Any] = {
    "name": "kom.memory.v1.upsert_memory",
    "description": "Save notes.",
    "inputSchema": {
        "type": "object",
        "properties": {"namespace": {"type": "string"}, "items": {"type": "array", "items": {"type": "object"}}},
        "required": ["namespace", "items"],
    },
}
"""The registry's tool of the source documents."""

TOOLS: list[dict[str, Any]] = [
    {"name": "echo", "description": "Say it again.", "inputSchema": TEXT, "annotations": {"readOnlyHint": True}},
    {"name": "shapes", "description": "One of each kind of content.", "inputSchema": {"type": "object"}},
    {"name": "fail", "description": "Fail.", "inputSchema": TEXT},
    {"name": "die", "description": "End the process.", "inputSchema": {"type": "object"}},
    {"name": "slow", "description": "Work for a while.", "inputSchema": {"type": "object"}},
    {"name": "grow", "description": "Gain a tool.", "inputSchema": {"type": "object"}},
    {"name": "ask", "description": "Ask the user.", "inputSchema": {"type": "object"}},
    {"name": "think", "description": "Ask a model.", "inputSchema": {"type": "object"}},
    {"name": "where", "description": "Ask for roots.", "inputSchema": {"type": "object"}},
    {"name": "wipe", "description": "Destroy.", "inputSchema": TEXT, "annotations": {"destructiveHint": True}},
    MEMORY,
    {"name": "loose", "description": "Break its own schema.", "inputSchema": {"type": "object"},
     "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
]  # fmt: skip
PAGE = 4

SHAPES: dict[str, Any] = {
    "content": [
        {"type": "text", "text": "words"},
        {"type": "image", "data": PIXEL, "mimeType": "image/png"},
        {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "file:///notes.txt", "name": "notes", "mimeType": "text/plain"},
        {"type": "resource", "resource": {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "inside"}},
        {"type": "resource", "resource": {"uri": "file:///b.bin", "blob": "AAEC", "mimeType": "application/pdf"}},
    ],
    "structuredContent": {"answer": 42, "note": None},
}


class Lab:
    """The state and the handlers of the server."""

    def __init__(self) -> None:
        self.tools = list(TOOLS)
        self.bus = InMemorySubscriptionBus()

    def server(self) -> Server[Any]:
        return Server(
            "lab",
            version="1.0",
            instructions="Be kind.",
            on_list_tools=self.list,
            on_call_tool=self.call,
            on_subscriptions_listen=ListenHandler(self.bus),
        )

    async def list(self, ctx: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        start = int((params and params.cursor) or 0)
        result: dict[str, Any] = {"tools": self.tools[start : start + PAGE]}
        if start + PAGE < len(self.tools):
            result["nextCursor"] = str(start + PAGE)
        return types.ListToolsResult.model_validate(result)

    async def call(self, ctx: Any, params: types.CallToolRequestParams) -> Any:
        arguments = params.arguments or {}
        handler = getattr(self, f"do_{params.name.rpartition('.')[2]}", None)
        if handler is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        result = await handler(ctx, arguments)
        if isinstance(result, types.InputRequiredResult):
            return result
        if isinstance(result, str):
            result = {"content": [{"type": "text", "text": result}]}
        return types.CallToolResult.model_validate(result)

    async def do_echo(self, ctx: Any, arguments: dict[str, Any]) -> str:
        return str(arguments["text"])

    async def do_upsert_memory(self, ctx: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        upserted = {"upserted": len(arguments["items"])}
        return {"content": [{"type": "text", "text": json.dumps(upserted)}], "structuredContent": upserted}

    async def do_wipe(self, ctx: Any, arguments: dict[str, Any]) -> str:
        return f"gone: {arguments['text']}"

    async def do_shapes(self, ctx: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        return SHAPES

    async def do_loose(self, ctx: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": "so"}], "structuredContent": {"n": "not a number"}}

    async def do_fail(self, ctx: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": arguments["text"]}], "isError": True}

    async def do_die(self, ctx: Any, arguments: dict[str, Any]) -> str:
        print("last words", file=sys.stderr, flush=True)
        os._exit(3)

    async def do_slow(self, ctx: Any, arguments: dict[str, Any]) -> str:
        for step in (1, 2):
            await ctx.session.report_progress(step, 2, "working")
        await asyncio.sleep(arguments.get("seconds", 0))
        return "done"

    async def do_grow(self, ctx: Any, arguments: dict[str, Any]) -> str:
        self.tools.append({"name": "grown", "inputSchema": {"type": "object"}})
        await self.bus.publish(ToolsListChanged())
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            await ctx.session.send_tool_list_changed()
        return "grown"

    async def do_ask(self, ctx: Any, arguments: dict[str, Any]) -> Any:
        params = {"message": "What is your name?", "requestedSchema": NAME}
        answer = await self.need(ctx, {"method": "elicitation/create", "params": params}, types.ElicitResult)
        return answer if isinstance(answer, types.InputRequiredResult) else f"{answer.action}: {answer.content}"

    async def do_think(self, ctx: Any, arguments: dict[str, Any]) -> Any:
        message = {"role": "user", "content": {"type": "text", "text": "Two and two?"}}
        params = {"messages": [message], "maxTokens": 10, "systemPrompt": "Count."}
        request = {"method": "sampling/createMessage", "params": params}
        answer = await self.need(ctx, request, types.CreateMessageResult)
        return answer if isinstance(answer, types.InputRequiredResult) else f"{answer.model}: {answer.content.text}"

    async def do_where(self, ctx: Any, arguments: dict[str, Any]) -> Any:
        answer = await self.need(ctx, {"method": "roots/list"}, types.ListRootsResult)
        return answer if isinstance(answer, types.InputRequiredResult) else ", ".join(str(r.uri) for r in answer.roots)

    async def need(self, ctx: Any, request: dict[str, Any], kind: type[Any]) -> Any:
        """What the client answers: as a request of ours before 2026-07-28, as input of the next try since then."""
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            question = types.server_request_adapter.validate_python(request)
            return await ctx.session.send_request(question, kind)
        given = (ctx.params or {}).get("inputResponses")
        if given:
            return kind.model_validate(given["it"])
        return types.InputRequiredResult.model_validate({"inputRequests": {"it": request}})


def app(lab: Lab | None = None, *, legacy: bool = False) -> ASGIApp:
    """The server over streamable HTTP, at /mcp; a `legacy` one knows nothing of 2026-07-28."""
    inner = (lab or Lab()).server().streamable_http_app()
    return _before_2026(inner) if legacy else inner


def _before_2026(inner: ASGIApp) -> ASGIApp:
    async def outer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (b"mcp-method", b"server/discover") in scope["headers"]:
            await PlainTextResponse("unknown method", 400)(scope, receive, send)
        else:
            await inner(scope, receive, send)

    return outer


class Forgetful:
    """A server of before 2026-07-28 that can forget its sessions, as one does that was started anew."""

    def __init__(self) -> None:
        self.sessions = 0
        self._known: set[bytes] = set()
        self._inner = app(legacy=True)

    def forget(self) -> None:
        self._known.clear()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        session = dict(scope.get("headers", ())).get(b"mcp-session-id")
        if session is not None and session not in self._known:
            await PlainTextResponse("no such session", 404)(scope, receive, send)
        else:
            await self._inner(scope, receive, self._noting(send))

    def _noting(self, send: Send) -> Send:
        async def noted(message: Any) -> None:
            for name, value in message.get("headers", ()):
                if name == b"mcp-session-id" and value not in self._known:
                    self._known.add(value)
                    self.sessions += 1
            await send(message)

        return noted


class Hanging:
    """A server of before 2026-07-28 that never answers one kind of request, once it has begun to hang."""

    def __init__(self, method: str) -> None:
        self._method = method.encode()
        self._inner = app(legacy=True)
        self._hangs = False
        self._over = threading.Event()

    def begin(self) -> None:
        self._hangs = True

    def end(self) -> None:
        self._over.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        first = await receive()
        if self._hangs and (scope["method"].encode() == self._method or self._method in first.get("body", b"")):
            await asyncio.to_thread(self._over.wait)
        waiting = [first]

        async def again() -> Any:
            return waiting.pop() if waiting else await receive()

        await self._inner(scope, again, send)


def sse_app() -> ASGIApp:
    """The server over the transport before streamable HTTP, at /sse."""
    transport, server = SseServerTransport("/messages/"), Lab().server()

    async def connect(request: Request) -> Response:
        async with transport.connect_sse(request.scope, request.receive, request._send) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        return Response()

    messages = Mount("/messages/", app=transport.handle_post_message)
    return Starlette(routes=[Route("/sse", connect, methods=["GET"]), messages])


async def _stdio(*, legacy: bool) -> None:
    server = Lab().server()
    options = server.create_initialization_options(NotificationOptions(tools_changed=True))
    async with stdio_server() as (incoming, outgoing):
        if legacy:
            await serve_loop(server, incoming, outgoing, lifespan_state={}, init_options=options)
        else:
            await server.run(incoming, outgoing, options)


if __name__ == "__main__":
    asyncio.run(_stdio(legacy="--legacy" in sys.argv))
