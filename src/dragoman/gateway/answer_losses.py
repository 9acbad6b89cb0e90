"""What a wire could not hold of an answer: found by reading back what was written, as `codecs/fidelity` reads requests.

Knows canonical answers and codecs as records of functions; no wire.
Contract: as there: pure, one `Issue` for each thing left out or changed, with its path in the canonical value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace

from ..codecs.fidelity.losses import differs, grouped, unreadable
from ..codecs.fidelity.survived import Fields, ReadBack, loss_at
from ..codecs.shared.body import rest
from ..codecs.shared.encoder import final_stop
from ..codecs.shared.frames import Frame
from ..codecs.shared.spec import Codec, WireFields
from ..errors import CodecError, ProviderError
from ..events import Event, assemble
from ..types import Issue, JsonObject, Media, Opaque, Part, Response, Stop, Usage


def response_losses(response: Response, codec: Codec) -> tuple[Issue, ...]:
    """What of `response` is not in the body that `codec` makes of it."""
    try:
        got = codec.decode_response(codec.encode_response(response))
    except (CodecError, ProviderError) as fault:
        return (unreadable(fault),)
    return grouped(_response(response, got, codec.name))


def unsupported_fields(response: Response, codec: Codec, body: JsonObject) -> tuple[Issue, ...]:
    """What of `response` is not in `body`, which `codec` made of it under an id and a model's name of ours.

    Cheap enough for every answer: what every wire holds is not looked for.  Nothing where `may_lose` says so: `body` is
    not read then.
    """
    if not may_lose(response, codec):
        return ()
    try:
        got = codec.decode_response(body)
    except (CodecError, ProviderError) as fault:
        return (unreadable(fault),)
    extra = response.extra
    if isinstance(extra, WireFields):
        extra = WireFields(extra.api, rest(extra, _STAMPED))
    return grouped(_response(replace(response, id="", model="", extra=extra), got, codec.name))


_STAMPED = frozenset({"created", "created_at", "createTime", "object"} | {"metrics", "total_duration", "load_duration"}
                     | {"prompt_eval_duration", "eval_duration"})  # fmt: skip
"""Fields that an answer of ours says of itself, and how long the backend took, which nobody asked."""
_COMMON_STOPS = frozenset({None, Stop.END, Stop.TOOL_CALLS, Stop.LENGTH})


def may_lose(response: Response, codec: Codec) -> bool:
    """Is there anything in `response` that some wires have no place for, and that did not come from this one itself?"""
    extra: JsonObject = response.extra
    api = codec.name
    if extra and getattr(extra, "api", api) != api:
        return True
    if response.stop not in _COMMON_STOPS:
        return True
    return not response.message.bare and any(_is_own(part, api) for part in response.message.parts)


def _is_own(part: Part, api: str) -> bool:
    if isinstance(part, Media | Opaque):
        return True
    return bool(part.metadata) and getattr(part.metadata, "api", api) != api


def stream_losses(response: Response, codec: Codec, frames: Iterable[Frame]) -> tuple[Issue, ...]:
    """What of `response` is not in the `frames` that `codec` made of its events."""
    decoder = codec.decode_stream()
    events: list[Event] = []
    try:
        for frame in frames:
            events += decoder.feed(frame)
        events += decoder.close()
    except ProviderError as fault:
        return (unreadable(fault),)
    return grouped(_response(response, assemble(events), codec.name))


def _response(sent: Response, got: Response, api: str) -> Iterator[Issue]:
    for what in ("id", "model"):
        if getattr(sent, what) and getattr(sent, what) != getattr(got, what):
            yield differs(f"$.{what}", f"the answer's {what}", getattr(sent, what), getattr(got, what), api)
    message = ReadBack((got.message,))
    for i, part in enumerate(sent.message.parts):
        yield from message.losses(part, "assistant", f"$.message.parts[{i}]", api)
    if _is_reordered(sent, got):
        yield loss_at("$.message.parts", f"{api} tells reasoning, text and calls in an order of its own")
    stop, read = final_stop(sent.stop, len(sent.calls)), final_stop(got.stop, len(got.calls))
    if stop not in (None, read):
        yield differs("$.stop", "the reason to stop", _word(stop), _word(read), api)
    yield from _usage(sent.usage, got.usage, api)
    yield from Fields([got.extra]).losses(sent.extra, "$.extra", api)


def _is_reordered(sent: Response, got: Response) -> bool:
    before, after = _order(sent), _order(got)
    return before != after and set(before) == set(after)


def _order(response: Response) -> list[type]:
    """The kinds of parts in their order, neighbours of one kind as one; empty ones do not count."""
    kinds: list[type] = []
    for part in response.message.parts:
        if getattr(part, "text", None) != "" and kinds[-1:] != [type(part)]:
            kinds.append(type(part))
    return kinds


def _word(stop: Stop | None) -> str:
    return stop.value if stop else ""


def _usage(sent: Usage | None, got: Usage | None, api: str) -> Iterator[Issue]:
    for one in fields(Usage) if sent is not None else ():
        counted, read = getattr(sent, one.name), getattr(got or Usage(), one.name)
        if counted != read:
            yield differs(f"$.usage.{one.name}", f"the count of {one.name} tokens", counted, read, api)
