"""Messages of OpenAI Chat Completions, read and written: every role, every shape of content, calls and results.

Knows messages as OpenAI documents them and as compatible peers and their clients really write them.
Sources: OpenAI API reference; clients.md ("What the gateway must do"); recorded requests of 20 providers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...conversation.grown import by_growth
from ...errors import CodecError
from ...jsontext import as_dict, dumps
from ...memo import JSON_MESSAGES, WORDS_MESSAGES, memoize
from ...types import NOTHING, JsonObject, Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from ..shared.arguments import arguments_text
from ..shared.body import (
    an_array,
    an_object,
    items,
    list_at,
    mapping,
    name_at,
    objects,
    present,
    rest,
    string,
    string_at,
)
from ..shared.media import data_url, from_url, joined, media_kind, note, one_text
from ..shared.requests import past_call, results_joined, results_merged
from ..shared.results import Pairing, attached, marked, results_first, texts_only, tool_result
from ..shared.spec import LEGACY, PLAIN, TYPED, Quirks, own, seal_of, sealed, wire_fields
from ..shared.written import Forms

NAME = "openai_chat"
DEVELOPER = "developer"

_REASONING = ("reasoning_content", "reasoning")
SEALED = "dragoman-v1"
"""The format of a seal among `reasoning_details`."""
_AUDIO = {"wav": "audio/wav", "mp3": "audio/mpeg"}
_AUDIO_FORMAT = {mime: word for word, mime in _AUDIO.items()}


# ── reading ──────────────────────────────────────────────────────────────────


def read_messages(body: JsonObject) -> tuple[Message, ...]:
    """The messages of `body`, neighbouring results as one."""
    return _read_all(list_at(body, "messages"))[0]


@by_growth
def _read_all(
    listed: Sequence[Any], start: int, known: tuple[tuple[Message, ...], Pairing] | None
) -> tuple[tuple[Message, ...], Pairing]:
    before, pairing = ((), Pairing()) if known is None else (known[0], known[1].copy())
    made = results_merged(
        _read_again(an_object(one, path), path, pairing)
        for at, one in enumerate(listed[start:], start) for path in (f"$.messages[{at}]",)
    )  # fmt: skip
    return results_joined(before, made, listed), pairing


def _read_again(one: JsonObject, path: str, pairing: Pairing) -> Message:
    """`_read_message`, by what it knows already: agents send the same messages again and again."""
    role, said = one.get("role"), one.get("content")
    if len(one) == 2 and type(said) is str and type(role) is str and role in _SAID:  # as most
        if role == "assistant":
            pairing.begin_turn(())
        return _read_words(role, said)
    calls = items(one.get("tool_calls"))
    whole = "function_call" not in one and all(mapping(call).get("id") for call in calls)
    if role == "function" or not whole:
        return _read_message(one, path, pairing)  # an id is made for it, or looked for
    given = one.get("tool_call_id")
    called = given if type(given) is str else ""
    name = pairing.name(called)
    try:
        message = _read_alone(one, called if name else "", name)
    except CodecError:
        return _read_message(one, path, pairing)  # which says where
    if role == "assistant":
        pairing.begin_turn(message.calls)
    return message


_SAID = frozenset({"system", "user", "assistant"})


@memoize(WORDS_MESSAGES)
def _read_words(role: str, said: str) -> Message:
    """A message of a role and a text, and nothing else."""
    return _read_message({"role": role, "content": said}, "$", Pairing())


@memoize(JSON_MESSAGES)
def _read_alone(one: JsonObject, called: str, name: str) -> Message:
    """A message that stands for itself, but for the name of the call it answers."""
    pairing = Pairing()
    if name:
        pairing.begin_turn([ToolCall(id=called, name=name)])
    return _read_message(one, "$", pairing)


def _read_message(one: JsonObject, path: str, pairing: Pairing) -> Message:
    role = name_at(one, "role", path)
    if role == "assistant":
        return _read_assistant(one, path, pairing)
    if role in ("tool", "function"):
        return Message("tool", (_read_result(one, path, pairing),))
    parts = _read_parts(one.get("content"), f"{path}.content")
    left = rest(one, frozenset({"role", "content"}))
    if role in ("system", DEVELOPER):
        left |= {"role": role} if role == DEVELOPER else {}
        return Message("system", parts, metadata=wire_fields(NAME, left))
    return Message("user", parts, metadata=wire_fields(NAME, left))  # an unknown role counts as the user (seeds C4)


def _read_assistant(one: JsonObject, path: str, pairing: Pairing) -> Message:
    left = rest(one, frozenset({"role", "content", "tool_calls", "refusal"}))
    parts: list[Part] = _read_reasoning(left)
    parts += _read_parts(one.get("content"), f"{path}.content")
    if refusal := string_at(one, "refusal", path):
        parts.append(Text(refusal, metadata=wire_fields(NAME, {"type": "refusal"})))
    calls = [_read_call(call, where, pairing) for where, call in objects(one, "tool_calls", path)]
    legacy = left.pop("function_call", None)
    if string(mapping(legacy).get("name")):
        calls.append(past_call(pairing.mint(), mapping(legacy)["name"], mapping(legacy).get("arguments"), NOTHING))
    pairing.begin_turn(calls)
    if calls and parts == [Text("")]:
        parts = []
    return Message("assistant", (*parts, *calls), metadata=wire_fields(NAME, left))


def _read_reasoning(left: dict[str, Any]) -> list[Part]:
    """The reasoning among the fields `left`, taken out of them; an empty one stays there and comes back as it was."""
    given = [key for key in _REASONING if isinstance(left.get(key), str) and left[key]]
    if not given:
        seals = _seals(left.get("reasoning_details"))
        if seals:
            del left["reasoning_details"]
        return [Reasoning("", metadata=seals)] if seals else []
    text = left[given[0]]
    names = [key for key in given if left[key] == text]
    for key in names:
        del left[key]
    details = left.pop("reasoning_details", None)
    if seals := _seals(details):
        return [Reasoning(text, metadata=seals)]
    plain = names == ["reasoning_content"]
    return [
        Reasoning(text, metadata=wire_fields(NAME, {"fields": None if plain else names, "reasoning_details": details}))
    ]


def _seals(details: Any) -> JsonObject:
    """The metadata of the seals in `reasoning_details`, if that is what stands there."""
    data = [mapping(one).get("data") for one in items(details) if mapping(one).get("format") == SEALED]
    return sealed(" ".join(string(one) for one in data))


def write_seal(seal: str, place: int) -> dict[str, Any]:
    """A seal as clients of OpenRouter know encrypted reasoning, and give it back."""
    return {"type": "reasoning.encrypted", "data": seal, "format": SEALED, "index": place}


def _read_call(one: JsonObject, path: str, pairing: Pairing) -> ToolCall:
    call_id = string_at(one, "id", path) or pairing.mint()
    if one.get("type") == "custom":
        custom = an_object(one.get("custom"), f"{path}.custom")
        given = {"input": string_at(custom, "input", f"{path}.custom")}
        return ToolCall(
            id=call_id,
            name=name_at(custom, "name", f"{path}.custom"),
            arguments=given,
            metadata=wire_fields(NAME, {TYPED: "custom"}),
        )
    function = an_object(one.get("function"), f"{path}.function")
    others = rest(function, frozenset({"name", "arguments"}))
    left = rest(one, frozenset({"id", "type", "function", "index"}))
    name = name_at(function, "name", f"{path}.function")
    others = present(others)
    signature = mapping(mapping(left.get("extra_content")).get("google")).get("thought_signature")
    fields = sealed(signature) or wire_fields(NAME, {**left, "function": others or None})
    return past_call(call_id, name, function.get("arguments"), fields)


def signature_field(metadata: JsonObject) -> dict[str, Any]:
    """A call's seal, where Google's own chat API has a call's signature."""
    seal = seal_of(metadata)
    return {"extra_content": {"google": {"thought_signature": seal}}} if seal else {}


