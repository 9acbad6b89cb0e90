"""A raw value that holds all that ends a call of its own notation: read whole or asked about, and never run cut."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dragoman.dialects import DIALECTS, Dialect, Parsed, Parser, parse
from dragoman.dialects.engine.parsed import fold
from dragoman.dialects.spec import ElementArgs, TaggedArgs
from dragoman.dialects.writing.render import render
from dragoman.types import Tool, ToolCall, Verdict

TOOL = Tool(
    name="write_file",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
)
RAW = [d for d in DIALECTS.values() if isinstance(d.args, TaggedArgs | ElementArgs)]
MARK = "CONTENT0CONTENT"
VALUES = (
    "A call ends with {close} and then the model stops.",
    "# Format\n\nA call ends with\n{close}\nand then the model stops.",
    "```\n{close}\n```\n\nThat is all.",
    "One:\n{close}\nTwo:\n{close}\nEnd",
    "CLOSERS = '''{close}'''\nprint(CLOSERS)",
    "x{close}y",
)
UNCLEAR = (*VALUES, "Ends:\n{close}\nWhole:\n{open}y{close}\nEnd", "x{close}", "{close}")
"""What may stand before other words, or holds whole calls besides."""


def around(dialect: Dialect) -> tuple[str, str]:
    """What a call of this dialect is written with, before and behind the text of its last argument."""
    written = render([ToolCall(id="", name="write_file", arguments={"path": "a.md", "content": MARK})], dialect)
    before, _, behind = written.partition(MARK)
    return before, behind


def read(dialect: Dialect, text: str, *, finish: str = "stop") -> Parsed:
    return parse(text, tools=[TOOL], dialects=dialect, finish_reason=finish)


def contents(parsed: Parsed) -> list[str]:
    return [str(call.arguments.get("content", "")).strip() for call in parsed.calls]


def runs(dialect: Dialect) -> bool:
    """Is a plain call of it read back?  (Some are read only behind a header.)"""
    before, behind = around(dialect)
    return contents(read(dialect, f"{before}x{behind}")) == ["x"]


def of(rows: Sequence[Dialect]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("dialect", rows, ids=[d.name for d in rows])


ROWS = [d for d in RAW if runs(d)]


def test_most_rows_with_raw_values_are_watched() -> None:
    assert len(ROWS) >= 0.9 * len(RAW), sorted({d.name for d in RAW} - {d.name for d in ROWS})


@of(ROWS)
@pytest.mark.parametrize("value", VALUES)
def test_a_value_that_holds_its_calls_closers_is_read_whole_where_the_message_ends_with_them(
    dialect: Dialect, value: str
) -> None:
    before, behind = around(dialect)
    value = value.format(open=before, close=behind)
    parsed = read(dialect, f"{before}{value}{behind}")
    assert all(c == value.strip() for c in contents(parsed))
    assert parsed.calls or parsed.doubtful


@of(ROWS)
@pytest.mark.parametrize("value", UNCLEAR)
@pytest.mark.parametrize("tail", ["", "\n\nDone: I wrote the file."])
def test_no_such_call_runs_with_a_part_of_its_value(dialect: Dialect, value: str, tail: str) -> None:
    before, behind = around(dialect)
    value = value.format(open=before, close=behind)
    parsed = read(dialect, f"{before}{value}{behind}{tail}")
    assert all(c == value.strip() for c in contents(parsed))


@of(ROWS)
def test_a_message_cut_in_such_a_value_runs_nothing(dialect: Dialect) -> None:
    before, behind = around(dialect)
    assert not contents(read(dialect, f"{before}A call ends with\n{behind}\nand then the mod", finish="length"))


@of(ROWS)
def test_a_call_with_words_behind_it_runs_as_before(dialect: Dialect) -> None:
    before, behind = around(dialect)
    parsed = read(dialect, f"{before}x{behind}\n\nThe file is written now.\n")
    assert contents(parsed) == ["x"]
    assert parsed.calls[0].report is not None
    assert parsed.calls[0].report.verdict is Verdict.ACCEPTED


@of(ROWS)
def test_such_values_are_read_alike_in_any_pieces(dialect: Dialect) -> None:
    before, behind = around(dialect)
    for value in UNCLEAR:
        text = f"{before}{value.format(open=before, close=behind)}{behind}\nDone."
        wanted = read(dialect, text)
        for size in (1, 3, 17):
            parser = Parser(tools=[TOOL], dialects=dialect, finish_reason="stop")
            events = [e for at in range(0, len(text), size) for e in parser.feed(text[at : at + size])]
            assert fold([*events, *parser.close()], text) == wanted, (value, size)


def test_what_is_unclear_is_refused_and_says_what_was_seen() -> None:
    before, behind = around(DIALECTS["qwen3_coder"])
    parsed = read(DIALECTS["qwen3_coder"], f"{before}It ends with {behind} so.{behind}\nDone, and then some.")
    assert not parsed.calls
    assert not parsed.doubtful
    assert "closers of its call stand once more" in parsed.issues[0].message


def test_several_calls_in_a_row_are_told_as_they_close() -> None:
    """What follows at once is another call: nothing has to wait for the message's end."""
    before, behind = around(DIALECTS["qwen3_coder"])
    parser = Parser(tools=[TOOL])
    events = parser.feed(f"{before}x{behind}\n{before}y")
    assert any(type(event).__name__ == "CallEnded" for event in events)


@pytest.mark.parametrize("dialect", ["kimi_k3", "kimi_k3_json"])
@pytest.mark.parametrize("junk", ["Oslo", ' <|open|>argument key="x"', " index\x01"])
def test_what_stands_in_a_tag_and_is_no_attribute_is_never_dropped(dialect: str, junk: str) -> None:
    text = render([ToolCall(id="", name="write_file", arguments={"path": "a.md", "content": "b"})], dialect)
    torn = text.replace('tool="write_file"', f'tool="write_file"{junk}')
    parsed = parse(torn, tools=[TOOL])
    assert torn != text
    assert not parsed.calls
    assert junk.strip() in parsed.text + "".join(issue.raw for issue in parsed.issues)


def test_further_attributes_of_a_tag_are_passed_over() -> None:
    text = render([ToolCall(id="", name="write_file", arguments={"path": "a.md", "content": "b"})], "kimi_k3")
    more = text.replace('index="0"', 'index="0" lang="en"')
    assert [dict(call.arguments) for call in parse(more, tools=[TOOL]).calls] == [{"path": "a.md", "content": "b"}]


@pytest.mark.parametrize("section", ["function_calls", "minimax:tool_call"])
def test_what_a_later_call_told_says_nothing_of_an_earlier_one(section: str) -> None:
    """A whole text is read twice, and by then the closers behind the second call are known."""
    first = '<parameter name="path">a.md</parameter>\n<parameter name="content">Close: </parameter>'
    second = first.replace("Close: ", "y")
    calls = "\n".join(f'<invoke name="write_file">\n{one}\n</invoke>' for one in (first, second))
    text = f"<{section}>\n{calls}\n</{section}>\nthat was it</parameter>\n</invoke>\n</{section}>"
    parser = Parser(tools=[TOOL])
    events = [event for sign in text for event in parser.feed(sign)]
    whole, pieces = parse(text, tools=[TOOL]), fold([*events, *parser.close()])
    assert [call.arguments for call in whole.calls] == [call.arguments for call in pieces.calls]
    assert [issue.message for issue in whole.issues] == [issue.message for issue in pieces.issues]
