"""The elements that a value holds, as a tree: markup that nests as it should, and CDATA sections in it.

Knows tags; does not know schemas, calls, or where a value ends.
Contract: what does not nest properly is no tree; no deeper one is made than its readers may recurse.
"""

from __future__ import annotations

import re

from ...late import late
from ...records import dataclass, field

MAX_DEPTH = 128
"""Deeper elements are refused: readers of the value would recurse."""
ATTRIBUTES = r"(?P<attributes>(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'|[^\s\"'<>]+))*)"
OPEN = late(r"\s*(?P<key>[\w][\w:.-]*)" + ATTRIBUTES + r"\s*(?P<end>/?>)")
CLOSE = late(r"/\s*(?P<key>[\w][\w:.-]*)\s*>")
CDATA = late(r"!\[CDATA\[(.*?)\]\]>", re.S)


@dataclass(slots=True)
class Node:
    """One element: its text (with that of its children left out) and its children in order."""

    key: str
    text: list[str] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)

    @property
    def is_mixed(self) -> bool:
        """Has it a text of its own?"""
        return bool("".join(self.text).strip())


def tree(raw: str, prefix: str) -> Node | None:
    """The elements of a value; None when they do not nest properly, so that the value is text."""
    lead = f"{prefix}<"
    root = Node("")
    stack = [root]
    pos = 0
    while True:
        at = raw.find(lead, pos)
        stack[-1].text.append(raw[pos : at if at >= 0 else len(raw)])
        if at < 0:
            return root if len(stack) == 1 else None
        inside = at + len(lead)
        cdata = CDATA.match(raw, inside)
        close = CLOSE.match(raw, inside)
        opened = OPEN.match(raw, inside)
        if cdata is not None:
            stack[-1].text.append(cdata[1])
            pos = cdata.end()
        elif close is not None:
            if stack.pop().key != close["key"] or not stack:
                return None
            pos = close.end()
        elif opened is not None:
            node = Node(opened["key"])
            stack[-1].children.append(node)
            if opened["end"] == ">":
                stack.append(node)
            pos = opened.end()
        else:
            stack[-1].text.append(lead)
            pos = inside
        if len(stack) > MAX_DEPTH:
            return None
