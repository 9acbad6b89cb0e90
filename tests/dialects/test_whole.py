"""Whole texts read in one step: the same as the parser reads them, or left to it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.dialects import DIALECTS, Parsed, Parser, parse
from dragoman.dialects.engine import whole_text as one_step
from dragoman.dialects.engine.lookahead import unlike
from dragoman.dialects.engine.parser import fold
from dragoman.dialects.judge.judge import Judge
from dragoman.dialects.reading.call import Attempt, Mismatch
from dragoman.dialects.reading.compiled import Row
from dragoman.dialects.reading.table import READERS
from dragoman.dialects.writing.render import render
from dragoman.errors import UsageError
from dragoman.lenient.source import Source
from dragoman.types import Tool, ToolCall
from tests.support.samples import TEXTS

TEXT = {"type": "string"}
FIELDS = {
    "path": TEXT, "count": {"type": "integer"}, "share": {"type": "number"}, "deep": {"type": "object"},
    "names": {"type": "array", "items": TEXT}, "unit": {"type": "string", "enum": ["c", "f"]}, "any": {},
}  # fmt: skip
TOOLS = [Tool(name="save", parameters={"type": "object", "properties": FIELDS}), Tool(name="ping")]
ARGUMENTS: list[dict[str, Any]] = [
    {"path": "a.py"},
    {"path": 'two\nlines, "quotes", a \\ and é', "count": 3},
    {"path": "</tool_call> <b>&amp;</b> function=", "share": 0.5},
    {"names": ["a", "b"], "unit": "c"},
    {"deep": {"a": [1, None, {"b": True}]}},
    {"count": "5"},
    {"unit": "C"},
    {"undeclared": 1},
    {"arguments": {"path": "x"}},
    {"any": [1.5, "x"]},
    {},
]
PROSE = [
    "Now I do it.\n\n", "a `code span` of ", "> quoted\n", "    indented\n", "```\n", "<think>hm</think>\n", "[a](b) ",
    "save\n", "functools", "Action: save\n", "Do not run the following: ", "\n", '"', "to=", "<|im_end|>", "{", "f: ",
]  # fmt: skip


def told(parsed: Parsed) -> Any:
    calls = [(c.id, c.name, json.dumps(c.arguments), c.raw, c.report) for c in parsed.calls]
    return calls, parsed.text, parsed.reasoning, parsed.issues, repr(parsed.parts)


def in_pieces(text: str, **options: Any) -> Parsed:
    parser = Parser(**options)
    return fold([*parser.feed(text), *parser.close()])


def written(name: str, calls: list[dict[str, Any]]) -> str:
    made = [ToolCall(id=f"call_{i}", name="save", arguments=a) for i, a in enumerate(calls)]
    try:
        return render(made, DIALECTS[name], tools=TOOLS)
    except UsageError:  # a notation that cannot write these arguments
        return ""


@pytest.mark.parametrize("tools", [TOOLS, None, []])
@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_is_read_in_one_step_as_the_parser_reads_it(name: str, tools: list[Tool] | None) -> None:
    for arguments in ARGUMENTS:
        for calls in ([arguments], [arguments, {"path": "b.py"}]):
            text = f"Now I do it.\n\n{written(name, calls)}"
            for dialects in ("auto", name):
                assert told(parse(text, tools=tools, dialects=dialects)) == told(
                    in_pieces(text, tools=tools, dialects=dialects)
                )


@pytest.mark.parametrize(
    "name", ["hermes", "qwen3_coder", "glm45", "kimi_k2", "deepseek_v3", "deepseek_v32", "mistral", "gemma4", "lfm2",
             "minimax_m2", "step3", "harmony", "llama3_json", "pythonic"]
)  # fmt: skip
def test_a_clean_call_of_the_common_dialects_needs_one_step(name: str) -> None:
    text = "Now I do it.\n\n" + written(name, [{"path": "a.py", "count": 3}])
    found = one_step.read(text, TOOLS, "auto", False)
    assert found is not None
    assert [c.arguments for c in found[0]] == [{"path": "a.py", "count": 3}]


@settings(max_examples=400)
@given(
    st.lists(st.one_of(st.sampled_from(PROSE), st.sampled_from(TEXTS), st.builds(
        written, st.sampled_from(sorted(DIALECTS)), st.lists(st.sampled_from(ARGUMENTS), min_size=1, max_size=2)
    )), min_size=1, max_size=4),
    st.sampled_from([TOOLS, None, []]),
)  # fmt: skip
def test_what_one_step_reads_is_what_the_parser_reads(parts: list[str], tools: list[Tool] | None) -> None:
    text = "".join(parts)
    assert told(parse(text, tools=tools)) == told(in_pieces(text, tools=tools))


@pytest.mark.parametrize("name", DIALECTS)
def test_a_row_that_is_ruled_out_would_have_found_something_else(name: str) -> None:
    row = Row(DIALECTS[name], asked=True)
    look = unlike(row)
    for opener in row.openers if look else ():
        for text in TEXTS:
            src = Source()
            src.feed(opener + text)
            if not look(src.buf, 0):  # type: ignore[misc]
                continue
            src.eof = True
            attempt = Attempt(src, row, Judge(TOOLS), lambda _: None, READERS)
            with pytest.raises(Mismatch):
                list(attempt.run())
            assert not attempt.drafts


CLEAN = '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'


@pytest.mark.parametrize(
    "text",
    [
        f"<think>First this,\nthen a < b.</think>\n{CLEAN}",
        f"<thinking>So.</thinking>\n\nHere:\n{CLEAN}",
        f"The prompt had opened it.</think>\n{CLEAN}\n{CLEAN}",
        "<think>Nothing to do.</think>\nDone.",
    ],
)
def test_reasoning_before_clean_calls_is_read_in_one_step(text: str) -> None:
    read = one_step.read(text, TOOLS, "auto", False)
    assert read is not None
    parser = Parser(tools=TOOLS)
    told = fold([e for c in text for e in parser.feed(c)] + parser.close())
    assert read == (told.calls, told.text, told.reasoning, told.parts)
    assert told.reasoning


@pytest.mark.parametrize(
    "text",
    [
        f"<think>I could write {CLEAN} here.</think>\n{CLEAN}",
        f"<think>One.</think>\n<think>Two.</think>\n{CLEAN}",
        f"{CLEAN}\nSo.</think>\n{CLEAN}",
        f"`<think>`</think>\n{CLEAN}",
        f"<think>Never closed.\n{CLEAN}",
        f"<think></think>\n{CLEAN}",
    ],
)
def test_reasoning_that_leaves_anything_to_decide_is_left_to_the_parser(text: str) -> None:
    assert one_step.read(text, TOOLS, "auto", False) is None
