"""The blocks of the documents, and the world they run in: files, a scripted model where they say a model is, a shell.

A block is run by its kind; a page's shell blocks run one after the other in one folder.  Port 4242, where the pages put
the gateway, and the ports of local model servers become those of this test.  `<!-- run by tests/x.py -->` on the line
before a block says that another test runs it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dragoman.cli import main
from dragoman.gateway.config.load import load
from tests.support.places import ROOT, VECTORS

DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
FENCE = re.compile(
    r"^(?:<!-- run by (?P<by>\S+) -->\n+)?(?P<mark>`{3,})(?P<kind>\w+)(?: (?P<told>[^\n]*))?\n(?P<text>.*?)^(?P=mark)$",
    re.MULTILINE | re.DOTALL,
)
WHOLE = {"in-process.md": "tests/test_docs_in_process.py"}
"""Pages whose Python a test of their own runs, block by block, over libraries that are not all installed here."""
PLACES = ("11434", "8080", "8000", "1234", "30000")
"""Ports where pages say that a model is served."""
GATEWAY = "4242"
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GROQ_API_KEY", "OPENROUTER_API_KEY")
CONNECTS = re.compile(r"^dragoman connect [\w-]+", re.MULTILINE)
SERVES = re.compile(r"^(?:\w+=\S+ )*(?:dragoman serve\b|dragoman mcp serve .*--http)", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its kind, its text, where it begins, who else runs it, and what stands right behind it."""

    page: str
    line: int
    kind: str
    told: str
    text: str
    by: str = ""
    output: str = ""


def blocks(page: str) -> list[Block]:
    """The blocks of a page, in order."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = list(FENCE.finditer(text))
    made = []
    for fence, following in zip(found, [*found[1:], None], strict=False):
        next_to = following is not None and not text[fence.end() : following.start()].strip()
        output = (
            following["text"] if next_to and following and following["kind"] == "text" and not following["told"] else ""
        )
        line = text.count("\n", 0, fence.start("mark")) + 1
        by = fence["by"] or (WHOLE.get(page, "") if fence["kind"] == "python" else "")
        made.append(Block(page, line, fence["kind"], fence["told"] or "", fence["text"], by, output))
    return made


# ── Python and data ──────────────────────────────────────────────────────────


def printed(block: Block) -> str:
    """What a Python block prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(
            compile(block.text, f"{block.page}:{block.line}", "exec"),
            {"__name__": "__main__"},
        )
    return out.getvalue()


def loads(block: Block, folder: Path) -> None:
    """A block of data says what it should: JSON parses, settings are settings."""
    if block.kind == "json":
        lines = block.text.strip().splitlines()
        try:
            json.loads(block.text)
        except ValueError:
            for line in lines:
                json.loads(line)
    elif block.kind == "toml":
        place = folder / "dragoman.toml"
        place.write_text(block.text, encoding="utf-8")
        names = {*re.findall(r"\$\{(\w+)", block.text), *KEYS}
        load(place, environ={**os.environ, **dict.fromkeys(names, "k-123456")})
        tomllib.loads(block.text)


# ── a shell ──────────────────────────────────────────────────────────────────

CALL = {"name": "read_file", "arguments": {"path": "notes.txt"}}
ASKED = [{"role": "user", "content": "Say hello."}]
TOOLS = '''"""Tools of the pages."""

from dragoman import ToolSet, tool


@tool(read_only=True)
def get_weather(city: str) -> str:
    """Say what the weather is like."""
    return f"rain in {city}"


TOOLS = ToolSet(get_weather)
'''
FILES: Mapping[str, str] = {
    "answer.txt": f"<tool_call>\n{json.dumps(CALL)}\n</tool_call>\n",
    "calls.json": json.dumps([CALL]),
    "tools.json": json.dumps([{"name": "read_file", "parameters": {"type": "object"}}]),
    "notes.txt": "buy milk\n",
    "request.json": json.dumps({"model": "m", "messages": ASKED}),
    "tools.py": TOOLS,
    "mcp.json": json.dumps({"mcpServers": {"clock": {
        "command": sys.executable, "args": ["-m", "dragoman", "mcp", "serve", str(ROOT / "examples" / "mcp_server.py")],
        "env": {"PYTHONPATH": str(ROOT / "src")},
    }}}),
}  # fmt: skip
"""Files that the pages' commands read."""
ANSWER = {"id": "a", "model": "m", "choices": [{"index": 0, "finish_reason": "stop",
          "message": {"role": "assistant", "content": "Hello."}}]}  # fmt: skip
