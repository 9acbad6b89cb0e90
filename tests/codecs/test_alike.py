"""Frames that differ in one string are read without a parser, and say what a parser reads in them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs.shared.alike import Alike, Found, like_frame

HEAD = {"id": "chatcmpl-1", "created": 7, "model": "m"}


def _frame(text: Any, *, ascii_only: bool = True, **more: Any) -> str:
    body = {"number": more.pop("number", 0), **HEAD, "choices": [{"delta": {"content": text}}], **more}
    return f"event: e\ndata: {json.dumps(body, ensure_ascii=ascii_only)}\n\n"


def _string(body: Any) -> str | None:
    try:
        text = body["choices"][0]["delta"]["content"]
    except (KeyError, IndexError, TypeError):
        return None
    return text if isinstance(text, str) else None


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NOISE = st.one_of(st.integers(0, 99), TEXTS, st.dictionaries(TEXTS, st.integers() | TEXTS), st.none(), st.lists(TEXTS))


@given(TEXTS, st.integers(0, 10**6), NOISE, st.booleans())
def test_what_is_new_in_a_frame_is_what_a_parser_reads(text: str, number: int, usage: Any, ascii_only: bool) -> None:
    first = _frame("one", number=3, usage={"n": 1}, ascii_only=ascii_only)
    alike = like_frame(first, "one", ("number", "usage", "absent"), _string)
    assert alike is not None
    found = alike.read(_frame(text, number=number, usage=usage, ascii_only=ascii_only))
    assert found is not None
    assert found == (text, {"number": number, "usage": usage})


@given(TEXTS)
def test_without_noise_only_the_string_may_differ(text: str) -> None:
    alike = like_frame(_frame("one"), "one", (), _string)
    assert alike is not None
    found = alike.read(_frame(text))
    assert found is not None
    assert found[0] == text
    assert alike.read(_frame(text, number=1)) is None


@pytest.mark.parametrize(
    "frame",
    [
        _frame("two", finish="stop"),
        _frame("two").replace("e\n", "f\n"),
        _frame(None),
        _frame("two").replace("two", 'two", "more": "'),
        _frame("two").replace("two", "a\nb"),
        _frame("two").replace("two", "\\x"),
        _frame("two").replace("two", "\\ud800"),
        _frame("two").replace('"number": 0', '"number": 00'),
        _frame("two").replace('"number": 0', '"number": 0, "x": 1'),
        _frame("two")[:-1],
        "",
    ],
)
def test_any_other_frame_is_left_to_the_parser(frame: str) -> None:
    alike = like_frame(_frame("one"), "one", ("number",), _string)
    assert alike is not None
    assert alike.read(frame) is None


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (_frame("m"), "m"),  # the model is called so, too
        (_frame("id"), "id"),
        (_frame("a/b").replace("a/b", "a\\/b"), "a/b"),
        (_frame("one") + _frame("two"), "one"),
        ("data: one\n\n", "one"),
    ],
)
def test_none_is_made_where_it_is_not_certain_where_the_string_stands(frame: str, text: str) -> None:
    assert like_frame(frame, text, (), _string) is None


def test_a_string_that_stands_in_another_place_is_not_taken_for_it() -> None:
    frame = _frame("x").replace('"x"', '"\\u0063hatcmpl-1"')  # spelt so that only the id is found
    assert like_frame(frame, "chatcmpl-1", (), _string) is None


def test_a_field_inside_another_is_not_taken_for_one_of_the_frame_itself() -> None:
    alike = like_frame(_frame("one", mine={"usage": 1}), "one", ("usage",), _string)
    assert alike is not None
    assert alike.read(_frame("two", mine={"usage": 1})) == ("two", {})
    assert alike.read(_frame("two", mine={"usage": 2})) is None


# ── several at once ──────────────────────────────────────────────────────────

FLAT: st.SearchStrategy[Any] = st.one_of(st.integers(0, 99), TEXTS, st.fixed_dictionaries({"a": st.integers(0, 9), "b": TEXTS}), st.just({}))


@given(st.lists(st.tuples(TEXTS, st.integers(0, 10**6), NOISE | FLAT), min_size=2, max_size=6), TEXTS, st.booleans())
def test_a_run_says_what_its_frames_say_one_by_one(rows: list[Any], behind: str, ascii_only: bool) -> None:
    alike = like_frame(_frame("one", number=3, usage=1, ascii_only=ascii_only), "one", ("number", "usage"), _string)
    assert alike is not None
    frames = [_frame(text, number=number, usage=usage, ascii_only=ascii_only) for text, number, usage in rows]
    written = "before" + "".join(frames)
    assert _frames_of(alike, frames, alike.read_run(written + behind, len("before")), len("before")) <= len(frames)


def _frames_of(alike: Alike, frames: Sequence[str], run: tuple[Found, int] | None, at: int = 0) -> int:
    """Of how many of the frames a run is, once it was seen to say what they say one by one."""
    if run is None:
        return 0
    (text, noise), end = run
    ends = list(accumulate(map(len, frames), initial=at))
    count = ends.index(end)
    told = [alike.read(frame) for frame in frames[:count]]
    assert text == "".join(found[0] for found in told if found)
    assert told[-1] is not None
    assert noise == told[-1][1]
    return count


@pytest.mark.parametrize("texts", [["a", "b"], ["", "", "é\n"], ["\U0001f600"] * 3])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_plain_frames_are_read_as_a_run(texts: list[str], ascii_only: bool) -> None:
    alike = like_frame(_frame("one", ascii_only=ascii_only), "one", ("number",), _string)
    assert alike is not None
    written = "".join(_frame(text, number=n, ascii_only=ascii_only) for n, text in enumerate(texts))
    assert alike.read_run(written, 0) == (("".join(texts), {"number": len(texts) - 1}), len(written))


HALVES = _frame("x").replace("x", "\\ud83d"), _frame("x").replace("x", "\\ude00")
NULLS = _frame("x", usage={"a": 1}), _frame("y", usage={"a": None})
NUMBERS = _frame("x", usage={"a": 1, "b": 2}), _frame("y", usage={"a": 3})
GLUED = _frame("x").replace('"number": 0', '"number": {"a":"}'), _frame("x").replace('"number": 0', '"number": {":1}')


@pytest.mark.parametrize(
    "frames",
    [
        pytest.param(HALVES, id="halves of one character"),
        pytest.param(NUMBERS, id="the last leaves open what another says"),
        pytest.param(NULLS, id="the last has nothing where another says something"),
        pytest.param(GLUED, id="values that are one only together"),
        pytest.param((_frame("a"), _frame("b", finish="stop"), _frame("c"), _frame("d")), id="another frame among them"),
        pytest.param((_frame("a"), _frame("b").replace("b", "b\\x"), _frame("c")), id="no JSON"),
        pytest.param((_frame("a"), _frame("b").replace("b", "b\\"), _frame("c")), id="an escape that two make"),
        pytest.param((_frame("a"),), id="a single one"),
        pytest.param((_frame(None), _frame("a"), _frame("b")), id="another one first"),
    ],
)
def test_any_other_run_is_read_frame_by_frame_from_there_on(frames: tuple[str, ...]) -> None:
    cases: list[tuple[tuple[str, ...], dict[str, Any]]] = [(("number", "usage"), {"usage": {"a": 0}}), (("number",), {})]
    for noise, usage in cases:
        alike = like_frame(_frame("one", **usage), "one", noise, _string)
        assert alike is not None
        assert _frames_of(alike, frames, alike.read_run("".join(frames), 0)) < 2


def test_a_run_ends_before_the_first_frame_that_is_no_more_of_it() -> None:
    alike = like_frame(_frame("one"), "one", (), _string)
    assert alike is not None
    run = _frame("a") + _frame("b")
    assert alike.read_run(run + _frame("c", finish="stop"), 0) == (("ab", {}), len(run))
