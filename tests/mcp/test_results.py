"""Answers of MCP and our results: nothing is lost on the way, in either direction, and failures get a code."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.mcp.results import code_in_text, read, rpc_code, written
from dragoman.types import Media, Text, ToolResult
from tests.support.mcp_lab import PIXEL, SHAPES

TEXTS = st.text('ab1 \n[]:{}",éE')


def block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


BLOCKS: list[tuple[dict[str, Any], Text | Media]] = [
    (block("words"), Text("words")),
    (block(""), Text("")),
    ({"type": "image", "data": PIXEL, "mimeType": "image/png"}, Media(mime="image/png", data=PIXEL)),
    ({"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}, Media(mime="audio/wav", data="UklGRg==")),
]
KEPT: list[tuple[dict[str, Any], str]] = [
    ({"type": "text", "text": "for you", "annotations": {"audience": ["user"]}}, "for you"),
    ({"type": "resource_link", "uri": "file:///n.txt", "name": "n", "description": "notes", "mimeType": "text/plain"},
     "[resource: n](file:///n.txt) — text/plain — notes"),
    ({"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}}, "file:///a\ninside"),
    ({"type": "resource", "resource": {"uri": "file:///a", "blob": "AAEC", "mimeType": "application/pdf"}}, ""),
    ({"type": "hologram", "depth": 3}, '{"type": "hologram", "depth": 3}'),
]  # fmt: skip


@pytest.mark.parametrize(("it", "part"), BLOCKS)
def test_blocks_and_parts_correspond(it: dict[str, Any], part: Text | Media) -> None:
    result = read({"content": [it]}, "c1", "tool")
    assert result == ToolResult(call_id="c1", name="tool", content=[part])
    assert written(result)["content"] == [it]


@pytest.mark.parametrize(("it", "text"), KEPT)
def test_an_unknown_block_becomes_text_and_stays_whole(it: dict[str, Any], text: str) -> None:
    result = read({"content": [it]}, "c1")
    assert result.text == text
    assert written(result)["content"] == [it]


@pytest.mark.requirement("weak-chatcli-15")
def test_all_of_an_answer_comes_back_as_it_was() -> None:
    assert written(read(SHAPES, "c1")) == SHAPES


REPEATED = [
    ({"a": 1}, [block('{"a": 1}')], True),
    ({"a": 1}, [block('{\n "a":1\n}')], True),
    ({"result": "x"}, [block("x")], True),
    ({"content": "x"}, [block("x")], True),
    ({"result": 3}, [block("3")], True),
    ({"result": ["a", "b"]}, [block("a"), block("b")], True),
    ({"result": [{"n": 1}, {"n": 2}]}, [block('{"n": 1}'), block('{"n": 2}')], True),
    ([1, 2], [block("[1, 2]")], True),
    ({"a": 1}, [], False),
    ({"a": 1}, [block("one a")], False),
    ({"a": True}, [block('{"a": 1}')], False),
    ({"a": 1, "b": 2}, [block('{"a": 1}')], False),
    ("x", [block("y")], False),
]


@pytest.mark.parametrize(("structured", "content", "repeated"), REPEATED)
def test_structured_content_is_shown_once(structured: Any, content: list[Any], repeated: bool) -> None:
    result = read({"content": content, "structuredContent": structured}, "c1")
    assert (len(result.content) == len(content)) is repeated
    assert result.metadata["structured"] == structured
    assert written(result, any_json=True)["content"] == content


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | TEXTS,
        lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
        max_leaves=8,
    ),
    st.lists(TEXTS, max_size=3),
)
def test_an_answer_comes_back_whatever_it_is(value: Any, texts: list[str]) -> None:
    answer = {"content": [block(text) for text in texts], "structuredContent": {"value": value}}
    assert written(read(answer, "c1")) == answer


FAILURES = [
    ("ENOENT: no such file or directory, open '/x'", "ENOENT"),
    ("Error: EACCES: permission denied", "EACCES"),
    ("[Errno 2] No such file or directory: '/x'", "ENOENT"),
    ("Command '['git']' failed: exit code 128", "ExitCode:128"),
    ("MCP error -32602: Input validation error", "InvalidArgs"),
    ("MCP error -32050: special", "JSONRPC:-32050"),
    ("HTTP 404 Not Found", "HTTP:404"),
    ("HTTP/1.1 503", "HTTP:503"),
    ("[ERROR:Timeout] too slow", "Timeout"),
    ("[ERROR:BusinessError:ItemNotFound] no such item", "BusinessError:ItemNotFound"),
    ("EXAMPLE: nothing is wrong with the word", "UnknownError"),
    ("ERROR: something", "UnknownError"),
    ("it did not work", "UnknownError"),
    ("", "UnknownError"),
]


@pytest.mark.parametrize(("text", "code"), FAILURES)
def test_a_failures_code_comes_from_marks_alone(text: str, code: str) -> None:
    result = read({"content": [block(text)], "isError": True}, "c1")
    assert (result.is_error, result.error_code) == (True, code)
    assert not result.text.startswith("[ERROR")


def test_a_success_that_speaks_of_errors_is_no_failure() -> None:
    result = read({"content": [block("[ERROR:ENOENT] is what the log says")]}, "c1")
    assert (result.is_error, result.error_code, result.text) == (False, None, "[ERROR:ENOENT] is what the log says")


def test_blocks_are_told_on_lines_of_their_own() -> None:
    answer = {"content": [block("one"), block("two\n"), block("three")]}
    result = read(answer, "c1")
    assert result.text == "one\ntwo\nthree"
    assert written(result) == answer


def test_a_failure_is_written_with_its_mark_and_read_back() -> None:
    failed = ToolResult(call_id="c1", content="no such file", is_error=True, error_code="ENOENT")
    made = written(failed)
    assert made == {"content": [block("[ERROR:ENOENT] no such file")], "isError": True}
    assert read(made, "c1") == failed


PARTS = st.one_of(
    st.builds(Text, TEXTS),
    st.builds(Media, mime=st.sampled_from(["image/png", "audio/wav", "application/pdf"]), data=st.just("AA==")),
)
CODES = st.sampled_from([None, "ENOENT", "BusinessError:Gone"])


@given(st.lists(PARTS, max_size=4), st.booleans(), CODES)
def test_what_we_serve_says_the_same_when_it_was_fetched(
    parts: list[Text | Media], failed: bool, code: str | None
) -> None:
    result = ToolResult(call_id="c1", content=parts, is_error=failed, error_code=code if failed else None)
    once = written(result)
    fetched = read(once, "c1")
    assert (fetched.is_error, fetched.error_code) == (failed, (code or "UnknownError") if failed else None)
    if not failed:
        assert written(fetched) == once


MEDIA = [
    (Media(mime="image/png", data=PIXEL), "image"),
    (Media(data=PIXEL), "image"),
    (Media(mime="audio/wav", data="AA=="), "audio"),
    (Media(mime="application/pdf", data="AA==", name="a.pdf"), "resource"),
    (Media(mime="image/png", url="https://h/a.png"), "resource_link"),
]


@pytest.mark.parametrize(("media", "kind"), MEDIA)
def test_media_of_our_own_tools_become_blocks(media: Media, kind: str) -> None:
    [made] = written(ToolResult(call_id="c1", content=[media]))["content"]
    assert made["type"] == kind


JSON_TEXTS = [
    ('{"a": 1}', False, True),
    ("[1]", False, False),
    ("[1]", True, True),
    ("3", True, False),
    ("words", True, False),
]


@pytest.mark.parametrize(("text", "any_json", "structured"), JSON_TEXTS)
def test_json_is_told_as_structured_content_too(text: str, any_json: bool, structured: bool) -> None:
    assert ("structuredContent" in written(ToolResult(call_id="c1", content=text), any_json=any_json)) is structured


def test_only_the_servers_own_stamps_stay() -> None:
    meta = {"io.modelcontextprotocol/serverInfo": {}, "com.example/cost": 3}
    assert read({"content": [], "_meta": meta}, "c1").metadata == {"_meta": {"com.example/cost": 3}}


def test_numbers_of_json_rpc_have_codes() -> None:
    assert (rpc_code(-32602), rpc_code(-32001), rpc_code(-1)) == ("InvalidArgs", "Timeout", "JSONRPC:-1")
    assert code_in_text("x" * 5000 + " ENOENT: late") == "UnknownError"
