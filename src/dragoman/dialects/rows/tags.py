"""Families that write every argument as markup of its own (formats.md E)."""

from __future__ import annotations

import re

from ..spec import Dialect, ElementArgs, JsonArgs, JsonCall, Place, Span, Strength, TaggedArgs, Typing, YamlCall, span
from .documents import ARGS, NAMES

PARAMETER_OPEN = (
    "<parameter=", '<parameter name="', "<parameter name='", "<parameter name=", "<parameter>", "<param=",
    '<param name="', "<param name='", "< parameter =",
)
"""The first is the template's; the rest are what models write instead (malformations.md §5)."""
FUNCTION_OPEN = (
    "<function=", '<function name="', "<function name='", "<function name=", "<function>", "<call=", "<tool=",
    "<invoke=", '<invoke name="', "<name>", "function=", "<parameter=", "< function =", '<call name="', '<tool name="',
    "<tool_name>", "<tool>\n<tool_name>", "<tool><tool_name>", "<function ",
)
FUNCTION_CLOSE = (">\n", "/>", '">', "'>", "</function>", "</name>", "</tool_name>")
BODY_CLOSE = ("</function>", "</call>", "</tool>", "</invoke>", "</function >", "</ function >")
NAMELESS = (">\n", '">', "'>", "</parameter>")
OTHER_CLOSERS = ("</param>", "</parameter >", "</ parameter >")

