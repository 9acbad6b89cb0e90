"""A real PostgreSQL of this machine's own package, started for the tests that ask for one and gone with them.

The server refuses root: then its programs run as `postgres`.  `skip_without` says where there is none; `cluster` gives
one for a block, on a socket in a directory of its own, without a password and without TCP; `password` sets one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

DEBIAN = Path("/usr/lib/postgresql")
QUICK = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "shared_buffers=16MB", "max_connections=40"]


def programs() -> Path | None:
    """The directory of the server's programs."""
    there = sorted(DEBIAN.glob("*/bin/initdb"), reverse=True)
    named = shutil.which("initdb")
    return there[0].parent if there else Path(named).parent if named else None


def _why_not() -> str:
    if find_spec("psycopg") is None:
        return "psycopg is not installed: pip install 'dragoman[postgres]'"
    if programs() is None:
        return "no PostgreSQL on this machine: apt-get install postgresql"
    return ""


skip_without = pytest.mark.skipif(bool(_why_not()), reason=_why_not() or "there is one")


class Cluster:
    """A server and its directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data, self.log = folder / "data", folder / "log"
        found = programs()
        assert found is not None
        self.bin = found

    @property
    def url(self) -> str:
        """The address of its database."""
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def database(self, name: str) -> str:
        """The address of a new database."""
        self.ask(self.url, f"CREATE DATABASE {name}")
        return f"postgresql://postgres@/{name}?host={self.folder}"

    def ask(self, url: str, text: str) -> list[Any]:
        """What the server answers."""
        psycopg: Any = import_module("psycopg")
        with psycopg.connect(url, autocommit=True) as database:
            cursor = database.execute(text)
            return list(cursor.fetchall()) if cursor.description else []

    def flushed(self) -> Path:
        """The directory of its files, once all it holds stands in them."""
        self.ask(self.url, "CHECKPOINT")
        return self.data

    def pids(self) -> list[int]:
        """Its processes, the first of them last."""
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.pid)], stdout=subprocess.PIPE, text=True, check=False)
        return [*map(int, found.stdout.split()), self.pid]

    def make(self) -> None:
        self._run("initdb", "-D", str(self.data), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "-N")
        with (self.data / "postgresql.conf").open("a", encoding="utf-8") as settings:
            settings.writelines(f"{line}\n" for line in [*QUICK, "listen_addresses=''", f"unix_socket_directories='{self.folder}'"])

    def start(self) -> None:
        self._run("pg_ctl", "-D", str(self.data), "-l", str(self.log), "-w", "start")

    def stop(self, how: str = "immediate") -> None:
        self._run("pg_ctl", "-D", str(self.data), "-m", how, "-w", "stop")

    @property
    def pid(self) -> int:
        """The process of the server."""
        return int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.bin / program), *arguments]
        if os.geteuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd="/", check=False)
        assert done.returncode == 0, f"{program}: {done.stderr}"


@contextmanager
def cluster() -> Iterator[Cluster]:
    """A server that runs for this block."""
    folder = Path(tempfile.mkdtemp(prefix="dragoman-postgres-"))  # a path of sockets must be short
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        folder.chmod(0o755)
        made = Cluster(folder)
        made.make()
        made.start()
        try:
            yield made
        finally:
            if (made.data / "postmaster.pid").exists():
                made.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
