"""What model servers' own parsers read, and what Dragoman reads in their place: `python bench/served.py SERVER FOLDER`.

SERVER is `vllm` or `sglang`, FOLDER where its package was unpacked.  The texts are those of the server's own tests (the
recordings beside the repository); both readers are driven by the server's own serving code, whole and streamed, with
the same tools, reasoning parser and pieces.  A text is right when the calls are those that the tests expect; it is
alike when whole and streamed give the same calls and the same visible text.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.support.outside import Vector, divergences, plain, same_calls, vectors

OPEN = {"type": "object"}
REASONING_OPS = {"parse", "parse_delta"}
TOOL_PARSERS: Mapping[str, Mapping[str, str]] = {
    "vllm": {
        "granite_20b_fc": "granite-20b-fc", "internlm2": "internlm", "granite_thinking": "qwen3_coder",
        "nemotron_v3": "qwen3_coder",
    },
    "sglang": {
        "hy_v3": "hunyuan", "llama3_json": "llama3", "deepseek_v32": "deepseekv32", "deepseek_v4": "deepseekv4",
        "minimax_m3": "minimax-m3", "apertus": "apertus2509", "muse_glimmer": "muse",
    },
}  # fmt: skip
"""What a server calls its parser, where that is not the dialect's name here."""
REASONING = {
    "qwen3_coder": "qwen3", "deepseek_v4": "deepseek_v4", "deepseek_v41": "deepseek_v41", "gemma4": "gemma4",
    "glm47": "glm47", "granite_thinking": "granite_thinking_parser", "inkling": "inkling", "kimi_k2": "kimi_k2",
    "mimo": "mimo", "minimax_m2": "minimax_m2", "minimax_m3": "minimax_m3", "nemotron_v3": "nemotron_v3",
    "plamo3": "plamo3", "seed_oss": "seed_oss", "step3p5": "step3p5", "granite": "granite",
}  # fmt: skip
"""vLLM's reasoning parser beside its tool parser, where the test was of both."""
ELSEWHERE = {"harmony", "json_array", "beam", "response_template"}
"""Read by a path of their own, whatever the parser is called, or by a template that only the model's tokenizer has."""
HEAD = ("dialect", "texts", "theirs, whole", "streamed", "alike", "ours, whole", "streamed", "alike", "argued")
UNCALLED = "a_tool_that_is_not_called"


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("server", choices=sorted(TOOL_PARSERS))
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--show", action="store_true", help="print what is not right here")
    given = arguments.parse_args()
    texts = [v for v in vectors(given.server) if not v.dialect.startswith("reasoning:") and v.calls is not None
             and v.dialect not in ELSEWHERE and v.tools != [] and v.row.get("op") != "rust"]  # fmt: skip
    theirs = serve(given.server, given.folder, [case(given.server, v) for v in texts])
    ours = serve(given.server, given.folder, [case(given.server, v) | {"parser": "dragoman"} for v in texts])
    argued = {**divergences("blind"), **divergences("named")}
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for vector, their, our in zip(texts, theirs, ours, strict=True):
        score(rows[vector.dialect], vector, their, our, argued=vector.id in argued)
        if given.show and not (right(vector, our, "whole") and right(vector, our, "streamed") and same(our)):
            wrong = {"id": vector.id, "argued": vector.id in argued, "text": vector.text, "calls": vector.calls}
            print(json.dumps(wrong | {"ours": our, "theirs": their.get("whole")}, ensure_ascii=False))
    print("| " + " | ".join(HEAD) + " |")
    print("| --- " * len(HEAD) + "|")
    for name in sorted(rows):
        print(line(name, rows[name]))
    print(line("all", sum(rows.values(), Counter())))


def case(server: str, vector: Vector) -> dict[str, Any]:
    """The text as the server gets it, with the tools its calls need."""
    dialect = vector.dialect
    made: dict[str, Any] = {
        "text": vector.text,
        "tools": _tools(vector),
        "parser": TOOL_PARSERS[server].get(dialect, dialect),
        "chunks": vector.row.get("chunks"),
        "finish": vector.finish or "stop",
        "prompt": vector.prefix,
    }
    if server == "vllm" and vector.row.get("op") in REASONING_OPS and dialect in REASONING:
        made["reasoning_parser"] = REASONING[dialect]
    return made


def _tools(vector: Vector) -> list[dict[str, Any]]:
    """The tools of the test; those that are expected to be called without having been declared are declared open."""
    found = {}
    for tool in vector.row.get("tools") or ():
        function = tool.get("function", tool)
        found[function["name"]] = {"name": function["name"], "parameters": function.get("parameters") or OPEN}
    for name in filter(None, (name for name, _ in vector.calls or ())):
        found.setdefault(name, {"name": name, "parameters": OPEN})
    if not found:
        found[UNCALLED] = {"name": UNCALLED, "parameters": OPEN}
    return [{"type": "function", "function": function} for function in found.values()]


def serve(server: str, folder: Path, cases: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the server's clients get."""
    given = "".join(json.dumps(one) + "\n" for one in cases)
    ran = subprocess.run(
        [sys.executable, "-m", f"tests.plugins.in_{server}", str(folder)],
        input=given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True,
    )  # fmt: skip
    return [json.loads(answer) for answer in ran.stdout.splitlines()]


def calls_of(answer: Mapping[str, Any], way: str) -> list[tuple[str, Any]] | None:
    """The calls of one way; None where the reader failed, or gave what is no JSON."""
    told = answer.get(way)
    if told is None or "error" in told:
        return None
    try:
        return [(name, plain(json.loads(arguments))) for name, arguments, _ in told["calls"]]
    except (ValueError, TypeError):
        return None


def right(vector: Vector, answer: Mapping[str, Any], way: str) -> bool:
    """Are the calls those that the test expects?"""
    calls = calls_of(answer, way)
    return calls is not None and same_calls(vector.calls or [], calls)


def same(answer: Mapping[str, Any]) -> bool:
    """Do whole and streamed agree, in calls and visible text?"""
    whole, streamed = (answer.get(way) or {"error": 1} for way in ("whole", "streamed"))
    if "error" in whole or "error" in streamed:
        return False
    texts = [(told["content"] or "").strip() for told in (whole, streamed)]
    return texts[0] == texts[1] and calls_of(answer, "whole") == calls_of(answer, "streamed") is not None


def score(row: Counter[str], vector: Vector, their: Mapping[str, Any], our: Mapping[str, Any], *, argued: bool) -> None:
    """Count one text."""
    row["texts"] += 1
    for who, answer in (("theirs", their), ("ours", our)):
        for way in ("whole", "streamed"):
            row[f"{who} {way}"] += right(vector, answer, way)
        row[f"{who} alike"] += same(answer)
    row["argued"] += argued and not right(vector, our, "whole")


def line(name: str, row: Counter[str]) -> str:
    """A row of the table."""
    scores = [f"{who} {way}" for who in ("theirs", "ours") for way in ("whole", "streamed", "alike")]
    return f"| {name} | " + " | ".join(str(row[key]) for key in ("texts", *scores, "argued")) + " |"


if __name__ == "__main__":
    main()
