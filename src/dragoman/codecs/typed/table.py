"""Typed tools that the client runs: what stands for each of them where nobody knows its type.

Knows the rows, and tools as values; how a call of one is written on its own wire is that wire's (`openai/typed_items`).
Contract: a definition that a row fits is an ordinary `Tool` with the published schema, and remembers how it came, so
that its own wire writes it back as it was; a definition that none fits is a server's tool, or one nobody knows.
`as_functions` makes a request forget it all, for peers that speak a wire without knowing its typed tools.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...conversation.grown import by_growth
from ...memo import TOOLS, memoize
from ...types import NOTHING, JsonObject, Message, Part, Request, Tool, ToolCall, ToolResult
from ..shared.body import items, mapping, string
from ..shared.spec import TOOLSET, TYPED, WireFields, own
from . import schemas
from .browser import BROWSER_ON_DEMAND, BROWSER_TOOLSET

ANTHROPIC, RESPONSES, GEMINI = "anthropic_messages", "openai_responses", "gemini"
SPEAKS: Mapping[str, str] = {"bedrock_invoke": ANTHROPIC}
"""Codecs that write another's definitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedTool:
    """One tool: the wire that has it, the types it goes by (a pattern), and what a model is told of it.

    name     its name, where its definition gives none
    notes    field of the definition → what to say of its value
    remote   is this definition of one that the server runs?
    """

    api: str
    types: str
    name: str
    description: str
    parameters: JsonObject
    source: str
    notes: Mapping[str, str] = NOTHING
    remote: Callable[[JsonObject], bool] = lambda _: False


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolset:
    """Several tools under one definition, which lists those that are left out."""

    api: str
    types: str
    name: str
    members: Mapping[str, tuple[str, JsonObject]]
    without: Callable[[JsonObject], Collection[str]]
    source: str


_SIZE = "The screen is {display_width_px} pixels wide"
_SCREEN = {"display_width_px": "The screen is {} pixels wide.", "display_height_px": "It is {} pixels high."}
_DISPLAY = {"display_width": "The screen is {} pixels wide.", "display_height": "It is {} pixels high.",
            "environment": "It runs: {}."}  # fmt: skip
_USE = "Use a computer by its screen, mouse and keyboard. The result is a screenshot."
_EDIT = "View, create and edit files."


def _hosted(definition: JsonObject) -> bool:
    """Does the shell run in a container of the API's?"""
    return string(mapping(definition.get("environment")).get("type")).startswith("container")


