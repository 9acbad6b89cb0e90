"""Scenes over the official Google Gen AI SDK."""

from __future__ import annotations

import base64
from typing import Any

from google import genai
from google.genai import types
from scenes import (
    ASKED,
    DESCRIPTION,
    KEY,
    NAME,
    NAMED,
    NOTES,
    PDF,
    PICTURE,
    PNG,
    QUESTION,
    QUESTIONS,
    RAN,
    SCHEMA,
    URL,
    Report,
    serve,
    weather,
)

client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=URL))
BY_HAND = types.AutomaticFunctionCallingConfig(disable=True)


def _ask(model: str, stream: bool, contents: Any, config: Any = None) -> list[Any]:
    """The candidates that came: one, or one of each chunk."""
    models = client.models
    if not stream:
        return list(models.generate_content(model=model, contents=contents, config=config).candidates or ())
    chunks = models.generate_content_stream(model=model, contents=contents, config=config)
    return [candidate for chunk in chunks for candidate in chunk.candidates or ()]


def _parts(candidates: list[Any]) -> list[Any]:
    return [part for one in candidates if one.content for part in one.content.parts or ()]


def _text(parts: list[Any]) -> str:
    return "".join(part.text or "" for part in parts if not part.thought)


def think(model: str, stream: bool) -> dict[str, Any]:
    declared = types.FunctionDeclaration(name="weather", description=DESCRIPTION, parameters_json_schema=SCHEMA)
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[declared])],
        automatic_function_calling=BY_HAND,
        thinking_config=types.ThinkingConfig(include_thoughts=True, thinking_level=types.ThinkingLevel.LOW),
    )
    contents: list[Any] = [types.UserContent(QUESTION)]
    first = _parts(_ask(model, stream, contents, config))
    calls = [part.function_call for part in first if part.function_call]
    results = [
        types.Part(
            function_response=types.FunctionResponse(id=c.id, name=c.name, response={"output": weather(**c.args)})
        )
        for c in calls
    ]
    contents += [types.ModelContent(first), types.UserContent(results)]
    thought = "".join(part.text or "" for part in first if part.thought)
    return {"thinking": thought, "ran": list(RAN), "text": _text(_parts(_ask(model, stream, contents, config)))}


def _shown(part: types.Part) -> Any:
    def play(model: str, stream: bool) -> dict[str, Any]:
        return {"text": _text(_parts(_ask(model, stream, [types.UserContent([types.Part(text=ASKED), part])])))}

    return play


def citations(model: str, stream: bool) -> dict[str, Any]:
    candidates = _ask(model, stream, QUESTION)
    chunks = [one for c in candidates if c.grounding_metadata for one in c.grounding_metadata.grounding_chunks or ()]
    return {"text": _text(_parts(candidates)), "citations": [(one.web.uri, one.web.title) for one in chunks]}


def state(model: str, stream: bool) -> dict[str, Any]:
    """The SDK's own chat keeps the conversation."""
    chat = client.chats.create(model=model)

    def say(text: str) -> str:
        if not stream:
            return chat.send_message(text).text or ""
        return "".join(chunk.text or "" for chunk in chat.send_message_stream(text))

    return {"first": say(NAMED), "text": say(NAME)}


def structured(model: str, stream: bool) -> dict[str, Any]:
    config = types.GenerateContentConfig(response_mime_type="application/json", response_schema=Report)
    if stream:
        text = _text(_parts(_ask(model, True, QUESTION, config)))
        return {"parsed": Report.model_validate_json(text).model_dump()}
    parsed = client.models.generate_content(model=model, contents=QUESTION, config=config).parsed
    assert isinstance(parsed, Report)
    return {"parsed": parsed.model_dump()}


def tools(model: str, stream: bool) -> dict[str, Any]:
    """The SDK's own loop: it runs functions and goes on; its stream is of all turns."""
    config = types.GenerateContentConfig(tools=[weather])
    if not stream:
        text = client.models.generate_content(model=model, contents=QUESTIONS, config=config).text
        return {"ran": sorted(RAN), "text": text}
    return {"text": _text(_parts(_ask(model, True, QUESTIONS, config))).strip(), "ran": sorted(RAN)}


if __name__ == "__main__":
    serve({
        "google": {
            "think": think,
            "image": _shown(types.Part.from_bytes(data=PNG, mime_type="image/png")),
            "image by address": _shown(types.Part.from_uri(file_uri=PICTURE, mime_type="image/png")),
            "pdf": _shown(types.Part.from_bytes(data=base64.b64decode(PDF), mime_type="application/pdf")),
            "text file": _shown(types.Part.from_bytes(data=NOTES.encode(), mime_type="text/plain")),
            "citations": citations,
            "state": state,
            "structured": structured,
            "tools": tools,
        }
    })  # fmt: skip
