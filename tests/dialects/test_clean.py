"""What is read in one look is what the row's own reader reads, to the same draft and the same place."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman import Tool, ToolCall, UsageError, dialects, render
from dragoman.dialects.judge.candidate import Draft
from dragoman.dialects.judge.judge import Judge
from dragoman.dialects.reading import arguments_object, elements
from dragoman.dialects.reading import json as json_reader
from dragoman.dialects.reading.call import Attempt, Mismatch
from dragoman.dialects.reading.clean_members import clean_members
from dragoman.dialects.reading.compiled import Row
from dragoman.dialects.reading.table import READERS, read_clean
from dragoman.dialects.spec import BraceArgs, ElementArgs, KeywordArgs
from dragoman.lenient.notation import Form
from dragoman.lenient.reader import Broken, Cut
from dragoman.lenient.source import Source

PROPERTIES = {
    "city": {"type": "string"}, "days": {"type": "integer"}, "dry": {"type": "boolean"}, "any": {},
    "tags": {"type": "array"}, "more": {"type": "object", "properties": {"n": {"type": "integer"}}},
}  # fmt: skip
TOOLS = [Tool(name="get_weather", parameters={"type": "object", "properties": PROPERTIES, "required": ["city"]})]
ROWS = tuple(dialects)
TAKEN = (
    "hermes", "internlm2", "qwen3_coder", "glm45", "minimax_m2", "deepseek_v32", "step3", "kimi_k2", "deepseek_v3",
    "deepseek_v31", "harmony", "mistral", "mistral_v11", "llama3_json", "gigachat3", "jamba", "granite", "plamo3",
    "lfm2_json", "react", "functionary_v32", "pythonic", "lfm2", "llama4_pythonic", "gemma4", "functiongemma",
)  # fmt: skip
"""Rows of which a plain call is read in one look."""
SECTIONS = (
    "kimi_k2", "deepseek_v3", "deepseek_v31", "mistral", "jamba", "nemotron_toolcall", "plamo3", "lfm2", "pythonic",
    "anthropic_xml", "minimax_m2", "deepseek_v32",
)  # fmt: skip
"""Rows of which all calls of a section are."""
ARGUMENTS: tuple[dict[str, Any], ...] = (
    {"city": "Oslo"}, {"city": "São Paulo", "days": 3}, {"days": -12, "dry": True, "city": "x"}, {"city": ""},
    {"city": "\n"}, {"city": "\na\n"}, {"city": " a "}, {"city": 'say "a\\b"\tnow'}, {"city": "a < b"},
    {"city": "</parameter>"}, {"city": "&lt; &amp;"}, {"city": "3", "days": 1}, {"city": "function=x"}, {"any": 3},
    {"city": "{}"}, {"city": "null"}, {"city": "x", "other": "y"}, {"city": "é“q”\u2028"}, {},
    {"tags": ["a", 1, None], "city": "x"}, {"tags": [], "more": {"n": 2, "x": [1.5]}}, {"more": {"n": "2"}}, {"more": {}},
    {"City": "x"}, {"ci-ty": "x", "city": "y"}, {"other": None}, {"other": [2], "b": "3", "c": 4}, {"get_weather": {"a": 1}},
    {"arguments": {"city": "x"}}, {"type": "x"}, {"input": "x", "city": "y"}, {"tags": "[1]"}, {"other": "[1, 2]", "b": True},
)  # fmt: skip
BEHIND = ("", "\n", " \n\nDone.", ", and", "}", "</parameter>", "\n<", "\n</tool_call>", "\ufeff", ";", "`", '"')
DAMAGE = ("}", "]", "{", "[", ",", '"', "\n", " ", "```", "</x>", "x", ":", "{}", '{"city": "Pisa"}', "get_weather")
LITERAL_ARGUMENTS: tuple[dict[str, Any], ...] = (
    *ARGUMENTS, {"city": "it's"}, {"city": 'a "b", c=1'}, {"city": "x) and y"}, {"city": "True", "dry": False}, {"days": 0},
    {"city": "a, days=3"}, {"city": "é\u0301 – “x”", "days": -1}, {"city": "f(x='y')"}, {"city": "x", "days": 10**15},
)  # fmt: skip
LITERAL_ENDS = ("]", ")", ") and more", ", get_weather(city='Rome')", "x", "_", ".strip()", " + 'b'", "}", "'", '"]', "\n)", "]]")
LITERAL_DAMAGE = ("'", '"', ",", ", ", "=", ":", "(", ")", "}", "]", "\\", "\n", " ", "x", "0", "-", "true", "None", "city=", "#", "f", "")


def _attempt(row: Row, text: str) -> Attempt:
    src = Source()
    src.buf, src.eof = text, True
    return Attempt(src, row, Judge(TOOLS), lambda _: None, READERS)


def _told(draft: Draft) -> tuple[Any, ...]:
    return draft.name, draft.id, draft.text(), draft.edits, draft.refusal, draft.start, draft.end, draft.done


def _written(name: str, *arguments: dict[str, Any]) -> str:
    calls = [ToolCall(id=f"c{n}", name="get_weather", arguments=given) for n, given in enumerate(arguments)]
    try:
        return render(calls, dialects[name], tools=TOOLS)
    except UsageError:
        return ""


def _check(row: Row, text: str) -> None:
    """Either nothing is taken, and nothing left behind, or what the reader takes."""
    quick = _attempt(row, text)
    if not read_clean(quick):
        assert not quick.items, text
        assert quick.src.pos == 0
        return
    slow = _attempt(row, text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arguments_object, "object_at", lambda *_: None)
        patch.setattr(arguments_object, "clean_members", lambda *_: False)
        patch.setattr(json_reader, "clean_call", lambda *_: False)
        try:
            assert not list(slow.run())
        except (Mismatch, Broken, Cut) as why:
            pytest.fail(f"{text!r} is none to the reader: {why!r}")
    assert [_told(draft) for draft in quick.items] == [_told(draft) for draft in slow.items], text  # type: ignore[arg-type]
    assert quick.src.pos == slow.src.pos, text
    assert quick.closed
    assert slow.closed


@pytest.mark.parametrize("name", ROWS)
def test_what_is_taken_in_one_look_is_what_the_reader_reads(name: str) -> None:
    row = Row(dialects[name])
    texts = [_written(name, arguments) for arguments in ARGUMENTS]
    texts += [_written(name, {"city": "Oslo"}, more, {"city": "Rome", "days": 1}) for more in ARGUMENTS[1:4]]
    for text in filter(None, texts):
        for behind in (*BEHIND, *texts[:1], f"\n{texts[-1]}", f", {texts[0]}"):
            _check(row, text + behind)


@pytest.mark.parametrize("name", ROWS)
@settings(max_examples=30)
@given(data=st.data())
def test_what_is_taken_of_a_damaged_call_is_what_the_reader_reads(name: str, data: st.DataObject) -> None:
    row = Row(dialects[name])
    number = data.draw(st.integers(1, 3))
    text = _written(name, *(data.draw(st.sampled_from(ARGUMENTS)) for _ in range(number)))
    marks = [mark for mark in _marks(row) if mark in text]
    for _ in range(data.draw(st.integers(0, 2))):
        at = data.draw(st.integers(0, len(text)))
        mark = data.draw(st.sampled_from([*marks, *DAMAGE]))
        how = data.draw(st.sampled_from(("drop", "put", "case", "double", "part")))
        if how == "put":
            text = text[:at] + mark + text[at:]
        elif how == "drop":
            text = text.replace(mark, "", 1)
        elif how == "part":
            text = text[:at] + text[at + 1 :]
        else:
            text = text.replace(mark, mark.swapcase() if how == "case" else mark * 2, 1)
    _check(row, text)


LITERALS = tuple(name for name, row in dialects.items() if isinstance(row.args, KeywordArgs | BraceArgs))


@pytest.mark.parametrize("name", LITERALS)
@settings(max_examples=60)
@given(data=st.data())
def test_literals_taken_in_one_look_are_what_the_lenient_reader_reads(name: str, data: st.DataObject) -> None:
    row = Row(dialects[name])
    given = [data.draw(st.sampled_from(LITERAL_ARGUMENTS)) for _ in range(data.draw(st.integers(1, 2)))]
    text = _written(name, *given) + data.draw(st.sampled_from((*BEHIND, *LITERAL_ENDS)))
    for _ in range(data.draw(st.integers(0, 2))):
        at, sign = data.draw(st.integers(0, len(text))), data.draw(st.sampled_from(LITERAL_DAMAGE))
        text = text[:at] + sign + text[at + data.draw(st.integers(0, 1)) :]
    _check(row, text)
    assert _read(row, text) == _read(row, text, arguments_object, "clean_members", lambda *_: False), text


def _read(row: Row, text: str, module: ModuleType = json_reader, name: str = "", other: Any = None) -> tuple[Any, ...]:
    """What the row's reader makes of a text, perhaps without one of the ways to take more in one look."""
    attempt, why = _attempt(row, text), ""
    with pytest.MonkeyPatch.context() as patch:
        if name:
            patch.setattr(module, name, other)
        try:
            assert not list(attempt.run())
        except (Mismatch, Broken, Cut) as raised:
            why = repr(raised)
    drafts = [draft for draft in attempt.items if isinstance(draft, Draft)]
    return [_told(draft) for draft in drafts], attempt.src.pos, why


