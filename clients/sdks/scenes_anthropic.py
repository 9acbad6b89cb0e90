"""Scenes over the official Anthropic SDK."""

from __future__ import annotations

from typing import Any

from anthropic import Anthropic, beta_tool
from scenes import (
    ASKED,
    DESCRIPTION,
    IMAGE,
    KEY,
    NAME,
    NAMED,
    NOTES,
    PDF,
    PICTURE,
    QUESTION,
    QUESTIONS,
    RAN,
    SCHEMA,
    URL,
    Report,
    serve,
    weather,
)

client = Anthropic(base_url=URL, api_key=KEY, max_retries=0)
TOOL: Any = {"name": "weather", "description": DESCRIPTION, "input_schema": SCHEMA}


def _ask(model: str, stream: bool, messages: list[Any], **more: Any) -> Any:
    more = {"max_tokens": 20000, "timeout": 60, **more}
    if not stream:
        return client.messages.create(model=model, messages=messages, **more)
    with client.messages.stream(model=model, messages=messages, **more) as events:
        return events.get_final_message()


def _text(message: Any) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def think(model: str, stream: bool) -> dict[str, Any]:
    more: dict[str, Any] = {"tools": [TOOL], "thinking": {"type": "enabled", "budget_tokens": 2048}}
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    first = _ask(model, stream, messages, **more)
    calls = [block for block in first.content if block.type == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": weather(**call.input)} for call in calls]
    messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": results}]
    thought = "".join(block.thinking for block in first.content if block.type == "thinking")
    return {"thinking": thought, "ran": list(RAN), "text": _text(_ask(model, stream, messages, **more))}


def _shown(block: dict[str, Any]) -> Any:
    def play(model: str, stream: bool) -> dict[str, Any]:
        content = [{"type": "text", "text": ASKED}, block]
        return {"text": _text(_ask(model, stream, [{"role": "user", "content": content}]))}

    return play


def citations(model: str, stream: bool) -> dict[str, Any]:
    message = _ask(model, stream, [{"role": "user", "content": QUESTION}])
    notes = [one for block in message.content if block.type == "text" for one in block.citations or ()]
    return {"text": _text(message), "citations": [(one.url, one.title) for one in notes]}


def state(model: str, stream: bool) -> dict[str, Any]:
    messages: list[Any] = [{"role": "user", "content": NAMED}]
    first = _ask(model, stream, messages)
    messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": NAME}]
    return {"first": _text(first), "text": _text(_ask(model, stream, messages))}


def structured(model: str, stream: bool) -> dict[str, Any]:
    more: dict[str, Any] = {"max_tokens": 1024, "messages": [{"role": "user", "content": QUESTION}]}
    if not stream:
        done = client.messages.parse(model=model, output_format=Report, **more)
    else:
        with client.messages.stream(model=model, output_format=Report, **more) as events:
            done = events.get_final_message()
    parsed = done.parsed_output
    assert isinstance(parsed, Report)
    return {"parsed": parsed.model_dump()}


def tools(model: str, stream: bool) -> dict[str, Any]:
    """The SDK's own loop: it keeps the conversation and runs the tools."""
    more: dict[str, Any] = {"max_tokens": 1024, "messages": [{"role": "user", "content": QUESTIONS}]}
    made = beta_tool(weather)
    if not stream:
        done = client.beta.messages.tool_runner(model=model, tools=[made], **more).until_done()
        return {"ran": sorted(RAN), "text": _text(done)}
    text = ""
    for events in client.beta.messages.tool_runner(model=model, tools=[made], stream=True, **more):
        text = _text(events.get_final_message())
    return {"ran": sorted(RAN), "text": text}


if __name__ == "__main__":
    given = {"type": "base64", "media_type": "image/png", "data": IMAGE}
    pdf = {"type": "base64", "media_type": "application/pdf", "data": PDF}
    notes = {"type": "text", "media_type": "text/plain", "data": NOTES}
    serve({
        "anthropic": {
            "think": think,
            "image": _shown({"type": "image", "source": given}),
            "image by address": _shown({"type": "image", "source": {"type": "url", "url": PICTURE}}),
            "pdf": _shown({"type": "document", "title": "notes.pdf", "source": pdf}),
            "text file": _shown({"type": "document", "title": "notes.txt", "source": notes}),
            "citations": citations,
            "state": state,
            "structured": structured,
            "tools": tools,
        }
    })  # fmt: skip
