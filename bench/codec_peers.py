"""The peers of bench/codecs.py: what each SDK and library does with the same request, answer and stream.

Each maker gives, for one API, a function that does the work once; ImportError where the peer is not installed, KeyError
where it has no transformation of its own for that API.  Peers start from their own messages and end in bytes, or start
from bytes and end in their own values; they use `json` where they do, as their users get them.
"""

# ruff: noqa: PLC0415  peers are imported where they are measured: they may be absent

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from inspect import signature
from typing import Any

from codecs_material import MOST_REPEATS, Work, payloads, request, stream, whole

from dragoman.codecs import CODECS


def _openai_style(body: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    return list(body["messages"]), list(body["tools"])


def _litellm(api: str) -> Work:
    from litellm.llms.anthropic.chat.transformation import AnthropicConfig
    from litellm.llms.ollama.chat.transformation import OllamaChatConfig
    from litellm.llms.openai.chat.gpt_transformation import OpenAIGPTConfig

    config = {"openai_chat": OpenAIGPTConfig, "anthropic_messages": AnthropicConfig, "ollama_chat": OllamaChatConfig}
    made = config[api]()
    text = json.dumps(CODECS["openai_chat"].encode_request(request()))
    fresh = [json.loads(text) for _ in range(MOST_REPEATS + 1)]  # it changes what it is given

    def work() -> Any:
        messages, offered = _openai_style(fresh.pop())
        asked = made.map_openai_params({"tools": offered, "max_tokens": 4096}, {}, "claude-sonnet-4-5", False)
        return json.dumps(made.transform_request("claude-sonnet-4-5", messages, asked, {}, {})).encode()

    return work


def _langchain(api: str) -> Work:
    from langchain_anthropic import ChatAnthropic
    from langchain_core.messages import convert_to_messages
    from langchain_openai import ChatOpenAI

    messages, offered = _openai_style(CODECS["openai_chat"].encode_request(request()))
    model = {
        "openai_chat": lambda: ChatOpenAI(model="m", api_key="k"),
        "anthropic_messages": lambda: ChatAnthropic(model="m", api_key="k"),
    }[api]()
    told = convert_to_messages(messages)

    def work() -> Any:
        bound = model.bind_tools(offered)
        return json.dumps(model._get_request_payload(told, **bound.kwargs), default=str).encode()

    return work


def _any_llm(api: str) -> Work:
    from any_llm.providers.anthropic.utils import _convert_messages_for_anthropic, _convert_tool_spec

    messages, offered = _openai_style(CODECS["openai_chat"].encode_request(request()))
    if api != "anthropic_messages":
        raise KeyError(api)
    return lambda: json.dumps((_convert_messages_for_anthropic(messages), _convert_tool_spec(offered))).encode()


def _litellm_stream(api: str) -> Work:
    from litellm.llms.anthropic.chat.handler import ModelResponseIterator
    from litellm.llms.openai.chat.gpt_transformation import OpenAIChatCompletionStreamingHandler

    told = payloads(api, stream(api))
    makers = {
        "anthropic_messages": lambda: ModelResponseIterator(streaming_response=iter(()), sync_stream=True),
        "openai_chat": lambda: OpenAIChatCompletionStreamingHandler(streaming_response=iter(()), sync_stream=True),
    }

    begin = makers[api]

    def work() -> Any:
        parser = begin()
        return [parser.chunk_parser(json.loads(one)) for one in told]

    return work


def _langchain_stream(api: str) -> Work:
    from langchain_core.messages import AIMessageChunk
    from langchain_openai import ChatOpenAI

    if api != "openai_chat":
        raise KeyError(api)
    model, told = ChatOpenAI(model="m", api_key="k"), payloads(api, stream(api))

    def work() -> Any:
        whole: Any = None
        for one in told:
            chunk = model._convert_chunk_to_generation_chunk(json.loads(one), AIMessageChunk, None)
            if chunk is not None:
                whole = chunk.message if whole is None else whole + chunk.message
        return whole

    return work


def _any_llm_stream(api: str) -> Work:
    from anthropic import types
    from anthropic._models import construct_type
    from any_llm.providers.anthropic.utils import _create_openai_chunk_from_anthropic_chunk

    if api != "anthropic_messages":
        raise KeyError(api)
    told = payloads(api, stream(api))

    def work() -> Any:
        events = (construct_type(type_=types.RawMessageStreamEvent, value=json.loads(one)) for one in told)
        return [_create_openai_chunk_from_anthropic_chunk(event, "m") for event in events]

    return work


def _openai_stream(api: str) -> Work:
    from openai._models import construct_type
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.types.chat import ChatCompletionChunk

    if api != "openai_chat":
        raise KeyError(api)
    told = payloads(api, stream(api))

    def work() -> Any:
        state = ChatCompletionStreamState()
        for one in told:
            state.handle_chunk(construct_type(type_=ChatCompletionChunk, value=json.loads(one)))
        return state.current_completion_snapshot

    return work


def _anthropic_stream(api: str) -> Work:
    from anthropic._models import construct_type
    from anthropic.lib.streaming._messages import accumulate_event
    from anthropic.types import RawMessageStreamEvent

    if api != "anthropic_messages":
        raise KeyError(api)
    told, kept = payloads(api, stream(api)), {"json_bufs"} & signature(accumulate_event).parameters.keys()

    def work() -> Any:
        snapshot: Any = None
        pieces: dict[str, Any] = {name: {} for name in kept}  # older ones keep the pieces with the message
        for one in told:
            event: Any = construct_type(type_=RawMessageStreamEvent, value=json.loads(one))
            snapshot = accumulate_event(event=event, current_snapshot=snapshot, **pieces)
        return snapshot

    return work


def _openai_whole(api: str) -> Work:
    from openai._models import construct_type
    from openai.types.chat import ChatCompletion
    from openai.types.responses import Response

    kind, data = {"openai_chat": ChatCompletion, "openai_responses": Response}[api], whole(api)
    return lambda: construct_type(type_=kind, value=json.loads(data))


def _anthropic_whole(api: str) -> Work:
    from anthropic._models import construct_type
    from anthropic.types import Message

    kind, data = {"anthropic_messages": Message}[api], whole(api)
    return lambda: construct_type(type_=kind, value=json.loads(data))


def _litellm_whole(api: str) -> Work:
    from litellm.litellm_core_utils.llm_response_utils.convert_dict_to_response import convert_to_model_response_object
    from litellm.types.utils import ModelResponse

    if api != "openai_chat":
        raise KeyError(api)
    data = whole(api)
    return lambda: convert_to_model_response_object(json.loads(data), ModelResponse())


def _langchain_whole(api: str) -> Work:
    from langchain_openai import ChatOpenAI

    if api != "openai_chat":
        raise KeyError(api)
    model, data = ChatOpenAI(model="m", api_key="k"), whole(api)
    return lambda: model._create_chat_result(json.loads(data))


def _pydantic_model(api: str) -> Any:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    if api != "openai_chat":
        raise KeyError(api)
    return OpenAIChatModel("m", provider=OpenAIProvider(api_key="k"))


def _pydantic_whole(api: str) -> Work:
    from openai._models import construct_type
    from openai.types.chat import ChatCompletion

    model, data = _pydantic_model(api), whole(api)
    return lambda: model._process_response(construct_type(type_=ChatCompletion, value=json.loads(data)))


def _pydantic_stream(api: str) -> Work:
    from openai._models import construct_type
    from openai.types.chat import ChatCompletionChunk
    from pydantic_ai.models import ModelRequestParameters

    model, told, loop = _pydantic_model(api), payloads(api, stream(api)), asyncio.new_event_loop()

    async def chunks() -> AsyncIterator[Any]:
        for one in told:
            yield construct_type(type_=ChatCompletionChunk, value=json.loads(one))

    async def read() -> Any:
        response = await model._process_streamed_response(chunks(), ModelRequestParameters())
        async for _ in response:
            pass
        return response.get()

    return lambda: loop.run_until_complete(read())


Makers = Mapping[str, Callable[[str], Work]]
ENCODERS: Makers = {"LiteLLM": _litellm, "LangChain": _langchain, "any-llm": _any_llm}
WHOLES: Makers = {
    "OpenAI SDK": _openai_whole, "Anthropic SDK": _anthropic_whole, "LiteLLM": _litellm_whole,
    "LangChain": _langchain_whole, "Pydantic AI": _pydantic_whole,
}  # fmt: skip
STREAMS: Makers = {
    "OpenAI SDK": _openai_stream, "Anthropic SDK": _anthropic_stream, "LiteLLM": _litellm_stream,
    "LangChain": _langchain_stream, "any-llm": _any_llm_stream,
    "Pydantic AI": _pydantic_stream,
}  # fmt: skip
