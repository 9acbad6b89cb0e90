"""Families that write every argument as markup of its own (formats.md E)."""

from __future__ import annotations

from .spec import Dialect, ElementArgs, Span, Strength, TaggedArgs, Typing, span

PARAMETER_OPEN = (
    "<parameter=", '<parameter name="', "<parameter name='", "<parameter name=", "<parameter>", "<param=",
    '<param name="', "<param name='", "< parameter =",
)
"""The first is the template's; the rest are what models write instead (malformations.md §5)."""
FUNCTION_OPEN = (
    "<function=", '<function name="', "<function name='", "<function name=", "<function>", "<call=", "<tool=",
    "<invoke=", '<invoke name="', "<name>", "function=", "<parameter=", "< function =",
)
FUNCTION_CLOSE = (">\n", "/>", '">', "'>", "</function>", "</name>")
BODY_CLOSE = ("</function>", "</call>", "</tool>", "</invoke>")
NAMELESS = (">\n", '">', "'>", "</parameter>")

PARAMETER = TaggedArgs(key=Span(PARAMETER_OPEN, NAMELESS), value=span("", "\n</parameter>\n"), trim="\n")
COMPACT = TaggedArgs(key=Span(PARAMETER_OPEN, (">", *NAMELESS[1:])), value=span("", "</parameter>"))
ARG_KEY = TaggedArgs(
    key=span("<arg_key>", "</arg_key>\n"), value=span("<arg_value>", "</arg_value>\n"), typing=Typing.LITERAL
)
NAMED = TaggedArgs(
    key=span(('<parameter name="', "<parameter name='", "<parameter name="), ('">', "'>", ">")),
    value=span("", "</parameter>\n"),
)

QWEN3_CODER = Dialect(
    name="qwen3_coder",
    aliases=("qwen3_xml", "step3p5", "step5", "nemotron_v3", "granite_thinking", "minicpmv", "nanbeige"),
    call=span("<tool_call>\n", "\n</tool_call>"),
    tool=Span(FUNCTION_OPEN, FUNCTION_CLOSE),
    body=Span((), BODY_CLOSE),
    args=PARAMETER,
    source="formats.md E1 (Qwen3-Coder, Qwen3.5, Step-3.5, Nemotron v3)",
    sample="<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
)
QWEN3_BARE = Dialect(
    name="qwen3_coder_bare",
    aliases=("qwen3_coder", "qwen3_xml", "step3p5", "step5", "nemotron_v3", "granite_thinking", "minicpmv", "nanbeige"),
    call=span("", "</function>"),
    tool=span("<function=", (">\n", "/>", '">', "'>")),
    args=PARAMETER,
    source="formats.md E1 (the outer tag is missing)",
    sample="<function=f>\n<parameter=a>\n1\n</parameter>\n</function>",
)
QWEN3_ELEMENTS = Dialect(
    name="qwen3_coder_elements",
    aliases=("qwen3_coder",),
    call=span("<tool_call>\n", "\n</tool_call>"),
    tool=Span(FUNCTION_OPEN[:8], FUNCTION_CLOSE),
    body=Span((), BODY_CLOSE),
    args=ElementArgs(),
    source="malformations.md §5 (parameters as elements of their own; aisdk qwen3coder live variants)",
    sample="<tool_call>\n<function=f>\n<a>1</a></function>\n</tool_call>",
)
MIMO = Dialect(
    name="mimo",
    strength=Strength.ASKED,
    call=span("<tool_call>", "</tool_call>"),
    tool=Span(FUNCTION_OPEN, (">", *FUNCTION_CLOSE[1:])),
    body=Span((), BODY_CLOSE),
    args=COMPACT,
    source="formats.md E1 (Xiaomi MiMo: line ends are data; not to be told from E1 by its looks)",
    sample="<tool_call><function=f><parameter=a>1</parameter></function></tool_call>",
)
SEED_OSS = Dialect(
    name="seed_oss",
    call=span("<seed:tool_call>\n", "\n</seed:tool_call>"),
    tool=span("<function=", ">\n"),
    body=span("", "</function>"),
    args=PARAMETER,
    reasoning=(span("<seed:think>", "</seed:think>"),),
    source="formats.md E1 (ByteDance Seed-OSS)",
    sample="<seed:tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</seed:tool_call>",
)
GLM = Dialect(
    name="glm45",
    aliases=("glm46", "glm47", "ling3", "ling3_xml", "poolside_v1", "laguna", "spark25"),
    call=span("<tool_call>", "</tool_call>"),
    tool=span("", ("\n", "<arg_key>", "</tool_call>", "\\n")),
    tool_re=r"(?P<name>[^\s{}\"<>=]+)",
    args=ARG_KEY,
    source="formats.md E2 (GLM-4.5 to 5, Ling 3, Laguna)",
    sample="<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
)
IQUEST = Dialect(
    name="iquest_q1",
    call=span("<iquest_tool_call>", "</iquest_tool_call>"),
    tool=span("", ("\n", "<arg_key>", "</iquest_tool_call>")),
    tool_re=r"(?P<name>[^\s{}\"<>=]+)",
    args=ARG_KEY,
    source="formats.md E2 (IQuest)",
    sample="<iquest_tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</iquest_tool_call>",
)
MINIMAX_M2 = Dialect(
    name="minimax_m2",
    section=span("<minimax:tool_call>\n", "\n</minimax:tool_call>"),
    call=span("", "</invoke>"),
    tool=span(('<invoke name="', "<invoke name='", "<invoke name="), ('">\n', "'>", ">")),
    args=NAMED,
    source="formats.md E3 (MiniMax M2)",
    sample='<minimax:tool_call>\n<invoke name="f">\n<parameter name="a">1</parameter>\n</invoke>\n</minimax:tool_call>',
)
ANTHROPIC_XML = Dialect(
    name="anthropic_xml",
    section=span(("<function_calls>\n", "<function_calls>"), ("\n</function_calls>", "</function_calls>")),
    call=span("", ("</invoke>", "</invoke>")),
    tool=span(('<invoke name="', "<invoke name='", '<invoke name="', "<invoke name="), ('">\n', "'>", ">")),
    args=NAMED,
    source="formats.md §6.2 (Anthropic's legacy XML)",
    sample='<function_calls>\n<invoke name="f">\n<parameter name="a">1</parameter>\n</invoke>\n</function_calls>',
)
DOTS = Dialect(
    name="dots",
    section=span("<dots_function_call>\n", "\n</dots_function_call>"),
    call=span("", "</invoke>"),
    tool=span(('<invoke name="', "<invoke name='", "<invoke name="), ('">\n', "'>", ">")),
    args=NAMED,
    source="formats.md E3 (rednote dots)",
    sample='<dots_function_call>\n<invoke name="f">\n<parameter name="a">1</parameter>\n</invoke>\n</dots_function_call>',
)


