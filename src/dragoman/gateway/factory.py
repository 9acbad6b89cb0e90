"""The application of a settings file, made anew in every worker process.

Knows the variable that names the file; nothing of the command line.
"""

from __future__ import annotations

import os
from pathlib import Path

from starlette.types import ASGIApp

from ..errors import UsageError
from .app import create_app
from .observing import observers
from .reloading import Watched
from .settings import load

VARIABLE = "DRAGOMAN_CONFIG"


def from_file(path: Path) -> ASGIApp:
    """The application that serves by the settings in `path`.  Raises UsageError for settings that are wrong."""
    settings = load(path)
    server = settings.server
    return create_app(
        settings.config,
        watched=Watched(path) if server.reload else None,
        observers=observers(server, settings.config),
        drain=server.drain,
    )


def app() -> ASGIApp:
    """The same for the file the environment names: what any ASGI server can be pointed at."""
    named = os.environ.get(VARIABLE, "")
    if not named:
        raise UsageError(f"{VARIABLE} is not set; set it to the path of a dragoman.toml")
    return from_file(Path(named))
