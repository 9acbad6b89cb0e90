"""What the state of a gateway holds, for `dragoman doctor`: of a directory, or of a store that machines share.

Knows the gateway's stores and the doctor's findings; asks no model.  Contract: of an address only what is no secret is
shown; a store that cannot be asked is a finding, not the end.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..doctor import Grade, ProbeResult, forget, learned
from ..errors import UsageError
from ..gateway.config.load import LEAST_SECRET, NAMESPACE, STATE_URL, Server
from ..gateway.config.words import STATE_KEY
from ..gateway.state.keeper import Unreachable
from ..gateway.state.stores import StateStores, open_stores, shown, stores_for
from ..gateway.state.survey import Survey
from ..providers.route import Route

PATIENCE = 5.0
"""Seconds a store has for an answer."""
NO_STATE = "--state {place!r} is no directory that exists, and no address of a store (redis://HOST:6379/0)"
NO_NAMESPACE = "a store that machines share needs --namespace, as [server] namespace of its gateways says"
NO_SECRET = f"to forget what stands in a store that machines share, set {STATE_KEY} as its gateways have it"
PROBE = "shared state"
OTHER_SECRET = "what stands there was written with another secret than this {key}"
SAME_FOR_ALL = f"give every process of the deployment the same {STATE_KEY}"
LOOK_AT_NAME = "compare [server] namespace; a gateway that was never started with it has nothing there"
WHY: dict[str, str] = {
    "TimeoutError": f"no answer within {PATIENCE:g} s",
    "ConnectionError": "nobody answers there",
    "AuthenticationError": "it does not take this user or password, or wants one",
    "AuthenticationWrongNumberOfArgsError": "it does not take this user or password, or wants one",
    "NoPermissionError": "this user may not read there (INFO, SCAN, HGETALL, ZCOUNT)",
    "ResponseError": "it refuses what was asked; is it a Redis or Valkey server, and is there such a database?",
}
REACH = "start it, or compare [server] state; requests go on without it where they can"


@dataclass(frozen=True, slots=True)
class State:
    """Where a gateway keeps what it learnt: a directory, or a store at an address."""

    place: str
    namespace: str = ""

    def findings(self, route: Route, model: str, *, forgets: bool, told: Callable[[str], None]) -> list[ProbeResult]:
        """What is remembered of `model`, after forgetting where that is wanted, which is `told`."""
        return asyncio.run(self._findings(route, model, forgets=forgets, told=told))

    async def _findings(
        self, route: Route, model: str, *, forgets: bool, told: Callable[[str], None]
    ) -> list[ProbeResult]:
        stores, found = self._opened(forgets=forgets), list[ProbeResult]()
        try:
            if STATE_URL.match(self.place):
                found.append(await self._shared(stores))
                if found[0].facts.get("unreachable"):
                    return found
            await stores.exchange()
            if forgets and found and found[0].facts.get("same_secret") is False:
                raise UsageError(f"{OTHER_SECRET.format(key=STATE_KEY)}; nothing was forgotten")
            if forgets:
                told(f"forgot {forget(route, model, stores.learned)} things about {model!r}")
            return [*found, *learned(route, model, stores.learned, time.time())]
        finally:
            await stores.aclose()

    def _opened(self, *, forgets: bool) -> StateStores:
        if not STATE_URL.match(self.place):
            if not Path(self.place).is_dir():
                raise UsageError(NO_STATE.format(place=shown(self.place) if "://" in self.place else self.place))
            return open_stores(self.place)
        if not NAMESPACE.fullmatch(self.namespace):
            raise UsageError(NO_NAMESPACE)
        secret = os.environ.get(STATE_KEY, "").strip()
        if forgets and len(secret) < LEAST_SECRET:
            raise UsageError(NO_SECRET)
        return stores_for(
            Server(state=self.place, namespace=self.namespace, state_key=secret, state_timeout=PATIENCE)
        )

    async def _shared(self, stores: StateStores) -> ProbeResult:
        store: Any = stores.keeper.store if stores.keeper is not None else None
        where = shown(self.place)
        try:
            return self._told(where, await store.survey())
        except Unreachable as error:
            why = _why(error)
        message = f"the state at {where} cannot be read: {why}"
        return ProbeResult(
            probe=PROBE, grade=Grade.BAD, message=message, remedy=REACH, facts={"unreachable": True, "why": why}
        )

    def _told(self, where: str, found: Survey) -> ProbeResult:
        """The finding of a store that answers."""
        kind = f"{found.version}{', a Cluster' if found.cluster else ''}"
        least = "" if found.whole else "at least "
        held = (
            f"{least}{found.texts:,} texts, limits of {found.limits:,} keys, {found.notes:,} notes of models; "
            f"{found.processes} processes live"
        )
        message, remedy, grade = f"{kind} at {where} answers; {self.namespace!r} has {held}", "", Grade.GOOD
        secret = len(os.environ.get(STATE_KEY, "").strip()) >= LEAST_SECRET
        if found.is_empty and found.whole:
            there = f", but of {', '.join(map(repr, found.others[:5]))}" if found.others else ""
            message = f"{kind} at {where} answers; it has nothing of {self.namespace!r}{there}"
            remedy, grade = LOOK_AT_NAME, Grade.POOR
        elif found.same_secret is False and secret:
            message = f"{message}; {OTHER_SECRET.format(key=STATE_KEY)}"
            remedy, grade = SAME_FOR_ALL, Grade.POOR
        facts = {
            "version": found.version, "cluster": found.cluster, "milliseconds": round(found.seconds * 1000, 2),
            "texts": found.texts, "limits": found.limits, "notes": found.notes, "processes": found.processes,
            "whole": found.whole, "same_secret": found.same_secret if secret else None,
        }  # fmt: skip
        return ProbeResult(probe=PROBE, grade=grade, message=message, remedy=remedy, facts=facts)


def _why(error: BaseException) -> str:
    """The first cause of a store's silence that has a name here."""
    why, cause = type(error).__name__, error.__cause__
    while cause is not None:
        why, cause = WHY.get(type(cause).__name__, why), cause.__cause__
    return why
