"""The official OpenAI SDK: chat completions and responses, streamed, whole, and parsed into a form."""

from __future__ import annotations

import json
from typing import Any

from common import (
    DESCRIPTION,
    FORM,
    FORM_QUESTION,
    KEY,
    MODEL,
    OPENAI_TOOL,
    QUESTION,
    SCHEMA,
    URL,
    get_weather,
    listed,
    run,
)
from openai import AsyncOpenAI, OpenAI, pydantic_function_tool
from pydantic import BaseModel

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


def chat_whole() -> str:
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    while True:
        message = client.chat.completions.create(model=MODEL, messages=messages, tools=[OPENAI_TOOL]).choices[0].message  # type: ignore[list-item]
        if not message.tool_calls:
            return message.content or ""
        messages.append(message)
        for call in message.tool_calls:
            result = get_weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def responses_whole() -> str:
    items: list[Any] = [{"role": "user", "content": QUESTION}]
    while True:
        response = client.responses.create(model=MODEL, input=items, tools=[FLAT])
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return response.output_text
        items += response.output
        for call in calls:
            result = get_weather(**json.loads(call.arguments))
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": result})


class Report(BaseModel):
    """The report of a temperature."""

    city: str
    temperature: int


ASKED: Any = [{"role": "user", "content": FORM_QUESTION}]


def chat_parsed() -> Any:
    done = client.chat.completions.parse(model=MODEL, messages=ASKED, response_format=Report)
    return _dumped(done.choices[0].message.parsed)


def chat_parsed_streamed() -> Any:
    with client.chat.completions.stream(model=MODEL, messages=ASKED, response_format=Report) as stream:
        return _dumped(stream.get_final_completion().choices[0].message.parsed)


def chat_parsed_tool() -> Any:
    """A strict tool, demanded by its name, whose arguments the SDK parses."""
    named: Any = {"type": "function", "function": {"name": "Report"}}
    tools = [pydantic_function_tool(Report)]
    done = client.chat.completions.parse(model=MODEL, messages=ASKED, tools=tools, tool_choice=named)
    return _dumped((done.choices[0].message.tool_calls or [])[0].function.parsed_arguments)


def responses_parsed() -> Any:
    return _dumped(client.responses.parse(model=MODEL, input=ASKED, text_format=Report).output_parsed)


def _dumped(report: Any) -> Any:
    return report.model_dump() if report is not None else None


def models() -> Any:
    return [listed(model.id) for model in client.models.list()]


if __name__ == "__main__":
    parsed = (chat_parsed, chat_parsed_streamed, chat_parsed_tool, responses_parsed)
    run(
        *(chat_raw, chat_helper, chat_async, responses_raw, responses_helper, chat_whole, responses_whole),
        others={**dict.fromkeys(parsed, FORM), models: [MODEL]},
    )
