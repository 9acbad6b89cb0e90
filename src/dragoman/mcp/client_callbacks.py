"""Callbacks for requests of a server while it works: folders (roots), facts from the user (elicitation), a model
(sampling).

Knows the requests of MCP and our values; nothing of connections.  Requests without a function are not offered to
servers; one that asks all the same gets an error.
Contract: a caller's function may be synchronous (it runs in a thread: it may wait for a person) or asynchronous; its
exception goes to the server as a refusal, and is never raised here.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import mcp_types as types

from ..types import EMPTY_OBJECT_SCHEMA, JsonObject, Message, Request, Response, Role, Sampling, Stop
from .results import as_part

Elicit: TypeAlias = "Callable[[str, JsonObject], Awaitable[JsonObject | None] | JsonObject | None]"
"""Gets the server's question and the JSON Schema of the answer; gives the answer, or None to decline."""
Sample: TypeAlias = "Callable[[Request], Response | Awaitable[Response]]"
"""Gets a request to a model (`model` is the server's hint, or ""); gives the response."""

_STOPS: Mapping[Stop | None, str] = {Stop.LENGTH: "maxTokens", Stop.STOP_SEQUENCE: "stopSequence"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCallbacks:
    """Folders to work in, and functions, for requests of servers; a missing one is not offered."""

    roots: Sequence[str | Path] = ()
    elicit: Elicit | None = None
    sample: Sample | None = None

    def callbacks(self) -> dict[str, Any]:
        """The arguments of the SDK's client for those there are."""
        callbacks: dict[str, Any] = {}
        if self.roots:
            callbacks["list_roots_callback"] = self._list_roots
        if self.elicit is not None:
            callbacks["elicitation_callback"] = self._elicit
        if self.sample is not None:
            callbacks["sampling_callback"] = self._sample
        return callbacks

    async def _list_roots(self, _: Any) -> types.ListRootsResult:
        folders = [Path(root).absolute() for root in self.roots]
        roots = [{"uri": folder.as_uri(), "name": folder.name or str(folder)} for folder in folders]
        return types.ListRootsResult.model_validate({"roots": roots})

    async def _elicit(self, _: Any, params: Any) -> types.ElicitResult | types.ErrorData:
        question = _plain(params)
        message = "\n".join(str(question[key]) for key in ("message", "url") if question.get(key))
        try:
            answer = await _ask(self.elicit, message, question.get("requestedSchema", EMPTY_OBJECT_SCHEMA))
        except Exception as error:
            return _refusal(error)
        if answer is None:
            return types.ElicitResult(action="decline")
        return types.ElicitResult(action="accept", content=dict(answer))

    async def _sample(self, _: Any, params: Any) -> types.CreateMessageResult | types.ErrorData:
        try:
            response: Response = await _ask(self.sample, sampling_request(_plain(params)))
        except Exception as error:
            return _refusal(error)
        result = {
            "role": "assistant",
            "content": {"type": "text", "text": response.text},
            "model": response.model or "unknown",
            "stopReason": _STOPS.get(response.stop, "endTurn"),
        }
        return types.CreateMessageResult.model_validate(result)


NO_CALLBACKS = ClientCallbacks()
"""Every request is refused."""


async def _ask(function: Callable[..., Any] | None, *arguments: Any) -> Any:
    assert function is not None
    if inspect.iscoroutinefunction(function):
        return await function(*arguments)
    value = await asyncio.to_thread(function, *arguments)
    return await value if inspect.isawaitable(value) else value


def _refusal(error: Exception) -> types.ErrorData:
    return types.ErrorData(code=types.INTERNAL_ERROR, message=f"the client could not answer: {type(error).__name__}")


def _plain(params: Any) -> dict[str, Any]:
    plain: dict[str, Any] = params.model_dump(by_alias=True, mode="json", exclude_none=True)
    return plain


def sampling_request(params: JsonObject) -> Request:
    """A request to a model out of the JSON of MCP's `sampling/createMessage`."""
    messages = [Message(_role(m), [as_part(block) for block in _blocks(m)]) for m in params.get("messages", ())]
    if params.get("systemPrompt"):
        messages.insert(0, Message("system", str(params["systemPrompt"])))
    hints = params.get("modelPreferences", {}).get("hints", ())
    sampling = Sampling(
        max_tokens=params.get("maxTokens"),
        temperature=params.get("temperature"),
        stop=tuple(params.get("stopSequences", ())),
    )
    model = next((str(hint["name"]) for hint in hints if hint.get("name")), "")
    return Request(model=model, messages=tuple(messages), sampling=sampling)


def _role(message: JsonObject) -> Role:
    return "assistant" if message.get("role") == "assistant" else "user"


def _blocks(message: JsonObject) -> Sequence[JsonObject]:
    content = message.get("content", ())
    return [content] if isinstance(content, Mapping) else content
