"""A recorded exchange as a row of the store: its columns, its line in a list, and a document of all there is.

Knows recordings and canonical values; nothing of databases.  `restored.py` reads what is written here.
Contract: nothing that is written holds a known secret.  What stands in a column is not written again (`bare.py` writes
what is recorded without what was said).
"""

from __future__ import annotations

import base64
from collections.abc import Hashable, Sequence
from dataclasses import fields
from hashlib import blake2b
from typing import Any

import orjson

from ...dialects.rows.record import to_record
from ...dialects.spec import Dialect
from ...memo import per_object
from ...providers.route import Route
from ...types import Request
from ..recordings.table import DAY
from ..recordings.writer import Made
from ..telemetry.exchange_record import ExchangeRecord, UpstreamAttempt
from .bare import FORM, attempt_fields, shown_address
from .canonical import encoded, messages_json, plain_json, tools_json
from .columns import clean, clean_name, stored_row
from .frames import folded
from .line import marks_of, words_of
from .pieces import FEW, Cut, Pieces, Place
from .recording import Body, Hop, Recording
from .redaction import blot, blotted, is_spelt_in

BIG = 128 * 1024
"""Bytes of a text from which on it stands apart, once a day however often it was sent."""
ROUTE = ("model", "strict", "doubt", "nonce", "prefix")


def made(recording: Recording, namespace: str = "", pieces: Pieces | None = None) -> Made:
    """A sealed recording as it is stored, with all that was said; `pieces` are those of the texts before it."""
    exchange, spelt = recording.exchange or ExchangeRecord(), recording.spelt
    document = _Document(recording, pieces or Pieces())
    words = words_of(recording)
    line = plain_json(words)
    line = plain_json(blotted(words, spelt)) if is_spelt_in(line, spelt) else line
    text = document.text().decode("utf-8", "replace")
    row = stored_row(
        exchange,
        spelt,
        began=recording.began,
        request_id=clean(exchange.request_id, spelt),
        marks=marks_of(exchange, recording.again),
        line=line.decode("utf-8", "replace"),
        document=text,
        namespace=namespace,
        session=recording.session,
        status=recording.status,
        content=1,
        again=recording.again,
        size=sum([body.size for body in recording.bodies()]),
        bodies=" ".join(document.bodies),
    )
    return Made(row, [(document.day, digest, text) for digest, text in document.apart.items()])


