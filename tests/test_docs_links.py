"""Links between the written pages, the made ones and the files of the repository lead somewhere; no network is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import urldefrag

import pytest

from docs.site import pages
from tests.support import places

DOCS = places.ROOT / "docs"
FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1`*$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(`+).+?\1", re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+?)(?: \{ #([\w.-]+) \})?$", re.MULTILINE)


def texts() -> dict[str, str]:
    """Path from the root → Markdown, of all that is written or made."""
    written = [places.ROOT / "README.md", *DOCS.rglob("*.md")]
    found = {str(path.relative_to(places.ROOT)): path.read_text(encoding="utf-8") for path in written}
    return found | {f"docs/{path}": made.make() for path, made in pages.MADE.items()}


TEXTS = texts()


def plain(text: str) -> str:
    return SPAN.sub("", FENCE.sub("", text))


def anchors(text: str) -> set[str]:
    """The anchors of headings, as the site makes them."""
    found: set[str] = set()
    for heading, own in HEADING.findall(FENCE.sub("", text)):
        slug = re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower()
        slug, number = re.sub(r"[-\s]+", "-", slug), 1
        while slug in found:
            slug, number = f"{slug.removesuffix(f'_{number - 1}')}_{number}", number + 1
        found.add(own or slug)
    return found


ANCHORS = {path: anchors(text) for path, text in TEXTS.items()}


def links() -> Iterator[tuple[str, str]]:
    for path, text in TEXTS.items():
        yield from ((path, link) for link in LINK.findall(plain(text)) if not re.match(r"[a-z]+:", link))


def leads(path: str, link: str) -> bool:
    """Does the link end at a file or page that is there, and at a heading of it?"""
    target, anchor = urldefrag(link)
    found = path if not target else str(_joined(PurePosixPath(path).parent / target))
    if found in TEXTS:
        return not anchor or anchor in ANCHORS[found]
    return (places.ROOT / found).exists() and not anchor


def _joined(path: PurePosixPath) -> Path:
    return (places.ROOT / path).resolve().relative_to(places.ROOT)


@pytest.mark.parametrize("path", TEXTS)
def test_the_links_of_a_page_lead_somewhere(path: str) -> None:
    assert [link for source, link in links() if source == path and not leads(path, link)] == []


def test_every_written_page_is_in_the_menu() -> None:
    menu = (places.ROOT / "mkdocs.yml").read_text(encoding="utf-8") + str(pages.menu())
    written = [path.removeprefix("docs/") for path in TEXTS if path.startswith("docs/") and path[5:] not in pages.MADE]
    assert [path for path in written if path not in menu] == []
