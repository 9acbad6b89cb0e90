"""Claude Agent SDK: Claude Code as a library, with a tool of our own served to it over MCP."""

from __future__ import annotations

from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, query, tool
from common import DESCRIPTION, KEY, MODEL, QUESTION, URL, get_weather, run


@tool("get_weather", DESCRIPTION, {"city": str})
async def weather(given: dict[str, Any]) -> dict[str, Any]:
    """The tool."""
    return {"content": [{"type": "text", "text": get_weather(given["city"])}]}


async def ask() -> str:
    options = ClaudeAgentOptions(
        model=MODEL,
        mcp_servers={"weather": create_sdk_mcp_server("weather", tools=[weather])},
        allowed_tools=["mcp__weather__get_weather"],
        env={
            "ANTHROPIC_BASE_URL": URL,
            "ANTHROPIC_AUTH_TOKEN": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "ENABLE_TOOL_SEARCH": "false",
        },
    )
    text = ""
    async for message in query(prompt=QUESTION, options=options):
        if isinstance(message, ResultMessage):
            text = message.result or ""
    return text


if __name__ == "__main__":
    run(ask)
