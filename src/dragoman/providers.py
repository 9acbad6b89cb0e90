"""Who serves models: one frozen row each, and nothing else.

A row says where a provider is, which wire it speaks, how it is told who asks, whether it has native tools and how it
departs from the plain wire.  Knows codecs by name and `Quirks` by field; performs nothing.
Contract: adding a provider is adding a row; users' own rows are as good as ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from .auth import KeyHeader
from .codecs.spec import PLAIN, Quirks
from .errors import UnknownName
from .types import NOTHING


class Tools(StrEnum):
    """How a provider takes tools: by its wire, by text only, or by its wire and, where the model cannot, by text."""

    NATIVE = "native"
    TEXT = "text"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class ModelList:
    """Where a provider lists its models: the path below the root, the key of the list, the key of a name."""

    path: str = "/models"
    items: str = "data"
    name: str = "id"


OPENAI_LIST = ModelList()
OLLAMA_LIST = ModelList("/api/tags", "models", "name")
ANTHROPIC_LIST = ModelList("/v1/models")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One row.

    base_url  the root of its API; `url_env` are the environment variables that may replace it
    root      what a base URL without a path is completed by (people write http://127.0.0.1:8080)
    auth      how a key is sent, and where it is looked for
    tools     see `Tools`;  `quirks` what its wire does differently;  `headers` what is sent with every request
    port      where it usually listens on one's own machine, 0 for services
    """

    name: str
    codec: str
    base_url: str = ""
    root: str = "/v1"
    auth: KeyHeader = KeyHeader(required=False)  # noqa: RUF009
    tools: Tools = Tools.BOTH
    quirks: Quirks = PLAIN
    headers: Mapping[str, str] = NOTHING
    models: ModelList = OPENAI_LIST
    url_env: tuple[str, ...] = ()
    port: int = 0
    aliases: tuple[str, ...] = ()
    docs: str = ""


def _bearer(*env: str, required: bool = True) -> KeyHeader:
    return KeyHeader(env=env, required=required)


ROWS: tuple[Provider, ...] = (
    Provider(
        name="openai",
        codec="openai_chat",
        base_url="https://api.openai.com/v1",
        auth=_bearer("OPENAI_API_KEY"),
        # the API refuses `reasoning_content` in past turns, and its newer models refuse `max_tokens`
        quirks=Quirks(reasoning_field="", rename={"max_tokens": "max_completion_tokens"}),
        url_env=("OPENAI_BASE_URL",),
        docs="https://platform.openai.com/docs/api-reference/chat",
    ),
    Provider(
        name="anthropic",
        codec="anthropic_messages",
        base_url="https://api.anthropic.com",
        root="",
        auth=KeyHeader(header="x-api-key", form="{key}", env=("ANTHROPIC_API_KEY",)),
        tools=Tools.NATIVE,
        headers={"anthropic-version": "2023-06-01"},
        models=ANTHROPIC_LIST,
        url_env=("ANTHROPIC_BASE_URL",),
        docs="https://docs.anthropic.com/en/api/messages",
    ),
    Provider(
        name="ollama",
        codec="ollama_chat",
        base_url="http://127.0.0.1:11434",
        root="",
        auth=_bearer("OLLAMA_API_KEY", required=False),
        models=OLLAMA_LIST,
        url_env=("OLLAMA_HOST",),
        port=11434,
        docs="https://github.com/ollama/ollama/blob/main/docs/api.md",
    ),
    Provider(
        name="llamacpp",
        codec="openai_chat",
        base_url="http://127.0.0.1:8080/v1",
        auth=_bearer("LLAMA_API_KEY", required=False),
        port=8080,
        aliases=("llama.cpp", "llama-server"),
        docs="https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
    ),
    Provider(
        name="vllm",
        codec="openai_chat",
        base_url="http://127.0.0.1:8000/v1",
        auth=_bearer("VLLM_API_KEY", required=False),
        quirks=Quirks(reasoning_field="reasoning"),
        port=8000,
        docs="https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
    ),
    Provider(
        name="sglang",
        codec="openai_chat",
        base_url="http://127.0.0.1:30000/v1",
        auth=_bearer("SGLANG_API_KEY", required=False),
        port=30000,
        docs="https://docs.sglang.ai/basic_usage/openai_api_completions.html",
    ),
    Provider(
        name="lmstudio",
        codec="openai_chat",
        base_url="http://127.0.0.1:1234/v1",
        auth=_bearer("LMSTUDIO_API_KEY", required=False),
        port=1234,
        aliases=("lm-studio",),
        docs="https://lmstudio.ai/docs/app/api/endpoints/openai",
    ),
    Provider(
        name="openrouter",
        codec="openai_chat",
        base_url="https://openrouter.ai/api/v1",
        auth=_bearer("OPENROUTER_API_KEY"),
        quirks=Quirks(reasoning_field="reasoning"),
        url_env=("OPENROUTER_BASE_URL",),
        docs="https://openrouter.ai/docs/api-reference/chat-completion",
    ),
    Provider(name="compatible", codec="openai_chat", aliases=("openai-compatible", "openai_compatible")),
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

COMPATIBLE: Mapping[str, Provider] = {
    "openai_chat": PROVIDERS["compatible"],
    "anthropic_messages": replace(
        PROVIDERS["anthropic"],
        name="anthropic-compatible",
        base_url="",
        auth=KeyHeader(header="x-api-key", form="{key}", required=False),
        tools=Tools.BOTH,
        url_env=(),
    ),
    "ollama_chat": replace(
        PROVIDERS["ollama"], name="ollama-compatible", base_url="", auth=_bearer(required=False), url_env=(), port=0
    ),
}
"""Codec → the row for a server of which nothing is known but that it speaks this API.

They look for no key in the environment: a key must not go to a host it was not made for.
"""
