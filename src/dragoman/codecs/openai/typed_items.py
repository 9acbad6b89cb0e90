"""Typed tools of OpenAI Responses as items: their calls and their results, read and written, one row each.

Knows the fields of these items and the order of the events that fill them in a stream; nothing of requests, names or
ids.  A call's arguments are what stands in the item's one field of content, as `typed/schemas.py` has it.
Contract: `arguments(content(a)) == a`; what a client's item says besides comes back on this wire as it was.
Sources: openai 3.54, types/responses/*_call*.py; streams recorded by the AI SDK (packages/openai/src/responses/
__fixtures__/openai-{local-shell,shell,apply-patch}-tool.1.chunks.txt).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import ErrorCode, exit_code
from ...types import JsonObject, Media, Text, ToolResult
from ..shared.body import items, mapping, string
from ..shared.media import data_url, from_url
from ..shared.spec import TYPED, own

Content = list[Text | Media]
Reading = tuple[Content, bool, str | None]
"""What a result says, whether the tool failed, and its code."""
Step = tuple[str, dict[str, Any]]
"""An event between an item's announcement and its end: its kind and its fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedItem:
    """How the calls of a typed tool, and their results, stand among the items.

    call, result  the types of the items;  ids  how the ids of calls begin
    content       arguments → the fields of the item that hold them;  arguments  the way back
    announced     the same fields before anything is known of the call
    steps         the events that fill them;  addressed  do they name their item?
    output        the fields of the item that answers a call;  read  the way back
    """

    call: str
    result: str
    ids: str
    content: Callable[[JsonObject], dict[str, Any]]
    arguments: Callable[[JsonObject], JsonObject]
    announced: Callable[[JsonObject], dict[str, Any]]
    output: Callable[[ToolResult], dict[str, Any]]
    read: Callable[[JsonObject], Reading]
    steps: Callable[[JsonObject], Iterator[Step]] = lambda _: iter(())
    addressed: bool = True


def _said(field: Mapping[str, Any], *but: str) -> dict[str, Any]:
    """What a field of content says; what is null or stands there by rule says nothing."""
    return {key: value for key, value in field.items() if value is not None and key not in but}


# ── local_shell ──────────────────────────────────────────────────────────────


def _exec(arguments: JsonObject) -> dict[str, Any]:
    return {"action": {"type": "exec", "command": [], "env": {}, **arguments}}


def _exec_arguments(item: JsonObject) -> JsonObject:
    given = _said(mapping(item.get("action")), "type")
    return given if given.get("env") else {key: value for key, value in given.items() if key != "env"}


def _text_output(result: ToolResult) -> dict[str, Any]:
    return {"output": result.text}


def _read_text(item: JsonObject) -> Reading:
    given = item.get("output")
    if isinstance(given, str):
        return [Text(given)], False, None
    return [Text(string(mapping(part).get("text"))) for part in items(given)], False, None


# ── shell ────────────────────────────────────────────────────────────────────

_NO_COMMANDS: JsonObject = {"commands": [], "max_output_length": None, "timeout_ms": None}


def _commands(arguments: JsonObject) -> dict[str, Any]:
    return {"action": {**_NO_COMMANDS, **arguments}}


def _command_steps(item: JsonObject) -> Iterator[Step]:
    for index, command in enumerate(items(mapping(item.get("action")).get("commands"))):
        place = {"command_index": index}
        yield "response.shell_call_command.added", {**place, "command": ""}
        yield "response.shell_call_command.delta", {**place, "delta": command}
        yield "response.shell_call_command.done", {**place, "command": command}


def _shell_output(result: ToolResult) -> dict[str, Any]:
    given = string(result.error_code)
    status = given.removeprefix(exit_code(0)[:-1])
    code = int(status) if status.isdecimal() and status.isascii() else int(result.is_error)
    outcome = {"type": "timeout"} if given == ErrorCode.TIMEOUT else {"type": "exit", "exit_code": code}
    return {"output": [{"stdout": result.text, "stderr": "", "outcome": outcome}]}


def _read_shell(item: JsonObject) -> Reading:
    """What the commands wrote, and the first failure among them."""
    given = item.get("output")
    if isinstance(given, str):
        return [Text(given)], False, None
    outputs = [mapping(one) for one in items(given)]
    codes = [code for one in outputs if (code := _failure(mapping(one.get("outcome"))))]
    shown = "\n".join(_shown(one) for one in outputs)
    return [Text(shown)], bool(codes), codes[0] if codes else None


def _failure(outcome: JsonObject) -> str:
    if outcome.get("type") == "timeout":
        return str(ErrorCode.TIMEOUT)
    status = outcome.get("exit_code")
    return exit_code(status) if isinstance(status, int) and status else ""


def _shown(output: JsonObject) -> str:
    """One command's output as a terminal shows it, and how it ended where it failed."""
    said = [string(output.get("stdout")), string(output.get("stderr"))]
    failed = _failure(mapping(output.get("outcome")))
    return "\n".join(filter(None, [*(each.rstrip("\n") for each in said), failed and f"[{failed}]"]))


# ── apply_patch ──────────────────────────────────────────────────────────────


def _operation(arguments: JsonObject) -> dict[str, Any]:
    return {"operation": dict(arguments)}


def _announced_operation(item: JsonObject) -> dict[str, Any]:
    operation = mapping(item.get("operation"))
    return {"operation": {**operation, "diff": ""} if "diff" in operation else dict(operation)}


