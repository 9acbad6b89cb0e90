"""Marks of turns in the text: control tokens that leaked, another party's turn, an invented result.

Knows roles, control tokens and the sentences that speak of them; nothing of calls or of reasoning.
Contract: behind another party's turn nothing counts (judge-rules.md 7): the rest of the message goes into one issue; a
token that leaked is dropped into an issue of its own; one that a sentence speaks of is text.
"""

from __future__ import annotations

import re

from ...late import late
from ...lenient.source import Need, Source
from ...types import IssueKind
from .common_marks import NAMED_TURN
from .emitter import Teller
from .markers import Table
from .told_text import APART

ASSISTANT = frozenset({"assistant", "model", "chatbot", "ai"})
"""Roles in a leaked turn header that are the model's own."""
ROLE = late(
    r"\s{0,2}(?:<[|｜])?(?P<role>assistant|model|chatbot|ai|user|human|system|tools?|function|ipython|developer|environment"
    r"|observation)(?![a-z])(?!_(?!token))",
    re.IGNORECASE,
)
"""Whose turn a mark opens."""
TURN_ENDS = late(r"[ \t\r]*(?:\n|\Z|<)")
IN_SENTENCE = late(r"[ \t]+\w|[.,;:!?)\"'`*\]]")
"""What stands behind a role, or a role's own mark, that is spoken of."""
OBJECT = late(r"\s*\{\s*[\"']")
"""What stands behind a mark of turns that names nobody: nobody's turn begins with an object."""


class Turns:
    """Whose turn the text is, in one message."""

    def __init__(self, src: Source, table: Table, teller: Teller) -> None:
        self._src, self._table, self._teller = src, table, teller
        self._dropped_to = -1

    def read(self, folded: str, marker: str) -> Need[bool]:
        """An invented result or a foreign turn: from here on nothing counts (judge-rules.md 7)."""
        teller = self._teller
        called = teller.seen_call or bool(teller.queue)
        if folded in self._table.fabricated:
            if not called:
                teller.results = teller.results or (folded[0] == "<" and teller.line_start(""))
                if folded[1] not in "|｜" or (yield from self.is_spoken_of(marker)):
                    return False
                self.drop(marker)
                return True
            yield from self.swallow(self._src.at)
            return True
        head = yield from self._src.peek(len(marker) + 40)
        after = head[len(marker) :]
        role, start = ROLE.match(after), not called and not teller.context.any
        own = role is not None and role["role"].casefold() in ASSISTANT
        if (start and (own or (role is None and self._opens_message(after)))) or OBJECT.match(after):
            end = head.find("\n") if own else -1
            self.drop(head[: end + 1] if end >= 0 else marker)
            return True
        if self._is_mention(role, after, named=folded in NAMED_TURN):
            return False
        yield from self.swallow(self._src.at)
        return True

    def _opens_message(self, after: str) -> bool:
        """Is a mark at the message's start that names nobody mere framing: does a line's end or a mark follow it?"""
        rest = after.lstrip(" \t\r")
        return not rest.strip() or rest[0] == "\n" or self._table.marker.match(rest) is not None

    def _is_mention(self, role: re.Match[str] | None, after: str, *, named: bool) -> bool:
        """Is a mark that opens turns a word of a sentence: does prose stand behind it, and no turn?"""
        if role is None and not named:
            return not (self._teller.line_start("") and TURN_ENDS.match(after))
        rest = after[role.end() :] if role else after
        return not self._teller.line_start("") and IN_SENTENCE.match(rest) is not None

    def swallow(self, start: int) -> Need[None]:
        """Take the rest of the message: none of it counts."""
        src, teller = self._src, self._teller
        got: list[str] = []
        while True:
            got.append(src.buf[src.pos :])
            src.pos = len(src.buf)
            if src.eof:
                break
            yield
        message = "the model wrote another party's turn; nothing after it counts"
        teller.notice(IssueKind.HALLUCINATED_RESULT, message, "".join(got), start)

    def drop(self, marker: str) -> None:
        start = self._src.at
        self._src.pos += len(marker)
        self._dropped_to = self._src.at
        self._teller.notice(IssueKind.NOISE, "a control token leaked into the text", marker, start)
        if marker.endswith("\n"):
            self._teller.new_line()

    def is_spoken_of(self, marker: str) -> Need[bool]:
        """Is a control token a word of a sentence, with white space or marks on both sides?"""
        if self._src.at == self._dropped_to:
            return False
        if self._teller.context.before[-1:] not in APART or self._teller.line_start(""):
            return False
        ahead = yield from self._src.peek(len(marker) + 3)
        return IN_SENTENCE.match(ahead, len(marker)) is not None
