"""A reader of GBNF for tests: does a grammar allow a text, and what does it allow?

Small and slow: it follows every reading of the text.  Source of the notation: llama.cpp, grammars/README.md.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

sys.setrecursionlimit(20_000)
TOKEN = re.compile(
    r'\s+|(?P<text>"(?:[^"\\]|\\.)*")|(?P<set>\[(?:[^\]\\]|\\.)*\])|(?P<count>\{\d*,?\d*\})|(?P<sign>[|()*+?])|(?P<name>[\w-]+)'
)
ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|.)", re.DOTALL)


@dataclass(frozen=True)
class Chars:
    """One character, in (or not in) some ranges."""

    ranges: tuple[tuple[str, str], ...]
    inverted: bool

    def has(self, char: str) -> bool:
        return any(a <= char <= b for a, b in self.ranges) is not self.inverted


@dataclass(frozen=True)
class Repeat:
    what: Node
    least: int
    most: int | None


@dataclass(frozen=True)
class Row:
    items: tuple[Node, ...]


@dataclass(frozen=True)
class Either:
    options: tuple[Node, ...]


@dataclass(frozen=True)
class Rule:
    name: str


Node: TypeAlias = "str | Chars | Repeat | Row | Either | Rule"
COUNTS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def _plain(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        word = found.group(1)
        return chr(int(word[1:], 16)) if len(word) == 3 else {"n": "\n", "t": "\t", "r": "\r"}.get(word, word)

    return ESCAPE.sub(one, text)


def _set(text: str) -> Chars:
    inner = text[1:-1]
    inverted = inner.startswith("^")
    parts = re.findall(r"(\\x..|\\.|.)(?:-(\\x..|\\.|.))?", inner[inverted:], re.DOTALL)
    return Chars(tuple((_plain(a), _plain(b or a)) for a, b in parts), inverted)


class Gbnf:
    """A grammar, read."""

    def __init__(self, text: str) -> None:
        self.rules: dict[str, Node] = {}
        for line in text.strip().splitlines():
            name, _, body = line.partition(" ::= ")
            tokens = [m for m in TOKEN.finditer(body) if m.lastgroup]
            assert "".join(m.group() for m in TOKEN.finditer(body)) == body, f"not GBNF: {line}"
            node, rest = self._either(tokens)
            assert not rest, line
            self.rules[name] = node

    def _either(self, tokens: list[re.Match[str]]) -> tuple[Node, list[re.Match[str]]]:
        options, row = [], list[Node]()
        while tokens and tokens[0].group() != ")":
            token, tokens = tokens[0], tokens[1:]
            if token.group() == "|":
                options.append(Row(tuple(row)))
                row = []
                continue
            node, tokens = self._one(token, tokens)
            row.append(node)
        options.append(Row(tuple(row)))
        return (options[0] if len(options) == 1 else Either(tuple(options))), tokens

    def _one(self, token: re.Match[str], rest: list[re.Match[str]]) -> tuple[Node, list[re.Match[str]]]:
        node: Node
        match token.lastgroup:
            case "text":
                node = _plain(token.group()[1:-1])
            case "set":
                node = _set(token.group())
            case "name":
                node = Rule(token.group())
            case _:
                assert token.group() == "(", token
                node, rest = self._either(rest)
                rest = rest[1:]
        if rest and (rest[0].group() in COUNTS or rest[0].lastgroup == "count"):
            node, rest = self._counted(node, rest[0].group()), rest[1:]
        return node, rest

    def _counted(self, node: Node, sign: str) -> Repeat:
        if sign in COUNTS:
            return Repeat(node, *COUNTS[sign])
        least, comma, most = sign[1:-1].partition(",")
        return Repeat(node, int(least), (int(most) if most else None) if comma else int(least))

    # ── what it allows ───────────────────────────────────────────────────────

    def allows(self, text: str) -> bool:
        """Is all of `text` in the language?"""
        self._text, self._memo = text, dict[tuple[str, int], frozenset[int]]()
        return len(text) in self._ends(Rule("root"), 0)

    def _ends(self, node: Node, at: int) -> frozenset[int]:
        match node:
            case str():
                return frozenset({at + len(node)}) if self._text.startswith(node, at) else frozenset()
            case Chars():
                return frozenset({at + 1}) if at < len(self._text) and node.has(self._text[at]) else frozenset()
            case Rule(name):
                if (name, at) not in self._memo:
                    self._memo[name, at] = self._ends(self.rules[name], at)
                return self._memo[name, at]
            case Either(options):
                return frozenset().union(*(self._ends(option, at) for option in options))
            case Row(items):
                ends = frozenset({at})
                for item in items:
                    ends = frozenset().union(*(self._ends(item, end) for end in ends))
                return ends
            case Repeat(what, least, most):
                return self._repeated(what, least, most, at)

    def _repeated(self, what: Node, least: int, most: int | None, at: int) -> frozenset[int]:
        reached, now, count = set[int](), {at}, 0
        while now and (most is None or count <= most):
            if count >= least:
                if now <= reached:
                    break
                reached |= now
            now = {end for start in now for end in self._ends(what, start)}
            count += 1
        return frozenset(reached)

    def sample(self, luck: Random, node: Node | None = None, depth: int = 0) -> str:
        """A text it allows; short, deeper down."""
        node = Rule("root") if node is None else node
        match node:
            case str():
                return node
            case Chars(ranges, inverted):
                return luck.choice("aZ 9é") if inverted else luck.choice([chr(luck.randint(ord(a), ord(b))) for a, b in ranges])
            case Rule(name):
                return self.sample(luck, self.rules[name], depth + 1)
            case Either(options):
                return self.sample(luck, options[0] if depth > 30 else luck.choice(options), depth)
            case Row(items):
                return "".join(self.sample(luck, item, depth) for item in items)
            case Repeat(what, least, most):
                top = least if depth > 12 else min(least + 2, most if most is not None else least + 2)
                return "".join(self.sample(luck, what, depth) for _ in range(luck.randint(least, top)))
