"""Tools that a row declares elsewhere than in its column of tools: within other columns, or in what its prompt lists.

Knows where corpora put them; nothing of formats.  Contract: a column of tools is never overruled, and a prompt is asked
only where it says that tools follow.
Sources: nvidia/Nemotron-Post-Training-Dataset-v1 (`metadata`), HuggingFaceTB/smoltalk2 (`chat_template_kwargs`),
PrimeIntellect-ai/verifiers (`info`), Locutusque/function-calling-chatml; the prompts of Hermes, smoltalk, Glaive,
ToolACE and ToolBench.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..row_json import BadRow, loads, text
from .chat import from_text, listed_tools
from .chat_row import Chat

PLACES: Sequence[Sequence[str]] = (
    ("metadata", "tools"), ("info", "oai_tools"), ("info", "tools"), ("chat_template_kwargs", "xml_tools"),
    ("chat_template_kwargs", "tools"), ("oai_tools",), ("function_description",),
)  # fmt: skip
"""Columns in which tools stand, inside others, either perhaps as JSON text."""
TAGGED = re.compile(r"<tools>(.*?)</tools>", re.DOTALL)
ANNOUNCED = re.compile(
    r"access to the following (?:functions|tools)|functions in JSON format that you can invoke|following APIs:"
)
"""Words of a prompt behind which the tools stand."""
BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)


def declared_elsewhere(obj: Mapping[str, Any], messages: Sequence[Chat]) -> list[Any] | None:
    """The tools of a row without a column of them; None where it declares none.  Raises `BadRow`."""
    for place in PLACES:
        if place[0] in obj and (found := _at(obj, place)):
            return found
    first = messages[0] if messages else {}
    prompt = first.get("content")
    return tools_announced(prompt) or None if first.get("role") == "system" and isinstance(prompt, str) else None


def _at(obj: Mapping[str, Any], place: Sequence[str]) -> list[Any] | None:
    value: Any = obj
    for key in place:
        value = _unpacked(value)
        value = value.get(key) if isinstance(value, dict) else None
    if isinstance(value, str) and "{" in value:
        return tools_in_text(value)
    return listed_tools(value, "$." + ".".join(place)) if isinstance(value, list) and value else None


def _unpacked(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        try:
            return from_text(value, "$")
        except BadRow:
            return None
    return value


def tools_announced(prompt: str) -> list[Any]:
    """The tools that a prompt says it lists; none where it says nothing."""
    for block in TAGGED.findall(prompt):
        if "{" in block:
            return tools_in_text(as_json(block))
    found = ANNOUNCED.search(prompt)
    return tools_in_text(as_json(prompt[found.end() :])) if found is not None else []


def tools_in_text(prompt: str) -> list[Any]:
    """The tools that a prompt lists as JSON: the first list of objects with names in it, or such objects in a row."""
    for start in (m.start() for m in re.finditer(r"\[\s*\{", prompt)):
        listed = _value_at(prompt, start)
        if isinstance(listed, list) and listed and all(isinstance(o, dict) and _named(o) for o in listed):
            return listed
    return list(_objects_in(prompt))


def _objects_in(prompt: str) -> Iterator[dict[str, Any]]:
    at = 0
    while (at := prompt.find("{", at)) >= 0:
        value = _value_at(prompt, at)
        if isinstance(value, dict) and _named(value):
            yield value
        at = _end_of(prompt, at) if value is not None else at + 1


def _named(value: Mapping[str, Any]) -> bool:
    inner = value.get("function", value)
    return isinstance(inner, dict) and isinstance(inner.get("name"), str) and bool(inner.keys() - {"name", "arguments"})


def _value_at(prompt: str, start: int) -> Any:
    end = _end_of(prompt, start)
    try:
        return loads(prompt[start:end].encode("utf-8", "surrogatepass"))
    except BadRow:
        return None


def _end_of(prompt: str, start: int) -> int:
    """Where the brackets that open at `start` are closed, strings passed over."""
    depth = 0
    for found in BRACKETS.finditer(prompt, start):
        sign = found.group()
        depth += (sign in "[{") - (sign in "]}")
        if not depth:
            return found.end()
    return len(prompt)


def as_json(prompt: str) -> str:
    """A prompt whose list of tools is as Python prints it, with that list as JSON."""
    start = prompt.find("[{'")
    if start < 0:
        return prompt
    try:
        return prompt[:start] + text(literal_eval(prompt[start : prompt.rindex("]") + 1]))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return prompt
