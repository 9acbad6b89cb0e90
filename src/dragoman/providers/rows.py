"""Those who serve models: one frozen row each, and nothing else.

A row has a provider's address, its wire, its proof of who asks, whether it has native tools and how it departs from
the plain wire; `spec.py` says what the fields mean.
Contract: adding a provider is adding a row; users' own rows are as good as ours.
Sources: seeds.md (b); peers.md §4 (names of variables); the recorded addresses of wire-quirks.md; each row's `docs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..codecs.crossing.settings import ALL as ALL_SETTINGS
from ..codecs.shared.spec import Quirks
from ..conversation.cache_markers import Caches
from ..conversation.requirements import (
    CHAT,
    MISTRAL,
    OPENAI_CHAT,
    REQUIREMENTS,
    UNRESTRICTED,
    WORD_NAMES,
    Turns,
    WireRequirements,
)
from ..errors import UnknownName
from ..schema import api_rules as schema_rules
from ..schema.vocabulary import words
from ..types import NOTHING
from ..version import __version__
from .auth import ClientCredentials, KeyHeader, Setting, SignedKey, SigV4
from .endpoints import HAS
from .spec import (
    ANTHROPIC_LIST,
    COHERE_LIST,
    GEMINI_LIST,
    NO_LIST,
    OLLAMA_LIST,
    OPENAI_LIST,
    ConstraintKind,
    ModelList,
    Provider,
    Signal,
    Switch,
    SwitchFormat,
    Tools,
    Variant,
)

__all__ = ["COMPATIBLE", "OPENAI_LIST", "PROVIDERS", "ROWS", "ModelList", "Provider", "Providers", "Tools"]

AUTO = frozenset({"auto"})
AUTO_OR_NONE = frozenset({"auto", "none"})
US = f"dragoman/{__version__}"
ANTHROPIC_VERSION = {"anthropic-version": "2023-06-01"}
BETA_HEADER = {"anthropic-beta": Signal.BETAS}


def _bearer(*env: str, required: bool = True) -> KeyHeader:
    return KeyHeader(env=env, required=required)


def _chat(name: str, base_url: str, *env: str, docs: str, **more: Any) -> Provider:
    """A service that speaks OpenAI's chat API and takes a bearer key; `NAME_BASE_URL` may move it."""
    given = {"url_env": (f"{name.upper().replace('-', '_')}_BASE_URL",), **more}
    return Provider(name=name, codec="openai_chat", base_url=base_url, auth=_bearer(*env), docs=docs, **given)


def _messages(name: str, base_url: str, auth: KeyHeader, *, docs: str, **more: Any) -> Provider:
    """A service that speaks Anthropic's Messages API for models of its own: signatures are not asked for."""
    given = {"quirks": Quirks(unsigned_reasoning="send"), "root": "", "models": NO_LIST, **more}
    given.setdefault("url_env", (f"{name.upper().replace('-', '_')}_BASE_URL",))
    headers = ANTHROPIC_VERSION
    return Provider(
        name=name, codec="anthropic_messages", base_url=base_url, auth=auth, headers=headers, docs=docs, **given
    )


def _local(name: str, port: int, *env: str, docs: str, **more: Any) -> Provider:
    """A server on one's own machine that speaks OpenAI's chat API."""
    url, auth = f"http://127.0.0.1:{port}/v1", _bearer(*env, required=False)
    given = {"requirements": UNRESTRICTED, **more}
    return Provider(name=name, codec="openai_chat", base_url=url, auth=auth, port=port, docs=docs, **given)


GRAMMARS = frozenset({ConstraintKind.GRAMMAR})  # llama.cpp, tools/server/README.md: `grammar`
# vLLM and SGLang, "Structured Outputs": structural tags
TAGGED = frozenset({ConstraintKind.SCHEMA, ConstraintKind.TAGS})
SCHEMAS = frozenset({ConstraintKind.SCHEMA})  # Ollama: `format`; LM Studio: `response_format`

# ── those who have a wire of their own ───────────────────────────────────────

