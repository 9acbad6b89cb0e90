"""What `run` and `chat` share: their options, and the client, the tools and the servers they stand for.

Contract: whatever a session opened is closed when its block is left; a server of a configuration that cannot be used
is told and left out; the MCP SDK and the gateway are imported only when they are needed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import click

from ..client import Client
from ..dialects import DIALECTS
from ..errors import UsageError
from ..io.cancel import Cancel
from ..loop import Policy
from ..sim import WeakModel, running
from ..tools import ToolSet
from .approval import MODES, Approver
from .demo_tools import Workshop
from .load_tools import load_tools

F = TypeVar("F", bound=Callable[..., Any])
MODEL = "DRAGOMAN_MODEL"
NO_MODEL = (
    "no model: give --model provider/model (like ollama/qwen3:8b; see: dragoman list providers), or set "
    "DRAGOMAN_MODEL, or start a model server on this machine, or try without one: --demo"
)

OPTIONS = (
    click.option("--model", "-m", envvar=MODEL, default="",
                 help="Provider and model; several with commas are fallbacks."),
    click.option("--base-url", default="", metavar="URL", help="Root of the provider's API, if not the usual."),
    click.option("--tools", "-t", multiple=True, metavar="MODULE:TOOLSET", help="Python tools; may be repeated."),
    click.option("--mcp", multiple=True, metavar="CONFIG", help="File of MCP servers, whose tools are given too."),
    click.option("--approve", type=click.Choice(MODES), default="writes", show_default=True,
                 help="Calls to ask about; writes: those of tools that are not read-only."),
    click.option("--system", "-s", default=None, help="System prompt."),
    click.option("--max-turns", type=click.IntRange(1), default=Policy().max_turns, show_default=True,
                 help="Most answers of the model."),
    click.option("--dialect", default="", help="Dialect of the prompt for a model without tools."),
    click.option("--strict", is_flag=True,
                 help="Ask again for calls that need mending; in the JSON protocol, for all but actions and finals."),
    click.option("--demo", is_flag=True,
                 help="Use a scripted model, with the tools of the demonstration where you give none."),
    click.option("--json", "as_json", is_flag=True, help="Print every step as a line of JSON."),
    click.option("--quiet", "-q", is_flag=True, help="Do not show calls and results on stderr."),
)  # fmt: skip


def with_options(function: F) -> F:
    """Give a command the options of a session."""
    for option in reversed(OPTIONS):
        function = option(function)
    return function


@dataclass(frozen=True, slots=True)
class Session:
    """A client with its tools, and what to call its model."""

    client: Client
    tools: ToolSet
    model: str


@contextmanager
def opened(
    cancel: Callable[[], Cancel | None],
    *,
    model: str,
    base_url: str,
    tools: Sequence[str],
    mcp: Sequence[str],
    approve: str,
    system: str | None,
    max_turns: int,
    dialect: str,
    strict: bool,
    demo: bool,
    **_: Any,
) -> Iterator[Session]:
    """The session the options ask for.  `cancel` gives what stops the run that is going on."""
    with ExitStack() as stack:
        found = load_tools(tools) | ToolSet(*(_served(stack, config) for config in mcp))
        if demo:
            found = found or Workshop(Path.cwd()).tools()
            model, base_url = model or "weak", f"{stack.enter_context(running(WeakModel()))}/v1"
        elif not model:
            model, base_url = _discovered(base_url)
        policy = Policy(max_turns=max_turns, approve=Approver(approve, cancel), strict=strict or None)
        more: dict[str, Any] = {"prompt_dialect": DIALECTS[dialect]} if dialect else {}
        more["raise_on_failure"] = False  # commands say it in words, and by their exit code
        client = Client(model, base_url=base_url, system=system, tools=found, policy=policy, **more)
        yield Session(stack.enter_context(client), found, model)


def _served(stack: ExitStack, config: str) -> ToolSet:
    """The tools of the servers of a configuration."""
    servers = stack.enter_context(import_module("..mcp", __package__).McpServers(config, missing="skip"))
    for failure in servers.failures.values():
        click.secho(failure, fg="yellow", err=True)
    tools: ToolSet = servers.tools()
    return tools


def _discovered(base_url: str) -> tuple[str, str]:
    """The first model of a server found on this machine, and where it is."""
    if base_url:
        raise UsageError("no model: give --model, the name that the server at --base-url knows it by")
    found = [server for server in import_module("..gateway.discovery", __package__).discover() if server.models]
    if not found:
        raise UsageError(NO_MODEL)
    server = found[0]
    name = f"{server.provider.name}/{server.models[0]}"
    click.echo(f"using {name} at {server.base_url}", err=True)
    return name, server.base_url


def task_text(words: Sequence[str]) -> str:
    """The task: the words of the command line, or standard input where there are none, or only "-"."""
    text = " ".join(words)
    if text not in ("", "-"):
        return text
    if not text and sys.stdin.isatty():
        raise UsageError('no task; write it: dragoman run "What is in notes.txt?", or pipe it in')
    return sys.stdin.read().strip()
