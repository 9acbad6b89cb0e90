"""Which models there are: asked of the provider, told in each caller's shape.

Knows the list's path and keys from the provider's row; performs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..admission import Tokens, admit
from ..effects import Machine, Open, Opened, Read
from ..errors import ErrorKind, ProviderError
from ..route import Route
from ..turn import MAX_REFUSAL

MAX_LIST = 8 * 1024 * 1024
"""Bytes of a list of models; OpenRouter's, the longest known, is under one MB."""


def list_models(route: Route) -> Machine[list[str]]:
    """The names of the models behind `route`, in the provider's order.  Raises ProviderError."""
    listing = route.provider.models
    if not listing.path:
        raise ProviderError(f"{route.provider.name} lists no models; name the model yourself", kind=ErrorKind.NOT_FOUND)
    asked = Open(url=route.url(listing.path), method="GET", headers=route.headers(), patience=route.patience)
    opened: Opened = yield (yield from admit(asked, route, Tokens()))
    body = b""
    limit = MAX_LIST if opened.status == 200 else MAX_REFUSAL
    while len(body) < limit and (data := (yield Read())):
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


def openai_list(names: Sequence[str]) -> dict[str, Any]:
    """`GET /v1/models` as OpenAI answers it."""
    data = [{"id": n, "object": "model", "created": 0, "owned_by": "dragoman"} for n in names]
    return {"object": "list", "data": data}


def anthropic_list(names: Sequence[str]) -> dict[str, Any]:
    """`GET /v1/models` as Anthropic answers it."""
    data = [{"type": "model", "id": n, "display_name": n, "created_at": "1970-01-01T00:00:00Z"} for n in names]
    return {
        "data": data,
        "has_more": False,
        "first_id": names[0] if names else None,
        "last_id": names[-1] if names else None,
    }


def ollama_list(names: Sequence[str]) -> dict[str, Any]:
    """`GET /api/tags` as Ollama answers it."""
    details = {"parent_model": "", "format": "", "family": "", "families": None, "parameter_size": ""}
    return {
        "models": [
            {
                "name": n,
                "model": n,
                "modified_at": "1970-01-01T00:00:00Z",
                "size": 0,
                "digest": "",
                "details": {**details, "quantization_level": ""},
            }
            for n in names
        ]
    }


Shape = Callable[[Sequence[str]], dict[str, Any]]


def shape_for(headers: Mapping[str, str]) -> Shape:
    """`/v1/models` has one address and two shapes: callers of Anthropic's API say their version."""
    return anthropic_list if "anthropic-version" in headers else openai_list
