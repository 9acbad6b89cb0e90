"""The law: a declared call is run, asked about, asked for again, or told of as text; it never disappears."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from dragoman.dialects.engine.parsed import Parsed, fold
from dragoman.dialects.engine.parser import Parser
from dragoman.effects import Outcome, drive
from dragoman.gateway import GatewayConfig, create_app
from dragoman.loop import Run, loop
from dragoman.schema.definitions import tool as as_tool
from dragoman.tools import Runnable, ToolSet
from dragoman.turn.capabilities import Capabilities
from dragoman.turn.machine import turn
from dragoman.types import IssueKind, Message, Request
from tests.support.asgi import call
from tests.support.asking import Speaker, route
from tests.support.declared import Declared, declared, lost

UNREADABLE = {
    # what stands there is no call that names its tool
    "sglang:sglang-pythonic-bf085f34": "a list of Python calls behind words on their line: code in prose looks so too",
    "aisdk:aisdk:recover:core/utils/generated-text-json-recovery.unit:584": "the name stands in the closer alone",
    "issues:q27-27": "half the marks are missing, and what is left is XML of no dialect",
    "issues:opencrabs-419": "the marks of three dialects, none of them whole",
    "issues:openclaw-135364": "the marks are gone, and the words of two answers stand in each other",
    "issues_recommended:issues:fenced:4": "a program that assigns the call to a variable",
    "ollama:ollama:parser:TestLagunaParserStreamingUserTaggedToolAliasAfterContent": "a user's turn by its tag",
    "aisdk:aisdk:stream:protocols/cross-protocol/tool-input/streaming-events.yaml-xml:66#3": "no argument, two needed",
    "aisdk:aisdk:stream:protocols/morph-xml-protocol/stream/input-events-lifecycle.integration:125": "a key that "
    "the tool does not have",
}
TEXT = frozenset({IssueKind.QUOTED, IssueKind.COPIED, IssueKind.IN_REASONING, IssueKind.HALLUCINATED_RESULT})
"""Issues that tell of what was text."""
VECTORS = [each for each in declared() if any(name in each.text for name in each.names)]
SAMPLE = VECTORS[:: max(1, len(VECTORS) // 250)]


def read(vector: Declared, **options: Any) -> Parsed:
    parser = Parser(
        tools=vector.tools, prefix=vector.prefix, finish_reason=vector.finish, shown=vector.shown, **options
    )
    return fold(parser.whole(vector.text))


@pytest.mark.parametrize("native", [False, True], ids=["text", "native"])
@pytest.mark.costly
def test_a_declared_call_is_made_or_in_doubt_or_told_of(native: bool) -> None:
    silent = {each.id: each.text for each in VECTORS if lost(each, read(each, native=native))}
    assert {name: text for name, text in silent.items() if name not in UNREADABLE} == {}


def acting() -> Iterator[Declared]:
    """Those that a model may say by itself: nothing was shown before, nothing opened for it, nothing cut it.

    Names with dots are left to the tests of names: a wire may not carry them as they are.
    """
    for each in SAMPLE:
        dotted = any("." in name for name in each.names)
        if each.id not in UNREADABLE and not (each.shown or each.prefix or each.finish or dotted):
            yield each


def is_text(vector: Declared) -> bool:
    """Is all that is told of it that it is text?"""
    found = read(vector, native=True)
    told = {issue.kind for issue in found.issues if issue.name}
    return not (found.calls or found.doubtful) and bool(told) and told <= TEXT


@pytest.mark.parametrize("vector", [*acting()], ids=lambda vector: vector.id[:60])
def test_in_a_run_it_is_run_or_the_model_is_asked_again(vector: Declared) -> None:
    speaker, ran = Speaker(), list[str]()
    speaker.answers = [vector.text, "No."]

    def run(name: str, arguments: Any, context: Any) -> str:
        ran.append(name)
        return "done"

    tools = ToolSet(*(Runnable(tool=one, function=partial(run, one.name)) for one in map(as_tool, vector.tools)))
    outcome: Outcome[Run] = Outcome()
    request = Request(model="m", messages=(Message("user", "Go."),))
    ask = partial(turn, route=route("native"), learned=Capabilities())
    list(drive(loop(request, ask, tools), speaker.memory.sync_performer(), outcome))
    assert ran or len(speaker.bodies) > 1 or is_text(vector)


@pytest.mark.parametrize("vector", [*acting()], ids=lambda vector: vector.id[:60])
def test_in_the_gateway_it_is_told_to_the_client_or_the_model_is_asked_again(vector: Declared) -> None:
    speaker = Speaker()
    speaker.answers = [vector.text, "No."]
    gateway = create_app(GatewayConfig(default=route("native")), speaker.memory)
    tools = [{"type": "function", "function": {"name": one.name, "parameters": dict(one.parameters)}} for one in map(as_tool, vector.tools)]
    body = {"model": "m", "messages": [{"role": "user", "content": "Go."}], "tools": tools}
    reply = call(gateway, "/v1/chat/completions", body)
    message = reply.json["choices"][0]["message"]
    assert message.get("tool_calls") or len(speaker.bodies) > 1 or is_text(vector)
