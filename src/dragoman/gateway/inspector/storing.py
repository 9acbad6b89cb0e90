"""Exchanges recorded into a store: what they cost, how they went and what was judged; with content, both wires too.

An observer beside the gateway, as the recorder in memory; knows recordings and the queue before the store, nothing of
databases.  Contract: without content no byte of a wire is looked at; an exchange is served as it would be without; what
is secret is blotted before it leaves the process.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from ..http.asgi import Scope
from ..recordings.store import RecordingStore
from ..recordings.writer import MOST_BYTES, Made, Writer
from ..telemetry.exchange_record import ExchangeRecord, UpstreamAttempt
from .bare import made_bare
from .document import made
from .pieces import Pieces
from .recorder import CURRENT, Endpoint, Recorder, Upstreams
from .recording import Body, Recording
from .redaction import secrets_in, spellings

ROW = 2048
"""Bytes that an exchange without content takes while it waits, about."""


class StoringRecorder(Recorder):
    """Hands exchanges to `writer`, once they are over; `store` is read by whoever shows them, where `shown`.

    content    record what was said;  namespace  of the gateways whose keys are the same
    most_bytes  of all exchanges that run, together: beyond that one is recorded without its content, and counted
    """

    _blots = False

    def __init__(
        self,
        writer: Writer,
        store: RecordingStore,
        *,
        content: bool = False,
        namespace: str = "",
        shown: bool = False,
        most_bytes: int = MOST_BYTES,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(most_bytes=most_bytes, clock=clock, now=now)
        self._pieces = Pieces()
        writer.on_trouble = self._pieces.forget
        self.writer, self.store, self.content, self.namespace, self.shown = writer, store, content, namespace, shown

    def open(self) -> None:
        """Begin to write."""
        self.writer.start()

    def close(self) -> None:
        """Write what waits, and let go of the store."""
        self.writer.close()
        self.store.close()

    def recorded(self, endpoint: Endpoint) -> Endpoint:
        """`endpoint`, with its requests recorded, where their content is."""
        return super().recorded(endpoint) if self.content else endpoint

    def around(self, upstreams: Upstreams) -> Upstreams:
        """The same of connections to providers."""
        return super().around(upstreams) if self.content else upstreams

    def exchange_began(self, record: ExchangeRecord) -> None:
        """An exchange begins."""
        recording = CURRENT.get() if self.content else None
        if recording is not None:
            recording.exchange = record

    def attempt_began(self, record: ExchangeRecord, attempt: UpstreamAttempt) -> None:
        """Recorded when the exchange has ended."""

    def attempt_ended(self, record: ExchangeRecord, attempt: UpstreamAttempt) -> None:
        """Recorded when the exchange has ended."""

    def exchange_ended(self, record: ExchangeRecord) -> None:
        """An exchange of which no wire is recorded is over; any other goes on until its answer went out."""
        if not self.content or CURRENT.get() is None:
            self.writer.offer(partial(self._metadata, record), ROW)

    def _begins(self, recording: Recording) -> None:
        """Kept by whoever records it."""

    def _serves(self, recording: Recording, endpoint: Endpoint, scope: Scope) -> None:
        """A stored exchange is repeated by what is stored of it."""

    def _note(self, recording: Recording, size: int) -> None:
        """It has grown; nobody waits for news."""
        if recording.gone:
            return
        self.size += size
        if self.size > self.most_bytes:
            recording.gone = True
            recording.request, recording.response, recording.hops = Body(0), Body(0), []
            self.size -= recording.size

    def _ends(self, recording: Recording) -> None:
        recording.note()
        exchange = recording.exchange
        if not recording.gone:
            self.size -= recording.size
            self.writer.offer(partial(self._whole, recording), recording.size + ROW)
        elif exchange is not None:
            self.writer.without_content()
            self.writer.offer(partial(self._metadata, exchange), ROW)

    # ── in the thread of the writer ──────────────────────────────────────────

    def _whole(self, recording: Recording) -> Made:
        recording.seal()
        return made(recording, self.namespace, self._pieces)

    def _metadata(self, record: ExchangeRecord) -> Made:
        began = self._now() - (self._clock() - record.begun)
        return made_bare(record, began, spellings(self._secrets | secrets_in(record.headers)), self.namespace)
