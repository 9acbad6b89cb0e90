"""Requests of OpenAI Responses, read and written.

Knows the request side of `POST /responses`: instructions beside the input, the input as items.  We keep no
conversations, so what refers to a stored one is refused in so many words.  Answers are in `responses.py`.
Sources: OpenAI API reference; streaming.md §2 ("State", "Namespaces"); clients.md (codex, ai-sdk); recorded requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ...conversation.grown import behind, by_growth, headless
from ...conversation.plain import known_plain
from ...errors import CodecError
from ...jsontext import as_dict
from ...memo import TOOLS, fields, memoize
from ...types import (
    JsonObject,
    Message,
    Opaque,
    OutputSchema,
    Part,
    Request,
    Sampling,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from ..shared.arguments import arguments_text
from ..shared.body import (
    a_word,
    an_array,
    an_object,
    filled,
    items,
    mapping,
    name_at,
    object_at,
    objects,
    plain,
    present,
    rest,
    string,
    string_at,
    switch_at,
)
from ..shared.options import read_options, write_options
from ..shared.requests import nearest_choice, results_joined, results_merged, with_quirks
from ..shared.results import Pairing, results_first
from ..shared.spec import PLAIN, TYPED, Quirks, TurnWriter, Unsupported, WireFields, extra_for, own, wire_fields
from ..shared.tools import Found, foreign_tools, read_once, read_tool, write_tools
from ..shared.written import EachWriter, Forms, text_and_calls, write_each
from ..typed.schemas import FREE_TEXT, free_text
from ..typed.table import apart, typed_tools
from .responses_items import (
    CALLS,
    NAME,
    RESULTS,
    Names,
    joined_name,
    read_call,
    read_message,
    read_part,
    read_reasoning,
    read_result,
    read_typed_call,
    read_typed_result,
    write_call,
    write_content,
    write_items,
    write_result,
)
from .typed_items import BY_CALL, BY_RESULT

_OPTIONS = {"max_tokens": "max_output_tokens", "temperature": "temperature", "top_p": "top_p"}
_CALLING = ("tools", "tool_choice", "parallel_tool_calls")
_MODELLED = frozenset({*_OPTIONS.values(), "reasoning", *_CALLING, "model", "input", "instructions", "text", "stream"})
_STORED = ("previous_response_id", "conversation", "background")
NOT_STORED = "conversations are not stored here; send the whole input, without `{key}`"
NO_BACKGROUND = "nothing is answered in the background here; stream the answer instead, without `{key}`"
_TOOL = frozenset({"type", "name", "description", "parameters", "strict"})
_MODES = ("auto", "none", "required")
_SCHEMA_NAME = "response"

# ── reading ──────────────────────────────────────────────────────────────────


def decode_request(body: JsonObject) -> Request:
    """The request `body` makes.  Raises `CodecError` with the path of what is not this API, `Unsupported` for a
    conversation kept at the server."""
    body = an_object(body, "$")
    for key in _STORED:
        if body.get(key):
            message = (NO_BACKGROUND if key == "background" else NOT_STORED).format(key=key)
            raise Unsupported(message, f"$.{key}", NAME, {"code": "unsupported_parameter"})
    extra = present(body, _MODELLED)
    tools, foreign = _read_tools(body)
    extra["tools"] = foreign
    choice = _read_choice(body, extra, tools)
    if choice is not None and choice.mode == "required" and foreign and not tools:
        extra["tool_choice"], choice = body["tool_choice"], None  # a demand for a tool that the server runs
    output = _read_text(body, extra)
    return Request(
        model=string_at(body, "model"),
        messages=behind(_read_input(body, _names(tools)), *_read_instructions(body)),
        tools=tools,
        tool_choice=choice,
        parallel=switch_at(body, "parallel_tool_calls"),
        sampling=_read_sampling(body, extra),
        output_schema=output,
        stream=switch_at(body, "stream") or False,
        extra=wire_fields(NAME, extra),
    )


def _read_sampling(body: JsonObject, extra: dict[str, Any]) -> Sampling:
    thinking = object_at(body, "reasoning") or {}
    others = present(thinking, frozenset({"effort"}))
    if others:
        extra["reasoning"] = others
    return replace(read_options(body, _OPTIONS), effort=string_at(thinking, "effort", "$.reasoning") or None)


def _read_text(body: JsonObject, extra: dict[str, Any]) -> OutputSchema | None:
    wanted = object_at(body, "text") or {}
    form = object_at(wanted, "format", "$.text") or {}
    others = present(wanted, frozenset({"format"}))
    output: OutputSchema | None = None
    match form.get("type"):
        case "json_object":
            output = OutputSchema()
        case "json_schema":
            name = string_at(form, "name", "$.text.format")
            output = OutputSchema(
                schema=object_at(form, "schema", "$.text.format") or {},
                name="" if name == _SCHEMA_NAME else name,
                strict=switch_at(form, "strict", "$.text.format") or False,
                description=string_at(form, "description", "$.text.format"),
            )
        case _ if form:
            others["format"] = form
    if others:
        extra["text"] = others
    return output


def _read_choice(body: JsonObject, extra: dict[str, Any], tools: Iterable[Tool]) -> ToolChoice | None:
    wanted = body.get("tool_choice")
    if wanted is None:
        return None
    if isinstance(wanted, str):
        return ToolChoice(a_word(wanted, _MODES, "$.tool_choice"))  # type: ignore[arg-type]
    choice = mapping(wanted)
    kind, name = choice.get("type"), string(choice.get("name"))
    if kind != "function" or not name:
        extra["tool_choice"] = wanted
    name = _chosen(choice, tools)
    return ToolChoice("named", name) if name else _read_allowed(choice, tools)


def _chosen(choice: JsonObject, tools: Iterable[Tool]) -> str:
    """The canonical name of the tool that a choice names, a typed one by its type; "" for none."""
    kind = choice.get("type")
    if kind in ("function", "custom"):
        return string(choice.get("name"))
    types = ((mapping(own(NAME, tool.metadata).get(TYPED)).get("type"), tool.name) for tool in tools)
    return next((name for one, name in types if kind is not None and one == kind), "")


def _read_allowed(choice: JsonObject, tools: Iterable[Tool]) -> ToolChoice:
    mode, listed = string(choice.get("mode")), [mapping(one) for one in items(choice.get("tools"))]
    names = tuple(name for one in listed if (name := _chosen(one, tools)))
    return ToolChoice(mode if mode in _MODES else "auto", allowed=names)  # type: ignore[arg-type]


@read_once("tools")
def _read_tools(body: JsonObject) -> Found:
    tools: list[Tool] = []
    places: list[Any] = []
    for path, one in objects(body, "tools"):
        match one.get("type", "function"):
            case "function":
                tools.append(_read_tool(one, path))
                places.append(None)
            case "custom":
                tools.append(_read_custom(one, path))
                places.append(None)
            case "namespace":
                tools += _read_namespace(one, path)
                places.append(one)
            case _:
                typed = typed_tools(NAME, one)
                tools += typed
                places.append(None if typed else one)  # a tool of the server: web_search …
    return apart(tools), foreign_tools(places)


def _read_tool(one: JsonObject, path: str) -> Tool:
    function = mapping(one.get("function")) if "parameters" not in one else {}
    source = {**one, **function}  # some clients nest the definition as the older API did (recorded: req_llm)
    schema = object_at(source, "parameters", path)
    implicit = switch_at(source, "strict", path) is None
    left = {**rest(one, _TOOL | {"function"}), "nested": bool(function) or None, "implicit": implicit or None}
    return read_tool(source, path, schema, wire_fields(NAME, left))


def _read_custom(one: JsonObject, path: str) -> Tool:
    """A free-form tool.  Elsewhere it is a function of one text; its grammar stands in its description."""
    description = free_text(string_at(one, "description", path), mapping(one.get("format")))
    metadata = WireFields(NAME, {"custom": one})
    return Tool(name=name_at(one, "name", path), description=description, parameters=FREE_TEXT, metadata=metadata)


def _read_namespace(one: JsonObject, path: str) -> Iterable[Tool]:
    """The functions of a namespace, each under a name that holds both (codex groups MCP tools so)."""
    namespace = name_at(one, "name", path)
    for where, function in objects(one, "tools", path):
        if function.get("type", "function") == "function":
            name = name_at(function, "name", where)
            fields = WireFields(NAME, {"namespace": namespace, "name": name})
            yield replace(_read_tool(function, where), name=joined_name(namespace, name), metadata=fields)


@memoize(fields("instructions"))
def _read_instructions(body: JsonObject) -> list[Message]:
    given = string_at(body, "instructions")
    return [Message("system", given)] if given else []


def _read_input(body: JsonObject, names: Names) -> tuple[Message, ...]:
    given = body.get("input")
    if given is None or isinstance(given, str):
        return (Message("user", given),) if given is not None else ()
    return _read_items(an_array(given, "$.input"), names)[0]


@memoize(TOOLS)
def _names(tools: tuple[Tool, ...]) -> Names:
    return Names(tools)


@by_growth
def _read_items(
    listed: Sequence[Any], start: int, known: tuple[tuple[Message, ...], _Turns] | None, names: Names
) -> tuple[tuple[Message, ...], _Turns]:
    if known is not None and known[1].is_open:
        return _read_items((*listed,), names)
    before, turns = ((), _Turns(names)) if known is None else (known[0], known[1].going_on())
    for at, item in enumerate(listed[start:], start):
        turns.take(an_object(item, f"$.input[{at}]"), f"$.input[{at}]")
    return results_joined(before, turns.messages(), listed), turns


NO_ITEM = "this is no item: it has neither role nor type; give a message its role, and others their type"


class _Turns:
    """Items → messages: what the assistant did between two turns of others is one message."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._pairing = Pairing()
        self._messages: list[Message] = []
        self._answer: list[Part] = []
        self.is_open = False  # may what follows belong to the last of the `messages`?

    def going_on(self) -> _Turns:
        """Takes what follows, knowing what was called before."""
        turns = _Turns(self._names)
        turns._pairing = self._pairing.copy()
        return turns

    def take(self, item: JsonObject, path: str) -> None:
        """The next item."""
        kind = item.get("type") or ("message" if "role" in item else "")
        if kind == "message" and item.get("role") != "assistant":
            self._add(self._read_turn(item, path))
        elif kind in RESULTS:
            self._close()
            self._add(Message("tool", (read_result(item, self._pairing),)))
        elif string(kind) in BY_RESULT and (result := self._typed_result(item)) is not None:
            self._add(Message("tool", (result,)))
        else:
            self._answer += self._read_answer(item, kind, path)

    def _typed_result(self, item: JsonObject) -> ToolResult | None:
        self._close()
        return read_typed_result(item, self._pairing)

    def _read_answer(self, item: JsonObject, kind: Any, path: str) -> Sequence[Part]:
        if kind == "message":
            follows = bool(self._answer) and isinstance(self._answer[-1], Text)
            return read_message(item, len(self._answer) if follows else None)
        if kind == "reasoning":
            return [read_reasoning(item)]
        if kind in CALLS:
            name_at(item, "name", path)
            return [read_call(item, self._names)]
        if string(kind) in BY_CALL:
            return [read_typed_call(item, self._names)]
        if not (kind or "id" in item):  # an id alone refers to an item
            raise CodecError(NO_ITEM, path, NAME)
        return [Opaque(api=NAME, block=item)]

    def messages(self) -> tuple[Message, ...]:
        """All messages, neighbouring results as one."""
        self.is_open = bool(self._answer)
        self._close()
        return results_merged(self._messages)

    def _read_turn(self, item: JsonObject, path: str) -> Message:
        role, content = name_at(item, "role", path), item.get("content")
        if isinstance(content, str) or content is None:
            parts: list[Part] = [Text(content)] if content is not None else []
        else:
            parts = [read_part(one) for _, one in objects(item, "content", path)]
        left = rest(item, frozenset({"type", "role", "content", "status"}))
        if role in ("system", "developer"):
            return Message("system", parts, metadata=wire_fields(NAME, {**left, "role": role}))
        return Message("user", parts, metadata=wire_fields(NAME, left))

    def _add(self, message: Message) -> None:
        self._close()
        self._messages.append(message)

    def _close(self) -> None:
        if self._answer:
            if len(self._answer) > 1:
                self._answer = [part for part in self._answer if part != Text("")]  # an empty message beside calls
            calls = [part for part in self._answer if isinstance(part, ToolCall)]
            self._pairing.begin_turn(calls)
            self._messages.append(Message("assistant", self._answer))
            self._answer = []


