"""What happens in a run, while it happens: text as it arrives, calls with what was mended in them, results."""

import os
import sys
from decimal import Decimal

from dragoman import Client, DragomanError, TextDelta, ToolEnded, ToolStarted, tool

MODEL = os.environ.get("DRAGOMAN_MODEL", "ollama/qwen3:8b")


@tool(read_only=True)
def price(item: str) -> Decimal:
    """The price of an item, in euros."""
    return Decimal({"tea": "3.20", "cake": "4.50"}[item])


with Client(MODEL, tools=[price]) as client:
    steps = client.stream('Call price with item="tea" and call price with item="cake".')
    try:
        for step in steps:
            match step:
                case TextDelta(text):
                    print(text, end="", flush=True)
                case ToolStarted(call):
                    edits = len(call.report.edits) if call.report else 0
                    print(f"[{call.name} {dict(call.arguments)}, {edits} mends]")
                case ToolEnded(call, result):
                    print(f"[{call.name} → {result.text}]")
    except DragomanError as error:  # it comes after the last step there was
        sys.exit(f"\nbroken off: {error}")

print(f"\n{steps.run.turns} turns, {steps.run.usage.total} tokens")
