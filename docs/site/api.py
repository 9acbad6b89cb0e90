"""The reference of the library, from its signatures and docstrings.

Every name of `dragoman.__all__` stands on the page of the module that makes it; every public package has a page of what
it exports besides.  Nothing is listed by hand but the order and the titles.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import dragoman

from .markdown import code, prose


class Group(NamedTuple):
    """A page of names of the face: its title, the modules they come from, what it begins with."""

    title: str
    modules: tuple[str, ...]
    words: str


GROUPS: Mapping[str, Group] = {
    "text": Group(
        "Text and calls", ("dialects", "turn"), "Find calls in text, write them, and tell a model about its tools."
    ),
    "clients": Group(
        "Clients and routes", ("client", "io", "providers", "fallback"), "Ask models, over one route or several."
    ),
    "runs": Group("Runs", ("loop",), "What a run may do, what happens in it, and how it ends."),
    "tools": Group("Tools", ("tools",), "Python functions as tools."),
    "codecs": Group("Wire APIs", ("codecs",), "Bodies and streams of the APIs, both ways."),
    "values": Group("Values and events", ("types", "events"), "What everything else is made of."),
    "exceptions": Group("Exceptions", ("errors",), "What to do about each: [Errors](errors.md)."),
    "more": Group("Further names", (), "What the package exports besides."),
}
MODULES: Mapping[str, str] = {
    "dragoman.dialects": "Dialects: the rows, and learning new ones.",
    "dragoman.codecs": "Codecs: the table, and the functions for bodies.",
    "dragoman.loop": "The loop, for those who drive it themselves.",
    "dragoman.tools": "Tools, schemas of types and values of JSON.",
    "dragoman.fallback": "Chains of routes.",
    "dragoman.providers.rows": "The table of providers.",
    "dragoman.providers.spec": "What a row of a provider says.",
    "dragoman.mcp": "MCP, both ways.",
    "dragoman.gateway": "The gateway as an ASGI application.",
    "dragoman.doctor": "Probes of a deployment.",
    "dragoman.sim": "The scripted weak model, for tests and demonstrations.",
    "dragoman.types": "Canonical values.",
    "dragoman.events": "Events of an answer.",
    "dragoman.errors": "Exceptions, kinds and codes.",
}
"""Public modules beside the face, and what each is for."""


def groups() -> Mapping[str, list[str]]:
    """Page → the names of the face that stand on it."""
    found: dict[str, list[str]] = {slug: [] for slug in GROUPS}
    for name in dragoman.__all__:
        home = home_of(name)
        slug = next((slug for slug, group in GROUPS.items() if home in group.modules), "more")
        found[slug].append(name)
    return found


def home_of(name: str) -> str:
    """The room that makes a name of the face."""
    rows: Mapping[str, str] = dragoman._FACE
    module = next((module for module, names in rows.items() if name in names.split()), f".{name}")
    return module.removeprefix(".").partition(".")[0]


def page_of_group(slug: str) -> str:
    """The page of a group; empty where no name is in it."""
    names = groups()[slug]
    if not names:
        return ""
    group = GROUPS[slug]
    entries = (entry(f"dragoman.{name}", getattr(dragoman, name)) for name in sorted(names, key=_order))
    return "\n\n".join([f"# {group.title}", group.words, *entries]) + "\n"


def page_of_module(name: str) -> str:
    """What a public module exports."""
    module = import_module(name)
    entries = [entry(f"{name}.{each}", getattr(module, each)) for each in exported(module)]
    return "\n\n".join([f"# {code(name)}", MODULES[name], prose(module.__doc__ or ""), *entries]) + "\n"


def _order(name: str) -> tuple[bool, str]:
    """Functions before the values they make: they are what is looked for."""
    return inspect.isclass(getattr(dragoman, name)), name


def exported(module: ModuleType) -> list[str]:
    """The public names of a module: `__all__`, or what a package imports for others, or what a module defines."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    tree = ast.parse(inspect.getsource(module))
    if hasattr(module, "__path__"):
        kept = {alias.asname for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
        names = [name for name in kept if name and not name.startswith("_")]
    else:
        names = [node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
        names += [each.id for node in tree.body for each in _assigned(node)]
    return sorted(name for name in dict.fromkeys(names) if not name.startswith("_"))


def _assigned(node: ast.stmt) -> Iterator[ast.Name]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    yield from (target for target in targets if isinstance(target, ast.Name))


# ── one name ─────────────────────────────────────────────────────────────────


def entry(path: str, value: Any) -> str:
    """Heading, signature, meaning, and for a class its members."""
    name = path.rpartition(".")[2]
    lines = [f"## `{name}` {{ #{anchor(path)} }}"]
    if inspect.isclass(value) or inspect.isroutine(value):
        lines += [_signature(name, value), prose(_doc(value))]
    else:
        lines += [_constant(value)]
    if inspect.isclass(value):
        lines += list(_members(path, value))
    return "\n\n".join(filter(None, lines))


def anchor(path: str) -> str:
    """The anchor of a name; underscores at its ends would be Markdown."""
    module, _, name = path.rpartition(".")
    return f"{module}.{name.strip('_')}"


def _doc(value: Any) -> str:
    """The value's own words; a dataclass that has none gets its signature as docstring, which says nothing."""
    own = value.__doc__ or ""
    return "" if own.startswith(f"{getattr(value, '__name__', '')}(") else own


HOMES = re.compile(r"dragoman(?:[.]_?[a-z]\w*)+[.]")


def _constant(value: Any) -> str:
    if isinstance(value, ModuleType):
        return f"Module. {prose(value.__doc__ or '')}"
    if isinstance(value, str | int | float | bool):
        return f"Value: {code(repr(value))}"
    if isinstance(value, Mapping):
        first = ", ".join(code(each) for each in list(value)[:12])
        return f"A mapping of {len(value)}: {first}{' …' * (len(value) > 12)}"
    return f"Type: {code(HOMES.sub('', str(value)))}"


LONG = 100


def _signature(name: str, value: Any) -> str:
    if inspect.isclass(value) and issubclass(value, enum.Enum):
        return ""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parameters = [_shown(each) for each in signature.parameters.values() if each.name not in ("self", "cls")]
    empty, result = inspect.Signature.empty, signature.return_annotation
    returned = empty if inspect.isclass(value) or result is empty else _annotation(result)
    written = signature.replace(parameters=parameters, return_annotation=returned)
    return f"```python\n{_wrapped(f'{name}{written}')}\n```"


def _shown(parameter: inspect.Parameter) -> inspect.Parameter:
    """A parameter as its author wrote it: annotations are texts here, and would be shown in quotes."""
    named = {} if parameter.annotation is parameter.empty else {"annotation": _annotation(parameter.annotation)}
    return parameter.replace(default=_default(parameter.default), **named)


def _annotation(value: Any) -> Any:
    return _Written(value.strip("'\"") if isinstance(value, str) else HOMES.sub("", inspect.formatannotation(value)))


class _Written:
    """A default as a reader would write it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _default(value: Any) -> Any:
    if value is inspect.Parameter.empty or isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, enum.Enum):
        return _Written(f"{type(value).__name__}.{value.name}")
    shown = repr(value)
    return _Written("…" if len(shown) > 24 or "<" in shown or " at 0x" in shown else shown)


def _wrapped(text: str) -> str:
    """A long signature, a parameter a line."""
    if len(text) <= LONG or "(" not in text:
        return text
    name, _, rest = text.partition("(")
    inside, _, result = rest.rpartition(")")
    parts, depth, at = [], 0, 0
    for i, letter in enumerate(inside):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(inside[at:i].strip())
            at = i + 1
    lines = "".join(f"    {part},\n" for part in [*parts, inside[at:].strip()] if part)
    return f"{name}(\n{lines}){result}"


def _members(path: str, value: type) -> Iterator[str]:
    if issubclass(value, enum.Enum):
        yield "\n".join(f"- `{member.name}` = {code(repr(member.value))}" for member in value)
        return
    if init := _own_words(value):
        yield prose(init)
    for name, member in _public(value):
        yield _member(f"{path}.{name}", name, member)


def _own_words(value: type) -> str:
    """What the constructor says, where it says more than the class."""
    init = inspect.getattr_static(value, "__init__", None)
    return (inspect.getdoc(init) or "") if inspect.isfunction(init) and init.__doc__ else ""


def _public(value: type) -> Iterator[tuple[str, Any]]:
    fields = {f.name for f in dataclasses.fields(value)} if dataclasses.is_dataclass(value) else set()
    seen: set[str] = set()
    for base in value.__mro__:
        if not base.__module__.startswith("dragoman") or base.__name__ == "Displayed":
            continue
        for name, member in vars(base).items():
            if name.startswith("_") or name in seen or name in fields:
                continue
            seen.add(name)
            if isinstance(member, property | staticmethod | classmethod) or inspect.isfunction(member):
                yield name, member


def _member(path: str, name: str, member: Any) -> str:
    if isinstance(member, property):
        return f"### `{name}` {{ #{path} }}\n\n{prose(member.__doc__ or '')}"
    function: Callable[..., Any] = getattr(member, "__func__", member)
    return f"### `{name}()` {{ #{path} }}\n\n{_signature(name, function)}\n\n{prose(function.__doc__ or '')}"
