"""Texts that were once read otherwise in pieces, by cause: what is told of them is the same, and is right."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.dialects import Parsed, Parser, parse
from dragoman.dialects.engine.parsed import fold
from dragoman.dialects.judge.quotation import Context
from dragoman.types import IssueKind, Tool

STRINGS = {"type": "object", "properties": {"at": {"type": "string"}}}
LOOK, PING = Tool(name="look", parameters=STRINGS), Tool(name="ping", parameters=STRINGS)
CALL = '<tool_call>\n{"name": "look", "arguments": {"at": "x"}}\n</tool_call>'
LIST = '[TOOL_CALLS][{"name": "look", "arguments": {"at": "x"}}, {"name": "ping", "arguments": {}}]'


def told(parsed: Parsed) -> Any:
    """All that is told, reports too."""
    calls = [(c.id, c.name, json.dumps(c.arguments), c.report) for c in (*parsed.calls, *parsed.doubtful)]
    return calls, parsed.text, parsed.reasoning, parsed.issues


def alike(text: str, *, sizes: tuple[int, ...] = (1, 3, 17), **options: Any) -> Parsed:
    """What the whole text comes to, which is what pieces of any size do."""
    options = {"tools": [LOOK, PING], **options}
    whole = parse(text, **options)
    for size in (*sizes, len(text)):
        parser = Parser(**options)
        events = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
        assert told(fold(events + parser.close())) == told(whole), size
    return whole


@pytest.mark.parametrize(
    "inside", ["<tool_call>", CALL, "[TOOL_CALLS] x", "<think>", "\\\\<tool_call>", '\\"<tool_call>']
)
@pytest.mark.parametrize("before", ["", "see "])
def test_a_string_of_an_answer_that_holds_a_mark_ends_where_it_ends(before: str, inside: str) -> None:
    escaped = inside.replace("\n", " ").replace('{"', '{\\"').replace('": ', '\\": ').replace(', "', ', \\"')
    escaped = escaped.replace(': "', ': \\"').replace('"}', '\\"}')
    parsed = alike(f'{{"answer": "{before}{escaped}", "n": 1}}\n\n{CALL}')
    assert [call.name for call in parsed.calls] == ["look"]


@pytest.mark.parametrize(
    "text", ['{"a": "x\n \n', '{"a": "x\\"y', '{"a": "x\\\\"', '[["', '{"a": "x"}\n', '{"a":\n\n"']
)
def test_how_a_place_in_an_answer_stands_hangs_on_no_other_that_was_asked_of(text: str) -> None:
    whole = Context()
    whole.add(text)
    for cut in range(1, len(text)):
        pieces = Context()
        for piece in (text[:cut], text[cut:]):
            pieces.add(piece)
            standing = pieces.standing()
        assert standing == whole.standing(), cut


def test_a_row_whose_first_key_follows_where_its_name_should_end_is_tried_however_much_has_come() -> None:
    text = "<tool_call>x<l>x\t" + "words " * 30 + '<arg_key>cy>"}\n' + "and words " * 20 + "</tool_call>"
    assert [issue.kind for issue in alike(text).issues] == [IssueKind.MALFORMED]


@pytest.mark.parametrize("text", ["pass", "l```", "a <b> pass", "Hi.\nclass A: pass", "x ```tool"])
def test_what_the_limit_cut_amid_a_word_or_a_line_is_no_opener_that_stands_elsewhere(text: str) -> None:
    for prompted in ("", "k2_horizon_json", "harmony"):
        parsed = alike(text, finish_reason="length", prompted_dialect=prompted)
        assert (parsed.text, parsed.issues) == (text, ())


@pytest.mark.parametrize("text", ["Hi.\n```tool", "Hi. <tool_c", "Hi.\n<tool_c", "```tool_ca"])
def test_an_opener_that_the_limit_cut_is_told_of(text: str) -> None:
    assert [issue.kind for issue in alike(text, finish_reason="length").issues] == [IssueKind.TRUNCATED]


@pytest.mark.parametrize("blank", ["\u00a0", "\u3000", "\u2028\n", "\x85", "\x0b", "\x0c \n", "\u00a0.\n"])
def test_white_space_of_any_kind_behind_a_call_is_no_word(blank: str) -> None:
    call = alike(CALL + blank).calls[0]
    assert call.report is not None
    assert call.report.evidence["place"] == "alone"


@pytest.mark.parametrize(
    ("before", "places"), [("", ["first", "alone"]), ("Hi.\n", ["among", "among"]), ("\n", ["first", "alone"])]
)
@pytest.mark.parametrize("options", [{}, {"dialects": "mistral"}, {"prompted_dialect": "mistral"}, {"tools": None}])
def test_of_a_list_each_call_says_how_it_stands(before: str, places: list[str], options: dict[str, Any]) -> None:
    parsed = alike(before + LIST, **options)
    evidence = [call.report.evidence for call in parsed.calls if call.report is not None]
    assert [seen["place"] for seen in evidence] == places
    assert evidence[0] == {**evidence[1], "place": places[0]}


@pytest.mark.parametrize(
    "unit", ['<tool_call>"foo(1)", "ping(host=1)"}\n', "<tool_call>x\n", "<tool_call>x: functools[\n\n"]
)
def test_a_call_quoted_behind_many_openers_of_none_is_told_of_in_any_pieces(unit: str) -> None:
    issues = alike(f"Hi.\n```\n{(unit * 40 + CALL) * 6}\n```\n", sizes=(1, 17)).issues
    assert {issue.kind for issue in issues} == {IssueKind.QUOTED}


@pytest.mark.parametrize("behind", [" {x\n", " [1] x\n", "\t`x\n"])
def test_behind_a_token_that_ends_its_line_a_line_begins(behind: str) -> None:
    text = f"Hello.\n{f'word >>>all{chr(10)}{behind}' * 3}"
    for size in (1, 2, 5):
        pieces, whole = Parser(tools=[LOOK]), Parser(tools=[LOOK])
        for at in range(0, len(text), size):
            pieces.feed(text[at : at + size])
        pieces.close()
        whole.whole(text)
        assert pieces._patience.marks == whole._patience.marks == 3


@pytest.mark.parametrize("sign", [":", "/", ".", "-", "$", "@"])
def test_a_name_that_goes_on_opens_no_call_where_its_beginning_was_told(sign: str) -> None:
    text = f'"a"{sign}{LOOK.name}[ARGS]{{ "x=1; y=2"}}'
    assert not alike(text, sizes=(1, 2, 3), tools=[LOOK], dialects="mistral_args_rehearsal").issues
