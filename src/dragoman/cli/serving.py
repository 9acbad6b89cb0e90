"""What `dragoman serve` does: the gateway in front of a model, until it is interrupted.

What it serves and where it found it goes to stderr.  Contract: a port that is taken, an upstream that cannot be used
and a machine without a model server each end with a sentence that says what to do.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import socket
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import uvicorn
from click.core import ParameterSource
from starlette.types import ASGIApp

from ..errors import DragomanError, UsageError
from ..gateway import GatewayConfig
from ..gateway.config.load import Server, Settings, load, read
from ..gateway.config.words import CONFIG, FILE, INSPECT, LOG_FORMAT, LOG_LEVEL, MCP, STATE_DIR, WORKERS, YAML, Form
from ..gateway.factory import from_config
from ..gateway.inspector.api import ROOT
from ..gateway.observers import log_as
from ..gateway.process.workers import Workers
from ..gateway.telemetry.logs import told
from ..gateway.telemetry.metrics import MULTIPROCESS
from ..gateway.upstream import NothingFound, Say, look
from ..io.sockets import listen
from ..providers.spec import Tools
from ..sim import WeakModel, running
from .inputs import read_dialect
from .interrupts import interruptible

OF_A_MODEL = frozenset({"upstream", "upstream_api", "model", "dialect", "tools", "compact", "nonce", "key", "demo"})
"""Options that say what a settings file says of its models."""
PORT = Server().port
APP = "dragoman.gateway.factory:app"
QUIET: dict[str, Any] = {
    "log_level": "warning",
    "log_config": None,
    "access_log": False,
    "ws": "none",
    "http": "dragoman.gateway.process.connections:Connection",
    "proxy_headers": False,  # nobody asks where a client is: reading that from headers is wasted on every request
    "timeout_keep_alive": 75,
    "timeout_graceful_shutdown": 30,
    "timeout_worker_healthcheck": 30,
}
"""How the server runs; answers being given may take 30 seconds more once it is told to end.

A worker counts as dead when it has not answered for half a minute: by uvicorn's own five seconds one that a busy
machine lets begin slowly is ended before it has begun, again and again.

