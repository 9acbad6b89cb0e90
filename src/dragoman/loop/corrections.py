"""Corrections for the model: made from data, and saying more each time in a row.

Knows errors, tools, schemas and dialects; decides nothing and sends nothing.
The first correction names every fault with its path, the piece of schema that concerns it and the value given; the
second shows the exact form as an example; the third the whole schema, and the way out.  Contract: deterministic; of
bounded length, whatever the model wrote; the example is one the validator accepts.
Sources: malformations.md rule 9 and §11 (name the cause and the error, not the format; list the tools; three tiers).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..dialects.spec import Dialect
from ..dialects.writing.render import Unrenderable, render
from ..errors import mark, nearest
from ..jsontext import dumps
from ..schema.validation import Fault, signature
from ..turn.text_tools import OURS
from ..types import Issue, IssueKind, JsonObject, Message, Part, Text, Tool, ToolCall
from .call_errors import NOTHING_THERE, CallError, break_of, value_at
from .example_arguments import specimen

MOST_FAULTS = 12
MOST_TOOLS = 60
SHOWN = 240
"""Characters of a value, or of a piece of schema, that are shown."""
SHOWN_SCHEMA = 2_000
EXAMPLE_FROM, WHOLE_FROM = 2, 3
"""The corrections in a row from which an example, and the whole schema, are shown."""

NOT_RUN = "; it was not run"
NOTHING_RAN = "Nothing was run."
SEND = {
    1: "Send the corrected call.",
    2: "Send the call again, in exactly this form, with your own values.",
    3: "Send one correct call now, and nothing else. If no tool can do it, say so in plain text instead.",
}
ANNOUNCED_AGAIN = (
    "Again you announced a call and did not make it: nothing happens until the call itself stands in your answer. "
    "Write the call and nothing else."
)
STALE = Message(
    "user",
    "These calls were made before and gave the same results: they bring nothing new. "
    "Do something else, or give your answer with what you know.",
)
BY_TOOL = "Give it by calling the tool {tool!r}."
AS_JSON = "Answer again: one JSON value that fits, and nothing else."


def explained(error: CallError, tools: Sequence[Tool], level: int) -> str:
    """One call's error, without an example.  `level` counts corrections in a row, from 1."""
    lines = [*EXPLANATIONS.get(error.issue.kind, _as_noticed)(error, tools, level)]
    return "\n".join(lines)


def answer(error: CallError, tools: Sequence[Tool], level: int) -> str:
    """All that the result of a wrong call says.

    The example stands only in results of native calls: what a result shows is no call when text repeats it.
    """
    arguments = _arguments(error, tools, level) if error.native else None
    shown = [] if arguments is None else [f"Arguments of the right shape: {dumps(arguments)}"]
    return "\n".join([explained(error, tools, level), *shown, _send(level, shown)])


def _send(level: int, shown: Sequence[object]) -> str:
    return SEND[level if level < WHOLE_FROM and shown else 1 if level < WHOLE_FROM else WHOLE_FROM]


def message(
    errors: Sequence[CallError], tools: Sequence[Tool], level: int, *, ran: int = 0, dialect: Dialect | None = None
) -> Message:
    """The user's message about calls in text that were wrong; `ran` others of the same answer did run."""
    problems = [mark(error.code, explained(error, tools, level)) for error in errors]
    if len(problems) > 1:
        problems = [f"{n}. {problem}" for n, problem in enumerate(problems, 1)]
        problems.insert(0, f"{len(errors)} calls of your last answer were wrong and were not run:")
    rest = [f"Your other {ran} call{'s' * (ran > 1)} ran: do not repeat them."] if ran else []
    shown = _forms(errors, tools, level, dialect)
    if not shown:
        return Message("user", "\n\n".join([*problems, *rest, _send(level, shown)]))
    ours: list[Part] = [Text(f"\n\n{one}", metadata={OURS: True}) for one in shown]
    return Message("user", [Text("\n\n".join([*problems, *rest])), *ours, Text(f"\n\n{_send(level, shown)}")])


def announced(name: str, tools: Sequence[Tool], dialect: Dialect | None) -> Message:
    """The user's message about a call of `name` ("" where it is not clear) that was announced again and not made."""
    error = CallError(issue=Issue(kind=IssueKind.NOT_ALLOWED, message=ANNOUNCED_AGAIN, name=name))
    shown = written(error, tools, EXAMPLE_FROM, dialect) if dialect is not None else ""
    if not shown:
        return Message("user", ANNOUNCED_AGAIN)
    example = f"\n\nA call of {name!r} is written like this:\n\n{shown}"
    return Message("user", [Text(ANNOUNCED_AGAIN), Text(example, metadata={OURS: True})])


def form(found: Sequence[Fault], schema: JsonObject, level: int, *, tool: str = "") -> Message:
    """The user's message about an answer that does not have the form it must have; `tool` is what takes it, if any."""
    lines = ["Your answer does not have the form that was asked for:", *_listed(found, NOTHING_THERE)]
    if level >= EXAMPLE_FROM and (made := specimen(schema)) is not None:
        lines.append(f"It has this form: {_cut(dumps(made), SHOWN_SCHEMA)}")
    if level >= WHOLE_FROM:
        lines.append(f"The whole schema: {_cut(dumps(schema), SHOWN_SCHEMA)}")
    return Message("user", "\n".join([*lines, BY_TOOL.format(tool=tool) if tool else AS_JSON]))


