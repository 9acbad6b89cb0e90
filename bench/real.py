"""What real models wrote, read blind: recall, precision and cost, beside the baselines, by family and by what is lost.

usage: bench/real.py FOLDER [--write] [--limit N] [--lost FILE].  FOLDER holds corpora: `bfcl.jsonl.gz` and
`gemma.jsonl.gz` (rows with `raw_output`, `tools`, `expected_possible` and, where others were measured, `peers`),
`issues.jsonl` (`text`, `tools`, `expected_calls`, `alt`, `kind`) and, where there are some, `trajectories.jsonl`
(`text` and `tools`: messages that hold no call).
`--write` puts the tables into docs/recall.md, `--lost` writes every row that is not read exactly.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from table import PAGE, machine, publish, table

from dragoman import UsageError, parse
from dragoman.batch.scores.possible import Call, Expectation, fits
from dragoman.dialects import Parsed

RECALL = PAGE.with_name("recall.md")
Row = dict[str, Any]
PROSE = frozenset({"prose", "empty", "empty_list", "prose+fence", "fenced:prose", "fenced:empty_list"})
"""Forms in which no call is written."""
BASELINES: Mapping[str, str] = {
    "bfcl_own_decoder": "the model's own decoder",
    "bfcl_python_ast": "Python's `ast`",
    "fence_or_span_json": "JSON in a fence or span",
    "json_repair_whole_text": "`json_repair`",
    "naive_json_loads": "`json.loads`",
}
FAMILIES: Mapping[str, str] = {
    "NexusRaven": r"Raven", "Gorilla": r"gorilla", "DeepSeek-Coder": r"deepseek-coder", "Arctic": r"arctic",
    "Hermes": r"Hermes", "Gemma 3": r"gemma3", "Gemma": r"gemma", "GPT-3.5 to 4o": r"gpt-", "DBRX": r"dbrx",
    "Mistral": r"mi[sx]tral", "Command R+": r"command-r", "Llama 3": r"Llama-3|llama", "Nemotron-4": r"nemotron",
    "GLM-4": r"glm", "Claude": r"claude", "xLAM": r"xLAM", "Granite": r"granite", "Functionary": r"functionary",
    "FireFunction": r"firefunction", "Gemini": r"gemini",
}  # fmt: skip
"""Which family a model is of; the first that is found in its name."""
CALLED = r"""(?<![\w.]){0}["'`]?\s*[({{](?!\s*\))"""
NAMED = r"""["'`]?(?:name|tool|tool_name|function|action|recipient_name)["'`]?\s*[:=]\s*["'`](?:functions\.)?{0}["'`]"""
MOST_CLUSTERS = 16
COUNTED = ("known", "known_or_asked", "fits", "fits_asked", "silent")


@dataclass(slots=True)
class Reading:
    """One row, and what came of it."""

    row: Row
    run: list[Call]
    asked: list[Call]
    issues: list[str]
    written: int
    seconds: float
    fits: bool = False
    fits_asked: bool = False

    @property
    def names(self) -> set[str]:
        """The names that were declared."""
        return {_function(tool)["name"] for tool in self.row["tools"]}

    @property
    def known(self) -> bool:
        """Does a call of a declared name run?"""
        return any(name in self.names for name, _ in self.run)

    @property
    def known_or_asked(self) -> bool:
        return self.known or any(name in self.names for name, _ in self.asked)

    @property
    def silent(self) -> bool:
        """Is a call written, none read, and nothing said of it?"""
        return not self.known_or_asked and not self.issues and bool(self.written)


# ── rows ─────────────────────────────────────────────────────────────────────


def load(path: Path) -> list[Row]:
    """The rows of a corpus, packed or not."""
    data = path.read_bytes()
    return [json.loads(line) for line in (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()]


def _function(tool: Row) -> Row:
    inner: Row = tool.get("function", tool)
    return inner


def _definition(tool: Row) -> Row:
    inner = _function(tool)
    said = {"description": inner.get("description", ""), "parameters": inner.get("parameters") or {"type": "object"}}
    return {"type": "function", "function": {**inner, **said}}


def read(row: Row) -> Reading:
    """One row, parsed blind, with a tool set nobody has seen before."""
    text = row.get("raw_output", row.get("text"))
    tools = [_definition(tool) for tool in row["tools"] or ()]
    began = time.process_time()
    try:
        parsed: Parsed | None = parse(text, tools=tools)
    except UsageError:
        parsed = None  # the row's own definitions cannot be used
    seconds = time.process_time() - began
    names = [_function(tool)["name"] for tool in tools]
    if parsed is None:
        return Reading(row, [], [], ["the tools cannot be used"], _written(text, names), seconds)
    calls, doubtful = ([(c.name, _plain(c.arguments)) for c in some] for some in (parsed.calls, parsed.doubtful))
    return Reading(row, calls, doubtful, [str(i.kind) for i in parsed.issues], _written(text, names), seconds)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _written(text: str, names: Iterable[str]) -> int:
    """How many calls of these names a text writes as calls are written; at most so many."""
    flat = text.replace("\\", "")
    found = (re.findall(f"{CALLED}|{NAMED}".format(re.escape(name)), flat) for name in names)
    return sum(map(len, found))


# ── recall ───────────────────────────────────────────────────────────────────


def judged(rows: Sequence[Row]) -> list[Reading]:
    """The rows of a benchmark, read and compared with the possible answers."""
    found = []
    for row in rows:
        reading = read(row)
        if row["expect"] != "none":
            reading.fits = _as_expected(reading.run, row)
            reading.fits_asked = reading.fits or _as_expected([*reading.run, *reading.asked], row)
        found.append(reading)
    return found


def _as_expected(calls: Sequence[Call], row: Row) -> bool:
    expected = Expectation(tuple(row["expected_possible"]), row["category"], row["expect"] == "name_only")
    parameters = {tool["name"]: tool.get("parameters", {}) for tool in row["tools"]}
    return fits(calls, expected, parameters)


def prompted(found: Sequence[Reading]) -> list[Reading]:
    """The readings in which calls are wanted, of models that were asked for text."""
    return [r for r in found if r.row["expect"] != "none" and r.row.get("mode", "prompt") == "prompt"]


def share(count: int, of: int) -> str:
    """A share in percent."""
    return f"{100 * count / of:.1f}" if of else ""


def summary(corpora: Mapping[str, Sequence[Reading]]) -> str:
    """Recall of each corpus, and of the baselines on the same rows."""
    head = ("rows with calls", "read by", "known", "known or asked", "exact", "exact or asked", "lost in silence")
    lines: list[tuple[str, ...]] = []
    for name, every in corpora.items():
        rows = prompted(every)
        counts = [sum(getattr(r, what) for r in rows) for what in COUNTED]
        lines.append((f"{name}, {len(rows):,}", "**Dragoman**", *(share(n, len(rows)) for n in counts)))
        lines += _baselines(rows)
    return table(head, lines)


def _baselines(rows: Sequence[Reading]) -> Iterator[tuple[str, ...]]:
    measured = [r.row["peers"] for r in rows if r.row.get("peers")]
    for key, words in BASELINES.items():
        if measured:
            known, exact = (sum(bool(p.get(key, (0, 0))[side]) for p in measured) for side in (0, 1))
            yield "", words, share(known, len(measured)), "", share(exact, len(measured)), "", ""
    if measured:
        known, exact = (sum(any(p[side] for p in peers.values()) for peers in measured) for side in (0, 1))
        yield "", "all of these together", share(known, len(measured)), "", share(exact, len(measured)), "", ""


def families(found: Sequence[Reading]) -> str:
    """Recall by family, beside the decoder made for each model; families below their own decoder are marked."""
    groups: dict[str, list[Reading]] = defaultdict(list)
    for reading in prompted(found):
        groups[_family(reading.row["model"])].append(reading)
    head = ("family", "rows", "known or asked", "own decoder", "exact or asked", "own decoder", "still to be won")
    lines = []
    for name, rows in sorted(groups.items(), key=lambda g: -len(g[1])):
        own = [(r.row.get("peers") or {}).get("bfcl_own_decoder") or (False, False) for r in rows]
        known, exact = sum(r.known_or_asked for r in rows), sum(r.fits_asked for r in rows)
        theirs = [sum(bool(o[side]) for o in own) for side in (0, 1)]
        below = " ▼" if known < theirs[0] or exact < theirs[1] else ""
        their = [share(n, len(rows)) if any(r.row.get("peers") for r in rows) else "" for n in theirs]
        lost = sum(not r.fits_asked and _some_baseline(r.row, 1) for r in rows)
        lines.append((
            name + below, f"{len(rows):,}", share(known, len(rows)), their[0], share(exact, len(rows)), their[1],
            str(lost),
        ))  # fmt: skip
    return f"{table(head, lines)}\n\nModels known less often than by their own decoder: {_below(found)}."


def _below(found: Sequence[Reading]) -> str:
    """Each model that its own decoder knows better, with both shares."""
    groups: dict[str, list[Reading]] = defaultdict(list)
    for reading in prompted(found):
        groups[reading.row["model"]].append(reading)
    told = []
    for model, rows in sorted(groups.items()):
        own = sum(bool(((r.row.get("peers") or {}).get("bfcl_own_decoder") or [False])[0]) for r in rows)
        ours = sum(r.known_or_asked for r in rows)
        told += [f"{model} ({share(ours, len(rows))} < {share(own, len(rows))})"] if ours < own else []
    return ", ".join(told) or "none"


def _family(model: str) -> str:
    return next((name for name, words in FAMILIES.items() if re.search(words, model)), model)


def _some_baseline(row: Row, side: int) -> bool:
    return any(bool(found[side]) for found in (row.get("peers") or {}).values())


def forms(found: Sequence[Reading]) -> str:
    """Recall by the form in which calls are written."""
    groups: dict[str, list[Reading]] = defaultdict(list)
    for reading in prompted(found):
        groups[reading.row["form"]].append(reading)
    head = ("form", "rows", "known or asked", "exact or asked", "all baselines, exact")
    lines = [
        (
            f"`{form}`", f"{len(rows):,}", share(sum(r.known_or_asked for r in rows), len(rows)),
            share(sum(r.fits_asked for r in rows), len(rows)),
            share(sum(_some_baseline(r.row, 1) for r in rows), len(rows)) if rows[0].row.get("peers") else "",
        )
        for form, rows in sorted(groups.items(), key=lambda g: -len(g[1]))
    ]  # fmt: skip
    return table(head, lines)


# ── what is lost ─────────────────────────────────────────────────────────────


def clusters(found: Sequence[Reading]) -> str:
    """What is not read exactly, by cause and form, with how much of it a baseline reads."""
    groups: dict[tuple[str, str], list[Reading]] = defaultdict(list)
    lost = [r for r in prompted(found) if not r.fits_asked]
    for reading in lost:
        groups[_cause(reading), reading.row["form"]].append(reading)
    head = ("cause", "form", "rows", "a baseline is exact", "for example")
    ordered = sorted(groups.items(), key=lambda g: (-sum(_some_baseline(r.row, 1) for r in g[1]), -len(g[1])))
    lines = [
        (cause, f"`{form}`", str(len(rows)), str(sum(_some_baseline(r.row, 1) for r in rows)), f"`{_example(rows)}`")
        for (cause, form), rows in ordered[:MOST_CLUSTERS]
    ]
    rest = [r for _, rows in ordered[MOST_CLUSTERS:] for r in rows]
    if rest:
        lines.append(("the others", "", str(len(rest)), str(sum(_some_baseline(r.row, 1) for r in rest)), ""))
    return table(head, lines)


def _example(rows: Sequence[Reading]) -> str:
    """The row to look at first: one that a baseline reads."""
    return str(next((r for r in rows if _some_baseline(r.row, 1)), rows[0]).row["id"])


def _cause(reading: Reading) -> str:
    """Why a reading is not exact, by what it shows."""
    expected = [next(iter(one)) for one in reading.row["expected_possible"]]
    got = [*reading.run, *reading.asked]
    names = [name for name, _ in got]
    if not got and not reading.written:
        return "no call is written"
    if not got:
        return f"refused: {reading.issues[0]}" if reading.issues else "lost in silence"
    if len(got) != len(expected):
        return f"{'fewer' if len(got) < len(expected) else 'more'} calls than expected"
    if sorted(names) != sorted(expected):
        return "another tool"
    if reading.row["expect"] == "name_only":
        return "no address among the arguments"
    keys = {name: set(possible) for one in reading.row["expected_possible"] for name, possible in one.items()}
    unknown = any(set(arguments) - keys.get(name, set()) for name, arguments in got)
    return "other arguments" if unknown else "other values"


# ── precision, issue texts, cost ─────────────────────────────────────────────


def precision(corpora: Mapping[str, Sequence[Reading]], messages: Sequence[Row]) -> str:
    """Calls where none was wanted, and parts of batches that vanish."""
    head = ("texts", "rows", "a call ran", "asked about", "a baseline calls")
    lines = []
    for name, every in corpora.items():
        none = [r for r in every if r.row["expect"] == "none"]
        for words, rows in (
            (f"{name}: no tool fits the question", none),
            (f"{name}: of these, prose without a call", [r for r in none if r.row["form"] in PROSE]),
        ):
            theirs = sum(_some_baseline(r.row, 0) for r in rows)
            measured = str(theirs) if any(r.row.get("peers") for r in rows) else ""
            lines.append((words, f"{len(rows):,}", str(sum(map(bool, (r.run for r in rows)))),
                          str(sum(bool(r.asked) for r in rows)), measured))  # fmt: skip
        batches = [r for r in prompted(every) if len(r.row["expected_possible"]) > 1]
        torn = sum(_torn(r) for r in batches)
        words = f"{name}: batches of which a part ran and nothing was said"
        lines.append((words, f"{len(batches):,}", str(torn), "", ""))
    if messages:
        found = [read(row) for row in messages]
        ran, asked = (sum(bool(getattr(r, what)) for r in found) for what in ("run", "asked"))
        lines.append(("trajectories: messages without a call", f"{len(found):,}", str(ran), str(asked), ""))
    return table(head, lines)


def _torn(reading: Reading) -> bool:
    least = min(len(reading.row["expected_possible"]), reading.written)
    return bool(reading.run) and len(reading.run) < least and not reading.asked and not reading.issues


def issues(rows: Sequence[Row]) -> tuple[str, list[Reading]]:
    """Outputs that people posted as broken, by kind; the readings that are not exact."""
    groups: dict[str, list[Reading]] = defaultdict(list)
    for row in rows:
        reading = read(row)
        wanted = [_key(row["expected_calls"]), *map(_key, row.get("alt", ()))]
        reading.fits = _key(reading.run) in wanted
        reading.fits_asked = reading.fits or _key([*reading.run, *reading.asked]) in wanted
        groups[row["kind"]].append(reading)
    head = ("kind", "rows", "exact", "exact or asked", "ran what nobody wanted", "lost in silence")
    lines = [
        (
            kind, str(len(found)), share(sum(r.fits for r in found), len(found)),
            share(sum(r.fits_asked for r in found), len(found)), str(sum(map(_ran_wrong, found))),
            str(sum(not r.fits and not r.asked and not r.issues and bool(r.row["expected_calls"]) for r in found)),
        )
        for kind, found in groups.items()
    ]  # fmt: skip
    return table(head, lines), [r for found in groups.values() for r in found if not r.fits_asked]


def _key(calls: Sequence[Any]) -> list[str]:
    pairs = [(c["name"], c["arguments"]) if isinstance(c, Mapping) else c for c in calls]
    return [f"{name} {json.dumps(_stripped(arguments), sort_keys=True)}" for name, arguments in pairs]


def _stripped(value: Any) -> Any:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Mapping):
        return {key: _stripped(one) for key, one in value.items()}
    return [_stripped(one) for one in value] if isinstance(value, list | tuple) else value


def _ran_wrong(reading: Reading) -> bool:
    wanted = {key for calls in (reading.row["expected_calls"], *reading.row.get("alt", ())) for key in _key(calls)}
    return any(key not in wanted for key in _key(reading.run))


def cost(corpora: Mapping[str, Sequence[Reading]]) -> str:
    """What a row costs with tools never seen before, in multiples of reading the tools' JSON alone."""
    head = ("corpus", "rows", "tools a row", "characters a row", "CPU ÷ `json.loads` of the tools")
    lines = []
    for name, found in corpora.items():
        texts = [json.dumps(r.row["tools"]) for r in found]
        began = time.process_time()
        for text in texts:
            json.loads(text)
        unit = time.process_time() - began
        sizes = [len(r.row.get("raw_output", r.row.get("text"))) for r in found]
        tools, size = (sum(v) / len(found) for v in ([len(r.row["tools"]) for r in found], sizes))
        ratio = sum(r.seconds for r in found) / unit
        lines.append((name, f"{len(found):,}", f"{tools:.1f}", f"{size:.0f}", f"{ratio:.0f}"))
    return table(head, lines)


# ── the program ──────────────────────────────────────────────────────────────


def _sampled(rows: list[Row], limit: int) -> list[Row]:
    return random.Random(5).sample(rows, limit) if 0 < limit < len(rows) else rows


def _found(folder: Path, name: str) -> list[Row]:
    path = next((p for p in (folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz") if p.exists()), None)
    return load(path) if path else []


def measured(folder: Path, limit: int = 0) -> tuple[dict[str, str], list[Reading]]:
    """Every table by name, and the readings that are not exact."""
    found = {name: judged(_sampled(rows, limit)) for name in ("bfcl", "gemma") if (rows := _found(folder, name))}
    if not found:
        raise SystemExit(f"{folder} holds neither bfcl.jsonl.gz nor gemma.jsonl.gz; name the folder of the corpora")
    titles = {"bfcl": "BFCL", "gemma": "Gemma 3"}
    corpora = {titles[name]: rows for name, rows in found.items()}
    every = [reading for rows in found.values() for reading in rows]
    tables = {
        "summary": summary(corpora), "precision": precision(corpora, _found(folder, "trajectories")),
        "families": families(every), "forms": forms(every), "clusters": clusters(every), "cost": cost(corpora),
    }  # fmt: skip
    lost = [r for r in prompted(every) if not r.fits_asked]
    posted = _found(folder, "issues")
    if posted:
        tables["issues"], more = issues(posted)
        lost += more
    return tables, lost


def _write_lost(lost: Sequence[Reading], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for r in lost:
            wanted = r.row.get("expected_possible", r.row.get("expected_calls"))
            text = r.row.get("raw_output", r.row.get("text"))
            read_as = {"run": r.run, "asked": r.asked, "issues": r.issues}
            told = {"id": r.row["id"], "text": text, "wanted": wanted, **read_as}
            file.write(json.dumps(told, ensure_ascii=False, default=str) + "\n")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("--limit", type=int, default=0, help="so many rows of each corpus, drawn at random")
    options.add_argument("--lost", type=Path, help="file for the rows that are not read exactly")
    options.add_argument("--write", action="store_true", help="put the tables into docs/recall.md")
    asked = options.parse_args()
    tables, lost = measured(asked.folder, asked.limit)
    for name, text in tables.items():
        print(f"\n{name}\n{text}")
    print(f"\n{len(lost)} rows are not read exactly: {dict(Counter(str(r.row['model']) for r in lost).most_common(5))}")
    if asked.lost:
        _write_lost(lost, asked.lost)
    if asked.write:
        if asked.limit:
            raise SystemExit("a sample is not published; leave out --limit")
        tables["cost"] += f"\n\n{machine()}; CPU time, both measured in one run."
        for name, text in tables.items():
            publish(f"real:{name}", text, page=RECALL)


if __name__ == "__main__":
    main()
