"""The quick lane: rows of the chat API that are provably fine, found without making anything of them.

A row is fine here when every rule that the judges know is kept in the plainest way there is; anything else, however
harmless, is left to them.  Rows of a corpus mostly end (or begin) with the same tools: that stretch of bytes is read
once, and of the next row only the rest.  Knows the shape of plain rows; nothing of repairs.
Contract: where `sound` answers, `row_judge.judge` says the same of the same bytes: that format, so many calls, verdict
OK (NONE without calls), no finding and no repair.  None says nothing.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping
from typing import Any

from ..formats.chat import listed_tools
from ..row_json import ESCAPED, TOO_DEEP, BadRow, NotJson, colons, quick
from ..row_json import loads as strict_loads
from .in_text import is_plain
from .toolset import Toolset, checked, toolset

Sound = tuple[str, int]
"""The format of a row, and how many calls it makes."""
ELSEWHERE = frozenset(
    {"custom_id", "body", "response", "task_id", "trial", "reward_info", "traj", "schema_version", "steps", "events"}
    | {"trajectory", "history", "attributes", "prompt", "chosen", "rejected", "completion", "preferred_output", "gold"}
    | {"non_preferred_output", "input", "output", "request", "request_body", "response_body", "req_payload", "system"}
    | {"resp_payload", "functions", "available_tools", "functions_list", "finish_reason", "question", "conversations"}
    | {"function_call"}
)
"""Columns by which a row may be of another shape, or say more of its messages."""
SPOKEN = frozenset({"role", "content", "tool_calls", "refusal", "reasoning_content"})
"""Keys of the plainest messages of the model."""
OWN = frozenset({"messages", "tools"})
MORE = ("refusal", "reasoning_content")
MOST_SETS = 2048
BEHIND, BEFORE, MESSAGES = b',"tools":', b'{"tools":', b',"messages":'
TRIED = 1024
"""So many rows in vain, and the tools are not looked for among the bytes any more."""


class Known:
    """Tools that were seen: how many colons they are written with, and what says whether arguments fit."""

    __slots__ = ("accepts", "marks", "sound", "text", "tools")

    def __init__(self, given: Any, marks: int) -> None:
        self.marks = marks
        self.text = type(given) is str
        try:
            listed = listed_tools(given, "$.tools")
        except BadRow:
            listed = [None]
        self.tools: Toolset = toolset(listed)
        self.sound = self.tools.sound and not self.tools.findings and not self.tools.padded and marks >= 0
        self.accepts: Mapping[str, Callable[[Any], bool]] = {
            name: checked(tool.parameters).accepts for name, tool in self.tools.named.items()
        }


class Lane:
    """The lane for many rows: it remembers the tools it has seen."""

    def __init__(self) -> None:
        self._known: dict[bytes, Known | None] = {}
        self._found = self._missed = 0

    def sound(self, line: bytes) -> Sound | None:
        """The format and the number of calls of a row that is fine as it is; None for all others."""
        known, line = self._split(line)
        try:
            row = quick(line)
        except NotJson:
            return None
        if type(row) is not dict or not ELSEWHERE.isdisjoint(row):
            return None
        marks = len(row)
        if known is None:
            known = self._of(row.get("tools"))
            marks += known.marks
        elif "tools" in row:
            return None
        messages = row.get("messages")
        if not known.sound or type(messages) is not list or not messages:
            return None
        return _judged(messages, known, marks + _beside(row) if len(row) > 1 else marks, line)

    def _split(self, line: bytes) -> tuple[Known | None, bytes]:
        """The tools, where they stand at either end of the row as they stood before, and the rest of it."""
        if self._missed > TRIED and self._missed > self._found:
            return None, line
        at = line.rfind(BEHIND)
        if at > 0:
            stretch, rest = line[at:], line[:at] + b"}"
        elif line.startswith(BEFORE) and (at := line.find(MESSAGES)) > 0:
            stretch, rest = line[:at], b"{" + line[at + 1 :]
        else:
            return None, line
        if stretch in self._known:
            self._found += 1
            known = self._known[stretch]
        else:
            self._missed += 1
            known = self._remember(stretch, _stretch(stretch))
        return (known, rest) if known is not None else (None, line)

    def _of(self, tools: Any) -> Known:
        """Tools that were read."""
        try:
            key = marshal.dumps(tools, 2)
        except ValueError:
            return NONE
        known = self._known.get(key)
        if known is None:
            made = NONE if tools is None else Known(tools, colons(tools))
            known = self._remember(key, made) or NONE
        return known

    def _remember(self, key: bytes, known: Known | None) -> Known | None:
        if len(self._known) >= MOST_SETS:
            self._known.clear()
        self._known[key] = known
        return known


NONE = Known([], -1)
"""No tools, or such as cannot be told: the row is not for the lane."""


def _stretch(stretch: bytes) -> Known | None:
    """The tools that are all of a stretch at the end of a row, or at its beginning; None where there is more in it."""
    whole = b"{" + stretch[1:] if stretch[:1] == b"," else stretch + b"}"
    try:
        found = quick(whole)
    except NotJson:
        return None
    try:
        careful = strict_loads(whole)
    except BadRow:
        return None
    if list(found) != ["tools"] or careful != found or found["tools"] is None:
        return None
    return Known(found["tools"], colons(found["tools"]))


def _beside(row: Mapping[str, Any]) -> int:
    """How many colons the other columns are written with; far too few where one may be of another shape."""
    marks = 0
    for name, value in row.items():
        if name not in OWN:
            if name[:4] == "llm." or name[:7] == "gen_ai.":
                return TOO_DEEP
            marks += colons(value)
    return marks


def _judged(messages: list[Any], known: Known, marks: int, line: bytes) -> Sound | None:
    """What is to be said of these messages; whatever is not where it stands in the plainest row says nothing."""
    try:
        return _plainly(messages, known, marks, line)
    except (KeyError, TypeError, AttributeError, ValueError, NotJson):
        return None


def _plainly(messages: list[Any], known: Known, marks: int, line: bytes) -> Sound | None:  # noqa: PLR0915
    """The same; one loop, for it is what most rows cost.  Raises where something is not there or of another kind."""
    tools, accepts, loads = known.tools, known.accepts, quick
    calls = 0
    wrote = first = False
    objects = nine = None
    waiting: list[str] = []
    ids: set[str] = set()
    for message in messages:
        size = len(message)
        marks += size
        role = message["role"]
        if role == "assistant":
            if waiting:
                return None
            wrote = True
            given = message.get("tool_calls")
            content = message["content"]
            if size != 2 and (size != 3 or not given):
                if not message.keys() <= SPOKEN:
                    return None
                for key in MORE:
                    marks += colons(message.get(key))
            if given is None:
                if not content or not is_plain(content, tools):
                    return None
                marks += content.count(":")
                continue
            if content:
                marks += content.count(":")
            elif content is not None and type(content) is not str:
                return None
            for one in given:
                function = one["function"]
                if len(one) != 3 or one["type"] != "function" or len(function) != 2:
                    return None
                id_, name, arguments = one["id"], function["name"], function["arguments"]
                accept = accepts[name]
                text = type(arguments) is str
                value = loads(arguments) if text else arguments
                inner = len(value)
                for key, member in value.items():
                    kind = type(member)
                    if kind is str:
                        inner += member.count(":")
                    elif kind is list or kind is dict:
                        if kind is dict or type(member[0] if member else 0) is not str:
                            inner += colons(member)
                        else:  # texts, as most lists are
                            for each in member:
                                inner += each.count(":")
                    elif member is None:
                        return None
                    if ":" in key:
                        inner += key.count(":")
                if (text and arguments.count(":") != inner) or not accept(value):
                    return None
                marks += inner + 5 + id_.count(":")
                if ":" in name:
                    marks += name.count(":")
                if not id_:
                    return None
                if not first:
                    first, objects = True, not text
                nine = nine is not False and len(id_) == 9 and id_.isalnum()
                waiting.append(id_)
            calls += len(waiting)
            ids.update(waiting)
            if not waiting or len(ids) != calls or type(given) is not list:
                return None
        elif role == "tool":
            if size != 3:
                return None
            answered = message["tool_call_id"]
            waiting.remove(answered)
            marks += answered.count(":") + message["content"].count(":")
        elif waiting or size != 2 or (role != "user" and (role != "system" or message is not messages[0])):
            return None
        else:
            marks += message["content"].count(":")
    if not wrote or line.count(b":") != marks or ESCAPED in line:
        return None  # nothing was written, or a key came twice and its first value was lost
    if nine and not objects:
        return "mistral", calls
    return ("trl" if objects or known.text else "openai"), calls
