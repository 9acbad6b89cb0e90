"""Tools to be served over MCP by tests: `tests.support.mcp_workbench:TOOLS`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from dragoman.errors import ToolError
from dragoman.tools import Approval, Context, ToolSet, tool
from dragoman.types import Media, Text, ToolResult

from .mcp_lab import PIXEL


@tool(read_only=True)
def add(a: int, b: int) -> int:
    """Add two whole numbers.

    Args:
        a: one number
        b: the other
    """
    return a + b


@tool(read_only=True)
async def person(name: str) -> dict[str, Any]:
    """Look a person up."""
    return {"name": name, "age": 42}


@tool
def read_file(path: str) -> str:
    """Read a file."""
    return Path(path).read_text(encoding="utf-8")


@tool(approval=Approval.ALWAYS)
def wipe() -> str:
    """Destroy everything."""
    raise ToolError("Locked", "it is locked; ask for the key")


@tool
def picture(context: Context) -> ToolResult:
    """Draw."""
    context.report("drawing")
    return ToolResult(call_id=context.call.id, content=[Text("here"), Media(mime="image/png", data=PIXEL)])


@tool(timeout=0.05)
async def slow() -> None:
    """Take too long."""
    await asyncio.sleep(600)


@tool
def noisy() -> str:
    """Print."""
    print("this is not JSON-RPC")
    print("nor is this", file=sys.stderr)
    return "quiet"


TOOLS = ToolSet(add, person, read_file, wipe, picture, slow, noisy)
