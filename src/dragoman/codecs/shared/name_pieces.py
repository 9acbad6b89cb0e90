"""Names of tools that come in pieces, or once more with every fragment of a call.

Knows the names that may be called, as the wire spells them; nothing of wires and fragments.
Contract: pieces are joined where that leads to a declared name, and where no other reading of them does; a name that is
said again is never joined to itself; where nothing is declared the first piece is the name.
Sources: continuedev/continue#5849 (Gemini: "edit_ex", "isting_file"; others say the whole name each time);
NousResearch/hermes-agent#11984 (MiniMax at NVIDIA's NIM: the whole name in every chunk).
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from itertools import pairwise

LONGEST = 512
"""Characters of a name that comes in pieces; no API takes so long a one."""


class Names:
    """The names that may be called."""

    __slots__ = ("_declared",)

    def __init__(self, declared: Collection[str] = ()) -> None:
        self._declared = frozenset(declared)

    def has(self, name: str) -> bool:
        """Is it one of them?"""
        return name in self._declared

    def may_grow(self, name: str, *, begun: bool) -> bool:
        """May more of `name` come?  Behind it the arguments have `begun`, or not."""
        if not self._declared or len(name) > LONGEST:
            return False
        if name in self._declared:
            return not begun and name in _growing(self._declared)
        return not begun or self._begins(name)

    def joined(self, known: str, piece: str) -> str:
        """The name that `piece` makes of what is `known` of it."""
        if not self._declared or len(known) > LONGEST or (piece == known and known in self._declared):
            return known
        both = f"{known}{piece}"
        if self._leads(both) or not piece.startswith(known):
            return both
        return piece  # each time all of it that there is

    def goes_on(self, known: str, piece: str) -> bool:
        """Is `piece` more of what is `known` of a name, and not the name of another call?"""
        return piece == known or (bool(self._declared) and self._leads(self.joined(known, piece)))

    def are_two(self, known: str, name: str) -> bool:
        """Are these the names of two tools?"""
        return known != name and known in self._declared and name in self._declared

    def _leads(self, name: str) -> bool:
        """Is it a declared name, or the beginning of one?"""
        return name in self._declared or self._begins(name)

    def _begins(self, name: str) -> bool:
        """Is it the beginning of a longer declared name?"""
        return any(len(one) > len(name) and one.startswith(name) for one in self._declared)


@lru_cache(maxsize=64)
def _growing(names: frozenset[str]) -> frozenset[str]:
    """Those of `names` that others begin with; they stand right before one of these."""
    return frozenset(one for one, following in pairwise(sorted(names)) if following.startswith(one))
