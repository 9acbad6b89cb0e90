"""A gateway's settings: `dragoman.toml` → `GatewayConfig`.

Knows the file's form (`json_schema.py`), provider rows and the environment's names; nothing of serving.
Contract: a file is taken whole or not at all: everything that is wrong with its form is listed at once, then everything
that is wrong with what it means, each with its line, its path and what to do; the environment counts before the file
(`environment.py`); keys stand in the file only as references to the environment, and are in no message; a file that
asks for keys never comes out as one that asks for none.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import ssl
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ...dialects import DIALECTS
from ...dialects.rows.record import from_json
from ...dialects.spec import Dialect
from ...effects import Timeouts
from ...errors import DragomanError, UsageError, nearest
from ...fallback import Balance, Rules, Sharing
from ...io.environment import route_to
from ...providers.route import Route
from ...providers.rows import COMPATIBLE, PROVIDERS, ROWS, Providers
from ...providers.spec import Provider, Tools
from ...schema.shape import child
from ...server_tools.machine import DEFAULT_POLICY
from ..recordings.store import is_there, unusable
from .environment import overlaid
from .errors import SET, Complaint, complaints, shown
from .json_schema import ORDERED
from .litellm import Imported, convert
from .model import PATIENCE, Access, Attachment, GatewayConfig, Limits, Mcp, Recordings
from .words import FILE, MCP, RECORDINGS, STATE_KEY, YAML

REFERENCE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
NOT_SET = "the environment variable {name} is not set; set it, or write ${{{name}:-}} where none is needed"
PLAIN_KEY = "write a key as ${NAME} and set the variable NAME; keys do not belong into files"
SAME_NAMES = ("reasks", "stream_arguments", "keep_alive", "known_bytes")
"""Settings of `[server]` that a `GatewayConfig` calls the same."""
WAITS = {"timeout": "idle", "grace": "grace"}
"""Seconds in a model's row → the field of `Timeouts`."""
NO_PROVIDER = "{name!r} names no provider; {near} (dragoman list providers)"
WRITE_BOTH = "write provider/model"
ONE_OF_TWO = "an api is given as well; leave one of the two out"
NOBODY = "{name!r} is no provider; take {near} or another of: dragoman list providers"
EMPTY_KEY = "the key is empty, and nobody could use it; set its variable, or leave the row out"
TWICE = "{what} is another key's already; give every key its own"
NO_URL = "{url!r} is no address of a server; write one like http://127.0.0.1:8080/v1"
NO_HEADER = "this cannot stand in a header; give plain characters, without line breaks"
NO_CERTIFICATE = "there is no certificate for it; give its file as $.server.tls_cert"
BAD_CERTIFICATE = "cannot be used for TLS: {why}; give a certificate and its key as PEM files without a password"
NO_DIRECTORY = "{path} is no directory; name one, or a path where one can be made"
NO_STATE = "no address of a store; write redis://HOST:6379/0 (rediss:// with TLS), or leave it out"
NO_REDIS = "its client is not installed; run: pip install 'dragoman[redis]'"
TWO_STATES = "state is kept in one place; write state (many machines) or state_dir (one), and leave the other out"
NO_NAMESPACE = "shared state needs a name of its own in the store: 1 to 128 letters, digits or '-_./'"
NO_STATE_KEY = "keys in the store are digested with a secret of at least 16 characters; set DRAGOMAN_STATE_KEY"
STATE_URL, NAMESPACE = re.compile(r"(?:(?:redis|valkey)s?|unix)://."), re.compile(r"[A-Za-z0-9_./-]{1,128}")
LEAST_SECRET = 16
NO_MODEL = 'no model is served; write [default] and, below it, route = "provider/model" (or [models.NAME])'
NO_SERVER = "no MCP server is named {name!r}; name one of mcpServers: {known}"
MODELS = "$.models"
MCP_FILE = f"--mcp ({MCP})"
NO_SHARING = 'weights count where requests are shared; write balance = "weighted" (or "least_in_flight")'
NO_WEIGHT = "no route has a weight above 0, so none would get a request; give one to a route at least"
HEADER_NAME, HEADER_VALUE = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"), re.compile(r"[\t\x20-\x7e\x80-\xff]*")
RIGHTS = ("per_minute", "max_concurrent", "tokens_per_minute", "state_away", "inspect")
"""Fields of a key that are its rights."""
SIZES = {"body", "upstream_bytes", "queue_bytes"}
"""Settings that are bytes."""
PLAIN_PASSWORD = "write its password as ${NAME} and set the variable NAME; passwords do not belong into files"
UNITS = {"": 1, "kb": 1024, "mb": 1024**2, "gb": 1024**3}
SIZE = re.compile(r"\s*(\d+)\s*([kmg]?b?)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where it listens and with how many processes."""

    host: str = "127.0.0.1"
    port: int = 4242
    workers: int = 1
    reload: bool = True
    drain_seconds: float = 0.0
    metrics: bool = True
    inspect: bool = False
    log_format: str = ""
    log_level: str = ""
    tls_cert: str = ""
    tls_key: str = ""
    state_dir: str = ""
    recordings: Recordings = Recordings()  # noqa: RUF009
    state: str = field(default="", repr=False)
    namespace: str = ""
    state_key: str = field(default="", repr=False)
    state_timeout: float = 0.05
    state_days: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that a file says: the gateway's configuration, where it listens, and MCP servers that no model gets.

    `notices`: what another program's file asks for and is not served.
    """

    config: GatewayConfig
    server: Server = Server()
    idle: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def load(path: str | Path, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings in the file at `path`; a YAML file is taken for LiteLLM's.

    Raises UsageError that says all that is wrong with it.
    """
    place = Path(path)
    if place.suffix in YAML:
        imported = import_litellm(place)
        known = {**(os.environ if environ is None else environ), **imported.environ}
        settings = replace(read(imported.data, known, str(place)), notices=tuple(imported.notices))
        return _serving(settings, place)
    try:
        text = place.read_text(encoding="utf-8-sig")
        data = tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"cannot read {place}: {error.strerror}; give the path of a {FILE}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{place} is not TOML: {error}; mend that line") from error
    return _serving(read(data, environ, str(place), text), place)


