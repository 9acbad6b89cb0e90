"""The official Ollama SDK: chat, streamed."""

from __future__ import annotations

from typing import Any

from common import MODEL, QUESTION, URL, get_weather, run
from ollama import Client


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


if __name__ == "__main__":
    run(chat)
