"""What a gateway inside the process serves: settings as `dragoman serve` takes them, and the application they make.

Knows settings, upstreams and observers; nothing of clients or of threads.
Contract: what is wrong with settings is said when they are given; what has to be asked for (which API an address
speaks, which servers run here) is asked when the gateway begins.  Keys of clients do not count, for nobody but this
process can ask; nor does what only a server has: address, processes, TLS, the form of its log.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from starlette.types import ASGIApp

from ...dialects.spec import Dialect
from ...errors import UsageError
from ...io.failures import origin
from ...providers.spec import Tools
from ...types import NOTHING
from ..app import create_app
from ..config.load import Settings, dialect_of, load, read
from ..config.model import GatewayConfig
from ..config.words import CONFIG, FILE, INSPECT, MCP
from ..gateway import Upstreams
from ..observers import watching
from ..state.stores import stores_for
from ..telemetry.exchange_record import Observer
from ..telemetry.logs import OURS, ROOT, Blotted, Logs, hidden
from ..upstream import NothingFound, look, named_route
from .reports import Reports

Given: TypeAlias = str | Path | Mapping[str, Any] | GatewayConfig
"""Settings: the path of a file, its content, or what they make."""
BESIDE = "{option} does not count beside settings; write it into them, or say with upstream which model is meant"
NO_MODEL = 'no model is served; give {"default": {"route": "provider/model"}}, or upstream="http://127.0.0.1:11434"'
NO_TOOLS = "tools is {tools!r}; give one of {known}: how tools travel to the model"
NO_ROW = "cannot read {path}: {why}; give a dialect's name (dragoman list dialects), or the path of a row"
START_ONE = "{error}; start one, or say where it is: upstream=URL"
KEY = "DRAGOMAN_UPSTREAM_KEY"
HERE = "config"

log: logging.Logger = logging.getLogger("dragoman.gateway")
_BLOTTED = Blotted()
logging.getLogger(ROOT).addHandler(logging.NullHandler())  # who logs nothing sees nothing on stderr
for _name in OURS:
    logging.getLogger(_name).addFilter(_BLOTTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unasked:
    """An upstream that is looked at when the gateway begins."""

    upstream: str | None
    api: str | None
    fields: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that it takes to make the application.  `repr` shows no settings: addresses and headers may hold secrets."""

    label: str
    settings: Settings = field(repr=False)
    unasked: Unasked | None = field(default=None, repr=False)
    environ: Mapping[str, str] = field(default=NOTHING, repr=False)
    peer: Upstreams | None = field(default=None, repr=False)
    reports: Reports = field(default_factory=Reports, repr=False)

    @property
    def most(self) -> int:
        """Bytes a request may have."""
        return self.settings.config.limits.body

    async def make(self) -> ASGIApp:
        """The application.  Raises DragomanError where nothing can be served."""
        server, config = self.settings.server, await self._config()
        _BLOTTED.secrets |= hidden(config)
        observers: list[Observer] = [Logs(), self.reports, *watching(server, self.environ)]
        return create_app(config, self.peer, observers=observers, stores=stores_for(server))

    async def _config(self) -> GatewayConfig:
        config, unasked = self.settings.config, self.unasked
        if unasked is None:
            return config
        try:
            found = await look(unasked.upstream, unasked.api, unasked.fields, log.info)
        except NothingFound as error:
            raise NothingFound(START_ONE.format(error=error)) from error
        return replace(config, default=found.default, models=found.models)


def plan(
    config: Given | None = None,
    *,
    upstream: str | None = None,
    upstream_api: str | None = None,
    inspect: bool | None = None,
    mcp: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
    peer: Upstreams | None = None,
    **fields: Any,
) -> Plan:
    """The plan of `transport`'s arguments.  Raises UsageError for what is wrong with them."""
    known = dict(os.environ if environ is None else environ)
    known |= {} if inspect is None else {INSPECT: str(inspect).lower()}
    known |= {} if mcp is None else {MCP: str(mcp)}
    about = {"upstream_api": upstream_api, **fields}
    if config is None and upstream is None:
        config = known.get(CONFIG) or (FILE if Path(FILE).is_file() else None)
    if config is not None:
        for option, value in {"upstream": upstream, **about}.items():
            if value not in (None, "", "auto", False):
                raise UsageError(BESIDE.format(option=option))
        settings, label = _settings(config, known)
        return Plan(label=label, settings=_for_all(settings), environ=known, peer=peer)
    settings, about = _for_all(read({}, known)), _fields(known, **fields)
    route = named_route(upstream, upstream_api, about) if upstream is not None else None
    unasked = Unasked(upstream=upstream, api=upstream_api, fields=about) if route is None else None
    if route is not None:
        settings = replace(settings, config=replace(settings.config, default=route))
    label = "what runs on this machine" if upstream is None else origin(upstream)
    return Plan(label=label, settings=settings, unasked=unasked, environ=known, peer=peer)


def _settings(given: Given, environ: Mapping[str, str]) -> tuple[Settings, str]:
    """What is given, and how to call it."""
    if isinstance(given, GatewayConfig):
        return replace(read({}, environ), config=given), HERE
    if isinstance(given, Mapping):
        settings = read({name: value for name, value in given.items() if name != "keys"}, environ, HERE)
        if settings.config.default is None and not settings.config.models:
            raise UsageError(NO_MODEL)
        return settings, HERE
    return load(given, environ), f"the settings of {given}"


def _for_all(settings: Settings) -> Settings:
    return replace(settings, config=replace(settings.config, access=()))


def _fields(
    environ: Mapping[str, str],
    *,
    model: str = "",
    dialect: str | Dialect = "auto",
    tools: str | Tools | None = None,
    compact: bool = False,
    nonce: bool = False,
    key: str = "",
) -> dict[str, Any]:
    """The fields of a route.  Raises UsageError for a dialect or a way for tools that there is not."""
    fields: dict[str, Any] = {"model": model, "key": key or environ.get(KEY, ""), "compact": compact or None}
    if dialect != "auto":
        try:
            row = dialect if isinstance(dialect, Dialect) else dialect_of(dialect)
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(NO_ROW.format(path=dialect, why=getattr(error, "strerror", None) or error)) from error
        fields |= {"dialects": row, "prompt_dialect": row}
    try:
        mode = Tools(tools) if tools else None
    except ValueError:
        raise UsageError(NO_TOOLS.format(tools=tools, known=", ".join(each.value for each in Tools))) from None
    return {**fields, "tools": mode, "nonce": nonce}
