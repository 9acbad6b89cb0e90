"""AutoGen: its assistant over three APIs, streamed inside."""

from __future__ import annotations

from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ModelInfo
from autogen_ext.models.anthropic import AnthropicChatCompletionClient
from autogen_ext.models.ollama import OllamaChatCompletionClient
from autogen_ext.models.openai import OpenAIChatCompletionClient
from common import KEY, MODEL, QUESTION, URL, get_weather, run

ABOUT = ModelInfo(vision=False, function_calling=True, json_output=True, family="unknown", structured_output=True)


async def _agent(model: Any, *, stream: bool = True) -> str:
    agent = AssistantAgent(
        "weather", model_client=model, tools=[get_weather], model_client_stream=stream, reflect_on_tool_use=True
    )
    return str((await agent.run(task=QUESTION)).messages[-1].content)  # type: ignore[union-attr]


async def openai_chat() -> str:
    return await _agent(OpenAIChatCompletionClient(model=MODEL, base_url=URL + "/v1", api_key=KEY, model_info=ABOUT))


async def openai_chat_whole() -> str:
    model = OpenAIChatCompletionClient(model=MODEL, base_url=URL + "/v1", api_key=KEY, model_info=ABOUT)
    return await _agent(model, stream=False)


async def anthropic() -> str:
    return await _agent(AnthropicChatCompletionClient(model=MODEL, base_url=URL, api_key=KEY, model_info=ABOUT))


async def ollama() -> str:
    return await _agent(OllamaChatCompletionClient(model=MODEL, host=URL, model_info=ABOUT))


if __name__ == "__main__":
    run(openai_chat, openai_chat_whole, anthropic, ollama)
