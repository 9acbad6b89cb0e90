"""smolagents: its agent of tools, which writes its history as text and demands a call in every turn."""

from __future__ import annotations

from common import KEY, MODEL, QUESTION, URL, get_weather, run
from smolagents import OpenAIModel, ToolCallingAgent, tool

model = OpenAIModel(model_id=MODEL, api_base=URL + "/v1", api_key=KEY)


def agent() -> str:
    return str(ToolCallingAgent(tools=[tool(get_weather)], model=model, max_steps=5).run(QUESTION))


def agent_streamed() -> str:
    made = ToolCallingAgent(tools=[tool(get_weather)], model=model, max_steps=5, stream_outputs=True)
    return str(made.run(QUESTION))


if __name__ == "__main__":
    run(agent, agent_streamed)
