"""The shortest program: a function, a question, an answer."""

import os
import sys

from dragoman import Client, DragomanError, tool

MODEL = os.environ.get("DRAGOMAN_MODEL", "ollama/qwen3:8b")


@tool(read_only=True)
def get_weather(city: str) -> str:
    """Say what the weather is like.

    Args:
        city: the name of the city, in English
    """
    return {"Oslo": "rain, 4 °C", "Paris": "sun, 19 °C"}.get(city, "fog")


with Client() as client:
    try:
        run = client.run("What is the weather in Oslo and Paris?", tools=[get_weather], model=MODEL)
    except DragomanError as error:  # no server, a wrong key, a limit: a run that has no answer is raised
        sys.exit(f"no answer: {error}")

print(run.text)
