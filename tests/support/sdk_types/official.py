"""The SDKs whose types we are held against: one row for each body that travels.

Knows where each SDK keeps its types, and how a piece of a body stands in a whole one; nothing of our codecs.  An SDK is
imported only when its row is asked for; one that is not installed has no rows.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module, metadata
from typing import Any, Literal

import typing_extensions

from dragoman.types import NOTHING

from . import stream_scenes
from .samples import Maker, Sample

Way = Literal["request", "answer", "stream"]
Body = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Official:
    """A body as one SDK types it.

    sdk      the distribution;  api  our codec for it;  way  what travels
    kind     gives the type;  whole  puts a sample of it where it stands in a body, or gives the frames of a stream
    values   samples of fields that must mean something;  one_of  records that hold one field
    """

    sdk: str
    api: str
    way: Way
    kind: Callable[[], Any]
    whole: Callable[[Any], Any] = lambda body: body
    values: Mapping[str, Any] = NOTHING
    one_of: frozenset[str] = frozenset()

    def samples(self) -> list[Sample]:
        """A sample of the body for each thing it may hold."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = Maker(values=self.values, one_of=self.one_of).samples(self.kind())
        return [Sample(self.whole(one.value), one.place) for one in made]


def version(sdk: str) -> str:
    """The version of an SDK that is installed, "" for none."""
    try:
        return metadata.version(sdk)
    except metadata.PackageNotFoundError:
        return ""


def _at(module: str, name: str) -> Callable[[], Any]:
    """The type `name` of `module`."""
    return lambda: getattr(import_module(module), name)


# ── types that no SDK has as one ─────────────────────────────────────────────


def _cohere_request() -> Any:
    """Cohere's client takes the fields of a request one by one."""
    chat = import_module("cohere.v2.client").V2Client.chat
    hints = typing_extensions.get_type_hints(chat, include_extras=True)
    given = inspect.signature(chat).parameters
    taken = [name for name in given if name not in ("self", "request_options")]
    must = {name for name in taken if given[name].default is inspect.Parameter.empty}
    return typing_extensions.TypedDict(  # type: ignore[operator]
        "ChatRequest",
        {
            one: (typing_extensions.Required if one in must else typing_extensions.NotRequired)[hints[one]]
            for one in taken
        },
    )


_GEMINI_BODY = {
    "contents": "list[Content]", "systemInstruction": "Content", "tools": "list[Tool]", "toolConfig": "ToolConfig",
    "safetySettings": "list[SafetySetting]", "generationConfig": "GenerationConfig", "cachedContent": "str",
    "labels": "dict[str, str]", "serviceTier": "ServiceTier",
}  # fmt: skip


def _gemini_request() -> Any:
    """The body that google-genai writes from its settings (`_GenerateContentParameters_to_vertex`)."""
    known = vars(import_module("google.genai.types"))
    hints = {key: eval(kind, {**known, "list": list, "dict": dict}) for key, kind in _GEMINI_BODY.items()}
    must = typing_extensions.Required[hints.pop("contents")]
    return typing_extensions.TypedDict("GenerateContent", {"contents": must, **hints}, total=False)  # type: ignore[operator]


def _converse(way: str) -> Callable[[], Any]:
    def kind() -> Any:
        from_aws = import_module("tests.support.sdk_types.aws_shapes")
        return from_aws.converse(way)

    return kind


# ── rows ─────────────────────────────────────────────────────────────────────

_CHAT = {"index": 0, "role": "assistant"}
_OPENAI = "openai.types"
_GENAI, _STEPS = "google.genai.types", "google.genai._gaos.types.interactions"
_ONE_OF = frozenset({"Part", "Tool", "GenerationConfig", "FunctionResponsePart"})
_GIVEN = {"Content.role": "user", "Blob.mimeType": "image/png", "index": 0}
_USER = [{"role": "user", "content": [{"text": "hi"}]}]

