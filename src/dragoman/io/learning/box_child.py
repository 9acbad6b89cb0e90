"""The process that `box.py` starts: one function, one value, one answer, and nothing else is in reach.

The function is run once on what it calls its `WARM` value before the limits hold, so that most modules it needs are
there; one that is needed later is still read.  Then memory and CPU are bounded, and a hook of the interpreter, which
nothing can take away, refuses files (but those of modules, to read), sockets, processes and what else of the system
Python reports.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

try:
    import resource
except ImportError:  # a system without such limits
    resource = None  # type: ignore[assignment]

MOST = 4_000_000
"""Characters of an answer."""
MEGABYTE = 1 << 20
CLOSED = frozenset(
    {"_winapi", "ctypes", "cpython", "fcntl", "ftplib", "glob", "http", "imaplib", "marshal", "mmap",
     "msvcrt", "nntplib", "os", "pathlib", "pickle", "poplib", "pty", "resource", "setopencodehook", "shutil",
     "signal", "smtplib", "socket", "sqlite3", "ssl", "subprocess", "syslog", "telnetlib", "tempfile",
     "urllib", "webbrowser", "winreg"}
)
"""What an event of the interpreter begins with that is not for what runs here."""
MODULES = (".py", ".pyc", ".so", ".pyd", ".dylib")


def main() -> None:
    """Read an order, carry it out within its limits, write the answer."""
    order = json.loads(sys.stdin.buffer.read())
    module, _, name = order["target"].partition(":")
    home = importlib.import_module(module)
    function: Callable[[Any], Any] = getattr(home, name)
    function(home.WARM)
    refused = _confine(order["megabytes"], order["cpu"])
    try:
        answer = {"value": function(order["value"])}
    except MemoryError:
        answer = {"stopped": "memory"}
    except RecursionError:
        answer = {"stopped": "crash"}
    text = json.dumps({"stopped": "reach"} if refused else answer)
    sys.stdout.write(text if len(text) <= MOST else json.dumps({"stopped": "size"}))
    sys.stdout.flush()
    os._exit(0)  # what runs at a normal end might ask for what is out of reach


def _confine(megabytes: int, cpu: int) -> list[str]:
    """From here on the limits hold.  Returns the list that will name what was refused."""
    if resource is not None:
        used = int(time.process_time()) + 1
        _limit("RLIMIT_CPU", used + cpu)
        _limit("RLIMIT_AS", _size() + megabytes * MEGABYTE)
        _limit("RLIMIT_FSIZE", 0)
        _limit("RLIMIT_CORE", 0)
    sys.dont_write_bytecode = True  # a module that is first needed now may be read, and nothing kept of it
    refused: list[str] = []
    places = tuple(os.path.abspath(entry) for entry in sys.path if entry)

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode = str(args[0]), str(args[1] or "r")
            allowed = path.endswith(MODULES) and path.startswith(places) and not set(mode) & set("wax+")
        elif event == "os.listdir":
            allowed = str(args[0]).startswith(places)
        else:
            allowed = event.partition(".")[0] not in CLOSED or event == "marshal.loads"
        if allowed:
            return
        refused.append(event)
        raise PermissionError(f"{event} is out of reach here")

    sys.addaudithook(watch)
    return refused


def _limit(name: str, most: int) -> None:
    with contextlib.suppress(AttributeError, ValueError, OSError):  # one that this system lacks, or holds lower already
        resource.setrlimit(getattr(resource, name), (most, most))


def _size() -> int:
    """Bytes of address space in use; where that cannot be asked, a size that leaves room."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 1 << 40


if __name__ == "__main__":
    main()
