"""Items of OpenAI Responses, read and written: what the model said, in requests as history and in answers as output.

Knows messages, reasoning, calls and results as items; every other item is kept as it is.  Two things are undone here
that other wires do not have: tools in namespaces (a client's MCP servers) are known elsewhere by one joined name, and
free-form tools take their text as an argument called `input`.  Calls and results of typed tools are rows of
`typed_items.py`.
Sources: OpenAI API reference; streaming.md §2; wire-quirks.md ("Responses"); recorded items of 8 providers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ...memo import TOOLS, memoize
from ...types import JsonObject, Media, Opaque, Part, Reasoning, Request, Text, Tool, ToolCall, ToolResult
from ..shared.arguments import arguments_text
from ..shared.body import items, mapping, present, rest, string
from ..shared.media import data_url, from_url, media_kind, note, one_text
from ..shared.requests import past_call
from ..shared.results import Pairing, marked, tool_result
from ..shared.spec import REFUSAL, TYPED, WireFields, own, place_of, seal_of, wire_fields
from ..shared.spec import sealed as sealed_metadata
from .typed_items import BY_CALL, BY_RESULT, DEFAULT_NAMES, TypedItem, call_id_of, is_remote, item_form, kept_item

NAME = "openai_responses"

Mint = Callable[[str], str]
"""Gives the id of the next item of a kind (`msg`, `rs`, `fc`, `ctc`, `sh` …)."""

CALLS = ("function_call", "custom_tool_call")
RESULTS = ("function_call_output", "custom_tool_call_output")
_MESSAGE = frozenset({"type", "role", "content", "status"})
_CALL = frozenset({"type", "call_id", "name", "arguments", "input", "status"})
_RESULT = frozenset({"type", "call_id", "output", "status"})
_DONE = (None, "completed")
_AUDIO = {"wav": "audio/wav", "mp3": "audio/mpeg"}
_AUDIO_FORMAT = {mime: word for word, mime in _AUDIO.items()}
_FILE = "application/octet-stream"
_WRAPPED = re.compile(r"([\w-]{1,128})\|(.*)", re.DOTALL)
SEAL = "dragoman"
"""Encrypted content that says nothing; it is taken off again when the item returns."""

# ── names ────────────────────────────────────────────────────────────────────


def joined_name(namespace: str, name: str) -> str:
    """The one name by which other wires know a tool in a namespace."""
    return name if name.startswith(namespace) else f"{namespace}__{name}"


class Names:
    """How the tools of a request are called on this wire, by their canonical names."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._fields = {tool.name: own(NAME, tool.metadata) for tool in tools}

    @classmethod
    def of(cls, request: Request | None) -> Names:
        """The names of the tools in `request`."""
        return _names(request.tools if request else ())

    def custom(self, name: str) -> bool:
        """Does this tool take free-form text?"""
        return "custom" in self._fields.get(name, {})

    def special(self, name: str) -> bool:
        """Does this wire say anything of this tool beside its definition?"""
        return bool(self._fields.get(name))

    def typed(self, name: str) -> TypedItem | None:
        """How calls of this tool stand among the items, where it is a typed one."""
        definition = self._fields.get(name, {}).get(TYPED)
        return item_form(definition) if definition is not None else None

    def of_item(self, kind: str) -> str:
        """The canonical name of the typed tool whose calls are items of this kind."""
        found = (name for name in self._fields if (form := self.typed(name)) is not None and form.call == kind)
        return next(found, DEFAULT_NAMES[kind])

    def on_wire(self, name: str) -> dict[str, Any]:
        """The name fields of a call of this tool."""
        fields = self._fields.get(name, {})
        if "namespace" not in fields:
            return {"name": name}
        return {"name": fields["name"], "namespace": fields["namespace"]}

    def canonical(self, namespace: str, name: str) -> str:
        """The canonical name of a tool that a past call names by namespace."""
        flat = joined_name(namespace, name) if namespace else name
        return flat if flat in self._fields else name


@memoize(TOOLS)
def _names(tools: tuple[Tool, ...]) -> Names:
    return Names(tools)


# ── reading ──────────────────────────────────────────────────────────────────


