"""What came through of the parts of messages: each is looked for in what was read back.

Knows canonical parts; no wire.  Contract: a text is heard where it stands whole, alone or joined to others, each
occurrence once; a call by its id and name, else by its name; a result by its call; media by their data or address,
wherever they stand.  What is heard in words only (a transcript, a note) has lost its form, and that is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

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
from ..shared.body import items, mapping
from ..shared.spec import MARKS, WireFields


def lost(path: str, message: str, *, raw: str = "", name: str = "", call_id: str = "") -> Issue:
    """One thing left out or told otherwise: where it stood, what to say of it, and what it was."""
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

    def losses(self, told: JsonObject, path: str, api: str) -> Iterator[Issue]:
        """The fields of another wire in `told` that are not among these.

        A plain mapping is the caller's own note and sent nowhere, so nothing of it can be lost.
        """
        if not isinstance(told, WireFields):
            return
        for key, value in told.items():
            if value is not None and key not in MARKS and (key, repr(value)) not in self._known:
                for field, what, said in _spelled(key, value):
                    if (field, said) not in self._known:
                        where = f"{path}.{field.removesuffix('[]')}"
                        yield lost(where, f"{api} has no {what} of {told.api}", raw=said)


def _spelled(key: str, value: object) -> Iterator[tuple[str, str, str]]:
    """A field as the fields or tools in it, where it holds any; what is said elsewhere too is passed over."""
    if inner := mapping(value):
        for name, one in inner.items():
            if one is not None and name not in SAID:
                yield f"{key}.{name}", f"field `{key}.{name}`", repr(one)
    elif key == "tools" and any(isinstance(one, Mapping) for one in items(value)):
        for one in map(mapping, items(value)):
            kind = one.get("type") or next(iter(one), "function")
            if kind != "function":
                yield f"{key}[]", f"tool `{kind}`", repr(one)
    else:
        yield key, f"field `{key}`", repr(value)


SAID = frozenset(
    {"type", "role", "name", "description", "text", "summary", "content", "status"}
    | {"prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "completion_tokens_details"}
    | {"input_tokens", "output_tokens", "input_tokens_details", "output_tokens_details", "cache_read_input_tokens"}
    | {"cache_creation_input_tokens", "inputTokens", "outputTokens", "totalTokens", "promptTokenCount"}
    | {"candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount", "totalTokenCount"}
)
"""Fields inside a kept block that the canonical value around it says too: what it is, what it says, what it counted."""


class _Texts:
    """Texts that were heard; each is taken once, whole or out of a longer one."""

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
        at = next((at for at, held in enumerate(self._left) if text in held), -1)
        if at >= 0:
            self._left[at] = self._left[at].replace(text, "", 1)
        return at >= 0

    def says(self, text: str) -> bool:
        """Does `text` stand anywhere?"""
        return any(text in held for held in self._left)


class Heard:
    """Messages that were read back, to take their parts out again."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self._texts: dict[str, _Texts] = {}
        self._thoughts = _Texts()
        self._calls: list[ToolCall] = []
        self._results: list[ToolResult] = []
        self._media: list[Media] = []
        self._blocks: list[JsonObject] = []
        self.fields = Fields()
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
                self._media.append(part)
            case Opaque():
                self._blocks.append(part.block)

    def losses(self, part: Part, role: str, path: str, api: str) -> Iterator[Issue]:
        """What of `part`, which `role` said, is not here."""
        match part:
            case Text(text):
                yield from self._text(text, role, path, api)
            case Reasoning(text):
                if text and not self._thoughts.take(text):
                    yield lost(path, f"{api} does not take this reasoning", raw=text)
            case ToolCall():
                yield from self._call(part, path, api)
            case ToolResult():
                yield from self._result(part, path, api)
            case Media():
                yield from self._shown(part, path, api)
            case Opaque() if part.block in self._blocks:
                self._blocks.remove(part.block)
            case Opaque(api=origin, block=block):
                message = f"{api} has no block `{block.get('type') or next(iter(block), '')}` of {origin}"
                yield lost(path, message, raw=repr(block))
        if not isinstance(part, Opaque):
            yield from self.fields.losses(part.metadata, f"{path}.metadata", api)

    def _text(self, text: str, role: str, path: str, api: str) -> Iterator[Issue]:
        if not text or (role in self._texts and self._texts[role].take(text)):
            return
        other = next((one for one, texts in self._texts.items() if texts.take(text)), "")
        message = f"{api} tells a text of role {role} as {other}" if other else f"{api} does not take this text"
        yield lost(path, message, raw=text)

    def _says(self, text: str) -> bool:
        return any(texts.says(text) for texts in self._texts.values())

    def _call(self, call: ToolCall, path: str, api: str) -> Iterator[Issue]:
        named = [one for one in self._calls if one.name == call.name]
        got = next((one for one in named if one.id == call.id), named[0] if named else None)
        if got is None:
            message = f"{api} tells calls in words" if self._says(call.name) else f"{api} does not take calls"
            yield lost(path, message, raw=call.raw or "", name=call.name, call_id=call.id)
            return
        self._calls.remove(got)
        about = {"name": call.name, "call_id": call.id}
        if got.id != call.id:
            yield lost(f"{path}.id", f"{api} does not keep the ids of calls", **about)
        broken = call.report is not None and call.report.verdict is Verdict.REFUSED
        if got.arguments != call.arguments or (broken and got.raw != call.raw):
            what = "unreadable arguments" if broken else "these arguments as they are"
            yield lost(f"{path}.arguments", f"{api} does not take {what}", raw=call.raw or "", **about)

    def _result(self, result: ToolResult, path: str, api: str) -> Iterator[Issue]:
        about = {"name": result.name, "call_id": result.call_id}
        got = next((one for one in self._results if one.call_id == result.call_id), None)
        if got is None:
            words = not result.text or self._says(result.text)
            yield lost(path, f"{api} {'tells' if words else 'does not take'} results in words", **about)
            return
        self._results.remove(got)
        if result.text not in got.text:
            message = f"{api} tells the text of a result otherwise"
            yield lost(f"{path}.content", message, raw=result.text, **about)
        for i, part in enumerate(result.content):
            if isinstance(part, Media):
                yield from self._shown(part, f"{path}.content[{i}]", api)
            yield from self.fields.losses(part.metadata, f"{path}.content[{i}].metadata", api)
        if result.is_error != got.is_error:
            yield lost(f"{path}.is_error", f"{api} does not say that a result is an error", **about)
        if result.error_code != got.error_code:
            message = f"{api} does not take the code {result.error_code}"
            yield lost(f"{path}.error_code", message, **about)

    def _shown(self, media: Media, path: str, api: str) -> Iterator[Issue]:
        what = (media.data, media.url)
        got = next((one for one in self._media if (one.data, one.url) == what), None)
        if got is None:
            yield lost(path, f"{api} does not take {media.mime or 'media'} here", name=media.name)
            return
        self._media.remove(got)
        for field, given, kept in (("media type", media.mime, got.mime), ("name", media.name, got.name)):
            if given and given != kept:
                yield lost(path, f"{api} does not keep the {field} of media", name=media.name)
