"""Rows for training out of rows in which the model was corrected: the conversation without what was wrong, or a pair.

A refused answer, what it was told, and the good answer after it are one correction.  Knows messages and which of them
are refused; nothing of verdicts or files.
Contract: no message is changed; what is left out is left out whole, with all that answers it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from ..row_json import BadRow
from .chat_row import Chat, ChatRow

SFT, DPO = "sft", "dpo"
PURPOSES = (SFT, DPO)


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


def for_purpose(chat: ChatRow, purpose: str, refused: Collection[int]) -> ChatRow:
    """The row for training; raises `BadRow` where there is none in it."""
    return pair(chat, refused) if purpose == DPO else supervised(chat, refused)


def supervised(chat: ChatRow, refused: Collection[int]) -> ChatRow:
    """The conversation as if the good answers had come at once; it ends before a wrong one that nobody corrected."""
    made: list[Chat] = []
    at = 0
    for wrong, good in corrections(chat.messages, refused):
        made += chat.messages[at:wrong]
        at = good if good >= 0 else len(chat.messages)
    made += chat.messages[at:]
    while made and made[-1].get("role") != "assistant":
        made.pop()
    if not made:
        raise BadRow("no_answer", "no right answer of the model is in the row", "$.messages")
    return chat.with_messages(made)


def pair(chat: ChatRow, refused: Collection[int]) -> ChatRow:
    """The first correction as a preference: what both answers share, the good one, the refused one."""
    found = next((one for one in corrections(chat.messages, refused) if one.good >= 0), None)
    if found is None:
        raise BadRow("no_pair", "no refused answer with a good one after it is in the row", "$.messages")
    made = chat.with_messages(chat.messages[: found.refused])
    made.branches = {"chosen": [chat.messages[found.good]], "rejected": [chat.messages[found.refused]]}
    return made
