"""`dragoman parse --explain`: every candidate with verdict, place, rule and evidence, and the text coloured by them.

Colour on a terminal only, and never with NO_COLOR; without it the spans are marked by numbers in brackets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from ..dialects.explain.findings import Finding
from ..dialects.explain.spans import cut
from ..display import KINDS

DROPPED = "dropped"
INDENT = 4


def as_json(findings: Sequence[Finding]) -> dict[str, Any]:
    """The findings as plain data."""
    return {"verdicts": [{k: v for k, v in asdict(f).items() if v or k == "verdict"} for f in findings]}


def explain(text: str, findings: Sequence[Finding], console: Console | None = None) -> None:
    """Print the verdicts and the text."""
    console = console or Console(highlight=False, soft_wrap=True, emoji=False, markup=False)
    for line in _lines(findings) if findings else [Text("no candidate for a call was found")]:
        console.print(line)
    console.print()
    for line in _evidence(findings):
        console.print(line)
    console.print(coloured(text, findings, marked=console.no_color or not console.is_terminal))


def _lines(findings: Sequence[Finding]) -> Iterator[Text]:
    """One line for each finding, in columns as wide as they need to be."""
    rows = [("", "verdict", "tool", "dialect", "span", "why")]
    rows += [
        (str(n), _kind(f), f.name, f.dialect, "{}-{}".format(*f.span), why(f))
        for n, f in enumerate(findings, 1)
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        line = Text()
        for i, (cell, width) in enumerate(zip(row, widths, strict=True)):
            style = "bold" if number == 0 else _style(findings[number - 1]) if i == 1 else ""
            line.append(cell.ljust(width + 2) if i < len(row) - 1 else cell, style)
        yield line


def why(found: Finding) -> str:
    """The rule and its reason."""
    return f"{found.rule}: {found.reason}"


def _evidence(findings: Sequence[Finding]) -> Iterator[Text]:
    """What was seen of each finding, a line for each piece of evidence and each mend."""
    for number, found in enumerate(findings, 1):
        seen = [*found.words(), *(("mended", mend) for mend in found.mends())]
        if not seen:
            continue
        yield Text.assemble(f"{number} ", (_kind(found), _style(found)), f" {found.name}")
        width = max(len(label) for label, _ in seen)
        yield from (Text(f"{' ' * INDENT}{label:<{width}}  {' '.join(words.split())}") for label, words in seen)
        yield Text()


def _kind(found: Finding) -> str:
    return str(found.verdict or DROPPED)


def _style(found: Finding) -> str:
    return KINDS[_kind(found)].terminal


def coloured(text: str, findings: Sequence[Finding], *, marked: bool) -> Text:
    """The text with every finding in the colour of its verdict, or between numbered brackets."""
    shown = Text()
    for start, end, number in cut(len(text), findings):
        piece = text[start:end]
        style = "" if number is None else _style(findings[number])
        shown.append(piece if number is None or not marked else f"⟦{number + 1} {piece}⟧", style)
    return shown
