"""The quick lane: rows of the chat API that are provably fine, found without making anything of them.

A row is fine here when every rule that the judges know is kept in the plainest way there is; anything else, however
harmless, is left to them.  Rows of a corpus mostly end (or begin) with the same tools: that stretch of bytes is read
once, and of the next row only the rest.  Knows the shape of plain rows; nothing of repairs.
Contract: where `sound` answers, `row_judge.judge` says the same of the same bytes: that format, so many calls, verdict
OK (NONE without calls), no finding and no repair.  None says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from itertools import islice
from typing import Any, TypeAlias

from ...memo import exact
from ...records import NamedTuple
from ..formats.chat import listed_tools
from ..row_json import BadRow, NotJson, is_whole, quick, too_deep
from ..row_json import loads as strict_loads
from .in_text import is_plain
from .toolset import Toolset, checked, toolset

Sound: TypeAlias = tuple[str, int]
"""The format of a row, and how many calls it makes."""
Fits: TypeAlias = Mapping[str, Callable[[Any], bool]]
"""What says whether arguments fit the tool of a name."""
ELSEWHERE = frozenset(
    {"custom_id", "body", "response", "task_id", "trial", "reward_info", "traj", "schema_version", "steps", "events"}
    | {"trajectory", "history", "attributes", "prompt", "chosen", "rejected", "completion", "preferred_output", "gold"}
    | {"non_preferred_output", "input", "output", "request", "request_body", "response_body", "req_payload", "system"}
    | {"resp_payload", "functions", "available_tools", "functions_list", "finish_reason", "question", "conversations"}
    | {"function_call", "chosen_response", "rejected_response", "chosen_messages", "rejected_messages"}
)
"""Columns by which a row may be of another shape, or say more of its messages."""
SPOKEN = frozenset({"role", "content", "tool_calls", "refusal", "reasoning_content"})
"""Keys of the plainest messages of the model."""
OWN = frozenset({"messages", "tools"})
MORE = ("refusal", "reasoning_content")
MOST_SETS = 2048
ALIKE = 8
"""So many sets of tools of one length are remembered."""
TRIED = 1024
"""So many rows in vain, and the tools are not looked for among the bytes any more."""
NINE = 9
"""Characters of an id that Mistral takes."""


class Places(NamedTuple):
    """How the tools of a row are set off from its messages: behind them, before them, and what follows there."""

    behind: bytes
    before: bytes
    messages: bytes


CLOSE = Places(b',"tools":', b'{"tools":', b',"messages":')
WIDE = Places(b', "tools": ', b'{"tools": ', b', "messages": ')
BEGINNING = 64


class Known:
    """Tools that were seen, and what says whether arguments fit."""

    __slots__ = ("fits", "sound", "text", "tools")

    def __init__(self, given: Any) -> None:
        self.text = type(given) is str
        try:
            listed = listed_tools(given, "$.tools")
        except BadRow:
            listed = [None]
        self.tools: Toolset = toolset(listed)
        self.sound = self.tools.sound and not self.tools.findings and not self.tools.padded and not too_deep(given)
        self.fits: Fits = {name: checked(tool.parameters).plainly for name, tool in self.tools.named.items()}


class Lane:
    """The lane for many rows: it remembers the tools it has seen."""

    def __init__(self) -> None:
        self._known: dict[bytes, Known] = {}
        self._stretches: dict[int, tuple[tuple[bytes, Known | None], ...]] = {}
        self._found = self._missed = 0

    def sound_from(self, start: int, lines: Sequence[bytes], form: str, counts: MutableMapping[Sound, int]) -> int:
        """The number of the first line, from `start`, that is not sound or of another format than `form` ("": of any).

        The others are counted.
        """
        number = start
        for line in islice(lines, start, None):
            found = self.sound(line)
            if found is None or (form and found[0] != form):
                return number
            counts[found] = counts.get(found, 0) + 1
            number += 1
        return number

    def sound(self, line: bytes) -> Sound | None:
        """The format and the number of calls of a row that is fine as it is; None for all others."""
        known, line = self._apart(line)
        try:
            row = quick(line)
            messages = row["messages"]
            if known is None:
                known = self._of(row.get("tools"))
            elif "tools" in row:
                return None
            if not known.sound or (len(row) > 1 and not _may_stand_beside(row)):
                return None
            return _judged(messages, known) if is_whole(row, line) else None
        except (KeyError, TypeError, AttributeError, ValueError):
            return None  # something is not there, or of another kind than in the plainest row

    def _apart(self, line: bytes) -> tuple[Known | None, bytes]:
        """The tools, where they stand at either end of the row as they stood before, and the rest of it."""
        if self._missed > TRIED and self._missed > self._found:
            return None, line
        places = WIDE if b": " in line[:BEGINNING] else CLOSE
        if line.startswith(places.before):
            at = line.find(places.messages)
            known = self._seen(line[:at]) if at > 0 else None
            return (None, line) if known is None else (known, b"{" + line[at + 1 :])
        at = line.rfind(places.behind)
        known = self._seen(line[at:]) if at > 0 else None
        return (None, line) if known is None else (known, line[:at] + b"}")

    def _seen(self, stretch: bytes) -> Known | None:
        """The tools that a stretch is; None where there is more in it."""
        alike = self._stretches.get(len(stretch), ())
        for seen, known in alike:
            if seen == stretch:
                self._found += 1
                return known
        self._missed += 1
        if len(self._stretches) >= MOST_SETS:
            self._stretches.clear()
        known = _tools_alone(stretch)
        self._stretches[len(stretch)] = (*alike, (stretch, known))[-ALIKE:]
        return known

    def _of(self, tools: Any) -> Known:
        """Tools that were read."""
        if tools is None:
            return NONE
        key = exact(tools)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= MOST_SETS:
                self._known.clear()
            known = self._known[key] = Known(tools)
        return known


NONE = Known([])
"""No tools: the row is not for the lane."""
NONE.sound = False


def _tools_alone(stretch: bytes) -> Known | None:
    """The tools that are all of a stretch at the end of a row, or at its beginning; None where there is more in it."""
    whole = b"{" + stretch[1:] if stretch[:1] == b"," else stretch + b"}"
    try:
        found = quick(whole)
        careful = strict_loads(whole)
    except (NotJson, BadRow):
        return None
    if list(found) != ["tools"] or careful != found or found["tools"] is None:
        return None
    return Known(found["tools"])


def _may_stand_beside(row: Mapping[str, Any]) -> bool:
    """May the other columns stand beside messages of the chat API, and say nothing of the row's shape?"""
    return ELSEWHERE.isdisjoint(row) and not any(
        name[:4] == "llm." or name[:7] == "gen_ai." or too_deep(value) for name, value in row.items() if name not in OWN
    )


