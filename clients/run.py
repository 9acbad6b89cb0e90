"""Run real clients against the gateway in front of a model without tools, and write down what happened.

`python clients/run.py [NAME …]`: all of them, or those named.  Programs and libraries are installed once, each in a
folder of its own below $DRAGOMAN_CLIENTS_CACHE (default: the user's cache folder).  With `--page` the table of
docs/clients.md is renewed; rows of clients that were not run stay as they are.
Every client gets a fresh home, a key that is none, and the settings that `dragoman connect NAME --write` gives it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from installing import Missing, Place, installed, node_bin
from programs import AGENTS, LIBRARIES, OTHERS, TASK, Library, Program
from stage import ERRING, MODEL, Asked, stage
from stage import TASK as SENTENCE

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "clients.md"
HEAD = "| client | version | API | streamed | result | erring model | seconds | notes |\n" + "|---" * 8 + "|\n"
CONTENT = "Dragoman was here"
FUNCTIONS = '''
def write_file(path: str, content: str) -> str:
    """Write a text file."""
    open(path, "w").write(content)
    return "written"
'''
APIS = {
    "/chat/completions": "chat completions",
    "/responses": "responses",
    "/messages": "Anthropic messages",
    "/api/chat": "Ollama chat",
    "/api/generate": "Ollama generate",
    ":streamGenerateContent": "Gemini",
    ":generateContent": "Gemini",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What happened with one client."""

    client: str
    version: str
    api: str
    streamed: str
    result: str
    erring: str
    seconds: float
    notes: str


NOT_RUN = Row(client="", version="", api="", streamed="", result="not run", erring="", seconds=0.0, notes="")


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of a program."""

    version: str = ""
    asked: Sequence[Asked] = ()
    slips: int = 0
    result: str = ""
    seconds: float = 0.0
    notes: str = ""


def main() -> int:
    """Run what is asked for; gives the number of rows that are no pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--page", action="store_true", help="renew the tables of docs/clients.md")
    parser.add_argument("--keep", action="store_true", help="keep homes and records of clients that fail")
    asked = parser.parse_args()
    if unknown := set(asked.names) - {name for row in (*LIBRARIES, *AGENTS, *OTHERS) for name in _names(row)}:
        parser.error(f"there is no client {', '.join(sorted(unknown))}; their names are in clients/programs.py")
    failed = 0
    for table, rows in _rows(asked.names, keep=asked.keep):
        failed += sum(not _passed(row) for row in rows)
        if asked.page:  # after each client, so that a run that is stopped leaves what it saw
            _renew(table, rows)
    return min(failed, 100)


def _names(row: Library | Program) -> tuple[str, str]:
    return row.name, row.script if isinstance(row, Library) else row.settings


def _passed(row: Row) -> bool:
    return row.result == "pass" and (not row.erring or row.erring.startswith("pass"))


def _rows(names: Sequence[str], *, keep: bool) -> Iterator[tuple[str, list[Row]]]:
    """The rows of each client, with the table they belong to."""
    for library in LIBRARIES:
        if not names or set(_names(library)) & set(names):
            rows, erring = ({row.client: row for row in _try_library(library, model)} for model in (MODEL, ERRING))
            missing = replace(NOT_RUN, result="fail", notes="it was not reached")
            both = ((rows.get(client), erring.get(client), client) for client in {**rows, **erring})
            shown = [_both(row or replace(missing, client=client), tried or missing) for row, tried, client in both]
            yield "libraries", list(map(_shown, shown))
    for program in (*AGENTS, *OTHERS):
        if not names or set(_names(program)) & set(names):
            row = _try_program(program, MODEL, keep=keep)
            tried = _try_program(program, ERRING, keep=keep) if program.tools and row.version else None
            yield "programs", [_shown(_both(row, tried))]


