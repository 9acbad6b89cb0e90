"""`POST /v1/parse` and `POST /v1/render`: the dialect engine as plain JSON, for programs in other languages.

Knows parsing, rendering and JSON; nothing of sockets.  Contract: what is not asked rightly is a CodecError with the
path; what a model wrote never is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, TypeVar

from ...dialects import DIALECTS
from ...dialects.engine.parse import parse
from ...dialects.writing.render import render
from ...errors import CodecError
from ...schema.definitions import tools as as_tools
from ...types import Issue, JsonObject, ToolCall

T = TypeVar("T")
NAME = "dragoman"

ASKED: Mapping[str, type | tuple[type, ...]] = {
    "text": str, "tools": (list, type(None)), "dialects": (str, list), "prefix": str,
    "finish_reason": (str, type(None)), "shown": list, "strict": bool,
    "doubt": str, "prompted_dialect": str, "confirmed": list,
}  # fmt: skip
"""The fields of a parse, with what each must be."""


def parse_body(body: JsonObject) -> dict[str, Any]:
    """The calls in `text`, judged: `{"calls": […], "doubtful": […], "text", "reasoning", "issues": […]}`."""
    given = {key: _field(body, key, kinds) for key, kinds in ASKED.items() if key in body}
    if "text" not in given:
        raise CodecError("text is missing; send what the model wrote", "$.text", NAME)
    text = given.pop("text")
    given["tools"] = _usable("$.tools", lambda: as_tools(given.get("tools")))
    parsed = _usable("$", lambda: parse(text, **given))
    return {
        "calls": [_call(call) for call in parsed.calls],
        "doubtful": [_call(call) for call in parsed.doubtful],
        "text": parsed.text,
        "reasoning": parsed.reasoning,
        "issues": [_issue(issue) for issue in parsed.issues],
    }


def render_body(body: JsonObject) -> dict[str, Any]:
    """The calls as a model of `dialect` writes them: `{"text": …}`."""
    calls = [_read_call(call, f"$.calls[{n}]") for n, call in enumerate(_field(body, "calls", list))]
    row = _usable("$.dialect", lambda: DIALECTS[_field(body, "dialect", str)])
    tools = _usable("$.tools", lambda: as_tools(body.get("tools")))
    return {"text": _usable("$.calls", lambda: render(calls, row, tools=tools))}


def _usable(path: str, made: Callable[[], T]) -> T:
    """What `made` gives; a caller's mistake is a CodecError with its place."""
    try:
        return made()
    except (ValueError, TypeError) as error:
        raise CodecError(str(error), path, NAME) from error


def _field(body: JsonObject, key: str, kinds: type | tuple[type, ...]) -> Any:
    value = body.get(key)
    if not isinstance(value, kinds):
        names = " or ".join(kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
        raise CodecError(f"{key} must be {names}, not {type(value).__name__}", f"$.{key}", NAME)
    return value


def _read_call(value: Any, path: str) -> ToolCall:
    if isinstance(value, Mapping):
        named, arguments, given = value.get("name"), value.get("arguments", {}), value.get("id")
        if isinstance(named, str) and named and isinstance(arguments, Mapping):
            return ToolCall(id=given if isinstance(given, str) else "", name=named, arguments=arguments)
    raise CodecError('a call must look like {"name": "…", "arguments": {…}}', path, NAME)


def _call(call: ToolCall) -> dict[str, Any]:
    report = asdict(call.report) if call.report else None
    return {"id": call.id, "name": call.name, "arguments": call.arguments, "raw": call.raw, "report": report}


def _issue(issue: Issue) -> dict[str, Any]:
    return {key: value for key, value in asdict(issue).items() if value}
