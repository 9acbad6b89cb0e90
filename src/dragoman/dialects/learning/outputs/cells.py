"""Where calls stand in samples, by one notation at a time: names that were declared, and arguments behind them.

A *cell* is the part of a text that a call fills: its object, or from its name to the end of its arguments.  What stands
around cells is markup.  A *reading* is one notation with the cells it finds; several may be found, and which of them is
meant is not decided here.  `pairs.py` finds the notations in which every argument is markup.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ....lenient.brackets import closing
from ....lenient.notation import Broken, Cut
from ....lenient.yaml import read_mapping
from ....schema.validation import shape
from ....types import Tool
from ...reading.json import ENVELOPES
from ...spec import AttributeArgs, BraceArgs, JsonArgs, JsonCall, KeywordArgs, Listing, Notation, YamlArgs, YamlCall
from ..marks import values
from .sample import Sample, Written

MAX_GAP = 200
"""Between a name and its arguments nothing longer stands."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Where one call stands (or a list of them); `gap` is what stands between its name and its arguments."""

    start: int
    end: int
    calls: tuple[Written, ...]
    gap: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """One notation and the cells it finds, a list for each sample; `marked`: the name stands in markup.

    `key_open` begins the arguments where each of them is markup.
    """

    args: Notation
    cells: tuple[tuple[Cell, ...], ...]
    marked: bool = True
    listing: Listing = Listing.REPEAT
    key_open: str = ""

    @property
    def found(self) -> int:
        """How many calls were found."""
        return sum(len(cell.calls) for cells in self.cells for cell in cells)


@dataclass(frozen=True, slots=True)
class Named:
    """A declared name that stands in a text, and how far its arguments may reach."""

    tool: Tool
    start: int
    end: int
    limit: int
    keys: tuple[str, ...] = field(default=())


def named(sample: Sample) -> Iterator[Named]:
    """Every place where a declared tool is named, in order."""
    by_name = {tool.name: tool for tool in sample.tools}
    spelt = "|".join(sorted(map(re.escape, by_name), key=len, reverse=True))
    found = list(re.finditer(rf"(?<![\w-])(?:{spelt})(?![\w-])", sample.text))
    ends = [*(m.start() for m in found[1:]), len(sample.text)]
    for match, limit in zip(found, ends, strict=False):
        tool = by_name[match.group()]
        yield Named(tool, match.start(), match.end(), limit, tuple(tool.parameters.get("properties", {})))


def _apart(cells: Iterator[Cell]) -> tuple[Cell, ...]:
    """Cells that do not overlap, the first ones first."""
    kept: list[Cell] = []
    for cell in sorted(cells, key=lambda c: (c.start, -c.end)):
        if not kept or cell.start >= kept[-1].end:
            kept.append(cell)
    return tuple(kept)


def _fits(value: Any, keys: Sequence[str]) -> bool:
    return isinstance(value, dict) and set(value) <= set(keys)


# ── one object holds name and arguments ──────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Keys:
    """Where in an object name and arguments are found."""

    name: str
    args: str
    inside: tuple[str, ...] = ()


def json_calls(samples: Sequence[Sample]) -> Iterator[Reading]:
    """`{"name": …, "arguments": {…}}`, alone or in lists."""
    found = [list(_objects(s)) for s in samples]
    seen = Counter(keys for cells in found for _, keys in cells)
    if not seen:
        return
    keys = seen.most_common(1)[0][0]
    cells = tuple(tuple(c for c, k in row if k == keys) for row in found)
    lists = [samples[i].text[c.start] == "[" for i, row in enumerate(cells) for c in row]
    args = replace(_notation(keys), id=tuple(Counter(_ids(samples, cells)) or ("id",)))
    yield Reading(args, cells, marked=False, listing=Listing.ARRAY if sum(lists) * 2 > len(lists) else Listing.REPEAT)


def _notation(keys: _Keys) -> JsonCall:
    if not keys.name:
        return JsonCall(single_key=True, inside=keys.inside)
    return JsonCall(name=(keys.name,), args=(keys.args or "arguments",), inside=keys.inside)


def _ids(samples: Sequence[Sample], cells: Sequence[Sequence[Cell]]) -> Iterator[str]:
    for sample, row in zip(samples, cells, strict=True):
        for cell in row:
            yield from re.findall(r"\"(id|\w+_id)\"\s*:\s*\"", sample.text[cell.start : cell.end])


