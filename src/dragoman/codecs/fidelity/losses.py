"""What a wire could not hold: found by reading back what was written on it.

There is no table of abilities that could drift from the code.  `decode(encode(x)) == x` holds for everything a wire can
say, so what is missing or other after the way there and back is what it cannot.  Knows canonical values and codecs as
records of functions; no wire.

Contract: pure; one `Issue` of kind UNSUPPORTED for each thing left out or told otherwise, with its path in the
canonical value; the same thing in several places is told once, with the number of places.  What only changed its place
is no loss: joined texts, results of one turn in one message, media of a result in the turn after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

from ...errors import CodecError, ProviderError
from ...events import Event, assemble
from ...memo import CONSTANTS, memoize
from ...types import (
    NOTHING,
    Issue,
    JsonObject,
    Media,
    Message,
    Opaque,
    OutputSchema,
    Part,
    Request,
    Response,
    Sampling,
    Stop,
    Text,
    Tool,
    ToolChoice,
    Usage,
)
from ..shared.encoder import settled
from ..shared.frames import Frame
from ..shared.spec import MARKS, PLAIN, Codec, Quirks, WireFields
from .survived import Fields, Heard, lost

_NO_MODEL = "model"
"""Stands for the model while a body is read back whose model nobody has told yet."""
_DEFAULT = ToolChoice("auto")


def request_losses(request: Request, codec: Codec, quirks: Quirks = PLAIN) -> tuple[Issue, ...]:
    """What of `request` is not in the body that `codec` makes of it for a peer with these `quirks`."""
    told = replace(request, model=request.model or _NO_MODEL)
    body = codec.encode_request(told, quirks)
    for ours, theirs in quirks.rename.items():
        if theirs in body and ours not in body:
            body[ours] = body.pop(theirs)
    try:
        heard = codec.decode_request(body)
    except CodecError as fault:
        return (_unreadable(fault),)
    if "{model}" in codec.path:
        heard = replace(heard, model=told.model)
    if codec.stream_path != codec.path:
        heard = replace(heard, stream=told.stream)
    return _grouped(_request(told, heard, codec.name))


def wish_losses(request: Request, codec: Codec, quirks: Quirks = PLAIN) -> tuple[Issue, ...]:
    """The same of all but plain talk and tools, which every wire holds: cheap enough to be asked for each request."""
    extra, one = request.extra, tuple(_several(request.extra))
    if isinstance(extra, WireFields) and extra.api == codec.name and not quirks.omit:
        return one  # it came in the words of this very wire
    shown = [(at, part) for at, message in enumerate(request.messages) if (part := _of_one_wire(message)) is not None]
    if not (shown or extra or request.output_schema or request.parallel is False) and request.sampling == _NOTHING:
        return ()
    if not (shown or extra or request.output_schema or request.sampling.stop):
        return _losing(codec, quirks)(request.sampling, request.parallel, request.stream)
    told = replace(request, messages=tuple(part for _, part in shown), tools=(), tool_choice=None)
    places = [at for at, _ in shown]
    losses = [_placed(loss, places) for loss in request_losses(told, codec, quirks)]
    return (*one, *(loss for loss in losses if loss.path not in {each.path for each in one}))


@memoize(CONSTANTS)
def _losing(codec: Codec, quirks: Quirks) -> Callable[[Sampling, bool | None, bool], tuple[Issue, ...]]:
    """What of a request's settings `codec` does not tell such a peer: clients ask by the same few again and again."""

    @lru_cache(maxsize=64)
    def losses(sampling: Sampling, parallel: bool | None, stream: bool) -> tuple[Issue, ...]:
        told = Request(model=_NO_MODEL, sampling=sampling, parallel=parallel, stream=stream)
        return request_losses(told, codec, quirks)

    return losses


def _placed(loss: Issue, places: Sequence[int]) -> Issue:
    """`loss` of a message among few, at its place among all."""
    path = _PLACE.sub(lambda found: f"$.messages[{places[int(found[1])]}]", loss.path)
    return loss if path == loss.path else replace(loss, path=path)


_PLACE = re.compile(r"^\$\.messages\[(\d+)\]")
_NOTHING = Sampling()
_SEVERAL = ("n", "generationConfig.candidateCount")
"""Fields that ask for several answers at once; one is given."""


