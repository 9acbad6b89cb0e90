"""The official Mistral SDK: chat, streamed (it wants every call in one delta) and whole."""

from __future__ import annotations

import json
from typing import Any

from common import FORM, FORM_QUESTION, KEY, MODEL, OPENAI_TOOL, QUESTION, URL, get_weather, run
from mistralai.client import Mistral
from pydantic import BaseModel


def chat() -> str:
    client = Mistral(server_url=URL, api_key=KEY)
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    while True:
        text, calls = "", []
        for event in client.chat.stream(model=MODEL, messages=messages, tools=[OPENAI_TOOL]):
            delta = event.data.choices[0].delta if event.data.choices else None
            if delta is not None:
                text += delta.content if isinstance(delta.content, str) else ""
                calls += delta.tool_calls or []
        if not calls:
            return text
        messages.append({"role": "assistant", "content": text, "tool_calls": [c.model_dump() for c in calls]})
        for call in calls:
            arguments = call.function.arguments
            result = get_weather(**(json.loads(arguments) if isinstance(arguments, str) else arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "name": "get_weather", "content": result})


def chat_whole() -> str:
    client = Mistral(server_url=URL, api_key=KEY)
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    while True:
        message = client.chat.complete(model=MODEL, messages=messages, tools=[OPENAI_TOOL]).choices[0].message
        if not message.tool_calls:
            return str(message.content)
        messages.append(message)
        for call in message.tool_calls:
            arguments = call.function.arguments
            result = get_weather(**(json.loads(arguments) if isinstance(arguments, str) else arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "name": "get_weather", "content": result})


class Report(BaseModel):
    """The report of a temperature."""

    city: str
    temperature: int


def chat_parsed() -> Any:
    client = Mistral(server_url=URL, api_key=KEY)
    asked: list[Any] = [{"role": "user", "content": FORM_QUESTION}]
    done = client.chat.parse(model=MODEL, messages=asked, response_format=Report).choices[0].message.parsed
    return done.model_dump() if done else None


if __name__ == "__main__":
    run(chat, chat_whole, others={chat_parsed: FORM})