def _read_result(one: JsonObject, path: str, pairing: Pairing) -> ToolResult:
    name = string_at(one, "name", path)
    call_id = string_at(one, "tool_call_id", path)
    if one["role"] == "function":
        call_id = call_id or pairing.id_of(name)
    parts = _read_parts(one.get("content"), f"{path}.content")
    carriable = tuple(part for part in parts if isinstance(part, Text | Media))
    left = rest(one, frozenset({"role", "content", "tool_call_id"}))
    if len(carriable) < len(parts):
        left["content"] = one["content"]
    return tool_result(call_id, pairing.name(call_id) or name, carriable, wire_fields(NAME, left))


def _read_parts(content: Any, path: str) -> list[Part]:
    """The parts of a message's content: a string, null, or a list, in every role (clients.md, rule 3)."""
    if content is None:
        return []
    if isinstance(content, str):
        return [Text(content)]
    return [_read_part(one, f"{path}[{i}]") for i, one in enumerate(an_array(content, path))]


def _read_part(one: Any, path: str) -> Part:
    if isinstance(one, str):
        return Text(one)
    part = an_object(one, path)
    kind = part.get("type")
    if kind == "text":
        left = wire_fields(NAME, rest(part, frozenset({"type", "text"})))
        return Text(string_at(part, "text", path), metadata=left)
    if kind == "refusal":
        return Text(string_at(part, "refusal", path), metadata=wire_fields(NAME, {"type": "refusal"}))
    if kind == "thinking":  # Magistral
        return Reasoning(thinking_text(part), metadata=wire_fields(NAME, {"part": part}))
    return _read_media(part, path) or Opaque(api=NAME, block=part)


