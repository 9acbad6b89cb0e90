"""A run that outlives its process: every step is written down, and no tool that ended runs twice."""

import os
import sys
import tempfile
from pathlib import Path

from dragoman import Client, Context, DragomanError, tool

MODEL = os.environ.get("DRAGOMAN_MODEL", "ollama/qwen3:8b")
journal = Path(tempfile.mkdtemp(prefix="dragoman-example-")) / "run.db"
paid: list[str] = []


@tool
def pay(invoice: str, context: Context) -> str:
    """Pay an invoice."""
    paid.append(invoice)  # a bank would be given `context.key`, which is the same when a call is repeated after a crash
    return f"paid {invoice} ({len(context.key)} characters of key)"


try:
    with Client(MODEL, tools=[pay]) as client:
        client.run('Call pay with invoice="A-1", then call pay with invoice="A-2".', journal=journal)

    # Had the process died in between, this would go on where it was; here all is done, and is only told again.
    with Client(MODEL, tools=[pay]) as client:
        run = client.resume(journal)
except DragomanError as error:
    sys.exit(f"stopped after {len(paid)} payments, all of them in {journal}: {error}")

print(run.text.strip())
print(f"paid {len(paid)} times")
