"""A journalled run in a process that may be killed at any point: `python -m tests.support.journalled` forks them.

A line of its input is JOURNAL, EFFECTS and KILL_AT, between tabs; the line of its output is how that process ended, and
what the run came to.  The model is scripted and has no memory: what it says follows from the conversation.  Everything
that happens is a tick; at tick KILL_AT the process kills itself as `kill -9` would.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from dragoman.client import Client
from dragoman.client import operations as plans
from dragoman.effects import Effect, Open
from dragoman.errors import JournalError
from dragoman.loop import Policy, Run
from dragoman.loop.journal import JournalStore
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.tools import Context, tool

from .upstreams import ScriptedReply, answered, text_reply

API = "openai_chat"
PAYMENTS = 3
KEY = "sk-very-secret-key-0123456789"
URL = "http://model.test"


class Clock:
    """Counts what happens, and ends the process when its time has come."""

    def __init__(self, kill_at: int) -> None:
        self.ticks, self._kill_at = 0, kill_at

    def tick(self, *_: Any) -> None:
        """Something happened."""
        self.ticks += 1
        if self.ticks == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)


def script(request: Open) -> Answer:
    """Look, pay and send in turn, each time with the next number; then say so."""
    body = json.loads(request.body)
    done = sum(message["role"] == "tool" for message in body["messages"])
    turn = done // 3
    if turn == PAYMENTS:
        return answered(API, text_reply("All is paid."), body)
    calls = (("look", {"n": turn}), ("pay", {"n": turn}), ("send", {"n": turn}))
    return answered(API, ScriptedReply(("Next.",), tuple((f"{turn}{name}", name, args) for name, args in calls)), body)


def tools_for(effects: Path, clock: Clock) -> list[Any]:
    """A tool that may be repeated, one that may be repeated with its key, and one that may not."""

    @tool(read_only=True)
    def look(n: int) -> str:
        """Look at an invoice."""
        clock.tick()
        return f"invoice {n}"

    @tool(idempotent=True)
    def pay(n: int, context: Context) -> str:
        """Pay an invoice, once for each key."""
        clock.tick()
        name = hashlib.sha256(context.key.encode()).hexdigest()[:16]
        try:
            with open(effects / f"paid-{n}-{name}", "x", encoding="utf-8") as file:
                file.write(context.key)
        except FileExistsError:
            return f"paid {n} already"
        finally:
            clock.tick()
        return f"paid {n}"

    @tool
    async def send(n: int) -> str:
        """Send a letter; each time it is called one goes out."""
        clock.tick()
        (effects / f"sent-{n}-{time.time_ns()}").touch()
        clock.tick()
        return f"sent {n}"

    return [look, pay, send]


def watched(memory: ScriptedPeer, clock: Clock) -> Any:
    """The performer of `memory`; each effect is a tick before and after."""

    def performer(*given: Any) -> Any:
        perform = memory.sync_performer(*given)

        def ticking(effect: Effect) -> Any:
            clock.tick()
            reply = perform(effect)
            clock.tick()
            return reply

        return ticking

    return performer


class WatchedStore(JournalStore):
    """A store whose every write is a tick before and after."""

    clock = Clock(0)

    def put(self, kind: str, key: str, value: str | None, at: float) -> None:
        self.clock.tick()
        super().put(kind, key, value, at)
        self.clock.tick()


def go(journal: str, effects: Path, clock: Clock) -> Run:
    """Go on with the run, or begin it where it has not begun."""
    WatchedStore.clock = clock
    settings: dict[str, Any] = {"base_url": URL, "api_key": KEY, "policy": Policy(timeout=3600)}
    tools = tools_for(effects, clock)
    with Client("openai/m", **settings, raise_on_failure=False, performer=watched(ScriptedPeer(script), clock)) as client:
        try:
            return client.resume(journal, tools=tools, on_event=clock.tick)
        except JournalError:
            return client.run("Pay all invoices.", tools=tools, journal=journal, on_event=clock.tick)


def main(journal: str, effects: str, kill_at: str) -> dict[str, Any]:
    """What the run came to."""
    clock = Clock(int(kill_at))
    run = go(journal, Path(effects), clock)
    results = [[r.name, r.error_code, r.text] for message in run.messages for r in message.results]
    return {"end": type(run.end).__name__, "text": run.text, "results": results, "ticks": clock.ticks}


def forked(words: list[str]) -> tuple[int, str]:
    """The exit code of a process that does it (negative: the signal that killed it), and what it printed."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            os.write(writes, json.dumps(main(*words)).encode())
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writes)
    with os.fdopen(reads, encoding="utf-8") as printed:
        text = printed.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text


if __name__ == "__main__":
    setattr(plans, "JournalStore", WatchedStore)  # noqa: B010
    for line in sys.stdin:
        print(json.dumps(forked(line.rstrip("\n").split("\t"))), flush=True)
