"""What a wire could not hold: found by reading back what was written on it.

There is no table of abilities that could drift from the code.  `decode(encode(x)) == x` holds for everything a wire can
say, so what is missing or other after the way there and back is what it cannot.  Knows canonical values and codecs as
records of functions; no wire.

Contract: pure; one `Issue` of kind UNSUPPORTED for each thing left out or changed, with its path in the canonical
value; the same thing in several places is reported once, with their number.  What only changed its place is no loss:
joined texts, results of one turn in one message, media of a result in the turn after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

from ...conversation.grown import by_growth
from ...errors import CodecError, ProviderError
from ...memo import CONSTANTS, TOOLS, memoize
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
    Sampling,
    Text,
    Tool,
    ToolChoice,
)
from ..shared.body import rest
from ..shared.spec import MARKS, PLAIN, Codec, Quirks, WireFields, own
from .survived import Fields, ReadBack, loss_at

_NO_MODEL = "model"
"""Stands for the model while a body is read back whose model nobody knows yet."""


def request_losses(request: Request, codec: Codec, quirks: Quirks = PLAIN) -> tuple[Issue, ...]:
    """What of `request` is not in the body that `codec` makes of it for a peer with these `quirks`."""
    sent = replace(request, model=request.model or _NO_MODEL)
    body = codec.encode_request(sent, quirks)
    for ours, theirs in quirks.rename.items():
        if theirs in body and ours not in body:
            body[ours] = body.pop(theirs)
    try:
        got = codec.decode_request(body)
    except CodecError as fault:
        return (unreadable(fault),)
    if "{model}" in codec.path:
        got = replace(got, model=sent.model)
    if codec.stream_path != codec.path:
        got = replace(got, stream=sent.stream)
    return grouped(_request(sent, got, codec.name))


def unsupported_parameters(request: Request, codec: Codec, quirks: Quirks = PLAIN) -> tuple[Issue, ...]:
    """As `request_losses`, without plain messages and tools; cheap enough for every request."""
    extra, several = request.extra, (*_several(request.extra, codec.several), *_of_tools(request.tools, codec))
    if own(codec.name, extra):
        if not quirks.omit:
            return several  # it came in the words of this very wire
        extra = WireFields(codec.name, rest(extra, _CHOOSING))  # written beside tools alone, which are not asked about
    special = _special(request.messages, codec.name)
    if not any((special, extra, request.output_schema, request.sampling.stop)):
        return (*several, *_of_settings(codec, quirks)(request.sampling, request.parallel, request.stream))
    sent = replace(request, messages=tuple(special.values()), tools=(), tool_choice=None, extra=extra)
    losses = [_placed(loss, [*special]) for loss in request_losses(sent, codec, quirks)]
    known = {issue.path for issue in several} | _ONLY_OPENAIS
    return (*several, *(loss for loss in losses if loss.path not in known))


_ONLY_OPENAIS = frozenset({"$.output_schema.name", "$.output_schema.strict"})
"""A schema's label, which OpenAI alone demands, and its switch: every other API holds answers to it without one."""
_CHOOSING = frozenset({"tool_choice", "toolConfig", "tools"})
"""Fields of a wire's own that say which tools may be called."""


@memoize(TOOLS)
def _of_tools(tools: tuple[Tool, ...], codec: Codec) -> tuple[Issue, ...]:
    """What stands with the definitions of tools that `codec` does not send: fields of another wire."""
    if all(own(codec.name, tool.metadata) or not tool.metadata for tool in tools):
        return ()
    return _of_foreign_tools(tools, codec)


@memoize(TOOLS)
def _of_foreign_tools(tools: tuple[Tool, ...], codec: Codec) -> tuple[Issue, ...]:
    losses = request_losses(Request(model=_NO_MODEL, tools=tuple(tools)), codec)
    found = (replace(loss, path=_IN_TOOL.sub("$.tools.", loss.path)) for loss in losses if _IN_TOOL.match(loss.path))
    return tuple(found)


@memoize(CONSTANTS)
def _of_settings(codec: Codec, quirks: Quirks) -> Callable[[Sampling, bool | None, bool], tuple[Issue, ...]]:
    """What of a request's settings `codec` does not send to such a peer.  Clients ask by the same few."""

    @lru_cache(maxsize=64)
    def losses(sampling: Sampling, parallel: bool | None, stream: bool) -> tuple[Issue, ...]:
        return request_losses(
            Request(model=_NO_MODEL, sampling=sampling, parallel=parallel, stream=stream), codec, quirks
        )

    return losses


