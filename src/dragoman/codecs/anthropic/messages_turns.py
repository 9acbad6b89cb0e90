"""The turns of a request of Anthropic Messages, and the markers for the prompt cache that stand in them.

Knows messages as the wire has them, how a conversation grows, and where markers are asked for; nothing of what else a
request says.
Contract: what grew is written as it would be anew.  Markers move with each turn: of the last messages each has JSON of
its own, and a marker is put into that; what is long past bears none, and is not looked at.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...conversation.grown import Grown, by_growth
from ...conversation.plain import as_plain
from ...jsontext import to_bytes
from ...records import NamedTuple, dataclass
from ...types import NOTHING, JsonObject, Message
from ..shared.media import joined
from ..shared.spec import Quirks, own
from ..shared.written import NO_RUN, Pieces, Run, Written, behind_pieces, joined_json, written_once
from .messages_blocks import MARKER, NAME, PlainBlocks, plain_parts, write_message

MOVING = 4
"""Messages at the end in which markers may stand next; twice as many at most have JSON of their own."""


_TOLD = frozenset({"system", "user"})


class Wires(NamedTuple):
    """The messages but the last, which may go on.

    settled  they, but where nothing but their JSON was to be kept
    json    the JSON of those that are long past;  tail: of the others, the last one too, and where each begins
    marked  how many blocks of `settled` bear a marker
    """

    settled: Run = NO_RUN
    json: Pieces = ()
    tail: tuple[tuple[int, bytes], ...] = ()
    marked: int = 0
    last: tuple[dict[str, Any], ...] = ()
    answering: bool = False


@by_growth
def _wires_of_known(messages: Sequence[Message], start: int, known: Wires | None, quirks: Quirks) -> Wires:
    return _wires(messages, start, known, quirks)


def _wires(messages: Sequence[Message], start: int, known: Wires | None, quirks: Quirks) -> Wires:
    known = known or Wires()
    made = _begin(known)
    if as_plain(messages) is not None:
        made.write_plain(messages[start:], start, PlainBlocks())
    else:
        made.write(messages[start:], start, quirks)
    wires, settled = made.wires, made.wires[:-1]
    json, tail = _json(known, wires, made.starts) if type(messages) is Grown else ((), ())
    return Wires(
        settled=Run(known.settled, settled),
        json=json,
        tail=tail,
        marked=known.marked + _markers(settled),
        last=(*wires[-1:],),
        answering=made.answering,
    )


def plain_wires(said: Sequence[Message], start: int, known: Wires | None) -> Wires:
    """What is `said` from `start` on in a plain conversation (`as_plain`), behind what is known, as JSON alone."""
    known = known or Wires()
    made = _begin(known)
    made.write_plain(said, start)
    json, tail = _json(known, made.wires, made.starts, are_plain=True)
    return Wires(json=json, tail=tail, last=(made.wires[-1],) if made.answering else (), answering=made.answering)


def _begin(known: Wires) -> _Writing:
    return _Writing([*known.last], [known.tail[-1][0]] if known.last and known.tail else [], known.answering)


@dataclass(slots=True)
class _Writing:
    """Messages as they are written, where each of them begins in the conversation, and whether the last may go on."""

    wires: list[dict[str, Any]]
    starts: list[int]
    answering: bool

    def write(self, said: Sequence[Message], start: int, quirks: Quirks) -> None:
        """Go on with what is `said`, which begins at `start`."""
        for at, message in enumerate(said, start):
            blocks = write_message(message, quirks)
            left = dict(own(NAME, message.metadata)) if message.metadata else {}
            role = "assistant" if message.role == "assistant" else "user"
            role = left.pop("role", role) if left else role
            if self.answering and message.role == "user":
                self._go_on(blocks, left)
            else:
                self.wires.append({"role": role, "content": blocks or joined(message.parts), **left})
                self.starts.append(at)
            self.answering = message.role == "tool" and bool(blocks)

    def write_plain(self, said: Sequence[Message], start: int, by: PlainBlocks | None = None) -> None:
        """The same of a plain conversation (`as_plain`); parts stand for their blocks where these are not asked for."""
        add, begin, answering = self.wires.append, self.starts.append, self.answering
        for at, message in enumerate(said, start):
            role = message.role
            told: Sequence[Any] = plain_parts(message) if role in _TOLD else message.parts
            if by is not None:
                told = [*map(by.form, told)]
            if answering and role == "user":
                self._go_on(told, NOTHING)
            else:
                add({"role": "assistant" if role == "assistant" else "user", "content": told or joined(message.parts)})
                begin(at)
            answering = role == "tool"
        self.answering = answering

    def _go_on(self, blocks: Sequence[Any], left: JsonObject) -> None:
        last = self.wires[-1]
        self.wires[-1] = {**last, "content": [*last["content"], *blocks], **left}


def _json(
    known: Wires, wires: Sequence[dict[str, Any]], starts: Sequence[int], *, are_plain: bool = False
) -> tuple[Pieces, tuple[tuple[int, bytes], ...]]:
    """The JSON of what is long past, and of each message since; in `plain` ones parts stand for their blocks."""
    json, tail = known.json, [*known.tail]
    if known.last and wires[0] is known.last[0]:
        wires, starts = wires[1:], starts[1:]
    elif known.last:
        tail.pop()
    past = len(wires) - MOVING if len(wires) > 2 * MOVING else 0
    if past:
        json = behind_pieces(json, b",".join([one for _, one in tail]))
        json, tail = joined_json(json, wires[:past], PlainBlocks() if are_plain else None), []
        wires, starts = wires[past:], starts[past:]
    for wire, begin in zip(wires, starts, strict=True):
        blocks = PlainBlocks()
        tail.append((begin, to_bytes(wire, blocks.numbers, blocks.form) if are_plain else to_bytes(wire)))
    if len(tail) > 2 * MOVING:
        json = behind_pieces(json, b",".join([one for _, one in tail[:-MOVING]]))
        tail = tail[-MOVING:]
    return json, (*tail,)


def _markers(messages: Iterable[dict[str, Any]]) -> int:
    """How many of their blocks bear one."""
    return sum(["cache_control" in block for block in _blocks(messages)])


def _blocks(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [block for message in messages for block in message["content"] if isinstance(block, dict)]


# ── with markers ─────────────────────────────────────────────────────────────


def write_turns(
    turns: Sequence[Message], places: Sequence[int], system: list[dict[str, Any]], quirks: Quirks, limit: int
) -> list[dict[str, Any]]:
    """The messages, with the markers that the turns at `places` and themselves ask for, beside those in `system`.

    What is over the limit is dropped, of each kind the earliest first.
    """
    if type(turns) is Grown:
        wires = _wires_of_known(turns, quirks)
        marked = _with_markers(wires, turns, places, quirks)
        if marked is not None:
            carrying = sum("cache_control" in block for block in system) + _markers((*marked.values(), *wires.last))
            if wires.marked + carrying <= limit:
                return _spliced(wires, marked)
    fresh = _wires(_asking(turns, places), 0, None, quirks)
    listed = [*fresh.settled.listed(), *fresh.last]
    blocks = [*system, *_blocks(listed)]
    if type(turns) is Grown and sum(["cache_control" in block for block in blocks]) <= limit:
        return written_once(listed)
    cap_markers(blocks, limit)
    return listed


def pieces_with_markers(wires: Wires, places: Sequence[int], size: int) -> Pieces | None:
    """The JSON of a plain conversation of `size` messages; None where that is not just put together."""
    tail = [json for _, json in wires.tail]
    starts = [begin for begin, _ in wires.tail]
    ends = (*starts[1:], size)
    for at in places:
        place = bisect_right(starts, at) - 1
        if place < 0 or ends[place] != at + 1 or not tail[place].endswith(_END):
            return None
        tail[place] = tail[place][: -len(_END)] + _MARKED_END
    return (*wires.json, *tail)


_END = b"}]}"
"""Of a message whose content is blocks, the last of which a marker may stand on."""
_MARKED_END = b',"cache_control":%b%b' % (to_bytes(MARKER), _END)


def _with_markers(
    wires: Wires, turns: Sequence[Message], places: Sequence[int], quirks: Quirks
) -> dict[int, dict[str, Any]] | None:
    """The messages that bear a marker once the turns at `places` ask for one, by where they stand in the tail.

    None where one stands before it.
    """
    starts = [begin for begin, _ in wires.tail]
    if places and not starts[0] <= min(places):
        return None
    asking: dict[int, list[int]] = {}
    for at in places:
        asking.setdefault(bisect_right(starts, at) - 1, []).append(at)
    ends = (*starts[1:], len(turns))
    found: dict[int, dict[str, Any]] = {}
    for place, asked in asking.items():
        begin = starts[place]
        said = _asking(turns[begin : ends[place]], [at - begin for at in asked])
        (found[place],) = _wires(said, 0, None, quirks).last
    return found


def _asking(turns: Sequence[Message], places: Sequence[int]) -> list[Message]:
    made = [*turns]
    for at in places:
        made[at] = Message(made[at].role, made[at].parts, cache=True, metadata=made[at].metadata)
    return made


def _spliced(wires: Wires, marked: Mapping[int, dict[str, Any]]) -> Written:
    """The messages, some of them replaced: only the JSON of these is written anew."""
    listed = [*wires.settled.listed(), *wires.last]
    tail = [json for _, json in wires.tail]
    before = len(listed) - len(tail)
    for place, wire in marked.items():
        listed[before + place] = wire
        tail[place] = to_bytes(wire)
    return Written(listed, (*wires.json, *tail))


def cap_markers(blocks: Sequence[Mapping[str, Any]], limit: int) -> None:
    """Take the earliest cache markers off `blocks` until `limit` are left (seeds C6)."""
    carrying = [block for block in blocks if "cache_control" in block]
    for block in carrying[: max(0, len(carrying) - limit)]:
        if isinstance(block, dict):
            del block["cache_control"]
