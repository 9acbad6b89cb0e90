"""Those who serve models, all of them, by name.

A row has a provider's address, its wire, its proof of who asks, whether it has native tools and how it departs from
the plain wire; the rows stand by group in `own_wires.py`, `adapted_wires.py`, `clouds.py`, `plain_chat.py` and
`local_servers.py`.
Contract: adding a provider is adding a row; users' own rows are as good as ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..errors import UnknownName
from ..types import NOTHING
from .adapted_wires import DIALECTAL
from .auth import KeyHeader
from .clouds import CLOUDS
from .endpoints import HAS
from .local_servers import LOCAL
from .own_wires import OWN
from .plain_chat import PLAIN_CHAT
from .row_forms import bearer, sdk_source
from .spec import OPENAI_LIST, ModelList, Provider, Tools

__all__ = ["COMPATIBLE", "OPENAI_LIST", "PROVIDERS", "ROWS", "ModelList", "Provider", "Providers", "Tools"]

ANY = Provider(
    name="compatible", codec="openai_chat", aliases=("openai-compatible", "openai_compatible"),
    evidence=(sdk_source("openai 3.54.0, _client.py: base_url"),),
)  # fmt: skip

DEVELOPERS = frozenset({"openai", "azure", "azure-deployments"})
"""Who knows the role `developer` on the chat wire: OpenAI made it (API reference, "Developer message"); chat templates,
DeepSeek, Mistral and others refuse a role that they do not know."""


def _whole(row: Provider) -> Provider:
    """The row with what tables say of it."""
    quirks = replace(row.quirks, developer=row.name in DEVELOPERS)
    return replace(row, endpoints=HAS.get(row.name, NOTHING), quirks=quirks)


ROWS: tuple[Provider, ...] = tuple(
    _whole(row) for row in (*OWN, *DIALECTAL, *CLOUDS, *PLAIN_CHAT, *LOCAL, ANY)
)
"""The providers we know.  The last is any server that speaks OpenAI's chat API; give it a base URL."""


class Providers(Mapping[str, Provider]):
    """Name or alias → row; iterating gives the rows' own names, in table order."""

    def __init__(self, rows: Sequence[Provider] = ROWS) -> None:
        self._rows = {row.name: row for row in rows}
        self._aliases = {alias: row for row in rows for alias in row.aliases}

    def __getitem__(self, name: str) -> Provider:
        found = self._rows.get(name) or self._aliases.get(name)
        if found is None:
            raise UnknownName("provider", name, [*self._rows, *self._aliases])
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._rows or name in self._aliases

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def split(self, model: str) -> tuple[Provider | None, str]:
        """`ollama/qwen3:8b` or `ollama:qwen3:8b` as provider and model; no provider where none is named.

        The first separator after a known provider's name divides; everything after it is the model's name, verbatim.
        """
        for mark in "/:":
            name, found, rest = model.partition(mark)
            if found and rest and name in self:
                return self[name], rest
        return None, model


PROVIDERS = Providers()

_NO_KEY = bearer(required=False)
COMPATIBLE: Mapping[str, Provider] = {
    "openai_chat": PROVIDERS["compatible"],
    "openai_responses": Provider(
        name="responses-compatible", codec="openai_responses", typed=True, endpoints=HAS["compatible"]
    ),
    "anthropic_messages": replace(
        PROVIDERS["anthropic"],
        name="anthropic-compatible",
        base_url="",
        auth=KeyHeader(header="x-api-key", form="{key}", required=False),
        or_auth=(),
        tools=Tools.BOTH,
        url_env=(),
        aliases=(),
    ),
    "gemini": replace(
        PROVIDERS["gemini"],
        name="gemini-compatible",
        base_url="",
        auth=KeyHeader(header="x-goog-api-key", form="{key}", required=False),
        tools=Tools.BOTH,
        url_env=(),
        aliases=(),
    ),
    "ollama_chat": replace(
        PROVIDERS["ollama"], name="ollama-compatible", base_url="", auth=_NO_KEY, url_env=(), port=0
    ),
}
"""Codec → the row for a server of which nothing is known but that it speaks this API.

They look for no key in the environment: a key must not go to a host it was not made for.
"""
