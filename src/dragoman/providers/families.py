"""Model families wherever they are served: their dialects, their reasoning, the limits of their templates.

Rows and nothing else: the first whose pattern fits the model's name counts, users' own rows come first, and there is
always an answer.  Knows dialects by name; nothing of providers, wires or requests.
Contract: narrowing by profile changes the order in which dialects are tried, never which are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache

from ..conversation.cache_markers import Caches
from ..dialects.rows.table import ALL, DIALECTS, resolve
from ..dialects.spec import Dialect
from .model_names import spellings
from .spec import Provider
from .thinking import Controls


class Opens(StrEnum):
    """Cases in which the chat template opens the reasoning block itself, so that the model's text begins inside it."""

    NEVER = "never"
    THINKING = "thinking"  # when the request asks for thinking
    ALWAYS = "always"


class Replay(StrEnum):
    """Past reasoning in the next request."""

    FREE = "free"  # sent or not, nobody minds
    NEVER = "never"  # must not be sent
    TOOL_TURNS = "tool_turns"  # must come back with the calls made since the user last spoke
    DEMANDED = "demanded"  # must come back with every call; one without any is refused while it thinks
    SIGNED = "signed"  # the same, with its signature, byte for byte


RETURNED = frozenset({Replay.TOOL_TURNS, Replay.DEMANDED, Replay.SIGNED})
"""Families that are to get their reasoning back with their calls."""


class Forced(StrEnum):
    """Does the family accept that a call, or one certain call, is demanded?"""

    FREE = "free"
    NOT_BUDGETED = "not_budgeted"  # unless a budget of thinking is given (`thinking: enabled`)
    TURNED_OFF = "turned_off"  # only where thinking is turned off: it is on unless somebody does
    NEVER = "never"


class SchemaLimit(StrEnum):
    """Words that its tools' schemas may not hold: one rejects the whole request."""

    REFS = "refs"  # $ref, $defs
    CONST = "const"  # const; an enum of one does the same
    TYPE_LISTS = "type_lists"  # "type": ["string", "null"]


class SamplingLimit(StrEnum):
    """What of the sampling the services of a family refuse."""

    COOL = "cool"  # a temperature over 1
    EITHER = "either"  # temperature and top_p at once
    SPOKEN = "spoken"  # a blank text to stop at


class TemplateLimit(StrEnum):
    """Conditions of its chat template."""

    CONTENT = "content"  # content is text, never null and never left out
    ALTERNATE = "alternate"  # user and assistant take turns, strictly
    NO_SYSTEM = "no_system"  # no system message: it goes into the first user's


