"""Texts that go on with one another, in pieces of which each is stored once a day.

Agents send all they ever said, and all their tools, with each turn.  Of each conversation the text that was sent last
is held; where the next one begins as it does, or ends so, that is a piece that stands apart, known by its hash, and
only what is new is rid of secrets and written with the row.  Knows bytes and secrets; nothing of exchanges or stores.

Contract: the pieces of a text behind each other are the text, as long as it was, without a known secret, also where
one stands across a cut.  What a row refers to was handed out with it, or before it with a row of the same day, unless
`forget` came between: nothing is referred to from another day.  A text is cut where an object of JSON begins: no words
of it are torn apart.  What is held stays below a number of bytes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from ...records import NamedTuple
from .frames import same_start
from .redaction import blot, is_spelt_in, longest

HELD = 32 * 1024 * 1024
"""Bytes of texts that are held to be gone on with."""
LARGEST = 4 * 1024 * 1024
"""Bytes of a text that is held."""
CONSTANT = 256 * 1024
"""Bytes of one that comes again and again, of which a few are held too."""
SMALLEST = 512
"""Bytes of a piece."""
FEW = 2 * SMALLEST
"""Bytes of a text that is worth it."""
MOST = 24
"""Pieces before the new part of a text: beyond that they are made one again."""
BRANCHES = 3
"""Texts of one conversation that are held: its name may stand for several."""
OWNERS = 256
"""Of whom it is known what the latest of their texts is."""
GUESS = 64
"""Bytes by which one text may differ from the one before, in front of an end that both have."""
CLOSE = 48
"""Bytes that are compared by their numbers; more of them by halves, which costs less."""
OBJECT = b'{"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A text in pieces: hashes of those it begins with, what is new, the hash of that it ends with ("" for none)."""

    before: tuple[str, ...] = ()
    text: bytes
    behind: str = ""


class Place(NamedTuple):
    """What a text belongs to: a conversation of somebody's, and which of its texts this is."""

    owner: Hashable
    what: Hashable
    conversation: Hashable


class _Piece(NamedTuple):
    """A piece that is stored: its hash, where it ends (of a text's last one: how long it is), and its bytes there."""

    digest: str
    at: int
    edge: bytes


NONE = _Piece("", 0, b"")


@dataclass(slots=True, kw_only=True)
class _Held:
    """A text as it came, and its pieces, which are stored on a day without these secrets.

    before  those it begins with;  behind  that it ends with
    """

    data: bytes
    day: int
    spelt: tuple[str, ...]
    before: list[_Piece] = field(default_factory=list)
    behind: _Piece = NONE


class Pieces:
    """Texts by what they belong to.  Used by one thread."""

    def __init__(self, limit: int = HELD) -> None:
        self._limit, self._size = limit, 0
        self._rows: OrderedDict[Place, list[_Held]] = OrderedDict()
        self._latest: dict[tuple[Hashable, Hashable], Place] = {}
        self._known: dict[tuple[int, bytes], str] = {}

    def forget(self) -> None:
        """What was handed out may not be stored: refer to none of it."""
        self._size = 0
        for table in (self._rows, self._latest, self._known):
            table.clear()

    def constant(self, day: int, text: bytes, spelt: tuple[str, ...], apart: dict[str, str]) -> str:
        """The hash of a text that comes again and again; `apart` takes what is to be stored of it on this day."""
        written = blot(text, spelt)
        found = self._known.get((day, written))
        if found is None:
            found = _apart(written, apart)
            if len(self._known) >= MOST:
                self._known.clear()
            if len(written) <= CONSTANT:
                self._known[day, written] = found
        return found

    def cut(self, day: int, place: Place, data: bytes, spelt: tuple[str, ...], apart: dict[str, str]) -> Cut:
        """`data` in pieces, without secrets; `apart` takes those that are to be stored."""
        if len(data) < FEW or len(data) > LARGEST or 0 in data:
            return Cut(text=blot(data, spelt))
        branches = self._rows.get(place)
        others = branches or self._rows.get(self._latest.get(place[:2], place), ())[:1]
        base, same = _nearest(others, data, day, spelt)
        held, made = _Held(data=data, day=day, spelt=spelt), None
        if base is not None:
            try:
                made = _cut(base, held, same, spelt, apart)
            except UnicodeDecodeError:  # it is no text, and stays whole
                return Cut(text=blot(data, spelt))
        alike = 2 * (same + held.behind.at)
        left = [each for each in branches or () if each is not base or alike < len(each.data)]
        self._hold(place, [held, *left[: BRANCHES - 1]], branches or ())
        return made or Cut(text=blot(data, spelt))

    def _hold(self, place: Place, branches: list[_Held], before: Sequence[_Held]) -> None:
        self._size += _size(branches) - _size(before)
        self._rows[place] = branches
        self._rows.move_to_end(place)
        if len(self._latest) >= OWNERS:
            self._latest.clear()
        self._latest[place[:2]] = place
        while self._size > self._limit and self._rows:
            self._size -= _size(self._rows.popitem(last=False)[1])


