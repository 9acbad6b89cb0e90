"""A process of our own looks through its objects less often, and what it forgets goes without that; nobody else's does."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dragoman.effects import Open
from dragoman.gateway import GatewayConfig, create_app
from dragoman.providers.rows import Tools
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.asgi import call
from tests.support.gateways import PATHS, app
from tests.support.upstreams import ScriptedReply, answered

SERVED = """
import gc
from pathlib import Path
from dragoman.gateway.factory import from_file
before = gc.get_threshold()
from_file(Path({path!r}))
after = gc.get_threshold()
print(after[0] > before[0], gc.isenabled(), gc.get_freeze_count() > 0)
"""


def test_a_served_file_collects_less(tmp_path: Path) -> None:
    settings = tmp_path / "dragoman.toml"
    settings.write_text('[models.m]\nroute = "ollama/m"\n')
    done = subprocess.run(
        [sys.executable, "-c", SERVED.format(path=str(settings))], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "True", "True"]


def test_an_application_in_another_process_changes_nothing() -> None:
    before = gc.get_threshold()
    create_app(GatewayConfig())
    assert gc.get_threshold() == before


# ── what is forgotten goes at once ───────────────────────────────────────────

WHOLE = "openai_chat"
SETS = 150
"""More than are remembered: what was made of most of them is forgotten."""
def _says_hello(sent: Open) -> Answer:
    return answered(WHOLE, ScriptedReply(("Hello.",)), json.loads(sent.body))


def _with_tools_of_its_own(number: int) -> dict[str, Any]:
    choice = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    schema = {"type": "object", "properties": {f"path{number}": choice}, "required": [f"path{number}"]}
    rows = [{"name": f"tool_{number}_{n}", "description": "Reads.", "parameters": schema} for n in range(3)]
    tools = [{"type": "function", "function": row} for row in rows]
    return {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": tools}


def _in_circles(served: Any, numbers: range) -> int:
    """Objects in circles that these requests leave."""
    gc.collect()
    gc.disable()
    try:
        for number in numbers:
            assert call(served, PATHS[WHOLE], _with_tools_of_its_own(number)).status == 200
        return gc.collect()
    finally:
        gc.enable()


def circles_left(tools: str) -> int:
    """Objects in circles that `SETS` sets of tools leave in this process, each of which comes once."""
    served = app(ScriptedPeer(_says_hello), tools=Tools(tools) if tools else None, config={"known_bytes": 100_000})
    _in_circles(served, range(10))
    return _in_circles(served, range(1000, 1000 + SETS))


@pytest.mark.parametrize("tools", ["", "text"])
@pytest.mark.costly
def test_tools_that_never_come_again_leave_nothing_to_collect(tools: str) -> None:
    """Circles of what was forgotten filled a process that met 40,000 sets of tools with half a gigabyte.

    Counted in a process of its own: what other tests left to be forgotten is no circle of these.
    """
    asked = f"from tests.gateway.test_collecting import circles_left; print(circles_left({tools!r}))"
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", asked], cwd=root, capture_output=True, text=True, check=True)
    assert int(done.stdout) < SETS
