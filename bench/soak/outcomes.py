"""What an answer of the soak over machines is called, and whether that was to be expected.

Knows the APIs' errors and ends; asks `Gateway` and `Store` who suffered by what.  Contract: a name in capitals is an
answer that nothing explains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .asking import Ended
from .disasters import Gateway, Store

LAST = ("[DONE]", "message_stop", "response.completed", "response.incomplete")
TOLD = ("error", "response.failed")
UPSTREAM = frozenset({429, 500, 502, 503, 504, 529})
"""How an error of the model's server may be told."""


@dataclass(slots=True)
class Outcomes:
    """Of requests to these gateways over this store."""

    gateways: dict[str, Gateway]
    store: Store

    def name(self, url: str, key: str, ended: Ended, said_at: float | None) -> str:
        """What became of a request; `said_at` is when the response it refers to was said."""
        if ended.stuck:
            return "STUCK"
        if ended.hung_up:
            return "hung up"
        if not ended.whole:
            killed = self.gateways[url].lost_with(ended.port, ended.begun, ended.ended)
            return "lost with its killed worker" if killed else f"LOST {ended.why}"[:90]
        if ended.status != 200:
            return self._refused(key, ended, said_at)
        try:
            return _answered(ended)
        except (ValueError, KeyError, TypeError) as error:
            return f"UNREADABLE {error!r}"[:90]

    def _refused(self, key: str, ended: Ended, said_at: float | None) -> str:
        error: dict[str, Any] = ended.value().get("error") or {}
        code, message = error.get("code"), str(error.get("message") or "")
        if not message:
            return f"UNREADABLE {ended.status} {ended.body[:40]!r}"
        if "while the state" in message or code == "state_unavailable" or "cannot be asked" in message:
            right = ended.status == 503 and "retry-after" in ended.headers and self.store.away(ended.begun, ended.ended)
            return "503 store away" if right else f"STORE {ended.status} {message}"[:90]
        if "this key may have" in message:
            return "429 of the key's limit" if key == "bob" and ended.status == 429 else f"LIMIT {message}"[:90]
        if code == "previous_response_not_found" and said_at is not None:
            if self.store.forgot(said_at):
                return "not found: the store began anew since"
            away = self.store.away(said_at, ended.ended)
            return "not found: said while the store was away" if away else "NOT FOUND"
        known = ended.status in UPSTREAM and "internal" not in message.lower()
        return f"upstream's error told, {ended.status}" if known else f"UNKNOWN {ended.status} {message}"[:90]


def _answered(ended: Ended) -> str:
    if "event-stream" not in ended.headers.get("content-type", ""):
        value = ended.value()
        return "answered" if value.keys() & {"choices", "content", "output"} else f"UNREADABLE {ended.body[:40]!r}"
    kinds = [event.get("type") or ("error" if "error" in event else "") for event in ended.events()]
    if any(kind in TOLD for kind in kinds):
        return "upstream's error told in the stream"
    return "answered" if kinds and kinds[-1] in LAST else f"UNENDED {kinds[-1:]}"
