"""Contents of Gemini's generateContent, read and written: turns and their parts, instructions too.

Knows parts, their signatures and media, and how results find their calls; options and tools are in
`generate_requests.py`, answers in `generate.py`.  Keys are read in camel and in snake case: official clients send both.
Sources: Gemini API reference; streaming.md §5; wire-quirks.md ("Gemini"); recorded requests.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from ...conversation.grown import Grown, by_growth
from ...conversation.plain import as_plain
from ...jsontext import as_dict
from ...memo import fields, memoize
from ...records import NamedTuple
from ...types import (
    NOTHING,
    JsonObject,
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Request,
    Text,
    ToolCall,
    ToolResult,
)
from ..shared.arguments import as_text
from ..shared.body import (
    an_object,
    filled,
    list_at,
    mapping,
    name_at,
    object_at,
    objects,
    plain,
    rest,
    string,
    string_at,
)
from ..shared.media import from_url, joined, standard_base64
from ..shared.requests import instructions, past_call, split_system
from ..shared.results import Pairing, marked, results_apart, results_first, tool_result
from ..shared.spec import PLAIN, Quirks, own, seal_of, sealed, wire_fields
from ..shared.turn_runs import TurnForm, read_turns
from ..shared.written import NO_RUN, Forms, Pieces, Run, Written, joined_json

NAME = "gemini"
SIGNATURE = "thought_signature"
"""Where `metadata` keeps a part's signature, which must come back with the part."""
_DISPLAY = "displayName"
_NO_ID = "unnumbered"
"""Marks calls and results that had no id on this wire: only newer models know ids, so none is sent back."""
_SEALED = "ZGcxL"
"""How a seal begins in base64."""
_SNAKE = re.compile(r"_([a-z])")
_PART = frozenset({"text", "thought", "thoughtSignature", "functionCall", "functionResponse", "inlineData", "fileData"})


def camel(body: JsonObject) -> dict[str, Any]:
    """`body` with its own keys in camel case."""
    return {_SNAKE.sub(lambda found: found[1].upper(), key): value for key, value in body.items()}


# ── reading ──────────────────────────────────────────────────────────────────


@memoize(fields("systemInstruction"))
def read_system(body: JsonObject) -> tuple[Message, ...]:
    """The instructions of a body, as one message or none."""
    given = body.get("systemInstruction")
    if given is None:
        return ()
    content = {"parts": [{"text": given}]} if isinstance(given, str) else an_object(given, "$.systemInstruction")
    parts = _read_parts(content, "$.systemInstruction", Pairing())
    return (Message("system", parts),) if parts else ()


def read_contents(body: JsonObject) -> Sequence[Message]:
    """The conversation of a body: a list of contents, one alone, or a text."""
    given = body.get("contents")
    if isinstance(given, str):
        return (Message("user", given),)
    listed = [given] if isinstance(given, Mapping) else list_at(body, "contents")
    return read_turns(listed, _TURNS)


def _read_turns(contents: Sequence[tuple[str, JsonObject]], pairing: Pairing) -> tuple[Message, ...]:
    turns = _whole_turns(contents)
    return tuple([message for path, one in turns for message in _read_content(one, path, pairing)])


_TURNS = TurnForm("$.contents", "model", _read_turns)


def _whole_turns(contents: Iterable[tuple[str, JsonObject]]) -> list[tuple[str, JsonObject]]:
    """The contents, where a turn of the model that was sent back in pieces is one again.

    Google's Python SDK, calling functions itself while it streams, sends back one content per chunk: without this the
    results would follow the last piece and answer none of the calls before it.
    """
    turns: list[tuple[str, JsonObject]] = []
    for path, one in contents:
        if turns and one.get("role") == "model" and _calls(turns[-1][1]) and isinstance(one.get("parts"), list):
            begun, before = turns[-1]
            turns[-1] = (begun, {**before, "parts": [*before["parts"], *one["parts"]]})
        else:
            turns.append((path, one))
    return turns


def _calls(content: JsonObject) -> bool:
    """Is it the model's, and does it call something?"""
    parts = content.get("parts")
    if content.get("role") != "model" or not isinstance(parts, list):
        return False
    return any("functionCall" in part or "function_call" in part for part in map(mapping, parts))


def _read_content(one: JsonObject, path: str, pairing: Pairing) -> list[Message]:
    parts = _read_parts(one, path, pairing)
    if string_at(one, "role", path) != "model":
        return results_apart(parts)
    pairing.begin_turn(part for part in parts if isinstance(part, ToolCall))
    return [Message("assistant", parts)]


def _read_parts(content: JsonObject, path: str, pairing: Pairing) -> list[Part]:
    given = content.get("parts")
    if isinstance(given, Mapping):  # one part, not in a list (recorded: req_llm's systemInstruction)
        content = {"parts": [given]}
    return [read_part(camel(one), where, pairing) for where, one in objects(content, "parts", path)]


