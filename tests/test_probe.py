"""The probe run on our peers (20 text dialects of one call, 8 texts that only talk about one), run on us, blind."""

from __future__ import annotations

import json

import pytest

from dragoman import Parser, assemble, parse

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
    assert parse(text[: text.rindex("3")], tools=TOOLS, finish="length").calls == ()


def test_the_arguments_keep_their_types() -> None:
    [call] = parse(CALLS["glm"], tools=TOOLS).calls
    assert json.dumps(dict(call.arguments)) == json.dumps(ARGS)