def _objects(sample: Sample) -> Iterator[tuple[Cell, _Keys]]:
    end = 0
    for start, stop, value in values(sample.text):
        items = value if isinstance(value, list) else [value]
        calls = [_call_in(item, sample) for item in items]
        if start < end or not calls or None in calls:
            continue
        end = stop
        written = tuple(c[0] for c in calls if c)
        keys = Counter(c[1] for c in calls if (c and c[1].args) or (c and not c[1].name))
        yield Cell(start, stop, written), (keys.most_common(1)[0][0] if keys else calls[0][1])  # type: ignore[index]


def _call_in(item: Any, sample: Sample, inside: tuple[str, ...] = ()) -> tuple[Written, _Keys] | None:
    """The call an object holds, and under which keys."""
    if not isinstance(item, dict) or len(inside) > 2:
        return None
    offered = {tool.name: tool for tool in sample.tools}
    if len(item) == 1 and next(iter(item)) in offered and isinstance(next(iter(item.values())), dict):
        return next(iter(item.items())), _Keys("", "", inside)
    name = next((k for k, v in item.items() if isinstance(v, str) and v in offered), None)
    if name is not None:
        known = list(offered[item[name]].parameters.get("properties", {}))
        args = next((k for k, v in item.items() if k != name and _fits(_arguments(v), known)), "")
        return (item[name], _arguments(item[args]) if args else {}), _Keys(name, args, inside)
    for key, value in item.items():
        found = _call_in(value, sample, inside if key in ENVELOPES else (*inside, key))
        if found is not None:
            return found
    return None


def _arguments(value: Any) -> Any:
    """An object, also one that is written as text."""
    if isinstance(value, str) and value.startswith("{"):
        return next((v for _, _, v in values(value)), value)
    return value


# ── the name, and an object of arguments after it ────────────────────────────


def json_args(samples: Sequence[Sample]) -> Iterator[Reading]:
    """A name in markup, then a JSON object whose keys are the tool's."""
    cells = tuple(_apart(c for one in named(s) for c in _with_object(s.text, one)) for s in samples)
    yield Reading(JsonArgs(), cells)


def _with_object(text: str, one: Named) -> Iterator[Cell]:
    at = text.find("{", one.end, min(one.limit, one.end + MAX_GAP))
    gap = text[one.end : at]
    if at < 0 or "\n\n" in gap:
        return
    found = next((f for f in values(text[at : one.limit]) if f[0] == 0), None) or next(
        (f for f in values(text[at:]) if f[0] == 0), None
    )
    if found is not None and _fits(found[2], one.keys):
        yield Cell(one.start, at + found[1], ((one.tool.name, found[2]),), gap)


def attributes(samples: Sequence[Sample]) -> Iterator[Reading]:
    """`<run tool='f' args='{…}'/>`."""
    cells: list[tuple[Cell, ...]] = []
    seen: Counter[tuple[str, str]] = Counter()
    for sample in samples:
        row = []
        for one in named(sample):
            found = re.compile(
                rf"([\w:-]+)=(['\"]){re.escape(one.tool.name)}\2\s+([\w:-]+)=(['\"])(\{{.*?\}})\4(?=\s*/?>|\s+\w+=)",
                re.DOTALL,
            ).search(sample.text, max(0, one.start - 40), one.limit)
            value = _object(found[5]) if found else None
            if found and value is not None and found.start() < one.start and _fits(value, one.keys):
                seen[found[1], found[3]] += 1
                row.append(Cell(found.start(), found.end(), ((one.tool.name, value),)))
        cells.append(_apart(iter(row)))
    for name, args in (k for k, _ in seen.most_common(1)):
        yield Reading(AttributeArgs(name=(name,), args=(args,)), tuple(cells), marked=False)


def _object(text: str) -> dict[str, Any] | None:
    for spelt in (text, text.replace("&quot;", '"').replace("&apos;", "'").replace("&#39;", "'").replace("&amp;", "&")):
        try:
            value = json.loads(spelt)
        except ValueError:
            continue
        return value if isinstance(value, dict) else None
    return None


def keywords(samples: Sequence[Sample]) -> Iterator[Reading]:
    """`f(key='value')`."""
    cells = tuple(_apart(c for one in named(s) for c in _python(s.text, one)) for s in samples)
    array = [s.text[: row[0].start].rstrip()[-1:] == "[" for s, row in zip(samples, cells, strict=True) if row]
    yield Reading(KeywordArgs(), cells, marked=False)
    if array and all(array):
        yield Reading(KeywordArgs(), cells, marked=False, listing=Listing.ARRAY)


