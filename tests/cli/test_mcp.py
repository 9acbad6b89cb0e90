"""`dragoman mcp`: tools listed, tools served."""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from mcp import Client

from tests.support import mcp_lab as lab
from tests.support.clocks import LONG
from tests.support.places import ROOT

from .conftest import Run


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "mcp.json"
    row = {"command": sys.executable, "args": ["-m", "tests.support.mcp_lab"], "cwd": str(ROOT)}
    path.write_text(json.dumps({"mcpServers": {"lab": row, "bad": {"command": "/nonexistent"}}}), encoding="utf-8")
    return path


def test_the_tools_of_servers_are_listed_for_people(run: Run, config: Path) -> None:
    ran = run("mcp", "list", config)
    assert ran.code == 1
    assert [line.split()[0] for line in ran.out.splitlines()] == ["tool", *(tool["name"] for tool in lab.TOOLS)]
    rows = {line.split()[0]: line.split()[1:3] for line in ran.out.splitlines()}
    assert (rows["echo"], rows["fail"], rows["wipe"]) == (["lab", "reads"], ["lab", "writes"], ["lab", "destroys"])
    assert "cannot start MCP server 'bad'" in ran.err


def test_the_tools_of_servers_are_listed_for_programs(run: Run, config: Path) -> None:
    report = json.loads(run("mcp", "list", "--json", config).out)
    [echo] = [tool for tool in report if tool["name"] == "echo"]
    assert echo["parameters"] == lab.TEXT
    assert (echo["server"], echo["read_only"], echo["approval"]) == ("lab", True, "policy")


@contextmanager
def _serving() -> Iterator[tuple[subprocess.Popen[str], str]]:
    serve = ["mcp", "serve", "tests.support.mcp_workbench:TOOLS", "--http", "127.0.0.1:0"]
    command = [sys.executable, "-m", "dragoman", *serve]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, encoding="utf-8") as process:
        try:
            assert process.stderr is not None
            yield process, process.stderr.readline().rpartition("listening on ")[2].split()[0]
        finally:
            process.kill()


def test_tools_are_served_over_http_until_interrupted() -> None:
    with _serving() as (process, url):

        async def main() -> str:
            async with Client(url) as client:
                [block] = (await client.call_tool("add", {"a": 2, "b": 3})).content
                return block.text if block.type == "text" else ""

        assert asyncio.run(main()) == "5"
        process.send_signal(signal.SIGINT)
        assert process.wait(LONG) in (0, 130, -signal.SIGINT)


def test_a_host_may_offer_another_protocol_as_java_does() -> None:
    offer = {"connection": "Upgrade, HTTP2-Settings", "upgrade": "h2c", "http2-settings": "AAMAAABkAAQAAP__"}
    headers = {**offer, "content-type": "application/json", "accept": "application/json, text/event-stream"}
    who = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": who})
    with _serving() as (_, url):
        client = http.client.HTTPConnection(urlsplit(url).netloc, timeout=LONG)
        client.request("POST", "/mcp", body, headers)
        assert client.getresponse().status == 200
        client.close()


WRONG = [
    (("mcp", "serve"), 2, "Missing argument"),
    (("mcp", "serve", "nonexistent_module"), 2, "cannot load nonexistent_module"),
    (("mcp", "serve", "tests.support.mcp_workbench:TOOLS", "--http", "8000x"), 2, "write HOST:PORT"),
    (("mcp", "list", "nonexistent.json"), 2, "does not exist"),
]


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG)
def test_a_wrong_call_is_told_with_its_remedy(run: Run, arguments: tuple[str, ...], code: int, message: str) -> None:
    ran = run(*arguments)
    assert (ran.code, message in ran.err) == (code, True), ran.err


def test_a_server_that_says_nothing_is_waited_for_with_a_word(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.cli.mcp.PATIENCE", 0.01)
    row = {"command": sys.executable, "args": ["-c", "import time; time.sleep(600)"], "startup_timeout_ms": 300}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"mute": row}}))
    ran = run("mcp", "list", tmp_path / "mcp.json")
    assert ran.code == 1
    assert "waiting for MCP servers: mute (0.3 s at most)" in ran.err
    assert f"start {sys.executable} by hand" in ran.err


def test_a_port_that_is_taken_is_told(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ran = run("mcp", "serve", "tests.support.mcp_workbench:TOOLS", "--http", address)
    assert ran.code == 1
    assert "choose another address" in ran.err
