"""A Jinja chat template as a voice: what the model's own turn looks like, for calls of our choosing.

The template is somebody else's program; `sandbox.py` runs it.
This module compares nothing and knows no dialect.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from ...types import Tool, ToolCall
from .marks import pieces, prefix, suffix
from .sandbox import compile_template
from .voice import REASONING_KEYS, REPLY, TEXT, USER, CannotWrite

# ── conversations ────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Manner:
    """How a template wants its messages: templates differ, and only trying tells."""

    as_text: bool = False           # arguments as a JSON string rather than an object
    content: str | None = ""        # beside calls: "", None, or "-" for no such field
    flat: bool = False              # name and arguments also beside `function`
    ids: str = "{plain}"            # "functions.{name}:{index}": the name travels in the id (Kimi)


MANNERS = tuple(
    Manner(as_text, content, flat, ids)
    for ids, flat, content, as_text in product(
        ("{plain}", "functions.{name}:{index}"), (False, True), ("", None, "-"), (False, True)
    )
)


class ChatTemplate:
    """A Jinja chat template, asked for turns in the manner it understands.  A `Voice`."""

    manner: Manner

    def __init__(
        self, source: str, tools: Iterable[Sequence[Tool]], tokens: Mapping[str, str], probe: Sequence[ToolCall]
    ) -> None:
        """`tools` are what the prompt may list, best first: some templates cannot write every schema."""
        self._render = compile_template(source)
        self._tokens = tokens
        self.manner = Manner()
        self._prompt = self._shown(tools)
        self.opening: str = self._after_prompt([_user()], add_generation_prompt=True)
        self._find_manner(probe)
        said, called = self._said(), self.turn(probe)
        self.header: str = prefix(called, said) if said else prefix(called, self.opening)
        self.asker: str = self._asker()
        self.role: str = self._role()
        self.trailer: str = suffix(said[len(self.header) :], called[len(self.header) :]) if said else ""

    def _shown(self, tools: Iterable[Sequence[Tool]]) -> str:
        """The prompt with the first of these that the template can write."""
        failed = CannotWrite("no tools were given")
        for shown in tools:
            self._tools = [_definition(t) for t in shown]
            self._always = {
                "functions": json.dumps(self._tools), "xml_tools": self._tools, "datetime": "2025-01-02", **self._tokens
            }
            try:
                return self._text([_user()])
            except CannotWrite as why:
                failed = why
        raise failed

    def _asker(self) -> str:
        """What names the user."""
        try:
            return self.user(REPLY).partition(REPLY)[0]
        except CannotWrite:
            return ""

    def _role(self) -> str:
        """What names the assistant, without what this turn begins with: as long as what names the user."""
        role = prefix(self.header, self.opening) or self.header
        user = pieces(self.asker)
        mine = pieces(role)[: len(user)]
        alike = sum(a == b for a, b in zip(mine, user, strict=False))
        return "".join(mine) if user and alike >= len(user) - 1 else role

    def thinks(self) -> str:
        """What the prompt writes of the next turn when thinking is asked for, "" if that changes nothing."""
        try:
            opening = self._after_prompt([_user()], add_generation_prompt=True, enable_thinking=True, thinking=True)
        except CannotWrite:
            return ""
        return opening if opening != self.opening else ""

    def turn(self, calls: Sequence[ToolCall], text: str = "", reasoning: str = "") -> str:
        """One assistant turn, with the role's header."""
        message = self._message(calls, text)
        if reasoning:
            message |= dict.fromkeys(REASONING_KEYS, reasoning)
        return self._after_prompt([_user(), message])

    def result(self, call: ToolCall, content: str) -> str:
        """The turn that tells a result; "" where templates rewrite what stands before it."""
        answer = {"role": "tool", "name": call.name, "tool_call_id": self._id(call, 0), "content": content}
        return self._added([_user(), self._message([call], "")], answer, str(next(iter(call.arguments.values()))))

    def user(self, content: str) -> str:
        """A second user's turn, to tell what any turn looks like."""
        asked = [_user(), {"role": "assistant", "content": TEXT}]
        return self._added(asked, {"role": "user", "content": content}, TEXT)

    def _added(self, asked: Sequence[Mapping[str, Any]], more: Mapping[str, Any], last: str) -> str:
        """What one more message adds; "" where it changes more than what stands before the `last` word."""
        before, after = (t[t.rfind(last) :] for t in (self._text(asked), self._text([*asked, more])))
        return after.removeprefix(before) if after.startswith(before) else ""

    def tool_prompt(self) -> str:
        """What the prompt says when there are tools and does not say when there are none."""
        try:
            none = {"tools": None, "xml_tools": None, "add_generation_prompt": False}
            bare = self._render({**self._always, "messages": [_user()], **none})
        except CannotWrite:
            return ""
        with_tools = self._prompt[len(prefix(bare, self._prompt)) :]
        return with_tools[: len(with_tools) - len(suffix(bare, with_tools))]

    def _find_manner(self, probe: Sequence[ToolCall]) -> None:
        reasons = []
        for manner in MANNERS:
            self.manner = manner
            try:
                text = self.turn(probe)
            except CannotWrite as why:
                reasons.append(str(why))
                continue
            if all(map(text.__contains__, _told(probe))) and "None" not in text:
                return
        raise NoCalls(dict.fromkeys(reasons), self.tool_prompt())

    def _said(self) -> str:
        try:
            return self._after_prompt([_user(), {"role": "assistant", "content": TEXT}])
        except CannotWrite:
            return ""

    def _after_prompt(self, messages: Sequence[Mapping[str, Any]], **more: Any) -> str:
        """What these messages add to the user's question."""
        text = self._text(messages, **more)
        added = text[len(prefix(self._prompt, text)) :]
        rest = self._prompt[len(prefix(self._prompt, text)) :]
        end = suffix(added, rest) if rest else ""
        return added[: len(added) - len(end)]

    def _text(self, messages: Sequence[Mapping[str, Any]], *, add_generation_prompt: bool = False, **more: Any) -> str:
        return self._render(
            {**self._always, "messages": list(messages), "tools": self._tools,
             "add_generation_prompt": add_generation_prompt, **more}
        )

    def _message(self, calls: Sequence[ToolCall], text: str) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": text or (self.manner.content if calls else "")}
        if not text and self.manner.content == "-":
            del message["content"]
        if calls:
            message["tool_calls"] = [self._call(c, i) for i, c in enumerate(calls)]
        return message

    def _call(self, call: ToolCall, index: int) -> dict[str, Any]:
        arguments = dict(call.arguments)
        told = json.dumps(arguments, ensure_ascii=False) if self.manner.as_text else arguments
        function = {"name": call.name, "arguments": told}
        beside = function if self.manner.flat else {}
        return {"id": self._id(call, index), "type": "function", "function": function, **beside}

    def _id(self, call: ToolCall, index: int) -> str:
        return self.manner.ids.format(plain=call.id, name=call.name, index=index)


class NoCalls(Exception):
    """No manner of telling a call made the template write it; `prompt` is what it says of tools."""

    prompt: str
    reasons: tuple[str, ...]

    def __init__(self, reasons: Iterable[str], prompt: str) -> None:
        self.reasons, self.prompt = tuple(reasons), prompt
        super().__init__("; ".join(self.reasons))


def _user() -> dict[str, Any]:
    return {"role": "user", "content": USER}


def _told(calls: Sequence[ToolCall]) -> list[str]:
    """What must be found in a turn with these calls."""
    return [word for c in calls for word in (c.name, *c.arguments, *map(str, c.arguments.values()))]


def _definition(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}