PARAMETER = TaggedArgs(
    key=Span(PARAMETER_OPEN, NAMELESS), value=span("", ("\n</parameter>\n", *OTHER_CLOSERS)), trim="\n"
)
COMPACT = TaggedArgs(
    key=Span(PARAMETER_OPEN, (">", *NAMELESS[1:])), value=span("", ("</parameter>", *OTHER_CLOSERS))
)
ARG_KEY = TaggedArgs(
    key=span("<arg_key>", "</arg_key>\n"), value=span("<arg_value>", "</arg_value>\n"), typing=Typing.LITERAL,
    joined=("=",),
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
    call=span("", ("</function>", "</function>\n</tool_call>", "</function></tool_call>")),
    tool=span("<function=", (">\n", "/>", '">', "'>")),
    args=PARAMETER,
    source="formats.md E1 (the outer tag is missing, or its opener alone: ollama#17276)",
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
NAME_ELEMENTS = Dialect(
    name="tool_call_name_elements",
    aliases=("qwen3_coder",),
    call=span("<tool_call>", "</tool_call>"),
    tool=span("", "\n"),
    tool_re=r"(?P<name>[^\s{}\"<>=]+)",
    args=ElementArgs(),
    source="aisdk qwen3coder live variants (GLM-4.7: the bare name, then an element for each argument)",
    sample="<tool_call>f\n<a>1</a></tool_call>",
)
TOOL_CALL_YAML = Dialect(
    name="tool_call_yaml",
    aliases=("yaml_xml_tool_tag",),
    call=span("<tool_call>\n", "\n</tool_call>"),
    args=YamlCall(name=NAMES, args=ARGS),
    source="malformations.md §5 (YAML inside another dialect's wrapper)",
    sample="<tool_call>\nname: f\narguments:\n  a: 1\n</tool_call>",
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
    tool=Span(FUNCTION_OPEN, FUNCTION_CLOSE),
    body=Span((), BODY_CLOSE),
    args=PARAMETER,
    reasoning=(span("<seed:think>", "</seed:think>"),),
    source="formats.md E1 (ByteDance Seed-OSS)",
    sample="<seed:tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</seed:tool_call>",
)
GLM = Dialect(
    name="glm45",
    aliases=("glm46", "glm47", "ling3", "ling3_xml", "poolside_v1", "laguna", "spark25"),
    quiet=("<|role_end|>", "<role>ASSISTANT</role>"),
    call=span("<tool_call>", "</tool_call>"),
    tool=span("", ("\n", "<arg_key>", "</tool_call>", "\\n", "</arg_value>")),
    tool_re=r"(?P<name>[^\s{}\"<>=]+)",
    args=ARG_KEY,
    source="formats.md E2 (GLM-4.5 to 5, Ling 3, Laguna)",
    sample="<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
)
GLM_GLUED = Dialect(
    name="glm_glued",
    aliases=("glm45", "glm46", "glm47"),
    call=span("<tool_call>", "</tool_call>"),
    tool=span("", "</arg_key>"),
    tool_re=r"(?P<name>[^{}]+)",
    args=ARG_KEY,
    source="vllm#47190, sigit#95 (GLM-4.7 to 5.2 lose the mark between the name and the first key)",
)
TELECHAT = Dialect(
    name="telechat4",
    aliases=("xing4_0",),
    call=span("<tool_call>", "</tool_call>"),
    tool=span("", ("<param_key>", "\n", "</tool_call>")),
    tool_re=r"(?P<name>[^\s{}\"<>=]+)",
    args=TaggedArgs(
        key=span("<param_key>", "</param_key>"), value=span("<param_value>", "</param_value>"), typing=Typing.LITERAL
    ),
    source="formats-2026.md N4 (China Telecom TeleChat4, Xing 4.0)",
)
IQUEST_CODER = Dialect(
    name="iquest_coder_v2",
    call=span("<iquestcoder_tool_call>", "</iquestcoder_tool_call>"),
    tool=span("", ("\n", "<arg_key>", "</iquestcoder_tool_call>")),
    tool_re=r"(?P<name>[^\s{}\"<>=]+)",
    args=TaggedArgs(key=ARG_KEY.key, value=ARG_KEY.value, typing=Typing.LITERAL),
    source="formats-2026.md N5 (IQuest Coder V2)",
    sample="<iquestcoder_tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</iquestcoder_tool_call>",
)
SOLAR = Dialect(
    name="solar_open2",
    aliases=("solar",),
    call=span("<|tool_call:start|>", "<|tool_call:end|>"),
    tool=span("", "\n"),
    args=TaggedArgs(
        key=span("<|tool_arg:start|>", "<|tool_arg:value|>"), value=span("", "<|tool_arg:end|>\n"), typing=Typing.LITERAL
    ),
    reasoning=(span("<|think:start|>", "<|think:end|>"),),
    source="formats-2026.md N1 (Upstage Solar Open 2)",
    sample="<|tool_call:start|>f\n<|tool_arg:start|>a<|tool_arg:value|>1<|tool_arg:end|>\n<|tool_call:end|>",
)
ZAYA = Dialect(
    name="zaya",
    aliases=("zaya_xml",),
    call=span("<zyphra_tool_call>\n", "\n</zyphra_tool_call>"),
    tool=Span(FUNCTION_OPEN, FUNCTION_CLOSE),
    body=Span((), BODY_CLOSE),
    args=PARAMETER,
    source="formats-2026.md N11 (Zyphra ZAYA1)",
    sample="<zyphra_tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</zyphra_tool_call>",
)
QWEN3_PARAMETER = Dialect(
    name="qwen3_parameter",
    aliases=("qwen3_coder",),
    place=Place.LINE,
    call=Span(("<parameter={name}>\n",), ("</function>", "</tool_call>")),
    args=PARAMETER,
    source="signalnine/q27#24, #38 (Qwen3.5 to 3.8 open the call as they open a parameter)",
    sample="<parameter=f>\n<parameter=a>\n1\n</parameter>\n</function>",
)
QWEN3_TORN = Dialect(
    name="qwen3_torn",
    aliases=("qwen3_coder",),
    place=Place.LINE,
    call=Span(("function={name}>\n",), ("</function>", "</function>\n</tool_call>", "</tool_call>")),
    args=PARAMETER,
    source="malformations.md §5 (`function=send_message>`, GLM-4.7: the first sign of the call is lost)",
    sample="function=f>\n<parameter=a>\n1\n</parameter>\n</function>",
)
VCP = Dialect(
    name="vcp",
    call=span("<<<[TOOL_REQUEST]>>>\n", "<<<[END_TOOL_REQUEST]>>>"),
    tool=span(("tool_name:", "tool_name："), ("「末」,\n", "「末」\n", "「末」，\n")),
    tool_re=r"「始」(?P<name>.+)",
    tool_form="「始」{name}",
    args=TaggedArgs(
        key=span("", (":", "：")), value=span("「始」", ("「末」,\n", "「末」\n", "「末」，\n")), typing=Typing.LITERAL
    ),
    source="formats-2026.md N17 (the VCP protocol: VCPToolBox; ModelScope Twinkle reads it)",
    sample="<<<[TOOL_REQUEST]>>>\ntool_name:「始」f「末」,\na:「始」1「末」,\n<<<[END_TOOL_REQUEST]>>>",
)
NAME_LINE = Dialect(
    name="tool_call_name_json",
    aliases=("laguna", "glm45", "glm46", "glm47"),
    call=span("<tool_call>", "</tool_call>"),
    tool=span("", ("\n", "{")),
    tool_re=r"(?P<name>[^\s{}\"<>=]+)>?",
    args=JsonArgs(),
    source="malformations.md §5 (JSON inside another dialect's wrapper; ollama laguna)",
    sample='<tool_call>f\n{"a": 1}</tool_call>',
)
USER_TAG = Dialect(
    name="laguna_user",
    aliases=("laguna",),
    place=Place.LINE,
    strength=Strength.OWN,
    call=span("<user>", "</user>"),
    tool=span("", ("\n", "<arg_key>", "</user>")),
    tool_re=r"(?P<name>[^\s{}\"<>=]+)",
    args=ARG_KEY,
    source="malformations.md §5 (Laguna's `<user>read…</user>`)",
    sample="<user>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</user>",
)
USER_JSON = Dialect(
    name="laguna_user_json",
    aliases=("laguna",),
    place=Place.LINE,
    strength=Strength.OWN,
    call=span("<user>", "</user>"),
    args=JsonCall(name=NAMES, args=ARGS),
    source="malformations.md §5 (Laguna's `<user>` with JSON)",
    sample='<user>{"name": "f", "arguments": {"a": 1}}</user>',
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
HY = Dialect(
    name="hy_v3",
    aliases=("hy_v4",),
    section=span("<tool_calls>\n", "\n</tool_calls>"),
    call=span("<tool_call>", "</tool_call>"),
    tool=span("", ("<tool_sep>\n", "\n", "<arg_key>", "</tool_call>", "</arg_value>")),
    tool_re=r"(?P<name>[^\s{}\"<>=]+)",
    args=TaggedArgs(key=ARG_KEY.key, value=ARG_KEY.value),
    suffix=r"[0-9A-Za-z]{4,16}",
    source="formats.md E2 (Tencent Hy3, Hy4)",
    sample="<tool_calls>\n<tool_call>f<tool_sep>\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>\n</tool_calls>",
)
IFM_SECTION = span("<ifm|tool_calls>", "</ifm|tool_calls>")
IFM_CALL = span("<ifm|tool_call>", "</ifm|tool_call>")
IFM_THINK = tuple(span(f"<ifm|think{how}>", f"</ifm|think{how}>") for how in ("", "_fast", "_faster"))
K2_HORIZON = Dialect(
    name="k2_horizon",
    section=IFM_SECTION,
    call=IFM_CALL,
    tool=span("", ("\n", "<ifm|arg_key>", "</ifm|tool_call>")),
    tool_re=r"(?P<name>[^\s{}\"<>=]+)",
    between=("",),
    args=TaggedArgs(
        key=span("<ifm|arg_key>", "</ifm|arg_key>"),
        type=span("<ifm|arg_type>", "</ifm|arg_type>"),
        value=span("<ifm|arg_value>", "</ifm|arg_value>"),
        typing=Typing.LITERAL,
    ),
    reasoning=IFM_THINK,
    source="formats.md E2 (IFM K2-v3)",
    sample="<ifm|tool_calls><ifm|tool_call>f<ifm|arg_key>a</ifm|arg_key><ifm|arg_value>1</ifm|arg_value></ifm|tool_call></ifm|tool_calls>",
)
K2_HORIZON_JSON = Dialect(
    name="k2_horizon_json",
    aliases=("k2_horizon",),
    section=IFM_SECTION,
    call=IFM_CALL,
    between=("",),
    args=JsonCall(name=NAMES, args=ARGS),
    reasoning=IFM_THINK,
    source="formats.md E2 (IFM K2-v3, JSON bodies)",
    sample='<ifm|tool_calls><ifm|tool_call>{"name": "f", "arguments": {"a": 1}}</ifm|tool_call></ifm|tool_calls>',
)
MINIMAX_M2 = Dialect(
    name="minimax_m2",
    section=span("<minimax:tool_call>\n", "\n</minimax:tool_call>"),
    call=span("", "</invoke>"),
    tool=span(('<invoke name="', "<invoke name='", "<invoke name="), ('">\n', "'>", ">", '"/>', '" />')),
    args=NAMED,
    source="formats.md E3 (MiniMax M2)",
    sample='<minimax:tool_call>\n<invoke name="f">\n<parameter name="a">1</parameter>\n</invoke>\n</minimax:tool_call>',
)
CLAUDE = "antml:"
"""The name space that Claude's own template puts before the name of each tag."""


def _claudes(*spellings: str) -> tuple[str, ...]:
    """The tags as they are, and each with that name space: a model writes it in some of them and forgets it in others."""
    return (*spellings, *(re.sub(r"<(/?)", rf"<\1{CLAUDE}", tag) for tag in spellings))


ANTHROPIC_XML = Dialect(
    name="anthropic_xml",
    section=Span(_claudes("<function_calls>\n", "<tool_calls>\n"), _claudes("\n</function_calls>", "\n</tool_calls>")),
    call=Span((), _claudes("</invoke>")),
    tool=Span(
        (*_claudes('<invoke name="', "<invoke name='", "<invoke name="), f'{CLAUDE}invoke name="'),
        ('">\n', "'>", ">", '"/>', '" />'),
    ),
    args=TaggedArgs(
        key=Span(_claudes(*NAMED.key.open), NAMED.key.close), value=Span((), _claudes(*NAMED.value.close))
    ),
    source="formats.md §6.2 (Anthropic's legacy XML; Claude's own tags where a host passes them on: claude-code#67307)",
    sample='<function_calls>\n<invoke name="f">\n<parameter name="a">1</parameter>\n</invoke>\n</function_calls>',
)
DOTS = Dialect(
    name="dots",
    section=span("<dots_function_call>\n", "\n</dots_function_call>"),
    call=span("", "</invoke>"),
    tool=span(('<invoke name="', "<invoke name='", "<invoke name="), ('">\n', "'>", ">", '"/>', '" />')),
    args=NAMED,
    source="formats.md E3 (rednote dots)",
    sample='<dots_function_call>\n<invoke name="f">\n<parameter name="a">1</parameter>\n</invoke>\n</dots_function_call>',
)


def _spelt(text: str, token: str) -> tuple[str, ...]:
    """`text` with the special token that `@` stands for, in every spelling seen: a space after it, other bars."""
    names = (
        token, token + " ", token.replace("｜", "|"), f"｜{token}｜", f"|{token.replace('｜', '|')}|", token.replace("｜", "‖"),
        f"｜{token}｜ ", f" {token.replace('｜', '|').replace('|', ' | ').strip()} ",
    )
    return tuple(text.replace("@", name) for name in names)


def _special(token: str) -> TaggedArgs:
    """The DSML and GCML parameters: a flag says whether the value is text."""
    return TaggedArgs(
        key=Span(_spelt('<@parameter name="', token), ('">', '" string="true">', '" string="false">')),
        value=Span((), _spelt("</@parameter>\n", token)),
        typing=Typing.LITERAL,
        raw_flag=('" string="true">',),
        json_flag=('" string="false">',),
    )


DSML, GCML = "｜DSML｜", "｜GCML｜"
WRAPPERS = ("function_calls", "tool_calls", "calls", "toolcalls", "tool", "tool_call")
DSML_SECTION = Span(
    tuple(o for w in WRAPPERS for o in _spelt(f"<@{w}>\n", DSML)), tuple(c for w in WRAPPERS for c in _spelt(f"\n</@{w}>", DSML))
)
DEEPSEEK_DSML = Dialect(
    name="deepseek_v32",
    aliases=("deepseek_v4", "deepseek_v41", "deepseek_dsml"),
    section=DSML_SECTION,
    call=Span((), _spelt("</@invoke>", DSML)),
    tool=Span(_spelt('<@invoke name="', DSML) + _spelt("<@invoke name='", DSML), ('">\n', '"/>', '" />', "'>")),
    args=_special(DSML),
    source="formats.md E3 (DeepSeek V3.2, V4, V4.1)",
    sample=(
        f'<{DSML}function_calls>\n<{DSML}invoke name="f">\n'
        f'<{DSML}parameter name="a" string="false">1</{DSML}parameter>\n'
        f"</{DSML}invoke>\n</{DSML}function_calls>"
    ),
)
DEEPSEEK_DSML_JSON = Dialect(
    name="deepseek_dsml_json",
    aliases=("deepseek_v32", "deepseek_v4", "deepseek_v41", "deepseek_dsml"),
    section=DSML_SECTION,
    call=Span((), _spelt("</@invoke>", DSML)),
    tool=Span(_spelt('<@invoke name="', DSML), ('">\n', '"/>', '" />')),
    args=JsonArgs(),
    source="formats.md E3 (DSML with a JSON object as the body)",
    sample=f'<{DSML}function_calls>\n<{DSML}invoke name="f">\n{{"a": 1}}</{DSML}invoke>\n</{DSML}function_calls>',
)
GIGACHAT35 = Dialect(
    name="gigachat35",
    section=Span(_spelt("<@tool_calls>\n", GCML), _spelt("\n</@tool_calls>", GCML)),
    call=Span((), _spelt("</@invoke>", GCML)),
    tool=Span(_spelt('<@invoke name="', GCML), ('">\n', '"/>')),
    args=_special(GCML),
    quiet=("<|message_sep|>",),
    source="formats.md E3 (GigaChat 3.5)",
    sample=(
        f'<{GCML}tool_calls>\n<{GCML}invoke name="f">\n'
        f'<{GCML}parameter name="a" string="false">1</{GCML}parameter>\n'
        f"</{GCML}invoke>\n</{GCML}tool_calls>"
    ),
)
STEP3 = Dialect(
    name="step3",
    section=span("<｜tool_calls_begin｜>\n", "\n<｜tool_calls_end｜>"),
    call=span(
        ("<｜tool_call_begin｜>function<｜tool_sep｜>", "<｜tool_call_begin｜>\nfunction<｜tool_sep｜>", "<｜tool_call_begin｜>"),
        ("</steptml:invoke><｜tool_call_end｜>", "</steptml:invoke>", "<｜tool_call_end｜>"),
    ),
    tool=span('<steptml:invoke name="', '">\n'),
    args=TaggedArgs(key=span('<steptml:parameter name="', '">'), value=span("", "</steptml:parameter>\n")),
    source="formats.md E3 (StepFun Step-3)",
)
MINICPM5 = Dialect(
    name="minicpm5",
    aliases=("minicpm5_xml",),
    call=span("", "</function>"),
    tool=span(
        ('<function name="', "<function name='", '<functionname="', '<function  name="'), ('">', "'>", '"/>', '" />')
    ),
    args=TaggedArgs(
        key=span(
            ('<param name="', "<param name='", '<paramname="', '<parameter name="', "<parameter=", "<param="),
            ('">', "'>", ">"),
        ),
        value=span("", ("</param>", "</parameter>")),
        entities=True,
    ),
    source="formats.md E4 (MiniCPM 5)",
    sample='<function name="f"><param name="a">1</param></function>',
)

_XTML = TaggedArgs(
    key=span('<|open|>argument key="', ('"<|sep|>', '" type="string"<|sep|>')),
    value=span("", "<|close|>argument<|sep|>"),
    typing=Typing.LITERAL,
    attributes=True,
    raw_flag=('" type="string"<|sep|>',),
    json_flag=tuple(f'" type="{kind}"<|sep|>' for kind in ("number", "integer", "boolean", "object", "array", "null")),
)
KIMI_K3_JSON = Dialect(
    name="kimi_k3_json",
    aliases=("kimi_k3",),
    section=span("<|open|>tools<|sep|>", "<|close|>tools<|sep|>"),
    call=span("", "<|close|>call<|sep|>"),
    tool=span('<|open|>call tool="', "<|sep|>"),
    tool_re=r'(?P<name>[^"]+)"(?:\s+index="(?P<id>[^"]*)")?(?:\s+[\w.-]+="[^"<]*")*\s*',
    tool_form='{name}" index="{index}"',
    body=span('<|open|>json type="object"<|sep|>', "<|close|>json<|sep|>"),
    between=("",),
    args=JsonArgs(),
    source="formats-2026.md E6 (Kimi K3 where the arguments are one JSON text)",
    sample=(
        '<|open|>tools<|sep|><|open|>call tool="f" index="0"<|sep|><|open|>json type="object"<|sep|>{"a": 1}'
        "<|close|>json<|sep|><|close|>call<|sep|><|close|>tools<|sep|>"
    ),
)
KIMI_K3 = Dialect(
    name="kimi_k3",
    section=span("<|open|>tools<|sep|>", "<|close|>tools<|sep|>"),
    call=span("", "<|close|>call<|sep|>"),
    tool=span('<|open|>call tool="', "<|sep|>"),
    tool_re=r'(?P<name>[^"]+)"(?:\s+index="(?P<id>[^"]*)")?(?:\s+[\w.-]+="[^"<]*")*\s*',
    tool_form='{name}" index="{index}"',
    between=("",),
    args=_XTML,
    quiet=(
        "<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>message<|sep|>", "<|close|>tools<|sep|>",
        '<|open|>message role="assistant"<|sep|>',
    ),
    reasoning=(span("<|open|>think<|sep|>", ("<|close|>think<|sep|>", "<|open|>response<|sep|>")),),
    source="formats.md E6 (Kimi K3, XTML)",
    sample=(
        '<|open|>tools<|sep|><|open|>call tool="f" index="0"<|sep|><|open|>argument key="a" type="number"<|sep|>1'
        "<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>"
    ),
)

ROWS = (
    QWEN3_CODER, QWEN3_ELEMENTS, QWEN3_BARE, MIMO, SEED_OSS, GLM, HY, NAME_LINE, NAME_ELEMENTS, TOOL_CALL_YAML, IQUEST, K2_HORIZON, K2_HORIZON_JSON, MINIMAX_M2,
    ANTHROPIC_XML, DOTS, DEEPSEEK_DSML, DEEPSEEK_DSML_JSON, GIGACHAT35, STEP3, MINICPM5, KIMI_K3,
    KIMI_K3_JSON, SOLAR, TELECHAT, IQUEST_CODER, ZAYA, QWEN3_PARAMETER, QWEN3_TORN,
    GLM_GLUED, VCP,
)
WEAK = (USER_TAG, USER_JSON)
