"""What is made when it is first asked for: regular expressions, functions of rare use, the names that a package shows.
And what is said where it is not there, for the library is also installed without the program (`packaging/`).

Most texts need few of the patterns, and compiling all was a third of what the first parse of a process cost; whoever
wants one name of a package need not load what stands behind the others.  Knows `re` and importing, nothing of what is
looked for.
Contract: `late(source, flags)` answers as `re.compile(source, flags)` does; what is wrong with a source is said when it
is first asked, so every one of them is asked by a test.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, cast

_ASKED = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn")


class _Late:
    """Stands for a pattern; from the first question on, its methods are the pattern's own."""

    def __init__(self, source: str, flags: int) -> None:
        self.pattern, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _ASKED:
            raise AttributeError(f"{type(self).__name__!r} has no {name!r}; compile the pattern for that")
        compiled = re.compile(self.pattern, self._flags)
        self.__dict__.update((method, getattr(compiled, method)) for method in _ASKED)
        return getattr(compiled, name)


def late(source: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern of `source`, compiled when it is first asked; for patterns that most texts do not need."""
    return cast("re.Pattern[str]", _Late(source, flags))


class _LateCall:
    """Stands for a function; the first call loads the module that holds it."""

    def __init__(self, module: str, name: str, beside: str) -> None:
        self._module, self._name, self._package = module, name, beside.rpartition(".")[0]
        self._found: Callable[..., Any] | None = None

    def __call__(self, *given: Any, **named: Any) -> Any:
        found = self._found
        if found is None:
            found = self._found = getattr(import_module(self._module, self._package), self._name)
        return found(*given, **named)


def late_call(module: str, name: str, beside: str = "") -> Callable[..., Any]:
    """The function `name` of a module (`beside` this one, if it begins with a dot), loaded when it is first called."""
    return _LateCall(module, name, beside)


def late_names(package: str, face: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's `__getattr__` by which its names (module → names, parted by spaces) are loaded when first used."""
    where = {name: module for module, names in face.items() for name in names.split()}

    def find(name: str) -> Any:
        module = where.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            found = getattr(import_module(module, package), name)
        except ModuleNotFoundError as error:
            raise missing(f"{package}.{name}", error) from error
        setattr(sys.modules[package], name, found)
        return found

    return find


def names_shown(here: Iterable[str], face: Mapping[str, str]) -> list[str]:
    """A package's `__dir__`: the names that are `here` and those still to be loaded, for who completes them."""
    return sorted({*here, *" ".join(face.values()).split()})


PACKAGE = __name__.partition(".")[0]
PROGRAM = frozenset(
    f"{PACKAGE}.{room}"
    for room in (
        "batch", "cli", "dialects.explain", "dialects.learning", "doctor", "gateway", "io.learning", "mcp",
        "server_tools", "sim",
    )
)  # fmt: skip
"""The rooms that the distribution `dragoman` puts beside the library of `dragoman-core`."""
INSTALL = "is not installed here; install the whole program: pip install dragoman"


def missing(what: str, error: ModuleNotFoundError) -> ModuleNotFoundError:
    """`error` with what to do about it, where `what` needs a room or a library that `dragoman-core` does not bring."""
    name = error.name or ""
    library = name if name in PROGRAM else name.partition(".")[0]
    if not library or library == PACKAGE:
        return error
    return ModuleNotFoundError(f"{what} needs {library}, which {INSTALL}", name=error.name)
