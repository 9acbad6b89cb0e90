"""Arguments as they should be: strict JSON, with the keys and kinds that the schema wants.

What the readers of `lenient/reader.py` would neither mend nor type differently, told in one step by `json` itself.
Knows tools' shapes; does not know dialects, and does not validate (`schema.faults` does).

Contract: what is not told to need nothing may still need nothing; the other way round never.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ...late import late
from ...lenient.notation import SURROGATE
from ...schema.validation import ANYTHING, Shape, shape
from ...types import Tool
from ..judge.declared import Declared
from ..judge.judge import WRAPPERS
from .arguments import MOST_MEMBERS, fold
from .keys import ECHO, NO_KEY, NO_WORD

PIECES = late(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[^ \t\r\n"]+')
"""What stands in JSON between white space."""
BIG = 10**18
"""Longer integers are left to the readers that count their digits."""
DEEPEST = 40
PREPARED = 4096
"""So many names are remembered, of each set of tools."""


def _encoder(item: str, pair: str) -> Callable[[Any], str]:
    """Writes strict JSON with these separators; the encoder in C is kept, where `json` would make one for each text."""
    plain = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(item, pair)).encode
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return plain
    chunks = make(None, _refuse, json.encoder.encode_basestring, None, pair, item, False, False, False)
    return lambda value: "".join(chunks(value, 0))


def _refuse(value: object) -> Any:
    raise TypeError(f"{type(value).__name__} is not JSON")


_scan: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
compact: Callable[[Any], str] = _encoder(",", ":")
_spaced = _encoder(", ", ": ")
_compact_ascii = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


def object_at(text: str, start: int, takes: Wanted) -> tuple[dict[str, Any], str, int] | None:
    """The strict JSON object that begins here and is what is wanted: its value, as text without white space, its end.

    None where writing the value again does not give the text: a key given twice, a number or a character spelt in
    another way, half a character.
    """
    try:
        value, end = _scan(text, start)
        if not takes.fit(value):
            return None
        written = compact(value)
    except (StopIteration, ValueError, RecursionError):
        return None
    given = text[start:end]
    if given != written and given != _spaced(value):
        bare = "".join(PIECES.findall(given))
        if bare != written:
            if "\\u" not in bare or bare != _compact_ascii(value) or not _ascii_keys(value):
                return None
            written, bare = bare, written
        if not bare.isascii() and SURROGATE.search(bare):
            return None
    elif not written.isascii() and SURROGATE.search(written):
        return None
    return value, written, end


def is_json(text: str) -> bool:
    """Is all of this text JSON, numbers that are none of it left aside?"""
    try:
        return _scan(text, 0)[1] == len(text)
    except (StopIteration, ValueError, RecursionError):
        return False


def _ascii_keys(value: Any) -> bool:
    """Are all keys of an object, however deep, of ASCII?"""
    level = [value]
    while level:
        held = level.pop()
        if isinstance(held, dict):
            if not all(map(str.isascii, held)):
                return False
            level += held.values()
        elif isinstance(held, list):
            level += held
    return True


_KINDS: dict[type, frozenset[str]] = {
    str: frozenset({"string"}),
    int: frozenset({"integer", "number"}),
    bool: frozenset({"boolean"}),
    float: frozenset({"number"}),
    type(None): frozenset({"null"}),
    dict: frozenset({"object"}),
    list: frozenset({"array"}),
}


def _fits(value: Any, wanted: Shape, depth: int = 0) -> bool:
    """Is this a value that the schema wants just as it is?"""
    kind = type(value)
    if wanted is not ANYTHING and wanted.kinds and not wanted.kinds & _KINDS[kind]:
        return False
    if wanted.enum and (kind is not str or value not in wanted.enum):
        return False
    if kind is int:
        return bool(-BIG < value < BIG)
    if kind is dict or kind is list:
        if depth > DEEPEST:
            return False
        if kind is list:
            return all(_fits(v, wanted.item, depth + 1) for v in value)
        return all(_fits(v, wanted.property(k), depth + 1) for k, v in value.items())
    return True


class Wanted:
    """What one tool's arguments must be to be taken as they are."""

    __slots__ = ("_folded", "_keys", "_plain", "_taken", "kinds", "shape", "sound", "tool")
    shape: Shape

    def __init__(self, tool: Tool | None) -> None:
        self.tool: Tool | None = tool
        self.shape = wanted = ANYTHING if tool is None else shape(tool.parameters)
        self._keys = frozenset(wanted.keys)
        self._folded = frozenset(map(fold, wanted.keys))
        self._taken = frozenset() if tool is None else WRAPPERS | ECHO | {tool.name}
        self._plain: dict[tuple[str, type], bool] = {}
        self.sound: frozenset[str] = frozenset(key for key in wanted.keys if NO_KEY.search(key) is None)
        shapes = {key: wanted.property(key) for key in wanted.keys}
        self.kinds: dict[str, frozenset[str]] = {k: frozenset(s.kinds) for k, s in shapes.items() if not s.enum}

    def fit(self, arguments: dict[str, Any]) -> bool:
        """Would neither a key nor a value be changed?"""
        plain = self._plain
        if len(arguments) > MOST_MEMBERS and self._keys:
            return False
        for key, value in arguments.items():
            known = plain.get((key, type(value)))
            if not (self._learn(key, type(value)) if known is None else known) and not self._fits(key, value):
                return False
        return True

    def declares(self, key: str) -> bool:
        """May this key be given as it is spelt?  One that is not declared, where it is not another spelling of one."""
        if key in self._keys or key in self._taken:
            return key in self._keys
        if not self._keys:
            return self.shape.open
        return "\\" not in key and fold(key) not in self._folded and NO_WORD.search(key) is None

    def leaves_free(self, key: str) -> bool:
        """Is this a key that is not declared and may be given, with any value?"""
        return key not in self._keys and self.declares(key) and self.shape.property(key) is ANYTHING

    def _learn(self, key: str, kind: type) -> bool:
        """Does every value of this kind fit this key?  Remembered for declared keys."""
        if key not in self._keys:
            return False
        wanted = self.shape.property(key)
        any_of_them = kind in {str, bool, type(None)} and not wanted.enum
        known: bool = any_of_them and (not wanted.kinds or bool(wanted.kinds & _KINDS[kind]))
        self._plain[key, kind] = known
        return known

    def _fits(self, key: str, value: Any) -> bool:
        return self.declares(key) and _fits(value, self.shape.property(key))


NO_TOOL = Wanted(None)
"""Where no tool is known: anything."""
_WANTED: dict[int, Wanted] = {}


def wanted(tool: Tool | None) -> Wanted:
    """What this tool's arguments must be; prepared once, and what is kept holds the tool, so its id stays its own."""
    if tool is None:
        return NO_TOOL
    found = _WANTED.get(id(tool))
    if found is None:
        if len(_WANTED) >= 1024:
            _WANTED.clear()
        found = _WANTED[id(tool)] = Wanted(tool)
    return found


def spelt(declared: Declared, written: str) -> Wanted | None:
    """What the tool wants that is declared by exactly this name; None where another spelling may mean one."""
    found: Wanted | None = declared.prepared.get(written)
    if found is None and written in declared:
        if len(declared.prepared) >= PREPARED:
            declared.prepared.clear()
        found = declared.prepared[written] = wanted(declared[written])
    return found
