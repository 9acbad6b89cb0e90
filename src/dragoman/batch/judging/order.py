"""The order of the turns: what answers what, which ids come twice, what a chat template would refuse.

Knows messages of the chat API; nothing of schemas or texts.  Contract: changes nothing; a call and its result are
matched within their round, so an id that a later round uses again is no fault of the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..result import Finding

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


def findings(messages: Sequence[Mapping[str, Any]], path: str = "$.messages") -> Iterator[Finding]:
    """What is to be said of the order of these messages."""
    open_ids: list[str] = []
    seen: set[str] = set()
    wrote = False
    for i, message in enumerate(messages):
        role, where = message.get("role"), f"{path}[{i}]"
        if role == "assistant":
            wrote = True
            yield from _unanswered(open_ids, where)
            open_ids = [str(one.get("id", "")) for one in _calls(message)]
            yield from _ids(open_ids, seen, where)
            if not open_ids and not message.get("content") and not _has_more(message):
                yield Finding("empty_message", where, "the model's turn holds neither text nor calls")
        elif role == "tool":
            yield from _answered(str(message.get("tool_call_id", "")), open_ids, where)
        elif role in ("user", "system", "developer"):
            yield from _unanswered(open_ids, where)
            open_ids = []
            if role != "user" and i and any(m.get("role") not in ("system", "developer") for m in messages[:i]):
                yield Finding("role_order", where, "instructions stand in the middle; many templates refuse them there")
        elif not (isinstance(role, str) and role in ROLES):
            yield Finding("role_order", where, f"{role!r} is no role of the chat API")
    if messages and not wrote:
        yield Finding("no_answer", path, "no message of the model")


def _calls(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    calls = message.get("tool_calls")
    return [one for one in calls if isinstance(one, dict)] if isinstance(calls, list) else []


def _has_more(message: Mapping[str, Any]) -> bool:
    return any(message.get(key) for key in ("reasoning_content", "reasoning", "refusal", "function_call", "audio"))


def _unanswered(open_ids: list[str], where: str) -> Iterator[Finding]:
    if open_ids:
        yield Finding("missing_result", where, f"{len(open_ids)} calls before it were never answered")


def _ids(ids: Sequence[str], seen: set[str], where: str) -> Iterator[Finding]:
    if len(set(ids)) < len(ids):
        yield Finding("repeated_id", where, "two calls of this turn have the same id")
    elif seen.intersection(ids):
        yield Finding("reused_id", where, "an id of an earlier round is used again")
    seen.update(ids)


def _answered(id_: str, open_ids: list[str], where: str) -> Iterator[Finding]:
    if id_ in open_ids:
        open_ids.remove(id_)
    else:
        yield Finding("orphan_result", where, f"no call of this round has the id {id_!r}")
