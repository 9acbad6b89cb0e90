"""The form of `dragoman.toml`, as a JSON Schema: what editors complete and what `load.py` checks.

Data only.  Contract: what this form takes `load.py` can read; unknown words are refused, for they are misspellings.
`errorMessage`, which editors know too, says what is wanted where the rule alone does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...providers.rows import COMPATIBLE
from ...providers.spec import Tools


def _object(properties: Mapping[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "object", "properties": dict(properties), "additionalProperties": False, **more}
    return {**made, "required": list(required)} if required else made


def _text(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def _number(description: str, least: float = 0, kind: str = "integer") -> dict[str, Any]:
    return {"type": kind, "minimum": least, "description": description}


def _flag(description: str) -> dict[str, Any]:
    return {"type": "boolean", "description": description}


NO_ORIGIN = "no origin of pages; write one like https://chat.example.com, or * for all"
NO_DIGEST = "no SHA-256; write the 64 hexadecimal digits of sha256sum"
SIZE = r"^\s*\d+\s*[kKmMgG]?[bB]?\s*$"
TOOLS = {"enum": [tools.value for tools in Tools], "description": "How the model takes tools."}
KEY = _text("A key, as a reference to the environment: ${NAME}.")

SERVER = _object(
    {
        "host": _text("The address it listens on."),
        "port": {"type": "integer", "minimum": 0, "maximum": 65535, "description": "0 takes a free one."},
        "workers": _number("Processes that serve.", 1),
        "reload": _flag("Read this file again when it changes; what is being served goes on as it was."),
        "drain_seconds": _number("Seconds it says that it is about to end, once told to, before it ends.", 0, "number"),
        "metrics": _flag("Count what is served, and show it at /metrics."),
        "inspect": _flag("Keep what is said, in memory, and show it at /inspect; one process serves then."),
        "log_format": {"enum": ["json", "text"], "description": "How lines of the log are written."},
        "log_level": {
            "enum": ["debug", "info", "warning", "error"],
            "description": "What is logged; info when a format is given.",
        },
        "reasks": _number("How often a model is asked again for what was wrong with its answer."),
        "stream_arguments": _flag("Send a call's arguments as they come; such a call cannot be taken back."),
        "keep_alive": _number("Seconds of silence after which an event stream gets a comment.", 0.01, "number"),
        "tls_cert": _text("The file of a TLS certificate."),
        "tls_key": _text("The file of its private key."),
        "cors_origins": {
            "type": "array",
            "items": {
                "type": "string",
                "pattern": "^(\\*|[A-Za-z][A-Za-z0-9+.-]*://[^/]+/?)$",
                "errorMessage": NO_ORIGIN,
            },
            "description": "Web pages that may use it, besides those of this machine: https://chat.example.com",
        },
        "state_dir": _text("The directory where processes keep what another may need; several workers make their own."),
    }
)
LIMITS = _object(
    {
        "body": {
            "anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": SIZE}],
            "description": "Bytes of a request, or a text like 32MB.",
            "errorMessage": 'no size; write a number of bytes, or a text like "32MB"',
        },
        "max_json_values": _number("JSON values in a request.", 1),
        "tools": _number("Tools in a request.", 1),
        "max_concurrent": _number("Requests served at the same time.", 1),
        "timeout": _number("Seconds one request may take; 0 for no limit.", 0, "number"),
        "body_timeout": _number("Seconds a client may take to send its request.", 0.01, "number"),
    }
)
FALLBACK = _object(
    {
        "retries": _number("How often one route is asked again at most."),
        "cooldown": _number("Seconds a route rests after its first failure; they double.", 0, "number"),
        "max_cooldown": _number("Seconds it rests at most.", 0, "number"),
        "text_tools": _flag("Whether routes without native tools serve turns with tools, told as text."),
    }
)
ACCESS = _object(
    {
        "name": _text("What it is called in logs.", minLength=1),
        "key": KEY,
        "sha256": _text(
            "Or the SHA-256 of the key, in hexadecimal.", pattern="^[0-9a-fA-F]{64}$", errorMessage=NO_DIGEST
        ),
        "models": {"type": "array", "items": {"type": "string"}, "description": "Patterns of models it may ask for."},
        "per_minute": _number("Requests it may begin in a minute; 0 for no limit."),
        "max_concurrent": _number("Requests it may have at the same time; 0 for no limit."),
        "inspect": _flag("Whether it sees at /inspect what was asked with other keys too."),
    },
    "name",
    oneOf=[{"required": ["key"]}, {"required": ["sha256"]}],
    errorMessage='a key has a name, and either key = "${NAME}" or sha256; write it so',
)
PROVIDER = _object(
    {
        "api": {"enum": sorted(COMPATIBLE), "description": "The API it speaks; openai_chat when not given."},
        "extends": _text("The provider it is like in everything that is not said here, instead of an api."),
        "base_url": _text("The root of its API."),
        "key": KEY,
        "tools": TOOLS,
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
    }
)
ROUTE = _text("provider/model, like ollama/qwen3:8b.", minLength=1)
PATTERNS = {"type": "array", "items": {"type": "string"}}
ATTACHMENT = _object(
    {
        "server": _text("Its name in mcpServers.", minLength=1),
        "run_on": {"enum": ["server", "client"], "description": "Who runs its tools: the gateway, or the client."},
        "tools": {**PATTERNS, "description": "Patterns of the tools the model gets; all when not given."},
        "allow": {**PATTERNS, "description": "Patterns of tools the gateway runs although they may change something."},
    },
    "server",
)
MCP = _object(
    {
        "max_turns": _number("Answers with calls of its tools the gateway runs for one request.", 1),
        "max_corrections": _number("How often in a row a wrong call of them is corrected."),
        "timeout": _number("Seconds all of that may take.", 0.01, "number"),
        "tool_timeout": _number("Seconds one call may take.", 0.01, "number"),
        "result_limit": _number("Characters of a result the model gets at once.", 200),
        "max_parallel": _number("Calls that run at the same time.", 1),
    }
)
_MODEL = {
    "route": ROUTE,
    "routes": {"type": "array", "items": ROUTE, "minItems": 1, "description": "In the order in which they are asked."},
    "dialect": _text("The dialect the model writes; all are heard when not given."),
    "prompt_dialect": _text("The dialect it is spoken to in, where that is another."),
    "tools": TOOLS,
    "compact": _flag("One line per tool in the prompt."),
    "budget": _number("Tokens the tool prompt may take."),
    "nonce": _flag("Count only calls that carry a code made for the request."),
    "prefix": _text("What the chat template has opened when the model begins (<think>)."),
    "timeout": _number("Seconds of silence after which a provider is given up.", 0.01, "number"),
    "mcp": {
        "type": "array",
        "items": {"anyOf": [{"type": "string"}, ATTACHMENT]},
        "description": "MCP servers whose tools this model gets.",
    },
}
MODEL = _object(
    _MODEL,
    oneOf=[{"required": ["route"]}, {"required": ["routes"]}],
    errorMessage='a model is a table with either route = "provider/model" or routes = [...]; write it so',
)

FORM: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "dragoman.toml",
    **_object(
        {
            "server": SERVER,
            "limits": LIMITS,
            "fallback": FALLBACK,
            "keys": {"type": "array", "items": ACCESS, "description": "Keys of clients; none: none is asked for."},
            "providers": {"type": "object", "additionalProperties": PROVIDER},
            "models": {
                "type": "object",
                "additionalProperties": MODEL,
                "description": "By the name clients say; * in it stands for anything.",
            },
            "default": MODEL,
            "mcp": MCP,
            "mcpServers": {"type": "object", "additionalProperties": {"type": "object"}},
        }
    ),
}
