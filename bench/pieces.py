"""What models write, and the pieces in which it comes."""

from __future__ import annotations

import re

TOKEN = 4
PIECE = re.compile(r" ?[^\W\d_]{1,9}|\d{1,3}| ?[^\s\w]{1,4}\n*|_|\n+|[ \t]+(?=[ \t]\S)|\s+")
"""Pieces as tokenizers split text before they count: a word with the space before it, signs, runs of white space."""

LINE = 'def area(width, height):\n    """The area, in square metres."""\n    return width * height  # no rounding\n\n'
PLAIN = "The quick brown fox jumps over the lazy dog, and nobody calls a tool about it.\n"
PROSE = (
    "If a < b (and b <= 9), take the smaller one; \"smaller\" is meant as in [1], not as in C's `min`. It's fine for "
    "x[i] & y, costs $5 and is here for half the users: see https://example.org/a_b?c=d#e.\n"
    "Most of it can stay as it is, as he said, \"for now\"; what we'd change is one line.\n\n"
)
MARKDOWN = (
    "## How it works\n\n- **item**: words, `foo()` and `bar[0]`\n- *another* one, with [a link](https://example.org)\n"
    '  1. nested, with "quotes" and a < b\n\n| name | type |\n| --- | --- |\n| `path` | string |\n| `size` | int |\n\n'
    '```python\nx = [1, 2]\nif a < b:\n    print(f"{x}")\n```\n\n'
    "> Note: it is *quoted*.\n\nMore words, and more of them here.\n\n"
)
THOUGHT = (
    "Okay, the user wants a file. Let me think: I should call write_file with `path` and the content.\n"
    "Wait, is width < 0 possible? Hmm... if [a] then \"b\". So I'd check it first.\n\n"
)


def repeated(text: str, size: int) -> str:
    """So many characters of it."""
    return (text * (size // len(text) + 1))[:size]


def fours(text: str) -> list[str]:
    """Pieces of four characters."""
    return [text[i : i + TOKEN] for i in range(0, len(text), TOKEN)]


def tokens(text: str) -> list[str]:
    """Pieces like a tokenizer's."""
    return PIECE.findall(text)
