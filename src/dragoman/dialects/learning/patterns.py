"""One text that a regular expression matches, for expressions that are markup with a few gaps in it.

The anchors of a `response_template` are such expressions: `<tool_call>\\s*<function=(?P<name>[^\\n>]+)>`.  Filled with
a name they show what a model writes there.  Knows nothing of templates or calls.
Contract: the text given matches the expression, or `NotUnderstood` says why there is none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from .voice import NotUnderstood

CLASSES = {"s": "\n", "S": "x", "w": "x", "W": " ", "d": "0", "D": "x", "b": "", "B": "", "A": "", "Z": ""}
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
CANDIDATES = "x0_ \n-.:/,'\"<>[]{}()=|"


class Filler:
    """Fills an expression: `captures` say what its named groups hold.

    first, last  where in a row of calls this is: an expression may spell the first opener and those after it as
                 alternatives, and what only the last call ends with as an option; None: every place is alike
    """

    captures: Mapping[str, str]
    first: bool | None
    last: bool | None

    def __init__(self, captures: Mapping[str, str], *, first: bool | None = None, last: bool | None = None) -> None:
        self.captures, self.first, self.last = captures, first, last

    def fill(self, pattern: str) -> str:
        """A text that `pattern` matches."""
        self._pattern, self._at = pattern, 0
        text = self._alternatives()
        if self._at < len(pattern) or not self._matches(pattern, text):
            raise NotUnderstood(f"no text was found for the expression {pattern!r} (tried {text!r})")
        return text

    def _matches(self, pattern: str, text: str) -> bool:
        try:
            return re.fullmatch(pattern, text, re.DOTALL) is not None or self._looks_ahead(pattern)
        except re.error as why:
            raise NotUnderstood(f"{pattern!r} is no regular expression ({why})") from None

    @staticmethod
    def _looks_ahead(pattern: str) -> bool:
        return pattern.startswith("(?=") and pattern.endswith(")")

    def _alternatives(self) -> str:
        found = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            found.append(self._sequence())
        return found[0] if self.first is not False else found[-1]

    def _sequence(self) -> str:
        parts: list[str] = []
        while (sign := self._peek()) and sign not in "|)":
            parts.append(self._repeated(beside_value=self._beside_value()))
        return "".join(parts)

    def _repeated(self, *, beside_value: bool) -> str:
        start = self._at
        text = self._atom()
        atom = self._pattern[start : self._at]
        count = re.compile(r"[*+?]|\{(\d+),?\d*\}").match(self._pattern, self._at)
        if count is None:
            return text
        self._at = count.end()
        self._at += self._peek() in ("?", "+")
        if count.group() == "+":
            return " " if atom == r"\s" else text
        if count.group() == "*":
            return text if atom == r"\s" and beside_value else ""
        if count.group() == "?":
            return text if atom[0] != "(" or self.last is not False else ""
        return text * int(count[1])

    def _beside_value(self) -> bool:
        """Does white space here frame a value (and is it then one line end, as models write it)?"""
        before, after = self._pattern[: self._at], self._pattern[self._at :]
        behind = before.endswith(")") and "(?P<value>" in before and after.startswith(r"\s*")
        return behind or after.startswith(r"\s*(?P<value>")

    def _atom(self) -> str:
        sign = self._peek()
        self._at += 1
        if sign == "(":
            return self._group()
        if sign == "[":
            return self._class()
        if sign == "\\":
            return self._escape()
        return {".": "x", "^": "", "$": ""}.get(sign, sign)

    def _escape(self) -> str:
        sign = self._peek()
        self._at += 1
        return CLASSES.get(sign, ESCAPES.get(sign, sign))

    def _group(self) -> str:
        head = re.compile(r"\?(?:P<(?P<name>\w+)>|(?P<look><?[=!])|:|#)?").match(self._pattern, self._at)
        self._at = head.end() if head else self._at
        text = self._alternatives()
        if self._peek() != ")":
            raise NotUnderstood(f"{self._pattern!r} is no regular expression: a group is not closed")
        self._at += 1
        if head is None:
            return text
        return "" if head["look"] else self.captures.get(head["name"] or "", text)

    def _class(self) -> str:
        start = self._at
        end = re.compile(r"\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL).match(self._pattern, start)
        if end is None:
            raise NotUnderstood(f"{self._pattern!r} is no regular expression: a class is not closed")
        self._at = end.end()
        known = re.compile("[" + end.group(), re.DOTALL)
        return next((c for c in CANDIDATES if known.fullmatch(c)), "")

    def _peek(self) -> str:
        return self._pattern[self._at : self._at + 1]
