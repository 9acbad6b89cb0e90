"""Values by key that requests leave for those that follow: in this process, and where there are several, for all.

Knows texts and effects; nothing of stores.  A cache of bounded size, which several threads may share.
Contract: what was put or found here is given without asking anybody; others are asked once for all that is missing;
what cannot be written down is kept in this process alone, and what cannot be read is as good as not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ..effects import Address, Machine, Recall, Retain
from ..errors import ProviderError
from ..memo import Recent

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Shared(Generic[T]):
    """Values of one `kind` that others may need: `write` and `read` make texts of them, and raise TypeError or
    ValueError else.  `vital`: what cannot be looked up is an error; else it is done without."""

    kind: str
    write: Callable[[T], str]
    read: Callable[[str], T]
    vital: bool = False


class SharedCache(Generic[T]):
    """Values up to `limit` in sum of their `size`; `shared` where others keep and find them too."""

    def __init__(self, limit: int, size: Callable[[T], int], shared: Shared[T] | None = None) -> None:
        self._recent: Recent[str, T] = Recent(limit)
        self._size, self._shared = size, shared

    def __len__(self) -> int:
        return len(self._recent)

    def holds(self) -> bool:
        """May there be anything?"""
        return self._shared is not None or bool(self._recent)

    def get(self, keys: Sequence[str]) -> Machine[dict[str, T]]:
        """The values of those of `keys` that are known.  Raises ProviderError (503) where a vital one may be kept."""
        found = {key: value for key in keys if (value := self._recent.get(key)) is not None}
        if self._shared is None or len(found) == len(keys):
            return found
        missing = [(self._shared.kind, key) for key in dict.fromkeys(keys) if key not in found]
        if missing:
            texts = yield from _recalled(missing, self._shared.vital)
            for (_, key), text in texts.items():
                try:
                    value = found[key] = self._shared.read(text)
                except (TypeError, ValueError):
                    continue  # of another version
                self._recent.put(key, value, self._size(value))
        return found

    def keep(self, values: Mapping[str, T]) -> dict[Address, str]:
        """Keep these here; what others are to keep of them is given."""
        for key, value in values.items():
            self._recent.put(key, value, self._size(value))
        if self._shared is None:
            return {}
        texts: dict[int, str] = {}  # one value may stand under several keys
        for value in values.values():
            if id(value) not in texts:
                try:
                    texts[id(value)] = self._shared.write(value)
                except (TypeError, ValueError, RecursionError):
                    continue
        kind = self._shared.kind
        return {(kind, key): texts[id(value)] for key, value in values.items() if id(value) in texts}

    def put(self, values: Mapping[str, T]) -> Machine[None]:
        """Keep these, here and for others."""
        yield from retain(self.keep(values))


def _recalled(addresses: Sequence[Address], vital: bool) -> Machine[Mapping[Address, str]]:
    try:
        texts: Mapping[Address, str] = yield Recall(addresses)
    except ProviderError:
        if vital:
            raise
        return {}
    return texts


def retain(rows: Mapping[Address, str]) -> Machine[None]:
    """Keep these for all; nothing is asked where there are none."""
    if rows:
        yield Retain(rows)
