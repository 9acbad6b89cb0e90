"""The demonstration: a real task, real servers, real tools; its exit code tells whether the task was done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dragoman.cli.demo_tools import Workshop

from .conftest import Run


def test_the_demonstration_does_the_task_and_shows_how(run: Run) -> None:
    ran = run("demo")
    assert ran.code == 0
    assert ran.err == ""
    for words in ("the model wrote", "~~~tool_call", "judged", "mended", "ran", "answer", "Done."):
        assert words in ran.out
    assert "\x1b[" not in ran.out


@pytest.mark.parametrize(
    "dialect", ["hermes", "json_protocol", "command", "xml_attributes", "bare_json", "fenced_json"]
)
@pytest.mark.costly
def test_every_dialect_of_the_documents_carries_it(run: Run, dialect: str) -> None:
    ran = run("demo", "--dialect", dialect, "--json")
    report = json.loads(ran.out)
    assert (ran.code, report["success"], report["written"]) == (0, True, "1849.35\n")
    assert [r["name"] for turn in report["turns"] for r in turn["ran"]] == [
        "read_file",
        "read_file",
        "calculate",
        "write_file",
    ]
    assert {call["report"]["dialect"] for turn in report["turns"] for call in turn["judged"]["calls"]} == {dialect}
    assert report["turns"][-1]["answer"]["finish_reason"] == "stop"


def test_the_task_is_done_despite_every_mendable_mistake(run: Run) -> None:
    report = json.loads(run("demo", "--errors", "1", "--json").out)
    assert report["success"]
    assert all(call["report"]["edits"] for call in report["turns"][0]["judged"]["calls"])
    assert "<think>" in report["turns"][0]["written"]


def test_a_dialect_there_is_not_ends_it_with_advice(run: Run) -> None:
    ran = run("demo", "--dialect", "hermez")
    assert ran.code == 2
    assert "did you mean 'hermes'" in ran.err


# ── the tools ────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "arguments", "answer"),
    [
        ("calculate", {"expression": "0.1 + 0.2"}, "0.3"),
        ("calculate", {"expression": "-(2 - 5) * 4 / 8"}, "1.5"),
        ("calculate", {"expression": "__import__('os')"}, "[ERROR:InvalidArgs] only numbers"),
        ("calculate", {"expression": "2 +"}, "[ERROR:InvalidArgs] not arithmetic"),
        ("calculate", {"expression": "1/0"}, "[ERROR:InvalidArgs]"),
        ("calculate", {"sum": "1"}, "[ERROR:InvalidArgs]"),
        ("read_file", {"path": "none.txt"}, "[ERROR:ENOENT]"),
        ("read_file", {"path": "../../etc/passwd"}, "[ERROR:EACCES]"),
        ("write_file", {"path": "/etc/motd", "content": "x"}, "[ERROR:EACCES]"),
        ("write_file", {"path": "a.txt", "content": "äöü"}, "wrote 3 characters to a.txt"),
        ("delete_file", {"path": "a.txt"}, "[ERROR:UnknownTool]"),
    ],
)
def test_a_tool_answers_or_says_how_it_failed(
    tmp_path: Path, name: str, arguments: dict[str, str], answer: str
) -> None:
    assert Workshop(tmp_path).run(name, arguments).startswith(answer)
