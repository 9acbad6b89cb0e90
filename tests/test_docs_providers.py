"""The page about providers and families: its code runs, and what it names there is."""

from __future__ import annotations

import contextlib
import io
import re

from dragoman.providers.rows import PROVIDERS
from tests.support import places

PAGE = (places.ROOT / "docs" / "providers.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_rows_of_ones_own_are_passed_as_the_page_shows() -> None:
    (kind, code), (_, output) = BLOCK.findall(PAGE)
    assert kind == "python"
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "providers.md", "exec"), {})
    assert printed.getvalue() == output


def test_the_models_the_page_names_are_divided_as_it_says() -> None:
    names = re.findall(r"`([\w.-]+)[/:]([\w./:-]+)`", PAGE.partition("## Rows")[0])
    split = [PROVIDERS.split(f"{head}{mark}{rest}") for head, rest in names for mark in "/:" if head != "provider"]
    assert len(split) >= 6
    assert all(row is not None for row, _ in split)
    assert ("bedrock", "anthropic.claude-v2:1") in {(row.name, rest) for row, rest in split if row}


def test_every_switch_of_the_table_is_on_the_page() -> None:
    switches = {switch.env for row in PROVIDERS.values() for switch in row.switches}
    variants = {row.variant.env for row in PROVIDERS.values() if row.variant}
    assert {name for name in switches | variants if name not in PAGE} == set()
