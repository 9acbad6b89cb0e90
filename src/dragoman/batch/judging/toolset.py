"""The tools of a row, ready to be asked: compiled once for each content, however many rows declare the same.

Knows definitions and schemas; nothing of calls.  Contract: the same definitions give the same toolset; tools that
cannot be read give one that says so and knows no name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...codecs.shared.tools import write_function
from ...dialects.judge.judge import Judge
from ...errors import UsageError
from ...memo import FrozenTools, Recent, exact
from ...records import NamedTuple
from ...schema.acceptance import Accepts, acceptor
from ...schema.definitions import tools as read_tools
from ...schema.validation import check_schema, faults, standard
from ...types import JsonObject, Tool
from ..result import Finding
from ..row_json import dumps

REMEMBERED = 1024
SIGNS = re.compile(r"[^a-z0-9_-]")


ODD = re.compile(r"[^A-Za-z0-9_.-]")
"""What no name in a Python call has."""


class Toolset:
    """The tools of a row.

    `tools`    in our own types; None where the row says nothing of tools
    `named`    by name
    `judge`    resolves names and mends arguments
    `words`    what a text must hold, folded, to name one of them
    `joined`   every one of these words holds an underscore
    `findings` what is wrong with the definitions
    """

    __slots__ = ("chat", "findings", "joined", "judge", "named", "odd", "padded", "sound", "tools", "words")

    def __init__(self, definitions: Iterable[Any] | None) -> None:
        self.findings: list[Finding] = []
        declared = given = None if definitions is None else list(definitions)
        if declared is not None and _may_be_padded(declared):
            given = [_unpadded(one) for one in declared]
        self.padded: bool = given != declared
        self.sound = True
        try:
            read = read_tools(given)
        except UsageError as error:
            self.findings.append(Finding("bad_tools", "$.tools", str(error)))
            read, self.sound = (), False
        self.tools: tuple[Tool, ...] | None = None if read is None else FrozenTools(read)
        self.named: Mapping[str, Tool] = {tool.name: tool for tool in self.tools or ()}
        for i, tool in enumerate(self.tools or ()):
            if wrong := checked(tool.parameters).wrong:
                self.findings.append(Finding("bad_schema", f"$.tools[{i}]", f"{tool.name}: {wrong}"))
        self.judge = Judge(self.tools)
        self.chat: list[Any] | None = None if self.tools is None else [write_function(tool) for tool in self.tools]
        self.words: tuple[str, ...] = tuple({w for name in self.named for w in _words(name)})
        self.odd: tuple[str, ...] = tuple(sorted(filter(ODD.search, self.named), key=len, reverse=True))
        self.joined = all("_" in word for word in self.words)

    def accepts(self, name: str) -> Accepts | None:
        """What says whether arguments fit the tool of exactly this name; None where there is none."""
        tool = self.named.get(name)
        return None if tool is None else checked(tool.parameters).accepts


def _words(name: str) -> Iterator[str]:
    """What must stand in a text for the name to be in it: the part behind its namespace, in either spelling."""
    tail = (name.rpartition(".")[2] or name).casefold()
    yield tail
    yield SIGNS.sub("_", tail)


class Checked(NamedTuple):
    """What says whether a value is an object that fits a schema, and what is wrong with the schema itself, or "".

    `plainly` takes less, and may say no of what fits.
    """

    accepts: Accepts
    plainly: Accepts
    wrong: str


def checked(schema: JsonObject) -> Checked:
    """A schema made ready, once for each content: rows with other sets of tools have many tools in common."""
    try:
        key = exact(dict(schema))
    except ValueError:
        return _checked(schema)
    found = _SCHEMAS.get(key)
    if found is None:
        found = _checked(schema)
        _SCHEMAS.put(key, found)
    return found


def _checked(schema: JsonObject) -> Checked:
    quick = acceptor(schema)
    wrong = ""
    if quick is None:
        try:
            check_schema(schema)
        except UsageError as error:
            wrong = str(error)
    near = quick or acceptor(standard(schema)) or _no

    def accepts(value: Any) -> bool:
        return type(value) is dict and (near(value) or not faults(schema, value))

    return Checked(accepts, quick if quick and schema.get("type") == "object" else accepts, wrong)


def _no(value: Any) -> bool:
    return False


_SCHEMAS: Recent[bytes, Checked] = Recent(4 * REMEMBERED)


def _may_be_padded(definitions: list[Any]) -> bool:
    """Does any null stand in them?  Told at once, for nearly none have one."""
    try:
        return b"null" in dumps(definitions)
    except (TypeError, ValueError):
        return True


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
        key = exact(definitions)
    except ValueError:
        return Toolset(definitions)
    found = _KNOWN.get(key)
    if found is None:
        found = Toolset(definitions)
        _KNOWN.put(key, found)
    return found
