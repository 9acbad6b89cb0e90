"""Clouds that serve models of several makers, each by its maker's wire: one frozen row each.

Rows and nothing else; `spec.py` says what the fields mean, `rows.py` holds all of them.
Sources: the clients that the makers publish for these places (openai lib/azure.py, providers/bedrock.py; anthropic
lib/vertex, lib/bedrock, lib/aws, lib/foundry.py; google-genai _api_client.py) and recorded addresses; each row's
`evidence`.
"""

from __future__ import annotations

from dataclasses import replace

from ..codecs.shared.spec import Quirks
from ..conversation.requirements import OPENAI_CHAT
from .auth import KeyHeader, Setting, SigV4
from .row_forms import (
    ANTHROPIC_VERSION,
    AWS_BEARER,
    AZURE_DOCS,
    AZURE_KEY,
    BEDROCK_URL,
    BETA_HEADER,
    CLAUDE_QUIRKS,
    OPENAI_QUIRKS,
    REGION,
    bearer,
    others,
    recorded,
    sdk_source,
    vendor_docs,
)
from .spec import NO_LIST, Provider, Tools, Variant

# ── Google Cloud ─────────────────────────────────────────────────────────────

GOOGLE_TOKEN = bearer("GOOGLE_OAUTH_ACCESS_TOKEN", "CLOUDSDK_AUTH_ACCESS_TOKEN")
GOOGLE_HOST = Setting(
    "host", of="location", form="{location}-aiplatform.googleapis.com", required=False,
    words={
        "global": "aiplatform.googleapis.com",
        "us": "aiplatform.us.rep.googleapis.com",
        "eu": "aiplatform.eu.rep.googleapis.com",
    },
)  # fmt: skip
"""Regions have hosts of their own, and so have the multi-regions; what is nowhere in particular has the plain one."""
FETCHED = "fetching a token (gcloud auth print-access-token does)"

# ── Amazon ───────────────────────────────────────────────────────────────────

MANTLE = "https://bedrock-mantle.{region}.api.aws"
BEDROCK_OPENAI = "https://docs.aws.amazon.com/bedrock/latest/userguide/inference-responses-api.html"

