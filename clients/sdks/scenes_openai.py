"""Scenes over the official OpenAI SDK: chat completions and responses."""

from __future__ import annotations

import json
from typing import Any

from openai import OpenAI
from scenes import (
    ASKED,
    IMAGE,
    KEY,
    NAME,
    NAMED,
    NOTES_DATA,
    PDF,
    PICTURE,
    QUESTION,
    QUESTIONS,
    RAN,
    TOOL,
    URL,
    Report,
    serve,
    weather,
)

client = OpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0)
IMAGE_URL = f"data:image/png;base64,{IMAGE}"
PDF_URL, NOTES_URL = f"data:application/pdf;base64,{PDF}", f"data:text/plain;base64,{NOTES_DATA}"


# ── chat completions ─────────────────────────────────────────────────────────


def _chat(model: str, stream: bool, messages: list[Any], **more: Any) -> Any:
    """The message, as the SDK's own accumulator holds it where it is streamed."""
    if not stream:
        return client.chat.completions.create(model=model, messages=messages, **more).choices[0].message
    with client.chat.completions.stream(model=model, messages=messages, **more) as events:
        return events.get_final_completion().choices[0].message


def _echo(message: Any) -> dict[str, Any]:
    told: dict[str, Any] = message.model_dump(exclude_none=True, exclude={"parsed"})
    for call in told.get("tool_calls", ()):
        call["function"].pop("parsed_arguments", None)
    return told


def _results(message: Any) -> list[Any]:
    said = [(call.id, weather(**json.loads(call.function.arguments))) for call in message.tool_calls]
    return [{"role": "tool", "tool_call_id": id_, "content": text} for id_, text in said]


def chat_think(model: str, stream: bool) -> dict[str, Any]:
    more: dict[str, Any] = {"tools": [{"type": "function", "function": TOOL}], "reasoning_effort": "low"}
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    first = _chat(model, stream, messages, **more)
    thought = getattr(first, "reasoning_content", None) or getattr(first, "reasoning", None)
    last = _chat(model, stream, [*messages, _echo(first), *_results(first)], **more)
    return {"thinking": thought, "ran": list(RAN), "text": last.content}


def _chat_shown(part: dict[str, Any]) -> Any:
    def play(model: str, stream: bool) -> dict[str, Any]:
        content = [{"type": "text", "text": ASKED}, part]
        return {"text": _chat(model, stream, [{"role": "user", "content": content}]).content}

    return play


def chat_citations(model: str, stream: bool) -> dict[str, Any]:
    message = _chat(model, stream, [{"role": "user", "content": QUESTION}])
    notes = message.annotations or []
    if notes and isinstance(notes[0], dict):  # the accumulator knows no annotations: they are as they came
        found = [(one["url_citation"]["url"], one["url_citation"]["title"]) for one in notes]
    else:
        found = [(one.url_citation.url, one.url_citation.title) for one in notes]
    return {"text": message.content, "citations": found}


def chat_state(model: str, stream: bool) -> dict[str, Any]:
    messages: list[Any] = [{"role": "user", "content": NAMED}]
    first = _chat(model, stream, messages)
    messages += [_echo(first), {"role": "user", "content": NAME}]
    return {"first": first.content, "text": _chat(model, stream, messages).content}


def chat_structured(model: str, stream: bool) -> dict[str, Any]:
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    if not stream:
        done = client.chat.completions.parse(model=model, messages=messages, response_format=Report)
    else:
        with client.chat.completions.stream(model=model, messages=messages, response_format=Report) as events:
            done = events.get_final_completion()
    parsed = done.choices[0].message.parsed
    assert isinstance(parsed, Report)
    return {"parsed": parsed.model_dump()}


def chat_tools(model: str, stream: bool) -> dict[str, Any]:
    messages: list[Any] = [{"role": "user", "content": QUESTIONS}]
    while True:
        message = _chat(model, stream, messages, tools=[{"type": "function", "function": TOOL}])
        if not message.tool_calls:
            return {"ran": sorted(RAN), "text": message.content}
        messages += [_echo(message), *_results(message)]


# ── responses ────────────────────────────────────────────────────────────────

RESPONSES_TOOL: Any = {"type": "function", "strict": False, **TOOL}


def _respond(model: str, stream: bool, items: Any, **more: Any) -> Any:
    if not stream:
        return client.responses.create(model=model, input=items, **more)
    with client.responses.stream(model=model, input=items, **more) as events:
        return events.get_final_response()


