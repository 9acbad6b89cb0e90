"""Families that name an element after the tool or after each argument (formats.md E5; Cline and its kin)."""

from __future__ import annotations

from ..spec import Dialect, ElementArgs, JsonArgs, Place, Span, Strength, TextArgs, Typing, YamlArgs, span
from .tags import PARAMETER

TAG = Span(("<{name}>", "<{name}", "< {name}"), ("</{name}>",))
"""The tool's own name is the tag; which names these are, only the declared tools say."""

CLINE = Dialect(
    name="cline",
    aliases=("roo", "kilo", "tag_is_name", "yaml_xml_tool_tag"),
    place=Place.LINE,
    strength=Strength.OWN,
    call=Span(("<{name}>\n", *TAG.open[1:]), ("</{name}>",)),
    args=ElementArgs(nested=True, typing=Typing.LITERAL, entities=True),
    source="malformations.md §5 (Cline, Roo Code: the tag is the tool's name)",
    sample="<read_file>\n<path>/tmp/foo</path></read_file>",
)
XML_TOOL_TAG = Dialect(
    name="xml_tool_tag",
    aliases=("morph_xml",),
    strength=Strength.ASKED,
    call=TAG,
    args=ElementArgs(nested=True, trim="", typing=Typing.LITERAL, entities=True),
    source="aisdk morph-xml-protocol (as Cline, but every character of a text is data)",
    sample="<read_file><path>/tmp/foo</path></read_file>",
)
JSON_TOOL_TAG = Dialect(
    name="json_tool_tag",
    aliases=("cline", "xml_tool_tag", "yaml_xml_tool_tag"),
    place=Place.LINE,
    strength=Strength.OWN,
    call=TAG,
    args=JsonArgs(),
    source="malformations.md §5 (JSON inside another dialect's wrapper)",
    sample='<read_file>{"path": "/tmp/foo"}</read_file>',
)
YAML_TOOL_TAG = Dialect(
    name="yaml_tool_tag",
    aliases=("yaml_xml_tool_tag",),
    place=Place.LINE,
    strength=Strength.OWN,
    call=Span(("<{name}>\n", *TAG.open[1:]), ("\n</{name}>",)),
    args=YamlArgs(),
    source="aisdk yaml-xml-protocol",
    sample="<read_file>\npath: /tmp/foo\n</read_file>",
)
TEXT_TOOL_TAG = Dialect(
    name="text_tool_tag",
    aliases=("cline", "xml_tool_tag"),
    place=Place.LINE,
    strength=Strength.OWN,
    call=TAG,
    args=TextArgs(),
    source="malformations.md §5 (bare `<bash>`); aisdk morph-xml-protocol",
    sample="<bash>ls</bash>",
)
PARAMETER_TOOL_TAG = Dialect(
    name="parameter_tool_tag",
    aliases=("qwen3_coder",),
    place=Place.LINE,
    strength=Strength.OWN,
    call=Span(("<{name}>\n", *TAG.open[1:]), ("</{name}>", "</function>", "</tool_call>")),
    args=PARAMETER,
    source="malformations.md §5 (the tool's name instead of `<function=…>`)",
    sample="<bash>\n<parameter=command>\nls\n</parameter>\n</bash>",
)
LINE_TOOL_TAG = Dialect(
    name="line_tool_tag",
    aliases=("xml_tool_tag",),
    place=Place.LINE,
    strength=Strength.WEAK,
    call=span("{name}\n", "</{name}>"),
    args=ElementArgs(nested=True, trim="", typing=Typing.LITERAL, entities=True),
    source="aisdk morph-xml-protocol (Devstral loses the opening tag)",
    sample="read_file\n<path>/tmp/foo</path></read_file>",
)

