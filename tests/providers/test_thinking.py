"""What families take of a wish to think: the table against the official SDKs, and the nearest that is taken."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import pytest
from anthropic.types import OutputConfigParam
from google.genai.types import ThinkingLevel
from openai.types.shared import ReasoningEffort

from dragoman.providers.families import profile
from dragoman.providers.rows import PROVIDERS
from dragoman.providers.thinking import API_WORDS, BUDGETS, ROWS, WORDS, Controls, controls, word_of
from dragoman.turn.thinking import WHILE_TOOLS, with_thinking
from dragoman.types import Issue, Message, Reasoning, Request, Sampling, Tool, ToolCall, ToolResult

every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.match[0]} {sorted(row.services)}")


def _literals(kind: Any) -> set[str]:
    """The strings among a type's alternatives."""
    if isinstance(kind, str):
        return {kind}
    return {word for inner in get_args(kind) for word in _literals(inner)}


SDK_WORDS = {
    "openai_chat": lambda: _literals(ReasoningEffort),
    "openai_responses": lambda: _literals(ReasoningEffort),
    "anthropic_messages": lambda: _literals(get_type_hints(OutputConfigParam)["effort"]),
    "gemini": lambda: {level.value.lower() for level in ThinkingLevel} - {"thinking_level_unspecified", "xhigh"},
}


@pytest.mark.parametrize("codec", SDK_WORDS)
def test_the_words_of_an_api_are_those_of_its_official_sdk(codec: str) -> None:
    assert set(API_WORDS[codec]) == SDK_WORDS[codec]()


@every_row
def test_every_row_stands_in_order_and_says_where_it_is_from(row: Controls) -> None:
    assert row.source
    assert [*row.efforts] == [word for word in WORDS if word in row.efforts]
    assert row.budgets is None or 0 < row.budgets[0] <= row.budgets[1]


def test_every_word_means_a_budget_and_that_budget_the_word() -> None:
    assert {word_of(tokens) for word, tokens in BUDGETS.items() if word != word_of(tokens)} == set()
    assert word_of(0) == "none"


def wished(place: str, model: str, refused: tuple[str, ...] = (), **more: Any) -> tuple[Sampling, tuple[Issue, ...]]:
    sampling = {key: more.pop(key) for key in tuple(more) if key in Sampling.__slots__}
    request = Request(model=model, messages=more.pop("messages", (Message("user", "hi"),)), sampling=Sampling(**sampling), **more)
    made, issues = with_thinking(request, PROVIDERS[place], profile(model), refused)
    return made.sampling, tuple(issues)


WISHES: list[tuple[str, str, dict[str, Any], dict[str, Any], bool]] = [
    # place, model, asked, what goes out, whether it is told
    ("anthropic", "claude-sonnet-4-5", {"effort": "high"}, {"thinking_budget": 16384, "max_tokens": 24576}, False),
    ("anthropic", "claude-sonnet-4-5", {"effort": "low", "max_tokens": 1500}, {"thinking_budget": 1499, "max_tokens": 1500}, True),
    ("anthropic", "claude-sonnet-4-5", {"effort": "low", "max_tokens": 900}, {"max_tokens": 900}, True),
    ("anthropic", "claude-sonnet-4-5", {"effort": "none"}, {}, False),
    ("anthropic", "claude-sonnet-4-5", {"thinking_budget": 0}, {"thinking_budget": 0}, False),
    ("anthropic", "claude-haiku-4-5", {"effort": "low", "temperature": 0.2}, {"thinking_budget": 2048, "max_tokens": 10240}, True),
    ("anthropic", "claude-3-5-sonnet-20241022", {"effort": "high"}, {}, True),
    ("anthropic", "claude-opus-4-5", {"effort": "xhigh"}, {"effort": "high"}, True),
    ("anthropic", "claude-opus-4-6", {"effort": "xhigh"}, {"effort": "max", "thinking_budget": -1}, True),
    ("anthropic", "claude-opus-4-7", {"effort": "minimal"}, {"effort": "low", "thinking_budget": -1}, True),
    ("anthropic", "claude-opus-4-7", {"thinking_budget": 20000}, {"effort": "high", "thinking_budget": -1}, False),
    ("anthropic", "claude-sonnet-5", {"effort": "none"}, {"thinking_budget": 0}, False),
    ("anthropic", "claude-fable-5", {"effort": "none"}, {"effort": "low"}, True),
    ("anthropic", "claude-fable-5", {"thinking_budget": 0}, {"effort": "low"}, True),
    ("bedrock", "us.anthropic.claude-opus-4-5-20251101-v1:0", {"effort": "high"}, {"effort": "high"}, False),
    ("gemini", "gemini-2.5-pro", {"effort": "none"}, {"thinking_budget": 128}, True),
    ("gemini", "gemini-2.5-flash", {"effort": "none"}, {"thinking_budget": 0}, False),
    ("gemini", "gemini-2.5-flash-lite", {"thinking_budget": 100}, {"thinking_budget": 512}, True),
    ("gemini", "gemini-2.5-flash", {"thinking_budget": -1}, {"thinking_budget": -1}, False),
    ("gemini", "gemini-2.0-flash", {"effort": "low"}, {}, True),
    ("gemini", "gemini-3-pro-preview", {"effort": "medium"}, {"effort": "high"}, True),
    ("gemini", "gemini-3-flash-preview", {"thinking_budget": 0}, {"effort": "minimal"}, True),
    ("gemini", "gemini-3-flash-preview", {"thinking_budget": 9000}, {"effort": "medium"}, False),
    ("gemini", "gemini-3-flash-preview", {"thinking_budget": -1}, {}, False),
    ("gemini", "gemini-3.8-flash", {"effort": "minimal"}, {"effort": "low"}, True),
    ("openai", "gpt-5", {"effort": "none"}, {"effort": "minimal"}, True),
    ("openai", "gpt-5.1", {"thinking_budget": 0}, {"effort": "none"}, False),
    ("openai", "gpt-5.1", {"thinking_budget": -1}, {"effort": "medium"}, False),
    ("openai", "gpt-4o", {"effort": "high"}, {}, True),
    ("openai", "o3", {"effort": "xhigh"}, {"effort": "high"}, True),
    ("openai-responses", "gpt-6-astra", {"effort": "max"}, {"effort": "max"}, False),
    ("xai", "grok-4", {"effort": "high"}, {}, True),
    ("xai", "grok-3-mini", {"effort": "medium"}, {"effort": "high"}, True),
    ("deepseek", "deepseek-v4", {"effort": "medium"}, {"effort": "high"}, True),
    ("groq", "openai/gpt-oss-120b", {"effort": "xhigh"}, {"effort": "high"}, True),
    ("ollama", "gpt-oss:20b", {"effort": "max"}, {"effort": "high"}, True),
    ("ollama", "qwen3:8b", {"thinking_budget": -1}, {"thinking_budget": -1}, False),
    ("openrouter", "some/model", {"effort": "xhigh"}, {"effort": "xhigh"}, False),
    ("openai", "mystery-1", {"effort": "invented"}, {"effort": "invented"}, False),
]


