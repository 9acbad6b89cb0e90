"""When the chunks of a provider's answer arrived, for observers who measure that.

Knows effects and exchange records; nothing of what a chunk holds.  Contract: the last request of an attempt counts,
which is the one that was answered; what fails has no chunk.
"""

from __future__ import annotations

from typing import Any

from ...effects import Effect, Open, PerformAsync, Read
from .exchange_record import ExchangeRecord


def with_chunk_times(perform: PerformAsync, record: ExchangeRecord) -> PerformAsync:
    """`perform`, writing into the attempt under way when it was sent and when something of its answer came."""

    arrivals: list[float] = []

    async def performed(effect: Effect) -> Any:
        nonlocal arrivals
        attempt = record.attempts[-1] if record.attempts else None
        if attempt is not None and type(effect) is Open:
            arrivals = []
            attempt.sent, attempt.arrivals = record.clock(), arrivals
        result = await perform(effect)
        if attempt is not None and type(effect) is Read and result:
            arrivals.append(record.clock())
        return result

    return performed
