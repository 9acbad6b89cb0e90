"""A person, or a rule, decides which calls may run; the model is told why one may not."""

import os
import sys

from dragoman import Allowed, ApprovalRequest, Client, Denied, DragomanError, Policy, tool

MODEL = os.environ.get("DRAGOMAN_MODEL", "ollama/qwen3:8b")
files = {"notes.txt": "buy milk", "keys.txt": "secret"}


@tool(read_only=True)
def list_files() -> list[str]:
    """List the files."""
    return sorted(files)


@tool
def delete_file(path: str) -> str:
    """Delete a file."""
    del files[path]
    return f"deleted {path}"


def decide(asking: ApprovalRequest) -> Allowed | Denied:
    """Reading is always allowed; deleting is, but for keys."""
    if asking.runnable.read_only or asking.call.arguments["path"] != "keys.txt":
        return Allowed()
    return Denied("keys are never deleted")


with Client(MODEL, tools=[list_files, delete_file], policy=Policy(approve=decide)) as client:
    for path in ("notes.txt", "keys.txt"):
        try:
            print(client.run(f'Call list_files, then call delete_file with path="{path}".').text.strip())
        except DragomanError as error:
            sys.exit(f"no answer: {error}")

print(f"left: {', '.join(files)}")
