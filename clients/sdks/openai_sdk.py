"""The official OpenAI SDK: chat completions and responses, streamed."""

from __future__ import annotations

import json
from typing import Any

from common import DESCRIPTION, KEY, MODEL, OPENAI_TOOL, QUESTION, SCHEMA, URL, get_weather, run
from openai import AsyncOpenAI, OpenAI

client = OpenAI(base_url=URL + "/v1", api_key=KEY)
FLAT: Any = {
    "type": "function",
    "name": "get_weather",
    "description": DESCRIPTION,
    "parameters": SCHEMA,
    "strict": False,
}


def chat_raw() -> str:
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    while True:
        text, calls = "", {}
        for chunk in client.chat.completions.create(model=MODEL, messages=messages, tools=[OPENAI_TOOL], stream=True):  # type: ignore[list-item]
            for choice in chunk.choices:
                text += choice.delta.content or ""
                for part in choice.delta.tool_calls or ():
                    call = calls.setdefault(part.index, {"id": part.id, "name": part.function.name, "arguments": ""})
                    call["arguments"] += part.function.arguments or ""
        if not calls:
            return text
        told = [
            {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": c["arguments"]}}
            for c in calls.values()
        ]
        messages.append({"role": "assistant", "content": text or None, "tool_calls": told})
        for c in calls.values():
            result = get_weather(**json.loads(c["arguments"]))
            messages.append({"role": "tool", "tool_call_id": c["id"], "content": result})


def chat_helper() -> str:
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    while True:
        with client.chat.completions.stream(model=MODEL, messages=messages, tools=[OPENAI_TOOL]) as stream:  # type: ignore[list-item]
            message = stream.get_final_completion().choices[0].message
        if not message.tool_calls:
            return message.content or ""
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            result = get_weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


async def chat_async() -> str:
    aclient = AsyncOpenAI(base_url=URL + "/v1", api_key=KEY)
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    while True:
        async with aclient.chat.completions.stream(model=MODEL, messages=messages, tools=[OPENAI_TOOL]) as stream:  # type: ignore[list-item]
            message = (await stream.get_final_completion()).choices[0].message
        if not message.tool_calls:
            return message.content or ""
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            result = get_weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def responses_helper() -> str:
    items: list[Any] = [{"role": "user", "content": QUESTION}]
    while True:
        with client.responses.stream(model=MODEL, input=items, tools=[FLAT]) as stream:
            response = stream.get_final_response()
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return response.output_text
        items += [item.model_dump(exclude_none=True) for item in response.output]
        for call in calls:
            result = get_weather(**json.loads(call.arguments))
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": result})


def responses_raw() -> str:
    items: list[Any] = [{"role": "user", "content": QUESTION}]
    while True:
        done: list[Any] = []
        for event in client.responses.create(model=MODEL, input=items, tools=[FLAT], stream=True):
            if event.type == "response.output_item.done":
                done.append(event.item)
        calls = [item for item in done if item.type == "function_call"]
        if not calls:
            return "".join(part.text for item in done if item.type == "message" for part in item.content)
        items += [item.model_dump(exclude_none=True) for item in done]
        for call in calls:
            result = get_weather(**json.loads(call.arguments))
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": result})


if __name__ == "__main__":
    run(chat_raw, chat_helper, chat_async, responses_raw, responses_helper)