TYPED_TOOLS: tuple[TypedTool, ...] = (
    TypedTool(
        api=ANTHROPIC, types=r"bash_\d{8}", name="bash", parameters=schemas.BASH,
        description="Run commands in a bash shell that keeps its state from call to call.",
        source="anthropic types/tool_bash_20250124_param.py; docs: bash tool",
    ),
    TypedTool(
        api=ANTHROPIC, types=r"text_editor_(20241022|20250124)", name="str_replace_editor",
        parameters=schemas.EDITOR_WITH_UNDO, description=f"{_EDIT} undo_edit takes the last edit of a file back.",
        source="anthropic types/tool_text_editor_20250124_param.py; docs: text editor tool",
    ),
    TypedTool(
        api=ANTHROPIC, types=r"text_editor_20250429", name="str_replace_based_edit_tool",
        parameters=schemas.EDITOR_OF_APRIL, description=_EDIT,
        source="anthropic types/tool_text_editor_20250429_param.py",
    ),
    TypedTool(
        api=ANTHROPIC, types=r"text_editor_\d{8}", name="str_replace_based_edit_tool", parameters=schemas.EDITOR,
        description=_EDIT, notes={"max_characters": "view shows at most {} characters."},
        source="anthropic types/tool_text_editor_20250728_param.py",
    ),
    TypedTool(
        api=ANTHROPIC, types=r"memory_\d{8}", name="memory", parameters=schemas.MEMORY,
        description="Keep notes in files below /memories, which last from one conversation to the next. View the "
        "directory /memories before you begin a task.",
        source="anthropic types/beta/beta_memory_tool_20250818_*_command.py; docs: memory tool",
    ),
    TypedTool(
        api=ANTHROPIC, types=r"computer_20241022", name="computer", parameters=schemas.COMPUTER_2024,
        description=_USE, notes=_SCREEN, source="anthropic types/beta/beta_tool_computer_use_20241022_param.py",
    ),
    TypedTool(
        api=ANTHROPIC, types=r"computer_20250124", name="computer", parameters=schemas.COMPUTER_2025,
        description=_USE, notes=_SCREEN, source="anthropic types/beta/beta_tool_computer_use_20250124_param.py",
    ),
    TypedTool(
        api=ANTHROPIC, types=r"computer_\d{8}", name="computer", parameters=schemas.COMPUTER_ZOOM,
        description=_USE, notes=_SCREEN, source="anthropic types/beta/beta_tool_computer_use_20251124_param.py",
    ),
    TypedTool(
        api=RESPONSES, types=r"local_shell", name="local_shell", parameters=schemas.LOCAL_SHELL,
        description="Run a program on the user's machine.",
        source="openai types/responses/response_input_item_param.py: LocalShellCallAction",
    ),
    TypedTool(
        api=RESPONSES, types=r"shell", name="shell", parameters=schemas.SHELL, remote=_hosted,
        description="Run shell commands on the user's machine.",
        source="openai types/responses/function_shell_tool_param.py; docs: shell tool, local",
    ),
    TypedTool(
        api=RESPONSES, types=r"apply_patch", name="apply_patch", parameters=schemas.APPLY_PATCH,
        description="Create, change or delete a file. One call changes one file.",
        source="openai types/responses/response_apply_patch_tool_call.py; docs: apply patch tool",
    ),
    TypedTool(
        api=RESPONSES, types=r"computer_use_preview\w*", name="computer", parameters=schemas.ACTION,
        description=_USE, notes=_DISPLAY, source="openai types/responses/computer_use_preview_tool_param.py",
    ),
    TypedTool(
        api=RESPONSES, types=r"computer(_use)?", name="computer", parameters=schemas.ACTIONS,
        description=_USE, source="openai types/responses/computer_tool_param.py, response_computer_tool_call.py",
    ),
)  # fmt: skip
"""The first row whose pattern fits a type says what it is."""


def _turned_off(definition: JsonObject) -> Collection[str]:
    configs = mapping(definition.get("configs"))
    return [name for name, config in configs.items() if mapping(config).get("enabled") is False]


def _left_out_of_browser(definition: JsonObject) -> Collection[str]:
    configs = mapping(definition.get("configs"))
    wanted = {name for name, config in configs.items() if mapping(config).get("enabled") is True}
    return {*_turned_off(definition), *(BROWSER_ON_DEMAND - wanted)}


def _excluded(definition: JsonObject) -> Collection[str]:
    given = mapping(definition.get("computerUse"))
    return list(map(string, items(given.get("excludedPredefinedFunctions"))))


TOOLSETS: tuple[Toolset, ...] = (
    Toolset(
        api=ANTHROPIC, types=r"computer_toolset_\d{8}", name="computer", members=schemas.COMPUTER_MEMBERS,
        without=_turned_off, source="anthropic types/beta/beta_computer_toolset_20260801_param.py",
    ),
    Toolset(
        api=ANTHROPIC, types=r"browser_toolset_\d{8}", name="browser", members=BROWSER_TOOLSET,
        without=_left_out_of_browser, source="anthropic types/beta/beta_browser_toolset_20260801_param.py",
    ),
    Toolset(
        api=GEMINI, types=r"computerUse", name="computer", members=schemas.BROWSER_MEMBERS,
        without=_excluded, source="google-genai types.ComputerUse; ai.google.dev: computer use",
    ),
)  # fmt: skip


# ── definitions as tools ─────────────────────────────────────────────────────


def kind_of(definition: JsonObject) -> str:
    """The type of a definition; on a wire where definitions have none, the key it stands under."""
    return string(definition.get("type")) or next(iter(definition), "")


def typed_tools(api: str, definition: JsonObject) -> tuple[Tool, ...]:
    """The tools that a definition of wire `api` declares by its type, () where no row fits it."""
    kind = kind_of(definition)
    for row in TYPED_TOOLS:
        if row.api == api and re.fullmatch(row.types, kind):
            return () if row.remote(definition) else (_tool(row, definition),)
    for each in TOOLSETS:
        if each.api == api and re.fullmatch(each.types, kind):
            return tuple(_members(each, definition))
    return ()


