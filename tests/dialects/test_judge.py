"""The judge's rules, each on both sides: a text that must run and a near-identical one that must not."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman import Parsed, Parser, parse
from dragoman.dialects.engine.parsed import fold
from dragoman.types import IssueKind, Verdict
from tests.support.samples import TOOLS

F = '{"name": "f", "arguments": {"a": 1}}'
H = f"<tool_call>{F}</tool_call>"
RULES: list[tuple[str, str, str, dict[str, Any]]] = [
    ("reasoning that closes afterwards holds no calls", f"<think>x</think>{H}", f"<think>{H} x</think>y", {}),
    ("reasoning that never closes may end in a call", f"<think>x {H}", f"<think>x {H} y", {}),
    ("a code span quotes", f"now {H}", f"now `{H}`", {}),
    ("quotation marks quote", f'"go" {H}', f'he wrote "{H}" once', {}),
    ("a block quote quotes", f"> ok\n\n{H}", f"> {H}", {}),
    ("a fence quotes unless it is the whole message", f"```\n{H}\n```", f"So:\n```xml\n{H}\n```", {}),
    ("a json fence counts where it is the whole message", f"```json\n{F}\n```", f"I call it:\n```json\n{F}\n```", {}),
    ("bare JSON counts where it is the whole message", F, f"Done so far.\n{F}", {}),
    ("bare JSON that was asked for counts among words", f"Right away.\n{F}", f"Do not run this:\n{F}", {"dialects": "bare_json"}),
    ("a command counts first on its line", '@tool f {"a": 1}', 'type @tool f {"a": 1}', {}),
    ("an undeclared name never runs", H, H.replace('"f"', '"g"'), {}),
    ("a namespace prefix is notation", H.replace('"f"', '"functions.f"'), H.replace('"f"', '"other.f"'), {}),
    ("leaked control tokens are notation", H.replace('"f"', '"f<|channel|>commentary"'), H.replace('"f"', '"ff"'), {}),
    ("a copy of a call that was shown is a quotation", H, H.replace(" ", ""), {"shown": [H.replace(" ", "")]}),
    ("a value taken from what was shown is fine", H, H, {"shown": ["a is 1"]}),
    ("a cut call never runs", H[: -len("</tool_call>")], H[:-15], {}),
    ("fields beside the arguments are not guessed into them", H, H.replace(', "arg', ', "a": 2, "arg'), {}),
    ("arguments that do not fit never run", H, H.replace("1}", '"x"}'), {}),
    ("conflicting duplicate keys are refused", H.replace("1}", '1, "a": 1}'), H.replace("1}", '1, "a": 2}'), {}),
    ("after an invented result nothing counts", f"{H}\n{H}", f"<tool_response>r</tool_response>\n{H[:-20]}", {}),
]


@pytest.mark.parametrize(("rule", "runs", "stays", "given"), RULES, ids=[r[0] for r in RULES])
def test_rule(rule: str, runs: str, stays: str, given: dict[str, Any]) -> None:
    live = parse(runs, tools=TOOLS, **({} if "copy" in rule else given))
    assert [c.name for c in live.calls][:1] == ["f"]
    if runs != stays:
        assert parse(stays, tools=TOOLS, **given).calls == ()


def only(parsed: Parsed, kind: IssueKind) -> str:
    [issue] = [i for i in parsed.issues if i.kind is kind]
    return issue.correction


def test_a_second_call_after_an_invented_result_does_not_run() -> None:
    parsed = parse(f"{H}\n<tool_response>r</tool_response>\n{H}", tools=TOOLS)
    assert len(parsed.calls) == 1
    assert "<tool_response>" in next(i.raw for i in parsed.issues if i.kind is IssueKind.HALLUCINATED_RESULT)


def test_an_unknown_name_is_corrected_with_the_names_that_exist() -> None:
    correction = only(parse(H.replace('"f"', '"write_fil"'), tools=TOOLS), IssueKind.UNKNOWN_TOOL)
    assert "'write_file'" in correction
    assert "ping" in correction


def test_every_missing_argument_is_named_with_the_schema() -> None:
    text = '<tool_call>{"name": "write_file", "arguments": {}}</tool_call>'
    correction = only(parse(text, tools=TOOLS), IssueKind.INVALID_ARGUMENTS)
    assert "path" in correction
    assert "content" in correction
    assert '"type"' in correction


def test_a_cut_call_is_reported_and_keeps_its_text() -> None:
    parsed = parse(H[:-20], tools=TOOLS, finish_reason="length")
    [issue] = parsed.issues
    assert issue.kind is IssueKind.TRUNCATED
    assert issue.raw == H[:-20]
    assert "cut off" in issue.correction
    assert issue.name == "f"


def test_a_mended_call_says_what_was_mended() -> None:
    [call] = parse("<tool_call>{'name': 'f', 'arguments': {'a': '3',}}</tool_call>", tools=TOOLS).calls
    assert call.report is not None
    assert call.report.verdict is Verdict.MENDED
    assert {"quotes", "trailing_comma"} <= {e.kind for e in call.report.edits}
    assert call.report.dialect == "hermes"
    assert call.report.span is not None


def test_strict_refuses_what_lenient_mends() -> None:
    text = "<tool_call>{'name': 'f', 'arguments': {'a': 3}}</tool_call>"
    assert parse(text, tools=TOOLS).calls
    strict = parse(text, tools=TOOLS, strict=True)
    assert strict.calls == ()
    assert "quotes" in strict.issues[0].message


def test_a_bad_call_leaves_the_good_ones() -> None:
    bad = '<tool_call>{"name": "f", "arguments": {"a": }}</tool_call>'
    parsed = parse(H + bad + H, tools=TOOLS)
    assert len(parsed.calls) == 2
    assert [i.kind for i in parsed.issues] == [IssueKind.MALFORMED, IssueKind.PARTIAL]


def test_unknown_tools_let_strong_openers_and_named_dialects_count() -> None:
    assert parse(f"So:\n{H}").calls
    assert not parse(f"So:\n{F}").calls
    assert parse(f"So:\n{F}", dialects="bare_json").calls


def test_a_weak_call_of_unknown_tools_counts_when_alone() -> None:
    assert parse(F).calls
    assert not parse(f"{F}\nThat is it.").calls
    assert not parse('{"name": "Ada", "args": null}').calls
    assert not parse(F, tools=[]).calls


def test_an_unknown_dialect_is_named_with_its_nearest_neighbours() -> None:
    with pytest.raises(ValueError, match="did you mean 'hermes'"):
        parse("x", dialects="hermess")


# ── what is cut, and what runs past its place ────────────────────────────────

WRITE = {"name": "write", "parameters": {"type": "object", "properties": {"path": {"type": "string"}, "text": {"type": "string"}}}}
DRAFTED = "<tool_call>\n<function=write>\n<parameter=path>\na.txt\n</parameter>\n<parameter=text>\nhello\n"
MEANT = "<tool_call>\n<function=write>\n<parameter=path>\nb.txt\n</parameter>\n</function>\n</tool_call>"


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_an_unclosed_draft_in_reasoning_spares_the_answer(size: int) -> None:
    text = f"<think>\nPerhaps:\n{DRAFTED}</think>\nNow:\n{MEANT}"
    parser = Parser(tools=[WRITE])
    events = [e for i in range(0, len(text), size) for e in parser.feed(text[i : i + size])]
    parsed = fold([*events, *parser.close()])
    assert [dict(call.arguments) for call in parsed.calls] == [{"path": "b.txt"}]
    assert parsed.text.strip() == "Now:"
    assert "hello" in parsed.reasoning


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("torn", ["~~~to", "<tool_c", "<tool", "<|tool_calls_sec"])
def test_an_answer_stopped_inside_a_calls_first_mark_was_cut(torn: str, size: int) -> None:
    parser, text = Parser(tools=[WRITE]), f"One moment.\n{torn}"
    events = [e for i in range(0, len(text), size) for e in parser.feed(text[i : i + size])]
    parsed = fold([*events, *parser.close("length")])
    assert [(issue.kind, issue.raw) for issue in parsed.issues] == [(IssueKind.TRUNCATED, torn)]
    assert parsed.text == "One moment.\n"


@pytest.mark.parametrize("tail", ["a <b", "5 <", "~~", "see <to", "~~~to"])
def test_an_answer_that_ends_in_prose_is_shown_whole(tail: str) -> None:
    parsed = parse(tail, tools=[WRITE], finish_reason="stop")
    assert (parsed.text, parsed.issues) == (tail, ())


WAITING = [
    '`\n<|function_call|>{"name":"g" "":{"":""}}\n<|function_call|>{"name":"t" "":{"":{"":""}}}\n<|function_call|>{"name":"n" "":5}}\n\n"',
    '`\n<|function_call|>{"name":"g"}\n<|function_call|>{"name":"write"}\n<|function_call|>{"name":"write"} `x`\n\n. The end.',
    '"<tool>{"name":"write" "":{"":[null{"":""}]}}\n<tools>\n{"name": "write", "arguments": {" "x": 1.5}}\n</tools> <us":{"c\n<user>{"name":"write",',
]
"""Several candidates behind one open quotation mark: what settles the first may settle the others too."""


@pytest.mark.parametrize("size", [1, 3, 10])
@pytest.mark.parametrize("text", WAITING, ids=map(str, range(len(WAITING))))
def test_candidates_awaiting_a_closing_quotation_are_settled_alike_however_chunked(text: str, size: int) -> None:
    parser = Parser(tools=[WRITE])
    events = [e for i in range(0, len(text), size) for e in parser.feed(text[i : i + size])]
    pieces, whole = fold([*events, *parser.close()]), Parser(tools=[WRITE])
    assert pieces == fold([*whole.feed(text), *whole.close()])
