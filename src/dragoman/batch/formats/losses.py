"""What a target format lost of a row: what was written is read back, and what does not come back is lost.

There is no table of abilities that could drift from the writers.  Knows `ChatRow`; no format by name.
Contract: no loss is told for rows that come back equal, and every difference of the conversation, the tools, the
alternatives, the truth and the columns is told, by its path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from typing import Any

from ..result import Finding
from ..row_json import BadRow, loads, text
from .alternatives import has_one_answer, straightened
from .chat_row import Chat, ChatRow

MOST = 24
"""So many differences of one row are told; the last one says how many more there are."""
_NUMBER = re.compile(r"\[\d+\]")
_MISSING: Any = object()
_MAY_GROW = frozenset({"$.columns"})
"""What a format demands besides takes nothing from the row."""
_DEFINED = ("name", "description", "parameters", "strict")
EMPTY = {"type": "object", "properties": {}}


def losses(given: ChatRow, back: ChatRow) -> list[Finding]:
    """What of `given` is not in `back`."""
    found = list(_differences(normal(given), normal(back), "$"))
    if len(found) > MOST:
        more = len(found) - MOST + 1
        found = [*found[: MOST - 1], Finding("lossy", "$", f"{more} more places differ")]
    return found


def pattern(path: str) -> str:
    """A path without its numbers: all places of one kind."""
    return _NUMBER.sub("[]", path)


def normal(row: ChatRow) -> dict[str, Any]:
    """What a row says, apart from how it is written: what must come back."""
    row = straightened(row, flagged=True) if has_one_answer(row) else row
    made: dict[str, Any] = {"messages": _messages(row.messages), "ids": _ids(row.messages)}
    if row.tools is not None:
        made["tools"] = [_tool(one) for one in row.tools]
    for name, branch in row.branches.items():
        made[name] = _messages(branch)
    if row.gold is not None:
        made["gold"] = row.gold
    columns = {**row.labels, **row.metadata, **row.extra}
    return {**made, "columns": {key: value for key, value in columns.items() if value is not None}}


def _tool(one: Any) -> Any:
    """A definition, whatever it is wrapped in."""
    if not isinstance(one, dict):
        return one
    inner = one.get("function", one)
    if not isinstance(inner, dict):
        return one
    schema = inner.get("parameters", inner.get("input_schema"))
    told = {key: inner[key] for key in inner if key not in ("parameters", "input_schema", "type")}
    told["parameters"] = schema or EMPTY
    return {key: value for key, value in told.items() if value not in (None, "", False)}


def _messages(messages: Sequence[Chat]) -> list[Any]:
    numbers: dict[str, int] = {}
    made: list[Any] = []
    count = 0
    for message in messages:
        one = {k: v for k, v in message.items() if v is not None and k not in ("content", "tool_calls", "tool_call_id")}
        if one.get("role") == "developer":
            one["role"] = "system"
        if content := _content(message.get("content")):
            one["content"] = content
        calls = message.get("tool_calls")
        if calls:
            one["calls"] = []
            for call in calls:
                one["calls"].append(_call(call))
                if isinstance(call, dict) and call.get("id"):
                    numbers[str(call["id"])] = count
                count += 1
        if "tool_call_id" in message:
            one["answers"] = numbers.get(str(message["tool_call_id"]), "no call")
        if one.get("role") == "tool":
            one.pop("name", None)  # the name of the tool stands in its call
        made.append(one)
    return made


def _content(content: Any) -> Any:
    if isinstance(content, list) and all(isinstance(p, dict) and p.get("type") == "text" for p in content):
        return "".join(str(p.get("text", "")) for p in content)
    return content


def _call(call: Any) -> Any:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return call
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        with suppress(BadRow, UnicodeEncodeError):
            arguments = loads(arguments.encode()) if arguments.strip() else {}
    return {"name": function.get("name"), "arguments": {} if arguments is None else arguments}


def _ids(messages: Sequence[Chat]) -> list[str]:
    calls = [call for message in messages for call in message.get("tool_calls") or () if isinstance(call, dict)]
    return [str(call.get("id") or "") for call in calls]


def _differences(given: Any, back: Any, path: str) -> Iterator[Finding]:
    if type(given) is dict and type(back) is dict:
        yield from _of_objects(given, back, path)
    elif type(given) is list and type(back) is list and path != "$.ids":
        for i, (one, other) in enumerate(zip_longest(given, back, fillvalue=_MISSING)):
            yield from _differences(one, other, f"{path}[{i}]")
    elif type(given) is not type(back) or given != back:
        yield Finding("lossy", path, f"{_shown(given)} comes back as {_shown(back)}")


def _of_objects(given: Mapping[str, Any], back: Mapping[str, Any], path: str) -> Iterator[Finding]:
    for key in {**given, **back}:
        one, other = given.get(key, _MISSING), back.get(key, _MISSING)
        added = one is _MISSING and (path in _MAY_GROW or key in ("tools", "gold"))
        if one is not other and not added:
            yield from _differences(one, other, f"{path}.{key}")


def _shown(value: Any) -> str:
    if value is _MISSING:
        return "nothing"
    told = text(value)
    return told if len(told) <= 80 else told[:79] + "…"
