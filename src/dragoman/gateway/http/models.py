"""Which models there are: asked of the provider, shown in each caller's shape.

Knows the list's path and keys from the provider's row; performs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...effects import Machine, Open, Opened, Read
from ...errors import ErrorKind, ProviderError
from ...providers.authorize import Tokens, admit
from ...providers.families import profile
from ...providers.route import Route
from ...turn.send import MAX_REFUSAL

MAX_LIST = 8 * 1024 * 1024
"""Bytes of a list of models; OpenRouter's, the longest known, is under one MB."""


def list_models(route: Route) -> Machine[list[str]]:
    """The names of the models behind `route`, in the provider's order.  Raises ProviderError."""
    listing = route.provider.models
    if not listing.path:
        raise ProviderError(f"{route.provider.name} lists no models; name the model yourself", kind=ErrorKind.NOT_FOUND)
    asked = Open(url=route.url(listing.path), method="GET", headers=route.headers(), timeouts=route.timeouts)
    opened: Opened = yield (yield from admit(asked, route, Tokens()))
    body = b""
    limit = MAX_LIST if opened.status == 200 else MAX_REFUSAL
    while len(body) < limit and (data := (yield Read(held=len(body)))):
        body += data
    names = names_in(body, listing.items, listing.name) if opened.status == 200 else None
    if names is None:
        message = f"{route.root()} does not list its models (status {opened.status}); name the model yourself"
        raise ProviderError(message, status=opened.status, kind=ErrorKind.GARBLED)
    return names


def names_in(body: bytes, items: str, name: str) -> list[str] | None:
    """The names in a list of models; None for what is no such list."""
    try:
        listed = json.loads(body)[items]
        return [item[name] for item in listed if isinstance(item[name], str)]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


# ── in each caller's shape ───────────────────────────────────────────────────

EPOCH = "1970-01-01T00:00:00Z"
"""We do not know when a model was made."""


def _openai(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "dragoman"}


def _anthropic(name: str) -> dict[str, Any]:
    return {"type": "model", "id": name, "display_name": name, "created_at": EPOCH}


def _gemini(name: str) -> dict[str, Any]:
    context = profile(name).context or UNKNOWN_CONTEXT
    methods = ["generateContent", "streamGenerateContent", "countTokens"]
    return {
        "name": f"models/{name}",
        "displayName": name,
        "version": "",
        "inputTokenLimit": context,
        "outputTokenLimit": context,
        "supportedGenerationMethods": methods,
    }


def _ollama(name: str) -> dict[str, Any]:
    return {"name": name, "model": name, "modified_at": EPOCH, "size": 0, "digest": "", "details": dict(DETAILS)}


UNKNOWN_CONTEXT = 8192
"""Tokens shown where no profile knows better; clients that cut by it cut early."""
DETAILS: Mapping[str, Any] = {
    "parent_model": "", "format": "", "family": "", "families": None, "parameter_size": "", "quantization_level": "",
}  # fmt: skip


def _anthropic_page(data: list[dict[str, Any]]) -> dict[str, Any]:
    first, last = (data[0]["id"], data[-1]["id"]) if data else (None, None)
    return {"data": data, "has_more": False, "first_id": first, "last_id": last}


@dataclass(frozen=True, slots=True)
class Shape:
    """How an API shows one model, and a list of them."""

    one: Callable[[str], dict[str, Any]]
    page: Callable[[list[dict[str, Any]]], dict[str, Any]]

    def all(self, names: Sequence[str]) -> dict[str, Any]:
        """The list of `names`."""
        return self.page([self.one(name) for name in names])


OPENAI = Shape(_openai, lambda data: {"object": "list", "data": data})
ANTHROPIC = Shape(_anthropic, _anthropic_page)
GEMINI = Shape(_gemini, lambda data: {"models": data})
OLLAMA = Shape(_ollama, lambda data: {"models": data})

CALLERS: Mapping[str, Shape] = {"anthropic-version": ANTHROPIC, "x-goog-api-key": GEMINI}
"""`/v1/models` has one address and several shapes: a header tells whose client asks."""


def shape_for(headers: Mapping[str, str]) -> Shape:
    """The shape the caller with these headers reads."""
    return next((shape for header, shape in CALLERS.items() if header in headers), OPENAI)


def shown(name: str) -> dict[str, Any]:
    """`POST /api/show` as Ollama answers it: every model has tools here, that is what this gateway is for."""
    known = profile(name)
    family = known.dialect or "unknown"
    capabilities = ["completion", "tools", *(["thinking"] if known.reasoning else [])]
    return {
        "modelfile": "",
        "parameters": "",
        "template": "{{ .Prompt }}",
        "details": {**DETAILS, "family": family, "families": [family]},
        "model_info": {
            "general.architecture": family,
            f"{family}.context_length": known.context or UNKNOWN_CONTEXT,
        },
        "capabilities": capabilities,
        "modified_at": EPOCH,
    }
