"""`dragoman serve`: the gateway in front of a model, until it is interrupted.

What it serves and where it found it goes to stderr.  Contract: a port that is taken, an upstream that cannot be used
and a machine without a model server each end with a sentence that says what to do.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import click
import uvicorn

from ..codecs import CODECS
from ..dialects import DIALECTS
from ..errors import DragomanError
from ..gateway import Found, GatewayConfig, create_app, discover
from ..gateway.discovery import Place, usual_places
from ..io.environment import route_to
from ..providers import COMPATIBLE, PROVIDERS, Provider, Tools
from ..route import Route
from ..sim import WeakModel, running

PORT = 4242
NOTHING_FOUND = (
    "found no model server on this machine (looked at {places}).\n"
    "Start one, or say where it is: dragoman serve --upstream URL\n"
    "or try without one: dragoman serve --demo"
)


@click.command(name="serve")
@click.option(
    "--upstream", metavar="URL|PROVIDER", help="Where the model is; looked for on this machine when not given."
)
@click.option("--upstream-api", type=click.Choice(list(COMPATIBLE)), help="The API it speaks; asked when not given.")
@click.option("--model", default="", help="The model to ask for, whatever the client says.")
@click.option("--dialect", default="auto", show_default=True, help="The dialect the model writes; auto hears them all.")
@click.option(
    "--tools", type=click.Choice([t.value for t in Tools]), help="How the model takes tools; tried when not given."
)
@click.option("--compact", is_flag=True, help="Explain tools in one line each: for weak models and small contexts.")
@click.option("--nonce", is_flag=True, help="Count only calls that carry a code made for the request.")
@click.option(
    "--key", envvar="DRAGOMAN_UPSTREAM_KEY", default="", help="The upstream's key; better in DRAGOMAN_UPSTREAM_KEY."
)
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 takes a free one.")
@click.option("--demo", is_flag=True, help="Serve a scripted model that has no tools, to try clients with.")
def command(upstream: str | None, upstream_api: str | None, demo: bool, host: str, port: int, **options: Any) -> None:
    """Serve the gateway in front of a model.

    Clients of OpenAI chat completions, Anthropic messages and Ollama chat find their API below the address shown.
    """
    fields = _fields(**options)
    with ExitStack() as stack:
        if demo:
            upstream, upstream_api = stack.enter_context(running(WeakModel())), "openai_chat"
        config = _config(upstream, upstream_api, fields)
        listening = stack.enter_context(_listen(host, port))
        server = uvicorn.Server(uvicorn.Config(create_app(config), log_level="warning", access_log=False, ws="none"))
        click.echo(f"listening on http://{host}:{listening.getsockname()[1]} (Ctrl-C ends it)", err=True)
        server.run([listening])


def _fields(*, dialect: str, tools: str | None, **plain: Any) -> dict[str, Any]:
    """The options as fields of a route."""
    heard = {} if dialect == "auto" else {"dialects": DIALECTS[dialect], "speak": DIALECTS[dialect]}
    return {**plain, **heard, "tools": Tools(tools) if tools else None}


def _config(upstream: str | None, api: str | None, fields: dict[str, Any]) -> GatewayConfig:
    if upstream is None:
        return found_config(discover(), fields)
    if upstream in PROVIDERS:
        route = route_to(PROVIDERS[upstream], **fields)
    else:
        route = Route(provider=COMPATIBLE[api] if api else _ask(upstream), base_url=upstream, **fields)
    click.echo(f"in front of {route.root()} ({CODECS[route.provider.codec].name})", err=True)
    return GatewayConfig(default=route)


def found_config(found: Sequence[Found], fields: dict[str, Any]) -> GatewayConfig:
    """Every server found serves its own models; the first serves what no other lists."""
    if not found:
        places = ", ".join(f"{place.provider.name} at {place.base_url}" for place in usual_places())
        raise DragomanError(NOTHING_FOUND.format(places=places))
    for server in found:
        click.echo(f"found {server}", err=True)
    routes = [route_to(server.provider, base_url=server.base_url, **fields) for server in found]
    pairs = reversed(list(zip(found, routes, strict=True)))
    models = {model: route for server, route in pairs for model in server.models}
    return GatewayConfig(default=routes[0], models=models)


def _ask(upstream: str) -> Provider:
    """The row for a server at an address, by which of its lists it answers; OpenAI's where it answers none."""
    rows = [COMPATIBLE["ollama_chat"], COMPATIBLE["openai_chat"]]
    places = [Place(provider=row, base_url=Route(provider=row, base_url=upstream).root()) for row in rows]
    answered = discover(places)
    if not answered:
        click.echo(
            f"nothing answers at {upstream} yet; taking it for openai_chat (--upstream-api says otherwise)", err=True
        )
        return rows[1]
    return replace(answered[0].provider, base_url="")


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port))
    except OSError as error:
        raise DragomanError(
            f"cannot listen on {host}:{port}: {error.strerror}; choose another --port or --host"
        ) from error
