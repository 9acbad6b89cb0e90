"""What a gateway recorded, as samples to learn from: over its inspector, or out of a file of exported vectors.

Knows the inspector's questions (docs/inspector.md); what the parser made of the texts is left out: it is in question.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import httpx2

from ..dialects.learning.outputs import Sample, samples_of

API = "/inspect/api"
PATIENCE = 30.0
MOST_STEPS = 64
"""So many steps of one exchange are asked for: retries, re-asks, runs of tools."""
NONE = "{place} holds no output with tools; let a model answer through `dragoman serve --inspect` first"


def recorded(place: str, key: str = "") -> tuple[Sample, ...]:
    """The outputs kept at an address, or in a file of vectors; those without tools are left out."""
    address = place.startswith(("http://", "https://"))
    rows = list(_asked(place, key) if address else _in_file(place))
    found = [{**row, "calls": None} for row in rows if row.get("text") and row.get("tools")]
    if not found:
        raise click.UsageError(NONE.format(place=place))
    return samples_of(found)


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


def _asked(address: str, key: str) -> Iterator[Mapping[str, Any]]:
    """Each step of each exchange, as the inspector exports it; one that no model's text was read in has none."""
    root = address.rstrip("/").removesuffix("/inspect") + API
    headers = {"authorization": f"Bearer {key}"} if key else {}
    with httpx2.Client(timeout=PATIENCE, trust_env=False, headers=headers) as client:
        status, news = _get(client, f"{root}/exchanges")
        if status != httpx2.codes.OK:
            raise click.UsageError(f"{root} says {status}: {str(dict(news))[:300]}; see docs/inspector.md")
        for row in news.get("rows", ()):
            if row.get("live"):
                continue
            for step in range(MOST_STEPS):
                status, body = _get(client, f"{root}/exchanges/{row['number']}/export/dialect?hop={step}")
                if status == httpx2.codes.NOT_FOUND:
                    break  # there are no more steps
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
