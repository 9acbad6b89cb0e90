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
    Program(name="kimi-cli", settings="kimi-cli", registry="pypi", packages=("kimi-cli==1.49.0",),
            python="python3.13", argv=("kimi", "--print", "--yolo", "-c", TASK)),
)  # fmt: skip

_PI, _OPENCODE = ".pi/agent/models.json", ".config/opencode/opencode.json"
_CHAT = "openai-completions"
_QWEN, _QWEN_ENV = ".qwen/settings.json", ".qwen/.env"
_FILES_SERVER = "@modelcontextprotocol/server-filesystem@2026.8.31"
_SERVER = "{bin}/mcp-server-filesystem"
_CONTINUE = ".continue/config.yaml"


def _as(name: str, api: str, *changes: tuple[str, str, str]) -> Program:
    """The program of that name over another API."""
    return replace(_named(name), name=f"{name} · {api}", changes=changes)


def _with_mcp(name: str, change: tuple[str, str, str]) -> Program:
    """The program of that name, which has to write with the tool of an MCP server."""
    row = _named(name)
    return replace(
        row, name=f"{name} · MCP", folder=f"{name}-mcp", packages=(*row.packages, _FILES_SERVER), changes=(change,)
    )


def _named(name: str) -> Program:
    return next(row for row in AGENTS if row.name == name)


OTHERS: tuple[Program, ...] = (
    _as("pi", "responses", (_PI, _CHAT, "openai-responses")),
    _as("pi", "Anthropic messages", (_PI, _CHAT, "anthropic-messages"), (_PI, "{url}/v1", "{url}")),
    _as("pi", "Gemini", (_PI, _CHAT, "google-generative-ai"), (_PI, "{url}/v1", "{url}/v1beta")),
    _as("opencode", "responses", (_OPENCODE, "@ai-sdk/openai-compatible", "@ai-sdk/openai")),
    _as("opencode", "Anthropic messages", (_OPENCODE, "@ai-sdk/openai-compatible", "@ai-sdk/anthropic")),
    _as("opencode", "Gemini", (_OPENCODE, "@ai-sdk/openai-compatible", "@ai-sdk/google"),
        (_OPENCODE, "{url}/v1", "{url}/v1beta")),
    _as("qwen-code", "Anthropic messages", (_QWEN, '"openai"', '"anthropic"'), (_QWEN, "{url}/v1", "{url}"),
        (_QWEN_ENV, "OPENAI_", "ANTHROPIC_"), (_QWEN_ENV, "{url}/v1", "{url}")),
    _as("qwen-code", "Gemini", (_QWEN, '"openai"', '"gemini"'), (_QWEN, "{url}/v1", "{url}")),
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
    _as("continue", "Anthropic messages", (_CONTINUE, "provider: openai", "provider: anthropic")),
)  # fmt: skip
"""The same programs over other APIs of theirs: for the gateway's sake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """An SDK or framework: what is installed, and the script of `clients/sdks` that uses it."""

    name: str
    registry: str
    packages: tuple[str, ...]
    script: str
    version: str
    """The packages whose versions the table tells."""


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
            version="litellm"),
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
)  # fmt: skip