def thinking_text(part: JsonObject) -> str:
    """The text of a `thinking` part."""
    pieces = part.get("thinking")
    return string(pieces) or "".join(string(mapping(piece).get("text")) for piece in items(pieces))


def _read_media(part: JsonObject, path: str) -> Media | None:
    kind = string(part.get("type"))
    left = rest(part, ("type", kind))
    if kind in ("image_url", "video_url"):
        return _read_linked(part.get(kind), kind, f"{path}.{kind}", left)
    if kind == "input_audio":
        source = an_object(part.get(kind), f"{path}.{kind}")
        word = string_at(source, "format", f"{path}.{kind}")
        mime = _AUDIO.get(word, f"audio/{word}" if word else "audio/*")
        data = string_at(source, "data", f"{path}.{kind}")
        return Media(mime=mime, data=data, metadata=wire_fields(NAME, left))
    source = mapping(part.get("file"))
    data = string(source.get("file_data"))
    if kind == "file" and set(source) <= {"file_data", "filename"} and data.startswith("data:"):
        if data.startswith("data:text/"):
            left["plain"] = True  # a file it was: a text in it is not told in words on this very wire
        return from_url(data, name=string(source.get("filename")), metadata=wire_fields(NAME, left))
    return None


def _read_linked(given: Any, kind: str, path: str, left: dict[str, Any]) -> Media:
    """An image or a video by its URL, which stands in an object or, at some clients, alone."""
    plain = isinstance(given, str)
    source = {"url": given} if plain else an_object(given, path)
    left |= {"inner": present(source, ("url",)) or None, "plain": plain or None}
    mime = "video/*" if kind == "video_url" else ""
    return from_url(name_at(source, "url", path), mime=mime, metadata=wire_fields(NAME, left))


# ── writing ──────────────────────────────────────────────────────────────────


