"""What the commands read: files or standard input, JSON with the place of its mistakes, tools from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, Any

import click

from ..dialects.rows.record import from_json
from ..dialects.rows.table import DIALECTS
from ..dialects.spec import Dialect
from ..schema.definitions import tools as read_definitions
from ..types import Tool

STDIN = "standard input"


def read_json(source: IO[Any]) -> Any:
    """The JSON in `source`; a mistake ends the command with its line and column."""
    text = _read(source)
    try:
        return json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"{name(source)} is not JSON: {error}") from error


def read_text(source: IO[str]) -> str:
    """The whole text of `source`."""
    return str(_read(source))


def _read(source: IO[Any]) -> Any:
    """All of `source`; says so when a person has to type it."""
    if name(source) == STDIN and source.isatty():
        click.echo("reading from the terminal; end with Ctrl-D", err=True)
    try:
        return source.read()
    except UnicodeDecodeError as error:
        raise click.BadParameter(f"{name(source)} is not UTF-8 text: {error}") from error


def read_tools(source: IO[str] | None) -> tuple[Tool, ...] | None:
    """The tools in a file: one definition or a list of them, in any provider's form; None for no file."""
    if source is None:
        return None
    value = read_json(source)
    if isinstance(value, dict):
        value = value.get("tools", [value])
    if not isinstance(value, list):
        raise click.BadParameter(f"{name(source)} must hold a tool definition or a list of them")
    return read_definitions(value)


def read_dialect(named: str) -> Dialect:
    """The row of a built-in dialect by its name, or the row in a file (`mine.json`) that `dragoman learn` wrote."""
    return read_row(named) if named.endswith(".json") else DIALECTS[named]


def read_row(path: str) -> Dialect:
    """The row in a file."""
    try:
        return from_json(Path(path).read_text(encoding="utf-8"), path)
    except (OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"cannot read {path}: {error}") from error


def name(source: IO[Any]) -> str:
    """How to call a source in a message."""
    given = getattr(source, "name", "")
    return str(given) if isinstance(given, str) and given not in ("<stdin>", "-", "") else STDIN
