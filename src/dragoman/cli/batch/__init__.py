"""`dragoman batch`: corpora of tool calls, inspected, judged, cleaned, converted, scored.  One file a command.

A command's module is imported when the command is called.
"""

from __future__ import annotations

from types import MappingProxyType

import click

from ..lazy import Lazy

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


@click.group(name="batch", cls=Lazy, package=__name__, table=COMMANDS, told="dragoman batch --help")
def command() -> None:
    """Corpora of tool calls: read by shape, judged, cleaned, converted, scored.

    Start with `dragoman batch inspect FILE`.
    """
