"""What a turn needs to know of a parser of text.  Knows events only."""

from __future__ import annotations

from typing import Protocol

from ..events import Event


class TextParser(Protocol):
    """A parser of text."""

    def feed(self, text: str) -> list[Event]:
        """The events that `text` completes."""

    def close(self, finish_reason: str | None = None) -> list[Event]:
        """The events that were still open."""


class ReasoningParser(TextParser, Protocol):
    """A parser that says whether reasoning that was open has ended."""

    @property
    def reasoned(self) -> bool:
        """Was a block of reasoning closed?"""
