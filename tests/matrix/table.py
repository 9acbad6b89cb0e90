"""The shape of the tables: rows of what an API can say, and wishes about values at paths.

Knows no row and runs nothing.  A row says how each front writes a thing and where it must stand on each backend; what a
backend has no place for must be told, by a name the row lists.  Paths are `a.b[0].c`; `[type=tool]` is the first member
whose `type` begins so, `[-1]` the last, and `a|b` either path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

C, R, A, G, L = "openai_chat", "openai_responses", "anthropic_messages", "gemini", "ollama_chat"
B, H, X = "bedrock_converse", "cohere_chat", "openrouter"
FRONTS = (C, R, A, G, L)
BACKENDS: Mapping[str, str] = {
    C: "openai", R: "openai-responses", A: "anthropic", G: "gemini", L: "ollama", B: "bedrock", H: "cohere", X: "openrouter",
}  # fmt: skip
"""The backends of the matrix → the provider's row that serves it."""
MODELS: Mapping[str, str] = {
    C: "gpt-4.1", R: "gpt-4.1", A: "claude-sonnet-4-5", G: "gemini-2.5-flash", L: "llama3.2",
    B: "anthropic.claude-sonnet-4-5-20250929-v1:0", H: "command-a-03-2025", X: "qwen/qwen3-32b",
}  # fmt: skip

MISSING = object()
Wish = Any
Places = Mapping[str, Wish]


@dataclass(frozen=True)
class Where:
    """A wish in words: what it says, and whether a value (or MISSING) is so."""

    says: str
    holds: Callable[[Any], bool]

    def __repr__(self) -> str:
        return self.says


def _plain(value: Any) -> str:
    """The value as JSON, and every text in it as it is: what is written into a text stands there with quotes escaped."""
    found = [json.dumps(value)]
    waiting = [value]
    while waiting:
        one = waiting.pop()
        found += [one] if isinstance(one, str) else []
        waiting += one.values() if isinstance(one, Mapping) else one if isinstance(one, list) else ()
    return "\n".join(found)


def has(text: str) -> Where:
    """Anywhere in the value as JSON."""
    return Where(f"…{text}…", lambda v: text in v if isinstance(v, str) else v is not MISSING and text in _plain(v))


def either_of(*texts: str) -> Where:
    """One of these, anywhere in the value as JSON."""
    return Where(f"one of …{texts}…", lambda value: any(has(text).holds(value) for text in texts))


def both(*texts: str) -> Where:
    """All of these, anywhere in the value as JSON."""
    return Where(f"…{texts}…", lambda value: all(has(text).holds(value) for text in texts))


def like(pattern: str) -> Where:
    """A text that is wholly of this pattern."""
    return Where(pattern, lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None)


def none_or(*values: Any) -> Where:
    """One of these, or nothing."""
    return Where(f"nothing or one of {values}", lambda value: value is MISSING or value in values)


def says(text: str) -> Where:
    """A text, or parts of text that make it."""
    def joined(value: Any) -> Any:
        if isinstance(value, list):
            return "".join(one.get("text", "") if isinstance(one, Mapping) else str(one) for one in value)
        return value
    return Where(repr(text), lambda value: joined(value) == text)  # fmt: skip


def one_of(*values: Any) -> Where:
    return Where(f"one of {values}", lambda value: value in values)


def within(least: float, most: float) -> Where:
    return Where(f"{least}..{most}", lambda v: isinstance(v, int | float) and not isinstance(v, bool) and least <= v <= most)


def written(value: Any) -> Where:
    """JSON text of the value, or the value."""
    return Where(f"JSON of {value}", lambda v: (json.loads(v) if isinstance(v, str) else v) == value)


def holding(*members: Any) -> Where:
    return Where(f"with {members}", lambda value: isinstance(value, list) and all(one in value for one in members))


GONE = Where("nothing", lambda value: value is MISSING or value is None)
SOME = Where("something", lambda value: value is not MISSING and value not in (None, "", [], False))


@dataclass(frozen=True, kw_only=True)
class Row:
    """One thing that requests ask.

    name, source: what it is, and who says where it stands.
    said: front → what is laid over its plainest request.
    stands: backend → where it must stand, as it was asked; nothing may be told.
    near: said in other words there, no weaker; may be told.  weaker: less than was asked; must be told.
    either: may stand there or be told.  A backend in none of these has no place for it: told.
    words: names of it, one of which the report must hold.
    models: backend → another model.  reply: what the model answers, a `text`, `json` or a `call`.
    """

    name: str
    source: str
    said: Mapping[str, Any]
    stands: Mapping[str, Places] = field(default_factory=dict)
    near: Mapping[str, Places] = field(default_factory=dict)
    weaker: Mapping[str, Places] = field(default_factory=dict)
    either: Mapping[str, Places] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    reply: str = "text"


def at(value: Any, path: str) -> Any:
    """What stands at `path`; MISSING where nothing does."""
    if "|" in path:
        found = (at(value, one) for one in path.split("|"))
        return next((one for one in found if one is not MISSING), MISSING)
    for name, index, key, start in re.findall(r"([^.\[\]]+)|\[(-?\d+)\]|\[([\w.]+)=([^\]]*)\]", path):
        try:
            if key:
                value = next(one for one in value if str(at(one, key)).startswith(start))
            else:
                value = value[int(index)] if index else value[name]
        except (KeyError, IndexError, TypeError, StopIteration):
            return MISSING
    return value


def fits(value: Any, wish: Wish) -> bool:
    if isinstance(wish, Where):
        return wish.holds(value)
    return (type(value) is type(wish) and bool(value == wish)) or (isinstance(wish, int | float) and value == wish and type(value) in (int, float))


def misses(body: Any, places: Places) -> list[str]:
    """What is not where it must stand."""
    return [f"{path}: {_short(at(body, path))}, not {wish!r}" for path, wish in places.items() if not fits(at(body, path), wish)]


def _short(value: Any) -> str:
    return "nothing" if value is MISSING else repr(value)[:120]


def laid_over(base: Any, more: Any) -> Any:
    """`more` over `base`: objects joined, all else replaced."""
    if isinstance(base, Mapping) and isinstance(more, Mapping):
        return {**base, **{key: laid_over(base.get(key), one) for key, one in more.items()}}
    return more
