"""Which API the messages of a conversation are written for, by what only its messages have.

Knows the codecs' names, where their messages have what, and the field of a request in which they stand; calls no codec.
Contract: messages without such a mark are OpenAI's chat messages, which every other API's plain messages are too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...errors import UsageError
from ...types import JsonObject
from .shapes import ABSENT, LIST, OBJECT, TEXT, Shape, has

PLAIN = "openai_chat"
CLAUDE = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "search_result"})
ITEMS = frozenset({"function_call_output", "reasoning", "custom_tool_call", "custom_tool_call_output"})
CONTENTS = frozenset({"input_text", "output_text", "input_image", "input_file"})
STEPS = frozenset({"user_input", "model_output", "thought", "function_result"})
WRITTEN_FOR: tuple[Shape, ...] = (
    ("anthropic_messages", (("content[].type", CLAUDE),)),
    ("anthropic_messages", (("content[].source", OBJECT),)),
    ("gemini", (("parts", LIST),)),
    ("bedrock_converse", (("content[].toolUse", OBJECT),)),
    ("bedrock_converse", (("content[].toolResult", OBJECT),)),
    ("bedrock_converse", (("content[].reasoningContent", OBJECT),)),
    ("bedrock_converse", (("content[].image.format", TEXT),)),
    ("bedrock_converse", (("content[].text", TEXT), ("content[].type", ABSENT))),
    ("openai_responses", (("type", ITEMS),)),
    ("openai_responses", (("type", frozenset({"function_call"})), ("call_id", TEXT))),
    ("openai_responses", (("content[].type", CONTENTS),)),
    ("gemini_interactions", (("type", STEPS),)),
    ("gemini_interactions", (("type", frozenset({"function_call"})), ("call_id", ABSENT))),
    ("ollama_chat", (("images", LIST),)),
    ("ollama_chat", (("thinking", TEXT),)),
    ("ollama_chat", (("tool_name", TEXT),)),
    ("cohere_chat", (("tool_plan", TEXT),)),
    ("cohere_chat", (("content[].document", OBJECT),)),
)
FIELDS: Mapping[str, str] = {"gemini": "contents", "openai_responses": "input", "gemini_interactions": "input"}
"""Where the messages of a request stand; elsewhere in `messages`."""
ROLES = ("system", "developer", "user", "assistant", "tool", "function")
OWN_ROLES: Mapping[str, tuple[str, ...]] = {"gemini": ("user", "model", "function", "system")}
ROLELESS = frozenset({"gemini", "openai_responses", "gemini_interactions"})
"""APIs of which a message need not say whose it is."""
SAYS = frozenset({"content", "tool_calls", "function_call", "refusal", "audio", "reasoning_content", "reasoning",
                  "reasoning_details"})  # fmt: skip
"""What a plain message says something by, be it nothing."""

MIXED = "messages of {first} and of {second} stand in one conversation; give all of them in the form of one API"
NO_ROLE = "a message of {api} has no role {role!r}; give one of {roles}"
SILENT = "a message of {keys} says nothing; give it role and content, or all messages in the form of one API"


def written_for(messages: Iterable[JsonObject]) -> str:
    """The name of the API.  Raises `UsageError` for messages of several, and for what is none of any."""
    found = list(dict.fromkeys(api for one in messages if (api := _api_of(one))))
    if len(found) > 1:
        raise UsageError(MIXED.format(first=found[0], second=found[1]))
    api = found[0] if found else PLAIN
    for one in messages:
        _check(one, api)
    return api


def request_of(messages: Iterable[JsonObject], api: str) -> dict[str, Any]:
    """The body of a request of `api` that says no more than these messages."""
    return {"model": "-", FIELDS.get(api, "messages"): [dict(one) for one in messages]}


def _api_of(message: JsonObject) -> str:
    return next((api for api, fields in WRITTEN_FOR if has(message, fields)), "")


def _check(message: JsonObject, api: str) -> None:
    role, roles = message.get("role"), OWN_ROLES.get(api, ROLES)
    if role not in roles and not (role is None and api in ROLELESS):
        raise UsageError(NO_ROLE.format(api=api, role=role, roles=", ".join(roles)))
    if api == PLAIN and SAYS.isdisjoint(message):
        raise UsageError(SILENT.format(keys=", ".join(map(str, message))))
