"""`dragoman batch`: corpora of tool calls, inspected, judged, cleaned, converted, scored.  One file a command.

A command's module is imported when the command is called.
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType

import click

from ...errors import UnknownName

COMMANDS = MappingProxyType(
    {
        "inspect": ("inspect", "Say what a corpus is: its formats, verdicts and worst rows, by a sample."),
        "lint": ("lint", "Judge every row, and write nothing."),
        "clean": ("clean", "Keep the rows that are right, or can be made right; set the others aside."),
        "convert": ("convert", "Write every row in another format, and list what it cannot hold."),
        "score": ("score", "Say how well answers call tools, with exact definitions and intervals."),
        "leak": ("leak", "Find rows of training data that stand in evaluation data."),
    }
)
"""Command → (module of this package, one line of help)."""


class Lazy(click.Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f".{COMMANDS[cmd_name][0]}", __name__).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not args[0].startswith("-") and args[0] not in COMMANDS:
            raise UnknownName("command", args[0], COMMANDS, "dragoman batch --help")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(name="batch", cls=Lazy)
def command() -> None:
    """Corpora of tool calls: read by shape, judged, cleaned, converted, scored.

    Start with `dragoman batch inspect FILE`.
    """
