"""Two distributions of one code: the whole program, and the library alone."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from dragoman.version import __version__

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = {"jsonschema_rs", "orjson"}


def project(folder: str) -> dict[str, Any]:
    told: dict[str, Any] = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]
    return told


def test_the_three_lists_of_dependencies_say_the_same() -> None:
    checkout, core, whole = project(""), project("packaging/core"), project("packaging/whole")
    extras = core["optional-dependencies"]
    rest = [*extras["client"], *(name for name in extras["all"] if not name.startswith("dragoman"))]
    assert sorted(core["dependencies"] + rest) == sorted(checkout["dependencies"])
    assert {name.partition(">")[0].replace("-", "_") for name in core["dependencies"]} == LIBRARY
    assert core["version"] == whole["version"] == __version__
    assert whole["dependencies"] == [f"dragoman-core[all]=={__version__}"]
    offered = checkout["optional-dependencies"].keys() - {"docs", "test"}
    assert whole["optional-dependencies"].keys() == offered == extras.keys() - {"client", "all"}
    for extra in offered:
        assert extras[extra] == checkout["optional-dependencies"][extra]
        assert whole["optional-dependencies"][extra] == [f"dragoman-core[{extra}]=={__version__}"]
    assert checkout["scripts"] == core["scripts"] == whole["scripts"]
    assert checkout["entry-points"] == core["entry-points"]
    assert checkout["requires-python"] == core["requires-python"] == whole["requires-python"]


ALONE = """
import sys
from importlib.abc import MetaPathFinder
from importlib.metadata import packages_distributions

class Absent(MetaPathFinder):
    others = set(packages_distributions()) - {"dragoman", "jsonschema_rs", "orjson"}
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.others:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""
"""What makes an interpreter find the library's own distributions and no others."""


def alone(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", ALONE + code, *arguments], capture_output=True, text=True, check=False
    )


def test_the_library_alone_parses_streams_renders_and_decodes() -> None:
    ran = alone("""
import dragoman
tools = [dragoman.Tool(name="t", parameters={"type": "object", "properties": {"a": {"pattern": "^x$"}}})]
written = dragoman.render([dragoman.ToolCall(id="1", name="t", arguments={"a": "x"})], "hermes")
parser = dragoman.Parser(tools=tools)
events = [*(e for c in written for e in parser.feed(c)), *parser.close()]
assert dragoman.assemble(events).calls[0].arguments == dragoman.parse(written, tools=tools).calls[0].arguments
body = dragoman.codecs["openai_chat"].encode_request(dragoman.Request(model="m", messages=(), tools=tuple(tools)))
print(len(body["tools"]), dragoman.tool_prompt(tools)[:0], bool(dragoman.Policy, ) )
""")
    assert ran.stdout.split() == ["1", "True"], ran.stderr


def test_the_library_alone_is_enough_where_models_are_served() -> None:
    ran = alone("""
from dragoman.plugins.served_answer import ServedAnswer
from dragoman.plugins.settings import Settings
answer = ServedAnswer([{"name": "now"}], Settings(), lambda: "call")
print(answer.whole('<tool_call>{"name": "now", "arguments": {}}</tool_call>')[1][0].name)
""")
    assert ran.stdout.split() == ["now"], ran.stderr


RUN = "import runpy; sys.argv[0] = 'dragoman'; runpy.run_module('dragoman', run_name='__main__')"


@pytest.mark.parametrize("command", ["serve", "mcp", "doctor", "--help"])
def test_a_command_that_needs_more_says_what_to_install(command: str) -> None:
    ran = alone(RUN, command)
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"Error: dragoman {command} needs ")
    assert ran.stderr.endswith("install the whole program: pip install dragoman\n")
    assert len(ran.stderr.splitlines()) == 1


def test_a_name_that_needs_more_says_what_to_install() -> None:
    ran = alone("import dragoman; dragoman.Client")
    assert "dragoman.Client needs aiohttp, which is not installed here" in ran.stderr.splitlines()[-1]
