"""LlamaIndex: its agent of functions over three APIs, streamed inside, and the chat that predicts and calls."""

from __future__ import annotations

from typing import Any

from common import FORM, FORM_QUESTION, KEY, MODEL, QUESTION, URL, get_weather, run
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.prompts import PromptTemplate
from llama_index.llms.anthropic import Anthropic
from llama_index.llms.ollama import Ollama
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel

OPENAI = OpenAILike(
    model=MODEL,
    api_base=URL + "/v1",
    api_key=KEY,
    is_chat_model=True,
    is_function_calling_model=True,
    context_window=9000,
)


async def _agent(model: Any) -> str:
    agent = FunctionAgent(tools=[get_weather], llm=model, system_prompt="Answer.")
    return str(await agent.run(QUESTION))


async def openai() -> str:
    return await _agent(OPENAI)


async def anthropic() -> str:
    class Named(Anthropic):
        """Its model names are a closed list; a name of one's own needs a size told."""

        @property
        def metadata(self) -> Any:
            return OPENAI.metadata

    return await _agent(Named(model=MODEL, base_url=URL, api_key=KEY))


async def ollama() -> str:
    return await _agent(Ollama(model=MODEL, base_url=URL, context_window=9000))


class Report(BaseModel):
    """The report of a temperature."""

    city: str
    temperature: int


def openai_formed() -> Any:
    return OPENAI.structured_predict(Report, PromptTemplate(FORM_QUESTION)).model_dump()


def ollama_formed() -> Any:
    model = Ollama(model=MODEL, base_url=URL, context_window=9000)
    return model.structured_predict(Report, PromptTemplate(FORM_QUESTION)).model_dump()


if __name__ == "__main__":
    run(openai, anthropic, ollama, others=dict.fromkeys((openai_formed, ollama_formed), FORM))
