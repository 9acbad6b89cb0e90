"""Backends that ignore tools in silence are found out and told in text; those that only count oddly never are."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

import pytest

from dragoman.codecs.shared.spec import WireFields
from dragoman.effects import Open, Sleep, relay, run
from dragoman.events import EVENTS, Ended, Event, assemble
from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.state.stores import StateStores
from dragoman.gateway.telemetry.exchange_record import ExchangeRecord
from dragoman.gateway.telemetry.logs import line
from dragoman.gateway.telemetry.metrics import Metrics
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.providers.spec import Tools
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.turn.capabilities import Capabilities
from dragoman.turn.machine import turn
from dragoman.turn.prompt_count import least_tokens
from dragoman.turn.tool_support import Finding, Support
from dragoman.types import (
    NOTHING,
    IssueKind,
    JsonObject,
    Media,
    Message,
    Request,
    Response,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from tests.support.asgi import call
from tests.support.upstreams import ScriptedReply, answered, refusal, text_reply

CHAT, MESSAGES, OLLAMA = "openai_chat", "anthropic_messages", "ollama_chat"


def declared(name: str, description: str, **properties: str) -> Tool:
    made = {key: {"type": "string", "description": words} for key, words in properties.items()}
    return Tool(name=name, description=description, parameters={"type": "object", "properties": made})


WEATHER = declared(
    "get_weather", "Tell the weather of a city for some days, with temperature, wind and rain, from the national service.",
    city="The name of the city, in English, as it stands in an atlas.", days="How many days the forecast is to reach.",
)  # fmt: skip
PLACES = declared("find_places", "Find places near a city that are open today, with their addresses and opening hours.")
MAIL = declared(
    "send_mail", "Send a mail to one person, with a subject and a text, and with no attachment at all.",
    to="The address of who is to get it.", text="What is to be said, as plain text.",
)  # fmt: skip
USUAL = (WEATHER, PLACES, MAIL)
LONG = tuple(
    declared(f"tool_{n}", "Read what stands in the record of this number and give all of it back as a table. " * 6)
    for n in range(8)
)
SHORT = (Tool(name="get_weather", description="Tell the weather."),)
TINY = (Tool(name="now"),)
FAR = (declared("tenki", "指定した都市の天気予報を国の気象サービスから取得して、気温と風と雨を日ごとに返します。", toshi="都市の名前"),)
ASK = "What is the weather in Oslo?"
WORDS = "the quick brown fox jumps over the lazy dog while nobody looks "
IMAGE = Media(mime="image/png", data="iVBORw0KGgoAAAANSUhEUg==")


# ── backends ─────────────────────────────────────────────────────────────────


def _texts(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return " ".join(_texts(v) for k, v in value.items() if k not in {"role", "type", "id", "model", "image_url"})
    return " ".join(map(_texts, value)) if isinstance(value, list) else ""


def subwords(text: str) -> int:
    """As byte pairs do: words of up to six letters are one token, signs are one each, other scripts one a character."""
    return sum(ceil(len(w) / 6) for w in re.findall(r"[A-Za-z0-9]+", text)) + len(re.findall(r"[^\sA-Za-z0-9]", text))


def superwords(text: str) -> int:
    """As tokenizers whose tokens span words do (SuperBPE: a third fewer than words)."""
    return int(len(text.split()) * 0.66)


def quarters(text: str) -> int:
    return len(text) // 4


def spaced(text: str) -> int:
    return len(text.split())


def octets(text: str) -> int:
    return len(text.encode())


Count = Callable[[str, str, int], "int | None"]
"""Texts of the messages and of the tools, and how often it was asked → the tokens it says; None for no usage."""


def honest(tokens: Callable[[str], int] = subwords, more: int = 8) -> Count:
    return lambda messages, tools, _: tokens(messages) + tokens(tools) + more


HONEST = honest()


def constant(number: int | None) -> Count:
    return lambda *_: number


def messages_only(messages: str, tools: str, asked: int) -> int:
    return subwords(messages) + 8


def only_new(messages: str, tools: str, asked: int) -> int:
    """As a server with a cache of prompts, whose count leaves out what it has seen."""
    return subwords(messages[-60:]) + 4


def cut_off(messages: str, tools: str, asked: int) -> int:
    return min(subwords(messages) + subwords(tools), 4096)


CALL = '<tool_call>\n{{"name": "{name}", "arguments": {{"city": "Oslo"}}}}\n</tool_call>'
NAME = re.compile(r'"name": ?"([A-Za-z_]\w*)"')


@dataclass
class Backend:
    """`ignores`: tools of the wire never reach its model.  `calls`: the model calls a tool that it knows and is asked for;
    `canary`: its answer when it is asked for the tools that it was sent: it calls one, names them, or says this."""

    api: str = CHAT
    ignores: bool = False
    calls: bool = True
    count: Count = HONEST
    cached: float = 0.0
    canary: str = "names"
    asked: int = 0

    def __call__(self, sent: Open) -> Answer:
        body = json.loads(sent.body)
        self.asked += 1
        tools = [] if self.ignores else body.get("tools") or []
        messages = _texts([body.get("system") or "", body["messages"]])
        reply = self._says(body, messages, tools)
        if isinstance(reply, int):
            return refusal(reply, {"error": {"message": "busy"}})
        return self._counted(answered(self.api, reply, body), self.count(messages, _texts(tools), self.asked))

    def _says(self, body: dict[str, Any], messages: str, tools: list[Any]) -> ScriptedReply | int:
        names = NAME.findall(json.dumps(tools))
        told = "get_weather" in messages or "tool_3" in messages
        last = _texts(body["messages"][-1:])
        if body.get("tools") and "weather" not in json.dumps(body["tools"]) and "tool_3" not in json.dumps(body["tools"]):
            if self.canary.isdigit():
                return int(self.canary)
            if self.canary == "names" and names:
                return text_reply(f"I can use {', '.join(names)}.")
            if self.canary == "calls" and names:
                return ScriptedReply(calls=(("c9", names[0], {}),))
            cut = self.canary == "cut"
            return text_reply("I have no tools." if self.canary in {"names", "calls"} else "Well, " if cut else self.canary,
                              stop="length" if cut else "stop")  # fmt: skip
        if not self.calls or not re.search("weather|天気|tool", last):
            return text_reply("It depends on the season.")
        if names:
            return ScriptedReply(calls=(("c1", names[0], {"city": "Oslo"}),))
        name = "tool_3" if "tool_3" in messages else "get_weather"
        return text_reply(CALL.format(name=name) if told else "I have no way to look that up.")

    def _counted(self, answer: Answer, count: int | None) -> Answer:
        old, new = '"(prompt_tokens|input_tokens|prompt_eval_count)": 7', f'"\\1": {count}'
        if self.cached and count is not None:
            read = int(count * self.cached)
            new = f'"\\1": {count - read}, "cache_read_input_tokens": {read}'
        if count is None:
            old, new = r'"usage": \{[^{}]*\}|"prompt_eval_count": 7,|"eval_count": 5,', ""
        pieces = [p.decode() for p in answer.pieces if isinstance(p, bytes)]
        made = [re.sub(r", ?(?=[},])", "", re.sub(old, new, p)) if count is None else re.sub(old, new, p) for p in pieces]
        return replace(answer, pieces=tuple(p.encode() for p in made))


# ── scenes ───────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Scene:
    """What is asked how often, of which backend; then: was a call made, how often it was asked, is it told in text?"""

    id: str
    backend: Backend
    call: bool
    asked: int
    text: bool
    says: Sequence[Sequence[Message] | str] = (ASK,)
    tools: tuple[Tool, ...] = USUAL
    stream: bool = False
    choice: ToolChoice | None = None
    route: Tools | None = None
    hours: float = 0.0
    extra: JsonObject = NOTHING


def ignoring(**more: Any) -> Backend:
    return Backend(ignores=True, **more)


def user(*parts: Any) -> Message:
    return Message("user", parts)


SYSTEM = Message("system", WORDS * 20)
WORSE = Message("system", WORDS * 58)
SEARCH = {"type": "web_search", "external_web_access": True}
SIGNS = Message("system", "- the `quick` brown fox: jumps (over the lazy dog), while nobody looks. " * 90)
HUGE = Message("system", WORDS * 450)
PAST = (
    user(Text("And in Rome?")),
    Message("assistant", [ToolCall(id="c0", name="find_places", arguments={})]),
    Message("tool", [ToolResult(call_id="c0", name="find_places", content="14 degrees and rain")]),
    Message("assistant", "14 degrees."),
)
FOUND = [
    Scene("whole", ignoring(), True, 2, True),
    Scene("streamed", ignoring(), True, 2, True, stream=True),
    Scene("anthropic, behind a system prompt", ignoring(api=MESSAGES), True, 2, True, [(SYSTEM, user(Text(ASK + " Use a tool.")))], LONG, stream=True),
    Scene("ollama", ignoring(api=OLLAMA), True, 2, True),
    Scene("a tokenizer of quarters", ignoring(count=honest(quarters)), True, 2, True, stream=True),
    Scene("a tokenizer of bytes, short and many tools", ignoring(count=honest(octets)), True, 2, True, tools=(*USUAL, *LONG)),
    Scene("a Japanese question", ignoring(), True, 2, True, ["オスロの天気は？"]),
    Scene("no counts", ignoring(count=constant(None)), True, 3, True),
    Scene("counts of nought, streamed", ignoring(count=constant(0)), True, 3, True, stream=True),
    Scene("no counts, a call demanded", ignoring(count=constant(None)), True, 3, True, choice=ToolChoice("required")),
    Scene("one tool demanded by name", ignoring(), True, 2, True, choice=ToolChoice("named", "get_weather"), stream=True),
    Scene("small talk first", ignoring(), True, 5, True, ["Hello!", ASK]),
    Scene("a hidden prompt of the place", ignoring(count=honest(more=60)), True, 2, True, tools=(*USUAL, *LONG)),
    Scene("a huge system prompt before few tools", ignoring(), True, 3, True, [(HUGE, user(Text(ASK)))]),
    Scene("a system prompt so full of signs that it costs as much as with tools", ignoring(), True, 3, True, [(SIGNS, user(Text(ASK)))], LONG, stream=True),
    Scene("the same by quarters, asked twice", ignoring(count=honest(quarters)), True, 4, True, [(SIGNS, user(Text(ASK)))] * 2, LONG),
    Scene("one tool in few words, behind a system prompt", ignoring(), True, 3, True, [(SYSTEM, user(Text(ASK)))], SHORT),
    Scene("beside tools that only another wire has", ignoring(), True, 2, True, extra=WireFields("openai_responses", {"tools": [SEARCH]})),
    Scene("with calls in its history", ignoring(), True, 2, True, [(*PAST, user(Text(ASK)))], tools=(*USUAL, *LONG)),
    Scene("most of it cached", ignoring(api=MESSAGES, cached=0.9), True, 2, True),
    Scene("the next request goes in text at once", ignoring(), True, 3, True, [ASK, ASK]),
    Scene("an hour later it is tried again", ignoring(), True, 4, True, [ASK, ASK], hours=1.5),
]
SPARED = [
    Scene("it answers simply", Backend(calls=False), False, 1, False),
    Scene("it calls", Backend(), True, 1, False),
    Scene("tokens span words", Backend(calls=False, count=honest(superwords)), False, 1, False),
    Scene("tokens span words, behind a system prompt", Backend(calls=False, count=honest(superwords)), False, 1, False, [(SYSTEM, user(Text(ASK)))]),
    Scene("tokens span words, at their worst", Backend(calls=False, count=honest(superwords)), False, 2, False, [(WORSE, user(Text(ASK)))], LONG),
    Scene("characters by four", Backend(calls=False, count=honest(quarters, 0)), False, 1, False, stream=True),
    Scene("words by spaces", Backend(calls=False, count=honest(spaced, 0)), False, 1, False),
    Scene("a cache of prompts counts what is new", Backend(api=OLLAMA, calls=False, count=only_new), False, 6, False, ["Hello!"] * 4),
    Scene("tiny tools", Backend(calls=False), False, 1, False, tools=TINY),
    Scene("tiny tools ignored", ignoring(), False, 1, False, tools=TINY),
    Scene("one tool in few words, behind a system prompt, read", Backend(calls=False), False, 2, False, [(SYSTEM, user(Text(ASK)))], SHORT),
    Scene("counts of nought, names them", Backend(calls=False, count=constant(0)), False, 3, False, [ASK, ASK]),
    Scene("no counts, calls when asked", Backend(calls=False, count=constant(None), canary="calls"), False, 3, False, [ASK, ASK], stream=True),
    Scene("always one token", Backend(calls=False, count=constant(1)), False, 1, False),
    Scene("always one token, after a call", Backend(count=constant(1)), True, 2, False, [ASK, ASK]),
    Scene("only messages are counted", Backend(calls=False, count=messages_only), False, 7, False, [ASK] * 5),
    Scene("only messages are counted, small talk then a call", Backend(count=messages_only), True, 3, False, ["Hello!", ASK]),
    Scene("a huge system prompt", Backend(calls=False), False, 2, False, [(HUGE, user(Text(ASK)))]),
    Scene("a huge system prompt of words by spaces", Backend(calls=False, count=honest(spaced, 0)), False, 2, False, [(HUGE, user(Text(ASK)))]),
    Scene("a huge system prompt, asked for its tools once", Backend(calls=False), False, 5, False, [(HUGE, user(Text(ASK)))] * 4),
    Scene("a huge system prompt, then a call", Backend(), True, 1, False, [(HUGE, user(Text(ASK)))]),
    Scene("a system prompt full of signs, tools read", Backend(calls=False), False, 1, False, [(SIGNS, user(Text(ASK)))], LONG),
    Scene("a system prompt full of signs, tools read, by quarters", Backend(calls=False, count=honest(quarters)), False, 1, False, [(SIGNS, user(Text(ASK)))], LONG),
    Scene("cut to the context", Backend(calls=False, count=cut_off), False, 1, False, [(HUGE, user(Text(ASK)))], LONG),
    Scene("an image that is not counted", Backend(calls=False), False, 1, False, [(user(IMAGE, Text("What is this?")),)]),
    Scene("tools in Japanese", Backend(calls=False), False, 1, False, ["オスロの天気は？"], FAR),
    Scene("Hindi", Backend(calls=False, count=honest(spaced, 0)), False, 1, False, ["कृपया मुझे हिन्दी में बताइए कि ओस्लो का मौसम कैसा है। " * 12]),
    Scene("anthropic, most of it cached", Backend(api=MESSAGES, calls=False, cached=0.95), False, 1, False, stream=True),
    Scene("asked for its tools it is cut short", Backend(calls=False, count=constant(0), canary="cut"), False, 3, False, [ASK, ASK]),
    Scene("asked for its tools it fails", Backend(calls=False, count=constant(0), canary="503"), False, 3, False, [ASK, ASK], stream=True),
    Scene("asked for its tools it says nothing", Backend(calls=False, count=constant(0), canary=""), False, 3, False, [ASK, ASK]),
    Scene("beside tools of its own wire", ignoring(), False, 1, False, extra=WireFields(CHAT, {"tools": [SEARCH]})),
    Scene("beside tools that the caller gave it as they are", ignoring(), False, 1, False, extra={"tools": [SEARCH]}),
    Scene("native tools alone are allowed", ignoring(), False, 1, False, route=Tools.NATIVE),
    Scene("no call is to be made", ignoring(), False, 1, False, choice=ToolChoice("none")),
]
SCENES = [*FOUND, *SPARED]


class Played:
    """A scene, played, and one more request behind it."""

    def __init__(self, scene: Scene) -> None:
        backend = replace(scene.backend, asked=0)
        self.peer, self.learned = ScriptedPeer(backend), Capabilities()
        self.perform = self.peer.sync_performer()
        self.route = Route(provider=COMPATIBLE[backend.api], base_url="http://model.test", tools=scene.route)
        self.events: list[Event] = []
        self.scene = scene
        for number, says in enumerate(scene.says):
            if number and scene.hours:
                self.perform(Sleep(scene.hours * 3600))
            self.response = self.ask((user(Text(says)),) if isinstance(says, str) else tuple(says))
        self.asked, self.told = len(self.peer.sent), self.events
        self.ask((user(Text(ASK)),))
        self.native = bool(json.loads(self.peer.sent[self.asked].body).get("tools"))

    def ask(self, messages: tuple[Message, ...]) -> Response:
        scene = self.scene
        request = Request(model="m", messages=messages, tools=scene.tools, tool_choice=scene.choice, stream=scene.stream, extra=scene.extra)
        self.events = []

        def note(step: Any) -> tuple[()]:
            if type(step) in EVENTS:
                self.events.append(step)
            return ()

        return run(relay(turn(request, self.route, self.learned), on_step=note), self.perform)


@pytest.mark.parametrize("scene", SCENES, ids=[scene.id for scene in SCENES])
def test_who_ignores_tools_is_found_out_and_nobody_else(scene: Scene) -> None:
    played = Played(scene)
    assert bool(played.response.calls) is scene.call
    assert played.asked == scene.asked
    assert played.native is not scene.text
    assert assemble(played.told) == played.response
    assert sum(isinstance(event, Ended) for event in played.told) == 1


# ── what is told, and what is remembered ─────────────────────────────────────


BODY = {
    "model": "m",
    "messages": [{"role": "user", "content": ASK}],
    "tools": [{"type": "function", "function": {"name": t.name, "description": t.description, "parameters": dict(t.parameters)}}
              for t in USUAL],
}  # fmt: skip


@pytest.mark.parametrize("count", [HONEST, constant(None)], ids=["counts", "canary"])
def test_the_answer_says_in_a_header_by_what_it_was_found_out(count: Count) -> None:
    peer = ScriptedPeer(ignoring(count=count))
    config = GatewayConfig(default=Route(provider=COMPATIBLE[CHAT], base_url="http://model.test"))
    gateway = create_app(config, peer)
    found, later = (call(gateway, "/v1/chat/completions", BODY) for _ in range(2))
    streamed = call(gateway, "/v1/chat/completions", {**BODY, "stream": True})
    header = "counts" if count is HONEST else "canary"
    assert [reply.headers["x-dragoman-ignored-tools"] for reply in (found, later, streamed)] == [header] * 3


class Counting(Metrics):
    """Metrics that keep the records they count."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[ExchangeRecord] = []

    def exchange_ended(self, record: ExchangeRecord) -> None:
        super().exchange_ended(record)
        self.records.append(record)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("count", [HONEST, constant(None)], ids=["counts", "canary"])
