"""The fallback chain over scripted bytes: who is asked, who is asked again, who rests, and what is told of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs.shared.errors import http_date
from dragoman.effects import Open, Outcome, drive
from dragoman.errors import ErrorKind, ProviderError, UsageError
from dragoman.events import TextDelta, assemble
from dragoman.fallback import (
    TREATMENTS,
    ChainError,
    Cooling,
    Health,
    RouteAsked,
    RouteFailed,
    RouteSkipped,
    Rules,
    Then,
    chain,
    chaining,
    place,
)
from dragoman.loop.journal.recorder import EVENTS
from dragoman.providers.families import Profile
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, Tools
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.turn.asking import asking
from dragoman.turn.capabilities import Capabilities
from dragoman.turn.reask import Budget
from dragoman.types import IssueKind, Message, Request, Response, Tool
from tests.support.upstreams import ScriptedReply, answered, chat_stream, refusal, text_reply

LOOK = Tool(name="look", parameters={"type": "object", "properties": {"at": {"type": "string"}}})
SLOW_DOWN = {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}
DOWN = refusal(503, {"error": {"message": "out of order"}})
BAD_KEY = refusal(401, {"error": {"message": "who are you", "code": "invalid_api_key"}})
TOO_LONG = refusal(400, {"error": {"message": "too much", "code": "context_length_exceeded"}})
GONE = Answer(status=ProviderError("cannot reach it; is it running?", kind=ErrorKind.NETWORK))
HELLO = text_reply("Hello.")
USUAL = Rules()
Scripted = ScriptedReply | Answer


def route(name: str, **more: Any) -> Route:
    return Route(provider=COMPATIBLE["openai_chat"], model=name, base_url=f"http://{name}.test", **more)


@dataclass
class World:
    """Servers by the name of their model, each with its script; the last line is repeated for ever."""

    scripts: dict[str, list[Scripted]]
    health: Health
    learned: Capabilities

    def __post_init__(self) -> None:
        self.memory = ScriptedPeer(self._answer)
        self.perform = self.memory.sync_performer()

    def _answer(self, sent: Open) -> Answer:
        body = json.loads(sent.body)
        script = self.scripts[body["model"]]
        line = script.pop(0) if len(script) > 1 else script[0]
        return line if isinstance(line, Answer) else answered("openai_chat", line, body)

    @property
    def models(self) -> list[str]:
        return [json.loads(sent.body)["model"] for sent in self.memory.sent]

    @property
    def slept(self) -> list[float]:
        return self.memory.slept

    def later(self, seconds: float) -> None:
        """Time passes."""
        self.memory.slept.append(seconds)

    def ask(
        self, routes: Sequence[Route], request: Request | None = None, rules: Rules = USUAL
    ) -> tuple[Response | ProviderError, list[Any]]:
        """What a chain comes to, and its steps."""
        outcome: Outcome[Response] = Outcome()
        steps: list[Any] = []
        machine = chain(request or plain(), routes, self.health, self.learned, rules)
        try:
            steps.extend(drive(machine, self.perform, outcome))
        except ProviderError as error:
            return error, steps
        return outcome.value, steps


def world(**scripts: Scripted | list[Scripted]) -> World:
    lists = {name: list(script) if isinstance(script, list) else [script] for name, script in scripts.items()}
    return World(lists, Health(), Capabilities())


def plain(**more: Any) -> Request:
    return Request(model="", messages=(Message("user", "Hi."),), **more)


def with_tools(**more: Any) -> Request:
    return plain(tools=(LOOK,), **more)


def texts(response: Response | ProviderError) -> str:
    assert isinstance(response, Response)
    return response.text


def steps_of(steps: list[Any], kind: type) -> list[Any]:
    return [step for step in steps if isinstance(step, kind)]


A, B, C = route("a"), route("b"), route("c")

# ── who is asked, and how often ──────────────────────────────────────────────


def test_the_first_route_that_answers_is_the_only_one_asked() -> None:
    it = world(a=HELLO, b=HELLO)
    response, steps = it.ask([A, B])
    assert texts(response) == "Hello."
    assert it.models == ["a"]
    assert steps_of(steps, RouteAsked) == [RouteAsked(place(A), 1)]


KINDS: list[tuple[str, Answer, int, Cooling]] = [
    ("a wrong key", BAD_KEY, 1, Cooling.TOP),
    ("no money left", refusal(402, {"error": {"message": "pay"}}), 1, Cooling.TOP),
    ("no such model", refusal(404, {"error": {"message": "?", "code": "model_not_found"}}), 1, Cooling.STEP),
    ("a request it does not like", refusal(400, {"error": {"message": "500 is too much"}}), 1, Cooling.NONE),
    ("too long", TOO_LONG, 1, Cooling.NONE),
    ("too many requests", refusal(429, SLOW_DOWN), 3, Cooling.STEP),
    ("overloaded", refusal(529, {"error": {"type": "overloaded_error", "message": "later"}}), 3, Cooling.STEP),
    ("a broken server", refusal(500, {"error": {"message": "oops"}}), 3, Cooling.STEP),
    ("an unreachable one", GONE, 3, Cooling.STEP),
    ("a silent one", Answer(status=ProviderError("slow; wait", kind=ErrorKind.TIMEOUT)), 2, Cooling.STEP),
    ("garbage", Answer((b"<html>hello</html>",), headers={"content-type": "text/html"}), 2, Cooling.STEP),
]


@pytest.mark.requirement("weak-chatcli-14")
@pytest.mark.parametrize(("answer", "tries", "cooling"), [k[1:] for k in KINDS], ids=[k[0] for k in KINDS])
def test_each_kind_of_failure_has_its_retries_and_its_cooldown(
    answer: Answer, tries: int, cooling: Cooling
) -> None:
    it = world(a=answer, b=HELLO)
    response, steps = it.ask([A, B])
    assert texts(response) == "Hello."
    assert it.models == ["a"] * tries + ["b"]
    assert [step.then for step in steps_of(steps, RouteFailed)] == [Then.RETRY] * (tries - 1) + [Then.SWITCH]
    rest = it.health.rests(place(A), sum(it.slept))
    assert rest == {Cooling.NONE: 0.0, Cooling.STEP: 30.0, Cooling.TOP: 300.0}[cooling]
    assert it.health.rests(place(B), sum(it.slept)) == 0.0


def test_the_table_of_treatments_is_total() -> None:
    assert set(TREATMENTS) == set(ErrorKind)


def test_what_passes_by_itself_is_waited_for() -> None:
    it = world(a=[DOWN, DOWN, HELLO])
    response, _ = it.ask([A])
    assert texts(response) == "Hello."
    assert it.slept == [0.375, 0.75]
    assert list(it.health) == []


def test_chance_spreads_the_waits() -> None:
    low, high = world(a=[DOWN, HELLO]), world(a=[DOWN, HELLO])
    low.ask([A], rules=Rules(chance=lambda: 0.0))
    high.ask([A], rules=Rules(chance=lambda: 1.0))
    assert (low.slept, high.slept) == ([0.25], [0.5])


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "4"}, 4.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "Fri, 20 Nov 2026 10:00:03 GMT", "date": "Fri, 20 Nov 2026 10:00:00 GMT"}, 3.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:02 GMT"}, 2.0),
        ({"retry-after": "Fri, 20 Nov 2026 09:00:00 GMT", "date": "Fri, 20 Nov 2026 10:00:00 GMT"}, 0.0),
    ],
    ids=["seconds", "milliseconds", "a date by its own clock", "a date by ours", "a date that has passed"],
)
def test_a_provider_that_says_when_is_taken_at_its_word(headers: dict[str, str], seconds: float) -> None:
    it = world(a=[refusal(429, SLOW_DOWN, **headers), HELLO])
    response, _ = it.ask([A], rules=Rules(chance=lambda: 0.0))
    assert texts(response) == "Hello."
    assert it.slept == [seconds]


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("Thu, 01 Jan 1970 00:01:00 GMT", 60.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784111777.0),  # RFC 9110, 5.6.7
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1483228799.0),  # a leap second
        *((text, None) for text in ("", "7", "soon", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nor 1994 08:49:37 GMT")),
    ],
)
def test_dates_are_read_as_http_writes_them(written: str, seconds: float | None) -> None:
    assert http_date(written) == seconds


def test_a_long_wait_becomes_a_cooldown() -> None:
    it = world(a=refusal(429, SLOW_DOWN, **{"retry-after": "100"}))
    error, _ = it.ask([A])
    assert isinstance(error, ProviderError)
    assert (it.models, it.slept, error.retry_after) == (["a"], [], 100.0)
    assert it.health.rests(place(A), 0.0) == 100.0


def test_with_another_route_left_waits_are_short() -> None:
    it = world(a=refusal(429, SLOW_DOWN, **{"retry-after": "10"}), b=HELLO)
    it.ask([A, B])
    assert (it.models, it.slept) == (["a", "b"], [])


# ── health ───────────────────────────────────────────────────────────────────


def test_a_resting_place_is_passed_over_until_it_has_rested() -> None:
    it = world(a=[BAD_KEY, HELLO], b=HELLO)
    it.ask([A, B])
    _, steps = it.ask([A, B])
    assert it.models == ["a", "b", "b"]
    assert steps_of(steps, RouteAsked) == [RouteAsked(place(B), 1)]
    it.later(301)
    it.ask([A, B])
    assert it.models == ["a", "b", "b", "a"]
    assert list(it.health) == []


def test_cooldowns_double_to_five_minutes_until_an_answer() -> None:
    it = world(a=[*[DOWN] * 7, HELLO, DOWN, DOWN])
    rests = []
    once = Rules(retries=0)
    for _ in range(6):
        it.ask([A], rules=once)
        rests.append(it.health.rests(place(A), sum(it.slept)))
        it.later(rests[-1])
    assert rests == [30, 60, 120, 240, 300, 300]
    it.ask([A], rules=once)
    it.ask([A], rules=once)
    assert list(it.health) == []
    it.ask([A], rules=once)
    assert it.health.rests(place(A), sum(it.slept)) == 30


@pytest.mark.requirement("weak-chatcli-14")
def test_one_call_counts_one_failure_however_often_it_tried() -> None:
    it = world(a=DOWN)
    it.ask([A])
    [(_, condition)] = it.health
    assert condition.failures == 1


def test_turns_that_fail_together_count_once() -> None:
    health, error = Health(), ProviderError("down; wait", kind=ErrorKind.SERVER)
    for _ in range(20):
        health.failed(place(A), error, Rules(), began=10.0, now=12.0)
    assert health.rests(place(A), 12.0) == 30.0


@pytest.mark.parametrize(("jump", "rest"), [(-3600.0, 0.0), (-40.0, 70.0), (3600.0, 0.0)])
def test_a_clock_that_is_set_leaves_no_place_resting_for_longer(jump: float, rest: float) -> None:
    health, error = Health(), ProviderError("down; wait", kind=ErrorKind.SERVER)
    for at in (5000.0, 5001.0):
        health.failed(place(A), error, Rules(cooldown=15.0), began=at, now=at)
    now = 5001.0 + jump
    assert health.rests(place(A), now) == rest
    if jump < -60:
        health.failed(place(A), error, Rules(cooldown=15.0), began=now, now=now)
        assert health.rests(place(A), now) == 15.0  # the first failure by the clock as it is now


@pytest.mark.requirement("weak-chatcli-14")
def test_health_is_held_by_provider_and_model_and_account() -> None:
    assert len({place(A), place(B), place(route("a", key="one-key")), place(route("a", key="two-keys"))}) == 4
    assert "one-key" not in repr(place(route("a", key="one-key")))


def test_health_can_be_reset() -> None:
    it = world(a=BAD_KEY, b=BAD_KEY, c=HELLO)
    it.ask([A, B, C])
    assert {where.model for where, _ in it.health} == {"a", "b"}
    it.health.reset(model="a")
    assert {where.model for where, _ in it.health} == {"b"}
    it.health.reset()
    assert list(it.health) == []


def test_the_least_resting_route_is_asked_when_all_rest() -> None:
    it = world(a=[BAD_KEY, HELLO], b=[refusal(404, {"error": "?"}), HELLO], c=[BAD_KEY, HELLO])
    it.ask([A, B, C])
    response, steps = it.ask([A, B, C])
    assert texts(response) == "Hello."
    assert it.models[3:] == ["b"]
    assert [(skip.place.model, skip.why) for skip in steps_of(steps, RouteSkipped)] == [
        ("a", "rests for 300 s after its last failure (auth)"),
        ("c", "rests for 300 s after its last failure (auth)"),
    ]


def test_an_error_of_all_routes_names_each() -> None:
    it = world(a=BAD_KEY, b=DOWN)
    error, steps = it.ask([A, B])
    assert isinstance(error, ChainError)
    assert (error.kind, error.retryable, error.retry_after) == (ErrorKind.OVERLOADED, True, 30.0)
    assert [failure.place.model for failure in error.failures] == ["a", "b"]
    assert "compatible/a: the provider answered 401" in error.message
    assert "compatible/b: the provider answered 503" in error.message
    assert error.message.endswith("asked again in 30 s; retry a little later, or use another provider")
    assert steps_of(steps, RouteFailed)[-1].then is Then.GIVE_UP


def test_the_only_routes_error_is_told_as_it_is() -> None:
    error, _ = world(a=BAD_KEY).ask([A])
    assert type(error) is ProviderError
    assert error.kind is ErrorKind.AUTH


# ── committed ────────────────────────────────────────────────────────────────

BREAK = ProviderError("it broke off; try again", kind=ErrorKind.NETWORK)


def broken(after: int) -> Answer:
    """A streamed answer that breaks after so many of its frames."""
    frames = chat_stream(ScriptedReply(("One ", "two ", "three.")))[:after]
    return Answer((*frames, BREAK), headers={"content-type": "text/event-stream"})


def test_an_answer_broken_before_its_first_word_moves_on() -> None:
    it = world(a=broken(1), b=HELLO)
    response, steps = it.ask([A, B], plain(stream=True), Rules(retries=0))
    assert texts(response) == "Hello."
    assert "".join(step.text for step in steps_of(steps, TextDelta)) == "Hello."


@pytest.mark.parametrize("after", [2, 3, 4])
def test_an_answer_broken_in_its_middle_is_reported(after: int) -> None:
    it = world(a=broken(after), b=HELLO)
    error, steps = it.ask([A, B], plain(stream=True))
    assert isinstance(error, ProviderError)
    assert it.models == ["a"]
    assert "".join(step.text for step in steps_of(steps, TextDelta)) == "".join(["One ", "two ", "three."][: after - 1])
    assert steps_of(steps, RouteFailed)[-1].then is Then.GIVE_UP
    assert it.health.rests(place(A), 0.0) == 30.0


scripts = st.lists(
    st.sampled_from([DOWN, GONE, BAD_KEY, TOO_LONG, broken(1), broken(2), broken(4), HELLO]), min_size=1, max_size=4
)


@given(a=scripts, b=scripts, c=scripts)
def test_events_always_fold_to_one_attempt(
    a: list[Scripted], b: list[Scripted], c: list[Scripted]
) -> None:
    it = world(a=a, b=b, c=c)
    response, steps = it.ask([A, B, C], plain(stream=True))
    spoken = "".join(step.text for step in steps_of(steps, TextDelta))
    assert spoken == "Hello." or "One two three.".startswith(spoken)
    failed = steps_of(steps, RouteFailed)
    if isinstance(response, Response):
        assert assemble([step for step in steps if isinstance(step, EVENTS)]) == response
        assert [issue.kind for issue in response.issues] == [IssueKind.WIRE_FAULT] * len(failed)
    assert len(it.models) == len(steps_of(steps, RouteAsked)) <= 9


# ── tools ────────────────────────────────────────────────────────────────────

TEXT_ONLY = route("a", tools=Tools.TEXT)
STRICT = Rules(text_tools=False)


def test_routes_without_tools_serve_tool_turns_in_text() -> None:
    it = world(a=HELLO, b=HELLO)
    it.ask([TEXT_ONLY, B], with_tools())
    assert it.models == ["a"]


@pytest.mark.requirement("003-fallback")
def test_routes_without_tools_are_skipped_where_text_is_forbidden() -> None:
    it = world(a=HELLO, b=HELLO)
    _, steps = it.ask([TEXT_ONLY, B], with_tools(), STRICT)
    assert it.models == ["b"]
    assert steps_of(steps, RouteSkipped) == [RouteSkipped(place(TEXT_ONLY), "has no native tools")]


@pytest.mark.requirement("003-fallback")
def test_plain_turns_use_all_routes() -> None:
    it = world(a=HELLO, b=HELLO)
    it.ask([TEXT_ONLY, B], plain(), STRICT)
    assert it.models == ["a"]


def test_a_model_that_refuses_tools_is_remembered_and_stays_healthy() -> None:
    it = world(a=[refusal(400, {"error": "a does not support tools"}), HELLO], b=HELLO)
    it.ask([A, B], with_tools(), STRICT)
    it.ask([A, B], with_tools(), STRICT)
    assert it.models == ["a", "b", "b"]
    it.ask([A, B], plain(), STRICT)
    assert it.models[3:] == ["a"]


def test_no_route_with_tools_is_a_clear_error() -> None:
    error, _ = world(a=HELLO).ask([TEXT_ONLY], with_tools(), STRICT)
    assert isinstance(error, ProviderError)
    assert error.kind is ErrorKind.NO_TOOLS
    assert "compatible/a" in error.message
    assert error.message.endswith("allow tools told as text, or add a route that has them")


# ── context ──────────────────────────────────────────────────────────────────


@pytest.mark.requirement("weak-chatcli-14")
def test_a_conversation_too_long_goes_to_larger_models_only() -> None:
    sizes = {"small": 8_000, "same": 8_000, "unknown": 0, "large": 32_000}
    rows = tuple(Profile(match=name, context=size) for name, size in sizes.items())
    routes = [route(name, profiles=rows) for name in sizes]
    for answering, expected in (("unknown", ["small", "unknown"]), ("large", ["small", "unknown", "large"])):
        it = world(**{name: [HELLO if name == answering else TOO_LONG] for name in sizes})
        response, _ = it.ask(routes)
        assert texts(response) == "Hello."
        assert it.models == expected
        assert list(it.health) == []


def test_a_caller_who_cancelled_is_not_served_elsewhere() -> None:
    it = world(a=refusal(499, {"error": "closed"}), b=HELLO)
    error, _ = it.ask([A, B])
    assert isinstance(error, ProviderError)
    assert it.models == ["a"]


def test_no_routes_is_the_callers_mistake() -> None:
    with pytest.raises(UsageError, match="give at least one"):
        world().ask([])


# ── waits ────────────────────────────────────────────────────────────────────


@given(
    attempt=st.integers(1, 10),
    after=st.none() | st.floats(0, 1e6),
    chance=st.floats(0, 0.999),
    alone=st.booleans(),
    kind=st.sampled_from(list(ErrorKind)),
)
def test_waits_are_bounded_and_never_undercut_what_was_asked_for(
    attempt: int, after: float | None, chance: float, alone: bool, kind: ErrorKind
) -> None:
    rules = Rules(chance=lambda: chance)
    wait = rules.wait(ProviderError("x", kind=kind, retry_after=after), attempt, alone=alone)
    if wait is not None:
        assert attempt <= rules.retries
        assert (after or 0.0) <= wait <= rules.longest + 1.0


# ── questions about an answer ────────────────────────────────────────────────

DOUBTED = text_reply('I look.\n\n```json\n{"name": "look", "arguments": {"at": "sky"}}\n```')


def asked_about(it: World, routes: Sequence[Route]) -> Response:
    outcome: Outcome[Response] = Outcome()
    ask = asking(chaining(routes, it.health, it.learned), Budget(1))
    for _ in drive(ask(with_tools()), it.perform, outcome):
        pass
    return outcome.value


def test_a_question_is_put_to_the_route_that_answered() -> None:
    it = world(a=[TOO_LONG, HELLO], b=[DOUBTED, ScriptedReply(calls=(("c1", "look", {"at": "sky"}),))])
    response = asked_about(it, [A, B])
    assert it.models == ["a", "b", "b"]
    assert [call.name for call in response.calls] == ["look"]


def test_a_question_that_its_route_cannot_take_goes_nowhere_else() -> None:
    it = world(a=[DOUBTED, BAD_KEY], b=HELLO)
    response = asked_about(it, [A, B])
    assert (set(it.models), response.calls) == ({"a"}, ())
    assert [issue.kind for issue in response.issues][-1] == IssueKind.DENIED
