"""A request made ready: what place and family demand together, and what a request says of thinking."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs import CODECS
from dragoman.codecs.shared.spec import WireFields
from dragoman.conversation.cache_markers import Caches
from dragoman.conversation.history import one_by_one, repair
from dragoman.conversation.requirements import MISTRAL_IDS, Turns
from dragoman.events import CallStarted, IssueReported, TextDelta
from dragoman.providers.families import profile
from dragoman.providers.rows import PROVIDERS
from dragoman.providers.spec import Provider
from dragoman.schema.api_rules import PORTABLE
from dragoman.turn.prepare import prepare, quirks_of, requirements_of, takes_of, wants_thinking
from dragoman.turn.tool_names import renamed_back
from dragoman.types import (
    Issue,
    IssueKind,
    Message,
    Reasoning,
    Request,
    Sampling,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
)

ASK = Message("user", "go")

# ── place and family ─────────────────────────────────────────────────────────


def test_a_family_adds_its_limits_to_a_place() -> None:
    assert requirements_of(PROVIDERS["vllm"], profile("mistral-small-3.2")).ids == MISTRAL_IDS
    assert (
        requirements_of(PROVIDERS["openrouter"], profile("mistral-small-3.2")).ids
        == PROVIDERS["openrouter"].wire_requirements.ids
    )
    assert requirements_of(PROVIDERS["vllm"], profile("kimi-k2")).counted
    assert not requirements_of(PROVIDERS["bedrock"], profile("kimi-k2")).counted
    assert requirements_of(PROVIDERS["openrouter"], profile("google/gemini-2.5-pro")).schema is PORTABLE
    assert (
        requirements_of(PROVIDERS["gemini"], profile("gemini-2.5-pro")).schema
        is PROVIDERS["gemini"].wire_requirements.schema
    )
    assert requirements_of(PROVIDERS["vllm"], profile("llama3.1")).single
    assert not requirements_of(PROVIDERS["vllm"], profile("qwen3")).single


def test_a_template_that_wants_turns_to_alternate_gets_them() -> None:
    gemma = profile("gemma-3-4b")
    assert requirements_of(PROVIDERS["vllm"], gemma, text=True).turns is Turns.ALTERNATING
    assert requirements_of(PROVIDERS["vllm"], gemma).turns is Turns.BRIDGED


def test_a_family_never_weakens_the_quirks_of_a_place() -> None:
    assert quirks_of(PROVIDERS["vllm"], profile("phi-4")).empty_content == "empty"
    assert quirks_of(PROVIDERS["openrouter"], profile("phi-4")).empty_content == "absent"
    assert quirks_of(PROVIDERS["gemini"], profile("gemini-2.5-pro")).result_media == "user_turn"
    assert quirks_of(PROVIDERS["vllm"], profile("qwen3")) == PROVIDERS["vllm"].quirks


@pytest.mark.parametrize(
    ("place", "model", "takes", "mode"),
    [
        ("anthropic", "claude-sonnet-4-5", Caches.ALL, "always"),
        ("anthropic", "whatever", Caches.ALL, "always"),
        ("bedrock", "anthropic.claude-haiku-4-5", Caches.ALL, "always"),
        ("bedrock", "amazon.nova-lite-v1:0", Caches.INSTRUCTIONS, "asked"),
        ("bedrock", "whatever", Caches.NOTHING, "never"),
        ("openai", "gpt-4.1", Caches.ALL, "asked"),
    ],
)
def test_markers_go_where_place_and_family_take_them(place: str, model: str, takes: Caches, mode: str) -> None:
    assert takes_of(PROVIDERS[place], profile(model)) is takes
    assert quirks_of(PROVIDERS[place], profile(model)).cache == mode


# ── thinking ─────────────────────────────────────────────────────────────────

SAYS: list[tuple[dict[str, Any], str | None, bool | None]] = [
    ({}, None, None),
    ({"think": True}, None, True),
    ({"think": "high"}, None, True),
    ({"enable_thinking": False}, None, False),
    ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, None, True),
    ({"thinking": {"type": "adaptive"}}, None, True),
    ({"thinking": {"type": "disabled"}}, "high", False),
    ({"chat_template_kwargs": {"enable_thinking": False}}, None, False),
    ({"chat_template_kwargs": {"thinking": True}, "think": False}, None, True),
    ({"thinking": {"budget_tokens": 1}}, None, None),
    ({"chat_template_kwargs": 3, "think": None}, "low", True),
    ({}, "none", False),
    ({}, "medium", True),
]


@pytest.mark.parametrize(("extra", "effort", "wanted"), SAYS, ids=[f"{s[0]} {s[1]}" for s in SAYS])
def test_a_request_says_whether_the_model_shall_think(
    extra: dict[str, Any], effort: str | None, wanted: bool | None
) -> None:
    assert wants_thinking(Request(model="m", extra=extra, sampling=Sampling(effort=effort))) is wanted


# ── one call at a time ───────────────────────────────────────────────────────


def pair(*ids: str) -> list[Message]:
    calls = [ToolCall(id=id_, name="look") for id_ in ids]
    answers = [ToolResult(call_id=id_, name="look", content=f"of {id_}") for id_ in reversed(ids)]
    return [Message("assistant", [Reasoning("hm"), Text("on it"), *calls]), Message("tool", answers)]


def test_a_turn_of_several_calls_becomes_turns_of_one() -> None:
    messages = one_by_one([ASK, *pair("a", "b"), Message("user", "and?")])
    assert [message.role for message in messages.messages] == ["user", "assistant", "tool", "assistant", "tool", "user"]
    assert [[call.id for call in message.calls] for message in messages.messages] == [[], ["a"], [], ["b"], [], []]
    assert [[result.text for result in message.results] for message in messages.messages[2:5:2]] == [["of a"], ["of b"]]
    assert (messages.messages[1].text, messages.messages[1].reasoning) == ("on it", "hm")
    assert messages.messages[3].text == messages.messages[3].reasoning == ""
    assert [issue.kind for issue in messages.issues] == [IssueKind.HISTORY]


def test_what_the_user_says_with_the_results_comes_after_them() -> None:
    spoken, answered = pair("a", "b")
    messages = one_by_one([spoken, Message("user", [*answered.parts, Text("hurry")])])
    assert [message.role for message in messages.messages] == ["assistant", "tool", "assistant", "tool", "user"]
    assert messages.messages[-1].text == "hurry"


IDS = st.lists(st.sampled_from("abc"), max_size=3)
TALK = st.lists(
    st.builds(
        lambda ids: Message("assistant", [Text("x"), *(ToolCall(id=i, name="look") for i in ids)]), IDS
    )
    | st.builds(lambda ids: Message("tool", [ToolResult(call_id=i, content="r") for i in ids]), IDS)
    | st.just(ASK),
    max_size=6,
)  # fmt: skip


@given(TALK)
def test_one_by_one_loses_nothing_and_is_settled_once(talk: list[Message]) -> None:
    before = repair(talk).messages
    messages = one_by_one(before)
    assert all(len(message.calls) <= 1 for message in messages.messages)
    for kind in ("calls", "results"):
        count = sum(len(getattr(message, kind)) for message in before)
        assert sum(len(getattr(message, kind)) for message in messages.messages) == count
    assert "".join(m.text for m in messages.messages) == "".join(m.text for m in before)
    assert one_by_one(messages.messages).messages == messages.messages
    assert repair(messages.messages).issues == ()
    assert bool(messages.issues) is (messages.messages != before)


# ── the way back ─────────────────────────────────────────────────────────────


SAMPLED = {
    "claude-sonnet-4-5": Sampling(temperature=1, stop=("X",)),
    "claude-haiku-4.5-20251001": Sampling(temperature=1, stop=("X",)),
    "claude-opus-4-20250514": Sampling(temperature=1, top_p=0.9, stop=("X",)),
    "claude-3-5-sonnet-20241022": Sampling(temperature=1, top_p=0.9, stop=("X",)),
    "claude-opus-5": Sampling(stop=("X",)),
}


@pytest.mark.parametrize("model", SAMPLED)
def test_sampling_that_a_family_refuses_is_sent_as_it_is_taken(model: str) -> None:
    asked = Request(model=model, messages=(ASK,), sampling=Sampling(temperature=1.7, top_p=0.9, stop=("\n", "X")))
    made = prepare(asked, PROVIDERS["anthropic"], profile(model))
    assert made.request.sampling == SAMPLED[model]
    assert {"$.sampling.temperature", "$.sampling.stop"} <= {issue.path for issue in made.issues}


@pytest.mark.parametrize("place", ["openai", "vllm", "anthropic", "gemini", "bedrock", "openai_responses"])
@pytest.mark.parametrize("choice", [ToolChoice("auto"), ToolChoice("none"), None], ids=repr)
def test_nothing_is_said_of_calling_where_no_tool_is_sent(place: str, choice: ToolChoice | None) -> None:
    asked = Request(model="gpt-4.1", messages=(ASK,), tool_choice=choice, parallel=False)
    made = prepare(asked, PROVIDERS[place], profile("gpt-4.1"))
    body = CODECS[PROVIDERS[place].codec].encode_request(made.request, made.quirks)
    assert body.keys().isdisjoint({"tools", "tool_choice", "parallel_tool_calls", "toolConfig"})


def test_what_is_said_of_calling_stays_beside_tools_that_the_server_runs() -> None:
    hosted = WireFields("openai_responses", {"tools": [{"type": "web_search"}], "tool_choice": {"type": "web_search"}})
    asked = Request(model="gpt-4.1", messages=(ASK,), parallel=False, extra=hosted)
    made = prepare(asked, PROVIDERS["openai_responses"], profile("gpt-4.1"))
    assert (made.request.extra, made.request.parallel) == (hosted, False)


def test_names_in_the_answer_are_the_callers() -> None:
    tool = Tool(name="fs.read")
    ready = prepare(Request(model="m", messages=(ASK,), tools=(tool,)), PROVIDERS["openai"], profile("m"))
    (sent,) = ready.request.tools
    assert sent.name == "fs_read"
    assert renamed_back(CallStarted(0, "c", "fs_read"), ready.names) == CallStarted(0, "c", "fs.read")
    issue = Issue(kind=IssueKind.MALFORMED, message="x", name="fs_read")
    restored = renamed_back(IssueReported(issue), ready.names)
    assert isinstance(restored, IssueReported)
    assert restored.issue.name == "fs.read"
    assert renamed_back(CallStarted(0, "c", "other"), ready.names) == CallStarted(0, "c", "other")
    assert renamed_back(TextDelta("fs_read"), ready.names) == TextDelta("fs_read")


# ── once and for all ─────────────────────────────────────────────────────────

WILD = Tool(
    name="wild tool/2", parameters={"type": "object", "properties": {"a": {"const": 1}}, "oneOf": [{"required": ["a"]}]}
)
MODELS = ("m", "llama3.1", "mistral-small-3.2", "kimi-k2-thinking", "claude-sonnet-4-5", "gemini-2.5-pro", "deepseek-v4",
          "gemma-3-4b", "phi-4", "amazon.nova-pro-v1:0")  # fmt: skip


@given(TALK, st.sampled_from([row for row in PROVIDERS.values() if row.name != "stackspot"]), st.sampled_from(MODELS))
def test_what_is_ready_stays_as_it_is(talk: list[Message], place: Provider, model: str) -> None:
    request = Request(model=model, messages=repair([*talk, ASK]).messages, tools=(WILD, Tool(name="look")))
    once = prepare(request, place, profile(model))
    again = prepare(once.request, place, profile(model))
    assert again.request == once.request
    assert not [issue for issue in again.issues if issue.kind is IssueKind.HISTORY]
    assert prepare(request, place, profile(model)) == once
