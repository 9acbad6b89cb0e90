"""A scripted model that waits where it is told to: for responses that are still under way."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from dragoman.effects import Close, Effect, Open, Read
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.upstreams import ScriptedReply, answered, refusal

BREAK = {"error": {"message": "it fell over", "type": "server_error"}}
CALL = (("c1", "look", {"at": "sky"}),)


class HeldModel(ScriptedPeer):
    """Says what it is told by the last turn: hold, break, length, look up, echo; else how many turns it was shown.

    What it holds it says once `go` is set; `let_go` is set when that was not waited for.
    """

    def __init__(self, back: str = "openai_chat") -> None:
        super().__init__(self._reply)
        self._back = back
        self.go, self.let_go = threading.Event(), threading.Event()

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """What it was asked."""
        return [json.loads(sent.body) for sent in self.sent]

    def _reply(self, sent: Open) -> Answer:
        body = json.loads(sent.body)
        turns = body["messages"]
        last = json.dumps(turns[-1])
        if "break" in last:
            return refusal(400 if "break 400" in last else 500, BREAK)
        if "break" in json.dumps(turns[0]):
            return refusal(400, BREAK)
        if "handoff summary" in last:
            return answered(self._back, ScriptedReply(("They like ", "teal.")), body)
        if "look up" in last:
            return answered(self._back, ScriptedReply((), CALL), body)
        if "echo" in last:
            return answered(self._back, ScriptedReply((json.dumps(turns),)), body)
        stop = "length" if "length" in last else "stop"
        return answered(self._back, ScriptedReply((f"{len(turns)}", " turns"), stop=stop), body)

    def performer(self, *_: Any) -> Callable[[Effect], Awaitable[Any]]:
        """Performs the effects of one machine."""
        plain, holds = super().performer(), False

        async def perform(effect: Effect) -> Any:
            nonlocal holds
            if isinstance(effect, Open):
                holds = b"hold" in effect.body
            if isinstance(effect, Close) and holds and not self.go.is_set():
                self.let_go.set()
            if isinstance(effect, Read) and holds:
                while not self.go.is_set():
                    await asyncio.sleep(0.01)
            return await plain(effect)

        return perform