def read_part(part: JsonObject, path: str, pairing: Pairing) -> Part:
    """What a part says.  A part only this API has is kept as it is."""
    given = part.get("thoughtSignature")
    left = _seal_in(given) or wire_fields(NAME, {**rest(part, _PART), SIGNATURE: given})
    if (call := object_at(part, "functionCall", path)) is not None:
        name = name_at(call, "name", f"{path}.functionCall")
        call_id = string_at(call, "id", f"{path}.functionCall")
        left = left if call_id or seal_of(left) else wire_fields(NAME, {**left, _NO_ID: True})
        return past_call(call_id or pairing.mint(), name, call.get("args"), left)
    if (answer := object_at(part, "functionResponse", path)) is not None:
        return _read_result(camel(answer), f"{path}.functionResponse", pairing)
    if media := read_media(part, left):
        return media
    if isinstance(part.get("text"), str):
        return (Reasoning if part.get("thought") is True else Text)(part["text"], metadata=left)
    return Opaque(api=NAME, block=part)


def read_media(part: JsonObject, left: JsonObject = NOTHING) -> Media | None:
    """The media in a part: inline data, or a file by its address."""
    if inline := camel(mapping(part.get("inlineData"))):
        data, left = standard_base64(string(inline.get("data"))), _named(inline, left)
        return Media(mime=string(inline.get("mimeType")), data=data, name=_name_of(inline), metadata=left)
    linked = camel(mapping(part.get("fileData")))
    if string(linked.get("fileUri")):
        mime = string(linked.get("mimeType"))
        media, left = from_url(linked["fileUri"]), _named(linked, left)
        name = _name_of(linked)
        return Media(mime=mime or media.mime, url=media.url, data=media.data, name=name, metadata=left)
    return None


def _name_of(data: JsonObject) -> str:
    return string(data.get(_DISPLAY))


def _named(data: JsonObject, left: JsonObject) -> JsonObject:
    """`left`, and that a name came with these data: the wire takes one at Vertex only, so no other name is sent."""
    return wire_fields(NAME, {**left, _DISPLAY: _name_of(data)}) if _name_of(data) else left


def _read_result(answer: JsonObject, path: str, pairing: Pairing) -> ToolResult:
    name, given = string_at(answer, "name", path), string_at(answer, "id", path)
    call_id = given or pairing.answered(name)
    response = object_at(answer, "response", path) or {}
    key, only = next(iter(response.items())) if len(response) == 1 else ("", None)
    simple = key in ("error", "output") and isinstance(only, str)
    media = [read_media(camel(one)) for _, one in objects(answer, "parts", path)]
    content: list[Text | Media] = [Text(string(only) if simple else as_text(response)), *filter(None, media)]
    left = rest(answer, ("name", "id", "response", "parts"))
    left |= {} if simple else {"response": response}
    left |= filled(**{_NO_ID: not given, "parts": answer.get("parts")})
    failed = simple and key == "error"
    return tool_result(call_id, name or pairing.name(call_id), content, wire_fields(NAME, left), is_error=failed)


# ── writing ──────────────────────────────────────────────────────────────────


class _Contents(NamedTuple):
    """The contents, their JSON, and the last where it holds only answers: then it may go on, and is none of these.

    `settled` is empty where nothing but their JSON was to be kept.
    """

    settled: Run = NO_RUN
    json: Pieces = ()
    last: tuple[dict[str, Any], ...] = ()


def write_turns(request: Request, quirks: Quirks) -> list[Any]:
    """The contents of a body."""
    messages = split_system(request.messages)[1]
    made = _contents(messages, quirks)
    listed = [*made.settled.listed(), *made.last]
    return Written(listed, joined_json(made.json, made.last)) if type(messages) is Grown else listed


class ContentWriter:
    """Writes the contents of a plain conversation (`TurnWriter`)."""

    field, filled = "contents", True

    def __init__(self, request: Request, quirks: Quirks) -> None:
        self._quirks = quirks

    def beside(self, messages: Sequence[Message]) -> int:
        """All instructions in front."""
        return instructions(messages)

    def more(self, known: _Contents | None, turns: Sequence[Message], start: int, *, single: bool) -> _Contents:
        """The contents of all."""
        known = known or _Contents()
        settled, last = _behind(known.last, turns, _PARTS)
        return _Contents(json=joined_json(known.json, settled, PlainParts(self._quirks)), last=last)

    def pieces(self, known: _Contents, size: int, head: int, marks: Sequence[int]) -> Pieces | None:
        """Their JSON; this wire has no markers."""
        return None if marks else joined_json(known.json, known.last, PlainParts(self._quirks))


@by_growth
def _contents(messages: Sequence[Message], start: int, known: _Contents | None, quirks: Quirks) -> _Contents:
    known = known or _Contents()
    if as_plain(messages) is None:
        settled, last = _behind(known.last, messages[start:], lambda message: _parts_of(message, quirks))
    else:
        form = PlainParts(quirks).form
        settled, last = _behind(known.last, messages[start:], lambda message: [*map(form, message.parts)])
    json = joined_json(known.json, settled) if type(messages) is Grown else ()
    return _Contents(Run(known.settled, settled), json, last)


