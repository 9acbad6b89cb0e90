"""Damage with one reading is mended, damage with two is refused; the calls around it run (malformations.md)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman import IssueKind, Parser, parse
from dragoman.dialects.engine.parsed import Parsed, fold

TEXT = [{"name": n, "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}} for n in ("f", "g")]
GOOD = '<tool_call>{"name": "g", "arguments": {"a": "y"}}</tool_call>'


def read(text: str, tools: Any = TEXT, dialects: str = "auto") -> Parsed:
    """The reading of `text`, which is the same character by character."""
    parser = Parser(tools=tools, dialects=dialects)
    parts = fold([e for c in text for e in parser.feed(c)] + parser.close())
    whole = parse(text, tools=tools, dialects=dialects)
    assert made(parts) == made(whole)
    assert (parts.text, [i.kind for i in parts.issues]) == (whole.text, [i.kind for i in whole.issues])
    return whole


def made(parsed: Parsed) -> list[tuple[str, str]]:
    return [(c.name, json.dumps(dict(c.arguments))) for c in parsed.calls]


def called(parsed: Parsed) -> list[tuple[str, Any]]:
    return [(c.name, dict(c.arguments)) for c in parsed.calls]


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "f", "arguments": {"a": "x", "a": "z"}}</tool_call>',
        '<tool_call>{"name": "f", "arguments": "{\\"a\\": \\"x\\", \\"a\\": \\"z\\"}"}</tool_call>',
        '<tool_call>{"name": "f", "arguments": {"a": "x"}, "arguments": {"a": "z"}}</tool_call>',
        "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n<parameter=a>\nz\n</parameter>\n</function>\n</tool_call>",
        "<tool_call>\nname: f\narguments:\n  a: x\n  a: z\n</tool_call>",
        "<|tool_call_start|>[f(a='x', a='z')]<|tool_call_end|>",
    ],
)
def test_a_key_with_two_values_refuses_its_call_alone(text: str) -> None:
    parsed = read(f"{text}\n{GOOD}")
    assert called(parsed) == [("g", {"a": "y"})]
    assert [i.kind for i in parsed.issues] == [IssueKind.DUPLICATE_KEYS, IssueKind.PARTIAL]
    assert parsed.issues[0].correction


def test_a_key_given_twice_alike_counts_once() -> None:
    assert called(read('<tool_call>{"name": "f", "arguments": {"a": "x", "a": "x"}}</tool_call>')) == [
        ("f", {"a": "x"})
    ]


def test_text_before_the_closer_refuses_that_call_alone() -> None:
    parsed = read('<tool_call>{"name": "f", "arguments": {"a": "x"}}, "b": 1</tool_call>' + GOOD)
    assert called(parsed) == [("g", {"a": "y"})]
    assert [i.kind for i in parsed.issues] == [IssueKind.MALFORMED, IssueKind.PARTIAL]


def test_prose_behind_complete_arguments_without_a_closer_is_prose() -> None:
    parsed = read('<tool_call>{"name": "f", "arguments": {"a": "x"}} and that is it')
    assert called(parsed) == [("f", {"a": "x"})]
    assert parsed.text == " and that is it"


def test_a_python_string_ends_at_its_only_possible_quote() -> None:
    text = "<|tool_call_start|>[f(a='print(g(x, s='\\,'))')]<|tool_call_end|>"
    assert called(read(text)) == [("f", {"a": "print(g(x, s='\\,'))"})]


def test_a_python_call_with_two_possible_ends_is_refused() -> None:
    parsed = read("<|tool_call_start|>[f(a='echo ('hi') ')]<|tool_call_end|>")
    assert parsed.calls == ()
    assert IssueKind.MALFORMED in {i.kind for i in parsed.issues}


def test_quotes_behind_a_comma_end_strings_only_before_json() -> None:
    inside = read('<tool_call>{"name": "f", "arguments": {"a": "one ,"b": two"}}</tool_call>')
    mended = read('<tool_call>{"name": "f", "arguments": {"a": "one , "b" two"}}</tool_call>')
    assert called(inside) == [("f", {"a": 'one ,"b": two'})]
    assert called(mended) == [("f", {"a": 'one , "b" two'})]


def test_a_list_behind_words_counts_only_when_asked_for() -> None:
    text = "Here: [f(a='x')]"
    assert called(read(text, dialects="pythonic")) == [("f", {"a": "x"})]
    assert read(text).calls == ()
    assert read(f"{text} was it", dialects="pythonic").calls == ()


def test_an_unclosed_call_begun_again_is_one_call() -> None:
    unclosed = GOOD.removesuffix("</tool_call>")
    assert called(read(f"{unclosed}\n{GOOD}")) == [("g", {"a": "y"})]
    assert called(read(f"{GOOD}\n{GOOD}")) == [("g", {"a": "y"})] * 2


def test_a_weak_echo_of_a_strong_call_is_text() -> None:
    parsed = read("<|tool_call_start|>[f(a='x')]<|tool_call_end|>[f(a='x')]<|tool_call_end|>")
    assert called(parsed) == [("f", {"a": "x"})]


def test_attribute_names_are_unescaped_and_values_are_not() -> None:
    call = '<|open|>call tool="a&amp;b" index="0"<|sep|>{}<|close|>call<|sep|>'
    argument = '<|open|>argument key="k&lt;" type="string"<|sep|>&amp;<|close|>argument<|sep|>'
    assert called(read(call.format(argument), tools=None)) == [("a&b", {"k<": "&amp;"})]


def test_an_element_closed_by_another_name_is_closed() -> None:
    assert called(read("<f><a>x</b></f>", dialects="xml_tool_tag")) == [("f", {"a": "x"})]
    assert called(read("<f><a><b>x</b></a></f>", dialects="xml_tool_tag")) == [("f", {"a": "<b>x</b>"})]
    assert read("<f><a>x<a></f>", dialects="xml_tool_tag").calls == ()


def test_a_sentence_about_a_marker_stays_text() -> None:
    assert read("[TOOL_CALLS] is the marker.").text == "[TOOL_CALLS] is the marker."


def test_a_marker_named_in_a_sentence_swallows_no_call() -> None:
    parsed = read(f"Call it via <tool_call>:\n{GOOD}")
    assert called(parsed) == [("g", {"a": "y"})]


NOTHING_FOLLOWS = [
    "The recipient is to=functions.g here.",
    "See to=functions.g",
    "[TOOL_CALLS]g",
    "<start_function_call>call:g",
]
OTHERS = [
    '<invoke name="g">\n<parameter name="a">y</parameter>\n</invoke>',
    "<tool_call>\n<function=g>\n<parameter=a>\ny\n</parameter>\n</function>\n</tool_call>",
    "<tool_call>g<arg_key>a</arg_key><arg_value>y</arg_value></tool_call>",
]


@pytest.mark.parametrize("mark", NOTHING_FOLLOWS)
@pytest.mark.parametrize("call", OTHERS)
def test_a_name_that_no_arguments_follow_swallows_no_call_of_another_form(mark: str, call: str) -> None:
    parsed = read(f"{mark}\n{call}")
    assert called(parsed) == [("g", {"a": "y"})]
    assert {issue.kind for issue in parsed.issues} <= {IssueKind.NOISE}


def test_a_header_without_its_first_token_holds_a_call_of_its_familys_other_form() -> None:
    body = '<atem:function_calls><atem:invoke name="g"><atem:parameter name="a">y</atem:parameter></atem:invoke>'
    parsed = read(f"Hm.<|eom|> to=functions.g<|message|>{body}</atem:function_calls><|eom|>")
    assert called(parsed) == [("g", {"a": "y"})]


def test_a_name_that_the_end_of_the_message_cuts_is_told() -> None:
    for text in ("to=functions.g", "[TOOL_CALLS]g", "<start_function_call>call:g\n"):
        assert [issue.kind for issue in read(text).issues] == [IssueKind.TRUNCATED]


def test_an_endless_schema_pattern_does_not_hold_up_reading() -> None:
    evil = [{"name": "f", "parameters": {"type": "object", "patternProperties": {"^(a+)+$": {"type": "string"}}}}]
    text = json.dumps({"name": "f", "arguments": {"a" * 40 + "!": "x"}})
    assert len(read(f"<tool_call>{text}</tool_call>", tools=evil).calls) == 1


@pytest.mark.parametrize("opener", ["[TOOL_CALLS]f[ARGS", "[TOOL_CALLSf[ARGS]", "[TOOL_CALLSf[ARGS"])
def test_marks_without_their_last_bracket_open_a_call(opener: str) -> None:
    read = parse(f'{opener}{{"a": "x"}}', tools=TEXT)
    assert [(call.name, call.arguments) for call in read.calls] == [("f", {"a": "x"})]
    assert not parse("The mark [TOOL_CALLS opens one.", tools=TEXT).issues


def test_a_list_of_calls_with_a_brace_too_many_is_read() -> None:
    one, two = '{"name": "f", "arguments": {"a": "x"}}', '{"name": "g", "arguments": {"a": "y"}}'
    for text in (f"[TOOL_CALLS][{one}, {two}}}]", f"[TOOL_CALLS][{one}}}, {two}]"):
        assert [call.name for call in read(text).calls] == ["f", "g"]


@pytest.mark.parametrize("behind", [" opens the next call. ok", "g opens the next call. ok", "g\n"])
def test_a_value_that_speaks_of_its_own_closer_and_of_another_call_is_not_run_cut(behind: str) -> None:
    text = f"<tool_call>f<arg_key>a</arg_key><arg_value>It ends with </arg_value>\n<tool_call>{behind}</arg_value></tool_call>"
    assert not [call for call in read(text).calls if call.arguments == {"a": "It ends with "}]


@pytest.mark.parametrize("broken", ['{"name": "f", "arguments": {"a": "x"}\n', '{"name": "f", "arguments": {"a":\n'])
def test_a_call_behind_one_that_lost_its_end_runs(broken: str) -> None:
    parsed = read(f"<tool_call>{broken}{GOOD}")
    assert [(call.name, call.arguments) for call in parsed.calls] == [("g", {"a": "y"})]
    assert IssueKind.MALFORMED in [issue.kind for issue in parsed.issues]
