"""Is a call one of the possible answers?  The rules of the Berkeley Function Calling Leaderboard, of our own writing.

A value fits when it equals one of the possible values; strings are compared without case, blanks and the signs
`,./-_*^`; an empty string among the possible values says that the argument may be left out.  In Java and JavaScript
rows a value is source text and is tried as the literal it denotes.  Several calls may come in any order.
Knows rows of the corpus and plain calls; nothing of how they were read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Call = tuple[str, Mapping[str, Any]]
IGNORED = re.compile(r"[ ,./\-_*^]")
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


def fits_row(calls: Sequence[Call], row: Mapping[str, Any]) -> bool:
    """Are these calls, in any order, what the row expects?"""
    expected = row["expected_possible"]
    tools = {tool["name"]: tool for tool in row["tools"]}
    if row["expect"] == "name_only":
        return len(calls) == 1 and _names_url(calls[0], expected[0])
    if len(calls) != len(expected):
        return False
    fitting = [[n for n, one in enumerate(expected) if _fits_call(call, one, row, tools)] for call in calls]
    return _all_placed(fitting)


def _all_placed(fitting: Sequence[Sequence[int]]) -> bool:
    """Can each call have an expectation of its own?"""
    taken: dict[int, int] = {}

    def place(call: int, seen: set[int]) -> bool:
        for one in fitting[call]:
            if one not in seen:
                seen.add(one)
                if one not in taken or place(taken[one], seen):
                    taken[one] = call
                    return True
        return False

    return all(place(call, set()) for call in range(len(fitting)))


def _names_url(call: Call, expected: Mapping[str, Any]) -> bool:
    return call[0] in expected and any("url" in str(key).lower() for key in call[1])


def _fits_call(call: Call, expected: Mapping[str, Any], row: Mapping[str, Any], tools: Mapping[str, Any]) -> bool:
    [(name, possible)] = expected.items()
    if call[0] != name:
        return False
    schema = tools.get(name, {}).get("parameters", {})
    properties, required = schema.get("properties", {}), set(schema.get("required") or ())
    for key, value in call[1].items():
        choices = possible.get(key)
        optional = value is None and key in properties and key not in required
        if choices is None:
            if not (optional or _is_default(value, properties.get(key, {}), row)):
                return False
        elif not (value is None and key not in required and "" in choices) and not _fits(value, choices, row):
            return False
    missing = possible.keys() - call[1].keys()
    return not any(key in required or "" not in possible[key] for key in missing)


def _executable(row: Mapping[str, Any]) -> bool:
    return str(row["category"]).startswith("executable")


def _is_default(value: Any, schema: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    return _executable(row) and "default" in schema and same(value, schema["default"])


def _fits(value: Any, choices: Sequence[Any], row: Mapping[str, Any]) -> bool:
    if _executable(row):
        return any(same(value, choice) for choice in choices)
    if row["category"] not in {"java", "javascript"}:
        return among(value, choices)
    if any(among(reading, choices) for reading in _readings(value)):
        return True
    texts = [plain(choice) for choice in choices if isinstance(choice, str)]
    return isinstance(value, str) and (plain(value) in texts or plain(value.strip("\"'")) in texts)


# ── values ───────────────────────────────────────────────────────────────────


def plain(text: str) -> str:
    """A text as texts are compared."""
    return IGNORED.sub("", text).lower().replace("'", '"')


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def same(value: Any, literal: Any) -> bool:
    """Is a value this literal?"""
    if isinstance(value, bool) or isinstance(literal, bool):
        return value is literal
    if _is_number(value) and _is_number(literal):
        return value == literal or math.isclose(value, literal, rel_tol=1e-9)
    if isinstance(value, str) and isinstance(literal, str):
        return plain(value) == plain(literal)
    if isinstance(value, list | tuple) and isinstance(literal, list | tuple):
        return len(value) == len(literal) and all(map(same, value, literal))
    if isinstance(value, Mapping) and isinstance(literal, Mapping):
        return value.keys() == literal.keys() and all(same(value[key], literal[key]) for key in value)
    return value is None and literal is None


def _is_one(value: Any, choice: Any) -> bool:
    """Is a value this choice?  An object among the choices holds lists of choices."""
    if isinstance(value, Mapping) and isinstance(choice, Mapping):
        lists = {key: held if isinstance(held, list) else [held] for key, held in choice.items()}
        return value.keys() <= lists.keys() and all(
            among(value[key], held) if key in value else "" in held for key, held in lists.items()
        )
    if isinstance(value, list | tuple) and isinstance(choice, list):
        return len(value) == len(choice) and all(map(_is_one, value, choice))
    return same(value, choice)


def among(value: Any, choices: Sequence[Any]) -> bool:
    """Is a value one of these?"""
    if any(_is_one(value, choice) for choice in choices if choice != ""):
        return True
    return (value == "" and "" in choices) or (isinstance(value, list | tuple) and same(value, choices))


# ── literals of Java and JavaScript ──────────────────────────────────────────


def _readings(value: Any) -> Iterator[Any]:
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