def _diff_steps(item: JsonObject) -> Iterator[Step]:
    diff = mapping(item.get("operation")).get("diff")
    if isinstance(diff, str):
        yield "response.apply_patch_call_operation_diff.delta", {"delta": diff}
        yield "response.apply_patch_call_operation_diff.done", {"diff": diff}


def _patch_output(result: ToolResult) -> dict[str, Any]:
    return {"status": "failed" if result.is_error else "completed", "output": result.text}


def _read_patch(item: JsonObject) -> Reading:
    failed = item.get("status") == "failed"
    text = string(item.get("output"))
    return [Text(text or ("The patch was not applied." if failed else "The patch was applied."))], failed, None


# ── computer ─────────────────────────────────────────────────────────────────


def _action(arguments: JsonObject) -> dict[str, Any]:
    return {"action": dict(arguments), "pending_safety_checks": []}


def _actions(arguments: JsonObject) -> dict[str, Any]:
    return {"actions": list(items(arguments.get("actions"))), "pending_safety_checks": []}


def _computer_arguments(item: JsonObject) -> JsonObject:
    return _said(mapping(item.get("action"))) if "actions" not in item else {"actions": list(items(item["actions"]))}


def _announced_computer(item: JsonObject) -> dict[str, Any]:
    return {key: item[key] for key in ("action", "actions", "pending_safety_checks") if key in item}


def _screenshot(result: ToolResult) -> dict[str, Any]:
    shown = next((part for part in result.content if isinstance(part, Media)), None)
    screenshot = {"type": "computer_screenshot", **({"image_url": data_url(shown)} if shown else {})}
    return {"output": screenshot}


def _read_screenshot(item: JsonObject) -> Reading:
    output = mapping(item.get("output"))
    if url := string(output.get("image_url")):
        return [from_url(url)], False, None
    return [Text(f"[the screenshot is the file {string(output.get('file_id'))} of OpenAI]")], False, None


# ── the rows ─────────────────────────────────────────────────────────────────

_COMPUTER = TypedItem(
    call="computer_call", result="computer_call_output", ids="cu", content=_actions, arguments=_computer_arguments,
    announced=_announced_computer, output=_screenshot, read=_read_screenshot,
)  # fmt: skip
_PREVIEW = TypedItem(
    call="computer_call", result="computer_call_output", ids="cu", content=_action, arguments=_computer_arguments,
    announced=_announced_computer, output=_screenshot, read=_read_screenshot,
)  # fmt: skip
TYPED_ITEMS: Mapping[str, TypedItem] = {
    "local_shell": TypedItem(
        call="local_shell_call", result="local_shell_call_output", ids="lsh", content=_exec,
        arguments=_exec_arguments, announced=lambda _: _exec({}), output=_text_output, read=_read_text,
    ),
    "shell": TypedItem(
        call="shell_call", result="shell_call_output", ids="sh", content=_commands,
        arguments=lambda item: _said(mapping(item.get("action"))), announced=lambda _: _commands({}),
        steps=_command_steps, addressed=False, output=_shell_output, read=_read_shell,
    ),
    "apply_patch": TypedItem(
        call="apply_patch_call", result="apply_patch_call_output", ids="apc", content=_operation,
        arguments=lambda item: _said(mapping(item.get("operation"))), announced=_announced_operation,
        steps=_diff_steps, output=_patch_output, read=_read_patch,
    ),
    "computer_use_preview": _PREVIEW,
    "computer": _COMPUTER,
    "computer_use": _COMPUTER,
}  # fmt: skip
"""By the type of the tool; a dated type is the one before its date."""

BY_CALL: Mapping[str, TypedItem] = {form.call: form for form in TYPED_ITEMS.values()}
BY_RESULT: Mapping[str, TypedItem] = {form.result: form for form in TYPED_ITEMS.values()}
DEFAULT_NAMES: Mapping[str, str] = {
    "local_shell_call": "local_shell",
    "shell_call": "shell",
    "apply_patch_call": "apply_patch",
    "computer_call": "computer",
}
"""The name of a tool whose call stands in the history and which is not declared any more."""


def item_form(definition: JsonObject) -> TypedItem | None:
    """The row of the tool with this definition."""
    kind = string(definition.get("type"))
    names = sorted(TYPED_ITEMS, key=len, reverse=True)
    return next((TYPED_ITEMS[name] for name in names if kind == name or kind.startswith(f"{name}_20")), None)


def form_of(item: JsonObject | None) -> TypedItem | None:
    """The row of a call that stands in this item; None for no item, or another."""
    return BY_CALL.get(string(item.get("type"))) if item is not None else None


def is_remote(item: JsonObject) -> bool:
    """Is this the call of a tool that ran in a container of the API's?"""
    return "container" in string(mapping(item.get("environment")).get("type"))


def call_id_of(item: JsonObject) -> str:
    """The id by which results answer a call, and which a result answers."""
    return string(item.get("call_id")) or string(item.get("id"))


def kept_item(api: str, metadata: JsonObject, call_id: str) -> dict[str, Any] | None:
    """The item as its client sent it, under the id it has now; None where no client of this wire did."""
    item = mapping(own(api, metadata).get(TYPED))
    if "type" not in item:
        return None
    return {**item, "call_id" if item.get("call_id") is not None else "id": call_id}


