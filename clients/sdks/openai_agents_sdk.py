"""OpenAI Agents SDK: responses and chat completions, streamed."""

from __future__ import annotations

from typing import Any

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from common import KEY, MODEL, QUESTION, URL, get_weather, run
from openai import AsyncOpenAI

set_tracing_disabled(True)


async def _run(kind: Any) -> str:
    model = kind(model=MODEL, openai_client=AsyncOpenAI(base_url=URL + "/v1", api_key=KEY))
    agent = Agent(name="weather", model=model, tools=[function_tool(get_weather)])
    result = Runner.run_streamed(agent, QUESTION)
    async for _ in result.stream_events():
        pass
    return str(result.final_output)


async def responses() -> str:
    return await _run(OpenAIResponsesModel)


async def chat() -> str:
    return await _run(OpenAIChatCompletionsModel)


if __name__ == "__main__":
    run(responses, chat)
