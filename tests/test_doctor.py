"""The doctor over scripted deployments: each ability and each lack is found, and the settings follow."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from dragoman.doctor import Finding, Grade, examine, prescription
from dragoman.effects import Open, run
from dragoman.errors import ErrorKind, ProviderError
from dragoman.gateway.form import FORM
from dragoman.io.memory import Answer, Memory
from dragoman.providers import COMPATIBLE, PROVIDERS
from dragoman.route import Route
from dragoman.schema import faults

from .upstreams import Says, answered, refusal, said

CALL = '<tool_call>\n{"name": "get_door_code", "arguments": {"door": 7}}\n</tool_call>'
SIZES = (2_000, 4_000, 8_000)


@dataclass(frozen=True)
class Deployment:
    """What a scripted server can.

    `tools`: native calls; refused with 400; or written as text the server does not read.  `dialect` is a word its prompt
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
        if body.get("tools") and self.tools == "refused":
            return refusal(400, {"error": {"message": "this model does not support tools"}})
        prompt = "".join(str(message["content"]) for message in body["messages"])
        counted = str(min(len(prompt), self.reads) // 2).encode()
        told = answered("openai_chat", self._says(body), body)
        pieces = (piece for piece in told.pieces if isinstance(piece, bytes))
        written = b'prompt_tokens": ' + counted
        return replace(told, pieces=tuple(piece.replace(b'prompt_tokens": 7', written) for piece in pieces))

    def _says(self, body: dict[str, Any]) -> Says:
        prompt = "\n".join(str(m["content"]) for m in body["messages"])
        if "secret word" in prompt:
            kept = prompt[-self.reads :]
            word = kept.partition("word is ")[2].partition(".")[0] if "word is " in kept else "sorry"
            return said(word)
        if "colour" in prompt.lower() and "response_format" in body:
            return said('{"colour": "ultramarine-42"}' if self.schema else "blue")
        native = bool(body.get("tools"))
        if "both at once" in prompt and self.parallel and (native or "door" in prompt):
            return self._calls(native, 3, 5)
        if "door 7" in prompt or (self.forced and "Say hello" in prompt and (native or "get_door_code" in prompt)):
            return self._calls(native, 7)
        return said("Hello.") if native else Says(("Hello ", "there, ", "how are you?"))

    def _calls(self, native: bool, *doors: int) -> Says:
        if native and self.tools == "native":
            return Says(calls=tuple((f"c{n}", "get_door_code", {"door": n}) for n in doors))
        return said("\n".join(CALL.replace("7", str(n)) for n in doors))


def examined(deployment: Callable[[Open], Answer], **route: Any) -> dict[str, Finding]:
    given = {"provider": COMPATIBLE["openai_chat"], "base_url": "http://model.test", **route}
    findings = run(examine(Route(**given), "m", SIZES), Memory(deployment).world_now())
    return {finding.probe: finding for finding in findings}


def test_a_server_that_can_everything_is_good_throughout() -> None:
    found = examined(Deployment())
    assert {f.grade for f in found.values()} == {Grade.GOOD}
    assert list(found) == [
        "native tools", "tools as text", "streaming", "parallel calls", "forced choice", "constrained answers", "context",
    ]  # fmt: skip


LACKS = [
    ("it refuses tools", Deployment(tools="refused"), "native tools", Grade.BAD, "refuses tools"),
    ("it does not read its model's calls", Deployment(tools="text"), "native tools", Grade.POOR, "dialect hermes"),
    ("it ignores a demand", Deployment(forced=False), "forced choice", Grade.POOR, "no call came"),
    ("it ignores a schema", Deployment(schema=False), "constrained answers", Grade.POOR, "not kept"),
    ("it makes one call at a time", Deployment(parallel=False), "parallel calls", Grade.POOR, "call"),
    ("it forgets the beginning", Deployment(reads=10_000), "context", Grade.POOR, "the beginning was forgotten"),
]


@pytest.mark.parametrize(("what", "deployment", "probe", "grade", "says"), LACKS, ids=[row[0] for row in LACKS])
def test_a_lack_is_found_and_something_helps(
    what: str, deployment: Deployment, probe: str, grade: Grade, says: str
) -> None:
    found = examined(deployment)[probe]
    assert found.grade is grade
    assert says in found.said
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


@pytest.mark.parametrize("deployment", [Deployment(), Deployment(tools="refused", reads=10_000), Deployment(tools="text")])
def test_the_settings_that_follow_are_taken(deployment: Deployment) -> None:
    route = Route(provider=PROVIDERS["llamacpp"], base_url="http://model.test")
    findings = run(examine(route, "qwen3:8b", SIZES), Memory(deployment).world_now())
    settings = tomllib.loads(prescription(route, "qwen3:8b", findings))
    assert faults(FORM, settings) == []
    row = settings["models"]["qwen3:8b"]
    assert row["route"] == "llamacpp/qwen3:8b"
    assert row["tools"] == {"native": "native", "refused": "text", "text": "both"}[deployment.tools]
    assert settings["providers"]["llamacpp"]["base_url"] == "http://model.test"
    assert ("compact" in row) is (deployment.reads < 1_000_000)
