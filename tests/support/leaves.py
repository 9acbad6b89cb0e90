"""What JSON says, leaf by leaf, and which leaves of a recorded answer did not come out again.

Independent of every codec: paths, values and the kinds of a stream's events, nothing of what they mean.  A stream says
a leaf in pieces or in several frames: the strings at one path are joined, other values are a set.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

Path = tuple[str | int, ...]
NOTHING: tuple[Any, ...] = (None, "", [], {})
"""What says no more than a field that is absent."""


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The strings, numbers and booleans in `value`, each with its path; what is null or empty says nothing."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, (*path, key))
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from leaves(one, (*path, place))
    elif value not in NOTHING:
        yield path, value


def spelled(path: Path) -> str:
    """`choices[].message.content`: the path without the numbers of places."""
    words = "".join("[]" if isinstance(step, int) else f".{step}" for step in path)
    return words.removeprefix(".")


def lost_of_body(sent: Any, got: Any) -> Iterator[tuple[str, Any]]:
    """The leaves of `sent` that do not stand in `got` at the same place: path and value.

    A text in several parts may come as one, and what follows it one place before: then all that is said at its path is
    the same.
    """
    known, said, again = dict(leaves(got)), Said([("", sent)]), Said([("", got)])
    for path, value in leaves(sent):
        where = ("", spelled(path))
        joined = where in said.joined and same(said.joined[where], again.joined.get(where, ""))
        moved = joined or said.values[where] == again.values.get(where)
        if not moved and (path not in known or not same(value, known[path])):
            yield spelled(path), value


def same(one: Any, other: Any) -> bool:
    """Do they say the same?  The JSON in a string is what it says, however it is spaced."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if one == other:
        return True
    texts = isinstance(one, str) and isinstance(other, str) and one[:1] in "{[" and other[:1] in "{["
    return texts and (values := _json_values(one)) is not None and values == _json_values(other)


def _json_values(text: str) -> list[Any] | None:
    """The values of JSON texts that follow each other; None where it is none."""
    decoder, values, at = json.JSONDecoder(), [], 0
    try:
        while at < len(text):
            value, at = decoder.raw_decode(text, at)
            values.append(value)
    except ValueError:
        return None
    return values


class Said:
    """What the frames of a stream said: by event and path, the strings joined and each value."""

    def __init__(self, frames: Iterable[tuple[str, Any]]) -> None:
        self.joined: dict[tuple[str, str], str] = {}
        self.values: dict[tuple[str, str], list[Any]] = {}
        self.kinds: dict[str, int] = {}
        for kind, body in frames:
            self.kinds[kind] = self.kinds.get(kind, 0) + 1
            for path, value in leaves(body):
                key = (kind, spelled(path))
                self.values.setdefault(key, []).append(value)
                if isinstance(value, str):
                    self.joined[key] = self.joined.get(key, "") + value

    def lost(self, got: Said) -> Iterator[tuple[str, Any]]:
        """What is not in `got`: events by their kind, leaves by kind and path."""
        for kind in self.kinds:
            if kind not in got.kinds:
                yield kind, "the event"
        for (kind, path), values in self.values.items():
            if kind in got.kinds:
                yield from self._lost_at(kind, path, values, got)

    def _lost_at(self, kind: str, path: str, values: list[Any], got: Said) -> Iterator[tuple[str, Any]]:
        there = got.values.get((kind, path), [])
        if (kind, path) in self.joined and same(self.joined[kind, path], got.joined.get((kind, path), "")):
            return
        for value in dict.fromkeys(values):
            if not any(same(value, one) for one in there):
                yield f"{kind} {path}".strip(), value