def _behind(
    last: Sequence[dict[str, Any]], more: Sequence[Message], write: Callable[[Message], Iterable[Any]]
) -> tuple[list[dict[str, Any]], tuple[dict[str, Any], ...]]:
    """The contents that `more` come to behind the `last` one, which holds only answers, and such a last one apart."""
    contents: list[dict[str, Any]] = [{**one, "parts": [*one["parts"]]} for one in last]
    answering = bool(last)
    for message in more:
        role = message.role
        if answering and role == "user":
            contents[-1]["parts"] = [*contents[-1]["parts"], *write(message)]
        else:
            contents.append({"role": "model" if role == "assistant" else "user", "parts": write(message)})
        answering = role == "tool"
    return (contents[:-1], (contents[-1],)) if answering and contents else (contents, ())


def _parts_of(message: Message, quirks: Quirks) -> list[dict[str, Any]]:
    results, other = results_first(message)
    parts = [part for result in results for part in write_result(result, quirks)]
    parts.sort(key=lambda part: "functionResponse" not in part)  # answers stand together, media after them
    return parts + write_parts(other.parts) if other else parts


_PARTS = attrgetter("parts")
"""Stand for what they are there, until that is written (`PlainParts`)."""


class PlainParts(Forms):
    """How this wire has the parts of a plain conversation."""

    def __init__(self, quirks: Quirks) -> None:
        self.numbers: list[Any] = []
        self._quirks = quirks

    def form(self, thing: Any) -> Any:
        """The wire's part for ours."""
        kind = type(thing)
        if kind is Text:
            return {"text": thing.text}
        if kind is ToolCall:
            given = plain(thing.arguments)
            self.numbers.append(given)
            return {"functionCall": {"id": thing.id, "name": thing.name, "args": given}}
        if kind is not ToolResult:
            return as_dict(thing)
        content = thing.content
        if thing.is_error or len(content) != 1:
            return write_result(thing, self._quirks)[0]
        answer = {"id": thing.call_id, "name": thing.name, "response": {"output": content[0].text}}
        return {"functionResponse": answer}


def write_parts(parts: Iterable[Part]) -> list[dict[str, Any]]:
    """The wire's parts for ours."""
    return [wire for part in parts for wire in _write_part(part)]


def _write_part(part: Part) -> list[dict[str, Any]]:
    match part:
        case Text(text):
            return [{"text": text, **beside_content(part.metadata)}]
        case Reasoning(text):
            return [{"text": text, "thought": True, **beside_content(part.metadata)}]
        case ToolCall():
            call = {"id": part.id, "name": part.name, "args": plain(part.arguments)}
            if own(NAME, part.metadata).get(_NO_ID):
                del call["id"]
            return [{"functionCall": call, **beside_content(part.metadata)}]
        case Media():
            return [write_media(part)]
        case Opaque():
            return [dict(part.block)] if part.api == NAME else []
    return []


def written_signature(metadata: JsonObject) -> Any:
    """A part's signature; a seal is one too, in the base64 that clients demand of it."""
    seal = seal_of(metadata)
    return base64.b64encode(seal.encode()).decode() if seal else metadata.get(SIGNATURE)


def _seal_in(signature: Any) -> JsonObject:
    """The metadata of a seal that came back as a signature, in either alphabet of base64; nothing for a real one."""
    if not isinstance(signature, str) or not signature.startswith(_SEALED):
        return NOTHING
    try:
        text = base64.b64decode(signature.replace("-", "+").replace("_", "/") + "=" * (-len(signature) % 4)).decode()
    except ValueError:
        return NOTHING
    return sealed(text)


def beside_content(metadata: JsonObject) -> dict[str, Any]:
    """What stands beside a part's content: its signature, and what else it came with on this wire."""
    left = rest(own(NAME, metadata), frozenset({SIGNATURE, _NO_ID, "call"}))
    signature = written_signature(metadata)
    return {**left, "thoughtSignature": signature} if signature else left


def write_media(media: Media) -> dict[str, Any]:
    """Media inline, or by their address."""
    left = beside_content(media.metadata)
    named = {_DISPLAY: left.pop(_DISPLAY)} if _DISPLAY in left else {}
    if media.url:
        typed = {"mimeType": media.mime} if media.mime else {}
        return {"fileData": {"fileUri": media.url, **typed, **named}, **left}
    return {"inlineData": {"mimeType": media.mime, "data": media.data, **named}, **left}


def write_result(result: ToolResult, quirks: Quirks = PLAIN) -> list[dict[str, Any]]:
    """The parts that answer a call: failure under its own key, a code marked in the text."""
    content = marked(result, bare=False)
    text = joined(content)
    left = dict(own(NAME, result.metadata))
    numbered = result.call_id and not left.pop(_NO_ID, False)
    answer: dict[str, Any] = {"id": result.call_id} if numbered else {}
    answer |= {"name": result.name, "response": {"error" if result.is_error else "output": text}, **left}
    media = [write_media(part) for part in content if isinstance(part, Media)]
    if not media or "parts" in answer:
        return [{"functionResponse": answer}]
    if quirks.result_media == "native":
        return [{"functionResponse": {**answer, "parts": media}}]
    return [{"functionResponse": answer}, *media]