def _several(extra: JsonObject) -> Iterator[Issue]:
    for path in _SEVERAL:
        value: Any = extra
        for key in path.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(value, int) and value > 1:
            yield lost(f"$.extra.{path}", f"{value} answers were asked for, and one is given")


def _of_one_wire(message: Message) -> Message | None:
    """What of `message` some wires hold and others do not: media, blocks and fields of one API; None for nothing."""
    parts: list[Part] = [part for part in message.parts if isinstance(part, Media | Opaque)]
    named = message.metadata and not MARKS.issuperset(message.metadata)
    if not (parts or named):
        return None
    metadata = message.metadata if named else NOTHING
    return Message("user" if message.role == "tool" else message.role, parts or [Text("…")], metadata=metadata)


def response_losses(response: Response, codec: Codec) -> tuple[Issue, ...]:
    """What of `response` is not in the body that `codec` makes of it."""
    try:
        heard = codec.decode_response(codec.encode_response(response))
    except (CodecError, ProviderError) as fault:
        return (_unreadable(fault),)
    return _grouped(_response(response, heard, codec.name))


def stream_losses(response: Response, codec: Codec, frames: Iterable[Frame]) -> tuple[Issue, ...]:
    """What of `response` is not in the `frames` that `codec` made of its events."""
    decoder = codec.decode_stream()
    events: list[Event] = []
    try:
        for frame in frames:
            events += decoder.feed(frame)
        events += decoder.close()
    except ProviderError as fault:
        return (_unreadable(fault),)
    return _grouped(_response(response, assemble(events), codec.name))


def _unreadable(fault: CodecError | ProviderError) -> Issue:
    message = f"what was written cannot be read back: {fault}"
    return lost(getattr(fault, "path", ""), message)


def _grouped(losses: Iterable[Issue]) -> tuple[Issue, ...]:
    """One issue for each kind of loss, at the first of its places."""
    places: dict[str, list[Issue]] = {}
    for loss in losses:
        places.setdefault(loss.message, []).append(loss)
    return tuple(
        same[0] if len(same) == 1 else replace(same[0], message=f"{message} (in {len(same)} places)")
        for message, same in places.items()
    )


# ── requests ─────────────────────────────────────────────────────────────────


def _request(told: Request, heard: Request, api: str) -> Iterator[Issue]:
    if told.model != heard.model:
        yield _other("$.model", "the model's name", told.model, heard.model, api)
    yield from _calling(told, heard, api)
    yield from _sampling(told.sampling, heard.sampling, api)
    yield from _output(told.output_schema, heard.output_schema, api)
    if told.stream and not heard.stream:
        yield lost("$.stream", f"{api} cannot be asked for a stream")
    conversation = Heard(heard.messages)
    for i, message in enumerate(told.messages):
        path = f"$.messages[{i}]"
        for j, part in enumerate(message.parts):
            yield from conversation.losses(part, message.role, f"{path}.parts[{j}]", api)
        yield from conversation.fields.losses(message.metadata, f"{path}.metadata", api)
    yield from _cache(told, heard, api)
    yield from Fields([heard.extra]).losses(told.extra, "$.extra", api)


def _calling(told: Request, heard: Request, api: str) -> Iterator[Issue]:
    """Tools, and what is asked of them.  Offering fewer tools is a way to say "none" and "this one"."""
    choice, got = told.tool_choice or _DEFAULT, heard.tool_choice or _DEFAULT
    offered = [tool.name for tool in heard.tools]
    only = choice.mode == "named" and offered == [choice.name] and got.mode in ("required", "named")
    withheld = (choice.mode == "none" and not offered) or (only and len(told.tools) > 1)
    if not withheld:
        yield from _tools(told.tools, heard.tools, api)
        if choice != got and not only:
            yield _other("$.tool_choice", "the tool choice", _choice(choice), _choice(got), api)
    if told.parallel is False and heard.parallel is not False:
        yield lost("$.parallel", f"{api} has no switch against several calls at once")


def _choice(choice: ToolChoice) -> str:
    return " ".join(filter(None, (choice.mode, choice.name)))


