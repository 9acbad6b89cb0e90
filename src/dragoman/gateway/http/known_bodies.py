"""Bodies that go on with one that was read before: what is known of them is not read again.

Agents send the whole conversation and all their tools with each turn.  Of each conversation the bytes up to a place
between two turns are kept, and the values they hold; where a body begins with them, only the rest of it is parsed.
Knows bytes and JSON, and which field grows; nothing of what a request means.

Contract: the same value as parsing all of it.  That is proven, not assumed: each known stretch is whole values where it
was first found, it is byte for byte the same, a word that nobody can guess is put in its place, what is left is parsed
whole, and the word must stand where the values would.  What is given out again is the same object, a `Grown`: nobody
changes it.  Nothing is known across scopes; all of it together stays below `limit` bytes.  Threads may share it.
"""

from __future__ import annotations

import json
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

from ...conversation.grown import Grown, grown
from ...records import NamedTuple

Parse: TypeAlias = Callable[[bytes], Mapping[str, Any]]

FEWEST = 8
"""Items of a conversation from which on its beginning is kept."""
LAST = 4
"""Items at the end that may still change: clients move their cache marks there, and shorten long results."""
SLOW = 64
"""What is kept goes on once it is longer by one part in so many: each time it is copied."""
SMALLEST = 512
"""Bytes of a list of tools that is kept."""
LARGEST = 4 * 1024 * 1024
"""Bytes of a body of which anything is kept."""
WEIGHT = 10
"""Bytes that are held for one of a body: its own, its values, and what the stages of a turn make of these."""
PROBE = 64
MOST_OF_ONE = 64
"""Conversations of one scope, and sets of tools: with each a body may have to be compared."""


@dataclass(slots=True)
class _Known:
    """A stretch of a body that was read before.

    data    of a conversation all from the body's first byte, of tools their list;  value  what stands there
    start   where the stretch begins: the first item, or the list
    back    how far from the body's end it begins: fields before and behind it may have changed
    marks   about how many values `data` holds
    """

    scope: Hashable
    data: bytes
    value: Grown[Any]
    start: int
    back: int = 0
    marks: int = 0

    @property
    def size(self) -> int:
        """Bytes that it holds, about."""
        return len(self.data) * WEIGHT


class Match(NamedTuple):
    """What is known of a body, and how many of its bytes are not."""

    fresh: int
    tools: _Known | None = None
    tools_at: int = 0
    said: _Known | None = None


