"""Requests of Gemini's generateContent, read and written.

Knows the request side of `POST /models/{model}:generateContent`; the model's name and whether to stream stand in the
path, not in the body.  Keys are read in camel and in snake case: official clients send both.  What was said is in
`generate_contents.py`, answers in `generate.py`.
Sources: Gemini API reference; streaming.md §5; wire-quirks.md ("Gemini"); recorded requests.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ...conversation.grown import behind
from ...memo import TOOLS, FrozenTools, memoize
from ...schema.validation import standard
from ...types import (
    EMPTY_OBJECT_SCHEMA,
    JsonObject,
    OutputSchema,
    Request,
    Sampling,
    Tool,
    ToolChoice,
)
from ..shared.body import (
    a_word,
    an_object,
    filled,
    mapping,
    object_at,
    objects,
    plain,
    present,
    rest,
    string,
    string_at,
    strings_at,
    whole_at,
)
from ..shared.options import read_options, write_options
from ..shared.requests import nearest_choice, split_system, with_quirks
from ..shared.spec import PLAIN, TOOLSET, TYPED, Quirks, WireFields, extra_for, own, wire_fields
from ..shared.tools import Found, foreign_tools, interleaved, read_once, read_tool
from ..shared.written import written_once
from ..typed.table import apart, typed_tools, written
from .generate_contents import NAME, camel, read_contents, read_system, write_parts, write_turns

_MODELLED = frozenset({"contents", "systemInstruction", "tools", "toolConfig", "generationConfig"})
_OPTIONS = {
    "temperature": "temperature",
    "top_p": "topP",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
    "max_tokens": "maxOutputTokens",
    "top_k": "topK",
    "seed": "seed",
    "stop": "stopSequences",
}
_SCHEMAS = ("responseJsonSchema", "responseSchema")
_JSON, _WORD = "application/json", "text/x.enum"
_CONFIG = frozenset({*_OPTIONS.values(), *_SCHEMAS, "responseMimeType"})
_PARAMETERS = ("parametersJsonSchema", "parameters")
_MODES = {"AUTO": "auto", "NONE": "none", "ANY": "required"}
_MODE_WORDS = {mode: word for word, mode in _MODES.items()}
_WORDS = (*_MODES, "VALIDATED", "MODE_UNSPECIFIED")
_COMPUTER = "computerUse"


# ── reading ──────────────────────────────────────────────────────────────────


def decode_request(body: JsonObject) -> Request:
    """The request `body` makes, without the model and the streaming, which stand in the path.

    Raises `CodecError` with the path of what is not this API.
    """
    body = camel(an_object(body, "$"))
    extra = present(body, _MODELLED)
    config = camel(object_at(body, "generationConfig") or {})
    tools, foreign = _read_tools(body)
    extra["tools"] = foreign
    choice = _read_choice(body, extra)
    return Request(
        model="",
        messages=behind(read_contents(body), *read_system(body)),
        tools=tools,
        tool_choice=choice,
        sampling=_read_sampling(config, extra),
        output_schema=_read_output(config, extra),
        extra=WireFields(NAME, present(extra)),  # also where it is empty: here nobody is shown thoughts unasked
    )


def _read_sampling(config: JsonObject, extra: dict[str, Any]) -> Sampling:
    path = "$.generationConfig"
    thinking = camel(object_at(config, "thinkingConfig", path) or {})
    level = string_at(thinking, "thinkingLevel", f"{path}.thinkingConfig")
    budget = whole_at(thinking, "thinkingBudget", f"{path}.thinkingConfig")
    left = present(config, _CONFIG)
    others = rest(thinking, frozenset({"thinkingLevel", "thinkingBudget"}))
    left |= {"thinkingConfig": others} if others else {}
    if thinking and not others:
        left.pop("thinkingConfig", None)
    if left:
        extra["generationConfig"] = left
    return replace(read_options(config, _OPTIONS, path), effort=level.lower() or None, thinking_budget=budget)


def _read_output(config: JsonObject, extra: dict[str, Any]) -> OutputSchema | None:
    given = [key for key in _SCHEMAS if config.get(key) is not None]
    mime = string_at(config, "responseMimeType", "$.generationConfig")
    if mime == _WORD and given:
        named = an_object(config[given[0]], f"$.generationConfig.{given[0]}")
        return OutputSchema(schema=_json_schema(named), bare=True)
    if mime != _JSON:  # a schema that goes with no form: only this API has it
        kept = {**mapping(extra.get("generationConfig")), **{key: config[key] for key in given}}
        kept |= {"responseMimeType": mime} if mime else {}
        if kept:
            extra["generationConfig"] = kept
        return None
    if not given:
        return OutputSchema()
    schema = an_object(config[given[0]], f"$.generationConfig.{given[0]}")
    return OutputSchema(schema=schema if given[0] == _SCHEMAS[0] else _json_schema(schema))


def _json_schema(schema: JsonObject) -> JsonObject:
    """An OpenAPI schema, whose types are in capitals, as JSON Schema."""
    read: JsonObject = standard(schema)
    return read


def _read_choice(body: JsonObject, extra: dict[str, Any]) -> ToolChoice | None:
    config = camel(object_at(body, "toolConfig") or {})
    calling = camel(object_at(config, "functionCallingConfig", "$.toolConfig") or {})
    others = rest(config, ("functionCallingConfig",))
    mode = string_at(calling, "mode", "$.toolConfig.functionCallingConfig").upper()
    if mode:
        a_word(mode, _WORDS, "$.toolConfig.functionCallingConfig.mode")
    names = strings_at(calling, "allowedFunctionNames", "$.toolConfig.functionCallingConfig")
    named = len(names) == 1 and mode == "ANY"
    if others or not (named or _is_plain(calling)):
        extra["toolConfig"] = {**others, **filled(functionCallingConfig=calling)}
    if named:
        return ToolChoice("named", names[0])
    return ToolChoice(_MODES.get(mode, "auto"), allowed=names) if mode else None  # type: ignore[arg-type]


def _is_plain(calling: JsonObject) -> bool:
    """Does a choice say no more than ours can?"""
    return not calling or (string(calling.get("mode")).upper() in _MODES and not calling.get("allowedFunctionNames"))


@read_once("tools")
def _read_tools(body: JsonObject) -> Found:
    tools: list[Tool] = []
    places: list[Any] = []
    for path, entry in objects(body, "tools"):
        one = camel(entry)
        if _COMPUTER in one:
            tools += typed_tools(NAME, {_COMPUTER: camel(mapping(one.pop(_COMPUTER)))})
            entry = one
        if one.get("functionDeclarations") is None:
            places += [entry] if entry else []  # a tool of the server: googleSearch …
            continue
        tools += [_read_tool(camel(given), where) for where, given in objects(one, "functionDeclarations", path)]
        others = rest(one, frozenset({"functionDeclarations"}))
        places += [None, others] if others else [None]
    return apart(tools), foreign_tools(places)


def _read_tool(one: JsonObject, path: str) -> Tool:
    key = next((key for key in _PARAMETERS if one.get(key) is not None), "")
    schema = an_object(one[key], f"{path}.{key}") if key else EMPTY_OBJECT_SCHEMA
    left = {**rest(one, frozenset({"name", "description", *_PARAMETERS}))}
    if key == "parameters":  # OpenAPI's dialect goes back as it came
        left["parameters"], schema = schema, _json_schema(schema)
    elif key and not mapping(schema.get("properties")):
        left["parametersJsonSchema"] = schema
    return read_tool(one, path, schema, wire_fields(NAME, left), strict=False)


# ── writing ──────────────────────────────────────────────────────────────────


def encode_request(request: Request, quirks: Quirks = PLAIN) -> dict[str, Any]:
    """The body that makes `request`; its model and streaming belong into the path."""
    extra = dict(extra_for(NAME, request.extra))
    head, _ = split_system(request.messages)
    body: dict[str, Any] = {}
    if head:
        body["systemInstruction"] = {"parts": [part for message in head for part in write_parts(message.parts)]}
    body["contents"] = write_turns(request, quirks)
    body |= filled(tools=_write_tools(request.tools, extra.pop("tools", None)))
    choice = nearest_choice(request.tool_choice, quirks)
    if choice is not None:
        given, calling = mapping(extra.get("toolConfig")), "functionCallingConfig"
        into = extra if "toolConfig" in extra else body
        into["toolConfig"] = {**given, calling: given.get(calling, _write_choice(choice))}
    config = _write_config(request, mapping(extra.pop("generationConfig", None)))
    return with_quirks(body | filled(generationConfig=config), extra, quirks)


def _write_tools(tools: tuple[Tool, ...], foreign: Any) -> list[Any]:
    return _written_once(tools) if foreign is None else interleaved(_declared(tools), foreign)


@memoize(TOOLS)
def _written_once(tools: tuple[Tool, ...]) -> list[Any]:
    listed = _declared(tools)
    return written_once(listed) if type(tools) is FrozenTools and listed else listed


def _declared(tools: Iterable[Tool]) -> list[dict[str, Any]]:
    """The declarations of `tools`: functions as one entry, tools of this API's own as theirs."""
    listed = list(tools)
    own_ones = [tool for tool in listed if TYPED in own(NAME, tool.metadata) or TOOLSET in own(NAME, tool.metadata)]
    functions = [write_tool(tool) for tool in listed if tool not in own_ones]
    return [*([{"functionDeclarations": functions}] if functions else []), *written(NAME, own_ones, write_tool)]


