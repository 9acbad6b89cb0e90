"""A row → the bytes of a row in the target format.

Knows the table of formats and what was asked; nothing of verdicts or files.
Contract: the same row and options give the same bytes; `BadRow` (`unwritable`) is all that is ever raised.
"""

from __future__ import annotations

from typing import Any

from ...errors import DragomanError
from ...redaction import redact
from ..options import Options
from ..row_json import BadRow, dumps
from .alternatives import PAIR, has_one_answer, straightened
from .chat import OPENAI, TRL
from .chat_row import Chat, ChatRow
from .spec import Format
from .table import target
from .training import PURPOSES

NO_PLACE = "{goal} has no place for these answers to one question: {names}; convert to trl"


def target_of(form: Format, options: Options, chat: ChatRow) -> Format:
    """The format a row of `form` is written in: the one that is asked for, its own, or the chat API's.

    The latter has no place for any answers beside the conversation; TRL's columns do.
    """
    if options.to in PURPOSES:
        return TRL
    if options.to:
        return target(options.to)
    return form if form.write is not None else TRL if chat.branches else OPENAI


def check_target(name: str) -> None:
    """Raise `UnknownName` for what is neither a format that can be written nor a purpose of training."""
    if name not in PURPOSES:
        target(name)


def write(chat: ChatRow, goal: Format, options: Options) -> bytes:
    """The row in format `goal`.  Raises `BadRow`."""
    assert goal.write is not None
    if options.re_id:
        chat = with_new_ids(chat)
    try:
        made = goal.write(_held(chat, goal), goal.demands.asked(options))
    except BadRow as why:
        raise BadRow("unwritable", str(why), why.path) from why
    except (DragomanError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadRow("unwritable", f"{goal.name} cannot hold it: {error}", "$") from error
    return dumps(_redacted(made) if options.redact else made)


def _held(chat: ChatRow, goal: Format) -> ChatRow:
    """The row with its answers where the target has a place for them.  Raises `BadRow` where it has none."""
    answers = goal.demands.answers
    if not chat.branches or answers == "any" or (answers == "pair" and set(chat.branches) == PAIR):
        return chat
    if has_one_answer(chat):
        return straightened(chat, flagged=True)
    raise BadRow("unwritable", NO_PLACE.format(goal=goal.name, names=", ".join(chat.branches)), "$")


def with_new_ids(chat: ChatRow) -> ChatRow:
    """The row with an id of its own for every call, made from its number; results follow their calls."""
    made, count = _numbered(chat.messages, 0)
    new = chat.with_messages(made)
    new.branches = {name: _numbered(one, count)[0] for name, one in chat.branches.items()}
    return new


def _numbered(messages: list[Chat], count: int) -> tuple[list[Chat], int]:
    made: list[Chat] = []
    waiting: list[tuple[str, str]] = []
    for message in messages:
        if message.get("tool_calls"):
            waiting, calls = [], []
            for one in message["tool_calls"]:
                new = f"call_{count}"
                waiting.append((str(one.get("id", "")) if isinstance(one, dict) else "", new))
                calls.append({**one, "id": new} if isinstance(one, dict) else one)
                count += 1
            message = {**message, "tool_calls": calls}
        elif "tool_call_id" in message:
            found = next((pair for pair in waiting if pair[0] == message["tool_call_id"]), None)
            if found is not None:
                waiting.remove(found)
                message = {**message, "tool_call_id": found[1]}
        made.append(message)
    return made, count


def _redacted(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: _redacted(one) for key, one in value.items()}
    return [_redacted(one) for one in value] if isinstance(value, list) else value
