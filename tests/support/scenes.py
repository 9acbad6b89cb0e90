"""Runs over scripted bytes, through the real turn, each by both drivers: whatever a test sees, both did alike."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dragoman.effects import Machine, Outcome, adrive, drive
from dragoman.loop import Corrected, Output, Policy, Run, ToolEnded, ToolStarted, TurnStarted, loop
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.providers.spec import Tools
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.tools import Context, Runnable, ToolSet
from dragoman.turn.capabilities import Capabilities
from dragoman.turn.machine import turn
from dragoman.types import JsonObject, Message, Request, Response, Tool, ToolResult

from .upstreams import ScriptedReply, model, sent, text_reply

__all__ = ["ScriptedReply", "sent", "text_reply"]

TASK = Message("user", "What is up?")
PATH = {"type": "string"}
LOOK: JsonObject = {
    "type": "object",
    "properties": {"at": {"type": "string"}, "times": {"type": "integer"}},
    "required": ["at"],
}
WRITE: JsonObject = {"type": "object", "properties": {"path": PATH, "text": PATH}, "required": ["path", "text"]}


@dataclass
class Shop:
    """Tools that remember what they did."""

    ran: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def tools(self) -> ToolSet:
        return ToolSet(
            self.make("look", LOOK, lambda a: f"{a['at']} is blue", read_only=True),
            self.make("write", WRITE, lambda a: {"written": len(a["text"])}),
        )

    def make(self, name: str, schema: JsonObject, function: Callable[[JsonObject], Any], **more: Any) -> Runnable:
        def run(arguments: JsonObject, context: Context) -> Any:
            self.ran.append((name, dict(arguments)))
            self.keys.append(context.key)
            return function(arguments)

        return Runnable(tool=Tool(name=name, parameters=schema), function=run, **more)


@dataclass
class Played:
    """One run: what it came to, what was told, what the model was sent, what the tools did."""

    run: Run
    steps: list[Any]
    memory: ScriptedPeer
    shop: Shop

    def of(self, kind: type) -> list[Any]:
        return [step for step in self.steps if isinstance(step, kind)]

    @property
    def results(self) -> list[ToolResult]:
        return [step.result for step in self.of(ToolEnded)]

    @property
    def started(self) -> list[str]:
        return [step.call.name for step in self.of(ToolStarted)]

    @property
    def requests(self) -> list[Request]:
        return [step.request for step in self.of(TurnStarted)]

    @property
    def corrections(self) -> list[str]:
        return [step.message.text for step in self.of(Corrected) if step.message is not None]


def route(api: str = "openai_chat", **more: Any) -> Route:
    return Route(provider=COMPATIBLE[api], base_url="http://model.test", **more)


IN_TEXT = route(tools=Tools.TEXT)
IN_PROTOCOL = route(tools=Tools.TEXT, prompt_dialect="json_protocol", dialects="json_protocol")


def play(
    *turns: ScriptedReply | Answer | str,
    to: Route | None = None,
    api: str = "openai_chat",
    policy: Policy | None = None,
    output: Output | None = None,
    shop: type[Shop] = Shop,
    tools: Callable[[Shop], ToolSet] | None = None,
    messages: Sequence[Message] = (TASK,),
    learned: Callable[[], Capabilities] = Capabilities,
    **more: Any,
) -> Played:
    """Run once by each driver; both must tell the same steps and come to the same."""
    script = [text_reply(one) if isinstance(one, str) else one for one in turns]
    target = to or route(api)

    def machine(into: Shop, known: Capabilities) -> Machine[Run]:
        def ask(request: Request) -> Machine[Response]:
            return turn(request, target, known)

        kit = tools(into) if tools is not None else into.tools()
        request = Request(model="m", messages=tuple(messages), stream=True, **more)
        return loop(request, ask, kit, policy or Policy(), output, "r")

    first = _now(machine, model(api, *script), shop())
    second = asyncio.run(_awaited(machine, model(api, *script), shop()))
    assert _comparable(first.steps) == _comparable(second.steps)
    assert first.shop.ran == second.shop.ran or sorted(map(repr, first.shop.ran)) == sorted(map(repr, second.shop.ran))
    assert _comparable(first.run) == _comparable(second.run)
    check(first)
    return first


TRACEBACK = re.compile(r"'traceback': (?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")


def _comparable(what: Any) -> str:
    """Everything but the traceback of a tool that failed, which says who ran it."""
    return TRACEBACK.sub("", repr(what))


Make = Callable[[Shop, Capabilities], Machine[Run]]


def _now(make: Make, memory: ScriptedPeer, shop: Shop) -> Played:
    outcome: Outcome[Run] = Outcome()
    steps = list(drive(make(shop, Capabilities()), memory.sync_performer(), outcome))
    memory.close()
    return Played(outcome.value, steps, memory, shop)


async def _awaited(make: Make, memory: ScriptedPeer, shop: Shop) -> Played:
    outcome: Outcome[Run] = Outcome()
    steps = [step async for step in adrive(make(shop, Capabilities()), memory.performer(), outcome)]
    return Played(outcome.value, steps, memory, shop)


def check(played: Played) -> None:
    """What holds of every run: every call has exactly one result, right after it, in its order."""
    messages = played.run.messages
    for at, message in enumerate(messages):
        if message.calls:
            assert messages[at + 1].role == "tool"
            assert [r.call_id for r in messages[at + 1].results] == [c.id for c in message.calls]
            assert len({c.id for c in message.calls}) == len(message.calls)
        elif message.role == "tool":
            assert messages[at - 1].calls


def raw_call(text: str, stop: str = "tool_calls", name: str = "look") -> Answer:
    """A native call whose arguments are this text, valid or not."""
    return raw_calls([(name, text)], stop)


def raw_calls(calls: Sequence[tuple[str, str]], stop: str = "tool_calls") -> Answer:
    """Native calls whose arguments are these texts, valid or not."""
    chunks: list[dict[str, Any]] = []
    for n, (name, text) in enumerate(calls):
        call = {"index": n, "id": f"c{n}", "type": "function", "function": {"name": name, "arguments": text}}
        chunks.append({"delta": {"role": "assistant", "tool_calls": [call]}, "finish_reason": None})
    chunks.append({"delta": {}, "finish_reason": stop})
    head = {"id": "u1", "object": "chat.completion.chunk", "created": 1, "model": "up"}
    frames = [f"data: {json.dumps({**head, 'choices': [{'index': 0, **chunk}]})}\n\n".encode() for chunk in chunks]
    return Answer((*frames, b"data: [DONE]\n\n"), headers={"content-type": "text/event-stream"})


def calling(*calls: tuple[str, JsonObject], text: str = "") -> ScriptedReply:
    """An answer that makes native calls."""
    return ScriptedReply((text,) if text else (), tuple((f"c{n}", name, given) for n, (name, given) in enumerate(calls)))
