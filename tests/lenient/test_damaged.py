"""Texts with a damaged string: what is looked for in them is looked for once."""

from __future__ import annotations

import pytest

from dragoman.lenient.damaged import Damaged


class Searched(str):
    """A text that counts the characters behind the places from which something was looked for."""

    looked: int = 0

    def find(self, sub: str, start: int = 0, end: int | None = None) -> int:  # type: ignore[override]
        found = super().find(sub, start, len(self) if end is None else end)
        self.looked += (len(self) if found < 0 else found) - start
        return found


@pytest.mark.parametrize("comment", ["/* ", "// ", "# "])
@pytest.mark.parametrize("unit", ['", {}"a": 1, "b', '", {}"a": "b'])
def test_the_ends_of_comments_are_looked_for_once(unit: str, comment: str) -> None:
    text = Searched(unit.format(comment) * 2000)
    Damaged(text, lambda _: False, pairs=False, room=10**6).ends(text.index('"'), "}")
    assert text.looked <= 2 * len(text)


@pytest.mark.parametrize(
    ("text", "behind"),
    [("  /* a */ // b\n# c\nx", 19), ("/*/ x", 0), ("/**/x", 4), ("// a", 0), ("#\nx", 2), (" /x", 1), ("/* a */ /* b", 8)],
)
def test_comments_that_end_are_stepped_over(text: str, behind: int) -> None:
    assert Damaged(text, lambda _: False, pairs=False, room=10)._skip(0) == behind
