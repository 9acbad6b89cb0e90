"""Where measurements are kept: pages of `docs/` (`performance.md`), between the markers of each bench."""

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


def publish(name: str, text: str, *, page: Path = PAGE) -> None:
    """Put `text` between the markers of the bench `name` on a page of docs/; everything else on it stays."""
    opener, closer = f"<!-- bench:{name} -->", f"<!-- /bench:{name} -->"
    written = page.read_text(encoding="utf-8")
    pattern = re.compile(f"{re.escape(opener)}.*?{re.escape(closer)}", re.DOTALL)
    if not pattern.search(written):
        raise SystemExit(f"{page} has no markers {opener} … {closer}; add them where the table belongs")
    page.write_text(pattern.sub(lambda _: f"{opener}\n{text}\n{closer}", written), encoding="utf-8")
