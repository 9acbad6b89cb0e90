"""The floors of the house, as data, and the rules that keep them floors: no arrow runs upward, or sideways."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import pytest

from tests.support import places

PACKAGE = places.ROOT / "src" / "dragoman"
NAME = "dragoman"

FLOORS: tuple[str, ...] = (
    "display errors events jsontext late memo records redaction report_words tabular types version",  # the ground: values everything speaks of
    "schema",  # JSON Schema
    "conversation lenient tools",  # messages, text, functions
    "codecs dialects effects",  # formats: wires and texts; what machines may ask for
    "providers",  # rows: who serves, what families do
    "io turn",  # effects performed; one request and its answer
    "doctor fallback loop sim",  # runs, routes, probes, the scripted model
    "client mcp plugins server_tools",  # what programs are made of
    "gateway",
    "batch",  # corpora: may read what a gateway recorded
    "cli",
    "__main__",
)
"""The house: every room right below `dragoman`, by floor.  A room knows the floors below it and nobody beside it."""

LOOSE, ROOMS = 12, 21
FLOOR = {name: floor for floor, names in enumerate(FLOORS) for name in names.split()}

INNER: dict[str, tuple[str, ...]] = {
    "batch": ("codes options row row_json", "result", "scores", "formats report", "judging", "arrow", "running"),
    "codecs": ("shared", "crossing typed", "bedrock fidelity gemini openai stackspot", "anthropic cohere ollama"),
    "dialects": ("spec", "judge", "reading rows", "engine writing", "explain learning"),
    "gateway": (
        "answer_losses chunked crossing fronts process recordings seals session_key short_answers", "config direct", "attached loading reload request_faults shortcut state telemetry", "outgoing straight", "exchange",
        "compacting http mcp_tools", "discovery inspector", "gateway", "serving", "app observers upstream", "factory", "inprocess",
    ),
}  # fmt: skip
"""Rooms inside rooms, by the same law."""

WORLD = frozenset({"io", "sim", "client", "mcp", "plugins", "gateway", "cli", "__main__", "loop.journal",
                   "batch.arrow", "batch.report", "batch.row_json", "batch.running"})  # fmt: skip
"""Rooms that may touch clocks, randomness, files and the network; the others are told, or ask by an effect."""
SHOWN = FLOOR["gateway"]  # the public face shows type checkers this floor and those below it

LIBRARIES = {"jsonschema_rs"}  # all that the layers below the world may use beside the standard library
CHECKERS = "typing_extensions"  # every checker has it, and nothing that runs imports it
LATE = {("dragoman.dialects.learning.sandbox", "jinja2"), ("dragoman.jsontext", "orjson")}  # a library that one module imports when it is first needed
WORLDLY = {
    "asyncio", "concurrent", "ftplib", "http", "imaplib", "multiprocessing", "os", "pathlib", "poplib", "queue",
    "random", "secrets", "select", "selectors", "shutil", "signal", "smtplib", "socket", "socketserver", "ssl",
    "subprocess", "tempfile", "threading", "time", "urllib.request", "uuid", "xmlrpc",
}  # fmt: skip
SERVERS = {"aiohttp", "asyncio", "click", "httpcore", "httpx", "httpx2", "http.client", "orjson", "requests", "rich",
           "socket", "ssl", "starlette", "urllib3", "uvicorn"}  # fmt: skip


class Import(NamedTuple):
    """`module` imports `target` (a dotted name) on `line`; `inside` a function or not, for type checkers only or not."""

    module: str
    target: str
    line: int
    inside: bool
    typing: bool = False


# ── reading ──────────────────────────────────────────────────────────────────


def sources() -> dict[str, str]:
    """Dotted module name → source, packages by the name of the package."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = [NAME, *path.relative_to(PACKAGE).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text(encoding="utf-8")
    return found


def imports(modules: Mapping[str, str], packages: set[str]) -> Iterator[Import]:
    """Every import of every module; names taken out of a package are followed to the module they are."""
    for module, source in modules.items():
        yield from _imports(module, ast.parse(source), modules, packages, inside=False)


