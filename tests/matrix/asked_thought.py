"""Rows of requests: how much to think, what was thought before, and what servers run (search, code, pages).

Knows how APIs write them; runs nothing.
"""

from __future__ import annotations

from typing import Any

from .asked_talk import ASK
from .table import GONE, SOME, A, B, C, G, H, L, R, Row, X, has, none_or, one_of, within

THINKERS: dict[str, Any] = {C: "gpt-5.1", R: "gpt-5.4", A: "claude-opus-4-6", G: "gemini-3-flash-preview", L: "gpt-oss:20b", B: "anthropic.claude-opus-4-6-v1", H: "command-a-reasoning-08-2025", X: "deepseek/deepseek-v3.2"}
COUNTERS: dict[str, Any] = {**THINKERS, A: "claude-sonnet-4-5", G: "gemini-2.5-flash", L: "qwen3:8b", B: "anthropic.claude-sonnet-4-5-20250929-v1:0"}
EFFORT = "thinking.md 1: ReasoningEffort of openai, OutputConfigParam.effort, ThinkingLevel, think of Ollama, Thinking of Cohere, reasoning of OpenRouter; weakest accepted not below the wish, else the strongest"
LEVEL, BUDGET, CLAUDE = "generationConfig.thinkingConfig.thinkingLevel", "generationConfig.thinkingConfig.thinkingBudget", "additionalModelRequestFields"
WORD_B = f"{CLAUDE}.output_config.effort|outputConfig.effort"
WORD_X = "reasoning.effort|reasoning_effort"
ADAPTIVE: dict[str, Any] = {"thinking": {"type": "adaptive"}}


def level(word: str) -> dict[str, Any]:
    return {"generationConfig": {"thinkingConfig": {"thinkingLevel": word}}}


def budget(tokens: int) -> dict[str, Any]:
    return {"generationConfig": {"thinkingConfig": {"thinkingBudget": tokens}}}


def word(name: str, *fronts: str) -> dict[str, Any]:
    """The same effort on the fronts that have the word."""
    said = {C: {"reasoning_effort": name}, R: {"reasoning": {"effort": name}}, A: {**ADAPTIVE, "max_tokens": 60000, "output_config": {"effort": name}}, G: level(name.upper()), L: {"think": name}}
    return {front: said[front] for front in fronts}


def words_at(name: str) -> dict[str, Any]:
    """Where an effort stands on models that have the word."""
    return {C: {"reasoning_effort": name}, R: {"reasoning.effort": name}, A: {"output_config.effort": name, "thinking.type": "adaptive"}, G: {LEVEL: one_of(name, name.upper()), BUDGET: GONE}, L: {"think": name}, B: {WORD_B: name}, X: {WORD_X: name}}


def all_but(places: dict[str, Any], *backends: str) -> dict[str, Any]:
    return {backend: one for backend, one in places.items() if backend not in backends}


