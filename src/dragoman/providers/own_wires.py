"""Providers that have a wire of their own, or first had it: one frozen row each.

Rows and nothing else; `spec.py` says what the fields mean, `rows.py` holds all of them.
Sources: seeds.md (b); peers.md §4 (names of variables); the recorded addresses of wire-quirks.md; each row's `docs`.
"""

from __future__ import annotations

from ..codecs.shared.spec import Quirks
from ..conversation.cache_markers import Caches
from ..conversation.requirements import OPENAI_CHAT
from .auth import ClientCredentials, KeyHeader, Setting, SigV4
from .row_forms import (
    ANTHROPIC_VERSION,
    AUTO,
    AWS_BEARER,
    BEDROCK_URL,
    BETA_HEADER,
    CLAUDE_QUIRKS,
    MESSAGES_QUIRKS,
    OPENAI_KEY,
    OPENAI_QUIRKS,
    REGION,
    SCHEMAS,
    bearer,
    others,
    recorded,
    sdk_source,
)
from .spec import ANTHROPIC_LIST, COHERE_LIST, GEMINI_LIST, NO_LIST, OLLAMA_LIST, Provider, Tools

OWN: tuple[Provider, ...] = (
    Provider(
        name="openai", codec="openai_chat", typed=True, base_url="https://api.openai.com/v1", auth=OPENAI_KEY,
        quirks=OPENAI_QUIRKS, requirements=OPENAI_CHAT, url_env=("OPENAI_BASE_URL", "OPENAI_API_URL"),
        docs="https://platform.openai.com/docs/api-reference/chat",
        evidence=(recorded("api.openai.com/v1/chat/completions"), sdk_source("openai 3.54.0, _client.py"),),
    ),
    Provider(
        name="openai-responses", codec="openai_responses", typed=True, base_url="https://api.openai.com/v1",
        auth=OPENAI_KEY,
        url_env=("OPENAI_RESPONSES_API_URL", "OPENAI_BASE_URL"), aliases=("openai_responses",),
        docs="https://platform.openai.com/docs/api-reference/responses",
        evidence=(recorded("api.openai.com/v1/responses"),
                  sdk_source("openai 3.54.0, resources/responses/responses.py"),),
    ),
    Provider(
        name="anthropic", codec="anthropic_messages", typed=True, base_url="https://api.anthropic.com", root="",
        auth=KeyHeader(header="x-api-key", form="{key}", env=("ANTHROPIC_API_KEY",)),
        or_auth=(bearer("ANTHROPIC_AUTH_TOKEN"),), tools=Tools.NATIVE, quirks=MESSAGES_QUIRKS,
        headers=ANTHROPIC_VERSION, signals=BETA_HEADER, models=ANTHROPIC_LIST, url_env=("ANTHROPIC_BASE_URL",),
        notes=("tokens of Claude subscriptions: they are for Anthropic's own clients",),
        docs="https://docs.anthropic.com/en/api/messages",
        evidence=(recorded("api.anthropic.com/v1/messages"), sdk_source("anthropic 2.12.0, _client.py"),),
    ),
    Provider(
        name="gemini", codec="gemini", typed=True, root="/v1beta",
        base_url="https://generativelanguage.googleapis.com/v1beta",
        auth=KeyHeader(header="x-goog-api-key", form="{key}", env=("GEMINI_API_KEY", "GOOGLE_API_KEY")),
        quirks=Quirks(result_media="native"), models=GEMINI_LIST,
        url_env=("GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"), aliases=("googleai",),
        notes=("several candidates", "media in results before Gemini 3"),
        docs="https://ai.google.dev/api/generate-content",
        evidence=(recorded("generativelanguage.googleapis.com/v1beta/models"),
                  sdk_source("google-genai 3.4.0, _api_client.py"),),
    ),
    Provider(
        name="gemini-interactions", codec="gemini_interactions", typed=True, root="/v1beta",
        base_url="https://generativelanguage.googleapis.com/v1beta", tools=Tools.NATIVE, models=GEMINI_LIST,
        auth=KeyHeader(header="x-goog-api-key", form="{key}", env=("GEMINI_API_KEY", "GOOGLE_API_KEY")),
        url_env=("GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"), docs="https://ai.google.dev/gemini-api/docs/interactions",
        evidence=(sdk_source("google-genai 3.4.0, _gaos"),),
    ),
    Provider(
        name="bedrock", codec="bedrock_converse", base_url=BEDROCK_URL, root="", auth=SigV4("bedrock"),
        or_auth=(AWS_BEARER,), settings=(REGION,), quirks=CLAUDE_QUIRKS, caches=Caches.NOTHING,
        models=NO_LIST, url_env=("AWS_ENDPOINT_URL_BEDROCK_RUNTIME",), aliases=("bedrock-converse", "aws"),
        notes=("tool_choice none (the tools are left out)", "cache markers only for Claude and Nova"),
        docs="https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html",
        evidence=(recorded("bedrock-runtime.us-east-1.amazonaws.com/model"),
                  sdk_source("botocore 1.44.5, bedrock-runtime service model"),),
    ),
    Provider(
        name="bedrock-invoke", codec="bedrock_invoke", typed=True, base_url=BEDROCK_URL, root="", auth=SigV4("bedrock"),
        or_auth=(AWS_BEARER,), settings=(REGION,), tools=Tools.NATIVE, quirks=CLAUDE_QUIRKS, models=NO_LIST,
        url_env=("AWS_ENDPOINT_URL_BEDROCK_RUNTIME",), notes=("models other than Claude",),
        docs="https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html",
        evidence=(recorded("bedrock-runtime.us-east-1.amazonaws.com/model"),
                  sdk_source("anthropic 2.12.0, lib/bedrock/_client.py"),),
    ),
    Provider(
        name="ollama", codec="ollama_chat", base_url="http://127.0.0.1:11434", root="",
        auth=bearer("OLLAMA_API_KEY", required=False), models=OLLAMA_LIST, url_env=("OLLAMA_HOST",), port=11434,
        constraints=SCHEMAS,
        quirks=Quirks(choices=AUTO),  # ollama#11171
        notes=("parallel_tool_calls",),
        docs="https://github.com/ollama/ollama/blob/main/docs/api.md",
        evidence=(recorded("127.0.0.1:11434/api/chat"), sdk_source("ollama 0.6.3, _client.py"),),
    ),
    Provider(
        name="cohere", codec="cohere_chat", base_url="https://api.cohere.com", root="",
        auth=bearer("COHERE_API_KEY", "CO_API_KEY"), models=COHERE_LIST, url_env=("COHERE_BASE_URL", "CO_API_URL"),
        notes=("a named tool_choice (the other tools are left out)",), docs="https://docs.cohere.com/reference/chat",
        evidence=(recorded("api.cohere.com/v2/chat"), sdk_source("cohere 7.3.1, environment.py"),),
    ),
    Provider(
        name="stackspot", codec="stackspot", base_url="https://genai-inference-app.stackspot.com", root="",
        auth=ClientCredentials(
            "https://idm.stackspot.com/{realm}/oidc/oauth/token", id_env=("STACKSPOT_CLIENT_ID",),
            env=("STACKSPOT_CLIENT_KEY", "STACKSPOT_CLIENT_SECRET"),
        ),
        settings=(Setting("realm", ("STACKSPOT_REALM",)),), tools=Tools.TEXT, models=NO_LIST,
        url_env=("STACKSPOT_API_URL",), model_env=("STACKSPOT_AGENT_ID",),
        notes=("roles: the conversation goes out as one text", "sampling: it is the agent's", "media"),
        docs="https://ai.stackspot.com/docs/agents/create-agents-via-api",
        evidence=(others("github: clients of the Agents API (genai-inference-app.stackspot.com/v1/agent)"),),
    ),
)  # fmt: skip
