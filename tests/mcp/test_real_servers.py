"""Servers from PyPI and npm, unmodified: every tool is listed, and called by a model that has no tool calling.

Slow, and skipped where the servers are not installed: `DRAGOMAN_MCP_PYTHON` is a virtual environment with
`mcp-server-time` and `mcp-server-git`, `DRAGOMAN_MCP_NODE` an npm prefix with `@modelcontextprotocol/server-everything`
and `@modelcontextprotocol/server-filesystem`.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from dragoman import Client, Policy
from dragoman.dialects import DIALECTS
from dragoman.mcp import McpServers, http_app
from dragoman.sim import WeakModel, running, serving
from dragoman.tools import ToolSet

pytestmark = pytest.mark.slow

PYTHON = os.environ.get("DRAGOMAN_MCP_PYTHON", "")
NODE = os.environ.get("DRAGOMAN_MCP_NODE", "")
WAIT = 30
FREE = Policy(approve=lambda _: True)

GIT = {"repo_path": "{repo}"}
CALLS: Mapping[str, Mapping[str, dict[str, Any]]] = {
    "time": {
        "get_current_time": {"timezone": "Europe/Oslo"},
        "convert_time": {"source_timezone": "Europe/Oslo", "time": "12:30", "target_timezone": "Asia/Tokyo"},
    },
    "git": {
        "git_status": GIT,
        "git_diff_unstaged": GIT,
        "git_diff_staged": GIT,
        "git_diff": {**GIT, "target": "HEAD"},
        "git_commit": {**GIT, "message": "a second one"},
        "git_add": {**GIT, "files": ["a.txt"]},
        "git_reset": GIT,
        "git_log": {**GIT, "max_count": 1},
        "git_create_branch": {**GIT, "branch_name": "side"},
        "git_checkout": {**GIT, "branch_name": "side"},
        "git_show": {**GIT, "revision": "HEAD"},
        "git_branch": {**GIT, "branch_type": "local"},
    },
    "everything": {
        "echo": {"message": "over there"},
        "get-annotated-message": {"messageType": "error", "includeImage": True},
        "get-env": {},
        "get-resource-links": {"count": 2},
        "get-resource-reference": {"resourceType": "Text", "resourceId": 1},
        "get-structured-content": {"location": "Chicago"},
        "get-sum": {"a": 2, "b": 3},
        "get-tiny-image": {},
        "gzip-file-as-resource": {"name": "a.gz", "data": "data:text/plain,hello", "outputType": "resource"},
        "toggle-simulated-logging": {},
        "toggle-subscriber-updates": {},
        "trigger-long-running-operation": {"duration": 0.2, "steps": 2},
        "simulate-research-query": {"topic": "tea", "ambiguous": False},
    },
    "filesystem": {
        "list_allowed_directories": {},
        "create_directory": {"path": "{files}/deep"},
        "write_file": {"path": "{files}/b.txt", "content": "one two"},
        "read_file": {"path": "{files}/b.txt"},
        "read_text_file": {"path": "{files}/b.txt", "head": 1},
        "read_media_file": {"path": "{files}/b.txt"},
        "read_multiple_files": {"paths": ["{files}/b.txt"]},
        "edit_file": {"path": "{files}/b.txt", "edits": [{"oldText": "one", "newText": "1"}]},
        "list_directory": {"path": "{files}"},
        "list_directory_with_sizes": {"path": "{files}"},
        "directory_tree": {"path": "{files}"},
        "move_file": {"source": "{files}/b.txt", "destination": "{files}/c.txt"},
        "search_files": {"path": "{files}", "pattern": "*.txt"},
        "get_file_info": {"path": "{files}/c.txt"},
    },
}  # fmt: skip
"""Server → tool → arguments, in the order in which they are called; `{repo}` and `{files}` are folders made for it."""

EXCUSED = {("everything", "simulate-research-query")}
"""Tools that only run as tasks, which are no part of the protocol any more: they refuse to be called."""


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, str]:
    repo, files = tmp_path / "repo", tmp_path / "files"
    files.mkdir()
    who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    for key in ("user.name", "user.email"):
        subprocess.run(["git", "-C", str(repo), "config", key, "test@example.org"], check=True)
    (repo / "a.txt").write_text("first\n", encoding="utf-8")
    subprocess.run(["git", "-C", str(repo), "add", "."], check=True)
    subprocess.run(["git", "-C", str(repo), *who, "commit", "-q", "-m", "first"], check=True)
    (repo / "a.txt").write_text("second\n", encoding="utf-8")
    subprocess.run(["git", "-C", str(repo), "add", "."], check=True)
    return {"repo": str(repo), "files": str(files)}


def command(name: str, folders: Mapping[str, str]) -> dict[str, Any]:
    """How the server is started over stdio."""
    if name in ("time", "git"):
        if not PYTHON:
            pytest.skip("DRAGOMAN_MCP_PYTHON is not set")
        return {"command": f"{PYTHON}/bin/mcp-server-{name}", "args": []}
    if not NODE:
        pytest.skip("DRAGOMAN_MCP_NODE is not set")
    args = [folders["files"]] if name == "filesystem" else ["stdio"]
    return {"command": f"{NODE}/node_modules/.bin/mcp-server-{name}", "args": args}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


@contextmanager
def listening(transport: str, folders: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """`server-everything` over its own HTTP transports."""
    port = free_port()
    program = [command("everything", folders)["command"], transport]
    path = "sse" if transport == "sse" else "mcp"
    quiet = subprocess.DEVNULL
    with subprocess.Popen(program, env={**os.environ, "PORT": str(port)}, stdout=quiet, stderr=quiet) as process:
        try:
            until = time.monotonic() + WAIT
            while not _answers(port):
                assert time.monotonic() < until
                time.sleep(0.05)
            yield {"url": f"http://127.0.0.1:{port}/{path}"}
        finally:
            process.kill()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


@contextmanager
def relayed(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A stdio server behind our own, over HTTP."""
    with McpServers({"mcpServers": {"inner": row}}) as inner, serving(http_app(inner.tools())) as url:
        yield {"url": f"{url}/mcp"}


