"""Canonical values for the laws, as hypothesis strategies, by what each wire can say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from dragoman.codecs.spec import WireFields
from dragoman.types import (
    NOTHING,
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


SAID: Mapping[str, tuple[Stop, ...]] = {
    "openai_chat": (Stop.END, Stop.TOOL_CALLS, Stop.LENGTH, Stop.FILTERED, Stop.ERROR),
    "anthropic_messages": (Stop.END, Stop.TOOL_CALLS, Stop.LENGTH, Stop.STOP_SEQUENCE, Stop.PAUSE, Stop.REFUSED),
    "ollama_chat": (Stop.END, Stop.TOOL_CALLS, Stop.LENGTH),
    "openai_responses": (Stop.END, Stop.TOOL_CALLS, Stop.LENGTH, Stop.FILTERED),
    "gemini": (Stop.END, Stop.TOOL_CALLS, Stop.LENGTH, Stop.FILTERED, Stop.ERROR),
}
IN_ORDER = frozenset({"openai_chat", "ollama_chat"})
"""Wires that say one reasoning, one text, then the calls."""


ADJOINING = frozenset({"gemini"})
"""Wires that cannot tell one text from two that follow each other."""
NO_RESULT_MEDIA = frozenset({"openai_chat", "gemini"})
"""Wires where media of results go out in another turn."""


@st.composite
def responses(draw: st.DrawFn, api: str) -> Response:
    """Answers that wire `api` can tell exactly."""
    made = draw(calls())
    if api in IN_ORDER:
        parts: list[Part] = [*draw(st.lists(thoughts, max_size=1)), *draw(st.lists(texts, max_size=1)), *made]
    else:
        parts = draw(st.permutations([*draw(st.lists(thoughts | texts, max_size=3)), *made]))
    if api in ADJOINING:
        parts = [
            part for i, part in enumerate(parts) if isinstance(part, ToolCall) or type(part) is not type(parts[i - 1])
        ]
    said = [stop for stop in SAID[api] if stop not in ((Stop.END, Stop.STOP_SEQUENCE) if made else (Stop.TOOL_CALLS,))]
    stop = draw(st.sampled_from(said))
    if stop is Stop.LENGTH:  # an answer cut before it said anything, or in a call, is an issue and not this answer
        parts = [part for part in parts if not isinstance(part, ToolCall) or part.arguments]
        place = next((i for i, part in enumerate(parts) if isinstance(part, ToolCall)), len(parts))
        parts = parts if any(isinstance(p, Text) for p in parts) else [*parts[:place], Text("cut"), *parts[place:]]
    return Response(
        message=Message("assistant", parts),
        stop=stop,
        usage=draw(usages),
        model=draw(names),
        id="" if api == "ollama_chat" else draw(names),
    )


# ── requests ─────────────────────────────────────────────────────────────────

images = st.sampled_from(
    [
        Media(mime="image/png", data="iVBORw0KGgo="),
        Media(mime="image/jpeg", data="/9j/4AAQ"),
    ]
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
    told = []
    for call in made:
        content: list[Text | Media] = [Text("ok " + draw(words))]
        content += draw(st.lists(images, max_size=1)) if media else []
        code = draw(st.sampled_from([None, "ENOENT", "HTTP:404"]))
        failed = code is not None or draw(st.booleans())
        told.append(ToolResult(call_id=call.id, name=call.name, content=content, is_error=failed, error_code=code))
    return Message("tool", told)


SIGNED: Mapping[str, Callable[..., WireFields]] = {
    "anthropic_messages": lambda said: WireFields("anthropic_messages", {"signature": "sig"}),
    "openai_responses": lambda said: WireFields("openai_responses", {"item": reasoning_item(said)}),
}
"""What past reasoning must bear on the wires that take back only what they wrote."""


def reasoning_item(said: str) -> dict[str, Any]:
    return {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": said}]}


@st.composite
def conversations(draw: st.DrawFn, api: str) -> tuple[Message, ...]:
    """Conversations that wire `api` can tell exactly."""
    messages: list[Message] = []
    cache = st.booleans() if api == "anthropic_messages" else st.just(False)
    if draw(st.booleans()):
        messages.append(Message("system", draw(words), cache=draw(cache)))
    shown = images if api == "ollama_chat" else images | linked
    for _ in range(draw(st.integers(1, 3))):
        spoken: list[Part] = draw(st.lists(texts | shown, min_size=1, max_size=3))
        if api == "ollama_chat":  # one string, then images
            spoken = [draw(texts), *(part for part in spoken if isinstance(part, Media))]
        messages.append(Message("user", spoken, cache=draw(cache) and len(messages) < 3))
        made = draw(calls(max_size=2))
        thought = draw(
            words.map(lambda said: Reasoning(said, metadata=SIGNED[api](said) if api in SIGNED else NOTHING))
        )
        parts: list[Part] = [*([thought] if draw(st.booleans()) else []), Text(draw(words)), *made]
        messages.append(Message("assistant", parts))
        if made:
            messages.append(draw(results(made, media=api not in NO_RESULT_MEDIA)))
    return tuple(messages)


def samplings(api: str) -> st.SearchStrategy[Sampling]:
    """Sampling as wire `api` knows it."""
    some = {
        "max_tokens": st.none() | st.integers(1, 8000),
        "temperature": st.none() | st.floats(0, 2),
        "top_p": st.none() | st.floats(0, 1),
        "top_k": st.none() | st.integers(1, 99),
        "stop": st.lists(words, max_size=2).map(tuple),
        "effort": st.sampled_from([None, "low", "medium", "high"]),
    }
    if api == "openai_responses":
        some |= {"top_k": st.none(), "stop": st.just(())}
    elif api != "anthropic_messages":
        some |= {key: st.none() | st.floats(-2, 2) for key in ("presence_penalty", "frequency_penalty")}
        some["seed"] = st.none() | st.integers(0, 99)
    return st.builds(Sampling, **some)


def outputs(api: str) -> st.SearchStrategy[OutputSchema | None]:
    """Demands on the answer's form as wire `api` knows them."""
    schema = st.builds(OutputSchema, schema=schemas)
    if api == "anthropic_messages":
        return st.none() | schema
    if api in ("ollama_chat", "gemini"):
        return st.none() | schema | st.just(OutputSchema())
    named = st.builds(OutputSchema, schema=schemas, name=names, strict=st.booleans(), description=st.just("") | words)
    return st.none() | st.just(OutputSchema()) | schema | named


@st.composite
def requests(draw: st.DrawFn, api: str) -> Request:
    """Requests that wire `api` can tell exactly."""
    offered = draw(tools)
    choices: list[ToolChoice | None] = [None, ToolChoice(), ToolChoice("required"), ToolChoice("none")]
    choices += [ToolChoice("named", tool.name) for tool in offered]
    parallel = draw(st.none() | st.booleans())
    choice = draw(st.sampled_from(choices))
    if api == "anthropic_messages" and choice == ToolChoice("none"):
        parallel = None
    if api == "anthropic_messages" and choice == ToolChoice() and parallel is not None:
        choice = None
    in_path = api == "gemini"  # the model and the streaming stand there
    if in_path:
        offered = [replace(tool, strict=False) for tool in offered]
    return Request(
        model="" if in_path else draw(names),
        messages=draw(conversations(api)),
        tools=tuple(offered),
        tool_choice=None if api == "ollama_chat" else choice,
        parallel=None if api in ("ollama_chat", "gemini") else parallel,
        sampling=draw(samplings(api)),
        output_schema=draw(outputs(api)),
        stream=not in_path and draw(st.booleans()),
    )
