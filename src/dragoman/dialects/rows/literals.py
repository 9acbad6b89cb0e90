"""Families that write calls as Python or Gemma literals (formats.md F, G)."""

from __future__ import annotations

from ..spec import BraceArgs, Dialect, KeywordArgs, Listing, Place, Strength, span
from .documents import CALL_WORDS, FIRST_ITEM, ITEMS, SEPARATORS

LFM2 = Dialect(
    name="lfm2",
    section=span("<|tool_call_start|>", "<|tool_call_end|>"),
    listing=Listing.ARRAY,
    args=KeywordArgs(),
    source="formats.md F2 (Liquid LFM2)",
    sample="<|tool_call_start|>[f(a=1)]<|tool_call_end|>",
)
OLMO3 = Dialect(
    name="olmo3",
    aliases=("olmo3_pythonic",),
    section=span("<function_calls>", "</function_calls>"),
    args=KeywordArgs(),
    source="formats.md F3 (OLMo 3)",
    sample="<function_calls>f(a=1)</function_calls>",
)
TOOL_CODE = Dialect(
    name="tool_code",
    aliases=("gemma_tool_code",),
    place=Place.LINE,
    section=span(("```tool_code\n", "```tool_call\n", *(f"```{word}\n" for word in CALL_WORDS)), "\n```"),
    args=KeywordArgs(),
    source="malformations.md §5 (Gemma's tool_code fence)",
    sample="```tool_code\nf(a=1)\n```",
)
PYTHON_TAG = Dialect(
    name="python_tag",
    section=span(("<|python_tag|>", "<|python_start|>"), ("<|python_end|>", "<|eom_id|>")),
    args=KeywordArgs(),
    source="formats.md F1 (Llama's built-in tools: `name.call(…)`)",
    sample="<|python_tag|>f.call(a=1)",
)
PYTHON_TAG_LIST = Dialect(
    name="llama4_pythonic",
    section=span(("<|python_start|>", "<|python_tag|>"), "<|python_end|>"),
    listing=Listing.ARRAY,
    args=KeywordArgs(),
    source="formats.md F1 (Llama 4)",
    sample="<|python_start|>[f(a=1)]<|python_end|>",
)
PYTHONIC = Dialect(
    name="pythonic",
    aliases=("llama4_pythonic", "lfm2"),
    place=Place.LAST,
    strength=Strength.WEAK,
    listing=Listing.ARRAY,
    args=KeywordArgs(),
    source="formats.md F1 (Llama 3.2, ToolACE)",
    sample="[f(a=1)]",
)
FUNCTION_GEMMA = Dialect(
    name="functiongemma",
    call=span(("<start_function_call>call:", "<start_function_call>\ncall:"), "<end_function_call>"),
    tool=span("", "{"),
    args=BraceArgs(quotes=("<escape>",)),
    between=("",),
    source="formats.md G2 (FunctionGemma)",
    sample="<start_function_call>call:f{a:1}<end_function_call>",
)
GEMMA4 = Dialect(
    name="gemma4",
    call=span(("<|tool_call>call:", "<|tool_call>\ncall:", "<|tool_call>:", "<|tool_call>call", "<|tool_call>"), "<tool_call|>"),
    tool=span("", "{"),
    args=BraceArgs(quotes=('<|"|>',)),
    between=("",),
    quiet=("<turn|>",),
    reasoning=(span(("<|channel>thought\n", "<|channel>thought", "<|channel>"), "<channel|>"),),
    source="formats.md G1 (Gemma 4)",
    sample="<|tool_call>call:f{a:1}<tool_call|>",
)

GEMMA4_CALL = Dialect(
    name="gemma4_call",
    aliases=("gemma4",),
    call=span(("<|tool_call>call:", "<|tool_call>\ncall:", "<|tool_call>:", "<|tool_call>call", "<|tool_call>"), "<tool_call|>"),
    args=KeywordArgs(),
    between=("",),
    source="malformations.md §5 (Gemma with parentheses: `call:f(city=\"x\")`)",
    sample="<|tool_call>call:f(a=1)<tool_call|>",
)

TAGGED_CALL = Dialect(
    name="tagged_call",
    aliases=("ifm_python",),
    section=span(("<tool_call>", "<function_call>"), ("</tool_call>", "</function_call>")),
    args=KeywordArgs(),
    source="formats-2026.md N10 (IFM's `python`: Python calls in hermes' tag)",
    sample="<tool_call>f(a=1)</tool_call>",
)
BRACKETED_CALL = Dialect(
    name="calling_tool",
    place=Place.LINE,
    strength=Strength.WEAK,
    section=span(("[Calling tool: ", "[Called tool: ", "[Tool call: "), "]"),
    args=KeywordArgs(),
    source="formats-2026.md N19 (a client's notation of earlier calls, imitated)",
    sample='[Calling tool: f(a=1)]',
)
BARE_CALL = Dialect(
    name="bare_call",
    aliases=("pythonic", "openfunctions", "nexusraven", "granite_pythonic"),
    place=Place.LINE,
    strength=Strength.WEAK,
    lead=("{name}(",),
    between=("\n", ";", ","),
    args=KeywordArgs(),
    source="BFCL, prompt mode (Gorilla OpenFunctions, NexusRaven, Command R+: the call and nothing else)",
    sample="f(a=1)",
)

