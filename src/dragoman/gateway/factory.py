"""The application of a settings file, made anew in every worker process.

Knows the variable that names the file; nothing of the command line.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from starlette.types import ASGIApp

from ..errors import DragomanError, UsageError
from .app import create_app
from .config.load import Server, load
from .config.model import GatewayConfig
from .config.words import CONFIG
from .observers import log_as, observers
from .process.collecting import collect_less
from .reload import Watched
from .state.stores import stores_for

log: logging.Logger = logging.getLogger("dragoman.gateway")


def from_file(path: Path) -> ASGIApp:
    """The application that serves by the settings in `path`.  Raises UsageError for settings that are wrong."""
    watched = Watched(path)  # before it is read: what changes meanwhile is a change
    watched.settings = settings = load(path)
    server = settings.server
    return _settled(
        create_app(
            settings.config,
            watched=watched if server.reload else None,
            observers=observers(server, settings.config),
            drain_seconds=server.drain_seconds,
            stores=stores_for(server),
        )
    )


def from_config(server: Server, config: GatewayConfig) -> ASGIApp:
    """The application that serves what was found without a file; both can be handed to another process."""
    return _settled(
        create_app(
            config,
            observers=observers(server, config),
            drain_seconds=server.drain_seconds,
            stores=stores_for(server),
        )
    )


def _settled(made: ASGIApp) -> ASGIApp:
    """The application of a process that does nothing else."""
    collect_less()
    return made


def app() -> ASGIApp:
    """The same for the file the environment names: what any ASGI server can be pointed at."""
    named = os.environ.get(CONFIG, "")
    if not named:
        raise UsageError(f"{CONFIG} is not set; set it to the path of a dragoman.toml")
    try:
        return from_file(Path(named))
    except DragomanError as error:  # a worker that begins while the file is being mended: the others go on
        log_as(Server())
        log.error("a process could not begin to serve: %s", " ".join(str(error).split()))
        raise SystemExit(1) from None
