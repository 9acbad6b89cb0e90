"""Where measurements are kept: `docs/performance.md`, between the markers of each bench."""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def machine() -> str:
    """What a number depends on, in one line."""
    return f"CPython {platform.python_version()}, {platform.system()} {platform.machine()}"


def publish(name: str, text: str) -> None:
    """Put `text` between the markers of the bench `name`; everything else on the page stays."""
    opener, closer = f"<!-- bench:{name} -->", f"<!-- /bench:{name} -->"
    page = PAGE.read_text(encoding="utf-8")
    pattern = re.compile(f"{re.escape(opener)}.*?{re.escape(closer)}", re.DOTALL)
    if not pattern.search(page):
        raise SystemExit(f"{PAGE} has no markers {opener} … {closer}; add them where the table belongs")
    PAGE.write_text(pattern.sub(lambda _: f"{opener}\n{text}\n{closer}", page), encoding="utf-8")
