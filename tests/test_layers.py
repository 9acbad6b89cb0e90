"""The layers of the package, as data, and the rules that keep them layers."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "dragoman"
NAME = "dragoman"

LAYERS: dict[int, str] = {
    0: "errors events tabular types version",  # values
    1: "backed_cache bare_words cache_plan coercion definitions frames grammar kept narrowing notation quoting relaxed schema schema_patterns schema_rules schema_words shape spelling"
    " string_ends structured unquoted yaml_text"
    " text",  # text machinery
    2: "codecs dialects",  # formats
    3: "auth demands profiles provider providers sigv4",  # catalogues
    4: "admission answers augment constraining effects extraction fallback history house_memory house_tools in_words learned listener loop native preparation refusals redress route sidecar tools turn",  # machines
    5: "client io journal mcp sim",  # the world
    6: "batch connecting doctor gateway",  # programs
    7: "__main__ cli",  # the command that starts programs
}
"""Every module or package right below `dragoman`, by layer.  A new one is placed as low as its imports allow."""

LAYER = {name: layer for layer, names in LAYERS.items() for name in names.split()}
SIBLINGS = {"codecs", "dialects"}  # of one layer, and neither knows the other
FACE = 4  # `import dragoman` reaches this high and no higher
WORLD = 5  # the first layer that may touch clocks, randomness, files and the network

LIBRARIES = {"jsonschema_rs"}  # all that the layers below the world may use beside the standard library
LATE = {("dragoman.dialects.learning.sandbox", "jinja2")}  # a library that one module imports when it is first needed
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
    for child in ast.iter_child_nodes(node):
        function = inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        unseen = typing or (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING")
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


def _base(module: str, node: ast.ImportFrom, packages: set[str]) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    up = node.level - (module in packages)
    return ".".join(parts[: len(parts) - up] + ([node.module] if node.module else []))


def packages_of(modules: Mapping[str, str]) -> set[str]:
    return {NAME} | {m.rpartition(".")[0] for m in modules if "." in m}


# ── judging ──────────────────────────────────────────────────────────────────


def top(module: str) -> str:
    """The entry of the table that `module` belongs to; "" for the public face."""
    return module.split(".")[1] if "." in module else ""


def layer_of(module: str) -> int:
    return FACE if module == NAME else LAYER.get(top(module), -1)


def is_ours(target: str) -> bool:
    return target == NAME or target.startswith(f"{NAME}.")


def wrongs(modules: Mapping[str, str]) -> list[str]:
    """Every breach of the layers, in words that say what to do."""
    unplaced = [f"{m}: not in LAYERS; place {top(m)!r} there" for m in modules if layer_of(m) < 0]
    found = [wrong for each in imports(modules, packages_of(modules)) if (wrong := _wrong(each))]
    circle = cycle(modules)
    return unplaced + found + ([f"import cycle: {' -> '.join(circle)}; move what they share down"] if circle else [])


def _wrong(it: Import) -> str:
    at, own = f"{it.module}:{it.line}", layer_of(it.module)
    if is_ours(it.target):
        other = layer_of(it.target)
        if it.inside:
            return f"{at} imports {it.target} inside a function; move it to the top or the code to another layer"
        if it.target == NAME and it.module != NAME:
            return f"{at} imports the public face; import the module that defines the name"
        if other > (WORLD if it.module == NAME and it.typing else own):
            return f"{at} imports {it.target} of layer {other} into layer {own}; only what lies lower may be imported"
        if {top(it.module), top(it.target)} == SIBLINGS:
            return f"{at} imports {it.target}; dialects and codecs do not know each other"
        return ""
    root = it.target.split(".")[0]
    if 0 <= own < WORLD and (root in WORLDLY or it.target in WORLDLY):
        return f"{at} imports {it.target}; below layer {WORLD} it comes in as an argument or an effect"
    late = it.inside and (it.module, root) in LATE
    if 0 <= own < WORLD and root not in LIBRARIES and root not in sys.stdlib_module_names and not late:
        return f"{at} imports {root}; below layer {WORLD} there is only the standard library and {', '.join(LIBRARIES)}"
    return ""


def cycle(modules: Mapping[str, str]) -> list[str]:
    """One circle of modules that import each other while being imported; the public face does not count."""
    edges: dict[str, set[str]] = {m: set() for m in modules}
    for it in imports(modules, packages_of(modules)):
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


def test_no_module_stands_in_two_layers() -> None:
    names = [name for layer in LAYERS.values() for name in layer.split()]
    assert len(names) == len(set(names))


def test_importing_the_package_loads_neither_the_world_nor_a_server() -> None:
    code = f"import {NAME}, sys; print(*sys.modules)"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("COV_", "PYTEST"))}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    loaded = set(run.stdout.split())
    assert NAME in loaded
    assert {m for m in loaded if is_ours(m) and layer_of(m) > FACE} == set()
    assert loaded & SERVERS == set()


# ── the rules themselves ─────────────────────────────────────────────────────

# (what is wrong, modules, a piece of what must be said)
BREACHES: list[tuple[str, dict[str, str], str]] = [
    ("a module nobody placed", {"dragoman.surprise": ""}, "place 'surprise'"),
    ("a lower layer imports a higher one", {"dragoman.types": "from .text import Source", "dragoman.text": ""},
     "dragoman.types:1 imports dragoman.text of layer 1 into layer 0"),
    ("a package is entered by one of its names", {"dragoman.text": "from . import turn", "dragoman.turn": ""},
     "imports dragoman.turn of layer 4"),
    ("two dots", {"dragoman.codecs": "", "dragoman.codecs.a": "from ..turn import x", "dragoman.turn": ""},
     "dragoman.codecs.a:1 imports dragoman.turn"),
    ("an absolute import", {"dragoman.types": "import dragoman.text", "dragoman.text": ""}, "imports dragoman.text"),
    ("codecs know dialects", {"dragoman.codecs": "from .dialects import x", "dragoman.dialects": ""},
     "do not know each other"),
    ("dialects know codecs", {"dragoman.dialects.a": "from ..codecs.b import x", "dragoman.codecs.b": ""},
     "do not know each other"),
    ("the face from within", {"dragoman.text": "from dragoman import Tool", "dragoman": ""}, "the public face"),
    ("the face reaches the world", {"dragoman": "from .io import x", "dragoman.io": ""}, "dragoman.io of layer 5"),
    ("the face knows a program, for type checkers only",
     {"dragoman": "if TYPE_CHECKING:\n from .cli import x", "dragoman.cli": ""}, "dragoman.cli of layer 7"),
    ("a layer knows the one above, for type checkers only",
     {"dragoman.turn": "if TYPE_CHECKING:\n from .io import x", "dragoman.io": ""}, "dragoman.io of layer 5"),
    ("inside a function", {"dragoman.turn": "def f():\n    from .text import x", "dragoman.text": ""},
     "dragoman.turn:2 imports dragoman.text inside a function"),
    ("inside a method of a class", {"dragoman.io": "class C:\n async def f(s):\n  import dragoman.text",
                                    "dragoman.text": ""}, "inside a function"),
    ("a clock", {"dragoman.turn": "from time import monotonic"}, "imports time"),
    ("a clock in a function", {"dragoman.turn": "def f():\n    import time"}, "imports time"),
    ("randomness", {"dragoman.codecs.a": "import random as r"}, "imports random"),
    ("part of a worldly package", {"dragoman.codecs.a": "import concurrent.futures"}, "imports concurrent.futures"),
    ("HTTP by the back door", {"dragoman.codecs.a": "from urllib import request"}, "imports urllib.request"),
    ("a library", {"dragoman.codecs.a": "import orjson"}, "imports orjson"),
    ("a late library, early", {"dragoman.dialects.learning.sandbox": "import jinja2"}, "imports jinja2"),
    ("a late library, elsewhere", {"dragoman.dialects.a": "def f():\n    import jinja2"}, "imports jinja2"),
    ("a circle", {"dragoman.turn": "from .loop import x", "dragoman.loop": "from .tools import x",
                  "dragoman.tools": "from .turn import x"}, "cycle: dragoman.turn -> dragoman.loop -> dragoman.tools"),
    ("a circle behind a start that is not on it",
     {"dragoman.io.a": "from .b import x", "dragoman.io.b": "from .c import x", "dragoman.io.c": "from .b import x"},
     "import cycle: dragoman.io.b -> dragoman.io.c -> dragoman.io.b"),
    ("a circle through a package", {"dragoman.io": "from .a import x", "dragoman.io.a": "from . import y"},
     "import cycle: dragoman.io -> dragoman.io.a -> dragoman.io"),
]  # fmt: skip


@pytest.mark.parametrize(("modules", "said"), [row[1:] for row in BREACHES], ids=[row[0] for row in BREACHES])
def test_a_breach_is_named(modules: dict[str, str], said: str) -> None:
    (wrong,) = wrongs(modules)
    assert said in wrong


SOUND: list[tuple[str, dict[str, str]]] = [
    ("lower layers", {"dragoman.turn": "from .codecs.a import x\nfrom . import text", "dragoman.codecs.a": "import re",
                      "dragoman.text": "import jsonschema_rs\nfrom urllib.parse import quote"}),
    ("one layer", {"dragoman.relaxed": "from .text import x", "dragoman.text": ""}),
    ("one package", {"dragoman.codecs": "from .a import x", "dragoman.codecs.a": "from .b import y",
                     "dragoman.codecs.b": ""}),
    ("the world may do as it likes", {"dragoman.io.a": "import asyncio, aiohttp\ndef f():\n    import ssl"}),
    ("a late library where it is needed", {"dragoman.dialects.learning.sandbox": "def f():\n    import jinja2"}),
    ("a library in a function of a program", {"dragoman.cli": "def f():\n    import uvicorn"}),
    ("the face shows the world to type checkers",
     {"dragoman": "if TYPE_CHECKING:\n from .client import x", "dragoman.client": ""}),
    ("the face shows everything below the world", {"dragoman": "from .turn import x", "dragoman.turn": ""}),
    ("two ways to one module are no circle", {"dragoman.io.a": "from .b import x\nfrom .c import y",
                                              "dragoman.io.b": "from .c import y", "dragoman.io.c": ""}),
]  # fmt: skip


@pytest.mark.parametrize("modules", [row[1] for row in SOUND], ids=[row[0] for row in SOUND])
def test_what_is_sound_passes(modules: dict[str, str]) -> None:
    assert wrongs(modules) == []