CLOUDS: tuple[Provider, ...] = (
    Provider(
        name="vertex", codec="gemini", typed=True, root="", quirks=Quirks(result_media="native"), models=NO_LIST,
        base_url="https://{host}/v1beta1/projects/{project}/locations/{location}/publishers/google", auth=GOOGLE_TOKEN,
        settings=(
            Setting("project", ("GOOGLE_CLOUD_PROJECT", "VERTEXAI_PROJECT")),
            Setting("location", ("GOOGLE_CLOUD_LOCATION", "VERTEXAI_LOCATION"), default="us-central1"),
            GOOGLE_HOST,
        ),
        url_env=("VERTEX_BASE_URL",), aliases=("vertexai", "vertex_ai"), notes=(FETCHED,),
        docs="https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference",
        evidence=(recorded("aiplatform.googleapis.com/v1beta1/projects"),
                  sdk_source("google-genai 3.4.0, _api_client.py"),),
    ),
    Provider(
        name="vertex-anthropic", codec="anthropic_messages", typed=True, root="", models=NO_LIST, tools=Tools.NATIVE,
        base_url="https://{host}/v1/projects/{project}/locations/{location}/publishers/anthropic", auth=GOOGLE_TOKEN,
        path="/models/{model}:rawPredict", stream_path="/models/{model}:streamRawPredict",
        settings=(
            Setting("project", ("ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT", "VERTEXAI_PROJECT")),
            Setting("location", ("CLOUD_ML_REGION", "GOOGLE_CLOUD_LOCATION", "VERTEXAI_LOCATION"), default="global"),
            GOOGLE_HOST,
        ),
        quirks=replace(CLAUDE_QUIRKS, omit=frozenset({"model"}), add={"anthropic_version": "vertex-2023-10-16"}),
        headers=ANTHROPIC_VERSION, signals=BETA_HEADER, url_env=("ANTHROPIC_VERTEX_BASE_URL",), notes=(FETCHED,),
        docs="https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai",
        evidence=(recorded("aiplatform.googleapis.com/v1/projects"),
                  sdk_source("anthropic 2.12.0, lib/vertex/_client.py"),),
    ),
    Provider(
        name="bedrock-openai", codec="openai_chat", base_url=BEDROCK_URL + "/openai/v1", root="/openai/v1",
        auth=SigV4("bedrock"), or_auth=(AWS_BEARER,), settings=(REGION,), models=NO_LIST, quirks=OPENAI_QUIRKS,
        requirements=OPENAI_CHAT, url_env=("AWS_BEDROCK_BASE_URL",), docs=BEDROCK_OPENAI,
        evidence=(sdk_source("openai 3.54.0, providers/bedrock.py"), vendor_docs(BEDROCK_OPENAI),),
    ),
    Provider(
        name="bedrock-responses", codec="openai_responses", base_url=BEDROCK_URL + "/openai/v1", root="/openai/v1",
        auth=SigV4("bedrock"), or_auth=(AWS_BEARER,), settings=(REGION,), models=NO_LIST,
        url_env=("AWS_BEDROCK_BASE_URL",), notes=("tools that the server runs", "background"), docs=BEDROCK_OPENAI,
        evidence=(sdk_source("openai 3.54.0, providers/bedrock.py"), vendor_docs(BEDROCK_OPENAI),),
    ),
    Provider(
        name="bedrock-mantle", codec="openai_responses", base_url=MANTLE + "/openai/v1", root="/openai/v1",
        auth=SigV4("bedrock-mantle"), or_auth=(AWS_BEARER,), settings=(REGION,),
        url_env=("AWS_BEDROCK_BASE_URL", "BEDROCK_MANTLE_API_BASE"), docs=BEDROCK_OPENAI,
        notes=("models that stand under /v1 (gpt-oss and most others): give that base URL",),
        evidence=(recorded("bedrock-mantle.us-east-1.api.aws/openai/v1/responses"),
                  sdk_source("openai 3.54.0, providers/bedrock.py"),),
    ),
    Provider(
        name="bedrock-mantle-chat", codec="openai_chat", base_url=MANTLE + "/openai/v1", root="/openai/v1",
        auth=SigV4("bedrock-mantle"), or_auth=(AWS_BEARER,), settings=(REGION,), quirks=OPENAI_QUIRKS,
        requirements=OPENAI_CHAT, url_env=("AWS_BEDROCK_BASE_URL", "BEDROCK_MANTLE_API_BASE"), docs=BEDROCK_OPENAI,
        notes=("models that stand under /v1 (gpt-oss and most others): give that base URL",),
        evidence=(sdk_source("openai 3.54.0, providers/bedrock.py"),
                  others("litellm 1.106.2, llms/bedrock_mantle/chat/transformation.py"),),
    ),
    Provider(
        name="bedrock-mantle-anthropic", codec="anthropic_messages", typed=True, base_url=MANTLE + "/anthropic",
        root="",
        auth=SigV4("bedrock-mantle"), or_auth=(AWS_BEARER,), settings=(REGION,), tools=Tools.NATIVE, models=NO_LIST,
        quirks=CLAUDE_QUIRKS, headers=ANTHROPIC_VERSION, signals=BETA_HEADER,
        url_env=("ANTHROPIC_BEDROCK_MANTLE_BASE_URL",),
        docs="https://platform.claude.com/docs/en/build-with-claude/claude-on-amazon-bedrock",
        evidence=(sdk_source("anthropic 2.12.0, lib/bedrock/_mantle.py"),),
    ),
    Provider(
        name="aws-anthropic", codec="anthropic_messages", typed=True, root="",
        base_url="https://aws-external-anthropic.{region}.api.aws", auth=SigV4("aws-external-anthropic"),
        or_auth=(bearer("ANTHROPIC_AWS_API_KEY"),),
        settings=(REGION, Setting("workspace", ("ANTHROPIC_AWS_WORKSPACE_ID",))), tools=Tools.NATIVE, models=NO_LIST,
        quirks=CLAUDE_QUIRKS, headers={**ANTHROPIC_VERSION, "anthropic-workspace-id": "{workspace}"},
        signals=BETA_HEADER, url_env=("ANTHROPIC_AWS_BASE_URL",),
        docs="https://platform.claude.com/docs/en/build-with-claude/claude-platform-on-aws",
        evidence=(sdk_source("anthropic 2.12.0, lib/aws/_client.py"),),
    ),
    Provider(
        name="azure-responses", codec="openai_responses", typed=True, root="/openai/v1", auth=AZURE_KEY,
        or_auth=(bearer("AZURE_OPENAI_AD_TOKEN"),), url_env=("AZURE_OPENAI_ENDPOINT",),
        variant=Variant("OPENAI_API_VERSION", "", "azure-responses-dated"), docs=AZURE_DOCS,
        evidence=(sdk_source("openai 3.54.0, lib/azure.py"), others("litellm 1.106.2, llms/azure_ai/common_utils.py"),),
    ),
    Provider(
        name="azure-responses-dated", codec="openai_responses", typed=True, root="", path="/openai/responses",
        query={"api-version": "{api_version}"}, auth=AZURE_KEY, or_auth=(bearer("AZURE_OPENAI_AD_TOKEN"),),
        settings=(Setting("api_version", ("OPENAI_API_VERSION",)),), models=NO_LIST,
        url_env=("AZURE_OPENAI_ENDPOINT",), docs=AZURE_DOCS,
        evidence=(recorded("shelvick-test.cognitiveservices.azure.com/openai/responses"),
                  sdk_source("openai 3.54.0, lib/azure.py"),),
    ),
    Provider(
        name="azure-ai", codec="openai_chat", base_url="https://{resource}.services.ai.azure.com/models",
        root="/models",
        query={"api-version": "{api_version}"}, models=NO_LIST,
        auth=KeyHeader(header="api-key", form="{key}", env=("AZURE_AI_API_KEY", "AZURE_INFERENCE_CREDENTIAL")),
        or_auth=(bearer("AZURE_AI_AD_TOKEN"),),
        settings=(
            Setting("resource", ("AZURE_AI_RESOURCE",)),
            Setting("api_version", ("AZURE_AI_API_VERSION",), default="2024-05-01-preview"),
        ),
        quirks=Quirks(omit=frozenset({"top_k", "parallel_tool_calls"}), reasoning_field=""),
        url_env=("AZURE_AI_API_BASE", "AZURE_INFERENCE_ENDPOINT"), aliases=("azure-ai-inference", "azure_ai"),
        docs="https://learn.microsoft.com/azure/ai-foundry/model-inference/reference/reference-model-inference-api",
        evidence=(recorded("rubyllm.services.ai.azure.com/models/chat/completions"),
                  others("litellm 1.106.2, llms/azure_ai/chat/transformation.py"),),
    ),
)  # fmt: skip