# the API refuses `reasoning_content` in past turns, its newer models refuse `max_tokens`, and it knows no `top_k`
OPENAI_QUIRKS = Quirks(
    reasoning_field="", rename={"max_tokens": "max_completion_tokens"}, omit=frozenset({"top_k"}), settings=ALL_SETTINGS
)
# docs.z.ai, platform.moonshot.ai, api-docs.deepseek.com: "thinking mode"
NO_THINKING = {"thinking": {"type": "disabled"}}
OPENAI_KEY = _bearer("OPENAI_API_KEY")
CLAUDE_QUIRKS = Quirks(cache="always")
MESSAGES_QUIRKS = Quirks(cache="always", settings=frozenset({"service_tier"}))
REGION = Setting("region", ("AWS_REGION", "AWS_DEFAULT_REGION"), default="us-east-1")
AWS_BEARER = _bearer("AWS_BEARER_TOKEN_BEDROCK")
BEDROCK_URL = "https://bedrock-runtime.{region}.amazonaws.com"
AZURE_KEY = KeyHeader(header="api-key", form="{key}", env=("AZURE_OPENAI_API_KEY", "AZURE_API_KEY"))
AZURE_DOCS = "https://learn.microsoft.com/azure/ai-foundry/openai/reference"

OWN: tuple[Provider, ...] = (
    Provider(
        name="openai", codec="openai_chat", typed=True, base_url="https://api.openai.com/v1", auth=OPENAI_KEY,
        quirks=OPENAI_QUIRKS, requirements=OPENAI_CHAT, url_env=("OPENAI_BASE_URL", "OPENAI_API_URL"),
        docs="https://platform.openai.com/docs/api-reference/chat",
    ),
    Provider(
        name="openai-responses", codec="openai_responses", typed=True, base_url="https://api.openai.com/v1",
        auth=OPENAI_KEY,
        url_env=("OPENAI_RESPONSES_API_URL", "OPENAI_BASE_URL"), aliases=("openai_responses",),
        docs="https://platform.openai.com/docs/api-reference/responses",
    ),
    Provider(
        name="anthropic", codec="anthropic_messages", typed=True, base_url="https://api.anthropic.com", root="",
        auth=KeyHeader(header="x-api-key", form="{key}", env=("ANTHROPIC_API_KEY",)),
        or_auth=(_bearer("ANTHROPIC_AUTH_TOKEN"),), tools=Tools.NATIVE, quirks=MESSAGES_QUIRKS,
        headers=ANTHROPIC_VERSION, signals=BETA_HEADER, models=ANTHROPIC_LIST, url_env=("ANTHROPIC_BASE_URL",),
        notes=("tokens of Claude subscriptions: they are for Anthropic's own clients",),
        docs="https://docs.anthropic.com/en/api/messages",
    ),
    Provider(
        name="gemini", codec="gemini", typed=True, root="/v1beta",
        base_url="https://generativelanguage.googleapis.com/v1beta",
        auth=KeyHeader(header="x-goog-api-key", form="{key}", env=("GEMINI_API_KEY", "GOOGLE_API_KEY")),
        quirks=Quirks(result_media="native"), models=GEMINI_LIST,
        url_env=("GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"), aliases=("googleai",),
        notes=("several candidates", "media in results before Gemini 3"),
        docs="https://ai.google.dev/api/generate-content",
    ),
    Provider(
        name="gemini-interactions", codec="gemini_interactions", typed=True, root="/v1beta",
        base_url="https://generativelanguage.googleapis.com/v1beta", tools=Tools.NATIVE, models=GEMINI_LIST,
        auth=KeyHeader(header="x-goog-api-key", form="{key}", env=("GEMINI_API_KEY", "GOOGLE_API_KEY")),
        url_env=("GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"), docs="https://ai.google.dev/gemini-api/docs/interactions",
    ),
    Provider(
        name="bedrock", codec="bedrock_converse", base_url=BEDROCK_URL, root="", auth=SigV4("bedrock"),
        or_auth=(AWS_BEARER,), settings=(REGION,), quirks=CLAUDE_QUIRKS, caches=Caches.NOTHING,
        models=NO_LIST, url_env=("AWS_ENDPOINT_URL_BEDROCK_RUNTIME",), aliases=("bedrock-converse", "aws"),
        notes=("tool_choice none (the tools are left out)", "cache markers only for Claude and Nova"),
        docs="https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html",
    ),
    Provider(
        name="bedrock-invoke", codec="bedrock_invoke", typed=True, base_url=BEDROCK_URL, root="", auth=SigV4("bedrock"),
        or_auth=(AWS_BEARER,), settings=(REGION,), tools=Tools.NATIVE, quirks=CLAUDE_QUIRKS, models=NO_LIST,
        url_env=("AWS_ENDPOINT_URL_BEDROCK_RUNTIME",), notes=("models other than Claude",),
        docs="https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html",
    ),
    Provider(
        name="ollama", codec="ollama_chat", base_url="http://127.0.0.1:11434", root="",
        auth=_bearer("OLLAMA_API_KEY", required=False), models=OLLAMA_LIST, url_env=("OLLAMA_HOST",), port=11434,
        constraints=SCHEMAS,
        quirks=Quirks(choices=AUTO),  # ollama#11171
        notes=("parallel_tool_calls",),
        docs="https://github.com/ollama/ollama/blob/main/docs/api.md",
    ),
    Provider(
        name="cohere", codec="cohere_chat", base_url="https://api.cohere.com", root="",
        auth=_bearer("COHERE_API_KEY", "CO_API_KEY"), models=COHERE_LIST, url_env=("COHERE_BASE_URL", "CO_API_URL"),
        notes=("a named tool_choice (the other tools are left out)",), docs="https://docs.cohere.com/reference/chat",
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
    ),
)  # fmt: skip

