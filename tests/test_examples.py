"""Every example runs, against a model that has no tool calling, and does what it says."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from collections.abc import Iterator

import pytest

from dragoman.sim import WeakModel, running
from tests.support import places

EXAMPLES = places.ROOT / "examples"
README = (EXAMPLES / "README.md").read_text(encoding="utf-8")

PRINTED = {
    "weather.py": ["Oslo: rain, 4 °C. Paris: sun, 19 °C."],
    "stream.py": ["[price {'item': 'tea'}, 0 mends]", "[price → 3.20]", "price answered: 4.50", "2 turns, "],
    "at_once.py": ["Oslo: fine in Oslo.", "Paris: fine in Paris.", "Lima: fine in Lima."],
    "structured.py": ["Oslo: 277.65 K"],
    "approval.py": ["delete_file answered: deleted notes.txt", "keys are never deleted", "left: keys.txt"],
    "files.py": ["The total is 1801.25; I wrote it to total.txt.", "total.txt holds 1801.25"],
    "fallback.py": ["Oslo: fine in Oslo.", "resting: "],
    "journal.py": ["pay answered: paid A-1", "pay answered: paid A-2", "paid 2 times"],
    "mcp_tools.py": ["the server offers add_days, weekday", "add_days answered: 2026-03-02"],
    "mcp_server.py": [],
    "turn_by_turn.py": ["get_weather {'city': 'Oslo'}: accepted", "Oslo: rain in Oslo."],
}
"""Program → what it prints, among other things."""
ASKING = sorted(set(PRINTED) - {"mcp_server.py"})
"""Those that ask a model."""

WEAK = {"DRAGOMAN_MODEL": "ollama/weak", "PYTHONUTF8": "1", "PYTHONPATH": str(places.ROOT / "src")}
"""The weak model, asked by the package of this tree: another may be installed."""


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    with running(WeakModel()) as url:
        yield url.removeprefix("http://")


@pytest.mark.parametrize("name", PRINTED)
@pytest.mark.costly
def test_an_example_does_what_it_says(
    name: str, host: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", host)
    monkeypatch.setenv("DRAGOMAN_MODEL", "ollama/weak")
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    printed = capsys.readouterr().out
    assert [line for line in PRINTED[name] if line not in printed] == []


def test_an_example_runs_as_a_program(host: str) -> None:
    environ = {"OLLAMA_HOST": host, **WEAK}
    command = [sys.executable, "-W", "error", str(EXAMPLES / "weather.py")]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Oslo: rain, 4 °C. Paris: sun, 19 °C.\n", "")


@pytest.mark.parametrize("name", ASKING)
@pytest.mark.costly
def test_an_example_without_a_model_fails_in_words(name: str) -> None:
    environ = {"OLLAMA_HOST": "127.0.0.1:9", **WEAK}
    command = [sys.executable, str(EXAMPLES / name)]
    done = subprocess.run(command, env={**os.environ, **environ}, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 1
    assert "127.0.0.1:9" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_the_list_of_examples_names_them_all() -> None:
    there = {path.name for path in EXAMPLES.glob("*.py")}
    assert there == set(PRINTED) == {line.split("`")[1] for line in README.splitlines() if line.startswith("| `")}


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_is_short_and_says_what_it_shows(name: str) -> None:
    lines = (EXAMPLES / name).read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 60
    assert lines[0].startswith('"""')