def read_part(part: JsonObject) -> Text | Media | Opaque:
    """A part of a content or of a tool's output."""
    match part.get("type"):
        case "input_text" | "output_text" | "text":
            left = rest(part, frozenset({"type", "text"}))
            fields = {key: value for key, value in left.items() if value not in ([], None)}
            return Text(string(part.get("text")), metadata=wire_fields(NAME, fields))
        case "refusal":
            return Text(string(part.get("refusal")), metadata=wire_fields(NAME, {"type": "refusal"}))
        case "input_image" if string(part.get("image_url")):
            left = rest(part, frozenset({"type", "image_url"}))
            return from_url(part["image_url"], metadata=wire_fields(NAME, left))
        case "input_file":
            return _read_file(part) or Opaque(api=NAME, block=part)
        case "input_audio":
            source = mapping(part.get("input_audio"))
            mime = _AUDIO.get(string(source.get("format")), "audio/*")
            return Media(mime=mime, data=string(source.get("data")))
    return Opaque(api=NAME, block=part)


def _read_file(part: JsonObject) -> Media | None:
    data = string(part.get("file_data"))
    url = string(part.get("file_url")) or (data if data.startswith("data:") else "")
    if not url:
        return None  # kept at the server; or data of nobody knows what
    others = rest(part, frozenset({"type", "filename", "file_url", "file_data"}))
    kept = url.startswith("data:text/") or None  # a file it was: on this very wire its text stays one
    left = wire_fields(NAME, {**others, "plain": kept})
    media = from_url(url, name=string(part.get("filename")), mime=_FILE, metadata=left)
    return media if media_kind(media) == "file" else None


def read_message(item: JsonObject, apart: int | None = None) -> list[Text | Media | Opaque]:
    """The parts of an assistant's message item; each keeps what the item says beside its content."""
    about = present(item, _MESSAGE)
    content = item.get("content")
    parts = [Text(content)] if isinstance(content, str) else [read_part(mapping(part)) for part in items(content)]
    return [message_text(part, about, apart) if isinstance(part, Text) else part for part in parts]


def message_text(part: Text, about: JsonObject, apart: int | None = None) -> Text:
    """A text of a message item that says `about` itself; `apart` tells it from a like item before it."""
    return Text(part.text, metadata=wire_fields(NAME, {**part.metadata, "item": about or None, "apart": apart}))


def read_reasoning(item: JsonObject, minted: str = "") -> Reasoning:
    """A reasoning item: its summary or its text, and all of it for the way back."""
    item = _unwrapped({key: value for key, value in item.items() if value not in (None, [])})
    text = reasoning_text(item)
    if seal := sealed_metadata(item.get("encrypted_content")):
        return Reasoning(text, metadata=seal)
    if {**item, "status": None} == {**write_reasoning(text, minted), "status": None}:
        return Reasoning(text)
    return Reasoning(text, metadata=WireFields(NAME, {"item": item}))


def reasoning_text(item: JsonObject) -> str:
    """What a reasoning item says: its summary, or its text where there is none."""
    summary = [string(mapping(part).get("text")) for part in items(item.get("summary"))]
    return "\n\n".join(summary) or "".join(string(mapping(part).get("text")) for part in items(item.get("content")))


def read_call(item: JsonObject, names: Names, minted: str = "") -> ToolCall:
    """A call item.  The text of a free-form tool becomes its `input`."""
    call_id = string(item.get("call_id")) or string(item.get("id"))
    name, left = call_name(item, names, minted)
    if item.get("type") == "custom_tool_call":
        return ToolCall(id=call_id, name=name, arguments={"input": string(item.get("input"))}, metadata=left)
    return past_call(call_id, name, item.get("arguments"), left)


def read_typed_call(item: JsonObject, names: Names) -> ToolCall | Opaque:
    """A call item of a typed tool; one that the server ran is its own affair."""
    if is_remote(item):
        return Opaque(api=NAME, block=item)
    kind = string(item.get("type"))
    arguments, metadata = BY_CALL[kind].arguments(item), WireFields(NAME, {TYPED: dict(item)})
    return ToolCall(id=call_id_of(item), name=names.of_item(kind), arguments=arguments, metadata=metadata)


def read_typed_result(item: JsonObject, pairing: Pairing) -> ToolResult | None:
    """An item that answers the call of a typed tool; None for one whose call the server ran."""
    call_id = call_id_of(item)
    name = pairing.name(call_id)
    if not name and item.get("type") == "shell_call_output":
        return None
    content, failed, code = BY_RESULT[string(item.get("type"))].read(item)
    metadata = WireFields(NAME, {TYPED: dict(item)})
    return ToolResult(
        call_id=call_id, name=name, content=content, is_error=failed, error_code=code, metadata=metadata
    )


