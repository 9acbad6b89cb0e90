"""Families whose call is one JSON object with name and arguments, between markers of their own (formats.md A, C)."""

from __future__ import annotations

from ..spec import Dialect, JsonCall, Listing, Place, Span, Strength, TaggedArgs, span
from .documents import ARGS, FIRST_ITEM, ITEMS, NAMES, SEPARATORS

CALL = JsonCall(name=NAMES, args=ARGS)
PARAMETERS = JsonCall(name=NAMES, args=("parameters", "arguments", "args", "input", "params"))

LONGCAT = Dialect(
    name="longcat",
    call=span("<longcat_tool_call>\n", "\n</longcat_tool_call>"),
    args=CALL,
    source="formats.md A6 (Meituan LongCat-Flash)",
    sample='<longcat_tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</longcat_tool_call>',
)
ERNIE45 = Dialect(
    name="ernie45",
    call=span("<tool_call>\n", "\n</tool_call>\n"),
    args=CALL,
    quiet=("<response>", "</response>"),
    source="formats.md A5 (Baidu ERNIE-4.5)",
    sample='<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>\n',
)
GRANITE4 = Dialect(
    name="granite4",
    aliases=("trinity",),
    call=span("<tool_call>\n", "\n</tool_call>"),
    args=CALL,
    source="formats.md A3, A4 (IBM Granite 4, Arcee Trinity)",
    sample='<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>',
)
INTERNLM2 = Dialect(
    name="internlm2",
    aliases=("interns1",),
    call=span(("<|action_start|><|plugin|>\n", "<|action_start|> <|plugin|>"), "\n<|action_end|>"),
    args=PARAMETERS,
    source="formats.md A7 (InternLM2, Intern-S1)",
    sample='<|action_start|><|plugin|>\n{"name": "f", "parameters": {"a": 1}}\n<|action_end|>',
)
GIGACHAT3 = Dialect(
    name="gigachat3",
    call=span(("<|function_call|>", "<|message_sep|>\n\nfunction call<|role_sep|>\n", "function call<|role_sep|>\n")),
    args=CALL,
    quiet=("<|message_sep|>",),
    source="formats.md A8 (Sber GigaChat3)",
    sample='<|function_call|>{"name": "f", "arguments": {"a": 1}}',
)
INKLING = Dialect(
    name="inkling",
    call=span("<|content_invoke_tool_json|>", "<|end_message|>"),
    args=JsonCall(name=NAMES, args=("args", *ARGS)),
    quiet=("<|message_model|>", "<|content_text|>", "<|end_message|>", "<|content_model_end_sampling|>"),
    reasoning=(span("<|content_thinking|>", "<|end_message|>"),),
    source="formats.md A9 (Inkling)",
    sample='<|content_invoke_tool_json|>{"name": "f", "args": {"a": 1}}<|end_message|>',
)
GRANITE_20B = Dialect(
    name="granite_20b_fc",
    call=span("<function_call> ", ("", "</function_call>")),
    args=CALL,
    source="formats.md A10 (granite-20b-functioncalling)",
    sample='<function_call> {"name": "f", "arguments": {"a": 1}}',
)
LFM2_JSON = Dialect(
    name="lfm2_json",
    aliases=("lfm2",),
    section=span("<|tool_call_start|>", "<|tool_call_end|>"),
    listing=Listing.ARRAY,
    args=CALL,
    source="formats.md F2 (Liquid LFM2, a JSON list inside)",
    sample='<|tool_call_start|>[{"name": "f", "arguments": {"a": 1}}]<|tool_call_end|>',
)
LLAMA3_JSON = Dialect(
    name="llama3_json",
    aliases=("llama4_json",),
    section=span("<|python_tag|>"),
    between=("; ", ",", "\n"),
    args=PARAMETERS,
    source="formats.md B1 (Llama 3.1-4 JSON template)",
    sample='<|python_tag|>{"name": "f", "parameters": {"a": 1}}',
)
MISTRAL = Dialect(
    name="mistral",
    aliases=("mistral_json", "mistral_v11", "xlam"),
    section=span("[TOOL_CALLS]"),
    listing=Listing.ARRAY,
    args=CALL,
    source="formats.md C1 (Mistral tokenizer ≤ v10)",
    sample='[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}]',
)
JAMBA = Dialect(
    name="jamba",
    aliases=("hunyuan_a13b",),
    section=span("<tool_calls>", "</tool_calls>"),
    listing=Listing.ARRAY,
    args=CALL,
    quiet=("<answer>", "</answer>"),
    source="formats.md C2, C3 (AI21 Jamba, Tencent Hunyuan-A13B)",
    sample='<tool_calls>[{"name": "f", "arguments": {"a": 1}}]</tool_calls>',
)
PHI4_MINI = Dialect(
    name="phi4_mini_json",
    aliases=("phi4_mini", "firefunction"),
    section=span("functools"),
    listing=Listing.ARRAY,
    args=CALL,
    source="formats.md C5 (Phi-4-mini)",
    sample='functools[{"name": "f", "arguments": {"a": 1}}]',
)
GRANITE = Dialect(
    name="granite",
    aliases=("granite3",),
    section=span(("<|tool_call|>", "<tool_call>")),
    listing=Listing.ARRAY,
    args=CALL,
    reasoning=(
        span("Here is my thought process:", "Here is my response:"),
        span("Here's my thought process:", "Here's my response:"),
    ),
    source="formats.md C6 (IBM Granite 3)",
    sample='<|tool_call|>[{"name": "f", "arguments": {"a": 1}}]',
)
APERTUS = Dialect(
    name="apertus",
    section=span("<|tools_prefix|>", "<|tools_suffix|>"),
    listing=Listing.ARRAY,
    args=JsonCall(name=NAMES, args=ARGS, single_key=True),
    reasoning=(span("<|inner_prefix|>", "<|inner_suffix|>"),),
    source="formats.md C7 (Swiss Apertus)",
    sample='<|tools_prefix|>[{"f": {"a": 1}}]<|tools_suffix|>',
)
COHERE = Dialect(
    name="cohere_command",
    aliases=("cohere_command3", "cohere_command4", "cohere_action"),
    section=span("<|START_ACTION|>", "<|END_ACTION|>"),
    listing=Listing.ARRAY,
    args=JsonCall(name=("tool_name", "name"), args=("parameters", "arguments"), id=("tool_call_id", "id")),
    quiet=("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"),
    reasoning=(span("<|START_THINKING|>", "<|END_THINKING|>"),),
    source="formats.md C8 (Cohere Command A)",
    sample='<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"a": 1}}]<|END_ACTION|>',
)
FUNCTION_CALLS_JSON = Dialect(
    name="function_calls_json",
    section=span("<function_calls>", "</function_calls>"),
    listing=Listing.ARRAY,
    args=CALL,
    source="malformations.md §5 (a JSON list in Anthropic's wrapper)",
    sample='<function_calls>[{"name": "f", "arguments": {"a": 1}}]</function_calls>',
)
NEMOTRON = Dialect(
    name="nemotron_toolcall",
    section=span(("<TOOLCALL>", "<TOOLCALLS>"), ("</TOOLCALL>", "</TOOLCALLS>")),
    listing=Listing.ARRAY,
    args=CALL,
    source="llama.cpp (NVIDIA Nemotron Nano v2)",
    sample='<TOOLCALL>[{"name": "f", "arguments": {"a": 1}}]</TOOLCALL>',
)
COMMAND_R = Dialect(
    name="cohere_rplus_action_md",
    place=Place.LINE,
    strength=Strength.OWN,
    section=span(("Action:\n```json\n", "Action: ```json\n", "Action:```json\n"), "\n```"),
    listing=Listing.ARRAY,
    args=JsonCall(name=("tool_name", "name", "action"), args=("parameters", "arguments", "action_input")),
    source="llama.cpp (Cohere Command R+: `Action:` and a fenced list)",
    sample='Action:\n```json\n[{"tool_name": "f", "parameters": {"a": 1}}]\n```',
)
CONTINUE = Dialect(
    name="tool_fence",
    aliases=("continue",),
    place=Place.LINE,
    call=span("```tool\n", "\n```"),
    tool=span("TOOL_NAME: ", "\n"),
    args=TaggedArgs(key=span("BEGIN_ARG: ", "\n"), value=span("", "\nEND_ARG\n"), trim="\n"),
    source="continue.dev, system-message tools (code blocks)",
    sample="```tool\nTOOL_NAME: f\nBEGIN_ARG: a\n1\nEND_ARG\n```",
)
APRIEL = Dialect(
    name="apriel",
    section=span("<tool_calls>", "</tool_calls>"),
    listing=Listing.ARRAY,
    args=CALL,
    reasoning=(span("Here are my reasoning steps:\n", "[BEGIN FINAL RESPONSE]\n"),),
    quiet=("[END FINAL RESPONSE]",),
    source="llama.cpp (ServiceNow Apriel)",
    sample='<tool_calls>[{"name": "f", "arguments": {"a": 1}}]</tool_calls>',
)
GENERIC = Dialect(
    name="tagged_json",
    aliases=("hermes",),
    call=span(
        (
            "<tools>\n", "<tool>\n", "<calls>\n", "<call>\n", "<function>\n", "<tool-call>\n", "<toolcall>\n",
            "<tool_use>\n", "<functioncall>\n", "<functioncall ", "<<<TOOL_CALL>>>",
        ),
        (
            "\n</tools>", "\n</tool>", "\n</calls>", "\n</call>", "\n</function>", "\n</tool-call>", "\n</toolcall>",
            "\n</tool_use>", "\n</functioncall>", "<<<END_TOOL_CALL>>>", ">",
        ),
    ),
    args=CALL,
    source="malformations.md §3, §5 (a call in the prompt's own tag, or in one like it)",
    sample='<tools>\n{"name": "f", "arguments": {"a": 1}}\n</tools>',
)
TOOL_CALL_BRACKETS = Dialect(
    name="tool_call_brackets",
    aliases=("minimax_m2",),
    call=span("[TOOL_CALL]\n", "\n[/TOOL_CALL]"),
    args=CALL,
    source="lmstudio-bug-tracker#1177, hermes-agent#35935 (MiniMax M2.x)",
    sample='[TOOL_CALL]\n{"name": "f", "arguments": {"a": 1}}\n[/TOOL_CALL]',
)
OPENPANGU = Dialect(
    name="openpangu",
    aliases=("pangu",),
    section=span("[unused11]", "[unused12]"),
    listing=Listing.ARRAY,
    args=CALL,
    source="formats-2026.md N3 (Huawei openPangu)",
    sample='[unused11][{"name": "f", "arguments": {"a": 1}}][unused12]',
)
HYPERCLOVAX = Dialect(
    name="hyperclovax",
    aliases=("hcx",),
    section=span("<|im_start|>assistant -> tool/function_call\n", "<|im_end|>"),
    listing=Listing.ARRAY,
    args=CALL,
    source="formats-2026.md N6 (NAVER HyperCLOVA X SEED Think 14B)",
    sample='<|im_start|>assistant -> tool/function_call\n[{"name": "f", "arguments": {"a": 1}}]<|im_end|>',
)
ZAYA_JSON = Dialect(
    name="zaya_json",
    aliases=("zaya",),
    call=span("<zyphra_tool_call>\n", "\n</zyphra_tool_call>"),
    args=CALL,
    source="formats-2026.md N11 (Zyphra ZAYA1, a JSON body)",
    sample='<zyphra_tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</zyphra_tool_call>',
)
SARASHINA = Dialect(
    name="sarashina",
    section=span("<|tool_calls|>"),
    listing=Listing.ARRAY,
    args=CALL,
    source="formats-2026.md N12 (SB Intuitions Sarashina)",
    sample='<|tool_calls|>[{"name": "f", "arguments": {"a": 1}}]',
)
DOTS_JSON = Dialect(
    name="dots_json",
    aliases=("dots",),
    call=span("<dots_function_call>\n", "\n</dots_function_call>"),
    args=CALL,
    source="formats.md E3 (rednote dots, a JSON body)",
    sample='<dots_function_call>\n{"name": "f", "arguments": {"a": 1}}\n</dots_function_call>',
)
INKLING_HEADER = Dialect(
    name="inkling_header",
    aliases=("inkling",),
    place=Place.LINE,
    call=span(
        ("<|message_model|>{name}<|content_invoke_tool_json|>", "{name}<|content_invoke_tool_json|>"), "<|end_message|>"
    ),
    args=INKLING.args,
    source="formats.md A9 (Inkling's header repeats the name)",
    sample='<|message_model|>f<|content_invoke_tool_json|>{"name": "f", "args": {"a": 1}}<|end_message|>',
)
LM_STUDIO = Dialect(
    name="lm_studio",
    call=span("[TOOL_REQUEST]", "[END_TOOL_REQUEST]"),
    args=CALL,
    source="peers.md §2b (LM Studio's default prompt protocol)",
    sample='[TOOL_REQUEST]{"name": "f", "arguments": {"a": 1}}[END_TOOL_REQUEST]',
)
TOOL_CODE_JSON = Dialect(
    name="tool_code_json",
    aliases=("gemma_tool_code",),
    place=Place.LINE,
    call=span("```tool_code\nfunction_call\n", "\n```"),
    args=CALL,
    source="Gemma 3's answers to a benchmark (its own fence, with the word that the prompt asked for in it)",
    sample='```tool_code\nfunction_call\n{"name": "f", "arguments": {"a": 1}}\n```',
)
TURN_MARK = Dialect(
    name="turn_mark",
    aliases=("hermes",),
    call=span("<|im_start|>\n", ("\n<|im_start|>", "\n<|im_end|>", "\n<|end_header_id|>")),
    args=CALL,
    source="BFCL, prompt mode (Hermes 2 Theta Llama-3 70B: the mark of turns in place of `<tool_call>` and its closer)",
    sample='<|im_start|>\n{"name": "f", "arguments": {"a": 1}}\n<|im_start|>',
)
JSON_ARRAY = Dialect(
    name="json_array",
    aliases=("xlam", "bare_json_array", "hermes_array", "llama3_json"),
    place=Place.LINE,
    strength=Strength.WEAK,
    listing=Listing.ARRAY,
    args=CALL,
    source="formats.md C4, C9 (xLAM; forced tool choice)",
    sample='[{"name": "f", "arguments": {"a": 1}}]',
)
WRAPPED_JSON = Dialect(
    name="wrapped_json",
    aliases=("json_array", "bare_json_array"),
    place=Place.OPENING,
    strength=Strength.WEAK,
    section=span("(", (")", ",)", ",\n)")),
    between=SEPARATORS,
    args=CALL,
    source="the objects as a tuple, and nothing else: judge-rules.md, second edition, A",
    sample='({"name": "f", "arguments": {"a": 1}})',
)
LISTED_JSON = Dialect(
    name="listed_json",
    aliases=("json_array", "bare_json_array"),
    place=Place.OPENING,
    strength=Strength.WEAK,
    section=span(FIRST_ITEM),
    between=ITEMS,
    args=CALL,
    source="the objects as a list's items, and nothing else: judge-rules.md, second edition, A",
    sample='- {"name": "f", "arguments": {"a": 1}}',
)

NO_SPAN = Span()
STRONG = (
    LONGCAT, INTERNLM2, GIGACHAT3, INKLING, GRANITE_20B, LLAMA3_JSON, MISTRAL, JAMBA, PHI4_MINI, GRANITE, APERTUS,
    COHERE, LFM2_JSON, FUNCTION_CALLS_JSON, LM_STUDIO, NEMOTRON, COMMAND_R, CONTINUE, APRIEL, GENERIC,
    TOOL_CALL_BRACKETS, OPENPANGU, HYPERCLOVAX, ZAYA_JSON, SARASHINA, DOTS_JSON, INKLING_HEADER,
    TURN_MARK, TOOL_CODE_JSON,
)
SAME_AS_HERMES = (ERNIE45, GRANITE4)
WEAK = (JSON_ARRAY, WRAPPED_JSON, LISTED_JSON)
