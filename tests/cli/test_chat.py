"""`dragoman chat`: a conversation that is kept, streamed, and outlives Ctrl-C."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli.chat_store import Chat, folder, latest
from dragoman.errors import UsageError
from dragoman.sim import Journal, WeakModel, running
from dragoman.types import Message, ToolCall, ToolResult
from tests.support import handy
from tests.support.clocks import LONG
from tests.support.places import ROOT

from .conftest import Run

SEEN = Journal()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running(WeakModel(), journal=SEEN) as base:
        yield f"{base}/v1"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    handy.RAN.clear()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return folder()


@pytest.fixture
def chat(run: Run, url: str) -> Any:
    def ran(*lines: str, options: tuple[object, ...] = ()) -> Any:
        return run(
            "chat", "-m", "weak", "--base-url", url, "-t", "tests.support.handy", *options, stdin="\n".join(lines) + "\n"
        )

    return ran


def kept(path: Path) -> list[Message]:
    return list(Chat.at(path).messages)


def test_lines_are_answered_on_stdout_and_calls_on_stderr(chat: Any, state: Path) -> None:
    ran = chat("What is the weather in Oslo?", "", "What is the weather in Paris?")
    assert (ran.code, ran.out) == (0, "Oslo: rain.\nParis: sun.\n")
    assert ran.err.splitlines()[:2] == ['→ get_weather {"city": "Oslo"}', "← rain"]
    [path] = state.iterdir()
    assert [m.role for m in kept(path)] == ["user", "assistant", "tool", "assistant"] * 2
    assert path.stat().st_mode & 0o077 == 0


def test_a_conversation_is_gone_on_with(chat: Any) -> None:
    chat("What is the weather in Oslo?")
    [first] = folder().iterdir()
    chat("Hello.")
    [second] = set(folder().iterdir()) - {first}
    os.utime(first, (9e9, 9e9))
    chat("What is the weather in Paris?", options=("--continue",))
    assert latest() == first
    assert [m.text for m in kept(first) if m.role == "user"] == [
        "What is the weather in Oslo?",
        "What is the weather in Paris?",
    ]
    assert "Oslo" in "".join(message.text for message in SEEN.exchanges[-1].messages)
    assert [m.text for m in kept(second) if m.role == "user"] == ["Hello."]


def test_a_conversation_may_have_a_file_of_its_own(chat: Any, tmp_path: Path, state: Path) -> None:
    path = tmp_path / "talk.jsonl"
    for line in ("What is the weather in Oslo?", "What is the weather in Paris?"):
        assert chat(line, options=("--history", path)).code == 0
    assert len(kept(path)) == 8
    assert not state.exists()


def test_steps_are_lines_of_json(chat: Any) -> None:
    ran = chat("What is the weather in Oslo?", "Hello.", options=("--json",))
    steps = [json.loads(line) for line in ran.out.splitlines()]
    assert [step["text"] for step in steps if step["type"] == "tool_ended"] == ["rain"]
    assert [step["done"] for step in steps if step["type"] == "end"] == [True, True]
    assert ran.err == ""


def test_commands_are_for_us_and_not_for_the_model(chat: Any, state: Path) -> None:
    before = len(SEEN.exchanges)
    ran = chat("/help", "/tools", "/nonsense", "/undo", "/exit", "What is the weather in Oslo?")
    assert (ran.code, ran.out, len(SEEN.exchanges)) == (0, "", before)
    for line in ("/new", "get_weather  The weather in a city.", "there is no /nonsense", "there is nothing to forget"):
        assert line in ran.err


def test_a_message_can_be_forgotten_and_a_conversation_begun_anew(chat: Any) -> None:
    chat("What is the weather in Oslo?", "What is the weather in Paris?", "/undo", "/new", "Hello.")
    talks = [[m.text for m in kept(path) if m.role == "user"] for path in folder().iterdir()]
    assert sorted(talks) == [["Hello."], ["What is the weather in Oslo?"]]


def test_a_model_that_fails_does_not_lose_the_conversation(run: Run, url: str, tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    ran = run("chat", "-m", "unheard-of", "--base-url", url, "--history", path, stdin="Hello.\n")
    assert ran.code == 1
    assert "'unheard-of' not found" in ran.err
    assert [m.text for m in kept(path)] == ["Hello."]


def test_ctrl_c_stops_the_answer_and_keeps_the_conversation(chat: Any, state: Path) -> None:
    ran = chat("Call dawdle.", "What is the weather in Oslo?")
    assert ran.code == 0
    assert "interrupted" in ran.err
    assert ran.out.splitlines()[-1] == "Oslo: rain."
    [path] = state.iterdir()
    messages = kept(path)
    calls = [c.id for m in messages for c in m.calls]
    assert calls == [r.call_id for m in messages for r in m.results]
    assert len(calls) == 2


def test_without_a_conversation_there_is_none_to_go_on_with(run: Run) -> None:
    ran = run("chat", "--demo", "--continue", stdin="Hello.\n")
    assert ran.code == 2
    assert "begin one without --continue" in ran.err


# ── the file ─────────────────────────────────────────────────────────────────


def test_what_is_kept_is_what_was_said(tmp_path: Path) -> None:
    call = ToolCall(id="c1", name="t", arguments={"a": [1, None, "é\n"]}, raw='{"a":[1,null,"é\\n"]}')
    messages = [
        Message("user", "hi"),
        Message("assistant", [call]),
        Message("tool", [ToolResult(call_id="c1", content="x")]),
    ]
    chat = Chat.at(tmp_path / "deep" / "talk.jsonl")
    chat.replace([Message("system", "be brief"), *messages])
    assert kept(chat.path) == messages
    assert chat.undo()
    assert kept(chat.path) == []
    assert [path.name for path in chat.path.parent.iterdir()] == ["talk.jsonl"]


@pytest.mark.parametrize("text", ["not JSON", "3", '{"!": "Text", "text": "x", "metadata": {}}', '{"!": "os.system"}'])
def test_another_file_is_no_conversation(text: str, tmp_path: Path) -> None:
    (tmp_path / "other").write_text(text + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match="holds no conversation"):
        Chat.at(tmp_path / "other")


# ── a real terminal ──────────────────────────────────────────────────────────


class Terminal:
    """A person at a terminal: the command in a process of its own, behind a pseudo-terminal."""

    def __init__(self, *arguments: str, environ: dict[str, str]) -> None:
        self._near, far = pty.openpty()
        command = [sys.executable, "-m", "dragoman", *arguments]
        self.process = subprocess.Popen(
            command, stdin=far, stdout=far, stderr=far, cwd=ROOT, env=environ, start_new_session=True
        )
        os.close(far)
        self.screen = ""

    def wait_for(self, text: str) -> None:
        """Read until `text` is on the screen."""
        while text not in self.screen:
            ready, _, _ = select.select([self._near], [], [], LONG)
            assert ready, self.screen
            try:
                self.screen += os.read(self._near, 4096).decode("utf-8", "replace")
            except OSError:
                raise AssertionError(f"ended before it said {text!r}: {self.screen}") from None

    def type(self, text: str) -> None:
        self.screen = ""
        os.write(self._near, text.encode())

    def end(self) -> int:
        try:
            return self.process.wait(LONG)
        finally:
            self.process.kill()
            self.process.wait()
            os.close(self._near)


def test_a_terminal_session_prompts_asks_stops_and_continues(url: str, tmp_path: Path) -> None:
    environ = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "NO_COLOR": "1", "TERM": "dumb"}
    terminal = Terminal("chat", "-m", "weak", "--base-url", url, "-t", "tests.support.handy", environ=environ)
    try:
        terminal.wait_for("> ")
        terminal.type('Call save with text="hello".\n')
        terminal.wait_for("run it?")
        terminal.type("y\n")
        terminal.wait_for("save answered: saved 'hello'")
        terminal.wait_for("> ")
        terminal.type("Call hang.\n")
        terminal.wait_for("interrupted")
        terminal.wait_for("> ")
        terminal.type("What is the weather in Oslo?\n")
        terminal.wait_for("Oslo: rain.")
        terminal.wait_for("> ")
        terminal.type("/exit\n")
    finally:
        code = terminal.end()
    assert code == 0


def test_ctrl_c_at_the_prompt_ends_it(url: str, tmp_path: Path) -> None:
    environ = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "NO_COLOR": "1", "TERM": "dumb"}
    terminal = Terminal("chat", "-m", "weak", "--base-url", url, environ=environ)
    try:
        terminal.wait_for("> ")
        while terminal.process.poll() is None:  # readline hears no signal before it waits for keys
            os.kill(terminal.process.pid, signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                terminal.process.wait(0.1)
    finally:
        code = terminal.end()
    assert code in (130, -signal.SIGINT)  # a shell tells both as 130
