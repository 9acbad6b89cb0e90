"""The servers a configuration file names: `mcpServers` JSON in the spellings of the hosts that read it.

Knows files, variables and the words hosts use; nothing of the protocol.  A server is a frozen `ServerSpec`: where it
is (`Stdio` or `Http`), how long it may take, which of its tools are wanted and which need no asking.

Contract: `read_servers` raises `UsageError` for what cannot be used and names the server, the field and the remedy; a
server that is switched off is left out before its variables are looked at; fields nobody here knows are left alone.
Environment and headers stay out of `repr`: they hold secrets.
"""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from ..errors import UsageError
from ..types import NOTHING

STARTUP = 60.0
"""Seconds for a server to start and list its tools: `npx` and `uvx` may have to download it first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stdio:
    """A process of ours, spoken to over its standard input and output."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default=NOTHING, repr=False)
    cwd: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Http:
    """A server at a URL.  `kind` is the transport: streamable HTTP, the older SSE, or whichever it turns out to be."""

    url: str
    headers: Mapping[str, str] = field(default=NOTHING, repr=False)
    kind: Literal["http", "sse", "either"] = "either"


Place: TypeAlias = Stdio | Http


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSpec:
    """One server: its name in the configuration, its place, its time limits in seconds, and rules for its tools.

    `timeout` is for one call (None: whatever the loop's policy says).  `include`, `exclude` and `allowed` hold names
    or patterns with `*`; `include` None means every tool; calls of `allowed` tools are not asked about.
    `optional`: what needs it may go on without it.
    """

    name: str
    place: Place
    startup: float = STARTUP
    timeout: float | None = None
    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    optional: bool = False

    def wants(self, tool: str) -> bool:
        """Is the tool of this name to be offered?"""
        return (self.include is None or named(tool, self.include)) and not named(tool, self.exclude)


def named(tool: str, patterns: Sequence[str]) -> bool:
    """Is `tool` one of these names, or does it match one of these patterns?"""
    return any(tool == pattern or fnmatchcase(tool, pattern) for pattern in patterns)


# ── files ────────────────────────────────────────────────────────────────────

CONTAINERS = ("mcpServers", "servers", "mcp_servers", "context_servers", "mcp")
"""Keys of hosts' servers: Claude, Cursor, Gemini … · VS Code · Codex · Zed · VS Code's settings, opencode."""

_NO_SERVERS = (
    'no servers in {source}; it must hold {{"mcpServers": {{name: {{"command": …}} or {{"url": …}}}}}}, '
    "as the hosts of MCP read it"
)


def read_servers(
    config: str | Path | Mapping[str, Any], environ: Mapping[str, str] | None = None
) -> tuple[ServerSpec, ...]:
    """The servers of a configuration that are not switched off: a file (JSON with comments, TOML) or its content."""
    if isinstance(config, Mapping):
        source, content, folder = "the configuration", config, Path.cwd()
    else:
        source, folder = str(config), Path(config).resolve().parent
        content = _load(Path(config))
    rows = _rows(content)
    if rows is None:
        raise UsageError(_NO_SERVERS.format(source=source))
    variables = _Variables(os.environ if environ is None else environ, folder)
    return tuple(_spec(name, row, variables) for name, row in rows.items() if not _is_off(row))


def _load(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        content = tomllib.loads(text) if path.suffix == ".toml" else json.loads(without_comments(text))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}; give the path of a file of MCP servers") from error
    except ValueError as error:
        raise UsageError(f"{path} cannot be read: {error}; correct it there") from error
    if not isinstance(content, dict):
        raise UsageError(_NO_SERVERS.format(source=path))
    return content


