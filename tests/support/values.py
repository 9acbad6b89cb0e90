"""Canonical values for the laws, as hypothesis strategies, by what each wire can say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from dragoman.codecs.shared.spec import WireFields
from dragoman.types import (
    NOTHING,
    JsonObject,
    Media,
    Message,
    OutputSchema,
    Part,
    Reasoning,
    Request,
    Response,
    Sampling,
    Stop,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Usage,
)

EVERY_OPTION = frozenset(Sampling.__slots__)
PENALTIES = frozenset({"presence_penalty", "frequency_penalty"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """What a wire can tell exactly.

    stops         why an answer stopped
    in_order      one reasoning, one text, then the calls;  adjoining: neighbouring texts become one
    has_id, has_model   of an answer;  in_path: model and streaming of a request stand in the path
    options       sampling;  outputs: "none", "schema", "object" (any JSON), "named" (a schema's name and description)
    choices       tool choices;  parallel, strict, cache: the switches it has
    images        "linked" beside base64, "last" after one text;  result_media: media of results stay in them
    signed        what past reasoning must bear to be taken back
    """

    stops: tuple[Stop, ...]
    in_order: bool = False
    adjoining: bool = False
    has_id: bool = True
    has_model: bool = True
    in_path: bool = False
    options: frozenset[str] = EVERY_OPTION - {"thinking_budget"}
    outputs: frozenset[str] = frozenset({"none", "schema", "object", "named"})
    choices: frozenset[str] = frozenset({"auto", "none", "required", "named"})
    parallel: bool = True
    strict: bool = True
    cache: bool = False
    images: str = "linked"
    result_media: bool = True
    signed: Callable[[str], JsonObject] = lambda text: NOTHING


def _signature(api: str) -> Callable[[str], JsonObject]:
    return lambda text: WireFields(api, {"signature": "sig"})


def _item(text: str) -> JsonObject:
    item = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": text}]}
    return WireFields("openai_responses", {"item": item})


ANTHROPIC = ("anthropic_messages", "bedrock_invoke")
_COMMON = (Stop.END, Stop.TOOL_CALLS, Stop.LENGTH)
WIRES: Mapping[str, Wire] = {
    "openai_chat": Wire(stops=(*_COMMON, Stop.FILTERED), in_order=True, result_media=False),
    "openai_responses": Wire(
        stops=(*_COMMON, Stop.FILTERED),
        options=frozenset({"max_tokens", "temperature", "top_p", "effort"}),
        signed=_item,
    ),
    "anthropic_messages": Wire(
        stops=(*_COMMON, Stop.STOP_SEQUENCE, Stop.PAUSE, Stop.REFUSED),
        options=EVERY_OPTION - PENALTIES - {"seed"},
        outputs=frozenset({"none", "schema"}),
        cache=True,
        signed=_signature("anthropic_messages"),
    ),
    "ollama_chat": Wire(
        stops=_COMMON,
        in_order=True,
        has_id=False,
        outputs=frozenset({"none", "schema", "object"}),
        choices=frozenset(),
        parallel=False,
        images="last",
    ),
    "gemini": Wire(
        options=EVERY_OPTION,
        stops=(*_COMMON, Stop.FILTERED, Stop.ERROR),
        adjoining=True,
        in_path=True,
        outputs=frozenset({"none", "schema", "object"}),
        parallel=False,
        strict=False,
        result_media=False,
    ),
    "gemini_interactions": Wire(
        stops=(*_COMMON, Stop.PAUSE, Stop.ERROR),
        options=frozenset({"max_tokens", "temperature", "top_p", "stop", "seed", "effort"}),
        outputs=frozenset({"none", "schema", "object"}),
        choices=frozenset({"auto", "none", "required", "named"}),
        parallel=False,
        strict=False,
    ),
    "bedrock_converse": Wire(
        stops=(*_COMMON, Stop.STOP_SEQUENCE, Stop.FILTERED, Stop.ERROR),
        has_id=False,
        has_model=False,
        in_path=True,
        options=frozenset({"max_tokens", "temperature", "top_p", "stop"}),
        outputs=frozenset({"none", "schema", "titled"}),
        choices=frozenset({"auto", "required", "named"}),
        parallel=False,
        cache=True,
        images="inline",
        signed=_signature("bedrock_converse"),
    ),
    "bedrock_invoke": Wire(
        stops=(*_COMMON, Stop.STOP_SEQUENCE, Stop.PAUSE, Stop.REFUSED),
        in_path=True,
        options=EVERY_OPTION - PENALTIES - {"seed"},
        outputs=frozenset({"none", "schema"}),
        cache=True,
        signed=_signature("anthropic_messages"),
    ),
    "cohere_chat": Wire(
        stops=(*_COMMON, Stop.STOP_SEQUENCE, Stop.FILTERED, Stop.ERROR),
        in_order=True,
        has_model=False,
        options=EVERY_OPTION - {"effort"},
        outputs=frozenset({"none", "schema", "object"}),
        choices=frozenset({"none", "required"}),
        parallel=False,
        strict=False,
        result_media=False,
    ),
}

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
names = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True)
scalars = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(-1e6, 1e6) | words | st.just("")
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=6
)
arguments = st.dictionaries(words, values, max_size=3)
texts = words.map(Text)
thoughts = words.map(Reasoning)
usages = st.none() | st.builds(Usage, input=st.integers(1, 999), output=st.integers(1, 999))


@st.composite
def calls(draw: st.DrawFn, *, max_size: int = 3) -> list[ToolCall]:
    """Calls with ids of their own."""
    ids = draw(st.lists(names, max_size=max_size, unique=True))
    return [ToolCall(id=f"call_{one}", name=draw(names), arguments=draw(arguments)) for one in ids]


# ── answers ──────────────────────────────────────────────────────────────────


@st.composite
def responses(draw: st.DrawFn, api: str) -> Response:
    """Answers that wire `api` can tell exactly."""
    wire, made = WIRES[api], draw(calls())
    if wire.in_order:
        parts: list[Part] = [*draw(st.lists(thoughts, max_size=1)), *draw(st.lists(texts, max_size=1)), *made]
    else:
        parts = draw(st.permutations([*draw(st.lists(thoughts | texts, max_size=3)), *made]))
    unlikely = (Stop.END, Stop.STOP_SEQUENCE) if made else (Stop.TOOL_CALLS,)
    stop = draw(st.sampled_from([stop for stop in wire.stops if stop not in unlikely]))
    if stop is Stop.LENGTH:  # an answer cut before it said anything, or in a call, is an issue and not this answer
        parts = [part for part in parts if not isinstance(part, ToolCall) or part.arguments]
        place = next((i for i, part in enumerate(parts) if isinstance(part, ToolCall)), len(parts))
        parts = parts if any(isinstance(p, Text) for p in parts) else [*parts[:place], Text("cut"), *parts[place:]]
    if wire.adjoining:
        parts = [
            p for i, p in enumerate(parts) if isinstance(p, ToolCall) or i == 0 or type(p) is not type(parts[i - 1])
        ]
    return Response(
        message=Message("assistant", parts),
        stop=stop,
        usage=draw(usages),
        model=draw(names) if wire.has_model else "",
        id=draw(names) if wire.has_id else "",
    )


# ── requests ─────────────────────────────────────────────────────────────────

inline = st.sampled_from(
    [Media(mime="image/png", data="iVBORw0KGgo="), Media(mime="image/jpeg", data="/9j/4AAQ")],
)
linked = st.just(Media(mime="image/png", url="https://example.org/a.png"))
schemas = st.sampled_from(
    [
        {"type": "object", "properties": {}},
        {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    ]
)
tools = st.lists(
    st.builds(Tool, name=names, description=st.just("") | words, parameters=schemas, strict=st.booleans()),
    max_size=3,
    unique_by=lambda tool: tool.name,
)


@st.composite
def results(draw: st.DrawFn, made: list[ToolCall], *, media: bool) -> Message:
    """One result for each call."""
    parts = []
    for call in made:
        content: list[Text | Media] = [Text("ok " + draw(words))]
        content += draw(st.lists(inline, max_size=1)) if media else []
        code = draw(st.sampled_from([None, "ENOENT", "HTTP:404"]))
        failed = code is not None or draw(st.booleans())
        parts.append(ToolResult(call_id=call.id, name=call.name, content=content, is_error=failed, error_code=code))
    return Message("tool", parts)


@st.composite
def conversations(draw: st.DrawFn, api: str) -> tuple[Message, ...]:
    """Conversations that wire `api` can tell exactly."""
    wire = WIRES[api]
    messages: list[Message] = []
    cache = st.booleans() if wire.cache else st.just(False)
    shown = inline | linked if wire.images == "linked" else inline
    if draw(st.booleans()):
        messages.append(Message("system", draw(words), cache=draw(cache)))
    for _ in range(draw(st.integers(1, 3))):
        spoken: list[Part] = draw(st.lists(texts | shown, min_size=1, max_size=3))
        if wire.images == "last":
            spoken = [draw(texts), *(part for part in spoken if isinstance(part, Media))]
        messages.append(Message("user", spoken, cache=draw(cache) and len(messages) < 3))
        made = draw(calls(max_size=2))
        thought = draw(words.map(lambda text: Reasoning(text, metadata=wire.signed(text))))
        parts: list[Part] = [*([thought] if draw(st.booleans()) else []), Text(draw(words)), *made]
        messages.append(Message("assistant", parts))
        if made:
            messages.append(draw(results(made, media=wire.result_media)))
    return tuple(messages)


OPTIONS: Mapping[str, st.SearchStrategy[Any]] = {
    "max_tokens": st.none() | st.integers(1, 8000),
    "temperature": st.none() | st.floats(0, 2),
    "top_p": st.none() | st.floats(0, 1),
    "top_k": st.none() | st.integers(1, 99),
    "stop": st.lists(words, max_size=2).map(tuple),
    "seed": st.none() | st.integers(0, 99),
    "presence_penalty": st.none() | st.floats(-2, 2),
    "frequency_penalty": st.none() | st.floats(-2, 2),
    "effort": st.sampled_from([None, "low", "medium", "high"]),
    "thinking_budget": st.sampled_from([None, -1, 0, 1024, 8192]),
}
OUTPUTS: Mapping[str, st.SearchStrategy[OutputSchema | None]] = {
    "none": st.none(),
    "object": st.just(OutputSchema()),
    "schema": st.builds(OutputSchema, schema=schemas),
    "titled": st.builds(OutputSchema, schema=schemas, name=names, description=st.just("") | words),
    "named": st.builds(OutputSchema, schema=schemas, name=names, strict=st.booleans(), description=st.just("") | words),
}


@st.composite
def requests(draw: st.DrawFn, api: str) -> Request:
    """Requests that wire `api` can tell exactly."""
    wire, offered = WIRES[api], draw(tools)
    if not wire.strict:
        offered = [replace(tool, strict=False) for tool in offered]
    choices = [ToolChoice(mode) for mode in ("auto", "required", "none") if mode in wire.choices]
    choices += [ToolChoice("named", tool.name) for tool in offered if "named" in wire.choices]
    choice = draw(st.none() | st.sampled_from(choices)) if choices else None
    if api == "gemini_interactions" and not offered:
        choice = None  # refused there without functions
    parallel = draw(st.none() | st.booleans()) if wire.parallel else None
    if api in ANTHROPIC and choice == ToolChoice("none"):
        parallel = None
    if api in ANTHROPIC and choice == ToolChoice() and parallel is not None:
        choice = None
    return Request(
        model="" if wire.in_path else draw(names),
        messages=draw(conversations(api)),
        tools=tuple(offered),
        tool_choice=choice,
        parallel=parallel,
        sampling=draw(st.builds(Sampling, **{key: OPTIONS[key] for key in sorted(wire.options)})),
        output_schema=draw(st.one_of([OUTPUTS[kind] for kind in sorted(wire.outputs)])),
        stream=not wire.in_path and draw(st.booleans()),
    )
