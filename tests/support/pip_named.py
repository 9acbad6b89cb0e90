"""`pip install …` of the pages, without installing: what it names of ours must exist.  Run as a program."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def wrong(words: list[str]) -> list[str]:
    """What of the words names no distribution or extra of ours."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    found = []
    for word in words:
        ours = re.fullmatch(r"(dragoman(?:-\w+)?|\.)(?:\[([\w,]+)\])?", word)
        if ours and (ours[1] not in NAMES or set((ours[2] or "").split(",")) - {"", *extras}):
            found.append(word)
    return found


NAMES = ("dragoman", "dragoman-core", ".")

if __name__ == "__main__":
    if sys.argv[1:2] != ["install"]:
        sys.exit(f"the pages only install: {sys.argv[1:]}")
    if found := wrong(sys.argv[2:]):
        sys.exit(f"there is no {found}")