INVOKE_ELEMENTS = Dialect(
    name="invoke_elements",
    section=span(
        ("<function_calls>\n", "<tool_call>\n", "<minimax:tool_call>\n", "<tool_calls>\n"),
        ("\n</function_calls>", "\n</tool_call>", "\n</minimax:tool_call>", "\n</tool_calls>"),
    ),
    call=span("", "</invoke>"),
    tool=span(('<invoke name="', "<invoke name='"), ('">\n', "'>")),
    args=ElementArgs(nested=True, typing=Typing.LITERAL),
    source="opencode#6883, mlx-lm#1416 (an element for each argument in `<invoke>`)",
    sample='<function_calls>\n<invoke name="f">\n<a>1</a></invoke>\n</function_calls>',
)
INVOKE_JSON = Dialect(
    name="invoke_json",
    aliases=("invoke_elements",),
    section=INVOKE_ELEMENTS.section,
    call=INVOKE_ELEMENTS.call,
    tool=INVOKE_ELEMENTS.tool,
    args=JsonArgs(),
    source="malformations.md §5 (JSON inside another dialect's wrapper)",
    sample='<function_calls>\n<invoke name="f">\n{"a": 1}</invoke>\n</function_calls>',
)
FUNCTION_ELEMENTS = Dialect(
    name="function_elements",
    aliases=("qwen3_coder_elements",),
    call=span("", "</function>"),
    tool=span(("<function=", '<function name="', "<function name='"), (">\n", '">\n', "'>")),
    args=ElementArgs(nested=True, typing=Typing.LITERAL),
    source="malformations.md §5 (parameters as elements of their own, the outer tag is missing)",
    sample="<function=f>\n<a>1</a></function>",
)
TOOL_CALL_ELEMENTS = Dialect(
    name="tool_call_elements",
    section=span(
        ("<tool_call>\n", "<toolcall>\n", "<tool_calls>\n", "<function_call>\n", "<function_calls>\n"),
        ("\n</tool_call>", "\n</toolcall>", "\n</tool_calls>", "\n</function_call>", "\n</function_calls>"),
    ),
    call=Span(("<{name}>\n", *TAG.open[1:]), ("</{name}>",)),
    args=ElementArgs(nested=True, typing=Typing.LITERAL, entities=True),
    source="ai-free-vscode#17 (Cline's elements in hermes' tag)",
    sample="<tool_call>\n<f>\n<a>1</a></f>\n</tool_call>",
)
TOOL_CALL_ELEMENT_JSON = Dialect(
    name="tool_call_element_json",
    aliases=("tool_call_elements",),
    section=TOOL_CALL_ELEMENTS.section,
    call=TAG,
    args=JsonArgs(),
    source="picoclaw#2104 (`<toolcall><shell>{…}</shell></toolcall>`)",
    sample='<tool_call>\n<f>{"a": 1}</f>\n</tool_call>',
)

MARK = "]<]minimax[>["
MINIMAX_M3 = Dialect(
    name="minimax_m3",
    section=span(f"{MARK}<tool_call>\n", f"\n{MARK}</tool_call>"),
    call=span("", f"{MARK}</invoke>"),
    tool=span(f'{MARK}<invoke name="', '">'),
    args=ElementArgs(prefix=MARK, nested=True, trim="", typing=Typing.LITERAL),
    reasoning=(span("<mm:think>", "</mm:think>"),),
    source="formats.md E5 (MiniMax M3)",
    sample=f'{MARK}<tool_call>\n{MARK}<invoke name="f">{MARK}<a>1{MARK}</a>{MARK}</invoke>\n{MARK}</tool_call>',
)

STRONG = (MINIMAX_M3, INVOKE_ELEMENTS, INVOKE_JSON, FUNCTION_ELEMENTS, TOOL_CALL_ELEMENTS, TOOL_CALL_ELEMENT_JSON)
WEAK = (CLINE, XML_TOOL_TAG, JSON_TOOL_TAG, YAML_TOOL_TAG, PARAMETER_TOOL_TAG, TEXT_TOOL_TAG, LINE_TOOL_TAG)
