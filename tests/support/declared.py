"""Texts that hold a call of a declared tool, from every file of vectors, in one shape."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.dialects.engine.parsed import Parsed
from tests.support import places

OUTSIDE = Path("/work/shared/vectors")
OWN = ("dialects/*.jsonl", "judge.jsonl")
SHARED = ("adversarial*.jsonl", "text/*.jsonl", "real/*")


@dataclass(frozen=True)
class Declared:
    """A text, and the names of the declared tools that calls in it are of."""

    id: str
    text: str
    tools: list[Any]
    names: tuple[str, ...]
    prefix: str = ""
    finish: str | None = None
    shown: tuple[str, ...] = ()


def declared(*folders: tuple[Path, tuple[str, ...]]) -> Iterator[Declared]:
    """All of them."""
    for folder, patterns in folders or ((places.VECTORS, OWN), (OUTSIDE, SHARED)):
        for pattern in patterns:
            for path in sorted(folder.glob(pattern)):
                yield from filter(None, (_read(path, row) for row in _rows(path)))


def _rows(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def _read(path: Path, row: dict[str, Any]) -> Declared | None:
    calls = row.get("calls") or row.get("expected_calls") or row.get("expected") or []
    text = row.get("text", row.get("input"))
    tools = row.get("tools") or []
    if row.get("scope", "message") != "message" or not isinstance(text, str) or not isinstance(calls, list):
        return None
    tools = [*{tool.get("name") or tool.get("function", {}).get("name"): tool for tool in reversed(tools)}.values()]
    known = {tool.get("name") or tool.get("function", {}).get("name") for tool in tools}
    names = tuple(c["name"] for c in calls if isinstance(c, dict) and c.get("name") in known)
    shown = tuple(each if isinstance(each, str) else each.get("text", "") for each in row.get("shown") or ())
    where = f"{path.stem.partition('.')[0]}:{row.get('id', '')}"
    return Declared(where, text, tools, names, row.get("prefix") or "", row.get("finish"), shown) if names else None


def lost(vector: Declared, parsed: Parsed) -> list[str]:
    """The names of calls that are in nothing: neither made, nor in doubt, nor in an issue."""
    told = {call.name for call in (*parsed.calls, *parsed.doubtful)}
    issues = [issue for issue in parsed.issues if issue.kind not in {"partial"}]
    named = told | {issue.name for issue in issues}
    raws = " ".join([*(issue.raw for issue in issues), *(_at(vector, issue.span) for issue in issues)])
    return [name for name in dict.fromkeys(vector.names) if name not in named and name not in raws]


def _at(vector: Declared, span: tuple[int, int] | None) -> str:
    return vector.text[span[0] : span[1]] if span is not None else ""