def _both(row: Row, erring: Row | None) -> Row:
    """One row of what happened with a model that makes no mistakes, and with one that does."""
    if erring is None:
        return replace(row, erring="")
    more = f"erring: {erring.notes}" if erring.result == "fail" else ""
    said = f"{erring.result}, {erring.erring}" if erring.erring else erring.result
    return replace(row, erring=said, notes="; ".join(filter(None, (row.notes, more))))


def _shown(row: Row) -> Row:
    print(json.dumps(asdict(row), ensure_ascii=False), flush=True)
    return row


# ── libraries ────────────────────────────────────────────────────────────────


def _try_library(library: Library, model: str) -> Iterator[Row]:
    """One row per path of the library's script; a script that ends before its end is a row that failed."""
    try:
        place = installed(library.folder or _stem(library.script), library.registry, library.packages, library.python)
    except Missing as missing:
        yield replace(NOT_RUN, client=library.name, notes=str(missing))
        return
    row = replace(NOT_RUN, version=_versions(place, library.version))
    with stage(model=model) as (url, record), _rooms() as (home, work), tempfile.TemporaryFile("w+") as aside:
        environ = {"PATH": _path(place.bin), "HOME": str(home), "DRAGOMAN_URL": url, **library.environ}
        process = subprocess.Popen(
            _script(library, place),
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=aside,
            text=True,
            cwd=work,
            start_new_session=True,
        )
        before, slips, ended = 0, 0, False
        for told in _told(process, library.seconds):
            made, before = record.asked[before:], len(record.asked)
            wrong, slips = record.slips - slips, record.slips
            ended = told["path"] is None
            if not ended:
                yield _library_row(row, library, told, made, wrong)
        if not ended:
            aside.seek(0)
            last = re.sub(r"\s+", " ", aside.read()).strip()[-300:]
            yield replace(row, client=library.name, result="fail", notes=f"its script broke off: {last}")


def _library_row(row: Row, library: Library, told: Mapping[str, Any], made: Sequence[Asked], wrong: int) -> Row:
    answered = any(one.status == 200 for one in made)
    note = told["note"] or ("" if answered else "the gateway answered nothing")
    return replace(
        row,
        client=f"{library.name} · {told['path']}",
        api=_apis(made),
        streamed=_streamed(made),
        result="fail" if note else "pass",
        erring=_slips(wrong),
        seconds=told["seconds"],
        notes=note,
    )


def _told(process: subprocess.Popen[str], seconds: int) -> Iterator[dict[str, Any]]:
    """What a script tells, each line answered so that its next requests are told apart; it has so many seconds."""
    assert process.stdin is not None
    assert process.stdout is not None
    alarm = threading.Timer(seconds, _end, (process,))
    alarm.start()
    try:
        for line in process.stdout:
            if line.startswith('{"path"'):
                told = json.loads(line)
                yield told
                if told["path"] is None:
                    break
                process.stdin.write("\n")
                process.stdin.flush()
    except BrokenPipeError:
        pass
    finally:
        alarm.cancel()
        _end(process)


