"""Endpoints beside chat that pass as they are: which there are, and who has them where.

Knows paths; nothing of what is said there.  Contract: a row names what its maker documents; what speaks OpenAI's API
and of which nothing else is known may have all of it, and says itself what it has not.
Sources: OpenAI's API reference; what each row rests on is in `RESTS_ON`.
"""

from __future__ import annotations

from collections.abc import Mapping

from .row_forms import others, sdk_source, vendor_docs
from .spec import Evidence

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
_STORED = ("files", "batches")
HAS: Mapping[str, Mapping[str, str]] = {
    "openai": _plain(*OPENAI),
    "openai-responses": _plain(*OPENAI, COMPACT),
    "azure": _plain("embeddings", "completions", *_STORED, *_IMAGES, *_AUDIO),
    "ollama": {**_plain(*OLLAMA), "embeddings": "/v1/embeddings", "completions": "/v1/completions"},
    "ollama-generate": {**_plain(*OLLAMA), "embeddings": "/v1/embeddings", "completions": "/v1/completions"},
    "cohere": {RERANK: "/v2/rerank", "audio/transcriptions": "/v2/audio/transcriptions"},
    "openrouter": _plain("embeddings", "completions", "audio/speech", "audio/transcriptions"),
    "xai": _plain("completions", *_STORED, *_IMAGES),
    "xai-responses": _plain(COMPACT),
    "mistral": _plain("embeddings", "moderations", "audio/transcriptions", "files"),
    "deepseek": {"completions": "/beta/completions"},
    "groq": _plain("embeddings", *_STORED, *_AUDIO),
    "cerebras": _plain("completions"),
    "zai": _plain("embeddings", "moderations", "images/generations", "audio/speech", "audio/transcriptions", *_STORED),
    "moonshot": _plain(*_STORED),
    "together": _plain("embeddings", "completions", RERANK, "images/generations", *_STORED, *_AUDIO),
    "fireworks": _plain("embeddings", "completions", RERANK),
    "nvidia": _plain("embeddings", "completions"),
    "alibaba": _plain("embeddings", "completions", *_STORED),
    "deepinfra": _plain("embeddings", "completions", "images/generations", *_AUDIO),
    "nebius": _plain("embeddings", "completions", "images/generations"),
    "novita": _plain("embeddings", "completions", RERANK, *_STORED),
    "siliconflow": _plain("embeddings", RERANK, "images/generations", "audio/speech", "audio/transcriptions"),
    "scaleway": _plain("embeddings", RERANK, "audio/transcriptions"),
    "gemini-openai": _plain("embeddings", "images/generations", "batches"),
    "llamacpp": _plain("embeddings", "completions", RERANK),
    "vllm": _plain("embeddings", "completions", RERANK, "audio/transcriptions", "audio/translations"),
    "sglang": _plain("embeddings", "completions", RERANK),
    "lmstudio": _plain("embeddings", "completions"),
    "litellm": _plain(*OPENAI, RERANK),
    "gpustack": _plain("embeddings", "completions", RERANK, "audio/speech", "audio/transcriptions", *_IMAGES),
    "compatible": _plain(*OPENAI, RERANK),
}
"""Provider → endpoint → its path below the provider's root.

Not here, because what is answered has another form: Mistral's `/fim/completions` and `/audio/speech`, its batches,
Cohere's `/v2/embed`, SiliconFlow's files.
"""

RESTS_ON: Mapping[str, Evidence] = {
    "openai": sdk_source("openai 3.54.0, resources/"),
    "openai-responses": sdk_source("openai 3.54.0, resources/responses/responses.py: compact"),
    "azure": sdk_source("openai 3.54.0, lib/azure.py: _deployments_endpoints"),
    "ollama": sdk_source("ollama 0.6.3, _client.py"),
    "ollama-generate": sdk_source("ollama 0.6.3, _client.py"),
    "cohere": sdk_source("cohere 7.3.1, v2/raw_client.py, audio/transcriptions/raw_client.py"),
    "openrouter": vendor_docs("https://openrouter.ai/blog/announcements/every-modality-one-api/"),
    "xai": vendor_docs("https://docs.x.ai/api-reference"),
    "xai-responses": vendor_docs("https://docs.x.ai/api-reference"),
    "mistral": sdk_source("mistralai 3.7.0, client/"),
    "deepseek": others("apifox.com/apidoc/docs-site/5435161: a copy of DeepSeek's reference"),
    "groq": sdk_source("groq 1.7.0, resources/"),
    "cerebras": sdk_source("cerebras-cloud-sdk 1.91.0, resources/completions.py"),
    "zai": sdk_source("zai-sdk 0.2.3, api_resource/"),
    "moonshot": vendor_docs("https://platform.kimi.ai/docs/api/files-upload"),
    "together": sdk_source("together 3.1.1, resources/"),
    "fireworks": others("docs.litellm.ai/docs/providers/fireworks_ai"),
    "nvidia": others("docs.litellm.ai/docs/providers/nvidia_nim"),
    "alibaba": vendor_docs("https://alibabacloud.com/help/en/model-studio/embedding-interfaces-compatible-with-openai"),
    "deepinfra": vendor_docs("https://deepinfra.com/docs/openai_api"),
    "nebius": others("bifrost docs, providers/nebius: no files, no batches"),
    "novita": vendor_docs("https://novita.ai/docs/api-reference/model-apis-llm-upload-batch-input-file"),
    "siliconflow": vendor_docs("https://docs.siliconflow.cn/llms.txt"),
    "scaleway": others("litellm 1.106.2, llms/openai_like/providers.json"),
    "gemini-openai": others("developersdigest.tech/reference/api-compatibility/google, quoting ai.google.dev"),
    "llamacpp": vendor_docs("https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md"),
    "vllm": vendor_docs("https://docs.vllm.ai/en/latest/serving/openai_compatible_server/"),
    "sglang": vendor_docs("https://docs.sglang.io/docs/basic_usage/native_api"),
    "lmstudio": vendor_docs("https://lmstudio.ai/docs/api/openai-api"),
    "litellm": vendor_docs("https://docs.litellm.ai/docs/supported_endpoints"),
    "gpustack": vendor_docs("https://docs.gpustack.ai/latest/integrations/openai-compatible-apis"),
    "compatible": sdk_source("openai 3.54.0, resources/"),
}
"""Provider → what its row above rests on."""
