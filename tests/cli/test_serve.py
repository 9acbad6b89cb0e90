"""`dragoman serve` as a process: it says where it listens, serves any client, and ends when it is told to."""

from __future__ import annotations

import json
import signal
import socket
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli import serving
from dragoman.gateway import Found
from dragoman.gateway.upstream import NothingFound, found_config
from dragoman.providers.rows import PROVIDERS
from dragoman.sim import running
from tests.support.clocks import LONG, until
from tests.support.peer import refusing_port
from tests.support.processes import CHAT, QUESTION, post, serving_process

from .conftest import Run


def _call(answer: Any) -> tuple[str, Any]:
    [call] = answer["choices"][0]["message"]["tool_calls"]
    return call["function"]["name"], json.loads(call["function"]["arguments"])


def test_the_demo_model_serves_tool_calls_to_clients() -> None:
    with serving_process("--demo") as (process, url, _):
        assert _call(post(f"{url}/v1/chat/completions", CHAT)) == ("get_weather", {"city": "Oslo"})
        process.terminate()
        assert process.stdout is not None
        assert process.stdout.read() == ""


def test_the_demo_model_answers_to_any_name_and_keeps_its_own() -> None:
    with serving_process("--demo") as (_, url, _):
        assert _call(post(f"{url}/v1/chat/completions", {**CHAT, "model": "gpt-5"})) == ("get_weather", {"city": "Oslo"})
        with pytest.raises(urllib.error.HTTPError, match="404") as refused:
            post(f"{url}/v1/chat/completions", {**CHAT, "model": "weak-nonsense"})
        refused.value.close()


SHELLS: dict[str, list[str]] = {
    "as the tests are": [],
    "nohup, in a script's background": ["sh", "-c", "trap '' INT HUP; exec \"$@\"", "sh"],
}


@pytest.mark.parametrize("shell", SHELLS.values(), ids=SHELLS)
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.costly
def test_an_interrupt_ends_it_with_130(tmp_path: Path, shell: list[str], workers: int) -> None:
    (tmp_path / "a.toml").write_text(f'[server]\nworkers = {workers}\n[default]\nroute = "ollama"\n')
    with serving_process("--config", str(tmp_path / "a.toml"), shell=shell) as (process, _, _):
        process.send_signal(signal.SIGINT)
        assert process.wait(LONG) == 130


@pytest.mark.parametrize(("arguments", "environ"), [(["--workers", "2"], {}), ([], {"DRAGOMAN_WORKERS": "2"})])
@pytest.mark.costly
def test_several_processes_serve_without_a_settings_file(arguments: list[str], environ: dict[str, str]) -> None:
    with serving_process("--demo", *arguments, **environ) as (process, url, _):
        assert _call(post(f"{url}/v1/chat/completions", CHAT)) == ("get_weather", {"city": "Oslo"})
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        if children.exists():
            commands = [Path(f"/proc/{pid}/cmdline").read_text() for pid in children.read_text().split()]
            assert sum("spawn_main" in command for command in commands) == 2
        process.terminate()
        process.wait(LONG)


def test_a_closed_terminal_does_not_end_it_under_nohup() -> None:
    with serving_process("--demo", shell=SHELLS["nohup, in a script's background"]) as (process, url, _):
        process.send_signal(signal.SIGHUP)
        assert _call(post(f"{url}/v1/chat/completions", CHAT)) == ("get_weather", {"city": "Oslo"})


WEATHER = """
from dragoman.tools import tool

@tool(read_only=True)
def get_weather(city: str) -> str:
    \"\"\"The weather of a city.\"\"\"
    return f"11 degrees in {city}"
"""


@pytest.mark.slow
def test_mcp_tools_run_for_a_client_without_tools(tmp_path: Path) -> None:
    (tmp_path / "weather.py").write_text(WEATHER)
    command = {"command": sys.executable, "args": ["-m", "dragoman", "mcp", "serve", str(tmp_path / "weather.py")]}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"weather": command}}))
    with serving_process("--demo", "--mcp", str(tmp_path / "mcp.json")) as (_, url, _):


        def answered() -> Any:
            """The answer, once the server is ready: on a busy machine requests come before it is."""
            message = post(f"{url}/v1/chat/completions", {"model": "weak", "messages": [QUESTION]})["choices"][0]["message"]
            return message if "11 degrees in Oslo" in message["content"] else None

        assert not until(answered).get("tool_calls")


@pytest.mark.slow
def test_an_upstream_is_asked_which_api_it_speaks() -> None:
    with running() as upstream, serving_process("--upstream", upstream, "--dialect", "hermes") as (_, url, printed):
        assert f"in front of {upstream} (ollama_chat)\n" in printed
        assert _call(post(f"{url}/v1/chat/completions", CHAT)) == ("get_weather", {"city": "Oslo"})


def test_local_servers_are_found_and_served_without_an_upstream() -> None:
    with running() as upstream, serving_process(OLLAMA_HOST=upstream) as (_, url, printed):
        assert any(line.startswith(f"found ollama at {upstream} (weak, ") for line in printed)
        assert _call(post(f"{url}/v1/chat/completions", CHAT)) == ("get_weather", {"city": "Oslo"})


