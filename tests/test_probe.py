"""The probe run on our peers, run on us, blind: one call in 20 text dialects, 8 texts that only talk about one, and 11
native calls, each with a typical defect.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman import Parser, assemble, parse
from dragoman.effects import run
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.schema.definitions import tools as as_tools
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.turn.machine import turn
from dragoman.types import IssueKind, Message, Request, Response, Stop, Verdict

TOOLS = [
    {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city", "days"],
        },
    }
]
ARGS = {"city": "Paris", "days": 3}
BODY = '{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}'
LLAMA = '{"name": "get_weather", "parameters": {"city": "Paris", "days": 3}}'
CALLS = {
    "bare JSON": BODY,
    "fenced JSON": f"```json\n{BODY}\n```",
    "tilde fence": f"~~~tool_call\n{BODY}\n~~~",
    "hermes": f"<tool_call>\n{BODY}\n</tool_call>",
    "hermes, python quotes": "<tool_call>\n{'name': 'get_weather', 'arguments': {'city': 'Paris', 'days': 3}}\n</tool_call>",
    "llama 3.1": LLAMA,
    "llama python tag": f"<|python_tag|>{LLAMA}",
    "llama function tag": '<function=get_weather>{"city": "Paris", "days": 3}</function>',
    "mistral v3": f"[TOOL_CALLS] [{BODY}]",
    "mistral v11": '[TOOL_CALLS]get_weather[ARGS]{"city": "Paris", "days": 3}',
    "qwen3 coder": "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=days>\n3\n</parameter>\n"
    "</function>\n</tool_call>",
    "glm": "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n<arg_key>days</arg_key>\n"
    "<arg_value>3</arg_value>\n</tool_call>",
    "anthropic xml": '<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n'
    '<parameter name="days">3</parameter>\n</invoke>\n</function_calls>',
    "deepseek v3": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n"
    '{"city": "Paris", "days": 3}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    "deepseek v3.1": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Paris", "days": 3}'
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "kimi k2": "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
    '{"city": "Paris", "days": 3}<|tool_call_end|><|tool_calls_section_end|>',
    "harmony": "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>"
    '{"city": "Paris", "days": 3}<|call|>',
    "pythonic": '[get_weather(city="Paris", days=3)]',
    "react": 'Thought: I need the weather.\nAction: get_weather\nAction Input: {"city": "Paris", "days": 3}',
    "command line": '@tool get_weather {"city": "Paris", "days": 3}',
}
TALK = {
    "in reasoning": f"<think>I could write <tool_call>{BODY}</tool_call></think>Which city?",
    "documentation fence": f"A call looks like this:\n```json\n{BODY}\n```\nThe runtime answers it.",
    "block quote of a page": f"The page says:\n> <tool_call>{BODY}</tool_call>\n\nI ignore it.",
    "xml fence": f"```xml\n<tool_call>{BODY}</tool_call>\n```\nis the form.",
    "inline code": f"Write `<tool_call>{BODY}</tool_call>` to call it.",
    "a data object": f'{{"items": [{BODY}], "total": 1}}',
    "a python sample": f"```python\nclient.call({BODY})\n```\nRun it.",
    "an escaped quotation": 'The log has "<tool_call>{\\"name\\": \\"get_weather\\"}</tool_call>" in it.',
}


def streamed(text: str) -> list[tuple[str, dict[str, object]]]:
    parser = Parser(tools=TOOLS)
    events = [e for c in text for e in parser.feed(c)] + parser.close()
    return [(c.name, dict(c.arguments)) for c in assemble(events).calls]


@pytest.mark.parametrize("dialect", CALLS)
def test_every_dialect_is_recovered_blind_whole_and_streamed(dialect: str) -> None:
    whole = [(c.name, dict(c.arguments)) for c in parse(CALLS[dialect], tools=TOOLS).calls]
    assert whole == streamed(CALLS[dialect]) == [("get_weather", ARGS)]


@pytest.mark.parametrize("text", TALK)
def test_talk_about_a_call_is_never_one(text: str) -> None:
    assert parse(TALK[text], tools=TOOLS).calls == ()
    assert streamed(TALK[text]) == []


@pytest.mark.parametrize("dialect", CALLS)
def test_a_call_cut_before_its_last_value_never_runs(dialect: str) -> None:
    text = CALLS[dialect]
    assert parse(text[: text.rindex("3")], tools=TOOLS, finish_reason="length").calls == ()


def test_the_arguments_keep_their_types() -> None:
    [call] = parse(CALLS["glm"], tools=TOOLS).calls
    assert json.dumps(dict(call.arguments)) == json.dumps(ARGS)


# ── native calls with a defect ───────────────────────────────────────────────

WHOLE = json.dumps(ARGS)
MENDED: dict[str, tuple[str, str]] = {
    # defect: the arguments as they came, why the answer stopped
    "a trailing comma": ('{"city": "Paris", "days": 3,}', "tool_calls"),
    "single quotes": ("{'city': 'Paris', 'days': 3}", "tool_calls"),
    "an end token behind": (WHOLE + "<|im_end|>", "tool_calls"),
    "a text for a number": ('{"city": "Paris", "days": "3"}', "tool_calls"),
    "arguments in a text": (json.dumps(WHOLE), "tool_calls"),
    "a bad escape": ('{"city": "\\Paris", "days": 3}', "tool_calls"),
    "arguments in arguments": (json.dumps({"arguments": ARGS}), "tool_calls"),
    "a plain stop": (WHOLE, "stop"),
}
BACKSLASH = {"city": "\\Paris", "days": 3}  # before a letter it is kept: paths and patterns need it
REFUSED: dict[str, tuple[str, str, str, IssueKind, str]] = {
    # defect: name, arguments, why it stopped → kind of issue, what the model is told
    "no arguments where some are required": ("get_weather", "", "tool_calls", IssueKind.INVALID_ARGUMENTS, "city"),
    "an unknown name": ("get_wether", WHOLE, "tool_calls", IssueKind.UNKNOWN_TOOL, "get_weather"),
    "cut at the limit": ("get_weather", '{"city": "Paris", "da', "length", IssueKind.TRUNCATED, ""),
}


def native(name: str, arguments: str, finish: str, *, stream: bool) -> Response:
    """What comes of one native call, sent whole, or its arguments character by character."""
    pieces = [arguments[i : i + 1] for i in range(max(1, len(arguments)))] if stream else [arguments]
    calls: list[dict[str, Any]] = [{"index": 0, "function": {"arguments": piece}} for piece in pieces]
    calls[0] |= {"id": "c1", "type": "function"}
    calls[0]["function"]["name"] = name
    kind = "chat.completion.chunk" if stream else "chat.completion"
    head = {"id": "u1", "object": kind, "created": 1, "model": "up"}
    if stream:
        bodies = [{"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]} for call in calls]
        bodies += [{"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}]
        sent = [f"data: {json.dumps(head | body)}\n\n".encode() for body in bodies] + [b"data: [DONE]\n\n"]
    else:
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        sent = [json.dumps(head | {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}).encode()]
    answer = Answer(tuple(sent), headers={"content-type": "text/event-stream" if stream else "application/json"})
    to = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
    known = tuple(as_tools(TOOLS) or ())
    request = Request(model="m", messages=(Message("user", "Weather?"),), tools=known, stream=stream)
    return run(turn(request, to), ScriptedPeer([answer]).sync_performer())


streamed_and_whole = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


@streamed_and_whole
@pytest.mark.parametrize("defect", MENDED)
def test_a_damaged_native_call_runs_as_it_was_meant(defect: str, stream: bool) -> None:
    arguments, finish = MENDED[defect]
    got = native("get_weather", arguments, finish, stream=stream)
    [call] = got.calls
    assert (call.name, call.arguments) == ("get_weather", BACKSLASH if defect == "a bad escape" else ARGS)
    assert got.stop is Stop.TOOL_CALLS
    if arguments != WHOLE:
        assert call.report is not None
        assert call.report.verdict is Verdict.MENDED


@streamed_and_whole
@pytest.mark.parametrize("defect", REFUSED)
def test_a_broken_or_unknown_native_call_never_runs(defect: str, stream: bool) -> None:
    name, arguments, finish, kind, expected = REFUSED[defect]
    got = native(name, arguments, finish, stream=stream)
    assert got.calls == ()
    assert [issue.kind for issue in got.issues] == [kind]
    assert expected in got.issues[0].correction
