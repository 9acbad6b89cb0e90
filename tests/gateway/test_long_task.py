"""The long task of `clients/` by a small agent on the official SDK: files byte for byte, whatever the upstream does.

Agent programs themselves are no part of the tests; `make clients` runs them at the same task.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai
import pytest

from dragoman.gateway import GatewayConfig, create_app
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.sim.loopback import serving
from dragoman.sim.scenarios import SCENARIOS
from dragoman.sim.server import app as served
from tests.support.places import ROOT

DIALECTS = ("hermes", "tool_call_fence", "anthropic_xml", "qwen3_coder", "glm45")
CELLS = [
    *(("", dialect) for dialect in DIALECTS),
    ("", "native"),
    *((trouble, "hermes") for trouble in ("ignores tools", "reset")),
]
TURNS = 40


def function(name: str, **properties: str) -> dict[str, Any]:
    fields = {key: {"type": "string", "description": words} for key, words in properties.items()}
    schema = {"type": "object", "properties": fields, "required": [*fields]}
    return {"type": "function", "function": {"name": name, "description": f"{name}, as text.", "parameters": schema}}


TOOLS = [
    function("read_file", path="Where the file is that is to be read."),
    function("write_file", path="Where the file is to be.", content="All that is to stand in it."),
    function("bash", command="A command for the shell; give files by their whole names."),
]


@pytest.fixture(scope="module")
def task() -> Iterator[Any]:
    """The scripts of `clients/`: they import each other by their names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "clients")
        yield {name: importlib.import_module(name) for name in ("long_task", "troubles", "native")}


def run_tool(call: Any) -> str:
    made = json.loads(call.function.arguments)
    try:
        if call.function.name == "write_file":
            return f"{Path(made['path']).write_bytes(made['content'].encode())} bytes written"
        if call.function.name == "read_file":
            return Path(made["path"]).read_text(encoding="utf-8")
    except OSError as error:
        return f"[ERROR] {error}"
    Path(made["command"].split()[-1]).touch()  # nothing in this task is to be run
    return ""


def work_through(client: openai.OpenAI, sentence: str) -> str:
    """The last answer."""
    messages: list[Any] = [{"role": "system", "content": "You work with files. " * 60}, {"role": "user", "content": sentence}]
    for _ in range(TURNS):
        with client.chat.completions.stream(model="m", messages=messages, tools=TOOLS, max_tokens=32000) as stream:  # type: ignore[arg-type]
            message = stream.get_final_completion().choices[0].message
        messages.append(message.model_dump(exclude_none=True, include={"role", "content", "tool_calls"}))
        if not message.tool_calls:
            return message.content or ""
        messages += [{"role": "tool", "tool_call_id": c.id, "content": run_tool(c)} for c in message.tool_calls]
    return "it did not end"


@contextmanager
def gateway(task: Any, trouble: str, dialect: str) -> Iterator[openai.OpenAI]:
    model = task["long_task"].Enduring((task["long_task"].LONG, *SCENARIOS))
    ignores = trouble == task["troubles"].IGNORES
    behind = task["native"].native(model) if dialect == "native" else served(model, ignore_tools=ignores)
    with serving(task["troubles"].Troubled(behind, "" if ignores else trouble)) as upstream:
        route = Route(provider=COMPATIBLE["openai_chat"], base_url=f"{upstream}/v1", model=f"weak-{dialect}")
        with serving(create_app(GatewayConfig(default=route))) as url:
            yield openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)


@pytest.mark.parametrize(("trouble", "dialect"), CELLS, ids=["-".join(filter(None, cell)) for cell in CELLS])
@pytest.mark.costly
def test_a_long_task_ends_with_the_right_files(task: Any, tmp_path: Path, trouble: str, dialect: str) -> None:
    long_task = task["long_task"]
    long_task.lay_out(tmp_path)
    with gateway(task, trouble, dialect) as client:
        said = work_through(client, long_task.SENTENCE.format(work=tmp_path))
    assert long_task.wrong(tmp_path) == []
    assert said == long_task.DONE
