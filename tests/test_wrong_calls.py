"""Whoever calls the public face wrongly gets a `DragomanError` that says what to do, whatever is wrong.

None, a number, text, bytes, a mapping or a list where something else belongs, and arguments in another order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import dragoman
from dragoman import (
    AsyncClient,
    Client,
    Parser,
    Policy,
    Sampling,
    Tool,
    ToolCall,
    ToolChoice,
    ToolSet,
    UsageError,
    assemble,
    augment_system_prompt,
    decode,
    decode_stream,
    decode_tool_calls,
    encode_definitions,
    encode_result,
    extract,
    parse,
    render,
    replay,
    runnable,
    tool_prompt,
)
from dragoman.batch.judging.row_judge import judge_row
from dragoman.dialects import DIALECTS, from_record
from dragoman.dialects.rows.record import to_record
from tests.support.upstreams import ScriptedReply, model, sent, text_reply

WRITTEN = '<tool_call>{"name": "ping", "arguments": {}}</tool_call>'
BODY = {"choices": [{"message": {"content": WRITTEN}}]}
PING, CALL = Tool(name="ping"), ToolCall(id="c", name="ping")
ADVICE = ("give", "make", "see:", "pass", "put it", "decode", "take ", "stands first", "send")


def ping() -> str:
    """Answer."""
    return "pong"


def given(call: Callable[[Any], Any], *wrong: Any) -> list[tuple[Callable[[Any], Any], Any]]:
    return [(call, value) for value in wrong]


NO_ROW = {"name": "hermes"}
NO_CALLS = ToolCall(id="c", name="ping", arguments='{"a": 1}')  # type: ignore[arg-type]


def reads_parse(**named: Any) -> Any:
    return parse(WRITTEN, **named)


def reads_extract(**named: Any) -> Any:
    return extract(BODY, **named)


READERS = (reads_parse, Parser, reads_extract)
READ_WITH: dict[str, list[Any]] = {
    "dialects": [None, 5, {}, NO_ROW, [NO_ROW], [None], "x"],
    "tools": [ping, [ping], PING, {"name": "ping"}, "x", 5, [5], [{}]],
    "nonce": [True, 5, "x"],
    "prompted_dialect": [5, NO_ROW, "x"],
    "prefix": [5, b"x", ["x"]],
    "shown": [None, 5, [5], [None], b"x"],
    "confirmed": [None, 5],
    "doubt": [None, 5, "x"],
}
MISUSES: list[tuple[Callable[[Any], Any], Any]] = [
    *given(parse, None, 5, b"x", {}, [], BODY),
    *given(Parser().feed, None, 5, b"x", {}),
    *given(lambda it: Parser(ids=it), 5, "x"),
    *[
        (lambda it, read=read, name=name: read(**{name: it}), wrong)
        for read in READERS
        for name, several in READ_WITH.items()
        for wrong in several
        if read is not reads_extract or name in ("dialects", "tools", "nonce")
    ],
    *given(extract, None, 5, "x", b"x", [], {"foo": 1}),
    *given(lambda it: extract(BODY, it), 5, "x"),
    *given(lambda it: extract(BODY, ids=it), 5, "x"),
    *given(lambda it: decode("openai_chat", it), None, 5, "x", [], {}),
    *given(lambda it: decode(it, BODY), None, 5, BODY, "x"),
    *given(lambda it: decode(it, "openai_chat"), BODY, None),
    *given(lambda it: decode_stream("openai_chat", it), None, 5, {}, [5], [{}]),
    *given(lambda it: decode_stream(it, [b"x"]), None, [b"x"], b"x"),
    *given(lambda it: decode_tool_calls(it, "openai_chat"), None, 5, "x", b"x", []),
    *given(lambda it: decode_tool_calls(BODY, it), None, 5, BODY, "x"),
    *given(lambda it: decode_tool_calls("openai_chat", it), BODY),  # type: ignore[arg-type]
    *given(lambda it: encode_definitions([PING], it), None, 5, [PING], "x"),
    *given(lambda it: encode_definitions(it, "openai_chat"), ping, [ping], PING, "x", 5),
    *given(lambda it: encode_result(it, "openai_chat"), None, 5, "x", {}, CALL),
    *given(lambda it: encode_result(it, "gemini"), None, 5, "x", {}, CALL),
    *given(lambda it: render(it, "hermes"), None, 5, "x", {}, [{"name": "ping"}], [NO_CALLS]),
    *given(lambda it: render([CALL], it), None, 5, [CALL], NO_ROW, "x"),
    *given(lambda it: tool_prompt([PING], it), None, 5, NO_ROW, "x"),
    *given(lambda it: tool_prompt([PING], choice=it), "required", 5, {"type": "auto"}),
    *given(lambda it: augment_system_prompt(it, [PING]), 5, b"x", ["x"]),
    *given(assemble, None, 5, b"x", "x", {}),
    *given(lambda it: list(replay(it)), None, 5, "x", {}, []),
    *given(lambda it: dragoman.codecs[it], None, 5, {}, []),
    *given(lambda it: dragoman.dialects[it], None, 5, {}, []),
    *given(ToolChoice, None, 5, "x", {}),
    *given(lambda it: Sampling(temperature=it), "hot", [], {}),
    *given(lambda it: Sampling(max_tokens=it), "5", []),
    *given(lambda it: Sampling(stop=it), 5),
    *given(lambda it: Policy(approve=it), True, "ask"),
    *given(lambda it: Policy(before=it), 5, "x", (5,), None),
    *given(lambda it: Policy(max_turns=it), "5", None, 1.5, True, 0),
    *given(lambda it: Policy(timeout=it), "5", [], 0),
    *given(lambda it: Policy(dialect=it), 5, {}, "x"),
    *given(lambda it: Policy(duplicates=it), "x", None),
    *given(judge_row, None, 5, {"messages": []}, []),
]


@pytest.mark.parametrize(("call", "wrong"), MISUSES)
def test_a_wrong_argument_is_a_usage_error_that_says_what_to_do(call: Callable[[Any], Any], wrong: Any) -> None:
    with pytest.raises(dragoman.DragomanError) as caught:
        call(wrong)
    assert any(word in str(caught.value) for word in ADVICE), str(caught.value)


# ── what was refused, and is right ───────────────────────────────────────────


@pytest.mark.parametrize("tools", [ToolSet(ping), [ToolSet(ping)], [runnable(ping)], [ToolSet(ping)["ping"]]])
def test_what_runs_here_is_its_definitions_to_whoever_only_reads(tools: Any) -> None:
    assert [call.name for call in parse(WRITTEN, tools=tools).calls] == ["ping"]
    assert [call.name for call in extract({"text": WRITTEN}, tools=tools)] == ["ping"]
    assert encode_definitions(tools, "openai_chat") == encode_definitions(ToolSet(ping).definitions, "openai_chat")
    assert "ping" in tool_prompt(tools)


def test_functions_are_told_where_their_definitions_are() -> None:
    with pytest.raises(UsageError, match=r"ToolSet\(function, …\)\.definitions"):
        parse(WRITTEN, tools=[ping])  # type: ignore[list-item]


def test_a_row_as_json_is_told_how_it_becomes_one() -> None:
    row = to_record(DIALECTS["hermes"])
    with pytest.raises(UsageError, match="from_record"):
        parse(WRITTEN, dialects=row)  # type: ignore[arg-type]
    assert parse(WRITTEN, dialects=from_record(row)).calls


def test_a_single_call_is_rendered_as_a_list_of_it() -> None:
    assert render(CALL, "hermes") == render([CALL], "hermes") == render(iter([CALL]), "hermes")


def test_a_single_text_that_was_shown_is_one_text() -> None:
    page = f"Write {WRITTEN} to try it."
    assert parse(f"Done.\n{WRITTEN}", shown=page).calls == parse(f"Done.\n{WRITTEN}", shown=[page]).calls


def test_a_stream_may_come_in_one_piece_or_as_text() -> None:
    frame = 'data: {"choices": [{"delta": {"content": "ä"}, "finish_reason": "stop"}]}\n\n'
    for stream in ([frame.encode()], frame.encode(), frame, [frame[:20], frame[20:]]):
        assert decode_stream("openai_chat", stream).text == "ä"


def test_a_hook_given_alone_is_one_of_several() -> None:
    hook: Any = lambda *_: None  # noqa: E731
    policy = Policy(before=hook, after=hook)
    assert (policy.before, policy.after) == ((hook,), (hook,))


# ── a parser that is closed ──────────────────────────────────────────────────


@pytest.mark.parametrize("before", ["", "Hello ", "<tool_call>", WRITTEN])
def test_text_behind_the_end_is_refused_and_never_lost(before: str) -> None:
    parser = Parser()
    parser.feed(before)
    parser.close()
    for feed in (parser.feed, parser.whole):
        with pytest.raises(UsageError, match="the parser is closed"):
            feed("b")
    assert (parser.feed(""), parser.close()) == ([], [])


# ── clients ──────────────────────────────────────────────────────────────────

API, URL = "openai_chat", "http://127.0.0.1:1/v1"


def client(**named: Any) -> Client:
    answer = model(API, text_reply("Hi."))
    return Client(**{"model": "compatible/m", "base_url": URL, "performer": answer.sync_performer, **named})


CLIENTS: list[tuple[str, list[Any]]] = [
    ("model", [5, {}, [None], b"x", "x"]),
    ("tools", [5, "x", {}, [5], {"name": "f"}]),
    ("policy", ["x", {}, 5]),
    ("sampling", [{"temperature": 0}, 5]),
    ("system", [5, ["x"]]),
    ("api_key", [5]),
    ("base_url", [5]),
    ("providers", [5]),
    ("routes", [5]),
    ("environ", [5]),
    ("timeouts", [5]),
    ("rules", [5]),
    ("health", [5]),
    ("tool_mode", [5, "x"]),
]


@pytest.mark.parametrize(("name", "wrong"), [(name, wrong) for name, several in CLIENTS for wrong in several])
def test_a_client_refuses_a_wrong_default(name: str, wrong: Any) -> None:
    with pytest.raises(UsageError):
        client(**{name: wrong, **({"base_url": ""} if name == "model" else {})}).run("Hi.")


CALLS: list[tuple[str, list[Any]]] = [
    ("tools", [5, "x", {}, [5]]),
    ("sampling", [{"temperature": 0}, 5]),
    ("system", [5]),
    ("extra", [5, "x"]),
    ("on_event", [5]),
    ("cancel", [5, True]),
    ("model", [5, [None]]),
    ("messages", [5, b"x", [None], {}]),
    ("tool_choice", ["x", 5, {}, {"type": "nope"}, ToolChoice("named", "nope")]),
]


@pytest.mark.parametrize("method", ["run", "turn"])
@pytest.mark.parametrize(("name", "wrong"), [(name, wrong) for name, several in CALLS for wrong in several])
def test_a_call_of_a_client_refuses_a_wrong_value(method: str, name: str, wrong: Any) -> None:
    with pytest.raises(UsageError):
        getattr(client(), method)("Hi.", **{name: wrong})


@pytest.mark.parametrize("wrong", [None, 5])
def test_a_journal_is_a_file(wrong: Any) -> None:
    with pytest.raises(UsageError, match="give the path"):
        client().resume(wrong)


CHOICES: list[tuple[Any, Any]] = [
    ("required", "required"),
    ("any", "required"),
    ("auto", "auto"),
    ("none", "none"),
    ({"type": "function", "function": {"name": "ping"}}, {"type": "function", "function": {"name": "ping"}}),
    ({"type": "tool", "name": "ping"}, {"type": "function", "function": {"name": "ping"}}),
    ({"type": "any"}, "required"),
    (ToolChoice("named", "ping"), {"type": "function", "function": {"name": "ping"}}),
]


@pytest.mark.parametrize(("choice", "wanted"), CHOICES)
def test_a_choice_may_be_said_in_the_words_of_an_api(choice: Any, wanted: Any) -> None:
    memory = model(API, text_reply("Hi.") if wanted == "none" else ScriptedReply((), (("c1", "ping", {}),)))
    with Client("compatible/m", base_url=URL, performer=memory.sync_performer) as asked:
        asked.turn("Hi.", tools=[ping], tool_choice=choice)
    assert sent(memory).get("tool_choice", "auto") == wanted


def test_a_closed_client_asks_nobody() -> None:
    closed = Client("ollama/m")
    closed.close()
    closed.close()
    for ask in (closed.run, closed.turn, lambda text: list(closed.stream(text))):
        with pytest.raises(UsageError, match="this client is closed; make a new one"):
            ask("Hi.")


def test_a_closed_client_of_tasks_asks_nobody() -> None:
    async def asked() -> None:
        closed = AsyncClient("ollama/m")
        await closed.aclose()
        with pytest.raises(UsageError, match="this client is closed; make a new one"):
            await closed.run("Hi.")

    asyncio.run(asked())
