"""LiteLLM: its routes to an OpenAI, an Anthropic, a vLLM, an Ollama and a Gemini server, streamed; whole; responses."""

from __future__ import annotations

import json
from typing import Any

import litellm
from common import FORM, FORM_QUESTION, KEY, OPENAI_TOOL, QUESTION, URL, get_weather, run
from pydantic import BaseModel

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


def openai_whole() -> str:
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    while True:
        asked = {"model": "openai/weak", "api_base": URL + "/v1", "api_key": KEY, "tools": [OPENAI_TOOL]}
        message = litellm.completion(messages=messages, **asked).choices[0].message
        if not message.tool_calls:
            return message.content or ""
        messages.append(message)
        for call in message.tool_calls:
            result = get_weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def responses() -> str:
    tool = {"type": "function", **OPENAI_TOOL["function"]}
    items: list[Any] = [{"role": "user", "content": QUESTION}]
    while True:
        done = litellm.responses(model="openai/weak", api_base=URL + "/v1", api_key=KEY, input=items, tools=[tool])
        calls = [item for item in done.output if item.type == "function_call"]
        if not calls:
            return "".join(p.text for item in done.output if item.type == "message" for p in item.content)
        items += [item.model_dump(exclude_none=True) for item in done.output]
        for call in calls:
            result = get_weather(**json.loads(call.arguments))
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": result})


class Report(BaseModel):
    """The report of a temperature."""

    city: str
    temperature: int


def parsed() -> Any:
    asked = [{"role": "user", "content": FORM_QUESTION}]
    done = litellm.completion(
        model="hosted_vllm/weak", api_base=URL + "/v1", api_key=KEY, messages=asked, response_format=Report
    )
    return json.loads(done.choices[0].message.content)


if __name__ == "__main__":
    run(openai, hosted_vllm, anthropic, ollama_chat, gemini, openai_whole, responses, others={parsed: FORM})
