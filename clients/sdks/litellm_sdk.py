"""LiteLLM: its routes to an OpenAI, an Anthropic, a vLLM, an Ollama and a Gemini server, streamed."""

from __future__ import annotations

import json
from typing import Any

import litellm
from common import KEY, OPENAI_TOOL, QUESTION, URL, get_weather, run

litellm.telemetry = False


def _loop(model: str, base: str) -> str:
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    while True:
        stream = litellm.completion(
            model=model, api_base=base, api_key=KEY, messages=messages, tools=[OPENAI_TOOL], stream=True
        )
        message = litellm.stream_chunk_builder(list(stream), messages=messages).choices[0].message
        if not message.tool_calls:
            return message.content or ""
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            result = get_weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def openai() -> str:
    return _loop("openai/weak", URL + "/v1")


def hosted_vllm() -> str:
    return _loop("hosted_vllm/weak", URL + "/v1")


def anthropic() -> str:
    return _loop("anthropic/weak", URL)


def ollama_chat() -> str:
    return _loop("ollama_chat/weak", URL)


def gemini() -> str:
    return _loop("gemini/weak", URL)


if __name__ == "__main__":
    run(openai, hosted_vllm, anthropic, ollama_chat, gemini)
