"""Rows for training: without what was wrong, or as a pair of the refused answer and the good one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.batch.formats.chat_row import ChatRow
from dragoman.batch.formats.training import pair, supervised
from dragoman.batch.options import Options
from dragoman.batch.row_json import BadRow
from dragoman.batch.running.engine import run
from dragoman.batch.running.job import Job

from .test_row_judge import TOOL, USER, calling, native


def told(*roles: str) -> list[Any]:
    names = {"u": "user", "a": "assistant", "x": "assistant", "t": "tool", "s": "system"}
    return [{"role": names[r], "content": f"{r}{i}"} for i, r in enumerate("".join(roles))]


# (roles, x is refused; what is left for training; what the pair is: prompt, chosen, rejected)
CASES = [
    ("uata", "uata", None),
    ("uxta", "ua", ("u", 3, 1)),
    ("uxuxua", "ua", ("u", 5, 1)),
    ("uxtataxta", "ua", None),
    ("uatax", "uata", None),
    ("ux", "", None),
]


@pytest.mark.parametrize(("roles", "left", "made"), CASES)
def test_what_is_wrong_is_left_out_with_what_answers_it(roles: str, left: str, made: Any) -> None:
    chat, refused = ChatRow(messages=told(roles)), [i for i, r in enumerate(roles) if r == "x"]
    try:
        kept = "".join(m["content"][0] for m in supervised(chat, refused).messages)
    except BadRow as why:
        assert (why.code, left) == ("no_answer", "")  # noqa: PT017
        return
    assert "x" not in kept
    assert kept.startswith(left)
    if made is not None:
        found = pair(chat, refused)
        assert ("".join(m["content"][0] for m in found.messages), found.branches["chosen"][0]["content"]) == (made[0], f"a{made[1]}")
        assert found.branches["rejected"][0]["content"] == f"x{made[2]}"


def test_a_corrected_run_gives_a_pair_and_a_straight_conversation(tmp_path: Path) -> None:
    wrong = calling(native("get_wether", '{"city":"Oslo"}'))
    told_so = {"role": "tool", "tool_call_id": "c1", "content": "[ERROR:UnknownTool] no such tool"}
    row = {"messages": [USER, wrong, told_so, calling(native())], "tools": [TOOL]}
    plain = {"messages": [USER, calling(native())], "tools": [TOOL]}
    (tmp_path / "in.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(plain) + "\n")
    made = {}
    for purpose in ("sft", "dpo"):
        out = tmp_path / f"{purpose}.jsonl"
        run([tmp_path / "in.jsonl"], Job(command="convert", options=Options(to=purpose, keep="all"), output=str(out)))
        made[purpose] = [json.loads(line) for line in out.read_text().splitlines()]
    assert [[m["role"] for m in one["messages"]] for one in made["sft"]] == [["user", "assistant"]] * 2
    [one] = made["dpo"]
    assert (one["prompt"], one["rejected"][0]["tool_calls"][0]["function"]["name"]) == ([USER], "get_wether")
    assert one["chosen"][0]["tool_calls"][0]["function"]["arguments"] == {"city": "Oslo"}
    aside = (tmp_path / "dpo.aside.jsonl").read_text()
    assert "no_pair" in aside
