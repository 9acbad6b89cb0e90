"""Patterns for a choice of marks: in any case, each character looked at once, ruled out by the first sign.

Knows spellings; not what they stand for, nor where they are looked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

CLASS = re.compile(r"\[.+\]")
"""A sign's spellings, as `either` tells them apart from a sign."""
CASES = re.compile(r"\[([^\W\d_]+)\]")
"""A letter in any case, as `either` spells it."""


def parted(patterns: Iterable[str], unless: Mapping[str, str] = MappingProxyType({})) -> str:
    """A choice of these patterns, in groups by the kind of sign that each begins with; `unless` that forbids it.

    Most places begin none of them, and the first sign rules out a group at one look, where it is held against fifty
    patterns one by one.
    """
    kinds: dict[str, tuple[set[str], list[str]]] = {}
    for pattern in patterns:
        sign, letters = pattern[pattern[0] == "\\"], CASES.match(pattern)
        if letters is not None:
            kind = "case"
        elif pattern[0] == "[":
            kind = "word"
        else:
            kind = "small" if "a" <= sign <= "z" else "big" if "A" <= sign <= "Z" else "sign"
        signs, choice = kinds.setdefault(kind, (set(), []))
        signs.update(letters[1] if letters is not None else sign)
        choice.append(unless.get(sign, "") + pattern)
    groups = ((f"(?=[{re.escape(''.join(sorted(signs)))}])", choice) for kind, (signs, choice) in kinds.items())
    return "|".join(f"{ahead if len(choice) > 1 else ''}(?:{'|'.join(choice)})" for ahead, choice in groups)


CUT = r"|\Z"
"""A marker may end where the text does."""


def so_far(rests: set[str], cut: str = CUT) -> str:
    """A pattern for one of `rests` in any case, or for as much of it as there is (`cut`); "" for anything."""
    if "" in rests:
        return ""
    tree: dict[str, set[str]] = {}
    for rest in rests:
        tree.setdefault(rest[0].casefold(), set()).add(rest[1:])
    last = [c for c, more in sorted(tree.items()) if "" in more]
    branches = [either(c) + so_far(more, cut) for c, more in sorted(tree.items()) if "" not in more]
    if last:
        branches.append(one_of(last))
    return f"(?:{'|'.join(branches)}{cut})"


def soon(rests: set[str]) -> str:
    """A pattern for one of `rests` in any case, parted by what the first sign is; "" for anything."""
    if "" in rests:
        return ""
    tree: dict[str, set[str]] = {}
    for rest in rests:
        tree.setdefault(rest[0].casefold(), set()).add(rest[1:])
    return f"(?:{parted(either(c) + so_far(more, '') for c, more in sorted(tree.items()))})"


ALIKE = {"i": "\u0130\u0131", "k": "\u212a", "s": "\u017f", "\u00e5": "\u212b"}
"""Signs of other scripts that `re` takes for these letters where case does not count."""


@lru_cache(maxsize=1024)
def either(sign: str) -> str:
    """A pattern for the sign in any case.  A class of characters is ruled out by one look; `(?i:x)` must be tried."""
    alike = sorted({sign, sign.lower(), sign.upper(), *ALIKE.get(sign.lower(), "")})
    if not sign.isascii():  # whose other case may be of two signs, or no case of it for `re`
        alike = [c for c in alike if len(c) == 1 and re.fullmatch(f"(?i:{re.escape(sign)})", c)]
    return re.escape(sign) if len(alike) == 1 else f"[{''.join(map(re.escape, alike))}]"


def one_of(signs: Iterable[str]) -> str:
    """The same for one of these signs: one class, where a choice of them is tried one by one."""
    spelt = sorted({either(sign) for sign in signs})
    return spelt[0] if len(spelt) == 1 else f"[{''.join(c[1:-1] if CLASS.match(c) else c for c in spelt)}]"


DEEPEST = 64
"""Characters of a marker that branch; what is left of a longer one (a tool's name may be any length) is taken whole."""


def trie(markers: Iterable[str]) -> str:
    """A pattern for the longest of `markers` at a place; it looks at each character once, however many there are."""
    tree: dict[str, Any] = {}
    for marker in markers:
        node = tree
        folded = marker.casefold()
        for c in filter(None, (*folded[:DEEPEST], folded[DEEPEST:])):
            node = node.setdefault(c, {})
        node[""] = {}
    return _branches(tree)


def _branches(node: dict[str, Any]) -> str:
    ends = "" in node
    parts = [re.escape(c) + _branches(rest) for c, rest in sorted(node.items(), reverse=True) if c]  # longest first
    if not parts:
        return ""
    joined = parts[0] if len(parts) == 1 and not ends else f"(?:{'|'.join(parts)})"
    return f"{joined}?" if ends else joined
