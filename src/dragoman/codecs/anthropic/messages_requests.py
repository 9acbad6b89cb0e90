"""Requests of Anthropic Messages, read and written.

Knows the request side of `POST /v1/messages` (and of `count_tokens`, the same body); the answer side is
`messages.py`.  Results stand in the user turn that follows the calls, first in it; instructions stand beside
the messages; markers for the prompt cache stand on blocks, four at most.
Sources: Anthropic API reference; seeds.md C6, C10; streaming.md §3 (message threads); recorded requests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...conversation.cache_markers import CacheMode, without_markers
from ...conversation.grown import Grown, behind, by_growth, grown
from ...errors import CodecError
from ...memo import JSON_MESSAGES, TOOLS, FrozenTools, fields, memoize
from ...types import (
    EMPTY_OBJECT_SCHEMA,
    JsonObject,
    Message,
    OutputSchema,
    Request,
    Sampling,
    Tool,
    ToolCall,
    ToolChoice,
)
from ..shared.body import (
    a_word,
    an_object,
    filled,
    items,
    list_at,
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
    whole_at,
)
from ..shared.options import read_options, write_options
from ..shared.requests import instructions, nearest_choice, split_system, with_quirks
from ..shared.results import Pairing
from ..shared.spec import PLAIN, Quirks, Unsupported, WireFields, extra_for, own, wire_fields
from ..shared.tools import Found, definition, foreign_tools, interleaved, read_once, read_tool
from ..shared.written import Pieces, written_once
from ..typed.table import apart, typed_tools, written
from .messages_blocks import MARKER, NAME, read_blocks, write_message
from .messages_turns import Wires, cap_markers, pieces_with_markers, plain_wires, write_turns
from .toolsets import canonical_calls

DEFAULT_MAX_TOKENS = 2**13 - 1
"""The API demands a limit.  This one says that nobody gave one: a number nobody gives."""
BETAS = "betas"
"""The features a client asks for in a header, which stands in no body of this wire; whoever sends it reads it there."""
MAX_MARKERS = 4
"""More cache markers are refused (seeds C6)."""

_OPTIONS = {
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "stop": "stop_sequences",
}
_OTHERS = ("model", "messages", "system", "tools", "tool_choice", "stream", "output_config", "thinking")
_MODELLED = frozenset({*_OPTIONS.values(), *_OTHERS})
_MODES = {"auto": "auto", "any": "required", "none": "none", "tool": "named"}
_MODE_WORDS = {mode: word for word, mode in _MODES.items()}
_DECIDES = -1
"""The budget of `adaptive`."""
_SWITCH = frozenset({"type", "budget_tokens"})
_NO_THREADS: JsonObject = {"error_code": "thread_unsupported_request", "unsupported": ["message_threads"]}

# ── reading ──────────────────────────────────────────────────────────────────


def decode_request(body: JsonObject) -> Request:
    """The request `body` makes.  Raises `CodecError` with the path of what is not this API.

    Raises `Unsupported` for message threads: its error makes the official clients send the whole history instead.
    """
    body = an_object(body, "$")
    if body.get("thread") is not None:
        message = "message threads are not served here; send the whole history, without `thread`"
        raise Unsupported(message, "$.thread", NAME, _NO_THREADS)
    extra = present(body, _MODELLED)
    tools, foreign = _read_tools(body)
    extra["tools"] = foreign
    choice, parallel = _read_choice(body)
    if choice is not None and not _is_ours(choice, tools, foreign):
        extra["tool_choice"], choice = body["tool_choice"], None  # a demand for a tool that the server runs
    effort, output, config = _read_output(body)
    if config:
        extra["output_config"] = config
    budget, left = _read_thinking(body)
    if left:
        extra["thinking"] = left
    return Request(
        model=string_at(body, "model"),
        messages=canonical_calls(behind(_read_messages(body), *_read_system(body)), tools),
        tools=tools,
        tool_choice=choice,
        parallel=parallel,
        sampling=_read_sampling(body, effort, budget),
        output_schema=output,
        stream=switch_at(body, "stream") or False,
        extra=WireFields(NAME, present(extra)),  # also where it is empty: here an effort alone turns no thinking on
    )


def _read_sampling(body: JsonObject, effort: str | None, budget: int | None) -> Sampling:
    sampling = read_options(body, _OPTIONS)
    limit = None if sampling.max_tokens == DEFAULT_MAX_TOKENS else sampling.max_tokens
    return replace(sampling, max_tokens=limit, effort=effort, thinking_budget=budget)


def _read_thinking(body: JsonObject) -> tuple[int | None, JsonObject]:
    """The budget that `thinking` says, -1 where the model decides, and what else is there."""
    given = object_at(body, "thinking") or {}
    left = rest(given, _SWITCH)
    match given.get("type"):
        case "adaptive":
            return _DECIDES, left
        case "disabled":
            return 0, left
        case "enabled" if (budget := whole_at(given, "budget_tokens", "$.thinking")) is not None and budget > 0:
            return budget, left
    return None, given


def _read_output(body: JsonObject) -> tuple[str | None, OutputSchema | None, dict[str, Any]]:
    """The effort and schema in `output_config`, and what else is there."""
    config = object_at(body, "output_config") or {}
    form = object_at(config, "format", "$.output_config")
    left = rest(config, frozenset({"effort", "format"}))
    effort = string_at(config, "effort", "$.output_config") or None
    if form is None or form.get("type") != "json_schema":
        return effort, None, {**left, **({"format": form} if form else {})}
    return effort, OutputSchema(schema=object_at(form, "schema", "$.output_config.format") or {}), left


def _read_choice(body: JsonObject) -> tuple[ToolChoice | None, bool | None]:
    wanted = object_at(body, "tool_choice")
    if wanted is None:
        return None, None
    serial = switch_at(wanted, "disable_parallel_tool_use", "$.tool_choice")
    parallel = None if serial is None else not serial
    mode = _MODES[a_word(string_at(wanted, "type", "$.tool_choice", "auto"), _MODES, "$.tool_choice.type")]
    if mode == "auto" and parallel is not None:
        return None, parallel  # the switch has no other place to stand; "auto" is the default
    name = name_at(wanted, "name", "$.tool_choice") if mode == "named" else ""
    return ToolChoice(mode, name), parallel  # type: ignore[arg-type]


def _is_ours(choice: ToolChoice, tools: Sequence[Tool], foreign: Any) -> bool:
    """Can the client's own tools meet this choice?"""
    if choice.mode == "named":
        served = {mapping(one).get("name") for one in items(foreign)}
        return choice.name not in served or any(tool.name == choice.name for tool in tools)
    return choice.mode != "required" or bool(tools) or not foreign


