"""Profiles: which row a model's name finds, and what follows from it."""

from __future__ import annotations

import pytest

from dragoman.dialects import DIALECTS, parse
from dragoman.dialects.engine.parsed import fold
from dragoman.dialects.engine.parser import Parser
from dragoman.dialects.rows.table import ALL
from dragoman.providers.families import (
    DEFAULT,
    ROWS,
    Forced,
    Ids,
    Opens,
    Profile,
    Replay,
    TemplateLimit,
    order,
    profile,
)
from dragoman.providers.model_names import spellings
from dragoman.types import Tool

# a model's name as users write it → the dialect it was taught
TAUGHT = {
    "hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M": "hermes",
    "ollama:qwen3:8b": "hermes",
    "qwen2.5:7b-instruct-q4_K_M": "hermes",
    "Qwen/QwQ-32B": "hermes",
    "/models/Qwen3-Coder-30B-A3B-Instruct-Q4_K_M-00001-of-00002.gguf": "qwen3_coder",
    "Qwen/Qwen3.5-4B": "qwen3_coder",
    "NousResearch/Hermes-3-Llama-3.1-8B": "hermes",
    "meta-llama/Llama-3.1-8B-Instruct": "llama3_json",
    "accounts/fireworks/models/llama-v3p1-70b-instruct": "llama3_json",
    "meta.llama3-1-70b-instruct-v1:0": "llama3_json",
    "llama3.2:3b": "pythonic",
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": "llama4_pythonic",
    "llama2:13b": "llama3_json",
    "mistral:7b": "mistral",
    "mistralai/Mixtral-8x7B-Instruct-v0.1": "mistral",
    "mlx-community/Mistral-Small-3.2-24B-Instruct-2506-4bit": "mistral_v11",
    "mistralai/Devstral-Small-2507": "mistral_v11",
    "mistralai/Magistral-Small-2509": "mistral_v11",
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B": "deepseek_v3",
    "deepseek:deepseek-reasoner": "deepseek_v32",
    "deepseek-ai/DeepSeek-V3": "deepseek_v3",
    "deepseek/deepseek-chat-v3.1:free": "deepseek_v31",
    "deepseek-ai/DeepSeek-V3.2-Exp": "deepseek_v32",
    "deepseek-v4-flash": "deepseek_v32",
    "moonshotai/Kimi-K2-Instruct": "kimi_k2",
    "moonshotai/Kimi-K2-Thinking": "kimi_k2",
    "openrouter/z-ai/glm-4.6:free": "glm45",
    "zai-org/GLM-4.5-Air-FP8": "glm45",
    "glm-5": "glm45",
    "zai/glm-4.7-flash": "glm45",
    "THUDM/glm-4-9b-chat": "glm45",
    "gpt-oss:20b": "harmony",
    "openai.gpt-oss-120b-1:0": "harmony",
    "google/gemma-3-4b-it": "tool_code",
    "gemma4:31b": "gemma4",
    "google/functiongemma-270m-it": "functiongemma",
    "ibm-granite/granite-3.3-8b-instruct": "granite",
    "ibm-granite/granite-4.0-h-tiny": "granite4",
    "ibm-granite/granite-20b-functioncalling": "granite_20b_fc",
    "cohere.command-r-plus-v1:0": "cohere_command",
    "CohereLabs/c4ai-command-a-03-2025": "cohere_command",
    "phi4-mini": "phi4_mini_json",
    "microsoft/Phi-4-mini-instruct": "phi4_mini_json",
    "internlm/internlm2_5-7b-chat": "internlm2",
    "ai21.jamba-1-5-large-v1:0": "jamba",
    "tencent/Hunyuan-A13B-Instruct": "jamba",
    "ServiceNow-AI/Apriel-1.5-15b-Thinker": "jamba",
    "tencent/Hy3-preview": "glm45",
    "MiniMaxAI/MiniMax-M2": "minimax_m2",
    "MiniMax-M3": "minimax_m3",
    "ByteDance-Seed/Seed-OSS-36B-Instruct": "seed_oss",
    "stepfun-ai/step3": "step3",
    "stepfun-ai/Step-3.5-Flash": "qwen3_coder",
    "baidu/ERNIE-4.5-21B-A3B-Thinking": "ernie45",
    "LiquidAI/LFM2-8B-A1B": "lfm2",
    "allenai/Olmo-3-7B-Think": "olmo3",
    "swiss-ai/Apertus-8B-Instruct-2509": "apertus",
    "nvidia/Llama-3.3-Nemotron-Super-49B-v1.5": "hermes",
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": "qwen3_coder",
    "HuggingFaceTB/SmolLM3-3B": "hermes",
    "XiaomiMiMo/MiMo-V2-Flash": "mimo",
    "openbmb/MiniCPM5-1B": "minicpm5",
    "meituan-longcat/LongCat-Flash-Chat": "longcat",
    "inclusionAI/Ling-3.0-flash": "glm45",
    "poolside/Laguna-XS.2": "glm45",
    "iflytek/Spark-2.5": "glm45",
    "IQuestLab/IQuest-Q1": "iquest_q1",
    "ai-sage/GigaChat3.5-10B": "gigachat35",
    "ai-sage/GigaChat3-10B-A1.8B": "gigachat3",
    "pfnet/plamo-3-nict-8b": "plamo3",
    "inkling-1": "inkling",
    "rednote-hilab/dots.llm1.inst": "dots",
    "arcee-ai/Trinity-Mini": "granite4",
    "LGAI-EXAONE/EXAONE-4.0-32B": "hermes",
    "Salesforce/Llama-xLAM-2-8b-fc-r": "json_array",
    "Team-ACE/ToolACE-2-Llama-3.1-8B": "pythonic",
    "meetkai/functionary-medium-v3.1": "llama_function",
    "fireworks-ai/llama-3-firefunction-v2": "phi4_mini_json",
    "meta/muse-glimmer": "muse",
    "openai/gpt-4.1": "",
    "o3-mini": "",
    "gpt-5.2": "",
    "anthropic/claude-opus-4.7": "",
    "gpt-5-chat-latest": "",
    "x-ai/grok-4": "",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0": "",
    "anthropic.claude-3-7-sonnet-20250219-v1:0": "",
    "anthropic/claude-opus-5.5": "",
    "models/gemini-2.5-pro": "",
    "gemini-3.1-pro-preview": "",
    "amazon.nova-pro-v1:0": "",
    "microsoft/Phi-3.5-mini-instruct": "",
    "moonshotai/Kimi-K3": "kimi_k2",
    "qwen3-30b-a3b-thinking-2507": "hermes",
}


