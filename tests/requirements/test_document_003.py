"""Document 003, where it concerns text: calls as XML tags, detection, and results that say how they failed."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman import parse
from dragoman.dialects import DIALECTS
from dragoman.dialects.writing.history import render_result
from dragoman.dialects.writing.prompt import tool_prompt
from dragoman.errors import ErrorCode
from dragoman.types import Tool, ToolResult
from tests.support.documents import READ_FILE, calls_of

ARGS = '{"path": "/tmp/foo"}'
FOO = [("read_file", {"path": "/tmp/foo"})]


@pytest.mark.requirement("003-xml-call")
@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call name=\"read_file\" args='{ARGS}' />",
        f"<tool_call name=\"read_file\" args='{ARGS}'/>",
        f"<tool_call name=\"read_file\" args='{ARGS}'></tool_call>",
        f"<tool name=\"read_file\" args='{ARGS}' />",
        f"<tool name=\"read_file\" args='{ARGS}'></tool>",
        f"<tool_call args='{ARGS}' name='read_file' />",
        f"<tool_call\n  name=\"read_file\"\n  args='{ARGS}'\n/>",
        f'<tool_call name="read_file">{ARGS}</tool_call>',
        '<tool_call name="read_file" args="{&quot;path&quot;: &quot;/tmp/foo&quot;}" />',
        '<tool_call name="read_file" args="{\\"path\\": \\"/tmp/foo\\"}" />',
    ],
)
def test_an_xml_call_is_read_in_every_spelling(text: str) -> None:
    assert calls_of(parse(text).calls) == calls_of(parse(text, tools=[READ_FILE]).calls) == FOO


@pytest.mark.requirement("003-xml-call")
@pytest.mark.parametrize("text", ["see the <toolbox> section", "<tools> </tools>", "<tool_caller name='x' args='{}'/>"])
def test_tags_that_only_begin_alike_are_text(text: str) -> None:
    read = parse(text)
    assert (read.calls, read.text) == ((), text)


FORMS = {
    "fence": f'~~~tool_call\n{{"name": "read_file", "arguments": {ARGS}}}\n~~~',
    "xml": f"<tool_call name=\"read_file\" args='{ARGS}' />",
    "hermes": f'<tool_call>\n{{"name": "read_file", "arguments": {ARGS}}}\n</tool_call>',
    "bare": f'{{"name": "read_file", "arguments": {ARGS}}}',
    "json fence": f'```json\n{{"name": "read_file", "arguments": {ARGS}}}\n```',
    "action": f'{{"thought": "x", "action": {{"tool": "read_file", "args": {ARGS}}}}}',
    "command": f"@tool read_file {ARGS}",
}


@pytest.mark.requirement("003-text-parsing")
@pytest.mark.requirement("003-detection")
@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_which_form_a_call_has_is_detected(text: str) -> None:
    assert calls_of(parse(text, tools=[READ_FILE]).calls) == FOO


# ── results ──────────────────────────────────────────────────────────────────


def rendered(dialect: str, **fields: Any) -> str:
    result = ToolResult(call_id="c", name="read_file", content="body", **fields)
    return render_result(result, DIALECTS[dialect])


@pytest.mark.requirement("003-mark-text")
@pytest.mark.parametrize("dialect", ["tool_call_fence", "hermes", "qwen3_coder", "kimi_k2"])
def test_a_failure_in_text_is_headed_by_its_code(dialect: str) -> None:
    assert "\n[ERROR:ENOENT] body" in rendered(dialect, is_error=True, error_code=ErrorCode.ENOENT)
    assert "\n[ERROR] body" in rendered(dialect, is_error=True)
    assert "ERROR" not in rendered(dialect)


@pytest.mark.requirement("003-two-signals")
def test_that_it_failed_and_how_are_two_signals() -> None:
    plain = ToolResult(call_id="c", is_error=True)
    coded = ToolResult(call_id="c", is_error=True, error_code="BusinessError:ItemNotFound")
    assert (plain.is_error, plain.error_code) == (True, None)
    assert (coded.is_error, coded.error_code) == (True, "BusinessError:ItemNotFound")
    assert "ERROR" not in rendered("hermes", error_code="ENOENT"), "a code alone is no failure"


@pytest.mark.requirement("003-two-signals")
def test_codes_are_words_of_no_language() -> None:
    assert all(code.isascii() and code.isalpha() and len(code) <= 14 for code in ErrorCode)


@pytest.mark.requirement("003-tool-order")
@pytest.mark.parametrize("compact", [False, True])
def test_tools_are_told_in_a_fixed_order(compact: bool) -> None:
    tools = [Tool(name=n) for n in ("zeta", "alpha", "mid")]
    prompt = tool_prompt(tools, compact=compact)
    assert prompt == tool_prompt(tools[::-1], compact=compact)
    assert prompt.index("alpha") < prompt.index("mid") < prompt.index("zeta")
