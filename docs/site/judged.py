"""The examples of docs/judge.md in colours, each judged while the site is built.

A fence of the page says what becomes of its text (`text runs`, `text stays box`); here the judge is asked, and each
stretch is shown as the inspector shows it.  That what the page says is true, `tests/test_docs_judge.py` holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from typing import Any

from dragoman.dialects.explain.findings import Finding, verdicts
from dragoman.display import KINDS, stylesheet

FENCE = re.compile(r"^(?P<mark>`{3,})(?P<word>\w+) (?P<told>[^\n]+)\n(?P<text>.*?)\n(?P=mark)$", re.M | re.S)
SAYS = {
    "runs": "runs", "mended": "runs, mended", "asks": "in doubt: the model is asked", "refused": "refused",
    "stays": "stays text", "repeats": "a repeat: runs once", "shown": "what the model was shown before",
}  # fmt: skip
KIND = {"runs": "accepted", "mended": "mended", "asks": "doubtful", "refused": "refused", "stays": "quoted",
        "repeats": "quoted", "shown": "text"}  # fmt: skip


def coloured(page: str) -> str:
    """The page with its examples judged and coloured."""
    tools: list[Any] = []
    shown = ""

    def put(fence: re.Match[str]) -> str:
        nonlocal tools, shown
        if fence["told"] == "tools":
            tools = json.loads(fence["text"])
            return f"```json\n{fence['text']}\n```"
        if fence["told"] == "shown":
            shown = fence["text"]
        return example(fence["text"], fence["told"], tools, shown) if fence["word"] == "text" else fence[0]

    return FENCE.sub(put, page)


def example(text: str, told: str, tools: Any, shown: str = "") -> str:
    """One text as HTML: a line that says what becomes of it, and the text in colours."""
    side, *words = told.split()
    options: dict[str, Any] = {k: v for k, _, v in (w.partition("=") for w in words) if v}
    rule = next((w for w in words if w not in ("shown", "strict") and "=" not in w), "")
    found = () if side == "shown" else _judged(text, tools, words, dict(options), shown)
    label = " · ".join([SAYS[side], *filter(None, [rule.replace("_", " ")]), *(f"{k} {v}" for k, v in options.items())])
    body = "".join(_pieces(text, found))
    return (
        f'<figure class="judged"><figcaption><span class="chip is-{KIND[side]}">{KINDS[KIND[side]].sign or "…"}</span> '
        f"{escape(label)}</figcaption><pre>{body}</pre></figure>"
    )


def _judged(text: str, tools: Any, words: list[str], options: dict[str, Any], shown: str) -> tuple[Finding, ...]:
    options |= {"shown": [shown]} if "shown" in words else {}
    options |= {"confirmed": [options["confirmed"]]} if "confirmed" in options else {}
    options |= {"strict": True} if "strict" in words else {}
    return tuple(verdicts(text, tools=tools, **options))


def _pieces(text: str, found: tuple[Finding, ...]) -> Iterator[str]:
    """The text, each stretch that was judged in the colour of its verdict.  Empty lines would end the block."""
    at = 0
    for each in sorted(found, key=lambda f: f.span):
        start, end = each.span
        if start < at or end <= start:
            continue
        kind = str(each.verdict) if each.verdict else "dropped"
        title = escape(f"{kind}: {each.rule}, {each.reason}", quote=True)
        yield _safe(text[at:start])
        yield f'<span class="span-{kind}" title="{title}">{_safe(text[start:end])}</span>'
        at = end
    yield _safe(text[at:])


def _safe(text: str) -> str:
    return escape(text).replace("\n", "&#10;").replace("*", "&#42;").replace("_", "&#95;").replace("`", "&#96;")


def colours() -> str:
    """The inspector's colours, for the site's light and dark."""

    return f"/* the colours of verdicts, from dragoman.display */\n{stylesheet()}"
