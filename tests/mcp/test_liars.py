"""Servers that lie: a call ends with what is its own or with words, memory is bounded, and nothing they say is obeyed."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import ErrorCode, ProviderError, ToolError
from dragoman.mcp import McpServers
from dragoman.mcp.bounds import CUT_OFF, LINES, MOST, TOO_LONG
from dragoman.mcp.connection import MOST_TOOLS
from dragoman.sim import serving
from dragoman.tools import Context
from dragoman.types import ToolCall
from tests.support import places

ROOT = str(places.ROOT)


def liar(*ways: str, timeout: float = 30, **environment: str) -> dict[str, Any]:
    row = {"command": sys.executable, "args": ["-m", "tests.support.mcp_liar", *ways], "cwd": ROOT, "timeout": timeout}
    return {"mcpServers": {"liar": {**row, "env": {"PYTHONPATH": os.pathsep.join(sys.path), **environment}}}}


async def said(servers: McpServers, text: str) -> str:
    """What a call of its only tool gives."""
    [(name, tool)] = servers.tools().items()
    context = Context(call=ToolCall(id="c1", name=name, arguments={"text": text}), key="k", report=print)
    result = await tool.function({"text": text}, context)
    return "".join(part.text for part in result.content)


async def answers(*ways: str, timeout: float = 30, calls: tuple[str, ...] = ("one", "two")) -> list[str]:
    """What calls give, or the error's code and words."""
    found = []
    async with McpServers(liar(*ways, timeout=timeout)) as servers:
        for text in calls:
            try:
                found.append(await said(servers, text))
            except ToolError as error:
                found.append(f"{error.code}: {error}")
    return found


@pytest.mark.parametrize("way", ["twice", "noise", "bomb", "nested", "words", "double", "stderr"])
def test_calls_get_their_own_results_whatever_else_is_said(way: str) -> None:
    assert asyncio.run(answers(way)) == ["one", "two"]


def test_a_result_of_another_call_is_never_taken() -> None:
    found = asyncio.run(answers("wrong", timeout=0.5))
    assert all(one.startswith(str(ErrorCode.TIMEOUT)) for one in found)


def test_a_result_that_comes_too_late_is_not_taken_for_the_next() -> None:
    first, second = asyncio.run(answers("late", timeout=0.7))
    assert first.startswith(str(ErrorCode.TIMEOUT))
    assert second == "two" or second.startswith(str(ErrorCode.TIMEOUT))


def test_a_result_that_is_none_is_told_of() -> None:
    assert all("what MCP does not allow" in one for one in asyncio.run(answers("shape")))


@pytest.mark.parametrize("way", ["huge", "line"])
@pytest.mark.costly
def test_a_message_without_end_ends_the_connection_and_says_why(way: str) -> None:
    [found] = asyncio.run(answers(way, timeout=60, calls=("one",)))
    assert TOO_LONG in found


def test_more_tools_than_anybody_may_ask_for_are_refused() -> None:
    async def opened() -> None:
        async with McpServers(liar("crowd")):
            pass

    with pytest.raises(ProviderError, match=f"more than {MOST_TOOLS:,} tools"):
        asyncio.run(opened())


def test_a_list_without_end_ends_and_a_name_counts_once() -> None:
    assert asyncio.run(answers("endless", calls=("one",))) == ["one"]


def test_a_server_that_always_says_its_list_has_changed_is_not_asked_all_the_time(tmp_path: Path) -> None:
    lists = tmp_path / "lists"

    async def waits() -> None:
        async with McpServers(liar("spam", LIAR_LISTS=str(lists))) as servers:
            for _ in range(5):
                assert await said(servers, "x") == "x"
                await asyncio.sleep(0.1)

    asyncio.run(waits())
    assert int(lists.read_text()) <= 4


def test_a_tool_that_changes_its_name_is_called_by_what_it_was_listed_as() -> None:
    assert asyncio.run(answers("changing", "spam")) == ["one", "two"]


# ── one message at a time ────────────────────────────────────────────────────


def lines(*pieces: bytes) -> str:
    import codecs  # noqa: PLC0415

    decoder = codecs.getincrementaldecoder(LINES)("replace")
    return "".join(decoder.decode(piece) for piece in pieces) + decoder.decode(b"", True)


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_lines_come_out_as_they_went_in(size: int) -> None:
    data = "eins\nzwei é 日本\n\n\r\ndrei".encode()
    assert lines(*(data[at : at + size] for at in range(0, len(data), size))) == data.decode()


def test_a_line_that_is_too_long_is_cut_and_the_next_is_read() -> None:
    piece = b"x" * (MOST // 4)
    assert lines(b"a\n", *[piece] * 6, b"x\nb\n") == f"a\n{CUT_OFF}\nb\n"


# ── over HTTP ────────────────────────────────────────────────────────────────


class Endless:
    """A server whose answer to the first call never ends: as JSON, as one event, or packed."""

    def __init__(self, kind: str) -> None:
        self.kind, self.sent = kind, 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        headers = [(b"content-type", b"text/event-stream" if self.kind == "event" else b"application/json")]
        if self.kind == "packed":
            headers.append((b"content-encoding", b"gzip"))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        begin = b'data: {"jsonrpc": "' if self.kind == "event" else b'{"jsonrpc": "'
        await send({"type": "http.response.body", "body": begin, "more_body": True})
        gone = asyncio.ensure_future(receive())
        while self.sent < 4 * MOST and not gone.done():
            await send({"type": "http.response.body", "body": b"x" * (1 << 20), "more_body": True})
            self.sent += 1 << 20
            await asyncio.sleep(0)  # a send to nobody returns at once


@pytest.mark.parametrize(("kind", "why"), [("json", "64 MB"), ("event", "64 MB|byte limit"), ("packed", "packed its answer")])
def test_an_answer_without_end_is_let_go_of(kind: str, why: str) -> None:
    endless = Endless(kind)

    async def opened(url: str) -> None:
        async with McpServers({"mcpServers": {"far": {"type": "http", "url": url, "timeout": 30}}}):
            pass

    with serving(endless) as url, pytest.raises(ProviderError, match=why):
        asyncio.run(opened(f"{url}/mcp"))
    assert endless.sent < 2 * MOST
