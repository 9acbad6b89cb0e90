"""A settings file that is read again when it changes, while the gateway serves.

Knows files and settings; nothing of requests.  Contract: what is being served goes on under the settings it began with;
a file that is wrong changes nothing and is told once, in the log.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from ..errors import DragomanError
from .config import GatewayConfig
from .settings import load

log = logging.getLogger("dragoman.gateway")

EVERY = 2.0
"""Seconds between two looks at the file."""


class Watched:
    """One file; `look` gives its settings where they have changed since the last look."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen = self._stamp()

    def look(self) -> GatewayConfig | None:
        """The new configuration; None where nothing changed, or what is there now cannot be used."""
        stamp = self._stamp()
        if stamp is None or stamp == self._seen:
            return None
        self._seen = stamp
        try:
            config = load(self._path).config
        except DragomanError as error:
            log.warning("the settings were changed and are not taken: %s", error)
            return None
        log.info("the settings of %s are taken", self._path)
        return config

    def _stamp(self) -> tuple[int, int, int] | None:
        """What changes with the file; None while it is not there (editors replace files)."""
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


async def keep_current(watched: Watched, take: Callable[[GatewayConfig], None], every: float = EVERY) -> None:
    """Look at the file for ever, and hand on what is new in it."""
    while True:
        await asyncio.sleep(every)
        config = await asyncio.to_thread(watched.look)
        if config is not None:
            take(config)
