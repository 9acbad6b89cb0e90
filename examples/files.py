"""A task of several steps with real files; what fails is told to the model as a code it can act on."""

import os
import sys
import tempfile
from pathlib import Path

from dragoman import Client, DragomanError, ErrorCode, Policy, ToolError, tool

MODEL = os.environ.get("DRAGOMAN_MODEL", "ollama/qwen3:8b")
folder = Path(tempfile.mkdtemp(prefix="dragoman-example-"))
(folder / "january.txt").write_text("rent 700.50\ngroceries 212.35\n", encoding="utf-8")
(folder / "february.txt").write_text("rent 700.50\ngroceries 187.90\n", encoding="utf-8")


def inside(path: str) -> Path:
    """The file at `path`, which has to be in the folder."""
    target = (folder / path).resolve()
    if not target.is_relative_to(folder.resolve()):
        raise ToolError(ErrorCode.EACCES, f"{path} is outside the folder; use a path inside it")
    return target


@tool(read_only=True)
def read_file(path: str) -> str:
    """Read a text file."""
    return inside(path).read_text(encoding="utf-8")


@tool(read_only=True)
def calculate(expression: str) -> str:
    """Add numbers: `1.5 + 2`."""
    return f"{sum(map(float, expression.split('+'))):.2f}"


@tool
def write_file(path: str, content: str) -> str:
    """Write a text file."""
    inside(path).write_text(content, encoding="utf-8")
    return f"wrote {len(content)} characters to {path}"


with Client(MODEL, policy=Policy(max_turns=12, timeout=600)) as client:
    try:
        run = client.run(
            "Read january.txt and february.txt, add up the amounts, and write the total to total.txt.",
            tools=[read_file, calculate, write_file],
        )
    except DragomanError as error:
        sys.exit(f"not done: {error}")

print(run.text.strip())
total = folder / "total.txt"
print(f"total.txt holds {total.read_text(encoding='utf-8').strip()}" if total.exists() else "there is no total.txt")
