"""The official SDKs over real sockets, at models that think: what they show of it, and what comes back of it.

Each asks with an image, runs the call it gets, gives back what its own objects hold, and gets the answer.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import anthropic
import ollama
import openai
import pytest
from google import genai
from google.genai import types

from dragoman.gateway import GatewayConfig, create_app
from dragoman.providers.route import Route
from dragoman.providers.rows import PROVIDERS
from dragoman.sim.loopback import serving
from tests.support.cells import LOCK, at, fits, scripted
from tests.support.gateways import FUNCTION, SCHEMA, Stage

ROWS = {
    row["id"]: row
    for row in map(
        json.loads, (Path(__file__).parents[1] / "vectors" / "wires" / "thinking_backends.jsonl").read_text().splitlines()
    )
    if row["id"] in {"claude", "gpt responses", "gemini 3", "deepseek", "gpt-oss on ollama"}
}
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
IMAGE = base64.b64encode(PNG).decode()
ASKED = "What is the weather where this was taken?"
RESULT = "It rains."
PARAMETERS = json.loads(json.dumps(SCHEMA).replace('"at"', '"city"'))
TOOL = {**FUNCTION["function"], "name": "weather", "parameters": PARAMETERS}
Talk = Callable[[str, str, bool], tuple[str, Any, str]]
"""Address, model, streamed → the reasoning shown, the call's arguments, the answer."""


def _route(row: dict[str, Any]) -> Route:
    place = replace(PROVIDERS[row["backend"]], auth=LOCK, or_auth=(), settings=(), url_env=(), base_url="http://model.test/v1")
    return Route(provider=place, model=row["model"], base_url="http://model.test/v1", key="k")


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    staged = Stage()
    models = {name.replace(" ", "-"): _route(row) for name, row in ROWS.items()}
    with serving(create_app(GatewayConfig(models=models), staged)) as staged.url:
        yield staged


def talk_chat(url: str, model: str, stream: bool) -> tuple[str, Any, str]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client:

        def ask(messages: list[Any]) -> Any:
            more: dict[str, Any] = {"model": model, "messages": messages, "tools": [{"type": "function", "function": TOOL}]}
            if not stream:
                return client.chat.completions.create(**more).choices[0].message
            with client.chat.completions.stream(**more) as events:
                return events.get_final_completion().choices[0].message

        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}}
        messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": ASKED}, image]}]
        first = ask(messages)
        [call] = first.tool_calls
        messages.append(first.model_dump(exclude_none=True, exclude={"parsed"}))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": RESULT})
        shown = getattr(first, "reasoning_content", None) or ""
        return shown, json.loads(call.function.arguments), ask(messages).content


def talk_responses(url: str, model: str, stream: bool) -> tuple[str, Any, str]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client:
        tools: list[Any] = [{"type": "function", **TOOL}]

        def ask(items: list[Any]) -> Any:
            more: dict[str, Any] = {
                "model": model, "input": items, "tools": tools, "store": False, "include": ["reasoning.encrypted_content"]
            }  # fmt: skip
            if not stream:
                return client.responses.create(**more)
            with client.responses.stream(**more) as events:
                return events.get_final_response()

        image = {"type": "input_image", "image_url": f"data:image/png;base64,{IMAGE}"}
        items: list[Any] = [{"role": "user", "content": [{"type": "input_text", "text": ASKED}, image]}]
        first = ask(items)
        [call] = [item for item in first.output if item.type == "function_call"]
        thought = "".join(part.text for item in first.output if item.type == "reasoning" for part in item.summary)
        items += [item.model_dump(exclude_none=True) for item in first.output]
        items.append({"type": "function_call_output", "call_id": call.call_id, "output": RESULT})
        return thought, json.loads(call.arguments), ask(items).output_text


