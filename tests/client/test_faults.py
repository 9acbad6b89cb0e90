"""Whatever breaks, no result is lost, no tool runs twice, every end is typed, and both clients tell the same."""

from __future__ import annotations

import asyncio
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.client import AsyncClient, Client
from dragoman.errors import ErrorCode, ErrorKind, ProviderError
from dragoman.fallback import RouteAsked, RouteFailed, Rules
from dragoman.io import aio
from dragoman.loop import Answered, End, Failed, Policy, Run, ToolEnded
from dragoman.sim.scripted import Answer
from dragoman.tools import Context, tool
from tests.support.both_clients import LATER, NOW, Face, both
from tests.support.clocks import LONG
from tests.support.peer import Exchange, peer, refusing_port
from tests.support.upstreams import ScriptedReply, chat_stream, chat_whole, model, refusal, text_reply

API = "openai_chat"
QUICK = Rules(first=0.0, brief=1.0)
ADDS = ScriptedReply(("Adding.",), (("id0", "add", {"n": 3}),))
DONE = text_reply("Three.")


@dataclass
class Counter:
    """A tool with an effect: how often it happened is what matters."""

    total: int = 0
    keys: list[str] = field(default_factory=list)

    def tool(self) -> Any:
        """The tool."""

        @tool
        def add(n: int, context: Context) -> str:
            self.total += n
            self.keys.append(context.key)
            return f"now {self.total}"

        return add


def results(run: Run) -> list[Any]:
    return [result for message in run.messages for result in message.results]


def every_call_is_answered_once(run: Run) -> bool:
    calls = [call.id for message in run.messages for call in message.calls]
    return [result.call_id for result in results(run)] == calls


# ── both drivers, every scenario ─────────────────────────────────────────────


@tool(read_only=True)
def look(at: str) -> str:
    """Look."""
    return f"{at} is blue"


@tool(read_only=True)
async def listen(to: str) -> str:
    """Listen."""
    await asyncio.sleep(0)
    return f"{to} is loud"


@tool
def breaks() -> str:
    """Break."""
    raise PermissionError(13, "not yours")


@tool
async def works(context: Context) -> str:
    """Work."""
    context.report("begun")
    context.report("ended")
    return "worked"


def asks(*names: str, **arguments: Any) -> ScriptedReply:
    return ScriptedReply(("Now.",), tuple((f"id{at}", name, dict(arguments)) for at, name in enumerate(names)))


DOWN = refusal(503, {"error": {"message": "later"}})
CUT = Answer(
    (*chat_stream(ScriptedReply(("One two three", "four")))[:2], ProviderError("broke off; try again", kind=ErrorKind.NETWORK)),
    headers={"content-type": "text/event-stream"},
)
LENGTH = ScriptedReply(("I will call",), stop="length")
HERMES = text_reply('<tool_call>\n{"name": "look", "arguments": {"at": "it",}}\n</tool_call>')
WRONG = text_reply('<tool_call>\n{"name": "lok", "arguments": {"at": "it"}}\n</tool_call>')
UNFIT = asks("look", where="there")


def raising(_: Any) -> bool:
    raise RuntimeError("the hook is broken")


async def denies(_: Any) -> bool:
    return False