def _serving(settings: Settings, place: Path) -> Settings:
    """A file that serves nothing is half a file."""
    if settings.config.default is None and not settings.config.models:
        raise UsageError(f"{place} is not right: {NO_MODEL}")
    return settings


def import_litellm(place: Path) -> Imported:
    """What a LiteLLM proxy's file says.  Raises UsageError for one that cannot be read."""
    try:
        return convert(place.read_text(encoding="utf-8"), str(place))
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise UsageError(f"cannot read {place}: {why}; give the path of a LiteLLM proxy's YAML file") from error


def read(
    data: Mapping[str, Any], environ: Mapping[str, str] | None = None, source: str = SET, text: str = ""
) -> Settings:
    """The settings that `data` says, and the environment; `source` is what messages call it, `text` what it was."""
    environ = os.environ if environ is None else environ
    data, variables = overlaid(data, environ)
    wrong = complaints(data)
    if wrong:
        message = shown(wrong, text, variables, source)
        raise UsageError(f"{message} (dragoman check --schema shows the form)")
    reader = _Reader(data, environ)
    settings = reader.settings()
    if reader.wrong:
        raise UsageError(shown(reader.wrong, text, variables, source))
    return settings


class _Reader:
    """Reads one file; what is wrong is collected."""

    def __init__(self, data: Mapping[str, Any], environ: Mapping[str, str]) -> None:
        self._data, self._environ = data, environ
        self._rows = Providers(ROWS)
        self._own: dict[str, dict[str, Any]] = {}
        self.wrong: list[Complaint] = []

    def settings(self) -> Settings:
        self._read_providers()
        models = {name: self._routes(row, child(MODELS, name)) for name, row in self._data.get("models", {}).items()}
        default = self._data.get("default")
        server = self._data.get("server", {})
        config = GatewayConfig(
            default=self._routes(default, "$.default") if default else None,
            models={name: routes for name, routes in models.items() if routes},
            limits=self._limits(self._data.get("limits", {})),
            access=tuple(self._access()),
            rules=Rules(chance=random.random, **self._data.get("fallback", {})),
            mcp=self._mcp(),
            cors_origins=tuple(server.get("cors_origins", ())),
            balances=dict(self._balances()),
            **{key: server[key] for key in SAME_NAMES if key in server},
        )
        idle = set(self._data.get("mcpServers", ())) - set(config.mcp.servers)
        return Settings(config=config, server=self._server(), idle=tuple(sorted(idle)))

    # ── MCP servers ──────────────────────────────────────────────────────────

    def _mcp(self) -> Mcp:
        """The servers that some model gets, and which; the others are not started."""
        rows, file = self._data.get("mcpServers", {}), self._environ.get(MCP, "")
        attached = {
            name: self._attachments(row, child(MODELS, name)) for name, row in self._data.get("models", {}).items()
        }
        models = {name: attachments for name, attachments in attached.items() if attachments}
        default = self._attachments(self._data.get("default", {}), "$.default")
        stand_ins = dict(self._stand_ins(rows))
        used = {each.server for attachments in (*models.values(), default, stand_ins.values()) for each in attachments}
        on = self._servers({"mcpServers": rows}, "$.mcpServers")
        every = self._servers(file, MCP_FILE)
        limits = self._data.get("mcp", {})
        return Mcp(
            servers={name: {"mcpServers": {name: rows[name]}} for name in (spec.name for spec in on) if name in used}
            | {spec.name: file for spec in every},
            models=models,
            default=default,
            every=tuple(Attachment(server=spec.name, optional=spec.optional) for spec in every),
            policy=replace(DEFAULT_POLICY, **{key: value for key, value in limits.items() if key != "patience"}),
            stand_ins=stand_ins,
            patience=float(limits.get("patience", PATIENCE)),
        )

    def _servers(self, config: Mapping[str, Any] | str, path: str) -> tuple[Any, ...]:
        try:
            return servers_in(config, self._environ)
        except DragomanError as error:
            self._complain(path, str(error))
            return ()

    def _stand_ins(self, known: Mapping[str, Any]) -> Iterator[tuple[str, Attachment]]:
        for kind, named in self._data.get("server_tools", {}).items():
            server = max((one for one in known if named.startswith(f"{one}.")), key=len, default="")
            if server:
                tool = named[len(server) + 1 :]
                yield kind, Attachment(server=server, tools=(tool,), allow=(tool,))
            else:
                names = ", ".join(known) or "none is there"
                name = named.partition(".")[0]
                self._complain(child("$.server_tools", kind), NO_SERVER.format(name=name, known=names))

    def _attachments(self, row: Mapping[str, Any], path: str) -> tuple[Attachment, ...]:
        known = self._data.get("mcpServers", {})
        named = [{"server": each} if isinstance(each, str) else each for each in row.get("mcp", ())]
        for each in named:
            if each["server"] not in known:
                names = ", ".join(known) or "none is there"
                self._complain(f"{path}.mcp", NO_SERVER.format(name=each["server"], known=names))
        return tuple(map(_attachment, named))

    # ── values ───────────────────────────────────────────────────────────────

    def _filled(self, text: str, path: str) -> str:
        """`text` with its references to the environment replaced."""

        def one(found: re.Match[str]) -> str:
            name, otherwise = found.groups()
            value = self._environ.get(name, "").strip()
            if not value and otherwise is None:
                self._complain(path, NOT_SET.format(name=name))
            return value or otherwise or ""

        return REFERENCE.sub(one, text)

    def _key(self, row: Mapping[str, Any], path: str) -> str:
        written = str(row.get("key", ""))
        if written and not REFERENCE.fullmatch(written.strip()):
            self._complain(f"{path}.key", PLAIN_KEY)
            return ""
        return self._filled(written.strip(), f"{path}.key")

    def _limits(self, row: Mapping[str, Any]) -> Limits:
        return Limits(**_sized(row))

    def _recordings(self, row: Mapping[str, Any]) -> Recordings:
        """Where exchanges are recorded; a password is a reference, unless the environment gives the whole address."""
        url = str(row.get("url", "")).strip()
        if not self._environ.get(RECORDINGS, "").strip():
            if "://" in url and (password := _password(url)) and not REFERENCE.fullmatch(password):
                self._complain("$.recordings.url", PLAIN_PASSWORD)
            url = self._filled(url, "$.recordings.url")
        if url and (why := unusable(url)):
            self._complain("$.recordings.url", why)
        return Recordings(**{**_sized(row), "url": url})

    def _access(self) -> Iterable[Access]:
        names, digests = set[str](), set[str]()
        for n, row in enumerate(self._data.get("keys", ())):
            path, before = f"$.keys[{n}]", len(self.wrong)
            digest = row.get("sha256", "").lower() or _digest(self._key(row, path))
            if not digest and len(self.wrong) == before:
                self._complain(path, EMPTY_KEY)  # left out, it could leave nobody out
            for what, value, seen in (("this name", row["name"], names), ("this key", digest, digests)):
                if value and value in seen:
                    self._complain(path, TWICE.format(what=what))
                seen.add(value)
            rights = {key: row[key] for key in RIGHTS if key in row}
            yield Access(name=row["name"], sha256=digest, models=tuple(row.get("models", ("*",))), **rights)

    def _server(self) -> Server:
        row = self._data.get("server", {})
        recordings = self._recordings(self._data.get("recordings", {}))
        server = Server(**{key: row[key] for key in Server.__dataclass_fields__ if key in row}, recordings=recordings)
        if server.tls_key and not server.tls_cert:
            self._complain("$.server.tls_key", NO_CERTIFICATE)
        elif server.tls_cert and (why := _no_certificate(server)):
            self._complain("$.server.tls_cert", BAD_CERTIFICATE.format(why=why))
        if server.state_dir and Path(server.state_dir).exists() and not Path(server.state_dir).is_dir():
            self._complain("$.server.state_dir", NO_DIRECTORY.format(path=server.state_dir))
        return self._shared_state(server) if server.state else server

    def _shared_state(self, server: Server) -> Server:
        """A store of many machines, with what it demands."""
        url, key = self._filled(server.state, "$.server.state"), server.state_key.strip()
        if url and not STATE_URL.match(url):
            self._complain("$.server.state", NO_STATE)
        elif url and not is_there("redis"):
            self._complain("$.server.state", NO_REDIS)
        if server.state_dir:
            self._complain("$.server.state_dir", TWO_STATES)
        if not NAMESPACE.fullmatch(server.namespace):
            self._complain("$.server.namespace", NO_NAMESPACE)
        plain = key and not REFERENCE.fullmatch(key) and key != self._environ.get(STATE_KEY, "").strip()
        key = self._filled(key, "$.server.state_key")
        if plain or len(key) < LEAST_SECRET:
            self._complain("$.server.state_key", PLAIN_KEY if plain else NO_STATE_KEY)
        return replace(server, state=url, state_key=key)

    def _complain(self, path: str, message: str) -> None:
        self.wrong.append(Complaint(path, message))

    # ── places ───────────────────────────────────────────────────────────────

    def _read_providers(self) -> None:
        """Rows of the file: new ones, or ours with another address or key."""
        for name, row in self._data.get("providers", {}).items():
            path = child("$.providers", name)
            self._own[name] = {
                "base_url": self._filled(row.get("base_url", ""), f"{path}.base_url"),
                "key": self._key(row, path),
                **({"tools": Tools(row["tools"])} if "tools" in row else {}),
            }
            if name not in self._rows:
                made = self._row(name, row, path)
                self._rows = Providers((*(self._rows[known] for known in self._rows), made))
            elif {"headers", "api", "extends"} & set(row):
                self._complain(path, f"{name} has a row already; give base_url, key or tools, or another name")

    def _row(self, name: str, row: Mapping[str, Any], path: str) -> Provider:
        base = COMPATIBLE[row.get("api", "openai_chat")]
        if "extends" in row and ("api" in row or row["extends"] not in PROVIDERS):
            near = " or ".join(map(repr, nearest(row["extends"], PROVIDERS)))
            why = ONE_OF_TWO if "api" in row else NOBODY.format(name=row["extends"], near=near)
            self._complain(f"{path}.extends", why)
        elif "extends" in row:
            base = PROVIDERS[row["extends"]]
        headers = dict[str, str]()
        for key, value in row.get("headers", {}).items():
            where = child(f"{path}.headers", key)
            headers[key] = self._filled(value, where)
            if not (HEADER_NAME.fullmatch(key) and HEADER_VALUE.fullmatch(headers[key])):
                self._complain(where, NO_HEADER)
        own: dict[str, Any] = {"endpoints": _endpoints(row["endpoints"], base)} if "endpoints" in row else {}
        return replace(base, name=name, headers={**base.headers, **headers}, aliases=(), port=0, url_env=(), **own)

    def _routes(self, row: Mapping[str, Any], path: str) -> tuple[Route, ...]:
        given = row.get("routes", row.get("route"))
        listed = given if isinstance(given, list) else [given] if given else []
        named = [{"route": each} if isinstance(each, str) else each for each in listed]
        fields = self._fields(row, path)
        found = [
            self._route(each["route"], {**fields, **({"weight": each["weight"]} if "weight" in each else {})}, path)
            for each in named
        ]
        shared = row.get("balance", ORDERED) != ORDERED
        if not shared and any("weight" in each for each in named):
            self._complain(f"{path}.routes", NO_SHARING)
        if shared and not any(each.get("weight", 1) for each in named):
            self._complain(f"{path}.routes", NO_WEIGHT)
        return tuple(route for route in found if route is not None)

    def _balances(self) -> Iterator[tuple[str | None, Balance]]:
        """How the routes of models share requests, where they do."""
        rows: dict[str | None, Mapping[str, Any]] = {
            **self._data.get("models", {}),
            None: self._data.get("default", {}),
        }
        for name, row in rows.items():
            if row.get("balance", ORDERED) != ORDERED:
                yield name, Balance(sharing=Sharing(row["balance"]), affinity=row.get("affinity", True))

    def _fields(self, row: Mapping[str, Any], path: str) -> dict[str, Any]:
        """What a model's row says of all its routes."""
        given = ("compact", "doubt", "strict", "nonce", "prefix", "budget")
        fields: dict[str, Any] = {key: row[key] for key in given if key in row}
        for word, sets in (("dialect", ("dialects", "prompt_dialect")), ("prompt_dialect", ("prompt_dialect",))):
            try:
                fields |= dict.fromkeys(sets, dialect_of(row[word])) if word in row else {}
            except (UsageError, OSError, UnicodeDecodeError) as error:
                self._complain(f"{path}.{word}", str(error))
        if "tools" in row:
            fields["tools"] = Tools(row["tools"])
        if waits := {name: float(row[key]) for key, name in WAITS.items() if key in row}:
            fields["timeouts"] = Timeouts(**waits)
        return fields

    def _route(self, name: str, fields: Mapping[str, Any], path: str) -> Route | None:
        provider, model = self._rows.split(name)
        if provider is None and name in self._rows:
            provider, model = self._rows[name], ""
        if provider is None:
            near = " or ".join(map(repr, nearest(name.partition("/")[0], self._rows)))
            self._complain(path, NO_PROVIDER.format(name=name, near=f"did you mean {near}?" if near else WRITE_BOTH))
            return None
        own = self._own.get(provider.name, {})
        try:
            route = route_to(provider, environ=self._environ, model=model, **{**own, **fields})
            root = urlsplit(route.root())
            route.request_url("", model or "m")  # what its address wants besides, it wants now
            if root.scheme not in {"http", "https"} or not root.hostname:
                raise UsageError(NO_URL.format(url=route.root()))
        except (DragomanError, ValueError) as error:
            self._complain(path, str(error))
            return None
        return route


