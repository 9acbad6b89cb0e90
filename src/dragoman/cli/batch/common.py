"""The options that the commands of `dragoman batch` have in common, and the value they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from ...batch.formats.table import FORMATS, format_named
from ...batch.options import Options
from ..inputs import read_tools

Command = TypeVar("Command", bound=Callable[..., Any])
ROW_OPTIONS = ("columns", "form", "tools", "doubt", "max_row", "no_recover", "no_repair")


def row_options(command: Command) -> Command:
    """A command with the options that say how rows are read and judged."""
    for option in reversed((
        click.option("--format", "form", metavar="NAME",
                     help=f"Format of all rows: {', '.join(FORMATS)}. Default: by shape."),
        click.option("--columns", multiple=True, metavar="NEW=OLD", help="Column OLD of the rows is NEW (repeatable)."),
        click.option("--tools", type=click.File(encoding="utf-8"), help="Tools of the rows that declare none."),
        click.option("--doubt", type=click.Choice(["ask", "run", "text"]), default="ask", show_default=True,
                     help="Fate of text that was perhaps not meant as a call."),
        click.option("--no-recover", is_flag=True, help="Read no calls out of text."),
        click.option("--no-repair", is_flag=True, help="Mend nothing."),
        click.option("--max-row", type=click.IntRange(1), default=64, show_default=True, metavar="MB",
                     help="A longer row is set aside."),
    )):  # fmt: skip
        command = option(command)
    return command


def options_of(asked: Mapping[str, Any], **more: Any) -> Options:
    """The value that the options of a command make."""
    if asked.get("form"):
        format_named(asked["form"])
    return Options(
        format=asked.get("form") or "", columns=tuple(map(_column, asked.get("columns", ()))),
        tools=read_tools(asked.get("tools")), doubt=asked.get("doubt", "ask"), max_row=asked.get("max_row", 64) << 20,
        recover=not asked.get("no_recover"), repair=not asked.get("no_repair"), **more,
    )  # fmt: skip


def _column(given: str) -> tuple[str, str]:
    new, equals, old = given.partition("=")
    if not equals or not new or not old:
        raise click.BadParameter(f"--columns takes NEW=OLD, as in messages=conversation, not {given!r}")
    return new, old
