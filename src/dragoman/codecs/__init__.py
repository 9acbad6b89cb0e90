"""The wire APIs, by name, and the three functions the source documents describe.

Contract: `CODECS[name]` is the codec of that name or alias, `UnknownName` otherwise.  `encode_definitions`,
`decode_tool_calls` and `encode_result` take the documents' names ("openai", "anthropic", "ollama") and the codecs' own.
Source: seed document 002; seeds.md A7 and (c) "LlmCore" for what is done better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ..errors import ExtractError, UnknownName, UsageError
from ..schema import definitions
from ..tabular import tabulate
from ..types import (
    NOTHING,
    Issue,
    IssueKind,
    JsonObject,
    Media,
    Message,
    Request,
    Response,
    Text,
    Tool,
    ToolCall,
    ToolResult,
)
from . import stackspot
from .anthropic import bedrock_invoke
from .anthropic import messages as anthropic_messages
from .anthropic.messages_blocks import NAME as ANTHROPIC
from .anthropic.messages_blocks import write_result as _anthropic_result
from .anthropic.messages_requests import write_tool as _anthropic_tool
from .bedrock import converse as bedrock_converse
from .cohere import chat as cohere_chat
from .fidelity.decoding import decode_body, decode_chunks, read_answer
from .gemini import generate as gemini
from .gemini import interactions as gemini_interactions
from .ollama import chat as ollama_chat
from .ollama import generate as ollama_generate
from .ollama.chat_requests import NAME as OLLAMA
from .ollama.chat_requests import write_result as _ollama_result
from .openai import chat as openai_chat
from .openai import responses as openai_responses
from .openai.chat_messages import NAME as OPENAI
from .openai.chat_messages import write_result as _chat_result
from .shared.media import note
from .shared.spec import Codec
from .shared.tools import write_function

Writer = Callable[[Any], dict[str, Any]]


class Codecs(Mapping[str, Codec]):
    """Name or alias → codec; iterating gives the codecs' own names."""

    def __init__(self, codecs: Iterable[Codec], aliases: Mapping[str, str]) -> None:
        self._codecs = {codec.name: codec for codec in codecs}
        self._known = {**{alias: self._codecs[name] for alias, name in aliases.items()}, **self._codecs}

    def __getitem__(self, name: str) -> Codec:
        found = self._known.get(name) if isinstance(name, str) else None
        if found is None:
            raise UnknownName("codec", name, sorted(self._known, key=lambda one: one not in self._codecs))
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._codecs)

    def __len__(self) -> int:
        return len(self._codecs)


CODECS = Codecs(
    (
        openai_chat.CODEC,
        openai_responses.CODEC,
        anthropic_messages.CODEC,
        ollama_chat.CODEC,
        ollama_generate.CODEC,
        gemini.CODEC,
        gemini_interactions.CODEC,
        bedrock_converse.CODEC,
        bedrock_invoke.CODEC,
        cohere_chat.CODEC,
        stackspot.CODEC,
    ),
    MappingProxyType({"openai": OPENAI, "anthropic": ANTHROPIC, "ollama": OLLAMA}),
)

tabulate(__name__, CODECS)


def decode(api: str, body: Mapping[str, Any] | str | bytes) -> Response:
    """The response in a whole body of `api`: parts are Text, Reasoning, Media, ToolCall.

    Raises `CodecError` for what is no answer of `api`, and `ProviderError` for a body that is an error.
    """
    return decode_body(_first(api, "decode(api, body)"), body)


def decode_stream(api: str, chunks: Iterable[bytes | str] | bytes | str) -> Response:
    """The response in the bytes of a stream of `api`, however they are cut, or in one piece; text is read as UTF-8."""
    return decode_chunks(_first(api, "decode_stream(api, chunks)"), chunks)


def _first(api: str, form: str) -> Codec:
    """The codec that is named first; the documents' functions name it last."""
    if not isinstance(api, str):
        raise UsageError(f"an API is named by a text, not by a {type(api).__name__}; it stands first here: {form}")
    return CODECS[api]


# ── the documents' functions ─────────────────────────────────────────────────


class Decoded(list[ToolCall]):
    """The calls of a body, in order; `issues` says what else was found and why it is not among them."""

    def __init__(self, calls: Iterable[ToolCall], issues: Iterable[Issue]) -> None:
        super().__init__(calls)
        self.issues: tuple[Issue, ...] = tuple(issues)


_UNUSABLE = frozenset({IssueKind.MALFORMED, IssueKind.DUPLICATE_KEYS, IssueKind.TRUNCATED, IssueKind.INVALID_ARGUMENTS})


def encode_definitions(tools: Iterable[Tool | Mapping[str, Any]], api: str) -> list[dict[str, Any]]:
    """The definitions of `tools` as `api` wants them; `tools` may be any provider's definitions.

    They are what a body of `api` holds in its list of tools.  Raises UsageError for an API that has no such list.
    """
    given, codec = definitions.tools(tools) or (), CODECS[api]
    if write := _TOOL.get(codec.name):
        return [write(tool) for tool in given]
    body = codec.encode_request(Request(model=_NO_MODEL, tools=given))
    return [*_at(body, _place(codec)[0])] if given else []