def _python(text: str, one: Named) -> Iterator[Cell]:
    end = closing(text, one.end) if text[one.end : one.end + 1] == "(" else 0
    if not end:
        return
    try:
        tree = ast.parse(text[one.start : end].replace(one.tool.name, "f", 1), mode="eval").body
        given = {str(k.arg): ast.literal_eval(k.value) for k in tree.keywords} if isinstance(tree, ast.Call) else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return
    if given is not None and not (isinstance(tree, ast.Call) and tree.args) and set(given) <= set(one.keys):
        yield Cell(one.start, end, ((one.tool.name, given),))


# ── braces and YAML ──────────────────────────────────────────────────────────


def braces(samples: Sequence[Sample]) -> Iterator[Reading]:
    """`f{key:~text~,other:3}`: bare keys, strings between quotes of the dialect's own."""
    quoted = re.compile(r"\{\s*\w+\s*:\s*(<[^<>\s]{1,24}>|[^\w\s\[{]{1,12})(?=[\w/])")
    quotes = Counter(m[1] for s in samples for one in named(s) if (m := quoted.match(s.text, one.end)))
    if not quotes:
        return
    quote = quotes.most_common(1)[0][0]
    cells = tuple(_apart(c for one in named(s) for c in _braced(s.text, one, quote)) for s in samples)
    yield Reading(BraceArgs(quotes=(quote,)), cells)


def _braced(text: str, one: Named, quote: str) -> Iterator[Cell]:
    if text[one.end : one.end + 1] != "{":
        return
    parts = re.split(f"({re.escape(quote)}.*?{re.escape(quote)})", text[one.end :], flags=re.DOTALL)
    spelt, size, depth = "", 0, 0
    for number, part in enumerate(parts):
        if number % 2:
            spelt, size = spelt + json.dumps(part[len(quote) : -len(quote)]), size + len(part)
            continue
        for sign in part:
            depth += (sign in "{[") - (sign in "}]")
            spelt, size = spelt + sign, size + 1
            if not depth:
                try:
                    value = json.loads(re.sub(r"([{,]\s*)([A-Za-z_]\w*)\s*:", r'\1"\2":', spelt))
                except ValueError:
                    return
                if _fits(value, one.keys):
                    yield Cell(one.start, one.end + size, ((one.tool.name, value),))
                return


YAML_CALL = (
    r"(?m)^[ \t]*(?P<name>\w+):[ \t]*['\"]?{name}['\"]?[ \t]*\n"
    r"[ \t]*(?P<args>\w+):(?P<body>[ \t]*\{{\}}|(?:\n[ \t]+.*)*)"
)


def yaml_calls(samples: Sequence[Sample]) -> Iterator[Reading]:
    """`name: f`, `arguments:` and indented lines."""
    seen: Counter[tuple[str, str]] = Counter()
    cells = []
    for sample in samples:
        row = []
        for one in named(sample):
            pattern = re.compile(YAML_CALL.format(name=re.escape(one.tool.name)))
            found = next((m for m in pattern.finditer(sample.text) if m.start() <= one.start < m.end()), None)
            value = _mapping(found["body"], one.tool) if found else None
            if found and value is not None and _fits(value, one.keys):
                seen[found["name"], found["args"]] += 1
                row.append(Cell(found.start(), found.end(), ((one.tool.name, value),)))
        cells.append(_apart(iter(row)))
    for name, args in (k for k, _ in seen.most_common(1)):
        yield Reading(YamlCall(name=(name,), args=(args,)), tuple(cells), marked=False)


def yaml_args(samples: Sequence[Sample]) -> Iterator[Reading]:
    """A name in markup, then lines of `key: value`."""
    cells = tuple(_apart(c for one in named(s) for c in _lines(s.text, one)) for s in samples)
    yield Reading(YamlArgs(), cells)


def _lines(text: str, one: Named) -> Iterator[Cell]:
    keys = "|".join(map(re.escape, one.keys))
    lines = rf"[^\n]*\n(?P<body>(?:[ \t]*(?:{keys}):[ \t].*\n(?:[ \t]+.*\n)*)+)"
    found = re.compile(lines).match(text, one.end) if keys else None
    value = _mapping(found["body"], one.tool) if found else None
    if found and value and _fits(value, one.keys):
        yield Cell(one.start, found.end(), ((one.tool.name, value),), text[one.end : found.start("body")])


def _mapping(text: str, tool: Tool) -> Mapping[str, Any] | None:
    if text.strip() in ("", "{}"):
        return {}
    try:
        return read_mapping(text.lstrip("\n"), shape(tool.parameters))
    except (Broken, Cut):
        return None


NOTATIONS = (json_calls, attributes, json_args, keywords, braces, yaml_calls, yaml_args)
