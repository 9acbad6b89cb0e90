"""The rows of SDKs and frameworks: variables where they read them, else the lines of code."""

from __future__ import annotations

from .spec import Client, Kind

OPENAI = {"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": "{key}"}
ANTHROPIC = {"ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_API_KEY": "{key}"}
OLLAMA = {"OLLAMA_HOST": "{url}"}
GOOGLE = {"GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_API_KEY": "{key}"}

LIBRARIES: tuple[Client, ...] = (
    Client(
        name="openai",
        title="OpenAI SDKs (Python, Node, and what is built on them)",
        kind=Kind.SDK,
        api=("openai_chat", "openai_responses"),
        source="github.com/openai/openai-python, README; github.com/openai/openai-node, src/client.ts",
        variables=OPENAI,
        code='OpenAI(base_url="{url}/v1", api_key="{key}")',
    ),
    Client(
        name="anthropic",
        title="Anthropic SDKs (Python, Node)",
        kind=Kind.SDK,
        api=("anthropic_messages",),
        source="github.com/anthropics/anthropic-sdk-python, src/anthropic/_client.py",
        variables=ANTHROPIC,
        code='Anthropic(base_url="{url}", api_key="{key}")',
    ),
    Client(
        name="ollama",
        title="Ollama SDKs and the ollama command",
        kind=Kind.SDK,
        api=("ollama_chat", "ollama_generate"),
        source="github.com/ollama/ollama-python, ollama/_client.py; ollama-js takes {host} in its constructor",
        variables=OLLAMA,
        code='Client(host="{url}")',
    ),
    Client(
        name="google-genai",
        title="Google Gen AI SDKs (Python, Node)",
        kind=Kind.SDK,
        api=("gemini",),
        source="github.com/googleapis/python-genai, google/genai/_base_url.py",
        variables=GOOGLE,
        code='genai.Client(api_key="{key}", http_options={"base_url": "{url}"})',
    ),
    Client(
        name="mistralai",
        title="Mistral SDK",
        kind=Kind.SDK,
        api=("openai_chat",),
        source="github.com/mistralai/client-python, README, Server Selection",
        code='Mistral(server_url="{url}", api_key="{key}")',
        note="its streams want every call in one delta, which is how this gateway sends them",
    ),
    Client(
        name="ai-sdk",
        title="AI SDK (npm ai)",
        kind=Kind.SDK,
        api=("openai_chat", "openai_responses", "anthropic_messages", "gemini"),
        source="ai-sdk.dev/providers/openai-compatible-providers",
        code=(
            'import { createOpenAICompatible } from "@ai-sdk/openai-compatible";\n'
            'const gateway = createOpenAICompatible({ name: "dragoman", baseURL: "{url}/v1", apiKey: "{key}" });\n'
            'const model = gateway("{model}");'
        ),
    ),
    Client(
        name="langchain",
        title="LangChain and LangGraph",
        kind=Kind.FRAMEWORK,
        api=("openai_chat", "openai_responses", "anthropic_messages", "ollama_chat"),
        source="docs.langchain.com/oss/python/integrations/chat",
        variables={**OPENAI, **ANTHROPIC},
        code=(
            'ChatOpenAI(model="{model}", base_url="{url}/v1", api_key="{key}")\n'
            'ChatAnthropic(model="{model}", base_url="{url}", api_key="{key}")\n'
            'ChatOllama(model="{model}", base_url="{url}")'
        ),
    ),
    Client(
        name="litellm",
        title="LiteLLM",
        kind=Kind.FRAMEWORK,
        api=("openai_chat", "anthropic_messages", "ollama_chat", "gemini"),
        source="docs.litellm.ai/docs/providers/openai_compatible",
        code='litellm.completion(model="openai/{model}", api_base="{url}/v1", api_key="{key}", messages=messages)',
        note="hosted_vllm/, anthropic/, ollama_chat/ and gemini/ reach the gateway too, the last three without /v1",
    ),
    Client(
        name="pydantic-ai",
        title="Pydantic AI",
        kind=Kind.FRAMEWORK,
        api=("openai_chat", "openai_responses", "anthropic_messages", "gemini"),
        source="ai.pydantic.dev/models/openai",
        variables=OPENAI,
        code=(
            'OpenAIChatModel("{model}", provider=OpenAIProvider(base_url="{url}/v1", api_key="{key}"))\n'
            'AnthropicModel("{model}", provider=AnthropicProvider(base_url="{url}", api_key="{key}"))'
        ),
    ),
    Client(
        name="openai-agents",
        title="OpenAI Agents SDK",
        kind=Kind.FRAMEWORK,
        api=("openai_responses", "openai_chat"),
        source="openai.github.io/openai-agents-python/models",
        variables={**OPENAI, "OPENAI_AGENTS_DISABLE_TRACING": "1"},
        code='Agent(name="…", model="{model}")',
        note="its traces go to OpenAI unless they are switched off, as here",
    ),
    Client(
        name="smolagents",
        title="smolagents",
        kind=Kind.FRAMEWORK,
        api=("openai_chat",),
        source="huggingface.co/docs/smolagents/reference/models",
        code='OpenAIModel(model_id="{model}", api_base="{url}/v1", api_key="{key}")',
    ),
    Client(
        name="instructor",
        title="Instructor",
        kind=Kind.FRAMEWORK,
        api=("openai_chat", "anthropic_messages"),
        source="python.useinstructor.com/integrations/openai",
        variables=OPENAI,
        code='instructor.from_openai(OpenAI(base_url="{url}/v1", api_key="{key}"))',
    ),
)
