"""Rows whose answer stands beside the conversation: which of several answers is the row's own, and the row as one talk.

Knows `ChatRow`; no format.  Contract: no message is changed but for the word that the prompt's are not learnt from,
which is what a completion beside its prompt says.
"""

from __future__ import annotations

from dataclasses import replace

from .chat_row import TRAIN, Chat, ChatRow

OWN = ("completion", "chosen")
"""Answers that are the row's own, the first that there is; the others are worse ones, or what might be said."""
PAIR = frozenset({"chosen", "rejected"})


def own_answer(row: ChatRow) -> str:
    """The name of the answer that the row gives; "" where it stands in the conversation."""
    return next((name for name in OWN if name in row.branches), "")


def has_one_answer(row: ChatRow) -> bool:
    """Is the row's own answer the only one, so that nothing is lost when it follows the conversation?"""
    return len(row.branches) == 1 and bool(own_answer(row))


def straightened(row: ChatRow, *, flagged: bool = False) -> ChatRow:
    """The row with its own answer at the end of the conversation, and no other.

    flagged  say of what the model says before that it is not learnt from
    """
    name = own_answer(row)
    if not name:
        return row
    before = [_unlearnt(one) for one in row.messages] if flagged else row.messages
    made = row.with_messages([*before, *row.branches[name]])
    return replace(made, branches={})


def _unlearnt(message: Chat) -> Chat:
    return {TRAIN: False, **message} if message.get("role") == "assistant" else message
