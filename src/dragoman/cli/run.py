"""`dragoman run`: one task, with tools, to its end.

stdout gets the answer and nothing else (or, with --json, every step); calls, results and corrections go to stderr.
Exit codes: 0 answered, 1 not (a limit, a refusal, a failure), 2 called wrongly, 130 interrupted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from ..events import TextDelta
from ..io.cancel import Cancel
from ..loop import Interrupted, Run, TurnEnded
from .interrupts import stopping
from .progress import outcome, print_step, show
from .session import opened, task_text, with_options

INTERRUPTED = 130


@click.command(name="run")
@click.argument("task", nargs=-1)
@with_options
@click.option("--journal", type=click.Path(dir_okay=False), help="File for every step, to continue after a crash.")
@click.option("--resume", is_flag=True, help="Continue the run in --journal.")
def command(
    task: tuple[str, ...], journal: str | None, resume: bool, as_json: bool, quiet: bool, **options: Any
) -> int:
    """Give a model a task and tools, and let it finish.

    The task is read from standard input when it is not given, or "-".
    """
    if resume and not journal:
        raise click.UsageError("--resume needs --journal PATH: the run to go on with")
    prompt = "" if resume else task_text(task)
    cancel, on_event = Cancel(), _printer(as_json=as_json, quiet=quiet)
    with opened(lambda: cancel, **options) as session, stopping(cancel):
        if resume and journal:
            run = session.client.resume(journal, on_event=on_event, cancel=cancel)
        else:
            run = session.client.run(prompt, journal=journal, on_event=on_event, cancel=cancel)
    return finish(run, as_json=as_json)


def _printer(*, as_json: bool, quiet: bool) -> Callable[[Any], None]:
    if as_json:
        return print_step
    return _nothing if quiet else _show


def _nothing(_: Any) -> None:
    return None


def _show(step: Any) -> None:
    """Text before calls is no answer: it is shown with them."""
    if isinstance(step, TurnEnded) and step.response.calls and step.response.text.strip():
        click.secho(step.response.text.strip(), dim=True, err=True)
    elif not isinstance(step, TextDelta):
        show(step)


def finish(run: Run, *, as_json: bool) -> int:
    """Print what the run came to; the exit code that says it."""
    if as_json:
        print_step(run)
    elif text := outcome(run).strip():
        click.echo(text)
    if run.why:
        click.secho(run.why, fg="red", err=True)
    return INTERRUPTED if isinstance(run.end, Interrupted) else 0 if run.done else 1
