"""The names of tools on their way to a wire that forbids some characters, and back.

Knows requests and events; how a name is spelt otherwise is in `conversation/naming.py`.
Contract: every name in the request is spelt alike everywhere in it; `renamed_back` gives the answer's events the
caller's names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..conversation.grown import by_growth
from ..conversation.naming import UNCHANGED, Respelled, Spelling, respell
from ..events import CallDoubted, CallStarted, Event, IssueReported
from ..memo import TOOLS, memoize, names_of
from ..types import Issue, IssueKind, Message, Part, Request, Tool, ToolCall, ToolResult


def respelled_names(request: Request, spelling: Spelling) -> Respelled:
    """How this wire spells the names of all tools that the request names."""
    chosen = request.tool_choice.name if request.tool_choice is not None else ""
    others = frozenset((*_names_in(request.messages), *([chosen] if chosen else ())))
    if _are_allowed(request.tools, spelling) and all(map(spelling.allows, others)):
        return UNCHANGED
    return respell(names_of(request.tools) | others, spelling)


@memoize(TOOLS)
def _are_allowed(tools: Sequence[Tool], spelling: Spelling) -> bool:
    return all(map(spelling.allows, names_of(tools)))


@by_growth
def _names_in(messages: Sequence[Message], start: int, known: frozenset[str] | None) -> frozenset[str]:
    """The names of the tools that were called."""
    calls = (call.name for message in messages[start:] for call in message.calls)
    results = (result.name for message in messages[start:] for result in message.results)
    return frozenset((*calls, *results)).union(known or ())


def renamed(request: Request, names: Respelled) -> Request:
    """The request with the names as the wire spells them."""
    if not names.forth:
        return request
    tools = tuple(replace(tool, name=names.spelled(tool.name)) for tool in request.tools)
    choice = request.tool_choice and replace(request.tool_choice, name=names.spelled(request.tool_choice.name))
    messages = tuple(_renamed_message(message, names) for message in request.messages)
    return replace(request, tools=tools, tool_choice=choice, messages=messages)


def _renamed_message(message: Message, names: Respelled) -> Message:
    if not any(isinstance(part, ToolCall | ToolResult) and part.name in names.forth for part in message.parts):
        return message
    return message.with_parts([_renamed_part(part, names) for part in message.parts])


def _renamed_part(part: Part, names: Respelled) -> Part:
    match part:
        case ToolCall() | ToolResult():
            return replace(part, name=names.spelled(part.name))
        case _:
            return part


def respelling_issue(names: Respelled, spelling: Spelling) -> Issue:
    """Which names were spelt otherwise, and why."""
    pairs = ", ".join(f"{name!r} is {wire!r}" for name, wire in sorted(names.forth.items()))
    why = f"this wire takes names of {spelling.letters or 'any letters'}, at most {spelling.longest}"
    return Issue(kind=IssueKind.UNSUPPORTED, message=f"{why}: {pairs}; the answer comes back in your names")


def renamed_back(event: Event, names: Respelled) -> Event:
    """`event` with the tool's name as the caller knows it."""
    match event:
        case CallStarted(name=name) if name in names.back:
            return replace(event, name=names.original(name))
        case CallDoubted(call) if call.name in names.back:
            return replace(event, call=replace(call, name=names.original(call.name)))
        case IssueReported(issue) if issue.name in names.back:
            return IssueReported(replace(issue, name=names.original(issue.name)))
        case _:
            return event
