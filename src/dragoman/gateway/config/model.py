"""The configuration of a gateway: which models go where, and its limits.

Data only; nothing here reads files or environments (`load.py` does).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Literal

from ...errors import ErrorKind, ProviderError
from ...fallback import Balance, Rules
from ...loop.policy import Policy
from ...providers.route import Route
from ...server_tools.machine import DEFAULT_POLICY
from ...types import NOTHING

StateAway = Literal["divide", "local", "refuse"]
"""What a limit is while the store that counts it is away: the limit divided by the processes that lived last, the whole
limit in each process, or nothing: such requests are refused."""
Routes = Route | Sequence[Route]
"""Where a model goes: one place, or several in the order in which they are asked."""
PATIENCE = 10.0
"""Seconds a request waits for an MCP server that is not ready."""
NOT_FOR = "this key may not ask for the model {model!r}; ask for another, or for a key that may"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one request may cost us.

    body             bytes of a request; Anthropic's own limit is 32 MB
    max_json_values  JSON values in it, all names and leaves counted: the largest of known clients have a tenth of it
    tools            tools in it; no API takes more than a tenth of it
    max_concurrent   requests served at the same time; more are refused with 429 and come again
    timeout          seconds one request may take, all its attempts together; 0 for no limit.  Three times the longest
                     silence of a provider (600), so that one that hangs is asked again; clients' own limits are shorter
    background_timeout  the same for a response in the background, where nobody waits
    upstream_bytes   bytes of answers that one process holds at a time, those of all requests together; 0 for no limit
    body_timeout     seconds a client may take to send its request
    background       responses that one key has answered in the background at the same time; more wait
    background_queue  responses that one key has waiting; more are refused with 429
    """

    body: int = 32 * 1024 * 1024
    max_json_values: int = 250_000
    tools: int = 10_000
    max_concurrent: int = 1024
    upstream_bytes: int = 512 * 1024 * 1024
    timeout: float = 1800.0
    background_timeout: float = 7200.0
    body_timeout: float = 30.0
    background: int = 16
    background_queue: int = 1000


