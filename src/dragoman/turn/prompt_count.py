"""Counts of input tokens, read: did what a backend counted leave room for the tools it was sent?

Knows requests and counts; nothing of wires, of tokenizers by name, or of what follows.
Contract: pure, and careful in one direction.  `least_tokens` is never more than what a text costs: no tokenizer in wide
use joins two words that a space parts, while what it does to the signs between them, and to scripts without spaces, is
nobody's guess and counts as nothing.  A count below what the messages alone must cost is wrong or counts only what no
cache knew, and says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from ..conversation.grown import by_growth
from ..memo import TOOLS, memoize
from ..types import Message, Request, Text, Tool, ToolResult, Usage

WORD = re.compile(r"[0-9A-Za-z_\u00C0-\u024F\u0300-\u036F\u0370-\u03FF\u0400-\u04FF]+(?:['’][A-Za-z]+)*")
"""A word of a script that parts its words by spaces; accents that stand alone belong to their letter."""
FEWEST = 16
"""Tokens that tools cost at least before anything is concluded from their absence: a template's own words cost half of
that."""
MOST_MESSAGES = 3
"""Messages may cost so many times what the tools do: beyond it a prompt that was cut to the context looks the same."""
MOST_PER_WORD = 2
"""Tokens that a word costs at most, signs and all, where only words are counted: with more of them something besides
the messages was read."""
ENOUGH = 64
"""Words of messages from which on what they cost is more than what a template adds."""
SHORT = 64 * 1024
"""Characters whose words are taken out of a text at once, to be counted."""
SHARE = 2
"""One part in so many of what the tools cost at least must be missing: templates leave out parts of a schema."""


class Counted(StrEnum):
    """What a count says of the tools."""

    MISSING = "missing"  # nothing was counted
    WITHOUT = "without"  # there is no room for the tools in it
    EITHER = "either"  # the messages alone may have cost as much, or the tools with them
    UNCLEAR = "unclear"


def counted(request: Request, usage: Usage | None) -> Counted:
    """What the count of the answer to `request`, sent with native tools, says of them."""
    if usage is None or not usage.input:
        return Counted.MISSING
    tools, messages = _least_of_tools(request.tools), _least_of_messages(request.messages)
    if usage.input < messages:
        return Counted.UNCLEAR
    if FEWEST <= tools >= messages / MOST_MESSAGES and usage.input < messages + tools / SHARE:
        return Counted.WITHOUT
    return Counted.EITHER if messages >= ENOUGH and usage.input <= MOST_PER_WORD * messages else Counted.UNCLEAR


@memoize(TOOLS)
def _least_of_tools(tools: Sequence[Tool]) -> int:
    return sum(map(least_tokens, _of_tools(tools)))


@by_growth
def _least_of_messages(messages: Sequence[Message], start: int, known: int | None) -> int:
    return (known or 0) + sum(map(least_tokens, _of_messages(messages[start:])))


def least_tokens(text: str) -> int:
    """The fewest tokens that `text` costs."""
    return len(WORD.findall(text)) if len(text) <= SHORT else sum(1 for _ in WORD.finditer(text))


def _of_tools(tools: Iterable[Tool]) -> Iterator[str]:
    """What every template writes of a tool: the words of its parameters some leave out."""
    for tool in tools:
        yield tool.name
        yield tool.description
        properties = tool.parameters.get("properties")
        yield from map(str, properties if isinstance(properties, dict) else ())


def _of_messages(messages: Iterable[Message]) -> Iterator[str]:
    """What every template writes of a conversation: earlier thoughts most leave out."""
    for message in messages:
        for part in message.parts:
            if isinstance(part, Text | ToolResult):
                yield part.text
