"""A group of commands whose modules are imported when they are asked for, and not for `--help`.

Knows a table of commands; nothing of what they do.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, TypeAlias

import click

from ..errors import UnknownName

Commands: TypeAlias = Mapping[str, tuple[str, str]]
"""Command → (module of the package, one line of help)."""


class Lazy(click.Group):
    """The commands of `table`, modules of `package`; an unknown one is answered with where to find them (`told`)."""

    def __init__(self, *args: Any, package: str, table: Commands, told: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._package, self._table, self._told = package, table, told

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._table:
            return None
        command: click.Command = import_module(f".{self._table[cmd_name][0]}", self._package).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not args[0].startswith("-") and args[0] not in self._table:
            raise UnknownName("command", args[0], self._table, self._told)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self._table.items()])
