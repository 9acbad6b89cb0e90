"""Families whose messages are segments under headers (formats.md H): harmony, Beam, Muse."""

from __future__ import annotations

from ..spec import Dialect, JsonArgs, Route, Segments, Span, TaggedArgs, Typing, span

HARMONY_SEGMENTS = Segments(
    open=("<|start|>assistant", "<|start|>", "<|channel|>"),
    head=("<|message|>",),
    close=("<|end|>", "<|call|>", "<|return|>", "<|eom|>", "<|eot|>"),
    words=(
        r"assistant|user|system|developer|tool|analysis|commentary|final|json|xml|code|python|browser|"
        r"(?:<\|(?:start|channel|constrain)\|>)?(?:assistant|user|system|developer|tool|analysis|commentary|final|json|xml|code)?|"
        r"(?:<\|start\|>)?functions\.\S+|(?:\w+)?to=[^\s<]*(?:json|xml|code)?"
    ),
    routes=(
        (r"^<\|start\|>(?:user|system|developer|tool|functions\.)", Route.OTHERS),
        (r"to=self\b", Route.REASONING),
        (r"to=developer\b", Route.NOBODY),
        (r"to=(?!user\b|assistant\b|commentary\b)[^<]*(?:<\|message\|>|$)(?<!channel\|>)", Route.CALLS),
        (r"to=(?!user\b|assistant\b|commentary\b)", Route.NOBODY),
        (r"<\|channel\|>(?:commentary[^<]*<\|channel\|>)?analysis", Route.REASONING),
    ),
    begun="to=",
)
"""Harmony's headers name a channel, Muse's only a recipient; both are cut by the same tokens."""
HEADED = Span(("<|start|>assistant", "<|channel|>", "<|start|>"), ("<|call|>commentary", "<|call|>", "<|end|>"))
RECIPIENT = r".*?\bto=(?!assistant\b|user\b|self\b|commentary\b)(?:functions\.)?(?P<name>[^\s<|]+)(?:\s*<\|constrain\|>|\s)?"

HARMONY = Dialect(
    name="harmony",
    aliases=("gpt_oss",),
    call=HEADED,
    tool=span("", "<|message|>"),
    tool_re=r"(?=.*channel\|>|.*(?:commentary|analysis)\b)(?!.*\bxml$)" + RECIPIENT + r".*",
    tool_form="<|channel|>commentary to=functions.{name} <|constrain|>json",
    between=("",),
    args=JsonArgs(),
    segments=HARMONY_SEGMENTS,
    source="formats.md H1 (gpt-oss)",
    sample='<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|>',
)
BEAM = Dialect(
    name="beam",
    call=HEADED,
    tool=span("", "<|message|>\n"),
    tool_re=RECIPIENT + r".*\bxml",
    tool_form=" to={name}<|channel|>analysis <|constrain|>xml",
    between=("",),
    args=TaggedArgs(
        key=span('<rfl:parameter name="', '">\n'), value=span("", "\n</rfl:parameter>\n"), trim="\n",
        typing=Typing.LITERAL,
    ),
    segments=HARMONY_SEGMENTS,
    source="formats.md E3 (Beam: harmony's channels, XML-like bodies)",
)
MUSE = Dialect(
    name="muse",
    aliases=("muse_glimmer", "glimmer"),
    section=span("<atem:function_calls>\n", "\n</atem:function_calls>"),
    call=span("", "</atem:invoke>"),
    tool=span('<atem:invoke name="', ('">\n', '<|message|>">', '<|message|><|message|>">', "<|message|>")),
    args=TaggedArgs(
        key=span('<atem:parameter name="', '">'), value=span("", "</atem:parameter>\n"), typing=Typing.LITERAL
    ),
    segments=HARMONY_SEGMENTS,
    source="formats.md E3 (Muse, Glimmer: ATEM)",
    sample=(
        '<atem:function_calls>\n<atem:invoke name="f">\n<atem:parameter name="a">1</atem:parameter>\n</atem:invoke>\n'
        "</atem:function_calls>"
    ),
)
HARMONY_TEXT = Dialect(
    name="harmony_text",
    aliases=("harmony",),
    call=span(
        ("assistantcommentary to=functions.", "commentary to=functions.", "assistantanalysis to=functions.",
         "analysis to=functions.", "assistant to=functions.", "to=functions.")
    ),
    tool=span("", "{"),
    tool_re=r"(?P<name>[^\s<{]+?)\s*(?:<\|channel\|>)?(?:commentary)?\s*(?:<\|constrain\|>)?(?:json|(?<=\s)code)?\s*(?:<\|message\|>)?",
    tool_form="{name} json",
    between=("",),
    args=JsonArgs(),
    source="formats.md H1 (gpt-oss with its special tokens stripped)",
    sample='assistantcommentary to=functions.f json{"a": 1}',
)

ROWS = (HARMONY, BEAM, MUSE, HARMONY_TEXT)
