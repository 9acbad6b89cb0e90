"""A message that is a JSON value: is a string of it open?

What stands in a string of such an answer is quoted.  Knows the text since the last it was given; not where in the
message the value began, nor what else quotes.

Contract: each character is looked at once, in any pieces.
"""

from __future__ import annotations

from ...late import late
from .nested import over_values

BLANK_LINE = late(r"[ \t\r]*+\n")
BARE = late(r"[\s\d,:.+\-eEtrufalsn]*+")
OPENS = late(r"[{\[]*+")
STRING = late(r'(?:[^"\\\n]++|\\[^\n]?|\n(?![ \t\r]*\n))*+')


class JsonAnswer:
    """The open value; `in_string` says whether one of its strings is open."""

    __slots__ = ("_depth", "_escapes", "in_string")

    in_string: bool

    def __init__(self) -> None:
        self.in_string = self._escapes = False  # is the last sign so far a backslash that says something of the next
        self._depth = 0  # brackets open

    def read(self, text: str, *, blank: bool) -> bool:
        """More of it, behind the character before it; is it still open?  `blank`: the line before is, so far."""
        pos = 0 if self._escapes else 1
        goes_on = not (self.in_string and blank and BLANK_LINE.match(text, pos))  # it may have begun before
        while goes_on and pos < len(text):
            pos, goes_on = self._over_string(text, pos) if self.in_string else self._over_value(text, pos)
        return goes_on

    def _over_string(self, text: str, pos: int) -> tuple[int, bool]:
        """Behind what there is of the open string in it, and whether it is still one."""
        end = STRING.match(text, pos).end()  # type: ignore[union-attr]
        self.in_string = end == len(text)
        self._escapes = self.in_string and text[pos:].replace("\\\\", "").endswith("\\")
        return end + 1, self.in_string or text[end] == '"'

    def _over_value(self, text: str, pos: int) -> tuple[int, bool]:
        """Behind more of it up to a string or a bracket, and whether it is still one."""
        if self._depth:
            pos, self._depth = over_values(text, pos, self._depth)
        pos = BARE.match(text, pos).end()  # type: ignore[union-attr]
        sign = text[pos : pos + 1]
        if not sign:
            return pos, True
        run = OPENS.match(text, pos).end() - pos  # type: ignore[union-attr]
        self._depth += run - (sign in "}]")
        self.in_string = sign == '"'
        return pos + (run or 1), self._depth > 0 and sign in '{[]}"'
