"""`dragoman mcp serve | list`: any tools as an MCP server, and the tools of the servers a configuration names.

Contract: over stdio, standard output belongs to the protocol: everything else goes to stderr.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from ..errors import DragomanError, UsageError
from ..io.sockets import listen as listening_at
from ..mcp import McpServers, serve
from ..mcp.config import read_servers
from ..mcp.server import PATH
from ..tools import Runnable
from .interrupts import interruptible
from .load_tools import load_tools
from .outputs import print_json, print_table

PATIENCE = 2.0
"""Seconds of waiting without a word."""
WAITING = "waiting for MCP servers: {names} ({longest:g} s at most)"


@click.group(name="mcp")
def command() -> None:
    """Serve tools over MCP, or list the tools of MCP servers."""


@command.command(name="serve")
@click.argument("tools", nargs=-1, required=True, metavar="MODULE:TOOLSET…")
@click.option("--http", metavar="HOST:PORT", help="Serve streamable HTTP there (port 0: a free one) instead of stdio.")
@click.option("--name", default="dragoman", show_default=True, help="Name of the server.")
@click.option("--instructions", default="", help="Instructions for the models of hosts.")
def serve_command(tools: tuple[str, ...], http: str | None, name: str, instructions: str) -> None:
    """Serve tools to MCP hosts, over stdio or streamable HTTP.

    MODULE:TOOLSET names a ToolSet, a list of tools or one tool; a MODULE alone stands for its @tool functions.
    """
    found = load_tools(tools)
    summary = f"serving {len(found)} tools: {', '.join(found)}"
    if http is None:
        # The SDK waits for the next line of a terminal before it ends; a host closes the input instead.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        click.echo(f"{summary}; speaking MCP on stdin and stdout", err=True)
        serve(found, name=name, instructions=instructions)
        return
    with listen(http) as listening, interruptible():
        host, port = listening.getsockname()[:2]
        click.echo(f"{summary}; listening on http://{host}:{port}{PATH} (Ctrl-C ends it)", err=True)
        serve(found, listening, name=name, instructions=instructions)


def listen(address: str) -> socket.socket:
    """A socket that listens at HOST:PORT."""
    host, _, port = address.rpartition(":")
    if not port.isdigit():
        raise UsageError(f"cannot listen on {address!r}; write HOST:PORT, like 127.0.0.1:8000")
    try:
        return listening_at(host.strip("[]") or "127.0.0.1", int(port))
    except (OSError, OverflowError) as error:
        raise DragomanError(f"cannot listen on {address}: {error}; choose another address") from error


@command.command(name="list")
@click.argument("config", type=click.Path(exists=True, dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print the definitions as JSON.")
def list_command(config: str, as_json: bool) -> int:
    """List the tools of the servers in CONFIG (mcpServers JSON), as models are told them.

    The exit code is 1 when a server cannot be used.
    """
    with _waiting_for(config), McpServers(config, missing="skip") as servers:
        tools, failures = servers.tools(), servers.failures
    if as_json:
        print_json([_as_json(each) for each in tools.values()])
    else:
        print_table(("tool", "server", "does", "description"), [_row(each) for each in tools.values()])
    for failure in failures.values():
        click.echo(failure, err=True)
    return 1 if failures else 0


@contextmanager
def _waiting_for(config: str) -> Iterator[None]:
    """Says whose servers are waited for, where that takes longer than anybody waits without a word."""
    specs = read_servers(config)
    longest = max((spec.startup for spec in specs), default=0.0)
    text = WAITING.format(names=", ".join(spec.name for spec in specs), longest=longest)
    timer = threading.Timer(PATIENCE, click.echo, (text,), {"err": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _as_json(each: Runnable) -> dict[str, Any]:
    tool = each.tool
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "server": tool.metadata["mcp"]["server"],
        "read_only": each.read_only,
        "idempotent": each.idempotent,
        "approval": each.approval,
    }


def _row(each: Runnable) -> tuple[str, str, str, str]:
    does = "reads" if each.read_only else "destroys" if each.approval == "always" else "writes"
    [first, *_] = each.tool.description.strip().splitlines() or [""]
    return each.tool.name, str(each.tool.metadata["mcp"]["server"]), does, first[:80]
