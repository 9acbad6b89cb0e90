"""The header of a journal: the request and the form of its run, so that it can be resumed.

Knows requests and forms; nothing of files.  Contract: no key, no route and no function is in it: those come from the
client that goes on with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import JournalError
from ..loop import How, Output
from ..loop.journal import JournalStore, decode, encode
from ..types import Request
from .models import Models, listed

FORMAT = 1
REQUEST_FIELDS = ("messages", "tool_choice", "sampling", "extra")
"""Fields of the request that are kept; the others follow from the client and the call."""
UNWRITABLE = "this run cannot be written down: {why}; leave that out of its messages and extra fields"
UNREADABLE = "{path} does not say what it is a run of ({why}); give another file"


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalHeader:
    """The request of a run; `models` are names, none where it was given routes; `begun` by the run's clock."""

    run_id: str
    begun: float
    request: Request
    models: tuple[str, ...] = ()
    output: Output | None = None

    def write(self, store: JournalStore) -> None:
        """Begin the journal with it.  Raises JournalError for what cannot be written down."""
        form = self.output and [getattr(self.output, name) for name in ("schema", "name", "description")]
        written: dict[str, Any] = {
            "format": FORMAT,
            "run_id": self.run_id,
            "begun": self.begun,
            "models": list(self.models),
            "request": {name: getattr(self.request, name) for name in REQUEST_FIELDS},
            "output": self.output and [*(form or ()), str(self.output.how)],
        }
        try:
            store.write_about(encode(written))
        except TypeError as error:
            raise JournalError(UNWRITABLE.format(why=error)) from error


def read_header(store: JournalStore) -> JournalHeader:
    """The header of the journal.  Raises JournalError where it has none of a run."""
    try:
        header = decode(store.read_about())
        return JournalHeader(
            run_id=header["run_id"],
            begun=header["begun"],
            request=Request(model="", **header["request"]),
            models=tuple(header["models"]),
            output=_form(*header["output"]) if header["output"] else None,
        )
    except (ValueError, KeyError, TypeError) as error:
        raise JournalError(UNREADABLE.format(path=store.path, why=error)) from error


def names_of(models: Models) -> tuple[str, ...]:
    """The models by name; none where routes are among them, which hold keys."""
    each = listed(models)
    names = tuple(one for one in each if isinstance(one, str))
    return names if len(names) == len(each) else ()


def _form(schema: dict[str, Any], name: str, description: str, how: str) -> Output:
    return Output(schema=schema, name=name, description=description, how=How(how))
