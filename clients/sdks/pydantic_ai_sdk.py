"""Pydantic AI: agents over four APIs, streamed."""

from __future__ import annotations

from typing import Any

from common import KEY, MODEL, QUESTION, URL, get_weather, run
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider


async def _run(model: Any) -> str:
    agent = Agent(model, tools=[get_weather])
    async with agent.iter(QUESTION) as steps:
        async for node in steps:
            if Agent.is_model_request_node(node):
                async with node.stream(steps.ctx) as stream:
                    async for _ in stream:
                        pass
    return str(steps.result.output)


async def openai_chat() -> str:
    return await _run(OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=URL + "/v1", api_key=KEY)))


async def openai_responses() -> str:
    return await _run(OpenAIResponsesModel(MODEL, provider=OpenAIProvider(base_url=URL + "/v1", api_key=KEY)))


async def anthropic() -> str:
    return await _run(AnthropicModel(MODEL, provider=AnthropicProvider(base_url=URL, api_key=KEY)))


async def google() -> str:
    return await _run(GoogleModel(MODEL, provider=GoogleProvider(base_url=URL, api_key=KEY)))


if __name__ == "__main__":
    run(openai_chat, openai_responses, anthropic, google)
