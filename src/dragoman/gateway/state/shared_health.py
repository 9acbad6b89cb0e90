"""Which routes failed lately, as all processes that share a store have seen it.

Knows places and conditions; nothing of requests.  Contract: as `fallback.Health`; what one process found out the others
know with the next exchange of their boards; of two things said of one place the later one holds; times are told by the
store's clock.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from ...errors import ErrorKind, ProviderError
from ...fallback import Health, Place, Rules
from ...fallback.health import Condition
from .board import Board

KIND = "health"


class SharedHealth(Health):
    """Conditions, told by way of `board`; `offset` gives the seconds by which the store's clock is ahead of ours."""

    def __init__(self, board: Board, offset: Callable[[], float]) -> None:
        super().__init__()
        self._board, self._offset = board, offset
        board.on_news.append(self._learn)

    def failed(self, where: Place, error: ProviderError, rules: Rules, *, began: float, now: float) -> None:
        """An exchange that began at `began` failed."""
        super().failed(where, error, rules, began=began, now=now)
        known = self._conditions.get(where)
        if known is not None and known.noted == now:
            self._tell(where, known)

    def answered(self, where: Place) -> None:
        """An exchange went well."""
        known = self._conditions.pop(where, None)
        if known is not None:
            self._tell(where, Condition(0, known.until, 0.0, known.kind))

    def _tell(self, where: Place, now: Condition) -> None:
        ahead = self._offset()
        until = now.until + ahead if now.until else 0.0
        text = json.dumps([now.failures, now.noted + ahead, until, str(now.kind)])
        self._board.put({(KIND, json.dumps(list(where))): text})

    def _learn(self) -> None:
        ahead = self._offset()
        for key, text in self._board.of_kind(KIND).items():
            try:
                where, (failures, noted, until, kind) = Place(*json.loads(key)), json.loads(text)
                said = Condition(int(failures), noted - ahead, until - ahead if until else 0.0, ErrorKind(kind))
            except (TypeError, ValueError):
                continue  # of another version
            known = self._conditions.get(where)
            if known is not None and known.noted > said.noted:
                continue
            if said.until:
                self._conditions[where] = said
            else:
                self._conditions.pop(where, None)
