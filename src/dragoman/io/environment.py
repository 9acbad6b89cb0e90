"""Keys and addresses out of environment variables, by the names their providers use.

The one place that reads the environment for routes.  Contract: a key goes only to the provider it was made for: rows
that stand for any server of a kind look for none.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..errors import UsageError
from ..providers import Provider
from ..route import Route


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

    Raises UsageError where the provider wants a key and there is none.
    """
    key = key or first_set(provider.auth.env, environ)
    if provider.auth.required and not key:
        names = " or ".join(provider.auth.env) or "its key"
        raise UsageError(f"provider {provider.name!r} wants a key; set {names}")
    return Route(provider=provider, base_url=base_url or address(provider, environ), key=key, **more)
