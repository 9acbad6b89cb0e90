"""Values that processes share: bounded here, asked for once, and never a reason to fail where they are not vital."""

from __future__ import annotations

import pytest

from dragoman.effects import Effect, Recall, run
from dragoman.errors import ProviderError
from dragoman.gateway.state.keeper import unreachable
from dragoman.turn.shared_cache import Shared, SharedCache
from tests.support.kept import Behind, alone

TEXTS = Shared("text", str, str)


def test_least_recently_used_values_go_first() -> None:
    cache = SharedCache[str](10, len)
    for key in "abc":
        alone(cache.put({key: "xxx"}))
    assert list(alone(cache.get("a"))) == ["a"]
    alone(cache.put({"d": "xxx"}))
    assert list(alone(cache.get("abcd"))) == ["a", "c", "d"]
    alone(cache.put({"a": "xxxx"}))
    assert list(alone(cache.get("acd"))) == ["a", "c", "d"]
    alone(cache.put({"e": "x" * 11}))
    assert list(alone(cache.get("abcde"))) == []
    assert not cache.holds()


def test_others_are_asked_once_for_what_is_missing() -> None:
    behind, cache = Behind({("text", "b"): "2", ("text", "c"): "3"}), SharedCache(100, len, TEXTS)
    behind.told(cache.put({"a": "1"}))
    assert behind.rows["text", "a"] == "1"
    assert behind.told(cache.get(["a"])) == {"a": "1"}
    assert behind.queries == []
    assert behind.told(cache.get(["a", "b", "c", "d", "b"])) == {"a": "1", "b": "2", "c": "3"}
    assert behind.told(cache.get(["a", "b", "c"])) == {"a": "1", "b": "2", "c": "3"}
    assert behind.queries == [["b", "c", "d"]]


def test_nobody_is_asked_for_nothing() -> None:
    behind, cache = Behind(), SharedCache(100, len, TEXTS)
    behind.told(cache.put({}))
    assert (behind.told(cache.get([])), behind.queries, behind.rows) == ({}, [], {})


def test_what_cannot_be_read_or_written_is_left_out() -> None:
    def write(value: int) -> str:
        if value < 0:
            raise TypeError
        return str(value)

    behind, numbers = Behind(), SharedCache(100, lambda _: 1, Shared("number", write, int))
    behind.told(numbers.put({"a": -1, "b": 1}))
    assert behind.rows == {("number", "b"): "1"}
    behind.rows["number", "c"] = "three"
    assert behind.told(numbers.get(["a", "b", "c"])) == {"a": -1, "b": 1}


def _away(effect: Effect) -> None:
    if type(effect) is Recall:
        raise unreachable()


@pytest.mark.parametrize("vital", [True, False])
def test_only_what_is_vital_fails_with_its_store(vital: bool) -> None:
    cache = SharedCache(100, len, Shared("text", str, str, vital=vital))
    cache.keep({"a": "1"})
    if vital:
        with pytest.raises(ProviderError, match="send the request again"):
            run(cache.get(["a", "b"]), _away)
    else:
        assert run(cache.get(["a", "b"]), _away) == {"a": "1"}