def test_finding_no_server_says_where_it_looked() -> None:
    with pytest.raises(NothingFound, match=r"ollama at") as nothing:
        found_config([], {}, print)
    told = serving.WHAT_TO_DO.format(error=nothing.value)
    assert [word for word in ("ollama at", "--upstream URL", "--demo") if word not in told] == []


def test_each_server_found_serves_its_own_models() -> None:
    rows = [PROVIDERS["ollama"], PROVIDERS["vllm"]]
    found = [Found(provider=row, base_url=row.base_url, models=("both", row.name)) for row in rows]
    config = found_config(found, {}, print)
    served = {model: config.routes(model)[0].provider.name for model in ("both", "ollama", "vllm", "any")}
    assert served == {"both": "ollama", "ollama": "ollama", "vllm": "vllm", "any": "ollama"}


def test_an_upstream_that_does_not_answer_yet_is_served() -> None:
    with serving_process("--upstream", f"http://127.0.0.1:{refusing_port()}") as (_, url, printed):
        assert "nothing answers" in printed[0]
        with urllib.request.urlopen(f"{url}/healthz", timeout=LONG) as answer:
            assert answer.status == 200


def test_a_port_that_is_taken_is_told(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = run("serve", "--demo", "--port", taken.getsockname()[1])
    assert ran.code == 1
    assert "choose another --port" in ran.err


def test_a_missing_key_names_its_variable(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    ran = run("serve", "--upstream", "openai")
    assert ran.code == 2
    assert "OPENAI_API_KEY" in ran.err


BESIDE = [
    (("--model", "x"), "--model does not count beside"),
    (("--upstream", "http://127.0.0.1:9"), "--upstream does not count beside"),
]


@pytest.mark.parametrize(("options", "message"), BESIDE)
def test_options_that_would_not_count_beside_a_file_are_refused(
    run: Run, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    (tmp_path / "a.toml").write_text('[default]\nroute = "ollama"\n')
    ran = run("serve", "--config", str(tmp_path / "a.toml"), *options)
    assert (ran.code, message in ran.err) == (2, True), ran.err


@pytest.mark.parametrize(("option", "value"), [("--tools", "native"), ("--dialect", "hermes")])
def test_a_nonce_that_no_call_could_carry_is_refused(run: Run, option: str, value: str) -> None:
    ran = run("serve", "--upstream", "http://127.0.0.1:9", "--upstream-api", "openai_chat", "--nonce", option, value)
    assert (ran.code, "nonce" in ran.err, "leave out one of the two" in ran.err) == (2, True, True), ran.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--demo", "--upstream", "http://127.0.0.1:9"), "--demo does not count beside --upstream"),
        (("--demo", "--upstream-api", "openai_chat"), "--demo does not count beside --upstream-api"),
        (("--config", "a.toml", "--litellm", "b.yaml"), "--config does not count beside --litellm"),
        (("--upstream-api", "openai_chat"), "none is named"),
    ],
)  # fmt: skip
def test_options_of_which_one_alone_would_count_are_refused(run: Run, options: tuple[str, ...], message: str) -> None:
    ran = run("serve", *options)
    assert (ran.code, message in ran.err) == (2, True), ran.err


def test_an_option_or_a_variable_that_is_wrong_is_not_blamed_on_a_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRAGOMAN_MCP", "")  # which the option sets
    ran = run("serve", "--demo", "--mcp", tmp_path / "none.json")
    assert ran.err.startswith(f"Error: what was set is not right: --mcp (DRAGOMAN_MCP): cannot read {tmp_path}")
    monkeypatch.delenv("DRAGOMAN_MCP")
    (tmp_path / "a.toml").write_text('[default]\nroute = "ollama"\n')
    monkeypatch.setenv("DRAGOMAN_PORT", "abc")
    for ran in (run("serve", "--demo"), run("serve", "--config", tmp_path / "a.toml")):
        assert ran.err.startswith("Error: what was set is not right: the variable DRAGOMAN_PORT: ")


@pytest.mark.parametrize("form", ["json", "text"])
def test_what_is_said_at_the_start_has_the_form_of_the_log(form: str, tmp_path: Path) -> None:
    row = {"model_name": "a", "litellm_params": {"model": "ollama/x", "mystery": 1}}
    (tmp_path / "ll.yaml").write_text(json.dumps({"model_list": [row]}))
    with serving_process("--litellm", str(tmp_path / "ll.yaml"), "--inspect", "--log-format", form) as (process, _, lines):
        assert process.stderr is not None
        lines.append(process.stderr.readline())
    said = [json.loads(line)["message"] if form == "json" else line.split(" dragoman.gateway ")[1] for line in lines]
    assert [("mystery" in text, "listening on" in text, "/inspect" in text) for text in said] == [
        (True, False, False), (False, True, False), (False, False, True)
    ]  # fmt: skip


def test_a_port_that_is_taken_is_told_in_one_sentence(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('[server]\nworkers = 2\n[default]\nroute = "ollama"\n')
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = run("serve", "--config", str(tmp_path / "a.toml"), "--port", str(port))
    message = f"Error: cannot listen on 127.0.0.1:{port}: Address already in use; choose another --port or --host\n"
    assert (ran.code, ran.err) == (1, message)
