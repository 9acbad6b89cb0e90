"""How alike two short texts are, and where a name stands in one that was damaged with the marks around it.

Knows characters; nothing of marks, rows or tools.
"""

from __future__ import annotations

from ...late import late

QUOTE = late(r"[\"']")
NO_WORD, BEFORE = late(r"\W+|_"), late(r"\W*+")
ENDS = late(r"[\"':=：>]"), late(r"[:=：>]"), late("="), late(r"\"?:")
"""Signs behind a key: with the quotes it may have lost or not, and one alone, where another has come into it."""
MOST_QUOTES = 256
"""Behind no more quotes of a text it is looked."""
ROOM, SHORT = 8, 3
"""So much more than a name may hold it with what damage has put in; of shorter names every sign counts."""


def differ(one: str, other: str) -> int:
    """How many signs must be put in, taken out or changed to make one of the other."""
    return _differences(one, other)[-1]


def differ_at_end(text: str, mark: str) -> int:
    """The same, of the mark and whatever end of the text is most alike."""
    return min(_differences(mark[::-1], text[::-1]))


def _differences(one: str, other: str) -> list[int]:
    """How much `one` differs from every beginning of the other."""
    row = list(range(len(other) + 1))
    for at, sign in enumerate(one, 1):
        before, row[0] = row[0], at
        for n, wanted in enumerate(other, 1):
            changed = before if sign == wanted else before + 1
            before = row[n]
            shorter = before + 1 if before < row[n - 1] else row[n - 1] + 1
            row[n] = changed if changed < shorter else shorter
    return row


def stands_behind_quote(name: str, text: str) -> bool:
    """Does a name stand behind a quote in the text as a key does, or what one wrong sign would make of it?"""
    bare = NO_WORD.sub("", name)
    for number, quote in enumerate(QUOTE.finditer(text)):
        if number == MOST_QUOTES or not bare:
            break
        begin = BEFORE.match(text, quote.end(), quote.end() + ROOM).end()  # type: ignore[union-attr]
        window = text[begin : begin + len(name) + ROOM]
        parted = [ends.split(window, 1) for ends in ENDS]
        if len(parted[0]) > 1 and NO_WORD.sub("", window).startswith(bare):
            return True
        heads = {NO_WORD.sub("", parts[0]) for parts in parted if len(parts) > 1} if len(bare) >= SHORT else ()
        if any(abs(len(head) - len(bare)) <= 1 and differ(head, bare) <= 1 for head in heads):
            return True
    return False
