"""TOML changed line by line.

It knows the layout people and programs use: `key = value` lines below `[table]` and `[[table]]` headers.  A file laid
out otherwise may come out wrong; who calls this reads it again (`merging.merged`).

Contract: lines that say nothing of what is changed stay as they are.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...records import NamedTuple

_HEADER = re.compile(r"^[ \t]*(?P<open>\[\[?)(?P<name>[^\[\]]*)\]\]?[ \t]*(?:#.*)?$")
_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


class _Block(NamedTuple):
    """The lines below a header, the header too; the lines before the first header are the block of the path ()."""

    path: tuple[str, ...]
    many: bool
    lines: list[str]


def edit(text: str, wanted: Mapping[str, Any]) -> str:
    """`text` with every value as in `wanted`; what `wanted` does not have stays."""
    blocks = _blocks(text)
    _table(blocks, (), wanted, tomllib.loads(text))
    return "\n".join(line for block in blocks for line in block.lines).strip("\n") + "\n"


def _table(blocks: list[_Block], path: tuple[str, ...], wanted: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    for key, value in wanted.items():
        old = before.get(key)
        if value == old:
            continue
        if _tables(value):
            _entries(blocks, (*path, key), value, old if isinstance(old, list) else [])
        elif isinstance(value, Mapping) and not value:
            _block(blocks, (*path, key))
        elif isinstance(value, Mapping):
            _table(blocks, (*path, key), value, old if isinstance(old, Mapping) else {})
        else:
            _assign(_block(blocks, path).lines, key, value)


def _entries(blocks: list[_Block], path: tuple[str, ...], wanted: Sequence[Any], before: Sequence[Any]) -> None:
    """The entries of an array of tables; those that are there come first in `wanted` too."""
    there = [block for block in blocks if block.many and block.path == path]
    for number, entry in enumerate(wanted):
        if number < len(before):
            if number < len(there):
                for key, value in entry.items():
                    if before[number].get(key) != value:
                        _assign(there[number].lines, key, value)
            continue
        lines = ["", f"[[{_dotted(path)}]]"]
        for key, value in entry.items():
            _assign(lines, key, value)
        blocks.append(_Block(path, many=True, lines=lines))


def _assign(lines: list[str], key: str, value: Any) -> None:
    """`key = value` among the lines of a block."""
    line = f"{_key(key)} = {_written(value)}"
    start = next((n for n, text in enumerate(lines) if _assigns(text, key)), None)
    if start is not None:
        lines[start : _end(lines, start)] = [line]
        return
    place = len(lines)
    while place and not lines[place - 1].strip():
        place -= 1
    lines.insert(place, line)


def _assigns(line: str, key: str) -> bool:
    return (
        re.match(rf"[ \t]*(?:{re.escape(key)}|{re.escape(json.dumps(key))}|'{re.escape(key)}')[ \t]*=", line)
        is not None
    )


def _end(lines: Sequence[str], start: int) -> int:
    """The line after the value that begins on line `start`."""
    for end in range(start + 1, len(lines) + 1):
        try:
            tomllib.loads("\n".join(lines[start:end]))
        except tomllib.TOMLDecodeError:
            continue
        return end
    return start + 1


def _block(blocks: list[_Block], path: tuple[str, ...]) -> _Block:
    found = next((block for block in blocks if block.path == path and not block.many), None)
    if found is None:
        found = _Block(path, many=False, lines=["", f"[{_dotted(path)}]"])
        blocks.append(found)
    return found


def _blocks(text: str) -> list[_Block]:
    return list(_read_blocks(text.splitlines()))


def _read_blocks(lines: Sequence[str]) -> Iterator[_Block]:
    block = _Block((), many=False, lines=[])
    for line in lines:
        header = _HEADER.match(line)
        if header is None:
            block.lines.append(line)
            continue
        yield block
        block = _Block(_path(header["name"]), many=header["open"] == "[[", lines=[line])
    yield block


def _path(name: str) -> tuple[str, ...]:
    """The keys of a dotted name; () would be the top, so what cannot be read is a path nobody asks for."""
    try:
        value: Any = tomllib.loads(f"{name} = 0")
    except tomllib.TOMLDecodeError:
        return ("", name)
    keys: list[str] = []
    while isinstance(value, dict):
        [(key, value)] = value.items()
        keys.append(key)
    return tuple(keys)


def _tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, Mapping) for entry in value)


def _dotted(path: Sequence[str]) -> str:
    return ".".join(map(_key, path))


def _key(key: str) -> str:
    return key if _BARE.match(key) else _written(key)


def _written(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_written(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_written, value)) + "]"
    if isinstance(value, str | bool | int):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)
