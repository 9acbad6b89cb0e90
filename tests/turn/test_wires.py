"""Whole conversations over every wire, through the real turn: ids, names, results, marks, media, cache markers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs import CODECS
from dragoman.conversation.requirements import REQUIREMENTS
from dragoman.effects import run
from dragoman.errors import ProviderError
from dragoman.providers.route import Route
from dragoman.providers.rows import PROVIDERS, Tools
from dragoman.sim.scripted import ScriptedPeer
from dragoman.turn.capabilities import Capabilities
from dragoman.turn.machine import turn
from dragoman.types import (
    Issue,
    IssueKind,
    Media,
    Message,
    Reasoning,
    Request,
    Response,
    Sampling,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from tests.support.upstreams import refusal
from tests.support.wires import WIRES, WireRequest, calling, wire_requests

PLACES = (
    "openai", "openai-responses", "anthropic", "gemini", "bedrock", "bedrock-invoke", "ollama", "cohere", "mistral",
    "moonshot", "openrouter", "minimax-anthropic", "vllm", "gemini-interactions",
)  # fmt: skip
everywhere = pytest.mark.parametrize("place", PLACES)
streamed_and_whole = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])

ODD = "fs.read file/x"
LONG = "a_" * 60
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
READ, LOOK, FAR = Tool(name=ODD, parameters=PATH), Tool(name="look"), Tool(name=LONG)
ASK = Message("user", "go")


def route(place: str, **more: Any) -> Route:
    row = PROVIDERS[place]
    secrets = {part.name: "AKID" for part in row.auth.parts}
    return Route(provider=row, base_url="https://peer.test/v1", key="key", secrets=secrets, **more)


def ask(
    memory: ScriptedPeer, to: Route, messages: Sequence[Message], learned: Capabilities | None = None, **more: Any
) -> Response:
    fields = {"model": "m", "tools": (READ, LOOK), **more}
    return run(turn(Request(messages=tuple(messages), **fields), to, learned), memory.sync_performer())


def sent(place: str, messages: Sequence[Message], **more: Any) -> tuple[dict[str, Any], tuple[Issue, ...]]:
    """The body that goes out, and what was told of it."""
    memory = calling(PROVIDERS[place].codec, "c9", {"path": "x"}, stream=False)
    tools = more.pop("tools_", (READ, LOOK))
    response = ask(memory, route(place), messages, tools=tools, **more)
    body: dict[str, Any] = json.loads(memory.sent[-1].body)
    return body, response.issues


def read(place: str, body: Any) -> WireRequest:
    return WIRES[PROVIDERS[place].codec].read(body)


def result(call: ToolCall, text: str = "blue", **more: Any) -> Message:
    return Message("tool", [ToolResult(call_id=call.id, name=call.name, content=text, **more)])


# ── there and back ───────────────────────────────────────────────────────────


@everywhere
@streamed_and_whole
def test_a_call_returns_under_the_names_of_the_caller(place: str, stream: bool) -> None:
    api = PROVIDERS[place].codec
    memory = calling(api, "functions.fs:0", {"path": "x"}, stream=stream)
    first = ask(memory, route(place), [ASK], tools=(READ,), stream=stream)
    (call,) = first.calls
    assert (call.name, call.arguments) == (ODD, {"path": "x"})
    again = ask(memory, route(place), [ASK, first.message, result(call)], tools=(READ,), stream=stream)
    assert again.calls[0].name == ODD
    _, wire = wire_requests(api, memory)
    ((call_id, name),), ((answers, text, _),) = wire.calls, wire.results
    assert (answers, text) == (call_id, "blue")
    assert [name] == wire.tools
    requirements = PROVIDERS[place].wire_requirements
    assert requirements.names.allows(name)
    assert requirements.ids.allows(call_id)


HISTORY = (
    Message("system", "Be brief."),
    ASK,
    Message("assistant", [Text("ok"), ToolCall(id="functions.fs:0", name=ODD, arguments={"path": "a"}),
                          ToolCall(id="", name="look")]),
    Message("user", "hurry"),
    Message("tool", [ToolResult(call_id="functions.fs:0", name=ODD, content="one")]),
    Message("assistant", [ToolCall(id="functions.fs:0", name=ODD, arguments={"path": "b"})]),
    Message("tool", [ToolResult(call_id="functions.fs:0", name=ODD, content="two"),
                     ToolResult(call_id="lost", content="orphan")]),
    Message("user", "and?"),
)  # fmt: skip


@everywhere
def test_a_torn_history_goes_out_whole(place: str) -> None:
    body, issues = sent(place, HISTORY)
    wire = read(place, body)
    assert [text for _, text, _ in wire.results] == ["one", wire.results[1][1], "two"]
    assert "No result of this call was recorded" in wire.results[1][1]
    assert [answers for answers, _, _ in wire.results] == [call_id for call_id, _ in wire.calls]
    assert json.dumps(body).count("orphan") == 1, "it is the user's words"
    wire_requirements = PROVIDERS[place].wire_requirements
    assert all(wire_requirements.ids.allows(call_id) and call_id for call_id, _ in wire.calls)
    assert all(wire_requirements.names.allows(name) for name in wire.tools)
    assert {name for _, name in wire.calls} <= set(wire.tools)
    if wire_requirements.unique:
        assert len({call_id for call_id, _ in wire.calls}) == len(wire.calls)
    reported = [issue.message for issue in issues if issue.kind is IssueKind.HISTORY]
    assert any("has no result" in message for message in reported)
    assert any("answers no call" in message for message in reported)


@everywhere
def test_equal_histories_go_out_alike_and_longer_ones_begin_alike(place: str) -> None:
    one, _ = sent(place, HISTORY)
    assert sent(place, HISTORY)[0] == one
    longer, _ = sent(place, [*HISTORY, Message("assistant", "done"), Message("user", "more")])
    before, after = _conversation(one), _conversation(longer)
    assert after[: len(before)] == before


def _conversation(body: dict[str, Any]) -> list[str]:
    """The messages of a body, without cache markers, as text."""
    listed = next(body[key] for key in ("messages", "contents", "input") if key in body)
    return [_unmarked(json.dumps(message)) for message in listed]


def _unmarked(text: str) -> str:
    text = re.sub(r', "cache_control": \{[^}]*\}', "", text)
    return re.sub(r', \{"cachePoint": \{[^}]*\}\}', "", text)


NAMES: list[tuple[str, tuple[str, ...]]] = [
    # place, the names it is sent for ODD, LONG and "look": in the order of our tools by name
    ("openai", ("fs_read_file_x", "look")),
    ("gemini", ("fs.read_file_x", "look")),
    ("ollama", (ODD, "look")),
    ("mistral", ("fs_read_file_x", "look")),
    ("cohere", ("fs_read_file_x", "look")),
]


@pytest.mark.parametrize(("place", "names"), NAMES, ids=[n[0] for n in NAMES])
def test_names_are_written_as_each_wire_allows(place: str, names: tuple[str, ...]) -> None:
    body, issues = sent(place, [ASK], tools_=(LOOK, READ, FAR))
    wire = read(place, body).tools
    assert sorted(set(wire) - {told_name for told_name in wire if told_name.startswith("a_")}) == sorted(names)
    assert len(set(wire)) == 3
    assert all(PROVIDERS[place].wire_requirements.names.allows(name) for name in wire)
    assert (place == "ollama") or any("comes back in your names" in issue.message for issue in issues)


IDS = [
    ("mistral", "call_abcdefghijkl", r"[a-zA-Z0-9]{9}"),
    ("mistral", "aB3dE6gH9", r"aB3dE6gH9"),
    ("openai", "call_" + "x" * 60, r".{1,40}"),
    ("openai-responses", "call_" + "x" * 80, r".{1,64}"),
    ("anthropic", "functions.look:0", r"[a-zA-Z0-9_-]+"),
    ("bedrock", "tooluse_" + "x" * 80, r"[a-zA-Z0-9_-]{1,64}"),
    ("gemini", "functions.look:0", r"functions\.look:0"),
]


@pytest.mark.parametrize(("place", "call_id", "pattern"), IDS, ids=[f"{i[0]} {i[1][:16]}" for i in IDS])
def test_ids_are_written_as_each_wire_allows(place: str, call_id: str, pattern: str) -> None:
    call = ToolCall(id=call_id, name="look")
    wire = read(place, sent(place, [ASK, Message("assistant", [call]), result(call)])[0])
    assert re.fullmatch(pattern, wire.calls[0][0])
    assert wire.results[0][0] == wire.calls[0][0]


def test_kimi_gets_its_own_ids() -> None:
    body, _ = sent("moonshot", HISTORY, model="kimi-k2-0905")
    ids = [call_id for call_id, _ in read("moonshot", body).calls]
    assert ids == ["functions.fs_read_file_x:0", "functions.look:1", "functions.fs_read_file_x:2"]


CONTENTS = st.lists(
    st.sampled_from([Text("x"), Text(" "), Reasoning("hm"), ToolCall(id="a", name="look"), ToolCall(id="", name=ODD),
                     ToolCall(id="functions.q:1", name=LONG, arguments={"path": "p"})]),
    max_size=3,
)  # fmt: skip
RESULTS = st.lists(
    st.builds(ToolResult, call_id=st.sampled_from(["a", "", "z", "functions.q:1"]), content=st.sampled_from(["r", ""])),
    min_size=1, max_size=3,
)  # fmt: skip
TALK = st.lists(
    st.builds(Message, st.just("user"), st.sampled_from(["go", " "]))
    | st.builds(Message, st.just("system"), st.just("be brief"))
    | st.builds(Message, st.just("assistant"), CONTENTS)
    | st.builds(Message, st.just("tool"), RESULTS),
    max_size=7,
)


@given(TALK, st.sampled_from(PLACES))
def test_any_history_answers_each_call_once(
    talk: list[Message], place: str
) -> None:
    body, _ = sent(place, [*talk, ASK], tools_=(READ, LOOK, FAR))
    wire = read(place, body)
    assert [answers for answers, _, _ in wire.results] == [call_id for call_id, _ in wire.calls]
    assert all(call_id for call_id, _ in wire.calls)
    assert {name for _, name in wire.calls} <= set(wire.tools)
    again, _ = sent(place, [*talk, ASK], tools_=(FAR, READ, LOOK))
    assert again == body, "the order of tools changes nothing"


# ── what a history needs besides ─────────────────────────────────────────────

PAIR = (ASK, Message("assistant", [ToolCall(id="c1", name=ODD, arguments={"path": "a"})]),
        Message("tool", [ToolResult(call_id="c1", name=ODD, content="one")]))  # fmt: skip


@pytest.mark.parametrize("place", ["anthropic", "bedrock", "bedrock-invoke"])
@pytest.mark.parametrize("choice", [None, ToolChoice("none")])
def test_a_history_with_calls_declares_its_tools(place: str, choice: ToolChoice | None) -> None:
    memory = calling(PROVIDERS[place].codec, "c9", {"path": "x"}, stream=False)
    response = ask(memory, route(place), PAIR, tools=(), tool_choice=choice)
    (wire,) = wire_requests(PROVIDERS[place].codec, memory)
    assert wire.tools == ["fs_read_file_x"]
    assert response.calls == (), "what is declared for the history's sake is not offered"


@pytest.mark.parametrize("place", ["openai", "gemini", "ollama"])
def test_elsewhere_nothing_is_declared_that_was_not_offered(place: str) -> None:
    memory = ScriptedPeer([refusal(500, {})])
    with pytest.raises(ProviderError):
        ask(memory, route(place), PAIR, tools=())
    assert not {"tools", "toolConfig"} & set(json.loads(memory.sent[0].body))


def several() -> list[Message]:
    calls = [ToolCall(id=name, name="look") for name in "abc"]
    answers = [ToolResult(call_id=name, name="look", content=f"of {name}") for name in "bca"]
    return [ASK, Message("assistant", [Text("on it"), *calls]), Message("tool", answers), Message("user", "and?")]


@pytest.mark.parametrize("model", ["llama3.1:8b", "meta-llama/Llama-3.2-3B-Instruct", "gpt-oss:20b"])
@pytest.mark.parametrize("place", ["vllm", "ollama"])
def test_a_family_of_single_calls_sees_one_a_turn(place: str, model: str) -> None:
    body, issues = sent(place, several(), model=model)
    spoken = [message for message in body["messages"] if message["role"] == "assistant"]
    assert [len(message["tool_calls"]) for message in spoken] == [1, 1, 1]
    assert [message.get("content") or "" for message in spoken] == ["on it", "", ""]
    assert [text for _, text, _ in read(place, body).results] == ["of a", "of b", "of c"]
    assert any("one call" in issue.message for issue in issues)
    whole, _ = sent(place, several(), model="qwen3:8b")
    assert [len(message["tool_calls"]) for message in whole["messages"] if message["role"] == "assistant"] == [3]


THINKERS = [
    # place, model, what turns thinking on or off, is reasoning put in its place
    ("deepseek", "deepseek-reasoner", {}, True),
    ("deepseek", "deepseek-v4-pro", {}, True),
    ("deepseek", "deepseek-v4-pro", {"thinking": {"type": "disabled"}}, False),
    ("moonshot", "kimi-k2-thinking", {}, True),
    ("moonshot", "kimi-k2-0905", {}, False),
    ("zai", "glm-4.7", {}, False),
]


@pytest.mark.parametrize(("place", "model", "extra", "filled"), THINKERS, ids=[f"{t[1]} {t[2]}" for t in THINKERS])
def test_a_call_without_reasoning_gets_some_where_none_is_refused(
    place: str, model: str, extra: dict[str, Any], filled: bool
) -> None:
    body, _ = sent(place, PAIR, model=model, extra=extra)
    spoken = body["messages"][1]
    assert spoken.get("reasoning_content") == (" " if filled else None)
    kept = Message("assistant", [Reasoning("hm"), *PAIR[1].parts])
    body, _ = sent(place, [ASK, kept, PAIR[2]], model=model, extra=extra)
    assert body["messages"][1]["reasoning_content"] == "hm"


def test_r1_gets_no_reasoning_back() -> None:
    kept = Message("assistant", [Reasoning("hm"), Text("so")])
    body, _ = sent("deepseek", [ASK, kept, ASK], model="deepseek-r1")
    assert "hm" not in json.dumps(body)


FORCED = [
    # place, model, extra, the choice that goes out for "required"
    ("anthropic", "claude-sonnet-4-5", {}, {"type": "any"}),
    ("anthropic", "claude-sonnet-4-5", {"thinking": {"type": "enabled", "budget_tokens": 1024}}, {"type": "auto"}),
    ("anthropic", "claude-sonnet-5", {"thinking": {"type": "adaptive"}}, {"type": "any"}),
    ("anthropic", "claude-opus-5.5", {}, {"type": "auto"}),
    ("vllm", "deepseek-v3.2", {}, "required"),
    ("openrouter", "moonshotai/kimi-k2.6", {}, "auto"),
    ("deepseek", "deepseek-v4-pro", {}, "auto"),
    ("deepseek", "deepseek-v4-pro", {"thinking": {"type": "disabled"}}, "required"),
    ("openai", "gpt-4.1", {}, "required"),
    ("mistral", "mistral-small", {}, "any"),
    ("moonshot", "kimi-k2", {}, "auto"),
    ("ollama", "qwen3", {}, None),
]


@pytest.mark.parametrize(("place", "model", "extra", "wanted"), FORCED, ids=[f"{f[1]} {f[2]}" for f in FORCED])
def test_a_forced_call_is_demanded_as_far_as_possible(
    place: str, model: str, extra: dict[str, Any], wanted: Any
) -> None:
    body, issues = sent(place, [ASK], model=model, extra=extra, tool_choice=ToolChoice("required"))
    assert body.get("tool_choice") == wanted
    weaker = wanted not in ({"type": "any"}, "required", "any")
    assert any(issue.path == "$.tool_choice" for issue in issues) is weaker


@pytest.mark.parametrize("place", ["ollama", "zai", "moonshot", "cerebras"])
def test_a_named_tool_is_offered_alone_where_needed(place: str) -> None:
    body, issues = sent(place, [ASK], tool_choice=ToolChoice("named", "look"))
    assert read(place, body).tools == ["look"]
    assert [issue.name for issue in issues if issue.path == "$.tool_choice"] == ["look"]


def test_templates_that_refuse_empty_content_get_text() -> None:
    call = Message("assistant", [ToolCall(id="c1", name="look")])
    talk = [ASK, call, Message("tool", [ToolResult(call_id="c1", name="look", content="x")])]
    assert sent("vllm", talk, model="phi-4-mini")[0]["messages"][1]["content"] == ""
    assert sent("vllm", talk, model="qwen3")[0]["messages"][1]["content"] is None


SAMPLED = [
    # place, model, what of temperature 0.3 and top_p 0.9 goes out, is anything lost
    ("openai", "gpt-4.1", {"temperature": 0.3, "top_p": 0.9}, False),
    ("openai", "gpt-5-mini", {}, True),
    ("openai", "o3", {}, True),
    ("openai", "gpt-5.2", {"temperature": 0.3, "top_p": 0.9}, False),
    ("anthropic", "claude-opus-4-7", {}, True),
    ("anthropic", "claude-haiku-4-5", {"temperature": 0.3}, False),
    ("anthropic", "claude-3-5-haiku-20241022", {"temperature": 0.3, "top_p": 0.9}, False),
    ("bedrock-invoke", "us.anthropic.claude-sonnet-5-v1:0", {}, True),
    ("moonshot", "kimi-k2.6", {}, True),
    ("vllm", "moonshotai/Kimi-K2.6", {"temperature": 0.3, "top_p": 0.9}, False),
]


@pytest.mark.parametrize(("place", "model", "wanted", "lost"), SAMPLED, ids=[f"{s[0]} {s[1]}" for s in SAMPLED])
def test_sampling_a_familys_services_refuse_is_left_out_and_told(
    place: str, model: str, wanted: dict[str, Any], lost: bool
) -> None:
    body, issues = sent(place, [ASK], model=model, sampling=Sampling(temperature=0.3, top_p=0.9))
    assert {name: body[name] for name in ("temperature", "top_p") if name in body} == wanted
    told = {issue.path for issue in issues}
    assert ({"$.sampling.temperature", "$.sampling.top_p"} <= told) is lost


def test_a_default_is_left_out_without_a_word() -> None:
    body, issues = sent("openai", [ASK], model="gpt-5", sampling=Sampling(temperature=1.0, top_p=1))
    assert not {"temperature", "top_p"} & set(body)
    assert not [issue for issue in issues if issue.path.startswith("$.sampling")]


# ── marks of failure ─────────────────────────────────────────────────────────

NATIVE = {"anthropic", "bedrock-invoke", "minimax-anthropic", "gemini-interactions"}
FAILURES: list[tuple[dict[str, Any], str, str]] = [
    # what the result says, its text where the wire has no sign of failure, its text where it has
    ({"is_error": True, "error_code": "ENOENT"}, "[ERROR:ENOENT] gone", "[ERROR:ENOENT] gone"),
    ({"is_error": True}, "[ERROR] gone", "gone"),
    ({"is_error": True, "error_code": "BusinessError:ItemNotFound"}, "[ERROR:BusinessError:ItemNotFound] gone",
     "[ERROR:BusinessError:ItemNotFound] gone"),
    ({"error_code": "ENOENT"}, "gone", "gone"),
    ({}, "gone", "gone"),
]  # fmt: skip


@pytest.mark.requirement("003-mark-openai")
@pytest.mark.requirement("003-mark-anthropic")
@everywhere
@pytest.mark.parametrize(("signs", "plain", "native"), FAILURES, ids=[str(f[0]) for f in FAILURES])
def test_a_failure_is_marked_on_every_wire(place: str, signs: dict[str, Any], plain: str, native: str) -> None:
    answer = Message("tool", [ToolResult(call_id="c1", name=ODD, content="gone", **signs)])
    ((_, text, sign),) = read(place, sent(place, [*PAIR[:2], answer])[0]).results
    failed = bool(signs.get("is_error"))
    own = {"bedrock": "error" if failed else sign, "gemini": failed}
    wanted = own.get(place, (True if failed else None) if place in NATIVE else None)
    assert sign == wanted
    assert text == (native if place in {*NATIVE, "bedrock", "gemini"} else plain)


@pytest.mark.requirement("003-mark-openai")
@everywhere
def test_an_empty_failure_is_marked_too(place: str) -> None:
    answer = Message("tool", [ToolResult(call_id="c1", name=ODD, content="", is_error=True, error_code="Timeout")])
    ((_, text, _),) = read(place, sent(place, [*PAIR[:2], answer])[0]).results
    assert text == "[ERROR:Timeout] "


# ── media in results ─────────────────────────────────────────────────────────

IMAGE = Media(mime="image/png", data="aGk=")
SEEN = Message("tool", [ToolResult(call_id="c1", name=ODD, content=[Text("see:"), IMAGE])])
MEDIA: list[tuple[str, str]] = [
    ("openai", "after"), ("openai-responses", "inside"), ("anthropic", "inside"), ("gemini", "inside"),
    ("bedrock", "inside"), ("bedrock-invoke", "inside"), ("ollama", "inside"), ("cohere", "after"),
    ("mistral", "inside"), ("moonshot", "after"), ("openrouter", "after"), ("minimax-anthropic", "inside"),
    ("vllm", "after"), ("gemini-interactions", "inside"),
]  # fmt: skip


def test_media_are_tried_everywhere() -> None:
    assert {place for place, _ in MEDIA} == set(PLACES)


@pytest.mark.parametrize(("place", "where"), MEDIA, ids=[m[0] for m in MEDIA])
def test_an_image_in_a_result_reaches_the_model(place: str, where: str) -> None:
    body, _ = sent(place, [*PAIR[:2], SEEN])
    written = json.dumps(body)
    assert written.count("aGk=") == 1
    ((_, text, _),) = read(place, body).results
    assert text == "see:"
    assert ("aGk=" in json.dumps(_result_of(body))) is (where == "inside")
    assert written.index("see:") < written.index("aGk=")


def _result_of(value: Any) -> Any:
    """The first thing in a body that is a result."""
    if isinstance(value, dict):
        kinds = {"tool_result", "function_call_output", "function_result"}
        if value.get("type") in kinds or value.get("role") == "tool":
            return value
        for key, held in value.items():
            found = held if key in ("toolResult", "functionResponse") else _result_of(held)
            if found is not None:
                return found
    if isinstance(value, list):
        return next((found for held in value if (found := _result_of(held)) is not None), None)
    return None


def test_media_follow_the_results_that_cannot_hold_them() -> None:
    """Between two answers to parallel calls they would part them: every answer must follow its calls at once."""
    calls = Message("assistant", [ToolCall(id="a", name="look"), ToolCall(id="b", name="look")])
    answers = Message("tool", [ToolResult(call_id="a", name="look", content=[IMAGE]),
                               ToolResult(call_id="b", name="look", content="two")])  # fmt: skip
    for place in ("openai", "gemini", "cohere", "vllm"):
        written = json.dumps(sent(place, [ASK, calls, answers], model="gemini-2.5-pro")[0])
        assert written.index('"two"') < written.index("aGk=")


@pytest.mark.parametrize(("model", "inside"), [("gemini-3-pro", True), ("gemini-2.5-flash", False)])
def test_gemini_sees_media_inside_a_result_since_version_3(model: str, inside: bool) -> None:
    body, _ = sent("gemini", [*PAIR[:2], SEEN], model=model)
    assert ("aGk=" in json.dumps(_result_of(body))) is inside
    assert json.dumps(body).count("aGk=") == 1


# ── cache markers ────────────────────────────────────────────────────────────

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
CACHED = ("anthropic", "bedrock", "bedrock-invoke")
MARK = re.compile(r'"cache_control"|"cachePoint"')


def talk(turns: int, *, asked: Sequence[int] = ()) -> list[Message]:
    """A conversation of so many tool turns; `asked` are the places where the caller asks for a marker."""
    messages: list[Message] = [Message("system", "Be brief."), Message("system", "And kind."), ASK]
    for n in range(turns):
        call = ToolCall(id=f"c{n}", name="look", arguments={"n": n})
        messages += [Message("assistant", [call]), Message("tool", [ToolResult(call_id=call.id, content=f"r{n}")])]
    return [replace_cache(message, at in asked) for at, message in enumerate(messages)]


def replace_cache(message: Message, cache: bool) -> Message:
    return Message(message.role, message.parts, cache=cache, metadata=message.metadata)


@pytest.mark.requirement("003-cache-control")
@pytest.mark.parametrize("place", CACHED)
@pytest.mark.parametrize("turns", range(6))
def test_stable_parts_are_marked_at_most_four_times(place: str, turns: int) -> None:
    body, _ = sent(place, talk(turns), model=CLAUDE)
    tools = body.get("tools") or body["toolConfig"]["tools"]
    listed = [body["system"], tools, body["messages"]]
    marks = [len(MARK.findall(json.dumps(part))) for part in listed]
    assert marks[:2] == [1, 1]
    assert marks[2] == min(2, turns + 1)
    assert MARK.search(json.dumps(tools[-1]))
    assert MARK.search(json.dumps(body["system"][-1]))
    assert MARK.search(json.dumps(body["messages"][-1]))


@pytest.mark.parametrize("place", CACHED)
@given(turns=st.integers(0, 5), asked=st.sets(st.integers(0, 12)))
def test_the_callers_own_markers_stand_and_there_are_never_five(place: str, turns: int, asked: set[int]) -> None:
    body, _ = sent(place, talk(turns, asked=sorted(asked)), model=CLAUDE)
    count = len(MARK.findall(json.dumps(body)))
    assert 1 <= count <= 4
    last = max((at for at in asked if 3 <= at < 3 + 2 * turns), default=None)
    if last is not None:
        assert MARK.search(json.dumps(body["messages"][last - 2])), "the latest marker that was asked for"


@pytest.mark.parametrize("place", CACHED)
def test_a_marker_is_where_the_next_request_can_read_it(place: str) -> None:
    """What was marked at the end of one request is marked in the next, with the same text before it."""
    for turns in range(1, 5):
        one, two = (sent(place, talk(n), model=CLAUDE)[0] for n in (turns - 1, turns))
        end = len(one["messages"]) - 1
        assert MARK.search(json.dumps(one["messages"][end]))
        assert MARK.search(json.dumps(two["messages"][end]))
        assert _conversation(two)[: end + 1] == _conversation(one)
        assert (one["system"], one.get("tools")) == (two["system"], two.get("tools"))


@pytest.mark.parametrize("place", sorted(set(PLACES) - set(CACHED)))
def test_elsewhere_nothing_is_marked_that_was_not_asked_for(place: str) -> None:
    assert not MARK.search(json.dumps(sent(place, talk(2))[0]))


TAKEN = [
    # a model on Bedrock, how many markers it gets in its instructions, tools and messages
    (CLAUDE, [1, 1, 2]), ("amazon.nova-pro-v1:0", [1, 0, 0]), ("us.meta.llama3-3-70b-instruct-v1:0", [0, 0, 0]),
    ("deepseek.v3-v1:0", [0, 0, 0]), ("whatever", [0, 0, 0]),
]  # fmt: skip


@pytest.mark.parametrize(("model", "marks"), TAKEN, ids=[t[0] for t in TAKEN])
def test_on_bedrock_each_family_gets_the_markers_it_takes(model: str, marks: list[int]) -> None:
    body, _ = sent("bedrock", talk(2, asked=[2]), model=model)
    listed = [body["system"], body["toolConfig"]["tools"], body["messages"]]
    assert [len(MARK.findall(json.dumps(part))) for part in listed] == marks


@pytest.mark.requirement("003-tool-order")
@everywhere
@given(order=st.permutations([READ, LOOK, FAR]))
def test_tools_go_out_in_one_order(place: str, order: list[Tool]) -> None:
    first, _ = sent(place, [ASK], tools_=(READ, LOOK, FAR))
    assert sent(place, [ASK], tools_=tuple(order))[0] == first


# ── what models must get back ────────────────────────────────────────────────


def test_what_a_client_dropped_comes_back_from_the_side_car() -> None:
    """A Gemini call without its signature, a DeepSeek call without its reasoning: both are a 400."""
    part = {"functionCall": {"id": "g1", "name": "look", "args": {}}, "thoughtSignature": "c2ln"}
    body = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}
    memory, learned = ScriptedPeer([refusal(200, body), refusal(200, body)]), Capabilities()
    first = ask(memory, route("gemini"), [ASK], learned)
    (call,) = first.calls
    bare = Message("assistant", [ToolCall(id=call.id, name=call.name, arguments=call.arguments)])
    ask(memory, route("gemini"), [ASK, bare, result(call)], learned)
    spoken = json.loads(memory.sent[1].body)["contents"][1]["parts"]
    assert spoken == [part]


def test_reasoning_of_one_conversation_stays_out_of_another() -> None:
    message = {
        "role": "assistant",
        "content": None,
        "reasoning_content": "secret thoughts",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    }
    body = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    memory, learned = ScriptedPeer([refusal(200, body), refusal(200, body), refusal(200, body)]), Capabilities()
    (call,) = ask(memory, route("vllm"), [ASK], learned).calls
    bare = Message("assistant", [ToolCall(id="c1", name="look")])
    ask(memory, route("vllm"), [Message("user", "something else"), bare, result(call)], learned)
    assert "secret thoughts" not in memory.sent[1].body.decode()
    ask(memory, route("vllm"), [ASK, bare, result(call)], learned)
    assert "secret thoughts" in memory.sent[2].body.decode()


# ── odd tools ────────────────────────────────────────────────────────────────

WILD = Tool(name="wild", parameters={
    "type": "object", "additionalProperties": False, "$defs": {"node": {"type": "object", "properties": {
        "next": {"$ref": "#/$defs/node"}}}},
    "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
    "properties": {"a": {"const": 1}, "b": {"type": ["string", "null"], "format": "uri"}, "n": {"$ref": "#/$defs/node"},
                   "t": {"type": "array", "prefixItems": [{"type": "integer"}]}, "ключ": {"type": "string"}},
})  # fmt: skip


@everywhere
def test_a_wild_schema_kills_no_request_and_reports_losses(place: str) -> None:
    body, issues = sent(place, [ASK], tools_=(LOOK, WILD))
    assert len(read(place, body).tools) == 2
    lossless = {"ollama", "vllm", "mistral", "minimax-anthropic"}
    lost = [issue for issue in issues if issue.kind is IssueKind.UNSUPPORTED and issue.name == "wild"]
    assert bool(lost) or place in lossless
    assert all(issue.path.startswith("$") for issue in lost)


@everywhere
def test_what_comes_back_is_measured_by_the_full_schema(place: str) -> None:
    api = PROVIDERS[place].codec
    for given_, runs in (({"a": 1}, True), ({"a": 2}, False), ({"a": 1, "zz": 1}, False)):
        memory = calling(api, "c1", given_, stream=False)
        response = ask(memory, route(place), [ASK], tools=(WILD,))
        assert bool(response.calls) is runs
        kinds = [issue.kind for issue in response.issues]
        assert (IssueKind.INVALID_ARGUMENTS in kinds) is not runs


def test_every_wire_is_tried() -> None:
    assert {PROVIDERS[place].codec for place in PLACES} == set(WIRES)
    assert set(CODECS) - set(WIRES) == {"ollama_generate", "stackspot"}, "these have no native tools"
    assert set(REQUIREMENTS) == set(CODECS)


@pytest.mark.parametrize("place", ["stackspot", "ollama-generate", "perplexity"])
def test_where_tools_are_told_in_text_nothing_native_is_left(place: str) -> None:
    answers = [refusal(200, {"access_token": "t"})] if place == "stackspot" else []
    memory = ScriptedPeer([*answers, refusal(500, {})])
    to = replace(route(place), settings={"realm": "x"}, secrets={"client_id": "c"})
    with pytest.raises(ProviderError):
        ask(memory, to, [*HISTORY[:3], HISTORY[4], ASK], tool_choice=ToolChoice("required"), parallel=False)
    assert to.mode is Tools.TEXT
    text = memory.sent[-1].body.decode()
    body = json.loads(text)
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & set(body)
    assert '"tool_calls"' not in text
    assert '"role": "tool"' not in text
    assert ODD in text
