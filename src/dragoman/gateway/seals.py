"""What a model must get back, sealed into what clients of any API echo: ids of calls, signatures, encrypted content.

Signatures and encrypted reasoning belong to one API; a client of another has no place for them, but gives back what it
takes for ours.  A seal is that state, packed, with a digest over it and over its owner.  Knows canonical values; a wire
says where a seal stands (`metadata["seal"]`, by every codec in a field of its own), an id bears one behind it.
Contract: a seal is opened only for its owner and only as it was made, else it is none; what is unpacked is bounded; the
id below a seal is found also where the seal is broken; no seal is made where the client's API is the model's own.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import Any

from ..codecs.shared.spec import SEAL, TYPED, WireFields
from ..conversation.grown import by_growth, changed
from ..events import CallStarted, Event, PartEnded, ReasoningDelta, Reclassified, TextDelta
from ..jsontext import dumps
from ..turn.model_state import Changed
from ..types import (
    NOTHING,
    Issue,
    IssueKind,
    JsonObject,
    Message,
    Part,
    Reasoning,
    Request,
    Response,
    ToolCall,
    ToolResult,
)

BEGIN = "dg1."
SEALED_ID = "-dg1-"
IN_ID = re.compile(rf"(.{{0,256}}?){SEALED_ID}([A-Za-z0-9_-]*)", re.DOTALL)
"""An id with a seal behind it: of letters that every API takes in an id."""
MOST_IN_ID = 4000
"""Characters of a seal behind an id; what is longer travels beside the reasoning, or is remembered."""
MOST_UNPACKED = 1 << 20
DIGEST = 12
BOUND = frozenset({"id", TYPED})
"""Fields of a call that are refused without the item they followed, or that say what its arguments say."""


@dataclass(frozen=True, slots=True)
class Thought:
    """One reasoning part: its text where that is carried, its size and digest in any case, and its own fields."""

    size: int
    digest: str
    fields: JsonObject = NOTHING
    text: str | None = None

    def fits(self, text: str) -> bool:
        """Is `text` what was thought?  Space at its ends may have got lost."""
        return _digest_of(text) == self.digest


@dataclass(frozen=True, slots=True)
class State:
    """What a seal holds: the wire and the model it is of, thoughts, and fields of a call."""

    api: str
    origin: str
    thoughts: tuple[Thought, ...] = ()
    call: JsonObject = NOTHING


def _digest_of(text: str) -> str:
    return hashlib.blake2b(text.strip().encode("utf-8", "surrogatepass"), digest_size=DIGEST).hexdigest()


def _thought(part: Reasoning, *, whole: bool) -> Thought:
    fields = part.metadata if isinstance(part.metadata, WireFields) else NOTHING
    return Thought(len(part.text), _digest_of(part.text), fields, part.text if whole else None)


# ── packed and unpacked ──────────────────────────────────────────────────────


def _mark(packed: bytes, owner: str) -> str:
    key = hashlib.blake2b(owner.encode("utf-8", "surrogatepass"), digest_size=32).digest()
    return _letters(hashlib.blake2b(packed, digest_size=DIGEST, key=key, person=b"dragoman-seal").digest())


def _letters(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


MARK = len(_letters(bytes(DIGEST)))


def packed(state: State, owner: str) -> str:
    """The seal of `state`, in letters of ids."""
    thoughts = [[one.size, one.digest, dict(one.fields), one.text] for one in state.thoughts]
    return sealed_value([state.api, state.origin, thoughts, dict(state.call)], owner)


def sealed_value(value: Any, owner: str) -> str:
    """The seal of a JSON value, in letters of ids."""
    data = zlib.compress(dumps(value).encode("utf-8", "surrogatepass"), 9)
    return _mark(data, owner) + _letters(data)


def unsealed_value(seal: str, owner: str, most: int = MOST_UNPACKED) -> Any:
    """The value in a seal, of at most so many bytes; None for one that is broken, or another owner's."""
    try:
        data = base64.urlsafe_b64decode(seal[MARK:] + "=" * (-len(seal[MARK:]) % 4))
        if seal[:MARK] != _mark(data, owner):
            return None
        reader = zlib.decompressobj()
        text = reader.decompress(data, most)
        return None if reader.unconsumed_tail else json.loads(text)
    except (ValueError, binascii.Error, zlib.error, RecursionError):
        return None


def unpacked(seal: str, owner: str) -> State | None:
    """The state in a seal; None for one that is broken, or another owner's."""
    try:
        return _read(unsealed_value(seal, owner))
    except (ValueError, KeyError, TypeError):
        return None


