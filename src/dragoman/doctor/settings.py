"""Results of probes → the lines of `dragoman.toml` that make the best of them.

Knows results and routes; writes nothing.  Contract: what it gives is TOML the settings take.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..providers.route import Route
from ..providers.rows import COMPATIBLE, PROVIDERS
from .findings import Grade, ProbeResult

SMALL = 8_192
"""Tokens of context below which tools get one line each."""
KEY = "${DRAGOMAN_UPSTREAM_KEY}"
SHARE = 4
"""The tools may take a quarter of the context."""


def settings_for(route: Route, model: str, findings: Sequence[ProbeResult]) -> str:
    """The section of the settings for `model`."""
    found = {finding.probe: finding for finding in findings}
    settings: dict[str, Any] = {"route": f"{route.provider.name}/{model}"}
    native = found.get("native tools")
    text = found.get("tools as text")
    if native is not None:
        settings["tools"] = "native" if native.grade is Grade.GOOD else "both" if native.grade is Grade.POOR else "text"
    if text is not None and text.facts.get("prompt_dialect"):
        settings["prompt_dialect"] = text.facts["prompt_dialect"]
    tokens = _tokens(found)
    if tokens:
        settings |= {"budget": tokens // SHARE, **({"compact": True} if tokens < SMALL else {})}
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    return "\n".join((*_provider(route), f"[models.{json.dumps(model)}]", *lines, ""))


def _tokens(found: Mapping[str, ProbeResult]) -> int:
    context = found.get("context")
    return int(context.facts.get("tokens", 0)) if context is not None else 0


def _provider(route: Route) -> tuple[str, ...]:
    """The row of the provider, where the settings do not know it as it is."""
    name = route.provider.name
    api = next((api for api, row in COMPATIBLE.items() if row.name == name), "") if name not in PROVIDERS else ""
    settings = {"api": api, "base_url": route.base_url, "key": KEY if route.base_url and route.key else ""}
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items() if value]
    return (f"[providers.{json.dumps(name)}]", *lines, "") if lines else ()
