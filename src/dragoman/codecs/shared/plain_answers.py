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
    return maker(Response)(
        message=message,
        stop=final_stop(stop, len(message.calls)),
        usage=usage,
        model=model if type(model) is str else "",
        id=id_ if type(id_) is str else "",
        extra=extra,
    )


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
    if type(given) is not dict or type(name) is not str or type(call_id) is not str:
        return None
    if not (name and call_id) or call_id in seen:
        return None
    try:
        written = dumps(given)
    except (ValueError, TypeError, RecursionError):
        return None
    seen.add(call_id)
    return maker(ToolCall)(id=call_id, name=name, arguments=given, raw=written, metadata=metadata)


def text_call(call_id: Any, name: Any, written: Any, seen: set[str], metadata: JsonObject = NOTHING) -> ToolCall | None:
    """A call whose arguments are the text of an object; None where its id was `seen`, or anything is missing."""
    if type(written) is not str or type(name) is not str or type(call_id) is not str:
        return None
    if not (name and call_id) or call_id in seen or written[-1:] != "}" or written[0] != "{":
        return None
    arguments = sound(written)
    if arguments is None:
        return None
    seen.add(call_id)
    return maker(ToolCall)(id=call_id, name=name, arguments=arguments, raw=written, metadata=metadata)


def simple_usage(usage: dict[str, Any], given: str, made: str, total: str = "") -> Usage | None:
    """What `usage` counts, where that is all that its fields say; None for any other, or for nothing."""
    if len(usage) != (3 if total else 2):
        return None
    asked, answered = usage.get(given), usage.get(made)
    if type(asked) is not int or type(answered) is not int or asked < 0 or answered < 0:
        return None
    both = asked + answered
    if both >= MOST or (total and not (type(told := usage.get(total)) is int and told == both)):
        return None
    return maker(Usage)(input=asked, output=answered) if both else None


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