class Ids(StrEnum):
    """The form of a call's id."""

    ANY = "any"
    NINE = "nine"  # nine letters and digits
    COUNTED = "counted"  # functions.NAME:INDEX, counted through the conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One row.

    match      patterns (`*` for anything) on the normalised name, any of which will do
    dialect    the dialect it was taught, to write and to look for first; "": none is known
    also       dialects its models fall into besides
    reasoning  what opens its reasoning, "" for a family that does not reason in text
    opens      whether the prompt has written that already
    replay, forced, ids, schema, template_limits   see there
    parallel   whether it was taught to make several calls in one turn
    sees       whether it sees media that stand inside a result, where the wire lets them stand there
    fixed      what of the sampling services refuse to change (fields of `Sampling`): any value is a 400
    sampling   what else of it they refuse
    searches   whether it searches the web and takes settings for that where the wire has a field for them
    caches     which prompt-cache markers it takes where the wire has any; None: as the place says
    maker      whose thoughts its models read, by one word wherever they are served; "": nobody's but the place's own
    thinking   what it takes of a wish to think; None: as `providers/thinking.py` says
    context    tokens all its models have by their cards, 0 where nobody says that of all
    source     the place that says so
    """

    match: str | tuple[str, ...]
    dialect: str = ""
    also: tuple[str, ...] = ()
    reasoning: str = ""
    opens: Opens = Opens.NEVER
    replay: Replay = Replay.FREE
    forced: Forced = Forced.FREE
    ids: Ids = Ids.ANY
    schema: frozenset[SchemaLimit] = frozenset()
    template_limits: frozenset[TemplateLimit] = frozenset()
    parallel: bool = True
    sees: bool = True
    fixed: frozenset[str] = frozenset()
    sampling: frozenset[SamplingLimit] = frozenset()
    searches: bool = False
    caches: Caches | None = None
    maker: str = ""
    thinking: Controls | None = None
    context: int = 0
    source: str = ""

    def fits(self, name: str) -> bool:
        """Does a pattern of this row fit `name`, which is normalised?"""
        patterns = (self.match,) if isinstance(self.match, str) else self.match
        return any(fnmatchcase(name, pattern) for pattern in patterns)

    @property
    def dialects(self) -> tuple[Dialect, ...]:
        """The rows of its dialects, the one it was taught first."""
        named = (self.dialect, *self.also) if self.dialect else self.also
        return tuple(dict.fromkeys(row for name in named for row in resolve(name)))

    def prefix(self, *, thinking: bool = False) -> str:
        """The block that the prompt has opened when the model begins, for `Parser(prefix=…)`.

        For raw text: a server that takes reasoning out of the text itself leaves nothing open.
        """
        opened = self.opens is Opens.ALWAYS or (self.opens is Opens.THINKING and thinking)
        return self.reasoning if opened else ""


# ── the rows ─────────────────────────────────────────────────────────────────

# fmt: off
THINK = "<think>"
TEXT_ONLY = frozenset({TemplateLimit.CONTENT})
NO_SAMPLING = frozenset({"temperature", "top_p", "top_k"})
NO_PENALTIES = frozenset({"temperature", "top_p", "presence_penalty", "frequency_penalty"})
# platform.claude.com/docs/en/api/messages/create (temperature: "ranges from 0.0 to 1.0"); 400 "stop_sequences: each
# stop sequence must contain non-whitespace"
CLAUDE_SAMPLING = frozenset({SamplingLimit.COOL, SamplingLimit.SPOKEN})
CARDS = "the model cards"
TEMPLATES = "the families' chat templates"

QWEN = (
    Profile(
        match=("qwen3-coder*", "qwen-3-coder*"), dialect="qwen3_coder", also=("hermes",), context=262144,
        source="formats.md E1; Qwen3-Coder's chat template",
    ),
    Profile(
        match=("qwen3.[5-9]*", "qwen-3.[5-9]*"), dialect="qwen3_coder", also=("hermes",), reasoning=THINK,
        opens=Opens.ALWAYS, replay=Replay.TOOL_TURNS, source="formats.md E1; the chat templates of Qwen3.5 to 3.8",
    ),
    Profile(
        match=("qwen3*thinking*", "qwen-3*thinking*", "qwq*"), dialect="hermes", also=("qwen3_coder",), reasoning=THINK,
        opens=Opens.ALWAYS, source="formats.md A2; the chat templates of QwQ and Qwen3-Thinking-2507",
    ),
    Profile(
        match=("qwen3*", "qwen-3*"), dialect="hermes", also=("qwen3_coder",), reasoning=THINK,
        source="formats.md A2; Qwen3's chat template writes past reasoning only since the last question",
    ),
    Profile(match=("qwen*", "codeqwen*"), dialect="hermes", context=32768, source="formats.md A2; " + CARDS),
)
DEEPSEEK = (
    Profile(
        match=("deepseek-r1-distill*", "deepseek-r1*"), dialect="deepseek_v3", also=("deepseek_v31",), reasoning=THINK,
        opens=Opens.ALWAYS, replay=Replay.NEVER, context=131072,
        source="formats.md D1; peers.md pain 17 (R1 refuses past reasoning); api-docs.deepseek.com/guides/"
        "reasoning_model (400 for reasoning_content in a message)",
    ),
    Profile(
        match=("deepseek-v3.1*", "deepseek-chat-v3.1*", "deepseek-*terminus*"), dialect="deepseek_v31",
        also=("deepseek_v3",), reasoning=THINK, opens=Opens.THINKING, context=131072, source="formats.md D2",
    ),
    Profile(
        match=("deepseek-v3.2*", "deepseek-v4*", "deepseek-chat-v4*", "deepseek-reasoner*", "deepseek-flash*"),
        dialect="deepseek_v32", also=("deepseek_v31",), reasoning=THINK, opens=Opens.THINKING, replay=Replay.DEMANDED,
        forced=Forced.TURNED_OFF, context=131072,
        source="formats.md E3; api-docs.deepseek.com/guides/thinking_mode (on by default; 400 without the reasoning of "
        'turns with calls; 400 "Thinking mode does not support this tool_choice"); deepseek-harness#739 (also where '
        "there was none)",
    ),
    Profile(
        match="deepseek*", dialect="deepseek_v3", also=("deepseek_v31", "deepseek_v32"), reasoning=THINK,
        source="formats.md D1",
    ),
)
MOONSHOT = (
    Profile(
        match="kimi-k3*", dialect="kimi_k2", reasoning="<|open|>think<|sep|>", opens=Opens.ALWAYS,
        replay=Replay.TOOL_TURNS, forced=Forced.TURNED_OFF, fixed=NO_PENALTIES,
        source="formats.md E6; Kimi K3's chat template; 400 \"tool_choice is incompatible with thinking "
        'enabled", "invalid temperature: only 1 is allowed for this model"',
    ),
    Profile(
        match=("kimi-k2-thinking*", "kimi-k2.[5-9]*"), dialect="kimi_k2", reasoning=THINK, replay=Replay.DEMANDED,
        ids=Ids.COUNTED, forced=Forced.TURNED_OFF, fixed=NO_PENALTIES, context=262144,
        source="formats.md D3; peers.md pain 17 (kimi-cli#2141: reasoning missing in a call's message is a 400); 400 "
        '"tool_choice is incompatible with thinking enabled", "invalid temperature: only 1 is allowed for this model"',
    ),
    Profile(match=("kimi*", "moonshot*"), dialect="kimi_k2", ids=Ids.COUNTED, source="formats.md D3"),
)
ZAI = (
    Profile(
        match=("glm-4.[7-9]*", "glm-[5-9]*"), dialect="glm45", reasoning=THINK, opens=Opens.ALWAYS,
        replay=Replay.TOOL_TURNS, context=200000,
        source="formats.md E2 (glm47); docs.z.ai/guides/capabilities/thinking-mode (on by default; reasoning is "
        "returned with the results); GLM-4.7's and 5's chat templates open the block unless thinking is off",
    ),
    Profile(
        match="glm-4.6*", dialect="glm45", reasoning=THINK, replay=Replay.TOOL_TURNS, context=200000,
        source="formats.md E2; docs.z.ai/guides/capabilities/thinking-mode (reasoning is returned with the results)",
    ),
    Profile(
        match="glm-4.5*", dialect="glm45", reasoning=THINK, replay=Replay.TOOL_TURNS, context=131072,
        source="formats.md E2; docs.z.ai/guides/capabilities/thinking-mode",
    ),
    Profile(match=("glm*", "chatglm*"), dialect="glm45", source="formats.md E2; wire-quirks.md (GLM-4)"),
)
OPENAI = (
    Profile(
        maker="gpt-oss", match="gpt-oss*", dialect="harmony", reasoning="<|channel|>analysis<|message|>",
        replay=Replay.TOOL_TURNS, parallel=False, context=131072,
        source="formats.md H1; OpenAI cookbook on raw reasoning; llama.cpp#20393 (taught to make one call)",
    ),
    Profile(
        maker="openai", match=("gpt-5-search-api*", "gpt-4o-search*", "gpt-4o-mini-search*"), searches=True,
        source="platform.openai.com/docs/guides/tools-web-search: Chat Completions searches with these models alone",
    ),
    Profile(match=("gpt-5-chat*", "chatgpt*"), source="wire-quirks.md (tools is not supported)"),
    Profile(
        maker="openai", match=("gpt-5", "gpt-5-*", "o[134]", "o[134]-*"), fixed=NO_PENALTIES,
        source="native tools; 400 \"'temperature' does not support 0.7 with this model. Only the default (1) value is "
        'supported"',
    ),
    Profile(maker="openai", match=("gpt*", "codex*"), source="native tools; leaks are read like any other"),
)
GOOGLE = (
    Profile(
        maker="gemini", match=("gemini-[3-9]*",), also=("tool_code",), replay=Replay.SIGNED, context=1048576,
        schema=frozenset(SchemaLimit),
        source="peers.md pains 16 and 18; wire-quirks.md (thoughtSignature must be echoed)",
    ),
    Profile(
        maker="gemini", match="gemini*", also=("tool_code",), schema=frozenset(SchemaLimit),
        sees=False, source="peers.md pain 18; malformations.md §5 (tool_code leaks); "
        "ai.google.dev/gemini-api/docs/function-calling (media in results: Gemini 3)",
    ),
    Profile(match=("functiongemma*",), dialect="functiongemma", source="formats.md G2"),
    Profile(
        match=("gemma-4*", "gemma4*", "diffusiongemma*"), dialect="gemma4", reasoning="<|channel>thought",
        source="formats.md G1; Gemma 4's chat template",
    ),
    Profile(
        match=("gemma-3*", "gemma3*", "gemma-2*", "gemma2*", "gemma*"), dialect="tool_code", also=("pythonic",),
        template_limits=frozenset({TemplateLimit.ALTERNATE, TemplateLimit.NO_SYSTEM}),
        source="malformations.md §5; " + TEMPLATES,
    ),
)
ANTHROPIC = (
    Profile(
        maker="claude",
        match=("claude-opus-5.5*", "claude-opus-5-5*", "claude-fable*"), also=("anthropic_xml",), replay=Replay.SIGNED,
        forced=Forced.NEVER, fixed=NO_SAMPLING, sampling=CLAUDE_SAMPLING, caches=Caches.ALL, context=200000,
        source="peers.md §1 row 33 (a forced choice is rejected); 400 \"`temperature` is deprecated for this model\"",
    ),
    Profile(
        maker="claude",
        match=("claude-opus-4-[78]*", "claude-opus-4.[78]*", "claude-opus-5*", "claude-sonnet-5*", "claude-mythos*"),
        also=("anthropic_xml",), replay=Replay.SIGNED, forced=Forced.NOT_BUDGETED, fixed=NO_SAMPLING,
        sampling=CLAUDE_SAMPLING, caches=Caches.ALL, context=200000,
        source="as below; 400 \"`temperature` is deprecated for this model\", the same for top_p and top_k",
    ),
    Profile(
        maker="claude",
        match=("claude-*-4[-.][1-6]", "claude-*-4[-.][1-6]-*"), also=("anthropic_xml",), replay=Replay.SIGNED,
        forced=Forced.NOT_BUDGETED, sampling=CLAUDE_SAMPLING | {SamplingLimit.EITHER}, caches=Caches.ALL,
        context=200000,
        source="as below; 400 \"`temperature` and `top_p` cannot both be specified for this model\"",
    ),
    Profile(
        maker="claude", match=("claude*",), also=("anthropic_xml",), replay=Replay.SIGNED, forced=Forced.NOT_BUDGETED,
        sampling=CLAUDE_SAMPLING, caches=Caches.ALL, context=200000,
        source="formats.md §6.2; platform.claude.com/docs/build-with-claude/thinking-tool-workflows (a forced call is "
        "an error with manual thinking, adaptive thinking takes it)",
    ),
)
META = (
    Profile(
        match=("llama-4*", "llama4*"), dialect="llama4_pythonic", also=("pythonic", "llama3_json"),
        source="formats.md F1, B1",
    ),
    Profile(
        match=("llama-3.2*", "llama3.2*", "llama3-2*"), dialect="pythonic", also=("llama3_json", "python_tag"),
        parallel=False, context=131072, source="formats.md F1, B1; the template takes one call in a turn",
    ),
    Profile(
        match=("llama-3.[13]*", "llama3.[13]*", "llama3-[13]*", "llama-v3.[13]*", "meta-llama-3.[13]*"),
        dialect="llama3_json", also=("llama_function", "python_tag", "pythonic"), parallel=False, context=131072,
        source="formats.md B1, §6.2; the template takes one call in a turn",
    ),
    Profile(match=("llama*", "meta-llama*", "codellama*"), dialect="llama3_json", source="formats.md B1"),
    Profile(match="muse*", dialect="muse", source="formats.md E3, H"),
)
MISTRAL = (
    Profile(
        match=("mistral-small-3.[2-9]*", "mistral-small-250[6-9]*", "mistral-small-4*", "magistral*"),
        dialect="mistral_v11", also=("mistral",), reasoning="[THINK]", ids=Ids.NINE, context=131072,
        source="formats.md D4",
    ),
    Profile(
        match=("devstral*", "ministral-3*", "mistral-medium*", "mistral-large-3*", "codestral*"), dialect="mistral_v11",
        also=("mistral",), ids=Ids.NINE, source="formats.md D4",
    ),
    Profile(
        match=("mistral*", "mixtral*", "ministral*", "mathstral*", "open-mi*", "pixtral*"), dialect="mistral",
        also=("mistral_v11",), ids=Ids.NINE, template_limits=frozenset({TemplateLimit.ALTERNATE}),
        source="formats.md C1; " + TEMPLATES,
    ),
)
IBM = (
    Profile(match="granite-20b*", dialect="granite_20b_fc", source="formats.md A10"),
    Profile(match=("granite-4*", "granite4*"), dialect="granite4", also=("hermes",), source="formats.md A4"),
    Profile(
        match=("granite*",), dialect="granite", also=("granite4",), template_limits=TEXT_ONLY,
        source="formats.md C6; " + TEMPLATES,
    ),
)
TUNED = (
    Profile(
        match=("*hermes*", "openhermes*", "*theta*"), dialect="hermes", reasoning=THINK,
        source="formats.md A1 (also with <scratch_pad>)",
    ),
    Profile(match=("*functionary*",), dialect="llama_function", source="formats.md §6.2"),
    Profile(match="*firefunction*", dialect="phi4_mini_json", source="formats.md C5; its chat template"),
    Profile(match=("*xlam*",), dialect="json_array", also=("mistral", "hermes"), source="formats.md C4"),
    Profile(match=("*toolace*", "*watt-tool*", "*hammer*"), dialect="pythonic", source="formats.md F1"),
    Profile(
        match=("*nemotron-3*", "*nemotron-nano-3*"), dialect="qwen3_coder", reasoning=THINK, opens=Opens.ALWAYS,
        source="formats.md E1 (nemotron_v3); Nemotron 3's chat template",
    ),
    Profile(
        match=("*nemotron*",), dialect="hermes", also=("llama3_json", "json_array"), reasoning=THINK,
        source="formats.md A1; Nemotron Nano v2 writes a list between tags of its own",
    ),
)
OTHERS = (
    Profile(match=("command*", "c4ai-command*"), dialect="cohere_command",
            reasoning="<|START_THINKING|>", source="formats.md C8"),
    Profile(match=("minimax-m3*",), dialect="minimax_m3", reasoning="<mm:think>", replay=Replay.TOOL_TURNS,
            source="formats.md E5; MiniMax M3's chat template"),
    Profile(match=("minimax-m2*", "minimax*"), dialect="minimax_m2", reasoning=THINK, opens=Opens.ALWAYS,
            replay=Replay.TOOL_TURNS, source="formats.md E3; MiniMax M2's chat template keeps reasoning between calls"),
    Profile(match=("phi-4*", "phi4*"), dialect="phi4_mini_json", template_limits=TEXT_ONLY, source="formats.md C5"),
    Profile(match=("phi-*", "phi[34]*"), template_limits=TEXT_ONLY, source=TEMPLATES),
    Profile(match=("internlm*", "intern-s1*"), dialect="internlm2", source="formats.md A7"),
    Profile(match=("*jamba*",), dialect="jamba", context=262144, source="formats.md C2"),
    Profile(match=("hunyuan*",), dialect="jamba", reasoning=THINK, source="formats.md C3"),
    Profile(match=("apriel*",), dialect="jamba", source="Apriel 1.5's chat template (a list in <tool_calls>)"),
    Profile(match=("hy[34]*",), dialect="glm45", reasoning=THINK, source="formats.md E2 (hy_v3, hy_v4)"),
    Profile(match=("seed-oss*",), dialect="seed_oss", reasoning="<seed:think>", source="formats.md E1"),
    Profile(match=("step-3.[5-9]*", "step3.[5-9]*", "stepfun3.[5-9]*"), dialect="qwen3_coder", reasoning=THINK,
            opens=Opens.ALWAYS, source="formats.md E1 (step3p5)"),
    Profile(match=("step-3*", "step3*"), dialect="step3", reasoning=THINK, source="formats.md E3"),
    Profile(match=("ernie*",), dialect="ernie45", reasoning=THINK, source="formats.md A5"),
    Profile(match=("lfm*",), dialect="lfm2", reasoning=THINK, source="formats.md F2"),
    Profile(match=("olmo*",), dialect="olmo3", source="formats.md F3"),
    Profile(match=("apertus*",), dialect="apertus", reasoning="<|inner_prefix|>", source="formats.md C7"),
    Profile(match=("smollm*",), dialect="hermes", reasoning=THINK, source="SmolLM3's chat template"),
    Profile(match=("mimo*",), dialect="mimo", also=("qwen3_coder", "hermes"), reasoning=THINK, source="formats.md E1"),
    Profile(match=("minicpm*",), dialect="minicpm5", also=("qwen3_coder",), reasoning=THINK,
            source="formats.md E1, E4"),
    Profile(match=("longcat*",), dialect="longcat", source="formats.md A6"),
    Profile(match=("ling-*", "ring-*"), dialect="glm45", also=("hermes",), reasoning=THINK, opens=Opens.THINKING,
            source="formats.md E2 (ling3); Ling 3's chat template"),
    Profile(match=("laguna*", "spark[-2]*"), dialect="glm45", reasoning=THINK, opens=Opens.THINKING,
            source="formats.md E2 (poolside_v1, spark25)"),
    Profile(match=("iquest*",), dialect="iquest_q1", source="formats.md E2"),
    Profile(match=("gigachat3.5*", "gigachat-3.5*"), dialect="gigachat35", source="formats.md E3"),
    Profile(match=("gigachat*",), dialect="gigachat3", parallel=False, source="formats.md A8 (one call)"),
    Profile(match=("plamo*",), dialect="plamo3", reasoning="<|plamo:begin_think:plamo|>", source="formats.md D5"),
    Profile(match=("inkling*",), dialect="inkling", reasoning="<|content_thinking|>", source="formats.md A9"),
    Profile(match=("dots*",), dialect="dots", source="formats.md E3"),
    Profile(match=("trinity*", "arcee*"), dialect="granite4", reasoning=THINK, source="formats.md A3"),
    Profile(match=("exaone*", "reka*", "bielik*"), dialect="hermes", reasoning=THINK, source=TEMPLATES),
    Profile(maker="grok", match=("grok*",),
            source="native tools; wire-quirks.md (reasoning fields hold drafts of calls)"),
    Profile(maker="nova", match=("nova-*",), caches=Caches.INSTRUCTIONS,
            source="native tools; wire-quirks.md (a code interpreter of its own in the turn); 400 \"extraneous key "
            "[cachePoint] is not permitted\" after tools and after results"),
)
DEFAULT = Profile(match="*", source="nothing is known of this model: every dialect is read in the order of the table")

ROWS: tuple[Profile, ...] = (
    *TUNED, *QWEN, *DEEPSEEK, *MOONSHOT, *ZAI, *OPENAI, *GOOGLE, *ANTHROPIC, *META, *MISTRAL, *IBM, *OTHERS,
)  # fmt: skip

# fmt: on

SHARED = {
    ("anthropic_messages", "claude"): "claude",
    ("bedrock_converse", "claude"): "claude",
    ("bedrock_invoke", "claude"): "claude",
    ("gemini", "gemini"): "gemini",
}
"""Codec and maker → one word for all places: signatures of Claude and Gemini are read wherever these are served."""


def origin(provider: Provider, family: Profile) -> str:
    """Whose models read the signatures and encrypted reasoning of this family's models at this place."""
    return SHARED.get((provider.codec, family.maker), f"{provider.codec}:{provider.name}:{family.maker}")


