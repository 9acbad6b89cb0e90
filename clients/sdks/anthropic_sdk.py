"""The official Anthropic SDK: messages, streamed and whole; the tool runner, which tries threads first; forms."""

from __future__ import annotations

from typing import Any

from anthropic import Anthropic, AsyncAnthropic, beta_tool
from common import (
    DESCRIPTION,
    FORM,
    FORM_QUESTION,
    FORM_SCHEMA,
    KEY,
    MODEL,
    QUESTION,
    SCHEMA,
    URL,
    get_weather,
    listed,
    run,
)

client = Anthropic(base_url=URL, api_key=KEY)
aclient = AsyncAnthropic(base_url=URL, api_key=KEY)
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


def tool_runner_whole() -> str:
    runner = client.beta.messages.tool_runner(
        model=MODEL, max_tokens=1024, tools=[beta_tool(get_weather)], messages=[{"role": "user", "content": QUESTION}]
    )
    return _text(runner.until_done())


async def messages_async() -> str:
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    while True:
        asked = aclient.messages.stream(model=MODEL, max_tokens=1024, messages=messages, tools=[TOOL])
        async with asked as stream:
            message = await stream.get_final_message()
        if not _next(messages, message):
            return _text(message)


def named_tool() -> Any:
    """A tool demanded by its name fills the form."""
    tool: Any = {"name": "report", "description": "Report a temperature.", "input_schema": FORM_SCHEMA}
    message = client.messages.create(
        model=MODEL,
        max_tokens=1024,
        messages=[{"role": "user", "content": FORM_QUESTION}],
        tools=[tool],
        tool_choice={"type": "tool", "name": "report", "disable_parallel_tool_use": True},
    )
    return [block.input for block in message.content if block.type == "tool_use"]


def models() -> Any:
    return [listed(model.id) for model in client.models.list()]


if __name__ == "__main__":
    run(
        *(messages_helper, messages_async, tool_runner_streamed, tool_runner_whole, count_tokens_then_whole),
        others={named_tool: [FORM], models: [MODEL]},
    )
