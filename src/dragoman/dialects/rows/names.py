"""Families where markup carries the tool's name and a JSON object of arguments follows (formats.md D, H)."""

from __future__ import annotations

from ..spec import Dialect, ElementArgs, JsonArgs, Place, Span, Strength, TextArgs, Typing, span


def _bars(*spellings: str) -> tuple[str, ...]:
    """Spellings with the full-width bars of the special tokens, and with plain ones."""
    return tuple(dict.fromkeys((*spellings, *(s.replace("｜", "|") for s in spellings))))


SECTION = Span(_bars("<｜tool▁calls▁begin｜>"), _bars("<｜tool▁calls▁end｜>"))
SEP = "<｜tool▁sep｜>"
DEEPSEEK_V3 = Dialect(
    name="deepseek_v3",
    aliases=("deepseek_r1", "deepseek_v3_ascii"),
    section=SECTION,
    call=Span(_bars(f"<｜tool▁call▁begin｜>function{SEP}", f"<｜tool▁call▁begin｜>\nfunction{SEP}"), _bars("<｜tool▁call▁end｜>")),
    tool=span("", ("\n```json\n", "\n```\n")),
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
    section=span(
        ("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"),
        ("<|tool_calls_section_end|>", "<|tool_call_section_end|>"),
    ),
    call=span("<|tool_call_begin|>", "<|tool_call_end|>"),
    tool=span("", "<|tool_call_argument_begin|>"),
    tool_re=r"(?P<id>(?:functions\.)?(?P<name>.+?)(?::\d+)?)",
    tool_form="functions.{name}:{index}",
    between=("",),
    args=JsonArgs(),
    source="formats.md D3 (Kimi K2)",
    sample='<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|><|tool_calls_section_end|>',
)
KIMI_HEADLESS = Dialect(
    name="kimi_k2_headless",
    aliases=("kimi_k2", "kimi"),
    place=Place.LINE,
    section=span("", "<|tool_calls_section_end|>"),
    call=span("{name}<|tool_call_argument_begin|>", ("<|tool_call_end|>", "<|tool_calls_section_end|>")),
    between=("",),
    args=JsonArgs(),
    source="goose#8269, typeclaw#344 (Kimi K2 behind a gateway that drops its first tokens)",
    sample='f<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|>',
)
STEP_AUDIO = Dialect(
    name="step_audio_2",
    call=span("<tool_call>", "</tool_call>"),
    tool=span("function\n", "\n"),
    tool_re=r"(?P<name>[\w.:-]+)",
    args=JsonArgs(),
    source="formats-2026.md N7 (StepFun Step-Audio 2)",
    sample='<tool_call>function\nf\n{"a": 1}</tool_call>',
)
IFM_RECIPIENT = Dialect(
    name="ifm_recipient",
    call=span("<tool_call>assistant to=functions.", "\n</tool_call>"),
    tool=span("", "\n"),
    tool_re=r"(?P<name>\S+)(?:\s+json)?",
    tool_form="{name} json",
    args=JsonArgs(),
    source="formats-2026.md N10 (IFM's `gptoss`)",
    sample='<tool_call>assistant to=functions.f json\n{"a": 1}\n</tool_call>',
)
MIROTHINKER = Dialect(
    name="mirothinker",
    aliases=("use_mcp_tool",),
    call=span("<use_mcp_tool>\n", "\n</use_mcp_tool>"),
    tool=span(("<server_name>", "<tool_name>"), "</tool_name>\n"),
    tool_re=r"(?:.*</server_name>\s*<tool_name>)?(?P<name>.+)",
    tool_form="tools</server_name>\n<tool_name>{name}",
    body=span("<arguments>\n", "\n</arguments>"),
    args=JsonArgs(),
    source="formats-2026.md N13 (MiroThinker; Cline's MCP lineage)",
    sample=(
        "<use_mcp_tool>\n<server_name>tools</server_name>\n<tool_name>f</tool_name>\n<arguments>\n"
        '{"a": 1}\n</arguments>\n</use_mcp_tool>'
    ),
)
NAME_TAG = Dialect(
    name="name_tag",
    call=span(("<function_call>\n", "<tool_call>\n"), ("\n</function_call>", "\n</tool_call>")),
    tool=span(
        ("<name>", "<tool_name>", "<function_name>"), ("</name>\n", "</tool_name>\n", "</function_name>\n")
    ),
    body=span(("<arguments>", "<parameters>", "<args>"), ("</arguments>", "</parameters>", "</args>")),
    args=JsonArgs(),
    source="formats-2026.md N18 (a prompted shape: the name and a JSON object in tags of their own)",
    sample='<function_call>\n<name>f</name>\n<arguments>{"a": 1}</arguments>\n</function_call>',
)
NAME_TAG_ELEMENTS = Dialect(
    name="name_tag_elements",
    aliases=("name_tag",),
    call=NAME_TAG.call,
    tool=NAME_TAG.tool,
    body=span(("<arguments>\n", "<parameters>\n", "<args>\n"), ("\n</arguments>", "\n</parameters>", "\n</args>")),
    args=ElementArgs(nested=True, typing=Typing.LITERAL, entities=True),
    source="formats-2026.md N18 (the same shape with an element for each argument, as models asked for XML write it)",
    sample="<function_call>\n<name>f</name>\n<arguments>\n<a>1</a>\n</arguments>\n</function_call>",
)
QWEN_AGENT = Dialect(
    name="qwen_agent",
    call=span("✿FUNCTION✿: "),
    tool=span("", "\n✿ARGS✿: "),
    args=JsonArgs(),
    source="formats-2026.md N18 (Qwen-Agent's first template)",
    sample='✿FUNCTION✿: f\n✿ARGS✿: {"a": 1}',
)
CWM = Dialect(
    name="cwm",
    call=span(("<tool: function>\n", "<tool: tool>\n", "<tool: bash>\n"), "\n</tool>"),
    tool=span("", " "),
    args=JsonArgs(),
    source="formats-2026.md N2 (facebook/cwm)",
    sample='<tool: function>\nf {"a": 1}\n</tool>',
)
CWM_TEXT = Dialect(
    name="cwm_text",
    aliases=("cwm",),
    call=CWM.call,
    tool=span("", " "),
    args=TextArgs(first=" "),
    source="formats-2026.md N2 (facebook/cwm: the rest of the body is the command)",
)
GEMMA_STRIPPED = Dialect(
    name="gemma4_stripped",
    aliases=("gemma4",),
    place=Place.LINE,
    strength=Strength.WEAK,
    lead=("call:{name}{",),
    tool=span("call:", "{"),
    args=JsonArgs(),
    source="openclaude#380 (Gemma 4 with its special tokens stripped)",
    sample='call:f{"a": 1}',
)
MISTRAL_V11 = Dialect(
    name="mistral_v11",
    aliases=("mistral_args", "mistral_callid_args", "mistral", "mistral_bracket"),
    call=span(("[TOOL_CALLS]", "[TOOL_CALLS")),
    tool=span("", ("[ARGS]", "[ARGS", "{")),
    tool_re=r"(?P<name>[^\[]+)(?:\[CALL_ID\](?P<id>.+))?",
    between=("",),
    args=JsonArgs(),
    source="formats.md D4 (Mistral tokenizer v11+; marks without their last bracket, as SGLang has seen them)",
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
    section=span("<tool_call>\n", "\n</tool_call>"),
    call=span("", "</function>"),
    tool=span(("<function=", '<function name="', "<function name='"), (">", '">', "'>")),
    args=JsonArgs(),
    source="formats.md §6.2 (Llama 3.1 user-defined functions, Functionary v3.1); Rapid-MLX#1571 (in hermes' tag)",
    sample='<tool_call>\n<function=f>{"a": 1}</function>\n</tool_call>',
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
    place=Place.LINE,
    strength=Strength.WEAK,
    lead=("{name}{",),
    tool=span("", "{"),
    tool_re=r"(?P<name>.+?):?",
    between=("\n", ";", ","),
    args=JsonArgs(),
    source="issues of 2025-26 (the name and its JSON object glued together: `skill_view{…}`, `default_api:f{…}`)",
    sample='f{"a": 1}',
)
CALLED = ("call ", "Call ", "CALL ", "calling ", "Calling ", "USE_TOOL: ", "use ", "Use ", "using ", "Using ", "Using tool: ")
"""Words that say that the tool they stand before is called."""

