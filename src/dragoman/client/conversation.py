"""What the caller says as messages: a prompt, a conversation to go on with, or messages as OpenAI's API writes them.

Knows messages; nothing of models.  Contract: a system prompt that is given replaces the one a conversation begins with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from ..codecs import CODECS
from ..errors import UsageError
from ..types import Message

Said: TypeAlias = "str | Message | Mapping[str, Any] | Sequence[Message | Mapping[str, Any]]"

NOTHING_SAID = "there is nothing to say; give a prompt, or messages"
NOT_A_MESSAGE = "a {kind} is no message; give a text, a Message, or a mapping with role and content"


def conversation(prompt: Said, messages: Said, system: str | None) -> tuple[Message, ...]:
    """`messages`, then `prompt`, under `system` where it is given.  Raises UsageError for nothing at all."""
    said = (*_messages(messages), *_messages(prompt))
    if not said:
        raise UsageError(NOTHING_SAID)
    if system is None:
        return said
    first = next((at for at, message in enumerate(said) if message.role != "system"), len(said))
    return (Message("system", system), *said[first:])


def _messages(said: Said) -> Iterable[Message]:
    match said:
        case str():
            return (Message("user", said),) if said else ()
        case Message() | Mapping():
            return (_message(said),)
        case _:
            return tuple(map(_message, said))


def _message(said: Any) -> Message:
    if isinstance(said, Message):
        return said
    if not isinstance(said, Mapping):
        raise UsageError(NOT_A_MESSAGE.format(kind=type(said).__name__))
    body = {"model": "-", "messages": [dict(said)]}
    (message,) = CODECS["openai_chat"].decode_request(body).messages
    return message