def _read(value: Any) -> State:
    api, origin, thoughts, call = value
    made = tuple(Thought(size, mark, WireFields(api, fields, origin), text) for size, mark, fields, text in thoughts)
    return State(api, origin, made, WireFields(api, call, origin))


# ── the way out ──────────────────────────────────────────────────────────────


class Sealer:
    """Events of an answer → the same, with seals for a client of `api` in the hands of `owner`.

    `native` are the APIs whose own fields such a client can hold.
    """

    __slots__ = ("_native", "_owner", "_text", "_thoughts")

    def __init__(self, native: Iterable[str], owner: str) -> None:
        self._native, self._owner = frozenset(native), owner
        self._text: list[str] | None = None
        self._thoughts: list[Reasoning] | tuple[()] = ()

    def event(self, event: Event) -> Event:
        """The event as it goes out."""
        kind = type(event)
        if kind is TextDelta and self._text is None:
            return event
        if isinstance(event, ReasoningDelta):
            self._text = self._text or []
            self._text.append(event.text)
        elif isinstance(event, TextDelta):
            self._end(NOTHING)
        elif isinstance(event, Reclassified):
            self._text, self._thoughts = None, ()
        elif isinstance(event, PartEnded):
            return self._part_ended(event)
        elif isinstance(event, CallStarted):
            self._end(NOTHING)
            id_, metadata = self._called(event.id, event.metadata)
            return event if id_ == event.id else replace(event, id=id_, metadata=metadata)
        return event

    def response(self, response: Response) -> Response:
        """A whole answer as it goes out."""
        if response.message.bare and not response.message.reasoning:
            return response
        parts = [self._part(part) for part in response.message.parts]
        if all(map(is_, parts, response.message.parts)):
            return response
        return replace(response, message=response.message.with_parts(parts))

    def _part(self, part: Part) -> Part:
        if isinstance(part, Reasoning):
            self._think(part)
            metadata = self._sealed(part)
            return part if metadata is part.metadata else replace(part, metadata=metadata)
        if isinstance(part, ToolCall):
            id_, metadata = self._called(part.id, part.metadata)
            return part if id_ == part.id else replace(part, id=id_, metadata=metadata)
        return part

    def _part_ended(self, event: PartEnded) -> PartEnded:
        part = self._end(event.metadata)
        return PartEnded(self._sealed(part)) if part is not None else event

    def _end(self, metadata: JsonObject) -> Reasoning | None:
        """The reasoning that ends here; None where none was under way."""
        if self._text is None:
            return None
        part = Reasoning("".join(self._text), metadata=metadata)
        self._text = None
        self._think(part)
        return part

    def _think(self, part: Reasoning) -> None:
        self._thoughts = thoughts = self._thoughts or []
        thoughts.append(part)

    def _is_foreign(self, metadata: JsonObject) -> bool:
        return isinstance(metadata, WireFields) and bool(metadata.origin) and metadata.api not in self._native

    def _sealed(self, part: Reasoning) -> JsonObject:
        """The metadata of a reasoning part for this client."""
        if not part.metadata or not self._is_foreign(part.metadata):
            return part.metadata
        fields: Any = part.metadata
        return {SEAL: BEGIN + packed(State(fields.api, fields.origin, (_thought(part, whole=False),)), self._owner)}

    def _called(self, id_: str, metadata: JsonObject) -> tuple[str, JsonObject]:
        """A call's id with a seal behind it, of the thoughts since the call before and of the call's own fields."""
        thoughts, self._thoughts = self._thoughts, ()
        if not self._is_foreign(metadata):
            return id_, metadata
        fields: Any = metadata
        call = {key: value for key, value in fields.items() if key not in BOUND}
        if not (thoughts or call) or IN_ID.fullmatch(id_):
            return id_, metadata
        for whole in (True, False):
            made = tuple(_thought(part, whole=whole) for part in thoughts)
            seal = packed(State(fields.api, fields.origin, made, call), self._owner)
            if len(seal) <= MOST_IN_ID:
                return f"{id_}{SEALED_ID}{seal}", {SEAL: BEGIN + seal}
        return id_, metadata


# ── the way in ───────────────────────────────────────────────────────────────

ALTERED = "this reasoning is not as its model wrote it, or somebody else's; it was left out"


def opened(request: Request, owner: str) -> tuple[Request, tuple[Issue, ...]]:
    """`request` with what its seals hold in its place, its calls' ids as they were; and what had to be left out."""
    messages, issues = _all_opened(request.messages, owner)
    return (request if messages is None else replace(request, messages=messages)), issues