# ── messages ─────────────────────────────────────────────────────────────────


def _judged(messages: list[Any], known: Known) -> Sound | None:
    """What is to be said of these messages; None, or it raises, where anything is not as in the plainest row.

    One loop, for it is what most rows cost.
    """
    tools, fits = known.tools, known.fits
    waiting: list[str] = []
    ids: list[str] = []
    first: Any = None
    wrote = False
    for message in messages:
        role, content = message["role"], message["content"]
        if role == "tool":
            if len(message) != 3 or type(content) is not str:
                return None
            waiting.remove(message["tool_call_id"])
        elif waiting:
            return None
        elif role == "assistant":
            wrote, given = True, message.get("tool_calls")
            if len(message) != (2 if given is None else 3) and not _says_no_more(message):
                return None
            if given is None:
                if not content or not is_plain(content, tools):
                    return None
            elif (content is None or type(content) is str) and type(given) is list and given:
                for one in given:
                    waiting.append(_id(one, fits))
                ids += waiting
                first = first or given[0]
            else:
                return None
        elif len(message) != 2 or type(content) is not str:  # noqa: SIM114  one line could not be read
            return None
        elif role != "user" and (role != "system" or message is not messages[0]):
            return None
    if not wrote or type(messages) is not list or len({*ids}) < len(ids) or "" in ids:
        return None
    "".join(ids)  # raises where one is no text
    return _form(first, ids, known), len(ids)


def _says_no_more(message: Mapping[str, Any]) -> bool:
    """Is what a message of the model holds beside text and calls plain text, or nothing?"""
    return message.keys() <= SPOKEN and all(message.get(key) is None or type(message[key]) is str for key in MORE)


def _id(one: dict[str, Any], fits: Fits) -> str:
    """The id of a call that is written plainly, declared and fits.  Raises where it is not."""
    function = one["function"]
    value = arguments = function["arguments"]
    if len(one) != 3 or len(function) != 2 or one["type"] != "function":
        raise ValueError
    if type(arguments) is str:
        value = quick(arguments)
        if arguments.count(":") != len(value) and not is_whole(value, arguments.encode()):
            raise ValueError  # a key may stand in it twice
    if not fits[function["name"]](value) or ((value is arguments or "null" in arguments) and None in value.values()):
        raise ValueError
    id_: str = one["id"]
    return id_


def _form(first: Any, ids: Sequence[str], known: Known) -> str:
    """The format of a plain row, of which this is the first call."""
    if first is not None:
        if type(first["function"]["arguments"]) is not str:
            return "trl"
        if len(ids[0]) == NINE and all(len(one) == NINE and one.isalnum() for one in ids):
            return "mistral"
    return "trl" if known.text else "openai"
