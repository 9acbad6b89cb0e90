"""What a gateway recorded, as samples to learn from: over its inspector, out of its store, or of exported vectors.

Knows the inspector's questions (docs/inspector.md); what the parser made of the texts is left out: it is in question.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import click
import httpx2

from ..dialects.learning.outputs import Sample, samples_of
from ..errors import UsageError
from ..gateway.inspector.export import dialect_vector
from ..gateway.inspector.restored import restored
from ..gateway.recordings.store import is_store, open_store
from ..gateway.recordings.table import Query

API = "/inspect/api"
PATIENCE = 30.0
MOST_STEPS = 64
"""So many steps of one exchange are asked for: retries, re-asks, runs of tools."""
MOST_SAMPLES = 60
"""More outputs show no more of a dialect."""
NONE = "{place} holds no output with tools; let a model answer through `dragoman serve --inspect` first"


def recorded(place: str, key: str = "", model: str = "") -> tuple[Sample, ...]:
    """The newest outputs kept at an address, or in a file of vectors; those without tools are left out.

    `model` is part of the name of the model or route whose outputs are meant; a file's rows say it in their source.
    """
    address = place.startswith(("http://", "https://"))
    if address:
        rows = _asked(place, key, model)
    elif is_store(place):
        rows = _stored(place, model)
    else:
        rows = (row for row in _in_file(place) if model in str(row.get("source")))
    wanted = ({**row, "calls": None} for row in rows if row.get("text") and row.get("tools"))
    newest = address or is_store(place)
    found = list(islice(wanted, MOST_SAMPLES) if newest else deque(wanted, MOST_SAMPLES))
    if not found:
        raise click.UsageError(NONE.format(place=place))
    return samples_of(found)


def _stored(place: str, model: str) -> Iterator[Mapping[str, Any]]:
    """The steps of each exchange that was recorded with content, the newest first."""
    store, query = open_store(place), Query(content=True, limit=MOST_STEPS)
    try:
        while found := store.rows(query):
            query = replace(query, before=found[-1].number)
            for recording in (restored(one) for one in found if model in one.row.model or model in one.row.route):
                for hop in recording.hops:
                    with suppress(UsageError):
                        yield dialect_vector(recording, hop)
    finally:
        store.close()


def _in_file(place: str) -> Iterator[Mapping[str, Any]]:
    try:
        text = Path(place).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"cannot read {place}: {error}; give a gateway's address, or a file") from error
    for number, line in enumerate(text.splitlines(), 1):
        try:
            row = json.loads(line) if line.strip() else None
        except ValueError as error:
            raise click.BadParameter(f"line {number} of {place} is not JSON: {error}") from error
        if isinstance(row, dict):
            yield row


def _asked(address: str, key: str, model: str) -> Iterator[Mapping[str, Any]]:
    """Each step of each exchange, the newest first; one in which no model's text was read has none."""
    root = address.rstrip("/").removesuffix("/inspect") + API
    headers = {"authorization": f"Bearer {key}"} if key else {}
    with httpx2.Client(timeout=PATIENCE, trust_env=False, headers=headers) as client:
        status, news = _get(client, f"{root}/exchanges")
        if status != httpx2.codes.OK:
            raise click.UsageError(f"{root} says {status}: {str(dict(news))[:300]}; see docs/inspector.md")
        for row in reversed(news.get("rows", ())):
            if not row.get("live") and (model in str(row.get("model")) or model in str(row.get("route"))):
                yield from _steps(client, f"{root}/exchanges/{row['number']}")


def _steps(client: httpx2.Client, exchange: str) -> Iterator[Mapping[str, Any]]:
    for step in range(MOST_STEPS):
        status, body = _get(client, f"{exchange}/export/dialect?hop={step}")
        if status == httpx2.codes.NOT_FOUND:
            return  # there are no more steps
        if status == httpx2.codes.OK:
            yield json.loads(body["text"])


def _get(client: httpx2.Client, address: str) -> tuple[int, Mapping[str, Any]]:
    try:
        answer = client.get(address)
        body = answer.json()
    except (httpx2.HTTPError, ValueError) as error:
        why = f"no inspector answers at {address} ({error}); start dragoman serve --inspect"
        raise click.UsageError(why) from error
    return answer.status_code, body if isinstance(body, dict) else {}
