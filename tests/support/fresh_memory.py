"""A process that remembers nothing: whatever it is asked, it is asked first.

It is started once, loads everything, and forks for every request: what a request leaves in memory goes with its fork.
"""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from dragoman.turn.capabilities import Capabilities
from dragoman.types import EMPTY_OBJECT_SCHEMA, NOTHING, Message, Request, Tool
from tests.support.drawn_turns import ROUTES, Lesson, sent, taught

SINGLE = {"nothing": NOTHING, "empty": EMPTY_OBJECT_SCHEMA}
"""Values that are known by what they are, not by what they say."""
ROOTS = [str(Path(__file__).resolve().parents[2]), *sys.path]


class _Pickler(pickle.Pickler):
    def persistent_id(self, obj: Any) -> str | None:
        return next((name for name, one in SINGLE.items() if obj is one), None)


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, pid: str) -> Any:
        return SINGLE[pid]


def written(value: Any) -> bytes:
    """A value as it is now, whatever becomes of it."""
    made = io.BytesIO()
    _Pickler(made).dump(value)
    return made.getvalue()


def _put(to: BinaryIO, data: bytes) -> None:
    to.write(len(data).to_bytes(8, "big") + data)
    to.flush()


def _get(by: BinaryIO) -> bytes:
    return by.read(int.from_bytes(by.read(8), "big"))


class FreshMemory:
    """The process, while this is open."""

    def __enter__(self) -> FreshMemory:
        path = os.pathsep.join(ROOTS)
        command = [sys.executable, "-c", "from tests.support.fresh_memory import serve; serve()"]
        self._process: Any = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def asks(self, request: bytes) -> None:
        """Begin to ask what was `written`: a request, the name of its route, and what was learnt."""
        _put(self._process.stdin, request)

    def sent(self) -> Any:
        """What went out."""
        return pickle.loads(_get(self._process.stdout))


def _load() -> None:
    """Load what is loaded late, by asking each place, as if it were another, for something else."""
    tools = (Tool(name="zzz", parameters={"type": "object", "properties": {}}),)
    other = Request(model="zzz", messages=(Message("user", "zzz"),), tools=tools, stream=True)
    for route in ROUTES.values():
        sent(other, replace(route), Capabilities())


def serve() -> None:
    """Answer until there is nothing more to answer."""
    _load()
    while data := _get(sys.stdin.buffer):
        if child := os.fork():
            os.waitpid(child, 0)
            continue
        asked: tuple[Request, str, list[Lesson]] = _Unpickler(io.BytesIO(data)).load()
        request, name, lessons = asked
        _put(sys.stdout.buffer, pickle.dumps(sent(request, ROUTES[name], taught(lessons, Capabilities()))))
        os._exit(0)
