"""Frames that differ in one string are read without a parser, and say what a parser reads in them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs.shared.alike import like_frame

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
