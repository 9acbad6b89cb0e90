"""The official Mistral SDK: chat, streamed; it wants every call in one delta."""

from __future__ import annotations

import json
from typing import Any

from common import KEY, MODEL, OPENAI_TOOL, QUESTION, URL, get_weather, run
from mistralai.client import Mistral


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


if __name__ == "__main__":
    run(chat)