NAMED_JSON = Dialect(
    name="named_json",
    aliases=("name_brace",),
    place=Place.OPENING,
    strength=Strength.WEAK,
    call=span((
        "/{name} ", *(f"{begin}{{name}} " for begin in "@#!"), "[{name}] ",
        *(f"{begin}{{name}}{sign}" for begin in CALLED for sign in ("with arguments ", "with ", " ")),
        *(f"{{name}}{sign} " for sign in ("->", "=>", "=", "with arguments", "with")),
        "`{name}`: ", "`{name}` ", "**{name}**: ", "**{name}:** ", "**{name}** ",
    )),
    between=("\n", ";", ","),
    args=JsonArgs(),
    source="judge-rules.md A (the name under a sign or a word, then its JSON object, and nothing else)",
    sample='/f {"a": 1}',
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
    preface=r"(?:(?:Question|Thought)[:：](?:(?!\n(?:Action|Observation|Final Answer)[:：]).)*\s*)+",
    aliases=("action_input",),
    place=Place.LINE,
    strength=Strength.OWN,
    call=span(("Action: ", "**Action:** ", "**Action**: ", "Action：")),
    tool=span("", (
        "\nAction Input: ", "\n**Action Input:** ", "\n**Action Input**: ", "\nAction Input：", "\nInput: ", "\nArguments: ",
    )),
    tool_re=r"[`\"'\[]*(?P<name>[\w.:/\\-]+)[`\"'\]]*(?:\(\))?",
    args=JsonArgs(),
    final=("Final Answer:", "**Final Answer:**", "**Final Answer**:"),
    source="Yao et al., ReAct; LangChain's agents (`Action:` / `Action Input:`)",
    sample='Action: f\nAction Input: {"a": 1}',
)

