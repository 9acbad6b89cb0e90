"""Texts recorded by other projects, run through the parser: loading, running, comparing.

Used by `test_outside_text.py`; nobody on this project wrote these expectations.  A row where we differ on purpose stands
in `divergences/*.toml` with the reason.
"""

from __future__ import annotations

import json
import random
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from dragoman.dialects import DIALECTS, Dialect, Parsed, Parser
from dragoman.dialects.engine.parsed import fold
from dragoman.dialects.spec import span
from tests.support import places

OUTSIDE = places.RECORDINGS / "text"
DIVERGENCES = places.TESTS / "divergences"
VISIBLE = DIVERGENCES / "visible"
FILES = ("vllm", "sglang", "llamacpp", "ollama", "aisdk", "forge")


@dataclass(frozen=True, slots=True)
class Vector:
    """One recorded text and what its project makes of it; `calls` holds (name, arguments), an argument None unasserted."""

    id: str
    file: str
    dialect: str
    text: str
    tools: list[dict[str, Any]] | None
    prefix: str
    finish: str | None
    calls: list[tuple[str, Any]] | None
    content: str | None
    reasoning: str | None
    row: dict[str, Any]


def vectors(file: str) -> Iterator[Vector]:
    """The whole model outputs of one file."""
    with (OUTSIDE / f"{file}.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row.get("scope") in (None, "message") and isinstance(row.get("text"), str) and not row.get("native_calls_in"):
                yield _vector(file, row)


def _vector(file: str, row: dict[str, Any]) -> Vector:
    asserted = row.get("asserted") or {"names": True, "args": True}
    calls = None if row["calls"] is None else [(c.get("name"), plain(c.get("arguments"))) for c in row["calls"]]
    if calls and not asserted["args"] and asserted["names"]:
        calls = [(name, None) for name, _ in calls]
    return Vector(
        id=row["id"],
        file=file,
        dialect=row["dialect"],
        text=row["text"],
        tools=_tools(row, calls),
        prefix=row.get("prefix") or _opened(row),
        finish="length" if row.get("partial") else None,
        calls=calls,
        content=row.get("content"),
        reasoning=row.get("reasoning"),
        row=row,
    )


def _opened(row: dict[str, Any]) -> str:
    """What the template had opened, where the project says so in an option instead."""
    options = row.get("options") or {}
    if not any(options.get(o) for o in ("starts_in_reasoning", "in_reasoning", "force_reasoning")):
        return ""
    name = row["dialect"].removeprefix("reasoning:")
    own = DIALECTS[name].reasoning if name in DIALECTS else ()
    opener = own[0].open[0] if own else "<think>"
    return "" if opener.strip() in row["text"] else opener


def _tools(row: dict[str, Any], calls: list[tuple[str, Any]] | None) -> list[dict[str, Any]] | None:
    """The declared tools; None where a call is expected that they do not declare (such a call never runs here)."""
    tools = row.get("tools")
    options = row.get("options") or {}
    if not calls and (options.get("tool_choice") == "none" or options.get("tool_parsing") == "off"):
        return []
    declared = {(t.get("function") or t).get("name") for t in tools or () if isinstance(t, dict)}
    return None if calls and any(name not in declared for name, _ in calls) else tools


def plain(value: Any) -> Any:
    """Numbers that are equal made identical: 5.0 and 5."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, float) and abs(value) < 1e300 and value == int(value):
        return int(value)
    return value


def run(vector: Vector, pieces: Sequence[str], *, blind: bool) -> Parsed:
    """The parser's reading of these pieces."""
    parser = Parser(
        tools=vector.tools,
        dialects="auto" if blind else _named(vector),
        prefix=vector.prefix,
        finish_reason=vector.finish,
    )
    events = [event for piece in pieces for event in parser.feed(piece)]
    return fold([*events, *parser.close()])


def _named(vector: Vector) -> str | list[str | Dialect]:
    """What a caller who knows the model would ask for; some rows configure their own delimiters."""
    name = vector.dialect.removeprefix("reasoning:")
    if name not in DIALECTS:
        return "auto"
    options = (vector.row.get("options") or {}).get("protocol_options") or {}
    if "toolCallStart" not in options:
        return name
    call = span(options["toolCallStart"], options["toolCallEnd"])
    return [replace(DIALECTS[name], name="configured", aliases=(), call=call)]


def chunkings(vector: Vector) -> list[list[str]]:
    """The text cut at random (the same cuts every time), character by character, and as the project streamed it."""
    text, dice = vector.text, random.Random(vector.id)
    pieces, at = [], 0
    while at < len(text):
        size = dice.choice((1, 2, 3, 5, 11, 40))
        pieces.append(text[at : at + size])
        at += size
    found = [pieces, list(text)]
    streamed = vector.row.get("chunks")
    return [*found, streamed] if streamed and "".join(streamed) == text else found


def calls_of(parsed: Parsed) -> list[tuple[str, Any]]:
    """What the parser would run."""
    return [(c.name, plain(dict(c.arguments))) for c in parsed.calls]


def as_recorded(expected: list[tuple[str, Any]], parsed: Parsed) -> bool:
    """Are these the calls that run, or of which some are asked about (judge-rules.md, B and C)?"""
    got = calls_of(parsed)
    if not expected or same_calls(expected, got):
        return same_calls(expected, got)
    every = sorted([*parsed.calls, *parsed.doubtful], key=lambda c: (c.report and c.report.span) or (0, 0))
    return same_calls(expected, [(c.name, plain(dict(c.arguments))) for c in every])


def same_calls(expected: list[tuple[str, Any]], got: list[tuple[str, Any]]) -> bool:
    """Equal in names and order, and in the arguments that are asserted."""
    return len(expected) == len(got) and all(
        e[0] == g[0] and (e[1] is None or equal(e[1], g[1])) for e, g in zip(expected, got, strict=True)
    )


def equal(a: Any, b: Any) -> bool:
    """Equal as JSON: true is not 1."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(equal, a, b))
    return bool(a == b)


SPACE = re.compile(r"\s+")
TAGS = re.compile(
    r"</?(?:\w+:)?think(?:ing)?>|\[/?THINK\]|<\|?/?\w*:?(?:begin_|end_)?think(?:ing)?\w*:?\w*\|?>", re.IGNORECASE
)


MARKUP = re.compile(r"<[|｜/]|\[/|[|｜]>|\[TOOL")
"""What no text behind a call should hold."""


def flat(text: str) -> str:
    """A text without white space: projects trim differently."""
    return SPACE.sub("", text)


def same_text(vector: Vector, parsed: Parsed) -> bool:
    """Is the visible text the recorded one, or is it by a convention of the project?"""
    if vector.content is None:
        return True
    want, got = flat(vector.content), flat(_prefilled(vector, "content") + parsed.text)
    if want == got:
        return True
    if _shows_thought(vector) and flat(TAGS.sub("", parsed.reasoning + parsed.text)) == TAGS.sub("", want):
        return True
    cut, shown = _without_refused(want, parsed), _without_doubtful(got, vector, parsed)
    return cut in {got, shown} or want == shown or _drops_the_rest(want, shown, vector, parsed)


def same_reasoning(vector: Vector, parsed: Parsed) -> bool:
    """Is the reasoning the recorded one?"""
    if vector.reasoning is None or (_shows_thought(vector) and not vector.reasoning.strip()):
        return True
    return flat(vector.reasoning) == flat(_prefilled(vector, "reasoning") + parsed.reasoning)


def _prefilled(vector: Vector, what: str) -> str:
    """What the prompt had begun of the message and llama.cpp's tests count as its own."""
    options = vector.row.get("options") or {}
    begun = options.get("continue_final_message")
    last = (options.get("messages") or [{}])[-1]
    return (last.get(what) or "") if begun and (what == "reasoning" or begun == "content") else ""


def _shows_thought(vector: Vector) -> bool:
    """Was the project told to leave reasoning in the text, or does only its reader of calls look at it?"""
    options = vector.row.get("options") or {}
    template = options.get("chat_template_kwargs") or {}
    off = options.get("reasoning_format") == "none" or options.get("think", True) is False
    off = off or template.get("enable_thinking") is False or "force_nonempty_content" in template
    return off or vector.reasoning is None or (not vector.dialect.startswith("reasoning:") and not vector.reasoning)


def _without_refused(want: str, parsed: Parsed) -> str:
    """The text without the calls that were refused: others show what they cannot run, we tell of it in an issue."""
    for issue in parsed.issues:
        want = want.replace(flat(issue.raw), "", 1) if issue.correction else want
    return want


def _without_doubtful(got: str, vector: Vector, parsed: Parsed) -> str:
    """The text without what we leave in it while asking, and without weak calls that were refused there."""
    spans = [call.report.span for call in parsed.doubtful if call.report and call.report.span]
    spans += [issue.span for issue in parsed.issues if issue.span and not issue.raw and issue.name]
    for start, end in spans:
        got = got.replace(flat(vector.text[start:end]), "", 1)
    return got


def _drops_the_rest(want: str, got: str, vector: Vector, parsed: Parsed) -> bool:
    """Some projects drop the text behind the first call; we keep it, but no markup of it."""
    if MARKUP.search(got[len(want) :]):
        return False
    starts = [call.report.span[0] for call in parsed.calls if call.report and call.report.span]
    before = flat(TAGS.sub("", vector.text[: min(starts, default=0)]))
    return bool(starts) and got.startswith(want) and (not want or before.endswith(want))


def key(parsed: Parsed) -> tuple[Any, ...]:
    """Everything that may not depend on how the text was cut."""
    calls = [(c.name, json.dumps(dict(c.arguments))) for c in parsed.calls]
    return calls, parsed.text, parsed.reasoning, [(i.kind, i.raw, i.name) for i in parsed.issues]


@cache
def divergences(way: str, folder: Path = DIVERGENCES) -> dict[str, str]:
    """Vector id → why we differ, for the dialect `named` or `blind`; an entry without `way` is about both.

    Those in `VISIBLE` are about the text or the reasoning of vectors whose calls are read as recorded.
    """
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.toml")):
        for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("divergence", ()):
            if entry.get("way", way) == way:
                found |= dict.fromkeys(entry["rows"], entry["reason"])
    return found
