"""The bench of real outputs: what it counts as right, and the tables it makes of a small corpus of each kind.

They are those of docs/recall.md, and the program is the one that page runs.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import ROOT

sys.path.append(str(ROOT / "bench"))  # the benches are programs, not a package
real: Any = import_module("real")

def corpus(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


TOOLS = [{"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}}]
CALL = '<tool_call>\n{"name": "look", "arguments": {"at": "sky"}}\n</tool_call>'


def told(text: str, form: str, **more: Any) -> dict[str, Any]:
    peers = {"bfcl_own_decoder": [True, True], "naive_json_loads": [False, False]}
    wanted = [{"look": {"at": ["sky"]}}]
    return {"id": form, "model": "gpt-4", "category": "simple", "mode": "prompt", "tools": TOOLS, "raw_output": text,
            "expect": "calls", "expected_possible": wanted, "form": form, "peers": peers, **more}  # fmt: skip


def test_the_tables_count_what_is_read_what_is_lost_and_what_ran_unwanted(tmp_path: Path) -> None:
    corpus(tmp_path, "bfcl", [
        told(CALL, "tag"), told(CALL.replace("sky", "sea"), "wrong"), told("I cannot.", "prose"),
        told("I cannot.", "prose", expect="none", peers={"naive_json_loads": [False, None]}),
        told(CALL, "tag", expect="none", peers={"naive_json_loads": [True, None]}),
    ])  # fmt: skip
    corpus(tmp_path, "issues", [
        {"id": "i", "model": "m", "kind": "broken", "text": CALL, "tools": TOOLS,
         "expected_calls": [{"name": "look", "arguments": {"at": "sky"}}]},
    ])  # fmt: skip
    corpus(tmp_path, "trajectories", [{"text": "Done.", "tools": TOOLS}, {"text": CALL, "tools": TOOLS}])
    tables, lost = real.measured(tmp_path)
    assert "| BFCL, 3 | **Dragoman** | 66.7 | 66.7 | 33.3 | 33.3 | 0.0 |" in tables["summary"]
    assert "|  | the model's own decoder | 100.0 |  | 100.0 |  |  |" in tables["summary"]
    assert "| BFCL: no tool fits the question | 2 | 1 | 0 | 1 |" in tables["precision"]
    assert "| BFCL: of these, prose without a call | 1 | 0 | 0 | 0 |" in tables["precision"]
    assert "| trajectories: messages without a call | 2 | 1 | 0 |  |" in tables["precision"]
    assert "| GPT-3.5 to 4o ▼ | 3 | 66.7 | 100.0 | 33.3 | 100.0 | 2 |" in tables["families"]
    assert "gpt-4 (66.7 < 100.0)" in tables["families"]
    assert "| other values | `wrong` | 1 | 1 | `wrong` |" in tables["clusters"]
    assert "| no call is written | `prose` | 1 | 1 | `prose` |" in tables["clusters"]
    assert "| broken | 1 | 100.0 | 100.0 | 0 | 0 |" in tables["issues"]
    assert [r.row["id"] for r in lost] == ["wrong", "prose"]


def test_a_folder_without_corpora_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="name the folder of the corpora"):
        real.measured(tmp_path)
