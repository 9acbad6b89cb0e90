"""A text cut into spans: nothing left out, nothing twice, each with what was judged of it, and its mends in their place."""

from __future__ import annotations

import pytest

from dragoman.dialects import DIALECTS, Parser
from dragoman.dialects.explain.findings import Finding, verdicts
from dragoman.dialects.explain.spans import Kind, Span, cut, marks, spans
from dragoman.types import Edit, Verdict
from tests.support.dialect_vectors import heard_blind, whole
from tests.support.samples import TEXTS, TOOLS

TOOL = [
    {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}}
]


ALSO = {Kind.QUOTED, Kind.DOUBTFUL, Kind.ACCEPTED, Kind.MENDED}
"""What text may stand in besides: candidates left in it, and a thought in a call's own JSON."""


def read(text: str, tools: object = TOOL, prefix: str = "") -> tuple[list[Span], tuple[Finding, ...]]:
    parser = Parser(tools=tools, prefix=prefix)  # type: ignore[arg-type]
    events = [*parser.feed(text), *parser.close()]
    findings = verdicts(text, tools=tools, prefix=prefix)  # type: ignore[arg-type]
    return spans(text, findings, events), findings


def pieces(text: str, prefix: str = "") -> list[tuple[str, str]]:
    return [(str(span.kind), text[span.start : span.end]) for span in read(text, prefix=prefix)[0]]


def covers(text: str, pieces: list[Span]) -> bool:
    return "".join(text[span.start : span.end] for span in pieces) == text


@pytest.mark.parametrize("text", TEXTS)
def test_the_spans_of_any_text_are_the_text(text: str) -> None:
    assert covers(text, read(text, TOOLS)[0])


@pytest.mark.parametrize("name", list(DIALECTS))
def test_spans_of_a_vector_add_up_to_its_text(name: str) -> None:
    for v in heard_blind(name)[:6]:
        pieces, findings = read(v["text"], v["tools"], v["prefix"])
        assert covers(v["text"], pieces)
        assert all(
            span.kind is Kind(findings[span.finding].verdict or "dropped") for span in pieces if span.finding is not None
        )
        parsed = whole(v)
        for kind, wanted in ((Kind.TEXT, parsed.text), (Kind.REASONING, parsed.reasoning)):
            shown = "".join(v["text"][s.start : s.end] for s in pieces if s.kind in {kind, *ALSO})
            assert [word for word in wanted.split() if word not in shown] == [] or parsed.issues


def test_each_part_of_a_text_is_what_it_is() -> None:
    text = (
        '<think>\nhm <i></think>\nOn it: <tool_call>\n{"name": "f", "arguments": {a: 1}}\n</tool_call> `f()`<|im_end|>'
    )
    assert pieces(text) == [
        ("markup", "<think>"),
        ("reasoning", "\nhm <i>"),
        ("markup", "</think>"),
        ("text", "\nOn it: "),
        ("markup", "<tool_call>\n"),
        ("mended", '{"name": "f", "arguments": {a: 1}}'),
        ("markup", "\n</tool_call>"),
        ("text", " `f()`"),
        ("dropped", "<|im_end|>"),
    ]


def test_reasoning_that_a_template_opened_is_reasoning() -> None:
    assert pieces("so\n</think>Hi.", "<think>") == [("reasoning", "so\n"), ("markup", "</think>"), ("text", "Hi.")]
    assert pieces("so\n</think>Hi.") == [("reasoning", "so\n"), ("markup", "</think>"), ("text", "Hi.")]


def test_the_first_of_overlapping_findings_counts() -> None:
    found = [Finding(span=span, verdict=Verdict.QUOTED, rule="") for span in ((-3, 2), (1, 4), (4, 4), (5, 6))]
    assert list(cut(8, found)) == [(0, 2, 0), (2, 5, None), (5, 6, 3), (6, 8, None)]


MENDS = [
    ('{"name": "f", "arguments": {a: 1,}}', [("a", "bare_key"), (",", "trailing_comma")]),
    ("{'name': 'f', \"arguments\": {}}", [("'name'", "quotes"), ("'f'", "quotes")]),
    ('{"name": "f", "arguments": {"a": "3"}}', [("3", "string_to_integer")]),
    ('{"name": "f", "arguments": {"a": 1 /* one */}}', [("/* one */", "comment")]),
]


@pytest.mark.parametrize(("call", "wanted"), MENDS)
def test_what_was_mended_is_found_where_it_stands(call: str, wanted: list[tuple[str, str]]) -> None:
    text = f"a, b: <tool_call>\n{call}\n</tool_call>"
    findings = verdicts(text, tools=TOOL)
    marked = [(text[m.start : m.end], findings[m.finding].edits[m.edit].kind) for m in marks(text, findings)]
    assert [one for one in marked if one in wanted] == marked
    assert marked


def test_a_mend_that_says_nothing_of_its_place_has_none() -> None:
    found = Finding(
        span=(0, 5), verdict=Verdict.MENDED, rule="mended", edits=(Edit("unclosed"), Edit("name", "", "q", "f"))
    )
    assert marks("f: 12", [found]) == []