# ── writing ──────────────────────────────────────────────────────────────────


def encode_request(request: Request, quirks: Quirks = PLAIN) -> dict[str, Any]:
    """The body that makes `request`."""
    extra = dict(extra_for(NAME, request.extra))
    names = Names.of(request)
    instructions, turns = _split_instructions(request.messages)
    body = filled(model=request.model, instructions=instructions)
    body["input"] = write_each(turns, _write_message, names, quirks, forms=PlainForms)
    foreign = extra.pop("tools", None)
    choice = nearest_choice(request.tool_choice, quirks)
    body |= filled(
        tools=write_tools(_ungrouped(request.tools, foreign), write_tool, foreign),
        tool_choice=_write_choice(choice, names, quirks) if choice is not None else None,
    )
    if request.parallel is not None:
        body["parallel_tool_calls"] = request.parallel
    body |= _write_sampling(request.sampling, extra.pop("reasoning", None))
    form = {**mapping(extra.pop("text", None)), **_write_output(request.output_schema)}
    body |= filled(text=form, stream=request.stream)
    return with_quirks(body, extra, quirks)


def turn_writer(request: Request, quirks: Quirks) -> TurnWriter:
    """What writes the input of a body."""
    names = Names.of(request)
    return EachWriter("input", PlainForms(names, quirks), beside=_instructs)


