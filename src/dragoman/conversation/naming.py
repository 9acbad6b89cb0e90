"""Names and ids written as a wire allows them, and back.

Knows letters and lengths; nothing of tools, wires or conversations.
Contract of `respell`: what is allowed stays as it is; every other word gets one that is allowed and that no other word
has, so that the way back is certain; the same words give the same spellings, in whatever order they come.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from ..memo import per_object
from ..types import NOTHING

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
DIGEST = 8
"""Letters of a digest at the end of a shortened word: two of a million words meet once in a hundred thousand sets."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """The spelling a wire requires of a word.

    `letters` is the inside of a character class ("" for any letter), `first` the same for the first letter where that
    is narrower; `longest` its length (0 for any), which is also the shortest where it must be `exact`.
    """

    letters: str = ""
    longest: int = 0
    first: str = ""
    exact: bool = False

    def allows(self, word: str) -> bool:
        """May `word` stand as it is?"""
        return _pattern(self).fullmatch(word) is not None

    def plain(self, word: str) -> str:
        """`word` with an underscore for every letter that is not allowed; it may still be too long."""
        plain = re.sub(f"[^{self.letters}]", "_", word) if self.letters else word
        return f"_{plain}" if self.first and not re.match(f"[{self.first}]", plain) else plain


PLAIN_IDS = Spelling("a-zA-Z0-9_-")
"""Ids as every API takes them, as clients write those of another one."""


def fitting(spelling: Spelling, words: Collection[str]) -> bool:
    """May all of `words` stand as they are?"""
    if not (spelling.letters or spelling.first or spelling.exact):
        sizes = {*map(len, words)}
        return 0 not in sizes and (not spelling.longest or max(sizes, default=0) <= spelling.longest)
    if len(words) < FEW or not spelling.letters:
        return None not in map(_pattern(spelling).fullmatch, words)
    listed = "\0".join(words)
    return listed.count("\0") == len(words) - 1 and _patterns(spelling).fullmatch(listed) is not None


FEW = 4
"""Words that are looked at one by one: many are looked at in one look, where letters are named and NUL is none."""


ANY_SPELLING = Spelling()


@per_object
def _pattern(spelling: Spelling) -> re.Pattern[str]:
    letter = f"[{spelling.letters}]" if spelling.letters else r"[\s\S]"
    ahead = f"(?=[{spelling.first}])" if spelling.first else ""
    length = str(spelling.longest) if spelling.exact else f"1,{spelling.longest or ''}"
    return re.compile(f"{ahead}{letter}{{{length}}}")


@per_object
def _patterns(spelling: Spelling) -> re.Pattern[str]:
    """Of several words, NUL between two."""
    one = _pattern(spelling).pattern
    return re.compile(f"{one}(?:\0{one})*+")


@dataclass(frozen=True, slots=True)
class Respelled:
    """Words that were respelled: word → spelling, and back."""

    forth: Mapping[str, str] = NOTHING
    back: Mapping[str, str] = NOTHING

    def spelled(self, word: str) -> str:
        """`word` as the wire has it."""
        return self.forth.get(word, word)

    def original(self, spelling: str) -> str:
        """The word that the wire has as `spelling`."""
        return self.back.get(spelling, spelling)


UNCHANGED = Respelled()


def respell(words: Iterable[str], spelling: Spelling, *, readable: bool = True) -> Respelled:
    """The words that `spelling` does not allow, and their spellings.

    `readable` keeps a word as it reads where no other word reads like that; without it the spelling of a word depends
    on that word alone, so that it stays when other words come.
    """
    distinct = set(words)
    fits = _pattern(spelling).fullmatch
    taken = {word for word in distinct if fits(word)}
    if len(taken) == len(distinct):
        return UNCHANGED
    refused = sorted(distinct - taken)
    forth: dict[str, str] = {}
    if readable:
        alike = [spelling.plain(word) for word in refused]
        forth = {
            word: plain
            for word, plain in zip(refused, alike, strict=True)
            if alike.count(plain) == 1 and plain not in taken and spelling.allows(plain)
        }
        taken |= set(forth.values())
    for word in refused:
        if word not in forth:
            forth[word] = _digested(word, spelling, taken)
            taken.add(forth[word])
    return Respelled(forth, {spelled: word for word, spelled in forth.items()})


def _digested(word: str, spelling: Spelling, taken: set[str]) -> str:
    """A spelling of `word` with a digest of it, which nobody has taken."""
    room = spelling.longest or len(spelling.plain(word)) + 1 + DIGEST
    for turn in range(1000):
        digest = _letters(f"{word}\0{turn}" if turn else word)
        new = digest[:room] if spelling.exact else f"{spelling.plain(word)[: room - 1 - DIGEST]}_{digest[:DIGEST]}"
        if new not in taken and spelling.allows(new):
            return new
    raise AssertionError("a thousand digests were taken; this cannot be")


@lru_cache(maxsize=4096)
def _letters(text: str) -> str:
    """A digest of `text` in letters and digits, 42 of them."""
    number = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), "big")
    letters = []
    for _ in range(42):
        number, at = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[at])
    return "".join(letters)
