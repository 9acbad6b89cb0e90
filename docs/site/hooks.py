"""Hooks of MkDocs: the made pages join the written ones, the judge's examples get their colours.

MkDocs loads this file by its path; the rest of this folder is imported from the root of the repository.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from mkdocs.structure.files import File  # noqa: E402

from docs.site import judged, pages  # noqa: E402

GENERATED = "GENERATED"
SHIM = "iframe-worker.js"
FENCE_WORDS = re.compile(r"^(`{3,}\w+) [\w=:. -]+$", re.MULTILINE)


def on_config(config: Any) -> Any:
    """The reference takes its place in the menu."""
    for section in config["nav"]:
        for title, entries in section.items():
            if entries == GENERATED:
                section[title] = pages.menu()
    return config


def on_files(files: Any, config: Any) -> Any:
    """The made pages, and the colours."""
    for path, made in pages.MADE.items():
        files.append(File.generated(config, path, content=made.make()))
    files.append(File.generated(config, SHIM, content=(Path(__file__).parent / SHIM).read_text(encoding="utf-8")))
    files.append(File.generated(config, "verdicts.css", content=judged.colours() + SITE))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fences whose words only tests and the judge understand become what a browser can show."""
    if page.file.src_path == "judge.md":
        markdown = judged.coloured(markdown)
    return FENCE_WORDS.sub(r"\1", markdown)


SITE = """
[data-md-color-scheme="slate"] { color-scheme: dark; }
[data-md-color-scheme="default"] { color-scheme: light; }
.md-typeset .judged { margin: 1em 0; width: 100%; display: block; }
.md-typeset .judged figcaption { text-align: left; margin: 0 0 .3em; max-width: none; font-style: normal; }
.md-typeset .judged pre { text-align: left; white-space: pre-wrap;
  overflow-wrap: anywhere; padding: .7em 1em; font-size: .8em; line-height: 1.6;
  background: var(--md-code-bg-color); border-radius: .2rem; margin: 0; }
.chip { border-radius: .3em; padding: .05em .45em; font-size: .8em; }
.md-typeset table:not([class]) { font-size: .68rem; }
.md-typeset table:not([class]) td:first-child > code { white-space: nowrap; }
"""
