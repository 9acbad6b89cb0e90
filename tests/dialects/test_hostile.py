"""Texts made to cost time cost no more than their length; counted in calls, never timed."""

from __future__ import annotations

import random

import pytest

from bench.counts import counting
from dragoman.dialects.engine.parse import parse
from dragoman.dialects.engine.parsed import Parsed, fold
from dragoman.dialects.engine.parser import Parser
from dragoman.dialects.judge.quotation import Context
from dragoman.dialects.reading.skipped import LONGEST
from dragoman.types import Tool
from tests.support.hostile import CALL, CONTEXTS, LATE_CALLS, TOOL, UNITS, generators

MAKERS = generators()
NAMES = sorted(name for name in MAKERS if not name.startswith("mixture"))
MIXTURES = sorted(MAKERS.keys() - set(NAMES))
MIXED = 100
"""Calls for a character of a mixture, at most: its beginning decides what the rest costs."""
EACH = 97
"""Of so many texts one is counted in every run; in the full suite another part of them."""
SMALL, LARGE = 3_000, 12_000
ALLOWED = 1.5
"""Calls of each character of a long text, at most so many times those of a short one."""

BOUNDS = {
    "'</parameter> x' in an XML value": 200,
    "'<' in elements": 200,
    "'<t' in elements": 200,
    "'</' in elements": 200,
    "'</tool>' in elements": 800,
    "'<args>' in elements": 500,
    "'<a><b>' in an XML call": 800,
    "'``' in a JSON call": 200,
    "'[' in a JSON call": 200,
    "'<tool=' in an XML value": 300,
    "'<tool_call>' in an XML value": 300,
    "'[ping(' alone": 200,
    "'\"\"\"a' in Python": 200,
    "'```json\\n' alone": 4_000,
    "'</s>' in a fence": 2_000,
    "'<tool_call>' in a fence": 6_000,
    "'<tool name=\"' in a fence": 3_000,
    "'<tool name=\"' in words": 8_000,
    "'\\nAction: ' in a fence": 3_000,
    "',' in a JSON call": 200,
    "']<]minimax[>[</invoke>' in an XML value": 6_000,
}
"""Calls for a thousand characters of a text of eight thousand: some are what a message costs at all."""
LONG, DENSE = 100_000, 2_000
"""Calls for a thousand characters of a long text, at most: most of it is passed over, and looked at in vain no more."""


def calls_of(name: str, size: int) -> float:
    """Calls for each character, once the caches are warm."""
    text = MAKERS[name](size)
    with counting() as count:
        parse(text, tools=[TOOL])
    return count.calls / len(text)


def fed(text: str, seed: int) -> Parsed:
    rng, parser, at = random.Random(seed), Parser(tools=[TOOL]), 0
    events = []
    while at < len(text):
        size = rng.choice((1, 4, 4, 300, 2_000))
        events += parser.feed(text[at : at + size])
        at += size
    return fold([*events, *parser.close()])


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    for name in NAMES[::500]:
        parse(MAKERS[name](600), tools=[TOOL])


def check_linear(name: str) -> None:
    parse(MAKERS[name](LARGE), tools=[TOOL])  # patterns that only long texts need are kept, too
    small, large = calls_of(name, SMALL), calls_of(name, LARGE)
    assert large <= ALLOWED * small + 1


@pytest.mark.parametrize("name", NAMES[::EACH])
def test_no_text_costs_more_than_its_length(name: str) -> None:
    check_linear(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES[11::EACH])
def test_no_other_text_costs_more_than_its_length(name: str) -> None:
    check_linear(name)


@pytest.mark.parametrize("name", MIXTURES[::8])
def test_no_mixture_of_marks_costs_much(name: str) -> None:
    parse(MAKERS[name](SMALL), tools=[TOOL])
    assert calls_of(name, LARGE) <= MIXED


@pytest.mark.parametrize(
    "name",
    [
        "'<ping>' alone", "'<ping>' '</ping>' in turn", "'<tool name=\"' alone", "'<tool name=\"' in words",
        "'<tool_call>{\"name\": \"ping\", ' in a fence", "'<parameter=ping>\\n' in a fence",
    ],
)  # fmt: skip
@pytest.mark.costly
def test_a_text_that_once_cost_the_square_of_its_length_does_not(name: str) -> None:
    check_linear(name)


