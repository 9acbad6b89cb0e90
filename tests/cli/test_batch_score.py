"""`dragoman batch score` as a shell sees it: benchmarks, vendors, trials, and the exit codes that CI goes by.

The commands are those of docs/scores.md, and that page's own are run as they stand.
"""

from __future__ import annotations

import gzip
import json
import re
import shlex
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from dragoman.batch.running.scoring import Scoring, count_unit, score
from dragoman.batch.running.sources import sources_of
from dragoman.batch.running.units import plan
from tests.support.places import RECORDINGS, ROOT

from .conftest import Outcome, Run

PARAMETERS: dict[str, Any] = {
    "type": "object", "properties": {"at": {"type": "string"}, "zoom": {"type": "integer"}}, "required": ["at"],
}  # fmt: skip
LOOK: dict[str, Any] = {"name": "look", "description": "Look", "parameters": PARAMETERS}
SKY, SEA = '{"name": "look", "arguments": {"at": "sky"}}', '{"name": "look", "arguments": {"at": "sea"}}'
REAL = RECORDINGS / "real" / "bfcl.jsonl.gz"
sys.path.append(str(ROOT / "bench"))  # the benches are programs, not a package


def lines(path: Path, rows: Iterable[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def measures(told: Outcome, group: str = "") -> dict[str, Any]:
    assert told.out, told.err
    scores = json.loads(told.out)["scores"][group]
    return {one["name"]: one for found in scores.values() for one in found}


def answer(number: int, text: str, **more: Any) -> dict[str, Any]:
    return {"id": f"simple_{number}", "raw_output": text, "tools": [LOOK], **more}


def test_answers_with_their_own_truth_are_scored_alone(run: Run, tmp_path: Path) -> None:
    truth = [{"look": {"at": ["sky"], "zoom": ["", 2]}}]
    file = lines(
        tmp_path / "answers.jsonl",
        [
            answer(1, f"<tool_call>\n{SKY}\n</tool_call>", expected_possible=truth, model="a"),
            answer(2, "[look(at='sea')]", expected_possible=truth, model="b"),
            answer(3, "I see nothing.", expected_possible=[], model="b"),
        ],
    )
    told = run("batch", "score", file, "--json", "--workers", 1, "--by", "model")
    found = measures(told)
    assert (found["bfcl_ast"]["numerator"], found["bfcl_ast"]["denominator"]) == (2, 3)
    assert found["bfcl_ast"]["interval"][0] < 2 / 3 < found["bfcl_ast"]["interval"][1]
    assert (found["irrelevance"]["value"], found["relevance"]["value"]) == (1, 1)
    assert measures(told, "b")["bfcl_ast"]["numerator"] == 1
    assert "bfcl_ast" in run("batch", "score", file, "--workers", 1).out


def test_a_benchmarks_three_files_are_joined_by_id(run: Run, tmp_path: Path) -> None:
    asked = [{"role": "user", "content": "Look at the sky"}]
    tool = {**LOOK, "parameters": {**PARAMETERS, "type": "dict"}}
    questions = lines(
        tmp_path / "q.jsonl", [{"id": f"simple_{n}", "question": [asked], "function": [tool]} for n in range(3)]
    )
    truths = lines(
        tmp_path / "a.jsonl", [{"id": f"simple_{n}", "ground_truth": [{"look": {"at": ["sky"]}}]} for n in range(3)]
    )
    results = lines(
        tmp_path / "r.jsonl",
        [
            {"id": "simple_0", "result": "[look(at='The Sky'[4:])]"},
            {"id": "simple_1", "result": "[look(at='sky')]"},
            {"id": "simple_2", "result": [{"look": '{"at": "sky"}'}]},
        ],
    )
    told = run(
        "batch", "score", results, "--gold", questions, "--gold", truths, "--metric", "bfcl", "--json", "--workers", 1
    )
    found = measures(told)
    assert (found["bfcl_ast"]["numerator"], found["bfcl_ast"]["denominator"]) == (2, 3)
    assert found["bfcl_ast/simple"]["denominator"] == 3


def exchange(number: int, called: str | None) -> dict[str, Any]:
    """A row of a batch file's results: what a server answered."""
    calls = [{"id": "c", "type": "function", "function": {"name": "look", "arguments": called}}] if called else None
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": None if called else "No.", "tool_calls": calls},
        "finish_reason": "tool_calls" if called else "stop",
    }
    body = {"id": "x", "object": "chat.completion", "model": "k2", "choices": [choice]}
    return {"custom_id": f"r{number}", "response": {"status_code": 200, "body": body}, "error": None}


def test_a_vendor_is_measured_against_the_official_answers(run: Run, tmp_path: Path) -> None:
    functions = [{"type": "function", "function": LOOK}]
    asked = lines(
        tmp_path / "in.jsonl",
        [
            {"custom_id": f"r{n}", "method": "POST", "url": "/v1/chat/completions",
             "body": {"model": "k2", "messages": [{"role": "user", "content": "x"}], "tools": functions}}
            for n in range(4)
        ],
    )  # fmt: skip
    good, bad = '{"at": "sky"}', '{"zoom": "x"}'
    vendor = lines(tmp_path / "v.jsonl", [exchange(0, good), exchange(1, bad), exchange(2, None), exchange(3, good)])
    official = lines(tmp_path / "o.jsonl", [exchange(0, good), exchange(1, good), exchange(2, good), exchange(3, None)])
    told = run(
        "batch", "score", vendor, "--baseline", official, "--gold", asked, "--metric", "k2vv", "--json", "--workers", 1
    )
    found = measures(told)
    assert (found["tool_call_f1"]["numerator"], found["tool_call_f1"]["denominator"]) == (4, 6)
    assert (found["schema_accuracy"]["numerator"], found["schema_accuracy"]["denominator"]) == (2, 3)
    assert [one["name"] for one in json.loads(told.out)["compared"]] == ["sound"]


def test_trials_of_a_task_give_pass_hat_k(run: Run, tmp_path: Path) -> None:
    rows = [
        {"task_id": task, "trial": trial, "reward_info": {"reward": reward}, "messages": [{"role": "user", "content": "x"}],
         "termination_reason": end}
        for task, rewards in (("1", (1.0, 1.0)), ("2", (1.0, 0.0)), ("3", (0.0, 0.0)))
        for trial, (reward, end) in enumerate([*((one, "user_stop") for one in rewards), (0.0, "infrastructure_error")])
    ]  # fmt: skip
    told = run("batch", "score", lines(tmp_path / "tau.jsonl", rows), "--metric", "pass^k", "--json", "--workers", 1)
    found = measures(told)
    assert found["pass^1"]["value"] == pytest.approx(0.5)
    assert found["pass^2"]["value"] == pytest.approx(1 / 3, abs=1e-6)
    assert found["pass^1"]["excluded"] == 3


def test_a_metric_without_what_it_needs_says_what_to_give(run: Run, tmp_path: Path) -> None:
    file = lines(tmp_path / "a.jsonl", [answer(1, "No.")])
    told = run("batch", "score", file, "--metric", "k2vv", "--workers", 1)
    assert (told.code, "--baseline" in told.err) == (2, True)


def test_ci_is_told_of_a_fall_by_the_exit_code(run: Run, tmp_path: Path) -> None:
    truth = [{"look": {"at": ["sky"]}}]
    good = lines(tmp_path / "good.jsonl", [answer(1, f"<tool_call>{SKY}</tool_call>", expected_possible=truth)])
    bad = lines(tmp_path / "bad.jsonl", [answer(1, f"<tool_call>{SEA}</tool_call>", expected_possible=truth)])
    last, page = tmp_path / "last.json", tmp_path / "page.html"
    assert run("batch", "score", good, "--report", last, "--workers", 1).code == 0
    assert run("batch", "score", good, "--diff", last, "--workers", 1).code == 0
    told = run("batch", "score", bad, "--diff", last, "--report", page, "--workers", 1)
    assert (told.code, "answers/answers fell" in told.err or "answers fell" in told.err) == (1, True)
    assert "What changed" in page.read_text(encoding="utf-8")
    assert run("batch", "score", bad, "--diff", last, "--tolerance", 1, "--workers", 1).code == 0
    told = run("batch", "score", bad, "--fail-under", "bfcl_ast=0.5", "--workers", 1)
    assert (told.code, "below 0.5" in told.err) == (1, True)
    assert run("batch", "score", bad, "--fail-under", "bcfl=0.5", "--workers", 1).code == 1
    assert run("batch", "score", bad, "--diff", good, "--workers", 1).code == 2


def test_definitions_are_printed_without_a_file(run: Run) -> None:
    assert "schema_accuracy" in run("batch", "score", "--definitions").out


def test_units_counted_apart_score_as_all_together(tmp_path: Path) -> None:
    truth = [{"look": {"at": ["sky"]}}]
    rows = [answer(n, f"<tool_call>{SKY if n % 3 else SEA}</tool_call>", expected_possible=truth) for n in range(40)]
    for part in range(4):
        lines(tmp_path / f"{part}.jsonl", rows[part * 10 : part * 10 + 10])
    whole = lines(tmp_path / "whole.jsonl", rows)
    apart = score([str(tmp_path / f"{part}.jsonl") for part in range(4)], Scoring(), workers=2)
    assert apart == score([str(whole)], Scoring())
    [unit] = plan(sources_of([whole]))
    assert count_unit(unit, Scoring())["rows"][""] == {"read": 40, "scored": 40}


@pytest.mark.skipif(not REAL.exists(), reason="the recorded outputs are not here (../shared)")
def test_recorded_outputs_score_as_the_bench_reads_them(tmp_path: Path) -> None:
    real: Any = import_module("real")
    some = [json.loads(line) for line in gzip.decompress(REAL.read_bytes()).splitlines()[::20]]
    told = score([str(lines(tmp_path / "some.jsonl", some))], Scoring(metrics=("answers",)))
    [first, *_] = told["scores"][""]["answers"]
    readings = [one for one in real.judged(some) if one.row["expect"] != "none"]
    assert (first["numerator"], first["denominator"]) == (sum(one.fits for one in readings), len(readings))


COMMANDS = re.findall(r"```sh\n(dragoman .+?)\n```", (ROOT / "docs" / "scores.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_of_the_page_run(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.chdir(tmp_path)
    truth = [{"look": {"at": ["sky"]}}]
    lines(tmp_path / "answers.jsonl", [answer(1, f"<tool_call>{SKY}</tool_call>", expected_possible=truth)])
    asked = {"id": "simple_1", "question": [[{"role": "user", "content": "Look"}]], "function": [LOOK]}
    lines(tmp_path / "questions.jsonl", [asked])
    lines(tmp_path / "possible_answers.jsonl", [{"id": "simple_1", "ground_truth": truth}])
    lines(tmp_path / "results.jsonl", [{"id": "simple_1", "result": "[look(at='sky')]"}])
    for name in ("vendor", "official"):
        lines(tmp_path / f"{name}.jsonl", [exchange(0, '{"at": "sky"}')])
    assert run("batch", "score", "answers.jsonl", "--report", "last.json", "--workers", 1).code == 0
    told = run(*shlex.split(command)[1:], "--workers", 1)
    assert told.code == 0, told.err