CODE_ACTION = Dialect(
    name="code_action",
    aliases=("smolagents",),
    preface=r"Thoughts?:.*\s*",
    place=Place.LINE,
    strength=Strength.WEAK,
    section=span("<code>\n", "\n</code>"),
    args=KeywordArgs(),
    source="huggingface/smolagents, prompts/code_agent.yaml (a thought, then code in a tag; calls alone are read)",
    sample="<code>\nf(a=1)\n</code>",
)
BOXED_CALL = Dialect(
    name="boxed_call",
    aliases=("bare_call",),
    place=Place.WHOLE,
    strength=Strength.WEAK,
    section=span("`", "`"),
    args=KeywordArgs(),
    source="BFCL, prompt mode (Mistral tiny, DeepSeek-Coder: the call in a code span, and nothing else)",
    sample="`f(a=1)`",
)
BOXED_LIST = Dialect(
    name="boxed_list",
    aliases=("pythonic",),
    place=Place.WHOLE,
    strength=Strength.WEAK,
    section=span("```[", "]```"),
    args=KeywordArgs(),
    source="BFCL, prompt mode (Mistral large: the list in a fence on one line, and nothing else)",
    sample="```[f(a=1)]```",
)
WRAPPED_CALL = Dialect(
    name="wrapped_call",
    aliases=("bare_call",),
    place=Place.OPENING,
    strength=Strength.WEAK,
    section=span(("(", "{", "**"), (")", "}", "**")),
    between=SEPARATORS,
    args=KeywordArgs(),
    source="BFCL, prompt mode (DBRX: the calls as a tuple, and nothing else)",
    sample="(f(a=1))",
)
QUOTED_CALL = Dialect(
    name="quoted_call",
    aliases=("bare_call",),
    place=Place.OPENING,
    strength=Strength.WEAK,
    section=span(("'", '"'), ("'", '"')),
    between=SEPARATORS,
    args=KeywordArgs(),
    source="BFCL, prompt mode (DBRX: the call as a string, and nothing else)",
    sample="'f(a=1)'",
)
LISTED_CALL = Dialect(
    name="listed_call",
    aliases=("bare_call",),
    place=Place.OPENING,
    strength=Strength.WEAK,
    section=span(FIRST_ITEM),
    between=ITEMS,
    args=KeywordArgs(),
    source="BFCL, prompt mode (GPT-3.5: the calls as a list's items, and nothing else)",
    sample="- f(a=1)",
)
PROMPTED_CALL = Dialect(
    name="prompted_call",
    aliases=("bare_call",),
    place=Place.OPENING,
    strength=Strength.WEAK,
    section=span((">>> ", "→ ", "-> ", "$ ", "await ")),
    between=("\n>>> ", "\n→ ", "\n-> ", "\n$ ", "\nawait ", "\n"),
    args=KeywordArgs(),
    source="malformations.md §5 (a shell's or a program's sign before the call)",
    sample=">>> f(a=1)",
)
LABELLED_CALL = Dialect(
    name="labelled_call",
    preface=r"(?:(?:Question|Thought):(?:(?!\n(?:Action|Observation|Final Answer):).)*\s*)+",
    aliases=("bare_call", "nexusraven"),
    place=Place.LINE,
    strength=Strength.WEAK,
    section=span((
        "Call: ", "Tool call: ", "Tool calls: ", "Tools call: ", "Function call: ", "Function calls: ", "Output: ", "Answer: ",
        "return ", "Action: ", "🔧 ", "🛠️ ", "<<function>>",
    )),
    args=KeywordArgs(),
    source="BFCL, prompt mode (NexusRaven's template `Call: f(…)`; Claude Instant `tools call: [f(…)]`)",
    sample="Call: f(a=1)",
)

STRONG = (LFM2, OLMO3, TOOL_CODE, PYTHON_TAG, PYTHON_TAG_LIST, FUNCTION_GEMMA, GEMMA4, GEMMA4_CALL, TAGGED_CALL)
WEAK = (PYTHONIC, BARE_CALL, BRACKETED_CALL, BOXED_CALL, BOXED_LIST, WRAPPED_CALL, QUOTED_CALL, LISTED_CALL, PROMPTED_CALL, LABELLED_CALL, CODE_ACTION)
