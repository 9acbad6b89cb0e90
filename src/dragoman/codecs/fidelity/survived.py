"""What came through of the parts of messages: each is looked for in what was read back.

Knows canonical parts; no wire.  Contract: a text is found where it stands whole, alone or joined to others, each
occurrence once; a call by its id and name, else by its name; a result by its call; media by their data or address,
wherever they stand.  What is found in words only (a transcript, a note) has lost its form, and that is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ...types import (
    Issue,
    IssueKind,
    JsonObject,
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Verdict,
)
from ..shared.body import items, mapping, present
from ..shared.spec import MARKS, WireFields


def loss_at(path: str, message: str, *, raw: str = "", name: str = "", call_id: str = "") -> Issue:
    """One thing left out or changed: where it stood, what to say of it, and what it was."""
    return Issue(kind=IssueKind.UNSUPPORTED, message=message, path=path, raw=raw, name=name, call_id=call_id)


class Fields:
    """Fields of one wire, wherever they were read."""

    def __init__(self, found: Iterable[JsonObject] = ()) -> None:
        self._known: set[tuple[str, str]] = set()
        for one in found:
            self.add(one)

    def add(self, found: JsonObject) -> None:
        """More fields."""
        for key, value in found.items():
            self._known.add((key, repr(value)))
            self._known.update((f"{key}.{name}", repr(one)) for name, one in mapping(value).items())
            self._known.update((f"{key}[]", repr(one)) for one in items(value))

    def losses(self, sent: JsonObject, path: str, api: str) -> Iterator[Issue]:
        """The fields of another wire in `sent` that are not among these.

        A plain mapping is the caller's own note and sent nowhere, so nothing of it can be lost.
        """
        if not isinstance(sent, WireFields):
            return
        for key, value in sent.items():
            if value is not None and key not in MARKS and key != "id" and (key, repr(value)) not in self._known:
                said = _COUNTED if path == "$.extra" else _SAID_ELSEWHERE
                for field, what, text in _spelled(key, value, said):
                    if (field, text) not in self._known:
                        where = f"{path}.{field.removesuffix('[]')}"
                        yield loss_at(where, f"{api} has no {what} of {sent.api}", raw=text)


def _spelled(key: str, value: object, said: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    """A field as the fields or tools in it that are not `said` elsewhere, where it holds any: its path, what it is,
    what it says."""
    inner = mapping(value)
    if inner and key not in _WHOLE:
        for name, one in present(inner, said).items():
            yield f"{key}.{name}", f"field `{key}.{name}`", repr(one)
        return
    tools = [one for one in items(value) if isinstance(one, Mapping)] if key == "tools" else []
    for one in tools:
        kind = one.get("type") or next(iter(one), "function")
        if kind != "function":
            yield f"{key}[]", f"tool `{kind}`", repr(one)
    if not tools:
        yield key, f"field `{key}`", repr(value)


_WHOLE = frozenset({"cache_control", "prompt_cache_breakpoint"})
"""Fields that say something by standing there."""
_COUNTED = frozenset(
    {"prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "completion_tokens_details"}
    | {"input_tokens", "output_tokens", "input_tokens_details", "output_tokens_details", "cache_read_input_tokens"}
    | {"cache_creation_input_tokens", "inputTokens", "outputTokens", "totalTokens", "promptTokenCount"}
    | {"candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount", "totalTokenCount"}
    | {"cacheReadInputTokens", "cacheWriteInputTokens", "billed_units", "tokens", "cached_tokens"}
)
"""Token counts, which `Usage` says too."""
_SAID_ELSEWHERE = _COUNTED | {"type", "role", "name", "description", "text", "summary", "content", "status", "id"}
"""Fields inside a block that the canonical value around it says too: what it is, what it says, what it counted; and its
own name, which means nothing elsewhere."""


class _Texts:
    """Texts that were found; each is taken once, whole or out of a longer one."""

    def __init__(self) -> None:
        self._left: list[str] = []
        self._at: dict[str, list[int]] = {}

    def put(self, text: str) -> None:
        """Another text."""
        self._at.setdefault(text, []).append(len(self._left))
        self._left.append(text)

    def take(self, text: str) -> bool:
        """Is `text` there?  What is found is gone."""
        places = self._at.get(text, [])
        while places:
            at = places.pop(0)
            if self._left[at] == text:
                self._left[at] = ""
                return True
        at = next((at for at, one in enumerate(self._left) if text in one), -1)
        if at >= 0:
            self._left[at] = self._left[at].replace(text, "", 1)
        return at >= 0

    def says(self, text: str) -> bool:
        """Does `text` stand anywhere?"""
        return any(text in one for one in self._left)


class ReadBack:
    """Messages that were read back, to take their parts out again."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self._texts: dict[str, _Texts] = {}
        self._thoughts = _Texts()
        self._calls: list[ToolCall] = []
        self._results: list[ToolResult] = []
        self._shown: list[Media] = []
        self._blocks: list[JsonObject] = []
        self.fields: Fields = Fields()
        for message in messages:
            self.fields.add(message.metadata)
            for part in message.parts:
                self._put(part, message.role)

    def _put(self, part: Part, role: str) -> None:
        if not isinstance(part, Opaque):
            self.fields.add(part.metadata)
        match part:
            case Text(text):
                self._texts.setdefault(role, _Texts()).put(text)
            case Reasoning(text):
                self._thoughts.put(text)
            case ToolCall():
                self._calls.append(part)
            case ToolResult():
                self._results.append(part)
                for one in part.content:
                    self._put(one, "tool")
            case Media():
                self._shown.append(part)
            case Opaque():
                self._blocks.append(part.block)

    def losses(self, part: Part, role: str, path: str, api: str) -> Iterator[Issue]:
        """What of `part`, which `role` said, is not here."""
        find: Callable[[ReadBack, Any, str, str, str], Iterator[Issue]] = _FIND[type(part)]
        yield from find(self, part, role, path, api)
        if not isinstance(part, Opaque):
            yield from self.fields.losses(part.metadata, f"{path}.metadata", api)

    def _text(self, part: Text, role: str, path: str, api: str) -> Iterator[Issue]:
        text = part.text
        if not text or (role in self._texts and self._texts[role].take(text)):
            return
        other = next((one for one, texts in self._texts.items() if texts.take(text)), "")
        message = f"{api} tells a text of role {role} as {other}" if other else f"{api} does not take this text"
        yield loss_at(path, message, raw=text)

    def _reasoning(self, part: Reasoning, role: str, path: str, api: str) -> Iterator[Issue]:
        if part.text and not self._thoughts.take(part.text):
            yield loss_at(path, f"{api} does not take this reasoning", raw=part.text)

    def _opaque(self, part: Opaque, role: str, path: str, api: str) -> Iterator[Issue]:
        if part.block in self._blocks:
            self._blocks.remove(part.block)
            return
        kind = part.block.get("type") or next(iter(part.block), "")
        yield loss_at(path, f"{api} has no block `{kind}` of {part.api}", raw=repr(part.block))

    def _has(self, text: str) -> bool:
        return any(texts.says(text) for texts in self._texts.values())

    def _call(self, call: ToolCall, role: str, path: str, api: str) -> Iterator[Issue]:
        about, raw = {"name": call.name, "call_id": call.id}, call.raw or ""
        got = self._take_call(call)
        if got is None:
            message = f"{api} tells calls in words" if self._has(call.name) else f"{api} does not take calls"
            yield loss_at(path, message, raw=raw, **about)
            return
        if got.id != call.id:
            yield loss_at(f"{path}.id", f"{api} does not keep the ids of calls", **about)
        broken = call.report is not None and call.report.verdict is Verdict.REFUSED
        if got.arguments != call.arguments or (broken and got.raw != call.raw):
            what = "unreadable arguments" if broken else "these arguments as they are"
            yield loss_at(f"{path}.arguments", f"{api} does not take {what}", raw=raw, **about)

    def _take_call(self, call: ToolCall) -> ToolCall | None:
        """The call of that name and id, else the first of that name."""
        named = sorted((one for one in self._calls if one.name == call.name), key=lambda one: one.id != call.id)
        if named:
            self._calls.remove(named[0])
        return named[0] if named else None

    def _result(self, result: ToolResult, role: str, path: str, api: str) -> Iterator[Issue]:
        about = {"name": result.name, "call_id": result.call_id}
        got = next((one for one in self._results if one.call_id == result.call_id), None)
        if got is None:
            words = not result.text or self._has(result.text)
            yield loss_at(path, f"{api} {'tells' if words else 'does not take'} results in words", **about)
            return
        self._results.remove(got)
        if result.text not in got.text:
            message = f"{api} tells the text of a result otherwise"
            yield loss_at(f"{path}.content", message, raw=result.text, **about)
        for i, part in enumerate(result.content):
            yield from self._part_of_result(part, role, f"{path}.content[{i}]", api)
        for field, message in (
            ("is_error", f"{api} does not say that a result is an error"),
            ("error_code", f"{api} does not take the code {result.error_code}"),
        ):
            if getattr(result, field) != getattr(got, field):
                yield loss_at(f"{path}.{field}", message, **about)

    def _part_of_result(self, part: Text | Media, role: str, path: str, api: str) -> Iterator[Issue]:
        if isinstance(part, Media):
            yield from self._media(part, role, path, api)
        yield from self.fields.losses(part.metadata, f"{path}.metadata", api)

    def _media(self, media: Media, role: str, path: str, api: str) -> Iterator[Issue]:
        what = (media.data, media.url)
        got = next((one for one in self._shown if (one.data, one.url) == what), None)
        if got is None:
            yield loss_at(path, f"{api} does not take {media.mime or 'media'} here", name=media.name)
            return
        self._shown.remove(got)
        names = (_NO_WORD.sub("", media.name), _NO_WORD.sub("", got.name))
        for field, given, read in (("media type", media.mime, got.mime), ("name", *names)):
            if given and given != read:
                yield loss_at(path, f"{api} does not keep the {field} of media", name=media.name)


_NO_WORD = re.compile(r"\W+")
"""What some APIs allow in no name: it is no loss (`report.pdf` goes as `report pdf`)."""
_FIND: Mapping[type, Callable[..., Iterator[Issue]]] = {
    Text: ReadBack._text,
    Reasoning: ReadBack._reasoning,
    ToolCall: ReadBack._call,
    ToolResult: ReadBack._result,
    Media: ReadBack._media,
    Opaque: ReadBack._opaque,
}
