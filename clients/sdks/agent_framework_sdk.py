"""Microsoft's Agent Framework: responses and chat completions, streamed and whole."""

from __future__ import annotations

from typing import Any

from agent_framework import Agent
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient
from common import KEY, MODEL, QUESTION, URL, get_weather, run


def _agent(kind: Any) -> Any:
    client = kind(model=MODEL, base_url=URL + "/v1", api_key=KEY)
    # The whole conversation is sent in every turn: the gateway keeps none.
    return Agent(client=client, instructions="Answer.", tools=[get_weather], default_options={"store": False})


async def _streamed(kind: Any) -> str:
    return "".join([update.text async for update in _agent(kind).run(QUESTION, stream=True)])


async def chat() -> str:
    return await _streamed(OpenAIChatCompletionClient)


async def chat_whole() -> str:
    return str((await _agent(OpenAIChatCompletionClient).run(QUESTION)).text)


async def responses() -> str:
    return await _streamed(OpenAIChatClient)


async def responses_whole() -> str:
    return str((await _agent(OpenAIChatClient).run(QUESTION)).text)


if __name__ == "__main__":
    run(chat, chat_whole, responses, responses_whole)
