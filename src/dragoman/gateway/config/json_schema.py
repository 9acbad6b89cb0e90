"""The form of `dragoman.toml`, as a JSON Schema: what editors complete and what `load.py` checks.

Data only.  Contract: what this form takes `load.py` can read; unknown words are refused, for they are misspellings.
`errorMessage`, which editors know too, says what is wanted where the rule alone does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...fallback import Sharing
from ...providers.endpoints import ENDPOINTS
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
NO_TOOL = "no tool of an MCP server; write server.tool"
NO_DIGEST = "no SHA-256; write the 64 hexadecimal digits of sha256sum"
NO_SIZE = 'no size; write a number of bytes, or a text like "32MB"'
SIZE = r"^\s*\d+\s*[kKmMgG]?[bB]?\s*$"
TOOLS: dict[str, Any] = {
    "enum": [tools.value for tools in Tools],
    "description": "Way tools travel: native, text, or found by trial.",
}
KEY = _text("Key, as a reference to the environment: ${NAME}.")

SERVER = _object(
    {
        "host": _text("Address to listen on."),
        "port": {"type": "integer", "minimum": 0, "maximum": 65535, "description": "Port to listen on; 0: a free one."},
        "workers": _number("Worker processes.", 1),
        "reload": _flag("Reload this file when it changes; running requests keep their settings."),
        "drain_seconds": _number("Seconds of 503 at /readyz after SIGTERM before the port closes.", 0, "number"),
        "metrics": _flag("Prometheus metrics at /metrics."),
        "inspect": _flag("Exchanges with content at /inspect, kept in memory; one process serves then."),
        "log_format": {"enum": ["json", "text"], "description": "Form of log lines."},
        "log_level": {
            "enum": ["debug", "info", "warning", "error"],
            "description": "Least level that is logged. Default: info with a log_format, else warning.",
        },
        "reasks": _number("Re-asks of one answer for what was wrong with it."),
        "stream_arguments": _flag("Stream a call's arguments as they come; such a call cannot be taken back."),
        "keep_alive": _number("Seconds of silence after which an event stream gets a comment.", 0.01, "number"),
        "known_bytes": _number(
            "Bytes of memory for what clients send again with every turn: it is read and written once. 0 for none."
        ),
        "tls_cert": _text("File of a TLS certificate (PEM)."),
        "tls_key": _text("File of its private key (PEM)."),
        "cors_origins": {
            "type": "array",
            "items": {
                "type": "string",
                "pattern": "^(\\*|[A-Za-z][A-Za-z0-9+.-]*://[^/]+/?)$",
                "errorMessage": NO_ORIGIN,
            },
            "description": "Origins of web pages that may use the gateway, besides this machine's: https://chat.example.com",
        },
        "state_dir": _text("Directory of state that processes share; several workers make one of their own."),
        "state": _text("Redis or Valkey (redis://HOST:6379/0) in place of state_dir: state that machines share."),
        "namespace": _text("Name of this deployment in shared stores; all its processes have it, others another."),
        "state_key": _text("Secret that keys in that store are digested with: ${DRAGOMAN_STATE_KEY}."),
        "state_timeout": _number("Seconds it has for an answer before requests go on without it.", 0.001, "number"),
        "state_days": _number("Days for which texts of conversations stand in it.", 0.001, "number"),
    }
)
LIMITS = _object(
    {
        "body": {
            "anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": SIZE}],
            "description": "Bytes of a request body, unpacked, or a text like 32MB.",
            "errorMessage": NO_SIZE,
        },
        "upstream_bytes": {
            "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": SIZE}],
            "description": "Bytes of answers that a process holds at a time, or a text like 512MB; 0: no limit.",
            "errorMessage": NO_SIZE,
        },
        "max_json_values": _number("JSON values in a request, names and leaves.", 1),
        "tools": _number("Tools in a request.", 1),
        "max_concurrent": _number("Requests in flight; more get 429.", 1),
        "timeout": _number("Seconds of one request, all attempts together; 0: no limit.", 0, "number"),
        "background_timeout": _number("Seconds of a response in the background; 0: no limit.", 0, "number"),
        "body_timeout": _number("Seconds a client may take to send its request.", 0.01, "number"),
        "background": _number("Responses of a key answered in the background at a time; more wait.", 1),
        "background_queue": _number("Responses of a key that wait for that; more get 429."),
    }
)
RECORDINGS = _object(
    {
        "url": _text("Store of recordings: postgresql://user:${NAME}@host/database, or the path of an SQLite file."),
        "content": _flag("Record what was said, too, and both wires. Default: times, outcomes and verdicts only."),
        "days": _number("Days that recordings are kept; 0: for ever."),
        "queue": _number("Exchanges that may wait to be written; more are dropped and counted.", 1),
        "queue_bytes": {
            "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": SIZE}],
            "description": "Bytes that may wait to be written, or a text like 64MB; more are dropped and counted.",
            "errorMessage": NO_SIZE,
        },
    }
)
FALLBACK = _object(
    {
        "retries": _number("Retries of one route, before anything of its answer went out."),
        "first": _number("Seconds of the first wait before a retry; they double.", 0, "number"),
        "longest": _number("Longest wait before a retry, in seconds.", 0, "number"),
        "cooldown": _number("Seconds of a route's first cooldown; they double.", 0, "number"),
        "max_cooldown": _number("Longest cooldown, in seconds.", 0, "number"),
        "text_tools": _flag("Let routes without native tools serve requests with tools, in text."),
    }
)
ACCESS = _object(
    {
        "name": _text("Name of the key in logs and limits.", minLength=1),
        "key": KEY,
        "sha256": _text(
            "SHA-256 of the key in hexadecimal, instead of it.", pattern="^[0-9a-fA-F]{64}$", errorMessage=NO_DIGEST
        ),
        "models": {"type": "array", "items": {"type": "string"}, "description": "Patterns of its models."},
        "per_minute": _number("Requests per minute; 0: no limit."),
        "tokens_per_minute": _number("Tokens per minute, read and written, as providers count them; 0: no limit."),
        "state_away": {
            "enum": ["divide", "local", "refuse"],
            "description": "Its limits while `server.state` is away: divided by the processes that live, whole in each "
            "process, or no requests. Default: divide.",
        },
        "max_concurrent": _number("Requests in flight; 0: no limit."),
        "inspect": _flag("Let it see exchanges of other keys at /inspect."),
    },
    "name",
    oneOf=[{"required": ["key"]}, {"required": ["sha256"]}],
    errorMessage='a key has a name, and either key = "${NAME}" or sha256; write it so',
)
PROVIDER = _object(
    {
        "api": {"enum": sorted(COMPATIBLE), "description": "API of the provider. Default: openai_chat."},
        "extends": _text("Provider whose row this one extends, instead of an api."),
        "base_url": _text("Root of its API."),
        "key": KEY,
        "tools": TOOLS,
        "endpoints": {
            "type": "array",
            "items": {"enum": list(ENDPOINTS)},
            "description": "Endpoints it has beside chat. Default: its row's; OpenAI's, for a server without one.",
        },
        "headers": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "Further headers of every request to it.",
        },
    }
)
ROUTE = _text("Provider and model: ollama/qwen3:8b.", minLength=1)
ORDERED = "ordered"
WEIGHED = _object(
    {
        "route": ROUTE,
        "weight": {
            "type": "number",
            "minimum": 0,
            "maximum": 1e9,
            "description": "Share of the requests, with a balance. Default: 1. 0: asked only after all others.",
        },
    },
    "route",
)
PATTERNS: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
ATTACHMENT = _object(
    {
        "server": _text("Name of the server in mcpServers.", minLength=1),
        "run_on": {"enum": ["server", "client"], "description": "Place where its tools run."},
        "tools": {**PATTERNS, "description": "Patterns of the tools the model gets. Default: all."},
        "allow": {**PATTERNS, "description": "Patterns of tools that run here although they may change something."},
        "optional": _flag("Serve requests without it while it cannot be used. Default: they wait, then get 503."),
    },
    "server",
)
MCP = _object(
    {
        "max_turns": _number("Answers with calls of server tools, for one request.", 1),
        "max_corrections": _number("Corrections of wrong calls in a row."),
        "max_calls": _number("Calls of server tools that one answer may make; the others are not run.", 1),
        "max_writes": _number("Calls of server tools that are not read-only, for one request."),
        "timeout": _number("Seconds of all of it.", 0.01, "number"),
        "tool_timeout": _number("Seconds of one call.", 0.01, "number"),
        "result_limit": _number("Characters of a result the model gets at once.", 200),
        "max_parallel": _number("Calls that run at the same time.", 1),
        "patience": _number("Seconds a request waits for a server that is not ready.", 0, "number"),
    }
)
_MODEL = {
    "route": ROUTE,
    "routes": {
        "type": "array",
        "items": {"anyOf": [ROUTE, WEIGHED]},
        "minItems": 1,
        "description": "Routes, in the order they are asked; with a balance also tables: {route, weight}.",
    },
    "balance": {
        "enum": [ORDERED, *Sharing],
        "description": "How routes share requests: in order (the next where one fails), by weight, or by load.",
    },
    "affinity": _flag("Keep a conversation to one route, whose prompt cache knows it. Default with a balance: true."),
    "dialect": _text("Dialect of prompt and text, or a row's .json file. Default: the family's, and all are parsed."),
    "prompt_dialect": _text("Dialect of the prompt and replayed history. Default: dialect."),
    "tools": TOOLS,
    "compact": _flag("One line per tool in the prompt."),
    "budget": _number("Tokens the tool prompt may take. Default: a quarter of the model's context."),
    "doubt": {
        "enum": ["ask", "run", "text"],
        "description": "Fate of calls in the text that were perhaps not meant. Default: ask.",
    },
    "strict": _flag("Ask again for calls that need mending, and for all but actions and finals of the JSON protocol."),
    "nonce": _flag("Count only calls that carry a code made for the request; tools go as text."),
    "prefix": _text("Text the chat template has opened when the model begins (<think>)."),
    "timeout": _number("Seconds of silence after which a request to a provider fails.", 0.01, "number"),
    "grace": _number("Seconds a connection may stay silent once the answer said why it stops.", 0.01, "number"),
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
            "recordings": RECORDINGS,
            "fallback": FALLBACK,
            "keys": {"type": "array", "items": ACCESS, "description": "Keys of clients. Default: none is asked for."},
            "providers": {
                "type": "object",
                "additionalProperties": PROVIDER,
                "description": "Providers of your own, by the name that routes call them.",
            },
            "models": {
                "type": "object",
                "additionalProperties": MODEL,
                "description": "Models by the name clients ask for; * stands for anything.",
            },
            "default": MODEL,
            "mcp": MCP,
            "server_tools": {
                "type": "object",
                "additionalProperties": {"type": "string", "pattern": "^[^.]+\\..+$", "errorMessage": NO_TOOL},
                "description": "MCP tools (server.tool) that run where a backend does not run web_search and its like.",
            },
            "mcpServers": {
                "type": "object",
                "additionalProperties": {"type": "object"},
                "description": "MCP servers, by name.",
            },
        }
    ),
}
