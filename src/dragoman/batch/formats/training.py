"""Rows for training out of rows in which the model was corrected: the conversation without what was wrong, or a pair.

A refused answer, what it was told, and the good answer after it are one correction.  Knows messages and which of them
are refused; nothing of verdicts or files.
Contract: no message is changed; what is left out is left out whole, with all that answers it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from ...records import NamedTuple
from ..row_json import BadRow
from .alternatives import PAIR, straightened
from .chat_row import Chat, ChatRow

SFT, DPO = "sft", "dpo"
PURPOSES = (SFT, DPO)
SHOWN = 16
"""Characters of a row's hash that its pairs are called by."""


class Correction(NamedTuple):
    """The number of the refused answer, and of the good one after it; -1 where none came."""

    refused: int
    good: int


def corrections(messages: Sequence[Chat], refused: Collection[int]) -> Iterator[Correction]:
    """Each refused answer that follows no other, with the first good one after it, before the user goes on."""
    at = 0
    while (first := next((i for i in sorted(refused) if i >= at), -1)) >= 0:
        good = -1
        for i in range(first + 1, len(messages)):
            if messages[i].get("role") == "assistant" and i not in refused:
                good = i
                break
        yield Correction(first, good)
        if good < 0:
            return
        at = good + 1


def for_purpose(chat: ChatRow, purpose: str, refused: Collection[int], row_id: str) -> list[ChatRow]:
    """The rows for training that a row makes, at least one; raises `BadRow` where it makes none.

    The row's own answer is one that is learnt from; what is a pair already stays one.
    refused  numbers of messages, those of the row's own answer counted on behind the conversation
    """
    if purpose == SFT:
        return [supervised(straightened(chat, flagged=True), refused)]
    return [chat] if set(chat.branches) >= PAIR else pairs(straightened(chat), refused, row_id)


def supervised(chat: ChatRow, refused: Collection[int]) -> ChatRow:
    """The conversation as if the good answers had come at once; it ends before a wrong one that nobody corrected."""
    made = _straight(chat.messages, refused, len(chat.messages))
    while made and made[-1].get("role") != "assistant":
        made.pop()
    if not made:
        raise BadRow("no_answer", "no right answer of the model is in the row", "$.messages")
    return chat.with_messages(made)


def _straight(messages: Sequence[Chat], refused: Collection[int], end: int) -> list[Chat]:
    """The messages before `end` without what was wrong and what answers it."""
    made: list[Chat] = []
    at = 0
    for wrong, good in corrections(messages, refused):
        made += messages[at : min(wrong, end)]
        at = good if good >= 0 else len(messages)
    return made + list(messages[at:end])


def pairs(chat: ChatRow, refused: Collection[int], row_id: str) -> list[ChatRow]:
    """Each refused answer with the good one after it, as a preference: what both share, the good one, the refused one.

    What both share is the conversation as if all answers before had been good.  The id of a pair is the row's own, or
    the beginning of `row_id`, and its number: others do not change it.
    """
    made: list[ChatRow] = []
    name = chat.metadata.get("id", row_id[:SHOWN])
    for wrong, good in corrections(chat.messages, refused):
        shared = _straight(chat.messages, refused, wrong)
        rejected: list[Chat] = []
        for number in sorted(refused):
            if wrong <= number < good and chat.messages[number] not in rejected:
                rejected.append(chat.messages[number])
        for answer in rejected:
            part = len(made) + 1
            one = replace(chat, messages=shared, part=part, metadata={**chat.metadata, "id": f"{name}-{part}"})
            one.branches = {"chosen": [chat.messages[good]], "rejected": [answer]}
            made.append(one)
    if not made:
        raise BadRow("no_pair", "no refused answer with a good one after it is in the row", "$.messages")
    return made
