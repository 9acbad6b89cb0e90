"""What each family of models takes of a wish to think: words of effort, budgets of tokens, on, off.

Rows and nothing else, by the model's name and the wire: the first that fits counts.  Knows names and codecs by name;
nothing of requests.  `turn/thinking.py` maps a wish to the nearest of what a row takes, and says so.
Sources: shared/reference/thinking.md §1, which gathers the vendors' pages, what LiteLLM, pydantic-ai and the AI SDK
send, and recorded refusals; rows repeat the words of a refusal where there is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache

from .model_names import spellings

WORDS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""All words of effort, weakest first; "none" turns thinking off."""
DECIDES = -1
"""The budget of a model that thinks as long as it sees fit."""

API_WORDS: Mapping[str, tuple[str, ...]] = {
    "openai_chat": WORDS,
    "openai_responses": WORDS,
    "anthropic_messages": WORDS[2:],
    "bedrock_invoke": WORDS[2:],
    "bedrock_converse": WORDS,
    "gemini": WORDS[1:5],
    "gemini_interactions": WORDS[1:5],
    "ollama_chat": ("none", "low", "medium", "high", "max"),
    "ollama_generate": ("none", "low", "medium", "high", "max"),
    "cohere_chat": (),
}
"""Codec → the words its API has at all; a test holds them against the official SDKs' types."""
BUDGETED = frozenset({"anthropic_messages", "bedrock_invoke", "bedrock_converse", "gemini", "cohere_chat"})
"""Codecs whose API takes a budget of tokens."""
OFFERS_OFF = frozenset({"anthropic_messages", "bedrock_invoke", "bedrock_converse"})
"""Codecs that turn thinking off by saying so (`thinking: disabled`), not by a budget of nothing."""
SWITCHED = frozenset({"ollama_chat", "ollama_generate"})
"""Codecs that turn thinking on without a word of how much (`think: true`)."""
SAID_BY: Mapping[str, tuple[str, ...]] = {
    "openai_chat": ("reasoning", "thinking", "enable_thinking", "thinking_budget"),
    "bedrock_converse": ("additionalModelRequestFields",),
}
"""Codec → fields of its wire that no value models and that say how to think, by the words of one place or model."""

BUDGETS: Mapping[str, int] = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 32768, "max": 65536}
"""Word → tokens.  Between what LiteLLM (1024, 2048, 4096) and pydantic-ai (2048, 10000, 16384) send."""
_STEPS = ((0, "none"), (1024, "minimal"), (4095, "low"), (12287, "medium"), (24575, "high"), (47999, "xhigh"))


def word_of(budget: int) -> str:
    """The word for a budget of so many tokens, which is not negative."""
    return next((word for most, word in _STEPS if budget <= most), "max")


@dataclass(frozen=True, slots=True, kw_only=True)
class Controls:
    """One row.

    match     patterns on the normalised name, as a family's;  wires: the codecs it speaks of, () for all
    efforts   the words it takes, weakest first; with "none" among them, that word turns thinking off
    budgets   the least and the most tokens it takes as a budget; None where it takes none
    adaptive  whether it may be told to think as long as it sees fit
    off       whether it can be turned off in a way of its own: a budget of 0, `disabled`
    thinks    whether it thinks unless it is told not to
    tools     whether it takes function tools while it thinks
    services  whether the row is about its maker's own services alone, not about every place that serves it
    """

    match: tuple[str, ...]
    wires: frozenset[str] = frozenset()
    efforts: tuple[str, ...] = ()
    budgets: tuple[int, int] | None = None
    adaptive: bool = False
    off: bool = False
    thinks: bool = False
    tools: bool = True
    services: frozenset[str] = frozenset()
    source: str = ""

    def fits(self, names: tuple[str, ...], codec: str, provider: str) -> bool:
        """Is the row about this model here?"""
        if (self.wires and codec not in self.wires) or (self.services and provider not in self.services):
            return False
        return any(fnmatchcase(name, pattern) for name in names for pattern in self.match)


def _from(weakest: str, strongest: str) -> tuple[str, ...]:
    return WORDS[WORDS.index(weakest) : WORDS.index(strongest) + 1]


# fmt: off
CLAUDE = frozenset({"anthropic_messages", "bedrock_invoke", "bedrock_converse"})
GEMINI = frozenset({"gemini", "gemini_interactions"})
CHAT = frozenset({"openai_chat"})
COHERE = frozenset({"cohere_chat"})
OPENAI = frozenset({"openai", "azure", "azure-deployments"})
ON_OPENAI = OPENAI | {"openai-responses"}
CLAUDE_BUDGET = (1024, 128000)
WHATS_NEW = "platform.claude.com/docs: effort, adaptive thinking; anthropic 2.12.0"
NO_TOOLS = (
    "400 \"Function tools with reasoning_effort are not supported for … in /v1/chat/completions. To use function "
    "tools, use /v1/responses or set reasoning_effort to 'none'\" (openai-openapi#541, litellm#34569)"
)

