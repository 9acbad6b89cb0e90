"""The programs that are run: where each comes from, and how it is started with a task.

Data only.  Settings are not here: they come from `dragoman connect NAME --write`, which is what is being tried.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

NODE = "node@22"
TASK = "{task}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """An agent program.

    settings   its row of `dragoman connect`;  packages  what is installed, versions pinned
    argv       how it is started;  environ  what keeps it quiet and offline
    python     the interpreter it needs where the usual one is too old
    api        the API it is to speak, where that is not its first
    changes    (file in the home, old, new): what is changed in the settings to try something else; with "" as old,
               new is put at the end; {url}, {work} and {bin} stand for the gateway, the folders of work and of commands
    folder     where it is installed, when it is not the one of its settings
    tools      it has some; without, it takes files out of the text
    """

    name: str
    settings: str
    registry: str
    packages: tuple[str, ...]
    argv: tuple[str, ...]
    environ: dict[str, str] = field(default_factory=dict)
    python: str = ""
    api: str = ""
    changes: tuple[tuple[str, str, str], ...] = ()
    folder: str = ""
    tools: bool = True
    seconds: int = 120


AGENTS: tuple[Program, ...] = (
    Program(name="pi", settings="pi", registry="npm", packages=("@mariozechner/pi-coding-agent@0.73.1",),
            argv=("pi", "-p", TASK), environ={"PI_OFFLINE": "1"}),
    Program(name="codex", settings="codex", registry="npm", packages=("@openai/codex@0.169.0",),
            # The sandbox needs rights of the kernel that containers lack.
            argv=("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", TASK)),
    Program(name="opencode", settings="opencode", registry="npm", packages=("opencode-ai@1.18.33",),
            argv=("opencode", "run", "--auto", TASK), environ={"OPENCODE_DISABLE_AUTOUPDATE": "1"}),
    Program(name="claude-code", settings="claude-code", registry="npm", packages=("@anthropic-ai/claude-code@2.1.197",),
            argv=("claude", "-p", "--permission-mode", "acceptEdits", TASK)),
    Program(name="gemini-cli", settings="gemini-cli", registry="npm", packages=("@google/gemini-cli@0.61.0",),
            argv=("gemini", "-y", "--skip-trust", "-p", TASK)),
    Program(name="qwen-code", settings="qwen-code", registry="npm", packages=("@qwen-code/qwen-code@0.24.4",),
            argv=("qwen", "-y", "-p", TASK)),
    Program(name="cline", settings="cline", registry="npm", packages=("cline@3.0.65",),
            argv=("cline", "-y", TASK)),
    Program(name="continue", settings="continue", registry="npm", packages=("@continuedev/cli@1.5.47",),
            argv=("cn", "--auto", "-p", TASK), environ={"CONTINUE_TELEMETRY_ENABLED": "0"}),
    Program(name="kilocode", settings="kilocode", registry="npm", packages=("@kilocode/cli@7.7.7",),
            argv=("kilo", "run", "--auto", TASK)),
    Program(name="grok-cli", settings="grok-cli", registry="npm", packages=("@vibe-kit/grok-cli@0.0.34",),
            argv=("grok", "-p", TASK)),
    Program(name="llm", settings="llm", registry="pypi", packages=("llm==0.36",),
            argv=("llm", "-m", "dragoman", "--functions", "{functions}", TASK)),
    Program(name="mini-swe-agent", settings="mini-swe-agent", registry="pypi",
            packages=("mini-swe-agent==2.4.6", "mcp>=2"),
            argv=("mini", "--yolo", "--exit-immediately", "-t", TASK), environ={"MSWEA_SILENT_STARTUP": "1"}),
    Program(name="gptme", settings="gptme", registry="pypi", packages=("gptme==0.35.1",),
            argv=("gptme", "--non-interactive", "--tool-format", "tool", TASK)),
    Program(name="open-interpreter", settings="open-interpreter", registry="pypi",
            packages=("open-interpreter==0.4.3", "setuptools<80"), argv=("interpreter", "-y", "--stdin"),
            environ={"ANONYMIZED_TELEMETRY": "False", "DISABLE_TELEMETRY": "true"}),
    Program(name="aider", settings="aider", registry="pypi", packages=("aider-chat==0.86.2",),
            argv=("aider", "--yes-always", "--no-git", "--no-show-model-warnings", "--no-check-update",
                  "--message", TASK, "{name}"),
            tools=False),
    Program(name="mistral-vibe", settings="mistral-vibe", registry="pypi", packages=("mistral-vibe==3.0.2",),
            python="python3.12", argv=("vibe", "--auto-approve", "-p", TASK)),
    Program(name="copilot", settings="copilot", registry="npm", packages=("@github/copilot@1.0.102",),
            argv=("copilot", "--allow-all-tools", "--allow-all-paths", "-p", TASK),
            environ={"COPILOT_AUTO_UPDATE": "false", "COPILOT_OFFLINE": "true"}),
    Program(name="nanocoder", settings="nanocoder", registry="npm", packages=("@nanocollective/nanocoder@1.30.0",),
            argv=("nanocoder", "--provider", "Dragoman", "--model", "weak", "--mode", "yolo", "--trust-directory",
                  "--plain", "run", TASK)),
    Program(name="shell-gpt", settings="shell-gpt", registry="pypi", packages=("shell-gpt==1.5.1", "click"),
            argv=("sgpt", "--no-interaction", TASK)),
    Program(name="openhands", settings="openhands", registry="pypi", packages=("openhands==1.16.0",),
            python="python3.12", argv=("openhands", "--headless", "--override-with-envs", "-t", TASK),
            environ={"LITELLM_LOCAL_MODEL_COST_MAP": "True"}, seconds=240),
    Program(name="kimi-cli", settings="kimi-cli", registry="pypi", packages=("kimi-cli==1.49.0",),
            python="python3.13", argv=("kimi", "--print", "--yolo", "-c", TASK)),
)  # fmt: skip

_OPENCODE = ".config/opencode/opencode.json"
_FILES_SERVER = "@modelcontextprotocol/server-filesystem@2026.8.31"
_SERVER = "{bin}/mcp-server-filesystem"
API_NAMES = {
    "openai_chat": "chat completions",
    "openai_responses": "responses",
    "anthropic_messages": "Anthropic messages",
    "gemini": "Gemini",
    "ollama_chat": "Ollama chat",
}


def _as(name: str, api: str) -> Program:
    """The program of that name over another API."""
    return replace(_named(name), name=f"{name} · {API_NAMES[api]}", api=api)


def _with_mcp(name: str, change: tuple[str, str, str]) -> Program:
    """The program of that name, which has to write with the tool of an MCP server."""
    row = _named(name)
    return replace(
        row, name=f"{name} · MCP", folder=f"{name}-mcp", packages=(*row.packages, _FILES_SERVER), changes=(change,)
    )


def _named(name: str) -> Program:
    return next(row for row in AGENTS if row.name == name)


OTHERS: tuple[Program, ...] = (
    *(_as("pi", api) for api in ("openai_responses", "anthropic_messages", "gemini")),
    *(_as("opencode", api) for api in ("openai_responses", "anthropic_messages", "gemini")),
    *(_as("qwen-code", api) for api in ("anthropic_messages", "gemini")),
    _as("continue", "anthropic_messages"),
    *(_as("copilot", api) for api in ("openai_responses", "anthropic_messages")),
    replace(_named("codex"), name="codex · as Ollama", environ={"CODEX_OSS_BASE_URL": "{url}/v1"},
            argv=("codex", "exec", "--oss", "--local-provider", "ollama", "-m", "{model}", "--skip-git-repo-check",
                  "--dangerously-bypass-approvals-and-sandbox", TASK)),
    _with_mcp("codex", (".codex/config.toml", "",
              f'\n[mcp_servers.files]\ncommand = "{_SERVER}"\nargs = ["{{work}}"]\n')),
    _with_mcp("opencode", (_OPENCODE, '"provider":', '"mcp": {"files": {"type": "local", '
              f'"command": ["{_SERVER}", "{{work}}"]}}}}, "tools": {{"write": false, "edit": false}}, "provider":')),
    _with_mcp("gemini-cli", (".gemini/settings.json", '"security":',
              '"tools": {"exclude": ["write_file"]}, "mcpServers": {"files": '
              f'{{"command": "{_SERVER}", "args": ["{{work}}"], "trust": true}}}}, "security":')),
)  # fmt: skip
"""The same programs over other APIs of theirs: for the gateway's sake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """An SDK or framework: what is installed, and the script of `clients/sdks` that uses it.

    version    the packages whose versions the table tells
    environ    what keeps it quiet and offline
    python     the interpreter it needs where the usual one is too old
    folder     where it is installed, when it is not named like its script
    seconds    how long its script may take
    """

    name: str
    registry: str
    packages: tuple[str, ...]
    script: str
    version: str
    environ: dict[str, str] = field(default_factory=dict)
    python: str = ""
    folder: str = ""
    seconds: int = 300


LIBRARIES: tuple[Library, ...] = (
    Library(name="OpenAI SDK", registry="pypi", packages=("openai",), script="openai_sdk.py", version="openai"),
    Library(name="Anthropic SDK", registry="pypi", packages=("anthropic",), script="anthropic_sdk.py",
            version="anthropic"),
    Library(name="Ollama SDK", registry="pypi", packages=("ollama",), script="ollama_sdk.py", version="ollama"),
    Library(name="Google Gen AI SDK", registry="pypi", packages=("google-genai",), script="google_sdk.py",
            version="google-genai"),
    Library(name="LangChain", registry="pypi",
            packages=("langchain", "langchain-openai", "langchain-anthropic", "langchain-ollama"),
            script="langchain_sdk.py", version="langchain-core"),
    Library(name="LiteLLM", registry="pypi", packages=("litellm", "mcp>=2"), script="litellm_sdk.py",
            version="litellm", environ={"LITELLM_LOCAL_MODEL_COST_MAP": "True"}),
    Library(name="Pydantic AI", registry="pypi",
            packages=("pydantic-ai-slim[openai,anthropic,google]", "anthropic<2"), script="pydantic_ai_sdk.py",
            version="pydantic-ai-slim"),
    Library(name="OpenAI Agents", registry="pypi", packages=("openai-agents",), script="openai_agents_sdk.py",
            version="openai-agents"),
    Library(name="Mistral SDK", registry="pypi", packages=("mistralai",), script="mistral_sdk.py", version="mistralai"),
    Library(name="SDKs for Node", registry="npm",
            packages=("openai@7", "@anthropic-ai/sdk@1", "ollama", "@google/genai@3"), script="node_sdks.mjs",
            version="openai, @anthropic-ai/sdk, ollama, @google/genai"),
    Library(name="AI SDK", registry="npm",
            packages=("ai@7", "@ai-sdk/openai", "@ai-sdk/anthropic", "@ai-sdk/openai-compatible", "@ai-sdk/google",
                      "zod"),
            script="ai.mjs", version="ai"),
    Library(name="AI SDK 6", registry="npm",
            packages=("ai@6", "@ai-sdk/openai@3", "@ai-sdk/anthropic@3", "@ai-sdk/openai-compatible@2",
                      "@ai-sdk/google@3", "zod"),
            script="ai.mjs", version="ai", folder="ai_6"),
    Library(name="AI SDK, Ollama", registry="npm", packages=("ai@7", "ai-sdk-ollama", "zod@4"),
            script="ai_ollama.mjs", version="ai-sdk-ollama"),
    Library(name="Instructor", registry="pypi", packages=("instructor", "anthropic"), script="instructor_sdk.py",
            version="instructor"),
    Library(name="smolagents", registry="pypi", packages=("smolagents[openai]",), script="smolagents_sdk.py",
            version="smolagents"),
    Library(name="LangChain for Node", registry="npm",
            packages=("langchain", "@langchain/core", "@langchain/langgraph", "@langchain/openai",
                      "@langchain/anthropic", "@langchain/ollama", "zod"),
            script="langchain_node.mjs", version="langchain"),
    Library(name="OpenAI Agents for Node", registry="npm", packages=("@openai/agents", "zod"),
            script="openai_agents_node.mjs", version="@openai/agents"),
    Library(name="LlamaIndex", registry="pypi",
            packages=("llama-index-core", "llama-index-llms-openai-like", "llama-index-llms-anthropic",
                      "llama-index-llms-ollama", "anthropic<1"),
            script="llama_index_sdk.py", version="llama-index-core"),
    Library(name="DSPy", registry="pypi", packages=("dspy",), script="dspy_sdk.py", version="dspy",
            environ={"LITELLM_LOCAL_MODEL_COST_MAP": "True"}),
    Library(name="Haystack", registry="pypi", packages=("haystack-ai",), script="haystack_sdk.py",
            version="haystack-ai", environ={"HAYSTACK_TELEMETRY_ENABLED": "False"}),
    Library(name="Strands Agents", registry="pypi", packages=("strands-agents[openai,anthropic,ollama,gemini]",),
            script="strands_sdk.py", version="strands-agents"),
    Library(name="Agno", registry="pypi", packages=("agno", "openai", "anthropic", "ollama", "google-genai"),
            script="agno_sdk.py", version="agno"),
    Library(name="AutoGen", registry="pypi",
            packages=("autogen-agentchat", "autogen-ext[openai,anthropic,ollama]", "anthropic<1"),
            script="autogen_sdk.py", version="autogen-agentchat"),
    Library(name="Agent Framework", registry="pypi", packages=("agent-framework-core", "agent-framework-openai"),
            script="agent_framework_sdk.py", version="agent-framework-core"),
    Library(name="Semantic Kernel", registry="pypi", packages=("semantic-kernel",), script="semantic_kernel_sdk.py",
            version="semantic-kernel"),
    Library(name="Google ADK", registry="pypi", packages=("google-adk", "litellm", "mcp"), script="google_adk_sdk.py",
            version="google-adk",
            environ={"LITELLM_LOCAL_MODEL_COST_MAP": "True", "GEMINI_API_KEY": "not-a-real-key"}),
    Library(name="CrewAI", registry="pypi", packages=("crewai",), script="crewai_sdk.py", version="crewai",
            environ={"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true",
                     "CREWAI_TRACING_ENABLED": "false"}),
    Library(name="Claude Agent SDK", registry="pypi", packages=("claude-agent-sdk",),
            script="claude_agent_sdk_python.py", version="claude-agent-sdk", folder="claude_agent_sdk"),
    Library(name="Claude Agent SDK for Node", registry="npm", packages=("@anthropic-ai/claude-agent-sdk", "zod"),
            script="claude_agent_node.mjs", version="@anthropic-ai/claude-agent-sdk"),
    Library(name="Mastra", registry="npm", packages=("@mastra/core", "@ai-sdk/openai-compatible@1", "zod"),
            script="mastra_node.mjs", version="@mastra/core", environ={"MASTRA_TELEMETRY_DISABLED": "1"}),
    Library(name="Genkit", registry="npm", packages=("genkit", "@genkit-ai/compat-oai", "genkitx-ollama"),
            script="genkit_node.mjs", version="genkit"),
)  # fmt: skip