def dialect_of(named: str) -> Dialect:
    """A built-in dialect, or the row in a file that `dragoman learn` wrote.  Raises UsageError and OSError."""
    return from_json(Path(named).read_text(encoding="utf-8"), named) if named.endswith(".json") else DIALECTS[named]


def _endpoints(names: Sequence[str], base: Provider) -> Mapping[str, str]:
    """The endpoints a server has beside chat: where its row knows them, else at their own path."""
    return {name: base.endpoints.get(name, f"/{name}") for name in names}


def _attachment(row: Mapping[str, Any]) -> Attachment:
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    return Attachment(**fields)


def servers_in(config: Mapping[str, Any] | str, environ: Mapping[str, str]) -> tuple[Any, ...]:
    """The MCP servers (`mcp.config.ServerSpec`) of a configuration, or of the file at a path, that are not off.

    Raises UsageError for what cannot be used.  MCP's SDK is imported only where there are servers.
    """
    if not config or config == {"mcpServers": {}}:
        return ()
    config_of = import_module("...mcp.config", __package__)
    return tuple(config_of.read_servers(config, environ))


def _sized(row: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a table, sizes in bytes."""
    return {name: _bytes(value) if name in SIZES else value for name, value in row.items()}


def _password(url: str) -> str:
    """The password in an address, as it is written."""
    user = url.partition("://")[2].partition("/")[0].rpartition("@")[0]
    return user.partition(":")[2]


def _bytes(size: int | str) -> int:
    """`32MB` in bytes; the form allows nothing else."""
    found = SIZE.fullmatch(str(size))
    unit = found.group(2).lower() if found else ""
    return int(found.group(1)) * UNITS[f"{unit.rstrip('b')}b" if unit.rstrip("b") else ""] if found else 0


def _no_certificate(server: Server) -> str:
    """Why TLS cannot be served with the certificate; "" where it can."""
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(server.tls_cert, server.tls_key or None, password=lambda: b"")
    except ssl.SSLError as error:
        return f"{error.reason or error}".lower().replace("_", " ")
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest() if key else ""
