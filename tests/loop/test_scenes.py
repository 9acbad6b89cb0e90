"""Whole runs: what the model says, what runs, what it is told, and how it ends."""

from __future__ import annotations

import json

import pytest

from dragoman.dialects import DIALECTS
from dragoman.dialects.writing.render import render
from dragoman.errors import ErrorCode, ProviderError
from dragoman.loop import (
    Answered,
    Bound,
    Corrected,
    Failed,
    FinalTool,
    Limit,
    Policy,
    Refused,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from dragoman.providers.spec import Tools
from dragoman.tools import ToolSet
from dragoman.types import IssueKind, Text, Tool, ToolCall
from tests.support.scenes import (
    IN_TEXT,
    LOOK,
    Played,
    ScriptedReply,
    Shop,
    calling,
    play,
    raw_call,
    route,
    sent,
    text_reply,
)

FENCE = '~~~tool_call\n{"name": "look", "arguments": {"at": "sky"}}\n~~~'


def roles(played: Played) -> list[str]:
    return [message.role for message in played.run.messages]


# ── the plain way ────────────────────────────────────────────────────────────


def test_an_answer_ends_the_run() -> None:
    got = play("Nothing much.")
    assert (got.run.end, got.run.text, got.run.turns) == (Answered(), "Nothing much.", 1)
    assert roles(got) == ["user", "assistant"]
    assert got.run.done


@pytest.mark.parametrize("api", ["openai_chat", "anthropic_messages", "ollama_chat"])
def test_a_native_call_runs_and_its_result_is_consumed(api: str) -> None:
    got = play(calling(("look", {"at": "sky"})), "It is blue.", api=api)
    assert got.shop.ran == [("look", {"at": "sky"})]
    assert "sky is blue" in json.dumps(sent(got.memory))
    assert (got.run.end, got.run.text) == (Answered(), "It is blue.")
    assert roles(got) == ["user", "assistant", "tool", "assistant"]


def test_a_call_in_text_runs_alike() -> None:
    got = play(f"I look.\n{FENCE}", "It is blue.", to=IN_TEXT)
    assert got.shop.ran == [("look", {"at": "sky"})]
    assert "sky is blue" in json.dumps(sent(got.memory))
    assert got.run.end == Answered()


def test_steps_are_told_in_the_order_of_things() -> None:
    got = play(calling(("look", {"at": "sky"}), ("write", {"path": "a", "text": "b"})), "Done.")
    kinds = [type(s) for s in got.steps if isinstance(s, TurnStarted | TurnEnded | ToolStarted | ToolEnded)]
    two = [ToolStarted, ToolEnded] * 2
    assert kinds == [TurnStarted, TurnEnded, *two, TurnStarted, TurnEnded]
    assert [s.index for s in got.of(TurnStarted)] == [0, 1]


def test_usage_is_summed_over_turns() -> None:
    got = play(calling(("look", {"at": "sky"})), "Blue.")
    assert (got.run.usage.input, got.run.usage.output) == (14, 10)


# ── wrong calls ──────────────────────────────────────────────────────────────


def test_an_unknown_native_tool_is_answered_with_near_names() -> None:
    got = play(calling(("lok", {"at": "sky"})), calling(("look", {"at": "sky"})), "Blue.")
    first = got.results[0]
    assert (first.is_error, first.error_code) == (True, ErrorCode.UNKNOWN_TOOL)
    assert "Did you mean 'look'?" in first.text
    assert "look, write" in first.text
    assert got.shop.ran == [("look", {"at": "sky"})]
    assert got.run.end == Answered()


@pytest.mark.parametrize("api", ["openai_chat", "anthropic_messages", "ollama_chat"])
def test_a_wrong_call_is_answered_with_its_code_everywhere(api: str) -> None:
    got = play(calling(("lok", {"at": "sky"}), ("look", {"at": "sky"})), "Blue.", api=api)
    bodies = json.dumps(sent(got.memory))
    assert "[ERROR:UnknownTool]" in bodies
    assert ('"is_error": true' in bodies) is (api == "anthropic_messages")
    assert got.shop.ran == [("look", {"at": "sky"})]


def test_every_failing_path_is_reported_with_schema_and_value() -> None:
    got = play(calling(("look", {"times": "many", "at": {"x": 1}})), "Blue.")
    result = got.results[0]
    assert result.error_code == ErrorCode.INVALID_ARGS
    for piece in ("$.times", "$.at", '"many"', '{"x": 1}', '"integer"', '"string"'):
        assert piece in result.text
    assert got.shop.ran == []


def test_native_arguments_are_coerced_before_they_are_judged() -> None:
    got = play(calling(("look", {"at": "sky", "times": "3"})), "Blue.")
    assert got.shop.ran == [("look", {"at": "sky", "times": 3})]
    (started,) = got.of(ToolStarted)
    assert [edit.kind for edit in started.call.report.edits] == ["string_to_integer"]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("functions.look", {"at": "sky"}),
        ("look<|channel|>commentary", {"at": "sky"}),
        ("look", {"arguments": {"at": "sky"}}),
        ("look", {"look": {"at": "sky"}}),
        ("look", {"at": "sky", "times": None}),
    ],
    ids=["namespace", "control token", "wrapped", "wrapped in its name", "null for left out"],
)
def test_notation_is_mended_in_native_calls(name: str, given: dict[str, object]) -> None:
    got = play(calling((name, given)), "Blue.")
    assert got.shop.ran == [("look", {"at": "sky"})]
    assert got.run.end == Answered()


