"""Agno: agents over five APIs, streamed."""

from __future__ import annotations

import os
from typing import Any

os.environ["AGNO_TELEMETRY"] = "false"

from agno.agent import Agent
from agno.models.anthropic import Claude
from agno.models.google import Gemini
from agno.models.ollama import Ollama
from agno.models.openai import OpenAIResponses
from agno.models.openai.like import OpenAILike
from common import KEY, MODEL, QUESTION, URL, get_weather, run


def _agent(model: Any, *, stream: bool = True) -> str:
    agent = Agent(model=model, tools=[get_weather], telemetry=False)
    if not stream:
        return str(agent.run(QUESTION).content)
    return "".join(str(e.content) for e in agent.run(QUESTION, stream=True) if getattr(e, "event", "") == "RunContent")


def openai_chat() -> str:
    return _agent(OpenAILike(id=MODEL, base_url=URL + "/v1", api_key=KEY))


def openai_chat_whole() -> str:
    return _agent(OpenAILike(id=MODEL, base_url=URL + "/v1", api_key=KEY), stream=False)


def openai_responses() -> str:
    return _agent(OpenAIResponses(id=MODEL, base_url=URL + "/v1", api_key=KEY, store=False))


def anthropic() -> str:
    return _agent(Claude(id=MODEL, api_key=KEY, client_params={"base_url": URL}))


def ollama() -> str:
    return _agent(Ollama(id=MODEL, host=URL))


def gemini() -> str:
    return _agent(Gemini(id=MODEL, api_key=KEY, client_params={"http_options": {"base_url": URL}}))


if __name__ == "__main__":
    run(openai_chat, openai_chat_whole, openai_responses, anthropic, ollama, gemini)
