"""Providers that speak OpenAI's or Anthropic's wire their own way: one frozen row each.

Rows and nothing else; `spec.py` says what the fields mean, `rows.py` holds all of them.
Sources: seeds.md (b); peers.md §4 (names of variables); the recorded addresses of wire-quirks.md; each row's `docs`.
"""

from __future__ import annotations

from dataclasses import replace

from ..codecs.shared.spec import Quirks
from ..conversation.requirements import CHAT, MISTRAL, OPENAI_CHAT, REQUIREMENTS, WORD_NAMES, Turns, WireRequirements
from ..schema import api_rules as schema_rules
from ..schema.vocabulary import words
from .auth import KeyHeader, Setting, SignedKey
from .row_forms import (
    ANTHROPIC_VERSION,
    AUTO,
    AUTO_OR_NONE,
    AZURE_DOCS,
    AZURE_KEY,
    BETA_HEADER,
    CLAUDE_QUIRKS,
    NO_THINKING,
    OPENAI_QUIRKS,
    SCHEMAS,
    US,
    bearer,
    chat,
    messages,
    others,
    recorded,
    sdk_source,
    vendor_docs,
)
from .spec import NO_LIST, OLLAMA_LIST, ModelList, Provider, Signal, Switch, SwitchFormat, Tools, Variant