def _tools(told: tuple[Tool, ...], heard: tuple[Tool, ...], api: str) -> Iterator[Issue]:
    known = {tool.name: tool for tool in heard}
    for i, tool in enumerate(told):
        path, got = f"$.tools[{i}]", known.get(tool.name)
        if got is None:
            yield lost(path, f"{api} does not take the definition of a tool", name=tool.name)
            continue
        if tool.description != got.description:
            yield lost(f"{path}.description", f"{api} tells the description of a tool otherwise", name=tool.name)
        if _schema(tool.parameters) != _schema(got.parameters):
            yield lost(f"{path}.parameters", f"{api} tells the parameters of a tool otherwise", name=tool.name)
        if tool.strict and not got.strict:
            yield lost(f"{path}.strict", f"{api} has no strict tools", name=tool.name)
        yield from Fields([got.metadata]).losses(tool.metadata, f"{path}.metadata", api)


def _schema(schema: JsonObject) -> JsonObject:
    """A schema of arguments; one that lets nothing in is as good as none."""
    open_ = any(schema.get(word) for word in _LETS_IN)
    return {key: value for key, value in schema.items() if value not in (None, {}, [])} if open_ else {}


_LETS_IN = ("properties", "patternProperties", "additionalProperties", "$ref", "anyOf", "oneOf", "allOf")


def _sampling(told: Sampling, heard: Sampling, api: str) -> Iterator[Issue]:
    for one in fields(Sampling):
        asked, got = getattr(told, one.name), getattr(heard, one.name)
        if asked not in (None, ()) and asked != got:
            yield _other(f"$.sampling.{one.name}", one.name, asked, got, api)


def _output(told: OutputSchema | None, heard: OutputSchema | None, api: str) -> Iterator[Issue]:
    if told is None:
        return
    if heard is None:
        yield lost("$.output_schema", f"{api} has no words for a demand on the answer's form")
        return
    for one in fields(OutputSchema):
        asked, got = getattr(told, one.name), getattr(heard, one.name)
        if asked not in (None, "", False) and asked != got:
            yield lost(f"$.output_schema.{one.name}", f"{api} does not take the {one.name} of an output schema")


def _cache(told: Request, heard: Request, api: str) -> Iterator[Issue]:
    asked = [i for i, message in enumerate(told.messages) if message.cache]
    kept = sum(message.cache for message in heard.messages)
    if len(asked) > kept:
        few = f"takes {kept} of {len(asked)}" if kept else "has no"
        yield lost(f"$.messages[{asked[0]}].cache", f"{api} {few} prompt-cache markers")


# ── answers ──────────────────────────────────────────────────────────────────


def _response(told: Response, heard: Response, api: str) -> Iterator[Issue]:
    for what in ("id", "model"):
        if getattr(told, what) and getattr(told, what) != getattr(heard, what):
            yield _other(f"$.{what}", f"the answer's {what}", getattr(told, what), getattr(heard, what), api)
    said = Heard((heard.message,))
    for i, part in enumerate(told.message.parts):
        yield from said.losses(part, "assistant", f"$.message.parts[{i}]", api)
    if _is_reordered(told, heard):
        yield lost("$.message.parts", f"{api} tells reasoning, text and calls in an order of its own")
    stop, got = settled(told.stop, len(told.calls)), settled(heard.stop, len(heard.calls))
    if stop not in (None, got):
        yield _other("$.stop", "the reason to stop", _word(stop), _word(got), api)
    yield from _usage(told.usage, heard.usage, api)
    yield from Fields([heard.extra]).losses(told.extra, "$.extra", api)


def _is_reordered(told: Response, heard: Response) -> bool:
    before, after = _order(told), _order(heard)
    return before != after and set(before) == set(after)


def _order(response: Response) -> list[type]:
    """The kinds of parts in their order, neighbours of one kind told once; empty ones do not count."""
    kinds: list[type] = []
    for part in response.message.parts:
        if getattr(part, "text", None) != "" and kinds[-1:] != [type(part)]:
            kinds.append(type(part))
    return kinds


def _word(stop: Stop | None) -> str:
    return stop.value if stop else ""


def _usage(told: Usage | None, heard: Usage | None, api: str) -> Iterator[Issue]:
    if told is None:
        return
    for one in fields(Usage):
        counted, got = getattr(told, one.name), getattr(heard or Usage(), one.name)
        if counted != got:
            yield _other(f"$.usage.{one.name}", f"the count of {one.name} tokens", counted, got, api)


def _other(path: str, what: str, told: Any, heard: Any, api: str) -> Issue:
    """`what` was left out, or told as something near it."""
    if heard in (None, "", (), 0):
        return lost(path, f"{api} does not take {what}: {told}")
    return lost(path, f"{api} takes {what} as {heard}, not {told}")
