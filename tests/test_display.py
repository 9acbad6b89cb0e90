"""Values show themselves in colours: in notebooks as escaped HTML without scripts, and to rich without importing it."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from dragoman import Parsed, Response, Run, parse
from dragoman.dialects.explain import spans
from dragoman.display import KINDS, Displayed, Piece, html, marked, stylesheet
from dragoman.loop import Answered, Limit
from dragoman.loop.outcomes import Bound
from dragoman.types import Issue, IssueKind, Message, Reasoning, Text, ToolCall, ToolResult, Verdict

TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}]
EVIL = "<script>alert(1)</script><img src=x onerror='alert(2)'> & [bold red]x[/] :smile: \"quoted\""
SOURCE = (
    f"{EVIL}\n"
    'Write `<tool_call>{"name": "f", "arguments": {"a": 9}}</tool_call>`.\n'
    '<tool_call>{"name": "f", "arguments": {"a": "2",}}</tool_call>\n'
    '<tool_call>{"name": "g", "arguments": {}}</tool_call>\n'
    '<tool_call>{"name": "f", "arguments": {"a": 3}}</tool_call>\n'
    'Then:\n```json\n{"name": "f", "arguments": {"a": 4}}\n```'
)
PARSED = parse(SOURCE, tools=TOOLS)
RESULT = ToolResult(call_id="1", name="f", content=EVIL, is_error=True)
RESPONSE = Response(
    message=Message("assistant", [Reasoning(EVIL), Text(EVIL), ToolCall(id="1", name="f", arguments={"a": EVIL})]),
    doubtful=PARSED.doubtful, issues=(Issue(kind=IssueKind.QUOTED, message=EVIL, correction=EVIL),),
)  # fmt: skip
MESSAGES = (Message("user", EVIL), RESPONSE.message, Message("tool", [RESULT]))
RUN: Run[Any] = Run(end=Answered(), messages=MESSAGES, response=RESPONSE, issues=RESPONSE.issues)
STOPPED: Run[Any] = Run(end=Limit(Bound.TURNS, 3))
VALUES: list[Displayed] = [PARSED, RESPONSE, RUN, STOPPED, *(call.report for call in PARSED.calls if call.report)]


class Seen(HTMLParser):
    """The tags, attributes and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def plain(value: Displayed) -> str:
    return "".join(piece.text for piece in value._display_())


def printed(value: Displayed, **options: Any) -> str:
    out = StringIO()
    Console(file=out, width=4000, _environ={}, **options).print(value)
    return out.getvalue()


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_notebook_shows_the_text_and_nothing_that_runs(value: Displayed) -> None:
    page = value._repr_html_()
    seen = Seen(page)
    assert seen.tags <= {"pre", "span"}
    assert seen.names <= {"style", "title"}
    assert seen.text == plain(value)
    assert not re.findall(r"url\(|expression|javascript:", "".join(re.findall(r'style="([^"]*)"', page)))


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("options", [{}, {"markup": False}, {"highlight": False}], ids=["markup", "plain", "unlit"])
def test_rich_shows_the_same_text_whatever_its_console_reads(value: Displayed, options: dict[str, Any]) -> None:
    assert printed(value, **options).split() == plain(value).split()


def test_each_verdict_has_its_colour_in_the_source() -> None:
    kinds = {piece.kind: piece.text for piece in [*PARSED._display_()][::-1] if piece.title}
    assert plain(PARSED).startswith(SOURCE)
    assert '"a": "2",' in kinds["mended"]
    assert '"a": 9' in kinds["quoted"]
    assert '"g"' in kinds["refused"]
    assert '"a": 3' in kinds["accepted"]
    assert '"a": 4' in kinds["doubtful"]
    assert "\x1b[1;35m" in printed(PARSED, force_terminal=True, color_system="standard")


def test_a_report_tells_rule_evidence_and_mends() -> None:
    shown = plain(PARSED.calls[0].report)  # type: ignore[arg-type]
    for words in ("~ mended strong: ", "proof: the mark alone proves a call", 'string to integer at $.arguments.a: "2" → 2'):
        assert words in shown


def test_a_run_tells_how_it_ended() -> None:
    assert plain(RUN).endswith("answered")
    assert plain(STOPPED) == "stopped at the limit of turns (3)"


def test_marks_that_overlap_or_lie_outside_leave_the_text_whole() -> None:
    marks = [(2, 5, "mended", ""), (3, 9, "refused", ""), (90, 99, "quoted", ""), (5, 5, "dropped", "")]
    pieces = [*marked("0123456789", marks)]
    assert "".join(piece.text for piece in pieces) == "0123456789"
    assert [piece.text for piece in pieces if piece.kind != "text"] == ["234"]


def test_one_table_has_every_kind_of_span_and_verdict() -> None:
    assert {*map(str, spans.Kind)} == set(KINDS) >= {*map(str, Verdict)}
    lines = [(kind.line, kind.ink) for name, kind in KINDS.items() if name in {*map(str, Verdict)}]
    assert len(set(lines)) == len(lines)
    assert all(f".span-{name} " in stylesheet() for name in KINDS)
    assert "light-dark" in html([Piece("x", "mended")])


def test_what_is_looked_at_does_not_count_as_content() -> None:
    again = parse(SOURCE, tools=TOOLS)
    assert again == PARSED
    assert isinstance(again, Parsed)
    assert "source" not in repr(again)


def test_showing_a_value_in_a_notebook_imports_no_rich() -> None:
    code = "import sys, dragoman; dragoman.parse('hi')._repr_html_(); print('rich' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
