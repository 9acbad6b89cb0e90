"""Semantic Kernel: an agent whose functions are called by themselves, streamed and whole."""

from __future__ import annotations

from typing import Annotated

from common import DESCRIPTION, KEY, MODEL, QUESTION, URL, get_weather, run
from openai import AsyncOpenAI
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.functions import kernel_function


class Reports:
    """The plugin."""

    @kernel_function(name="get_weather", description=DESCRIPTION)
    def get_weather(self, city: Annotated[str, "the city"]) -> str:
        """The weather in a city."""
        return get_weather(city)


def _agent() -> ChatCompletionAgent:
    service = OpenAIChatCompletion(ai_model_id=MODEL, async_client=AsyncOpenAI(base_url=URL + "/v1", api_key=KEY))
    return ChatCompletionAgent(service=service, name="weather", instructions="Answer.", plugins=[Reports()])


async def streamed() -> str:
    return "".join([str(piece.message) async for piece in _agent().invoke_stream(messages=QUESTION)])


async def whole() -> str:
    return str((await _agent().get_response(messages=QUESTION)).message)


if __name__ == "__main__":
    run(streamed, whole)
