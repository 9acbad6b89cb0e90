"""A LiteLLM proxy's file with everything we read of one."""

from __future__ import annotations

LITERAL = "sk-a-literal-key-0123456789"
FILE = f"""
environment_variables: {{TEAM: red}}
model_list:
  - model_name: gpt
    litellm_params: {{model: groq/llama, api_key: os.environ/GROQ_EU, rpm: 6, tpm: 100}}
  - model_name: gpt
    litellm_params: {{model: openai/gpt-5, api_key: {LITERAL}}}
  - model_name: local
    litellm_params: {{model: openai/qwen3, api_base: "http://vllm:8000/v1", api_key: {LITERAL}, timeout: 60}}
  - model_name: claude
    litellm_params: {{model: claude-sonnet-4-5}}
  - model_name: llama
    litellm_params: {{model: ollama_chat/llama3.1, api_base: "http://os.environ/BOX:11434"}}
  - model_name: embed
    litellm_params: {{model: text-embedding-3}}
    model_info: {{mode: embedding}}
  - model_name: "*"
    litellm_params: {{model: "openrouter/*", api_key: os.environ/OPENROUTER_API_KEY}}
router_settings: {{routing_strategy: simple-shuffle, num_retries: 1, cooldown_time: 5}}
litellm_settings: {{drop_params: true, fallbacks: [{{gpt: [claude, nobody]}}], default_fallbacks: [llama]}}
general_settings: {{master_key: os.environ/MASTER, database_url: "postgres://x"}}
"""


ENVIRON = {
    "GROQ_EU": "g" * 12,
    "OPENROUTER_API_KEY": "o" * 12,
    "MASTER": "m" * 12,
    "ANTHROPIC_API_KEY": "a" * 12,
    "BOX": "box",
}
