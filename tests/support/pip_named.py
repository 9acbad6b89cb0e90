"""`pip install …` of the pages, without installing: what it names of ours must exist.  Run as a program."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = {".": ROOT, "dragoman": ROOT / "packaging" / "whole", "dragoman-core": ROOT / "packaging" / "core"}


def extras(name: str) -> set[str]:
    """What may be asked for in brackets behind the name of a distribution of ours; "" is nothing."""
    project = tomllib.loads((PROJECTS[name] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {"", *project["optional-dependencies"]}


def wrong(words: list[str]) -> list[str]:
    """What of the words names no distribution or extra of ours."""
    found = []
    for word in words:
        ours = re.fullmatch(r"(dragoman(?:-\w+)?|\.)(?:\[([\w,]+)\])?", word)
        if ours and (ours[1] not in PROJECTS or set((ours[2] or "").split(",")) - extras(ours[1])):
            found.append(word)
    return found


if __name__ == "__main__":
    if sys.argv[1:2] != ["install"]:
        sys.exit(f"the pages only install: {sys.argv[1:]}")
    if found := wrong(sys.argv[2:]):
        sys.exit(f"there is no {found}")
