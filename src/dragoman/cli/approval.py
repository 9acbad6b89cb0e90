"""Asking a person whether a call may run: on the terminal, one question for one call.

Knows calls and a terminal; nothing of models.  Contract: nobody is asked about what the mode allows; where nobody can
be asked, nothing runs that would need it, and the model is told why; Ctrl-C at a question stops the run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click

from ..io.cancel import Cancel
from ..jsontext import dumps
from ..loop import Allowed, ApprovalRequest, Decision, Denied, Edited
from ..tools import Approval
from .interrupts import interruptible

MODES = ("never", "writes", "always")
NOBODY = "nobody can be asked to allow this call; it was not run"
HINT = "{name} was not run: standard input is no terminal, so nobody can be asked; --approve never allows every call"
QUESTION = "run it? [y]es, [n]o, [a]lways this tool, [e]dit the arguments"
CHOICES = click.Choice(["y", "n", "a", "e"])


class Approver:
    """Decides about calls: `never` asks about none, `always` about all, `writes` about those that may change things."""

    def __init__(self, mode: str, cancel: Callable[[], Cancel | None]) -> None:
        self._mode, self._cancel = mode, cancel
        self._allowed: set[str] = set()
        self._hinted = False

    def __call__(self, request: ApprovalRequest) -> Decision:
        name, runnable = request.call.name, request.runnable
        reads = runnable.read_only and runnable.approval is not Approval.ALWAYS
        if self._mode == "never" or (self._mode == "writes" and reads) or name in self._allowed:
            return Allowed()
        if not sys.stdin.isatty():
            self._hint(name)
            return Denied(NOBODY)
        with suppress(click.Abort, KeyboardInterrupt), interruptible():
            return self._ask(request)
        if (cancel := self._cancel()) is not None:
            cancel.cancel()
        return Denied("the user stopped the run")

    def _hint(self, name: str) -> None:
        """Once is enough."""
        if not self._hinted:
            self._hinted = True
            click.secho(HINT.format(name=name), fg="yellow", err=True)

    def _ask(self, request: ApprovalRequest) -> Decision:
        call = request.call
        click.secho(f"? {call.name} {dumps(call.arguments)}", fg="yellow", err=True)
        if request.problem:
            click.secho(f"  {request.problem}", fg="red", err=True)
        match click.prompt(QUESTION, type=CHOICES, default="y", show_choices=False, err=True):
            case "n":
                reason = click.prompt("why (told to the model)", default="", show_default=False, err=True)
                return Denied(reason or "the user does not want this call")
            case "e":
                return _edited(call.arguments)
            case "a":
                self._allowed.add(call.name)
        return Allowed()


def _edited(arguments: Any) -> Decision:
    text = json.dumps(dict(arguments), ensure_ascii=False, indent=2)
    while True:
        written = click.edit(text, extension=".json")
        if written is None:
            return Denied("the user does not want this call")
        text = written
        try:
            value = json.loads(text)
        except ValueError as error:
            click.secho(f"not JSON: {error}", fg="red", err=True)
            continue
        if isinstance(value, dict):
            return Edited(value)
        click.secho("the arguments must be an object", fg="red", err=True)
