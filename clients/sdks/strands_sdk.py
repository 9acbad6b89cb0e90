"""Strands Agents: agents over five APIs, streamed, and a form."""

from __future__ import annotations

from typing import Any

from common import FORM, FORM_QUESTION, KEY, MODEL, QUESTION, URL, get_weather, run
from pydantic import BaseModel
from strands import Agent, tool
from strands.models.anthropic import AnthropicModel
from strands.models.gemini import GeminiModel
from strands.models.ollama import OllamaModel
from strands.models.openai import OpenAIModel
from strands.models.openai_responses import OpenAIResponsesModel

AT: Any = {"base_url": URL + "/v1", "api_key": KEY}


def _agent(model: Any) -> str:
    return str(Agent(model=model, tools=[tool(get_weather)], callback_handler=None)(QUESTION))


def openai_chat() -> str:
    return _agent(OpenAIModel(client_args=AT, model_id=MODEL))


def openai_responses() -> str:
    return _agent(OpenAIResponsesModel(client_args=AT, model_id=MODEL))


def anthropic() -> str:
    return _agent(AnthropicModel(client_args={"base_url": URL, "api_key": KEY}, model_id=MODEL, max_tokens=1024))


def ollama() -> str:
    return _agent(OllamaModel(URL, model_id=MODEL))


def gemini() -> str:
    return _agent(GeminiModel(client_args={"api_key": KEY, "http_options": {"base_url": URL}}, model_id=MODEL))


class Report(BaseModel):
    """The report of a temperature."""

    city: str
    temperature: int


def openai_formed() -> Any:
    agent = Agent(model=OpenAIModel(client_args=AT, model_id=MODEL), callback_handler=None)
    return agent(FORM_QUESTION, structured_output_model=Report).structured_output.model_dump()


if __name__ == "__main__":
    run(openai_chat, openai_responses, anthropic, ollama, gemini, others={openai_formed: FORM})
