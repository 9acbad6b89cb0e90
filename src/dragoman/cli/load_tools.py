"""Tools named on the command line: `module:name`, `module`, `path/to/file.py:name` or `path/to/file.py`.

Knows how Python finds modules; nothing of what tools do.  What is named may be a `ToolSet`, a list of tools, one tool,
or an object with tools among its methods; of a module alone, everything marked with `@tool` is taken, and where nothing
is, its public functions.
Contract: what cannot be loaded is a `UsageError` that says how to name it; the current folder comes first.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from ..errors import DragomanError, UsageError
from ..tools import Runnable, ToolSet

HOW = "name tools as module:name (tools.py with `TOOLS = ToolSet(…)` is tools:TOOLS), or a module of functions"


def load_tools(names: Iterable[str]) -> ToolSet:
    """All the tools that `names` stand for."""
    return ToolSet(*(_load(name) for name in names))


def _load(name: str) -> ToolSet:
    where, _, attribute = name.rpartition(":") if ":" in name else (name, "", "")
    module = _module(where)
    if not attribute:
        found = ToolSet.of(module) or ToolSet(*_functions(module))
        if not found:
            raise UsageError(f"{name}: there is no function; {HOW}")
        return found
    value: Any = module
    for step in attribute.split("."):
        if not hasattr(value, step):
            raise UsageError(f"{where} has no {attribute!r}; {HOW}")
        value = getattr(value, step)
    return _as_tools(value, name)


def _functions(module: ModuleType) -> list[FunctionType]:
    """The public functions a module defines itself."""
    own = (each for each in vars(module).values() if isinstance(each, FunctionType))
    return [each for each in own if each.__module__ == module.__name__ and not each.__name__.startswith("_")]


def _as_tools(value: Any, name: str) -> ToolSet:
    if isinstance(value, list | tuple):
        return ToolSet(*value)
    if isinstance(value, ToolSet | Runnable) or (callable(value) and not isinstance(value, type)):
        return ToolSet(value)
    if found := ToolSet.of(value):
        return found
    raise UsageError(f"{name} is {type(value).__name__}, and no tools; {HOW}")


def _module(where: str) -> ModuleType:
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return _file(Path(where)) if where.endswith(".py") else import_module(where)
    except (DragomanError, SyntaxError) as error:
        raise UsageError(f"cannot load {where}: {error}") from error
    except (ImportError, OSError, ValueError) as error:
        raise UsageError(f"cannot load {where}: {error}; {HOW}") from error


def _file(path: Path) -> ModuleType:
    """The module in a file, loaded once; its name is one that no other module has."""
    name = f"dragoman_tools_{path.stem}"
    loaded = sys.modules.get(name)
    if loaded is not None and loaded.__file__ == str(path.resolve()):
        return loaded
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is no Python file; {HOW}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up by name while it is loaded
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
