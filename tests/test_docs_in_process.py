"""Every example of docs/in-process.md prints what stands beside it, asked of a model that has no tool calling."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
from collections.abc import Iterator

import pytest

from dragoman.sim import WeakModel, running
from tests.support.places import ROOT

PAGE = (ROOT / "docs" / "in-process.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```\n```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
ADDRESS = "http://localhost:11434"


def needs(code: str) -> list[str]:
    """The packages an example imports."""
    return list(dict.fromkeys(re.findall(r"^(?:from|import) (\w+)", code, re.MULTILINE)))


def name(code: str) -> str:
    return next((each for each in reversed(needs(code)) if each not in {"openai", "anthropic", "dragoman", "httpx2", "pydantic"}), "openai")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running(WeakModel()) as found:
        yield found


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("code", "printed"), EXAMPLES, ids=[f"{n} {name(code)}" for n, (code, _) in enumerate(EXAMPLES)])
def test_an_example_prints_what_stands_beside_it(code: str, printed: str, url: str) -> None:
    missing = [each for each in needs(code) if importlib.util.find_spec(each) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed")
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(compile(code.replace(ADDRESS, url), "in-process.md", "exec"), {"__name__": "__main__"})
    assert said.getvalue() == printed


def test_every_block_of_code_is_run() -> None:
    assert len(EXAMPLES) == PAGE.count("```python\n") >= 10