CLAUDE_ROWS = (
    Controls(
        match=("claude-fable*", "claude-mythos*", "claude-opus-5[.-]5*", "claude-sonnet-5[.-]5*"), wires=CLAUDE,
        efforts=_from("low", "max"), adaptive=True, thinks=True,
        source=WHATS_NEW + "; always on: `enabled` and `disabled` are refused",
    ),
    Controls(
        match=("claude-sonnet-5*", "claude-opus-5*"), wires=CLAUDE, efforts=_from("low", "max"), adaptive=True,
        off=True, thinks=True, source=WHATS_NEW,
    ),
    Controls(
        match=("claude-haiku-5*", "claude-opus-4[.-][78]*"), wires=CLAUDE, efforts=_from("low", "max"), adaptive=True,
        off=True,
        source="400 '\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and "
        "\"output_config.effort\"' (code-assistant#119)",
    ),
    Controls(
        match=("claude-opus-4[.-]6*", "claude-sonnet-4[.-]6*"), wires=CLAUDE, efforts=("low", "medium", "high", "max"),
        budgets=CLAUDE_BUDGET, adaptive=True, off=True, source=WHATS_NEW,
    ),
    Controls(
        match=("claude-opus-4[.-]5*",), wires=CLAUDE, efforts=("low", "medium", "high"), budgets=CLAUDE_BUDGET,
        off=True, source=WHATS_NEW + '; 400 "adaptive thinking is not supported on this model" (eliza#16175)',
    ),
    Controls(
        match=("claude-3-5*", "claude-3.5*", "claude-3-[hos]*", "claude-2*", "claude-instant*"), wires=CLAUDE,
        source="the model cards: no thinking before Claude 3.7",
    ),
    Controls(
        match=("claude*",), wires=CLAUDE, budgets=CLAUDE_BUDGET, off=True,
        source='400 "This model does not support the effort parameter" (claude-code#30760, #30795)',
    ),
)
GEMINI_ROWS = (
    Controls(match=("gemini-2.5-pro*",), wires=GEMINI, budgets=(128, 32768), adaptive=True, thinks=True,
             source='400 "Thinking level is not supported for this model." (Roo-Code#10700); 0 is refused'),
    Controls(match=("gemini-2.5-flash-lite*",), wires=GEMINI, budgets=(512, 24576), adaptive=True, off=True,
             source="ai.google.dev/gemini-api/docs/thinking"),
    Controls(match=("gemini-2.5*", "gemini-robotics*"), wires=GEMINI, budgets=(1, 24576), adaptive=True, off=True,
             thinks=True, source="ai.google.dev/gemini-api/docs/thinking"),
    Controls(match=("gemini-1*", "gemini-2.0*"), wires=GEMINI, source="the model cards: these do not think"),
    Controls(match=("gemini-3-pro*",), wires=GEMINI, efforts=("low", "high"), thinks=True,
             source="ai.google.dev/gemini-api/docs/gemini-3; LiteLLM sends low for none"),
    Controls(match=("gemini-3.1-pro*", "gemini-3.7*", "gemini-3.8*", "gemini-4*"), wires=GEMINI,
             efforts=("low", "medium", "high"), thinks=True, source="ai.google.dev/gemini-api/docs/thinking"),
    Controls(match=("gemini-3*", "gemini-[5-9]*"), wires=GEMINI, efforts=_from("minimal", "high"), thinks=True,
             source="ai.google.dev/gemini-api/docs/thinking; 400 for thinkingBudget 0 (EnviousWispr#1770)"),
)
OPENAI_ROWS = (
    Controls(match=("gpt-5-chat*", "gpt-4*", "gpt-3*", "chatgpt*"), source="the model cards: these do not reason"),
    Controls(match=("gpt-5*-chat*",), efforts=("medium",), thinks=True, source="pydantic-ai, live"),
    Controls(match=("gpt-5-pro*",), efforts=("high",), thinks=True, source="pydantic-ai, live"),
    Controls(match=("gpt-5", "gpt-5-*"), efforts=_from("minimal", "high"), thinks=True, source="pydantic-ai, live"),
    Controls(match=("gpt-5.1-codex-max*",), efforts=("low", "medium", "high", "xhigh"), thinks=True,
             source="pydantic-ai"),
    Controls(match=("gpt-5.1-codex*",), efforts=("low", "medium", "high"), thinks=True, source="pydantic-ai, live"),
    Controls(
        match=("gpt-5.1*",), efforts=("none", "low", "medium", "high"),
        source="400 \"Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model. Supported values are: "
        "'none', 'low', 'medium', and 'high'.\" (openai-agents-python#2089)",
    ),
    Controls(match=("gpt-5.[2-4]-pro*",), efforts=("medium", "high", "xhigh"), thinks=True, source="pydantic-ai, live"),
    Controls(match=("gpt-5.5-pro*",), efforts=("medium", "high", "xhigh"), thinks=True, source="pydantic-ai, live"),
    Controls(match=("gpt-5.4*",), wires=CHAT, services=OPENAI, efforts=("none", *_from("low", "xhigh")), tools=False,
             source=NO_TOOLS),
    Controls(match=("gpt-5.[2-4]*",), efforts=("none", *_from("low", "xhigh")), source="pydantic-ai, live"),
    Controls(match=("gpt-5.[5-9]*",), wires=CHAT, services=OPENAI, efforts=("none", *_from("low", "xhigh")),
             thinks=True, tools=False, source=NO_TOOLS),
    Controls(match=("gpt-5.[5-9]*",), efforts=("none", *_from("low", "xhigh")), thinks=True,
             source="pydantic-ai, live"),
    Controls(match=("gpt-6-astra*", "gpt-6.1-sol*"), wires=CHAT, services=OPENAI, efforts=_from("low", "max"),
             thinks=True, tools=False, source=NO_TOOLS + "; none is refused"),
    Controls(match=("gpt-6-astra*", "gpt-6.1-sol*"), efforts=_from("low", "max"), thinks=True,
             source="litellm 1.106.2"),
    Controls(match=("gpt-[6-9]*",), wires=CHAT, services=OPENAI, efforts=("none", *_from("low", "max")), thinks=True,
             tools=False, source=NO_TOOLS),
    Controls(match=("gpt-[6-9]*",), efforts=("none", *_from("low", "max")), thinks=True, source="litellm 1.106.2"),
    Controls(match=("o[134]", "o[134]-*"), efforts=("low", "medium", "high"), thinks=True,
             source="platform.openai.com/docs/guides/reasoning"),
    Controls(match=("gpt-oss*",), efforts=("low", "medium", "high"), thinks=True,
             source="the model card; Groq and Cerebras refuse other words (400 wrong_api_format); Ollama: max is high"),
)
OTHER_ROWS = (
    Controls(match=("grok-3-mini*",), efforts=("low", "high"), thinks=True, source="docs.x.ai: reasoning"),
    Controls(match=("grok-4.3*",), efforts=("none", "low", "medium", "high"), thinks=True,
             source="docs.x.ai: reasoning"),
    Controls(match=("grok-4.5*",), efforts=("low", "medium", "high"), thinks=True,
             source="\"This model does not support 'reasoning_effort' value 'none'\""),
    Controls(match=("grok-4.[67]*",), efforts=("low", "medium", "high", "xhigh"), thinks=True, source="docs.x.ai"),
    Controls(match=("grok-4*", "grok-code*"), thinks=True,
             source='"Model … does not support parameter reasoningEffort."'),
    Controls(match=("deepseek-v4*", "deepseek-chat-v4*", "deepseek-flash*"), efforts=("none", "low", "high", "max"),
             thinks=True, off=True, source="api-docs.deepseek.com/guides/thinking_mode (medium is high)"),
    Controls(match=("kimi-k3*",), efforts=("low", "high", "max"), thinks=True, source="platform.moonshot.ai: K3"),
    Controls(match=("glm-5.3*",), efforts=("low", "high", "max"), thinks=True, source="docs.z.ai: thinking mode"),
    Controls(match=("nova-2*",), wires=CLAUDE, efforts=("none", "low", "medium", "high"),
             source="docs.aws.amazon.com/nova: reasoningConfig.maxReasoningEffort"),
    Controls(match=("nova*",), wires=CLAUDE, source="the model cards: no thinking before Nova 2"),
    Controls(match=("command-a-reasoning*",), wires=COHERE, budgets=(1, 32768), adaptive=True, off=True, thinks=True,
             source="docs.cohere.com/docs/reasoning; ai-sdk caps the budget there"),
    Controls(match=("command*", "c4ai*"), wires=COHERE, source="docs.cohere.com/docs/models: these do not reason"),
    Controls(match=("magistral*",), thinks=True, source="docs.mistral.ai: reasoning"),
    Controls(match=("mistral-medium*", "mistral-small-4*", "mistral-small-260*", "mistral-large-4*"),
             efforts=("none", "high"), source="docs.mistral.ai: reasoning"),
)
# fmt: on
ROWS: tuple[Controls, ...] = (*CLAUDE_ROWS, *GEMINI_ROWS, *OPENAI_ROWS, *OTHER_ROWS)


@lru_cache(maxsize=1024)
def controls(model: str, codec: str, provider: str = "") -> Controls | None:
    """The row of this model over this API at this provider, its words cut to those the API has; None for no row."""
    names = spellings(model)
    row = next((row for row in ROWS if row.fits(names, codec, provider)), None)
    if row is None:
        return None
    known = API_WORDS.get(codec, WORDS)
    return replace(row, efforts=tuple(word for word in row.efforts if word in known))
