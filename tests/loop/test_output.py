"""Answers that must have a form: however the model was asked, one validator, and the same way of asking again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from dragoman.errors import ErrorCode, UsageError
from dragoman.loop import Answered, Bound, How, Limit, Output, Policy
from dragoman.tools import ToolSet
from dragoman.types import ToolChoice
from tests.support.scenes import IN_PROTOCOL, IN_TEXT, Shop, calling, play, sent, text_reply

CITY = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "people": {"type": "integer"}},
    "required": ["name", "people"],
}
OSLO = {"name": "Oslo", "people": 700000}
GOOD = json.dumps(OSLO)
BAD = '{"name": "Oslo"}'
NONE: Any = lambda shop: ToolSet()  # noqa: E731


@dataclass
class City:
    name: str
    people: int

    def __post_init__(self) -> None:
        if self.people < 0:
            raise ValueError("a city cannot have fewer than no people")


def output(how: How = How.TOOL, **more: Any) -> Output:
    return Output(schema=CITY, how=how, **more)


def test_output_by_tool_is_a_call_that_ends_the_run() -> None:
    got = play(calling(("look", {"at": "sky"})), calling(("final_answer", OSLO)), output=output())
    assert (got.run.end, got.run.value) == (Answered(), OSLO)
    assert [tool.name for tool in got.requests[0].tools] == ["look", "write", "final_answer"]
    assert "final_answer" in sent(got.memory)["messages"][0]["content"]
    assert got.run.messages[0].role == "user"


def test_without_other_tools_the_call_is_demanded() -> None:
    got = play(calling(("final_answer", OSLO)), output=output(), tools=NONE)
    assert got.run.value == OSLO
    assert got.requests[0].tool_choice == ToolChoice("named", "final_answer")


@pytest.mark.parametrize("to", [IN_TEXT, IN_PROTOCOL], ids=["fence", "protocol"])
def test_a_model_without_tools_gives_the_value_in_text(to: Any) -> None:
    fence = '~~~tool_call\n{"name": "final_answer", "arguments": ' + GOOD + "}\n~~~"
    action = '{"thought": "", "action": {"tool": "final_answer", "args": ' + GOOD + "}}"
    final = '{"final": {"content": ' + GOOD + "}}"
    for text in [fence if to is IN_TEXT else action, final]:
        got = play(text, output=output(), to=to)
        assert (got.run.end, got.run.value) == (Answered(), OSLO)


def test_native_output_is_the_text_under_a_sent_schema() -> None:
    got = play(GOOD, output=output(How.NATIVE, name="city"), tools=NONE)
    assert got.run.value == OSLO
    assert sent(got.memory)["response_format"]["json_schema"]["name"] == "city"


@pytest.mark.parametrize(
    "text", [GOOD, f"Here it is:\n```json\n{GOOD}\n```", f"It is {GOOD}.", GOOD.replace("700000", '"700000"')]
)
def test_output_by_instruction_is_found_in_the_text(text: str) -> None:
    got = play(text, output=output(How.PROMPT), tools=NONE)
    assert (got.run.end, got.run.value) == (Answered(), OSLO)
    assert '"people"' in sent(got.memory)["messages"][0]["content"]


@pytest.mark.parametrize("how", [How.NATIVE, How.PROMPT])
def test_a_wrong_value_is_asked_for_again_by_failing_paths(how: How) -> None:
    got = play('{"name": ["Oslo"]}', GOOD, output=output(how), tools=NONE)
    assert "$.name" in got.corrections[0]
    assert '"people"' in got.corrections[0]
    assert got.run.value == OSLO


def test_a_wrong_value_in_the_tool_is_answered_by_error() -> None:
    got = play(calling(("final_answer", {"name": "Oslo"})), calling(("final_answer", OSLO)), output=output())
    assert got.results[0].error_code == ErrorCode.INVALID_ARGS
    assert '"people"' in got.results[0].text
    assert got.run.value == OSLO


def test_a_text_that_fits_counts_instead_of_the_call() -> None:
    got = play("Oslo has many people.", calling(("final_answer", OSLO)), output=output())
    assert "'final_answer'" in got.corrections[0]
    assert got.run.value == OSLO
    assert play(GOOD, output=output()).run.value == OSLO


def test_conversion_errors_of_a_value_reach_the_model() -> None:
    wanted = output(How.PROMPT, convert=lambda value: City(**value))
    got = play('{"name": "Oslo", "people": -1}', GOOD, output=wanted, tools=NONE)
    assert "fewer than no people" in got.corrections[0]
    assert got.run.value == City("Oslo", 700000)
    by_tool = output(convert=lambda value: City(**value))
    got = play(calling(("final_answer", {"name": "O", "people": -1})), calling(("final_answer", OSLO)), output=by_tool)
    assert "fewer than no people" in got.results[0].text
    assert got.run.value == City("Oslo", 700000)


@pytest.mark.parametrize("how", list(How))
def test_asking_again_is_bounded(how: How) -> None:
    got = play(*["I do not know."] * 9, output=output(how), policy=Policy(max_corrections=2))
    assert got.run.end == Limit(Bound.CORRECTIONS, 2)
    assert got.run.turns == 3


@pytest.mark.parametrize(
    "schema", [{"type": "array", "items": {"type": "integer"}}, {"type": "integer"}, {"enum": [1, 2]}]
)
def test_a_value_other_than_an_object_is_wrapped(schema: Any) -> None:
    value = [1] if schema.get("type") == "array" else 1
    got = play(calling(("final_answer", {"value": value})), output=Output(schema=schema))
    assert got.run.value == value


def test_an_answer_that_was_cut_is_no_value() -> None:
    got = play(text_reply('{"name": "Oslo", "people": 70', stop="length"), GOOD, output=output(How.PROMPT), tools=NONE)
    assert len(got.corrections) == 1
    assert got.run.value == OSLO


def test_only_calls_before_the_value_run() -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("look", {"at": "a"}),
        ("final_answer", OSLO),
        ("look", {"at": "b"}),
        ("final_answer", {**OSLO, "people": 1}),
    ]
    got = play(calling(*calls), output=output())
    assert got.shop.ran == [("look", {"at": "a"})]
    codes = [result.error_code for result in got.run.messages[-1].results]
    assert codes == [None, None, ErrorCode.NOT_EXECUTED, ErrorCode.NOT_EXECUTED]
    assert got.run.value == OSLO


def test_the_callers_own_tool_of_that_name_keeps_it() -> None:
    def tools(shop: Shop) -> ToolSet:
        return ToolSet(shop.make("final_answer", {"type": "object"}, lambda _: "mine"))

    got = play(calling(("final_answer", {})), calling(("final_answer_2", OSLO)), output=output(), tools=tools)
    assert (got.run.value, len(got.shop.ran)) == (OSLO, 1)


def test_a_python_type_gives_a_value_of_that_type() -> None:
    got = play('{"name": "Oslo", "people": -1}', GOOD, output=Output.of(City, "prompt"), tools=NONE)
    assert "fewer than no people" in got.corrections[0]
    assert got.run.value == City("Oslo", 700000)
    assert play(calling(("final_answer", {"value": [1, 2]})), output=Output.of(list[int])).run.value == [1, 2]
    assert Output.of(CITY, How.NATIVE) == output(How.NATIVE)
    assert Output.of(output()) == output()


def test_a_broken_output_schema_is_refused_when_given() -> None:
    with pytest.raises(UsageError):
        Output(schema={"type": "strnig"})
