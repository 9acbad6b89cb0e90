"""Requests of Ollama's `POST /api/chat`, read and written.

Knows the request side of Ollama's own API: messages hold one string, arguments are objects, images are bare base64, and
a stream is what one gets unless one says no.  Answers are in `chat.py`.
Sources: Ollama's api.md; wire-quirks.md ("Ollama's … compatibility layers"); clients.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count, groupby
from typing import Any

from ...jsontext import as_dict
from ...types import (
    JsonObject,
    Media,
    Message,
    OutputSchema,
    Part,
    Reasoning,
    Request,
    Text,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from ..shared.body import (
    a_string,
    an_array,
    an_object,
    mapping,
    name_at,
    object_at,
    objects,
    plain,
    present,
    rest,
    string_at,
    strings_at,
    switch_at,
)
from ..shared.media import joined, media_kind, note
from ..shared.options import read_options, write_options
from ..shared.requests import past_call, results_merged, with_quirks
from ..shared.results import Pairing, marked, results_first, tool_result
from ..shared.spec import PLAIN, Quirks, TurnWriter, extra_for, own, wire_fields
from ..shared.tools import read_functions, write_function, write_tools
from ..shared.turn_runs import TurnForm, read_turns
from ..shared.written import EachWriter, Forms, text_and_calls, write_each

NAME = "ollama_chat"

_OPTIONS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "top_k": "top_k",
    "seed": "seed",
    "max_tokens": "num_predict",
    "stop": "stop",
}
_MODELLED = frozenset({"model", "messages", "tools", "stream", "format", "options", "think"})
_MESSAGE = frozenset({"role", "content", "thinking", "images", "tool_calls", "tool_name", "tool_call_id"})
_TURN = ("content", "thinking", "tool_calls")
_CALL = frozenset({"id", "function"})
_FUNCTION = frozenset({"index", "name", "arguments"})
_EFFORTS: Mapping[str, Any] = {"none": False, "minimal": "low", "xhigh": "high"}
_DECIDES = -1
_LEVELS = frozenset({"low", "medium", "high", "max"})
_IMAGE_STARTS = (("iVBOR", "image/png"), ("/9j/", "image/jpeg"), ("R0lGOD", "image/gif"), ("UklGR", "image/webp"))

# ── reading ────────────────────────────────────────────────────────


def decode_request(body: JsonObject) -> Request:
    """The request `body` makes.  Raises `CodecError` with the path of what is not this API."""
    body = an_object(body, "$")
    listed = an_array(body.get("messages", []), "$.messages")
    return read_request(body, read_turns(listed, _TURNS), _MODELLED)


def _read_messages(ones: Sequence[tuple[str, JsonObject]], pairing: Pairing) -> tuple[Message, ...]:
    return results_merged(_read_message(one, path, pairing) for path, one in _whole_turns(ones))


_TURNS = TurnForm("$.messages", "assistant", _read_messages, merged=True)


def _whole_turns(messages: Iterable[tuple[str, JsonObject]]) -> list[tuple[str, JsonObject]]:
    """The messages, where a turn of the assistant that was sent back as one message per call is one again.

    Strands Agents sends it so, and results without ids or names: they would all answer the last call.
    """
    turns: list[tuple[str, JsonObject]] = []
    for answers, group in groupby(messages, lambda pair: pair[1].get("role") == "assistant"):
        run = list(group)
        calling = (at for at, (_, one) in enumerate(run) if answers and one.get("tool_calls"))
        first = next(calling, len(run))
        turns += [*run[:first], *([_joined(run[first:])] if run[first:] else ())]
    return turns


def _joined(run: Sequence[tuple[str, JsonObject]]) -> tuple[str, JsonObject]:
    path, first = run[0]
    if len(run) == 1:
        return run[0]
    others = {key: value for _, one in run for key, value in one.items()}
    return path, {**others, **first, **{key: _all([one.get(key) for _, one in run]) for key in _TURN}}


def _all(values: Sequence[Any]) -> Any:
    """What messages of one turn say at a key, one after the other; a wrong kind is left to be found."""
    given = [value for value in values if value]
    if all(isinstance(value, str) for value in given):
        return "".join(given) or next(filter(_is_given, values), None)
    lists = [*map(_listed, given)]
    wrong = [value for value in lists if not isinstance(value, list)]
    return wrong[0] if wrong else [*chain.from_iterable(lists)]


def _is_given(value: Any) -> bool:
    return value is not None


def _listed(value: Any) -> Any:
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


def read_request(body: JsonObject, messages: tuple[Message, ...], modelled: frozenset[str]) -> Request:
    """The request of `body` around its `messages`: what /api/chat and /api/generate have in common."""
    extra = present(body, modelled)
    options = object_at(body, "options") or {}
    others = present(options, frozenset(_OPTIONS.values()))
    if others:
        extra["options"] = others
    tools, foreign = read_functions(body)
    extra["tools"] = foreign
    streams = switch_at(body, "stream")
    return Request(
        model=name_at(body, "model"),
        messages=messages,
        tools=tools,
        sampling=replace(read_options(options, _OPTIONS, "$.options"), **_read_thinking(body)),
        output_schema=_read_format(body),
        stream=True if streams is None else streams,
        extra=wire_fields(NAME, extra),
    )


def _read_thinking(body: JsonObject) -> dict[str, Any]:
    """`think` as the fields of `Sampling`: true says that the model is to think, and not how much."""
    think = body.get("think")
    if isinstance(think, bool):
        return {"thinking_budget": _DECIDES} if think else {"effort": "none"}
    return {"effort": string_at(body, "think") or None}


def _read_format(body: JsonObject) -> OutputSchema | None:
    wanted = body.get("format")
    if wanted is None or wanted == "":
        return None
    return OutputSchema() if wanted == "json" else OutputSchema(schema=an_object(wanted, "$.format"))


def _read_message(one: JsonObject, path: str, pairing: Pairing) -> Message:
    role = name_at(one, "role", path)
    left = wire_fields(NAME, rest(one, _MESSAGE))
    texts = _read_content(one, path)
    if role == "tool":
        name, call_id = string_at(one, "tool_name", path), string_at(one, "tool_call_id", path)
        call_id = pairing.resolved(call_id, name)
        content: list[Text | Media] = [*texts, *_read_images(one, path)]
        return Message("tool", (tool_result(call_id, pairing.name(call_id) or name, content, left),))
    if role == "assistant":
        return Message("assistant", _read_answer(one, path, texts, pairing), metadata=left)
    images = _read_images(one, path)
    parts: tuple[Part, ...] = images if images and texts == (Text(""),) else (*texts, *images)
    return Message("system" if role == "system" else "user", parts, metadata=left)


def _read_answer(one: JsonObject, path: str, texts: tuple[Text, ...], pairing: Pairing) -> tuple[Part, ...]:
    calls = [_read_call(call, where, pairing) for where, call in objects(one, "tool_calls", path)]
    pairing.begin_turn(calls)
    thinking = string_at(one, "thinking", path)
    thoughts = [Reasoning(thinking)] if thinking else []
    empty = texts == (Text(""),) and (calls or thoughts)
    return (*thoughts, *(() if empty else texts), *calls)


def _read_content(one: JsonObject, path: str) -> tuple[Text, ...]:
    """The content: a string; a list of text parts is tolerated, as clients of other APIs send it."""
    content = one.get("content")
    if content is None:
        return ()
    if isinstance(content, list):
        return tuple(Text(string_at(part, "text", where)) for where, part in objects(one, "content", path))
    return (Text(a_string(content, f"{path}.content")),)


def _read_images(one: JsonObject, path: str) -> tuple[Media, ...]:
    return tuple(Media(mime=image_type(data), data=data) for data in strings_at(one, "images", path))


def image_type(data: str) -> str:
    """The media type of bare base64, by its first bytes."""
    return next((mime for start, mime in _IMAGE_STARTS if data.startswith(start)), "")


def _read_call(one: JsonObject, path: str, pairing: Pairing) -> ToolCall:
    function = an_object(one.get("function"), f"{path}.function")
    call_id = string_at(one, "id", path) or pairing.mint()
    name = name_at(function, "name", f"{path}.function")
    return past_call(call_id, name, function.get("arguments"), call_fields(one, function))


def call_fields(call: JsonObject, function: JsonObject) -> JsonObject:
    """What a call holds beside its id, name and arguments."""
    others = present(function, _FUNCTION)
    return wire_fields(NAME, {**rest(call, _CALL), "function": others or None})


# ── writing ────────────────────────────────────────────────────────


def encode_request(request: Request, quirks: Quirks = PLAIN) -> dict[str, Any]:
    """The body that makes `request`.  The API has no tool choice: with "none" the tools stay at home."""
    extra = dict(extra_for(NAME, request.extra))
    messages = write_each(request.messages, _write_message, forms=PlainForms)
    body = write_request(request, extra, {"model": request.model, "messages": messages})
    return with_quirks(body, extra, quirks)


def turn_writer(request: Request, quirks: Quirks) -> TurnWriter:
    """What writes the messages of a body."""
    return EachWriter("messages", PlainForms())


def write_request(request: Request, extra: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """`body` with what /api/chat and /api/generate have in common; takes from `extra` what it uses."""
    tools = write_tools(request.tools, write_function, extra.pop("tools", None))
    if tools and request.tool_choice != ToolChoice("none"):
        body["tools"] = tools
    body["stream"] = request.stream
    output = request.output_schema
    if output is not None:
        body["format"] = "json" if output.schema is None else plain(output.schema)
    effort, budget = request.sampling.effort, request.sampling.thinking_budget
    if effort:
        body["think"] = _EFFORTS.get(effort, effort if effort in _LEVELS else True)
    elif budget is not None:
        body["think"] = budget != 0
    options = {**write_options(request.sampling, _OPTIONS), **mapping(extra.pop("options", None))}
    if options:
        body["options"] = options
    return body


def _write_message(message: Message) -> list[dict[str, Any]]:
    results, other = results_first(message)
    wires = [write_result(result) for result in results]
    if other is None:
        return wires
    between = "" if other.role == "assistant" else "\n\n"
    wire: dict[str, Any] = {"role": other.role, **_write_content(other.parts, between)}
    if other.reasoning:
        wire["thinking"] = other.reasoning
    if other.calls:
        wire["tool_calls"] = [write_call(call, i) for i, call in enumerate(other.calls)]
    return [*wires, {**wire, **own(NAME, other.metadata)}]


def write_result(result: ToolResult) -> dict[str, Any]:
    """The message that answers a call; a failure is marked in its text."""
    wire: dict[str, Any] = {"role": "tool", **_write_content(marked(result), "\n\n")}
    if result.name:
        wire["tool_name"] = result.name
    if result.call_id:
        wire["tool_call_id"] = result.call_id
    return {**wire, **own(NAME, result.metadata)}


class PlainForms(Forms):
    """How this wire has the messages of a plain conversation."""

    def __init__(self) -> None:
        self.numbers: list[Any] = []

    def fresh(self) -> PlainForms:
        """The same with nothing written."""
        return PlainForms()

    def form(self, thing: Any) -> Any:
        """A message, or a result."""
        if type(thing) is not Message:
            return self._result(thing) if type(thing) is ToolResult else as_dict(thing)
        parts = thing.parts
        if len(parts) == 1:  # as nearly all
            only: Any = parts[0]
            if type(only) is Text:
                return {"role": thing.role, "content": only.text}
            if type(only) is ToolResult:
                return self._result(only)
        found = text_and_calls(parts)
        if found is None:
            self.numbers += [call.arguments for call in thing.calls]
            return _write_message(thing)[0]
        text, calls = found
        if len(calls) == 1:
            self.numbers.append(calls[0].arguments)
            return {"role": "assistant", "content": text, "tool_calls": [write_call(calls[0], 0)]}
        self.numbers += [call.arguments for call in calls]
        return {"role": "assistant", "content": text, "tool_calls": [*map(write_call, calls, count())]}

    def _result(self, result: ToolResult) -> dict[str, Any]:
        """A result, which holds texts alone."""
        content = result.content
        if result.is_error or len(content) != 1:
            return write_result(result)
        text: str = content[0].text  # type: ignore[union-attr]
        return {"role": "tool", "content": text, "tool_name": result.name, "tool_call_id": result.call_id}


def _write_content(parts: Iterable[Part], between: str) -> dict[str, Any]:
    """Text as one string, images as base64; other media are named in the text."""
    texts: list[Text] = []
    images: list[str] = []
    for part in parts:
        if isinstance(part, Text):
            texts.append(part)
        elif isinstance(part, Media) and part.data and media_kind(part) == "image":
            images.append(part.data)
        elif isinstance(part, Media):
            texts.append(Text(note(part)))
    wire: dict[str, Any] = {"content": joined(texts, between)}
    return {**wire, "images": images} if images else wire


def write_call(call: ToolCall, index: int) -> dict[str, Any]:
    """A call in an assistant's message."""
    if not call.metadata:
        return {"id": call.id, "function": {"index": index, "name": call.name, "arguments": plain(call.arguments)}}
    left = dict(own(NAME, call.metadata))
    function = {"index": index, "name": call.name, "arguments": plain(call.arguments)}
    return {"id": call.id, "function": {**function, **mapping(left.pop("function", None))}, **left}
