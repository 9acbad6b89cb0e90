"""The official Anthropic SDK: messages, streamed; the tool runner, which first tries message threads."""

from __future__ import annotations

from typing import Any

from anthropic import Anthropic, beta_tool
from common import DESCRIPTION, KEY, MODEL, QUESTION, SCHEMA, URL, get_weather, run

client = Anthropic(base_url=URL, api_key=KEY)
TOOL: Any = {"name": "get_weather", "description": DESCRIPTION, "input_schema": SCHEMA}


def _next(messages: list[Any], message: Any) -> bool:
    calls = [block for block in message.content if block.type == "tool_use"]
    messages.append({"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in message.content]})
    results = [{"type": "tool_result", "tool_use_id": c.id, "content": get_weather(**c.input)} for c in calls]
    messages.append({"role": "user", "content": results})
    return bool(calls)


def _text(message: Any) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def messages_helper() -> str:
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    while True:
        with client.messages.stream(model=MODEL, max_tokens=1024, messages=messages, tools=[TOOL]) as stream:
            message = stream.get_final_message()
        if not _next(messages, message):
            return _text(message)


def tool_runner_streamed() -> str:
    runner = client.beta.messages.tool_runner(
        model=MODEL,
        max_tokens=1024,
        tools=[beta_tool(get_weather)],
        messages=[{"role": "user", "content": QUESTION}],
        stream=True,
    )
    text = ""
    for stream in runner:
        text = _text(stream.get_final_message())
    return text


def count_tokens_then_whole() -> str:
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    if client.messages.count_tokens(model=MODEL, messages=messages, tools=[TOOL]).input_tokens < 1:
        return "no tokens counted"
    while True:
        message = client.messages.create(model=MODEL, max_tokens=1024, messages=messages, tools=[TOOL])
        if not _next(messages, message):
            return _text(message)


if __name__ == "__main__":
    run(messages_helper, tool_runner_streamed, count_tokens_then_whole)