def decode_tool_calls(body: Mapping[str, Any], api: str) -> Decoded:
    """The tool calls in a response body of `api`; an empty list when there are none.

    Calls count whatever the reason to stop says.  Raises `ExtractError` when there were calls and none can be used,
    `ProviderError` when the body is an error, and `CodecError` when it is an answer of another API, or none.
    """
    codec = CODECS[api]
    if not isinstance(body, Mapping):
        raise UsageError(f"expected a response body, got {type(body).__name__}; pass it parsed from JSON")
    response = read_answer(codec, body, _AS_BODY.get(codec.name, dict)(body))
    if not response.calls and any(issue.kind in _UNUSABLE and issue.raw for issue in response.issues):
        raise ExtractError(response.issues)
    return Decoded(response.calls, response.issues)


# A whole body: a bare message is wrapped, an answer without choices or content says nothing.  What is none of these
# stays as it is, for the codec to say what is wrong with it.


def _chat_body(body: JsonObject) -> JsonObject:
    if body.get("choices") or body.get("error"):
        return body
    return {"choices": [{"message": body}]} if _is_message(body) else _said_nothing(body, "choices", [{"message": {}}])


def _ollama_body(body: JsonObject) -> JsonObject:
    if body.get("message") is not None or body.get("error"):
        return body
    return {"message": body} if _is_message(body) else _said_nothing(body, "message", {})


def _anthropic_body(body: JsonObject) -> JsonObject:
    return {"stop_reason": None, **body} if "content" in body else _said_nothing(body, "content", [])


def _is_message(body: JsonObject) -> bool:
    return "role" in body or "tool_calls" in body


def _said_nothing(body: JsonObject, key: str, nothing: Any) -> JsonObject:
    return {key: nothing} if key in body or not body else body


_AS_BODY: Mapping[str, Callable[[JsonObject], JsonObject]] = {
    OPENAI: _chat_body,
    ANTHROPIC: _anthropic_body,
    OLLAMA: _ollama_body,
}


def encode_result(result: ToolResult, api: str) -> dict[str, Any]:
    """The message, or item, that hands `result` back to the model.  Raises UsageError for an API that has none."""
    codec = CODECS[api]
    if not isinstance(result, ToolResult):
        given = type(result).__name__
        raise UsageError(f"a {given} is no ToolResult; give ToolResult(call_id=call.id, name=call.name, content=…)")
    if write := _RESULT.get(codec.name):
        return write(result)
    call = ToolCall(id=result.call_id, name=result.name, arguments={})
    body = codec.encode_request(
        Request(model=_NO_MODEL, messages=(Message("assistant", [call]), Message("tool", [result])))
    )
    last: dict[str, Any] = _at(body, _place(codec)[1])[-1]
    return last


_NO_MODEL = "-"
_PLACES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    openai_responses.CODEC.name: (("tools",), ("input",)),
    gemini.CODEC.name: (("tools",), ("contents",)),
    gemini_interactions.CODEC.name: (("tools",), ("input",)),
    bedrock_converse.CODEC.name: (("toolConfig", "tools"), ("messages",)),
    bedrock_invoke.CODEC.name: (("tools",), ("messages",)),
    cohere_chat.CODEC.name: (("tools",), ("messages",)),
}
"""Where in a request's body the tools and the messages stand, on wires that the documents do not speak of."""


def _place(codec: Codec) -> tuple[tuple[str, ...], tuple[str, ...]]:
    place = _PLACES.get(codec.name)
    if place is None:
        raise UsageError(
            f"{codec.name} has no tools of its own; tell them with tool_prompt(tools), and a result as text of the user"
        )
    return place


def _at(body: JsonObject, path: Sequence[str]) -> Any:
    value: Any = body
    for key in path:
        value = value[key]
    return value


def _openai_definition(tool: Tool) -> dict[str, Any]:
    wire = write_function(tool)
    wire["function"].setdefault("description", "")
    return wire


def _anthropic_definition(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": "", **_anthropic_tool(tool)}


def _chat_message(result: ToolResult) -> dict[str, Any]:
    content = tuple(Text(note(part)) if isinstance(part, Media) else part for part in result.content)
    return _chat_result(replace(result, content=content, metadata=NOTHING))


def _ollama_message(result: ToolResult) -> dict[str, Any]:
    """Role and content only, as the document has it; whole requests name the tool and the call too."""
    return {key: value for key, value in _ollama_result(result).items() if key in ("role", "content", "images")}


def _anthropic_message(result: ToolResult) -> dict[str, Any]:
    return {"role": "user", "content": [_anthropic_result(result)]}


_TOOL: Mapping[str, Writer] = {
    OPENAI: _openai_definition,
    ANTHROPIC: _anthropic_definition,
    OLLAMA: _openai_definition,
}
_RESULT: Mapping[str, Writer] = {
    OPENAI: _chat_message,
    ANTHROPIC: _anthropic_message,
    OLLAMA: _ollama_message,
}
