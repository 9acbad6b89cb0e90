"""JSON, with comments and commas at the end as editors allow them, changed in place.

Contract: what is not changed stays as it is written, comments too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...records import NamedTuple

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])')
_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder()
INDENT = "  "


class _Member(NamedTuple):
    """A member of an object: its key, and where its value stands."""

    key: str
    begin: int
    end: int


def read(text: str) -> Any:
    """The value.  Raises ValueError."""
    return json.loads(_plain(text))


def edit(text: str, wanted: Any) -> str:
    """`text` with every member as in `wanted`; what `wanted` does not have stays."""
    if not text.strip():
        return json.dumps(wanted, indent=INDENT, ensure_ascii=False) + "\n"
    done = text
    for path, value in _changes(read(text), wanted, ()):
        done = _put(done, path, value)
    return done


def _changes(before: Any, wanted: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not (isinstance(before, Mapping) and isinstance(wanted, Mapping)):
        yield path, wanted
        return
    for key, value in wanted.items():
        if key not in before:
            yield (*path, key), value
        elif before[key] != value:
            yield from _changes(before[key], value, (*path, key))


def _put(text: str, path: tuple[str, ...], value: Any) -> str:
    """`text` with `value` at `path`, whose last key may be new."""
    plain = _plain(text)
    begin, end = _skip(plain, 0), len(plain.rstrip())
    for depth, key in enumerate(path):
        members = list(_members(plain, begin))
        found = [member for member in members if member.key == key]
        if not found:
            line = f"\n{INDENT * (depth + 1)}{json.dumps(key, ensure_ascii=False)}: {_written(value, depth + 1)}"
            return _add(text, begin, members, line, "\n" + INDENT * depth)
        _, begin, end = found[-1]
    return text[:begin] + _written(value, len(path)) + text[end:]


def _add(text: str, begin: int, members: list[_Member], line: str, closing: str) -> str:
    """The object that begins there with one more member; `closing` goes before its brace where it was empty."""
    if members:
        place = members[-1].end
        return text[:place] + "," + line + text[place:]
    rest = text[begin + 1 :]
    return text[: begin + 1] + line + ("" if rest.lstrip(" \t").startswith("\n") else closing) + rest


def _written(value: Any, depth: int) -> str:
    return json.dumps(value, indent=INDENT, ensure_ascii=False).replace("\n", "\n" + INDENT * depth)


def _plain(text: str) -> str:
    """The text with blanks where comments and last commas stand: strict JSON, every place the same."""
    bare = _TOKEN.sub(lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\n]", " ", m[0]), text)
    return _LAST_COMMA.sub(lambda m: m[0] if m[0][0] == '"' else " ", bare)


def _members(plain: str, begin: int) -> Iterator[_Member]:
    """The members of the object that begins there; none where it is no object."""
    place = _skip(plain, begin + 1)
    while plain[begin] == "{" and plain[place] == '"':
        key, place = _DECODER.raw_decode(plain, place)
        start = _skip(plain, _skip(plain, place) + 1)
        _, end = _DECODER.raw_decode(plain, start)
        yield _Member(key, start, end)
        place = _skip(plain, end)
        place = _skip(plain, place + 1) if plain[place] == "," else place


def _skip(plain: str, place: int) -> int:
    found = _SPACE.match(plain, place)
    return found.end() if found else place
