"""A gateway's settings: `dragoman.toml` → `GatewayConfig`.

Knows the file's form (`form.py`), provider rows and the environment's names; nothing of serving.
Contract: a file is taken whole or not at all: everything that is wrong with it is said at once, each with its path and
what to do; keys stand in the file only as references to the environment, and are in no message.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from ..dialects import DIALECTS
from ..effects import Patience
from ..errors import DragomanError, UnknownName, UsageError
from ..fallback import Rules
from ..house_tools import HOUSE
from ..io.environment import route_to
from ..provider import Provider, Tools
from ..providers import COMPATIBLE, ROWS, Providers
from ..route import Route
from ..schema import faults
from .config import Access, Attachment, GatewayConfig, Limits, Mcp
from .form import FORM
from .litellm_import import Imported, convert

FILE = "dragoman.toml"
YAML = frozenset({".yaml", ".yml"})
REFERENCE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
NOT_SET = "{path}: the environment variable {name} is not set; set it, or write ${{{name}:-}} where none is needed"
PLAIN_KEY = "{path}: write a key as ${{NAME}} and set the variable NAME; keys do not belong into files"
NO_SERVER = "{path}: no MCP server is named {name!r}; name one of mcpServers: {known}"
MCP_VARIABLE = "DRAGOMAN_MCP"
"""Names a file of MCP servers, in any host's form, whose tools every model gets."""
UNITS = {"": 1, "kb": 1024, "mb": 1024**2, "gb": 1024**3}
SIZE = re.compile(r"\s*(\d+)\s*([kmg]?b?)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where it listens and with how many processes."""

    host: str = "127.0.0.1"
    port: int = 4242
    workers: int = 1
    reload: bool = True
    drain: float = 0.0
    metrics: bool = True
    log_format: str = ""
    log_level: str = ""
    certificate: str = ""
    certificate_key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that a file says: the gateway's configuration, and where it listens."""

    config: GatewayConfig
    server: Server = Server()


def load(path: str | Path, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings in the file at `path`; a YAML file is taken for LiteLLM's.

    Raises UsageError that says all that is wrong with it.
    """
    place = Path(path)
    if place.suffix in YAML:
        imported = import_litellm(place)
        return read(imported.data, {**(os.environ if environ is None else environ), **imported.environ}, str(place))
    try:
        data = tomllib.loads(place.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {place}: {error.strerror}; give the path of a {FILE}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{place} is not TOML: {error}; mend that line") from error
    return read(data, environ, str(place))


def import_litellm(place: Path) -> Imported:
    """What a LiteLLM proxy's file says.  Raises UsageError for one that cannot be read."""
    try:
        return convert(place.read_text(encoding="utf-8"), str(place))
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise UsageError(f"cannot read {place}: {why}; give the path of a LiteLLM proxy's YAML file") from error


def read(data: Mapping[str, Any], environ: Mapping[str, str] | None = None, source: str = FILE) -> Settings:
    """The settings that `data` says; `source` is what messages call it."""
    wrong = [f"{fault.path}: {fault.message}" for fault in faults(FORM, data)]
    if wrong:
        raise UsageError(f"{source} is not right: {'; '.join(wrong)} (dragoman check --schema shows the form)")
    reader = _Reader(data, os.environ if environ is None else environ)
    settings = reader.settings()
    if reader.wrong:
        raise UsageError(f"{source} is not right: {'; '.join(reader.wrong)}")
    return settings


class _Reader:
    """Reads one file; what is wrong is collected."""

    def __init__(self, data: Mapping[str, Any], environ: Mapping[str, str]) -> None:
        self._data, self._environ = data, environ
        self._rows = Providers(ROWS)
        self._own: dict[str, dict[str, Any]] = {}
        self.wrong: list[str] = []

    def settings(self) -> Settings:
        self._read_providers()
        models = {name: self._routes(row, f"$.models.{name}") for name, row in self._data.get("models", {}).items()}
        default = self._data.get("default")
        server = self._data.get("server", {})
        config = GatewayConfig(
            default=self._routes(default, "$.default") if default else None,
            models={name: routes for name, routes in models.items() if routes},
            limits=self._limits(self._data.get("limits", {})),
            access=tuple(self._access()),
            rules=Rules(chance=random.random, **self._data.get("fallback", {})),
            mcp=self._mcp(),
            **{key: server[key] for key in ("reasks", "stream_arguments", "keep_alive") if key in server},
        )
        told = {key: server[key] for key in Server.__dataclass_fields__ if key in server}
        return Settings(config=config, server=Server(**told))

    # ── MCP servers ──────────────────────────────────────────────────────────

    def _mcp(self) -> Mcp:
        """The servers that some model gets, and which; the others are not started."""
        rows = self._data.get("mcpServers", {})
        models = {
            name: self._attachments(row, f"$.models.{name}") for name, row in self._data.get("models", {}).items()
        }
        default = self._attachments(self._data.get("default", {}), "$.default")
        try:
            on = servers_in({"mcpServers": rows}, self._environ) if rows else ()
            file = self._environ.get(MCP_VARIABLE, "")
            every = servers_in(file, self._environ) if file else ()
        except DragomanError as error:
            self.wrong.append(f"$.mcpServers: {error}")
            return Mcp()
        used = {each.server for told in (*models.values(), default) for each in told}
        return Mcp(
            servers={n: {"mcpServers": {n: rows[n]}} for n in on if n in used} | dict.fromkeys(every, file),
            models={name: told for name, told in models.items() if told},
            default=default,
            every=tuple(Attachment(server=name) for name in every),
            policy=replace(HOUSE, **self._data.get("mcp", {})),
        )

    def _attachments(self, row: Mapping[str, Any], path: str) -> tuple[Attachment, ...]:
        known = self._data.get("mcpServers", {})
        told = [{"server": each} if isinstance(each, str) else each for each in row.get("mcp", ())]
        for each in told:
            if each["server"] not in known:
                names = ", ".join(known) or "none is there"
                self.wrong.append(NO_SERVER.format(path=f"{path}.mcp", name=each["server"], known=names))
        return tuple(map(_attachment, told))

    # ── values ───────────────────────────────────────────────────────────────

    def _filled(self, text: str, path: str) -> str:
        """`text` with its references to the environment replaced."""

        def one(found: re.Match[str]) -> str:
            name, otherwise = found.groups()
            value = self._environ.get(name, "").strip()
            if not value and otherwise is None:
                self.wrong.append(NOT_SET.format(path=path, name=name))
            return value or otherwise or ""

        return REFERENCE.sub(one, text)

    def _key(self, row: Mapping[str, Any], path: str) -> str:
        written = str(row.get("key", ""))
        if written and not REFERENCE.fullmatch(written.strip()):
            self.wrong.append(PLAIN_KEY.format(path=f"{path}.key"))
            return ""
        return self._filled(written.strip(), f"{path}.key")

    def _limits(self, row: Mapping[str, Any]) -> Limits:
        told = dict(row)
        if "body" in told:
            told["body"] = _bytes(told["body"])
        return Limits(**told)

    def _access(self) -> Iterable[Access]:
        for n, row in enumerate(self._data.get("keys", ())):
            path = f"$.keys[{n}]"
            digest = row.get("sha256", "") or _digest(self._key(row, path))
            if digest:
                told = {key: row[key] for key in ("per_minute", "concurrent") if key in row}
                yield Access(name=row["name"], sha256=digest, models=tuple(row.get("models", ("*",))), **told)

    # ── places ───────────────────────────────────────────────────────────────

    def _read_providers(self) -> None:
        """Rows of the file: new ones, or ours with another address or key."""
        for name, row in self._data.get("providers", {}).items():
            path = f"$.providers.{name}"
            self._own[name] = {
                "base_url": self._filled(row.get("base_url", ""), f"{path}.base_url"),
                "key": self._key(row, path),
                **({"tools": Tools(row["tools"])} if "tools" in row else {}),
            }
            if name not in self._rows:
                made = self._row(name, row)
                self._rows = Providers((*(self._rows[known] for known in self._rows), made))
            elif "headers" in row or "api" in row:
                self.wrong.append(f"{path}: {name} has a row already; give base_url, key or tools, or another name")

    def _row(self, name: str, row: Mapping[str, Any]) -> Provider:
        base = COMPATIBLE[row.get("api", "openai_chat")]
        path = f"$.providers.{name}.headers"
        headers = {key: self._filled(value, path) for key, value in row.get("headers", {}).items()}
        return replace(base, name=name, headers={**base.headers, **headers}, aliases=(), port=0, url_env=())

    def _routes(self, row: Mapping[str, Any], path: str) -> tuple[Route, ...]:
        given = row.get("routes", row.get("route"))
        names = [given] if isinstance(given, str) else list(given or ())
        fields = self._fields(row, path)
        found = [self._route(name, fields, path) for name in names]
        return tuple(route for route in found if route is not None)

    def _fields(self, row: Mapping[str, Any], path: str) -> dict[str, Any]:
        """What a model's row says of all its routes."""
        told: dict[str, Any] = {key: row[key] for key in ("compact", "nonce", "prefix", "budget") if key in row}
        try:
            if "dialect" in row:
                told |= {"dialects": DIALECTS[row["dialect"]], "speak": DIALECTS[row["dialect"]]}
            if "speak" in row:
                told["speak"] = DIALECTS[row["speak"]]
        except UnknownName as error:
            self.wrong.append(f"{path}: {error}")
        if "tools" in row:
            told["tools"] = Tools(row["tools"])
        if "timeout" in row:
            told["patience"] = Patience(idle=float(row["timeout"]))
        return told

    def _route(self, name: str, fields: Mapping[str, Any], path: str) -> Route | None:
        provider, model = self._rows.split(name)
        if provider is None and name in self._rows:
            provider, model = self._rows[name], ""
        if provider is None:
            self.wrong.append(f"{path}: {name!r} names no provider; write provider/model (dragoman list providers)")
            return None
        own = self._own.get(provider.name, {})
        try:
            route = route_to(provider, environ=self._environ, model=model, **{**own, **fields})
            route.root()
        except DragomanError as error:
            self.wrong.append(f"{path}: {error}")
            return None
        return route


def _attachment(row: Mapping[str, Any]) -> Attachment:
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    return Attachment(**fields)


def servers_in(config: Mapping[str, Any] | str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the MCP servers of a configuration, or of the file at a path, that are not switched off.

    Raises UsageError for what cannot be used.  MCP's SDK is imported only where there are servers.
    """
    config_of = import_module("..mcp.config", __package__)
    return tuple(spec.name for spec in config_of.read_servers(config, environ))


def _bytes(size: int | str) -> int:
    """`32MB` in bytes; the form allows nothing else."""
    found = SIZE.fullmatch(str(size))
    unit = found.group(2).lower() if found else ""
    return int(found.group(1)) * UNITS[f"{unit.rstrip('b')}b" if unit.rstrip("b") else ""] if found else 0


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest() if key else ""