def write_message(message: Message, quirks: Quirks = PLAIN) -> list[dict[str, Any]]:
    """The wire's messages for one of ours: each result is one, media of results follow in a user turn."""
    results, other = results_first(message)
    wires = [write_result(result, quirks) for result in results]
    if results and quirks.result_media == "user_turn":
        media = attached(results)
        wires += [{"role": "user", "content": _write_content(media, quirks)}] if media else []
    if other is None:
        return wires
    if other.role == "assistant":
        return [*wires, _write_assistant(other, quirks)]
    left = dict(own(NAME, other.metadata))
    role = left.pop("role", quirks.system_role if other.role == "system" else "user")
    role = role if quirks.developer or role != DEVELOPER else "system"
    return [*wires, {"role": role, "content": _write_content(other.parts, quirks), **left}]


def write_result(result: ToolResult, quirks: Quirks = PLAIN) -> dict[str, Any]:
    """The message that answers a call; a failure is marked in its text."""
    content = marked(result)
    if quirks.result_media == "user_turn":
        content = texts_only(content)
    wire: dict[str, Any] = {"role": "tool", "tool_call_id": result.call_id, "content": _write_content(content, quirks)}
    if not result.call_id:
        del wire["tool_call_id"]
    return {**wire, **own(NAME, result.metadata)}


def _write_assistant(message: Message, quirks: Quirks) -> dict[str, Any]:
    content, refusals, reasoning, calls = _by_field(message.parts)
    wire: dict[str, Any] = {"role": "assistant"}
    if content:
        wire["content"] = _write_content(content, quirks)
    elif quirks.empty_content != "absent":
        wire["content"] = None if quirks.empty_content == "null" else ""
    if refusals:
        wire["refusal"] = joined(refusals, "")
    if reasoning:
        wire |= _write_reasoning(reasoning, quirks)
    if calls:
        wire["tool_calls"] = [write_call(call) for call in calls]
    return {**wire, **own(NAME, message.metadata)}


class PlainForms(Forms):
    """How this wire has the messages of a plain conversation."""

    def __init__(self, quirks: Quirks) -> None:
        self._quirks, self._system = quirks, quirks.system_role

    def form(self, thing: Any) -> Any:
        """A message, or a result."""
        if type(thing) is not Message:
            return self._result(thing) if type(thing) is ToolResult else as_dict(thing)
        parts = thing.parts
        if len(parts) == 1:  # as nearly all
            only: Any = parts[0]
            if type(only) is Text:
                role = thing.role
                return {"role": self._system if role == "system" else role, "content": only.text}
            if type(only) is ToolResult:
                return self._result(only)
        first: Any = parts[0] if parts else None
        calls: Any = parts[1:] if type(first) is Text else parts
        if len(calls) == 1 and type(call := calls[0]) is ToolCall:
            written = arguments_text(call) if call.raw else dumps(call.arguments)
            listed = [{"id": call.id, "type": "function", "function": {"name": call.name, "arguments": written}}]
        elif {*map(type, calls)} == _CALLS:
            listed = [*map(write_call, calls)]
        else:
            return write_message(thing, self._quirks)[0]
        if type(first) is Text:
            return {"role": "assistant", "content": first.text, "tool_calls": listed}
        return self._without_text(listed)

    def _without_text(self, calls: list[Any]) -> dict[str, Any]:
        """Calls that no text stands before."""
        if self._quirks.empty_content == "absent":
            return {"role": "assistant", "tool_calls": calls}
        empty = None if self._quirks.empty_content == "null" else ""
        return {"role": "assistant", "content": empty, "tool_calls": calls}

    def _result(self, result: ToolResult) -> dict[str, Any]:
        """A result, which holds texts alone."""
        content = result.content
        if result.is_error or len(content) != 1:
            return write_result(result, self._quirks)
        return {"role": "tool", "tool_call_id": result.call_id, "content": content[0].text}  # type: ignore[union-attr]


_CALLS = {ToolCall}


