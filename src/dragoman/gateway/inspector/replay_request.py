"""A reading asked for by the page: a recorded text judged again, as it was or otherwise, whole and step by step.

Knows records, hearings and plain data; nothing of ASGI.  Contract: what is asked wrongly is a UsageError that says what
to ask instead; no model is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...dialects.rows.table import DIALECTS
from ...errors import UsageError
from ...events import assemble
from ...schema.definitions import tools as as_tools
from ...types import Response
from .recording import Hop, Recording
from .redaction import blotted
from .replay import DecodedAnswer, ParserInput, answer_of, chunks, parser_input_of, regrouped, stages
from .view import folded, judged, plain

NO_ANSWER = "the provider gave no answer here; choose a step that has one"
AS_IT_WAS = "as it was"
AS_IT_CAME = "as it came"
TEXTS: dict[str, type] = {"text": str, "prefix": str, "strict": bool}


def reading(recording: Recording, hop: Hop, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What the text of `hop` comes to; `asked` says what is otherwise than it was."""
    answer = answer_of(hop)
    if answer is None:
        raise UsageError(NO_ANSWER)
    given = _otherwise(parser_input_of(hop, answer) or ParserInput(text="".join(answer.pieces)), asked)
    steps = stages(given, _pieces(given, answer, asked.get("chunk")))
    result = {
        "text": given.text,
        **judged(given),
        "tools": [plain(tool) for tool in as_tools(given.tools) or ()] if given.tools is not None else None,
        "stages": [{"read": read, "events": folded((0.0, event) for event in events)} for read, events in steps],
        "result": _result(assemble(event for _, events in steps for event in events)),
    }
    clean: dict[str, Any] = blotted(result, recording.spelt)
    return clean


def _result(response: Response) -> dict[str, Any]:
    return {
        "text": response.text,
        "reasoning": response.reasoning,
        "calls": [{"name": call.name, "arguments": plain(call.arguments)} for call in response.calls],
        "issues": [{"kind": str(issue.kind), "message": issue.message} for issue in response.issues],
    }


def _otherwise(given: ParserInput, asked: Mapping[str, Any]) -> ParserInput:
    """`given`, with what is asked for instead."""
    changes = _plain_changes(asked)
    if "finish_reason" in asked:
        changes["finish_reason"] = str(asked["finish_reason"]) if asked["finish_reason"] else None
    dialect = asked.get("dialect") or AS_IT_WAS
    if dialect != AS_IT_WAS:
        changes |= {"dialects": _dialect(str(dialect)), "prompted_dialect": ""}
    if "tools" in asked:
        changes["tools"] = None if asked["tools"] is None else tuple(as_tools(asked["tools"]) or ())
    return replace(given, **changes)


def _plain_changes(asked: Mapping[str, Any]) -> dict[str, Any]:
    changes = {name: asked[name] for name in TEXTS if asked.get(name) is not None}
    for name, value in changes.items():
        if not isinstance(value, TEXTS[name]):
            raise UsageError(f"{name} must be {TEXTS[name].__name__}; see what was used before")
    return changes


def _dialect(name: str) -> str:
    if name != "auto" and name not in DIALECTS:
        raise UsageError(f"there is no dialect {name!r}; see dragoman list dialects")
    return name


def _pieces(given: ParserInput, answer: DecodedAnswer, chunk: Any) -> Sequence[str]:
    """What is read, in the pieces asked for: a number of characters, or as it came."""
    came = regrouped(answer.read_pieces)
    if chunk in (None, AS_IT_CAME) and "".join(came) == given.text:
        return came
    return chunks(given.text, chunk if isinstance(chunk, int) and chunk > 0 else 0)
