"""The arguments of a native call: whatever the wire holds → an object, or an `Issue` that says what to do.

The one seam between the wires and the mending of JSON.  Knows no wire.  Contract: `{}` only for arguments that are
absent, null or blank; nothing is invented, every mend is an `Edit`; what cannot be read keeps its text in `Issue.raw`.
Source: seed document 000 ("Arguments"), malformations.md §2 and §4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from ...errors import DragomanError
from ...jsontext import dumps, to_json
from ...lenient.notation import Broken, Cut
from ...lenient.reader import mend
from ...types import Edit, Issue, IssueKind, JsonObject, Report, Tier, ToolCall, Verdict
from . import strict
from .body import kind

Reading: TypeAlias = "tuple[JsonObject, Report | None] | Issue"


def read_arguments(raw: Any, *, name: str = "", call_id: str = "", cut: bool = False) -> Reading:
    """The arguments and, where something was mended, the audit trail; or the `Issue` for which the call is not given.

    `cut` says that the answer stopped in this call, so that blank arguments are missing ones, not none.
    """
    edits: list[Edit] = []
    value = raw
    try:
        if isinstance(raw, str):
            value = _read(raw, edits) if raw.strip() else None
            if isinstance(value, str):
                value = _unwrap(value, edits)
    except (ValueError, Broken, Cut) as fault:
        return refused(raw, str(fault) or "they end too early", name=name, call_id=call_id, cut=cut)
    if value is None and not cut:
        return {}, _report(edits)
    if not isinstance(value, Mapping):
        why = "they are missing" if value is None else f"they are {kind(value)}"
        return refused(raw, why, name=name, call_id=call_id, cut=cut)
    return value, _report(edits)


def _read(text: str, edits: list[Edit]) -> Any:
    try:
        return strict.loads(text)
    except ValueError:
        text = _without_end_tokens(text, edits)
        value, mends = mend(text)
        edits += mends
        return strict.loads(dumps(value))  # what the mender lets pass must still be JSON for everybody


END_TOKENS = re.compile(r"(?:<[|｜][^<>|｜\s]{1,40}[|｜]>|</s>)+\Z")
"""Tokens with which a model ends its turn, leaked into what it wrote last (formats.md §5)."""
FAR = 200


def _without_end_tokens(text: str, edits: list[Edit]) -> str:
    text = text.rstrip()
    found = END_TOKENS.search(text, max(0, len(text) - FAR))
    if found is None:
        return text
    edits.append(Edit("control_token", "$", found.group()))
    return text[: found.start()]


def _unwrap(text: str, edits: list[Edit]) -> Any:
    edits.append(Edit("double_encoded", "$"))
    value = _read(text, edits) if text.strip() else None
    if isinstance(value, str):
        raise ValueError("they are a string in a string")
    return value


def _report(edits: list[Edit]) -> Report | None:
    if not edits:
        return None
    return Report(tier=Tier.NATIVE, edits=tuple(edits), verdict=Verdict.MENDED)


def refused(raw: Any, why: str, *, name: str, call_id: str, cut: bool) -> Issue:
    """The issue of a call whose arguments cannot be used, with a correction for the model."""
    text = raw if isinstance(raw, str) else as_text(raw)
    tool = f"`{name}`" if name else "a tool without a name"
    if cut:
        return Issue(
            kind=IssueKind.TRUNCATED,
            message=f"the call of {tool} was cut off before its arguments were complete; it was not run",
            raw=text,
            name=name,
            call_id=call_id,
            correction=f"Your call of {tool} was cut off because the answer reached its length limit. Nothing was run. "
            "Send the call again, whole and shorter.",
        )
    return Issue(
        kind=IssueKind.MALFORMED,
        message=f"the arguments of the call of {tool} are not one JSON object: {why}; it was not run",
        raw=text,
        name=name,
        call_id=call_id,
        correction=f"The arguments of your call of {tool} are not one valid JSON object: {why}. Nothing was run. "
        "Send the call again with its arguments as one JSON object.",
    )


def as_text(raw: Any) -> str:
    """`raw` as JSON text, as far as it has any."""
    if raw is None:
        return ""
    try:
        return to_json(raw)
    except DragomanError:
        return repr(raw)


def arguments_text(call: ToolCall, *, broken: bool = False) -> str:
    """The arguments of `call` as JSON text: as the model wrote them where that is strict and says the same.

    A broken call of the past is one without arguments where a server reads them: it would answer every later turn with
    a 400 (Ollama: "invalid tool call arguments").  `broken`: it is replayed as it stands.
    """
    if not call.raw:
        return dumps(call.arguments)
    if broken and call.report is not None and call.report.verdict is Verdict.REFUSED:
        return call.raw
    try:
        same = strict.loads(call.raw) == call.arguments
    except ValueError:
        same = False
    return call.raw if same else dumps(call.arguments)
