"""One answer at a time: look at each call and at why it was believed, run it yourself, say what came of it."""

import os
import sys

from dragoman import Client, DragomanError, Message, Tool, ToolResult

MODEL = os.environ.get("DRAGOMAN_MODEL", "ollama/qwen3:8b")
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool(name="get_weather", description="Say what the weather is like.", parameters=CITY)


def get_weather(city: str) -> str:
    """What is run by hand, below."""
    return f"rain in {city}"


TOOLS = [(WEATHER, get_weather)]

try:
    with Client(MODEL) as client:
        said = [Message("user", "What is the weather in Oslo?")]
        answer = client.turn(messages=said, tools=TOOLS)
        results = []
        for call in answer.calls:
            report = call.report
            print(f"{call.name} {dict(call.arguments)}: {report.verdict if report else 'native'}")
            results.append(ToolResult(call_id=call.id, name=call.name, content=get_weather(**call.arguments)))
        said += [answer.message, Message("tool", results)]
        print(client.turn(messages=said, tools=TOOLS).text.strip())
except DragomanError as error:
    sys.exit(f"no answer: {error}")