def _tool(row: TypedTool, definition: JsonObject) -> Tool:
    told = [note.format(definition[field]) for field, note in row.notes.items() if definition.get(field)]
    return Tool(
        name=string(definition.get("name")) or row.name,
        description=" ".join([row.description, *told]),
        parameters=row.parameters,
        metadata=WireFields(row.api, {TYPED: dict(definition)}),
    )


def _members(each: Toolset, definition: JsonObject) -> Iterator[Tool]:
    left_out = each.without(definition)
    for name, (description, parameters) in each.members.items():
        if name not in left_out:
            fields = {"name": each.name, "member": name, "definition": dict(definition)}
            metadata = WireFields(each.api, {TOOLSET: fields})
            yield Tool(name=name, description=description, parameters=parameters, metadata=metadata)


def apart(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """`tools`, where typed ones whose name another has get one of their own: wires that do not name them allow that."""
    taken = {tool.name for tool in tools if not _is_typed(tool)}
    named: list[Tool] = []
    for tool in tools:
        name = tool.name
        while _is_typed(tool) and name in taken:
            name = f"{name}_tool"
        taken.add(name)
        named.append(tool if name == tool.name else replace(tool, name=name))
    return tuple(named)


def _is_typed(tool: Tool) -> bool:
    return isinstance(tool.metadata, WireFields) and not _DECLARED.isdisjoint(tool.metadata)


def written(api: str, tools: Sequence[Tool], write: Callable[[Tool], dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The definitions of `tools` on wire `api`: typed ones as they came, a set of them once, others by `write`."""
    sets: list[JsonObject] = []
    for tool in tools:
        given = own(api, tool.metadata)
        definition = mapping(given.get(TOOLSET)).get("definition")
        if definition is None:
            yield dict(given[TYPED]) if TYPED in given else write(tool)
        elif definition not in sets:
            sets.append(definition)
            yield dict(definition)


@memoize(TOOLS)
def _any_typed(tools: tuple[Tool, ...]) -> bool:
    return any(map(_is_typed, tools))


def checked_here(codec: str, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
    """`tools` as an answer is held to them: arguments of those that `codec` declares by their types are open, for
    their vendor's model was taught them."""
    api = SPEAKS.get(codec, codec)
    if not _any_typed(tools):
        return tools
    known = [_is_typed(tool) and bool(own(api, tool.metadata)) for tool in tools]
    if not any(known):
        return tools
    return tuple(replace(tool, parameters={}) if own_ else tool for tool, own_ in zip(tools, known, strict=True))


_DECLARED = frozenset({TYPED, TOOLSET, "custom"})
_CALLED = frozenset({TYPED, "toolset_name", "type"})
"""Fields by which definitions, and calls and results, are more than functions and theirs."""

# ── forgetting ───────────────────────────────────────────────────────────────


def as_functions(request: Request) -> Request:
    """`request`, its typed tools as ordinary ones, and so the calls and results of its history."""
    if not _any_typed(request.tools) and not _have_typed(request.messages):
        return request
    allowed = request.tool_choice.allowed if request.tool_choice is not None else ()
    tools = [replace(tool, metadata=NOTHING) if _is_typed(tool) else tool for tool in request.tools]
    extra = request.extra
    if isinstance(extra, WireFields) and "tool_choice" in extra:  # by the type, which is gone; the name stays
        extra = WireFields(extra.api, {key: value for key, value in extra.items() if key != "tool_choice"})
    return replace(
        request,
        tools=tuple(tool for tool in tools if not allowed or tool.name in allowed),
        messages=tuple(map(_plain, request.messages)),
        extra=extra,
    )


@by_growth
def _have_typed(messages: Sequence[Message], start: int, known: bool | None) -> bool:
    return bool(known) or any(map(_has_typed, messages[start:]))


def _has_typed(message: Message) -> bool:
    return not message.bare and any(_part_is_typed(part) for part in message.parts)


def _part_is_typed(part: Part) -> bool:
    return isinstance(part, ToolCall | ToolResult) and not _CALLED.isdisjoint(part.metadata)


def _plain(message: Message) -> Message:
    if not _has_typed(message):
        return message
    return message.with_parts([_forgetful(part) for part in message.parts])


def _forgetful(part: Part) -> Part:
    match part:
        case ToolCall() | ToolResult() if _part_is_typed(part):
            return replace(part, metadata=NOTHING)
        case _:
            return part
