"""Calls that were damaged in the signs of their marks, and whether what is read of one is what was meant.

Knows tools, values and texts; nothing of dialects.
Contract: `outside` are the places at which no value stands, `alike` is False where a value could be told to be another.
"""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import strategies as st

from dragoman import Tool

STRING = {"type": "string"}


def _tool(name: str, properties: dict[str, Any], *required: str) -> Tool:
    return Tool(name=name, parameters={"type": "object", "properties": properties, "required": list(required)})


EDIT = {"type": "object", "properties": {"old": STRING, "new": STRING}, "required": ["old", "new"]}
TOOLS = [
    _tool(
        "write_file",
        {"path": STRING, "content": STRING, "mode": {"type": "integer"}, "force": {"type": "boolean"}},
        "path",
    ),
    _tool(
        "search", {"query": STRING, "tags": {"type": "array", "items": STRING}, "limit": {"type": "integer"}}, "query"
    ),
    _tool("edit", {"file": STRING, "edits": {"type": "array", "items": EDIT}, "note": STRING}, "file", "edits"),
    _tool("bash", {"command": STRING, "env": {"type": "object", "additionalProperties": STRING}}, "command"),
]
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "write_file",
        {"path": "src/app.py", "content": "def area(a, b):\n    return a * b\n", "mode": 420, "force": True},
    ),
    ("search", {"query": "weather in Oslo, Norway", "tags": ["a b", "c,d"], "limit": 5}),
    ("search", {"query": "x=1; y=2"}),
    ("edit", {"file": "a.py", "edits": [{"old": "x = 1", "new": "x = 2"}, {"old": "y", "new": "z"}], "note": "two"}),
    ("bash", {"command": "for f in *.py; do\n  echo $f\ndone", "env": {"AB": "x y"}}),
)
SIGNS = "\"'<>{}[]:,/=|`“”，： \n"
HOWS = ("left out", "twice", "swapped", "changed", "put in")
TOKEN = re.compile(r"<[^<>\n]*>|\[[A-Z_/]+\]|\"[\w.-]+\":?|\w+=|\w+|\s+|[^\w\s]")
KEY = re.compile(r"[\w./: -]*")


def _leaves(value: Any) -> list[str]:
    """The keys and scalars of a value, as they may be written."""
    if isinstance(value, dict):
        return [*value, *(leaf for inner in value.values() for leaf in _leaves(inner))]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in _leaves(inner)]
    return [value] if isinstance(value, str) else [str(value), json.dumps(value)]


def outside(text: str, arguments: dict[str, Any], keys: set[str]) -> list[int]:
    """The places of a written call at which no value stands."""
    inside: set[int] = set()
    for leaf in _leaves(arguments):
        for spelt in {leaf, json.dumps(leaf)[1:-1], leaf.strip("\n"), leaf.replace("\n", "\n  ")} - keys - {""}:
            for found in re.finditer(re.escape(spelt), text):
                inside.update(range(found.start(), found.end()))
    return [at for at in range(len(text)) if at not in inside]


def damaged(text: str, at: int, how: str, sign: str) -> str:
    """The text with one sign left out, written twice, put behind the next one, changed, or put in."""
    return {
        "left out": text[:at] + text[at + 1 :],
        "twice": text[: at + 1] + text[at:],
        "swapped": text[:at] + text[at + 1 : at + 2] + text[at] + text[at + 2 :],
        "changed": text[:at] + sign + text[at + 1 :],
        "put in": text[:at] + sign + text[at:],
    }[how]


@st.composite
def with_a_sign_wrong(draw: st.DrawFn, text: str, arguments: dict[str, Any]) -> str:
    """The call with one sign of its marks damaged."""
    places = outside(text, arguments, {*arguments} | {"old", "new"})
    at, how = draw(st.sampled_from(places)), draw(st.sampled_from(HOWS))
    if how == "swapped" and at + 1 not in places:
        how = "left out"
    return damaged(text, at, how, draw(st.sampled_from(SIGNS)))


@st.composite
def with_a_token_wrong(draw: st.DrawFn, text: str, arguments: dict[str, Any]) -> str:
    """The call with a tag, a key or a line that holds no value left out, or written twice."""
    places = {*outside(text, arguments, {*arguments} | {"old", "new"})}
    lines = [found.span() for found in re.finditer(r"[^\n]+\n", text)]
    spans = [found.span() for found in TOKEN.finditer(text)] + lines
    begin, end = draw(st.sampled_from([span for span in spans if places.issuperset(range(*span))] or [(0, 0)]))
    return text[:begin] + text[end:] if draw(st.booleans()) else text[:end] + text[begin:]


def nearly(got: Any, meant: Any) -> bool:
    """Is a value the one that was meant, but for white space and a sign at an edge of a text?

    Nothing tells these from the text's own.
    """
    if isinstance(meant, str) and isinstance(got, str):
        core = got.strip()
        return meant.strip() in {core, core[1:].strip(), core[:-1].strip()}
    if isinstance(meant, list) and isinstance(got, list):
        return len(got) == len(meant) and all(map(nearly, got, meant))
    if isinstance(meant, dict) and isinstance(got, dict):
        return alike(got, meant, free=True)
    return type(got) is type(meant) and bool(got == meant)


def alike(got: dict[str, Any], meant: dict[str, Any], *, free: bool) -> bool:
    """Are these the arguments, but for one key that is spelt as another word, whose value then has no type?"""
    other = got.keys() - meant.keys()
    if len(got) != len(meant) or len(other) > 1 or not all(free or KEY.fullmatch(key) for key in other):
        return False
    return all(nearly(got[key], meant[key]) for key in got.keys() & meant.keys())
