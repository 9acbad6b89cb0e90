"""Scenes over the official Ollama SDK.  Its API has no files, no addresses of images and no citations."""

from __future__ import annotations

from typing import Any

from ollama import Client
from scenes import ASKED, IMAGE, NAME, NAMED, QUESTION, QUESTIONS, RAN, URL, Report, serve, weather

client = Client(host=URL)


def _ask(model: str, stream: bool, messages: list[Any], **more: Any) -> dict[str, Any]:
    """The message; its pieces put together where it was streamed."""
    if not stream:
        message = client.chat(model=model, messages=messages, **more).message
        return message.model_dump(exclude_none=True)
    pieces = list(client.chat(model=model, messages=messages, stream=True, **more))
    calls = [call.model_dump() for piece in pieces for call in piece.message.tool_calls or ()]
    text, thought = ("".join(getattr(p.message, key) or "" for p in pieces) for key in ("content", "thinking"))
    return {"role": "assistant", "content": text, "thinking": thought, "tool_calls": calls}


def _results(message: dict[str, Any]) -> list[Any]:
    called = [call["function"] for call in message.get("tool_calls") or ()]
    return [{"role": "tool", "tool_name": c["name"], "content": weather(**c["arguments"])} for c in called]


def think(model: str, stream: bool) -> dict[str, Any]:
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    first = _ask(model, stream, messages, tools=[weather], think=True)
    messages += [first, *_results(first)]
    last = _ask(model, stream, messages, tools=[weather], think=True)
    return {"thinking": first.get("thinking"), "ran": list(RAN), "text": last["content"]}


def image(model: str, stream: bool) -> dict[str, Any]:
    return {"text": _ask(model, stream, [{"role": "user", "content": ASKED, "images": [IMAGE]}])["content"]}


def citations(model: str, stream: bool) -> dict[str, Any]:
    return {"text": _ask(model, stream, [{"role": "user", "content": QUESTION}])["content"]}


def state(model: str, stream: bool) -> dict[str, Any]:
    messages: list[Any] = [{"role": "user", "content": NAMED}]
    first = _ask(model, stream, messages)
    messages += [first, {"role": "user", "content": NAME}]
    return {"first": first["content"], "text": _ask(model, stream, messages)["content"]}


def structured(model: str, stream: bool) -> dict[str, Any]:
    asked = [{"role": "user", "content": QUESTION}]
    text = _ask(model, stream, asked, format=Report.model_json_schema())["content"]
    return {"parsed": Report.model_validate_json(text).model_dump()}


def tools(model: str, stream: bool) -> dict[str, Any]:
    messages: list[Any] = [{"role": "user", "content": QUESTIONS}]
    while True:
        message = _ask(model, stream, messages, tools=[weather])
        results = _results(message)
        if not results:
            return {"ran": sorted(RAN), "text": message["content"]}
        messages += [message, *results]


if __name__ == "__main__":
    serve({
        "ollama": {
            "think": think,
            "image": image,
            "citations": citations,
            "state": state,
            "structured": structured,
            "tools": tools,
        }
    })  # fmt: skip