An idle connection is kept longer than clients keep one (httpx 5 s, aiohttp 15, balancers 60): whoever closes first may
close just when the other writes, and the five seconds of uvicorn are those of most SDKs.
"""
ONE_PROCESS = "one process serves instead of {workers}: the inspector shows what its own process serves"
TWO = "{one} does not count beside {other}; leave one of the two out"
BESIDE = "{option} does not count beside {file}; write it into the file, or say with --upstream which model is meant"
WHAT_TO_DO = (
    "{error}.\nStart one, or say where it is: dragoman serve --upstream URL\nor try without one: dragoman serve --demo"
)


def serve(
    *,
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
    inspect: bool | None,
    workers: int | None,
    **options: Any,
) -> None:
    """Serve by the options of the command line (`serve.py`)."""
    _set_environment(log_format, log_level, mcp, inspect, workers)
    _check_one(("demo", "upstream"), ("demo", "upstream_api"), ("config", "litellm"))
    if litellm is not None and litellm.suffix not in YAML:
        raise UsageError(f"{litellm} is no YAML file by its name; give a LiteLLM proxy's file, ending in .yaml")
    file = _file(litellm or config, of_a_model=bool(upstream or demo))
    if file is not None:
        _serve_file(file, host, port)
        return
    with ExitStack() as stack:
        if demo:
            upstream, upstream_api = stack.enter_context(running(WeakModel(), any_name=True)), "openai_chat"
        settings = read({})
        _serve_model(settings, _config(upstream, upstream_api, _fields(**options), _tell(settings.server)), host, port)


def _set_environment(
    log_format: str | None, log_level: str | None, mcp: Path | None, inspect: bool | None, workers: int | None
) -> None:
    """Options that count in every process, where each of them looks."""
    variables = {
        LOG_FORMAT: log_format,
        LOG_LEVEL: log_level,
        MCP: mcp and str(mcp.resolve()),
        INSPECT: None if inspect is None else str(inspect).lower(),
        WORKERS: workers and str(workers),
    }
    os.environ.update({name: value for name, value in variables.items() if value})


def _serve_model(settings: Settings, found: GatewayConfig, host: str | None, port: int | None) -> None:
    """Serve by what the environment sets, in front of the models found."""
    server, served = settings.server, replace(settings.config, default=found.default, models=found.models)
    _serve(partial(from_config, server, served), server, host, port)


def _given() -> set[str]:
    """The options that stand on the command line."""
    context = click.get_current_context()
    return {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}


def _check_one(*pairs: tuple[str, str]) -> None:
    """Raises UsageError where both of a pair are given, of which one alone would count."""
    given = _given()
    for one, other in pairs:
        if {one, other} <= given:
            raise UsageError(TWO.format(one=_option(one), other=_option(other)))


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _file(named: Path | None, *, of_a_model: bool) -> Path | None:
    """The settings file, where one is meant.  Raises UsageError for options that would not count beside it."""
    given = _given()
    file = named or (Path(FILE) if Path(FILE).is_file() else None)
    if of_a_model and not given & {"config", "litellm"}:
        return None
    if file is not None and (beside := sorted(given & OF_A_MODEL)):
        raise UsageError(BESIDE.format(option=_option(beside[0]), file=file))
    return file


def _serve_file(file: Path, host: str | None, port: int | None) -> None:
    """Serve what a settings file says; options count before it."""
    settings = load(file)
    server, tell = settings.server, _tell(settings.server)
    for notice in settings.notices:
        tell(f"{file}: {notice}")
    os.environ[CONFIG] = str(file.resolve())
    _serve(APP, server, host, port)


def _serve(app: str | Callable[[], ASGIApp], server: Server, host: str | None, port: int | None) -> None:
    """Serve what `app` makes in each process."""
    workers = server.workers
    if server.inspect and workers > 1 and not server.recordings.url:
        _tell(server)(ONE_PROCESS.format(workers=workers))
        workers = 1
    with _listen(host or server.host, server.port if port is None else port) as listening:
        if workers > 1:
            _count_together(server)
            _keep_together(server)
            log_as(server)
        config = uvicorn.Config(app, factory=True, workers=workers, **_tls(server), **QUIET)
        _run(config, listening, server)


def _tls(server: Server) -> dict[str, Any]:
    return {"ssl_certfile": server.tls_cert or None, "ssl_keyfile": server.tls_key or None}


def _count_together(server: Server) -> None:
    """The workers count what they serve in one place."""
    if server.metrics and MULTIPROCESS not in os.environ:
        os.environ[MULTIPROCESS] = _directory("metrics")


def _keep_together(server: Server) -> None:
    """Each worker finds what another one keeps, for as long as this command runs."""
    if not (server.state_dir or server.state):
        os.environ[STATE_DIR] = _directory("state")


def _directory(what: str) -> str:
    """A directory for its owner only that goes with this process."""
    place = tempfile.TemporaryDirectory(prefix=f"dragoman-{what}-", ignore_cleanup_errors=True)
    atexit.register(place.cleanup)
    return place.name


def _run(config: uvicorn.Config, listening: socket.socket, server: Server) -> None:
    """Serve on `listening`.  Raises KeyboardInterrupt for an interrupt, once what was being answered is answered."""
    with interruptible():
        _announce(listening, server)
        if config.workers > 1:
            Workers(config, [listening]).run()
        else:
            uvicorn.Server(config).run([listening])


def _announce(listening: socket.socket, server: Server) -> None:
    host, port = listening.getsockname()[:2]
    address = f"{'https' if server.tls_cert else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"
    tell = _tell(server)
    tell(f"listening on {address} (Ctrl-C ends it)")
    recordings = server.recordings
    what, where = "what is said", "kept in memory" if not recordings.url else "recorded"
    if recordings.url and not recordings.content:
        what = "what is judged, and nothing that is said,"
    if server.inspect:
        tell(f"{what} is {where}, and shown at {address}{ROOT}")
    elif recordings.url:
        tell(f"{what} is {where} (dragoman recordings)")


def _tell(server: Server) -> Say:
    """What says on stderr what is served, where a form of the log was asked for in that."""
    if not server.log_format:
        return partial(click.echo, err=True)
    return lambda text: click.echo(told(Form(server.log_format), text), err=True)


def _fields(*, dialect: str, tools: str | None, **plain: Any) -> dict[str, Any]:
    """The options as fields of a route."""
    dialects = {} if dialect == "auto" else dict.fromkeys(("dialects", "prompt_dialect"), read_dialect(dialect))
    plain["compact"] = plain["compact"] or None
    return {**plain, **dialects, "tools": Tools(tools) if tools else None}


def _config(upstream: str | None, api: str | None, fields: dict[str, Any], tell: Say) -> GatewayConfig:
    try:
        return asyncio.run(look(upstream, api, fields, tell))
    except NothingFound as nothing:
        raise DragomanError(WHAT_TO_DO.format(error=nothing)) from nothing


def _listen(host: str, port: int) -> socket.socket:
    try:
        return listen(host, port)
    except (OSError, UnicodeError) as error:
        number = getattr(error, "errno", None) or 0
        why = os.strerror(number) if number > 0 else getattr(error, "strerror", None) or error
        raise DragomanError(f"cannot listen on {host}:{port}: {why}; choose another --port or --host") from error
