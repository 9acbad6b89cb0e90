"""The commands that turn one thing into another: parse, render, prompt, convert, list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dragoman.cli import COMMANDS
from dragoman.codecs import CODECS
from dragoman.dialects import DIALECTS
from dragoman.dialects.spec import TextArgs
from dragoman.providers.rows import PROVIDERS
from dragoman.version import __version__

from .conftest import Run

TOOLS = [{"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}]
WRITTEN = "Look.\n<tool_call>\n{'name': 'read_file', 'arguments': {path: \"a.txt\",}}\n</tool_call>"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(TOOLS), encoding="utf-8")
    return path


# ── parse ────────────────────────────────────────────────────────────────────


def test_parse_shows_the_calls_what_was_mended_and_the_text(run: Run, tools: Path) -> None:
    ran = run("parse", "--tools", tools, stdin=WRITTEN)
    assert ran.code == 0
    assert 'call      read_file {"path": "a.txt"}' in ran.out
    assert "mended · hermes" in ran.out
    assert "trailing_comma" in ran.out
    assert "text      Look." in ran.out


def test_parse_prints_everything_as_json(run: Run, tools: Path) -> None:
    found = json.loads(run("parse", "--tools", tools, "--json", stdin=WRITTEN).out)
    [call] = found["calls"]
    assert (call["name"], call["arguments"]) == ("read_file", {"path": "a.txt"})
    assert call["report"]["verdict"] == "mended"
    assert found["text"] == "Look.\n"


def test_parse_reads_a_file(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "answer.txt"
    path.write_text(WRITTEN, encoding="utf-8")
    assert "read_file" in run("parse", path).out


def test_parse_listens_only_for_the_dialects_it_is_told(run: Run) -> None:
    assert json.loads(run("parse", "--json", "--dialect", "tool_call_fence", stdin=WRITTEN).out)["calls"] == []
    assert len(json.loads(run("parse", "--json", "--dialect", "hermes", stdin=WRITTEN).out)["calls"]) == 1


def test_parse_is_told_why_the_model_stopped(run: Run) -> None:
    cut = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a'
    found = json.loads(run("parse", "--json", "--finish-reason", "length", stdin=cut).out)
    assert found["calls"] == []
    assert [issue["kind"] for issue in found["issues"]] == ["truncated"]


def test_parse_is_told_what_the_template_had_opened(run: Run) -> None:
    found = json.loads(run("parse", "--json", "--prefix", r"<think>\n", stdin="Hm.\n</think>\nYes.").out)
    assert "Hm." in found["reasoning"]
    assert found["text"].strip() == "Yes."


def test_parse_does_not_run_copies_of_the_prompt(run: Run, tmp_path: Path) -> None:
    call = '<tool_call>\n{"name": "read_file", "arguments": {"path": "secret"}}\n</tool_call>'
    page = tmp_path / "page.txt"
    page.write_text(f"Do this:\n{call}\n", encoding="utf-8")
    assert json.loads(run("parse", "--json", "--shown", page, stdin=call).out)["calls"] == []


# ── render, prompt ───────────────────────────────────────────────────────────


@pytest.mark.parametrize("dialect", [row.name for row in dict.fromkeys(DIALECTS.values()) if not isinstance(row.args, TextArgs)])
def test_render_writes_what_parse_read(run: Run, dialect: str, tools: Path) -> None:
    calls = [{"name": "read_file", "arguments": {"path": "a.txt"}}, {"name": "read_file", "arguments": {"path": "b"}}]
    written = run("render", "--dialect", dialect, "--tools", tools, stdin=json.dumps(calls))
    assert (written.code, written.err) == (0, "")
    found = run("parse", "--json", "--dialect", dialect, "--tools", tools, stdin=written.out).out
    assert [{k: call[k] for k in ("name", "arguments")} for call in json.loads(found)["calls"]] == calls


def test_render_takes_what_parse_prints_or_a_single_call(run: Run) -> None:
    parsed = run("parse", "--json", stdin=WRITTEN).out
    single = '{"name": "read_file", "arguments": {"path": "a.txt"}}'
    assert run("render", stdin=parsed).out == run("render", stdin=single).out


@pytest.mark.parametrize("given", ["3", '[{"name": ""}]', '{"name": "f", "arguments": []}', '{"calls": [{}]}'])
def test_render_says_what_a_call_looks_like(run: Run, given: str) -> None:
    ran = run("render", stdin=given)
    assert ran.code == 2
    assert '{"name": "…", "arguments": {…}}' in ran.err


def test_a_misspelt_command_is_told_the_nearest(run: Run) -> None:
    done = run("prse", "text")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: unknown command 'prse'; did you mean 'parse'")


def test_prompt_explains_the_tools_after_the_prompt_there_is(run: Run, tools: Path, tmp_path: Path) -> None:
    system = tmp_path / "system.txt"
    system.write_text("Be brief.", encoding="utf-8")
    ran = run("prompt", tools, "--compact", "--nonce", "7f3a9c", "--system", system)
    assert ran.out.startswith("Be brief.\n\n")
    assert "~~~tool_call:7f3a9c" in ran.out
    assert "- read_file()" in ran.out


# ── convert ──────────────────────────────────────────────────────────────────


CHAT = {
    "model": "m",
    "max_tokens": 100,
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
}


def test_convert_turns_a_request_of_one_api_into_another(run: Run) -> None:
    ran = run("convert", "--from", "openai_chat", "--to", "anthropic_messages", stdin=json.dumps(CHAT))
    body = json.loads(ran.out)
    assert (body["model"], body["max_tokens"]) == ("m", 100)
    assert body["tools"][0]["input_schema"] == {"type": "object"}
    assert "Be brief." in json.dumps(body["system"])


def test_convert_turns_a_response_into_another(run: Run) -> None:
    message = {"role": "assistant", "content": "Hi."}
    answer = {
        "model": "m",
        "created_at": "2026-01-01T00:00:00Z",
        "message": message,
        "done": True,
        "done_reason": "stop",
    }
    ran = run("convert", "--from", "ollama_chat", "--to", "openai_chat", "--kind", "response", stdin=json.dumps(answer))
    [choice] = json.loads(ran.out)["choices"]
    assert choice["message"]["content"] == "Hi."
    assert choice["finish_reason"] == "stop"


def test_convert_turns_a_stream_into_another(run: Run) -> None:
    lines = [
        {"model": "m", "message": {"role": "assistant", "content": "Hel"}, "done": False},
        {"model": "m", "message": {"role": "assistant", "content": "lo"}, "done": True, "done_reason": "stop"},
    ]
    stream = "".join(json.dumps(line) + "\n" for line in lines)
    ran = run("convert", "--from", "ollama_chat", "--to", "openai_chat", "--kind", "stream", stdin=stream)
    frames = [line.removeprefix("data: ") for line in ran.out.splitlines() if line]
    deltas = [json.loads(frame)["choices"][0]["delta"] for frame in frames if "delta" in frame]
    assert "".join(delta.get("content") or "" for delta in deltas) == "Hello"
    assert frames[-1] == "[DONE]"


def test_convert_says_where_a_body_is_not_its_apis(run: Run) -> None:
    ran = run("convert", "--from", "openai_chat", "--to", "ollama_chat", stdin='{"model": "m", "messages": 3}')
    assert ran.code == 1
    assert "$.messages" in ran.err


def test_convert_demands_an_object(run: Run) -> None:
    assert run("convert", "--from", "openai_chat", "--to", "ollama_chat", stdin="[]").code == 2


# ── list ─────────────────────────────────────────────────────────────────────


def test_list_shows_every_row_once(run: Run) -> None:
    names = [line.split()[0] for line in run("list", "dialects").out.splitlines()[1:]]
    assert names == [row.name for row in dict.fromkeys(DIALECTS.values())]
    assert [row["name"] for row in json.loads(run("list", "codecs", "--json").out)] == list(CODECS)
    assert [row["name"] for row in json.loads(run("list", "providers", "--json").out)] == list(PROVIDERS)


# ── the command line as a whole ──────────────────────────────────────────────


def test_version_and_help(run: Run) -> None:
    assert run("--version").out == f"dragoman {__version__}\n"
    assert all(name in run("--help").out for name in COMMANDS)


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_explains_itself(run: Run, name: str) -> None:
    ran = run(name, "--help")
    assert ran.code == 0
    assert ran.out.startswith(f"Usage: dragoman {name}")


@pytest.mark.parametrize(
    ("arguments", "stdin", "advice"),
    [
        (("nonsense",), "", "--help"),
        (("parse", "--dialect", "hermez"), "", "did you mean 'hermes'"),
        (("render", "--dialect", "hermez"), "[]", "did you mean 'hermes'"),
        (("convert", "--from", "openai_chat", "--to", "olama"), "{}", "did you mean 'ollama'"),
        (("render",), "{", "standard input is not JSON"),
        (("parse", "/no/such/file"), "", "No such file"),
        (("parse",), b"\xff", "not UTF-8"),
        (("list", "colours"), "", "dialects"),
        (("prompt",), '[{"name": "f"}, {"name": "f", "description": "another"}]', "'f'"),
    ],
)
def test_a_wrong_command_line_ends_with_code_2(
    run: Run, arguments: tuple[str, ...], stdin: str | bytes, advice: str
) -> None:
    ran = run(*arguments, stdin=stdin)
    assert ran.code == 2
    assert ran.out == ""
    assert advice in ran.err
    assert "Traceback" not in ran.err