@read_once("tools")
def _read_tools(body: JsonObject) -> Found:
    tools: list[Tool] = []
    places: list[Any] = []
    for path, one in objects(body, "tools"):
        ordinary = one.get("type") in (None, "custom")
        found = (_read_tool(one, path),) if ordinary else typed_tools(NAME, one)
        tools += found
        places += [None] * len(found) or [one]  # a tool of the server: web_search_20250305 …
    return apart(tools), foreign_tools(places)


def _read_tool(one: JsonObject, path: str) -> Tool:
    left = rest(one, ("name", "description", "input_schema", "strict"))
    return read_tool(one, path, object_at(one, "input_schema", path), wire_fields(NAME, left))


@memoize(fields("system"))
def _read_system(body: JsonObject) -> list[Message]:
    system = body.get("system")
    if not system and isinstance(system, str | list | None):
        return []
    parts, cached = read_blocks(system, "$.system", Pairing())
    return [Message("system", parts, cache=cached)]


def _read_messages(body: JsonObject) -> tuple[Message, ...]:
    return _read_all(list_at(body, "messages"))[0]


@by_growth
def _read_all(
    listed: Sequence[Any], start: int, known: tuple[tuple[Message, ...], Pairing] | None
) -> tuple[tuple[Message, ...], Pairing]:
    before, pairing = ((), Pairing()) if known is None else (known[0], known[1].copy())
    ones = [(an_object(one, f"$.messages[{at}]"), f"$.messages[{at}]") for at, one in enumerate(listed[start:], start)]
    made = tuple([message for one, path in ones for message in _read_again(one, path, pairing)])
    return grown(before or None, made) if type(listed) is Grown else made, pairing


