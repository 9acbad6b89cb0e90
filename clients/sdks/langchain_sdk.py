"""LangChain: chat models of three providers, streamed, and a LangGraph agent."""

from __future__ import annotations

from typing import Any

from common import KEY, MODEL, QUESTION, URL, get_weather, run
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI

TOOL = tool(get_weather)


def _loop(model: Any) -> str:
    bound = model.bind_tools([TOOL])
    messages: list[Any] = [HumanMessage(QUESTION)]
    while True:
        whole: Any = None
        for chunk in bound.stream(messages):
            whole = chunk if whole is None else whole + chunk
        if not whole.tool_calls:
            content = whole.content
            return content if isinstance(content, str) else "".join(p.get("text", "") for p in content)
        messages.append(whole)
        for call in whole.tool_calls:
            messages.append(ToolMessage(TOOL.invoke(call["args"]), tool_call_id=call["id"]))


def openai_chat() -> str:
    return _loop(ChatOpenAI(model=MODEL, base_url=URL + "/v1", api_key=KEY))


def openai_responses() -> str:
    return _loop(ChatOpenAI(model=MODEL, base_url=URL + "/v1", api_key=KEY, use_responses_api=True))


def anthropic() -> str:
    return _loop(ChatAnthropic(model=MODEL, base_url=URL, api_key=KEY, max_tokens=1024))


def ollama() -> str:
    return _loop(ChatOllama(model=MODEL, base_url=URL))


def agent() -> str:
    graph = create_agent(ChatOpenAI(model=MODEL, base_url=URL + "/v1", api_key=KEY, streaming=True), [TOOL])
    last: Any = None
    for state in graph.stream({"messages": [HumanMessage(QUESTION)]}, stream_mode="values"):
        last = state["messages"][-1]
    return str(last.content)


if __name__ == "__main__":
    run(openai_chat, openai_responses, anthropic, ollama, agent)