@pytest.mark.parametrize("model", TAUGHT)
def test_a_models_name_finds_the_dialect_it_was_taught(model: str) -> None:
    found = profile(model)
    assert found is not DEFAULT
    assert found.dialect == TAUGHT[model]


def test_every_row_is_found_by_a_name_of_the_table() -> None:
    found = {profile(model) for model in [*TAUGHT, "gpt-5-search-api"]}
    assert [row.match for row in ROWS if row not in found] == []


@pytest.mark.parametrize("row", [*ROWS, DEFAULT], ids=lambda r: str(r.match))
def test_every_row_names_known_dialects_and_its_source(row: Profile) -> None:
    names = [n for n in (row.dialect, *row.also) if n]
    assert [n for n in names if n not in DIALECTS] == []
    assert row.source
    assert (row.opens is Opens.NEVER) or row.reasoning


@pytest.mark.parametrize("row", ROWS, ids=lambda r: str(r.match))
def test_no_row_stands_behind_one_that_takes_all_its_names(row: Profile) -> None:
    patterns = (row.match,) if isinstance(row.match, str) else row.match
    plain = [p.replace("*", "").replace("[13]", "1").replace("[134]", "1") for p in patterns]
    shortest = [p for p in plain if "[" not in p]
    assert not shortest or any(profile(name) is row for name in shortest)


def test_an_unknown_model_gets_an_answer_too() -> None:
    for model in ("", "whatever-7b", "acme/foo", "///", "🦜", "a" * 5000):
        assert profile(model) is DEFAULT
    assert order("whatever-7b") == ALL


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M", "qwen3-8b"),
        ("Qwen3_8B", "qwen3-8b"),
        ("C:\\models\\gemma-3-4b-it.Q8_0.gguf", "gemma-3-4b-it"),
        ("TheBloke/Mistral-7B-Instruct-v0.2-GPTQ", "mistral-7b-instruct-v0.2"),
        ("model-Q4_K_M-00001-of-00002.gguf", "model"),
        ("accounts/fireworks/models/deepseek-v3p1", "deepseek-v3.1"),
        ("llama3.1:latest", "llama3.1"),
        ("llama3.1:8b-instruct-q4_0", "llama3.1-8b-instruct"),
        ("x/Model-FP8", "model"),
        ("x/Model-4bit", "model"),
        ("x/Qwen2.5-7B", "qwen2.5-7b"),
    ],
)
def test_names_are_read_without_path_ending_and_quantisation(model: str, name: str) -> None:
    assert name in spellings(model)


