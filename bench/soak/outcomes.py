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

    def name(self, url: str, key: str, ended: Ended, said: Ended | None) -> str:
        """What became of a request, which refers to what was `said`."""
        if ended.stuck:
            return "STUCK"
        if ended.hung_up:
            return "hung up"
        if not ended.whole:
            killed = self.gateways[url].lost_with(ended.port, ended.begun, ended.ended)
            return "lost with its killed worker" if killed else f"LOST {ended.why}"[:90]
        if ended.status != 200:
            return self._refused(url, key, ended, said)
        try:
            return _answered(ended)
        except (ValueError, KeyError, TypeError) as error:
            return f"UNREADABLE {error!r}"[:90]

    def _refused(self, url: str, key: str, ended: Ended, said: Ended | None) -> str:
        error: dict[str, Any] = ended.value().get("error") or {}
        code, message = error.get("code"), str(error.get("message") or "")
        if not message:
            return f"UNREADABLE {ended.status} {ended.body[:40]!r}"
        if code == "state_unavailable":
            return self._away(url, ended)
        if "this key may have" in message:
            return "429 of the key's limit" if key == "bob" and ended.status == 429 else f"LIMIT {message}"[:90]
        if code == "previous_response_not_found" and said is not None:
            return self._not_found(url, said, ended)
        known = ended.status in UPSTREAM and "internal" not in message.lower()
        return f"upstream's error told, {ended.status}" if known else f"UNKNOWN {ended.status} {message}"[:90]

    def _away(self, url: str, ended: Ended) -> str:
        if ended.status != 503 or "retry-after" not in ended.headers:
            return f"STORE {ended.status} {ended.headers}"[:90]
        if self.store.away(ended.begun, ended.ended):
            return "503 store away"
        missed = self.gateways[url].missed_the_store(ended.begun, ended.ended)
        return "503, its process had no answer of the store in time" if missed else "STORE 503 while it was there"

    def _not_found(self, url: str, said: Ended, ended: Ended) -> str:
        if self.store.forgot(said.begun):
            return "not found: the store began anew since"
        if self.store.away(said.begun, said.ended):
            return "not found: said while the store was away"
        missed = any(each.missed_the_store(said.begun, said.ended) for one, each in self.gateways.items() if one != url)
        return "not found: who said it had no answer of the store in time" if missed else "NOT FOUND"


def _answered(ended: Ended) -> str:
    if "event-stream" not in ended.headers.get("content-type", ""):
        value = ended.value()
        return "answered" if value.keys() & {"choices", "content", "output"} else f"UNREADABLE {ended.body[:40]!r}"
    kinds = [event.get("type") or ("error" if "error" in event else "") for event in ended.events()]
    if any(kind in TOLD for kind in kinds):
        return "upstream's error told in the stream"
    return "answered" if kinds and kinds[-1] in LAST else f"UNENDED {kinds[-1:]}"
