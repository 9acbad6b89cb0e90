"""Small drawings for a page: shares as a bar, measures with their intervals, sizes as a histogram; SVG without scripts.

Knows numbers and words; nothing of corpora.  Contract: what is given as words is escaped; a drawing says its numbers
in words too (`<title>`), so it can be read without being seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import accumulate

WIDTH = 760
BAR, GAP = 18, 6
LABEL = 220
"""Pixels to the left of a row's bar, for its name."""


def stacked(parts: Sequence[tuple[str, int]], height: int = 26) -> str:
    """Parts of a whole, as one bar; each part has the class `part-<name>`."""
    whole = sum(count for _, count in parts)
    if not whole:
        return ""
    starts = accumulate((count for _, count in parts), initial=0)
    drawn = "".join(
        f'<rect class="part-{escape(name)}" x="{_at(start, whole)}" y="0" width="{_at(count, whole)}"'
        f' height="{height}">'
        f"<title>{escape(name)}: {count:,} ({100 * count / whole:.1f} %)</title></rect>"
        for (name, count), start in zip(parts, starts, strict=False)
        if count
    )
    return _svg(WIDTH, height, drawn)


def _at(count: int, whole: int) -> str:
    return f"{WIDTH * count / whole:.2f}"


def measured(rows: Sequence[tuple[str, float, tuple[float, float] | None]]) -> str:
    """Shares between 0 and 1, each a bar with its interval as a line across its end."""
    drawn = []
    scale = WIDTH - LABEL - 60
    for number, (name, value, interval) in enumerate(rows):
        y = number * (BAR + GAP)
        drawn.append(
            f'<text x="{LABEL - 8}" y="{y + BAR - 5}" text-anchor="end">{escape(name)}</text>'
            f'<rect class="track" x="{LABEL}" y="{y}" width="{scale}" height="{BAR}"/>'
            f'<rect class="bar" x="{LABEL}" y="{y}" width="{scale * value:.2f}" height="{BAR}">'
            f"<title>{escape(name)}: {value:.4f}</title></rect>"
        )
        if interval is not None:
            low, high = (LABEL + scale * bound for bound in interval)
            stroke, top = f"v{BAR - 8}", y + 4
            path = f"M{low:.2f} {top}{stroke}M{low:.2f} {y + BAR / 2}H{high:.2f}M{high:.2f} {top}{stroke}"
            drawn.append(f'<path class="reach" d="{path}"/>')
        drawn.append(f'<text x="{LABEL + scale + 6}" y="{y + BAR - 5}">{100 * value:.1f} %</text>')
    return _svg(WIDTH, len(rows) * (BAR + GAP), "".join(drawn)) if rows else ""


def histogram(sizes: Mapping[int, int], unit: str) -> str:
    """Counts by power of two: a bar for 0, 1, 2…3, 4…7 and so on."""
    if not sizes:
        return ""
    highest, last = max(sizes.values()), max(sizes)
    wide, tall = min(60.0, WIDTH / (last + 1)), 90
    drawn = "".join(
        f'<rect class="bar" x="{power * wide:.1f}" y="{tall - tall * count / highest:.1f}" width="{wide - 3:.1f}"'
        f' height="{tall * count / highest:.1f}"><title>{bucket(power)} {escape(unit)}: {count:,}</title></rect>'
        f'<text class="small" x="{(power + 0.5) * wide - 1.5:.1f}" y="{tall + 14}" text-anchor="middle">'
        f"{_short(power)}</text>"
        for power, count in sorted(sizes.items())
    )
    return _svg(WIDTH, tall + 20, drawn)


def bucket(power: int) -> str:
    """The sizes that a power of two stands for."""
    low, high = (0 if power == 0 else 1 << (power - 1)), (1 << power) - 1
    return f"{low:,}" if low >= high else f"{low:,} to {high:,}"


def _short(power: int) -> str:
    """The smallest of these sizes, short enough to stand below a bar."""
    low = 0 if power == 0 else 1 << (power - 1)
    for step, sign in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "k")):
        if low >= step:
            return f"{low // step}{sign}"
    return str(low)


def _svg(width: int, height: int, drawn: str) -> str:
    return f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">{drawn}</svg>'
