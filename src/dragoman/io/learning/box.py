"""A function of ours run on somebody else's data in a process of its own, with limits of memory, time and reach.

What is run so is given and gives JSON.  The process sees no environment but Python's search path, and may read nothing
but modules (`box_child.py`); where the system has no such limits (Windows), the wall clock is the only one.  Knows
nothing of what is run.
Contract: `run` returns what the function returned, or raises `Stopped` within `LIMITS.seconds` of wall time; nothing is
left running.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

from ...records import NamedTuple


class Limits(NamedTuple):
    """What a process may use: megabytes beside what it has when it begins, seconds of CPU, seconds in all."""

    megabytes: int = 192
    cpu: int = 2
    seconds: float = 30.0


LIMITS = Limits()
WORDS = {
    "memory": "it needs more than {0.megabytes} MB",
    "time": "it takes more than {0.cpu} seconds",
    "reach": "it asked for a file, the network or another process",
    "size": "what it gave is too long",
    "crash": "the process that ran it broke down",
}
"""Why a process was stopped."""
ENDED = {-getattr(signal, name, 0): "time" for name in ("SIGXCPU", "SIGKILL")}
KEPT = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""What Python itself needs of the environment, on one system or another."""


class Stopped(Exception):
    """The process was stopped; the words say why."""

    def __init__(self, why: str, limits: Limits) -> None:
        self.why = why
        super().__init__(WORDS[why].format(limits))


def run(target: str, value: Any, limits: Limits = LIMITS) -> Any:
    """What `target` ("module:function") gives for `value`.  Raises `Stopped`."""
    command = [sys.executable, "-P", "-m", f"{__package__}.box_child"]
    order = json.dumps({"target": target, "value": value, "megabytes": limits.megabytes, "cpu": limits.cpu})
    try:
        done = subprocess.run(
            command, input=order.encode("utf-8", "surrogatepass"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            timeout=limits.seconds, env=_environment(), check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise Stopped("time", limits) from None
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        raise Stopped(ENDED.get(done.returncode, "crash"), limits) from None
    if "stopped" in answer:
        raise Stopped(answer["stopped"], limits)
    return answer["value"]


def _environment() -> dict[str, str]:
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return {"PYTHONPATH": path, **{name: os.environ[name] for name in KEPT if name in os.environ}}