DIALECTAL: tuple[Provider, ...] = (
    Provider(
        name="azure", codec="openai_chat", typed=True, root="/openai/v1", auth=AZURE_KEY,
        or_auth=(bearer("AZURE_OPENAI_AD_TOKEN"),), quirks=OPENAI_QUIRKS, requirements=OPENAI_CHAT,
        url_env=("AZURE_OPENAI_ENDPOINT",), aliases=("azure-openai", "azure_openai"),
        variant=Variant("OPENAI_API_VERSION", "", "azure-deployments"), docs=AZURE_DOCS,
        evidence=(sdk_source("openai 3.54.0, lib/azure.py"), others("litellm 1.106.2, llms/azure_ai/common_utils.py"),),
    ),
    Provider(
        name="azure-deployments", codec="openai_chat", root="",
        path="/openai/deployments/{model}/chat/completions", query={"api-version": "{api_version}"}, auth=AZURE_KEY,
        or_auth=(bearer("AZURE_OPENAI_AD_TOKEN"),), quirks=OPENAI_QUIRKS, requirements=OPENAI_CHAT, models=NO_LIST,
        settings=(Setting("api_version", ("OPENAI_API_VERSION",)),), url_env=("AZURE_OPENAI_ENDPOINT",),
        notes=("a named tool_choice for models not of OpenAI (422, recorded)",), docs=AZURE_DOCS,
        evidence=(recorded("shelvick-test.cognitiveservices.azure.com/openai/deployments"),
                  sdk_source("openai 3.54.0, lib/azure.py"),),
    ),
    chat(
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
        evidence=(others("litellm 1.106.2, main.py"),),
    ),
    chat(
        "xai", "https://api.x.ai/v1", "XAI_API_KEY", url_env=("XAI_BASE_URL", "XAI_API_URL"),
        requirements=WireRequirements(names=WORD_NAMES, schema=schema_rules.XAI),
        quirks=Quirks(omit=frozenset({"top_k"}), settings=words("logprobs top_logprobs user")),
        docs="https://docs.x.ai/docs/api-reference",
        evidence=(recorded("api.x.ai/v1/chat/completions"),),
    ),
    Provider(
        name="zai", codec="openai_chat", base_url="https://api.z.ai/api/paas/v4",
        auth=SignedKey(env=("ZAI_API_KEY", "ZHIPUAI_API_KEY")), url_env=("ZAI_API_URL", "ZAI_BASE_URL"),
        quirks=Quirks(choices=AUTO, omit=frozenset({"parallel_tool_calls", "top_k"}), thinking_off=NO_THINKING),
        aliases=("zhipu",), notes=("calls may bear the index -1 (recorded)",),
        docs="https://docs.z.ai/api-reference/llm/chat-completion",
        evidence=(recorded("api.z.ai/api/paas/v4/chat/completions"),),
    ),
    chat(
        "minimax", "https://api.minimax.io/v1", "MINIMAX_API_KEY", url_env=("MINIMAX_API_URL", "MINIMAX_BASE_URL"),
        quirks=Quirks(omit=frozenset({"response_format", "parallel_tool_calls", "top_k"})),
        variant=Variant("MINIMAX_API_COMPAT", "anthropic", "minimax-anthropic"),
        notes=("errors come with status 200", "temperature 0", "models' names in other case"),
        docs="https://platform.minimax.io/docs/api-reference/text-openai-api",
        evidence=(others("litellm 1.106.2, llms/minimax/chat/transformation.py"),),
    ),
    Provider(
        name="minimax-anthropic", codec="anthropic_messages", base_url="https://api.minimax.io/anthropic", root="",
        auth=bearer("MINIMAX_API_KEY"), headers=ANTHROPIC_VERSION, models=NO_LIST,
        quirks=Quirks(unsigned_reasoning="send", omit=frozenset({"top_k", "stop_sequences"})),
        url_env=("MINIMAX_ANTHROPIC_BASE_URL",), notes=("errors come with status 200",),
        docs="https://platform.minimax.io/docs/api-reference/text-anthropic-api",
        evidence=(others("litellm 1.106.2, llms/minimax/messages/transformation.py"),),
    ),
    messages("zai-anthropic", "https://api.z.ai/api/anthropic", bearer("ZAI_API_KEY", "ZHIPUAI_API_KEY"),
              docs="https://docs.z.ai/scenario-example/develop-tools/claude",
             evidence=(others("github: settings of coding agents (ANTHROPIC_BASE_URL=https://api.z.ai/api/anthropic)"),)),
    messages("moonshot-anthropic", "https://api.moonshot.ai/anthropic", bearer("MOONSHOT_API_KEY", "KIMI_API_KEY"),
              requirements=replace(REQUIREMENTS["anthropic_messages"], schema=schema_rules.MOONSHOT),
              docs="https://platform.moonshot.ai/docs/guide/agent-support",
             evidence=(others("developersdigest.tech/reference/api-compatibility/moonshot (quotes the vendor)"),)),
    messages("deepseek-anthropic", "https://api.deepseek.com/anthropic",
              KeyHeader(header="x-api-key", form="{key}", env=("DEEPSEEK_API_KEY",)), notes=("media",),
              docs="https://api-docs.deepseek.com/guides/anthropic_api",
             evidence=(others("litellm 1.106.2, llms/deepseek/messages/transformation.py"),)),
    messages("azure-anthropic", "https://{resource}.services.ai.azure.com/anthropic",
              KeyHeader(header="x-api-key", form="{key}", env=("ANTHROPIC_FOUNDRY_API_KEY",)), quirks=CLAUDE_QUIRKS,
              settings=(Setting("resource", ("ANTHROPIC_FOUNDRY_RESOURCE",)),), tools=Tools.NATIVE, typed=True,
              signals=BETA_HEADER,
              url_env=("ANTHROPIC_FOUNDRY_BASE_URL",),
              docs="https://learn.microsoft.com/azure/ai-foundry/foundry-models/how-to/use-foundry-models-claude",
             evidence=(recorded("shelvick-test.services.ai.azure.com/anthropic/v1/messages"),
                       sdk_source("anthropic 2.12.0, lib/foundry.py"),)),
    Provider(
        name="xai-responses", codec="openai_responses", base_url="https://api.x.ai/v1", auth=bearer("XAI_API_KEY"),
        url_env=("XAI_BASE_URL",), requirements=replace(REQUIREMENTS["openai_responses"], schema=schema_rules.XAI),
        docs="https://docs.x.ai/developers/model-capabilities/text/best-practices",
        evidence=(recorded("api.x.ai/v1/responses"),),
    ),
    Provider(
        name="deepseek-responses", codec="openai_responses", base_url="https://api.deepseek.com", root="",
        auth=bearer("DEEPSEEK_API_KEY"), url_env=("DEEPSEEK_BASE_URL",),
        notes=("a forced tool_choice while thinking (400)", "calls between reasoning and result (400, recorded)"),
        docs="https://api-docs.deepseek.com/",
        evidence=(recorded("api.deepseek.com/responses"),),
    ),
    chat(
        "moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", "KIMI_API_KEY",
        url_env=("MOONSHOT_BASE_URL", "MOONSHOT_API_URL"),
        requirements=WireRequirements(names=WORD_NAMES, schema=schema_rules.MOONSHOT),
        quirks=Quirks(choices=AUTO_OR_NONE, omit=frozenset({"parallel_tool_calls", "top_k"}), thinking_off=NO_THINKING),
        notes=("a forced tool_choice while thinking (400)", "ids come again in later turns"),
        docs="https://platform.moonshot.ai/docs/api/tool-use",
        evidence=(others("litellm 1.106.2, llms/moonshot/chat/transformation.py"),),
    ),
    chat(
        "github-copilot", "https://api.githubcopilot.com", "GITHUB_COPILOT_API_KEY", "COPILOT_GITHUB_TOKEN", root="",
        url_env=("COPILOT_API_BASE_URL", "GITHUB_COPILOT_BASE_URL", "COPILOT_API_URL"), requirements=OPENAI_CHAT,
        quirks=replace(OPENAI_QUIRKS, add={"store": False}),
        headers={"openai-intent": "conversation-edits", "editor-version": US, "editor-plugin-version": US},
        signals={"x-initiator": Signal.INITIATOR, "copilot-vision-request": Signal.VISION}, aliases=("copilot",),
        docs="https://docs.github.com/en/copilot",
        evidence=(others("litellm 1.106.2, llms/github_copilot/common_utils.py"),),
    ),
    chat(
        "github-models", "https://models.github.ai/inference", "GITHUB_TOKEN", root="", requirements=OPENAI_CHAT,
        quirks=Quirks(reasoning_field="", omit=frozenset({"top_k"})), url_env=("GITHUB_MODELS_BASE_URL",),
        aliases=("github",), notes=("anything since 30 July 2026: the service was retired (410)",),
        docs="https://docs.github.com/en/github-models",
        evidence=(others("github: clients of GitHub Models (models.github.ai/inference)"),),
    ),
    chat(
        "mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", requirements=MISTRAL,
        quirks=Quirks(
            reasoning_field="", required_word="any", empty_content="absent", result_media="native",
            omit=frozenset({"stream_options", "top_k"}), rename={"seed": "random_seed"},
        ),
        docs="https://docs.mistral.ai/api/",
        evidence=(recorded("api.mistral.ai/v1/chat/completions"), sdk_source("mistralai 3.7.0, sdkconfiguration.py"),),
    ),
    chat(
        "deepseek", "https://api.deepseek.com", "DEEPSEEK_API_KEY", root="",
        quirks=Quirks(content="text", omit=frozenset({"parallel_tool_calls", "top_k"}), thinking_off=NO_THINKING),
        notes=("a forced tool_choice while thinking (400)", "response_format json_schema"),
        docs="https://api-docs.deepseek.com/",
        evidence=(recorded("api.deepseek.com/chat/completions"),),
    ),
    chat(
        "groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY",
        quirks=Quirks(reasoning_field="reasoning", omit=frozenset({"top_k", "logprobs", "logit_bias", "top_logprobs"})),
        notes=("names of messages", "it checks calls itself and answers 400 tool_use_failed"),
        docs="https://console.groq.com/docs/openai",
        evidence=(recorded("api.groq.com/openai/v1/chat/completions"), sdk_source("groq 1.7.0, _client.py"),),
    ),
    chat(
        "cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY",
        requirements=WireRequirements(names=WORD_NAMES, schema=schema_rules.CEREBRAS),
        quirks=Quirks(
            choices=AUTO_OR_NONE, reasoning_field="",
            omit=words("frequency_penalty logit_bias presence_penalty parallel_tool_calls service_tier top_k"),
        ),
        notes=("cache control",), docs="https://inference-docs.cerebras.ai/resources/openai",
        evidence=(recorded("api.cerebras.ai/v1/chat/completions"),),
    ),
    chat(
        "perplexity", "https://api.perplexity.ai", "PERPLEXITY_API_KEY", "PPLX_API_KEY", root="", models=NO_LIST,
        tools=Tools.TEXT, requirements=WireRequirements(turns=Turns.ALTERNATING), quirks=Quirks(reasoning_field=""),
        docs="https://docs.perplexity.ai/api-reference/chat-completions-post",
        evidence=(others("litellm 1.106.2, constants.py"),),
    ),
    Provider(
        name="writer", codec="openai_chat", base_url="https://api.writer.com/v1", path="/chat",
        auth=bearer("WRITER_API_KEY"), models=ModelList("/models", "models", "id"), url_env=("WRITER_BASE_URL",),
        quirks=Quirks(omit=frozenset({"parallel_tool_calls", "top_k"}), reasoning_field=""),
        docs="https://dev.writer.com/api-reference/completion-api/chat-completion",
        evidence=(recorded("api.writer.com/v1/chat"),),
    ),
    Provider(
        name="databricks", codec="openai_chat", root="/serving-endpoints", models=NO_LIST,
        auth=bearer("DATABRICKS_TOKEN", "DATABRICKS_API_KEY"), url_env=("DATABRICKS_BASE_URL", "DATABRICKS_HOST"),
        quirks=Quirks(omit=frozenset({"stream_options"}), reasoning_field=""),
        docs="https://docs.databricks.com/aws/en/machine-learning/foundation-model-apis/api-reference",
        evidence=(recorded("adb-138962681435081.1.azuredatabricks.net/serving-endpoints"),),
    ),
    Provider(
        name="snowflake", codec="openai_chat", root="/api/v2/cortex/v1",
        base_url="https://{account}.snowflakecomputing.com/api/v2/cortex/v1",
        auth=bearer("SNOWFLAKE_TOKEN", "SNOWFLAKE_PAT"), settings=(Setting("account", ("SNOWFLAKE_ACCOUNT",)),),
        models=NO_LIST, url_env=("SNOWFLAKE_BASE_URL",), requirements=replace(CHAT, schema=schema_rules.COHERE),
        quirks=Quirks(rename={"max_tokens": "max_completion_tokens"}, reasoning_field=""),
        notes=("tools for models other than OpenAI's and Claude",),
        docs="https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-rest-api",
        evidence=(recorded("myorg-myaccount.snowflakecomputing.com/api/v2/cortex/v1"),
                  vendor_docs("https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-rest-api"),),
    ),
    Provider(
        name="ollama-generate", codec="ollama_generate", base_url="http://127.0.0.1:11434", root="", tools=Tools.TEXT,
        auth=bearer("OLLAMA_API_KEY", required=False), models=OLLAMA_LIST, url_env=("OLLAMA_HOST",), port=11434,
        constraints=SCHEMAS,
        notes=("roles: the conversation goes out as one text",),
        docs="https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-completion",
        evidence=(sdk_source("ollama 0.6.3, _client.py"),),
    ),
)  # fmt: skip