def call_name(item: JsonObject, names: Names, minted: str = "") -> tuple[str, JsonObject]:
    """The canonical name of a call item, and what else the item says."""
    left = rest(item, _CALL)
    if left.get("id") == minted:
        del left["id"]
    if item.get("status") not in _DONE:
        left["status"] = item["status"]
    bare, custom = string(item.get("name")), item.get("type") == "custom_tool_call"
    name = names.canonical(string(item.get("namespace")), bare)
    left |= {"name": bare} if name != bare else {}
    left |= {"type": "custom_tool_call"} if custom and not names.custom(name) else {}
    return name, wire_fields(NAME, left)


def read_result(item: JsonObject, pairing: Pairing) -> ToolResult:
    """An item that answers a call."""
    given = item.get("output")
    parts = [Text(given)] if isinstance(given, str) else [read_part(mapping(part)) for part in items(given)]
    carriable = [part for part in parts if isinstance(part, Text | Media)]
    left = rest(item, _RESULT)
    left |= {"output": given} if len(carriable) < len(parts) or not isinstance(given, str | list | None) else {}
    left |= {"type": item["type"]} if item.get("type") == RESULTS[1] else {}
    call_id = string(item.get("call_id"))
    name = pairing.name(call_id)
    metadata = wire_fields(NAME, left)
    return tool_result(call_id, name, carriable, metadata)


def _unwrapped(item: dict[str, Any]) -> dict[str, Any]:
    """The item with its own id, where we lent it another (`wrapped`)."""
    if item.get("encrypted_content") == SEAL:
        return {key: value for key, value in item.items() if key != "encrypted_content"}
    found = _WRAPPED.fullmatch(string(item.get("encrypted_content")))
    return {**item, "id": found[1], "encrypted_content": found[2]} if found else item


def sealed(item: dict[str, Any], request: Request | None) -> dict[str, Any]:
    """The reasoning item with encrypted content where `request` asks for some.

    Clients that keep the conversation themselves refuse to go on without it (seen: Microsoft's Agent Framework).  A
    thought of another wire has none, and needs none: all of it stands in the summary.
    """
    asked = own(NAME, request.extra).get("include") if request is not None else ()
    wanted = item.get("type") == "reasoning" and "reasoning.encrypted_content" in items(asked)
    return {**item, "encrypted_content": SEAL} if wanted and not item.get("encrypted_content") else item


def wrapped(item: JsonObject, lent: str) -> dict[str, Any]:
    """The reasoning item under the id it was announced by in a stream.

    Encrypted reasoning is bound to its item's id, and clients demand one id from the first event to the last; so the
    true id travels in front of the encrypted text and is put back when the item returns.
    """
    encrypted = string(item.get("encrypted_content"))
    if not encrypted or item.get("id") in {None, lent}:
        return {**item, "id": lent}
    return {**item, "id": lent, "encrypted_content": f"{string(item.get('id'))}|{encrypted}"}


# ── writing ──────────────────────────────────────────────────────────────────


def write_parts(parts: Iterable[Part], kind: str = "input") -> list[dict[str, Any]]:
    """The content parts of a message or output."""
    return [wire for part in parts for wire in _write_part(part, kind)]


def _write_part(part: Part, kind: str) -> list[dict[str, Any]]:
    match part:
        case Text(text):
            left = {key: value for key, value in own(NAME, part.metadata).items() if key not in ("item", "apart")}
            if left.get("type") == "refusal":
                return [{"type": "refusal", "refusal": text}]
            return [{"type": f"{kind}_text", "text": text, **left}]
        case Media():
            return [_write_media(part)]
        case Opaque():
            return [dict(part.block)] if part.api == NAME else []
    return []


def _write_media(media: Media) -> dict[str, Any]:
    left = rest(own(NAME, media.metadata), ("plain",))
    match media_kind(media):
        case "image":
            return {"type": "input_image", "image_url": data_url(media), **left}
        case "audio" if media.data:
            word = _AUDIO_FORMAT.get(media.mime, media.mime.partition("/")[2])
            return {"type": "input_audio", "input_audio": {"data": media.data, "format": word}}
        case "file":
            named = {"filename": media.name} if media.name else {}
            return {"type": "input_file", **named, "file_url" if media.url else "file_data": data_url(media), **left}
    return {"type": "input_text", "text": note(media)}


def write_content(parts: Sequence[Part]) -> Any:
    """A content: a string where it is one plain text."""
    only = one_text(parts, NAME)
    return write_parts(parts) if only is None else only