Script = tuple[ScriptedReply | Answer, ...]
SCENARIOS: list[tuple[str, Script, dict[str, Any]]] = [
    ("an answer", (DONE,), {}),
    ("one call", (asks("look", at="sky"), DONE), {}),
    ("calls side by side", (ScriptedReply((), (("a", "look", {"at": "x"}), ("b", "listen", {"to": "y"}))), DONE), {}),
    ("progress", (asks("works"), DONE), {}),
    ("a tool that fails", (asks("breaks"), DONE), {}),
    ("one after the other", (asks("works", "breaks", "works"), DONE), {}),
    ("a call in text", (HERMES, DONE), {}),
    ("an unknown tool", (WRONG, HERMES, DONE), {}),
    ("arguments that do not fit", (UNFIT, UNFIT, asks("look", at="it"), DONE), {}),
    ("a model that never learns", (UNFIT,) * 9, {}),
    ("a limit of turns", (asks("look", at="it"),) * 9, {"policy": Policy(max_turns=2)}),
    ("the same again and again", (asks("look", at="it"),) * 9, {}),
    ("an answer cut short", (LENGTH, DONE), {}),
    ("a provider that recovers", (DOWN, DOWN, DONE), {}),
    ("a provider that does not", (DOWN,) * 9, {}),
    ("a refusal of tools", (refusal(400, {"error": "m does not support tools"}), HERMES, DONE), {}),
    ("a stream that breaks", (CUT,), {}),
    ("a break after a tool ran", (asks("works"), CUT), {}),
    ("an approval denied", (asks("look", at="it"), DONE), {"policy": Policy(approve=denies)}),
    ("a hook that breaks", (asks("look", at="it"), DONE), {"policy": Policy(approve=raising)}),
    ("a value", (ScriptedReply((), (("v", "final_answer", {"value": 3}),)),), {"output": int}),
    (
        "a value that does not fit",
        (text_reply("three"), ScriptedReply((), (("v", "final_answer", {"value": 3}),))),
        {"output": int},
    ),
    ("garbage", (Answer((b"<html>",), headers={"content-type": "text/html"}),) * 9, {}),
    ("an empty answer", (text_reply(""), text_reply("")), {}),
]


@pytest.mark.parametrize(("script", "more"), [row[1:] for row in SCENARIOS], ids=[row[0] for row in SCENARIOS])
def test_both_clients_give_the_same_steps_and_run(script: Script, more: dict[str, Any]) -> None:
    tools = [look, listen, breaks, works]
    outcomes = []
    for face in (NOW, LATER):
        steps, run = face.listen(model(API, *script), "Do it.", tools=tools, **more, client={"rules": QUICK})
        assert every_call_is_answered_once(run)
        outcomes.append((list(map(repr, steps)), repr(run)))
    assert outcomes[0] == outcomes[1]


SLOW = refusal(429, {"error": {"message": "slow down"}}, **{"retry-after": "1"})
lines = st.sampled_from([
    asks("works"), asks("breaks", "works"), asks("look", at="it"), asks("nothing"), UNFIT, HERMES, WRONG, LENGTH, DONE,
    DOWN, SLOW, CUT, text_reply(""), text_reply("I will look now:"), Answer((b"<html>",), headers={"content-type": "text/html"}),
    Answer(status=ProviderError("cannot reach it; try again", kind=ErrorKind.NETWORK)),
])  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(lines, min_size=1, max_size=12))
def test_any_script_ends_typed_and_runs_no_tool_twice(script: list[Any]) -> None:
    ran: list[str] = []

    @tool
    def works(context: Context) -> str:
        ran.append(context.key)
        return "worked"

    steps, run = NOW.listen(model(API, *script, *[DOWN] * 9), "Go.", tools=[look, works, breaks])
    assert isinstance(run.end, get_args(End))
    assert every_call_is_answered_once(run)
    assert len(ran) == len(set(ran))
    ended = [step.result for step in steps if isinstance(step, ToolEnded)]
    assert [result.call_id for result in ended] == [result.call_id for result in results(run)]


# ── a provider that breaks after a tool has run ──────────────────────────────


def answers(it: Exchange, reply: ScriptedReply) -> None:
    """A whole answer, or a stream, as it was asked for."""
    if b'"stream":true' in it.request.replace(b" ", b""):
        it.head()
        it.say(b"".join(chat_stream(reply)))
    else:
        it.whole(chat_whole(reply), headers="content-type: application/json\r\n")


CHUNKED = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def begins(it: Exchange, reply: ScriptedReply, frames: int) -> None:
    """A stream that is reset after so many of its frames."""
    data = b"".join(chat_stream(reply)[:frames])
    it.say(CHUNKED + b"%x\r\n%s\r\n" % (len(data), data))
    it.reset()


