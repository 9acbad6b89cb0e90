"""Calls inside a JSON value that ends the message: in the envelope of a wire or an agent, among keys of its own.

A model that was taught one agent's protocol, or copies what goes over a wire, puts its call into an object with more
in it: `{"plan": …, "command": {"name": …, "args": …}}`, JSON-RPC's `params`, a list of content blocks. No marker
leads there, and an answer may hold anything; so only keys that say so are followed, and nothing found here runs by
itself (`overlooked.py`). Knows texts and declared names; nothing of dialects, schemas or events.

Contract: pure; each character is looked at a few times, and no value past `LONGEST`.
Source: the protocols of agents; JSON-RPC as MCP has it; content blocks of Anthropic, Gemini, Responses.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeAlias

from ...late import late
from ...records import NamedTuple

LONGEST = 64 * 1024
"""Characters of the value."""
DEEPEST = 8
"""Objects and lists around a call."""
NAME_KEYS = (
    "name", "tool_name", "tool", "function", "function_name", "action", "toolName", "functionName", "recipient_name",
    "command",
)
ARGUMENT_KEYS = (
    "arguments", "args", "parameters", "params", "input", "tool_args", "tool_arguments", "tool_input", "action_input",
)
AROUND = frozenset((
    "command", "commands", "ability", "next_action", "params", "actions", "request",  # agents, JSON-RPC
    "tool", "tools_call", "tool_call", "tool_calls", "tool_use", "tool_uses", "calls", "function", "function_call",
    "function_calls", "functionCall", "toolCall", "toolCalls", "toolUse", "invoke",
    "choices", "message", "content", "output", "candidates", "parts",  # answers of wires
))  # fmt: skip
"""Keys under which a call may stand."""
PROTOCOL = frozenset({"thought", "thoughts", "action", "final"})
"""Keys of the JSON protocol (seed document 004): what is written in it is asked for again, in words of its own."""
BEGUN = r"(?=[ \t{\[`~])[ \t]*+(?=[{\[`~])(?P<fence>(?:`{3}|~{3})[\w-]*[ \t]*\n\s*)?(?=[{\[])"
FIRST, LATER = late(BEGUN), late(rf"\n{BEGUN}")
"""A line that a value begins, and one behind another: which begins with one literal and one class, as `re` likes it."""
ENDS = late(r"\s*(?:(?:`{3}|~{3})\s*)?\Z")
SIGNS = late(r'"(?:[^"\\]++|\\.)*+"|[{}\[\]]')
"""Strings, and what nests."""


Placed: TypeAlias = tuple[int, int, str, Mapping[str, Any]]
"""Where an object stands, the tool's name and the arguments."""


class Enveloped(NamedTuple):
    """One of them: where its object stands, its tool's name, and its arguments; `fenced` if a fence holds it all."""

    fenced: bool
    start: int
    end: int
    name: str
    arguments: Mapping[str, Any]


def enveloped(text: str, names: Collection[str]) -> Iterator[Enveloped]:
    """The calls of tools with these `names` in the JSON value with which `text` ends, in order."""
    begun = FIRST.match(text) or LATER.search(text)
    if begun is None or len(text) - begun.end() > LONGEST:
        return
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text, begun.end())
    except (ValueError, RecursionError):
        return
    if ENDS.match(text, end) is None:
        return
    fenced = begun["fence"] is not None
    for start, behind, name, given in _placed(text, begun.end(), end, list(_calls(value, names, 0))):
        yield Enveloped(fenced, start, behind, name, given)


def _calls(value: Any, names: Collection[str], depth: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """The calls in a value, with the objects that are they."""
    if depth > DEEPEST:
        return
    if isinstance(value, list):
        for item in value:
            yield from _calls(item, names, depth + 1)
    elif isinstance(value, dict):
        if not PROTOCOL.isdisjoint(value):
            return
        name = next((name for key in NAME_KEYS if isinstance(name := value.get(key), str) and name in names), None)
        if name is not None and arguments(value) is not None:
            yield name, value
            return
        for key, item in value.items():
            if key in AROUND:
                yield from _calls(item, names, depth + 1)


def arguments(call: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The arguments that a call's object gives, in one key, as an object or as one in a string; else None."""
    given = [call[key] for key in ARGUMENT_KEYS if key in call]
    if len(given) != 1:
        return None
    value = given[0]
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


def _placed(text: str, start: int, end: int, found: list[tuple[str, dict[str, Any]]]) -> Iterator[Placed]:
    """The same with their places: what nests is gone through once, and what stands there compared."""
    if not found:
        return
    opened: list[int] = []
    places: list[tuple[int, int]] = []
    for sign in SIGNS.finditer(text, start, end):
        if sign.group() in ("{", "["):
            opened.append(sign.start())
        elif sign.group() in ("}", "]"):
            begin = opened.pop()
            if sign.group() == "}" and len(opened) <= DEEPEST:
                places.append((begin, sign.end()))
    places.sort()
    at = 0
    for name, call in found:
        while at < len(places) and json.loads(text[slice(*places[at])], strict=False) != call:
            at += 1
        if at == len(places):
            return
        given = arguments(call)
        assert given is not None
        yield (*places[at], name, given)
        at += 1
