"""Repairs are evidence: what is said to have stood there stood there, and the row's bytes undo them all."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

from dragoman.batch.formats.reading import parsed, read
from dragoman.batch.judging.row_judge import judge
from dragoman.batch.options import DEFAULTS
from dragoman.batch.result import RowVerdict

from .corpora import dialogue, functions

STEP = re.compile(r"\.(\w+)|\[(\d+)\]")


def at(value: Any, path: str) -> Any:
    for name, number in STEP.findall(path):
        value = value[name] if name else value[int(number)]
    return value


def spelt(arguments: dict[str, Any], rnd: random.Random) -> str:
    """Arguments as weak models write them."""
    ways: list[Callable[[Any], str]] = [json.dumps, repr, lambda v: json.dumps(json.dumps(v)), lambda v: json.dumps(v)[:-1] + ",}"]
    return str(rnd.choice(ways)(arguments))


def damaged(seed: int) -> bytes:
    """A conversation whose calls stand in the text or are spelt badly."""
    rnd, talk = random.Random(seed), dialogue(seed)
    messages: list[dict[str, Any]] = []
    for number, each in enumerate(talk.rounds):
        messages.append({"role": "user", "content": each.question})
        if rnd.random() < 0.5:
            calls = "\n".join(f"<tool_call>{{'name': '{c.name}', 'arguments': {c.arguments!r}}}</tool_call>" for c in each.calls)
            messages.append({"role": "assistant", "content": "So. " + calls})
        else:
            listed = [{"id": f"c{number}{i}", "type": "function", "function": {"name": c.name, "arguments": spelt(c.arguments, rnd)}} for i, c in enumerate(each.calls)]
            messages.append({"role": "assistant", "content": None, "tool_calls": listed})
    return json.dumps({"messages": messages, "tools": functions(talk)}).encode()


def test_what_a_repair_says_stood_there_stood_there() -> None:
    repairs = 0
    for seed in range(200):
        line = damaged(seed)
        found = judge(line)
        assert found.verdict in (RowVerdict.OK, RowVerdict.REPAIRED), (seed, found.findings)
        _, before = read(parsed(line, DEFAULTS), DEFAULTS)
        for repair in found.repairs:
            there = at({"messages": before.messages, "tools": before.tools}, repair.path)
            assert isinstance(there, str)
            assert there[slice(*repair.span)] == repair.before
            json.loads(repair.after)
            repairs += 1
        assert [(c.name, c.arguments) for c in found.calls] == [(c.name, c.arguments) for c in dialogue(seed).calls]
        assert found.original == line
    assert repairs > 100