TOLD_EFFORT = ("effort", "thinking", "think", "reasoning")
THOUGHT = "I-THOUGHT"
SEARCH: dict[str, Any] = {C: {"web_search_options": {}}, R: {"tools": [{"type": "web_search"}]}, A: {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, G: {"tools": [{"googleSearch": {}}]}}
SEARCH_AT: dict[str, Any] = {C: {"web_search_options": {}}, R: {"tools[type=web_search].type": "web_search"}, A: {"tools[type=web_search_].name": "web_search"}, G: {"tools[0].googleSearch": {}}}
SEARCH_SOURCE = "web_search_options of chat, web_search of Responses, web_search_20250305 of Anthropic, googleSearch; thinking.md 5"
SEARCHER: dict[str, Any] = {C: "gpt-5-search-api"}
"""Of chat, only models that search take web_search_options."""
HERE: dict[str, Any] = {"city": "Oslo", "country": "NO"}
SITE = ["example.org"]

ROWS: tuple[Row, ...] = (
    Row(name="little effort", source=EFFORT, models=THINKERS, said=word("low", C, R, A, G, L), near={**words_at("low"), H: {"thinking.token_budget": within(1, 8000)}}, words=TOLD_EFFORT),
    Row(name="some effort", source=EFFORT, models=THINKERS, said=word("medium", C, R, A, G, L), near={**words_at("medium"), H: {"thinking.token_budget": within(1000, 16000)}}, words=TOLD_EFFORT),
    Row(name="much effort", source=EFFORT, models=THINKERS, said=word("high", C, R, A, G, L), near={**words_at("high"), H: {"thinking.token_budget": within(4000, 32768)}}, words=TOLD_EFFORT),
    Row(name="as little effort as can be", source=EFFORT, models=THINKERS, said=word("minimal", C, R, G), near={G: words_at("minimal")[G], X: {WORD_X: one_of("minimal", "low")}, H: {"thinking.token_budget": within(1, 4000)}},
        weaker={C: {"reasoning_effort": "low"}, R: {"reasoning.effort": "low"}, A: {"output_config.effort": "low"}, L: {"think": "low"}, B: {WORD_B: "low"}}, words=TOLD_EFFORT),
    Row(name="more than much effort", source=EFFORT, models=THINKERS, said=word("xhigh", C, R, A), near={R: words_at("xhigh")[R], X: {WORD_X: one_of("xhigh", "high")}, H: {"thinking.token_budget": within(16000, 32768)}},
        weaker={C: {"reasoning_effort": "high"}, A: {"output_config.effort": one_of("max", "high")}, G: {LEVEL: one_of("HIGH", "high")}, L: {"think": one_of("high", "max")}, B: {WORD_B: one_of("max", "high")}}, words=TOLD_EFFORT),
    Row(name="all effort", source=EFFORT, models=THINKERS, said=word("max", C, R, A, L), near={A: words_at("max")[A], B: words_at("max")[B], L: {"think": one_of("max", "high")}, X: {WORD_X: one_of("max", "xhigh", "high")}, H: {"thinking.token_budget": within(16000, 32768)}},
        weaker={C: {"reasoning_effort": "high"}, R: {"reasoning.effort": "xhigh"}, G: {LEVEL: one_of("HIGH", "high")}}, words=TOLD_EFFORT),
    Row(name="no thinking", source=EFFORT, models={**COUNTERS, A: "claude-sonnet-5", B: "anthropic.claude-opus-4-6-v1"},
        said={C: {"reasoning_effort": "none"}, R: {"reasoning": {"effort": "none"}}, A: {"thinking": {"type": "disabled"}}, G: budget(0), L: {"think": False}},
        near={C: {"reasoning_effort": "none"}, R: {"reasoning.effort": "none"}, A: {"thinking.type": "disabled", "output_config.effort": GONE}, G: {BUDGET: 0, LEVEL: GONE}, L: {"think": False}, H: {"thinking.type": "disabled"},
              B: {WORD_B: GONE, f"{CLAUDE}.thinking.type": none_or("disabled")}, X: {WORD_X: "none"}}, words=TOLD_EFFORT),
    Row(name="no thinking of one that always thinks", source=EFFORT, models={**THINKERS, C: "gpt-5", R: "gpt-6-astra", G: "gemini-3.1-pro-preview", A: "claude-fable-5"},
        said={C: {"reasoning_effort": "none"}, R: {"reasoning": {"effort": "none"}}, A: {"thinking": {"type": "disabled"}}, L: {"think": False}},
        weaker={C: {"reasoning_effort": one_of("minimal", "low")}, R: {"reasoning.effort": "low"}, A: {"thinking.type": none_or("adaptive"), "output_config.effort": "low"}, G: {LEVEL: one_of("LOW", "low")}, L: {"think": "low"}},
        near={H: {"thinking.type": "disabled"}, B: {WORD_B: GONE}, X: {WORD_X: "none"}}, words=TOLD_EFFORT),
    Row(name="a budget of thought", source=EFFORT, models=COUNTERS, said={A: {"max_tokens": 32000, "thinking": {"type": "enabled", "budget_tokens": 10000}}, G: budget(10000)},
        stands={A: {"thinking.budget_tokens": 10000, "thinking.type": "enabled"}, G: {BUDGET: 10000, LEVEL: GONE}, B: {f"{CLAUDE}.thinking.budget_tokens": 10000}, H: {"thinking.token_budget": 10000}},
        near={C: {"reasoning_effort": one_of("medium", "high")}, R: {"reasoning.effort": one_of("medium", "high")}, L: {"think": SOME}, X: {"reasoning.max_tokens|reasoning.effort|reasoning_effort": one_of(10000, "medium", "high")}}, words=TOLD_EFFORT),
    Row(name="thinking as it sees fit", source=EFFORT + "; what thinks of itself need not be told to", models={**THINKERS, G: "gemini-2.5-flash", L: "qwen3:8b"}, said={A: {**ADAPTIVE, "max_tokens": 60000}, G: budget(-1), L: {"think": True}},
        near={A: {"thinking.type": "adaptive"}, B: {f"{CLAUDE}.thinking.type": "adaptive"}, L: {"think": SOME}, G: {BUDGET: -1}, H: {"thinking.type": "enabled"}, C: {"reasoning_effort": SOME}, R: {"reasoning.effort": SOME}, X: {f"{WORD_X}|reasoning.enabled": SOME}}, words=TOLD_EFFORT),
    Row(name="a summary of the thoughts", source="reasoning.summary, includeThoughts, ThinkingConfigAdaptive.display", models={**THINKERS, A: "claude-opus-4-7"},
        said={R: {"reasoning": {"effort": "high", "summary": "auto"}}, G: {"generationConfig": {"thinkingConfig": {"thinkingLevel": "HIGH", "includeThoughts": True}}},
              A: {"thinking": {"type": "adaptive", "display": "summarized"}, "max_tokens": 60000, "output_config": {"effort": "high"}}},
        near={R: {"reasoning.summary": one_of("auto", "detailed"), "reasoning.effort": "high"}, G: {"generationConfig.thinkingConfig.includeThoughts": True}, A: {"thinking.display": "summarized", "output_config.effort": "high"}}, words=("summary", "includeThoughts", "display", "thinking", "reasoning")),
    Row(name="thoughts of another model", source="what no signature proves: text where an API takes text (Ollama's thinking, Cohere's thinking block, OpenRouter's reasoning), else told",
        said={C: {"messages": [ASK, {"role": "assistant", "content": "SAID", "reasoning_content": THOUGHT}, ASK]}, L: {"messages": [ASK, {"role": "assistant", "content": "SAID", "thinking": THOUGHT}, ASK]},
              R: {"input": [ASK, {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": THOUGHT}]}, {"role": "assistant", "content": "SAID"}, ASK]},
              A: {"messages": [ASK, {"role": "assistant", "content": [{"type": "thinking", "thinking": THOUGHT, "signature": "Zm9yZWlnbg=="}, {"type": "text", "text": "SAID"}]}, ASK]},
              G: {"contents": [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [{"text": THOUGHT, "thought": True}, {"text": "SAID"}]}, {"role": "user", "parts": [{"text": "hi"}]}]}},
        either={C: {"messages[1]": has(THOUGHT)}, R: {"input": has(THOUGHT)}, A: {"messages[1]": has(THOUGHT)}, G: {"contents[1]": has(THOUGHT)}, L: {"messages[1].thinking": THOUGHT}, B: {"messages[1]": has(THOUGHT)},
                H: {"messages[1]": has(THOUGHT)}, X: {"messages[1]": has(THOUGHT)}}, words=("messages[1]", "reasoning", "thinking")),
    Row(name="hidden thoughts", source="redacted_thinking of Anthropic, redactedContent of Bedrock", said={A: {"messages": [ASK, {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "SECRET7"}, {"type": "text", "text": "SAID"}]}, ASK]}},
        stands={A: {"messages[1].content[type=redacted_thinking].data": "SECRET7"}}, either={B: {"messages[1].content": has("SECRET7")}}, words=("messages[1]",)),
    Row(name="search the web", models=SEARCHER, source=SEARCH_SOURCE, said=SEARCH, stands=SEARCH_AT, either={X: {"web_search_options|tools|plugins": has("")}}, words=("web_search", "googleSearch", "search", "tools")),
    Row(name="search from a place", models=SEARCHER, source=SEARCH_SOURCE, said={C: {"web_search_options": {"user_location": {"type": "approximate", "approximate": HERE}}}, R: {"tools": [{"type": "web_search", "user_location": {"type": "approximate", **HERE}}]},
        A: {"tools": [{"type": "web_search_20250305", "name": "web_search", "user_location": {"type": "approximate", **HERE}}]}},
        stands={C: {"web_search_options.user_location.approximate": HERE}, R: {"tools[type=web_search].user_location.city": "Oslo"}, A: {"tools[type=web_search_].user_location.city": "Oslo", "tools[type=web_search_].user_location.type": "approximate"}},
        weaker={G: {"tools[0].googleSearch": {}}}, either={X: {"web_search_options|tools|plugins": has("Oslo")}}, words=("user_location", "web_search", "search", "tools")),
    Row(name="search with much context", models=SEARCHER, source=SEARCH_SOURCE, said={C: {"web_search_options": {"search_context_size": "high"}}, R: {"tools": [{"type": "web_search", "search_context_size": "high"}]}},
        stands={C: {"web_search_options.search_context_size": "high"}, R: {"tools[type=web_search].search_context_size": "high"}},
        weaker={A: SEARCH_AT[A], G: SEARCH_AT[G]}, either={X: {"web_search_options|tools|plugins": has("high")}}, words=("search_context_size", "web_search", "search", "tools")),
    Row(name="search some sites", models=SEARCHER, source=SEARCH_SOURCE + "; Filters.allowed_domains", said={R: {"tools": [{"type": "web_search", "filters": {"allowed_domains": SITE}}]}, A: {"tools": [{"type": "web_search_20250305", "name": "web_search", "allowed_domains": SITE}]}},
        stands={R: {"tools[type=web_search].filters.allowed_domains": SITE}, A: {"tools[type=web_search_].allowed_domains": SITE}}, weaker={C: {"web_search_options": {}}, G: SEARCH_AT[G]}, either={X: {"web_search_options|tools|plugins": has("example")}},
        words=("allowed_domains", "filters", "web_search", "tools")),
    Row(name="search no such sites", models=SEARCHER, source=SEARCH_SOURCE + "; blocked_domains of Anthropic only (excludeDomains: not of the Gemini API)", said={A: {"tools": [{"type": "web_search_20250305", "name": "web_search", "blocked_domains": SITE, "max_uses": 2}]}},
        stands={A: {"tools[type=web_search_].blocked_domains": SITE, "tools[type=web_search_].max_uses": 2}}, weaker={C: {"web_search_options": {}}, R: SEARCH_AT[R], G: SEARCH_AT[G]}, words=("blocked_domains", "web_search", "tools")),
    Row(name="run code", source="code_execution of Anthropic, code_interpreter of Responses, codeExecution", said={A: {"tools": [{"type": "code_execution_20250825", "name": "code_execution"}]}, R: {"tools": [{"type": "code_interpreter", "container": {"type": "auto"}}]}, G: {"tools": [{"codeExecution": {}}]}},
        either={A: {"tools": has("code_execution")}, R: {"tools": has("code_interpreter")}, G: {"tools": has("codeExecution")}}, words=("code", "tools")),
    Row(name="read pages", source="web_fetch of Anthropic, urlContext", said={A: {"tools": [{"type": "web_fetch_20250910", "name": "web_fetch"}]}, G: {"tools": [{"urlContext": {}}]}}, either={A: {"tools": has("web_fetch")}, G: {"tools": has("urlContext")}}, words=("web_fetch", "urlContext", "tools")),
    Row(name="search files", source="file_search of Responses, fileSearch of Gemini: stores of one vendor", said={R: {"tools": [{"type": "file_search", "vector_store_ids": ["vs_7"]}]}}, stands={R: {"tools[0].vector_store_ids": ["vs_7"]}}, words=("file_search", "tools")),
    Row(name="search files of Google", source="fileSearch of Gemini", said={G: {"tools": [{"fileSearch": {"fileSearchStoreNames": ["s7"]}}]}}, stands={G: {"tools[0].fileSearch.fileSearchStoreNames": ["s7"]}}, words=("fileSearch", "tools")),
    Row(name="paint", source="image_generation of Responses", said={R: {"tools": [{"type": "image_generation"}]}}, stands={R: {"tools[0].type": "image_generation"}}, words=("image_generation", "tools")),
    Row(name="a server's tools", source="mcp of Responses", said={R: {"tools": [{"type": "mcp", "server_label": "m", "server_url": "https://example.org/mcp"}]}}, stands={R: {"tools[0].server_label": "m"}}, words=("mcp", "tools")),
    Row(name="maps", source="googleMaps of Gemini", said={G: {"tools": [{"googleMaps": {}}]}}, stands={G: {"tools[0].googleMaps": {}}}, words=("googleMaps", "tools")),
)  # fmt: skip
