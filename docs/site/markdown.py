"""Markdown from values: tables, code, and docstrings as this project writes them.

A docstring here is plain text; a line `name   what it means`, two spaces or more between them, is a row of a list.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Sequence

ROW = re.compile(r"^(?P<names>[\w*`/.,=\[\] -]*?\w[\w*`\]]*) {2,}(?P<words>\S.*)$")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; a `|` in a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell(each) for each in line) + " |" for line in lines) + "\n"


def cell(text: str) -> str:
    """A text that a table's cell can hold."""
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(str(text).split())) or " "


def code(text: str) -> str:
    """Text as inline code."""
    shown = str(text).replace("\n", "⏎")
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"


def prose(text: str) -> str:
    """A docstring as Markdown."""
    return "\n\n".join(_block(block) for block in _blocks(inspect.cleandoc(text or "")))


def _blocks(text: str) -> Iterator[list[str]]:
    for block in re.split(r"\n\s*\n", text):
        if lines := block.split("\n"):
            yield lines


def _block(lines: list[str]) -> str:
    if lines[0].startswith("    "):
        return _verbatim(lines)
    if not any(ROW.match(line) for line in lines):
        return _inline(" ".join(line.strip() for line in lines))
    made: list[str] = []
    for line in lines:
        row = ROW.match(line)
        if row:
            made.append(f"- **{row['names'].strip().strip('`')}** — {_inline(row['words'])}")
        elif made and line.startswith("  "):
            made[-1] += f" {_inline(line.strip())}"
        elif made and made[-1].startswith("- "):
            made += ["", _inline(line)]
        else:
            made.append(_inline(line))
    return _spaced(made)


def _spaced(lines: Sequence[str]) -> str:
    """A list needs an empty line before it."""
    made: list[str] = []
    for line in lines:
        if line.startswith("- ") and made and made[-1] and not made[-1].startswith("- "):
            made.append("")
        made.append(line)
    return "\n".join(made)


def _verbatim(lines: Sequence[str]) -> str:
    return "\n".join(["```text", *inspect.cleandoc("\n" + "\n".join(lines)).split("\n"), "```"])


INLINE = re.compile(r"(`[^`]*`)")


def _inline(text: str) -> str:
    """Plain words: what HTML or Markdown would take for itself is escaped, outside of code."""
    return "".join(part if part.startswith("`") else _escaped(part) for part in INLINE.split(text))


def _escaped(text: str) -> str:
    return re.sub(r"([<*\[\]|])", r"\\\1", text).replace("\\<", "&lt;")
