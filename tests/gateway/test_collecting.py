"""A process of our own looks through its objects less often; nobody else's does."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

from dragoman.gateway import GatewayConfig, create_app

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
