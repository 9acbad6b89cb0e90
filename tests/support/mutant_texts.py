"""Every text that the tests of the parser read, with how they read it: what a mutant of its code is tried on.

The tests are run once, in this process, and what they give to parsers is noted; their big laws are left out.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import Any

import pytest

from dragoman import Parser
from dragoman.dialects.spec import Strength
from tests.dialects import test_values
from tests.support import places

TESTS = ("dialects/test_vectors.py", "dialects/test_judge.py", "dialects/test_judge_vectors.py", "dialects/test_boxes.py",
         "dialects/test_context.py", "dialects/test_damage.py", "dialects/test_declared.py", "dialects/test_names.py",
         "dialects/test_provenance.py", "dialects/test_readers.py", "dialects/test_values.py", "lenient/test_reader.py",
         "test_docs_judge.py")  # fmt: skip
LEFT_OUT = "not (prefix or beginning or pieces or without_tools or order_of_a_profile or letter or of_all_values or any_value or megabyte or no_text or help)"
LONGEST = 20_000
EVERY = 23
"""Of the values that are written in each dialect one in so many is read."""


class Noted:
    """What was given to one parser."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given, self.text, self.finish = given, "", given.get("finish_reason")


@contextlib.contextmanager
def noting() -> Iterator[list[Noted]]:
    """Parsers made in here are noted, with all that they are fed."""
    found: list[Noted] = []
    init, feed, whole, close = Parser.__init__, Parser.feed, Parser.whole, Parser.close
    inside = [0]

    @contextlib.contextmanager
    def within() -> Iterator[bool]:
        """Is this the outermost?  A parser asks others of what it was shown."""
        inside[0] += 1
        try:
            yield inside[0] == 1
        finally:
            inside[0] -= 1

    def begin(self: Parser, **given: Any) -> None:
        self.noted = Noted(given)  # type: ignore[attr-defined]
        init(self, **given)
        if not inside[0]:
            found.append(self.noted)  # type: ignore[attr-defined]

    def take(self: Parser, text: str) -> Any:
        self.noted.text += text  # type: ignore[attr-defined]
        with within():
            return feed(self, text)

    def take_all(self: Parser, text: str, clear: tuple[int, int] = (0, 0)) -> Any:
        self.noted.text = text  # type: ignore[attr-defined]
        with within():
            return whole(self, text, clear)

    def end(self: Parser, finish_reason: str | None = None) -> Any:
        self.noted.finish = finish_reason or self.noted.finish  # type: ignore[attr-defined]
        with within():
            return close(self, finish_reason)

    Parser.__init__, Parser.feed, Parser.whole, Parser.close = begin, take, take_all, end  # type: ignore[method-assign]
    try:
        yield found
    finally:
        Parser.__init__, Parser.feed, Parser.whole, Parser.close = init, feed, whole, close  # type: ignore[method-assign]


def texts() -> list[dict[str, Any]]:
    """Each text once for each way in which it is read."""
    with noting() as found, contextlib.redirect_stdout(io.StringIO()) as told:
        files = [str(places.TESTS / name) for name in TESTS if (places.TESTS / name).exists()]
        code = pytest.main([*files, "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore", "-k", LEFT_OUT])
    if code:
        raise RuntimeError(f"the tests do not pass as it is:\n{told.getvalue()[-2000:]}")
    known, rows = set(), []
    for noted in found:
        row = {**noted.given, "text": noted.text, "finish": noted.finish}
        row.pop("finish_reason", None)
        row.pop("ids", None)
        key = repr(sorted(row.items(), key=lambda item: item[0]))
        if key not in known and noted.text and len(noted.text) < LONGEST:
            known.add(key)
            rows.append(row | {"id": noted.text[:60]})
    return [*rows, *values()]


def values() -> Iterator[dict[str, Any]]:
    """Some of the values made of what ends calls, as each dialect writes them."""
    every = [(d, v, last) for d in test_values.EVERY for v in test_values.VALUES for last in (True, False)]
    for dialect, value, last in every[::EVERY]:
        text, _ = test_values.written(value, dialect, last=last)
        named = dialect.strength in (Strength.OWN, Strength.ASKED)
        tools = [test_values.tool(dialect), test_values.QUOTED]
        yield {"id": text[:60], "text": text, "tools": tools, "dialects": dialect.name if named else "auto"}
