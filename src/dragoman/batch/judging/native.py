"""A native call of a row, judged: declared, its arguments an object that fits, or mended until they are.

Knows toolsets, the judge's reading of arguments, and schemas; nothing of messages.
Contract: what is as it should be is not touched; every change is a `Repair` with what stood there before; no value is
made up, and nothing but a null under a key that nobody declared is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...codecs.shared.arguments import read_arguments
from ...events import CallDelta, CallEnded, CallStarted, IssueReported
from ...jsontext import dumps
from ...records import NamedTuple
from ...schema.validation import Fault, faults
from ...turn.native_calls import NativeCalls
from ...types import Issue, IssueKind, JsonObject, Tool, Verdict
from ..result import Finding, JudgedCall, Repair
from ..row_json import BadRow, loads
from .toolset import Toolset


class Native(NamedTuple):
    """The call as judged, what changed, what is to be said."""

    call: JudgedCall
    repairs: tuple[Repair, ...] = ()
    findings: tuple[Finding, ...] = ()


def judge_native(given: Mapping[str, Any], message: int, path: str, tools: Toolset, *, repair: bool = True) -> Native:
    """The judgment of a call of the chat API; `path` is where it stands."""
    function = given.get("function")
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(name, str) or not name:
        what = "a call must be an object with a function that has a name"
        nobody = JudgedCall(message=message, id=_id(given), name="", arguments=None, raw=_raw(given), declared=False,
                            json_before=False, valid_before=False)  # fmt: skip
        return _refused(nobody, "wrong_shape", path, what)
    assert isinstance(function, dict)
    raw = function.get("arguments")
    value = raw if isinstance(raw, dict) else _object(raw)
    declared = tools.tools is None or name in tools.named
    found = JudgedCall(
        message=message, id=_id(given), name=name, arguments=value, raw=_raw(raw), declared=declared,
        json_before=value is not None, valid_before=False, valid_after=False,
    )  # fmt: skip
    padded = value is not None and repair and _is_padded(value, tools.named.get(name))
    if value is not None and declared and not padded and _fits(tools, name, value):
        notes = tuple(_ambiguous(value, tools.named.get(name), path))
        return Native(_with(found, valid_before=True, valid_after=True), (), notes)
    if not repair:
        return _judged_bad(found, value, path, tools)
    return _mended(found, raw, value, path, tools)


def _fits(tools: Toolset, name: str, value: Any) -> bool:
    accepts = tools.accepts(name)
    return accepts is None or accepts(value)


def _mended(found: JudgedCall, raw: Any, value: JsonObject | None, path: str, tools: Toolset) -> Native:
    where = f"{path}.function.arguments"
    text = raw if isinstance(raw, str) else _raw(raw)
    repairs: list[Repair] = []
    unpadded = None if value is None else _unpadded(value, tools.named.get(found.name))
    if unpadded is not None and found.declared and _fits(tools, found.name, unpadded):
        repairs.append(Repair("null_padding", where, (0, len(text)), text, dumps(unpadded)))
        return Native(_with(found, arguments=unpadded, verdict=Verdict.MENDED, valid_after=True), tuple(repairs))
    mends: list[str] = []
    reading = read_arguments(raw, name=found.name)
    if isinstance(reading, Issue):
        return _refused(found, str(reading.kind), where, reading.message)
    arguments, report = reading
    mends += [edit.kind for edit in report.edits] if report else []
    name, arguments, more, issue = _settled(found, arguments, tools)
    if issue is not None:
        return _judged_bad(found, arguments, path, tools, issue)
    mends += more
    if name != found.name:
        repairs.append(Repair("renamed_tool", f"{path}.function.name", (0, len(found.name)), found.name, dumps(name)))
    if mends or arguments != value:
        code = "double_encoded" if set(mends) == {"double_encoded"} else "mended_arguments"
        repairs.append(Repair(code, where, (0, len(text)), text, dumps(arguments), tuple(dict.fromkeys(mends))))
    verdict = Verdict.MENDED if repairs else Verdict.ACCEPTED
    return Native(_with(found, name=name, arguments=arguments, verdict=verdict, valid_after=True), tuple(repairs))


def _settled(
    found: JudgedCall, arguments: JsonObject, tools: Toolset
) -> tuple[str, JsonObject, list[str], Issue | None]:
    """Name and arguments as the judge of live calls leaves them, its mends, and the issue where it refuses."""
    calls = NativeCalls(tools.judge)
    written = dumps(arguments)
    told = [*calls.handle(CallStarted(0, "c", found.name)), *calls.handle(CallDelta(0, written)),
            *calls.handle(CallEnded(0, None, written))]  # fmt: skip
    name, pieces, mends, issue = found.name, list[str](), list[str](), None
    for event in told:
        match event:
            case CallStarted(name=given):
                name = given
            case CallDelta(json=piece):
                pieces.append(piece)
            case CallEnded(report=report) if report is not None:
                mends = [edit.kind for edit in report.edits]
            case IssueReported(issue=said):
                issue = said
            case _:
                pass
    if issue is not None:
        return name, arguments, mends, issue
    return name, loads("".join(pieces).encode() or b"{}"), mends, None


PARTICULAR = {"additionalProperties": "unknown_param", "required": "missing_required", "type": "type_mismatch"}
"""Schema keyword → the code of a fault of it."""


def _judged_bad(
    found: JudgedCall, value: JsonObject | None, path: str, tools: Toolset, issue: Issue | None = None
) -> Native:
    """A refused call, with a finding for each fault."""
    where = f"{path}.function.arguments"
    if not found.declared and (issue is None or issue.kind is IssueKind.UNKNOWN_TOOL):
        why = issue.message if issue else f"there is no tool named {found.name!r}"
        return _refused(found, "unknown_tool", f"{path}.function.name", why)
    if value is None:
        why = issue.message if issue else "its arguments are no JSON object"
        return _refused(found, str(issue.kind) if issue else "malformed", where, why)
    tool = tools.named.get(found.name)
    wrong: list[Fault] = faults(tool.parameters, value) if tool is not None else []
    if not wrong:
        return _refused(found, str(issue.kind) if issue else "invalid_arguments", where, issue.message if issue else "")
    said = [Finding(PARTICULAR.get(f.keyword, "invalid_arguments"), where + f.path[1:], f.message) for f in wrong]
    call = _with(found, verdict=Verdict.REFUSED, faults=tuple(f"{f.path}: {f.message}" for f in wrong))
    return Native(call, (), tuple(said))


def _refused(found: JudgedCall, code: str, path: str, message: str) -> Native:
    call = _with(found, verdict=Verdict.REFUSED, valid_after=False, faults=(message,))
    return Native(call, (), (Finding(code, path, message),))


def _with(found: JudgedCall, **more: Any) -> JudgedCall:
    names = ("message", "id", "name", "arguments", "raw", "native", "dialect", "verdict", "declared", "json_before",
             "valid_before", "valid_after", "faults")  # fmt: skip
    return JudgedCall(**{**{name: getattr(found, name) for name in names}, **more})


def _object(raw: Any) -> dict[str, Any] | None:
    """The object that arguments hold as they are written; blank ones hold none, and none are missing."""
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return {}
    if not isinstance(raw, str):
        return None
    try:
        value = loads(raw.encode("utf-8", "surrogatepass"))
    except BadRow:
        return None
    return value if isinstance(value, dict) else None


def _raw(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else dumps(value)


def _id(given: Mapping[str, Any]) -> str:
    id_ = given.get("id")
    return id_ if isinstance(id_, str) else ""


# ── nulls ────────────────────────────────────────────────────────────────────


def _is_padded(value: JsonObject, tool: Tool | None) -> bool:
    """Is one of these null under a key that its tool, which names its parameters, does not declare?"""
    if tool is None or None not in value.values() or "additionalProperties" in tool.parameters:
        return False
    declared = tool.parameters.get("properties")
    return isinstance(declared, Mapping) and any(one is None and key not in declared for key, one in value.items())


def _unpadded(value: JsonObject, tool: Tool | None) -> dict[str, Any] | None:
    """The arguments without nulls under undeclared keys, at any depth; None where there is none."""
    if tool is None:
        return None
    made = _without_nulls(value, tool.parameters)
    return made if made != value else None


def _without_nulls(value: JsonObject, schema: Any) -> dict[str, Any]:
    declared = schema.get("properties") if isinstance(schema, Mapping) else None
    declared = declared if isinstance(declared, Mapping) else {}
    made: dict[str, Any] = {}
    for key, member in value.items():
        if member is None and key not in declared:
            continue
        made[key] = _inner(member, declared.get(key))
    return made


def _inner(member: Any, schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return member
    if isinstance(member, dict) and isinstance(schema.get("properties"), Mapping):
        return _without_nulls(member, schema)
    if isinstance(member, list) and isinstance(schema.get("items"), Mapping):
        return [_inner(one, schema["items"]) for one in member]
    return member


def _ambiguous(value: JsonObject, tool: Tool | None, path: str) -> Iterator[Finding]:
    """Nulls of which nobody can say whether they were meant."""
    if tool is None or None not in value.values():
        return
    for key, member in value.items():
        if member is None:
            message = f"{key!r} is null: a value, or padding of a column"
            yield Finding("null_ambiguous", f"{path}.function.arguments.{key}", message)