def _placed(loss: Issue, places: Sequence[int]) -> Issue:
    """`loss` of a message among few, at its place among all."""
    path = _PLACE.sub(lambda found: f"$.messages[{places[int(found[1])]}]", loss.path)
    return loss if path == loss.path else replace(loss, path=path)


_PLACE = re.compile(r"^\$\.messages\[(\d+)\]")
_IN_TOOL = re.compile(r"^\$\.tools\[\d+\]\.metadata\.(?:function\.)?")
_SEVERAL = ("n", "generationConfig.candidateCount")
"""Fields that ask for several answers at once; one is given."""


def _several(extra: JsonObject, given: str) -> Iterator[Issue]:
    """The wishes for several answers, but for the field by which they are all `given`."""
    for path in _SEVERAL if extra else ():
        if path == given:
            continue
        value: Any = extra
        for key in path.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(value, int) and value > 1:
            yield loss_at(f"$.extra.{path}", f"{value} answers were asked for, and one is given")


@by_growth
def _special(messages: Sequence[Message], start: int, known: dict[int, Message] | None, api: str) -> dict[int, Message]:
    """The messages with something that not every wire holds, by their places."""
    found: dict[int, Message] = dict(known or {})
    before = [*found.values()][-1].role if found else ""
    for at, message in enumerate(messages[start:], start):
        if not message.bare and (special := _of_one_wire(message, api, before)):
            found[at], before = special, special.role
    return found


def _of_one_wire(message: Message, api: str, before: str) -> Message | None:
    """What of `message` some wires hold and others do not: media, blocks, fields and cache marks of one API; None for
    nothing.  A mark alone stands in a turn of its own, which the one of role `before` does not take in."""
    parts: list[Part] = [part for part in message.parts if _is_special(part, api)]
    named = message.metadata and not MARKS.issuperset(message.metadata)
    if not (parts or named or message.cache):
        return None
    metadata = message.metadata if named else NOTHING
    role = "user" if message.role == "tool" else message.role
    if not (parts or named) and role != "system":
        role = "assistant" if before == "user" else "user"
    return Message(role, parts or [Text("…")], cache=message.cache, metadata=metadata)


def _is_special(part: Part, api: str) -> bool:
    if not isinstance(part, Text):
        return isinstance(part, Media | Opaque)
    metadata = part.metadata
    foreign = isinstance(metadata, WireFields) and metadata.api != api
    return foreign and not _NAMES.issuperset(metadata)


_NAMES = MARKS | {"id", "type", "item", "annotations_index", "logprobs"}
"""Fields of a text that only name it, or say what its answer was asked for."""


def unreadable(fault: CodecError | ProviderError) -> Issue:
    """All of it is lost: what was written cannot be read."""
    message = f"what was written cannot be read back: {fault}"
    return loss_at(getattr(fault, "path", ""), message)


def grouped(losses: Iterable[Issue]) -> tuple[Issue, ...]:
    """One issue for each kind of loss, at the first of its places."""
    places: dict[str, list[Issue]] = {}
    for loss in losses:
        places.setdefault(loss.message, []).append(loss)
    return tuple(
        same[0] if len(same) == 1 else replace(same[0], message=f"{message} (in {len(same)} places)")
        for message, same in places.items()
    )


# ── requests ─────────────────────────────────────────────────────────────────


def _request(sent: Request, got: Request, api: str) -> Iterator[Issue]:
    if sent.model != got.model:
        yield differs("$.model", "the model's name", sent.model, got.model, api)
    yield from _calling(sent, got, api)
    yield from _sampling(sent.sampling, got.sampling, api)
    yield from _output(sent.output_schema, got.output_schema, api)
    if sent.stream and not got.stream:
        yield loss_at("$.stream", f"{api} cannot be asked for a stream")
    conversation = ReadBack(got.messages)
    for i, message in enumerate(sent.messages):
        path = f"$.messages[{i}]"
        for j, part in enumerate(message.parts):
            yield from conversation.losses(part, message.role, f"{path}.parts[{j}]", api)
        yield from conversation.fields.losses(message.metadata, f"{path}.metadata", api)
    yield from _cache(sent, got, api)
    yield from Fields([got.extra]).losses(sent.extra, "$.extra", api)