def _forms(errors: Sequence[CallError], tools: Sequence[Tool], level: int, dialect: Dialect | None) -> list[str]:
    """One example of each tool concerned, as it is to be written."""
    shown: dict[str, str] = {}
    for error in errors:
        name = _meant(error, tools)
        if name and name not in shown and (form := written(error, tools, level, dialect)):
            shown[name] = f"A call of {name!r} is written like this:\n\n{form}"
    return list(shown.values())


def written(error: CallError, tools: Sequence[Tool], level: int, dialect: Dialect | None) -> str:
    """The example of a call as it is written in `dialect`; its arguments alone where there is none."""
    name = _meant(error, tools)
    arguments = _arguments(error, tools, level)
    if arguments is None or not name:
        return ""
    if dialect is not None:
        try:
            return render([ToolCall(id="", name=name, arguments=arguments)], dialect, tools=tools)
        except Unrenderable:
            pass
    return dumps(arguments)


def _arguments(error: CallError, tools: Sequence[Tool], level: int) -> Mapping[str, object] | None:
    tool = _tool(_meant(error, tools), tools)
    if level < EXAMPLE_FROM or tool is None:
        return None
    made = specimen(tool.parameters, error.arguments)
    return made if made is not None and len(dumps(made)) <= SHOWN_SCHEMA else None


def _meant(error: CallError, tools: Sequence[Tool]) -> str:
    """The tool that was meant: the one named, else the only one whose name is near."""
    if _tool(error.issue.name, tools) is not None:
        return error.issue.name
    near = nearest(error.issue.name, [tool.name for tool in tools])
    return near[0] if len(near) == 1 else ""


def _tool(name: str, tools: Sequence[Tool]) -> Tool | None:
    return next((tool for tool in tools if tool.name == name), None)


# ── by kind ──────────────────────────────────────────────────────────────────


def _unknown(error: CallError, tools: Sequence[Tool], level: int) -> list[str]:
    wanted = error.issue.name
    names = sorted(tool.name for tool in tools)
    near = nearest(wanted, names)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    more = f" and {len(names) - MOST_TOOLS} more" if len(names) > MOST_TOOLS else ""
    shown = list(dict.fromkeys([*near, *names]))[:MOST_TOOLS]
    lines = [f"There is no tool named {wanted[:80]!r}.{hint} {NOTHING_RAN}"]
    if level < EXAMPLE_FROM:
        return [*lines, f"Available tools: {', '.join(shown) or 'none'}{more}."]
    signatures = [f"- {signature(tool)}" for tool in tools if tool.name in shown]
    return [*lines, f"Available tools{more}:", *sorted(signatures)]


def _invalid(error: CallError, tools: Sequence[Tool], level: int) -> list[str]:
    if not error.faults:
        return _as_noticed(error, tools, level)
    lines = [f"The arguments of {error.issue.name!r} do not fit its schema. {NOTHING_RAN}"]
    return [*lines, *_listed(error.faults, error.arguments), *_whole(error, tools, level)]


def _listed(found: Sequence[Fault], given: Any) -> list[str]:
    """Every fault: where, what, what was given there, and the piece of schema that says what would be right."""
    lines = [
        f"- {fault.path}: {fault.message}{_given(given, fault.path)}. Schema: {_cut(dumps(fault.schema), SHOWN)}"
        for fault in found[:MOST_FAULTS]
    ]
    return [*lines, *([f"- and {len(found) - MOST_FAULTS} more"] if len(found) > MOST_FAULTS else [])]


def _given(given: Any, path: str) -> str:
    value = given if given is NOTHING_THERE else value_at(given, path)
    return "" if value is NOTHING_THERE else f" (you gave {_cut(dumps(value), SHOWN)})"


def _malformed(error: CallError, tools: Sequence[Tool], level: int) -> list[str]:
    named = f"Your call of {error.issue.name!r}" if error.issue.name else "Your call"
    lines = [f"{named} was not run: {_cut(error.issue.message.removesuffix(NOT_RUN), SHOWN)}."]
    place = break_of(error.issue.raw)
    if place:
        lines.append(f"It breaks here: {place}")
    elif error.issue.raw:
        lines.append(f"You wrote: {_cut(error.issue.raw, SHOWN)}")
    return [*lines, *_whole(error, tools, level)]


def _truncated(error: CallError, tools: Sequence[Tool], level: int) -> list[str]:
    named = f"Your call of {error.issue.name!r}" if error.issue.name else "Your call"
    size = f" after {len(error.issue.raw)} characters" if error.issue.raw else ""
    lines = [f"{named} was cut off{size}, before it was complete. {NOTHING_RAN}"]
    end = f" It ended with: …{error.issue.raw[-AFTER:]}" if error.issue.raw else ""
    lines.append(f"Do not send it again as it was: send less at a time, in several smaller calls.{end}")
    return lines


def _as_noticed(error: CallError, tools: Sequence[Tool], level: int) -> list[str]:
    return [_cut(error.issue.correction or error.issue.message, SHOWN_SCHEMA), *_whole(error, tools, level)]


def _whole(error: CallError, tools: Sequence[Tool], level: int) -> list[str]:
    tool = _tool(error.issue.name, tools)
    if level < WHOLE_FROM or tool is None:
        return []
    return [f"The whole schema of {tool.name!r}: {_cut(dumps(tool.parameters), SHOWN_SCHEMA)}"]


AFTER = 80
EXPLANATIONS: Mapping[IssueKind, Callable[[CallError, Sequence[Tool], int], list[str]]] = {
    IssueKind.UNKNOWN_TOOL: _unknown,
    IssueKind.INVALID_ARGUMENTS: _invalid,
    IssueKind.MALFORMED: _malformed,
    IssueKind.TRUNCATED: _truncated,
}


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "…"