def _ungrouped(tools: tuple[Tool, ...], foreign: Any) -> tuple[Tool, ...]:
    """The tools that stand in no namespace among `foreign`."""
    spaces = {mapping(one).get("name") for one in items(foreign) if mapping(one).get("type") == "namespace"}
    if not spaces:
        return tools
    return tuple(tool for tool in tools if own(NAME, tool.metadata).get("namespace", ...) not in spaces)


def _write_choice(choice: ToolChoice, names: Names, quirks: Quirks) -> Any:
    if choice.mode == "named":
        return {"type": "function", **names.on_wire(choice.name)}
    return quirks.required_word if choice.mode == "required" else choice.mode


def _split_instructions(messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    """The instructions, where the conversation begins with plain ones, and the other messages."""
    if not _instructs(messages):
        return "", messages
    turns = headless(messages, 1)
    known_plain(turns, messages)
    return messages[0].text, turns


def _instructs(messages: Sequence[Message]) -> bool:
    """Does the conversation begin with plain instructions, one text?"""
    first = messages[0] if messages else None
    if first is None or first.role != "system" or own(NAME, first.metadata) or not first.text:
        return False
    return len(first.parts) == 1 and isinstance(first.parts[0], Text)


def _write_message(message: Message, names: Names, quirks: Quirks) -> list[dict[str, Any]]:
    results, other = results_first(message)
    wires = [write_result(result, names) for result in results]
    if other is None:
        return wires
    if other.role == "assistant":
        unsigned = quirks.unsigned_reasoning == "send"
        return [*wires, *write_items(other.parts, names, None, unsigned=unsigned)]
    left = dict(own(NAME, other.metadata))
    role = left.pop("role", quirks.system_role if other.role == "system" else "user")
    return [*wires, {"role": role, "content": write_content(other.parts), **left}]


class PlainForms(Forms):
    """How this wire has the messages of a plain conversation: calls stand for themselves."""

    def __init__(self, names: Names, quirks: Quirks) -> None:
        self._names, self._quirks, self._roles = names, quirks, {"system": quirks.system_role}

    def things(self, messages: Sequence[Message], *, single: bool) -> Sequence[Any]:
        """Messages of one text, results, calls and the texts before them; what any other is, already."""
        things: list[Any] = []
        for message in messages:
            parts = message.parts
            if len(parts) == 1:
                things.append(message)
            elif message.role == "tool" or text_and_calls(parts) is not None:
                things += parts
            else:
                things += _write_message(message, self._names, self._quirks)
        return things

    def form(self, thing: Any) -> Any:
        """A message of one part, or a part."""
        role, part = "assistant", thing
        if type(thing) is Message:
            role, part = thing.role, thing.parts[0]
        kind = type(part)
        if kind is Text and role == "assistant":
            return {"type": "message", "role": role, "content": [{"type": "output_text", "text": part.text}]}
        if kind is Text:
            return {"role": self._roles.get(role, role), "content": part.text}
        if kind is ToolResult:
            return self._result(part)
        return self._call(part) if kind is ToolCall else as_dict(part)

    def _result(self, result: ToolResult) -> dict[str, Any]:
        """A result, which holds texts alone."""
        content = result.content
        if result.is_error or len(content) != 1 or self._names.special(result.name):
            return write_result(result, self._names)
        output: str = content[0].text  # type: ignore[union-attr]
        return {"type": RESULTS[0], "call_id": result.call_id, "output": output}

    def _call(self, call: ToolCall) -> dict[str, Any]:
        if self._names.special(call.name):
            return write_call(call, self._names, None)
        written = arguments_text(call, broken=True)  # OpenAI takes them back (recorded)
        return {"type": CALLS[0], "call_id": call.id, "name": call.name, "arguments": written}


def write_tool(tool: Tool) -> dict[str, Any]:
    """The definition of a tool."""
    left = dict(own(NAME, tool.metadata))
    if TYPED in left:
        return dict(left[TYPED])
    if "custom" in left:
        return dict(left["custom"])
    nested, implicit = left.pop("nested", False), left.pop("implicit", False)
    if "namespace" in left:
        left = {}
    function: dict[str, Any] = {"name": tool.name}
    if tool.description:
        function["description"] = tool.description
    function["parameters"] = plain(tool.parameters)
    if not implicit:
        function["strict"] = tool.strict
    if nested:
        return {"type": "function", "name": tool.name, "function": function, **left}
    return {"type": "function", **function, **left}


def _write_sampling(sampling: Sampling, thinking: Any) -> dict[str, Any]:
    reasoning = {**mapping(thinking), **({"effort": sampling.effort} if sampling.effort else {})}
    return {**write_options(sampling, _OPTIONS), **({"reasoning": reasoning} if reasoning else {})}


def _write_output(output: OutputSchema | None) -> dict[str, Any]:
    if output is None:
        return {}
    if output.schema is None:
        return {"format": {"type": "json_object"}}
    form = {"type": "json_schema", "name": output.name or _SCHEMA_NAME, "schema": plain(output.schema)}
    return {"format": form | filled(description=output.description, strict=output.strict)}