def _calling(sent: Request, got: Request, api: str) -> Iterator[Issue]:
    """Tools, and what is asked of them."""
    choice, read = _chosen(sent), _chosen(got)
    only = _is_only(choice, read, got.tools)
    none = choice.mode == "none" and not got.tools
    if not none and (not only or len(sent.tools) < 2):
        yield from _tools(sent.tools, got.tools, api)
    if choice != read and not (none or only):
        yield differs("$.tool_choice", "the tool choice", _choice(choice), _choice(read), api)
    if sent.parallel is False and got.parallel is not False:
        yield loss_at("$.parallel", f"{api} has no switch against several calls at once")


def _chosen(request: Request) -> ToolChoice:
    return request.tool_choice or ToolChoice("auto")


def _is_only(choice: ToolChoice, read: ToolChoice, tools: Sequence[Tool]) -> bool:
    """Is the tool that was chosen the only one that is offered?  Offering fewer is a way to say "this one"."""
    names = [tool.name for tool in tools]
    return choice.mode == "named" and names == [choice.name] and read.mode in ("required", "named")


def _choice(choice: ToolChoice) -> str:
    return " ".join(filter(None, (choice.mode, choice.name)))


def _tools(sent: tuple[Tool, ...], got: tuple[Tool, ...], api: str) -> Iterator[Issue]:
    known = {tool.name: tool for tool in got}
    for i, tool in enumerate(sent):
        path, read = f"$.tools[{i}]", known.get(tool.name)
        if read is None:
            yield loss_at(path, f"{api} does not take the definition of a tool", name=tool.name)
            continue
        if tool.description != read.description:
            message = f"{api} tells the description of a tool otherwise"
            yield loss_at(f"{path}.description", message, name=tool.name)
        if _schema(tool.parameters) != _schema(read.parameters):
            message = f"{api} tells the parameters of a tool otherwise"
            yield loss_at(f"{path}.parameters", message, name=tool.name)
        if tool.strict and not read.strict:
            yield loss_at(f"{path}.strict", f"{api} has no strict tools", name=tool.name)
        yield from Fields([read.metadata]).losses(tool.metadata, f"{path}.metadata", api)


def _schema(schema: JsonObject) -> JsonObject:
    """A schema of arguments; one that lets nothing in is as good as none."""
    open_ = any(schema.get(word) for word in _LETS_IN)
    return {key: value for key, value in schema.items() if value not in (None, {}, [])} if open_ else {}


_LETS_IN = ("properties", "patternProperties", "additionalProperties", "$ref", "anyOf", "oneOf", "allOf")


def _sampling(sent: Sampling, got: Sampling, api: str) -> Iterator[Issue]:
    for field, value, read in _differing(sent, got, (None, ())):
        if field == "max_tokens" and value < 0 and read is None:
            continue  # no limit, which is said by saying nothing
        yield differs(f"$.sampling.{field}", field, value, read, api)


def _output(sent: OutputSchema | None, got: OutputSchema | None, api: str) -> Iterator[Issue]:
    if sent is not None and got is None:
        yield loss_at("$.output_schema", f"{api} has no words for a demand on the answer's form")
    elif sent is not None:
        for field, _, _ in _differing(sent, got, (None, "", False)):
            yield loss_at(f"$.output_schema.{field}", f"{api} does not take the {field} of an output schema")


def _differing(sent: Any, got: Any, unset: tuple[Any, ...]) -> Iterator[tuple[str, Any, Any]]:
    """The fields that are not `unset` and came back other: name, what was sent, what was read."""
    for one in fields(sent):
        value, read = getattr(sent, one.name), getattr(got, one.name)
        if value not in unset and value != read:
            yield one.name, value, read


def _cache(sent: Request, got: Request, api: str) -> Iterator[Issue]:
    asked = [i for i, message in enumerate(sent.messages) if message.cache]
    left = sum(message.cache for message in got.messages)
    if len(asked) > left:
        few = f"takes {left} of {len(asked)}" if left else "has no"
        yield loss_at(f"$.messages[{asked[0]}].cache", f"{api} {few} prompt-cache markers")


def differs(path: str, what: str, sent: Any, got: Any, api: str) -> Issue:
    """`what` was left out, or came back as something near it."""
    if got in (None, "", (), 0):
        return loss_at(path, f"{api} does not take {what}: {sent}")
    return loss_at(path, f"{api} takes {what} as {got}, not {sent}")
