"""Several runnables by name: merged, chosen from, renamed.

Does not know how a runnable is made from a function (`decorator.py` does) and runs nothing.
Contract: a set never changes and keeps the order it was given; a name stands for one tool; every operation returns a
new set, and raises `UsageError` where two tools would get one name or a name is in no tool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from ..errors import UnknownName, UsageError
from ..types import Tool
from .decorator import marked_in, runnable
from .spec import Runnable

Choice: TypeAlias = "str | Iterable[str] | Callable[[Runnable], bool]"


class ToolSet(Mapping[str, Runnable]):
    """Runnables by name.  Made from functions, methods, `Runnable`s, `(Tool, function)` pairs and other sets."""

    __slots__ = ("_runnables",)

    def __init__(self, *members: Any) -> None:
        found: dict[str, Runnable] = {}
        for member in members:
            for each in _each(member):
                _add(found, each)
        self._runnables = found

    @classmethod
    def of(cls, holder: Any) -> ToolSet:
        """Every tool marked with `@tool` in a module, or among the methods of an object, in the order they stand."""
        return cls(*marked_in(holder))

    def __getitem__(self, name: str) -> Runnable:
        try:
            return self._runnables[name]
        except KeyError:
            raise UnknownName("tool", name, self._runnables, "the names in this set") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._runnables)

    def __len__(self) -> int:
        return len(self._runnables)

    def __contains__(self, name: object) -> bool:
        return name in self._runnables

    def __or__(self, other: Any) -> ToolSet:
        return ToolSet(self, other)

    def __ror__(self, other: Any) -> ToolSet:
        return ToolSet(other, self)

    def __repr__(self) -> str:
        return f"ToolSet({', '.join(self._runnables)})"

    @property
    def definitions(self) -> tuple[Tool, ...]:
        """The definitions that models see, in order."""
        return tuple(each.tool for each in self._runnables.values())

    def only(self, choice: Choice) -> ToolSet:
        """The tools of these names, in this set's order, or those for which a predicate holds."""
        chosen = self._chooser(choice)
        return ToolSet(*(each for each in self._runnables.values() if chosen(each)))

    def without(self, choice: Choice) -> ToolSet:
        """All tools but those of these names, or but those for which a predicate holds."""
        chosen = self._chooser(choice)
        return ToolSet(*(each for each in self._runnables.values() if not chosen(each)))

    def renamed(self, names: Mapping[str, str]) -> ToolSet:
        """The same tools by new names for models: `{old: new}`."""
        for old in names:
            self[old]
        return ToolSet(*(_named(each, names.get(name, name)) for name, each in self._runnables.items()))

    def namespaced(self, prefix: str) -> ToolSet:
        """The same tools, each name behind `prefix` and a dot: `read` in "fs" is `fs.read`."""
        return self.renamed({name: f"{prefix}.{name}" for name in self})

    def _chooser(self, choice: Choice) -> Callable[[Runnable], bool]:
        if callable(choice):
            return choice
        names = {choice} if isinstance(choice, str) else set(choice)
        for name in names:
            self[name]
        return lambda each: each.tool.name in names


def _each(member: Any) -> Iterable[Runnable]:
    if isinstance(member, ToolSet):
        return member.values()
    if isinstance(member, list | set | frozenset):
        raise UsageError("a ToolSet takes the tools themselves, not a list of them: ToolSet(*tools)")
    return (runnable(member),)


def _add(found: dict[str, Runnable], new: Runnable) -> None:
    name = new.tool.name
    old = found.setdefault(name, new)
    if old is not new and old != new:
        raise UsageError(
            f"two tools are named {name!r} ({_sketch(old)} and {_sketch(new)}): put one in a namespace with "
            f".namespaced('…') or rename it with .renamed({{{name!r}: '…'}})"
        )


def _sketch(each: Runnable) -> str:
    """A few words that tell one tool from another of the same name."""
    words = " ".join(each.tool.description.split())[:60]
    return (
        repr(words)
        if words
        else f"one with the parameters {', '.join(each.tool.parameters.get('properties', ())) or '(none)'}"
    )


def _named(each: Runnable, name: str) -> Runnable:
    if not name or not isinstance(name, str):
        raise UsageError(f"tool {each.tool.name!r} cannot be named {name!r}: give a text that is not empty")
    return each if each.tool.name == name else replace(each, tool=replace(each.tool, name=name))