def _imports(
    module: str, node: ast.AST, modules: Mapping[str, str], packages: set[str], *, inside: bool, typing: bool = False
) -> Iterator[Import]:
    for child in _statements(node):
        function = inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        unseen = typing or (isinstance(child, ast.If) and getattr(child.test, "id", "") == "TYPE_CHECKING")
        if isinstance(child, ast.Import):
            yield from (Import(module, alias.name, child.lineno, inside, typing) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            base = _base(module, child, packages)
            for alias in child.names:
                full = f"{base}.{alias.name}"
                found = full if full in modules or full in WORLDLY else base
                yield Import(module, found, child.lineno, inside, typing)
        else:
            yield from _imports(module, child, modules, packages, inside=function, typing=unseen)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements right inside a module or a statement, and what else holds such; expressions hold none."""
    for block in ("body", "handlers", "cases", "orelse", "finalbody"):
        yield from getattr(node, block, ())


def _base(module: str, node: ast.ImportFrom, packages: set[str]) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    up = node.level - (module in packages)
    return ".".join(parts[: len(parts) - up] + ([node.module] if node.module else []))


def packages_of(modules: Mapping[str, str]) -> set[str]:
    return {NAME} | {m.rpartition(".")[0] for m in modules if "." in m}


# ── judging ──────────────────────────────────────────────────────────────────


def room(module: str) -> str:
    """The room that `module` stands in; "" for the public face."""
    return module.split(".")[1] if "." in module else ""


def floor_of(module: str) -> int:
    return SHOWN if module == NAME else FLOOR.get(room(module), -1)


def inner(module: str) -> tuple[int, str]:
    """The floor and the room inside its room; above all of them for what stands loose in it."""
    own, place = INNER.get(room(module), ()), ".".join(module.split(".")[2:3])
    found = [floor for floor, names in enumerate(own) if place in names.split()]
    return (found[0], place) if found else (len(own), "")


def is_worldly(module: str) -> bool:
    return module != NAME and (room(module) in WORLD or ".".join(module.split(".")[1:3]) in WORLD)


def is_ours(target: str) -> bool:
    return target == NAME or target.startswith(f"{NAME}.")


def wrongs(modules: Mapping[str, str]) -> list[str]:
    """Every breach of the layers, in words that say what to do."""
    unplaced = [f"{m}: not in FLOORS; place {room(m)!r} there" for m in modules if floor_of(m) < 0]
    imported = list(imports(modules, packages_of(modules)))
    found = [wrong for each in imported if (wrong := _wrong(each))]
    circle = cycle(modules, imported)
    return unplaced + found + ([f"import cycle: {' -> '.join(circle)}; move what they share down"] if circle else [])


def _wrong(it: Import) -> str:
    return _ours(it) if is_ours(it.target) else _foreign(it)


def _ours(it: Import) -> str:
    at, own, other = f"{it.module}:{it.line}", floor_of(it.module), floor_of(it.target)
    if it.inside:
        return f"{at} imports {it.target} inside a function; move it to the top or the code to another room"
    if it.target == NAME and it.module != NAME:
        return f"{at} imports the public face; import the module that defines the name"
    if it.module == NAME:
        late = it.typing or other == 0
        return "" if late and other <= SHOWN else f"{at} imports {it.target}; the face loads names when they are used"
    if room(it.module) == room(it.target):
        return _within(it)
    if other > own:
        return f"{at} imports {it.target} of floor {other} into floor {own}; only what lies lower may be imported"
    if other == own > 0:
        return f"{at} imports {it.target}; {room(it.module)} and {room(it.target)} do not know each other"
    return ""


def _within(it: Import) -> str:
    (own, mine), (other, theirs) = inner(it.module), inner(it.target)
    if other < own or mine == theirs:
        return ""
    return f"{it.module}:{it.line} imports {it.target}; {mine} does not know {theirs or 'the package'} above or beside it"


def _foreign(it: Import) -> str:
    at, root = f"{it.module}:{it.line}", it.target.split(".")[0]
    if is_worldly(it.module) or floor_of(it.module) < 0:
        return ""
    if root in WORLDLY or it.target in WORLDLY:
        return f"{at} imports {it.target}; outside the world's rooms it comes in as an argument or an effect"
    late = (it.inside and (it.module, root) in LATE) or (it.typing and root == CHECKERS)
    allowed = root in LIBRARIES or late
    if not allowed and root not in sys.stdlib_module_names:
        return f"{at} imports {root}; here there is only the standard library and {', '.join(LIBRARIES)}"
    return ""


def cycle(modules: Mapping[str, str], imported: Iterable[Import]) -> list[str]:
    """One circle of modules that import each other while being imported; the public face does not count."""
    edges: dict[str, set[str]] = {m: set() for m in modules}
    for it in imported:
        if it.target in edges and not it.inside and NAME not in (it.module, it.target):
            edges[it.module].add(it.target)
    done: set[str] = set()
    for start, followers in edges.items():
        path, on_path, stack = [start], {start}, [iter(sorted(followers))]
        while stack and start not in done:
            follower = next(stack[-1], None)
            if follower is None:
                stack.pop()
                on_path.discard(path[-1])
                done.add(path.pop())
            elif follower in on_path:
                return [*path[path.index(follower) :], follower]
            elif follower not in done:
                path.append(follower)
                on_path.add(follower)
                stack.append(iter(sorted(edges[follower])))
    return []


# ── the package ──────────────────────────────────────────────────────────────


def test_the_package_keeps_its_layers() -> None:
    assert wrongs(sources()) == []


def test_every_module_says_what_it_is_in_its_first_line() -> None:
    assert [m for m, source in sources().items() if not ast.get_docstring(ast.parse(source))] == []


def test_no_room_stands_on_two_floors() -> None:
    names = [name for floor in FLOORS for name in floor.split()]
    assert len(names) == len(set(names))


def test_every_room_and_file_of_the_table_is_there() -> None:
    there = {path.name.removesuffix(".py") for path in PACKAGE.iterdir()}
    assert set(FLOOR) - there == set()
    for name, floors in INNER.items():
        inside = {path.name.removesuffix(".py") for path in (PACKAGE / name).iterdir()}
        assert {place for floor in floors for place in floor.split()} - inside == set()


def test_rooms_are_few_and_loose_files_fewer() -> None:
    loose = [path.name for path in PACKAGE.glob("*.py") if not path.name.startswith("__")]
    rooms = [path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()]
    assert len(loose) <= LOOSE
    assert len(rooms) <= ROOMS


def test_importing_the_package_loads_neither_the_world_nor_a_server() -> None:
    code = f"import {NAME}, sys; print(*sys.modules)"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("COV_", "PYTEST"))}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    loaded = set(run.stdout.split())
    assert NAME in loaded
    assert {m for m in loaded if is_ours(m) and is_worldly(m)} == set()
    assert loaded & SERVERS == set()


# ── the rules themselves ─────────────────────────────────────────────────────

# (what is wrong, modules, a piece of what must be said)
BREACHES: list[tuple[str, dict[str, str], str]] = [
    ("a module nobody placed", {"dragoman.surprise": ""}, "place 'surprise'"),
    ("a lower floor imports a higher one", {"dragoman.types": "from .lenient.source import Source"},
     "dragoman.types:1 imports dragoman.lenient.source of floor 2 into floor 0"),
    ("a room is entered by one of its names", {"dragoman.types": "from . import turn", "dragoman.turn": ""},
     "imports dragoman.turn of floor 5"),
    ("two dots", {"dragoman.codecs": "", "dragoman.codecs.a": "from ..turn import x", "dragoman.turn": ""},
     "dragoman.codecs.a:1 imports dragoman.turn"),
    ("an absolute import", {"dragoman.types": "import dragoman.lenient"}, "imports dragoman.lenient"),
    ("codecs know dialects", {"dragoman.codecs": "from .dialects import x", "dragoman.dialects": ""},
     "codecs and dialects do not know each other"),
    ("dialects know codecs", {"dragoman.dialects.a": "from ..codecs.b import x", "dragoman.codecs.b": ""},
     "dialects and codecs do not know each other"),
    ("a room within a room knows the one above",
     {"dragoman.codecs.shared.a": "from ..openai.b import x", "dragoman.codecs.openai.b": ""},
     "shared does not know openai above or beside it"),
    ("a room within a room knows the one beside it",
     {"dragoman.codecs.gemini.a": "from ..openai.b import x", "dragoman.codecs.openai.b": ""},
     "gemini does not know openai above or beside it"),
    ("a room within a room knows its package", {"dragoman.gateway.http.a": "from ..factory import x"},
     "http does not know factory above or beside it"),
    ("the face from within", {"dragoman.types": "from dragoman import Tool", "dragoman": ""}, "the public face"),
    ("the face loads at once", {"dragoman": "from .io import x", "dragoman.io": ""}, "names when they are used"),
    ("the face knows a program, for type checkers only",
     {"dragoman": "if TYPE_CHECKING:\n from .cli import x", "dragoman.cli": ""}, "imports dragoman.cli"),
    ("a room knows the one beside it, for type checkers only",
     {"dragoman.turn": "if TYPE_CHECKING:\n from .io import x", "dragoman.io": ""}, "turn and io do not know"),
    ("inside a function", {"dragoman.turn": "def f():\n    from .types import x", "dragoman.types": ""},
     "dragoman.turn:2 imports dragoman.types inside a function"),
    ("inside a method of a class", {"dragoman.io": "class C:\n async def f(s):\n  import dragoman.types",
                                    "dragoman.types": ""}, "inside a function"),
    ("a clock", {"dragoman.turn": "from time import monotonic"}, "imports time"),
    ("a clock in a function", {"dragoman.turn": "def f():\n    import time"}, "imports time"),
    ("a file beside the journal", {"dragoman.loop.state": "from pathlib import Path"}, "imports pathlib"),
    ("randomness", {"dragoman.codecs.a": "import random as r"}, "imports random"),
    ("part of a worldly package", {"dragoman.codecs.a": "import concurrent.futures"}, "imports concurrent.futures"),
    ("HTTP by the back door", {"dragoman.codecs.a": "from urllib import request"}, "imports urllib.request"),
    ("a library", {"dragoman.codecs.a": "import orjson"}, "imports orjson"),
    ("a late library, early", {"dragoman.dialects.learning.sandbox": "import jinja2"}, "imports jinja2"),
    ("a late library, elsewhere", {"dragoman.dialects.a": "def f():\n    import jinja2"}, "imports jinja2"),
    ("a circle", {"dragoman.io.a": "from .b import x", "dragoman.io.b": "from .a import x"},
     "cycle: dragoman.io.a -> dragoman.io.b -> dragoman.io.a"),
    ("a circle behind a start that is not on it",
     {"dragoman.io.a": "from .b import x", "dragoman.io.b": "from .c import x", "dragoman.io.c": "from .b import x"},
     "import cycle: dragoman.io.b -> dragoman.io.c -> dragoman.io.b"),
    ("a circle through a package", {"dragoman.io": "from .a import x", "dragoman.io.a": "from . import y"},
     "import cycle: dragoman.io -> dragoman.io.a -> dragoman.io"),
]  # fmt: skip


@pytest.mark.parametrize(("modules", "message"), [row[1:] for row in BREACHES], ids=[row[0] for row in BREACHES])
def test_a_breach_is_named(modules: dict[str, str], message: str) -> None:
    (wrong,) = wrongs(modules)
    assert message in wrong


SOUND: list[tuple[str, dict[str, str]]] = [
    ("lower floors", {"dragoman.turn": "from .codecs.a import x\nfrom . import types", "dragoman.codecs.a": "import re",
                      "dragoman.types": "import jsonschema_rs\nfrom urllib.parse import quote"}),
    ("files of the ground", {"dragoman.jsontext": "from .types import x", "dragoman.types": ""}),
    ("one room", {"dragoman.io": "from .a import x", "dragoman.io.a": "from .b import y", "dragoman.io.b": ""}),
    ("a room within a room knows lower ones",
     {"dragoman.codecs.ollama.a": "from ..openai.b import x", "dragoman.codecs.openai.b": "from ..shared.c import x",
      "dragoman.codecs.shared.c": ""}),
    ("the world may do as it likes", {"dragoman.io.a": "import asyncio, aiohttp\ndef f():\n    import ssl"}),
    ("the journal writes files", {"dragoman.loop.journal.a": "from pathlib import Path"}),
    ("a late library where it is needed", {"dragoman.dialects.learning.sandbox": "def f():\n    import jinja2"}),
    ("what checkers know", {"dragoman.types": "if TYPE_CHECKING:\n from typing_extensions import TypeVar"}),
    ("a library in a function of a program", {"dragoman.cli": "def f():\n    import uvicorn"}),
    ("the face shows the clients to type checkers",
     {"dragoman": "if TYPE_CHECKING:\n from .client import x", "dragoman.client": ""}),
    ("two ways to one module are no circle", {"dragoman.io.a": "from .b import x\nfrom .c import y",
                                              "dragoman.io.b": "from .c import y", "dragoman.io.c": ""}),
]  # fmt: skip


@pytest.mark.parametrize("modules", [row[1] for row in SOUND], ids=[row[0] for row in SOUND])
def test_what_is_sound_passes(modules: dict[str, str]) -> None:
    assert wrongs(modules) == []
