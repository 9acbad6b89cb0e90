"""Reports of the commands of `dragoman batch`, written, read again and compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import click

PAGE = "...batch.report.page"
"""Imported when a page is written: Jinja would slow the start of every command."""


def write_report(path: str, made: Mapping[str, Any]) -> None:
    """Write a report: a page where the name ends with .html, else JSON."""
    if path.endswith((".html", ".htm")):
        told = import_module(PAGE, __package__).page(made)
    else:
        told = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
    Path(path).write_text(told, encoding="utf-8")


def earlier(path: str) -> dict[str, Any]:
    """A report that was written before."""
    try:
        told = json.loads(Path(path).read_bytes())
    except ValueError as error:
        raise click.BadParameter(f"{path} is no JSON ({error}); give a report that --json or --report wrote") from None
    if not isinstance(told, dict) or told.get("dragoman") != "report":
        raise click.BadParameter(f"{path} is no report; give a file that --json or --report wrote")
    return told