def _rows(content: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Server name → its fields, wherever they stand; also the bare mapping, without a container."""
    for key in CONTAINERS:
        if isinstance(found := content.get(key), Mapping):
            inner = _rows(found)
            return found if inner is None else inner
    is_bare = bool(content) and all(isinstance(row, Mapping) and _is_server(row) for row in content.values())
    return content if is_bare else None


def _is_server(row: Mapping[str, Any]) -> bool:
    return any(key in row for key in ("command", *URLS))


_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_STRAY_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])')


def without_comments(text: str) -> str:
    """JSON as VS Code lets it be written, as plain JSON of the same length: comments and trailing commas blanked."""
    for pattern in (_COMMENT, _STRAY_COMMA):
        text = pattern.sub(lambda m: m[0] if m[0].startswith('"') else re.sub(r"[^\n]", " ", m[0]), text)
    return text


# ── variables ────────────────────────────────────────────────────────────────

_VARIABLE = re.compile(r"\$\{(?:(?P<kind>env|input):)?(?P<name>[^}:]*)(?::-(?P<default>[^}]*))?\}")


class _Variables:
    """`${VAR}`, `${env:VAR}`, `${VAR:-default}`, and what VS Code predefines."""

    def __init__(self, environ: Mapping[str, str], folder: Path) -> None:
        self._environ = environ
        self._known: Mapping[str, Callable[[], str]] = {
            "workspaceFolder": lambda: str(folder),
            "workspaceFolderBasename": lambda: folder.name,
            "userHome": lambda: str(Path.home()),
            "cwd": lambda: str(Path.cwd()),
            "pathSeparator": lambda: os.sep,
            "/": lambda: os.sep,
        }

    def filled(self, text: str, where: str) -> str:
        """`text` with its variables filled in; `where` is named when one is not set."""
        return _VARIABLE.sub(lambda found: self._value(found, where), text)

    def _value(self, found: re.Match[str], where: str) -> str:
        name, default = found["name"], found["default"]
        if found["kind"] is None and name in self._known:
            return self._known[name]()
        value = self._environ.get(name)
        if value or (value is not None and default is None):
            return value
        if default is not None:
            return default
        raise UsageError(f"{where} uses {found[0]}, and {name} is not set; set it, or write ${{{name}:-default}}")


# ── one server ───────────────────────────────────────────────────────────────

URLS = ("url", "httpUrl", "serverUrl", "uri")
"""`httpUrl`: Gemini CLI, for streamable HTTP.  `serverUrl`: Windsurf.  `uri`: goose."""

KINDS: Mapping[str, Literal["stdio", "http", "sse", "either"]] = MappingProxyType(
    {
        "stdio": "stdio",
        "local": "stdio",  # opencode, Copilot
        "http": "http",
        "streamable-http": "http",
        "streamable_http": "http",  # goose, LangChain
        "streamablehttp": "http",  # Cline
        "sse": "sse",
        "remote": "either",  # opencode
    }
)

# Seconds, or milliseconds from a thousand on: hosts write `timeout` in either (Cline, Roo: s; Claude Code, Gemini CLI,
# opencode: ms), and a call of a thousand seconds is rarer than one of a thousand milliseconds.
_MILLISECONDS_FROM = 1000.0
_TIMES: Mapping[str, tuple[Literal["startup", "timeout"], float]] = {
    "timeout": ("timeout", 0.0),
    "timeoutMs": ("timeout", 0.001),
    "tool_timeout_sec": ("timeout", 1.0),  # Codex
    "startup_timeout_sec": ("startup", 1.0),  # Codex
    "startup_timeout_ms": ("startup", 0.001),  # Codex
    "initTimeout": ("startup", 0.001),  # LibreChat
}
_LISTS: Mapping[str, Literal["include", "exclude", "allowed"]] = {
    "includeTools": "include",  # Gemini CLI
    "enabled_tools": "include",  # Codex
    "allowedTools": "include",
    "tools": "include",  # Copilot
    "excludeTools": "exclude",  # Gemini CLI
    "disabledTools": "exclude",  # Roo Code
    "disabled_tools": "exclude",  # Codex
    "alwaysAllow": "allowed",  # Roo Code
    "autoApprove": "allowed",  # Cline, Kiro
}


def _is_off(row: Any) -> bool:
    return isinstance(row, Mapping) and (row.get("disabled") is True or row.get("enabled") is False)


def _spec(name: str, row: Any, variables: _Variables) -> ServerSpec:
    if not isinstance(row, Mapping):
        raise UsageError(f'MCP server {name!r} must be an object with "command" or "url", not {row!r}')
    fields = _Fields(name, row, variables)
    lists = fields.lists()
    if row.get("trust") is True:  # Gemini CLI
        lists["allowed"] = ("*",)
    optional = row.get("optional") is True
    return ServerSpec(name=name, place=_place(fields), optional=optional, **fields.times(), **lists)


def _place(fields: _Fields) -> Place:
    url_key = next((key for key in URLS if fields.row.get(key)), "")
    kind = fields.kind()
    if fields.row.get("command") and (kind == "stdio" or not url_key):
        return _process(fields)
    if not url_key:
        raise fields.wrong("command", 'give "command" for a local server or "url" for a remote one')
    sure = "http" if url_key == "httpUrl" or kind == "http" else "sse" if kind == "sse" else "either"
    url = fields.text(url_key)
    if not url.strip():
        raise fields.wrong(url_key, "it is empty; give the URL of the server")
    return Http(url=url, headers=fields.headers(), kind=sure)  # type: ignore[arg-type]


def _process(fields: _Fields) -> Stdio:
    command, *args = fields.command()
    if not command.strip():
        raise fields.wrong("command", "name the program to start")
    env = fields.texts("env") or fields.texts("environment")
    return Stdio(command=command, args=(*args, *fields.items("args")), env=env, cwd=fields.text("cwd") or None)


class _Fields:
    """The fields of one server, checked and with their variables filled in."""

    def __init__(self, server: str, row: Mapping[str, Any], variables: _Variables) -> None:
        self.server, self.row, self._variables = server, row, variables

    def wrong(self, key: str, remedy: str) -> UsageError:
        return UsageError(f"MCP server {self.server!r}, field {key!r}: {remedy}")

    def text(self, key: str, value: Any = None) -> str:
        """The text at `key`, "" where there is none; `value` is an element of it instead."""
        value = self.row.get(key) if value is None else value
        if value is None:
            return ""
        if isinstance(value, bool):
            value = str(value).lower()
        if not isinstance(value, str | int | float):
            raise self.wrong(key, f"expected text, not {value!r}")
        return self._variables.filled(str(value), f"MCP server {self.server!r}, field {key!r},")

    def items(self, key: str) -> tuple[str, ...]:
        value = self.row.get(key) or ()
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise self.wrong(key, f"expected a list of texts, not {value!r}")
        return tuple(self.text(key, item) for item in value)

    def texts(self, key: str) -> dict[str, str]:
        value = self.row.get(key) or {}
        if not isinstance(value, Mapping):
            raise self.wrong(key, "expected an object of texts")
        return {str(name): self.text(key, item) for name, item in value.items() if item is not None}

    def command(self) -> tuple[str, ...]:
        """The command and, where it is a list (opencode), an object (Zed) or a line with blanks, its arguments."""
        value = self.row["command"]
        if isinstance(value, Mapping):
            given = {"args": (), **self.row, **value}
            inner = _Fields(self.server, given | {"command": value.get("path", value.get("command"))}, self._variables)
            return (inner.text("command"), *(inner.items("args") if "args" in value else ()))
        if not isinstance(value, str):
            return self.items("command") or ("",)
        whole = self.text("command")
        one_word = "args" in self.row or Path(whole).exists()
        try:
            return (whole,) if one_word else tuple(shlex.split(whole)) or ("",)
        except ValueError as error:
            raise self.wrong("command", f'{error}; give the arguments in "args"') from error

    def kind(self) -> Literal["stdio", "http", "sse", "either"] | None:
        key = next((k for k in ("type", "transport", "transportType") if isinstance(self.row.get(k), str)), "")
        if not key:
            return None
        kind = KINDS.get(str(self.row[key]).lower())
        if kind is None:
            raise self.wrong(key, f"unknown transport {self.row[key]!r}; use one of stdio, http, sse")
        return kind

    def headers(self) -> dict[str, str]:
        headers = self.texts("headers") or self.texts("http_headers")
        token = self.row.get("bearer_token_env_var") or self.row.get("bearerTokenEnvVar")  # Codex
        if token:
            headers["Authorization"] = "Bearer " + self.text("bearer_token_env_var", f"${{{token}}}")
        return headers

    def times(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, (which, unit) in _TIMES.items():
            value = self.row.get(key)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
                continue
            found[which] = value * (unit or (0.001 if value >= _MILLISECONDS_FROM else 1.0))
        return found

    def lists(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, which in _LISTS.items():
            if key in self.row and isinstance(self.row[key], Sequence):
                found[which] = (*found.get(which, ()), *self.items(key))
        return found
