"""The doctor over scripted deployments: each ability and each lack is found, and the settings follow."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from dragoman.doctor import Grade, ProbeResult, Reached, examine, forget, learned, reach, settings_for
from dragoman.doctor.context_length import measure_context
from dragoman.doctor.target import ProbeTarget
from dragoman.effects import Now, Open, Read, run
from dragoman.errors import ErrorKind, ProviderError
from dragoman.gateway.config.json_schema import FORM
from dragoman.gateway.config.load import read
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, PROVIDERS
from dragoman.providers.spec import Tools
from dragoman.schema.validation import faults
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.turn.capabilities import Capabilities
from dragoman.turn.tool_support import Finding, Support
from tests.support.upstreams import ScriptedReply, answered, refusal, text_reply

CALL = '<tool_call>\n{"name": "get_door_code", "arguments": {"door": 7}}\n</tool_call>'
SIZES = (2_000, 4_000, 8_000)


@dataclass(frozen=True)
class Deployment:
    """What a scripted server can.

    `tools`: native calls; refused with 400; ignored; or written as text the server does not read.  `dialect` is a word its prompt
    must hold before it calls in text, "" for any; `reads` how many characters of a prompt it keeps.
    """

    tools: str = "native"
    dialect: str = ""
    reads: int = 1_000_000
    forced: bool = True
    schema: bool = True
    parallel: bool = True

    def __call__(self, sent: Open) -> Answer:
        body = json.loads(sent.body)
        if self.tools == "ignored":
            body.pop("tools", None)
        if body.get("tools") and self.tools == "refused":
            return refusal(400, {"error": {"message": "this model does not support tools"}})
        prompt = "".join(str(message["content"]) for message in body["messages"])
        counted = str(min(len(prompt), self.reads) // 2).encode()
        reply = answered("openai_chat", self._says(body), body)
        pieces = (piece for piece in reply.pieces if isinstance(piece, bytes))
        written = b'prompt_tokens": ' + counted
        return replace(reply, pieces=tuple(piece.replace(b'prompt_tokens": 7', written) for piece in pieces))

    def _says(self, body: dict[str, Any]) -> ScriptedReply:
        prompt = "\n".join(str(m["content"]) for m in body["messages"])
        if "secret word" in prompt:
            kept = prompt[-self.reads :]
            word = kept.partition("word is ")[2].partition(".")[0] if "word is " in kept else "sorry"
            return text_reply(word)
        if "colour" in prompt.lower() and "response_format" in body:
            return text_reply('{"colour": "ultramarine-42"}' if self.schema else "blue")
        native = bool(body.get("tools"))
        if self.tools == "ignored" and "get_door_code" not in prompt:
            return text_reply("I have no tools.")
        if "both at once" in prompt and self.parallel and (native or "door" in prompt):
            return self._calls(native, 3, 5)
        if "door 7" in prompt or (self.forced and "Say hello" in prompt and (native or "get_door_code" in prompt)):
            return self._calls(native, 7)
        return text_reply("Hello.") if native else ScriptedReply(("Hello ", "there, ", "how are you?"))

    def _calls(self, native: bool, *doors: int) -> ScriptedReply:
        if native and self.tools == "native":
            return ScriptedReply(calls=tuple((f"c{n}", "get_door_code", {"door": n}) for n in doors))
        return text_reply("\n".join(CALL.replace("7", str(n)) for n in doors))


def examined(deployment: Callable[[Open], Answer], **route: Any) -> dict[str, ProbeResult]:
    given = {"provider": COMPATIBLE["openai_chat"], "base_url": "http://model.test", **route}
    findings = run(examine(Route(**given), "m", SIZES), ScriptedPeer(deployment).sync_performer())
    return {finding.probe: finding for finding in findings}


def test_a_server_that_can_everything_is_good_throughout() -> None:
    found = examined(Deployment())
    assert {f.grade for f in found.values()} == {Grade.GOOD}
    assert list(found) == [
        "native tools", "tools as text", "streaming", "parallel calls", "forced choice", "constrained answers", "context",
    ]  # fmt: skip


LACKS = [
    ("it ignores tools", Deployment(tools="ignored"), "native tools", Grade.BAD, "ignores tools in silence"),
    ("it refuses tools", Deployment(tools="refused"), "native tools", Grade.BAD, "refuses tools"),
    ("it does not read its model's calls", Deployment(tools="text"), "native tools", Grade.POOR, "dialect hermes"),
    ("it ignores a demand", Deployment(forced=False), "forced choice", Grade.POOR, "no call came"),
    ("it ignores a schema", Deployment(schema=False), "constrained answers", Grade.POOR, "not kept"),
    ("it makes one call at a time", Deployment(parallel=False), "parallel calls", Grade.POOR, "call"),
    ("it forgets the beginning", Deployment(reads=10_000), "context", Grade.POOR, "the beginning was forgotten"),
]


@pytest.mark.parametrize(("what", "deployment", "probe", "grade", "message"), LACKS, ids=[row[0] for row in LACKS])
def test_a_lack_is_found_and_something_helps(
    what: str, deployment: Deployment, probe: str, grade: Grade, message: str
) -> None:
    found = examined(deployment)[probe]
    assert found.grade is grade
    assert message in found.message
    assert found.remedy


def test_the_remedy_is_the_servers_own() -> None:
    found = examined(Deployment(tools="refused"), provider=PROVIDERS["llamacpp"])
    assert "--jinja" in found["native tools"].remedy


def test_a_server_that_is_not_there_ends_the_examination() -> None:
    def gone(_: Open) -> Answer:
        return Answer(status=ProviderError("cannot reach it; is it running?", kind=ErrorKind.NETWORK))

    found = examined(gone)
    assert list(found) == ["native tools"]
    assert found["native tools"].grade is Grade.BAD


@pytest.mark.parametrize(
    "deployment", [Deployment(), Deployment(tools="refused", reads=10_000), Deployment(tools="text")]
)
def test_the_settings_that_follow_are_taken(deployment: Deployment) -> None:
    route = Route(provider=PROVIDERS["llamacpp"], base_url="http://model.test")
    findings = run(examine(route, "qwen3:8b", SIZES), ScriptedPeer(deployment).sync_performer())
    settings = tomllib.loads(settings_for(route, "qwen3:8b", findings))
    assert faults(FORM, settings) == []
    row = settings["models"]["qwen3:8b"]
    assert row["route"] == "llamacpp/qwen3:8b"
    assert row["tools"] == {"native": "native", "refused": "text", "text": "both"}[deployment.tools]
    assert settings["providers"]["llamacpp"]["base_url"] == "http://model.test"
    assert ("compact" in row) is (deployment.reads < 1_000_000)


# ── where the API is ─────────────────────────────────────────────────────────


def reached(answer: Callable[[Open], Answer], *, named: bool = False, **route: Any) -> Reached:
    given = {"provider": COMPATIBLE["openai_chat"], "base_url": "http://model.test/sub", **route}
    return run(reach(Route(**given), named=named), ScriptedPeer(answer).sync_performer())


def lists(*paths: str) -> Callable[[Open], Answer]:
    """A server that lists its models at these paths only, and shows a page everywhere else."""

    def answer(sent: Open) -> Answer:
        if any(sent.url.endswith(f"//model.test{path}") for path in paths):
            return Answer((b'{"object": "list", "data": [{"id": "m"}]}',), headers={"content-type": "application/json"})
        return Answer((b"<html>welcome</html>",), status=200, headers={"content-type": "text/html; charset=utf-8"})

    return answer


def test_an_api_that_is_there_says_what_it_lists() -> None:
    found = reached(lists("/sub/models"), base_url="http://model.test/sub")
    assert (found.finding.grade, found.models) == (Grade.GOOD, ("m",))


def test_an_address_without_its_version_is_mended_and_told() -> None:
    found = reached(lists("/sub/v1/models"))
    assert (found.finding.grade, found.models) == (Grade.POOR, ("m",))
    assert found.route.root() == "http://model.test/sub/v1"
    assert found.finding.remedy == "use http://model.test/sub/v1 as its base URL"


ANSWERS = [
    ("a page", Answer((b"<!doctype html>",), status=200), {}, "a web page answers", "the address of the API"),
    ("no path", refusal(404, {"detail": "Not Found"}), {}, "no API answers", "most end in /v1"),
    ("no key", refusal(401, {"error": {}}), {}, "it wants a key", "DRAGOMAN_UPSTREAM_KEY"),
    ("a wrong key", refusal(401, {"error": {}}), {"key": "sk-1"}, "it refuses this key", "check the key"),
    ("too much", refusal(429, {"error": {}}), {}, "no more requests", "wait a moment"),
    ("loading", refusal(503, {"error": {}}), {}, "it answers 503", "that server's log"),
    ("another thing", Answer((b"{}",), status=200), {}, "does not list its models", "--model"),
]


@pytest.mark.parametrize(
    ("answer", "route", "message", "remedy"), [r[1:] for r in ANSWERS], ids=[r[0] for r in ANSWERS]
)
def test_an_obstacle_is_reported_with_a_remedy(
    answer: Answer, route: dict[str, Any], message: str, remedy: str
) -> None:
    found = reached(lambda _: answer, **route).finding
    assert found.grade is Grade.BAD
    assert found.facts["unreachable"]
    assert message in found.message
    assert remedy in found.remedy


def test_a_server_without_a_list_needs_a_named_model() -> None:
    found = reached(lambda _: refusal(404, {"detail": "Not Found"}), named=True).finding
    assert (found.grade, dict(found.facts)) == (Grade.UNKNOWN, {})


def test_a_failure_says_in_its_own_line_what_to_do() -> None:
    def broken(sent: Open) -> Answer:
        return refusal(500, b"oops\n\nreally")

    found = examined(broken)
    assert all("\n" not in each.message and each.remedy for each in found.values())
    assert {each.remedy for each in found.values()} == {"retry, or use another provider"}


# ── streams that are held back ───────────────────────────────────────────────


@pytest.mark.parametrize(("before", "between", "grade"), [(2, 0, Grade.POOR), (1, 1, Grade.GOOD), (0, 0, Grade.GOOD)])
def test_a_stream_that_comes_all_at_once_is_buffered(before: int, between: int, grade: Grade) -> None:
    now = [0.0]

    def timed(sent: Open) -> Answer:
        reply = Deployment()(sent)
        now[0] += before
        return reply

    memory = ScriptedPeer(timed)
    perform = memory.sync_performer()

    def clocked(effect: Any) -> Any:
        if isinstance(effect, Now):
            return now[0]
        now[0] += between if isinstance(effect, Read) else 0
        return perform(effect)

    findings = run(
        examine(Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test"), "m", SIZES), clocked
    )
    (found,) = [each for each in findings if each.probe == "streaming"]
    assert found.grade is grade
    assert found.remedy or grade is Grade.GOOD


# ── how much is read ─────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Reader:
    """Reads the last `window` tokens (of four characters) and counts what it read; or all of it, or nothing; or gives
    a number that is none."""

    window: int
    counts: str = "read"
    finds: bool = True
    template: int = 40

    def __call__(self, sent: Open) -> Answer:
        prompt = json.loads(sent.body)["messages"][-1]["content"]
        kept = prompt[-4 * self.window :]
        word = kept.partition("word is ")[2].partition(".")[0] if self.finds else ""
        whole, read = len(prompt) // 4 + self.template, min(len(prompt) // 4 + self.template, self.window)
        reply = answered("openai_chat", text_reply(word or "I do not know"), json.loads(sent.body))
        number = {"read": str(read), "all": str(whole), "nothing": "0"}.get(self.counts, self.counts).encode()
        pieces = [piece for piece in reply.pieces if isinstance(piece, bytes)]
        written = tuple(piece.replace(b'prompt_tokens": 7', b'prompt_tokens": ' + number) for piece in pieces)
        return replace(reply, pieces=written)


READERS = [
    ("2k", Reader(2048), Grade.POOR, 2048, "2048 were read"),
    ("4k", Reader(4096), Grade.POOR, 4096, "4096 were read"),
    ("counts before it cuts", Reader(4096, "all"), Grade.POOR, 0, "all were counted"),
    ("does not count", Reader(4096, "nothing"), Grade.POOR, 0, "none are counted"),
    ("reads all", Reader(10**6), Grade.GOOD, 0, "was read whole"),
    ("reads all and finds nothing", Reader(10**6, finds=False), Grade.GOOD, 0, "the model found no word in it"),
    ("finds nothing and is cut", Reader(2048, finds=False), Grade.POOR, 2048, "2048 were read"),
    ("counts every prompt as 5", Reader(10**6, "5"), Grade.GOOD, 16_000, "a prompt of 16000 tokens was read whole"),
    ("counts every prompt as 1000", Reader(10**6, "1000"), Grade.GOOD, 16_000, "was read whole"),
    ("counts every prompt as 5 and is cut", Reader(4096, "5"), Grade.POOR, 4_000, "of 8000 tokens 5 were counted as of any"),
    ("counts every prompt as 1000 and is cut", Reader(1024, "1000"), Grade.BAD, 0, "of 2000 tokens 1000 were counted as of any"),
    ("counts every prompt as 5 and finds nothing", Reader(10**6, "5", finds=False), Grade.UNKNOWN, 0, "counts every prompt as 5"),
    ("finds nothing and counts nothing", Reader(10**6, "nothing", finds=False), Grade.UNKNOWN, 0, "nothing can be told"),
]  # fmt: skip


@pytest.mark.parametrize(("reader", "grade", "tokens", "message"), [r[1:] for r in READERS], ids=[r[0] for r in READERS])
def test_a_cut_is_found_by_counting(reader: Reader, grade: Grade, tokens: int, message: str) -> None:
    route = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
    target = ProbeTarget(route, "m")
    found = run(measure_context(target, (2_000, 4_000, 8_000, 16_000)), ScriptedPeer(reader).sync_performer())
    assert (found.grade, message in found.message) == (grade, True), found.message
    assert not tokens or found.facts["tokens"] == tokens
    settings = tomllib.loads(settings_for(route, "m", [found]))["models"]["m"]
    assert settings.get("budget", 1000) >= 500  # a quarter of what is read, and nothing that no tool fits into


# ── the settings ─────────────────────────────────────────────────────────────


@pytest.mark.parametrize("api", list(COMPATIBLE))
def test_settings_of_any_api_load_and_hold_no_key(api: str) -> None:
    route = Route(provider=COMPATIBLE[api], base_url="http://model.test/v1", key="sk-secret-123456789")
    text = settings_for(route, "some/model:1", [])
    assert "sk-secret" not in text
    config = read(tomllib.loads(text), {"DRAGOMAN_UPSTREAM_KEY": "sk-secret-123456789"}).config
    (to,) = config.routes("some/model:1")
    assert (to.provider.codec, to.root(), to.key) == (route.provider.codec, route.root(), route.key)


# ── what is remembered ───────────────────────────────────────────────────────

HERE = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test/v1")
NOW = 1_800_000_000.0
HABIT = "hermes:strong:among"


def knowing(support: Support = Support.UNKNOWN, *, habits: tuple[str, ...] = (), until: float = 0.0) -> Capabilities:
    known = Capabilities()
    known.support.note(HERE.root(), "m", Finding(support, until, "canary"))
    for owner in ("", "alice"):
        known.habits.note(owner, HERE.root(), "m", habits)
    known.habits.note("alice", HERE.root(), "other", ["hermes:weak:alone"])
    return known


def test_habits_are_shown_once_with_how_to_forget_them() -> None:
    habits, _ = learned(HERE, "m", knowing(habits=(HABIT,)), NOW)
    assert habits.facts == {"habits": [HABIT]}
    assert "hermes" in habits.message
    assert "--forget" in habits.remedy
    assert "DELETE /v1/habits" in habits.remedy


@pytest.mark.parametrize(("support", "until", "tools", "words"), [
    (Support.IGNORED, NOW + 60, "text", "neither called nor named the one there was; they are told in text until 08:01 UTC"),
    (Support.IGNORED, NOW - 60, "native", "nothing is known"),
    (Support.READ, 0.0, "native", "it reads the tools it is sent"),
    (Support.SUSPECTED, NOW + 60, "native", "they are sent natively until 08:01 UTC"),
    (Support.CLEARED, NOW + 60, "native", "said nothing clear"),
    (Support.UNKNOWN, 0.0, "native", "nothing is known"),
])  # fmt: skip
def test_how_its_tools_go_is_shown_with_why_and_until_when(support: Support, until: float, tools: str, words: str) -> None:
    _, served = learned(HERE, "m", knowing(support, until=until), NOW)
    assert served.facts["tools"] == tools
    assert words in served.message
    assert ("--forget" in served.remedy) == (served.facts["support"] != "unknown")


def test_a_route_that_is_set_to_text_says_so() -> None:
    _, served = learned(replace(HERE, tools=Tools.TEXT), "m", knowing(Support.READ), NOW)
    assert served.facts["tools"] == "text"


def test_forgetting_takes_all_of_one_model_and_nothing_of_others() -> None:
    known = knowing(Support.IGNORED, habits=(HABIT,), until=NOW + 60)
    assert forget(HERE, "m", known) == 3
    assert [finding.remedy for finding in learned(HERE, "m", known, NOW)] == ["", ""]
    assert [habit.model for habit in known.habits] == ["other"]
    assert forget(HERE, "m", known) == 0