def alike(codec: str) -> frozenset[str]:
    """The codecs whose fields of reasoning this one writes too."""
    words = {word for (name, _), word in SHARED.items() if name == codec}
    return frozenset({codec, *(name for (name, _), word in SHARED.items() if word in words)})


def profile(model: str, rows: Iterable[Profile] = ()) -> Profile:
    """The first row that fits the model's name, the caller's `rows` before ours; `DEFAULT` where none does."""
    return _profile(model, tuple(rows))


@lru_cache(maxsize=1024)
def _profile(model: str, rows: tuple[Profile, ...]) -> Profile:
    names = spellings(model)
    return next((row for row in (*rows, *ROWS) if any(map(row.fits, names))), DEFAULT)


def order(model: str, rows: Sequence[Profile] = ()) -> tuple[Dialect, ...]:
    """Every dialect, those of the model's family first: a text that several could read is read as its own.

    Only the rows it names: damaged calls of its own are told from other families' by the order of the table.
    """
    known = profile(model, rows)
    return _order(tuple(DIALECTS[name] for name in (known.dialect, *known.also) if name))


@lru_cache(maxsize=256)
def _order(first: tuple[Dialect, ...]) -> tuple[Dialect, ...]:
    """The same tuple for the same family: what is made of it is remembered by its identity."""
    theirs = {opener for row in ALL for opener in _openers(row)[:1]}
    leads = (row for row in first if not theirs & {*_openers(row)[1:]})
    return tuple(dict.fromkeys((*leads, *ALL)))


def _openers(row: Dialect) -> tuple[str, ...]:
    """Its openers, as its family writes them first; another family's must not come before them."""
    return tuple(opener.strip() for opener in row.section.open or row.call.open or row.tool.open)
