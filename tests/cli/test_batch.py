"""`dragoman batch` as a shell sees it."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

from dragoman.batch.formats.table import ROWS
from dragoman.cli.batch import COMMANDS

from .conftest import Run


def test_inspect_counts_formats_and_shows_bad_rows(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"\n".join([*(form.sample.encode() for form in ROWS), b"", b"{", b'{"a":1}']) + b"\n")
    told = run("batch", "inspect", file, "--json")
    assert told.code == 0, told.err
    found = json.loads(told.out)
    assert found["rows"] == len(ROWS) + 2
    assert found["formats"]["unknown"] == 2
    assert [row["codes"] for row in found["bad"]] == [["not_json"], ["unknown_format"]]
    assert "not_json" in run("batch", "inspect", file).out


def test_unknown_commands_and_formats_say_what_there_is(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("{}\n")
    assert "batch --help" in run("batch", "inspekt").err
    told = run("batch", "inspect", file, "--format", "opneai")
    assert (told.code, "openai" in told.err) == (2, True)


def corpus(tmp_path: Path, *more: bytes) -> Path:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"\n".join([*(form.sample.encode() for form in ROWS), *more]) + b"\n")
    return file


def test_clean_keeps_sets_aside_and_says_what_it_did(run: Run, tmp_path: Path) -> None:
    file, out = corpus(tmp_path, b"{", b'{"a":NaN}', b""), tmp_path / "out.jsonl"
    told = run("batch", "clean", file, "-o", out, "--dedup", "rows", "--json", "--workers", 1)
    assert told.code == 0, told.err
    totals = json.loads(told.out)["totals"]
    assert totals["read"] == totals["kept"] + totals["aside"] + sum(totals["dropped"].values()) == len(ROWS) + 2
    assert len(out.read_bytes().splitlines()) == totals["kept"]
    aside = [json.loads(line) for line in (tmp_path / "out.aside.jsonl").read_bytes().splitlines()]
    assert [(row["orig"], row["codes"]) for row in aside] == [("{", ["not_json"]), ('{"a":NaN}', ["not_finite"])]
    notes = [json.loads(line) for line in (tmp_path / "out.notes.jsonl").read_bytes().splitlines()]
    assert all(note["orig"] and (note["repairs"] or note["losses"]) for note in notes)
    manifest = json.loads((tmp_path / "out.manifest.json").read_bytes())
    assert manifest["outputs"]["out.jsonl"]["bytes"] == out.stat().st_size
    assert not (tmp_path / "out.parts").exists()


def test_an_output_that_is_there_is_not_written_over(run: Run, tmp_path: Path) -> None:
    file, out = corpus(tmp_path), tmp_path / "out.jsonl"
    assert run("batch", "clean", file, "-o", out, "--workers", 1).code == 0
    again = run("batch", "clean", file, "-o", out, "--workers", 1)
    assert (again.code, "--overwrite" in again.err) == (2, True)
    assert run("batch", "clean", file, "-o", out, "--workers", 1, "--overwrite").code == 0
    assert run("batch", "clean", file, "-o", file).code == 2


def test_convert_writes_one_format_and_lists_what_it_cannot_hold(run: Run, tmp_path: Path) -> None:
    file, out = corpus(tmp_path), tmp_path / "out.jsonl"
    told = run("batch", "convert", file, "--to", "sharegpt", "-o", out, "--workers", 1)
    assert told.code == 0, told.err
    assert "$.ids" in told.out
    assert all("conversations" in json.loads(line) for line in out.read_bytes().splitlines())
    assert "did you mean" in run("batch", "convert", file, "--to", "sharegptt", "-o", out).err


def test_lint_fails_on_what_it_is_told_to(run: Run, tmp_path: Path) -> None:
    file = corpus(tmp_path, b"{")
    assert run("batch", "lint", file, "--workers", 1).code == 0
    assert run("batch", "lint", file, "--workers", 1, "--fail-on", "error").code == 1
    assert run("batch", "lint", file, "--workers", 1, "--fail-on", "not_json").code == 1
    assert run("batch", "lint", file, "--workers", 1, "--fail-on", "leak").code == 0
    assert run("batch", "lint", file, "--fail-on", "nonsense").code == 2


def test_stop_ends_at_the_first_row_set_aside(run: Run, tmp_path: Path) -> None:
    told = run("batch", "clean", corpus(tmp_path, b"{"), "-o", tmp_path / "o.jsonl", "--on-error", "stop", "--workers", 1)
    assert (told.code, "not_json" in told.err) == (1, True)


def test_leaks_are_found_and_left_out(run: Run, tmp_path: Path) -> None:
    question = {"role": "user", "content": "What is the weather in Oslo tomorrow?"}
    calls = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}]
    train, other = ({"messages": [question, {"role": "assistant", "tool_calls": c}]} for c in (calls, []))
    hello = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hi."}]}
    rows, held = tmp_path / "train.jsonl", tmp_path / "eval.jsonl"
    rows.write_text("\n".join(map(json.dumps, (train, hello, other))))
    held.write_text("\n".join(map(json.dumps, ({**train, "id": 3}, hello))))
    told = run("batch", "leak", rows, "--against", held, "--json")
    assert (told.code, json.loads(told.out)["leaks"]) == (1, 1)
    out = tmp_path / "out.jsonl"
    assert run("batch", "clean", rows, "-o", out, "--without", held, "--workers", 1).code == 0
    assert len(out.read_text().splitlines()) == 2


def test_a_report_shows_a_run_and_what_changed(run: Run, tmp_path: Path) -> None:
    file, old, page = corpus(tmp_path, b"{"), tmp_path / "old.json", tmp_path / "page.html"
    asked = ("--workers", 1, "--dedup", "rows")
    told = run("batch", "clean", file, "-o", tmp_path / "a.jsonl", *asked, "--report", old, "--report", page)
    assert told.code == 0, told.err
    rows = json.loads(old.read_bytes())["summary"]["rows"]
    assert rows["in"] == len(ROWS) + 1 == rows["kept"] + rows["set_aside"] + rows["dropped"]
    assert rows["dropped"] == 1
    assert "<html" in page.read_text(encoding="utf-8")
    corpus(tmp_path, b"{", b"[1]")
    again = run("batch", "clean", file, "-o", tmp_path / "b.jsonl", *asked, "--diff", old)
    assert "not_an_object" in again.err
    halved = run("batch", "lint", file, "--workers", 1, "--sample", 0.5, "--report", old)
    assert halved.code == 0, halved.err


def test_a_command_loads_no_templates_before_a_page_is_written() -> None:
    modules = ", ".join(f"dragoman.cli.batch.{name}" for name in COMMANDS)
    code = f"import {modules}, sys; print({{'jinja2', 'ray', 'pyarrow'}} & set(sys.modules))"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("COV_", "PYTEST"))}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert run.stdout.strip() == "set()"


def cut_file(tmp_path: Path) -> Path:
    file = tmp_path / "cut.jsonl.gz"
    file.write_bytes(gzip.compress(b"".join(form.sample.encode() + b"\n" for form in ROWS) * 20)[:-60])
    return file


def test_a_cut_file_is_named_and_ends_with_a_failure(run: Run, tmp_path: Path) -> None:
    cut, fine = cut_file(tmp_path), corpus(tmp_path)
    for command in (("lint",), ("inspect", "--sample", 9999), ("clean", "-o", tmp_path / "o.jsonl", "--workers", 1)):
        told = run("batch", command[0], cut, fine, *command[1:])
        assert (told.code, "cut.jsonl.gz cannot be read" in told.err) == (1, True), told
    assert (tmp_path / "o.jsonl").stat().st_size > fine.stat().st_size


def test_a_pipe_is_refused_at_once_and_nothing_of_it_is_read(run: Run, tmp_path: Path) -> None:
    """Nobody writes into it, so that opening it would wait for ever."""
    pipe, fine = tmp_path / "pipe", corpus(tmp_path)
    os.mkfifo(pipe)
    for arguments in (
        ("lint", pipe), ("inspect", fine, pipe), ("clean", pipe, "-o", tmp_path / "o.jsonl"), ("score", pipe), ("lint", "-"),
        ("score", fine, "--gold", pipe), ("leak", fine, "--against", pipe), ("lint", "/dev/null"),
    ):  # fmt: skip
        told = run("batch", *arguments)
        assert (told.code, "write them into a file" in told.err) == (2, True), told


def test_a_report_that_cannot_be_written_is_refused_before_the_work(run: Run, tmp_path: Path) -> None:
    file, out = corpus(tmp_path), tmp_path / "o.jsonl"
    rows, mine, page = tmp_path / "rows.json", tmp_path / "mine.json", tmp_path / "mine.html"
    rows.write_bytes(file.read_bytes())
    mine.write_text("[1]")
    page.write_text("<html>")
    for report in (tmp_path / "no" / "r.html", tmp_path / "r.txt", rows, mine, page, tmp_path / "o.manifest.json"):
        for arguments in (("clean", rows, "-o", out, "--workers", 1), ("lint", rows, "--workers", 1), ("score", rows)):
            if arguments[0] == "clean" or "manifest" not in report.name:
                told = run("batch", *arguments, "--report", report)
                assert (told.code, "--report" in told.err) == (2, True), (arguments, told)
    assert (rows.read_bytes(), mine.read_text(), page.read_text()) == (file.read_bytes(), "[1]", "<html>")
    assert not out.exists()
    assert run("batch", "clean", file, "-o", out, "--diff", mine).code == 2
    assert not out.exists()


def test_a_column_that_is_nowhere_is_refused_before_the_work(run: Run, tmp_path: Path) -> None:
    file, out = corpus(tmp_path), tmp_path / "o.jsonl"
    for command in (("lint", file), ("inspect", file), ("clean", file, "-o", out), ("score", file), ("leak", file, "--against", file)):
        told = run("batch", *command, "--columns", "messages=nope")
        assert (told.code, "'nope'" in told.err, "NEW=OLD" in told.err) == (2, True, True), told
    assert not (tmp_path / "o.parts").exists()


def test_a_column_under_the_name_of_another_is_no_reason_to_lose_one(run: Run, tmp_path: Path) -> None:
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Yes."}]
    file, out = tmp_path / "in.jsonl", tmp_path / "o.jsonl"
    file.write_text(json.dumps({"messages": "about", "talk": talk}) + "\n")
    told = run("batch", "clean", file, "-o", out, "--columns", "messages=talk", "--workers", 1)
    assert "0 kept, 1 set aside" in told.out
    both = ("--columns", "messages=talk", "--columns", "about=messages")
    assert run("batch", "clean", file, "-o", out, *both, "--workers", 1, "--overwrite").code == 0
    assert json.loads(out.read_bytes()) == {"messages": talk, "about": "about"}


def test_a_broken_template_is_refused_before_the_work(run: Run, tmp_path: Path) -> None:
    template, out = tmp_path / "t.jinja", tmp_path / "o.jsonl"
    template.write_text("{% for m in messages %}{{ m.role }")
    told = run("batch", "clean", corpus(tmp_path), "-o", out, "--template", template)
    assert (told.code, "template" in told.err) == (2, True), told
    assert not (tmp_path / "o.parts").exists()


def test_what_must_be_whole_is_refused_where_it_is_cut(run: Run, tmp_path: Path) -> None:
    cut, fine = cut_file(tmp_path), corpus(tmp_path)
    for arguments in (
        ("score", cut), ("score", fine, "--gold", cut), ("score", fine, "--baseline", cut), ("leak", cut, "--against", fine),
        ("leak", fine, "--against", cut), ("clean", fine, "-o", tmp_path / "o.jsonl", "--without", cut),
    ):  # fmt: skip
        told = run("batch", *arguments)
        assert (told.code, "cut.jsonl.gz cannot be read" in told.err, "fetch it again" in told.err) == (2, True, True), told


def test_lint_says_how_many_rows_are_unfit(run: Run, tmp_path: Path) -> None:
    told = run("batch", "lint", corpus(tmp_path, b"{", b"[1]"), "--workers", 1)
    assert f"{len(ROWS) + 2} rows read: `clean` would keep {len(ROWS)} and set 2 aside" in told.out
