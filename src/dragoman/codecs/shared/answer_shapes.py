"""Which API an answer's body is of, and which bodies are no answers but failures: by the fields that only these have.

Knows the codecs' names and where their answers have what; reads nothing of what stands there, and calls no codec.
Contract: what several APIs have in common tells of none of them ("" for such a body), so that whoever said which API it
is is believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from json import JSONDecoder

from ...errors import CodecError, ProviderError
from ...types import JsonObject
from .errors import read_failure
from .shapes import LIST, OBJECT, TEXT, Field, Shape, has

BLOCKS = frozenset({"tool_use", "thinking", "redacted_thinking", "server_tool_use"})

ANSWERS: tuple[Shape, ...] = (
    ("openai_chat", (("choices", LIST),)),
    ("openai_responses", (("output", LIST),)),
    ("bedrock_converse", (("output.message", OBJECT),)),
    ("gemini", (("candidates", LIST),)),
    ("gemini", (("promptFeedback", OBJECT),)),
    ("gemini", (("response.candidates", LIST),)),  # Code Assist wraps it
    ("gemini_interactions", (("steps", LIST),)),
    ("gemini_interactions", (("outputs", LIST),)),
    ("ollama_generate", (("response", TEXT),)),
    ("ollama_chat", (("message", OBJECT), ("done", bool))),
    ("stackspot", (("message", TEXT), ("message_id", TEXT))),
    ("stackspot", (("message", TEXT), ("tokens", OBJECT))),
    ("stackspot", (("message", TEXT), ("stop_reason", TEXT))),
    ("anthropic_messages", (("content", LIST), ("stop_reason", TEXT))),
    ("anthropic_messages", (("content", LIST), ("type", frozenset({"message"})))),
    ("anthropic_messages", (("content[].type", BLOCKS),)),
)
"""The API of a body, and all that such a body has; the first that fits counts."""
FAILURES: tuple[tuple[Field, ...], ...] = (
    (("error", OBJECT),),
    (("error", TEXT),),
    (("errors", LIST),),                 # APIs by JSON:API
    (("object", frozenset({"error"})),),  # older vLLM
    (("base_resp", OBJECT),),            # MiniMax
    (("__type", TEXT),),                 # AWS
    (("message", TEXT),),                # AWS, Cohere
    (("Message", TEXT),),                # AWS
    (("detail", TEXT),),                 # FastAPI
    (("detail", LIST),),
)
"""What bodies have that say why there is no answer, where nothing else says that they are one."""
BEGINNINGS: Mapping[str, str] = {
    "anthropic_messages": "message_start", "openai_responses": "response.", "cohere_chat": "message-start",
}  # fmt: skip
"""How the type of a stream's first event begins, where it has one."""
OTHER = "this is an answer of {found}, not of {api}; give {found!r} as the API"
WRITTEN_BY: Mapping[str, str] = {"bedrock_invoke": "anthropic_messages"}
"""APIs whose answers are those of another, to the byte."""


def api_of(body: JsonObject) -> str:
    """The name of the API that this answer is of, "" where it may be of several, or is none."""
    return next((api for api, fields in ANSWERS if has(body, fields)), "")


def failure_in(body: JsonObject) -> ProviderError | None:
    """The failure that a body tells of which is no answer, if it does."""
    return read_failure(0, body) if any(has(body, fields) for fields in FAILURES) else None


def check_stream(start: str, api: str) -> None:
    """Raises `CodecError` where a stream begins with an event of another API than `api`, naming that one."""
    at = start.find("{")
    try:
        body = JSONDecoder().raw_decode(start, at)[0] if at >= 0 else {}
    except (ValueError, RecursionError):
        return
    kind = str(body.get("type") or "")
    named = next((found for found, begin in BEGINNINGS.items() if kind.startswith(begin)), "")
    if named and named != WRITTEN_BY.get(api, api):
        raise CodecError(OTHER.format(found=named, api=api), "$", api)
    check_api(body, api)


def check_api(body: JsonObject, api: str) -> None:
    """Raises `CodecError` for an answer of another API than `api`, naming that one."""
    found = api_of(body)
    if found and found != WRITTEN_BY.get(api, api):
        raise CodecError(OTHER.format(found=found, api=api), "$", api)