def _size(held: Sequence[_Held]) -> int:
    return sum([len(each.data) for each in held]) if held else 0


def _nearest(branches: Sequence[_Held], data: bytes, day: int, spelt: tuple[str, ...]) -> tuple[_Held | None, int]:
    """The text that `data` goes on with, and how many first bytes both have."""
    found: tuple[_Held | None, int] = None, -1
    for each in branches:
        if each.day == day and each.spelt == spelt:
            same = _alike(each, data)
            if same > found[1]:
                found = each, same
    return found


def _cut(base: _Held, held: _Held, same: int, spelt: tuple[str, ...], apart: dict[str, str]) -> Cut | None:
    """The text of `held` in the pieces of `base`, and new ones; None where a secret would stand across a cut."""
    data, reach = held.data, longest(spelt)
    before = [piece for piece in base.before if piece.at <= same - reach]
    start = before[-1].at if before else 0
    at = data.rfind(OBJECT, start + SMALLEST, max(same - reach + len(OBJECT), 0))
    stop = _closing(base, data, max(start, same), reach)
    middle = _between(data, start, stop, reach, spelt)
    behind = base.behind if len(data) - stop == base.behind.at else _closed(data, stop, reach, spelt, apart)
    if reach and is_spelt_in(_edges(before[-1].edge if before else b"", middle, behind.edge, reach), spelt):
        return None
    if at > start and len(before) >= MOST:
        before, start, middle = [], 0, _between(data, 0, stop, reach, spelt)
    if at > start:
        piece, middle = middle[: at - start], middle[at - start :]
        before.append(_Piece(_apart(piece, apart), at, piece[-reach:] if reach else b""))
    held.before, held.behind = before, behind
    return Cut(before=tuple([piece.digest for piece in before]), text=middle, behind=behind.digest)


def _closed(data: bytes, stop: int, reach: int, spelt: tuple[str, ...], apart: dict[str, str]) -> _Piece:
    """The piece that `data` ends with, from `stop` on."""
    text = _between(data, stop, len(data), reach, spelt)
    return _Piece(_apart(text, apart), len(text), text[:reach]) if text else NONE


def _edges(before: bytes, middle: bytes, behind: bytes, reach: int) -> bytes:
    """Where what is new stands against what is stored."""
    if len(middle) <= 2 * reach:
        return before + middle + behind
    return b"%b%b\0%b%b" % (before, middle[:reach], middle[-reach:], behind)


def _between(data: bytes, start: int, stop: int, reach: int, spelt: tuple[str, ...]) -> bytes:
    """What stands there, without secrets, whose beginnings and ends may stand around it."""
    first = max(start - reach, 0)
    return blot(data[first : stop + reach], spelt)[start - first : stop - first]


def _alike(base: _Held, data: bytes) -> int:
    """How many first bytes of `data` are those of `base`."""
    other, low, high = base.data, 0, min(len(base.data), len(data))
    guess = min(len(other) - base.behind.at - GUESS, high)
    if guess > 0 and data.startswith(other[:guess]):
        low = guess
    while high - low > CLOSE:
        middle = (low + high) // 2
        if data[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low + same_start(data[low:high], other[low:high])


def _closing(base: _Held, data: bytes, after: int, reach: int) -> int:
    """Where the piece begins that `data` ends with, behind `after`; its end where there is none."""
    size, other = base.behind.at, base.data
    if size and len(data) - size >= after and data.endswith(other[-size:]):
        return len(data) - size
    low, high = 0, min(len(data), len(other)) - after
    while low < high and high >= SMALLEST:
        middle = (low + high + 1) // 2
        if data[len(data) - middle : len(data) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    at = data.find(OBJECT, len(data) - low + reach)
    return at if 0 <= at <= len(data) - SMALLEST else len(data)


def _apart(text: bytes, apart: dict[str, str]) -> str:
    digest = blake2b(text, digest_size=16).hexdigest()
    apart[digest] = text.decode()
    return digest
