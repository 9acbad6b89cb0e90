"""The official Ollama SDK: chat, streamed and whole; generate; what there is; forms."""

from __future__ import annotations

import json
from typing import Any

from common import FORM, FORM_QUESTION, FORM_SCHEMA, MODEL, QUESTION, URL, get_weather, listed, run
from ollama import AsyncClient, Client


def chat() -> str:
    client = Client(host=URL)
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    while True:
        text, calls = "", []
        for part in client.chat(model=MODEL, messages=messages, tools=[get_weather], stream=True):
            text += part.message.content or ""
            calls += part.message.tool_calls or []
        if not calls:
            return text
        messages.append({"role": "assistant", "content": text, "tool_calls": calls})
        for call in calls:
            result = get_weather(**call.function.arguments)
            messages.append({"role": "tool", "tool_name": call.function.name, "content": result})


def chat_whole() -> str:
    client = Client(host=URL)
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    while True:
        message = client.chat(model=MODEL, messages=messages, tools=[get_weather]).message
        if not message.tool_calls:
            return message.content or ""
        messages.append(message)
        for call in message.tool_calls:
            result = get_weather(**call.function.arguments)
            messages.append({"role": "tool", "tool_name": call.function.name, "content": result})


async def chat_async() -> str:
    client = AsyncClient(host=URL)
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    while True:
        message = (await client.chat(model=MODEL, messages=messages, tools=[get_weather])).message
        if not message.tool_calls:
            return message.content or ""
        messages.append(message)
        for call in message.tool_calls:
            result = get_weather(**call.function.arguments)
            messages.append({"role": "tool", "tool_name": call.function.name, "content": result})


def chat_formed() -> Any:
    asked = [{"role": "user", "content": FORM_QUESTION}]
    return json.loads(Client(host=URL).chat(model=MODEL, messages=asked, format=FORM_SCHEMA).message.content or "")


def generate() -> Any:
    whole = Client(host=URL).generate(model=MODEL, prompt=FORM_QUESTION, format=FORM_SCHEMA)
    return json.loads(whole.response)


def generate_streamed() -> Any:
    pieces = Client(host=URL).generate(model=MODEL, prompt=FORM_QUESTION, format=FORM_SCHEMA, stream=True)
    return json.loads("".join(piece.response for piece in pieces))


def listing() -> Any:
    """What there is, what runs, and what it can do."""
    client = Client(host=URL)
    client.ps()
    return [listed(model.model or "") for model in client.list().models], "tools" in (
        client.show(MODEL).capabilities or ()
    )


if __name__ == "__main__":
    run(
        *(chat, chat_whole, chat_async),
        others={**dict.fromkeys((chat_formed, generate, generate_streamed), FORM), listing: ([MODEL], True)},
    )
