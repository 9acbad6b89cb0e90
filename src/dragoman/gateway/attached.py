"""The tools a model gets besides its client's, and the servers of such tools that cannot be used now.

Knows tools by name; nothing of who runs them, or of the exchange that offers them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..errors import ErrorKind, ProviderError
from ..loop.policy import Policy
from ..memo import names_of
from ..server_tools.machine import DEFAULT_POLICY
from ..tools import ToolSet
from ..types import Request, Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A server whose tools the model should get, and which cannot be used: why, and in how many seconds it is tried."""

    server: str
    why: str
    due: float = 0.0
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """The tools a model gets besides its client's: those run here (by server), and those the client is to run.

    `missing` are servers that cannot be used now, and `patience` the seconds a request waits for them.
    """

    tools: Mapping[str, ToolSet] = field(default_factory=dict)
    offered: tuple[Tool, ...] = ()
    policy: Policy = DEFAULT_POLICY
    missing: tuple[Missing, ...] = ()
    patience: float = 0.0


ALONE = Attached()
NOT_READY = "MCP server {server!r} is not ready: {why}; ask again in {seconds} s, or set optional = true for the server"


def not_ready(needed: Sequence[Missing], due: float) -> ProviderError:
    """The error of a request that needs these servers, which may be ready in so many seconds."""
    seconds = max(1, math.ceil(due))
    message = "; ".join(NOT_READY.format(server=each.server, why=each.why, seconds=seconds) for each in needed)
    return ProviderError(
        message, status=503, kind=ErrorKind.SERVER, code="mcp_server_not_ready", retry_after=float(seconds)
    )


def taken(request: Request, attached: Attached) -> list[str]:
    """The names that tools of servers have, and the client's own too, which keep them."""
    if not (attached.tools or attached.offered):
        return []
    own = names_of(request.tools)
    names = [name for tools in attached.tools.values() for name in tools]
    return sorted(own.intersection([*names, *(tool.name for tool in attached.offered)]))


def offering(request: Request, offered: Sequence[Tool]) -> Request:
    """`request` with tools its client is to run besides its own; its own keep their names."""
    if not offered:
        return request
    own = names_of(request.tools)
    more = tuple(tool for tool in offered if tool.name not in own)
    return replace(request, tools=(*request.tools, *more)) if more else request