@pytest.mark.parametrize("name", BOUNDS)
def test_marks_that_mean_nothing_are_passed_at_once(name: str) -> None:
    parse(MAKERS[name](SMALL), tools=[TOOL])
    assert calls_of(name, 8_000) * 1000 <= BOUNDS[name]


@pytest.mark.parametrize("where", ["alone", "in reasoning"])
@pytest.mark.parametrize("unit", UNITS)
def test_long_texts_of_what_answers_hold_are_passed_over(unit: str, where: str) -> None:
    name = f"{unit!r} {where}"
    parse(MAKERS[name](LONG), tools=[TOOL])
    assert calls_of(name, LONG) * 1000 <= DENSE


@pytest.mark.parametrize("unit", UNITS)
def test_what_answers_hold_is_read_in_pieces_as_it_is_whole(unit: str) -> None:
    for before in (CONTEXTS["alone"], CONTEXTS["in reasoning"]):
        text = before + unit * (30_000 // len(unit)) + "\n" + CALL
        assert fed(text, len(unit)) == parse(text, tools=[TOOL])


@pytest.mark.parametrize("call", LATE_CALLS)
@pytest.mark.parametrize("unit", ['```json\n{"a": 1}\n```\n', '{"a": 1}\n{"b": [2]}\n', "```json\n[1, 2]\n```\n~~~\n{}\n~~~\n"])
def test_a_call_of_any_kind_behind_much_data_is_read_as_behind_little(unit: str, call: str) -> None:
    few, many = unit * 3 + "\n" + call, unit * 1_500 + "\n" + call
    near, far = parse(few, tools=[TOOL]), parse(many, tools=[TOOL])
    assert [c.name for c in (*far.calls, *far.doubtful)] == ["ping"]
    assert ([c.name for c in far.calls], far.issues) == ([c.name for c in near.calls], near.issues)
    assert far == fed(many, 11)


BEGUN = ("tool_input\n", "functions.ping\n\n", "pingping\n", "<function_calls\n", "ping://\n\n", "pi\\ng\n", "[tool_use: f] ")
"""Lines that begin as marks or names do, and are none."""


@pytest.mark.parametrize("unit", BEGUN)
def test_lines_that_begin_as_calls_do_are_told_apart_by_all_of_each_mark(unit: str) -> None:
    text = unit * (LONG // len(unit))
    parse(text, tools=[TOOL])
    with counting() as count:
        parse(text, tools=[TOOL])
    assert count.calls * 1000 <= DENSE * len(text)


@pytest.mark.parametrize("call", LATE_CALLS)
@pytest.mark.parametrize("unit", BEGUN[:-1])
def test_a_call_behind_thousands_of_such_lines_is_read_as_behind_few(unit: str, call: str) -> None:
    text = unit * 2_500 + "\n" + call
    near, far = parse(unit * 3 + "\n" + call, tools=[TOOL]), parse(text, tools=[TOOL])
    assert [c.name for c in (*far.calls, *far.doubtful)] == [c.name for c in (*near.calls, *near.doubtful)] == ["ping"]
    assert far == fed(text, 7)


def test_blank_lines_are_read_as_one() -> None:
    call = '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'
    for before in ("- a\n\n\n  ", "```\n\n\n", "    x\n\n \n    ", "'a\n\n\n", "> a\n\n\n", "[[\n\n\n"):
        text = before + call
        many = text.replace("\n\n", "\n" + "\n" * 40)
        assert [len(parse(t, tools=[TOOL]).calls) for t in (text, many)] == [len(fed(text, 3).calls)] * 2


@pytest.mark.parametrize("name", [*BOUNDS, "mixture 4 in an XML value", *NAMES[5::800]])
def test_it_is_read_in_pieces_as_it_is_whole(name: str) -> None:
    text = MAKERS[name](9_000)
    assert fed(text, len(name)) == parse(text, tools=[TOOL])


@pytest.mark.parametrize("size", [1_000, 148_000, 152_000])
def test_a_damaged_call_of_a_list_is_passed_over_in_pieces_as_it_is_whole(size: int) -> None:
    damaged = f'ping(host=is {{"{"a" * size}"}})'
    text = f'[{damaged}, ping(host="b")]'
    parsed = parse(text, tools=[TOOL])
    assert parsed == fed(text, size)
    assert [call.arguments for call in parsed.calls] == ([{"host": "b"}] if size < LONGEST else [])


@pytest.mark.parametrize("noise", ["</s>", "<tool_call>", "<tool_call>{", '<tool name="', "[TOOL_CALLS]", "{", "ping("])
def test_a_call_behind_a_fence_full_of_marks_is_read(noise: str) -> None:
    text = "See:\n```\n" + noise * (20_000 // len(noise)) + "\n```\nSo:\n\n" + CALL
    parsed = parse(text, tools=[TOOL])
    assert [call.name for call in parsed.calls] == ["ping"]
    assert parsed == fed(text, 7)


@pytest.mark.parametrize("noise", ["</s> ", "<tool_call> ", CALL + "\n"])
def test_a_call_right_behind_a_fence_full_of_marks_runs(noise: str) -> None:
    text = "See:\n```xml\n" + noise * 2_500 + "\n```\n" + CALL
    parsed = parse(text, tools=[TOOL])
    assert [call.name for call in parsed.calls] == ["ping"]
    assert parsed == fed(text, 5)


def test_a_call_quoted_behind_many_marks_in_a_fence_is_no_call() -> None:
    text = "See:\n```\n" + "</s> " * 2_000 + "\n" + CALL + "\n```\nThat is all."
    parsed = parse(text, tools=[TOOL])
    assert parsed.calls == ()
    assert parsed.text == text
    assert parsed == fed(text, 3)


def test_a_value_in_backticks_with_a_comma_before_a_backtick_is_no_error() -> None:
    for inside in ("a,`b`: c", "a,`b", "a, `", "a,’b’: c"):
        for quote in "`’”":
            parse(f'<tool_call>{{"name": {quote}{inside}{quote}, "arguments": {{}}}}</tool_call>', tools=[TOOL])


def test_ids_of_many_calls_alike_stay_short() -> None:
    parsed = parse("<ping>" * 300, tools=[TOOL])
    ids = [call.id for call in (*parsed.calls, *parsed.doubtful)]
    assert len(set(ids)) == len(ids)
    assert max(map(len, ids)) < 20


FENCED = (
    '```xml\n<invoke name="nope"><parameter name="a">1</parameter></invoke>\n```\n<nope><a>1</a></nope>\n',
    '```xml\n<function=nope><parameter=a>1</parameter></function>\n```\n<nope>a</nope>\n',
    "```\n<tool_call>nope\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>\n```\n</tool_call>\n",
)


@pytest.mark.parametrize("unit", FENCED, ids=["invoke", "function", "keys"])
@pytest.mark.parametrize("tools", [None, [TOOL]], ids=["no tools", "tools"])
@pytest.mark.costly
def test_calls_that_several_rows_read_in_vain_are_not_each_read_to_the_end(unit: str, tools: list[Tool] | None) -> None:
    told = []
    for size in (20_000, 60_000):
        text = unit * (size // len(unit))
        with counting() as count:
            parse(text, tools=tools)
        told.append(count.calls / len(text))
    assert told[1] <= ALLOWED * told[0]


JSON_STRING, PYTHON_STRING = '<tool_call>{"name": "ping", "arguments": {"host": "', '[ping(host="'


@pytest.mark.parametrize(
    ("head", "escape"),
    [
        (JSON_STRING, "\\u"), (JSON_STRING, "\\q\x01"), (JSON_STRING, "\t\\u00--"), (JSON_STRING, "\\x"), (JSON_STRING, ".\\>-`"), (JSON_STRING, "\\u00-->"), (JSON_STRING, "\\ud83d\\ude00"),
        (PYTHON_STRING, "\\q"), (PYTHON_STRING, "\\x"),
    ],
)  # fmt: skip
def test_escapes_of_which_many_follow_are_not_each_looked_at(head: str, escape: str) -> None:
    parse(head + escape * 100, tools=[TOOL])
    text = head + escape * 20_000
    with counting() as count:
        parse(text, tools=[TOOL])
    assert count.calls < 3_000
    assert parse(head + escape * 300 + '"', tools=[TOOL]) == fed(head + escape * 300 + '"', 7)


@pytest.mark.parametrize("escape", ["\\x\\\\", "\\q\\n", "\\-\\u0041"])
def test_escapes_that_are_none_amid_others_cost_few_steps(escape: str) -> None:
    text = JSON_STRING + escape * 20_000
    with counting() as count:
        parse(text, tools=[TOOL])
    assert count.calls < 7 * 20_000
    assert parse(JSON_STRING + escape * 300 + '"', tools=[TOOL]) == fed(JSON_STRING + escape * 300 + '"', 7)


@pytest.mark.parametrize("unit", ["“", '{"<a>', '">{=> "<>{', "“a” ‘b’ ", "&|a\nx<>#", "|a|b|\n", "«<b>» „[x]“ ", "«<em>» “<div a>” "])
def test_marks_of_quotation_that_close_on_their_line_are_passed_at_once(unit: str) -> None:
    context = Context()
    context.add("a" + unit * 20_000)
    context.standing()
    context = Context()
    with counting() as count:
        context.add("a" + unit * 20_000)
        context.standing()
    assert count.calls < 2_000


def test_quotes_inside_many_strings_are_bounded_by_all_that_stand_in_the_text() -> None:
    call = JSON_STRING + 'a "b" c "d" e, ' * 1_500 + '"}}</tool_call>\n'
    few, many = parse(call * 3, tools=[TOOL]), parse(call * 20, tools=[TOOL])
    assert len(few.calls) == 3
    assert 3 < len(many.calls) < 20
    assert any("quotes stand inside strings" in issue.message for issue in many.issues)
    assert many == fed(call * 20, 1_000)


def test_a_call_behind_damaged_values_that_are_read_again_and_again_is_found() -> None:
    text = 'functools\n[\n{"a": "b"\n' * 140 + f"\n{CALL}\n\n" + "{}\n" * 800
    assert [call.name for call in parse(text, tools=[TOOL]).calls] == ["ping"]


def test_marks_of_three_quotes_count_among_them() -> None:
    head = '<tool_call>{"name": "ping", "arguments": {"host": ['
    few, many = (parse(head + '"""a""", ' * times + '"b"]}}</tool_call>', tools=[TOOL]) for times in (1_500, 20_000))
    assert not any("quotes" in issue.message for issue in few.issues)
    assert any("quotes stand inside strings" in issue.message for issue in many.issues)


def test_openers_in_a_value_are_counted_at_once() -> None:
    text = "<tool_call><function=ping>" + "<a>" * 30_000
    parse(text, tools=[TOOL])
    with counting() as count:
        parse(text, tools=[TOOL])
    assert count.calls < 5_000
    for end in ("", "</a></function></tool_call>", "</a>" * 301 + "</function>"):
        assert parse(text[:926] + end, tools=[TOOL]) == fed(text[:926] + end, 7)


def test_closers_of_what_a_value_nests_are_not_each_looked_at() -> None:
    text = "<tool_call><function=ping>" + "<think></think>" * 5_000
    parse(text, tools=[TOOL])
    with counting() as count:
        parse(text, tools=[TOOL])
    assert count.calls < 15 * 5_000
    short = "<tool_call><function=ping>" + "<think></think>" * 60
    for end in ("", "</function></tool_call>", "</think>", "x</think></ping></function>"):
        assert parse(short + end, tools=[TOOL]) == fed(short + end, 7)


@pytest.mark.parametrize("unit", ["```<|x\nfoo bar\n```\n", '{"null\n```*/<|\uff5c>ping', "\n```<|a\\\n"])
@pytest.mark.costly
def test_fences_that_are_text_are_passed_however_they_are_marked(unit: str) -> None:
    text = "See:\n" + unit * 5_000
    parse(text, tools=[TOOL])
    with counting() as count:
        parse(text, tools=[TOOL])
    assert count.calls < 80 * text.count("```")
    short = "See:\n" + unit * 150 + "\n\n" + CALL
    assert parse(short, tools=[TOOL]) == fed(short, 3)
