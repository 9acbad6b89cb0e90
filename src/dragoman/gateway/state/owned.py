"""Things that providers keep for clients of this gateway (files, batches): whose each is, and where it is kept.

One account at a provider serves all our keys, so that a list there shows everybody's.  Knows ids; nothing of what they
name.  Contract: a key sees what it made itself; where no keys are asked for, everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...effects import Machine
from ...errors import ErrorKind, ProviderError
from .shelf import Shelf

NOT_YOURS = "No such {kind} object: {id}; ask for one that this key made here"
NAMED = ("input_file_id", "output_file_id", "error_file_id")
"""Fields of a batch that name files."""


class Owned:
    """Who made what; only kept where there are keys (`owner` is not "")."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def note(self, made: Mapping[str, Any], owner: str, place: str) -> Machine[None]:
        """`owner` made this thing at `place`, and owns the files it names."""
        ids = [made.get("id"), *(made.get(name) for name in NAMED)]
        names = [name for name in ids if isinstance(name, str) and name]
        if owner and names:
            yield from self._shelf.put(owner, dict.fromkeys(names, place))

    def place(self, name: str, owner: str, kind: str) -> Machine[str]:
        """Where the thing is kept; "" where nobody notes that.  Raises ProviderError (404) for another's."""
        found = (yield from self._shelf.one(owner, name)) if owner else ""
        if found is None:
            message = NOT_YOURS.format(kind=kind, id=name[:80])
            raise ProviderError(message, status=404, kind=ErrorKind.NOT_FOUND, code="not_found")
        return found

    def own(self, listed: Iterable[Any], owner: str) -> Machine[list[Any]]:
        """Those of a list that are the owner's."""
        things: Sequence[Any] = [one for one in listed if isinstance(one, Mapping)]
        if not owner:
            return list(things)
        known = yield from self._shelf.get(owner, [str(one.get("id")) for one in things])
        return [one for one in things if str(one.get("id")) in known]