def _outputs(response: Any) -> list[Any]:
    calls = [item for item in response.output if item.type == "function_call"]
    said = [(call.call_id, weather(**json.loads(call.arguments))) for call in calls]
    return [{"type": "function_call_output", "call_id": id_, "output": text} for id_, text in said]


def responses_think(model: str, stream: bool) -> dict[str, Any]:
    more: dict[str, Any] = {
        "tools": [RESPONSES_TOOL], "reasoning": {"effort": "low", "summary": "auto"}, "store": False,
        "include": ["reasoning.encrypted_content"],
    }  # fmt: skip
    items: list[Any] = [{"role": "user", "content": QUESTION}]
    first = _respond(model, stream, items, **more)
    thought = "".join(part.text for item in first.output if item.type == "reasoning" for part in item.summary)
    items += [*(item.model_dump(exclude_none=True) for item in first.output), *_outputs(first)]
    return {"thinking": thought, "ran": list(RAN), "text": _respond(model, stream, items, **more).output_text}


def _responses_shown(part: dict[str, Any]) -> Any:
    def play(model: str, stream: bool) -> dict[str, Any]:
        content = [{"type": "input_text", "text": ASKED}, part]
        return {"text": _respond(model, stream, [{"role": "user", "content": content}]).output_text}

    return play


def responses_citations(model: str, stream: bool) -> dict[str, Any]:
    response = _respond(model, stream, QUESTION)
    parts = [part for item in response.output if item.type == "message" for part in item.content]
    found = [(one.url, one.title) for part in parts for one in part.annotations]
    return {"text": response.output_text, "citations": found}


def responses_state(model: str, stream: bool) -> dict[str, Any]:
    first = _respond(model, stream, NAMED)
    last = _respond(model, stream, NAME, previous_response_id=first.id)
    return {"first": first.output_text, "text": last.output_text}


def responses_conversation(model: str, stream: bool) -> dict[str, Any]:
    conversation = client.conversations.create()
    first = _respond(model, stream, NAMED, conversation=conversation.id)
    last = _respond(model, stream, NAME, conversation=conversation.id)
    kept = client.conversations.items.list(conversation.id, order="asc").data
    return {"first": first.output_text, "text": last.output_text, "kept": len(kept)}


def responses_structured(model: str, stream: bool) -> dict[str, Any]:
    if not stream:
        done = client.responses.parse(model=model, input=QUESTION, text_format=Report)
    else:
        with client.responses.stream(model=model, input=QUESTION, text_format=Report) as events:
            done = events.get_final_response()
    assert isinstance(done.output_parsed, Report)
    return {"parsed": done.output_parsed.model_dump()}


def responses_tools(model: str, stream: bool) -> dict[str, Any]:
    items: Any = QUESTIONS
    previous: dict[str, Any] = {}
    while True:
        response = _respond(model, stream, items, tools=[RESPONSES_TOOL], **previous)
        items, previous = _outputs(response), {"previous_response_id": response.id}
        if not items:
            return {"ran": sorted(RAN), "text": response.output_text}


if __name__ == "__main__":
    serve({
        "openai chat": {
            "think": chat_think,
            "image": _chat_shown({"type": "image_url", "image_url": {"url": IMAGE_URL}}),
            "image by address": _chat_shown({"type": "image_url", "image_url": {"url": PICTURE}}),
            "pdf": _chat_shown({"type": "file", "file": {"filename": "notes.pdf", "file_data": PDF_URL}}),
            "text file": _chat_shown({"type": "file", "file": {"filename": "notes.txt", "file_data": NOTES_URL}}),
            "citations": chat_citations,
            "state": chat_state,
            "structured": chat_structured,
            "tools": chat_tools,
        },
        "openai responses": {
            "think": responses_think,
            "image": _responses_shown({"type": "input_image", "image_url": IMAGE_URL, "detail": "auto"}),
            "image by address": _responses_shown({"type": "input_image", "image_url": PICTURE, "detail": "auto"}),
            "pdf": _responses_shown({"type": "input_file", "filename": "notes.pdf", "file_data": PDF_URL}),
            "text file": _responses_shown({"type": "input_file", "filename": "notes.txt", "file_data": NOTES_URL}),
            "citations": responses_citations,
            "state": responses_state,
            "conversation": responses_conversation,
            "structured": responses_structured,
            "tools": responses_tools,
        },
    })  # fmt: skip
