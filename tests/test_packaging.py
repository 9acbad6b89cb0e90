"""Two distributions of one code: the library alone, and the program beside it in the same folder."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

from dragoman.late import PROGRAM
from dragoman.version import __version__
from tests.support.pages import Block, blocks
from tests.support.places import ROOT

LIBRARY = ("jsonschema_rs", "orjson")
LIMIT = 25_000_000
"""Bytes that the library and what it needs may take on disk, compiled; README.md and docs/design.md say so."""
SOURCE = ROOT / "src" / "dragoman"


def read(folder: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))


def project(folder: str) -> dict[str, Any]:
    told: dict[str, Any] = read(folder)["project"]
    return told


# ── what is said ─────────────────────────────────────────────────────────────


def test_the_three_lists_of_dependencies_say_the_same() -> None:
    checkout, core, whole = project(""), project("packaging/core"), project("packaging/whole")
    library, *rest = whole["dependencies"]
    client = core["optional-dependencies"].pop("client")
    assert sorted([*core["dependencies"], *client, *rest]) == sorted(checkout["dependencies"])
    assert {name.partition(">")[0].replace("-", "_") for name in core["dependencies"]} == {*LIBRARY}
    assert core["version"] == whole["version"] == __version__
    assert library == f"dragoman-core[client]=={__version__}"
    assert core["optional-dependencies"] == {}
    offered = checkout["optional-dependencies"].keys() - {"docs", "test"}
    assert whole["optional-dependencies"] == {name: checkout["optional-dependencies"][name] for name in offered}
    assert checkout["scripts"] == core["scripts"] == whole["scripts"]
    assert checkout["entry-points"] == core["entry-points"]
    assert "entry-points" not in whole
    assert checkout["requires-python"] == core["requires-python"] == whole["requires-python"]


def test_what_the_program_adds_is_what_the_library_leaves_out() -> None:
    rooms = {f"src/{room.replace('.', '/')}" for room in PROGRAM}
    assert {*read("packaging/whole")["tool"]["hatch"]["build"]["only-include"]} == rooms
    assert {*read("packaging/core")["tool"]["hatch"]["build"]["exclude"]} == {f"/{room}" for room in rooms}


# ── what is built ────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheels of the library and of the program."""
    out = tmp_path_factory.mktemp("wheels")
    for part in ("core", "whole"):
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
        ran = subprocess.run(build, cwd=ROOT / "packaging" / part, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    [core], [whole] = out.glob("dragoman_core-*.whl"), out.glob("dragoman-*.whl")
    return core, whole


def test_each_file_of_the_code_is_in_one_of_the_two_wheels(wheels: tuple[Path, Path]) -> None:
    core, whole = (
        {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name} for wheel in wheels
    )
    assert core & whole == set()
    there = {path.relative_to(SOURCE.parent).as_posix() for path in SOURCE.rglob("*") if path.is_file()}
    assert core | whole == {path for path in there if not path.endswith(".pyc")}


@pytest.fixture(scope="module")
def library(wheels: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to import from, as `pip install dragoman-core` leaves it."""
    folder = tmp_path_factory.mktemp("library")
    zipfile.ZipFile(wheels[0]).extractall(folder)
    for name in LIBRARY:
        (folder / name).symlink_to(Path(sysconfig.get_path("platlib"), name), target_is_directory=True)
    return folder


def alone(folder: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs `code` where nothing can be imported but what is in `folder`, and Python's own."""
    start = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(folder)!r})\n{code}", *arguments]
    return subprocess.run(start, capture_output=True, text=True, check=False, cwd=folder)


def test_the_library_alone_parses_streams_renders_and_decodes(library: Path) -> None:
    ran = alone(library, """
import dragoman
tools = [dragoman.Tool(name="t", parameters={"type": "object", "properties": {"a": {"pattern": "^x$"}}})]
written = dragoman.render([dragoman.ToolCall(id="1", name="t", arguments={"a": "x"})], "hermes")
parser = dragoman.Parser(tools=tools)
events = [*(e for c in written for e in parser.feed(c)), *parser.close()]
assert dragoman.assemble(events).calls[0].arguments == dragoman.parse(written, tools=tools).calls[0].arguments
body = dragoman.codecs["openai_chat"].encode_request(dragoman.Request(model="m", messages=(), tools=tuple(tools)))
print(len(body["tools"]), dragoman.tool_prompt(tools)[:0], bool(dragoman.Policy, ) )
""")  # fmt: skip
    assert ran.stdout.split() == ["1", "True"], ran.stderr


@pytest.mark.parametrize("block", [b for b in blocks("library/reading.md") if b.kind == "python"], ids=lambda b: b.line)
def test_the_library_alone_runs_the_examples_of_its_page(library: Path, block: Block) -> None:
    ran = alone(library, block.text)
    assert ran.stdout == block.output, ran.stderr


def test_the_library_alone_is_enough_where_models_are_served(library: Path) -> None:
    ran = alone(library, """
from dragoman.plugins.served_answer import ServedAnswer
from dragoman.plugins.settings import Settings
answer = ServedAnswer([{"name": "now"}], Settings(), lambda: "call")
print(answer.whole('<tool_call>{"name": "now", "arguments": {}}</tool_call>')[1][0].name)
""")  # fmt: skip
    assert ran.stdout.split() == ["now"], ran.stderr


