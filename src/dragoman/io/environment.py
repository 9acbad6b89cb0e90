"""Keys, addresses and switches out of environment variables, by the names their providers use.

The one place that reads the environment for routes.  Contract: a key goes only to the provider it was made for: rows
that stand for any server of a kind look for none; a switch that cannot be read is an issue and left out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..errors import UsageError
from ..providers.auth import Auth, Setting
from ..providers.route import Route
from ..providers.rows import PROVIDERS
from ..providers.spec import Provider, Switch, SwitchFormat
from ..types import Issue, IssueKind

NOT_AN_ARRAY = '{env} is not a JSON array and was left out: {why}; write it like [{{"type": "function", …}}]'


def first_set(names: tuple[str, ...], environ: Mapping[str, str] | None = None) -> str:
    """The value of the first of these variables that is set and not blank, "" for none."""
    env = os.environ if environ is None else environ
    return next((env[name].strip() for name in names if env.get(name, "").strip()), "")


def address(provider: Provider, environ: Mapping[str, str] | None = None) -> str:
    """The address the environment gives `provider`, "" for none.

    `OLLAMA_HOST` may be a bare host, and 0.0.0.0 where a server listens is not where one calls it.
    """
    value = first_set(provider.url_env, environ).replace("0.0.0.0", "127.0.0.1")
    host = value.rpartition("//")[2]
    return f"{value}:{provider.port}" if value and provider.port and not set(":/") & set(host) else value


def route_to(
    provider: Provider, *, base_url: str = "", key: str = "", environ: Mapping[str, str] | None = None, **more: Any
) -> Route:
    """A route to `provider`, completed from the environment; `more` are fields of `Route`.

    Raises UsageError where the provider wants a key or a setting and there is none.
    """
    provider = _chosen(provider, environ)
    auth = _way_in(provider, key, environ)
    key = key or first_set(auth.env, environ)
    if auth.required and not key:
        names = " or ".join(name for way in (provider.auth, *provider.or_auth) for name in way.env[:2]) or "its key"
        raise UsageError(f"provider {provider.name!r} wants a key; set {names}")
    fields, issues = _switched(provider.switches, environ)
    found = {
        "base_url": base_url or address(provider, environ),
        "secrets": _values(auth.parts, environ, provider.name if key else ""),
        "settings": _values(provider.settings, environ),
        "model": first_set(provider.model_env, environ),
        "fields": fields,
        "issues": issues,
    }
    given = {name: value for name, value in more.items() if value or name not in found}
    row = provider if auth is provider.auth else replace(provider, auth=auth)
    return Route(provider=row, key=key, **{**found, **given})


def _chosen(provider: Provider, environ: Mapping[str, str] | None) -> Provider:
    """The row that is meant where a variable chooses between two."""
    variant = provider.variant
    value = first_set((variant.env,), environ).lower() if variant else ""
    if variant is None or not value or (variant.value and value != variant.value):
        return provider
    return PROVIDERS[variant.row]


def _way_in(provider: Provider, key: str, environ: Mapping[str, str] | None) -> Auth:
    """The way whose key there is; the row's first where a key is given, or none is found."""
    if key or first_set(provider.auth.env, environ):
        return provider.auth
    return next((way for way in provider.or_auth if first_set(way.env, environ)), provider.auth)


def _values(settings: Iterable[Setting], environ: Mapping[str, str] | None, wanted_by: str = "") -> dict[str, str]:
    """The settings that are set.  Raises UsageError for one that is missing where `wanted_by` cannot do without."""
    found = {setting.name: first_set(setting.env, environ) for setting in settings}
    missing = next((setting for setting in settings if setting.required and not found[setting.name]), None)
    if wanted_by and missing is not None:
        raise UsageError(f"provider {wanted_by!r} wants its {missing.name}; set {' or '.join(missing.env)}")
    return {name: value for name, value in found.items() if value}


def _switched(
    switches: Iterable[Switch], environ: Mapping[str, str] | None
) -> tuple[dict[str, Any], tuple[Issue, ...]]:
    """The fields that switches put into every request, and what could not be read."""
    fields: dict[str, Any] = {}
    issues: list[Issue] = []
    for switch in switches:
        written = first_set((switch.env,), environ)
        value, why = _read(written, switch.format) if written else ([], "")
        if why:
            message = NOT_AN_ARRAY.format(env=switch.env, why=why)
            issues.append(Issue(kind=IssueKind.WIRE_FAULT, message=message, raw=written))
        elif value:
            fields |= {switch.field: value, **switch.besides}
    return fields, tuple(issues)


def _read(written: str, form: SwitchFormat) -> tuple[list[Any], str]:
    """The value of a switch, and what is wrong with it."""
    if form is SwitchFormat.NAMES:
        return [name.strip() for name in written.split(",") if name.strip()], ""
    try:
        value = json.loads(written)
    except (ValueError, RecursionError) as error:
        return [], str(error)
    return (value, "") if isinstance(value, list) else ([], f"it is {type(value).__name__}")
