"""The table of recorded exchanges: its columns, and the questions asked of it, in SQL that both databases take.

Knows columns and SQL with `?` for values; nothing of connections, exchanges or pages.
Contract: a value never stands in the text of a question; what is asked for in words is looked for in lines, documents
and bodies alike, in capitals or not; rows come newest first, and the number of a row is the place to go on behind.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_type_hints

from ...records import NamedTuple

DAY = 86400
"""Seconds of a partition."""
EXCHANGES, BODIES, NUMBERS = "dragoman_recordings", "dragoman_bodies", "dragoman_recording_numbers"
MOST_ROWS = 500
"""Rows of one page."""


class StoredRow(NamedTuple):
    """One exchange as it is stored: a column for each field.

    day           days since 1970 (UTC): the partition;  began  seconds since then
    seconds       how long it took;  first  until the first bytes of the answer were ready, -1 where none were
    namespace     of the gateways that share keys;  process  the machine and process that served it
    owner         the name of the client's key;  session  a digest of what it belongs to
    marks         words to filter by, each between bars (`|mended|refused|`)
    content       1 where the document holds what was said, else 0;  size  bytes of both wires
    line          what a list shows and no other column holds, as JSON;  document  the same of all there is
    bodies        hashes of the bodies that stand apart, with spaces between
    """

    day: int
    began: float
    seconds: float = 0.0
    first: float = -1.0
    namespace: str = ""
    process: str = ""
    request_id: str = ""
    owner: str = ""
    front: str = ""
    model: str = ""
    route: str = ""
    status: int = 0
    outcome: str = ""
    stream: int = 0
    session: str = ""
    reasks: int = 0
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    marks: str = "|"
    content: int = 0
    again: int = 0
    size: int = 0
    line: str = "{}"
    document: str = "{}"
    bodies: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A stored exchange with its number, and the bodies that stand apart, by their hashes."""

    number: int
    row: StoredRow
    apart: Mapping[str, str]


COLUMNS: Mapping[str, str] = {name: kind.__name__ for name, kind in get_type_hints(StoredRow).items()}
"""Column → Python's word for its type."""
NAMES = ", ".join(COLUMNS)
NAMED = " || ' ' || ".join(("line", "request_id", "owner", "front", "model", "route", "session", "outcome"))
"""Where words may stand in a row but in its document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Which rows are asked for, newest first: at most `limit` with numbers below `before` (0: from the newest on).

    marks       all of which a row has;  words  that stand anywhere in it
    model, route, session  exactly these, where they are given
    owner       only what this key asked within `namespace`; None for everybody's
    since       seconds since 1970;  content  only rows that hold what was said
    """

    before: int = 0
    limit: int = 100
    marks: tuple[str, ...] = ()
    words: str = ""
    model: str = ""
    route: str = ""
    session: str = ""
    owner: str | None = None
    namespace: str = ""
    since: float = 0.0
    content: bool = False

    def where(self) -> tuple[str, list[Any]]:
        """The condition, and its values; the place in the list is not part of it."""
        parts = list(self._conditions())
        return " AND ".join(text for text, _ in parts) or "1 = 1", [value for _, values in parts for value in values]

    def _conditions(self) -> Iterator[tuple[str, Sequence[Any]]]:
        for name in ("model", "route", "session"):
            if value := getattr(self, name):
                yield f"{name} = ?", [value]
        if self.owner is not None:
            yield "owner = ? AND namespace = ?", [self.owner, self.namespace]
        if self.since:
            yield "day >= ? AND began >= ?", [int(self.since // DAY), self.since]
        if self.content:
            yield "content = 1", []
        for mark in self.marks:
            yield "marks LIKE ?", [f"%|{mark}|%"]
        if self.words:
            needles = spelt(self.words)
            yield _found(needles), [needle for _ in range(PLACES) for needle in needles]

    @property
    def rows(self) -> int:
        """How many rows at most."""
        return max(1, min(self.limit, MOST_ROWS))


PLACES = 2
"""Texts of a row in which words may stand, in each spelling."""


def spelt(words: str) -> list[str]:
    """The words as they may stand in a body, in JSON, and in JSON within JSON; in small letters."""
    small = words.lower()
    once = json.dumps(small, ensure_ascii=False)[1:-1]
    return list(dict.fromkeys([small, once, json.dumps(once, ensure_ascii=False)[1:-1]]))


def _anyone(text: str, needles: Sequence[str]) -> str:
    return " OR ".join(f"{{position}}(lower({text}), ?) > 0" for _ in needles)


def _found(needles: Sequence[str]) -> str:
    """Holds where one of them stands in a column, the document or a body that stands apart (`_matching`)."""
    apart = "EXISTS (SELECT 1 FROM found f WHERE f.day = r.day AND {position}(r.bodies, f.hash) > 0)"
    return f"({_anyone(NAMED, needles)} OR {_anyone('document', needles)} OR (bodies <> '' AND {apart}))"


def _matching(query: Query) -> tuple[str, list[Any]]:
    """What a question with words begins with: the bodies in which they stand, looked through once for all rows."""
    if not query.words:
        return "", []
    needles, since = spelt(query.words), [int(query.since // DAY)] if query.since else []
    days = "day >= ? AND " if since else ""
    found = f"SELECT day, hash FROM {BODIES} b WHERE {days}({_anyone('b.body', needles)})"
    return f"WITH found {{once}} ({found}) ", [*since, *needles]


def listed(query: Query, columns: str) -> tuple[str, list[Any]]:
    """The rows of a list."""
    (head, first), (where, values) = _matching(query), query.where()
    if query.before:
        where, values = f"{where} AND id < ?", [*values, query.before]
    text = f"{head}SELECT {columns} FROM {EXCHANGES} r WHERE {where} ORDER BY id DESC LIMIT {query.rows}"
    return text, [*first, *values]


def whole(query: Query) -> tuple[str, list[Any]]:
    """The same rows with all their columns, behind the number."""
    return listed(query, f"id, {NAMES}")


def sessions(query: Query) -> tuple[str, list[Any]]:
    """Sessions, the one last heard of first: session, exchanges, first, last, newest number, tokens, all marks."""
    (head, first), (where, values) = _matching(query), query.where()
    behind, more = ("HAVING max(id) < ?", [query.before]) if query.before else ("", [])
    columns = "session, count(*), min(began), max(began), max(id), sum(input_tokens), sum(output_tokens)"
    columns += ", {joined}(DISTINCT marks{comma})"
    return (
        f"{head}SELECT {columns} FROM {EXCHANGES} r WHERE {where} GROUP BY session "
        f"{behind} ORDER BY max(id) DESC LIMIT {query.rows}",
        [*first, *values, *more],
    )


def one(number: int) -> tuple[str, list[Any]]:
    """The row of this number, all columns."""
    return f"SELECT id, {NAMES} FROM {EXCHANGES} WHERE id = ?", [number]


def bodies(day: int, hashes: Sequence[str]) -> tuple[str, list[Any]]:
    """These bodies of a day."""
    return f"SELECT hash, body FROM {BODIES} WHERE day = ? AND hash IN ({', '.join('?' * len(hashes))})", [day, *hashes]


def made(values: Sequence[Any]) -> tuple[int, StoredRow]:
    """The number and the row out of what the database gave for `one` or `whole`."""
    return int(values[0]), StoredRow._make(values[1:])


def without_nul(text: str) -> str:
    """`text` as PostgreSQL can hold it, and SQLite does not cut it."""
    return text.replace("\0", "\ufffd") if "\0" in text else text