def _read_again(one: JsonObject, path: str, pairing: Pairing) -> Sequence[Message]:
    """`_read_message`, by what it knows already: agents send the same messages again and again."""
    called = [string(mapping(block).get("tool_use_id")) for block in items(one.get("content"))]
    names = tuple((call_id, name) for call_id in called if (name := pairing.name(call_id)))
    try:
        messages = _read_alone(one, names)
    except CodecError:
        return _read_message(one, path, pairing)  # which says where
    if one.get("role") == "assistant":
        pairing.begin_turn(messages[0].calls)
    return messages


@memoize(JSON_MESSAGES)
def _read_alone(one: JsonObject, names: Sequence[tuple[str, str]]) -> tuple[Message, ...]:
    """A message that stands for itself, but for the `names` of the calls that its results answer, by their ids."""
    pairing = Pairing()
    pairing.begin_turn(ToolCall(id=call_id, name=name) for call_id, name in names)
    return tuple(_read_message(one, "$", pairing))


def _read_message(one: JsonObject, path: str, pairing: Pairing) -> list[Message]:
    role, content = name_at(one, "role", path), one.get("content")
    left = rest(one, ("role", "content"))
    if role not in ("assistant", "system"):
        return _read_turn(content, f"{path}.content", pairing, wire_fields(NAME, left))
    parts, cached = read_blocks(content, f"{path}.content", pairing)
    if role == "system":  # among the messages, not beside them: it goes back where it stood
        return [Message("system", parts, cache=cached, metadata=wire_fields(NAME, {**left, "role": "system"}))]
    pairing.begin_turn(part for part in parts if isinstance(part, ToolCall))
    return [Message("assistant", parts, cache=cached, metadata=wire_fields(NAME, left))]


def _read_turn(content: Any, path: str, pairing: Pairing, left: JsonObject) -> list[Message]:
    """A turn of the user: the results in it stand alone, before everything else."""
    blocks = content if isinstance(content, list | tuple) else []
    results = [block for block in blocks if mapping(block).get("type") == "tool_result"]
    others = [block for block in blocks if mapping(block).get("type") != "tool_result"] if results else content
    messages: list[Message] = []
    if results:
        parts, cached = read_blocks(results, path, pairing)
        messages.append(Message("tool", parts, cache=cached))
    if others or not results:
        parts, cached = read_blocks(others, path, pairing)
        messages.append(Message("user", parts, cache=cached, metadata=left))
    return messages


# ── writing ──────────────────────────────────────────────────────────────────


def encode_request(request: Request, quirks: Quirks = PLAIN) -> dict[str, Any]:
    """The body that makes `request`."""
    extra = dict(extra_for(NAME, request.extra))
    extra.pop(BETAS, None)
    said, marked = without_markers(request.messages)
    head, turns = split_system(said, _stands_among)
    system = [block for message in request.messages[: len(head)] for block in write_message(message, quirks)]
    places = [at - len(head) for at in marked if at >= len(head)]
    tools = _write_tools(request.tools, extra.pop("tools", None), quirks.cache)
    limit = 0 if quirks.cache == "never" else MAX_MARKERS - bool(extra.get("cache_control"))
    limit -= sum(["cache_control" in tool for tool in tools]) if limit else 0
    if quirks.cache == "always":
        for block in system[-1:]:
            block.setdefault("cache_control", dict(MARKER))
    messages = write_turns(turns, places, system, quirks, limit)
    simple = len(system) == 1 and set(system[0]) == {"type", "text"}
    body = filled(model=request.model, system=system[0]["text"] if simple else system)
    body["messages"] = messages
    choice = _write_choice(nearest_choice(request.tool_choice, quirks), request.parallel)
    body |= filled(tools=tools, tool_choice=choice)
    body |= {"max_tokens": DEFAULT_MAX_TOKENS, **write_options(request.sampling, _OPTIONS)}
    body |= filled(
        thinking=_write_thinking(request.sampling.thinking_budget, mapping(extra.pop("thinking", None))),
        output_config=_write_output(request, extra.pop("output_config", None)),
        stream=request.stream,
    )
    return with_quirks(body, extra, quirks)


