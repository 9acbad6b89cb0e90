"""`dragoman parse --explain`: every verdict in its place."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from dragoman.cli.explain import coloured, explain
from dragoman.dialects.explain.findings import verdicts

from .conftest import Run

TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}]
TEXT = (
    'Write `<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>`.\n'
    '<tool_call>{"name": "f", "arguments": {"a": "2",}}</tool_call>\n'
    '<tool_call>{"name": "g", "arguments": {}}</tool_call>\n'
    '<tool_call>{"name": "f", "arguments": {"a": 3}}</tool_call>\n'
)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(TOOLS), encoding="utf-8")
    return path


def test_explain_lists_verdicts_with_rules_and_marks(run: Run, tools: Path) -> None:
    ran = run("parse", "--explain", "--tools", tools, stdin=TEXT)
    assert ran.code == 0
    head, _, shown = ran.out.partition("\n\n")
    lines = [line.split(None, 3) for line in head.splitlines()[1:]]
    assert [(line[0], line[1]) for line in lines] == [("1", "quoted"), ("2", "mended"), ("3", "refused"), ("4", "accepted")]
    assert "box: it stands inside a code span" in head
    assert "trailing_comma" in head
    assert "unknown_tool: there is no tool named 'g'" in head
    assert '⟦1 {"name": "f", "arguments": {"a": 1}}⟧</tool_call>`.' in shown
    assert '⟦4 {"name": "f", "arguments": {"a": 3}}⟧' in shown


def test_explain_prints_the_same_as_json(run: Run, tools: Path) -> None:
    found = json.loads(run("parse", "--explain", "--json", "--tools", tools, stdin=TEXT).out)["verdicts"]
    assert [f["verdict"] for f in found] == ["quoted", "mended", "refused", "accepted"]
    assert [TEXT[slice(*f["span"])][:8] for f in found] == ['{"name":'] * 4
    assert [e["kind"] for e in found[1]["edits"]] == ["string_to_integer", "trailing_comma"]


def test_explain_says_when_there_is_nothing_to_explain(run: Run, tools: Path) -> None:
    ran = run("parse", "--explain", "--tools", tools, stdin="Hello [world](x)")
    assert ran.out.startswith("no candidate for a call was found\n\nHello [world](x)")


def test_text_is_coloured_at_a_terminal_and_numbered_elsewhere() -> None:
    findings = verdicts(TEXT, tools=TOOLS)
    out = StringIO()
    explain(TEXT, findings, Console(file=out, force_terminal=True, color_system="standard", width=200, _environ={}))
    assert "\x1b[1;32m" in out.getvalue()
    assert "⟦" not in out.getvalue()
    quiet = StringIO()
    explain(TEXT, findings, Console(file=quiet, force_terminal=True, width=200, _environ={"NO_COLOR": "1"}))
    assert "\x1b[1;32m" not in quiet.getvalue()
    assert "⟦1 " in quiet.getvalue()


def test_the_text_shown_is_the_text() -> None:
    assert coloured(TEXT, verdicts(TEXT, tools=TOOLS), marked=False).plain == TEXT


def test_explain_shows_a_call_that_no_marker_led_to(run: Run, tools: Path) -> None:
    ran = run("parse", "--explain", "--tools", tools, stdin='So: {"name": "f", "arguments": {"a": 1}}')
    assert [line.split(None, 3)[1] for line in ran.out.partition("\n\n")[0].splitlines()[1:]] == ["doubtful"]
    assert "overlooked: " in ran.out
    assert '⟦1 {"name": "f", "arguments": {"a": 1}}⟧' in ran.out


def test_a_confirmed_way_of_writing_runs(run: Run, tools: Path) -> None:
    text = 'I look.\n{"name": "f", "arguments": {"a": 1}}'
    doubted = json.loads(run("parse", "--json", "--tools", tools, stdin=text).out)["doubtful"]
    habit = doubted[0]["report"]["evidence"]["habit"]
    ran = json.loads(run("parse", "--json", "--tools", tools, "--confirmed", habit, stdin=text).out)
    assert ([call["name"] for call in ran["calls"]], ran["doubtful"]) == (["f"], [])
