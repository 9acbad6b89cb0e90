"""The documentation site: it is built without a warning, its links lead somewhere, and it needs no network to be read."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

import dragoman
from docs.site import api, pages
from tests.support import places
from tests.support.chromium import page, skip_without

pytestmark = pytest.mark.slow
INSTALLED = all(importlib.util.find_spec(name) for name in ("mkdocs", "material"))
needs_generator = pytest.mark.skipif(not INSTALLED, reason="mkdocs-material is not installed: pip install '.[docs]'")


class Read(HTMLParser):
    """Anchors, links to follow, and what a browser fetches by itself."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") != "canonical":
            self.fetched.append(given.get("href", ""))
        elif "src" in given:
            self.fetched.append(given["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: every warning ends the build."""
    folder = tmp_path_factory.mktemp("site")
    told = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=places.ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert told.returncode == 0, told.stdout + told.stderr
    return folder


@pytest.fixture(scope="module")
def read(site: Path) -> Mapping[Path, Read]:
    return {path: Read(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


@needs_generator
def test_every_page_and_every_public_name_is_built(site: Path, read: Mapping[Path, Read]) -> None:
    assert [path for path in pages.MADE if not (site / path).with_suffix(".html").exists()] == []
    anchors = {anchor for path, each in read.items() if path.parent.name == "reference" for anchor in each.anchors}
    assert [name for name in dragoman.__all__ if api.anchor(f"dragoman.{name}") not in anchors] == []


@needs_generator
def test_no_link_of_the_built_site_is_dead(site: Path, read: Mapping[Path, Read]) -> None:
    dead = []
    for path, found_page in read.items():
        if path.name == "404.html":
            continue
        for link in found_page.links:
            if re.match(r"[a-z]+:", link) or link in ("", ".", "./"):
                continue
            target, anchor = urldefrag(unquote(link))
            found = (path.parent / target).resolve() if target else path
            if not found.exists() or (anchor and found in read and anchor not in read[found].anchors):
                dead.append((str(path.relative_to(site)), link))
    assert dead == []


@needs_generator
@skip_without
def test_the_search_works_from_a_folder(site: Path, tmp_path: Path) -> None:
    async def go() -> None:
        async with page(tmp_path) as seen:
            await seen.size(1200, 900)
            await seen.open((site / "index.html").as_uri())
            await seen.until("document.querySelector('.md-search__input')")
            await seen.until("document.querySelector('[data-md-component=search-query]') && window.__index")
            await seen.value(TYPED)
            await seen.until("document.querySelector('.md-search-result__item a')")
            assert [url for url in seen.requested if url.startswith("http")] == []
            assert seen.complaints == []

    asyncio.run(go())


TYPED = """(() => {
    document.querySelector('#__search').click();
    const field = document.querySelector('.md-search__input');
    field.focus(); field.value = 'policy'; field.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true}));
    field.dispatchEvent(new InputEvent('input', {bubbles: true}));
})()"""


@needs_generator
def test_the_site_is_read_without_a_network(read: Mapping[Path, Read]) -> None:
    fetched = {address for page in read.values() for address in page.fetched}
    assert [address for address in fetched if re.match(r"(https?:)?//", address)] == []