class TurnsWriter:
    """Writes the messages of a plain conversation (`TurnWriter`): markers are put into what is written already."""

    field, filled = "messages", True

    def __init__(self, request: Request, quirks: Quirks) -> None:
        extra = extra_for(NAME, request.extra)
        self._cache = quirks.cache
        self._beside = bool(request.tools or extra.get("tools")) + bool(extra.get("cache_control"))

    def beside(self, messages: Sequence[Message]) -> int:
        """The instructions in front."""
        return instructions(messages, _stands_among)

    def more(self, known: Wires | None, turns: Sequence[Message], start: int, *, single: bool) -> Wires:
        """The messages of all."""
        return plain_wires(turns, start, known)

    def pieces(self, known: Wires, size: int, head: int, marks: Sequence[int]) -> Pieces | None:
        """Their JSON; None where there are too many markers, and those of the instructions go first."""
        places = [at for at in marks if at >= head]
        in_head = {*marks[: len(marks) - len(places)], *([head - 1] if head and self._cache == "always" else ())}
        if self._cache == "never" or len(places) + len(in_head) + self._beside > MAX_MARKERS:
            return None
        return pieces_with_markers(known, places, size)


def _write_tools(tools: tuple[Tool, ...], foreign: Any, mode: CacheMode) -> list[Any]:
    if foreign is None:
        return _written_once(tools, mode)
    listed = interleaved(written(NAME, tools, write_tool), foreign)
    return _marked([dict(one) if isinstance(one, Mapping) else one for one in listed], mode)  # theirs stay unmarked


def _write_thinking(budget: int | None, left: JsonObject) -> dict[str, Any]:
    """The budget; where nobody asked for one, what was said in this API's own words."""
    if budget is None:
        return dict(left) if "type" in left else {}
    if budget > 0:
        return {"type": "enabled", "budget_tokens": budget, **rest(left, _SWITCH)}
    return {"type": "adaptive" if budget else "disabled", **rest(left, _SWITCH)}


def _write_output(request: Request, left: Any) -> dict[str, Any]:
    config = dict(mapping(left))
    if request.sampling.effort:
        config["effort"] = request.sampling.effort
    if request.output_schema is not None and request.output_schema.schema is not None:
        config["format"] = {"type": "json_schema", "schema": plain(request.output_schema.schema)}
    return config


def _write_choice(choice: ToolChoice | None, parallel: bool | None) -> dict[str, Any]:
    if choice is None and parallel is None:
        return {}
    choice = choice or ToolChoice("auto")
    wire: dict[str, Any] = {"type": _MODE_WORDS[choice.mode]}
    if choice.mode == "named":
        wire["name"] = choice.name
    if parallel is not None and choice.mode != "none":
        wire["disable_parallel_tool_use"] = not parallel
    return wire


def write_tool(tool: Tool) -> dict[str, Any]:
    """The definition of a tool."""
    schema = plain(tool.parameters or EMPTY_OBJECT_SCHEMA)
    return {**definition(tool, "input_schema", schema), **own(NAME, tool.metadata)}


def _stands_among(message: Message) -> bool:
    return own(NAME, message.metadata).get("role") == "system"


# ── cache markers ────────────────────────────────────────────────────────────


@memoize(TOOLS)
def _written_once(tools: tuple[Tool, ...], mode: CacheMode) -> list[Any]:
    listed = _marked(list(written(NAME, tools, write_tool)), mode)
    return written_once(listed) if type(tools) is FrozenTools else listed


def _marked(tools: list[Any], mode: CacheMode) -> list[Any]:
    """The tools with one marker at most, which is set here where markers are always."""
    if mode == "always":
        for block in tools[-1:]:
            block.setdefault("cache_control", dict(MARKER))
    cap_markers(tools, 0 if mode == "never" else 1)
    return tools
