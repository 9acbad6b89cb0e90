"""Calls and fields of whole answers that are read at once, on whatever wire.

Knows what the decoders make of a call that is as nearly all are; no wire.
Contract: what `CallBook.whole` gives of it, or None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ...jsontext import dumps
from ...records import maker
from ...types import NOTHING, JsonObject, Reasoning, Response, Stop, Text, ToolCall, Usage, spoken
from .body import MOST
from .encoder import final_stop
from .strict import sound

Spoken: TypeAlias = Text | Reasoning | ToolCall
NO_COUNTS: dict[str, Any] = {}
_TEXT = (str, type(None))


def answered(  # noqa: PLR0917
    parts: Sequence[Spoken], stop: Stop, usage: Usage | None, model: Any, id_: Any, extra: JsonObject
) -> Response:
    """The answer of these parts."""
    message = spoken(parts)
    stopped = final_stop(stop, len(message.calls))
    return maker(Response)(message=message, stop=stopped, usage=usage, model=a_text(model), id=a_text(id_), extra=extra)


def said_parts(
    thought: Any, content: Any, calls: Any, read: Callable[[dict[str, Any], set[str]], ToolCall | None]
) -> list[Spoken] | None:
    """The parts of a message that has one thought, one text and a list of calls; None where `read` takes none of these.

    `read` is given a call and the ids before it.
    """
    if type(thought) not in _TEXT or type(content) not in _TEXT:
        return None
    parts: list[Spoken] = []
    if thought:
        parts.append(maker(Reasoning)(thought))
    if content:
        parts.append(maker(Text)(content))
    if not calls:
        return parts
    seen: set[str] = set()
    for one in calls if type(calls) is list else (None,):
        call = read(one, seen) if type(one) is dict else None
        if call is None:
            return None
        parts.append(call)
    return parts


def object_call(
    call_id: Any, name: Any, given: Any, seen: set[str], metadata: JsonObject = NOTHING
) -> ToolCall | None:
    """A call whose arguments are an object; None where its id was `seen`, or anything is missing."""
    if type(given) is not dict or not _is_named(call_id, name, seen):
        return None
    try:
        written = dumps(given)
    except (ValueError, TypeError, RecursionError):
        return None
    seen.add(call_id)
    return maker(ToolCall)(id=call_id, name=name, arguments=given, raw=written, metadata=metadata)


def text_call(call_id: Any, name: Any, written: Any, seen: set[str], metadata: JsonObject = NOTHING) -> ToolCall | None:
    """A call whose arguments are the text of an object; None where its id was `seen`, or anything is missing."""
    if type(written) is not str or written[-1:] != "}" or written[0] != "{" or not _is_named(call_id, name, seen):
        return None
    arguments = sound(written)
    if arguments is None:
        return None
    seen.add(call_id)
    return maker(ToolCall)(id=call_id, name=name, arguments=arguments, raw=written, metadata=metadata)


def _is_named(call_id: Any, name: Any, seen: set[str]) -> bool:
    """Has it a name, and an id of its own?"""
    return type(call_id) is str and call_id != "" and call_id not in seen and type(name) is str and name != ""


def simple_usage(usage: dict[str, Any], given: str, made: str, total: str = "") -> Usage | None:
    """What `usage` counts, where that is all that its fields say; None for any other, or for nothing."""
    if len(usage) != (3 if total else 2):
        return None
    asked, answered = usage.get(given), usage.get(made)
    if not (type(asked) is int and type(answered) is int and 0 <= asked < MOST and 0 <= answered < MOST):
        return None
    if total and not (type(sum_ := usage.get(total)) is int and sum_ == asked + answered < MOST):
        return None
    return maker(Usage)(input=asked, output=answered) if asked or answered else None


def says_odd(fields: dict[str, Any], odd: tuple[str, ...]) -> bool:
    """Does one of the fields `odd` say anything?  Mostly none is there."""
    return not fields.keys().isdisjoint(odd) and any(map(fields.get, odd))


def a_text(value: Any) -> str:
    """`value` where it is a text, else ""."""
    return value if type(value) is str else ""


def others(fields: dict[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """The fields that are not `known`, nor null."""
    if fields.keys() <= known:
        return {}
    return {key: value for key, value in fields.items() if key not in known and value is not None}
