"""Document 004 as a run: its runtime, its testing checklist and its example session, through the same loop as the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.errors import ErrorCode
from dragoman.loop import Answered, Bound, FinalAction, Limit, Policy, ToolEnded
from dragoman.providers.spec import Tools
from dragoman.tools import ToolSet
from dragoman.types import JsonObject, Message, ToolChoice
from tests.support.scenes import IN_PROTOCOL, Played, Shop, play, route, sent

UPSERT = "kom.memory.v1.upsert_memory"
SEARCH = "kom.memory.v1.search_memory"
SPACE = {"namespace": {"type": "string"}}
ITEMS = [{"text": "Embedding model comparison takeaways"}]
SCHEMAS: dict[str, JsonObject] = {
    UPSERT: {
        "type": "object",
        "properties": {**SPACE, "items": {"type": "array", "items": {"type": "object"}}},
        "required": ["namespace", "items"],
    },
    SEARCH: {"type": "object", "properties": {**SPACE, "query": {"type": "object"}}, "required": ["namespace"]},
}
TASK = Message("user", 'Save this note: "Embedding model comparison takeaways" into project:metal')
FINAL = '{"final":{"content":{"status":"ok","upserted":1}}}'

# the protocol listened for by name, and as one of all dialects
EARS = pytest.mark.parametrize(
    "to", [IN_PROTOCOL, route(tools=Tools.TEXT, prompt_dialect="json_protocol")], ids=["by name", "among all"]
)


def tools(shop: Shop) -> ToolSet:
    return ToolSet(
        shop.make(UPSERT, SCHEMAS[UPSERT], lambda a: {"upserted": len(a["items"])}),
        shop.make(SEARCH, SCHEMAS[SEARCH], lambda a: [{"text": "found it"}], read_only=True),
    )


def action(tool: str, args: Any, thought: str = "next") -> str:
    return json.dumps({"thought": thought, "action": {"tool": tool, "args": args}})


STORE = action(UPSERT, {"namespace": "project:metal", "items": ITEMS}, "need to upsert note")
STORED = [(UPSERT, {"namespace": "project:metal", "items": ITEMS})]


def talk(*fragment: str, **more: Any) -> Played:
    return play(*fragment, tools=tools, messages=(TASK,), **more)


@pytest.mark.requirement("004-loop")
@EARS
def test_the_example_session_runs_to_its_final_answer(to: Any) -> None:
    got = talk(STORE, FINAL, to=to)
    assert got.shop.ran == STORED
    assert got.run.end == FinalAction({"status": "ok", "upserted": 1})
    assert got.run.value == {"status": "ok", "upserted": 1}
    assert got.run.response is not None
    assert '{"upserted": 1}' in sent(got.memory)["messages"][-1]["content"]


@pytest.mark.requirement("004-loop")
@pytest.mark.parametrize("value", ["done", 7, None, [1], {"a": {"b": 2}}, ""])
@EARS
def test_a_final_action_may_hold_any_value(to: Any, value: Any) -> None:
    assert talk(json.dumps({"final": {"content": value}}), to=to).run.end == FinalAction(value)


@pytest.mark.requirement("004-loop")
@pytest.mark.parametrize("text", ["```json\n{0}\n```", "<think>done</think>{0}", "\n  {0}\n"])
@EARS
def test_a_final_action_is_seen_through_fences_and_thoughts(to: Any, text: str) -> None:
    assert talk(text.replace("{0}", FINAL), to=to).run.end == FinalAction({"status": "ok", "upserted": 1})


@pytest.mark.requirement("004-loop")
@EARS
def test_invalid_json_is_rejected_and_asked_for_again(to: Any) -> None:
    bad = STORE.replace("[{", "[{:")
    got = talk(bad, STORE, FINAL, to=to)
    assert len(got.corrections) == 1
    assert "[ERROR:InvalidArgs]" in got.corrections[0]
    assert got.shop.ran == STORED
    assert isinstance(got.run.end, FinalAction)


@pytest.mark.requirement("004-loop")
@EARS
def test_an_unknown_tool_is_rejected_and_the_registry_shown(to: Any) -> None:
    got = talk(action("kom.memory.v1.upsert", {"namespace": "x"}), STORE, FINAL, to=to)
    assert "[ERROR:UnknownTool]" in got.corrections[0]
    assert UPSERT in got.corrections[0]
    assert SEARCH in got.corrections[0]
    assert got.shop.ran == STORED


@pytest.mark.requirement("004-loop")
@EARS
def test_wrong_arguments_are_answered_by_the_failing_piece_of_schema(to: Any) -> None:
    got = talk(action(UPSERT, {"namespace": "project:metal", "items": [3]}), STORE, FINAL, to=to)
    assert "$.items[0]" in got.corrections[0]
    assert '{"type": "object"}' in got.corrections[0]
    assert "(you gave 3)" in got.corrections[0]
    assert got.shop.ran == STORED


@pytest.mark.requirement("004-loop")
@EARS
def test_each_result_is_consumed_in_the_next_turn(to: Any) -> None:
    search = action(SEARCH, {"namespace": "project:metal", "query": {"text": "embedding model"}})
    got = talk(search, STORE, FINAL, to=to)
    assert [name for name, _ in got.shop.ran] == [SEARCH, UPSERT]
    assert "found it" in sent(got.memory, 1)["messages"][-1]["content"]
    assert '"upserted": 1' in sent(got.memory, 2)["messages"][-1]["content"]


@pytest.mark.requirement("004-loop")
@pytest.mark.parametrize("ears", ["command", "auto"])
def test_the_command_runs_through_the_same_loop(ears: str) -> None:
    line = '@tool kom.memory.v1.search_memory {"namespace":"project:metal", "query":{"text":"embedding model"}}'
    got = talk(line, "Found.", to=route(tools=Tools.TEXT, prompt_dialect="command", dialects=ears))
    assert got.shop.ran == [(SEARCH, {"namespace": "project:metal", "query": {"text": "embedding model"}})]
    assert (got.run.end, got.run.text) == (Answered(), "Found.")


@pytest.mark.requirement("004-loop")
@pytest.mark.parametrize("ears", ["command", "auto"])
@pytest.mark.parametrize(
    ("line", "code"),
    [('@tool kom.memory.v1.search {"namespace":"x"}', ErrorCode.UNKNOWN_TOOL),
     ('@tool kom.memory.v1.search_memory {"namespace":}', ErrorCode.INVALID_ARGS),
     ('@tool kom.memory.v1.search_memory {"query":{}}', ErrorCode.INVALID_ARGS)],
)  # fmt: skip
def test_a_command_that_is_wrong_is_asked_for_again(line: str, code: str, ears: str) -> None:
    good = '@tool kom.memory.v1.search_memory {"namespace":"x"}'
    got = talk(line, good, "Found.", to=route(tools=Tools.TEXT, prompt_dialect="command", dialects=ears))
    assert f"[ERROR:{code}]" in got.corrections[0]
    assert got.shop.ran == [(SEARCH, {"namespace": "x"})]


@pytest.mark.requirement("weak-happy-cap")
@EARS
def test_a_model_that_never_comes_to_its_end_is_stopped(to: Any) -> None:
    got = talk(*[STORE] * 9, to=to, policy=Policy(max_turns=3))
    assert got.run.end == Limit(Bound.TURNS, 3)
    again = talk(*[STORE] * 9, to=to)
    assert again.run.end == Limit(Bound.REPEATS, 3)
    assert all(isinstance(step, ToolEnded) for step in again.of(ToolEnded))


def test_a_demand_to_call_outlasts_an_answer_in_text() -> None:
    got = talk(FINAL, "Done.", STORE, FINAL, to=IN_PROTOCOL, tool_choice=ToolChoice("required"))
    assert len(got.corrections) == 2
    assert got.shop.ran == STORED
    assert isinstance(got.run.end, FinalAction)
    assert [request.tool_choice for request in got.requests] == [ToolChoice("required")] * 3 + [None]


def test_a_demand_that_is_never_met_ends_the_run() -> None:
    got = talk(
        *["Done."] * 9, to=IN_PROTOCOL, tool_choice=ToolChoice("named", UPSERT), policy=Policy(max_corrections=2)
    )
    assert got.run.end == Limit(Bound.CORRECTIONS, 2)
    assert UPSERT in got.corrections[0]


def test_json_that_is_no_call_is_an_answer() -> None:
    got = talk('{"status": "ok"}', to=route(tools=Tools.TEXT))
    assert (got.run.end, got.run.text) == (Answered(), '{"status": "ok"}')
