"""`dragoman run`: the answer on stdout, everything else on stderr, exit codes, approvals, tools from anywhere."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli.approval import NOBODY
from dragoman.cli.load_tools import load_tools
from dragoman.errors import UsageError
from dragoman.sim import FaultKind, WeakModel, running
from tests.support import handy
from tests.support.places import ROOT

from .conftest import Run

WEATHER = "What is the weather in Oslo and Paris?"
SAVE = 'Call save with text="hello".'


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running(WeakModel()) as base:
        yield f"{base}/v1"


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    handy.RAN.clear()


@pytest.fixture
def ask(run: Run, url: str) -> Run:
    """`dragoman run` against the weak model."""

    def ran(*arguments: object, **more: Any) -> Any:
        return run("run", "--model", "weak", "--base-url", url, *arguments, **more)

    return ran


def test_the_answer_is_all_there_is_on_stdout(ask: Run) -> None:
    ran = ask("--tools", "tests.support.handy:WEATHER", WEATHER)
    assert (ran.code, ran.out) == (0, "Oslo: rain. Paris: sun.\n")
    assert '→ get_weather {"city": "Oslo"}' in ran.err
    assert "← rain" in ran.err
    assert sorted(handy.RAN) == ["get_weather Oslo", "get_weather Paris"]


def test_the_task_may_be_piped_in_and_stderr_be_quiet(ask: Run) -> None:
    for words in ((), ("-",)):
        ran = ask("-q", "-t", "tests.support.handy:WEATHER", *words, stdin=WEATHER)
        assert (ran.code, ran.out, ran.err) == (0, "Oslo: rain. Paris: sun.\n", "")


def test_every_step_is_a_line_of_json(ask: Run) -> None:
    ran = ask("--json", "-t", "tests.support.handy:WEATHER", WEATHER)
    steps = [json.loads(line) for line in ran.out.splitlines()]
    kinds = [step["type"] for step in steps]
    assert kinds[0] == "turn_started"
    assert kinds.count("tool_started") == kinds.count("tool_ended") == 2
    assert {step["text"] for step in steps if step["type"] == "tool_ended"} == {"rain", "sun"}
    assert "".join(s["text"] for s in steps if s["type"] == "text").strip() == "Oslo: rain. Paris: sun."
    end = steps[-1]
    assert (end["type"], end["end"], end["done"], end["turns"]) == ("end", "answered", True, 2)
    assert ran.err == ""


def test_a_mended_call_is_shown_with_what_was_mended(ask: Run, run: Run) -> None:
    with running(WeakModel(rates={FaultKind.SLOPPY: 1.0})) as base:
        ran = run("run", "-m", "weak", "--base-url", f"{base}/v1", "-t", "tests.support.handy:WEATHER", WEATHER)
    assert ran.code == 0
    assert "  mended · tool_call_fence · " in ran.err


def test_the_dialect_may_be_chosen(ask: Run) -> None:
    ran = ask("--json", "--dialect", "hermes", "-t", "tests.support.handy:WEATHER", WEATHER)
    calls = [c for line in ran.out.splitlines() for c in json.loads(line).get("calls", ())]
    assert {call["report"]["dialect"] for call in calls} == {"hermes"}
    assert ask("--dialect", "hermess", "hi").code == 2


def test_a_final_tools_value_is_the_answer(ask: Run) -> None:
    ran = ask("-t", "tests.support.handy:MORE", "--approve", "never", "Call hand_in with value=3.")
    assert (ran.code, json.loads(ran.out)) == (0, {"value": 3})


# ── approval ─────────────────────────────────────────────────────────────────


def test_a_writing_call_needs_somebody_to_ask(ask: Run) -> None:
    ran = ask("-t", "tests.support.handy:MORE", SAVE)
    assert handy.RAN == []
    assert ran.err.count("--approve never allows every call") == 1
    assert "save was not allowed" in ran.err


def test_json_output_reports_a_denied_call(ask: Run) -> None:
    steps = [json.loads(line) for line in ask("--json", "-t", "tests.support.handy:MORE", SAVE).out.splitlines()]
    assert {step["reason"] for step in steps if step["type"] == "denied"} == {NOBODY}
    assert not any(step["type"] == "tool_started" for step in steps)


def test_approve_never_asks_nobody(ask: Run) -> None:
    assert ask("-t", "tests.support.handy:MORE", "--approve", "never", SAVE).code == 0
    assert handy.RAN == ["save hello"]


class Terminal(io.TextIOWrapper):
    """A person who types these lines."""

    def __init__(self, *lines: str) -> None:
        super().__init__(io.BytesIO("".join(f"{line}\n" for line in lines).encode()), encoding="utf-8")

    def isatty(self) -> bool:
        return True


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, url: str, capsys: pytest.CaptureFixture[str]) -> Any:
    from dragoman.cli import main  # noqa: PLC0415 - after stdin is in place

    def ran(*arguments: str, lines: tuple[str, ...]) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", Terminal(*lines))
        code = main(["run", "-m", "weak", "--base-url", url, *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return ran


# (approval mode, what is typed, task, what ran)
ASKED: list[tuple[str, tuple[str, ...], str, list[str]]] = [
    ("writes", ("y",), SAVE, ["save hello"]),
    ("writes", ("",), SAVE, ["save hello"]),
    ("writes", ("a",), 'Call save with text="a", then call save with text="b".', ["save a", "save b"]),
    (
        "writes",
        ("y", "n", "not twice", "n", "", "n", ""),
        'Call save with text="a", then call save with text="b".',
        ["save a"],
    ),
    ("writes", (), "What is the weather in Oslo?", ["get_weather Oslo"]),
    ("always", ("y",), "What is the weather in Oslo?", ["get_weather Oslo"]),
    ("writes", ("what?", "y"), SAVE, ["save hello"]),
]


@pytest.mark.parametrize(("mode", "lines", "task", "ran"), ASKED)
def test_a_person_is_asked(typed: Any, mode: str, lines: tuple[str, ...], task: str, ran: list[str]) -> None:
    code, _, err = typed("-t", "tests.support.handy", "--approve", mode, task, lines=lines)
    assert ran == handy.RAN
    assert code == 0
    assert ("run it?" in err) is bool(lines)


def test_a_person_may_edit_the_arguments(typed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    edits = iter(["{broken", "[]", '{"text": "edited"}'])
    monkeypatch.setattr("click.edit", lambda text, extension: next(edits))
    _, _, err = typed("-t", "tests.support.handy:MORE", SAVE, lines=("e",))
    assert handy.RAN == ["save edited"]
    assert "not JSON" in err
    assert "must be an object" in err


def test_an_end_of_input_at_a_question_stops_the_run(typed: Any) -> None:
    code, out, _ = typed("-t", "tests.support.handy:MORE", SAVE, lines=())
    assert (code, out, handy.RAN) == (130, "", [])


def test_ctrl_c_stops_the_run(ask: Run) -> None:
    ran = ask("-t", "tests.support.handy", "Call dawdle.")
    assert ran.code == 130
    assert "interrupted" in ran.err


# ── what goes wrong ──────────────────────────────────────────────────────────


def test_a_run_without_an_answer_fails_and_says_why(ask: Run) -> None:
    ran = ask("--max-turns", 1, "-t", "tests.support.handy:WEATHER", WEATHER)
    assert (ran.code, ran.out) == (1, "")
    assert "stopped at the limit of turns (1)" in ran.err


def test_a_model_that_cannot_be_asked_fails_and_says_why(run: Run, url: str) -> None:
    ran = run("run", "-m", "unheard-of", "--base-url", url, "hello")
    assert (ran.code, ran.out) == (1, "")
    assert "'unheard-of' not found" in ran.err


WRONG = [
    (("-t", "nonexistent_module", "hi"), "cannot load nonexistent_module"),
    (("-t", "tests.support.handy:nothing", "hi"), "has no 'nothing'"),
    (("-t", "tests.support.handy:NUMBER", "hi"), "is int, and no tools"),
    (("-t", "tests.cli", "hi"), "there is no function"),
    (("--mcp", "nonexistent.json", "hi"), "give the path of a file"),
    (("--approve", "sometimes", "hi"), "sometimes"),
    (("--resume",), "--resume needs --journal"),
    (("-m", "nobody/x", "--base-url", "", "hi"), "names no provider"),
    ((), "there is nothing to say"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[w[1] for w in WRONG])
def test_a_wrong_call_is_told_with_its_remedy(ask: Run, arguments: tuple[str, ...], message: str) -> None:
    ran = ask(*arguments)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_without_a_model_it_says_how_to_get_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DRAGOMAN_MODEL", raising=False)
    monkeypatch.setattr("dragoman.gateway.discovery.discover", list)
    ran = run("run", "hello")
    assert ran.code == 2
    assert "--model provider/model" in ran.err


def test_a_model_found_on_this_machine_is_used(run: Run, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from dragoman.gateway.discovery import Found  # noqa: PLC0415
    from dragoman.providers.rows import COMPATIBLE  # noqa: PLC0415

    monkeypatch.delenv("DRAGOMAN_MODEL", raising=False)
    found = Found(provider=COMPATIBLE["openai_chat"], base_url=url, models=("weak",))
    monkeypatch.setattr("dragoman.gateway.discovery.discover", lambda: [found])
    ran = run("run", "hello")
    assert (ran.code, "scripted model" in ran.out) == (0, True)
    assert "using " in ran.err


def test_the_demo_needs_nothing(run: Run) -> None:
    assert run("run", "--demo", "-q", "-t", "tests.support.handy:WEATHER", WEATHER).out == "Oslo: rain. Paris: sun.\n"


def test_a_journal_is_told_again(ask: Run, tmp_path: Path) -> None:
    journal = tmp_path / "run.db"
    first = ask("-q", "-t", "tests.support.handy:WEATHER", "--journal", journal, WEATHER)
    again = ask("-q", "-t", "tests.support.handy:WEATHER", "--journal", journal, "--resume")
    assert (again.code, again.out) == (first.code, first.out) == (0, "Oslo: rain. Paris: sun.\n")
    assert len(handy.RAN) == 2


# ── tools from anywhere ──────────────────────────────────────────────────────

NAMED = [
    ("tests.support.handy:WEATHER", ["get_weather"]),
    ("tests.support.handy:MORE", ["save", "hand_in"]),
    ("tests.support.handy:save", ["save"]),
    ("tests.support.handy:BOX", ["open"]),
    ("tests.support.handy", ["get_weather", "save", "hand_in", "dawdle", "hang"]),
    (f"{ROOT}/tests/support/handy.py:WEATHER", ["get_weather"]),
]


@pytest.mark.parametrize(("name", "tools"), NAMED)
def test_tools_are_named_by_module_or_file(name: str, tools: list[str]) -> None:
    assert list(load_tools([name])) == tools


def test_a_file_is_loaded_once_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "queue.py").write_text(
        "from dataclasses import dataclass\nfrom dragoman import tool\n\n@dataclass\nclass Job:\n    name: str\n\n"
        "@tool\ndef add(job: Job) -> str:\n    'Add a job.'\n    return job.name\n",
        encoding="utf-8",
    )
    where = f"{tmp_path}/queue.py"
    assert list(load_tools([where, f"{where}:add"])) == ["add"]


BROKEN = [("import nothing_like_it", "No module named"), ("def (", "invalid syntax"), ("raise ValueError('x')", "x")]


@pytest.mark.parametrize(("code", "message"), BROKEN)
def test_a_file_that_cannot_be_loaded_says_why(code: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(code, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        load_tools([f"{tmp_path}/broken.py"])


def test_mcp_servers_lend_their_tools(ask: Run, tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    lab = {"command": sys.executable, "args": ["-m", "tests.support.mcp_lab"], "cwd": str(ROOT)}
    path.write_text(json.dumps({"mcpServers": {"lab": lab, "bad": {"command": "/nonexistent"}}}), encoding="utf-8")
    ran = ask("--mcp", path, "-t", "tests.support.handy:WEATHER", 'Call echo with text="over there".')
    assert (ran.code, ran.out) == (0, "echo answered: over there\n")
    assert "cannot start MCP server 'bad'" in ran.err


def test_a_file_of_plain_functions_is_tools_as_it_is_in_python(ask: Run, tmp_path: Path) -> None:
    file = tmp_path / "plain.py"
    file.write_text(
        "from os.path import join\n\n\ndef get_weather(city: str) -> str:\n    \"\"\"The weather.\"\"\"\n    return 'rain'\n\n\n"
        "def _helper(x):\n    return x\n",
        encoding="utf-8",
    )
    ran = ask("--approve", "never", "-t", str(file), "What is the weather in Oslo?")
    assert (ran.code, ran.out) == (0, "Oslo: rain.\n")


@pytest.mark.parametrize("command", ["run", "chat"])
def test_the_demo_brings_its_tools(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("buy milk", encoding="utf-8")
    task = 'Call read_file with path="notes.txt".'
    words, stdin = ((task,), "") if command == "run" else ((), f"{task}\n")
    ran = run(command, "--demo", "--approve", "never", *words, stdin=stdin)
    assert ran.code == 0
    assert "buy milk" in ran.out


def test_a_provider_that_is_nearly_one_is_told(run: Run) -> None:
    ran = run("run", "--model", "opnai/gpt-4o", "hi")
    assert ran.code == 2
    assert "did you mean 'openai'" in ran.err