def _special(prefix: str) -> TaggedArgs:
    """The DSML and GCML parameters: a flag says whether the value is text."""
    return TaggedArgs(
        key=span(f'<{prefix}parameter name="', ('">', '" string="true">', '" string="false">')),
        value=span("", f"</{prefix}parameter>\n"),
        typing=Typing.LITERAL,
        raw_flag=('" string="true">',),
        json_flag=('" string="false">',),
    )


DSML, GCML = "｜DSML｜", "｜GCML｜"
DEEPSEEK_DSML = Dialect(
    name="deepseek_v32",
    aliases=("deepseek_v4", "deepseek_v41", "deepseek_dsml"),
    section=span(
        (f"<{DSML}function_calls>\n", f"<{DSML}tool_calls>", f"<{DSML} calls>", f"<{DSML}toolcalls>"),
        (f"\n</{DSML}function_calls>", f"</{DSML}tool_calls>", f"</{DSML} calls>", f"</{DSML}toolcalls>"),
    ),
    call=span("", f"</{DSML}invoke>"),
    tool=span(f'<{DSML}invoke name="', '">\n'),
    args=_special(DSML),
    source="formats.md E3 (DeepSeek V3.2, V4)",
    sample=f'<{DSML}function_calls>\n<{DSML}invoke name="f">\n<{DSML}parameter name="a" string="false">1</{DSML}parameter>\n</{DSML}invoke>\n</{DSML}function_calls>',
)
GIGACHAT35 = Dialect(
    name="gigachat35",
    section=span(f"<{GCML}tool_calls>\n", f"\n</{GCML}tool_calls>"),
    call=span("", f"</{GCML}invoke>"),
    tool=span(f'<{GCML}invoke name="', '">\n'),
    args=_special(GCML),
    source="formats.md E3 (GigaChat 3.5)",
    sample=f'<{GCML}tool_calls>\n<{GCML}invoke name="f">\n<{GCML}parameter name="a" string="false">1</{GCML}parameter>\n</{GCML}invoke>\n</{GCML}tool_calls>',
)
STEP3 = Dialect(
    name="step3",
    section=span("<｜tool_calls_begin｜>\n", "\n<｜tool_calls_end｜>"),
    call=span(
        ("<｜tool_call_begin｜>function<｜tool_sep｜>", "<｜tool_call_begin｜>"),
        ("</steptml:invoke><｜tool_call_end｜>", "</steptml:invoke>"),
    ),
    tool=span('<steptml:invoke name="', '">\n'),
    args=TaggedArgs(key=span('<steptml:parameter name="', '">'), value=span("", "</steptml:parameter>\n")),
    source="formats.md E3 (StepFun Step-3)",
)
MINICPM5 = Dialect(
    name="minicpm5",
    aliases=("minicpm5_xml",),
    call=span("", "</function>"),
    tool=span(('<function name="', "<function name='"), ('">', "'>")),
    args=TaggedArgs(key=span(('<param name="', "<param name='"), ('">', "'>")), value=span("", "</param>")),
    source="formats.md E4 (MiniCPM 5)",
    sample='<function name="f"><param name="a">1</param></function>',
)

ROWS = (
    QWEN3_CODER, QWEN3_ELEMENTS, QWEN3_BARE, MIMO, SEED_OSS, GLM, IQUEST, MINIMAX_M2, ANTHROPIC_XML, DOTS, DEEPSEEK_DSML, GIGACHAT35, STEP3,
    MINICPM5,
)