def write_result(result: ToolResult, names: Names) -> dict[str, Any]:
    """The item that answers a call; a failure is marked in its text."""
    form, kept = names.typed(result.name), kept_item(NAME, result.metadata, result.call_id)
    if kept is not None:
        return kept
    if form is not None:
        return {"type": form.result, "call_id": result.call_id, **form.output(result)}
    kind = RESULTS[1] if names.custom(result.name) else RESULTS[0]
    output = write_content(marked(result)) if result.content or result.is_error else ""
    return {"type": kind, "call_id": result.call_id, "output": output, **own(NAME, result.metadata)}


def write_items(parts: Iterable[Part], names: Names, mint: Mint | None, *, unsigned: bool) -> Iterator[dict[str, Any]]:
    """The items of what an assistant said.

    With `mint`, they are output: every item gets an id, a status and the fields clients demand.  `unsigned` lets
    reasoning pass that this API did not write.
    """
    for run in _runs(parts, answer=mint is not None):
        part = run[0]
        match part:
            case Text():
                yield write_message(run, own(NAME, part.metadata).get("item"), mint)
            case ToolCall():
                yield write_call(part, names, mint)
            case Reasoning() if "item" in own(NAME, part.metadata):
                yield {"summary": [], **own(NAME, part.metadata)["item"]}
            case Reasoning() if unsigned:
                item = write_reasoning(part.text, mint("rs") if mint else "")
                seal = seal_of(part.metadata)
                yield {**item, "encrypted_content": seal} if seal else item
            case Opaque(api=api, block=block) if api == NAME:
                yield dict(block)


def _runs(parts: Iterable[Part], *, answer: bool) -> list[list[Part]]:
    """Texts of one message item stand together; every other part stands alone.

    In an answer a text of another wire is an item of its own, as it is in a stream, which cannot know what follows;
    but a refusal goes on with the message before it, for it says so when it begins, and a text with the refusal.
    """
    runs: list[list[Part]] = []
    for part in parts:
        if runs and _goes_on(runs[-1][-1], part, seen=not answer):
            runs[-1].append(part)
        else:
            runs.append([part])
    return runs


def is_refusal(part: Part) -> bool:
    """Is it what the model said instead of an answer?"""
    return isinstance(part, Text) and own(NAME, part.metadata).get("type") == REFUSAL


def _goes_on(before: Part, part: Part, *, seen: bool) -> bool:
    """Are both texts, and of one message?  Where what follows is not `seen`, they have to say so."""
    if not (isinstance(before, Text) and isinstance(part, Text) and _place(before) == _place(part)):
        return False
    return seen or "item" in own(NAME, part.metadata) or is_refusal(before) or is_refusal(part)


def _place(part: Text) -> JsonObject:
    return place_of(own(NAME, part.metadata))


def write_message(parts: Sequence[Part], about: Any, mint: Mint | None) -> dict[str, Any]:
    """A message item of the assistant."""
    content = write_parts(parts, "output")
    item: dict[str, Any] = {"type": "message", "role": "assistant", "content": content, **mapping(about)}
    if mint is None:
        return item
    for part in content:
        if part["type"] == "output_text":
            part.setdefault("annotations", [])
            part.setdefault("logprobs", [])
    return {"id": mint("msg"), "status": "completed", **item}


def write_reasoning(text: str, item_id: str) -> dict[str, Any]:
    """A reasoning item that says `text` and no more."""
    item: dict[str, Any] = {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}] if text else []}
    return {"id": item_id, **item} if item_id else item


def write_call(call: ToolCall, names: Names, mint: Mint | None) -> dict[str, Any]:
    """A call item."""
    form, kept = names.typed(call.name), kept_item(NAME, call.metadata, call.id)
    if kept is not None:
        return kept
    if form is not None:
        return write_typed_call(form, call, mint)
    left = dict(own(NAME, call.metadata))
    custom = left.pop("type", None) == CALLS[1] or names.custom(call.name)
    given = {"input": string(call.arguments.get("input"))} if custom else {}
    given = given or {"arguments": arguments_text(call, broken=True)}
    item = {"type": CALLS[custom], "call_id": call.id, **names.on_wire(call.name), **given}
    if mint is not None:
        item = {"id": mint("ctc" if custom else "fc"), "status": "completed", **item}
    return {**item, **left}


def write_typed_call(form: TypedItem, call: ToolCall, mint: Mint | None) -> dict[str, Any]:
    """The item of a call of a typed tool."""
    item = {"type": form.call, "status": "completed", "call_id": call.id, **form.content(call.arguments)}
    return {"id": mint(form.ids), **item} if mint is not None else item