@by_growth
def _all_opened(messages: Sequence[Message], start: int, known: Changed | None, owner: str) -> Changed:
    made: list[Message] = []
    issues: list[Issue] = []
    for at, message in enumerate(messages[start:], start):
        if message.role == "assistant":
            if not message.bare or (message.calls and any(SEALED_ID in call.id for call in message.calls)):
                message, altered = _opened(message, owner)
                issues += [_altered(at)] if altered else []
        elif message.results and any(SEALED_ID in result.call_id for result in message.results):
            message = message.with_parts(map(_answer, message.parts))
        made.append(message)
    before, found = known or (None, ())
    return changed(messages, start, before, made), (*found, *issues)


def _altered(at: int) -> Issue:
    return Issue(kind=IssueKind.UNSUPPORTED, message=ALTERED, path=f"$.messages[{at}].reasoning")


def _answer(part: Part) -> Part:
    if isinstance(part, ToolResult) and (found := IN_ID.fullmatch(part.call_id)):
        return replace(part, call_id=found[1])
    return part


def _opened(message: Message, owner: str) -> tuple[Message, bool]:
    """An assistant's message, opened, and whether reasoning in it was not as it had been."""
    if not any(_is_sealed(part) for part in message.parts):
        return message, False
    parts: list[Part] = []
    since, altered = 0, False  # where in `parts` begins what was said since the call before
    for part in message.parts:
        if isinstance(part, Reasoning):
            own, fits = _own_thoughts(part, owner)
            parts += own
        elif isinstance(part, ToolCall):
            call, state = _own_call(part, owner)
            said = [one for one in parts[since:] if isinstance(one, Reasoning)]
            thoughts, fits = _completed(said, state)
            if thoughts != said:
                parts[since:] = [*thoughts, *(one for one in parts[since:] if not isinstance(one, Reasoning))]
            parts.append(call)
            since = len(parts)
        else:
            parts.append(part)
            fits = True
        altered = altered or not fits
    return message.with_parts(parts), altered


def _is_sealed(part: Part) -> bool:
    if isinstance(part, ToolCall):
        return SEAL in part.metadata or IN_ID.fullmatch(part.id) is not None
    return isinstance(part, Reasoning) and SEAL in part.metadata


def _own_thoughts(part: Reasoning, owner: str) -> tuple[list[Reasoning], bool]:
    """The reasoning that a part with seals was, and whether it still is that."""
    if SEAL not in part.metadata:
        return [part], True
    made: list[Reasoning] = []
    text = part.text
    seals = str(part.metadata[SEAL]).split()
    for n, seal in enumerate(seals):
        state = unpacked(seal.removeprefix(BEGIN), owner)
        if state is None or len(state.thoughts) != 1:
            return [], False
        thought = state.thoughts[0]
        piece, text = (text, "") if n == len(seals) - 1 else (text[: thought.size], text[thought.size :])
        if not thought.fits(piece):
            return [], False
        made.append(Reasoning(piece, metadata=thought.fields))
    return made, True


def _own_call(part: ToolCall, owner: str) -> tuple[ToolCall, State | None]:
    """The call by its own id, with its own fields, and the state in its seals."""
    found = IN_ID.fullmatch(part.id)
    seals = [found[2]] if found else []
    seals += [str(part.metadata[SEAL]).removeprefix(BEGIN)] if SEAL in part.metadata else []
    state = next(filter(None, (unpacked(seal, owner) for seal in seals)), None)
    call = replace(part, id=found[1]) if found else part
    if state is not None:
        return replace(call, metadata=state.call), state
    return (replace(call, metadata=NOTHING) if SEAL in part.metadata else call), None


def _has_fields(part: Reasoning) -> bool:
    return isinstance(part.metadata, WireFields) and bool(part.metadata)


def _completed(said: Sequence[Reasoning], state: State | None) -> tuple[list[Reasoning], bool]:
    """The reasoning before a call: as the client gave it back, completed by the call's seal where it is the same."""
    if state is None or not state.thoughts or any(map(_has_fields, said)):
        return list(said), True
    text = "".join(part.text for part in said)
    if not text:
        return [Reasoning(one.text, metadata=one.fields) for one in state.thoughts if one.text is not None], True
    made: list[Reasoning] = []
    for n, thought in enumerate(state.thoughts):
        piece, text = (text, "") if n == len(state.thoughts) - 1 else (text[: thought.size], text[thought.size :])
        if not thought.fits(piece):
            return [], False
        made.append(Reasoning(thought.text if thought.text is not None else piece, metadata=thought.fields))
    return made, True
