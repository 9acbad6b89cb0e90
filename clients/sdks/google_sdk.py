"""The official Google Gen AI SDK: contents, streamed, with functions it calls itself and with ours."""

from __future__ import annotations

from typing import Any

from common import KEY, MODEL, QUESTION, SCHEMA, URL, get_weather, run
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


if __name__ == "__main__":
    run(manual, automatic)
