"""Lists of a body that come again with every request, with their JSON, which is written once.

Knows lists and how a conversation grows; no wire.
Contract: what stands in such a list is changed by nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...conversation.grown import Grown, by_growth
from ...jsontext import to_json
from ...types import Message


class Written(list[Any]):
    """A list as a wire has it, and its JSON."""

    __slots__ = ("json",)

    def __init__(self, listed: Iterable[Any], json: bytes) -> None:
        super().__init__(listed)
        self.json: bytes = json


def write_each(
    messages: Sequence[Message], write: Callable[..., list[dict[str, Any]]], *constants: Any
) -> list[Any]:
    """What `write` makes of each message and the constants, one behind the other; each stands for itself there.

    Of a conversation that grew (`conversation/grown.py`) only what is new is written.
    """
    if type(messages) is not Grown:
        return [wire for message in messages for wire in write(message, *constants)]
    listed, json = _written(messages, write, *constants)
    return Written(listed, b"[" + json + b"]")


@by_growth
def _written(
    messages: Sequence[Message], start: int, known: tuple[tuple[Any, ...], bytes] | None,
    write: Callable[..., list[dict[str, Any]]], *constants: Any,
) -> tuple[tuple[Any, ...], bytes]:  # fmt: skip
    more = [wire for message in messages[start:] for wire in write(message, *constants)]
    before, json = known or ((), b"")
    return (*before, *more), joined_json(json, more)


def joined_json(before: bytes, more: Sequence[Any]) -> bytes:
    """The inside of a JSON array, and more of it."""
    if not more:
        return before
    json = to_json(more)[1:-1].encode()
    return before + b"," + json if before else json
