"""Rows of notations that no family of the table has yet, as formats.md and the specification tell them."""

from __future__ import annotations

from dragoman.dialects.spec import Dialect, ElementArgs, TaggedArgs, TextArgs, YamlArgs, YamlCall, span

ELEMENTS = Dialect(
    name="elements",
    call=span("]<]minimax[>[<tool_call>\n", "\n]<]minimax[>[</tool_call>"),
    tool=span(']<]minimax[>[<invoke name="', '">'),
    body=span("", "]<]minimax[>[</invoke>"),
    args=ElementArgs(prefix="]<]minimax[>[", nested=True),
    source="formats.md E5 (MiniMax M3)",
)
YAML = Dialect(
    name="yaml", call=span("<tool_call>\n", "\n</tool_call>"), args=YamlCall(), source="DESIGN §4, the union"
)
TAG_IS_NAME = Dialect(
    name="tag_is_name",
    call=span("<{name}>\n", "\n</{name}>"),
    args=ElementArgs(trim="\n"),
    source="the specification's `{name}` in `call` (Cline, Roo)",
)
ESCAPED = Dialect(
    name="escaped",
    call=span("", "</invoke>"),
    tool=span('<invoke name="', '">'),
    args=TaggedArgs(key=span('<parameter name="', '">'), value=span("", "</parameter>"), entities=True),
    source="the specification's `entities`",
)
YAML_BODY = Dialect(
    name="yaml_body",
    call=span("<call>", "\n</call>"),
    tool=span("", "\n"),
    args=YamlArgs(),
    source="the specification's union",
)
TEXT_BODY = Dialect(
    name="text_body",
    call=span("<call>", "\n</call>"),
    tool=span("", "\n"),
    args=TextArgs(),
    source="the specification's union",
)
ROWS = (ELEMENTS, YAML, TAG_IS_NAME, ESCAPED, YAML_BODY, TEXT_BODY)