# ── those who speak OpenAI's or Anthropic's wire their own way ───────────────

DIALECTAL: tuple[Provider, ...] = (
    Provider(
        name="azure", codec="openai_chat", typed=True, root="/openai/v1", auth=AZURE_KEY,
        or_auth=(_bearer("AZURE_OPENAI_AD_TOKEN"),), quirks=OPENAI_QUIRKS, requirements=OPENAI_CHAT,
        url_env=("AZURE_OPENAI_ENDPOINT",), aliases=("azure-openai", "azure_openai"),
        variant=Variant("OPENAI_API_VERSION", "", "azure-deployments"), docs=AZURE_DOCS,
    ),
    Provider(
        name="azure-deployments", codec="openai_chat", root="",
        path="/openai/deployments/{model}/chat/completions", query={"api-version": "{api_version}"}, auth=AZURE_KEY,
        or_auth=(_bearer("AZURE_OPENAI_AD_TOKEN"),), quirks=OPENAI_QUIRKS, requirements=OPENAI_CHAT, models=NO_LIST,
        settings=(Setting("api_version", ("OPENAI_API_VERSION",)),), url_env=("AZURE_OPENAI_ENDPOINT",),
        notes=("a named tool_choice for models not of OpenAI (422, recorded)",), docs=AZURE_DOCS,
    ),
    _chat(
        "openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", requirements=OPENAI_CHAT,
        quirks=Quirks(
            reasoning_field="reasoning", empty_content="absent",  # openrouter.ai/docs/api-reference/parameters
            settings=words("cache_control logprobs modalities service_tier top_logprobs user verbosity"),
        ),
        headers={"x-title": "dragoman"},
        switches=(
            Switch("OPENROUTER_TOOLS", "tools", SwitchFormat.JSON_ARRAY),
            Switch("OPENROUTER_FALLBACK_MODELS", "models", SwitchFormat.NAMES, {"route": "fallback"}),
        ),
        notes=("errors come with status 200",), docs="https://openrouter.ai/docs/api-reference/chat-completion",
    ),
    _chat(
        "xai", "https://api.x.ai/v1", "XAI_API_KEY", url_env=("XAI_BASE_URL", "XAI_API_URL"),
        requirements=WireRequirements(names=WORD_NAMES, schema=schema_rules.XAI),
        quirks=Quirks(omit=frozenset({"top_k"}), settings=words("logprobs top_logprobs user")),
        docs="https://docs.x.ai/docs/api-reference",
    ),
    Provider(
        name="zai", codec="openai_chat", base_url="https://api.z.ai/api/paas/v4",
        auth=SignedKey(env=("ZAI_API_KEY", "ZHIPUAI_API_KEY")), url_env=("ZAI_API_URL", "ZAI_BASE_URL"),
        quirks=Quirks(choices=AUTO, omit=frozenset({"parallel_tool_calls", "top_k"}), thinking_off=NO_THINKING),
        aliases=("zhipu",), notes=("calls may bear the index -1 (recorded)",),
        docs="https://docs.z.ai/api-reference/llm/chat-completion",
    ),
    _chat(
        "minimax", "https://api.minimax.io/v1", "MINIMAX_API_KEY", url_env=("MINIMAX_API_URL", "MINIMAX_BASE_URL"),
        path="/text/chatcompletion_v2", models=NO_LIST,
        quirks=Quirks(omit=frozenset({"response_format", "parallel_tool_calls", "top_k"})),
        variant=Variant("MINIMAX_API_COMPAT", "anthropic", "minimax-anthropic"),
        notes=("errors come with status 200", "temperature 0", "models' names in other case"),
        docs="https://platform.minimax.io/docs/api-reference/text-openai-api",
    ),
    Provider(
        name="minimax-anthropic", codec="anthropic_messages", base_url="https://api.minimax.io/anthropic", root="",
        auth=_bearer("MINIMAX_API_KEY"), headers=ANTHROPIC_VERSION, models=NO_LIST,
        quirks=Quirks(unsigned_reasoning="send", omit=frozenset({"top_k", "stop_sequences"})),
        url_env=("MINIMAX_ANTHROPIC_BASE_URL",), notes=("errors come with status 200",),
        docs="https://platform.minimax.io/docs/api-reference/text-anthropic-api",
    ),
    _messages("zai-anthropic", "https://api.z.ai/api/anthropic", _bearer("ZAI_API_KEY", "ZHIPUAI_API_KEY"),
              docs="https://docs.z.ai/scenario-example/develop-tools/claude"),
    _messages("moonshot-anthropic", "https://api.moonshot.ai/anthropic", _bearer("MOONSHOT_API_KEY", "KIMI_API_KEY"),
              requirements=replace(REQUIREMENTS["anthropic_messages"], schema=schema_rules.MOONSHOT),
              docs="https://platform.moonshot.ai/docs/guide/agent-support"),
    _messages("deepseek-anthropic", "https://api.deepseek.com/anthropic",
              KeyHeader(header="x-api-key", form="{key}", env=("DEEPSEEK_API_KEY",)), notes=("media",),
              docs="https://api-docs.deepseek.com/guides/anthropic_api"),
    _messages("azure-anthropic", "https://{resource}.services.ai.azure.com/anthropic",
              KeyHeader(header="x-api-key", form="{key}", env=("ANTHROPIC_FOUNDRY_API_KEY",)), quirks=CLAUDE_QUIRKS,
              settings=(Setting("resource", ("ANTHROPIC_FOUNDRY_RESOURCE",)),), tools=Tools.NATIVE, typed=True,
              signals=BETA_HEADER,
              url_env=("ANTHROPIC_FOUNDRY_BASE_URL",),
              docs="https://learn.microsoft.com/azure/ai-foundry/foundry-models/how-to/use-foundry-models-claude"),
    Provider(
        name="xai-responses", codec="openai_responses", base_url="https://api.x.ai/v1", auth=_bearer("XAI_API_KEY"),
        url_env=("XAI_BASE_URL",), requirements=replace(REQUIREMENTS["openai_responses"], schema=schema_rules.XAI),
        docs="https://docs.x.ai/developers/model-capabilities/text/best-practices",
    ),
    Provider(
        name="vertex", codec="gemini", typed=True, root="", base_url="https://{location}-aiplatform.googleapis.com/v1beta1/projects"
        "/{project}/locations/{location}/publishers/google", quirks=Quirks(result_media="native"), models=NO_LIST,
        auth=_bearer("GOOGLE_OAUTH_ACCESS_TOKEN", "CLOUDSDK_AUTH_ACCESS_TOKEN"),
        settings=(
            Setting("project", ("GOOGLE_CLOUD_PROJECT", "VERTEXAI_PROJECT")),
            Setting("location", ("GOOGLE_CLOUD_LOCATION", "VERTEXAI_LOCATION"), default="us-central1"),
        ),
        url_env=("VERTEX_BASE_URL",), aliases=("vertexai", "vertex_ai"),
        notes=("fetching a token (gcloud auth print-access-token does)", "the location global (give its base URL)"),
        docs="https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference",
    ),
    _chat(
        "moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", "KIMI_API_KEY",
        url_env=("MOONSHOT_BASE_URL", "MOONSHOT_API_URL"),
        requirements=WireRequirements(names=WORD_NAMES, schema=schema_rules.MOONSHOT),
        quirks=Quirks(choices=AUTO_OR_NONE, omit=frozenset({"parallel_tool_calls", "top_k"}), thinking_off=NO_THINKING),
        notes=("a forced tool_choice while thinking (400)", "ids come again in later turns"),
        docs="https://platform.moonshot.ai/docs/api/tool-use",
    ),
    _chat(
        "github-copilot", "https://api.githubcopilot.com", "GITHUB_COPILOT_API_KEY", "COPILOT_GITHUB_TOKEN", root="",
        url_env=("COPILOT_API_BASE_URL", "GITHUB_COPILOT_BASE_URL", "COPILOT_API_URL"), requirements=OPENAI_CHAT,
        quirks=replace(OPENAI_QUIRKS, add={"store": False}),
        headers={"openai-intent": "conversation-edits", "editor-version": US, "editor-plugin-version": US},
        signals={"x-initiator": Signal.INITIATOR, "copilot-vision-request": Signal.VISION}, aliases=("copilot",),
        docs="https://docs.github.com/en/copilot",
    ),
    _chat(
        "github-models", "https://models.github.ai/inference", "GITHUB_TOKEN", root="", requirements=OPENAI_CHAT,
        quirks=Quirks(reasoning_field="", omit=frozenset({"top_k"})), url_env=("GITHUB_MODELS_BASE_URL",),
        aliases=("github",), notes=("anything since 30 July 2026: the service was retired (410)",),
        docs="https://docs.github.com/en/github-models",
    ),
    _chat(
        "mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", requirements=MISTRAL,
        quirks=Quirks(
            reasoning_field="", required_word="any", empty_content="absent", result_media="native",
            omit=frozenset({"stream_options", "top_k"}), rename={"seed": "random_seed"},
        ),
        docs="https://docs.mistral.ai/api/",
    ),
    _chat(
        "deepseek", "https://api.deepseek.com", "DEEPSEEK_API_KEY", root="",
        quirks=Quirks(content="text", omit=frozenset({"parallel_tool_calls", "top_k"}), thinking_off=NO_THINKING),
        notes=("a forced tool_choice while thinking (400)", "response_format json_schema"),
        docs="https://api-docs.deepseek.com/",
    ),
    _chat(
        "groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY",
        quirks=Quirks(reasoning_field="reasoning", omit=frozenset({"top_k", "logprobs", "logit_bias", "top_logprobs"})),
        notes=("names of messages", "it checks calls itself and answers 400 tool_use_failed"),
        docs="https://console.groq.com/docs/openai",
    ),
    _chat(
        "cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY",
        requirements=WireRequirements(names=WORD_NAMES, schema=schema_rules.CEREBRAS),
        quirks=Quirks(
            choices=AUTO_OR_NONE, reasoning_field="",
            omit=words("frequency_penalty logit_bias presence_penalty parallel_tool_calls service_tier top_k"),
        ),
        notes=("cache control",), docs="https://inference-docs.cerebras.ai/resources/openai",
    ),
    _chat(
        "perplexity", "https://api.perplexity.ai", "PERPLEXITY_API_KEY", "PPLX_API_KEY", root="", models=NO_LIST,
        tools=Tools.TEXT, requirements=WireRequirements(turns=Turns.ALTERNATING), quirks=Quirks(reasoning_field=""),
        docs="https://docs.perplexity.ai/api-reference/chat-completions-post",
    ),
    Provider(
        name="writer", codec="openai_chat", base_url="https://api.writer.com/v1", path="/chat",
        auth=_bearer("WRITER_API_KEY"), models=ModelList("/models", "models", "id"), url_env=("WRITER_BASE_URL",),
        quirks=Quirks(omit=frozenset({"parallel_tool_calls", "top_k"}), reasoning_field=""),
        docs="https://dev.writer.com/api-reference/completion-api/chat-completion",
    ),
    Provider(
        name="databricks", codec="openai_chat", root="/serving-endpoints", models=NO_LIST,
        auth=_bearer("DATABRICKS_TOKEN", "DATABRICKS_API_KEY"), url_env=("DATABRICKS_BASE_URL", "DATABRICKS_HOST"),
        quirks=Quirks(omit=frozenset({"stream_options"}), reasoning_field=""),
        docs="https://docs.databricks.com/aws/en/machine-learning/foundation-model-apis/api-reference",
    ),
    Provider(
        name="snowflake", codec="openai_chat", root="/api/v2/cortex/v1",
        base_url="https://{account}.snowflakecomputing.com/api/v2/cortex/v1",
        auth=_bearer("SNOWFLAKE_TOKEN", "SNOWFLAKE_PAT"), settings=(Setting("account", ("SNOWFLAKE_ACCOUNT",)),),
        models=NO_LIST, url_env=("SNOWFLAKE_BASE_URL",), requirements=replace(CHAT, schema=schema_rules.COHERE),
        quirks=Quirks(rename={"max_tokens": "max_completion_tokens"}, reasoning_field=""),
        notes=("tools for models other than OpenAI's and Claude",),
        docs="https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-rest-api",
    ),
    Provider(
        name="ollama-generate", codec="ollama_generate", base_url="http://127.0.0.1:11434", root="", tools=Tools.TEXT,
        auth=_bearer("OLLAMA_API_KEY", required=False), models=OLLAMA_LIST, url_env=("OLLAMA_HOST",), port=11434,
        constraints=SCHEMAS,
        notes=("roles: the conversation goes out as one text",),
        docs="https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-completion",
    ),
)  # fmt: skip

