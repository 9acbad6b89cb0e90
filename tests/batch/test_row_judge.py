"""One row judged: what each kind of damage costs, and that nothing else does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.batch.codes import CODES
from dragoman.batch.formats.table import ROWS
from dragoman.batch.judging.row_judge import judge, judge_row
from dragoman.batch.options import Options
from dragoman.batch.result import RowVerdict
from dragoman.dialects.writing.render import render
from dragoman.schema.definitions import tools as read_tools
from dragoman.types import IssueKind, ToolCall

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "unit": {"type": ["string", "null"]},
            },
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}
OPEN = {"name": "open", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}
FREE = {"name": "free", "parameters": {"type": "object", "properties": {}, "additionalProperties": True}}
USER = {"role": "user", "content": "hi"}


def native(name: Any = "get_weather", arguments: Any = '{"city":"Oslo"}', **more: Any) -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def row(*messages: Any, tools: Any = (TOOL,), **more: Any) -> bytes:
    return json.dumps({"messages": [USER, *messages], "tools": list(tools), **more}).encode()


def calling(*calls: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def saying(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


# (what the row is, its bytes, the verdict, codes that must be said)
JUDGED: list[tuple[str, bytes, str, set[str]]] = [
    ("a sound call", row(calling(native())), "ok", set()),
    ("a sound call as an object", row(calling(native(arguments={"city": "Oslo"}))), "ok", set()),
    ("plain words", row(saying("It rains.")), "none", set()),
    ("an unknown tool", row(calling(native("get_time", "{}"))), "refused", {"unknown_tool"}),
    ("an undeclared argument", row(calling(native(arguments='{"city":"Oslo","lang":"no"}'))), "refused", {"unknown_param"}),
    ("a missing argument", row(calling(native(arguments='{"days":3}'))), "refused", {"missing_required"}),
    ("arguments cut short", row(calling(native(arguments='{"city":"Os'))), "refused", {"malformed"}),
    ("single quotes", row(calling(native(arguments="{'city':'Oslo'}"))), "repaired", {"mended_arguments"}),
    ("a number in a string", row(calling(native(arguments='{"city":"Oslo","days":"3"}'))), "repaired", {"mended_arguments"}),
    ("encoded twice", row(calling(native(arguments='"{\\"city\\":\\"Oslo\\"}"'))), "repaired", {"double_encoded"}),
    ("Arrow's padding", row(calling(native(arguments={"city": "Oslo", "q": None}))), "repaired", {"null_padding"}),
    ("Arrow's padding of a tool that takes more", row(calling(native("open", {"a": 1, "q": None})), tools=[OPEN]), "repaired",
     {"null_padding"}),
    ("a null of a tool that says it takes more", row(calling(native("free", {"q": None})), tools=[FREE]), "ok", {"null_ambiguous"}),
    ("a null that may be one", row(calling(native(arguments={"city": "Oslo", "unit": None}))), "ok", {"null_ambiguous"}),
    ("a call that is null", row(calling(None)), "refused", {"wrong_shape"}),
    ("a call in the text", row(saying('<tool_call>{"name":"get_weather","arguments":{"city":"Oslo"}}</tool_call>')),
     "repaired", {"call_in_text"}),
    ("a mended call in the text", row(saying("<tool_call>{'name':'get_weather','arguments':{'city':'Oslo'}}</tool_call>")),
     "repaired", {"mended_call"}),
    ("a call that is quoted", row(saying('Write `<tool_call>{"name":"get_weather","arguments":{"city":"O"}}</tool_call>`.')),
     "none", {"quoted"}),
    ("a result of nothing", row(calling(native()), {"role": "tool", "tool_call_id": "x", "content": "7"}), "refused",
     {"orphan_result"}),
    ("no tools", row(calling(native()), tools=()).replace(b'"tools": []', b'"x": 1'), "ok", {"calls_without_tools"}),
    ("tools that are none", row(calling(native()), tools=({"x": 1},)), "refused", {"bad_tools"}),
    ("not JSON", b'{"messages": [', "broken", {"not_json"}),
    ("not UTF-8", b'{"messages": ["\xff"]}', "broken", {"not_utf8"}),
    ("NaN", b'{"messages": [], "x": NaN}', "broken", {"not_finite"}),
    ("half a character", b'{"messages": [], "x": "\\ud800"}', "broken", {"half_character"}),
    ("deep nesting", b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "broken", {"too_deep"}),
    ("a key twice", b'{"messages": [], "x": 1, "x": 2}', "broken", {"duplicate_keys"}),
    ("no object", b"[1]", "broken", {"not_an_object"}),
    ("an unknown shape", b'{"a": 1}', "broken", {"unknown_format"}),
]  # fmt: skip


@pytest.mark.parametrize(("original", "verdict", "codes"), [r[1:] for r in JUDGED], ids=[r[0] for r in JUDGED])
def test_a_row_gets_its_verdict_and_says_why(original: bytes, verdict: str, codes: set[str]) -> None:
    found = judge(original)
    assert str(found.verdict) == verdict, found.findings
    assert codes <= set(found.codes) if codes else not found.codes
    assert set(found.codes) <= set(CODES)


SHAPED = [form for form in ROWS if form.name not in ("llamafactory", "dialect")]
"""Formats with a shape of their own; the others are named."""


@pytest.mark.parametrize("form", SHAPED, ids=lambda form: form.name)
def test_the_sample_of_each_format_is_found_by_its_shape(form: Any) -> None:
    found = judge(form.sample.encode())
    assert found.form is form
    assert found.verdict in (RowVerdict.OK, RowVerdict.NONE), found.findings


def test_every_issue_that_the_parser_tells_has_a_code() -> None:
    live = {"wire_fault", "unsupported", "history", "reasked", "confirmed", "denied", "tools_ignored", "tools_tested"}
    assert {str(kind) for kind in IssueKind} - set(CODES) == live  # those are told of answers that come over a wire


def test_long_integers_keep_their_digits() -> None:
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}
    original = row(calling(native("f", {"n": 123456789012345678901234567890})), tools=(tool,))
    found = judge_row(original)
    assert found.verdict is RowVerdict.OK
    [called] = [p for m in found.row.messages for p in m.parts if isinstance(p, ToolCall)]
    assert called.arguments == {"n": 123456789012345678901234567890}


def test_a_repair_says_what_stood_there_and_where() -> None:
    text = "So. <tool_call>{'name':'get_weather','arguments':{'city':'Oslo'}}</tool_call>"
    found = judge_row(row(saying(text)))
    [repair] = found.repairs
    assert text[slice(*repair.span)] == repair.before
    assert json.loads(repair.after) == {"name": "get_weather", "arguments": {"city": "Oslo"}}
    assert found.row.original == row(saying(text))
    assert [c.name for m in found.row.messages for c in m.calls] == ["get_weather"]


def test_given_tools_are_those_of_rows_that_declare_none() -> None:
    bare = row(calling(native()), tools=()).replace(b'"tools": []', b'"x": 1')
    found = judge(bare, Options(tools=read_tools([TOOL])))
    assert (found.verdict, found.codes) == (RowVerdict.OK, ())
    wrong = bare.replace(b"get_weather", b"get_time")
    assert judge(wrong, Options(tools=read_tools([TOOL]))).codes == ("unknown_tool",)
    declared = row(calling(native("f", "{}")), tools=({"name": "f"},))
    assert judge(declared, Options(tools=read_tools([TOOL]))).verdict is RowVerdict.OK


def test_nothing_is_mended_where_nothing_may_be() -> None:
    assert judge(row(calling(native(arguments="{'city':'Oslo'}"))), Options(repair=False)).verdict is RowVerdict.REFUSED


SPOKEN = [
    "hermes",
    "pythonic",
    "llama3_json",
    "mistral",
    "qwen3_coder",
    "react",
    "deepseek_v3",
    "kimi_k2",
    "nemotron_toolcall",
]


@pytest.mark.parametrize("dialect", SPOKEN)
@pytest.mark.parametrize("column", ["raw_output", "result"])
def test_calls_in_text_are_the_usual_form_of_answers(column: str, dialect: str) -> None:
    """What a model wrote is kept as it was spoken: only a mend is a repair."""
    text = render([ToolCall(id="1", name="get_weather", arguments={"city": "Oslo"})], dialect)
    about = {"id": "simple_1"} if column == "result" else {}
    found = judge(json.dumps({**about, column: text, "tools": [TOOL]}).encode(), Options(tools=read_tools([TOOL])))
    assert (found.verdict, found.repairs) == (RowVerdict.OK, ()), found.findings
    assert [(call.name, call.arguments, call.valid_before) for call in found.calls] == [
        ("get_weather", {"city": "Oslo"}, True)
    ]


def test_a_mended_call_of_an_answer_is_a_repair() -> None:
    text = "<tool_call>{'name': 'get_weather', 'arguments': {'city': 'Oslo',}}</tool_call>"
    found = judge(json.dumps({"raw_output": text, "tools": [TOOL]}).encode())
    assert (found.verdict, [one.code for one in found.repairs]) == (RowVerdict.REPAIRED, ["mended_call"])


@pytest.mark.parametrize("calls", [True, 1.5, "x", {"id": "c1"}, [None], [{"id": 1}]], ids=repr)
def test_calls_that_are_none_cost_their_row(calls: Any) -> None:
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "tool_calls": calls},
                {"role": "tool", "content": "c"}]  # fmt: skip
    found = judge(json.dumps({"messages": messages, "tools": []}).encode())
    assert found.verdict in (RowVerdict.REFUSED, RowVerdict.BROKEN)
