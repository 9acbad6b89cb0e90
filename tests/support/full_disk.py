"""Runs with a journal that has less and less room: prints, for every size, what became of each and what it did.

A program of its own, for the room that a process's files have is the process's.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dragoman.client import Client
from dragoman.errors import DragomanError
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.tools import Context, tool
from tests.support.upstreams import ScriptedReply, model, text_reply

API = "openai_chat"
WIDE = "x" * 9000
ANSWERS = [
    *(ScriptedReply((WIDE,), ((f"p{n}", "pay", {"n": n}), (f"s{n}", "send", {"n": n}))) for n in range(4)),
    text_reply("All is paid."),
]


def answer(sent: Any) -> Answer:
    """What a model without a memory of its own says."""
    done = sum(message["role"] == "tool" for message in json.loads(sent.body)["messages"]) // 2
    return model(API, ANSWERS[done])._answer(sent)


def within(room: int, work: Callable[[], Any]) -> str:
    """How it ends where no file may be larger than `room`; 0: as large as it likes."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room or most, most))
    try:
        return type(work().end).__name__
    except DragomanError as error:
        return f"{type(error).__name__}: {error}"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def tried(path: Path, room: int) -> dict[str, Any]:
    """A run in so much room, continued there, and then with room enough."""
    done: list[str] = []
    keys: list[str] = []

    @tool(idempotent=True)
    def pay(n: int, context: Context) -> str:
        """Pay, once for each key."""
        if context.key not in keys:
            keys.append(context.key)
            done.append(f"paid {n}")
        return WIDE

    @tool
    async def send(n: int) -> str:
        """Send; each call sends."""
        await asyncio.sleep(0)
        done.append(f"sent {n}")
        return WIDE

    tools, ends = [pay, send], []
    to = Route(provider=COMPATIBLE[API], base_url="http://model.test", model="m")
    with Client(to, performer=ScriptedPeer(answer).sync_performer) as client:
        ends.append(within(room, lambda: client.run("Pay.", tools=tools, journal=str(path))))
        first = list(done)
        if not ends[0].startswith("JournalError"):
            return {"room": room, "ends": ends, "done": done, "first": first}
        ends.append(within(room, lambda: client.resume(str(path), tools=tools)))
        ends.append(within(0, lambda: client.resume(str(path), tools=tools)))
        if ends[-1].startswith("JournalError"):  # it had ended before it began
            ends.append(within(0, lambda: client.run("Pay.", tools=tools, journal=str(path))))
    return {"room": room, "ends": ends, "done": done, "first": first}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for size in map(int, sys.argv[2:]):
        print(json.dumps(tried(folder / f"{size}.journal", size)), flush=True)
