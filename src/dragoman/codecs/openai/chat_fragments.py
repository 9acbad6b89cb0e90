"""The tool calls in the deltas of OpenAI-like answers → fragments filed with a `CallBook`.

Knows the shape of `tool_calls` and the recorded ways of numbering their fragments, nothing else of the wire.
Source: wire-quirks.md, "Streaming deltas"; each rule of `_find` is a recording.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any

from ...events import Event
from ...types import JsonObject
from ..shared.body import kind, mapping, present, rest, string
from ..shared.calls import CallBook
from ..shared.issues import wire_fault
from ..shared.spec import LEGACY, TYPED, WireFields, wire_fields
from .chat_messages import NAME

CALL = frozenset({"id", "type", "function", "custom", "index"})
FUNCTION = frozenset({"name", "arguments"})
"""Fields of a call that are read; others go back to the same API."""
_LEGACY = "legacy"


class Fragments:
    """Files the calls of one answer."""

    def __init__(self, calls: CallBook) -> None:
        self._calls = calls
        self._by_index: dict[int, Hashable] = {}
        self._by_id: dict[str, Hashable] = {}
        self._texts: dict[Hashable, str] = {}  # of custom tools, so far
        self._latest: Hashable = None
        self._fresh: dict[Hashable, None] = {}  # smaller than an empty set
        self._count = 0

    def whole(self, calls: Sequence[Any]) -> list[Event]:
        """The calls of a whole message: each entry is one, whatever its index says."""
        events: list[Event] = []
        for call in calls:
            if isinstance(call, Mapping):
                name, arguments = _function(call)
                events += self._calls.whole(string(call.get("id")), name, arguments, left_of(call, numbered=True))
            else:
                events.append(_no_call(call))
        return events

    def add(self, calls: Sequence[Any]) -> list[Event]:
        """The fragments of one chunk."""
        self._fresh.clear()
        return [e for call in calls for e in (self._add(call) if isinstance(call, Mapping) else [_no_call(call)])]

    def more(self, calls: Sequence[Any]) -> Callable[[str], list[Event]] | None:
        """What adds more arguments to the call of these fragments, where they are one that says nothing else."""
        call = mapping(calls[0]) if len(calls) == 1 else {}
        index = _index(call)
        if index is None or index not in self._by_index or string(call.get("id")) or _function(call)[0]:
            return None
        return partial(self._calls.add, self._by_index[index])

    def is_legacy(self, call: JsonObject) -> bool:
        """Is the deprecated `function_call` a call?  Snowflake fills it with empty strings, where it is none, and
        llama-cpp-python with the first of the calls that stand beside it."""
        if self._calls.knows(_LEGACY):
            return bool(call)
        return bool(string(call.get("name"))) and not self._calls.any

    def legacy(self, call: JsonObject) -> list[Event]:
        """A fragment of the deprecated `function_call`."""
        name, arguments = _function({"function": call})
        known, form = self._calls.knows(_LEGACY), WireFields(NAME, {LEGACY: True})
        begin = self._calls.name if known else partial(self._calls.begin, metadata=form, in_pieces=True)
        events = begin(_LEGACY, name=name)
        return events + self._add_arguments(_LEGACY, arguments)

    def _add(self, call: JsonObject) -> list[Event]:
        name, arguments = _function(call)
        call_id, index = string(call.get("id")), _index(call)
        key = self._find(index, call_id, name)
        if key is None:
            self._count += 1
            key = self._count
            events = self._calls.begin(key, call_id, name, left_of(call), in_pieces=True)
            self._fresh[key] = None
        else:
            events = self._calls.name(key, name)
        if index is not None:
            self._by_index[index] = key
        if call_id:
            self._by_id[call_id] = key
        self._latest = key
        if call_id and self._calls.repeats(key, arguments):
            return events
        if isinstance(call.get("custom"), Mapping) and isinstance(arguments, Mapping):
            self._texts[key] = self._texts.get(key, "") + string(arguments.get("input"))
            arguments = {"input": self._texts[key]}
        return events + self._add_arguments(key, arguments)

    def _add_arguments(self, key: Hashable, arguments: Any) -> list[Event]:
        if isinstance(arguments, str):
            return self._calls.add(key, arguments)
        if arguments is not None:
            self._calls.assign(key, arguments)
        return []

    def _find(self, index: int | None, call_id: str, name: str) -> Hashable:
        """The call a fragment belongs to, None for a new one.

        An index says, where there is one, but the same index with another id is another call (Gemini via OpenRouter: 15
        calls, all of index 0), unless the one before is incomplete and this has no name (LM Studio gives every fragment
        an id of its own: NousResearch/hermes-agent#106943).  Without an index the id says (Mistral), without both the
        latest call goes on.
        """
        if index is None:
            key = self._by_id.get(call_id) if call_id else self._latest
        else:
            key = self._by_index.get(index)
            if key is not None and call_id and self._is_new_id(key, call_id):
                key = self._by_id.get(call_id, None if name or self._calls.complete(key) else key)
        return None if key is not None and name and self._is_new_name(key, name, numbered=index is not None) else key

    def _is_new_id(self, key: Hashable, call_id: str) -> bool:
        known = self._calls.wire_id(key)
        return call_id != known if known else self._calls.complete(key)

    def _is_new_name(self, key: Hashable, name: str, *, numbered: bool) -> bool:
        return key in self._fresh or not self._calls.is_named(key, name, numbered=numbered)


def _index(call: JsonObject) -> int | None:
    """The index of a fragment, which some write as text; a negative one (Z.ai's glm-4.5-flash) says nothing."""
    index = call.get("index")
    if isinstance(index, str) and index.isdecimal():
        return int(index)
    if isinstance(index, bool) or not isinstance(index, int | float) or index < 0:
        return None
    return int(index) if isinstance(index, int) or index.is_integer() else None


def _function(call: JsonObject) -> tuple[str, Any]:
    """The name and arguments of a call.  A custom tool takes one text, which is handed on as `input`.

    Cloudflare's Workers AI puts no `function` around them (workers-ai-provider, `processToolCall`).
    """
    custom = mapping(call.get("custom"))
    if any(custom.values()):  # Snowflake fills it with empty strings beside the call
        return string(custom.get("name")), {"input": string(custom.get("input"))}
    function = mapping(call.get("function")) or call
    return string(function.get("name")), function.get("arguments")


def left_of(call: JsonObject, *, numbered: bool = False) -> JsonObject:
    """What of a call no value models; `numbered`: its index too."""
    function = mapping(call.get("function"))
    others = present(function, FUNCTION)
    index = call.get("index") if numbered else None
    custom = "custom" if string(mapping(call.get("custom")).get("name")) else None
    known = CALL if function or custom else CALL | FUNCTION
    return wire_fields(NAME, {**rest(call, known), "function": others or None, TYPED: custom, "index": index})


def _no_call(call: Any) -> Event:
    return wire_fault(f"a tool call is {kind(call)}, not an object; it was passed over", call)
