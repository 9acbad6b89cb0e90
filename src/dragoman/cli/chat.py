"""`dragoman chat`: a conversation with a model that has tools; each line is a message.

stdout gets what the model says, as it says it (or, with --json, every step); all else goes to stderr.  Every
conversation is kept in a file, and --continue goes on with the last one.  Ctrl-C stops the answer that is going on and
keeps the conversation; at the prompt it ends the program, like Ctrl-D.  Lines may be piped in.
Exit codes: 0 the conversation was ended, 1 the last answer failed, 2 called wrongly, 130 interrupted at the prompt.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from ..events import TextDelta
from ..io.cancel import Cancel
from ..loop import Interrupted, Run, TurnEnded
from ..types import Message
from .chat_store import Chat, latest, new_path
from .interrupts import interruptible, stopping
from .progress import one_line, outcome, print_step, show
from .session import Session, opened, with_options

HELP = """/help   this
/tools  the tools the model has
/new    begin a new conversation
/undo   forget the last message and what came of it
/exit   end (or Ctrl-D)"""


@click.command(name="chat")
@with_options
@click.option("--continue", "go_on", is_flag=True, help="Continue the last conversation.")
@click.option(
    "--history",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Conversation file; continued if it exists.",
)
def command(go_on: bool, history: Path | None, as_json: bool, quiet: bool, **options: Any) -> int:
    """Talk with a model that has tools.

    /help lists what can be done besides.
    """
    path = history or (latest() if go_on else None) or new_path()
    talk = _Talk(Chat.at(path), as_json=as_json, quiet=quiet)
    with opened(lambda: talk.cancel, **options) as session:
        return talk.on(session)


class _Talk:
    """One sitting: the conversation, and how it is shown."""

    def __init__(self, chat: Chat, *, as_json: bool, quiet: bool) -> None:
        self.cancel: Cancel | None = None
        self._chat, self._json, self._quiet = chat, as_json, quiet
        self._speaking = self._line_open = False
        self._failed = False

    def on(self, session: Session) -> int:
        """Until the user has nothing more to say."""
        if sys.stdin.isatty():
            self._greet(session)
        for line in _lines():
            if line in ("/exit", "/quit"):
                break
            if line.startswith("/"):
                self._obey(line, session)
            else:
                self._answer(line, session)
        return 1 if self._failed and not sys.stdin.isatty() else 0

    def _greet(self, session: Session) -> None:
        so_far = f", {len(self._chat.messages)} messages so far" if self._chat.messages else ""
        click.secho(f"{session.model}, {len(session.tools)} tools{so_far}; /help, Ctrl-D ends", dim=True, err=True)

    def _obey(self, line: str, session: Session) -> None:
        commands: dict[str, Callable[[], str]] = {
            "/help": lambda: HELP,
            "/tools": lambda: "\n".join(f"{n}  {one_line(each.tool.description)}" for n, each in session.tools.items()),
            "/new": self._anew,
            "/undo": self._undo,
        }
        do = commands.get(line.split(maxsplit=1)[0])
        click.secho(do() if do else f"there is no {line.split(maxsplit=1)[0]}; there are:\n{HELP}", dim=True, err=True)

    def _anew(self) -> str:
        self._chat = Chat.at(new_path())
        return f"a new conversation, kept in {self._chat.path}"

    def _undo(self) -> str:
        return "forgotten" if self._chat.undo() else "there is nothing to forget"

    def _answer(self, line: str, session: Session) -> None:
        cancel = self.cancel = Cancel()
        messages = (*self._chat.messages, Message("user", line))
        with stopping(cancel):
            run = session.client.run(messages=messages, on_event=self._on_event, cancel=cancel)
        self.cancel = None
        self._chat.replace(run.messages)
        self._end(run)

    def _on_event(self, step: Any) -> None:
        if self._json:
            print_step(step)
        elif isinstance(step, TextDelta):
            self._write(step.text)
        else:
            if isinstance(step, TurnEnded):
                self._break()
            if not self._quiet:
                show(step)

    def _write(self, text: str) -> None:
        """More of the answer; what a turn leaves blank before it speaks, or calls, is not shown."""
        text = text if self._speaking else text.lstrip()
        if text:
            click.echo(text, nl=False)
            sys.stdout.flush()
            self._speaking, self._line_open = True, not text.endswith("\n")

    def _break(self) -> None:
        """What was said ends with its line."""
        if self._line_open:
            click.echo()
        self._speaking = self._line_open = False

    def _end(self, run: Run) -> None:
        self._failed = not run.done and not isinstance(run.end, Interrupted)
        if self._json:
            print_step(run)
            return
        self._break()
        text = outcome(run)
        if text and text != run.text:
            click.echo(text)
        if run.why:
            click.secho(run.why, fg="yellow", err=True)


def _lines() -> Iterator[str]:
    """What the user says, line by line, without empty ones."""
    terminal = sys.stdin.isatty()
    if terminal:
        with contextlib.suppress(ImportError):  # line editing, where Python has it
            import_module("readline")
    while True:
        try:
            with interruptible():
                line = _typed() if terminal else sys.stdin.readline()
        except EOFError:
            click.echo(err=True)
            return
        if not line and not terminal:
            return
        if line.strip():
            yield line.strip()


def _typed() -> str:
    click.secho("> ", fg="cyan", nl=False, err=True)
    return input()
