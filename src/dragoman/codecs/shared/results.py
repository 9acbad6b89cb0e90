"""Results of tools on the wire: error marks, both ways, and which call a result answers.

Knows the marks and the pairing; no wire.  Contract: `read_mark(marked(r))` gives back what `r` says, as long as its
text does not itself begin with a mark.
Source: seed document 003 and `seeds.md` C9, C10: a failure is marked in the text where the wire has no field for it;
nothing is marked on success, and an error code alone is no failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from ...errors import mark
from ...types import JsonObject, Media, Message, Part, Text, ToolCall, ToolResult

Content: TypeAlias = "tuple[Text | Media, ...]"

_SEE_NEXT = "The result is attached to the next message."
_MARK = re.compile(r"\[ERROR(?::([^\]\s]+))?\] ")
_CODE_MARK = re.compile(r"\[ERROR:([^\]\s]+)\] ")


def marked(result: ToolResult, *, bare: bool = True) -> Content:
    """The content with its error mark.  With `bare`, a failure without a code is marked too: `[ERROR] …`."""
    if not result.is_error or not (result.error_code or bare):
        return result.content
    head, *tail = result.content or (Text(""),)
    if isinstance(head, Text):
        return (replace(head, text=mark(result.error_code, head.text)), *tail)
    return (Text(mark(result.error_code, "")), head, *tail)


def read_mark(content: Sequence[Text | Media], *, is_error: bool | None = None) -> tuple[Content, bool, str | None]:
    """The content without its mark, whether it says failure, and the code.

    `is_error` is what the wire says itself; then only a mark with a code is one, and only on a failure.
    """
    head = content[0] if content else None
    pattern = _MARK if is_error is None else _CODE_MARK
    found = pattern.match(head.text) if isinstance(head, Text) and is_error is not False else None
    if found is None or not isinstance(head, Text):
        return tuple(content), bool(is_error), None
    left = replace(head, text=head.text[found.end() :])
    unmarked = content[1:] if not left.text and len(content) > 1 else (left, *content[1:])
    return tuple(unmarked), True, found[1]


def tool_result(
    call_id: str, name: str, content: Sequence[Text | Media], left: JsonObject, *, is_error: bool | None = None
) -> ToolResult:
    """What the tool `name` answered, its mark read (`read_mark`); `left` is what else the wire says of it."""
    unmarked, failed, code = read_mark(content, is_error=is_error)
    return ToolResult(call_id=call_id, name=name, content=unmarked, is_error=failed, error_code=code, metadata=left)


def results_apart(parts: Sequence[Part], *, cache: bool = False) -> list[Message]:
    """What stands in a turn of the user: the results as a message of their own, before everything else."""
    results = [part for part in parts if isinstance(part, ToolResult)]
    others = [part for part in parts if not isinstance(part, ToolResult)]
    answers = [Message("tool", results, cache=cache and not others)] if results else []
    return [*answers, Message("user", others, cache=cache)] if others or not answers else answers


def texts_only(content: Content) -> Content:
    """The content where results hold text and nothing else; what else there is follows: `attached`."""
    texts = tuple(part for part in content if isinstance(part, Text))
    return texts or ((Text(_SEE_NEXT),) if content else ())


def attached(results: Sequence[ToolResult]) -> Content:
    """The media of `results`, each after a line that names its call, for the user turn that follows them."""
    content: list[Text | Media] = []
    for result in results:
        if media := [part for part in result.content if isinstance(part, Media)]:
            content += [Text(f"Attached to the result of call {result.call_id}:"), *media]
    return tuple(content)


def results_first(message: Message) -> tuple[tuple[ToolResult, ...], Message | None]:
    """The results in `message`, and a message of what else is in it."""
    results = message.results
    if not results:
        return (), message
    if len(results) == len(message.parts):
        return results, None
    others = tuple([part for part in message.parts if not isinstance(part, ToolResult)])
    role = "user" if message.role == "tool" else message.role
    return results, Message(role, others, cache=message.cache, metadata=message.metadata)


class Pairing:
    """Which tool a result belongs to, learnt from the calls seen before it; the latest call with an id counts.

    Of calls of one turn that share an id, as those of clients that give none do, each result answers the next.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._shared: dict[str, list[str]] = {}  # names of the calls of this turn that share an id
        self._legacy: dict[str, str] = {}
        self._waiting: list[tuple[str, str]] = []
        self._minted = 0
        self._own: set[str] = set()

    def copy(self) -> Pairing:
        """What it knows, to go on with."""
        made = Pairing()
        made._names, made._legacy = self._names.copy(), self._legacy.copy()
        made._shared = {call_id: [*names] for call_id, names in self._shared.items()}
        made._waiting, made._minted, made._own = [*self._waiting], self._minted, self._own.copy()
        return made

    def begin_turn(self, calls: Iterable[ToolCall]) -> None:
        """These calls were made in one turn; those of turns before are not answered any more."""
        self._waiting.clear()
        self._shared.clear()
        here: dict[str, None] = {}
        for call in calls:
            if call.id in here:
                self._shared.setdefault(call.id, [self._names[call.id]]).append(call.name)
            here[call.id] = None
            self._names[call.id] = call.name
            self._legacy[call.name] = call.id
            self._waiting.append((call.id, call.name))

    def name(self, call_id: str) -> str:
        """The name of the tool called under `call_id`, "" when nobody did; to be asked once for each result."""
        names = self._shared.get(call_id)
        return names.pop(0) if names else self._names.get(call_id, "")

    def id_of(self, name: str) -> str:
        """The id of the latest call of `name`, for wires that answer by name; a new one when there was none."""
        return self._legacy.get(name) or self.mint()

    def resolved(self, call_id: str, name: str) -> str:
        """The id of the call a result answers, where ids may be left away: the id itself if a call has it.  One that no
        call has was made up by the client, and stands for a call that came without (litellm's `ollama_chat`)."""
        if call_id in self._names:
            return call_id
        return self.answered(name, given=not call_id) or call_id

    def answered(self, name: str, *, given: bool = True) -> str:
        """The id of the call that a result without an id answers: the first of that name that has no answer yet, or
        the first of any name where the result has none; "" when all are answered.  With `given` false, only calls
        whose id was not given are looked at."""
        for i, (call_id, called) in enumerate(self._waiting):
            if name in ("", called) and (given or call_id in self._own):
                del self._waiting[i]
                return call_id
        return ""

    def mint(self) -> str:
        """An id no call of this conversation has."""
        while True:
            minted = f"call_h{self._minted}"
            self._minted += 1
            if minted not in self._names:
                self._own.add(minted)
                return minted
