"""Google's Agent Development Kit: Gemini, and chat completions through LiteLLM, streamed and whole."""

from __future__ import annotations

from typing import Any

from common import KEY, MODEL, QUESTION, URL, get_weather, run
from google.adk.agents import Agent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models import Gemini
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
from google.genai import types


async def _run(model: Any, mode: Any) -> str:
    agent = Agent(name="weather", model=model, instruction="Answer.", tools=[get_weather])
    runner = InMemoryRunner(agent=agent, app_name="weather")
    session = await runner.session_service.create_session(app_name="weather", user_id="user")
    asked = types.Content(role="user", parts=[types.Part(text=QUESTION)])
    text = ""
    async for event in runner.run_async(
        user_id="user", session_id=session.id, new_message=asked, run_config=RunConfig(streaming_mode=mode)
    ):
        if event.is_final_response() and event.content:
            text = "".join(part.text or "" for part in event.content.parts or ())
    return text


async def gemini() -> str:
    return await _run(Gemini(model=MODEL, base_url=URL), StreamingMode.SSE)


async def gemini_whole() -> str:
    return await _run(Gemini(model=MODEL, base_url=URL), StreamingMode.NONE)


def _litellm() -> Any:
    return LiteLlm(model=f"openai/{MODEL}", api_base=URL + "/v1", api_key=KEY)


async def openai_chat() -> str:
    return await _run(_litellm(), StreamingMode.SSE)


async def openai_chat_whole() -> str:
    return await _run(_litellm(), StreamingMode.NONE)


if __name__ == "__main__":
    run(gemini, gemini_whole, openai_chat, openai_chat_whole)
