"""Losses of a schema that is cut: keywords and sentences, by path.

Knows paths and words; nothing of schemas.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...types import Issue, IssueKind


class Losses:
    """The losses so far.  `unfit`: the schema asks for something a strict mode cannot ask for."""

    def __init__(self, api: str) -> None:
        self.api = api
        self.unfit = False
        self._keywords: dict[str, dict[str, None]] = {}
        self._notes: dict[tuple[str, str], None] = {}

    def lose(self, path: str, keyword: str) -> None:
        """The API does not take `keyword` here."""
        self._keywords.setdefault(path, {})[keyword] = None

    def note(self, path: str, sentence: str) -> None:
        """Something else was lost here."""
        self._notes[path, sentence] = None

    def keywords(self, path: str) -> Iterable[str]:
        """The keywords lost here, in the order they went."""
        return self._keywords.get(path, ())

    def issues(self, tool: str) -> tuple[Issue, ...]:
        """One issue for each sentence, and one for all the keywords of a path."""
        wordless = f"not taken by {self.api}; told in the description where words can"
        found = [*self._notes, *((path, f"{', '.join(words)}: {wordless}") for path, words in self._keywords.items())]
        return tuple(Issue(kind=IssueKind.UNSUPPORTED, message=why, name=tool, path=path) for path, why in found)
