"""Strict JSON, whole and growing."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs.shared.strict import Growing, _surely, continuation, loads, sound
from tests.support.values import arguments


@pytest.mark.parametrize(
    "text", ["NaN", '{"a": Infinity}', '{"a":1,"a":2}', "1e999", "[" * 100_000, "{'a':1}", '"\n"', ""]
)
def test_what_parsers_disagree_on_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        loads(text)


def test_a_key_given_twice_with_one_value_is_harmless() -> None:
    assert loads('{"a":1,"a":1}') == {"a": 1}


VALUES = ('"a"', '"é\u2028"', '""', '"\\u0041"', '"\x7f"', '"\ud800"', '"\x1f"', "1", "-0", "01", "1.0", "1E400", "true", "null",
          "NaN", "[1]", '{"a":2}', "{}", "9223372036854775808", "18446744073709551616", "1" * 40)  # fmt: skip
MEMBERS = st.lists(st.tuples(st.sampled_from(['"a"', '"b"', '"\\u0061"', '""']), st.sampled_from(VALUES)), max_size=4)


@given(MEMBERS, st.sampled_from(["", " ", "\n", "\x0c", "\xa0", "\ufeff", ",", "}", '"', "\\"]), st.integers(0, 60))
def test_the_fast_engine_reads_what_the_slow_one_does(members: list[tuple[str, str]], odd: str, at: int) -> None:
    text = "{" + ",".join(f"{key}: {value}" for key, value in members) + "}"
    text = text[:at] + odd + text[at:]
    try:
        slow = repr(_surely(text))
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            loads(text)
        assert sound(text) is None
    else:
        assert repr(loads(text)) == slow
        assert sound(text) == (_surely(text) or None)


def grown(text: str, sizes: list[int]) -> tuple[Growing, list[str]]:
    growing, emitted, at = Growing(), [], 0
    for size in [*sizes, len(text)]:
        safe, left = growing.feed(text[at : at + size])
        assert not left.strip()
        at += size
        emitted.append(safe)
    return growing, emitted


@given(arguments, st.lists(st.integers(1, 9)), st.booleans(), st.sampled_from([None, 2]))
def test_growing_objects_complete_with_brackets_at_every_moment(
    value: dict[str, Any], sizes: list[int], ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    growing, at, emitted = Growing(), 0, ""
    for size in [*sizes, len(text)]:
        emitted += growing.feed(text[at : at + size])[0]
        at += size
        closers = growing.close_text()
        assert isinstance(json.loads(emitted + closers or "{}"), dict)
        rest = continuation(emitted, closers, value, json.dumps)
        assert rest is not None
        assert json.loads(emitted + rest) == value
    assert growing.done
    assert emitted + growing.rest == text


@given(arguments, st.lists(st.integers(1, 9)))
def test_the_pieces_do_not_matter(value: dict[str, Any], sizes: list[int]) -> None:
    text = json.dumps(value)
    assert "".join(grown(text, sizes)[1]) == "".join(grown(text, [])[1])


@pytest.mark.parametrize(
    ("text", "emitted"),
    [
        ("{'a': 1}", ""),
        ('{"a": 1, b: 2}', '{"a": 1'),
        ('{"a": 01}', ""),
        ('{"a": "x\ny"}', '{"a": "x'),
        ('{"a": "\\q"}', '{"a": "'),
        ('{"a": 1,}', '{"a": 1'),
        ("[1]", ""),
        ('{"a": tru}', ""),
    ],
)
def test_broken_json_is_emitted_up_to_its_break(text: str, emitted: str) -> None:
    for sizes in ([], [1] * len(text)):
        growing, safe = Growing(), ""
        for piece in (text[i : i + s] for i, s in zip(range(len(text)), sizes, strict=False)) if sizes else [text]:
            safe += growing.feed(piece)[0]
        assert growing.broken
        assert safe == emitted


def test_what_follows_an_object_is_given_back() -> None:
    growing = Growing()
    assert growing.feed('{"a":1} {"b"') == ('{"a":1}', ' {"b"')


def test_a_value_that_contradicts_what_was_told_has_no_continuation() -> None:
    assert continuation('{"a": "x', '"}', {"a": "y"}, json.dumps) is None
    assert continuation('{"a": 1', "}", {"b": 1}, json.dumps) is None
    assert continuation('{"a": 1', "}", {"a": 1, "b": 2}, json.dumps) == ', "b": 2}'


def test_cost_is_linear_in_the_text() -> None:
    """Counted in characters looked at: every step sees only what it was not shown before."""

    class Counting(Growing):
        seen = 0

        def feed(self, piece: str) -> tuple[str, str]:
            self.seen += len(self._tail) + len(piece)
            return super().feed(piece)

    for text in ('{"a": "' + "x" * 20_000 + '"}', '{"a": [' + "1, " * 5_000 + "1]}", '{"' + "k" * 9_000 + '": 1}'):
        growing = Counting()
        for c in text:
            growing.feed(c)
        assert growing.done
        assert growing.seen <= 3 * len(text)
