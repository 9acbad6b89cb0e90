"""The tools of a row, ready to be asked: compiled once for each content, however many rows declare the same.

Knows definitions and schemas; nothing of calls.  Contract: the same definitions give the same toolset; tools that
cannot be read give one that says so and knows no name.
"""

from __future__ import annotations

import marshal
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ...codecs.shared.tools import write_function
from ...dialects.judge.judge import Judge
from ...errors import UsageError
from ...memo import FrozenTools, Recent
from ...schema.acceptance import Accepts
from ...schema.definitions import tools as read_tools
from ...schema.validation import check_schema, faults
from ...types import Tool
from ..result import Finding

REMEMBERED = 4096
SIGNS = re.compile(r"[^a-z0-9_-]")


class Toolset:
    """The tools of a row.

    `tools`    in our own types; None where the row says nothing of tools
    `named`    by name
    `judge`    resolves names and mends arguments
    `words`    what a text must hold, folded, to name one of them
    `joined`   every one of these words holds an underscore
    `findings` what is wrong with the definitions
    """

    __slots__ = ("_accepts", "chat", "findings", "joined", "judge", "named", "padded", "sound", "tools", "words")

    def __init__(self, definitions: Iterable[Any] | None) -> None:
        self.findings: list[Finding] = []
        given = None if definitions is None else [_unpadded(one) for one in definitions]
        self.padded: bool = given is not None and given != definitions
        self.sound = True
        try:
            read = read_tools(given)
        except UsageError as error:
            self.findings.append(Finding("bad_tools", "$.tools", str(error)))
            read, self.sound = (), False
        self.tools: tuple[Tool, ...] | None = None if read is None else FrozenTools(read)
        self.named: Mapping[str, Tool] = {tool.name: tool for tool in self.tools or ()}
        for i, tool in enumerate(self.tools or ()):
            try:
                check_schema(tool.parameters, tool.name)
            except UsageError as error:
                self.findings.append(Finding("bad_schema", f"$.tools[{i}]", str(error)))
        self.judge = Judge(self.tools)
        self.chat: list[Any] | None = None if self.tools is None else [write_function(tool) for tool in self.tools]
        self.words: tuple[str, ...] = tuple({w for name in self.named for w in _words(name)})
        self.joined = all("_" in word for word in self.words)
        self._accepts: dict[str, Accepts] = {}

    def accepts(self, name: str) -> Accepts | None:
        """What says whether arguments fit the tool of exactly this name; None where there is none."""
        found = self._accepts.get(name)
        if found is None and name in self.named:
            found = self._accepts[name] = _accepting(self.named[name])
        return found


def _words(name: str) -> Iterator[str]:
    """What must stand in a text for the name to be in it: the part behind its namespace, in either spelling."""
    tail = (name.rpartition(".")[2] or name).casefold()
    yield tail
    yield SIGNS.sub("_", tail)


def _accepting(tool: Tool) -> Callable[[Any], bool]:
    schema = tool.parameters
    return lambda value: type(value) is dict and not faults(schema, value)


def _unpadded(value: Any) -> Any:
    """A definition without the nulls that Arrow puts under the keys of other rows' schemas."""
    if isinstance(value, dict):
        return {k: _unpadded(v) for k, v in value.items() if v is not None or k in ("default", "const")}
    if isinstance(value, list):
        return [_unpadded(one) if isinstance(one, dict | list) else one for one in value]
    return value


_KNOWN: Recent[bytes, Toolset] = Recent(REMEMBERED)


def toolset(definitions: list[Any] | None) -> Toolset:
    """The toolset of these definitions, made once for each content."""
    try:
        key = marshal.dumps(definitions, 2)
    except ValueError:
        return Toolset(definitions)
    found = _KNOWN.get(key)
    if found is None:
        found = Toolset(definitions)
        _KNOWN.put(key, found)
    return found
