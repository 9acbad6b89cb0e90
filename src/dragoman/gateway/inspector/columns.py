"""The columns that say how an exchange went, and the line of a list that is made of them.

Knows records and the row of the store; nothing of what was said, of wires or of databases.
Contract: what a client or a model named is written without secrets; a line is the same whether the row holds it in
columns alone, or, as rows of earlier versions do, once more as JSON.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ...redaction import redact_patterns
from ..recordings.store import Line
from ..recordings.table import DAY, StoredRow, without_nul
from ..telemetry.exchange_record import ExchangeRecord
from .redaction import blot

LONGEST_NAME = 200
NOTHING_SAID = {"prompt": "", "answer": "", "error": "", "path": "", "again": 0, "size": 0, "calls": ()}


def stored_row(
    exchange: ExchangeRecord,
    spelt: tuple[str, ...],
    *,
    began: float,
    request_id: str,
    marks: Sequence[str],
    line: str,
    document: str,
    namespace: str = "",
    session: str = "",
    status: int = 0,
    content: int = 0,
    again: int = 0,
    size: int = 0,
    bodies: str = "",
) -> StoredRow:
    """The row; `spelt` are the secrets, in every spelling, `status` is of an answer that the record knows nothing of.

    It is given the exchange's own id as it may be shown (`clean`).
    """
    first, attempts = exchange.first, exchange.attempts
    used = exchange.response.usage if exchange.response is not None else None
    last = attempts[-1] if attempts else None
    return StoredRow(  # by position, as its fields stand: by name it takes twice as long
        int(began // DAY),
        began,
        exchange.ended - exchange.begun,
        first - exchange.begun if first is not None else -1.0,
        namespace,
        _process(os.getpid()),
        request_id,
        exchange.key,
        exchange.front,
        clean_name(exchange.model, spelt),
        f"{last.place.provider}/{clean_name(last.place.model, spelt)}" if last is not None else "",
        exchange.status or status,
        exchange.outcome,
        int(exchange.stream),
        session,
        last.reask if last is not None else 0,
        len(attempts),
        used.input if used is not None else 0,
        used.output if used is not None else 0,
        f"|{'|'.join(marks)}|" if marks else "|",
        content,
        again,
        size,
        line,
        document,
        bodies,
    )




def clean(text: str, spelt: tuple[str, ...]) -> str:
    """A short text that a client chose: without secrets, as a column can hold it."""
    if not text:
        return ""
    data = blot(redact_patterns(text[:LONGEST_NAME]).encode("utf-8", "replace"), spelt)
    return without_nul(data.decode("utf-8", "replace"))


@lru_cache(maxsize=256)
def clean_name(text: str, spelt: tuple[str, ...]) -> str:
    """The same of a model's name, which comes again and again."""
    return clean(text, spelt)


@lru_cache(maxsize=4)
def _process(pid: int) -> str:
    return f"{socket.gethostname()}:{pid}"


def fields_of(line: Line) -> dict[str, Any]:
    """The fields of a line, as `line.row` has them."""
    return {
        **NOTHING_SAID,
        "session": line.session,
        "request_id": line.request_id,
        "front": line.front,
        "model": line.model,
        "route": line.route,
        "status": line.status,
        "outcome": line.outcome,
        "seconds": line.seconds,
        "reasks": line.reasks,
        "attempts": line.attempts,
        "at": line.began,
        "key": line.owner,
        "stream": bool(line.stream),
        "first": line.first if line.first >= 0 else None,
        "tokens": [line.input_tokens, line.output_tokens] if line.input_tokens or line.output_tokens else None,
        **json.loads(line.line),
    }
