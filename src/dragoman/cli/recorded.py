"""`dragoman recordings`: what gateways recorded into a store, listed, shown, and exported as rows of a corpus.

Knows stores and what shows recordings; nothing of serving.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from ..errors import UsageError
from ..gateway.config.load import load, read
from ..gateway.config.words import FILE, RECORDINGS
from ..gateway.inspector.columns import fields_of
from ..gateway.inspector.recorded_rows import chat_row, recorded_rows
from ..gateway.inspector.restored import restored
from ..gateway.inspector.view import whole
from ..gateway.recordings.store import RecordingStore, is_postgres, open_store
from ..gateway.recordings.table import Query
from ..jsontext import dumps
from .outputs import print_json, print_table

F = TypeVar("F", bound=Callable[..., Any])
SPAN = re.compile(r"(\d+)\s*([smhdw])")
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
NOWHERE = f"no store of recordings is named; give --store, set {RECORDINGS}, or [recordings] url in {FILE}"
NO_FILE = "there are no recordings at {path}; give the path that [recordings] url names"
NO_SPAN = "{text!r} is no span of time; write 90m, 12h, 7d, or a date like 2026-11-23"
NONE = "no recording {number}; dragoman recordings list shows which there are"
BARE = "{count} exchanges were recorded without content and are no rows; set [recordings] content = true"
OPTIONS = (
    click.option("--store", default="", help=f"postgresql://… or an SQLite file. Default: {RECORDINGS}, else {FILE}."),
    click.option("--since", default="", help="Only what began since then: 90m, 12h, 7d, or a date."),
    click.option("--model", default="", help="Only what was asked of this model."),
    click.option("--route", default="", help="Only what this route (provider/model) answered."),
    click.option("--session", default="", help="Only the exchanges of this session."),
    click.option("--mark", multiple=True, help="Only what is mended, refused, reasked, failed …; may repeat."),
    click.option("--words", default="", help="Only what these words stand in."),
)


def _with_options(command: F) -> F:
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@click.group(name="recordings")
def command() -> None:
    """List, show and export what gateways recorded ([recordings] url).

    Start with `dragoman recordings list`.
    """


@command.command("list")
@_with_options
@click.option("--limit", default=50, show_default=True, help="Rows at most.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_(limit: int, as_json: bool, **asked: Any) -> None:
    """List exchanges, the newest first."""
    with _opened(asked.pop("store")) as store:
        left, query, rows = limit, _query(**asked), list[dict[str, Any]]()
        while left > 0 and (page := store.lines(replace(query, limit=left))):
            rows += [{"number": line.number, **fields_of(line), "marks": _marks(line.marks)} for line in page]
            left, query = left - len(page), replace(query, before=page[-1].number)
    if as_json:
        for row in rows:
            click.echo(dumps(row))
        return
    print_table(("number", "at", "model", "route", "status", "marks", "calls", "seconds"), map(_cells, rows))


@command.command()
@click.argument("number", type=int)
@OPTIONS[0]
def show(number: int, store: str) -> None:
    """Print all there is of one exchange, as JSON."""
    with _opened(store) as opened:
        found = opened.get(number)
    if found is None:
        raise UsageError(NONE.format(number=number))
    print_json(whole(restored(found)))


@command.command()
@_with_options
@click.option("--limit", default=0, help="Rows at most; 0: all.")
def export(limit: int, **asked: Any) -> None:
    """Write exchanges as JSON lines of OpenAI's chat form, with their verdicts: a corpus for `dragoman batch`.

    Only what was recorded with content can be exported ([recordings] content = true).
    """
    with _opened(asked.pop("store")) as store:
        query, count = _query(**asked), 0
        for count, row in enumerate(recorded_rows(store, query), 1):
            click.echo(dumps(chat_row(row)))
            if count == limit:
                break
        if not count and (bare := len(store.lines(query))):
            click.echo(BARE.format(count=bare), err=True)


# ── which store, and which rows ──────────────────────────────────────────────


@contextmanager
def _opened(named: str) -> Iterator[RecordingStore]:
    """The store that is named, or the one of the settings.  Raises UsageError where there is none."""
    where = named or read({}).server.recordings.url
    if not where and Path(FILE).is_file():
        where = load(FILE).server.recordings.url
    if not where:
        raise UsageError(NOWHERE)
    store = open_store(where)
    path = getattr(store, "path", None)
    if not is_postgres(where) and path is not None and not path.is_file():
        raise UsageError(NO_FILE.format(path=path))
    try:
        yield store
    finally:
        store.close()


def _query(*, since: str, model: str, route: str, session: str, mark: tuple[str, ...], words: str) -> Query:
    return Query(since=_since(since), model=model, route=route, session=session, marks=mark, words=words, limit=500)


def _since(text: str) -> float:
    if not text:
        return 0.0
    if found := SPAN.fullmatch(text.strip()):
        return time.time() - int(found[1]) * UNITS[found[2]]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except ValueError:
        raise UsageError(NO_SPAN.format(text=text)) from None


def _marks(written: str) -> list[str]:
    return [mark for mark in written.split("|") if mark]


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    at = datetime.fromtimestamp(row["at"]).isoformat(" ", "seconds")
    plain = (row["number"], at, row.get("model", ""), row.get("route", ""), row.get("status", ""))
    return (*map(str, plain), ",".join(row["marks"]), ",".join(row.get("calls", ())), f"{row.get('seconds', 0):.2f}")
