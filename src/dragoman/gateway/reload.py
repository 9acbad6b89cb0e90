"""A settings file that is read again when it changes, while the gateway serves.

Knows files and settings; nothing of requests.  Contract: what is being served goes on under the settings it began with;
a file that is wrong changes nothing and is logged once; so is one that would let in whoever has no key, where
keys are asked for: half a file may look like that.  A file still being written is left alone until it rests.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import TypeAlias

from ..errors import DragomanError
from .config.load import Server, Settings, load
from .config.model import GatewayConfig

log: logging.Logger = logging.getLogger("dragoman.gateway")

EVERY = 1.0
"""Seconds between two looks at the file; it is read when two of them found the same."""
NOT_TAKEN = "the settings were changed and are not taken: %s"
OPENED = "%s asks for no key any more; put [[keys]] back, or start again if everybody shall be let in"
LATER = "of the settings in %s, [server] %s hold from the next start on; start again to have them now"
Stamp: TypeAlias = "tuple[int, int, int, int]"


class Watched:
    """One file; `look` gives its settings where they have changed since the last look.

    `settings` are those that hold now, where they are known.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen = self._stamp()
        self.settings: Settings | None = None

    def changed(self) -> Stamp | None:
        """What the file is now; None where that was seen, or while it is not there."""
        stamp = self._stamp()
        return None if stamp == self._seen else stamp

    def forget(self) -> None:
        """Read it again, changed or not."""
        self._seen = None

    def look(self) -> GatewayConfig | None:
        """The new configuration; None where nothing changed, or what is there now cannot be used."""
        stamp = self._stamp()
        if stamp is None or stamp == self._seen:
            return None
        self._seen = stamp
        try:
            settings = load(self._path)
        except DragomanError as error:
            log.warning(NOT_TAKEN, " ".join(str(error).split()))
            return None
        if self.settings is not None and self.settings.config.access and not settings.config.access:
            log.warning(NOT_TAKEN, OPENED % self._path)
            return None
        self._take(settings)
        return settings.config

    def _take(self, settings: Settings) -> None:
        before, self.settings = self.settings, settings
        log.info("the settings of %s are taken", self._path)
        if before is not None and (later := _differing(before.server, settings.server)):
            log.warning(LATER, self._path, ", ".join(later))

    def _stamp(self) -> Stamp | None:
        """What changes with the file; None while it is not there (editors replace files)."""
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _differing(one: Server, other: Server) -> list[str]:
    return [each.name for each in fields(Server) if getattr(one, each.name) != getattr(other, each.name)]


async def keep_current(
    watched: Watched,
    take: Callable[[GatewayConfig], None],
    every: float = EVERY,
    asked: asyncio.Event | None = None,
) -> None:
    """Look at the file for ever, at once when it is `asked`, and hand on what is new in it."""
    asked, before = asked or asyncio.Event(), None
    while True:
        with suppress(TimeoutError):
            await asyncio.wait_for(asked.wait(), every)
        try:
            now = await asyncio.to_thread(watched.changed)
            if asked.is_set():
                asked.clear()
                watched.forget()
            elif now is None or now != before:
                before = now
                continue
            config = await asyncio.to_thread(watched.look)
            if config is not None:
                take(config)
        except Exception:
            log.exception("the settings could not be looked at for a reason of our own; those of before hold")


@contextmanager
def on_sighup(asked: asyncio.Event) -> Iterator[None]:
    """Within this block SIGHUP asks; at a terminal it still ends the process, for the terminal was closed."""
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "SIGHUP") or (sys.stdin is not None and sys.stdin.isatty()):
        yield
        return
    loop = asyncio.get_running_loop()
    before = signal.signal(signal.SIGHUP, lambda *_: loop.call_soon_threadsafe(asked.set))
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)