# ── those who speak OpenAI's wire as it is ───────────────────────────────────

PLAIN_CHAT: tuple[Provider, ...] = (
    _chat("together", "https://api.together.ai/v1", "TOGETHER_API_KEY", "TOGETHERAI_API_KEY",
          docs="https://docs.together.ai/reference/chat-completions-1"),
    _chat("fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY",
          docs="https://docs.fireworks.ai/api-reference/post-chatcompletions"),
    _chat("huggingface", "https://router.huggingface.co/v1", "HF_TOKEN", "HUGGINGFACE_API_KEY", aliases=("hf",),
          docs="https://huggingface.co/docs/inference-providers"),
    _chat("nvidia", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY", "NVIDIA_NIM_API_KEY", aliases=("nim",),
          docs="https://docs.api.nvidia.com/nim/reference/llm-apis"),
    _chat("alibaba", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY", "ALIBABA_API_KEY",
          url_env=("DASHSCOPE_BASE_URL", "ALIBABA_BASE_URL"), aliases=("dashscope",),
          quirks=Quirks(thinking_off={"enable_thinking": False}),
          notes=("file parts",), docs="https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai"),
    _chat("crusoe", "https://api.inference.crusoecloud.com/v1", "CRUSOE_API_KEY",
          docs="https://docs.crusoecloud.com/managed-inference/overview"),
    _chat("deepinfra", "https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY",
          docs="https://deepinfra.com/docs/openai_api"),
    _chat("nebius", "https://api.tokenfactory.nebius.com/v1", "NEBIUS_API_KEY",
          docs="https://docs.tokenfactory.nebius.com/api-reference/introduction"),
    _chat("novita", "https://api.novita.ai/v3/openai", "NOVITA_API_KEY", docs="https://novita.ai/docs"),
    _chat("sambanova", "https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY", docs="https://docs.sambanova.ai"),
    _chat("hyperbolic", "https://api.hyperbolic.xyz/v1", "HYPERBOLIC_API_KEY", docs="https://docs.hyperbolic.xyz"),
    _chat("baseten", "https://inference.baseten.co/v1", "BASETEN_API_KEY", docs="https://docs.baseten.co"),
    _chat("scaleway", "https://api.scaleway.ai/v1", "SCW_SECRET_KEY",
          docs="https://www.scaleway.com/en/docs/generative-apis/"),
    _chat("siliconflow", "https://api.siliconflow.com/v1", "SILICONFLOW_API_KEY", docs="https://docs.siliconflow.com"),
    _chat("volcengine", "https://ark.cn-beijing.volces.com/api/v3", "ARK_API_KEY", aliases=("ark", "doubao"),
          url_env=("ARK_BASE_URL", "VOLCENGINE_BASE_URL"), docs="https://www.volcengine.com/docs/82379"),
    _chat("stepfun", "https://api.stepfun.com/v1", "STEPFUN_API_KEY", docs="https://platform.stepfun.com/docs"),
    _chat("upstage", "https://api.upstage.ai/v1", "UPSTAGE_API_KEY", docs="https://console.upstage.ai/docs"),
    _chat("friendli", "https://api.friendli.ai/serverless/v1", "FRIENDLI_TOKEN", "FRIENDLI_API_KEY",
          aliases=("friendliai",), docs="https://friendli.ai/docs/openapi/serverless/chat-completions"),
    _chat("chutes", "https://llm.chutes.ai/v1", "CHUTES_API_KEY", docs="https://chutes.ai/docs"),
    _chat("vercel", "https://ai-gateway.vercel.sh/v1", "AI_GATEWAY_API_KEY", "VERCEL_AI_GATEWAY_API_KEY",
          aliases=("vercel-ai-gateway",), docs="https://vercel.com/docs/ai-gateway/openai-compat"),
    _chat("cloudflare", "https://api.cloudflare.com/client/v4/accounts/{account_id}/ai/v1", "CLOUDFLARE_API_TOKEN",
          "CLOUDFLARE_API_KEY", settings=(Setting("account_id", ("CLOUDFLARE_ACCOUNT_ID",)),), models=NO_LIST,
          docs="https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility/"),
    _chat("zai-coding", "https://api.z.ai/api/coding/paas/v4", "ZAI_CODING_API_KEY", "ZAI_API_KEY",
          quirks=Quirks(choices=AUTO, omit=frozenset({"parallel_tool_calls", "top_k"})),
          docs="https://docs.z.ai/devpack/overview"),
    _chat("gemini-openai", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY",
          "GOOGLE_API_KEY", requirements=WireRequirements(names=WORD_NAMES, schema=schema_rules.PORTABLE),
          quirks=Quirks(reasoning_field=""), docs="https://ai.google.dev/gemini-api/docs/openai"),
)  # fmt: skip