class _Document:
    """The document of one recording; `apart` are pieces that are to be stored with it, `bodies` all it refers to.

    What clients, models and providers said is blotted where it stands; names of ours are left alone, though some
    client's key may be one of them (`ollama`).
    """

    def __init__(self, recording: Recording, pieces: Pieces) -> None:
        self._recording, self._pieces = recording, pieces
        self._spelt: tuple[str, ...] = ()
        self.day = int(recording.began // DAY)
        self.apart: dict[str, str] = {}
        self.bodies: dict[str, None] = {}

    def text(self) -> bytes:
        """It, as JSON."""
        recording, exchange = self._recording, self._recording.exchange
        bodies = [self._body(body, what) for body, what in self._wires()]
        asked = self._asked(exchange.attempts) if exchange is not None else []
        made = plain_json(self._whole(bodies, asked))
        if not is_spelt_in(made, recording.spelt):
            return made
        self._spelt = recording.spelt  # as it hardly ever is: each text by itself
        return plain_json(self._whole(bodies, asked))

    def _said(self, value: Any) -> Any:
        """Plain data without secrets."""
        return orjson.Fragment(blot(plain_json(value), self._spelt)) if self._spelt else value

    def _canonical(self, value: Any) -> Any:
        """A canonical value in the form of `loop.journal.values`, without secrets."""
        return orjson.Fragment(blot(encoded(value), self._spelt))

    # ── texts that come again ────────────────────────────────────────────────

    def _wires(self) -> list[tuple[Body, Hashable]]:
        """The bodies, each with what tells it from others of its conversation; None for those that never come again."""
        recording = self._recording
        wires: list[tuple[Body, Hashable]] = [(recording.request, recording.path), (recording.response, None)]
        for hop in recording.hops:
            wires += [(hop.sent, hop.url), (hop.got, None)]
        return wires

    def _body(self, body: Body, what: Hashable) -> dict[str, Any]:
        """A body: its text, or base64 where it is none."""
        data = body.data
        written: dict[str, Any] = {"size": body.size, "pieces": body.times}
        if body.is_cut:
            written["cut"] = True
        try:
            return self._in_pieces(data, what) | written
        except UnicodeDecodeError:
            return written | {"base64": base64.b64encode(blot(data, self._recording.spelt)).decode()}

    def _cut(self, data: bytes, what: Hashable) -> Cut:
        recording, spelt = self._recording, self._recording.spelt
        if what is None or not recording.session:
            return Cut(text=blot(data, spelt))
        owner = recording.exchange.key if recording.exchange is not None else ""
        place = Place(owner, what, recording.session)
        return self._pieces.cut(self.day, place, data, spelt, self.apart)

    def _in_pieces(self, data: bytes, what: Hashable) -> dict[str, Any]:
        """A text: what is new, and the hashes of what stands before and behind it; what is big stands apart as well.

        Of what never comes again frames that are alike are written once.
        """
        if len(data) < FEW:
            return {"text": blot(data, self._recording.spelt).decode()}
        cut = self._cut(data, what)
        new, frames = folded(cut.text) if what is None else (cut.text, ())
        before, text = cut.before, new.decode()
        if len(new) >= BIG and "\0" not in text:
            digest = blake2b(new, digest_size=16).hexdigest()
            self.apart[digest], before, text = text, (*before, digest), ""
        written: dict[str, Any] = {"text": text}
        if frames:
            written["frames"] = [each.decode() for each in frames]
        if before:
            written["before"] = before
        if cut.behind:
            written["behind"] = cut.behind
        self.bodies |= dict.fromkeys((*before, *filter(None, [cut.behind])))
        return written

    def _asked(self, attempts: Sequence[UpstreamAttempt]) -> list[Any]:
        """What each place was asked; the number of the attempt that was asked the same."""
        found: list[Any] = []
        for number, attempt in enumerate(attempts):
            same = next((n for n, other in enumerate(attempts[:number]) if other.request is attempt.request), None)
            found.append(self._request(attempt.request) if same is None else same)
        return found

    def _request(self, request: Request) -> dict[str, Any]:
        """A canonical request; its messages and tools come again with the next turn."""
        spelt = self._recording.spelt
        written: dict[str, Any] = {
            "model": orjson.Fragment(blot(plain_json(request.model), spelt)),
            "messages": self._in_pieces(messages_json(request.messages), "messages"),
        }
        rest = {name: value for name, usual in REST.items() if (value := getattr(request, name)) != usual}
        if rest:
            written["rest"] = orjson.Fragment(blot(encoded(rest), spelt))
        if request.tools:
            digest = self._pieces.constant(self.day, tools_json(request.tools), spelt, self.apart)
            self.bodies[digest] = None
            written["tools"] = digest
        return written

    # ── all of it ────────────────────────────────────────────────────────────

    def _whole(self, bodies: Sequence[dict[str, Any]], asked: Sequence[Any]) -> dict[str, Any]:
        recording, exchange = self._recording, self._recording.exchange
        return {
            "form": FORM,
            "method": recording.method,
            "path": self._said(recording.path),
            "query": recording.query,
            "variables": self._said(dict(recording.variables)),
            "headers": recording.headers,
            "response_headers": recording.response_headers,
            "request": bodies[0],
            "response": bodies[1],
            "exchange": self._exchange(exchange, asked) if exchange is not None else None,
            "hops": [self._hop(hop, exchange, *bodies[2 * n + 2 : 2 * n + 4]) for n, hop in enumerate(recording.hops)],
        }

    def _exchange(self, exchange: ExchangeRecord, asked: Sequence[Any]) -> dict[str, Any]:
        attempts, response = exchange.attempts, exchange.response
        same = next((n for n, attempt in enumerate(attempts) if attempt.response is response), None)
        if same is None and response is not None:  # a stream's answer is made anew
            same = next((n for n, attempt in enumerate(attempts) if attempt.response == response), None)
        return {
            "status": exchange.status,
            "begun": exchange.begun,
            "first": exchange.first,
            "ended": exchange.ended,
            "error": self._said(str(exchange.error) if exchange.error is not None else ""),
            "response": self._canonical(response) if same is None or response is None else same,
            "attempts": [
                {
                    **self._attempt(attempt),
                    "request": request,
                    "response": self._canonical(attempt.response) if attempt.response is not None else None,
                }
                for attempt, request in zip(attempts, asked, strict=True)
            ],
            "server_tools": self._canonical(tuple(exchange.server_tools)) if exchange.server_tools else None,
        }

    def _attempt(self, attempt: UpstreamAttempt) -> dict[str, Any]:
        model, failed = clean_name(attempt.place.model, self._recording.spelt), attempt.failure
        written = attempt_fields(attempt, model)
        if failed is not None:
            written["failure"]["message"] = self._said(failed.message)
        return written

    def _hop(self, hop: Hop, exchange: ExchangeRecord | None, sent: Any, got: Any) -> dict[str, Any]:
        attempts = exchange.attempts if exchange is not None else []
        at = next((n for n, attempt in enumerate(attempts) if attempt is hop.attempt), None)
        return {
            "ran": hop.ran,
            "nonce": hop.nonce,
            "method": hop.method,
            "url": hop.url,
            "begun": hop.begun,
            "status": hop.status,
            "opened": hop.opened,
            "ended": hop.ended,
            "attempt": at,
            "error": self._said(hop.error),
            "route": orjson.Fragment(_route(hop.route)) if hop.route is not None else None,
            "headers": hop.headers,
            "got_headers": hop.got_headers,
            "sent": sent,
            "got": got,
        }


REST = {each.name: each.default for each in fields(Request) if each.name not in {"model", "messages", "tools"}}
"""The other fields of a request, each with what it mostly is."""


@per_object
def _route(route: Route) -> bytes:
    """What of a route is needed to read its answers again, as JSON; nothing of its keys."""
    provider = route.provider
    rows = [route.dialects] if isinstance(route.dialects, str | Dialect) else [*route.dialects]
    return plain_json({
        **{name: getattr(route, name) for name in ROUTE},
        "provider": provider.name,
        "codec": provider.codec,
        "base_url": shown_address(route.base_url),
        "tools": str(route.tools.value) if route.tools is not None else None,
        "dialects": [_dialect(row) for row in rows],
        "prompt_dialect": _dialect(route.prompt_dialect),
    })  # fmt: skip


def _dialect(row: str | Dialect) -> Any:
    return row if isinstance(row, str) else to_record(row)
