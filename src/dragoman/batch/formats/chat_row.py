"""A row in the words of the chat API, which every format is read into and written from.

`messages` are messages as OpenAI's chat API has them, `tools` definitions in any provider's form.  Knows JSON values;
nothing of any other shape.  Contract: readers take nothing away: fields they do not model go to `extra`, or stand in
the message they came in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...codecs.openai.chat_messages import read_messages
from ...errors import CodecError, UsageError
from ...schema.definitions import tools as read_tools
from ...types import Message, Tool
from ..result import Finding, Repair
from ..row import CorpusRow
from ..row_json import BadRow, loads, text

Chat = dict[str, Any]
"""A message of the chat API."""
TRAIN = "train"
"""The key of a message that says whether a trainer learns from it: each format has its own word."""


@dataclass(slots=True, kw_only=True)
class ChatRow:
    """A row, its parts named as in `CorpusRow`.

    `findings` and `repairs` are what had to be said and mended to read it; `part` is its number among several rows that
    were made of one, 0 where it is the only one; `padded`: its messages have keys without a value, as Arrow makes them.
    """

    messages: list[Chat]
    tools: list[Any] | None = None
    branches: dict[str, list[Chat]] = field(default_factory=dict)
    gold: Any = None
    labels: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)
    part: int = 0
    padded: bool = False

    def find(self, code: str, path: str, message: str) -> None:
        """Say something of the row."""
        self.findings.append(Finding(code, path, message))

    def with_messages(self, messages: list[Chat]) -> ChatRow:
        """The same row with other messages."""
        return replace(self, messages=messages)


def canonical(chat: ChatRow, name: str, origin: tuple[str, str, int, bytes]) -> CorpusRow:
    """The row in our own types; `origin` is its id, source, offset and bytes.  Raises `BadRow` for what is no chat."""
    id_, source, offset, original = origin
    return CorpusRow(
        id=id_, source=source, offset=offset, format=name, messages=typed(chat.messages, "$.messages"),
        tools=typed_tools(chat.tools), gold=chat.gold, labels=chat.labels, metadata=chat.metadata, extra=chat.extra,
        branches={key: typed(one, f"$.{key}") for key, one in chat.branches.items()}, original=original,
    )  # fmt: skip


def typed(messages: Sequence[Chat], path: str) -> tuple[Message, ...]:
    """Messages in our own types.  Raises `BadRow`."""
    try:
        return read_messages({"messages": messages})
    except CodecError as error:
        where = error.path.replace("$.messages", path, 1)
        raise BadRow("unreadable", str(error).rpartition(" (at ")[0] or str(error), where) from None


def typed_tools(tools: Iterable[Any] | None) -> tuple[Tool, ...] | None:
    """Tools in our own types.  Raises `BadRow`."""
    try:
        return read_tools(tools)
    except UsageError as error:
        raise BadRow("bad_tools", str(error), "$.tools") from None


# ── small readers that many formats share ────────────────────────────────────


def call(name: Any, arguments: Any, id: str = "") -> Chat:  # noqa: A002
    """A call of the chat API; without an id where the format has none."""
    made: Chat = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return {"id": id, **made} if id else made


def said(role: str, content: Any, **more: Any) -> Chat:
    """A message."""
    return {"role": role, "content": content, **more}


def plain_text(message: Chat) -> str:
    """The text of a message; of parts those that are text."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(p.get("text", "")) if isinstance(p, dict) else str(p) for p in content)
    return content if isinstance(content, str) else ""


def paired(messages: Iterable[Chat]) -> list[Chat]:
    """Messages in which calls and results without ids have them: by the order of the round, as formats without ids mean.

    An id is `call_N`, N the number of the call in the row.
    """
    made: list[Chat] = []
    waiting: list[str] = []
    count = 0
    for message in messages:
        calls = message.get("tool_calls")
        if calls and isinstance(calls, list):
            numbered = []
            for one in calls:
                without = isinstance(one, dict) and not one.get("id")
                numbered.append({**one, "id": f"call_{count}"} if without else one)
                count += 1
            if numbered != calls:
                message = {**message, "tool_calls": numbered}
            waiting = [one["id"] for one in numbered if isinstance(one, dict)]
        elif message.get("role") == "tool" and "tool_call_id" not in message and waiting:
            message = {**message, "tool_call_id": waiting.pop(0)}
        elif message.get("role") not in ("tool", "assistant"):
            waiting = []
        made.append(message)
    return made


def results_apart(value: str, waiting: int) -> list[str]:
    """The results in one turn of a tool: as many as calls wait, where it is a JSON list of as many, else the one."""
    if waiting > 1 and value.lstrip()[:1] == "[":
        try:
            listed = loads(value.encode("utf-8", "surrogatepass"))
        except BadRow:
            return [value]
        if isinstance(listed, list) and len(listed) == waiting:
            return [one if isinstance(one, str) else text(one) for one in listed]
    return [value]


def an_object(value: Any, path: str) -> dict[str, Any]:
    """`value`, which must be an object.  Raises `BadRow`."""
    if not isinstance(value, dict):
        raise BadRow("unreadable", f"an object is wanted, not {_kind(value)}", path)
    return value


def a_list(value: Any, path: str) -> list[Any]:
    """`value`, which must be a list.  Raises `BadRow`."""
    if not isinstance(value, list):
        raise BadRow("unreadable", f"a list is wanted, not {_kind(value)}", path)
    return value


def a_text(value: Any, path: str) -> str:
    """`value`, which must be a string; null is an empty one.  Raises `BadRow`."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadRow("unreadable", f"a string is wanted, not {_kind(value)}", path)
    return value


def _kind(value: Any) -> str:
    names: Mapping[type, str] = {
        dict: "an object",
        list: "a list",
        str: "a string",
        bool: "a boolean",
        type(None): "null",
    }
    return names.get(type(value), "a number")