def test_what_was_asked_besides_is_an_attempt_of_its_own(count: Count, stream: bool) -> None:
    metrics = Counting()
    config = GatewayConfig(default=Route(provider=COMPATIBLE[CHAT], base_url="http://model.test"))
    peer = ScriptedPeer(ignoring(count=count))
    gateway = create_app(config, peer, observers=[metrics])
    body = {**BODY, "stream": stream, "stream_options": {"include_usage": True}} if stream else BODY
    reply = call(gateway, "/v1/chat/completions", body)
    (record,) = metrics.records
    besides = ["", "counts"] if count is HONEST else ["", "canary", "canary"]
    assert [attempt.besides for attempt in record.attempts] == besides
    assert len(peer.sent) == len(besides)
    assert all(attempt.response is not None and attempt.ended for attempt in record.attempts)
    assert record.reasks == 0
    assert line(record)["attempts"] == len(besides)
    assert line(record)["tool_checks"] == len(besides) - 1
    counted = metrics.exposed()[1].decode()
    kind = besides[1]
    assert f'dragoman_tool_checks_total{{kind="{kind}",model="m",route="compatible/m"}} {len(besides) - 1}.0' in counted
    assert f'dragoman_upstream_requests_total{{outcome="ok",route="compatible/m"}} {len(besides)}.0' in counted
    spent = sum(a.response.usage.output for a in record.attempts if a.response and a.response.usage)
    usage = record.response.usage if record.response else None
    assert (usage.output if usage else 0) == spent
    assert not spent or f'"completion_tokens":{spent}'.encode() in reply.body.replace(b" ", b"")


