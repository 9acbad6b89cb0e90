"""Reports of the commands of `dragoman batch`, written, read again and compared."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from ...batch.running.files import replace_text

PAGE = "...batch.report.page"
"""Imported when a page is written: Jinja would slow the start of every command."""


PAGES, DATA = (".html", ".htm"), ".json"
OURS = b"<title>Tool calls of a corpus</title>"
HEAD = 4096


def check_reports(paths: Iterable[str], taken: Iterable[Path] = ()) -> None:
    """End the command before its work where a report could not be written in the end, or would take something's place.

    An earlier report may be written over; a file that is none may not, and none that this command reads or writes.
    """
    others = {place.resolve() for place in taken}
    for given in paths:
        why = _why_not(given, Path(given), others)
        if why:
            raise click.BadParameter(f"{given} {why}", param_hint="'--report'")


def _why_not(given: str, path: Path, others: Collection[Path]) -> str:
    if not given.endswith((*PAGES, DATA)):
        return f"ends neither in {PAGES[0]} nor in {DATA}; say by its name which it is to be"
    if path.resolve() in others:
        return "is a file of this command; give the report another name"
    if not os.access(path.parent, os.W_OK):
        return "stands in no folder that can be written to; make the folder, or give another"
    return "is there and is no report; give another name" if path.exists() and not _is_report(path) else ""


def _is_report(path: Path) -> bool:
    if not path.is_file():
        return False
    if path.suffix in PAGES:
        with path.open("rb") as file:
            head = file.read(HEAD)
        return not head or OURS in head
    try:
        return path.stat().st_size == 0 or bool(earlier(str(path)))
    except click.BadParameter:
        return False


def write_report(path: str, made: Mapping[str, Any]) -> None:
    """Write a report: a page where the name ends with .html, else JSON."""
    if path.endswith(PAGES):
        told = import_module(PAGE, __package__).page(made)
    else:
        told = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
    replace_text(Path(path), told)


def earlier(path: str) -> dict[str, Any]:
    """A report that was written before."""
    try:
        told = json.loads(Path(path).read_bytes())
    except ValueError as error:
        raise click.BadParameter(f"{path} is no JSON ({error}); give a report that --json or --report wrote") from None
    if not isinstance(told, dict) or told.get("dragoman") != "report":
        raise click.BadParameter(f"{path} is no report; give a file that --json or --report wrote")
    return told
