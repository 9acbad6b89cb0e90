"""A bounded memory of one process, and what several keep together behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dragoman.cache import BackedCache


class Behind:
    """What processes keep together; remembers what it was asked."""

    def __init__(self, **kept: str) -> None:
        self.kept = kept
        self.asked: list[list[str]] = []

    def holds(self) -> bool:
        return bool(self.kept)

    def get(self, keys: Sequence[str]) -> Mapping[str, str]:
        self.asked.append(list(keys))
        return {key: self.kept[key] for key in keys if key in self.kept}

    def put(self, rows: Mapping[str, str]) -> None:
        self.kept.update(rows)


def test_beyond_the_limit_the_least_recently_used_go_first() -> None:
    cache = BackedCache(10, len)
    for key in "abc":
        cache.put({key: "xxx"})
    assert list(cache.get("a")) == ["a"]
    cache.put({"d": "xxx"})
    assert list(cache.get("abcd")) == ["a", "c", "d"]
    cache.put({"a": "xxxx"})
    assert list(cache.get("acd")) == ["a", "c", "d"]
    cache.put({"e": "x" * 11})
    assert list(cache.get("abcde")) == []
    assert not cache.holds()


def test_behind_is_asked_once_for_all_that_is_missing_and_not_for_what_is_here() -> None:
    behind = Behind(b="2", c="3")
    cache = BackedCache(100, len, behind)
    assert cache.holds()
    cache.put({"a": "1"})
    assert behind.kept["a"] == "1"
    assert cache.get(["a"]) == {"a": "1"}
    assert behind.asked == []
    assert cache.get(["a", "b", "c", "d", "b"]) == {"a": "1", "b": "2", "c": "3"}
    assert cache.get(["a", "b", "c"]) == {"a": "1", "b": "2", "c": "3"}
    assert behind.asked == [["b", "c", "d"]]


def test_nothing_is_put_behind_where_there_is_nothing() -> None:
    behind = Behind()
    cache = BackedCache(100, len, behind)
    cache.put({})
    assert (cache.holds(), cache.get([]), behind.asked) == (False, {}, [])
