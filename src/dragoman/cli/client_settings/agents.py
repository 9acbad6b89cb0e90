"""The rows of programs that people talk to: coding agents and chat clients.

The versions they were tried with are in docs/clients.md.
"""

from __future__ import annotations

from .libraries import GOOGLE, OPENAI
from .spec import Client, File, Form, Kind

NAME, TITLE = "dragoman", "Dragoman"
CONTEXT = 128_000
"""What programs that must be told a context size are told; the gateway compacts what the model cannot hold."""

AGENTS: tuple[Client, ...] = (
    Client(
        name="claude-code",
        title="Claude Code",
        kind=Kind.AGENT,
        api=("anthropic_messages",),
        source="code.claude.com/docs/en/llm-gateway-connect",
        files=(
            File("~/.claude/settings.json", Form.JSON, {
                "env": {
                    "ANTHROPIC_BASE_URL": "{url}",
                    "ANTHROPIC_AUTH_TOKEN": "{key}",
                    "ANTHROPIC_MODEL": "{model}",
                    "ANTHROPIC_DEFAULT_OPUS_MODEL": "{model}",
                    "ANTHROPIC_DEFAULT_SONNET_MODEL": "{model}",
                    "ANTHROPIC_DEFAULT_HAIKU_MODEL": "{model}",
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                },
            }),
        ),
        start=("claude", "-p", "--permission-mode", "acceptEdits"),
        note="an ANTHROPIC_API_KEY in the environment is sent as well; unset it",
    ),
    Client(
        name="opencode",
        title="opencode",
        kind=Kind.AGENT,
        api=("openai_chat", "openai_responses", "anthropic_messages", "gemini"),
        source="opencode.ai/docs/providers, Custom provider",
        words={
            "openai_chat": {"package": "@ai-sdk/openai-compatible", "base": "{url}/v1"},
            "openai_responses": {"package": "@ai-sdk/openai", "base": "{url}/v1"},
            "anthropic_messages": {"package": "@ai-sdk/anthropic", "base": "{url}/v1"},
            "gemini": {"package": "@ai-sdk/google", "base": "{url}/v1beta"},
        },
        files=(
            File("{config}/opencode/opencode.json", Form.JSONC, {
                "$schema": "https://opencode.ai/config.json",
                "model": "dragoman/{model}",
                "provider": {
                    NAME: {
                        "npm": "{package}",
                        "name": TITLE,
                        "options": {"baseURL": "{base}", "apiKey": "{key}"},
                        "models": {"{model}": {"name": "{model}"}},
                    },
                },
            }),
        ),
        start=("opencode", "run", "--auto"),
    ),
    Client(
        name="kilocode",
        title="Kilo Code CLI",
        kind=Kind.AGENT,
        api=("openai_chat",),
        source="kilo.ai/docs/code-with-ai/platforms/cli",
        files=(
            File("{config}/kilo/kilo.json", Form.JSONC, {
                "$schema": "https://app.kilo.ai/config.json",
                "model": "dragoman/{model}",
                "provider": {
                    NAME: {
                        "npm": "@ai-sdk/openai-compatible",
                        "name": TITLE,
                        "options": {"baseURL": "{url}/v1", "apiKey": "{key}"},
                        "models": {"{model}": {"name": "{model}"}},
                    },
                },
            }),
        ),
        start=("kilo", "run", "--auto"),
    ),
    Client(
        name="codex",
        title="Codex CLI",
        kind=Kind.AGENT,
        api=("openai_responses",),
        source="developers.openai.com/codex/config-advanced, Custom model providers",
        files=(
            File("~/.codex/config.toml", Form.TOML, {
                "model": "{model}",
                "model_provider": NAME,
                "model_providers": {
                    NAME: {
                        "name": TITLE,
                        "base_url": "{url}/v1",
                        "wire_api": "responses",
                        "env_key": "DRAGOMAN_API_KEY",
                    },
                },
            }),
        ),
        variables={"DRAGOMAN_API_KEY": "{key}"},
        start=("codex", "exec", "--skip-git-repo-check", "--sandbox", "workspace-write"),
        note="codex --oss finds the gateway too, as an Ollama server, by CODEX_OSS_BASE_URL",
    ),
    Client(
        name="gemini-cli",
        title="Gemini CLI",
        kind=Kind.AGENT,
        api=("gemini",),
        source="github.com/google-gemini/gemini-cli, docs/reference/configuration.md",
        files=(
            File("~/.gemini/settings.json", Form.JSONC, {
                "security": {"auth": {"selectedType": "gemini-api-key"}},
                "model": {"name": "{model}"},
            }),
            File("~/.gemini/.env", Form.DOTENV, GOOGLE),
        ),
        start=("gemini", "-y", "--skip-trust", "-p"),
    ),
    Client(
        name="qwen-code",
        title="Qwen Code",
        kind=Kind.AGENT,
        api=("openai_chat", "anthropic_messages", "gemini"),
        words={
            "openai_chat": {"kind": "openai", "prefix": "OPENAI", "base": "{url}/v1"},
            "anthropic_messages": {"kind": "anthropic", "prefix": "ANTHROPIC", "base": "{url}"},
            "gemini": {"kind": "gemini", "prefix": "GEMINI", "base": "{url}"},
        },
        source="qwenlm.github.io/qwen-code-docs, configuration/auth",
        files=(
            File("~/.qwen/settings.json", Form.JSONC, {
                "security": {"auth": {"selectedType": "{kind}", "baseUrl": "{base}", "apiKey": "{key}"}},
                "model": {"name": "{model}"},
            }),
            File("~/.qwen/.env", Form.DOTENV, {
                "{prefix}_BASE_URL": "{base}", "{prefix}_API_KEY": "{key}", "{prefix}_MODEL": "{model}",
            }),
        ),
        start=("qwen", "-y", "-p"),
    ),
    Client(
        name="copilot",
        title="GitHub Copilot CLI",
        kind=Kind.AGENT,
        api=("openai_chat", "openai_responses", "anthropic_messages"),
        source="its own `copilot help providers`",
        words={
            "openai_chat": {"kind": "openai", "wire": "completions", "base": "{url}/v1"},
            "openai_responses": {"kind": "openai", "wire": "responses", "base": "{url}/v1"},
            "anthropic_messages": {"kind": "anthropic", "wire": "completions", "base": "{url}"},
        },
        variables={
            "COPILOT_PROVIDER_BASE_URL": "{base}",
            "COPILOT_PROVIDER_TYPE": "{kind}",
            "COPILOT_PROVIDER_WIRE_API": "{wire}",
            "COPILOT_PROVIDER_API_KEY": "{key}",
            "COPILOT_MODEL": "{model}",
        },
        start=("copilot", "--allow-all-tools", "-p"),
    ),
    Client(
        name="nanocoder",
        title="Nanocoder",
        kind=Kind.AGENT,
        api=("openai_chat",),
        source="github.com/Nano-Collective/nanocoder, README",
        files=(
            File("{config}/nanocoder/agents.config.json", Form.JSON, {
                "nanocoder": {
                    "providers": [
                        {"name": TITLE, "baseUrl": "{url}/v1", "apiKey": "{key}", "models": ["{model}"]},
                    ],
                },
            }),
        ),
        start=("nanocoder", "--provider", TITLE, "--model", "{model}", "--trust-directory", "run"),
    ),
    Client(
        name="cline",
        title="Cline CLI",
        kind=Kind.AGENT,
        api=("openai_chat", "openai_responses", "ollama_chat"),
        source="docs.cline.bot/cline-cli",
        commands=(("cline", "auth", "-p", "openai", "-k", "{key}", "-m", "{model}", "-b", "{url}/v1"),),
        start=("cline", "-y"),
        note="it leaves a helper process behind; its Ollama provider only looks at localhost:11434",
    ),
    Client(
        name="pi",
        title="pi",
        kind=Kind.AGENT,
        api=("openai_chat", "openai_responses", "anthropic_messages", "gemini"),
        source="github.com/badlogic/pi-mono, packages/coding-agent/docs/models.md",
        words={
            "openai_chat": {"kind": "openai-completions", "base": "{url}/v1"},
            "openai_responses": {"kind": "openai-responses", "base": "{url}/v1"},
            "anthropic_messages": {"kind": "anthropic-messages", "base": "{url}"},
            "gemini": {"kind": "google-generative-ai", "base": "{url}/v1beta"},
        },
        files=(
            File("~/.pi/agent/models.json", Form.JSON, {
                "providers": {
                    NAME: {
                        "baseUrl": "{base}",
                        "api": "{kind}",
                        "apiKey": "{key}",
                        "models": [{"id": "{model}"}],
                    },
                },
            }),
            File("~/.pi/agent/settings.json", Form.JSON, {"defaultProvider": NAME, "defaultModel": "{model}"}),
        ),
        start=("pi", "-p"),
    ),
    Client(
        name="continue",
        title="Continue (cn and the editor extensions)",
        kind=Kind.AGENT,
        api=("openai_chat", "anthropic_messages"),
        source="docs.continue.dev/reference, models",
        words={
            "openai_chat": {"kind": "openai", "base": "{url}/v1"},
            "anthropic_messages": {"kind": "anthropic", "base": "{url}/v1"},
        },
        files=(
            File("~/.continue/config.yaml", Form.YAML, {
                "name": "Local config",
                "version": "1.0.0",
                "schema": "v1",
                "models": [{
                    "name": TITLE,
                    "provider": "{kind}",
                    "model": "{model}",
                    "apiBase": "{base}",
                    "apiKey": "{key}",
                    "roles": ["chat", "edit", "apply"],
                    "capabilities": ["tool_use"],
                }],
            }),
        ),
        start=("cn", "--auto", "-p"),
    ),
    Client(
        name="grok-cli",
        title="Grok CLI",
        kind=Kind.AGENT,
        api=("openai_chat",),
        source="github.com/superagent-ai/grok-cli, README",
        files=(
            File("~/.grok/user-settings.json", Form.JSON, {
                "apiKey": "{key}", "baseURL": "{url}/v1", "defaultModel": "{model}", "models": ["{model}"],
            }),
        ),
        variables={"GROK_MODEL": "{model}"},
        start=("grok", "-p"),
    ),
    Client(
        name="mistral-vibe",
        title="Mistral Vibe",
        kind=Kind.AGENT,
        api=("openai_chat",),
        source="docs.mistral.ai/mistral-vibe/terminal/configuration",
        files=(
            File("~/.vibe/config.toml", Form.TOML, {
                "active_model": NAME,
                "providers": [{
                    "name": NAME,
                    "api_base": "{url}/v1",
                    "api_key_env_var": "DRAGOMAN_API_KEY",
                    "api_style": "openai",
                    "backend": "generic",
                }],
                "models": [{"name": "{model}", "provider": NAME, "alias": NAME}],
            }),
            File("~/.vibe/.env", Form.DOTENV, {"DRAGOMAN_API_KEY": "{key}"}),
        ),
        start=("vibe", "-p"),
    ),
    Client(
        name="kimi-cli",
        title="Kimi CLI",
        kind=Kind.AGENT,
        api=("openai_chat",),
        source="moonshotai.github.io/kimi-cli/en/configuration/config-files",
        files=(
            File("~/.kimi/config.toml", Form.TOML, {
                "default_model": NAME,
                "providers": {NAME: {"type": "openai_legacy", "base_url": "{url}/v1", "api_key": "{key}"}},
                "models": {NAME: {"provider": NAME, "model": "{model}", "max_context_size": CONTEXT}},
            }),
        ),
        start=("kimi", "--print", "--yolo", "-c"),
    ),
    Client(
        name="crush",
        title="Crush",
        kind=Kind.AGENT,
        api=("openai_chat",),
        source="github.com/charmbracelet/crush, README, Custom Providers",
        files=(
            File("{config}/crush/crush.json", Form.JSON, {
                "$schema": "https://charm.land/crush.json",
                "providers": {
                    NAME: {
                        "name": TITLE,
                        "type": "openai-compat",
                        "base_url": "{url}/v1",
                        "api_key": "{key}",
                        "models": [{"id": "{model}", "name": "{model}", "context_window": CONTEXT}],
                    },
                },
            }),
        ),
        start=("crush", "run"),
        note="not tried: its package is downloaded from outside the registry",
    ),
    Client(
        name="goose",
        title="goose",
        kind=Kind.AGENT,
        api=("openai_chat",),
        source="block.github.io/goose/docs/guides/config-files; docs/getting-started/providers",
        files=(
            File("{config}/goose/config.yaml", Form.YAML, {
                "GOOSE_PROVIDER": "openai",
                "GOOSE_MODEL": "{model}",
                "OPENAI_HOST": "{url}",
                "OPENAI_BASE_PATH": "v1/chat/completions",
            }),
        ),
        variables={"OPENAI_API_KEY": "{key}"},
        start=("goose", "run", "-t"),
        note="not tried; a key in its file is not read, so it stands in the environment",
    ),
    Client(
        name="openhands",
        title="OpenHands",
        kind=Kind.AGENT,
        api=("openai_chat",),
        source="docs.openhands.dev/openhands/usage/run-openhands/headless-mode",
        variables={"LLM_MODEL": "openai/{model}", "LLM_BASE_URL": "{url}/v1", "LLM_API_KEY": "{key}"},
        start=("openhands", "--headless", "--override-with-envs", "-t"),
    ),
    Client(
        name="mini-swe-agent",
        title="mini-SWE-agent",
        kind=Kind.AGENT,
        api=("openai_chat",),
        source="mini-swe-agent.com/latest/advanced/global_configuration",
        files=(
            File("{config}/mini-swe-agent/.env", Form.DOTENV, {
                **OPENAI,
                "MSWEA_MODEL_NAME": "openai/{model}",
                "MSWEA_CONFIGURED": "true",
                "MSWEA_COST_TRACKING": "ignore_errors",
            }),
        ),
        start=("mini", "--yolo", "--exit-immediately", "-t"),
    ),
    Client(
        name="aider",
        title="aider",
        kind=Kind.AGENT,
        api=("openai_chat",),
        source="aider.chat/docs/llms/openai-compat.html",
        files=(
            File("~/.aider.conf.yml", Form.YAML, {
                "model": "openai/{model}",
                "openai-api-base": "{url}/v1",
                "openai-api-key": "{key}",
            }),
        ),
        start=("aider", "--yes-always", "--message"),
        note="it uses no tools; the gateway leaves its texts alone",
    ),
    Client(
        name="gptme",
        title="gptme",
        kind=Kind.AGENT,
        api=("openai_chat",),
        source="gptme.org/docs/custom-providers",
        files=(
            File("{config}/gptme/config.toml", Form.TOML, {
                "env": {"MODEL": "dragoman/{model}"},
                "providers": [
                    {"name": NAME, "base_url": "{url}/v1", "api_key": "{key}", "default_model": "{model}"},
                ],
            }),
        ),
        start=("gptme", "--non-interactive", "--tool-format", "tool"),
    ),
    Client(
        name="open-interpreter",
        title="Open Interpreter",
        kind=Kind.AGENT,
        api=("openai_chat",),
        source="docs.openinterpreter.com/guides/profiles",
        files=(
            File("{config}/open-interpreter/profiles/default.yaml", Form.YAML, {
                "version": "0.2.5",
                "llm": {
                    "model": "openai/{model}",
                    "api_base": "{url}/v1",
                    "api_key": "{key}",
                    "supports_functions": True,
                    "supports_vision": False,
                    "context_window": CONTEXT,
                    "max_tokens": 4096,
                },
            }),
        ),
        start=("interpreter", "-y"),
    ),
    Client(
        name="shell-gpt",
        title="ShellGPT",
        kind=Kind.CHAT,
        api=("openai_chat",),
        source="github.com/TheR1D/shell_gpt, README",
        files=(
            File("~/.config/shell_gpt/.sgptrc", Form.DOTENV, {
                "API_BASE_URL": "{url}/v1", "OPENAI_API_KEY": "{key}", "DEFAULT_MODEL": "{model}",
            }),
        ),
        commands=(("sgpt", "--install-functions"),),
        start=("sgpt",),
        note="its one function runs commands in a shell",
    ),
    Client(
        name="llm",
        title="llm",
        kind=Kind.CHAT,
        api=("openai_chat",),
        source="llm.datasette.io/en/stable/other-models.html",
        files=(
            File("{config}/io.datasette.llm/extra-openai-models.yaml", Form.YAML, [
                {
                    "model_id": NAME,
                    "model_name": "{model}",
                    "api_base": "{url}/v1",
                    "api_key_name": NAME,
                    "supports_tools": True,
                },
            ]),
            File("{config}/io.datasette.llm/keys.json", Form.JSON, {NAME: "{key}"}),
        ),
        start=("llm", "-m", "dragoman"),
        note="on macOS its folder is ~/Library/Application Support/io.datasette.llm",
    ),
    Client(
        name="open-webui",
        title="Open WebUI",
        kind=Kind.CHAT,
        api=("openai_chat", "ollama_chat"),
        source="docs.openwebui.com/getting-started/env-configuration",
        variables={
            "ENABLE_OPENAI_API": "true",
            "OPENAI_API_BASE_URL": "{url}/v1",
            "OPENAI_API_KEY": "{key}",
        },
        start=("open-webui", "serve"),
        note="not tried; in a container write host.docker.internal for 127.0.0.1",
    ),
    Client(
        name="zed",
        title="Zed",
        kind=Kind.AGENT,
        api=("openai_chat", "ollama_chat"),
        source="zed.dev/docs/ai/llm-providers, OpenAI API Compatible",
        files=(
            File("{config}/zed/settings.json", Form.JSONC, {
                "language_models": {
                    "openai_compatible": {
                        TITLE: {
                            "api_url": "{url}/v1",
                            "available_models": [{"name": "{model}", "max_tokens": CONTEXT}],
                        },
                    },
                },
            }),
        ),
        variables={"DRAGOMAN_API_KEY": "{key}"},
        note="not tried",
    ),
)  # fmt: skip