ELEMENTS = tuple(name for name, row in dialects.items() if isinstance(row.args, ElementArgs))
TAGS = ("<", "</city>", "<city>", "</get_weather>", "<get_weather>", "<tags>", "<item>", "/", ">", "&amp;", "&", "\n", "\r", " ", "x")


@pytest.mark.parametrize("name", ELEMENTS)
@settings(max_examples=100)
@given(data=st.data())
def test_elements_taken_in_one_look_are_what_the_reader_reads(name: str, data: st.DataObject) -> None:
    row = Row(dialects[name])
    given = [data.draw(st.sampled_from(ARGUMENTS)) for _ in range(data.draw(st.integers(1, 2)))]
    text = _written(name, *given) + data.draw(st.sampled_from(BEHIND))
    for _ in range(data.draw(st.integers(0, 2))):
        at, sign = data.draw(st.integers(0, len(text))), data.draw(st.sampled_from(TAGS))
        text = text[:at] + sign + text[at + data.draw(st.integers(0, 1)) :]
    assert _read(row, text) == _read(row, text, elements, "plain_elements", lambda *_: []), text


def test_plain_elements_are_taken() -> None:
    text = _written("cline", {"city": "Oslo", "days": 3})
    drafts, *_ = _read(Row(dialects["cline"]), text, elements, "RawValue", _never)
    assert [draft[2] for draft in drafts] == ['{"city":"Oslo","days":3}']


