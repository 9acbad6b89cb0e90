"""Words and switches: one that is written as a text counts as what it says, one that says nothing is refused at once."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from dragoman import (
    Approval,
    Client,
    Output,
    Policy,
    Route,
    Rules,
    ToolSet,
    UsageError,
    assemble,
    parse,
    runnable,
    tool,
)
from dragoman.loop import Duplicates
from dragoman.providers.rows import COMPATIBLE
from dragoman.providers.spec import Tools
from tests.support.both_clients import URL
from tests.support.upstreams import ScriptedReply, model, text_reply

ROW = COMPATIBLE["openai_chat"]
TWICE = ScriptedReply((), tuple((f"c{n}", "look", {"at": "sky"}) for n in range(2)))


def look(at: str) -> str:
    """Look at something."""
    return at


def test_a_word_counts_as_the_one_it_names() -> None:
    assert Policy(duplicates="run").duplicates is Duplicates.RUN  # type: ignore[arg-type]
    assert Route(provider=ROW, tools="text").mode is Tools.TEXT  # type: ignore[arg-type]
    assert runnable(look, approval="always").approval is Approval.ALWAYS  # type: ignore[arg-type]


def test_equal_calls_run_twice_where_that_is_said_in_a_word() -> None:
    ran: list[str] = []

    def note(at: str) -> None:
        ran.append(at)

    def run(**given: Any) -> int:
        ran.clear()
        noting = runnable((runnable(look).tool, note))
        memory = model("openai_chat", TWICE, text_reply("Done."))
        with Client("m", base_url=URL, performer=memory.sync_performer) as client:
            client.run("Look.", tools=[noting], policy=Policy(**given))
        return len(ran)

    assert (run(), run(duplicates="run")) == (1, 2)


def test_a_tool_that_needs_nobody_by_a_word_asks_nobody() -> None:
    asked: list[Any] = []

    def ask(request: Any) -> bool:
        asked.append(request)
        return False

    memory = model("openai_chat", TWICE, text_reply("Done."))
    with Client("m", base_url=URL, performer=memory.sync_performer) as client:
        tools = ToolSet(runnable(look, approval="never"))  # type: ignore[arg-type]
        client.run("Look.", tools=tools, policy=Policy(approve=ask))
    assert asked == []


WRONG: dict[str, Callable[[], Any]] = {
    "approval": lambda: tool(approval="sometimes")(look),  # type: ignore[call-overload]
    "approval as a switch": lambda: tool(approval=True)(look),  # type: ignore[call-overload]
    "read_only": lambda: tool(read_only="no")(look),  # type: ignore[call-overload]
    "final": lambda: tool(final="yes")(look),  # type: ignore[call-overload]
    "timeout of a tool": lambda: tool(timeout="5")(look),  # type: ignore[call-overload]
    "endless timeout of a tool": lambda: tool(timeout=float("nan"))(look),
    "duplicates": lambda: Policy(duplicates="twice"),  # type: ignore[arg-type]
    "strict of a policy": lambda: Policy(strict="false"),  # type: ignore[arg-type]
    "timeout of a policy": lambda: Policy(timeout=float("nan")),
    "endless timeout": lambda: Policy(timeout=float("inf")),
    "tools of a route": lambda: Route(provider=ROW, tools="telepathy"),  # type: ignore[arg-type]
    "provider of a route": lambda: Route(provider="openai"),  # type: ignore[arg-type]
    "strict of a route": lambda: Route(provider=ROW, strict="x"),  # type: ignore[arg-type]
    "doubt of a route": lambda: Route(provider=ROW, doubt="zz"),
    "dialects of a route": lambda: Route(provider=ROW, dialects="nope"),
    "prompt dialect of a route": lambda: Route(provider=ROW, prompt_dialect="zz"),
    "name of a tool": lambda: runnable(look, name=3),  # type: ignore[arg-type]
    "empty name of a tool": lambda: runnable(look, name=""),
    "parameters of a tool": lambda: runnable(look, parameters=[]),  # type: ignore[arg-type]
    "doubt of a client": lambda: Client(doubt="zz"),
    "dialects of a client": lambda: Client(dialects="nope"),
    "prompt dialect of a client": lambda: Client(prompt_dialect="zz"),
    "nonce of a client": lambda: Client(nonce="x"),
    "routes of a client": lambda: Client(routes=[3]),  # type: ignore[list-item]
    "providers of a client": lambda: Client(providers=[3]),  # type: ignore[list-item]
    "raise_on_failure of a client": lambda: Client(raise_on_failure="no"),  # type: ignore[arg-type]
    "retries": lambda: Rules(retries=-1),
    "retries as a text": lambda: Rules(retries="2"),  # type: ignore[arg-type]
    "first wait": lambda: Rules(first=float("nan")),
    "events": lambda: assemble([1]),  # type: ignore[list-item]
    "how of an output": lambda: Output.of(int, how="magic"),
    "how of an output itself": lambda: Output(schema={}, how="magic"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("make", WRONG.values(), ids=WRONG)
def test_what_says_nothing_is_refused_where_it_is_given(make: Callable[[], Any]) -> None:
    with pytest.raises(UsageError, match=r"give|did you mean|see:"):
        make()


def test_a_client_cannot_go_to_another_process() -> None:
    with Client("ollama/m") as client, pytest.raises(UsageError, match="each process"):
        pickle.dumps(client)


def test_a_pair_of_a_tool_and_its_function_declares_the_tool() -> None:
    pair = (runnable(look).tool, look)
    [call] = parse('<tool_call>{"name": "look", "arguments": {"at": "sky"}}</tool_call>', tools=[pair]).calls  # type: ignore[list-item]
    assert call.arguments == {"at": "sky"}
