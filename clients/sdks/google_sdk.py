"""The official Google Gen AI SDK: contents, streamed and whole, with functions it calls itself and with ours; forms."""

from __future__ import annotations

from typing import Any

from common import FORM, FORM_QUESTION, FORM_SCHEMA, KEY, MODEL, QUESTION, SCHEMA, URL, get_weather, listed, run
from google import genai
from google.genai import types

client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=URL))


def automatic() -> str:
    config = types.GenerateContentConfig(tools=[get_weather])
    stream = client.models.generate_content_stream(model=MODEL, contents=QUESTION, config=config)
    return "".join(part.text or "" for part in stream)


def manual() -> str:
    declared = types.FunctionDeclaration(name="get_weather", parameters_json_schema=SCHEMA)
    config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[declared])])
    contents: list[Any] = [types.Content(role="user", parts=[types.Part(text=QUESTION)])]
    while True:
        parts: list[Any] = []
        for chunk in client.models.generate_content_stream(model=MODEL, contents=contents, config=config):
            parts += chunk.candidates[0].content.parts or []
        calls = [part.function_call for part in parts if part.function_call]
        if not calls:
            return "".join(part.text or "" for part in parts)
        contents.append(types.Content(role="model", parts=parts))
        results = [
            types.Part(
                function_response=types.FunctionResponse(
                    id=call.id, name=call.name, response={"result": get_weather(**call.args)}
                )
            )
            for call in calls
        ]
        contents.append(types.Content(role="user", parts=results))


def automatic_whole() -> str:
    config = types.GenerateContentConfig(tools=[get_weather])
    return client.models.generate_content(model=MODEL, contents=QUESTION, config=config).text or ""


async def automatic_async() -> str:
    config = types.GenerateContentConfig(tools=[get_weather])
    return (await client.aio.models.generate_content(model=MODEL, contents=QUESTION, config=config)).text or ""


def chat() -> str:
    session = client.chats.create(model=MODEL, config=types.GenerateContentConfig(tools=[get_weather]))
    return session.send_message(QUESTION).text or ""


def formed() -> Any:
    config = types.GenerateContentConfig(response_mime_type="application/json", response_json_schema=FORM_SCHEMA)
    return client.models.generate_content(model=MODEL, contents=FORM_QUESTION, config=config).parsed


def models() -> Any:
    return [listed(model.name or "") for model in client.models.list()]


def tokens() -> Any:
    return (client.models.count_tokens(model=MODEL, contents=QUESTION).total_tokens or 0) > 0


if __name__ == "__main__":
    run(
        *(manual, automatic, automatic_whole, automatic_async, chat),
        others={formed: FORM, models: [f"models/{MODEL}"], tokens: True},
    )
