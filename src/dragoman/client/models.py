"""The names of models as routes: `ollama/qwen3:8b`, several of them, or routes ready made.

Knows provider rows and the environment's names; performs nothing.  Contract: a key or an address is used for the
provider it was given for and for no other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..errors import UsageError, nearest
from ..io.environment import route_to
from ..providers.route import Route
from ..providers.rows import COMPATIBLE, ROWS, Providers
from ..providers.spec import Provider
from ..types import NOTHING

Model: TypeAlias = "str | Route"
Models: TypeAlias = "Model | Sequence[Model]"
ByProvider: TypeAlias = "str | Mapping[str, str]"

NO_MODEL = "no model is named; give model='provider/model' (like 'ollama/qwen3:8b'), or routes"
NO_MODELS = "a {kind} names no model; give 'provider/model' (like 'ollama/qwen3:8b'), a Route, or several in a list"
NO_PROVIDER = (
    "{name!r} names no provider{hint}; write 'provider/model' (like 'ollama/qwen3:8b'; see: dragoman list providers), "
    "or give a base_url"
)
FOR_WHICH = "one {what} was given for several providers ({names}); give a mapping: {what}={{'{first}': …}}"
NOT_GIVEN = "{what} is given for {name!r}, which no provider is called; see: dragoman list providers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """A maker of routes from names of models.

    api_key, base_url  for the one provider that is used, or a mapping by the provider's name
    providers          rows of the caller's own, which count before ours
    environ            the environment; None: the process's
    options            fields of `Route` for all
    """

    api_key: ByProvider = field(default="", repr=False)
    base_url: ByProvider = ""
    providers: Sequence[Provider] = ()
    environ: Mapping[str, str] | None = field(default=None, repr=False)
    options: Mapping[str, Any] = NOTHING

    def routes(self, models: Models) -> tuple[Route, ...]:
        """The routes to `models`, in order: names, separated by commas or several, and routes.  Raises UsageError."""
        each = listed(models)
        if not each:
            raise UsageError(NO_MODEL)
        rows = Providers((*ROWS, *self.providers))
        found = [item if isinstance(item, Route) else self._named(item, rows) for item in each]
        named = [item for item in found if isinstance(item, tuple)]
        keys = self._by_row("api_key", self.api_key, named, rows)
        urls = self._by_row("base_url", self.base_url, named, rows)
        return tuple(item if isinstance(item, Route) else self._route(item, keys, urls) for item in found)

    def _named(self, name: str, rows: Providers) -> tuple[Provider, str]:
        row, model = rows.split(name)
        if row is None:
            if not self.base_url or not isinstance(self.base_url, str):
                near = nearest(re.split("[/:]", name)[0], rows)
                hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
                raise UsageError(NO_PROVIDER.format(name=name, hint=hint))
            row = COMPATIBLE["openai_chat"]
        return row, model

    def _by_row(
        self, what: str, given: ByProvider, named: Sequence[tuple[Provider, str]], rows: Providers
    ) -> Mapping[str, str]:
        """The value given for each row, by the row's name."""
        if not isinstance(given, str):
            for name in given:
                if name not in rows:
                    raise UsageError(NOT_GIVEN.format(what=what, name=name))
            return {rows[name].name: value for name, value in given.items()}
        names = list(dict.fromkeys(row.name for row, _ in named))
        if given and len(names) > 1:
            raise UsageError(FOR_WHICH.format(what=what, names=", ".join(names), first=names[0]))
        return dict.fromkeys(names, given)

    def _route(self, item: tuple[Provider, str], keys: Mapping[str, str], urls: Mapping[str, str]) -> Route:
        row, model = item
        given = {"base_url": urls.get(row.name, ""), "key": keys.get(row.name, ""), **self.options}
        return route_to(row, environ=self.environ, model=model, **given)


def listed(models: Models) -> list[Model]:
    """The models one by one: names are parted at commas."""
    if not isinstance(models, str | Route | list | tuple):
        raise UsageError(NO_MODELS.format(kind=type(models).__name__))
    wanted = [models] if isinstance(models, str | Route) else models
    return [part for item in wanted for part in _parts(item)]


def _parts(item: Model) -> list[Model]:
    if isinstance(item, Route):
        return [item]
    if not isinstance(item, str):
        raise UsageError(NO_MODELS.format(kind=type(item).__name__))
    return [part.strip() for part in item.split(",") if part.strip()]