def _write_config(request: Request, left: JsonObject) -> dict[str, Any]:
    config, output = write_options(request.sampling, _OPTIONS), request.output_schema
    if output is not None and output.bare:
        config |= {"responseMimeType": _WORD, "responseSchema": {**plain(output.schema or {}), "type": "STRING"}}
    elif output is not None:
        config["responseMimeType"] = _JSON
        config |= {} if output.schema is None else {"responseJsonSchema": plain(output.schema)}
    config |= left
    if thinking := _write_thinking(request.sampling):
        config["thinkingConfig"] = {**mapping(config.get("thinkingConfig")), **thinking}
    return config


def _write_thinking(sampling: Sampling) -> dict[str, Any]:
    """The level and the budget; the API has no level for none, and says it by a budget of nothing."""
    budget = 0 if sampling.effort == "none" else sampling.thinking_budget
    level = {"thinkingLevel": sampling.effort.upper()} if sampling.effort not in (None, "none") else {}
    return level | ({"thinkingBudget": budget} if budget is not None else {})


def _write_choice(choice: ToolChoice) -> dict[str, Any]:
    if choice.mode == "named":
        return {"mode": "ANY", "allowedFunctionNames": [choice.name]}
    return {"mode": _MODE_WORDS[choice.mode]}


def write_tool(tool: Tool) -> dict[str, Any]:
    """The declaration of a tool; one without parameters has none to declare."""
    left = own(NAME, tool.metadata)
    wire: dict[str, Any] = {"name": tool.name}
    if tool.description:
        wire["description"] = tool.description
    if mapping(tool.parameters.get("properties")) and not any(key in left for key in _PARAMETERS):
        wire["parametersJsonSchema"] = plain(tool.parameters)
    return {**wire, **left}
