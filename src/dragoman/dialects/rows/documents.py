"""The dialects of the source documents, one row each.

Order matters only between rows that share an opener: the earlier row is tried first.
"""

from __future__ import annotations

from ..spec import AttributeArgs, Dialect, JsonArgs, JsonCall, Place, Strength, span

ARGS = (
    "arguments", "parameters", "args", "input", "params", "action_input", "tool_arguments", "tool_args", "tool_input",
)
NAMES = (
    "name", "tool_name", "tool", "function", "func", "tool_call", "recipient_name", "function_name", "toolName", "functionName", "action",
)

CALL_WORDS = ("tool_calls", "function_call", "function_calls", "tool_use", "tool_code")
"""Words of a fence's info line that say that a call stands in it, beside `tool_call`."""


def _fences(*words: str) -> tuple[str, ...]:
    return tuple(f"```{word}\n" for word in words)


SEPARATORS = (", ", ",", ";", "\n")
"""What stands between calls that brackets or quotes hold together."""
FIRST_ITEM = ("- ", "* ", "• ", "1. ", "1) ")
ITEMS = ("\n- ", "\n* ", "\n• ", *(f"\n{n}{end}" for n in range(2, 100) for end in (". ", ") ")))
"""What begins the first item of a list, and the others."""

TILDE_FENCE = Dialect(
    name="tool_call_fence",
    aliases=("tilde_fence", "tagged"),
    place=Place.LINE,
    call=span(("~~~tool_call\n", *_fences("tool_call"), *_fences(*CALL_WORDS)), ("\n~~~", "\n```")),
    args=JsonCall(name=NAMES, args=ARGS),
    result="~~~tool_result\n{content}\n~~~",
    source="seed documents 000, 001 (ExAthena text-tagged protocol)",
    sample='~~~tool_call\n{"name": "read_file", "arguments": {"path": "/tmp/foo"}}\n~~~',
)
FENCED_JSON = Dialect(
    name="fenced_json",
    aliases=("xlam", "bare_json"),
    place=Place.LINE,
    strength=Strength.WEAK,
    call=span(("```json\n", "```\n"), "\n```"),
    args=JsonCall(name=NAMES, args=ARGS),
    source="seed document 001 (ExAthena RawJson)",
    sample='```json\n{"name": "read_file", "arguments": {"path": "/tmp/foo"}}\n```',
)
JSON_PROTOCOL = Dialect(
    name="json_protocol",
    aliases=("action_protocol",),
    place=Place.LINE,
    strength=Strength.WEAK,
    args=JsonCall(
        name=("tool",), args=("args",), inside=("action",), thought=("thought",), answer=("final", "content")
    ),
    result='{{"role":"tool","name":"{name}","content":{content}}}',
    source="seed document 004 §1",
    sample='{"thought":"need the file","action":{"tool":"read_file","args":{"path":"/tmp/foo"}}}',
)
BARE_JSON = Dialect(
    name="bare_json",
    aliases=("raw_json", "llama3_json", "llama4_json", "laguna"),
    between=("\n", ";", ","),
    place=Place.LINE,
    strength=Strength.WEAK,
    args=JsonCall(name=NAMES, args=ARGS),
    source="seed document 001 (ExAthena RawJson)",
    sample='{"name": "read_file", "arguments": {"path": "/tmp/foo"}}',
)
COMMAND = Dialect(
    name="command",
    aliases=("at_dsl", "at_tool"),
    place=Place.LINE,
    strength=Strength.WEAK,
    call=span("@tool "),
    tool=span("", " "),
    args=JsonArgs(),
    source="seed document 004 §2",
    sample='@tool kom.memory.v1.search_memory {"namespace":"project:metal"}',
)
BRACKET = Dialect(
    name="bracket_tool",
    place=Place.LINE,
    strength=Strength.WEAK,
    call=span(("[tool: ", "[tool_call: "), "]"),
    tool=span("", " "),
    args=JsonArgs(),
    source="seeds.md A10 stage 4 (ChatCLI; seen from Claude Opus on Bedrock)",
    sample='[tool: read_file {"path": "/tmp/foo"}]',
)
XML_ATTRIBUTES = Dialect(
    name="xml_attributes",
    aliases=("xml_attr", "chatcli"),
    call=span(("<tool_call ", "<tool "), (" />", "/>", "></tool_call>", "></tool>")),
    args=AttributeArgs(name=("name", "function", "tool"), args=("args", "arguments", "input", "parameters")),
    source="seed document 003 (ChatCLI XML calls); seeds.md A10",
    sample="""<tool_call name="read_file" args='{"path": "/tmp/foo"}' />""",
)
HERMES = Dialect(
    name="hermes",
    aliases=("qwen25", "qwen3_json", "xlam", "yaml_xml_tool_tag", "qwen3_coder", "laguna", "hermes_array"),
    call=span(("<tool_call>\n", "<tool_call|"), "\n</tool_call>"),
    args=JsonCall(name=NAMES, args=ARGS),
    result="<tool_response>\n{content}\n</tool_response>",
    source="formats.md A1 (NousResearch Hermes 2/3 Pro; Qwen2.5, Qwen3)",
    sample='<tool_call>\n{"name": "read_file", "arguments": {"path": "/tmp/foo"}}\n</tool_call>',
)

STRONG = (TILDE_FENCE, XML_ATTRIBUTES, HERMES)
WEAK = (FENCED_JSON, JSON_PROTOCOL, BARE_JSON, COMMAND, BRACKET)
ROWS = (*STRONG, *WEAK)
