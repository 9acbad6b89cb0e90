"""Strict JSON, whole and as it grows.

Knows JSON and nothing of tools.  Contract: `loads` takes what every JSON parser takes in one way only; the text that
`Growing.feed` gives back concatenates to strict JSON once `close_text()` is added, at every moment and for any
splitting of its input; each character is looked at a bounded number of times.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from ...jsontext import quick_reader

MAX_NUMBER = 4096
"""A longer number is no number: CPython refuses to convert it (sys.set_int_max_str_digits)."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise ValueError(f"the key {key[:40]!r} is given twice with different values")
        found[key] = value
    return found


def _finite(number: str) -> float:
    value = float(number)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"the number {number[:40]} is too large")
    return value


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_no_constant)


_BODY_DECODER = json.JSONDecoder(parse_constant=_no_constant)
_scan_body: Callable[[str, int], tuple[Any, int]] = _BODY_DECODER.scan_once  # type: ignore[attr-defined]


def loads(text: str) -> Any:
    """The value of `text`.  Raises `ValueError`, also for NaN, a key with two values and nesting without end."""
    value = _quickly(text)
    return _surely(text) if value is None else value


def _surely(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _quickly(text: str) -> dict[str, Any] | None:
    """An object of texts and whole numbers, as arguments mostly are, read by the fast engine; None for any other.

    It says nothing of a key that is given twice.  Where nothing is escaped, each text takes two quotes: one that is
    missing in the object is missing in their number.
    """
    if "\\" in text or text[:1] != "{":
        return None
    try:
        value: dict[str, Any] = quick_reader()(text)
    except ValueError:
        return None
    texts = len(value)
    for one in value.values():
        kind = type(one)
        if kind is str:
            texts += 1
        elif kind not in _SIMPLE:
            return None
    return value if text.count('"') == 2 * texts else None


_SIMPLE = frozenset({int, bool, type(None)})


def sound(text: str) -> dict[str, Any] | None:
    """The one strict object that this is, if it says something; else None.  (An empty one may be a false start.)

    In a longer text a number may be longer than is emitted.
    """
    if len(text) >= MAX_NUMBER:
        return None
    value: Any = _quickly(text)
    if value is None:
        try:
            value = _surely(text)
        except ValueError:
            return None
    return value if type(value) is dict and value else None


def loads_leniently(text: str) -> Any:
    """The value of `text` as peers write bodies: only NaN and nesting without end are refused."""
    try:
        value, end = _scan_body(text, 0)
        if end == len(text):
            return value
    except StopIteration:
        pass
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return _BODY_DECODER.decode(text)  # white space around it, or no JSON: reported in the decoder's own words


def value_at(text: str, at: int) -> int:
    """Where the value ends that stands at `at`.  Raises `ValueError` where none does."""
    try:
        return _scan_body(text, at)[1]
    except (StopIteration, RecursionError):
        raise ValueError("no value stands here") from None


# ── growing ──────────────────────────────────────────────────────────────────

_BLANK = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]+')
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_ESCAPE_BEGUN = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")
_SCALAR = re.compile(r"[-+.0-9A-Za-z]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORDS = frozenset({"true", "false", "null"})
_CLOSER = {"{": "}", "[": "]"}

Step = Callable[[str, int], int]


class Growing:
    """One JSON object that comes in pieces.

    `feed` gives what may be emitted so far: keys, commas and openers wait for the value they lead to, so that brackets
    alone complete what was emitted.  `done` when the object is complete, `broken` when the text is not strict JSON.
    """

    members: bool
    done: bool
    broken: bool

    def __init__(self) -> None:
        self.done = self.broken = False
        self.members = False
        self._stack: list[str] = []
        self._unemitted = 0
        self._pending: list[str] = []
        self._tail = ""
        self._out: list[str] = []
        self._began = False
        self._in_value = False
        self._step: Step = self._first

    def feed(self, piece: str) -> tuple[str, str]:
        """What `piece` allows to tell, and what follows the end of the object in it."""
        if self.broken:
            return "", ""
        if piece[-1:] == "}" and self._is_whole(piece):
            self.done = self.members = self._began = True
            return piece, ""
        text, at = self._tail + piece, 0
        self._tail = ""
        out: list[str] = []
        self._out = out
        while at < len(text) and not (self.done or self.broken):
            step = self._step
            to = step(text, at)
            if to == at and step is self._step:
                self._tail = text[at:]
                break
            at = to
        left = text[at:] if self.done else ""
        return "".join(out), left

    def _is_whole(self, piece: str) -> bool:
        """Is this the first piece, and all of it?"""
        begins = self._step == self._first and not (self._began or self._pending or self._tail)
        return begins and piece[0] == "{" and sound(piece) is not None

    def close_text(self) -> str:
        """What makes the text emitted so far a complete object."""
        if not self._began or self.done:
            return ""
        emitted = self._stack[: len(self._stack) - self._unemitted]
        return ('"' if self._in_value else "") + "".join(_CLOSER[opener] for opener in reversed(emitted))

    # ── steps: each takes what it knows and returns where it stopped ─────────

    def _first(self, text: str, at: int) -> int:
        at = self._blank(text, at)
        if at < len(text):
            at = self._open(text, at) if text[at] == "{" else self._fail(at)
        return at

    def _value(self, text: str, at: int) -> int:
        at = self._blank(text, at)
        if at == len(text):
            return at
        c = text[at]
        if c in "{[":
            return self._open(text, at)
        if c == '"':
            self._emit('"')
            self._in_value, self._step = True, self._string
            return at + 1
        if c == "]" and self._step == self._item_or_end:
            return self._close(text, at)
        self._step = self._scalar
        return at

    def _item_or_end(self, text: str, at: int) -> int:
        return self._value(text, at)

    def _scalar(self, text: str, at: int) -> int:
        found = _SCALAR.match(text, at)
        end = found.end() if found else at
        word = text[at:end]
        if end == len(text) and len(word) <= MAX_NUMBER:
            return at
        if word not in _WORDS and not (_NUMBER.fullmatch(word) and len(word) <= MAX_NUMBER):
            return self._fail(at)
        self._emit(word)
        self._step = self._next
        return end

    def _key_or_end(self, text: str, at: int) -> int:
        at = self._blank(text, at)
        if at < len(text) and text[at] == "}":
            return self._close(text, at)
        return self._key(text, at)

    def _key(self, text: str, at: int) -> int:
        at = self._blank(text, at)
        if at == len(text):
            return at
        if text[at] != '"':
            return self._fail(at)
        self._pending.append('"')
        self._in_value, self._step = False, self._string
        return at + 1

    def _string(self, text: str, at: int) -> int:
        while at < len(text):
            if found := _PLAIN.match(text, at) or _ESCAPE.match(text, at):
                self._put(found[0])
                at = found.end()
            elif text[at] == '"':
                self._put('"')
                self._step = self._next if self._in_value else self._colon
                self._in_value = False
                return at + 1
            elif _ESCAPE_BEGUN.fullmatch(text, at):
                self._tail = text[at:]
                return len(text)
            else:
                return self._fail(at)
        return at

    def _colon(self, text: str, at: int) -> int:
        at = self._blank(text, at)
        if at == len(text):
            return at
        if text[at] != ":":
            return self._fail(at)
        self._pending.append(":")
        self.members = True
        self._step = self._value
        return at + 1

    def _next(self, text: str, at: int) -> int:
        at = self._blank(text, at)
        if at == len(text):
            return at
        if text[at] == ",":
            self._pending.append(",")
            self._step = self._key if self._stack[-1] == "{" else self._value
            return at + 1
        return self._close(text, at) if text[at] == _CLOSER[self._stack[-1]] else self._fail(at)

    # ── what is emitted and what is pending ──────────────────────────────────

    def _open(self, text: str, at: int) -> int:
        self._stack.append(text[at])
        self._unemitted += 1
        self._pending.append(text[at])
        self._step = self._key_or_end if text[at] == "{" else self._item_or_end
        return at + 1

    def _close(self, text: str, at: int) -> int:
        if len(self._stack) == 1 and not self.members:
            self._pending.append("}")  # an empty object: it may turn out to be a false start (`{}{"city": …}`)
        else:
            self._emit(text[at])
        self._stack.pop()
        self.done = not self._stack
        self._step = self._next
        return at + 1

    def _emit(self, text: str) -> None:
        self._out += [*self._pending, text]
        self._pending.clear()
        self._unemitted, self._began = 0, True

    def _put(self, text: str) -> None:
        if self._in_value:
            self._out.append(text)
        else:
            self._pending.append(text)

    def _blank(self, text: str, at: int) -> int:
        found = _BLANK.match(text, at)
        if found and found[0]:
            self._pending.append(found[0])
            return found.end()
        return at

    def _fail(self, at: int) -> int:
        self.broken = True
        return at

    @property
    def rest(self) -> str:
        """What is pending of a complete object: `{}` where nothing was emitted."""
        return "".join(self._pending) if self.done else ""


def continuation(emitted: str, closers: str, value: Mapping[str, Any], dumps: Callable[[Any], str]) -> str | None:
    """The text that makes of `emitted`, which `closers` would complete, the object `value`; None when none does."""
    try:
        if not emitted:
            return dumps(value)
        text = _resume(json.loads(emitted + closers), value, closers.lstrip('"'), closers.startswith('"'), dumps)
        return text if json.loads(emitted + text) == value else None
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        return None


def _resume(had: Any, full: Any, closers: str, in_string: bool, dumps: Callable[[Any], str]) -> str:
    if not closers:
        return dumps(full)[len(dumps(had)) - 1 :] if in_string else ""
    inner, closer = closers[:-1], closers[-1]
    last, size = (list(had)[-1], len(had)) if isinstance(had, dict) else (len(had) - 1, len(had))
    text = _resume(had[last], full[last], inner, in_string, dumps) if inner or in_string else ""
    if isinstance(had, dict):
        members = [f"{dumps(key)}: {dumps(full[key])}" for key in list(full)[size:]]
    else:
        members = [dumps(item) for item in full[size:]]
    return text + "".join(f", {member}" for member in members) + closer
