"""`dragoman serve`: the gateway in front of a model, until it is interrupted.

What can be said of it on the command line; `serving.py` does it, and is imported then: help must not load a server.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import click

from ..gateway.config.words import CONFIG, LEVELS, Form
from ..providers.rows import COMPATIBLE
from ..providers.spec import Tools


@click.command(name="serve")
@click.option("--upstream", metavar="URL|PROVIDER", help="Model server, or provider. Default: found on this machine.")
@click.option("--upstream-api", type=click.Choice(list(COMPATIBLE)), help="Its API. Default: found by asking.")
@click.option("--model", default="", help="Model to ask for, whatever the client names.")
@click.option(
    "--dialect", default="auto", show_default=True,
    help="Dialect of the model, or a row's .json file; auto parses them all.",
)  # fmt: skip
@click.option(
    "--tools", type=click.Choice([t.value for t in Tools]), help="Way tools travel. Default: found by trying."
)
@click.option("--compact", is_flag=True, help="Explain tools in one line each: for weak models and small contexts.")
@click.option(
    "--nonce", is_flag=True, help="Count only calls that carry a code made for the request; tools go as text."
)
@click.option(
    "--key", envvar="DRAGOMAN_UPSTREAM_KEY", default="", help="Key of the upstream; better in DRAGOMAN_UPSTREAM_KEY."
)
@click.option(
    "--config",
    envvar=CONFIG,
    type=click.Path(path_type=Path),
    help="Settings file. Default: ./dragoman.toml, where there is one.",
)
@click.option("--host", default=None, help="Address to listen on. Default: 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0: a free one. Default: 4242.")
@click.option("--workers", type=click.IntRange(1), help="Processes that serve. Default: 1.")
@click.option("--litellm", type=click.Path(path_type=Path), help="LiteLLM proxy's YAML file to serve as it is.")
@click.option("--mcp", type=click.Path(path_type=Path), help="File of MCP servers; every model gets their tools.")
@click.option("--log-format", type=click.Choice([f.value for f in Form]), help="Form of log lines.")
@click.option("--log-level", type=click.Choice(LEVELS), help="Least level; info logs requests. Default: warning.")
@click.option("--inspect/--no-inspect", default=None, help="Show exchanges with content at /inspect.")
@click.option(
    "--demo", is_flag=True, help="Serve a scripted model that has no tools, to try clients with, under any name."
)
def command(**options: Any) -> None:
    """Serve the gateway in front of a model.

    Clients of OpenAI chat completions, Anthropic messages and Ollama chat find their API below the address shown.
    """
    import_module(".serving", __package__).serve(**options)
