"""`dragoman serve`: the gateway in front of a model, until it is interrupted.

What it serves and where it found it goes to stderr.  Contract: a port that is taken, an upstream that cannot be used
and a machine without a model server each end with a sentence that says what to do.
"""

from __future__ import annotations

import atexit
import os
import socket
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import uvicorn

from ..codecs import CODECS
from ..dialects import DIALECTS
from ..errors import DragomanError, UsageError
from ..gateway import Found, GatewayConfig, create_app, discover
from ..gateway.discovery import Place, usual_places
from ..gateway.factory import VARIABLE
from ..gateway.logs import LEVELS, Form
from ..gateway.metrics import MULTIPROCESS
from ..gateway.observing import FORMAT, LEVEL, observers
from ..gateway.settings import FILE, MCP_VARIABLE, YAML, Server, load, read
from ..io.environment import route_to
from ..io.listening import listen
from ..providers import COMPATIBLE, PROVIDERS, Provider, Tools
from ..route import Route
from ..sim import WeakModel, running

HOST, PORT = "127.0.0.1", 4242
APP = "dragoman.gateway.factory:app"
QUIET: dict[str, Any] = {
    "log_level": "warning",
    "log_config": None,
    "access_log": False,
    "ws": "none",
    "timeout_graceful_shutdown": 30,
}
"""How the server runs; answers being given may take 30 seconds more once it is told to end."""
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
@click.option("--config", type=click.Path(path_type=Path), help="A dragoman.toml; ./dragoman.toml where there is one.")
@click.option("--host", default=None, help="127.0.0.1 when nothing says otherwise.")
@click.option("--port", type=click.IntRange(0, 65535), help="4242 when nothing says otherwise; 0 takes a free one.")
@click.option("--litellm", type=click.Path(path_type=Path), help="A LiteLLM proxy's YAML file, read as it is.")
@click.option("--mcp", type=click.Path(path_type=Path), help="A file of MCP servers; every model gets their tools.")
@click.option("--log-format", type=click.Choice([f.value for f in Form]), help="How lines of the log are written.")
@click.option("--log-level", type=click.Choice(LEVELS), help="info tells of every request; warning when not given.")
@click.option("--demo", is_flag=True, help="Serve a scripted model that has no tools, to try clients with.")
def command(  # noqa: PLR0917 -- click hands over every option by name
    upstream: str | None,
    upstream_api: str | None,
    demo: bool,
    config: Path | None,
    litellm: Path | None,
    host: str | None,
    port: int | None,
    log_format: str | None,
    log_level: str | None,
    mcp: Path | None,
    **options: Any,
) -> None:
    """Serve the gateway in front of a model.

    Clients of OpenAI chat completions, Anthropic messages and Ollama chat find their API below the address shown.
    """
    said = ((FORMAT, log_format), (LEVEL, log_level), (MCP_VARIABLE, mcp and str(mcp.resolve())))
    os.environ.update({name: told for name, told in said if told})
    if litellm is not None and litellm.suffix not in YAML:
        raise UsageError(f"{litellm} is no YAML file by its name; give a LiteLLM proxy's file, ending in .yaml")
    file = litellm or config or (Path(FILE) if not (upstream or demo) and Path(FILE).is_file() else None)
    if file is not None:
        _serve_file(file, host, port)
        return
    fields = _fields(**options)
    with ExitStack() as stack:
        if demo:
            upstream, upstream_api = stack.enter_context(running(WeakModel())), "openai_chat"
        served = replace(_config(upstream, upstream_api, fields), mcp=read({}).config.mcp)
        app = create_app(served, observers=observers(Server(), served))
        listening = stack.enter_context(_listen(host or HOST, PORT if port is None else port))
        _run(uvicorn.Config(app, **QUIET), listening)


def _serve_file(file: Path, host: str | None, port: int | None) -> None:
    """Serve what a settings file says; options count before it."""
    server = load(file).server
    os.environ[VARIABLE] = str(file.resolve())
    where: dict[str, Any] = {"host": host or server.host, "port": server.port if port is None else port}
    tls: dict[str, Any] = {"ssl_certfile": server.certificate or None, "ssl_keyfile": server.certificate_key or None}
    if server.workers > 1:
        _count_together(server)
        _announce(where["host"], where["port"], secure=bool(server.certificate))
        uvicorn.run(APP, factory=True, workers=server.workers, **where, **tls, **QUIET)
        return
    with _listen(**where) as listening:
        _run(uvicorn.Config(APP, factory=True, **tls, **QUIET), listening)


def _count_together(server: Server) -> None:
    """The workers count what they serve in one place."""
    if server.metrics and MULTIPROCESS not in os.environ:
        place = tempfile.TemporaryDirectory(prefix="dragoman-metrics-")
        atexit.register(place.cleanup)
        os.environ[MULTIPROCESS] = place.name


def _run(config: uvicorn.Config, listening: socket.socket) -> None:
    """Serve on `listening` until interrupted."""
    _announce(*listening.getsockname()[:2], secure=bool(config.ssl_certfile))
    uvicorn.Server(config).run([listening])


def _announce(host: str, port: int, *, secure: bool) -> None:
    click.echo(f"listening on {'https' if secure else 'http'}://{host}:{port} (Ctrl-C ends it)", err=True)


def _fields(*, dialect: str, tools: str | None, **plain: Any) -> dict[str, Any]:
    """The options as fields of a route."""
    heard = {} if dialect == "auto" else {"dialects": DIALECTS[dialect], "speak": DIALECTS[dialect]}
    plain["compact"] = plain["compact"] or None
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
        return listen(host, port)
    except OSError as error:
        raise DragomanError(
            f"cannot listen on {host}:{port}: {error.strerror}; choose another --port or --host"
        ) from error
