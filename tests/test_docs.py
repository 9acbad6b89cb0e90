"""What the documents promise is true: code runs and prints what stands beside it, commands and files exist."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.cli import COMMANDS, main
from tests.support.places import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "src" / "dragoman"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

CALL = {"name": "read_file", "arguments": {"path": "notes.txt"}}
FILES = {
    "answer.txt": f"<tool_call>\n{json.dumps(CALL)}\n</tool_call>",
    "calls.json": json.dumps([CALL]),
    "tools.json": json.dumps([{"name": "read_file", "parameters": {"type": "object"}}]),
    "chat_template.jinja": (ROOT / "tests" / "vectors" / "learn" / "qwen25.jinja").read_text(encoding="utf-8"),
    "outputs.jsonl": (ROOT / "tests" / "vectors" / "learn" / "outputs" / "dev-do_with.jsonl").read_text(encoding="utf-8"),
    "rows.jsonl": json.dumps({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]}),
    "dragoman.toml": "[models.small]\nroute = \"ollama/qwen3:8b\"\n",
    "request.json": json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hello"}]}),
}
"""The files the README's commands read."""


def _examples() -> Iterator[tuple[str, str]]:
    """Each Python block and the output that stands right after it."""
    blocks = BLOCK.findall(README)
    for (kind, code), (next_kind, output) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if kind == "python":
            yield code, output if next_kind == "text" else ""


def _commands() -> Iterator[list[str]]:
    """Every `dragoman …` line of the shell blocks, without its comment."""
    for kind, text in BLOCK.findall(README):
        if kind == "sh":
            for line in text.splitlines():
                words = shlex.split(line, comments=True)
                if "&&" not in words and words and words[0] == "dragoman":
                    yield words[1:]


@pytest.mark.parametrize(("code", "output"), list(_examples()))
def test_the_readmes_code_prints_what_stands_beside_it(code: str, output: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert output
    assert printed.getvalue() == output


ATTENDED = {"serve", "run", "chat", "mcp", "doctor", "connect", "recordings"}
"""Commands that want a model, a client or what was recorded at the other end; their own tests run them."""


@pytest.mark.parametrize("words", [c for c in _commands() if c[0] not in ATTENDED], ids=" ".join)
def test_the_readmes_commands_work(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(words) == 0
    assert printed.getvalue()


def test_the_readme_names_every_command() -> None:
    assert {f"dragoman {name}" for name in COMMANDS} - set(re.findall(r"dragoman [a-z]+", README)) == set()


def test_the_readmes_options_exist() -> None:
    for words in _commands():
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            main([words[0], "--help"])
        assert {w for w in words if w.startswith("--")} <= set(re.findall(r"--[\w-]+", printed.getvalue()))


def test_the_map_shows_every_file_there_is_and_no_other() -> None:
    listing = README.partition("in reading order")[2]
    named = [name for line in listing.splitlines() if line.startswith("| `") for name in line.split("|")[1].split()]
    paths = [name.strip("`") for name in named]
    missing = [p for p in paths if not (ROOT / p).exists() and not (PACKAGE / p).exists()]
    assert missing == []
    shown = {Path(p).name for p in paths}
    there = {p.name for p in PACKAGE.iterdir() if not p.name.startswith("__") and p.name != "py.typed"}
    assert there - shown == set()


def test_the_test_command_is_the_one_the_checks_run() -> None:
    assert "\nscripts/test\n" in README
    assert "scripts/test --all" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_benches_write_between_markers_that_are_there() -> None:
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    for bench in re.findall(r"python bench/(\w+)\.py[^`]*--write", page):
        assert (ROOT / "bench" / f"{bench}.py").exists()
        found = re.search(f"<!-- bench:{bench} -->\n(.*)<!-- /bench:{bench} -->", page, re.DOTALL)
        assert found is not None
        assert found[1].startswith("| ")


def test_the_tables_of_recall_are_there() -> None:
    page = (ROOT / "docs" / "recall.md").read_text(encoding="utf-8")
    assert (ROOT / "bench" / "real.py").exists()
    tables = dict(re.findall(r"<!-- bench:real:(\w+) -->\n(.*?)<!-- /bench:real:\1 -->", page, re.DOTALL))
    assert sorted(tables) == ["clusters", "cost", "families", "forms", "issues", "precision", "summary"]
    assert all(text.startswith("| ") for text in tables.values())
