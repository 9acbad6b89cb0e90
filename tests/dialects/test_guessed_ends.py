"""Where a value's closer is missing or misspelt, the value runs without what may belong to the template, or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman import Parser, parse
from dragoman.dialects.engine.parsed import Parsed, fold
from dragoman.types import Tool

TEXT = {"type": "string"}
TOOLS = [Tool(name="rate", parameters={"type": "object", "properties": {"base": TEXT}, "required": ["base"]})]
INLINE = {
    "MiniMax": ('<minimax:tool_call>\n<invoke name="rate">\n<parameter name="base">', "</invoke>\n</minimax:tool_call>"),
    "Anthropic": ('<function_calls>\n<invoke name="rate">\n<parameter name="base">', "</invoke>\n</function_calls>"),
    "Qwen on one line": ("<tool_call>\n<function=rate>\n<parameter=base>", "</function>\n</tool_call>"),
    "elements": ("<rate>\n<base>", "</rate>"),
}
FRAMED = {
    "Qwen": ("<tool_call>\n<function=rate>\n<parameter=base>\n", "</function>\n</tool_call>"),
    "elements on lines of their own": ("<rate>\n<base>\n", "</rate>"),
}
ALL = {**INLINE, **FRAMED}


def read(text: str) -> Parsed:
    """The reading of the text, which is the same character by character."""
    parser = Parser(tools=TOOLS)
    parts = fold([event for c in text for event in parser.feed(c)] + parser.close())
    whole = parse(text, tools=TOOLS)
    assert ran(parts) == ran(whole)
    return whole


def ran(parsed: Parsed) -> list[dict[str, Any]]:
    return [dict(call.arguments) for call in parsed.calls]


ENDS = [(form, end) for form in ALL for end in ("", "\n", "\r\n") if form in INLINE or end != "\r\n"]


@pytest.mark.parametrize(("form", "end"), ENDS)
def test_one_line_end_before_what_comes_next_is_the_templates(form: str, end: str) -> None:
    begin, rest = ALL[form]
    assert ran(read(f"{begin}EUR{end}{rest}")) == [{"base": "EUR"}]


@pytest.mark.parametrize("form", ["MiniMax", "Anthropic"])
def test_more_than_one_line_end_is_the_values_where_the_template_writes_none(form: str) -> None:
    begin, rest = INLINE[form]
    assert ran(read(f"{begin}a\nb\n\n{rest}")) == [{"base": "a\nb\n"}]


@pytest.mark.parametrize("form", FRAMED)
@pytest.mark.parametrize("end", ["\n\n", "\n\n\n", "\r\n"])
def test_it_is_refused_where_the_template_writes_one_and_more_stand_there(form: str, end: str) -> None:
    begin, rest = FRAMED[form]
    parsed = read(f"{begin}EUR{end}{rest}")
    assert (ran(parsed), len(parsed.issues)) == ([], 1)


@pytest.mark.parametrize("form", ALL)
@pytest.mark.parametrize("closer", ["</param>", "</arg>", "</PARAMETER_VALUE>", "</foo:param>", "</value>\n"])
def test_a_closing_tag_that_nothing_opened_is_never_the_values_last_word(form: str, closer: str) -> None:
    begin, rest = ALL[form]
    parsed = read(f"{begin}EUR{closer}\n{rest}")
    assert ran(parsed) == [{"base": "EUR"}] or (ran(parsed) == [] and parsed.issues)


@pytest.mark.parametrize("form", ALL)
def test_a_tag_that_the_value_opened_itself_may_end_it(form: str) -> None:
    begin, rest = ALL[form]
    assert ran(read(f"{begin}<b>EUR</b>\n{rest}")) == [{"base": "<b>EUR</b>"}]