@pytest.mark.parametrize(("place", "model", "asked", "sent", "told"), WISHES, ids=[f"{w[0]} {w[1]} {w[2]}" for w in WISHES])
def test_a_wish_becomes_the_nearest_that_is_taken(
    place: str, model: str, asked: dict[str, Any], sent: dict[str, Any], told: bool
) -> None:
    sampling, issues = wished(place, model, **asked)
    assert sampling == Sampling(**sent)
    assert bool(issues) is told


@pytest.mark.parametrize("wish", [w for w in WISHES if "temperature" not in w[2]], ids=lambda w: f"{w[1]} {w[2]}")
def test_what_is_taken_comes_through_as_it_is(wish: tuple[str, str, dict[str, Any], dict[str, Any], bool]) -> None:
    once, _ = wished(wish[0], wish[1], **wish[2])
    again, issues = wished(wish[0], wish[1], **{name: getattr(once, name) for name in Sampling.__slots__})
    assert (again, issues) == (once, ())


FUNCTION = (Tool(name="f"),)


@pytest.mark.parametrize("asked", [{}, {"effort": "high"}, {"effort": "none"}], ids=str)
def test_where_tools_are_refused_beside_thinking_there_is_none(asked: dict[str, Any]) -> None:
    sampling, issues = wished("openai", "gpt-5.6-terra", tools=FUNCTION, **asked)
    assert sampling.effort == "none"
    assert bool(issues) is (asked.get("effort") == "high")
    assert wished("openai-responses", "gpt-5.6-terra", tools=FUNCTION, **asked)[0] == Sampling(**asked)


def test_a_budget_is_not_asked_for_in_the_middle_of_a_turn_without_its_signed_thoughts() -> None:
    called, result = ToolCall(id="c", name="f"), Message("tool", [ToolResult(call_id="c", name="f", content="x")])
    signed = Reasoning("t", metadata={"signature": "s"})
    for thoughts, budget in (((), None), ((signed,), 2048)):
        turn = (Message("user", "hi"), Message("assistant", (*thoughts, called)), result)
        sampling, issues = wished("anthropic", "claude-sonnet-4-5", effort="low", messages=turn)
        assert sampling.thinking_budget == budget
        assert bool(issues) is (budget is None)


LEARNT = [
    (("effort:none,low",), {"effort": "xhigh"}, {"effort": "low"}),
    (("effort:-xhigh",), {"effort": "xhigh"}, {"effort": "max"}),
    (("effort",), {"effort": "high"}, {}),
    (("effort:-max", "effort:-xhigh"), {"effort": "xhigh"}, {"effort": "high"}),
]


@pytest.mark.parametrize(("refused", "asked", "sent"), LEARNT, ids=str)
def test_what_was_refused_is_not_asked_again(refused: tuple[str, ...], asked: Any, sent: Any) -> None:
    sampling, issues = wished("openai", "mystery-1", refused, **asked)
    assert sampling == Sampling(**sent)
    assert issues


def test_thinking_beside_tools_is_learnt_too() -> None:
    assert wished("openai", "mystery-1", (WHILE_TOOLS,), tools=FUNCTION)[0].effort == "none"


def test_a_row_of_ones_own_counts_before_ours() -> None:
    assert controls("claude-sonnet-4-5", "anthropic_messages") is not None
    assert controls("mystery-1", "openai_chat") is None