def talk_anthropic(url: str, model: str, stream: bool) -> tuple[str, Any, str]:
    with anthropic.Anthropic(base_url=url, api_key="any", max_retries=0) as client:
        tools: list[Any] = [{"name": "weather", "description": "Look.", "input_schema": PARAMETERS}]

        def ask(messages: list[Any]) -> Any:
            more: dict[str, Any] = {"model": model, "max_tokens": 20000, "messages": messages, "tools": tools}
            if not stream:
                return client.messages.create(**more)
            with client.messages.stream(**more) as events:
                return events.get_final_message()

        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IMAGE}}
        messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": ASKED}, image]}]
        first = ask(messages)
        [call] = [block for block in first.content if block.type == "tool_use"]
        thought = "".join(block.thinking for block in first.content if block.type == "thinking")
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": RESULT}]
        messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": results}]
        return thought, call.input, "".join(block.text for block in ask(messages).content if block.type == "text")


def talk_ollama(url: str, model: str, stream: bool) -> tuple[str, Any, str]:
    with closing(ollama.Client(host=url)) as client:

        def ask(messages: list[Any]) -> dict[str, Any]:
            more: dict[str, Any] = {"model": model, "messages": messages, "tools": [{"type": "function", "function": TOOL}]}
            pieces = list(client.chat(stream=True, **more)) if stream else [client.chat(stream=False, **more)]
            calls = [call.model_dump() for piece in pieces for call in piece.message.tool_calls or ()]
            text, thought = ("".join(getattr(p.message, key) or "" for p in pieces) for key in ("content", "thinking"))
            return {"role": "assistant", "content": text, "thinking": thought, "tool_calls": calls}

        messages: list[Any] = [{"role": "user", "content": ASKED, "images": [IMAGE]}]
        first = ask(messages)
        [call] = first["tool_calls"]
        messages += [first, {"role": "tool", "tool_name": "weather", "content": RESULT}]
        return first["thinking"], dict(call["function"]["arguments"]), ask(messages)["content"]


def talk_gemini(url: str, model: str, stream: bool) -> tuple[str, Any, str]:
    with closing(genai.Client(api_key="any", http_options=types.HttpOptions(base_url=url))) as client:
        declared = types.FunctionDeclaration(name="weather", description="Look.", parameters_json_schema=PARAMETERS)
        config = types.GenerateContentConfig(
            tools=[types.Tool(function_declarations=[declared])],
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )

        def ask(contents: list[Any]) -> list[types.Part]:
            more: dict[str, Any] = {"model": model, "contents": contents, "config": config}
            models = client.models
            chunks = models.generate_content_stream(**more) if stream else [models.generate_content(**more)]
            found = [chunk.candidates[0].content for chunk in chunks if chunk.candidates]
            return [part for content in found if content is not None for part in content.parts or ()]

        image = types.Part.from_bytes(data=PNG, mime_type="image/png")
        contents: list[Any] = [types.Content(role="user", parts=[types.Part(text=ASKED), image])]
        first = ask(contents)
        [call] = [part.function_call for part in first if part.function_call]
        result = types.Part.from_function_response(name="weather", response={"output": RESULT})
        contents += [types.Content(role="model", parts=first), types.Content(role="user", parts=[result])]
        thought = "".join(part.text or "" for part in first if part.thought)
        return thought, call.args, "".join(part.text or "" for part in ask(contents) if not part.thought)


SDKS: dict[str, Talk] = {
    "openai chat": talk_chat,
    "openai responses": talk_responses,
    "anthropic": talk_anthropic,
    "ollama": talk_ollama,
    "google-genai": talk_gemini,
}


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_sdk_shows_the_thinking_and_gives_back_what_the_model_needs(
    stage: Stage, sdk: str, name: str, stream: bool
) -> None:
    row = ROWS[name]
    stage.plays = scripted(row)
    thought, arguments, said = SDKS[sdk](stage.url, name.replace(" ", "-"), stream)
    assert arguments == {"city": "Oslo"}
    assert said == "fine"
    if "I look" in json.dumps(row["answers"][0]):
        assert thought.strip() == "I look."
    raw = stage.plays.sent[-1].body.decode()
    assert (IMAGE in raw) is (name != "deepseek"), "DeepSeek takes no images: it is told of them in words"
    assert RESULT in raw
    for path, wish in row["sent"].items():
        assert fits(at(json.loads(raw), path), wish), (path, at(json.loads(raw), path))
