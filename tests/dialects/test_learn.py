"""Dialects learned from templates: every family's shape, what cannot be learned, and the sandbox it happens in."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

import dragoman
from dragoman.dialects import DIALECTS, Dialect, Parser, parse
from dragoman.dialects.engine.parsed import fold
from dragoman.dialects.learning import Learned, LearnError, learn, marks, patterns, sandbox
from dragoman.dialects.learning.voice import NotUnderstood
from dragoman.dialects.spec import (
    AttributeArgs,
    BraceArgs,
    ElementArgs,
    JsonArgs,
    JsonCall,
    KeywordArgs,
    Listing,
    Strength,
    TaggedArgs,
    Typing,
)
from dragoman.dialects.writing.history import render_result
from dragoman.dialects.writing.render import Unrenderable, render
from dragoman.types import Tool, ToolCall, ToolResult
from tests.support import places

VECTORS = places.VECTORS / "learn"
OUTSIDE = places.RECORDINGS / "text" / "vllm.jsonl"

TOOLS = [
    Tool(
        name="write_file",
        parameters={
            "type": "object",
            "properties": {"path": {"type": "string"}, "text": {"type": "string"}, "lines": {"type": "integer"}},
        },
    ),
    Tool(
        name="search-all",
        parameters={
            "type": "object",
            "properties": {"query": {"type": "string"}, "kinds": {"type": "array", "items": {"type": "string"}}},
        },
    ),
    Tool(name="ping"),
]
CODE = 'def f(x):\n    return {"a": [x, \'b\'], "c": "<d>é</d>"}  # \\n'
CALLS = [
    ToolCall(id="abcdef001", name="write_file", arguments={"path": "src/a b.py", "text": CODE, "lines": 2}),
    ToolCall(id="abcdef002", name="search-all", arguments={"query": "zero: 0, 'one'", "kinds": ["x", "y z"]}),
    ToolCall(id="abcdef003", name="ping", arguments={}),
]


@dataclass(frozen=True)
class Family:
    """What must come out of one template: notation, first mark, reasoning opener, result form, what the prompt opens.

    `like` is the built-in dialect that reads and writes the same.
    """

    args: type
    opener: str
    reasoning: str = ""
    result: str = ""
    prefix: str = ""
    like: str = ""
    listing: Listing = Listing.REPEAT
    strength: Strength = Strength.STRONG


SHOWN = "<tool_response>\n{content}\n</tool_response>"
ARRAY, WEAK = Listing.ARRAY, Strength.WEAK
OUTPUTS = (
    "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>{content}<｜tool▁output▁end｜><｜tool▁outputs▁end｜>"
)
FAMILIES = {
    "apertus": Family(JsonCall, "<|tools_prefix|>", "<|inner_prefix|>", like="apertus", listing=ARRAY),
    "cohere_command": Family(
        JsonCall, "<|START_ACTION|>", "<|START_THINKING|>", prefix="<|START_THINKING|>", like="cohere_command",
        listing=ARRAY,
    ),
    "command_r_plus": Family(JsonCall, "Action:\n```json", listing=ARRAY, strength=WEAK),
    "deepseek_v3": Family(JsonArgs, "<｜tool▁calls▁begin｜>", "", OUTPUTS, "<think>", "deepseek_v3"),
    "deepseek_v31": Family(
        JsonArgs, "<｜tool▁calls▁begin｜>", "", "<｜tool▁output▁begin｜>{content}<｜tool▁output▁end｜>", "", "deepseek_v31"
    ),
    "deepseek_v32": Family(
        TaggedArgs, "<｜DSML｜function_calls>", "",
        "<function_results>\n<result>{content}</result>\n</function_results>", "<think>", "deepseek_v32",
    ),
    "functionary31": Family(JsonArgs, "<function=", like="llama_function"),
    "functionary32": Family(JsonArgs, ">>>", prefix=">>>"),
    "gemma4": Family(BraceArgs, "<|tool_call>call:", "<|channel>thought", like="gemma4"),
    "glm45": Family(TaggedArgs, "<tool_call>", "<think>", SHOWN, like="glm45"),
    "glm47": Family(TaggedArgs, "<tool_call>", "<think>", SHOWN.replace("\n", ""), "<think>", "glm45"),
    "gpt_oss": Family(JsonArgs, "to=functions.", "<|channel|>analysis<|message|>"),
    "granite3": Family(JsonCall, "<|tool_call|>", like="granite", listing=ARRAY),
    "granite4": Family(JsonCall, "<tool_call>", "", SHOWN, like="hermes"),
    "internlm2": Family(JsonCall, "<|action_start|><|plugin|>", like="internlm2"),
    "kimi_k2": Family(JsonArgs, "<|tool_calls_section_begin|>", like="kimi_k2"),
    "lfm2": Family(KeywordArgs, "<|tool_call_start|>", like="lfm2", listing=ARRAY),
    "llama31_json": Family(JsonCall, "", strength=WEAK),
    "llama32_pythonic": Family(KeywordArgs, "", like="pythonic", listing=ARRAY, strength=WEAK),
    "minicpm5": Family(TaggedArgs, '<function name="'),
    "minimax_m2": Family(
        TaggedArgs, "<minimax:tool_call>", "<think>", "<response>{content}</response>", "<think>", "minimax_m2"
    ),
    "minimax_m3": Family(ElementArgs, "]<]minimax[>[<tool_call>", "<mm:think>", like="minimax_m3"),
    "mistral_nemo": Family(JsonCall, "[TOOL_CALLS]", like="mistral", listing=ARRAY),
    "mistral_v11": Family(
        JsonArgs, "[TOOL_CALLS]", "", "[TOOL_RESULTS]{id}[TOOL_CONTENT]{content}[/TOOL_RESULTS]", like="mistral_v11"
    ),
    "nemotron3": Family(TaggedArgs, "<tool_call>", "<think>", "", "<think>", "qwen3_coder"),
    "olmo3": Family(KeywordArgs, "<function_calls>", like="olmo3"),
    "qwen25": Family(JsonCall, "<tool_call>", "", SHOWN, like="hermes"),
    "qwen3": Family(JsonCall, "<tool_call>", "<think>", SHOWN, like="hermes"),
    "qwen3_coder": Family(TaggedArgs, "<tool_call>", "", SHOWN, like="qwen3_coder"),
    "seed_oss": Family(TaggedArgs, "<seed:tool_call>", "<seed:think>"),
    "solar": Family(JsonArgs, "<|tool_calls|>", "<|think|>"),
    "step3": Family(TaggedArgs, "<｜tool_calls_begin｜>", like="step3"),
    "xml_attributes": Family(AttributeArgs, "<tool_call", like="xml_attributes"),
}
every_family = pytest.mark.parametrize("family", FAMILIES)
SPECIAL = {"bos_token": "<s>", "eos_token": {"content": "</s>", "special": True}}


def source(family: str) -> str:
    return (VECTORS / f"{family}.jinja").read_text(encoding="utf-8")


def learned(family: str) -> Learned:
    return learn(source(family), tokenizer_config=SPECIAL, name=family)


def calls_of(calls: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(c.name, dict(c.arguments)) for c in calls]


def written(row: Dialect) -> list[tuple[list[ToolCall], str]]:
    """Calls the row has a spelling for, one by one and together, and that spelling."""
    found = []
    for calls in (*([c] for c in CALLS), CALLS):
        try:
            found.append((calls, render(calls, row, tools=TOOLS)))
        except Unrenderable:
            continue
    return found


# ── chat templates ───────────────────────────────────────────────────────────


@every_family
def test_the_marks_of_a_family_are_learned_from_its_template(family: str) -> None:
    expected, found = FAMILIES[family], learned(family)
    row = found.dialect
    opener = "".join((row.section.open or row.call.open or row.tool.open)[:1]).strip()
    reasoning = row.reasoning[0].open[0].strip() if row.reasoning else ""
    assert (type(row.args), opener, reasoning) == (expected.args, expected.opener, expected.reasoning)
    assert (row.result, found.prefix, row.listing, row.strength) == (
        expected.result, expected.prefix, expected.listing, expected.strength
    )
    assert found.prompt_opens_reasoning == (expected.prefix not in ("", expected.opener))
    assert row.name == family


@every_family
def test_a_learned_row_reads_what_it_writes(family: str) -> None:
    row = learned(family).dialect
    texts = written(row)
    assert len(texts) >= 2
    for calls, text in texts:
        assert calls_of(parse(text, tools=TOOLS, dialects=[row]).calls) == calls_of(calls), text


@pytest.mark.parametrize("family", [f for f, e in FAMILIES.items() if e.like])
def test_a_learned_and_a_built_in_row_read_each_other(family: str) -> None:
    row, known = learned(family).dialect, DIALECTS[FAMILIES[family].like]
    for writer, reader in ((row, known), (known, row)):
        for calls, text in written(writer):
            assert calls_of(parse(text, tools=TOOLS, dialects=[reader]).calls) == calls_of(calls), text


@every_family
def test_a_learned_row_streams(family: str) -> None:
    row = learned(family).dialect
    for calls, text in written(row):
        parser = Parser(tools=TOOLS, dialects=[row])
        assert calls_of(fold([e for c in text for e in parser.feed(c)] + parser.close()).calls) == calls_of(calls)


@pytest.mark.parametrize("family", [f for f, e in FAMILIES.items() if e.reasoning])
def test_a_call_counts_after_learned_reasoning_and_not_inside(family: str) -> None:
    found = learned(family)
    row = found.dialect
    opener, closer = row.reasoning[0].open[0], row.reasoning[0].close[0]
    call = render(CALLS[2:], row, tools=TOOLS)
    thought = ("" if found.prompt_opens_reasoning else opener) + "I think " + call + " would do." + closer
    parsed = parse(thought + call, tools=TOOLS, dialects=[row], prefix=found.prefix)
    assert (calls_of(parsed.calls), "would do" in parsed.reasoning) == ([("ping", {})], True)


def test_a_call_begun_by_the_prompt_reaches_the_parser() -> None:
    found = learned("functionary32")
    text = 'ping\n{}>>>write_file\n{"path": "a"}'
    parsed = parse(text, tools=TOOLS, dialects=[found.dialect], prefix=found.prefix)
    assert [c.name for c in parsed.calls] == ["ping", "write_file"]


def test_ids_are_learned_with_the_place_where_they_stand() -> None:
    calls = [ToolCall(id="abcdef123", name="ping", arguments={})]
    for family, text in (
        ("mistral_v11", "[TOOL_CALLS]ping[CALL_ID]abcdef123[ARGS]{}"),
        ("solar", "<|tool_calls|><|tool_call:begin|>abcdef123<|tool_call:name|>ping<|tool_call:args|>{}<|tool_call:end|><|calls|>"),
        ("mistral_nemo", '[TOOL_CALLS][{"id": "abcdef123", "name": "ping", "arguments": {}}]'),
    ):
        row = learned(family).dialect
        assert render(calls, row) == text
        assert [c.id for c in parse(text, tools=TOOLS, dialects=[row]).calls] == ["abcdef123"]


def test_kimi_calls_are_counted() -> None:
    row = learned("kimi_k2").dialect
    parsed = parse(render(CALLS[1:], row, tools=TOOLS), tools=TOOLS, dialects=[row])
    assert [c.id for c in parsed.calls] == ["functions.search-all:0", "functions.ping:1"]


def test_flags_that_tell_text_from_json_are_learned() -> None:
    args = learned("deepseek_v32").dialect.args
    assert isinstance(args, TaggedArgs)
    assert (args.raw_flag, args.json_flag, args.typing) == (
        ('" string="true">',), ('" string="false">',), Typing.LITERAL
    )


def test_text_that_a_template_escapes_is_unescaped() -> None:
    escaping = source("minicpm5").replace("{{ value }}", "{{ value | e if value is string else value }}")
    row = learn(escaping).dialect
    assert isinstance(row.args, TaggedArgs)
    assert row.args.entities
    text = render(CALLS[:1], row, tools=TOOLS)
    assert "&lt;d&gt;" in text
    for reader in (row, DIALECTS["minicpm5"]):
        assert calls_of(parse(text, tools=TOOLS, dialects=[reader]).calls) == calls_of(CALLS[:1])


def test_a_learned_result_form_tells_a_result() -> None:
    result = ToolResult(call_id="abcdef123", name="ping", content="pong {x}")
    assert render_result(result, learned("qwen25").dialect) == "<tool_response>\npong {x}\n</tool_response>"
    assert "abcdef123[TOOL_CONTENT]pong {x}" in render_result(result, learned("mistral_v11").dialect)


def test_notes_say_what_a_template_cannot_do() -> None:
    def notes(family: str) -> str:
        return "\n".join(learned(family).notes)

    assert "one call in a turn" in notes("llama31_json")
    assert "with enable_thinking the prompt opens reasoning (prefix '<think>')" in notes("qwen3")
    assert "does not write the reasoning" in notes("qwen25")
    assert "built-in dialect 'hermes'" in notes("qwen25")


def test_lists_printed_as_python_are_read_by_the_schema() -> None:
    """ByteDance Seed-OSS and MiniCPM 5 print values: their models are taught `['a', 'b']`."""
    row = learned("seed_oss").dialect
    text = render([CALLS[1]], row, tools=TOOLS).replace('["x", "y z"]', "['x', 'y z']")
    (call,) = parse(text, tools=TOOLS, dialects=[row]).calls
    assert call.arguments["kinds"] == ["x", "y z"]
    assert call.report is not None
    assert [e.kind for e in call.report.edits] == ["python_literal"]


def test_learning_twice_gives_the_same() -> None:
    assert learned("qwen3") == learned("qwen3")


def test_the_public_dialects_learn() -> None:
    found = dragoman.dialects.learn(source("qwen25"))
    assert found.dialect.name == "learned"
    assert dragoman.dialects["hermes"] is DIALECTS["hermes"]


# ── what cannot be learned ───────────────────────────────────────────────────

TURN = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
UNLEARNABLE = {
    "no template at all": ("{% if %}", "no Jinja template"),
    "a template that fails": ("{{ nothing.there }}", "fails on a user's question alone"),
    "calls are not written": (TURN, "does not write the calls of past turns"),
    "calls are not written, the prompt tells of them": (
        "{% if tools %}Write <|tool_call_start|>[f(a=1)]<|tool_call_end|>{% endif %}" + TURN,
        "its prompt shows the markers of 'lfm2",
    ),
    "arguments without a name": (
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls or [] %}"
        "<call>{{ c.function.arguments | tojson }}</call>{% endfor %}{% endfor %}",
        "does not write the calls",
    ),
    "nothing marks a call": (
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls or [] %}"
        "{{ c.function.name }}, {{ c.function.arguments | tojson }}\n{% endfor %}{% endfor %}",
        "nothing marks where a call begins",
    ),
    "arguments as prose": (
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls or [] %}<call>run "
        "{{ c.function.name }} with{% for k, v in c.function.arguments.items() %} {{ k }} being {{ v }}"
        "{% endfor %}</call>{% endfor %}{% endfor %}",
        "was not understood",
    ),
}


@pytest.mark.parametrize("case", UNLEARNABLE)
def test_what_was_not_understood_is_said(case: str) -> None:
    template, words = UNLEARNABLE[case]
    with pytest.raises(LearnError, match="list dialects") as raised:
        learn(template)
    assert words in str(raised.value)


def test_a_template_with_indistinct_calls_is_not_believed() -> None:
    """Values of two types written alike, with nothing that ends them: reading back fails, so nothing is given."""
    loose = (
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls or [] %}<call>"
        "{{ c.function.name }}{% for k, v in c.function.arguments.items() %}<k>{{ k }}<v>{{ 'x' if v is number else v }}"
        "</v>{% endfor %}</call>{% endfor %}{% endfor %}"
    )
    with pytest.raises(LearnError, match="not read back"):
        learn(loose)


def test_a_built_in_dialect_is_recognised_where_comparing_falls_short() -> None:
    """The wrapper is written only around several calls: no comparison finds it, `anthropic_xml` reads both."""
    template = (
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% set many = (m.tool_calls or []) | length > 1 %}"
        "{{ '<function_calls>\\n' if many }}{% for c in m.tool_calls or [] %}<invoke name=\"{{ c.function.name }}\">"
        "{% for k, v in c.function.arguments.items() %}<parameter name=\"{{ k }}\">{{ v if v is string else v | tojson }}"
        "</parameter>{% endfor %}</invoke>\n{% endfor %}{{ '</function_calls>' if many }}{% endfor %}"
    )
    found = learn(template, name="odd")
    (recognised, known) = ([n for n in found.notes if "fell short" in n], found.dialect)
    assert known.name == "odd"
    assert calls_of(parse('<invoke name="ping"></invoke>', tools=TOOLS, dialects=[known]).calls) == [("ping", {})], recognised


def test_without_jinja2_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(LearnError, match="pip install 'jinja2"):
        learn(source("qwen25"))


def test_nothing_to_learn_from_is_said() -> None:
    with pytest.raises(LearnError, match="neither a chat template nor a response template"):
        learn(tokenizer_config={"model_max_length": 4096})


# ── the sandbox ──────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "attack",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ messages.__class__.__base__.__subclasses__() }}",
        "{% set ns = namespace(a=1) %}{% set ns.__init__ = 2 %}",
        "{{ raise_exception.__globals__.items() }}",
        "{{ strftime_now.__self__.__class__.__base__ }}",
        "{{ messages.clear() }}",
    ],
)
def test_a_template_reaches_nothing_but_its_text(attack: str) -> None:
    with pytest.raises(LearnError, match="fails on a user's question alone"):
        learn(attack + source("qwen25"))


def test_a_template_may_use_the_helpers_of_transformers() -> None:
    helped = (
        "{% set _ = strftime_now('%Y') %}{% set ns = namespace(seen=[]) %}{% set _ = ns.seen.append('x') %}"
        "{% generation %}{{ '' }}{% endgeneration %}{% for x in [1, 2] %}{% break %}{% endfor %}" + source("qwen25")
    )
    assert learn(helped).dialect == learn(source("qwen25")).dialect


def test_what_a_template_changes_is_its_own_copy() -> None:
    variables: dict[str, Any] = {"seen": ["a"]}
    render_it = sandbox.compile_template("{% set _ = seen.append('b') %}{{ seen | length }}")
    assert (render_it(variables), render_it(variables), variables) == ("2", "2", {"seen": ["a"]})


# ── a tokenizer's configuration ──────────────────────────────────────────────


def test_the_template_for_tools_is_taken_of_several() -> None:
    plain = {"name": "default", "template": TURN}
    config = {**SPECIAL, "chat_template": [plain, {"name": "tool_use", "template": source("qwen25")}]}
    assert learn(tokenizer_config=config).dialect.call.open == ("<tool_call>\n",)


@pytest.mark.parametrize("odd", [None, 3, [], [3], [{"name": "default"}], {}, {"default": None}])
def test_a_configuration_without_a_template_is_said_to_have_none(odd: Any) -> None:
    with pytest.raises(LearnError, match="neither a chat template"):
        learn(tokenizer_config={"chat_template": odd})


def test_templates_may_be_given_by_name() -> None:
    assert learn(tokenizer_config={"chat_template": {"default": source("qwen25")}}).dialect.call.open


def test_a_template_given_beside_a_configuration_is_the_one_meant() -> None:
    config = {**SPECIAL, "chat_template": TURN}
    assert learn(source("mistral_v11"), tokenizer_config=config).dialect.call.open == ("[TOOL_CALLS]",)


# ── response templates ───────────────────────────────────────────────────────

RESPONSES: Mapping[str, dict[str, Any]] = json.loads((VECTORS / "response_templates.json").read_text(encoding="utf-8"))
F = [Tool(name="f", parameters={"type": "object", "properties": {"a": {"type": "integer"}}})]
every_response = pytest.mark.parametrize("name", RESPONSES)


@every_response
def test_a_response_template_becomes_a_row(name: str) -> None:
    vector = RESPONSES[name]
    found = learn(response_template=vector["template"])
    parsed = parse(vector["writes"], tools=F, dialects=[found.dialect])
    assert (calls_of(parsed.calls), parsed.text.strip()) == ([("f", {"a": 1})], "")
    assert found.prefix == vector["prefix"]


@every_response
def test_the_row_of_a_response_template_reads_what_it_writes(name: str) -> None:
    row = learn(response_template=RESPONSES[name]["template"]).dialect
    for calls, text in written(row):
        assert calls_of(parse(text, tools=TOOLS, dialects=[row]).calls) == calls_of(calls), text


def test_every_spelling_of_a_response_template_is_accepted() -> None:
    row = learn(response_template=RESPONSES["spellings"]["template"]).dialect
    text = '<pondering>hm</pondering><invocation>{"name": "f", "arguments": {"a": 1}}</invocation>'
    parsed = parse(text, tools=F, dialects=[row])
    assert (calls_of(parsed.calls), parsed.reasoning) == ([("f", {"a": 1})], "hm")


def test_values_without_a_schema_follow_the_value_parser() -> None:
    row = learn(response_template=RESPONSES["pairs"]["template"]).dialect
    anything = [Tool(name="f", parameters={"type": "object"})]
    (call,) = parse(RESPONSES["pairs"]["writes"], tools=anything, dialects=[row]).calls
    assert call.arguments == {"a": 1}


TEMPLATE = {"start_anchor": "x", "fields": {"tool_calls": {"open": "<call>", "close": "</call>", "content": "json"}}}


def changed(**field: Any) -> dict[str, Any]:
    """The template with other fields of the calls; None takes one away."""
    calls = {**TEMPLATE["fields"]["tool_calls"], **field}  # type: ignore[index]
    return {"start_anchor": "x", "fields": {"tool_calls": {k: v for k, v in calls.items() if v is not None}}}


def lines(**args: str) -> dict[str, Any]:
    """A template of `key: value` lines behind the name."""
    call = {"function": {"name": "{name}", "arguments": "{content}"}}
    return changed(
        open=None, open_pattern=r"<call=(?P<name>\w+)>\n?", content="kv-lines", content_args=args, repeats=True, transform=call
    )


def test_lines_of_keys_and_values_are_learned() -> None:
    row = learn(response_template=lines()).dialect
    tools = [Tool(name="f", parameters={"type": "object", "properties": {"a": {"type": "integer"}, "s": {"type": "string"}}})]
    parsed = parse("So:\n<call=f>\na: 3\ns: it is: fine\n</call>\n<call=f>\na: 4\n</call>", tools=tools, dialects=[row])
    assert calls_of(parsed.calls) == [("f", {"a": 3, "s": "it is: fine"}), ("f", {"a": 4})]


BROKEN: dict[str, tuple[Any, str]] = {
    "no fields": ({"start_anchor": "x"}, "no object of fields"),
    "no calls": ({"start_anchor": "x", "fields": {"content": {}}}, "no field tool_calls"),
    "a later version": ({**TEMPLATE, "version": 2}, "version 2"),
    "an unknown key": ({**TEMPLATE, "finish": "y"}, "what we do not know: finish"),
    "an unknown key of a field": (changed(closing="y"), "tool_calls.closing"),
    "an unknown parser": (changed(content="toml"), "tool_calls.content='toml'"),
    "calls without a beginning": ({"start_anchor": "x", "fields": {"tool_calls": {}}}, "marks no beginning"),
    "a fixed name": (
        changed(transform={"function": {"name": "set_alarm", "arguments": "{content}"}}), "'set_alarm' is fixed"
    ),
    "arguments as plain text": (
        changed(content="text", transform={"function": {"name": "{content}", "arguments": "{content}"}}), "plain text"
    ),
    "an expression that is none": ({"start_anchor": "x", "fields": {"tool_calls": {"open_pattern": "(<call>"}}}, "not closed"),
    "lines without a name before them": (
        changed(content="kv-lines", transform={"function": {"name": "{content.f}", "arguments": "{content}"}}),
        "the name does not stand in the markup",
    ),
    "lines with another sign": (lines(kv_sep="="), "'=' after the key"),
    "pairs that are no lines": (lines(line_sep=";"), "';' before the next"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_response_template_that_is_not_understood_says_why(case: str) -> None:
    template, words = BROKEN[case]
    with pytest.raises(LearnError) as raised:
        learn(response_template=template)
    assert words in str(raised.value)


def test_a_response_template_is_preferred_to_the_chat_template() -> None:
    config = {"chat_template": source("nemotron3"), "response_template": RESPONSES["hermes"]["template"]}
    found = learn(tokenizer_config=config)
    assert isinstance(found.dialect.args, JsonCall)
    assert found.prefix == "<think>"
    assert any("writes what the response template does not read" in n for n in found.notes)


def test_a_chat_template_replaces_a_useless_response_template() -> None:
    config = {"chat_template": source("qwen25"), "response_template": {"start_anchor": "x", "fields": {"content": {}}}}
    found = learn(tokenizer_config=config)
    assert found.dialect.call.open == ("<tool_call>\n",)
    assert "of no use (the response template has no field tool_calls" in found.notes[0]


# ── response templates against vLLM's own tests ──────────────────────────────

PREFIXES = {"prefilled_reasoning": "<|channel>thought\n", "is_state_only[reasoning]": "<|channel>thought\n"}


def recorded() -> list[dict[str, Any]]:
    if not OUTSIDE.exists():
        return []
    with OUTSIDE.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines if '"response_template"' in line]
    return [r for r in rows if r["dialect"] == "response_template"]


@pytest.mark.skipif(not OUTSIDE.exists(), reason="the outside vectors are not here")
def test_what_vllm_reads_by_a_response_template_is_read_alike() -> None:
    braces = learn(response_template=RESPONSES["braces"]["template"]).dialect
    paths = learn(response_template=RESPONSES["paths"]["template"]).dialect
    rows = recorded()
    assert len(rows) == 17
    wrong = []
    for row in rows:
        dialect = paths if "<tool>" in row["text"] else braces
        prefix = row["prefix"] or next((p for k, p in PREFIXES.items() if k in row["source"]), "")
        parsed = parse(row["text"], tools=row["tools"], dialects=[dialect], prefix=prefix)
        calls = [(c["name"], c["arguments"]) for c in row["calls"]]
        content = row["content"] is None or parsed.text.strip() == row["content"].strip()
        if calls_of(parsed.calls) != calls or not content:
            wrong.append(row["id"])
    assert wrong == []


# ── the pieces ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("pattern", "captures", "text"),
    [
        (r"<tool_call>\s*<function=(?P<name>[^\n>]+)>", {"name": "f"}, "<tool_call><function=f>"),
        (r"call\s+(?P<name>\w+):", {"name": "f"}, "call f:"),
        (r"</think>\s*|$", {}, "</think>"),
        (r"(?:<\|a\|>|<b>)x?", {}, "<|a|>x"),
        (r"\d{3}[a-c]+\.", {}, None),
        (r"(?P<key>\w+)=\s*(?P<value>.*?)\s*;", {"key": "k", "value": "v"}, "k=\nv\n;"),
        (r"[^\]]+\]", {}, "x]"),
    ],
)
def test_an_expression_is_filled_with_a_text_it_matches(pattern: str, captures: dict[str, str], text: str | None) -> None:
    if text is None:
        with pytest.raises(NotUnderstood, match="no text was found"):
            patterns.Filler(captures).fill(pattern)
    else:
        assert patterns.Filler(captures).fill(pattern) == text


def test_alternatives_tell_the_first_call_from_the_others() -> None:
    pattern = r"(?:<calls>\[|,\s*)f\((?:\]</calls>)?"
    filled = [patterns.Filler({}, first=f, last=x).fill(pattern) for f, x in ((True, False), (False, False), (False, True))]
    assert filled == ["<calls>[f(", ",f(", ",f(]</calls>"]


def test_texts_are_compared_in_whole_markers() -> None:
    assert marks.prefix("<|START_ACTION|>[", "<|START_TEXT|>hi") == ""
    assert marks.prefix("<a><b>x", "<a><b>y") == "<a><b>"
    assert marks.suffix("x</parameter>\n", "y</function>\n") == "\n"


def test_values_are_found_as_json_and_as_python_writes_them() -> None:
    found = [v for _, _, v in marks.values("a {'x': (1, None)} b [true] {broken")]
    assert found == [{"x": (1, None)}, [True]]


# ── templates that would never end ───────────────────────────────────────────

R = "range(99999)"
ENDLESS = {
    "loops in loops": f"{{% for a in {R} %}}{{% for b in {R} %}}{{% endfor %}}{{% endfor %}}",
    "a list that grows while it is read": "{% set l = [1] %}{% for x in l %}{% set _ = l.append(x) %}{% endfor %}",
    "a text that doubles": "{% set n = namespace(t='ab') %}{% for a in range(60) %}{% set n.t = n.t ~ n.t %}{% endfor %}",
    "a text that is added to itself": "{% set n = namespace(t='ab') %}{% for a in range(60) %}{% set n.t = n.t + n.t %}{% endfor %}",
    "a text that is replaced by more": "{% set n = namespace(t='a') %}{% for a in range(60) %}"
    "{% set n.t = n.t.replace('a', 'aa') %}{% endfor %}",
    "a filter that replaces": "{% set n = namespace(t='a') %}{% for a in range(60) %}{% set n.t = n.t | replace('a', 'aa') %}{% endfor %}",
    "a text many times": "{{ 'a' * 1000000000 }}",
    "a list many times": "{{ [1] * 1000000000 }}",
    "a wide text": "{{ 'a'.ljust(10000000000) }}",
    "a wide filter": "{{ 'a' | center(10000000000) }}",
    "a wide number": "{{ '%9999999999d' % 1 }}",
    "a wide format": "{{ '{:9999999999}'.format(1) }}",
    "a number that explodes": "{% set n = namespace(i=9) %}{% for a in range(60) %}{% set n.i = n.i * n.i %}{% endfor %}",
    "a power": "{{ 9 ** (9 ** 9) }}",
    "much text printed often": f"{{% for a in {R} %}}{'x' * 500}{{% endfor %}}",
    "a value printed often": f"{{% set t = 'x' * 9000 %}}{{% for a in {R} %}}{{{{ t }}}}{{% endfor %}}",
    "a macro that calls itself twice": "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(80) }}",
    "a macro that calls itself for ever": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
}


@pytest.mark.parametrize("case", ENDLESS)
def test_an_endless_template_is_stopped_with_an_error(case: str) -> None:
    with pytest.raises(LearnError) as raised:
        learn(ENDLESS[case] + source("qwen25"))
    assert re.search("never end|value of more than|recursion", str(raised.value))
    assert "dragoman list dialects" in str(raised.value)


def test_a_template_too_long_to_be_one_is_refused() -> None:
    with pytest.raises(LearnError, match="more than 1,000,000 characters"):
        learn("x" * 1_000_001)
