"""Haystack: its agent over chat completions and responses, streamed and whole."""

from __future__ import annotations

from typing import Any

from common import KEY, MODEL, QUESTION, URL, get_weather, run
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function
from haystack.utils import Secret


def _agent(kind: Any, stream: Any) -> str:
    generator = kind(model=MODEL, api_key=Secret.from_token(KEY), api_base_url=URL + "/v1")
    agent = Agent(chat_generator=generator, tools=[create_tool_from_function(get_weather)], streaming_callback=stream)
    return str(agent.run(messages=[ChatMessage.from_user(QUESTION)])["last_message"].text)


def chat() -> str:
    return _agent(OpenAIChatGenerator, lambda _: None)


def chat_whole() -> str:
    return _agent(OpenAIChatGenerator, None)


def responses() -> str:
    return _agent(OpenAIResponsesChatGenerator, lambda _: None)


def responses_whole() -> str:
    return _agent(OpenAIResponsesChatGenerator, None)


if __name__ == "__main__":
    run(chat, chat_whole, responses, responses_whole)