def test_unreadable_native_arguments_are_answered_with_their_place() -> None:
    got = play(raw_call('{"at": "sky", "times": }'), calling(("look", {"at": "sky"})), "Blue.")
    first = got.results[0]
    assert (first.call_id, first.error_code) == ("c0", ErrorCode.INVALID_ARGS)
    assert '"times": ⟪HERE⟫' in first.text
    replayed = sent(got.memory, 1)["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(replayed) == {}
    assert got.shop.ran == [("look", {"at": "sky"})]


def test_a_cut_native_call_never_runs() -> None:
    got = play(raw_call('{"at": "sky and the se', "length"), "I give up.")
    first = got.results[0]
    assert first.error_code == ErrorCode.TRUNCATED
    assert "several smaller calls" in first.text
    assert got.shop.ran == []


def test_good_calls_beside_a_bad_one_run() -> None:
    got = play(
        calling(("look", {"at": "a"}), ("nope", {}), ("look", {"at": "b"}), ("write", {"path": "x"})),
        "Done.",
    )
    assert [args["at"] for _, args in got.shop.ran] == ["a", "b"]
    results = got.run.messages[2].results
    assert [r.error_code for r in results] == [None, ErrorCode.UNKNOWN_TOOL, None, ErrorCode.INVALID_ARGS]


def test_a_wrong_call_in_text_is_answered_by_a_message() -> None:
    bad = '~~~tool_call\n{"name": "look", "arguments": {"times": 3}}\n~~~'
    got = play(f"I look.\n{bad}", FENCE, "Blue.", to=IN_TEXT)
    assert bad in got.run.messages[1].text
    (correction,) = got.corrections
    assert correction.startswith("[ERROR:InvalidArgs]")
    assert '"at"' in correction
    assert got.shop.ran == [("look", {"at": "sky"})]
    assert got.run.end == Answered()


def test_several_wrong_text_calls_share_one_message() -> None:
    bad = '~~~tool_call\n{"name": "look", "arguments": {"times": 3}}\n~~~'
    unknown = '~~~tool_call\n{"name": "lok", "arguments": {"at": "sea"}}\n~~~'
    got = play("\n".join([bad, FENCE, unknown]), "Blue.", to=IN_TEXT)
    (correction,) = got.corrections
    assert "2 calls of your last answer were wrong" in correction
    assert "1. [ERROR:InvalidArgs]" in correction
    assert "2. [ERROR:UnknownTool]" in correction
    assert "Your other 1 call ran" in correction
    assert got.shop.ran == [("look", {"at": "sky"})]


def test_a_cut_text_call_does_not_run_but_earlier_ones() -> None:
    got = play(
        text_reply(FENCE + '\n~~~tool_call\n{"name": "look", "arguments": {"at": "th', stop="length"), "Ok.", to=IN_TEXT
    )
    assert got.shop.ran == [("look", {"at": "sky"})]
    assert got.corrections[0].startswith("[ERROR:Truncated]")


# ── escalation ───────────────────────────────────────────────────────────────


def test_repeated_corrections_say_more_until_the_run_ends() -> None:
    bad = calling(("look", {"times": 3}))
    got = play(bad, bad, bad, bad, policy=Policy(max_corrections=3))
    texts = [result.text for result in got.results]
    assert "right shape" not in texts[0]
    assert '{"at": "<at>", "times": 3}' in texts[1]
    assert "whole schema" in texts[2]
    assert got.run.end == Limit(Bound.CORRECTIONS, 3)
    assert got.run.turns == 4


@pytest.mark.parametrize("speak", ["tool_call_fence", "hermes", "qwen3_coder"])
def test_the_second_correction_shows_the_exact_form(speak: str) -> None:
    row = DIALECTS[speak]
    look = [Tool(name="look", parameters=LOOK)]
    bad = render([ToolCall(id="", name="look", arguments={"times": 3})], row, tools=look)
    got = play(bad, bad, "I give up.", to=route(tools=Tools.TEXT, prompt_dialect=speak))
    shown = render([ToolCall(id="", name="look", arguments={"at": "<at>", "times": 3})], row, tools=look)
    assert shown in got.corrections[1]
    assert shown in sent(got.memory)["messages"][-1]["content"]


def test_a_turn_with_a_call_resets_the_count() -> None:
    bad, good = calling(("look", {})), calling(("look", {"at": "sky"}))
    other = calling(("look", {"at": "sea"}))
    got = play(bad, good, bad, other, bad, "Blue.", policy=Policy(max_corrections=1))
    assert got.run.end == Answered()


# ── ends ─────────────────────────────────────────────────────────────────────


def test_the_last_turn_within_the_bound_still_runs_calls() -> None:
    turns = [calling(("look", {"at": str(n)})) for n in range(5)]
    got = play(*turns, policy=Policy(max_turns=3))
    assert got.run.end == Limit(Bound.TURNS, 3)
    assert (got.run.turns, len(got.shop.ran)) == (3, 3)


def test_tokens_are_bounded() -> None:
    turns = [calling(("look", {"at": str(n)})) for n in range(5)]
    assert play(*turns, policy=Policy(tokens=20)).run.end == Limit(Bound.TOKENS, 20)


def test_a_final_tool_ends_the_run_before_later_calls() -> None:
    def tools(shop: Shop) -> ToolSet:
        done = shop.make("done", {"type": "object"}, lambda _: {"ok": True}, final=True)
        return shop.tools() | ToolSet(done)

    got = play(calling(("look", {"at": "a"}), ("done", {}), ("look", {"at": "b"})), tools=tools)
    assert isinstance(got.run.end, FinalTool)
    assert got.run.value == {"ok": True}
    assert [name for name, _ in got.shop.ran] == ["look", "done"]
    assert got.run.messages[-1].results[2].error_code == ErrorCode.NOT_EXECUTED


def test_a_final_tool_that_fails_ends_nothing() -> None:
    def tools(shop: Shop) -> ToolSet:
        return ToolSet(shop.make("done", {"type": "object"}, lambda _: 1 / 0, final=True))

    got = play(calling(("done", {})), "I could not.", tools=tools)
    assert got.run.end == Answered()


def test_a_refusal_ends_the_run_without_its_calls() -> None:
    got = play(ScriptedReply(("I will not.",), (("c0", "look", {"at": "sky"}),), "content_filter"))
    assert isinstance(got.run.end, Refused)
    assert got.run.end.reason == "I will not."
    assert got.shop.ran == []
    assert got.run.messages[-1].results[0].error_code == ErrorCode.NOT_EXECUTED


def test_a_failed_provider_ends_the_run_with_its_conversation() -> None:
    got = play(calling(("look", {"at": "sky"})))
    assert isinstance(got.run.end, Failed)
    assert isinstance(got.run.end.error, ProviderError)
    assert roles(got) == ["user", "assistant", "tool"]


# ── answers that are none ────────────────────────────────────────────────────


def test_an_empty_answer_is_never_a_success() -> None:
    got = play("", "Blue.")
    assert got.run.end == Answered()
    assert "empty" in got.corrections[0]
    assert play("", "", policy=Policy(nudges=1)).run.end == Limit(Bound.EMPTY, 1)
    assert play("", "", "").run.end == Limit(Bound.EMPTY, 2)


@pytest.mark.parametrize(
    "text",
    ["I will now use look.", "Let me call look for you.", "The next step is look.", "Let me check the sky:",
     "Ich werde jetzt look verwenden.", "接下来我会调用 look。"],
)  # fmt: skip
def test_a_call_announced_and_not_made_is_asked_for(text: str) -> None:
    got = play(text, calling(("look", {"at": "sky"})), "Blue.")
    assert "did not make it" in got.corrections[0]
    assert got.shop.ran == [("look", {"at": "sky"})]
    assert play(text, text, policy=Policy(nudges=1)).run.end == Answered()


def test_a_call_only_announced_is_shown_as_it_is_written() -> None:
    text = "Let me call look for you."
    got = play(FENCE, text, text, FENCE.replace("sky", "sea"), "Blue.", to=IN_TEXT)
    assert '~~~tool_call\n{"name": "look", "arguments": {"at": "<at>"}}\n~~~' in got.corrections[1]
    assert "~~~tool_call" in sent(got.memory, 3)["messages"][-1]["content"]
    assert (len(got.shop.ran), got.run.end) == (2, Answered())
    assert play(text, text, text).run.end == Answered()


@pytest.mark.parametrize(
    "text",
    ["I used look: the sky is blue.", "Shall I use look?", "Let me know if you need more.", "The sky is blue.",
     "I'll be happy to look at more.", "Which place? I will then use look.",
     "Please tell me the place. I need to know it before I can call look."],
)  # fmt: skip
def test_an_answer_is_no_announcement(text: str) -> None:
    got = play(text)
    assert (got.run.end, got.corrections) == (Answered(), [])


def test_cut_text_ends_the_run_unless_it_may_continue() -> None:
    cut = text_reply("The sky is ", stop="length")
    assert play(cut).run.end == Limit(Bound.LENGTH, 0)
    got = play(cut, "blue.", policy=Policy(continuations=1))
    assert (got.run.end, got.run.text) == (Answered(), "The sky is blue.")


def test_reasoning_without_room_for_an_answer_is_asked_again() -> None:
    cut = text_reply("<think>Hmm, hmm", stop="length")
    got = play(cut, "Blue.")
    assert (got.run.end, got.run.text) == (Answered(), "Blue.")
    assert play(cut, cut, policy=Policy(nudges=1)).run.end == Limit(Bound.LENGTH)


def test_a_paused_turn_goes_on_without_a_word() -> None:
    got = play(text_reply("Searching… ", stop="pause_turn"), "Blue.", api="anthropic_messages")
    assert got.run.end == Answered()
    assert got.corrections == []
    assert roles(got) == ["user", "assistant", "assistant"]


def test_a_call_planned_in_reasoning_only_is_asked_for() -> None:
    got = play(f"<think>{FENCE} I am sure.</think>", FENCE, "Blue.", to=IN_TEXT)
    assert got.shop.ran == [("look", {"at": "sky"})]
    assert got.run.end == Answered()


# ── loops ────────────────────────────────────────────────────────────────────


@pytest.mark.requirement("weak-happy-cap")
def test_a_repeated_action_is_told_and_then_ends_the_run() -> None:
    again = calling(("look", {"at": "sky"}))
    got = play(*[again] * 5, policy=Policy(max_stalled_turns=3))
    assert got.run.end == Limit(Bound.REPEATS, 3)
    assert got.run.turns == 4
    assert "nothing new" in got.corrections[0]


def test_the_same_call_with_another_result_is_no_loop() -> None:
    def tools(shop: Shop) -> ToolSet:
        return ToolSet(shop.make("look", LOOK, lambda _: len(shop.ran)))

    again = calling(("look", {"at": "sky"}))
    got = play(*[again] * 6, "Blue.", policy=Policy(max_stalled_turns=2), tools=tools)
    assert got.run.end == Answered()


def test_two_calls_in_turn_are_a_loop_too() -> None:
    a, b = calling(("look", {"at": "a"})), calling(("look", {"at": "b"}))
    got = play(*[a, b] * 4, policy=Policy(max_stalled_turns=3))
    assert got.run.end == Limit(Bound.REPEATS, 3)


def test_equal_calls_run_once_and_each_is_answered() -> None:
    got = play(calling(("write", {"path": "a", "text": "b"}), ("write", {"text": "b", "path": "a"})), "Done.")
    assert len(got.shop.ran) == 1
    first, second = got.run.messages[2].results
    assert "was run once" in second.text
    assert first.text in second.text


def test_what_was_noticed_is_told_in_the_end() -> None:
    got = play(calling(("lok", {})), "Blue.")
    assert [issue.kind for issue in got.run.issues] == [IssueKind.UNKNOWN_TOOL]
    assert len(got.of(Corrected)) == 1
    assert isinstance(got.run.messages[-1].parts[0], Text)
