"""Somebody else's template in a process of its own: what it may not use or reach, and that real ones still learn."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import dragoman
from dragoman.dialects.learning import LearnError
from dragoman.dialects.learning import learn as learn_here
from dragoman.io.learning import box
from tests.support.attacks import ATTACKS
from tests.support.places import ROOT, VECTORS

WARM: Mapping[str, Any] = {}
"""What the process is warmed with when a function of this module runs in it."""
ME = __name__
TEMPLATES = sorted((VECTORS / "learn").glob("*.jinja"))
SECONDS = 2.0


def give_back(value: Any) -> Any:
    return value


def meddle(value: Mapping[str, Any]) -> Any:
    """What a template that broke out might try; errors are swallowed, as it would."""
    for name in value:
        with contextlib.suppress(Exception):
            MEDDLING[name]()
    return "done"


MEDDLING: Mapping[str, Any] = {
    "read": lambda: Path("/etc/passwd").read_text(),
    "write": lambda: Path("/tmp/box-was-here").write_text("x"),
    "list": lambda: list(Path("/").iterdir()),
    "connect": lambda: __import__("socket").create_connection(("127.0.0.1", 9)),
    "run": lambda: os.system("true"),
    "fork": os.fork,
    "spawn": lambda: __import__("subprocess").run(["true"]),
    "lift": lambda: resource.setrlimit(resource.RLIMIT_CPU, (99, 99)),
    "kill": lambda: os.kill(os.getppid(), 0),
    "foreign": lambda: __import__("ctypes").CDLL(None),
    "rename": lambda: os.rename("/tmp/a", "/tmp/b"),
}


def environment(_: Any) -> Any:
    return sorted(os.environ)


def bring(value: Mapping[str, Any]) -> Any:
    """What a module says that is first needed when the limits hold."""
    return value and importlib.import_module(value["module"]).SAYS


def hog(value: Mapping[str, Any]) -> Any:
    return len(bytearray(value.get("bytes", 0)))


def spin(value: Mapping[str, Any]) -> Any:
    while value:
        pass


def shout(value: Mapping[str, Any]) -> Any:
    return "x" * value.get("characters", 0)


def break_down(value: Mapping[str, Any]) -> Any:
    return os._exit(3) if value else None


posix = pytest.mark.skipif(sys.platform == "win32", reason="limits are those of POSIX")


def test_a_value_comes_back_as_it_was() -> None:
    value = {"a": [1, "é\ud800", None, 1.5, True], "b": {}}
    assert box.run(f"{ME}:give_back", value) == value


@pytest.mark.parametrize("what", MEDDLING)
@pytest.mark.costly
def test_what_runs_in_the_box_reaches_nothing_and_is_told_of(what: str) -> None:
    with pytest.raises(box.Stopped, match="file, the network or another process"):
        box.run(f"{ME}:meddle", {what: 1})


def test_the_box_sees_no_environment() -> None:
    os.environ["DRAGOMAN_BOX_SECRET"] = "sk-secret"
    try:
        seen = box.run(f"{ME}:environment", {})
    finally:
        del os.environ["DRAGOMAN_BOX_SECRET"]
    assert set(seen) <= {"PYTHONPATH", "LC_CTYPE", *box.KEPT}


def test_a_module_that_is_first_needed_in_the_box_is_read_and_nothing_of_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "never_imported.py").write_text("SAYS = 'here'")
    monkeypatch.syspath_prepend(tmp_path)
    assert box.run(f"{ME}:bring", {"module": "never_imported"}) == "here"
    assert [path.name for path in tmp_path.iterdir()] == ["never_imported.py"]


@posix
@pytest.mark.parametrize(
    ("target", "value", "why"),
    [
        ("hog", {"bytes": 1 << 30}, "megabytes|MB"),
        pytest.param("spin", {"on": 1}, "seconds", marks=pytest.mark.slow),  # the wall clock's seconds are shown by less
        ("shout", {"characters": 5_000_000}, "too long"),
        ("break_down", {"now": 1}, "broke down"),
    ],
)
@pytest.mark.costly
def test_a_limit_that_is_met_is_named(target: str, value: Any, why: str) -> None:
    with pytest.raises(box.Stopped, match=why):
        box.run(f"{ME}:{target}", value)


def test_the_wall_clock_ends_what_waits() -> None:
    with pytest.raises(box.Stopped, match="seconds"):
        box.run(f"{ME}:spin", {"on": 1}, box.Limits(seconds=0.5))


# ── templates ────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_learning_in_the_box_gives_what_learning_here_gives() -> None:
    for path in TEMPLATES[:6]:
        source = path.read_text(encoding="utf-8")
        assert dragoman.learn(source) == learn_here(source)


def outcome(learn: Callable[[str], object], source: str) -> object:
    try:
        return learn(source)
    except LearnError as why:
        return why.what


@pytest.mark.slow
@pytest.mark.parametrize("path", TEMPLATES, ids=lambda p: p.stem)
def test_every_real_template_is_learned_in_the_box(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert outcome(dragoman.learn, source) == outcome(learn_here, source)


def test_an_error_of_the_template_is_told_as_it_is_told_here() -> None:
    with pytest.raises(LearnError, match="calls"):
        dragoman.learn("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")


def test_what_is_no_json_is_refused_with_words() -> None:
    with pytest.raises(LearnError, match="not JSON"):
        dragoman.learn(tokenizer_config={"chat_template": object()})


def attacked(first: int, step: int) -> None:
    """Each of these attacks is learned or refused, within its CPU time and memory."""
    command = [sys.executable, "-m", "tests.support.attacks", str(first), str(step)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert len(told) == len(ATTACKS[first::step])
    assert max(one["cpu"] for one in told) < SECONDS + 2.5
    assert max(one["megabytes"] for one in told) < 256


@posix
@pytest.mark.slow
def test_an_attack_ends_in_time_and_memory() -> None:
    attacked(0, len(ATTACKS) // 8)


@posix
@pytest.mark.slow
@pytest.mark.parametrize("first", range(3))
def test_a_third_of_all_attacks_ends_in_time_and_memory(first: int) -> None:
    assert len(ATTACKS) >= 226
    attacked(first * 3, 9)