def test_every_answer_told_in_text_says_so_and_what_to_do() -> None:
    played = Played(next(scene for scene in FOUND if len(scene.says) == 2))
    (issue,) = [issue for issue in played.response.issues if issue.kind is IssueKind.TOOLS_IGNORED]
    assert "http://model.test" in issue.message
    assert "dragoman doctor" in issue.message


def test_what_was_asked_besides_is_counted() -> None:
    assert [Played(scene).response.usage.output for scene in FOUND[:2]] == [10, 10]  # type: ignore[union-attr]


def test_a_suspicion_that_comes_to_nothing_is_told_too() -> None:
    played = Played(Scene("", Backend(calls=False, count=messages_only), False, 2, False))
    assert [issue.kind for issue in played.response.issues] == [IssueKind.TOOLS_TESTED]
    assert played.response.text == "It depends on the season."


def test_what_was_found_out_is_known_to_other_processes(tmp_path: Path) -> None:
    one, other = StateStores(tmp_path), StateStores(tmp_path)
    finding = Finding(Support.IGNORED, 5000.0, "counts")
    one.learned.support.note("http://model.test/v1", "m", finding)
    asyncio.run(one.aclose())
    asyncio.run(other.exchange())
    assert other.learned.support.of("http://model.test/v1", "m") == finding
    asyncio.run(other.aclose())


def test_words_are_never_counted_twice() -> None:
    assert least_tokens("don't get_weather caf\u0065\u0301 (2026)") == 4
    assert least_tokens("天気予報を返します हिन्दी") == 0
