"""Scenes of asking: a model's answers, over every front and in the loop, and what must come of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dragoman.codecs import CODECS
from dragoman.effects import Open, Outcome, drive
from dragoman.gateway import Access, GatewayConfig, create_app
from dragoman.gateway.state.stores import StateStores
from dragoman.gateway.telemetry.exchange_record import Observer
from dragoman.loop import Policy, Run, loop
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.providers.spec import Tools
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.tools import Context, Runnable, ToolSet
from dragoman.turn.capabilities import Capabilities
from dragoman.turn.machine import turn
from dragoman.types import JsonObject, Message, Request, Response, Tool, ToolCall, ToolResult
from tests.support.asgi import Reply, call
from tests.support.gateways import PATHS, read
from tests.support.upstreams import ScriptedReply, answered, refusal, text_reply

FRONTS = {"chat": "openai_chat", "responses": "openai_responses", "anthropic": "anthropic_messages", "ollama": "ollama_chat", "gemini": "gemini"}
DIALECTS = {"fence": "tool_call_fence", "hermes": "hermes"}
Value = tuple[str, dict[str, Any]]


def _schema(required: Sequence[str], **properties: str) -> JsonObject:
    made = {name: {"type": kind} for name, kind in properties.items()}
    return {"type": "object", "properties": made, "required": list(required)}


TOOLS = (
    Tool(name="read_file", description="Read a file.", parameters=_schema(["path"], path="string")),
    Tool(name="write_file", description="Write a file.", parameters=_schema(["path", "content"], path="string", content="string")),
    Tool(name="bash", description="Run a command.", parameters=_schema(["command"], command="string")),
    Tool(name="ping", description="Ping.", parameters=_schema([])),
    Tool(name="get_weather", description="The weather.", parameters=_schema(["city"], city="string", days="integer")),
)


@dataclass(frozen=True)
class Native:
    """An answer of native calls."""

    calls: tuple[Value, ...]


Said = str | Native | int


@dataclass(frozen=True)
class Result:
    """What came of an exchange or a run: calls, text, what of it the client saw, and how often the model was asked."""

    calls: list[Value]
    text: str
    seen: str
    asked: list[dict[str, Any]]
    questions: int
    headers: dict[str, str]
    status: int = 200


QUESTION = "Did you mean to make it?"


class Speaker:
    """A model that gives its answers in order, and the last of them for ever."""

    def __init__(self, back: str = "openai_chat") -> None:
        self.back = back
        self.answers: list[Said] = []
        self.bodies: list[dict[str, Any]] = []
        self.memory = ScriptedPeer(self._answer)

    def _answer(self, sent: Open) -> Answer:
        body = json.loads(sent.body)
        self.bodies.append(body)
        said = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(said, int):
            return refusal(said, {"error": {"message": "no", "type": "server_error"}})
        reply = text_reply(said, size=5) if isinstance(said, str) else ScriptedReply(
            calls=tuple((f"u{n}", name, arguments) for n, (name, arguments) in enumerate(said.calls))
        )  # fmt: skip
        return answered(self.back, reply, body)

    @property
    def questions(self) -> int:
        """How many of its requests end in the question."""
        return sum(QUESTION in json.dumps(body["messages"][-1]) for body in self.bodies)


def route(channel: str, **more: Any) -> Route:
    """The way to the model: native tools, or told in a dialect."""
    kind, _, dialect = channel.partition(":")
    text = {"tools": Tools.TEXT, "prompt_dialect": DIALECTS[dialect]} if kind == "text" else {"tools": Tools.NATIVE}
    return Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test", **text, **more)


def conversation(shown: str = "") -> tuple[Message, ...]:
    """What was said so far; `shown` stands in a tool's result."""
    begun = (Message("user", "Please do it."),)
    if not shown:
        return begun
    made = ToolCall(id="c0", name="read_file", arguments={"path": "page.md"})
    result = ToolResult(call_id="c0", name="read_file", content=shown)
    return (*begun, Message("assistant", [made]), Message("tool", [result]))


class Served:
    """One gateway, asked several times."""

    def __init__(
        self, channel: str, front: str, *, reasks: int = 2, access: tuple[Access, ...] = (), state: Path | None = None,
        observers: Sequence[Observer] = (), **more: Any,
    ) -> None:  # fmt: skip
        self.front, self.speaker = FRONTS[front], Speaker()
        config = GatewayConfig(default=route(channel, **more), reasks=reasks, access=access)
        self.stores = StateStores(state)
        self.app = create_app(config, self.speaker.memory, stores=self.stores, observers=observers)

    def ask(
        self, answers: Sequence[Said], *, stream: bool, model: str = "m", shown: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Result:  # fmt: skip
        self.speaker.answers, self.speaker.bodies = list(answers), []
        request = Request(model=model, messages=conversation(shown), tools=TOOLS, stream=stream)
        body = CODECS[self.front].encode_request(request)
        path = PATHS[self.front].replace("/m:", f"/{model}:")
        if self.front == "gemini" and stream:
            path = path.replace(":g", ":streamG") + "?alt=sse"
        reply: Reply = call(self.app, path, body, headers=headers or {})
        response: Response = read(self.front, reply, stream=stream) if reply.status == 200 else Response()
        return Result(
            [(c.name, dict(c.arguments)) for c in response.calls], response.text, reply.body.decode(),
            self.speaker.bodies, self.speaker.questions, dict(reply.headers), reply.status,
        )  # fmt: skip


class Looped:
    """One client's loop, run several times."""

    def __init__(self, channel: str, **policy: Any) -> None:
        self.speaker, self.channel, self.policy = Speaker(), channel, Policy(**policy)
        self.learned = Capabilities()
        self.ran: list[Value] = []
        self.run: Run | None = None

    def ask(self, answers: Sequence[Said], *, stream: bool, model: str = "m", shown: str = "") -> Result:
        self.speaker.answers, self.speaker.bodies, self.ran = list(answers), [], []
        tools = ToolSet(*(Runnable(tool=tool, function=partial(self._run, tool.name)) for tool in TOOLS))
        request = Request(model=model, messages=conversation(shown), stream=stream)
        ask = partial(turn, route=route(self.channel), learned=self.learned)
        outcome: Outcome[Run] = Outcome()
        steps = [*drive(loop(request, ask, tools, self.policy), self.speaker.memory.sync_performer(), outcome)]
        self.run = outcome.value
        text = "".join(getattr(step, "text", "") for step in steps if type(step).__name__ == "TextDelta")
        return Result(self.ran, self.run.text, text, self.speaker.bodies, self.speaker.questions, {})

    def _run(self, name: str, arguments: JsonObject, context: Context) -> str:
        self.ran.append((name, dict(arguments)))
        return "done"
