"""Rows whose answer stands beside the conversation: counted, scored, proven, converted and trained on as what it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.batch.formats.table import FORMATS, ROWS
from dragoman.batch.judging.row_judge import judge
from dragoman.batch.options import Options
from dragoman.batch.running.engine import run
from dragoman.batch.running.job import Command, Job
from dragoman.batch.running.scoring import Scoring, score

USER = {"role": "user", "content": "Weather in Oslo, please, today?"}
EARLIER = {"role": "assistant", "content": "Where?"}
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}}]


def calling(name: str = "f", arguments: Any = None) -> dict[str, Any]:
    one = {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments or {"a": 1}}}
    return {"role": "assistant", "content": None, "tool_calls": [one]}


COMPLETION = {"prompt": [USER], "completion": [calling()], "tools": TOOLS}
TALK = {"prompt": [USER, EARLIER, USER], "completion": [calling()], "tools": TOOLS}
PAIR = {"prompt": [USER], "chosen": [calling()], "rejected": [{"role": "assistant", "content": "No."}], "tools": TOOLS}
WHEN2CALL = json.loads(FORMATS["when2call"].sample)


def converted(tmp_path: Path, row: dict[str, Any], to: str, command: Command = "convert") -> tuple[list[Any], dict[str, Any]]:
    (tmp_path / "in.jsonl").write_text(json.dumps(row) + "\n")
    out = tmp_path / f"{to or 'own'}.jsonl"
    told = run([tmp_path / "in.jsonl"], Job(command=command, options=Options(to=to, keep="all"), output=str(out)), overwrite=True)
    return [json.loads(line) for line in out.read_bytes().splitlines()], told["totals"]


@pytest.mark.parametrize("row", [COMPLETION, PAIR], ids=["completion", "chosen"])
def test_calls_of_the_answer_are_counted_and_scored(row: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text((json.dumps(row) + "\n") * 3)
    told = run([file], Job(command="lint", options=Options()))
    assert told["totals"]["calls"]["all"] == 3
    measures = {one["name"]: one["value"] for each in score([str(file)], Scoring())["scores"][""].values() for one in each}
    assert measures["call_rate"] == 1
    assert measures["schema_validity_before_repair"] == 1


def test_what_was_rejected_is_no_answer_to_score(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps({**PAIR, "chosen": PAIR["rejected"], "rejected": PAIR["chosen"]}))
    measures = {one["name"]: one["value"] for each in score([str(tmp_path / "in.jsonl")], Scoring())["scores"][""].values() for one in each}
    assert measures["call_rate"] == 0


def test_the_answer_beside_a_question_is_gold_for_it(tmp_path: Path) -> None:
    gold, mine = tmp_path / "gold.jsonl", tmp_path / "mine.jsonl"
    gold.write_text(json.dumps(COMPLETION))
    mine.write_text(json.dumps({"messages": [USER, calling()], "tools": TOOLS}))
    told = score([str(mine)], Scoring(gold=(str(gold),)))
    assert told["scores"][""]["bfcl"][0]["value"] == 1


@pytest.mark.parametrize("goal", [one.name for one in ROWS if one.write is not None and one.name not in ("trl", "bfcl", "batch")])
def test_a_completion_becomes_the_end_of_the_conversation(goal: str, tmp_path: Path) -> None:
    [made], totals = converted(tmp_path, COMPLETION, goal)
    assert not {"prompt", "completion", "input"} & made.keys()
    assert set(totals["losses"]) <= {"$.ids"}
    back = judge(json.dumps(made).encode(), Options(format=goal))
    assert [(call.name, call.arguments) for call in back.calls] == [("f", {"a": 1})]


def test_what_the_prompt_holds_is_not_learnt_from(tmp_path: Path) -> None:
    """OpenAI has a word for it; where a format has none, that is a loss."""
    [made], totals = converted(tmp_path, TALK, "openai")
    assert ([m.get("weight") for m in made["messages"]], totals["losses"]) == ([None, 0, None, None], {})
    _, totals = converted(tmp_path, TALK, "anthropic")
    assert "$.messages[].train" in totals["losses"]
    assert converted(tmp_path, TALK, "trl")[0] == [TALK]


def test_a_pair_is_written_as_the_format_has_pairs(tmp_path: Path) -> None:
    [made], totals = converted(tmp_path, PAIR, "openai")
    assert (set(made), totals["losses"]) == ({"input", "preferred_output", "non_preferred_output"}, {})


def test_answers_that_a_format_has_no_place_for_are_unwritable(tmp_path: Path) -> None:
    ways: list[tuple[dict[str, Any], str]] = [(WHEN2CALL, "openai"), (PAIR, "anthropic"), (PAIR, "hermes"), (WHEN2CALL, "sharegpt")]
    for row, goal in ways:
        made, totals = converted(tmp_path, row, goal)
        assert (made, totals["codes"]["unwritable"]) == ([], 1), goal


def test_rows_of_several_answers_are_kept_in_a_shape_that_is_read_again(tmp_path: Path) -> None:
    [made], _ = converted(tmp_path, WHEN2CALL, "", "clean")
    again = judge(json.dumps(made).encode())
    assert again.form is not None
    assert set(again.branches) == {"direct", "tool_call"}


@pytest.mark.parametrize("row", [COMPLETION, PAIR], ids=["completion", "chosen"])
def test_the_answer_is_what_is_learnt(row: dict[str, Any], tmp_path: Path) -> None:
    [made], _ = converted(tmp_path, row, "sft")
    assert made["messages"] == [USER, calling()]
    wrong = row | {key: [calling("g")] for key in ("completion", "chosen") if key in row}
    made, totals = converted(tmp_path, wrong, "sft")
    assert (made, totals["codes"]["no_answer"]) == ([], 1)


def test_a_pair_stays_a_pair(tmp_path: Path) -> None:
    assert converted(tmp_path, PAIR, "dpo")[0] == [PAIR]


def test_an_instruction_and_its_input_are_the_question(tmp_path: Path) -> None:
    row = {"instruction": "Weather in Oslo?", "input": "", "output": "It rains."}
    for given, asked in ((row, "Weather in Oslo?"), ({**row, "input": "Today."}, "Weather in Oslo?\nToday.")):
        [made], totals = converted(tmp_path, given, "openai")
        assert made == {"messages": [{"role": "user", "content": asked}, {"role": "assistant", "content": "It rains."}]}
        assert totals["formats"] == {"alpaca": 1}


def test_a_request_that_asks_nothing_is_no_log() -> None:
    asked: list[dict[str, Any]] = [{"input": "", "output": "x"}, {"request": {}, "response": "x"}, {"input": [], "output": "x"}]
    for row in asked:
        assert judge(json.dumps(row).encode()).codes == ("unknown_format",), row


def test_calls_of_a_completion_go_through_the_template(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps(COMPLETION))
    job = Job(command="lint", options=Options(), template="{% for m in messages %}{{ m.role }}{{ m.content }}{% endfor %}{{ tools | tojson }}")
    assert "template_calls" in run([tmp_path / "in.jsonl"], job)["totals"]["codes"]


def test_a_named_format_is_written_without_the_nulls_of_arrow(tmp_path: Path) -> None:
    def padded(message: dict[str, Any]) -> dict[str, Any]:
        return {"tool_calls": None, "tool_call_id": None, **message}

    row = {"messages": [padded(USER), padded({"role": "assistant", "content": "Yes."})]}
    [made], totals = converted(tmp_path, row, "openai")
    assert (made["messages"], totals["losses"]) == ([USER, {"role": "assistant", "content": "Yes."}], {})
    assert converted(tmp_path, row, "", "clean")[0] == [row]


def test_a_conversation_in_marks_ends_before_the_answer_that_is_asked_for() -> None:
    begun = "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nYes.<|im_end|>\n<|im_start|>user\nAnd?<|im_end|>\n<|im_start|>assistant\n"
    for text in (begun, begun + "<|im_end|>"):
        found = judge(json.dumps({"text": text, "id": 7}).encode())
        assert found.chat is not None
        assert [m["content"] for m in found.chat.messages] == ["hi", "Yes.", "And?"]
        assert found.chat.metadata == {"id": 7}
    assert judge(json.dumps({"text": "lost words " + begun}).encode()).codes == ("unreadable",)
