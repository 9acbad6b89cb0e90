"""What rows of providers have in common: the forms in which most are written, and what several say.

Knows the fields of a row (`spec.py`); no provider of its own.
Contract: a form sets what all of its kind share, and every field of it can be given otherwise.
Sources: seeds.md (b); peers.md §4 (names of variables); the recorded addresses of wire-quirks.md; each row's `docs`.
"""

from __future__ import annotations

from typing import Any

from ..codecs.crossing.settings import ALL as ALL_SETTINGS
from ..codecs.shared.spec import Quirks
from ..conversation.requirements import UNRESTRICTED
from ..version import __version__
from .auth import KeyHeader, Setting
from .spec import NO_LIST, ConstraintKind, Evidence, EvidenceKind, Provider, Signal

READ = "2026-11-22"


def recorded(address: str, read: str = READ) -> Evidence:
    """Traffic that somebody recorded: the address, and whose tests hold it (tests/vectors, wire-quirks.md)."""
    return Evidence(EvidenceKind.RECORDED, address, read)


def sdk_source(address: str, read: str = READ) -> Evidence:
    """The source of the vendor's own client: package, version and file."""
    return Evidence(EvidenceKind.SDK, address, read)


def vendor_docs(address: str, read: str = READ) -> Evidence:
    """A page of the vendor's documentation that was read."""
    return Evidence(EvidenceKind.DOCS, address, read)


def others(address: str, read: str = READ) -> Evidence:
    """What others wrote or send: package, version and file, or a public repository."""
    return Evidence(EvidenceKind.OTHERS, address, read)


def bearer(*env: str, required: bool = True) -> KeyHeader:
    """A key from the first of these variables, sent as `Authorization: Bearer`."""
    return KeyHeader(env=env, required=required)


def chat(name: str, base_url: str, *env: str, docs: str, **more: Any) -> Provider:
    """A service that speaks OpenAI's chat API and takes a bearer key; `NAME_BASE_URL` may move it."""
    given = {"url_env": (f"{name.upper().replace('-', '_')}_BASE_URL",), **more}
    return Provider(name=name, codec="openai_chat", base_url=base_url, auth=bearer(*env), docs=docs, **given)


def messages(name: str, base_url: str, auth: KeyHeader, *, docs: str, **more: Any) -> Provider:
    """A service that speaks Anthropic's Messages API for models of its own: signatures are not asked for."""
    given = {"quirks": Quirks(unsigned_reasoning="send"), "root": "", "models": NO_LIST, **more}
    given.setdefault("url_env", (f"{name.upper().replace('-', '_')}_BASE_URL",))
    headers = ANTHROPIC_VERSION
    return Provider(
        name=name, codec="anthropic_messages", base_url=base_url, auth=auth, headers=headers, docs=docs, **given
    )


def local(name: str, port: int, *env: str, docs: str, **more: Any) -> Provider:
    """A server on one's own machine that speaks OpenAI's chat API."""
    url, auth = f"http://127.0.0.1:{port}/v1", bearer(*env, required=False)
    given = {"requirements": UNRESTRICTED, **more}
    return Provider(name=name, codec="openai_chat", base_url=url, auth=auth, port=port, docs=docs, **given)


AUTO = frozenset({"auto"})
AUTO_OR_NONE = frozenset({"auto", "none"})
US = f"dragoman/{__version__}"
# 2026-10-21 has the same answers, and refuses temperature, top_p and top_k (platform.claude.com: migration-2026-10-21)
ANTHROPIC_VERSION = {"anthropic-version": "2023-06-01"}
BETA_HEADER = {"anthropic-beta": Signal.BETAS}
# the API refuses `reasoning_content` in past turns, its newer models refuse `max_tokens`, and it knows no `top_k`
OPENAI_QUIRKS = Quirks(
    reasoning_field="", rename={"max_tokens": "max_completion_tokens"}, omit=frozenset({"top_k"}), settings=ALL_SETTINGS
)
# docs.z.ai, platform.moonshot.ai, api-docs.deepseek.com: "thinking mode"
NO_THINKING = {"thinking": {"type": "disabled"}}
OPENAI_KEY = bearer("OPENAI_API_KEY")
CLAUDE_QUIRKS = Quirks(cache="always")
MESSAGES_QUIRKS = Quirks(cache="always", settings=frozenset({"service_tier"}))
REGION = Setting("region", ("AWS_REGION", "AWS_DEFAULT_REGION"), default="us-east-1")
AWS_BEARER = bearer("AWS_BEARER_TOKEN_BEDROCK")
BEDROCK_URL = "https://bedrock-runtime.{region}.amazonaws.com"
AZURE_KEY = KeyHeader(header="api-key", form="{key}", env=("AZURE_OPENAI_API_KEY", "AZURE_API_KEY"))
AZURE_DOCS = "https://learn.microsoft.com/azure/ai-foundry/openai/reference"
GRAMMARS = frozenset({ConstraintKind.GRAMMAR})  # llama.cpp, tools/server/README.md: `grammar`
# vLLM and SGLang, "Structured Outputs": structural tags
TAGGED = frozenset({ConstraintKind.SCHEMA, ConstraintKind.TAGS})
SCHEMAS = frozenset({ConstraintKind.SCHEMA})  # Ollama: `format`; LM Studio: `response_format`