PLACES = [
    ("time", "stdio"), ("git", "stdio"), ("everything", "stdio"), ("filesystem", "stdio"),
    ("everything", "streamableHttp"), ("everything", "sse"),
    ("time", "relayed"), ("git", "relayed"), ("everything", "relayed"), ("filesystem", "relayed"),
]  # fmt: skip


def task(tool: str, arguments: dict[str, Any], folders: Mapping[str, str]) -> str:
    """The order for the scripted model: `Call echo with message="x" count=2.`"""
    filled = json.loads(json.dumps(arguments).replace("{repo}", folders["repo"]).replace("{files}", folders["files"]))
    pairs = " ".join(f"{key}={json.dumps(value)}" for key, value in filled.items())
    return f"Call {tool} with {pairs}." if pairs else f"Call {tool}."


@pytest.mark.parametrize(("name", "how"), PLACES, ids=[f"{name}-{how}" for name, how in PLACES])
@pytest.mark.parametrize("dialect", ["tool_call_fence", "hermes"])
def test_a_model_without_tools_calls_every_real_tool(
    name: str, how: str, dialect: str, folders: dict[str, str]
) -> None:
    row = command(name, folders)
    place = nullcontext(row) if how == "stdio" else relayed(row) if how == "relayed" else listening(how, folders)
    with place as reached, running(WeakModel()) as url, McpServers({"mcpServers": {name: reached}}) as servers:
        tools = servers.tools()
        assert set(tools) == set(CALLS[name])
        with Client("weak", base_url=f"{url}/v1", tools=tools, policy=FREE, prompt_dialect=DIALECTS[dialect]) as client:
            results = {
                tool: _called(client, tool, task(tool, args, folders), tools) for tool, args in CALLS[name].items()
            }
    failed = {tool: text for tool, (text, is_error) in results.items() if is_error and (name, tool) not in EXCUSED}
    assert failed == {}
    print(f"{name} {how} {dialect}: {len(results)} tools listed and called")


def _called(client: Client, tool: str, order: str, tools: ToolSet) -> tuple[str, bool]:
    """What the tool answered to the first call of it."""
    run = client.run(order)
    results = [result for message in run.messages for result in message.results]
    assert results, f"{tool}: {run.text}"
    assert results[0].name == tool
    return results[0].text, results[0].is_error
