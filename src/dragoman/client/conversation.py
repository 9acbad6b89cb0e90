"""The caller's messages: a prompt, a conversation to go on with, or messages as OpenAI's API writes them.

Knows messages; nothing of models.  Contract: a system prompt that is given replaces the one a conversation begins with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from ..codecs import CODECS
from ..errors import UsageError
from ..types import Message

Prompt: TypeAlias = "str | Message | Mapping[str, Any] | Sequence[Message | Mapping[str, Any]]"

NOTHING_SAID = "there is nothing to say; give a prompt, or messages"
NOT_A_MESSAGE = "a {kind} is no message; give a text, a Message, or a mapping with role and content"


def conversation(prompt: Prompt, messages: Prompt, system: str | None) -> tuple[Message, ...]:
    """`messages`, then `prompt`, under `system` where it is given.  Raises UsageError for nothing at all."""
    turns = (*_messages(messages), *_messages(prompt))
    if not turns:
        raise UsageError(NOTHING_SAID)
    if system is None:
        return turns
    first = next((at for at, message in enumerate(turns) if message.role != "system"), len(turns))
    return (Message("system", system), *turns[first:])


def _messages(prompt: Prompt) -> Iterable[Message]:
    match prompt:
        case str():
            return (Message("user", prompt),) if prompt else ()
        case Message() | Mapping():
            return (_message(prompt),)
        case _:
            return tuple(map(_message, prompt))


def _message(given: Any) -> Message:
    if isinstance(given, Message):
        return given
    if not isinstance(given, Mapping):
        raise UsageError(NOT_A_MESSAGE.format(kind=type(given).__name__))
    body = {"model": "-", "messages": [dict(given)]}
    (message,) = CODECS["openai_chat"].decode_request(body).messages
    return message