def test_no_module_of_the_library_needs_the_program(library: Path) -> None:
    ran = alone(library, """
import pkgutil, dragoman
from importlib import import_module
absent = set()
for each in pkgutil.walk_packages(dragoman.__path__, "dragoman."):
    try:
        each.name.endswith("__main__") or import_module(each.name)
    except ModuleNotFoundError as error:
        absent.add(error.name)
print(*absent)
""")  # fmt: skip
    absent = set(ran.stdout.split())
    assert {"aiohttp", "httpx2"} <= absent, ran.stderr  # of `dragoman-core[client]`
    assert absent <= {"aiohttp", "httpx2", "multidict", "yarl", "sglang", "sglang.srt", "vllm", "jinja2"}


# ── what is said where something is missing ──────────────────────────────────

RUN = "import runpy; sys.argv[0] = 'dragoman'; runpy.run_module('dragoman', run_name='__main__')"
INSTALL = "install the whole program: pip install dragoman"


@pytest.mark.parametrize("command", ["serve", "mcp", "doctor", "--help"])
def test_a_command_beside_the_library_alone_says_what_to_install(library: Path, command: str) -> None:
    ran = alone(library, RUN, command)
    assert ran.returncode == 1
    assert ran.stderr == f"Error: dragoman {command} needs dragoman.cli, which is not installed here; {INSTALL}\n"


@pytest.mark.parametrize(
    ("name", "needed"),
    [("Client", "aiohttp"), ("transport", "dragoman.gateway"), ("learn", "dragoman.io.learning")],
)
def test_a_name_that_needs_more_says_what_to_install(library: Path, name: str, needed: str) -> None:
    ran = alone(library, f"import dragoman; dragoman.{name}")
    assert ran.stderr.splitlines()[-1].endswith(
        f"dragoman.{name} needs {needed}, which is not installed here; {INSTALL}"
    )


@pytest.mark.parametrize(
    ("program", "said"),
    [("9.9", "make them one: pip install --upgrade dragoman"), (__version__, "ImportError: cannot import name 'gone'")],
)
def test_a_program_beside_another_library_says_so(library: Path, tmp_path: Path, program: str, said: str) -> None:
    folder = tmp_path / "both"
    shutil.copytree(library, folder, symlinks=True)
    room = folder / "dragoman" / "cli" / "__init__.py"
    room.parent.mkdir()
    room.write_text("from ..version import gone\n", encoding="utf-8")
    told = folder / f"dragoman-{program}.dist-info" / "METADATA"
    told.parent.mkdir()
    told.write_text(f"Metadata-Version: 2.1\nName: dragoman\nVersion: {program}\n", encoding="utf-8")
    ran = alone(folder, RUN, "serve")
    assert ran.returncode == 1
    assert said in ran.stderr.splitlines()[-1]


# ── what is installed ────────────────────────────────────────────────────────


class Environment:
    """A virtual environment without pip, whose dependencies are copies of those that are tested with."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, symlinks=True)
        self.folder = folder
        self.bin = folder / "bin"
        [self.packages] = folder.glob("lib/python*/site-packages")
        self.empty = self.size()

    def size(self) -> int:
        return sum(path.stat().st_size for path in self.files())

    def files(self) -> Iterable[Path]:
        return [path for path in self.packages.rglob("*") if path.is_file()]

    def ours(self) -> Iterator[Path]:
        return self.packages.glob("dragoman*")

    def pip(self, *arguments: object) -> None:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(self.folder)]
        subprocess.run([*pip, *map(str, arguments)], check=True, capture_output=True)

    def install(self, wheel: Path) -> None:
        self.pip("install", "--no-index", "--no-deps", wheel)

    def copy(self, name: str) -> None:
        for file in distribution(name).files or ():
            if not file.as_posix().startswith(".."):
                (self.packages / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(Path(str(file.locate())), self.packages / file)

    def run(self, *words: str) -> str:
        ran = subprocess.run(words, env={}, cwd=self.folder, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout


@pytest.mark.slow
def test_library_and_program_come_and_go_without_a_file_of_the_other(wheels: tuple[Path, Path], tmp_path: Path) -> None:
    core, whole = wheels
    there = Environment(tmp_path / "env")
    for name in LIBRARY:
        there.copy(name)
    there.install(core)
    assert there.size() - there.empty <= LIMIT
    first = blocks("library/reading.md")[0]
    assert there.run(str(there.bin / "python"), "-c", first.text) == first.output
    alone = {*there.files()}

    others = there.packages / "others.pth"
    others.write_text(sysconfig.get_path("purelib"), encoding="utf-8")  # what the program needs, behind what is here
    there.install(whole)
    assert "Usage: dragoman serve" in there.run(str(there.bin / "dragoman"), "serve", "--help")
    assert "Done. " in there.run(str(there.bin / "dragoman"), "demo")
    others.unlink()

    there.install(core)
    there.pip("uninstall", "--yes", "dragoman")
    assert {*there.files()} == alone
    assert there.run(str(there.bin / "python"), "-c", first.text) == first.output

    there.install(whole)
    there.pip("uninstall", "--yes", "dragoman", "dragoman-core")
    assert [*there.ours()] == []
