"""Endpoints beside chat that pass as they are: which there are, and who has them where.

Knows paths; nothing of what is said there.  Contract: a row names what its maker documents; what speaks OpenAI's API
and of which nothing else is known may have all of it, and says itself what it has not.
Sources: OpenAI's API reference; Ollama docs/api.md and docs/openai.md; vLLM "OpenAI-Compatible Server"; llama.cpp
tools/server/README.md; xAI "Context Compaction"; LM Studio, LiteLLM and each vendor's reference (`docs` of its row).
"""

from __future__ import annotations

from collections.abc import Mapping

OPENAI: tuple[str, ...] = (
    "embeddings", "completions", "moderations", "audio/speech", "audio/transcriptions", "audio/translations",
    "images/generations", "images/edits", "images/variations", "files", "batches",
)  # fmt: skip
RERANK = "rerank"
COMPACT = "responses/compact"
"""A conversation cut down; what comes of it only its maker can read."""
OLLAMA: tuple[str, ...] = ("api/embed", "api/embeddings")
ENDPOINTS: tuple[str, ...] = (*OPENAI, RERANK, COMPACT, *OLLAMA)
"""All of them, by the path below the version."""


def _plain(*names: str) -> dict[str, str]:
    """Endpoints at their own path below a provider's root."""
    return {name: f"/{name}" for name in names}


_IMAGES = ("images/generations", "images/edits")
_AUDIO = ("audio/speech", "audio/transcriptions", "audio/translations")
HAS: Mapping[str, Mapping[str, str]] = {
    "openai": _plain(*OPENAI),
    "openai-responses": _plain(*OPENAI, COMPACT),
    "azure": _plain("embeddings", "completions", "files", "batches", *_IMAGES, *_AUDIO),
    "ollama": {**_plain(*OLLAMA), "embeddings": "/v1/embeddings", "completions": "/v1/completions"},
    "ollama-generate": {**_plain(*OLLAMA), "embeddings": "/v1/embeddings", "completions": "/v1/completions"},
    "cohere": {RERANK: "/v2/rerank"},
    "openrouter": _plain("embeddings", "completions"),
    "xai": _plain("images/generations", "completions"),
    "xai-responses": _plain(COMPACT),
    "mistral": _plain("embeddings", "moderations", "audio/transcriptions", "files"),
    "deepseek": {"completions": "/beta/completions"},
    "groq": _plain("files", "batches", *_AUDIO),
    "together": _plain("embeddings", "completions", RERANK, "images/generations", "audio/speech", "files", "batches"),
    "fireworks": _plain("embeddings", "completions", RERANK),
    "nvidia": _plain("embeddings", "completions"),
    "alibaba": _plain("embeddings", "completions", "files", "batches"),
    "deepinfra": _plain("embeddings", "completions", "images/generations", "audio/speech", "audio/transcriptions"),
    "nebius": _plain("embeddings", "completions", "images/generations", "files", "batches"),
    "novita": _plain("embeddings", "completions", RERANK),
    "siliconflow": _plain("embeddings", RERANK, "images/generations", "audio/speech", "audio/transcriptions"),
    "scaleway": _plain("embeddings", "audio/transcriptions"),
    "gemini-openai": _plain("embeddings", "images/generations", "files", "batches"),
    "llamacpp": _plain("embeddings", "completions", RERANK),
    "vllm": _plain("embeddings", "completions", RERANK, "audio/transcriptions", "audio/translations"),
    "sglang": _plain("embeddings", "completions", RERANK),
    "lmstudio": _plain("embeddings", "completions"),
    "litellm": _plain(*OPENAI, RERANK),
    "gpustack": _plain("embeddings", "completions", RERANK, "images/generations", "audio/speech"),
    "compatible": _plain(*OPENAI, RERANK),
}
"""Provider → endpoint → its path below the provider's root."""
