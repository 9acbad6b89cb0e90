"""Every block of every page runs: programs print what stands behind them, commands end well, data is what it should be.

A scripted model stands where the pages say `ollama/…`, `openai/…` or an address of a local server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.sim import WeakModel, running
from tests.support import pages
from tests.support.pages import Block, Shell
from tests.support.processes import serving_process

BLOCKS = [block for page in pages.PAGES for block in pages.blocks(page)]
OURS = [block for block in BLOCKS if not block.by]
SHELLS = sorted({block.page for block in OURS if block.kind in {"sh", "console"}})


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with running(WeakModel(), any_name=True) as url:
        yield url


@pytest.fixture
def world(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the pages' files, and an environment in which the scripted model is every provider's."""
    pages.furnish(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_BASE_URL", "VLLM_BASE_URL", "COMPATIBLE_BASE_URL"):
        monkeypatch.setenv(name, f"{model}/v1")
    monkeypatch.setenv("OLLAMA_HOST", model.removeprefix("http://"))
    for name in pages.KEYS:
        monkeypatch.setenv(name, "sk-none")
    return tmp_path


def ids(block: Block) -> str:
    return f"{block.page}:{block.line}"


@pytest.mark.parametrize("block", [b for b in OURS if b.kind == "python"], ids=ids)
@pytest.mark.usefixtures("world")
@pytest.mark.costly
def test_a_program_prints_what_stands_behind_it(block: Block) -> None:
    printed = pages.printed(block)
    if block.output:
        assert printed == block.output


IN_DEMO = {page for page in pages.PAGES if "serve --demo` in another terminal" in (pages.DOCS / page).read_text("utf-8")}


@pytest.fixture(scope="module")
def demo() -> Iterator[str]:
    with serving_process("--demo") as (_, address, _lines):
        yield address


@pytest.mark.parametrize("block", [b for b in OURS if b.kind == "python" and b.page in IN_DEMO], ids=ids)
@pytest.mark.usefixtures("world")
@pytest.mark.costly
def test_a_program_prints_the_same_where_its_page_says_to_try_it(block: Block, demo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gateway in front of the scripted model has what that model has not: tools, and ids of its own."""
    monkeypatch.setenv("OLLAMA_HOST", demo.removeprefix("http://"))
    printed = pages.printed(block)
    if block.output:
        assert printed == block.output


@pytest.mark.parametrize("block", [b for b in OURS if b.kind in {"json", "toml"}], ids=ids)
def test_data_is_what_it_should_be(block: Block, world: Path) -> None:
    pages.loads(block, world)


@pytest.mark.slow
@pytest.mark.parametrize("page", SHELLS)
def test_the_commands_of_a_page_end_well(page: str, world: Path, model: str) -> None:
    shell = Shell(world, model)
    try:
        for block in pages.blocks(page):
            if block.kind == "sh" and not block.by:
                shell.run(block)
    finally:
        shell.end()


KINDS = {"python", "sh", "json", "toml", "text"}
"""`text` is what something prints, or the judge's example, which `test_docs_judge.py` judges."""


def test_no_block_is_of_a_kind_that_nothing_runs() -> None:
    assert [ids(block) for block in OURS if block.kind not in KINDS] == []


def test_tests_that_run_blocks_are_there_and_name_their_page() -> None:
    wrong = [
        ids(b)
        for b, test in pages.named_tests()
        if not test.exists() or Path(b.page).name not in test.read_text("utf-8")
    ]
    assert wrong == []


def test_no_fence_is_overlooked() -> None:
    """Fences that the reader of blocks does not see would not be run."""
    for page in pages.PAGES:
        text = (pages.DOCS / page).read_text(encoding="utf-8")
        rest = pages.FENCE.sub("", text)
        assert re.findall(r"^\s*`{3,}[\w ]*$", rest, re.MULTILINE) == [], page
