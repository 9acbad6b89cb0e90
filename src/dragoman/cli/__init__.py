"""The command line: `dragoman demo | serve | parse | render | prompt | learn | convert | list …`.

stdout carries data, stderr everything else; exit codes are 0 (done), 1 (failed), 2 (called wrongly), 130 (interrupted).
A command's module is imported when the command is called, so that `dragoman --version` costs nothing.

Contract: `main` never shows a traceback for a mistake of the user, of a file or of a peer; the message says what to do.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from types import MappingProxyType

import click

from ..errors import DragomanError, UsageError
from ..version import __version__
from .lazy import Lazy

COMMANDS = MappingProxyType(
    {
        "demo": ("demo", "Run a real task through the gateway with a model that has no tools."),
        "serve": ("serve", "Serve the gateway in front of a model."),
        "run": ("run", "Give a model a task and tools, and let it finish."),
        "chat": ("chat", "Talk with a model that has tools."),
        "mcp": ("mcp", "Serve tools over MCP, or list the tools of MCP servers."),
        "parse": ("parse", "Find the tool calls in what a model wrote."),
        "render": ("render", "Write tool calls in a dialect."),
        "prompt": ("prompt", "Write the prompt that explains tools to a model without them."),
        "recordings": ("recorded", "List, show and export what gateways recorded."),
        "learn": ("learn", "Learn how a model writes tool calls from its chat template."),
        "convert": ("convert", "Convert a request, a response or a stream from one API to another."),
        "batch": ("batch", "Inspect, judge, clean, convert and score corpora of tool calls."),
        "check": ("check", "Check a dragoman.toml, and show where each model goes."),
        "connect": ("connect", "Show or write the settings that make a client program use the gateway."),
        "doctor": ("doctor", "Probe a deployment: what can it really do, and what would help it?"),
        "completion": ("completion", "Print the completion script of bash, zsh or fish."),
        "list": ("listing", "List the dialects, codecs, providers or errors there are."),
    }
)
"""Command → (module of this package, one line of help)."""

INTERRUPTED = 130


@click.group(
    cls=Lazy, package=__name__, table=COMMANDS, told="dragoman --help",
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Tool calling for every language model.

    Start with `dragoman demo`.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit code."""
    color = False if os.environ.get("NO_COLOR") else None
    try:
        result = cli.main(arguments, prog_name="dragoman", standalone_mode=False, color=color)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has gone; what is still buffered must not complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except UsageError as error:
        return _fail(str(error), 2)
    except (DragomanError, OSError) as error:
        return _fail(str(error), 1)


def _fail(message: str, code: int) -> int:
    click.echo(f"Error: {message}", err=True)
    return code
