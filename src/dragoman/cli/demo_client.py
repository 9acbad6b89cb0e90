"""A client as they are out there: OpenAI chat completions over plain HTTP, streamed, tools run until a text comes back.

It knows nothing of this package but its frame reader; what it sends and accepts is what any OpenAI-style client does.
Contract: yields what happens as it happens; a refusal or a broken answer of the server raises `ProviderError`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import httpx2

from ..codecs.shared.frames import SseReader
from ..errors import ErrorKind, ProviderError

Body = dict[str, Any]
RunTool = Callable[[str, Mapping[str, Any]], str]
DONE = "[DONE]"


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of text arrived."""

    text: str


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """An answer is complete: its text, its tool calls as the wire has them, and why it ended."""

    text: str
    calls: tuple[Body, ...]
    finish: str


@dataclass(frozen=True, slots=True)
class Ran:
    """A tool ran."""

    name: str
    arguments: Mapping[str, Any]
    result: str


Step: TypeAlias = Piece | ModelAnswer | Ran


@dataclass(slots=True)
class _Folded:
    """The deltas of one streamed answer, folded as clients fold them."""

    text: list[str] = field(default_factory=list)
    calls: dict[int, Body] = field(default_factory=dict)
    finish: str = ""

    def add(self, chunk: Body) -> Iterator[Piece]:
        for choice in chunk.get("choices", ()):
            self.finish = choice.get("finish_reason") or self.finish
            delta = choice.get("delta", {})
            if delta.get("content"):
                self.text.append(delta["content"])
                yield Piece(delta["content"])
            for call in delta.get("tool_calls") or ():
                self._add_call(call)

    def _add_call(self, delta: Body) -> None:
        empty = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
        call = self.calls.setdefault(delta["index"], empty)
        call["id"] = delta.get("id") or call["id"]
        for key, text in delta.get("function", {}).items():
            call["function"][key] += text or ""

    def answer(self) -> ModelAnswer:
        return ModelAnswer("".join(self.text), tuple(self.calls[i] for i in sorted(self.calls)), self.finish)


def work(
    client: httpx2.Client, url: str, *, model: str, task: str, tools: Sequence[Body], run: RunTool, turns: int = 12
) -> Iterator[Step]:
    """Ask, run the tools the answer calls, send the results, and so on until an answer calls none."""
    messages: list[Body] = [{"role": "user", "content": task}]
    for _ in range(turns):
        body = {"model": model, "messages": messages, "tools": list(tools), "stream": True}
        answer = yield from _ask(client, url, body)
        yield answer
        if not answer.calls:
            return
        messages.append({"role": "assistant", "content": answer.text or None, "tool_calls": list(answer.calls)})
        for call in answer.calls:
            ran = _run(call, run)
            yield ran
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": ran.result})


def _run(call: Body, run: RunTool) -> Ran:
    name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"] or "{}")
    return Ran(name, arguments, run(name, arguments))


def _ask(client: httpx2.Client, url: str, body: Body) -> Generator[Piece, None, ModelAnswer]:
    folded, reader = _Folded(), SseReader()
    with client.stream("POST", f"{url}/v1/chat/completions", json=body) as answer:
        if answer.status_code != httpx2.codes.OK:
            raise _refusal(answer.status_code, answer.read())
        for data in answer.iter_bytes():
            for frame in reader.feed(data):
                if frame.data != DONE:
                    yield from folded.add(_checked(json.loads(frame.data)))
    return folded.answer()


def _checked(chunk: Body) -> Body:
    if chunk.get("error"):
        raise ProviderError(f"the server broke off: {chunk['error']}", kind=ErrorKind.SERVER)
    return chunk


def _refusal(status: int, body: bytes) -> ProviderError:
    text = body.decode("utf-8", "replace")
    return ProviderError(f"the server answered {status}: {text}", status=status, body=text)