def resets(it: Exchange) -> None:
    begins(it, DONE, 1)


def breaks_off(it: Exchange) -> None:
    begins(it, ScriptedReply(("Half an ", "answer.")), 2)


def slow_down(headers: str = "") -> Callable[[Exchange], None]:
    return lambda it: it.whole(b'{"error": {"message": "slow down"}}', "429 Too Many Requests", headers)


FAULTS: list[tuple[str, Callable[[Exchange], None], ErrorKind, int]] = [
    ("hangs", Exchange.until_gone, ErrorKind.TIMEOUT, 2),
    ("resets before a word", resets, ErrorKind.NETWORK, 3),
    ("closes at once", lambda it: it.wire.close(), ErrorKind.NETWORK, 3),
    ("sends garbage", lambda it: it.whole(b"<html>oops</html>"), ErrorKind.GARBLED, 2),
    ("is no HTTP server", lambda it: it.say(b"220 mail.test ESMTP\r\n"), ErrorKind.NETWORK, 3),
    ("429", slow_down(), ErrorKind.RATE_LIMIT, 3),
    ("429 with Retry-After", slow_down("retry-after-ms: 5\r\n"), ErrorKind.RATE_LIMIT, 3),
    ("429 with a long Retry-After", slow_down("retry-after: 3600\r\n"), ErrorKind.RATE_LIMIT, 1),
    ("500", lambda it: it.whole(b"oops", "500 Internal Server Error"), ErrorKind.SERVER, 3),
    ("502", lambda it: it.whole(b"<html>bad gateway</html>", "502 Bad Gateway"), ErrorKind.SERVER, 3),
    ("503", lambda it: it.whole(b"{}", "503 Service Unavailable"), ErrorKind.OVERLOADED, 3),
]


class Faulty:
    """Answers with a call first; then faults so many times; then answers.

    It is the client's `Timeouts` too: brief for the requests it will let hang, for these alone.
    """

    connect = LONG

    def __init__(self, fault: Callable[[Exchange], None], times: int) -> None:
        self._fault, self._times, self._asked = fault, times, -1

    def talk(self, it: Exchange) -> None:
        if it.number == 0:
            answers(it, ADDS)
        elif it.number <= self._times:
            self._fault(it)
        else:
            answers(it, DONE)

    @property
    def idle(self) -> float:
        """Looked at once for each request, in the order in which they are sent."""
        self._asked += 1
        return 0.1 if self._fault is Exchange.until_gone and 0 < self._asked <= self._times else LONG