KNOWN_BYTES = 64 * 1024 * 1024
"""Enough for the conversations of some dozens of agents at work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recordings:
    """Where exchanges are recorded, and what of them.

    url      postgresql://… or the path of an SQLite file, "" for nowhere.  Out of `repr`: it may hold a password
    content  what was said and both wires, too; else times, outcomes and verdicts only
    days     how long they are kept, 0 for ever
    queue, queue_bytes  exchanges that may wait to be written, and their bytes; more are dropped and counted
    """

    url: str = field(default="", repr=False)
    content: bool = False
    days: int = 30
    queue: int = 10_000
    queue_bytes: int = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """One key clients may use: its SHA-256, what it is called in logs, and what it may do.

    models          patterns (`qwen*`) of the models it may ask for
    per_minute      requests it may begin in a minute, 0 for no limit;  max_concurrent  at the same time
    tokens_per_minute  tokens it may use in a minute, read and written, as providers count them
    state_away      what limits are while the store that counts them is away: `divide`, `local` or `refuse`
    inspect         whether it sees at /inspect what was asked with other keys too
    """

    name: str
    sha256: str = field(repr=False)
    models: tuple[str, ...] = ("*",)
    per_minute: int = 0
    max_concurrent: int = 0
    tokens_per_minute: int = 0
    state_away: StateAway = "divide"
    inspect: bool = False

    def allows(self, model: str) -> bool:
        """May `model` be asked for with it?"""
        return any(fnmatchcase(model, pattern) for pattern in self.models)

    def check(self, model: str) -> None:
        """Raises ProviderError (403) where `model` may not be asked for with it."""
        if not self.allows(model):
            message = NOT_FOR.format(model=model[:100])
            raise ProviderError(message, status=403, kind=ErrorKind.AUTH, code="model_not_allowed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """An MCP server whose tools a model gets.

    run_on  "server": the gateway runs their calls, unseen by clients; "client": clients get and run them
    tools   patterns of the names of those the model gets
    allow   patterns of those that are run here although they do not say that they only read
    optional  serve requests without its tools while it cannot be used; they wait for it otherwise, and fail
    """

    server: str
    run_on: Literal["server", "client"] = "server"
    tools: tuple[str, ...] = ("*",)
    allow: tuple[str, ...] = ()
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Mcp:
    """The MCP servers of a gateway, and which models get their tools.

    servers  name → the configuration that names it: its content, or a path.  Out of `repr`: it holds secrets
    models   model name → its attachments;  default  those of the default route;  every  those of all models
    policy   how often, how long and how much is run for one request
    patience  seconds a request waits for a server that is not ready
    stand_ins  kind of a server's tool (`web_search`) → the attachment whose one tool runs where the backend does not
    """

    servers: Mapping[str, Mapping[str, Any] | str] = field(default=NOTHING, repr=False)
    models: Mapping[str, tuple[Attachment, ...]] = NOTHING
    default: tuple[Attachment, ...] = ()
    every: tuple[Attachment, ...] = ()
    policy: Policy = DEFAULT_POLICY
    patience: float = PATIENCE
    stand_ins: Mapping[str, Attachment] = NOTHING


NO_SERVERS = Mcp()


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayConfig:
    """One gateway.

    default           where models go that `models` does not name; None: they are not served
    models            model name, as clients say it → where it goes; `*` in it stands for anything, and for the same in
                      the model of its routes; the name itself counts first, then the longest pattern
    reasks            how often a model is asked again for what was wrong with its answer, before the client sees it
    stream_arguments  send a call's arguments as they come, instead of each call whole once it is complete
    keep_alive        seconds of silence after which an event stream gets a comment, so that nobody on the way hangs up
    limits, access    see there; without any `access` no key is asked for
    rules             how routes that fail are asked again, and how long they rest where there are several
    mcp               the MCP servers whose tools models get
    known_bytes       bytes for the beginnings of conversations and the tools that clients send again and again: they
                      are read and written once; 0 for none
    balances          model name (None: the default) → how its routes share the requests; the others are asked in order
    cors_origins      of web pages that may use it, besides those of this machine; `*` in one stands for anything
    """

    default: Routes | None = None
    models: Mapping[str, Routes] = NOTHING
    reasks: int = 2
    stream_arguments: bool = False
    keep_alive: float = 10.0
    limits: Limits = Limits()
    access: tuple[Access, ...] = ()
    rules: Rules = Rules()  # noqa: RUF009
    mcp: Mcp = NO_SERVERS
    known_bytes: int = KNOWN_BYTES
    cors_origins: tuple[str, ...] = ()
    balances: Mapping[str | None, Balance] = field(default_factory=dict)

    def all_routes(self) -> tuple[Route, ...]:
        """Every place this gateway may ask."""
        rows = [*self.models.values(), *([] if self.default is None else [self.default])]
        return tuple(route for row in rows for route in ([row] if isinstance(row, Route) else row))

    def attached(self, model: str) -> tuple[Attachment, ...]:
        """The MCP servers whose tools `model` gets."""
        name, _ = self._row(model)
        own = self.mcp.default if name is None else self.mcp.models.get(name, ())
        return (*own, *(each for each in self.mcp.every if each.server not in {one.server for one in own}))

    def routes(self, model: str) -> tuple[Route, ...]:
        """Where `model` goes.  Raises ProviderError (not found) for one that is not served."""
        name, stars = self._row(model)
        found = self.default if name is None else self.models[name]
        if found is None:
            served = ", ".join(sorted(self.models)) or "none"
            message = f"the model {model[:100]!r} is not served here; ask for one of: {served}"
            raise ProviderError(message, status=404, kind=ErrorKind.NOT_FOUND, code="model_not_found")
        routes = (found,) if isinstance(found, Route) else tuple(found)
        return tuple([_filled(route, stars) for route in routes]) if stars else routes

    def balance(self, model: str) -> tuple[Balance | None, str]:
        """How the routes of `model` share its requests, None: they are asked in order; and the name of its row."""
        if not self.balances:
            return None, ""
        name, _ = self._row(model)
        return self.balances.get(name), name or ""

    def names(self, model: str) -> bool:
        """Does a row hold for `model`, by its name or by a pattern?"""
        return self._row(model)[0] is not None

    def _row(self, model: str) -> tuple[str | None, tuple[str, ...]]:
        """The name of the row that holds for `model`, None for the default, and what its stars stand for."""
        if model in self.models:
            return model, ()
        if not self.models:
            return None, (model,)
        if (bare := model.removesuffix(LATEST)) in self.models:
            return bare, ()
        fits = [(name, match) for name in self.models if "*" in name and (match := _pattern(name).fullmatch(model))]
        if not fits:
            return None, (model,)
        name, match = max(fits, key=lambda fit: len(fit[0]))
        return name, match.groups()


LATEST = ":latest"
"""The tag that clients of Ollama put behind a name without one."""


@lru_cache(maxsize=256)
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile("(.*)".join(map(re.escape, name.split("*"))), re.DOTALL)


def _filled(route: Route, stars: Sequence[str]) -> Route:
    """`route`, with what the stars of a name stand for in the stars of its model, in order."""
    if "*" not in route.model:
        return route
    first, *others = route.model.split("*")
    enough = [*stars, *[stars[-1]] * len(others)]
    return replace(route, model=first + "".join(star + other for star, other in zip(enough, others, strict=False)))
