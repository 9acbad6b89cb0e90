"""What was judged of the latest answers, for whoever asked them in this process.

An observer of exchanges.  Knows exchange records; keeps of them what holds no conversation beyond the reports.
Contract: the latest `MOST`, oldest first; from any thread.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from ...types import Issue, Report
from ..config.model import GatewayConfig
from ..telemetry.exchange_record import ExchangeRecord, UpstreamAttempt, reports

MOST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One answer.

    request_id  as its header `x-request-id` says
    api         the API the client speaks (a codec's name);  model  what it asked for;  route  who answered
    status      of the answer; 499 where the client left before its end
    outcome     ok, client_closed, or the kind of failure
    seconds     how long it took;  reasks  how often the model was asked again
    reports     one for each call in the answer that was judged;  issues  all that was wrong with it
    """

    request_id: str
    api: str
    model: str
    route: str
    stream: bool
    status: int
    outcome: str
    seconds: float
    reasks: int
    reports: tuple[Report, ...]
    issues: tuple[Issue, ...]


class Reports:
    """Keeps them."""

    def __init__(self) -> None:
        self._latest: deque[Served] = deque(maxlen=MOST)

    def latest(self) -> tuple[Served, ...]:
        """The latest answers, oldest first."""
        return tuple(self._latest)

    def take(self, config: GatewayConfig) -> None:
        """Settings do not matter here."""

    def exchange_began(self, record: ExchangeRecord) -> None:
        """Kept when it has ended."""

    def attempt_began(self, record: ExchangeRecord, attempt: UpstreamAttempt) -> None:
        """Kept when the exchange has ended."""

    def attempt_ended(self, record: ExchangeRecord, attempt: UpstreamAttempt) -> None:
        """Kept when the exchange has ended."""

    def exchange_ended(self, record: ExchangeRecord) -> None:
        """Keep what was judged."""
        response = record.response
        served = Served(
            request_id=record.request_id,
            api=record.front,
            model=record.model,
            route=record.route,
            stream=record.stream,
            status=record.status,
            outcome=record.outcome,
            seconds=record.seconds,
            reasks=record.reasks,
            reports=() if response is None else tuple(reports(response)),
            issues=() if response is None else response.issues,
        )
        self._latest.append(served)
