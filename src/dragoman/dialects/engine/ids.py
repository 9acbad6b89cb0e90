"""The ids of the calls of one message, where the text gives none, or one that was taken.

Knows ids alone, no calls.
Contract: no two calls of a message have one id.
"""

from __future__ import annotations

from collections.abc import Container, MutableMapping

MANY_ALIKE = 8
"""From so many calls with one id on, what sets them apart is a number."""


def default_id(index: int) -> str:
    """The id of the call with this index, where nobody else makes them."""
    return f"call_{index}"


def free_id(minted: str, taken: Container[str], again: MutableMapping[str, int]) -> str:
    """An id as it was `minted`, or like it, that is not `taken`; `again` counts how often each was minted that was."""
    if minted not in taken:
        return minted
    number = again[minted] = again.get(minted, 0) + 1
    free = minted + ("_" * number if number < MANY_ALIKE else f"_{number}")
    while free in taken:
        free += "_"
    return free