STREAMED = {"messages.sse": "anthropic_messages", "responses.sse": "openai_responses"}
COPIED = {
    "outputs.jsonl": VECTORS / "learn" / "outputs" / "dev-do_with.jsonl",
    "chat_template.jinja": VECTORS / "learn" / "qwen25.jinja",
}


def furnish(folder: Path) -> None:
    """Put the files there, and the programs that a shell of the pages finds: `dragoman` of this tree, a careful `pip`."""
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "answer.json").write_text(json.dumps(ANSWER), encoding="utf-8")
    words = ["convert", str(folder / "answer.json"), "--from", "openai_chat", "--kind", "response", "--into", "stream"]
    for name, api in STREAMED.items():
        with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")) as stream:
            assert main([*words, "--to", api]) == 0
        (folder / name).write_bytes(stream.buffer.getvalue())
    for name, source in COPIED.items():
        shutil.copyfile(source, folder / name)
    for name in ("docs", "examples", "bench", "tests", "deploy"):
        (folder / name).symlink_to(ROOT / name)
    programs = folder / ".programs"
    programs.mkdir()
    for name, line in {
        "dragoman": f'exec {sys.executable} -m dragoman "$@"',
        "python": f'exec {sys.executable} "$@"',
        "pip": f'exec {sys.executable} {Path(__file__).parent / "pip_named.py"} "$@"',
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        (programs / name).chmod(0o755)


@dataclass
class Shell:
    """The shell of one page: a folder, an environment, and the servers that were started and still run."""

    folder: Path
    model: str
    port: str = field(default_factory=lambda: str(_free_port()))
    environ: dict[str, str] = field(default_factory=dict)
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def run(self, block: Block) -> str:
        """Run a block, in parts where it starts a server, which goes on.  Gives what it wrote to stdout."""
        written, part = "", ""
        for line in self._here(block.text).splitlines():
            if not SERVES.search(line):
                part += f"{line}\n"
                continue
            written += self._run(block, part)
            self._serve(line.partition("  #")[0])
            part = ""
        return written + self._run(block, part)

    def _run(self, block: Block, lines: str) -> str:
        if not lines.strip():
            return ""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", f"{lines}\nexport -p > .exported"], cwd=self.folder, env=self._environ(),
            capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, f"{block.page}:{block.line}\n{lines}\n{done.stdout[-2000:]}{done.stderr[-3000:]}"
        exported = re.findall(r'^declare -x (\w+)="(.*)"$', (self.folder / ".exported").read_text(), re.MULTILINE)
        self.environ = dict(exported)
        return done.stdout

    def _here(self, text: str) -> str:
        """The page's ports as those of this test.  The doctor ends with 1 for a patient that is not well,
        and the scripted model never is."""
        text = re.sub(rf"\b{GATEWAY}\b", self.port, text)
        text = re.sub(r"^dragoman doctor .*$", r"\g<0> || [ $? = 1 ]", text, flags=re.MULTILINE)
        text = CONNECTS.sub(rf"\g<0> --url http://127.0.0.1:{self.port}", text)
        return re.sub(rf"127\.0\.0\.1:(?:{'|'.join(PLACES)})\b", self.model.removeprefix("http://"), text)

    def _environ(self) -> dict[str, str]:
        path = f"{self.folder / '.programs'}{os.pathsep}{os.environ['PATH']}"
        own = {"HOME": str(self.folder), "PATH": path, "PYTHONPATH": f"{ROOT / 'src'}", "PYTHONUTF8": "1"}
        return {**os.environ, "DRAGOMAN_PORT": self.port, **self.environ, **own}

    def _serve(self, lines: str) -> None:
        """Start a server, and wait until it answers; the one before it on this page ends."""
        self.end()
        command = ["bash", "-c", f"exec {lines.strip()}"]
        self.running.append(subprocess.Popen(command, cwd=self.folder, env=self._environ()))
        for _ in range(300):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", int(self.port)), 1):
                return
            assert self.running[-1].poll() is None, f"{lines} ended"
            time.sleep(0.1)
        raise AssertionError(f"{lines} never answered")

    def end(self) -> None:
        """End what was started."""
        for process in self.running:
            process.terminate()
            process.wait(20)
        self.running.clear()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def named_tests() -> Iterator[tuple[Block, Path]]:
    """Blocks that another test runs, and where that stands."""
    for page in PAGES:
        yield from ((block, ROOT / block.by) for block in blocks(page) if block.by)
