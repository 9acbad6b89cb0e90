"""Long results keep head and tail; the rest can be read."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman import Media, Text, ToolCall, ToolError, ToolResult
from dragoman.tools import Context, Shortener, read_more, rest, shortened
from dragoman.tools.truncation import whole_after, whole_before

NOTICE = re.compile(r"\n\[… ([\d,]+) of ([\d,]+) characters(?: of JSON)? left out here(?:; [^…]*)? …\]\n")


def result(*parts: str | Media) -> ToolResult:
    return ToolResult(call_id="c1", name="t", content=[Text(p) if isinstance(p, str) else p for p in parts])


def test_a_short_result_is_left_alone() -> None:
    short = result("x" * 100)
    assert shortened(short, 100, "") is short


def test_head_and_tail_are_kept_on_line_borders() -> None:
    text = "".join(f"line {i}\n" for i in range(1000))
    found = shortened(result(text), 1000, "ask for more").text
    head, tail = NOTICE.split(found)[0], NOTICE.split(found)[-1]
    assert text.startswith(head)
    assert head.endswith("\n")
    assert text.endswith(tail)
    assert tail.startswith("line ")
    assert len(found) <= 1000
    assert len(head) > 3 * len(tail)
    assert "ask for more" in found


def test_json_is_told_to_be_json() -> None:
    assert "characters of JSON left out" in shortened(result("[" + "1, " * 500 + "1]"), 200, "").text


def test_parts_between_are_left_out_and_media_kept() -> None:
    image = Media(mime="image/png", data="AAAA")
    found = shortened(result("a" * 500, image, "b" * 500, "c" * 500), 300, "n")
    assert image in found.content
    texts = [part.text for part in found.content if isinstance(part, Text)]
    assert len("".join(texts)) <= 300
    assert len(NOTICE.findall("".join(texts))) == 1
    assert texts[0].startswith("aaa")
    assert texts[-1].endswith("ccc")


def test_what_else_a_result_says_stays() -> None:
    failed = ToolResult(call_id="c", content="x" * 500, is_error=True, error_code="E", metadata={"a": 1})
    found = shortened(failed, 100, "")
    assert (found.is_error, found.error_code, found.metadata) == (True, "E", {"a": 1})


CLUSTERS = ["é", "e\u0301", "👩‍👩‍👧", "🇫🇷", "👍🏽", "\r\n", "a", "❤\ufe0f", "नि"]


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_visible_character_is_never_cut_in_two(cluster: str) -> None:
    text = cluster * 40
    borders = {i * len(cluster) for i in range(41)}
    for at in range(len(text) + 1):
        assert whole_before(text, at) in borders
        assert whole_after(text, at) in borders


def test_half_a_surrogate_pair_is_not_cut_from_the_other() -> None:
    assert whole_before("a\ud83d\ude00b", 2) == 1
    assert whole_after("a\ud83d\ude00b", 2) == 3


TEXTS = st.lists(st.text(max_size=30) | st.sampled_from([*CLUSTERS, "\n", "{", "x" * 90]), max_size=30).map("".join)


@settings(deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=3), st.integers(0, 400), st.text(alphabet="abc ", max_size=20))
def test_what_is_kept_is_the_exact_head_and_tail(texts: list[str], limit: int, note: str) -> None:
    whole = "".join(texts)
    given_ = result(*texts)
    found = shortened(given_, limit, note)
    if len(whole) <= limit:
        assert found is given_
        return
    marks = [
        m
        for m in NOTICE.finditer(found.text)
        if whole.startswith(found.text[: m.start()]) and whole.endswith(found.text[m.end() :])
    ]
    assert marks
    kept = min(len(found.text) - (m.end() - m.start()) for m in marks)
    assert any(int(m[1].replace(",", "")) == len(whole) - (len(found.text) - (m.end() - m.start())) for m in marks)
    assert len(found.text) <= limit or kept == 0


# ── the rest ─────────────────────────────────────────────────────────────────


def test_the_rest_is_read_piece_by_piece() -> None:
    kept: dict[str, str] = {}
    text = "".join(f"line {i}\n" for i in range(300))
    cut = Shortener(kept, 500)(result(text))
    assert 'read_more(key="c1", start=400)' in cut.text
    assert kept == {"c1": text}
    reader = read_more(kept, limit=600)
    context = Context(call=ToolCall(id="c2", name="read_more"))
    pieces, start = [], 0
    while True:
        arguments = {"key": "c1", "start": start}
        assert reader.faults(arguments) == []
        piece, _, more = reader.function(arguments, context).partition("\n[… ")
        pieces.append(piece)
        if not more:
            break
        start = int(more.partition("start=")[2].rstrip("]"))
    assert "".join(pieces) == text
    assert Shortener(kept, 5000)(result(text), "other").text == text
    assert set(kept) == {"c1"}


def test_a_piece_may_be_asked_for_exactly() -> None:
    assert rest({"k": "abcdef"}, "k", 1, 3).startswith("bc\n[… 3 characters follow")
    assert rest({"k": "abcdef"}, "k", 4) == "ef"


def test_wrong_questions_are_answered_with_what_to_do() -> None:
    with pytest.raises(ToolError, match="'c10'") as raised:
        rest({"c10": "x"}, "c1")
    assert raised.value.code == "ENOENT"
    with pytest.raises(ToolError, match="nothing was shortened"):
        rest({}, "c1")
    with pytest.raises(ToolError, match="start below"):
        rest({"k": "abc"}, "k", 3)


@settings(deadline=None)
@given(TEXTS.filter(bool), st.integers(1, 50))
def test_reading_on_ends_and_loses_nothing(text: str, limit: int) -> None:
    start, pieces = 0, []
    while start < len(text):
        piece = rest({"k": text}, "k", start, limit=limit)
        left = re.search(r"\n\[… [\d,]+ characters follow: go on with start=(\d+)\]\Z", piece)
        pieces.append(piece[: left.start()] if left else piece)
        after = int(left[1]) if left else len(text)
        assert after > start
        start = after
    assert "".join(pieces) == text