# ── servers of one's own ─────────────────────────────────────────────────────

LOCAL: tuple[Provider, ...] = (
    _local("llamacpp", 8080, "LLAMA_API_KEY", aliases=("llama.cpp", "llama-server"), constraints=GRAMMARS,
           requirements=WireRequirements(schema=schema_rules.LLAMACPP), notes=("tools without --jinja",),
           docs="https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md"),
    _local("vllm", 8000, "VLLM_API_KEY", constraints=TAGGED, quirks=Quirks(reasoning_field="reasoning"),
           notes=("tools without --enable-auto-tool-choice and --tool-call-parser",),
           docs="https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html"),
    _local("sglang", 30000, "SGLANG_API_KEY", constraints=TAGGED, notes=("tools without --tool-call-parser",),
           docs="https://docs.sglang.ai/basic_usage/openai_api_completions.html"),
    _local("lmstudio", 1234, "LMSTUDIO_API_KEY", aliases=("lm-studio",), constraints=SCHEMAS,
           docs="https://lmstudio.ai/docs/app/api/endpoints/openai"),
    _local("exo", 52415, "EXO_API_KEY", docs="https://github.com/exo-explore/exo",
           notes=("calls it did not read itself: they come as text (seeds.md b)",)),
    _local("litellm", 4000, "LITELLM_API_KEY", url_env=("LITELLM_BASE_URL",), requirements=CHAT,
           docs="https://docs.litellm.ai/docs/simple_proxy"),
    _local("mlx", 8080, "MLX_API_KEY", docs="https://github.com/ml-explore/mlx-lm/blob/main/mlx_lm/SERVER.md"),
    _local("koboldcpp", 5001, "KOBOLDCPP_API_KEY", docs="https://github.com/LostRuins/koboldcpp/wiki"),
    Provider(name="gpustack", codec="openai_chat", auth=_bearer("GPUSTACK_API_KEY", required=False),
             requirements=UNRESTRICTED, url_env=("GPUSTACK_BASE_URL", "GPUSTACK_SERVER_URL"), docs="https://docs.gpustack.ai"),
)  # fmt: skip
ANY = Provider(name="compatible", codec="openai_chat", aliases=("openai-compatible", "openai_compatible"))

ROWS: tuple[Provider, ...] = tuple(
    replace(row, endpoints=HAS.get(row.name, NOTHING)) for row in (*OWN, *DIALECTAL, *PLAIN_CHAT, *LOCAL, ANY)
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

_NO_KEY = _bearer(required=False)
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
