"""The literals that source text of Java or JavaScript may denote: values of corpora that are written so.

Knows the notations that occur in such corpora (the Berkeley leaderboard's), nothing of calls or of what is expected.
Contract: never raises on content; the text itself is always among its readings, the likeliest reading is the last.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

NUMBER = re.compile(r"-?\d+[lL]?n?")
FLOAT = re.compile(r"-?\d*\.?\d+(?:[eE][+-]?\d+)?[fFdD]?")
WORDS: Mapping[str, Any] = {
    "true": True, "True": True, "false": False, "False": False, "null": None, "None": None, "undefined": None,
}  # fmt: skip
LISTS = (
    r"new\s+[\w.]+(?:<[^>]*>)?\s*\(\s*(?:java\.util\.)?(?:Arrays\.asList|List\.of)\((.*)\)\s*\)",
    r"(?:Arrays\.asList|List\.of|Set\.of)\((.*)\)",
    r"new\s+[\w.<>]+\s*\[\s*\]\s*\{(.*)\}",
    r"\[(.*)\]",
    r"\{([^:]*)\}",
)
"""How source text writes a list."""
ADDED = re.compile(r"new\s+ArrayList<\w*>\(\)(?:\s*\{\{(.*)\}\})?", re.DOTALL)
PUT = re.compile(r"new\s+(?:Hash|LinkedHash|Tree)?Map(?:<[^>]*>)?\(\)\s*\{\{(.*)\}\}", re.DOTALL)
OPENS, CLOSES = "([{<", ")]}>"


def readings(value: Any) -> Iterator[Any]:
    """All that a value may mean where texts are source text."""
    if isinstance(value, str):
        yield from _denoted(value)
    else:
        yield value
        if isinstance(value, list | tuple | Mapping):
            yield _deep(value)


def _deep(value: Any) -> Any:
    if isinstance(value, str):
        return _last(value)
    if isinstance(value, list | tuple):
        return [_deep(one) for one in value]
    return {key: _deep(one) for key, one in value.items()} if isinstance(value, Mapping) else value


def _last(text: str) -> Any:
    return list(_denoted(text))[-1]


def _denoted(text: str) -> Iterator[Any]:
    """Every literal that a source text may denote, the likeliest last."""
    text = text.strip()
    yield text
    if text in WORDS:
        yield WORDS[text]
    if NUMBER.fullmatch(text):
        yield int(text.rstrip("lLn"))
    if FLOAT.fullmatch(text):
        yield float(text.rstrip("fFdD"))
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'`":
        yield text[1:-1]
    listed = next((m for pattern in LISTS if (m := re.fullmatch(pattern, text, re.DOTALL))), None)
    if listed is not None:
        yield [_last(one) for one in _parts(listed[1])] if listed[1].strip() else []
    added = ADDED.fullmatch(text)
    if added is not None:
        yield [_last(one) for one in re.findall(r"add\((.+?)\)\s*;", added[1] or "")]
    yield from _maps(text)


def _maps(text: str) -> Iterator[Any]:
    put = PUT.fullmatch(text)
    if put is not None:
        pairs = [_parts(inner)[:2] for inner in re.findall(r"put\((.+?)\)\s*;", put[1])]
        yield {_last(pair[0]): _last(pair[1]) for pair in pairs if len(pair) > 1}
    of = re.fullmatch(r"Map\.of\((.*)\)", text, re.DOTALL)
    if of is not None:
        parts = _parts(of[1])
        yield {_last(key): _last(value) for key, value in zip(parts[::2], parts[1::2], strict=False)}
    braced = re.fullmatch(r"\{(.*)\}", text, re.DOTALL)
    if braced is not None:
        yield _object(text, braced[1])


def _object(text: str, inside: str) -> Any:
    """An object: as JSON, else with bare keys; a key alone stands for a variable of its name."""
    try:
        return json.loads(text)
    except ValueError:
        pairs = [_parts(entry, ":") for entry in _parts(inside)]
    named = {_key(pair[0]): _last(pair[1]) for pair in pairs if len(pair) == 2}
    return named | {pair[0]: pair[0] for pair in pairs if len(pair) == 1 and pair[0]}


def _key(text: str) -> Any:
    return _last(text) if text[:1] in "\"'" else text


def _parts(text: str, sign: str = ",") -> list[str]:
    """The parts between signs that stand outside brackets and quotes."""
    parts, current, depth, quote = list[str](), "", 0, ""
    signs = iter(text)
    for c in signs:
        if quote:
            current += c
            if c == "\\":
                current += next(signs, "")
            elif c == quote:
                quote = ""
            continue
        if c == sign and not depth:
            parts.append(current)
            current = ""
            continue
        if c in "\"'`":
            quote = c
        elif c in OPENS and not (c == "<" and sign == "," and not re.search(r"\w$", current)):
            depth += 1
        elif c in CLOSES and depth:
            depth -= 1
        current += c
    return [part.strip() for part in (*parts, current) if part.strip() or part is not current]