class KnownBodies:
    """What was read before, up to so many bytes; 0 for nothing."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._size = 0
        self._rows: dict[tuple[Hashable, str], OrderedDict[int, _Known]] = {}
        self._recent: OrderedDict[int, tuple[Hashable, str]] = OrderedDict()  # which row of which table, oldest first
        self._lock = threading.Lock()
        secret = secrets.token_hex(16)
        self._item, self._list = f"dragoman-item-{secret}", f"dragoman-list-{secret}"

    def match(self, body: bytes, scope: Hashable, most: int) -> Match:
        """What is known of `body`, which may hold so many JSON values."""
        if not self.limit or len(body) > LARGEST:
            return Match(len(body))
        with self._lock:
            said = self._said_in(body, scope, most)
            tools, at = self._tools_in(body, scope, said)
            if said is not None:
                self._recent.move_to_end(id(said))
            if tools is not None:
                self._recent.move_to_end(id(tools))
        fresh = len(body) - (len(said.data) - said.start if said else 0) - (len(tools.data) if tools else 0)
        return Match(fresh, tools, at, said)

    def _said_in(self, body: bytes, scope: Hashable, most: int) -> _Known | None:
        """The conversation that `body` begins with, where what follows it does not hold too much."""
        for one in self._of(scope, CONVERSATION):
            if _begins(body, one):
                return one if one.marks + marks(body[len(one.data) :]) <= most else None
        return None

    def _tools_in(self, body: bytes, scope: Hashable, said: _Known | None) -> tuple[_Known | None, int]:
        """The tools that stand in `body`, and where."""
        size = len(body)
        for one in self._of(scope, TOOLS):
            for at in (one.start, size - one.back):
                if _stands_at(body, one, at, said):
                    return one, at
        return None, 0

    def read(self, body: bytes, match: Match, parse: Parse, scope: Hashable, history: str) -> Mapping[str, Any]:
        """The value of `body`, as `parse` gives it, and raising what it raises; `history` names the list that grows."""
        value = self._pieced(body, match, parse, history)
        if value is None:
            match, value = Match(len(body)), {**parse(body)}
        if self.limit and len(body) <= LARGEST:
            self._learn_tools(body, value, match, scope)
            self._learn_conversation(body, value, match, scope, history)
        return value

    def _pieced(self, body: bytes, match: Match, parse: Parse, history: str) -> dict[str, Any] | None:
        """The value, with what is known in its places; None where nothing is, or a word does not stand in its place."""
        tools, said = match.tools, match.said
        if tools is None and said is None:
            return None
        spans = [] if said is None else [(said.start, len(said.data), self._item)]
        spans += [] if tools is None else [(match.tools_at, match.tools_at + len(tools.data), self._list)]
        try:
            value = {**parse(_without(body, spans))}
        except Exception:  # told of the body as it is
            return None
        if tools is not None:
            if value.get(TOOLS) != self._list:
                return None
            value[TOOLS] = tools.value
        if said is not None:
            items = value.get(history)
            if type(items) is not list or not items or items[0] != self._item:
                return None
            value[history] = grown(said.value, items[1:])
        return value

    # ── what becomes known ───────────────────────────────────────────────────

    def _learn_tools(self, body: bytes, value: dict[str, Any], match: Match, scope: Hashable) -> None:
        given = value.get(TOOLS)
        if match.tools is not None:
            match.tools.start, match.tools.back = match.tools_at, len(body) - match.tools_at
        elif type(given) is list and given:
            start = _opening(body, TOOLS)
            end = _end_of(body, start, len(given)) if start else None
            if end is None or end - start < SMALLEST or not self._stands(body, start, end, TOOLS, alone=True):
                return
            value[TOOLS] = grown(None, given)
            data = body[start - 1 : _closed(body, end)]
            known = _Known(scope, data, value[TOOLS], start - 1, len(body) - start + 1)
            self._put(known, TOOLS)

    def _learn_conversation(
        self, body: bytes, value: dict[str, Any], match: Match, scope: Hashable, history: str
    ) -> None:
        items: Any = value.get(history)
        said = match.said
        known = 0 if said is None else len(said.value)
        cut = _cut(items) if isinstance(items, list | tuple) else 0
        if cut <= known + known // SLOW:
            return
        if said is not None:
            start, end = said.start, _end_of(body, len(said.data), cut - known)
        else:
            start = _opening(body, history)
            end = _end_of(body, start, cut) if start else None
        if end is None or (said is None and not self._stands(body, start, end, history)):
            return
        base = None if said is None else said.value
        beginning = grown(base, items[known:cut])
        if base is not None and said is not None:
            base.base = None  # what was made of it stands on its own from here on
            self._forget(said, CONVERSATION)
        value[history] = grown(beginning, items[cut:])
        counted = marks(body[:end]) if said is None else said.marks + marks(body[len(said.data) : end])
        self._put(_Known(scope, body[:end], beginning, start, marks=counted), CONVERSATION)

    def _stands(self, body: bytes, start: int, end: int, field: str, *, alone: bool = False) -> bool:
        """Do the items between `start` and `end` stand first in the list that `field` is, or alone?"""
        try:
            found = json.loads(_without(body, [(start, end, self._item)]))
        except (ValueError, RecursionError):
            return False
        listed = found.get(field) if isinstance(found, dict) else None
        if not isinstance(listed, list) or not listed or listed[0] != self._item:
            return False
        return not alone or len(listed) == 1

    # ── what is kept ─────────────────────────────────────────────────────────

    def _of(self, scope: Hashable, what: str) -> Sequence[_Known]:
        """The latest first."""
        rows = self._rows.get((scope, what))
        if not rows or len(rows) == 1:
            return tuple(rows.values()) if rows else ()
        return list(islice(reversed(rows.values()), MOST_OF_ONE))

    def _put(self, known: _Known, what: str) -> None:
        with self._lock:
            self._rows.setdefault((known.scope, what), OrderedDict())[id(known)] = known
            self._recent[id(known)] = known.scope, what
            self._size += known.size
            while self._size > self.limit and self._recent:
                oldest, table = next(iter(self._recent.items()))
                self._drop(oldest, table)

    def _forget(self, known: _Known, what: str) -> None:
        with self._lock:
            self._drop(id(known), (known.scope, what))

    def _drop(self, key: int, table: tuple[Hashable, str]) -> None:
        self._recent.pop(key, None)
        rows = self._rows.get(table, OrderedDict())
        known = rows.pop(key, None)
        self._size -= known.size if known is not None else 0
        if not rows:
            self._rows.pop(table, None)


CONVERSATION, TOOLS = "conversation", "tools"

# ── bytes ────────────────────────────────────────────────────────────────────


def marks(body: bytes) -> int:
    """About how many values stand in it, and never fewer."""
    return body.count(b",") + body.count(b"[") + body.count(b"{")


def _begins(body: bytes, known: _Known) -> bool:
    size = len(known.data)
    probe = known.data[-PROBE:]
    return len(body) > size and body.endswith(probe, 0, size) and body.startswith(known.data)


def _stands_at(body: bytes, known: _Known, at: int, said: _Known | None) -> bool:
    """Does the list stand there, and outside of what was said?"""
    outside = said is None or at + len(known.data) <= said.start or at >= len(said.data)
    return at > 0 and outside and body.startswith(known.data, at)


def _without(body: bytes, spans: Sequence[tuple[int, int, str]]) -> bytes:
    """The body with a word in the place of each span."""
    pieces: list[bytes] = []
    at = 0
    for start, end, word in sorted(spans):
        pieces += (body[at:start], b'"', word.encode(), b'"')
        at = end
    return b"".join((*pieces, body[at:]))


def _opening(body: bytes, field: str) -> int:
    """Where the first item of a list of this name may stand; 0 for nowhere."""
    found = re.search(rb'"%s"\s*:\s*\[' % re.escape(field.encode()), body)
    return found.end() if found else 0


_READ = json.JSONDecoder().raw_decode
_BETWEEN = re.compile(r"[\s,]*")


def _end_of(body: bytes, start: int, count: int) -> int | None:
    """Where so many more items of a list end, of which the next one stands at `start`; None for what is none."""
    try:
        text = body[start:].decode()
        at = 0
        for _ in range(count):
            at = _READ(text, _BETWEEN.match(text, at).end())[1]  # type: ignore[union-attr]
    except (ValueError, RecursionError):
        return None
    return start + (at if text.isascii() else len(text[:at].encode()))


def _closed(body: bytes, end: int) -> int:
    """The end of a list, behind its last item."""
    return body.index(b"]", end) + 1


def _cut(items: Sequence[Any]) -> int:
    """How many items are a beginning that stays: up to a turn of the model, and not the last ones."""
    if len(items) < FEWEST:
        return 0
    for at in range(len(items) - LAST, 0, -1):
        if _is_models(items[at]) and not _is_models(items[at - 1]):
            return at
    return 0


def _is_models(item: Any) -> bool:
    """Is this item the model's: its words, its thoughts, or a call of its?"""
    if not isinstance(item, Mapping):
        return False
    kind = item.get("type")
    said = item.get("role") in ("assistant", "model")
    return said or ("role" not in item and isinstance(kind, str) and not kind.endswith("_output"))