def _end(process: subprocess.Popen[Any]) -> None:
    """End a process and what it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _script(library: Library, place: Place) -> list[str]:
    script = HERE / "sdks" / library.script
    if library.registry != "npm":
        return [str(place.bin / "python"), str(script)]
    for file in (script, script.with_name("common.mjs")):  # packages are looked for from where a script lies
        shutil.copy(file, place.root)
    return [str(node_bin() / "node"), str(place.root / script.name)]


def _stem(script: str) -> str:
    return script.partition(".")[0]


def _versions(place: Place, packages: str) -> str:
    found = {package: place.version(package) for package in packages.split(", ")}
    return ", ".join(f"{p} {v}" for p, v in found.items()) if len(found) > 1 else "".join(found.values())


# ── programs ─────────────────────────────────────────────────────────────────


def _try_program(program: Program, model: str, *, keep: bool) -> Row:
    try:
        place = installed(program.folder or program.settings, program.registry, program.packages, program.python)
    except Missing as missing:
        return replace(NOT_RUN, client=program.name, notes=str(missing))
    version = place.version(program.packages[0])
    with stage(tools=program.tools, model=model) as (url, record), _rooms() as (home, work):
        target = work / "hello.txt"
        environ, told = _environment(program, place.bin, home, url), ""
        start = time.monotonic()
        try:
            settings = _connect(program, url, environ)
            environ |= settings["variables"]
            _change(program, home, {"{url}": url, "{work}": str(work), "{bin}": str(place.bin)})
            for words in settings["commands"]:
                told += _run(words, environ, work, 60)[1]
            start = time.monotonic()
            code, said = _run(
                _argv(program, target, model), environ, work, program.seconds, stdin=_stdin(program, target)
            )
            told += said
        except (subprocess.TimeoutExpired, RuntimeError) as error:
            code, told = -1, told + f"\n{type(error).__name__}: {error}"
        seconds = time.monotonic() - start
        written = target.read_text(errors="replace").strip() if target.exists() else None
        failure = _failure(code, written, told, record.asked)
        if failure and keep:
            _keep(program, told, record.asked, home)
        return _row(
            program, Trial(version, record.asked, record.slips, "fail" if failure else "pass", seconds, failure)
        )


def _failure(code: int, written: str | None, told: str, asked: Sequence[Asked]) -> str:
    last = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\s+", " ", told).strip()[-160:]
    if written is None:
        return f"no file was written; it ended with {code}: {last}"
    if written != CONTENT:
        return f"the file holds {written[:80]!r}"
    if not any(one.status == 200 for one in _asked(asked)):
        return "the file is there, but the gateway answered nothing"
    return "" if code == 0 else f"the file was written, but it ended with {code}: {last}"


def _row(program: Program, trial: Trial) -> Row:
    return Row(
        client=program.name,
        version=trial.version,
        api=_apis(trial.asked),
        streamed=_streamed(trial.asked),
        result=trial.result,
        erring=_slips(trial.slips),
        seconds=round(trial.seconds, 1),
        notes=trial.notes or _tools(trial.asked),
    )


def _slips(number: int) -> str:
    return f"{number} wrong replies" if number > 1 else f"{number} wrong reply" if number else ""


def _tools(asked: Sequence[Asked]) -> str:
    most = max(asked, key=lambda one: (one.tools, len(one.body)), default=None)
    return f"{len(_asked(asked))} requests, {most.tools} tools, {len(most.body) / 1000:.0f} kB" if most else ""


def _connect(program: Program, url: str, environ: Mapping[str, str]) -> Any:
    words = [sys.executable, "-m", "dragoman", "connect", program.settings, "--url", url, "--model", "weak"]
    more = [*(("--api", program.api) if program.api else ()), "--key", "not-a-key", "--write", "--json"]
    ours = {**environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run([*words, *more], env=ours, capture_output=True, text=True, check=False)
    if run.returncode:
        raise RuntimeError(run.stderr)
    return json.loads(run.stdout)


def _change(program: Program, home: Path, places: Mapping[str, str]) -> None:
    """Make the settings those of another API, or add to them."""
    for path, old, new in program.changes:
        for place, value in places.items():
            old, new = old.replace(place, value), new.replace(place, value)
        file = home / path
        text = file.read_text()
        if old not in text:
            raise RuntimeError(f"{path} does not hold {old}")
        file.write_text(text.replace(old, new) if old else text + new)


def _argv(program: Program, target: Path, model: str) -> list[str]:
    places = {TASK: _task(target), "{functions}": FUNCTIONS, "{name}": target.name, "{model}": model}
    return [places.get(word, word) for word in program.argv]


def _stdin(program: Program, target: Path) -> str:
    return "" if TASK in program.argv else _task(target) + "\n"


def _task(target: Path) -> str:
    return SENTENCE.format(content=CONTENT, path=target)


def _environment(program: Program, bin_: Path, home: Path, url: str) -> dict[str, str]:
    base = {"HOME": str(home), "PATH": _path(bin_), "TERM": "dumb", "LANG": "C.UTF-8", "CI": "1", "NO_COLOR": "1"}
    return {**base, **{name: value.replace("{url}", url) for name, value in program.environ.items()}}


def _path(bin_: Path) -> str:
    return os.pathsep.join([str(bin_), str(node_bin()), "/usr/local/bin", "/usr/bin", "/bin"])


def _run(
    words: Sequence[str], environ: Mapping[str, str], work: Path, seconds: int, stdin: str = ""
) -> tuple[int, str]:
    """Run a program in a group of its own, so that what it leaves behind can be ended too."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out:
        given.write(stdin.encode())
        given.seek(0)
        process = subprocess.Popen(
            list(words), env=dict(environ), cwd=work, stdin=given, stdout=out, stderr=out, start_new_session=True
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = -1
        _end(process)
        out.seek(0)
        said = out.read().decode(errors="replace")
    return code, said if code != -1 else said + f"\nnot done after {seconds} s"


@contextlib.contextmanager
def _rooms() -> Iterator[tuple[Path, Path]]:
    """A home and a folder to work in, both new."""
    with tempfile.TemporaryDirectory(prefix="dragoman-client-", ignore_cleanup_errors=True) as room:
        home, work = Path(room).resolve() / "home", Path(room).resolve() / "work"
        home.mkdir()
        work.mkdir()
        yield home, work


def _keep(program: Program, told: str, asked: Sequence[Asked], home: Path) -> None:
    place = Path(tempfile.gettempdir()) / f"dragoman-failed-{program.name.replace(' ', '')}"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(home, place / "home", symlinks=True, ignore_dangling_symlinks=True)
    (place / "output.txt").write_text(told)
    for number, one in enumerate(asked):
        head = f"{one.method} {one.path} {one.status}\n".encode()
        (place / f"{number:02}.txt").write_bytes(head + one.body + b"\n\n" + one.answer)


# ── telling ──────────────────────────────────────────────────────────────────


def _asked(asked: Sequence[Asked]) -> list[Asked]:
    return [one for one in asked if any(one.path.endswith(path) for path in APIS)]


def _apis(asked: Sequence[Asked]) -> str:
    found = [name for one in _asked(asked) for path, name in APIS.items() if one.path.endswith(path)]
    return ", ".join(dict.fromkeys(found))


def _streamed(asked: Sequence[Asked]) -> str:
    kinds = {one.streamed for one in _asked(asked) if one.tools or not any(other.tools for other in asked)}
    return {frozenset({True}): "yes", frozenset({False}): "no", frozenset(): ""}.get(frozenset(kinds), "both")


def _renew(table: str, rows: Sequence[Row]) -> None:
    """Put the rows of one client into their table, where that client's rows stood."""
    page = PAGE.read_text(encoding="utf-8")
    found = re.search(rf"<!-- table:{table} -->\n(.*?)<!-- /table:{table} -->", page, re.DOTALL)
    if found is None:
        raise SystemExit(f"{PAGE} has no table {table}")
    ran = {row.client: _line(row) for row in rows}
    # A row of a library that was run and did not come again is no longer true.
    old = {client.partition(" · ")[0] for client in ran} if table == "libraries" else set()
    lines: dict[str, str] = {}
    for line in found[1].splitlines()[2:]:
        client = line.split("|")[1].strip()
        if client in ran or client.partition(" · ")[0] in old:
            lines |= ran
        else:
            lines[client] = line
    lines |= ran
    text = HEAD + "".join(f"{line}\n" for line in lines.values())
    PAGE.write_text(page[: found.start(1)] + text + page[found.end(1) :], encoding="utf-8")


def _line(row: Row) -> str:
    cells = [str(value).replace("|", "\\|").replace("\n", " ") for value in asdict(row).values()]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.exit(main())