def test_the_callers_rows_come_first() -> None:
    mine = Profile(match="qwen3*", dialect="command", source="mine")
    assert profile("qwen3:8b", [mine]) is mine
    assert profile("llama3.1", [mine]).dialect == "llama3_json"
    assert order("qwen3:8b", [mine])[0] is DIALECTS["command"]


@pytest.mark.parametrize("model", TAUGHT)
def test_a_familys_dialects_come_first_and_all_others_after_them(model: str) -> None:
    rows = order(model)
    named = [DIALECTS[name] for name in (profile(model).dialect, *profile(model).also) if name]
    # a row that is also begun by another family's opener stays where the table has it
    assert rows[0] in named or [r for r in rows if r not in named] == [r for r in ALL if r not in named]
    assert sorted(r.name for r in rows) == sorted(r.name for r in ALL)


# ── what several families would read differently ─────────────────────────────

F = [Tool(name="f", parameters={"type": "object", "properties": {"a": {"type": "string"}}})]


def test_a_collision_is_read_as_the_models_own_dialect() -> None:
    """The same text in one family's tags and in another's: who wrote it decides which row reads it."""
    text = '<tool_call>\n{"name": "f", "arguments": {"a": "x"}}\n</tool_call>'
    for model, dialect in (("granite-4.0-h-tiny", "granite4"), ("ernie-4.5", "ernie45"), ("qwen3:8b", "hermes")):
        (call,) = parse(text, tools=F, dialects=order(model)).calls
        assert call.report is not None
        assert call.report.dialect == dialect


def test_an_order_of_all_dialects_is_as_careful_as_auto() -> None:
    """All rows in another order are still nobody's choice: weak openers prove no more than before."""
    text = 'Send {"name": "f", "arguments": {"a": "x"}} to the server and it answers.'
    for dialects in ("auto", order("qwen3:8b")):
        assert parse(text, tools=F, dialects=dialects).calls == ()
    bare = '{"name": "f", "arguments": {"a": "x"}}'
    assert parse(bare, dialects=order("llama3.1")).calls == parse(bare).calls


def test_reasoning_that_the_prompt_opened_is_told_to_the_parser() -> None:
    found = profile("Qwen/QwQ-32B")
    parser = Parser(tools=F, dialects=order("Qwen/QwQ-32B"), prefix=found.prefix())
    parsed = fold([*parser.feed("I think.</think>Done."), *parser.close()])
    assert (parsed.reasoning, parsed.text) == ("I think.", "Done.")


@pytest.mark.parametrize(
    ("model", "thinking", "prefix"),
    [
        ("deepseek-r1", False, "<think>"),
        ("glm-4.7", False, "<think>"),
        ("glm-4.6", True, ""),
        ("deepseek-v3.1", False, ""),
        ("deepseek-v3.1", True, "<think>"),
        ("qwen3:8b", True, ""),
        ("gpt-4o", True, ""),
        ("MiniMax-M2", False, "<think>"),
    ],
)
def test_the_opened_prefix_depends_on_family_and_thinking(model: str, thinking: bool, prefix: str) -> None:
    assert profile(model).prefix(thinking=thinking) == prefix


def test_what_families_demand_is_said_in_closed_words() -> None:
    assert profile("deepseek-r1").replay is Replay.NEVER
    assert profile("deepseek-v3.2").replay is Replay.DEMANDED
    assert profile("deepseek-reasoner").forced is Forced.TURNED_OFF
    assert profile("kimi-k2-thinking").replay is Replay.DEMANDED
    assert profile("glm-4.7").replay is Replay.TOOL_TURNS
    assert profile("gemini-3-pro").replay is Replay.SIGNED
    assert profile("claude-sonnet-4-5").forced is Forced.NOT_BUDGETED
    assert profile("claude-opus-5.5").forced is Forced.NEVER
    assert profile("mistral-small-3.2").ids is Ids.NINE
    assert profile("kimi-k2-instruct").ids is Ids.COUNTED
    assert profile("gemma-2-9b-it").template_limits == {TemplateLimit.ALTERNATE, TemplateLimit.NO_SYSTEM}
    assert not profile("llama3.1:8b").parallel