OFFICIAL: tuple[Official, ...] = (
    Official(sdk="openai", api="openai_chat", way="request",
             kind=_at(f"{_OPENAI}.chat.completion_create_params", "CompletionCreateParamsNonStreaming")),
    Official(sdk="openai", api="openai_chat", way="answer", kind=_at(f"{_OPENAI}.chat", "ChatCompletion"), values=_CHAT),
    Official(sdk="openai", api="openai_chat", way="stream", kind=_at(f"{_OPENAI}.chat", "ChatCompletionChunk"),
             values={**_CHAT, "finish_reason": "stop"}, whole=lambda chunk: [chunk]),
    Official(sdk="openai", api="openai_responses", way="request",
             kind=_at(f"{_OPENAI}.responses.response_create_params", "ResponseCreateParamsNonStreaming"),
             one_of=frozenset({"ResponseCreateParamsNonStreaming"}), whole=lambda body: {"model": "m", "input": "hi", **body}),
    Official(sdk="openai", api="openai_responses", way="answer", kind=_at(f"{_OPENAI}.responses", "Response"),
             values={"Response.status": "completed", "Response.previous_response_id": "resp_0"}),
    Official(sdk="openai", api="openai_responses", way="stream", kind=_at(f"{_OPENAI}.responses", "ResponseStreamEvent"),
             values={"output_index": 0, "content_index": 0, "summary_index": 0, "annotation_index": 0, "response": stream_scenes.RESPONSE},
             whole=stream_scenes.of_responses),
    Official(sdk="anthropic", api="anthropic_messages", way="request",
             kind=_at("anthropic.types.beta.message_create_params", "MessageCreateParamsNonStreaming")),
    Official(sdk="anthropic", api="anthropic_messages", way="answer", kind=_at("anthropic.types.beta", "BetaMessage")),
    Official(sdk="anthropic", api="anthropic_messages", way="stream",
             kind=_at("anthropic.types.beta", "BetaRawMessageStreamEvent"), values={"index": 0, "BetaMessage.content": [], "BetaMessage.stop_reason": "end_turn"},
             whole=stream_scenes.of_messages),
    Official(sdk="google-genai", api="gemini", way="request", kind=_gemini_request,
             values={**_GIVEN, "systemInstruction": {"parts": [{"text": "be brief"}]}, "topK": 5}, one_of=_ONE_OF),
    Official(sdk="google-genai", api="gemini", way="answer", kind=_at(_GENAI, "Candidate"),
             values={**_GIVEN, "Content.role": "model", "finishReason": "STOP"}, one_of=_ONE_OF | {"Candidate"},
             whole=lambda one: {"candidates": [{"content": {"role": "model", "parts": [{"text": "ho"}]}, **one}]}),
    Official(sdk="google-genai", api="gemini", way="answer", kind=_at(_GENAI, "GenerateContentResponse"),
             values={"candidates": [{"content": {"role": "model", "parts": [{"text": "ho"}]}, "finishReason": "STOP"}],
                     "automaticFunctionCallingHistory": [], "parsed": {}, "sdkHttpResponse": {}}),
    Official(sdk="google-genai", api="gemini", way="stream", kind=_at(_GENAI, "Candidate"),
             values={**_GIVEN, "Content.role": "model", "finishReason": "STOP"}, one_of=_ONE_OF | {"Candidate"},
             whole=lambda one: [{"candidates": [{"content": {"role": "model", "parts": [{"text": "ho"}]}, "finishReason": "STOP", **one}]}]),
    Official(sdk="google-genai", api="gemini_interactions", way="request", kind=_at(_STEPS, "CreateModelInteractionParam"),
             whole=lambda body: {"input": "hi", **body}),
    Official(sdk="google-genai", api="gemini_interactions", way="answer", kind=_at(_STEPS, "Interaction"),
             values={"Interaction.status": "completed", "Interaction.input": "hi"}, whole=lambda body: {"model": "m", "id": "i", **body}),
    Official(sdk="google-genai", api="gemini_interactions", way="stream", kind=_at(_STEPS, "InteractionSSEEvent"),
             values={"index": 0, "interaction": stream_scenes.INTERACTION},
             whole=stream_scenes.of_interactions),
    Official(sdk="ollama", api="ollama_chat", way="request", kind=_at("ollama._types", "ChatRequest"),
             values={"messages": [{"role": "user", "content": "hi"}], "think": True}),
    Official(sdk="ollama", api="ollama_chat", way="request", kind=_at("ollama", "Message"),
             values={"Message.role": "assistant", "images": ["iVBORw0KGgo="]},
             whole=lambda one: {"model": "m", "messages": [{"content": "hi", **one}]}),
    Official(sdk="ollama", api="ollama_chat", way="answer", kind=_at("ollama", "ChatResponse"),
             values={"Message.role": "assistant", "done_reason": "stop"}),
    Official(sdk="ollama", api="ollama_generate", way="request", kind=_at("ollama._types", "GenerateRequest"),
             values={"images": ["iVBORw0KGgo="], "think": True}),
    Official(sdk="ollama", api="ollama_generate", way="answer", kind=_at("ollama", "GenerateResponse"),
             values={"done_reason": "stop"}),
    Official(sdk="cohere", api="cohere_chat", way="request", kind=_cohere_request),
    Official(sdk="cohere", api="cohere_chat", way="answer", kind=_at("cohere.v2.types", "V2ChatResponse"),
             values={"Citation.start": 0, "Citation.end": 4, "content_index": 0, "finish_reason": "COMPLETE"}),
    Official(sdk="cohere", api="cohere_chat", way="stream", kind=_at("cohere.v2.types", "V2ChatStreamResponse"),
             values={"index": 0, "Citation.start": 0, "Citation.end": 4, "finish_reason": "COMPLETE"}, whole=stream_scenes.of_cohere),
    Official(sdk="groq", api="openai_chat", way="request",
             kind=_at("groq.types.chat.completion_create_params", "CompletionCreateParams")),
    Official(sdk="groq", api="openai_chat", way="answer", kind=_at("groq.types.chat", "ChatCompletion"), values=_CHAT),
    Official(sdk="groq", api="openai_chat", way="stream", kind=_at("groq.types.chat", "ChatCompletionChunk"),
             values={**_CHAT, "finish_reason": "stop"}, whole=lambda chunk: [chunk]),
    Official(sdk="mistralai", api="openai_chat", way="request", kind=_at("mistralai.client.models", "ChatCompletionRequest"),
             values={"role": "user"}),
    Official(sdk="mistralai", api="openai_chat", way="answer", kind=_at("mistralai.client.models", "ChatCompletionResponse"),
             values=_CHAT),
    Official(sdk="mistralai", api="openai_chat", way="stream", kind=_at("mistralai.client.models", "CompletionChunk"),
             values={**_CHAT, "finish_reason": "stop"}, whole=lambda chunk: [chunk]),
    Official(sdk="botocore", api="bedrock_converse", way="request", kind=_converse("request"),
             values={"Message.role": "user", "S3Location.uri": "s3://bucket/key"}),
    Official(sdk="botocore", api="bedrock_converse", way="answer", kind=_converse("answer"),
             values={"Message.role": "assistant"}),
    Official(sdk="botocore", api="bedrock_converse", way="stream", kind=_converse("stream"),
             values={"contentBlockIndex": 0, "MessageStartEvent.role": "assistant"}, whole=stream_scenes.of_converse),
)  # fmt: skip
