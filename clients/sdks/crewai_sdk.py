"""CrewAI: a crew of one with a tool, over chat completions, streamed and whole."""

from __future__ import annotations

from common import KEY, MODEL, QUESTION, URL, get_weather, run
from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool

TOOL = tool("get_weather")(get_weather)


def _crew(llm: LLM) -> str:
    agent = Agent(role="reporter", goal="Answer.", backstory="You report the weather.", llm=llm, tools=[TOOL])
    task = Task(description=QUESTION, expected_output="The weather.", agent=agent)
    return str(Crew(agents=[agent], tasks=[task]).kickoff())


def chat() -> str:
    return _crew(LLM(model=f"openai/{MODEL}", base_url=URL + "/v1", api_key=KEY, stream=True))


def chat_whole() -> str:
    return _crew(LLM(model=f"openai/{MODEL}", base_url=URL + "/v1", api_key=KEY))


if __name__ == "__main__":
    run(chat, chat_whole)
