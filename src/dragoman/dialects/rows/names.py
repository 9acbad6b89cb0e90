"""Families where markup carries the tool's name and a JSON object of arguments follows (formats.md D, H)."""

from __future__ import annotations

from ..spec import Dialect, JsonArgs, Place, Span, Strength, span


def _bars(*spellings: str) -> tuple[str, ...]:
    """Spellings with the full-width bars of the special tokens, and with plain ones."""
    return tuple(dict.fromkeys((*spellings, *(s.replace("｜", "|") for s in spellings))))


SECTION = Span(_bars("<｜tool▁calls▁begin｜>"), _bars("<｜tool▁calls▁end｜>"))
SEP = "<｜tool▁sep｜>"
DEEPSEEK_V3 = Dialect(
    name="deepseek_v3",
    aliases=("deepseek_r1", "deepseek_v3_ascii"),
    section=SECTION,
    call=Span(_bars(f"<｜tool▁call▁begin｜>function{SEP}"), _bars("<｜tool▁call▁end｜>")),
    tool=span("", "\n```json\n"),
    body=span("", "\n```"),
    args=JsonArgs(),
    quiet=("<|end▁of▁sentence|>",),
    source="formats.md D1 (DeepSeek-V3, R1)",
    sample=(
        f"{SECTION.open[0]}<｜tool▁call▁begin｜>function{SEP}f\n```json\n"
        f'{{"a": 1}}\n```<｜tool▁call▁end｜>{SECTION.close[0]}'
    ),
)
DEEPSEEK_V31 = Dialect(
    name="deepseek_v31",
    section=SECTION,
    call=Span(_bars("<｜tool▁call▁begin｜>"), _bars("<｜tool▁call▁end｜>")),
    tool=Span((), _bars(SEP)),
    between=("",),
    args=JsonArgs(),
    source="formats.md D2 (DeepSeek-V3.1)",
    sample=f'{SECTION.open[0]}<｜tool▁call▁begin｜>f{SEP}{{"a": 1}}<｜tool▁call▁end｜>{SECTION.close[0]}',
)
KIMI_K2 = Dialect(
    name="kimi_k2",
    aliases=("kimi",),
    section=span("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
    call=span("<|tool_call_begin|>", "<|tool_call_end|>"),
    tool=span("", "<|tool_call_argument_begin|>"),
    tool_re=r"(?P<id>(?:functions\.)?(?P<name>.+?)(?::\d+)?)",
    tool_form="functions.{name}:{index}",
    between=("",),
    args=JsonArgs(),
    source="formats.md D3 (Kimi K2)",
    sample='<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|><|tool_calls_section_end|>',
)
MISTRAL_V11 = Dialect(
    name="mistral_v11",
    aliases=("mistral_args", "mistral_callid_args", "mistral", "mistral_bracket"),
    call=span("[TOOL_CALLS]"),
    tool=span("", ("[ARGS]", "{")),
    tool_re=r"(?P<name>[^\[]+)(?:\[CALL_ID\](?P<id>.+))?",
    between=("",),
    args=JsonArgs(),
    source="formats.md D4 (Mistral tokenizer v11+)",
    sample='[TOOL_CALLS]f[ARGS]{"a": 1}',
)
PLAMO3 = Dialect(
    name="plamo3",
    section=span("<|plamo:begin_tool_requests:plamo|>", "<|plamo:end_tool_requests:plamo|>"),
    call=span("<|plamo:begin_tool_request:plamo|>", "<|plamo:end_tool_request:plamo|>"),
    tool=span("<|plamo:begin_tool_name:plamo|>", "<|plamo:end_tool_name:plamo|>"),
    body=span(
        ("<|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>", "<|plamo:begin_tool_arguments:plamo|>"),
        "<|plamo:end_tool_arguments:plamo|>",
    ),
    between=("",),
    args=JsonArgs(),
    quiet=("<|plamo:tag|>",),
    reasoning=(span("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),),
    source="formats.md D5 (PLaMo 3)",
)
LLAMA_FUNCTION = Dialect(
    name="llama_function",
    aliases=("functionary_v31",),
    call=span("", "</function>"),
    tool=span("<function=", ">"),
    args=JsonArgs(),
    source="formats.md §6.2 (Llama 3.1 user-defined functions, Functionary v3.1)",
    sample='<function=f>{"a": 1}</function>',
)

REHEARSAL = Dialect(
    name="mistral_args_rehearsal",
    aliases=("mistral_args", "mistral_bracket", "mistral"),
    place=Place.LINE,
    strength=Strength.OWN,
    call=span("{name}[ARGS]"),
    args=JsonArgs(),
    source="malformations.md §5 (Ministral without [TOOL_CALLS])",
    sample='f[ARGS]{"a": 1}',
)
NAME_JSON = Dialect(
    name="name_then_json",
    aliases=("glm4",),
    place=Place.LINE,
    strength=Strength.WEAK,
    call=span("{name}\n"),
    args=JsonArgs(),
    source="wire-quirks.md, text dialects (GLM-4: the name, then a JSON object on the next line)",
    sample='f\n{"a": 1}',
)
NAME_BRACE = Dialect(
    name="name_brace",
    place=Place.WHOLE,
    strength=Strength.WEAK,
    lead=("{name}{",),
    tool=span("", "{"),
    between=("\n", ";", ","),
    args=JsonArgs(),
    source="issues of 2025-26 (the name and its JSON object glued together: `skill_view{…}`, `default_api:f{…}`)",
    sample='f{"a": 1}',
)
FUNCTIONARY = Dialect(
    name="functionary_v32",
    place=Place.LINE,
    strength=Strength.OWN,
    call=span(">>>"),
    tool=span("", "\n"),
    tool_re=r"(?P<name>[\w.:-]+)",
    args=JsonArgs(),
    quiet=(">>>all\n",),
    source="MeetKai functionary-medium-v3.2 (`>>>recipient`, then its content)",
    sample='>>>f\n{"a": 1}',
)
ACTION = Dialect(
    name="react",
    preface=r"(?:(?:Question|Thought):(?:(?!\n(?:Action|Observation|Final Answer):).)*\s*)+",
    aliases=("action_input",),
    place=Place.LINE,
    strength=Strength.OWN,
    call=span(("Action: ", "**Action:** ", "**Action**: ")),
    tool=span("", ("\nAction Input: ", "\n**Action Input:** ", "\n**Action Input**: ")),
    tool_re=r"[`\"'\[]*(?P<name>[\w.:/-]+)[`\"'\]]*(?:\(\))?",
    args=JsonArgs(),
    final=("Final Answer:", "**Final Answer:**", "**Final Answer**:"),
    source="Yao et al., ReAct; LangChain's agents (`Action:` / `Action Input:`)",
    sample='Action: f\nAction Input: {"a": 1}',
)

ROWS = (DEEPSEEK_V3, DEEPSEEK_V31, KIMI_K2, MISTRAL_V11, PLAMO3, LLAMA_FUNCTION, FUNCTIONARY)
WEAK = (REHEARSAL, NAME_JSON, NAME_BRACE, ACTION)
