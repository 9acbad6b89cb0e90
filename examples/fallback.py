"""Several models in turn: where one fails, the next answers, and the one that failed rests for a while."""

import os
import sys

from dragoman import Client, DragomanError, Route, Rules, tool
from dragoman.providers.rows import COMPATIBLE

MODEL = os.environ.get("DRAGOMAN_MODEL", "ollama/qwen3:8b")
broken = Route(provider=COMPATIBLE["openai_chat"], base_url="http://127.0.0.1:9/v1", model="nobody-is-there")


@tool(read_only=True)
def get_weather(city: str) -> str:
    """Say what the weather is like."""
    return f"fine in {city}"


with Client([broken, MODEL], tools=[get_weather], rules=Rules(retries=0)) as client:
    try:
        print(client.run("What is the weather in Oslo?").text.strip())
    except DragomanError as error:  # it names each route that failed, and how
        sys.exit(f"no answer: {error}")
    for place, condition in client.health:
        print(f"resting: {place} ({condition.kind})")