def _by_field(parts: Iterable[Part]) -> tuple[list[Part], list[Part], list[Reasoning], list[ToolCall]]:
    """The parts by the fields they stand in: content, refusal, reasoning, tool calls."""
    content: list[Part] = []
    refusals: list[Part] = []
    reasoning: list[Reasoning] = []
    calls: list[ToolCall] = []
    for part in parts:
        if isinstance(part, ToolCall):
            calls.append(part)
        elif type(part) is Text and not part.metadata:
            content.append(part)
        elif isinstance(part, Reasoning) and not _is_content(part):
            reasoning.append(part)
        else:
            (refusals if _is_refusal(part) else content).append(part)
    return content, refusals, reasoning, calls


def _is_refusal(part: Part) -> bool:
    return isinstance(part, Text) and own(NAME, part.metadata).get("type") == "refusal"


def _is_content(part: Reasoning) -> bool:
    """Is this reasoning a part of the content on this wire (Mistral), not a field of the message?"""
    return "part" in own(NAME, part.metadata)


def _write_reasoning(parts: Sequence[Reasoning], quirks: Quirks) -> dict[str, Any]:
    text = "".join(part.text for part in parts)
    left = own(NAME, parts[0].metadata)
    names = left.get("fields") or ([quirks.reasoning_field] if quirks.reasoning_field else [])
    wire: dict[str, Any] = {name: text for name in names if text}
    if left.get("reasoning_details") is not None:
        wire["reasoning_details"] = left["reasoning_details"]
    return wire


def write_call(call: ToolCall, *, custom: bool = False) -> dict[str, Any]:
    """A call in an assistant's message; `custom` says that its tool takes free text."""
    if not (call.metadata or custom):
        return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments_text(call)}}
    left = rest(own(NAME, call.metadata), ("index", LEGACY))
    if custom or TYPED in left:
        given = {"name": call.name, "input": string(call.arguments.get("input"))}
        return {"id": call.id, "type": "custom", "custom": given}
    function = {"name": call.name, "arguments": arguments_text(call), **mapping(left.pop("function", None))}
    return {"id": call.id, "type": "function", "function": function, **signature_field(call.metadata), **left}


def _write_content(parts: Sequence[Part], quirks: Quirks) -> Any:
    if len(parts) == 1 and type(parts[0]) is Text and not parts[0].metadata:
        return parts[0].text  # as nearly all
    listed = [part for part in parts if not isinstance(part, Opaque) or part.api == NAME]
    only = one_text(listed, NAME) if listed else ""
    if only is not None:
        return only
    return _write_text(listed) if quirks.content == "text" else [wire for part in listed for wire in _write_part(part)]


def _write_text(parts: Iterable[Part]) -> str:
    return joined(Text(note(part)) if isinstance(part, Media) else part for part in parts)


def _write_part(part: Part) -> list[dict[str, Any]]:
    match part:
        case Text(text):
            return [{"type": "text", "text": text, **own(NAME, part.metadata)}]
        case Media():
            return [_write_media(part)]
        case Opaque():
            return [dict(part.block)]
        case Reasoning():
            return [dict(own(NAME, part.metadata)["part"])] if _is_content(part) else []
    return []


def _write_media(media: Media) -> dict[str, Any]:
    left = dict(own(NAME, media.metadata))
    inner, plain = mapping(left.pop("inner", None)), left.pop("plain", False)
    kind = media_kind(media)
    if kind in ("image", "video"):
        source = data_url(media) if plain else {"url": data_url(media), **inner}
        return {"type": f"{kind}_url", f"{kind}_url": source, **left}
    if kind == "audio" and media.data:
        word = _AUDIO_FORMAT.get(media.mime, media.mime.partition("/")[2])
        return {"type": "input_audio", "input_audio": {"data": media.data, "format": word}, **left}
    if media.data:
        return {"type": "file", "file": {"filename": media.name or "file", "file_data": data_url(media)}, **left}
    return {"type": "text", "text": note(media)}
