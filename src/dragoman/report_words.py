"""Reports in words: each piece of evidence and each mend as people read it.

Knows the names and values of `Report.evidence` and `Edit`; nothing of text, rules, colours or pages.
Contract: nothing is left out: what has no words of its own is shown by its name and value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

Words: TypeAlias = tuple[str, str]
"""What a piece of evidence is about, and what was seen."""


def evidence_words(evidence: Mapping[str, Any]) -> list[Words]:
    """The evidence of a report, a line for each piece, in the order in which it was written down."""
    return [line for name, value in evidence.items() for line in _lines(name, value)]


def edit_words(kind: str, path: str = "", before: str = "", after: str = "") -> str:
    """One mend: its kind, where, and what became what; what was or became a string stands in quotes."""
    before = f'"{before}"' if kind.startswith("string_to_") else before
    after = f'"{after}"' if kind.endswith("_to_string") else after
    change = f": {before or '(nothing)'} → {after or '(nothing)'}" if before or after else ""
    return f"{kind.replace('_', ' ')}{f' at {path}' if path else ''}{change}"


def habit_words(habit: str) -> str:
    """A way of writing calls: its notation, what opens it, where it stands."""
    dialect, _, rest = habit.partition(":")
    mark, _, where = rest.partition(":")
    return ", ".join(filter(None, (dialect, MARKS.get(mark, mark), WHERE.get(where, where))))


def _lines(name: str, value: Any) -> Iterator[Words]:
    label, words = SAID.get(name, (name.replace("_", " "), str))
    said = words(value)
    yield from ((label, each) for each in ([said] if isinstance(said, str) else said))


def _flag(words: str, otherwise: str = "no") -> Callable[[Any], str]:
    return lambda value: words if value else otherwise


def _table(words: Mapping[str, str]) -> Callable[[Any], str]:
    return lambda value: words.get(value, str(value))


def _refusal(refusal: Mapping[str, str]) -> str:
    return f"it could not run as it stands: {refusal['message']} ({refusal['kind'].replace('_', ' ')})"


def _copy(copy: Mapping[str, Any]) -> str:
    name = f" ({copy['name']})" if copy.get("name") else ""
    place = f"shown text {copy['source']}{name} at character {copy['start']}"
    written = f", written in {copy['dialect']}" if copy.get("dialect") else ""
    undone = f", behind {copy['encoding']}" if copy.get("encoding") else ""
    return f"{SPEAKERS.get(copy['kind'], copy['kind'])}, {place}{written}{undone}"


def _copied(copy: Mapping[str, Any]) -> list[str]:
    return [_copy(copy), *([f"there stands: {copy['excerpt']}"] if copy.get("excerpt") else [])]


MARKS = {
    "tag": "opened by a mark of its own", "fence": "in a fenced block", "object": "as a bare object",
    "list": "as a bare list", "name": "as a bare call", "command": "as a command line",
    "wire": "in the API's own field",
}  # fmt: skip
WHERE = {
    "ends": "with nothing behind it", "opens": "with nothing before it", "between": "with words on both sides",
}  # fmt: skip
SPEAKERS = {
    "tool": "a tool's result", "system": "the prompt", "user": "the user's words", "assistant": "the model's own words",
}  # fmt: skip
PLACES = {
    "alone": "the message is this call, or these, and nothing else",
    "first": "words follow, none precede",
    "among": "words precede it",
    "inline": "words go on behind it on its line",
}
THOUGHTS = {
    "ended": "in reasoning that was closed, or went on behind it",
    "open": "in reasoning that never closes; the message stops at the call",
    "cut": "in reasoning that never closes; a limit ended the message",
}

SAID: Mapping[str, tuple[str, Callable[[Any], str | list[str]]]] = {
    "mark": ("opened by", str),
    "strong": ("proof", _flag("the mark alone proves a call", "the mark proves little by itself")),
    "place": ("place", _table(PLACES)),
    "asked": ("notation", _flag("it was asked for, by the prompt or by the caller")),
    "confirmed": ("habit", _flag("this model has confirmed before that it means calls that it writes so")),
    "native": ("channel", _flag("the request had native tools; the model was not told to write calls in text")),
    "repeats": ("repeats", _flag("the same call was made before in this message")),
    "word": ("content", _flag("nothing but a name that no tool has, in the middle of a sentence")),
    "habit": ("way of writing", habit_words),
    "tools": ("tools", lambda value: f"{value}: any name may be one"),
    "box": ("quoted by", str),
    "thought": ("reasoning", _table(THOUGHTS)),
    "refusal": ("fit", _refusal),
    "copy": ("copied from", _copied),
    "edits": ("mends", lambda kinds: ", ".join(kind.replace("_", " ") for kind in kinds)),
    "hints": ("words around it", list),
}
"""Label and words of each piece of evidence, by its name in `Report.evidence`."""
