"""Modules that stand in for what a model server imports and its parsers do not use: torch, GPU kernels, grammars.

Contract: a module is made up only where none can be imported, or where it is one of the server's own that run models;
whatever is asked of it can be called, subclassed, subscripted, joined by `|`, annotated with and used as a decorator.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

VERSION = "2.15.0"


class StandIn:
    """A thing that is not there."""

    def __getattr__(self, name: str) -> Any:
        return _asked(self, name)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        only = args[0] if len(args) == 1 and not keywords else None
        return only if isinstance(only, types.FunctionType | type) else StandIn()  # as a decorator, else called

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        return ()

    def __instancecheck__(self, instance: Any) -> bool:
        return False

    def __get_pydantic_core_schema__(self, *_: Any) -> Any:
        return {"type": "any"}

    def __getitem__(self, _: Any) -> Any:
        return self

    def __or__(self, _: Any) -> Any:
        return Any

    __ror__ = __or__

    def __add__(self, _: Any) -> Any:
        return self

    __radd__ = __sub__ = __mul__ = __add__

    def __iter__(self) -> Iterator[Any]:
        return iter(())


def _asked(owner: Any, name: str) -> Any:
    if name == "__version__":
        return VERSION
    if name.startswith("__"):
        raise AttributeError(name)
    made = StandIn()
    setattr(owner, name, made)
    return made


class _Module(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        return _asked(self, name)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of `roots`."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = frozenset(roots)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """A module that stands in."""
        if not any(name == root or name.startswith(f"{root}.") for root in self._roots):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """Nothing is in it."""
        return _Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is to be done."""


def install(folder: Path, package: str, roots: Sequence[str]) -> None:
    """Make `package` of `folder` importable, without what its own `__init__` sets up, and have `roots` stand in."""
    own = [root for root in roots if "." in root]
    absent = [root for root in roots if "." not in root and importlib.util.find_spec(root) is None]
    sys.meta_path[:0] = [Finder(own)]
    sys.meta_path.append(Finder(absent))
    parent = types.ModuleType(package)
    parent.__path__ = [str(folder / package)]
    parent.__version__ = VERSION  # type: ignore[attr-defined]
    sys.modules[package] = parent
