"""Texts by owner and key that may change and go: of one process, or of all that share a file.

Knows texts; nothing of what they mean.  Contract: what one process put, changed or dropped is so for all of them at
once; a change is one step.  Where the file cannot be used each process goes on with its own memory, and what is not
found there is not said to be gone: that is an error which may be asked again (503).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock

from ...errors import ErrorKind, ProviderError
from ...memo import Recent
from .sqlite_cache import Store

MAX_BYTES = 32 * 1024 * 1024
ENTRY = 500
"""Bytes that keeping a text takes beside it."""
DOWN = "what is kept here cannot be read at this moment; send the request again"


def key_of(owner: str, name: str) -> str:
    """What is called `name`, in the hands of `owner`."""
    return f"{owner}\0{name}"


class Shelf:
    """Texts of one `kind`; without a `store` up to `limit` bytes of them in memory, the least used go first."""

    def __init__(self, kind: str, store: Store | None = None, limit: int = MAX_BYTES) -> None:
        self._kind, self._store, self._lock = kind, store, Lock()
        self._own: Recent[str, str | None] = Recent(limit)

    def get(self, owner: str, names: Sequence[str]) -> dict[str, str]:
        """The texts of those of `names` that are kept.  Raises ProviderError (503) where nobody can say."""
        keys = {key_of(owner, name): name for name in names}
        if self._store is not None:
            found = self._store.get(self._kind, list(keys))
            if self._store.usable:
                return {keys[key]: text for key, text in found.items()}
        own = {name: text for key, name in keys.items() if (text := self._own.get(key)) is not None}
        if self._store is not None and len(own) < len(keys):
            raise unusable()
        return own

    def one(self, owner: str, name: str) -> str | None:
        """The text called `name`."""
        return self.get(owner, [name]).get(name)

    def put(self, owner: str, rows: Mapping[str, str]) -> None:
        """Keep these."""
        named = {key_of(owner, name): text for name, text in rows.items()}
        if self._store is not None:
            self._store.put(self._kind, named)
        if self._store is None or not self._store.usable:
            for key, text in named.items():
                self._own.put(key, text, len(text) + ENTRY)

    def change(self, owner: str, name: str, change: Callable[[str | None], str | None]) -> None:
        """Put what `change` gives for the text called `name` in its place; None for none.  Raises what it raises."""
        key = key_of(owner, name)
        if self._store is not None and self._store.change(self._kind, key, change):
            return
        with self._lock:
            made = change(self._own.get(key))
            self._own.put(key, made, len(made or "") + ENTRY)

    def drop(self, owner: str, name: str) -> None:
        """Keep it no more."""
        self.change(owner, name, lambda _: None)


def unusable() -> ProviderError:
    """The error of a store that nobody can look into now."""
    return ProviderError(DOWN, status=503, kind=ErrorKind.OVERLOADED, code="state_unavailable", retry_after=1.0)
