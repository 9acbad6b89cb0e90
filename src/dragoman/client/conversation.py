"""The caller's messages: a prompt, a conversation to go on with, or messages as any API writes them.

Knows messages; nothing of models.  Contract: a system prompt that is given for these messages replaces the one they
begin with, a client's own stands before it; what no codec reads is refused, never left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias

from ..codecs import CODECS
from ..codecs.shared.message_shapes import MIXED, PLAIN, request_of, written_for
from ..errors import UsageError
from ..types import Message

Prompt: TypeAlias = "str | Message | Mapping[str, Any] | Sequence[Message | Mapping[str, Any]] | None"

CHAT = frozenset({"tool_calls", "tool_call_id"})
WITHOUT_CHAT = ("anthropic_messages", "bedrock_converse", "gemini", "gemini_interactions", "openai_responses")
"""What messages of OpenAI's chat have, and the APIs whose own have neither: no codec of these reads them."""
NOTHING_SAID = "there is nothing to say; give a prompt, or messages"
NOT_A_MESSAGE = "a {kind} is no message; give a text, a Message, or messages as an API writes them"


def conversation(prompt: Prompt, messages: Prompt, system: str | None, own: str | None = None) -> tuple[Message, ...]:
    """`messages`, then `prompt`, under `system` where it is given, else behind the client's `own`.

    A conversation that begins with it goes on under it.  Raises UsageError for nothing at all.
    """
    turns = (*_messages(messages), *_messages(prompt))
    if not turns:
        raise UsageError(NOTHING_SAID)
    first = next((at for at, message in enumerate(turns) if message.role != "system"), len(turns))
    if system is None:
        is_new = own is not None and all(message.text != own for message in turns[:first])
        return (Message("system", own or ""), *turns) if is_new else turns
    return (Message("system", system), *turns[first:])


def _messages(prompt: Prompt) -> Iterable[Message]:
    match prompt:
        case None:
            return ()
        case str():
            return (Message("user", prompt),) if prompt else ()
        case Message() | Mapping():
            return _read((prompt,))
        case list() | tuple() | Iterator() | Sequence() if not isinstance(prompt, bytes | bytearray | memoryview):
            return _read((*prompt,))
    raise UsageError(NOT_A_MESSAGE.format(kind=type(prompt).__name__))


def _read(given: Sequence[Any]) -> Iterable[Message]:
    """Messages, with those that an API wrote read by its codec: all that follow each other at once, for they pair."""
    for one in given:
        if not isinstance(one, Message | Mapping):
            raise UsageError(NOT_A_MESSAGE.format(kind=type(one).__name__))
    api = written_for([one for one in given if isinstance(one, Mapping)])
    if api in WITHOUT_CHAT and any(isinstance(one, Mapping) and not CHAT.isdisjoint(one) for one in given):
        raise UsageError(MIXED.format(first=api, second=PLAIN))
    for ours, group in groupby(given, lambda one: isinstance(one, Message)):
        several = list(group)
        yield from several if ours else CODECS[api].decode_request(request_of(several, api)).messages
