"""The shortest program: a function, a question, an answer."""

import os

from dragoman import Client, tool

MODEL = os.environ.get("DRAGOMAN_MODEL", "ollama/qwen3:8b")


@tool(read_only=True)
def get_weather(city: str) -> str:
    """Say what the weather is like.

    Args:
        city: the name of the city, in English
    """
    return {"Oslo": "rain, 4 °C", "Paris": "sun, 19 °C"}.get(city, "fog")


with Client() as client:
    run = client.run("What is the weather in Oslo and Paris?", tools=[get_weather], model=MODEL)

print(run.text)
