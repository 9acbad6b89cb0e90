"""Texts by owner and key that may change and go: of one process, or of all that share a store.

Knows texts and effects; nothing of what the texts mean.  Contract: what one process put, changed or dropped is so for
all of them at once; a change is one step.  Where a store cannot be looked into, what is not found is not said to be
gone: that is an error which may be asked again (503).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock

from ...effects import Address, Machine, Recall, Revise
from ...memo import Recent
from ...turn.shared_cache import retain

MAX_BYTES = 32 * 1024 * 1024
ENTRY = 500
"""Bytes that keeping a text takes beside it."""


def key_of(owner: str, name: str) -> str:
    """What is called `name`, in the hands of `owner`."""
    return f"{owner}\0{name}"


class Shelf:
    """Texts of one `kind`; where they are not `shared`, up to `limit` bytes in memory, the least used go first."""

    def __init__(self, kind: str, *, shared: bool = False, limit: int = MAX_BYTES) -> None:
        self._kind, self._shared, self._lock = kind, shared, Lock()
        self._own: Recent[str, str | None] = Recent(limit)

    def get(self, owner: str, names: Sequence[str]) -> Machine[dict[str, str]]:
        """The texts of those of `names` that are kept.  Raises ProviderError (503) where nobody can say."""
        keys = {key_of(owner, name): name for name in names}
        if not self._shared:
            return {name: text for key, name in keys.items() if (text := self._own.get(key)) is not None}
        found: Mapping[Address, str] = yield Recall([(self._kind, key) for key in keys])
        return {keys[key]: text for (_, key), text in found.items()}

    def one(self, owner: str, name: str) -> Machine[str | None]:
        """The text called `name`."""
        return (yield from self.get(owner, [name])).get(name)

    def rows(self, owner: str, texts: Mapping[str, str]) -> dict[Address, str]:
        """Keep these; what others are to keep of them is given."""
        named = {key_of(owner, name): text for name, text in texts.items()}
        if self._shared:
            return {(self._kind, key): text for key, text in named.items()}
        for key, text in named.items():
            self._own.put(key, text, len(text) + ENTRY)
        return {}

    def put(self, owner: str, texts: Mapping[str, str]) -> Machine[None]:
        """Keep these."""
        yield from retain(self.rows(owner, texts))

    def change(self, owner: str, name: str, change: Callable[[str | None], str | None]) -> Machine[None]:
        """Put what `change` gives for the text called `name` in its place; None for none.  Raises what it raises."""
        key = key_of(owner, name)
        if self._shared:
            yield Revise((self._kind, key), change)
            return
        with self._lock:
            made = change(self._own.get(key))
            self._own.put(key, made, len(made or "") + ENTRY)

    def drop(self, owner: str, name: str) -> Machine[None]:
        """Keep it no more."""
        yield from self.change(owner, name, lambda _: None)