@pytest.fixture
def _looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Timeouts are looked at for each request, and not remembered."""
    monkeypatch.setattr(aio, "as_aiohttp", aio._as_told)


def run_at(face: Face, url: str, tools: list[Any], *, stream: bool = False, **made: Any) -> tuple[list[Any], Run]:
    """A run against a real server."""
    made = {"model": "m", "base_url": url, "rules": QUICK, "raise_on_failure": False, **made}
    if face is NOW:
        with Client(**made) as client:
            if not stream:
                return [], client.run("Add three.", tools=tools)
            with client.stream("Add three.", tools=tools) as steps:
                return list(steps), steps.run

    async def go() -> tuple[list[Any], Run]:
        async with AsyncClient(**made) as client:
            if not stream:
                return [], await client.run("Add three.", tools=tools)
            async with client.stream("Add three.", tools=tools) as steps:
                return [step async for step in steps], steps.run

    return asyncio.run(go())


@both
@pytest.mark.usefixtures("_looked_at")
@pytest.mark.parametrize(("fault", "kind", "tries"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_a_lasting_fault_ends_the_run_typed(
    face: Face, fault: Callable[[Exchange], None], kind: ErrorKind, tries: int
) -> None:
    counter, faulty = Counter(), Faulty(fault, 99)
    with peer(faulty.talk) as served:
        _, run = run_at(face, served.url, [counter.tool()], timeouts=faulty)
    assert isinstance(run.end, Failed)
    assert isinstance(run.end.error, ProviderError)
    if kind is ErrorKind.NETWORK:
        assert run.end.error.kind in (kind, ErrorKind.GARBLED)
    else:
        assert (run.end.error.kind, len(served.exchanges) - 1) == (kind, tries)
    assert (counter.total, [result.text for result in results(run)]) == (3, ["now 3"])


@both
@pytest.mark.usefixtures("_looked_at")
@pytest.mark.parametrize(
    "fault", [row[1] for row in FAULTS if row[3] > 1], ids=[row[0] for row in FAULTS if row[3] > 1]
)
def test_a_fault_that_passes_costs_nothing_but_a_retry(face: Face, fault: Callable[[Exchange], None]) -> None:
    counter, faulty = Counter(), Faulty(fault, 1)
    with peer(faulty.talk) as served:
        _, run = run_at(face, served.url, [counter.tool()], timeouts=faulty)
    assert run.end == Answered()
    assert (counter.total, len(counter.keys), every_call_is_answered_once(run)) == (3, 1, True)


@both
def test_a_server_that_refuses_connections_ends_the_run_typed(face: Face) -> None:
    _, run = run_at(face, f"http://127.0.0.1:{refusing_port()}", [])
    assert isinstance(run.end, Failed)
    assert isinstance(run.end.error, ProviderError)
    assert run.end.error.code == ErrorCode.ECONNREFUSED


@both
def test_a_stream_that_breaks_off_is_reported_and_never_continued(face: Face) -> None:
    counter = Counter()
    with peer(Faulty(breaks_off, 99).talk) as served:
        steps, run = run_at(face, served.url, [counter.tool()], stream=True)
        assert len(served.exchanges) == 2
    assert isinstance(run.end, Failed)
    assert run.response is not None
    assert run.response.text == "Half an "
    assert len([step for step in steps if isinstance(step, RouteFailed)]) == 1
    assert (counter.total, every_call_is_answered_once(run)) == (3, True)


@both
def test_a_broken_route_is_left_in_mid_run(face: Face) -> None:
    counter = Counter()
    with peer(Faulty(resets, 99).talk) as broken, peer(lambda it: answers(it, DONE)) as sound:
        urls = {"vllm": broken.url, "sglang": sound.url}
        steps, run = run_at(face, "", [counter.tool()], stream=True, base_url=urls, model="vllm/a,sglang/b")
    assert run.end == Answered()
    assert counter.total == 3
    providers = [step.place.provider for step in steps if isinstance(step, RouteAsked)]
    assert (providers[0], providers[-1]) == ("vllm", "sglang")


# ── tools that break ─────────────────────────────────────────────────────────


def raises() -> str:
    raise ConnectionRefusedError(111, "refused")


def is_killed() -> str:
    subprocess.run(["sh", "-c", "kill -9 $$"], check=True)
    return "alive"


@pytest.fixture
def let_go() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@both
@pytest.mark.parametrize("what", ["raises", "is killed", "hangs"])
def test_a_tool_that_breaks_has_a_typed_result(
    face: Face, what: str, let_go: threading.Event
) -> None:
    @tool(timeout=0.05)
    def hangs() -> str:
        """Never come back."""
        let_go.wait(LONG)
        return "too late"

    function: Any = {"raises": raises, "is killed": is_killed, "hangs": hangs}[what]
    counter = Counter()
    script = ScriptedReply((), (("a", what.replace(" ", "_"), {}), ("b", "add", {"n": 3})))
    run = face.run(model(API, script, DONE), "Go.", tools=[function, counter.tool()])
    assert run.end == Answered()
    bad, good = results(run)
    assert bad.is_error
    assert bad.error_code == ErrorCode.TIMEOUT if what == "hangs" else bad.error_code
    assert (good.text, counter.total) == ("now 3", 3)
