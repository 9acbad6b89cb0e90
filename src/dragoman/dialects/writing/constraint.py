"""What holds a model to its dialect while it decodes: a grammar, or tags with schemas, out of a row and the tools.

The call of each tool is what `render.py` writes, cut where its arguments stand; so the constraint, the prompt and the
parser cannot disagree.  Knows rows whose arguments are JSON; for others there is no constraint (None), and the judge
alone decides.  Knows nothing of servers: which of them takes what is a provider's row.
Contract: every text the constraint allows that begins a call is, once complete, one that `parse` accepts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...schema.grammar import Grammar, literal
from ...types import Tool, ToolCall
from ..spec import Dialect, JsonArgs, JsonCall
from .render import Unrenderable, render

HOLE = {"\ue000": 0}
"""Arguments no tool has: where they are rendered, a schema's values go."""
WRITTEN = '{"\ue000": 0}'
"""The hole, as rows write it."""


@dataclass(frozen=True, slots=True)
class Written:
    """The call of one tool: what stands before its arguments as first call, what as a later one, what after."""

    tool: Tool
    first: str
    later: str
    end: str


def written(dialect: Dialect, tools: Sequence[Tool]) -> list[Written] | None:
    """How each tool's call is written; None for a row whose arguments are not JSON, or that cannot carry a name."""
    if not isinstance(dialect.args, JsonCall | JsonArgs) or not tools:
        return None
    try:
        found = [_written(dialect, tool, tools) for tool in tools]
    except Unrenderable:
        return None
    return [one for one in found if one is not None] if all(found) else None


def _written(dialect: Dialect, tool: Tool, tools: Sequence[Tool]) -> Written | None:
    call = ToolCall(id="", name=tool.name, arguments=HOLE)
    one = render([call], dialect, tools=tools).split(WRITTEN)
    two = render([call, call], dialect, tools=tools).split(WRITTEN)
    if len(one) != 2 or len(two) != 3 or two[0] != one[0]:
        return None
    return Written(tool, one[0], two[1], one[1])


def grammar(dialect: Dialect, tools: Sequence[Tool], *, required: bool = False, parallel: bool = True) -> str | None:
    """GBNF: a call of one of `tools`, or several; without `required`, in any text that holds no other opener."""
    calls = written(dialect, tools)
    if calls is None:
        return None
    made = Grammar()
    args = {one.tool.name: made.schema(one.tool.parameters, one.tool.name) for one in calls}
    again = made.add("again", " | ".join(f"{literal(one.later)} {args[one.tool.name]}" for one in calls))
    several = f" {again}*" if parallel else ""
    firsts = [(one.first, f"{args[one.tool.name]}{several} {literal(one.end)}") for one in calls]
    if required:
        return made.text(" | ".join(f"{literal(first)} {rest}" for first, rest in firsts))
    opener = (dialect.section.open or dialect.call.open or ("",))[0].strip() or _common([first for first, _ in firsts])
    if not opener or any(not first.startswith(opener) for first, _ in firsts):
        return None
    made.add("calls", " | ".join(f"{literal(first[len(opener):])} {rest}" for first, rest in firsts))
    return made.text(_text_until(opener, made))


def _common(texts: Sequence[str]) -> str:
    """What all of them begin with."""
    first, last = min(texts), max(texts)
    same = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:same]


def _text_until(opener: str, made: Grammar) -> str:
    """Any text without `opener`, or up to it and then calls: one rule per character of it already seen."""
    back = _failures(opener)
    for seen in range(len(opener) - 1, -1, -1):
        made.rules[f"seen-{seen}"] = " | ".join(_steps(opener, seen, back))
    return "seen-0"


def _steps(opener: str, seen: int, back: Sequence[int]) -> list[str]:
    known = sorted({opener[0], *(opener[s] for s in _chain(seen, back))})
    steps = ['""', f"[^{''.join(map(_in_class, known))}] seen-0"]
    for char in known:
        reached = next((s + 1 for s in _chain(seen, back) if opener[s] == char), 0)
        steps.append(f"{literal(char)} {'calls seen-0' if reached == len(opener) else f'seen-{reached}'}")
    return steps


def _chain(seen: int, back: Sequence[int]) -> list[int]:
    """How much of the opener may have been seen, longest first."""
    chain = [seen]
    while chain[-1]:
        chain.append(back[chain[-1]])
    return chain


def _failures(opener: str) -> list[int]:
    """For each length, the longest shorter beginning of `opener` that also ends it (Knuth, Morris, Pratt)."""
    back = [0, 0]
    for place in range(1, len(opener)):
        length = back[place]
        while length and opener[length] != opener[place]:
            length = back[length]
        back.append(length + 1 if opener[length] == opener[place] else 0)
    return back


def _in_class(char: str) -> str:
    return f"\\{char}" if char in "\\]^-" else {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(char, char)


def structural_tag(dialect: Dialect, tools: Sequence[Tool]) -> dict[str, Any] | None:
    """The `response_format` by which vLLM and SGLang hold what stands between tags to a schema, text elsewhere free.

    Source: vLLM, "Structured Outputs" (structural tags).  None where a section stands around all calls: then what
    opens the second call is not what opens the first.
    """
    calls = written(dialect, tools)
    opener = (dialect.call.open or ("",))[0].strip()
    if calls is None or not opener or any(not _alike(one, opener) for one in calls):
        return None
    structures = [{"begin": one.first, "schema": dict(one.tool.parameters), "end": one.end} for one in calls]
    return {"type": "structural_tag", "structures": structures, "triggers": [opener]}


def _alike(one: Written, opener: str) -> bool:
    """Is each call written by itself, as the first one is?"""
    return one.first.startswith(opener) and one.later.startswith(one.end) and one.later.endswith(one.first)


def call_schema(tools: Sequence[Tool]) -> dict[str, Any]:
    """A schema of one call as a bare JSON object, for places that constrain by schema."""
    options = [
        {
            "type": "object",
            "properties": {"name": {"const": tool.name}, "arguments": dict(tool.parameters)},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    return options[0] if len(options) == 1 else {"anyOf": options}