MISTRAL_NAME_FIRST = Dialect(
    name="mistral_name_first",
    aliases=("mistral_v11", "mistral"),
    place=Place.LINE,
    call=span("{name}[TOOL_CALLS]"),
    args=JsonArgs(),
    source="formats.md D4 (Mistral v11 writes the name before the mark)",
    sample='f[TOOL_CALLS]{"a": 1}',
)
CALLED_TOOL = Dialect(
    name="called_tool",
    place=Place.LINE,
    strength=Strength.WEAK,
    call=span(
        (
            "[Called tool ", "[Calling tool ", "[Tool call: ", "[Called tool: ", "[Used tool ", "[Assistant called tool ",
            "[Called function ", "[Calling function ",
        ),
        "]",
    ),
    tool=span("", (" with ", " with arguments ", " with arguments: ", " with args ", " with args: ", " with input ", " with input: ")),
    tool_re=r"[`\"']?(?P<name>[\w.:/-]+)[`\"']?",
    args=JsonArgs(),
    source="formats-2026.md N19 (how clients flatten earlier calls into text, imitated)",
    sample='[Called tool f with {"a": 1}]',
)
TOOL_INPUT = Dialect(
    name="tool_input",
    place=Place.LINE,
    strength=Strength.WEAK,
    call=span((
        "Tool: ", "[Previous assistant tool use]\nTool: ", "Tool call: ", "Tool used: ", "Tool name: ", "Function: ",
        *(f"**{word}{end} " for word in ("Tool", "Function", "Tool call") for end in (":**", "**:")),
    )),
    tool=span("", tuple(
        f"\n{begin}{word}{end} " for word in ("Input", "Arguments", "Args", "Parameters")
        for begin, end in (("", ":"), ("**", ":**"), ("**", "**:"))
    )),
    tool_re=r"[`\"']?(?P<name>[\w.:/-]+)[`\"']?",
    args=JsonArgs(),
    source="felinics/Memoh#446 (a client's notation of earlier calls, imitated)",
    sample='Tool: f\nInput: {"a": 1}',
)
BRACKET_NAME = Dialect(
    name="bracket_name",
    place=Place.LINE,
    strength=Strength.WEAK,
    call=span(("[tool_use: ", "[function_call: ", "[tool: ", "[tool_call: ")),
    tool=span("", "] "),
    tool_re=r"[`\"']?(?P<name>[\w.:/-]+)[`\"']?",
    args=JsonArgs(),
    source="formats-2026.md N19 (a client's notation of earlier calls, imitated: the name in brackets, the input behind)",
    sample='[tool_use: f] {"a": 1}',
)

ROWS = (
    DEEPSEEK_V3, DEEPSEEK_V31, KIMI_K2, KIMI_HEADLESS, MISTRAL_V11, PLAMO3, LLAMA_FUNCTION, FUNCTIONARY, STEP_AUDIO,
    IFM_RECIPIENT, MIROTHINKER, NAME_TAG, NAME_TAG_ELEMENTS, QWEN_AGENT, CWM, CWM_TEXT, MISTRAL_NAME_FIRST,
)
WEAK = (
    REHEARSAL, NAME_JSON, NAME_BRACE, GEMMA_STRIPPED, ACTION, CALLED_TOOL, TOOL_INPUT, BRACKET_NAME, NAMED_JSON,
)