def _never(*_: object) -> None:
    raise AssertionError


@pytest.mark.parametrize("name", ["pythonic", "lfm2", "gemma4", "functiongemma"])
def test_plain_literals_are_taken(name: str) -> None:
    attempt, taken = _attempt(Row(dialects[name]), _written(name, {"city": "Oslo ☃", "days": 3})), list[bool]()

    def taking(draft: Draft, src: Source, form: Form) -> bool:
        taken.append(clean_members(draft, src, form))
        return taken[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arguments_object, "clean_members", taking)
        assert not list(attempt.run())
    assert taken == [True]


def _marks(row: Row) -> tuple[str, ...]:
    opens = row.section_open + row.call_open + row.tool_open + row.body_open
    return tuple({*opens, *row.section_close, *row.call_close, *row.tool_close, *row.body_close} - {""})


@pytest.mark.parametrize("name", TAKEN)
def test_a_plain_call_is_taken(name: str) -> None:
    assert read_clean(_attempt(Row(dialects[name]), _written(name, {"city": "Oslo", "days": 3})))


@pytest.mark.parametrize("name", SECTIONS)
def test_all_calls_of_a_section_are_taken(name: str) -> None:
    attempt = _attempt(Row(dialects[name]), _written(name, {"city": "Oslo"}, {"city": "Rome"}, {"city": "Bari"}))
    assert read_clean(attempt)
    assert [draft.arguments()["city"] for draft in attempt.drafts] == ["Oslo", "Rome", "Bari"]


@pytest.mark.parametrize("name", TAKEN)
def test_a_text_that_has_not_ended_is_left_to_the_reader(name: str) -> None:
    row = Row(dialects[name])
    attempt = _attempt(row, _written(name, {"city": "Oslo"}))
    attempt.src.eof = False
    assert not read_clean(attempt)
