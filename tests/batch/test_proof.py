"""Render and parse back (docs/batch.md): what a chat template does to a row is found before anybody trains on it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.batch.judging.row_judge import judge
from dragoman.batch.options import Options
from dragoman.batch.running.engine import run
from dragoman.batch.running.job import Job
from dragoman.batch.running.proof import proven

from .corpora import TELLERS, row

HEAD = "{% if tools %}{{ tools | tojson }}{% endif %}{% for m in messages %}<|im_start|>{{ m.role }}\n"
TAIL = "<|im_end|>\n{% endfor %}"
CALL = '<tool_call>\n{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}\n</tool_call>\n'
GOOD = HEAD + "{{ m.content or '' }}{% for c in m.tool_calls or [] %}" + CALL + "{% endfor %}" + TAIL
WITHOUT_TOOLS = GOOD.replace("{{ tools | tojson }}", "")
FIRST_ONLY = GOOD.replace("m.tool_calls or []", "(m.tool_calls or [])[:1]")
CRASHES = GOOD.replace("c.function.arguments | tojson", "c.function.arguments.items() | list | tojson")
ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}"


def lines(parallel: bool = True) -> list[bytes]:
    found = [row(TELLERS[0], seed) for seed in range(12)]
    return [line for talk, line in found if parallel == any(len(r.calls) > 1 for r in talk.rounds)]


def codes(line: bytes, template: str, **options: Any) -> set[str]:
    asked = Options(**options)
    [found] = proven([judge(line, asked)], template, asked)
    return set(found.codes)


def test_a_template_that_writes_all_is_proven() -> None:
    outcomes = [judge(line) for line in lines()]
    assert [found.codes for found in proven(outcomes, GOOD, Options())] == [()] * len(outcomes)


@pytest.mark.parametrize(
    ("template", "code"),
    [(WITHOUT_TOOLS, "template_tools"), (FIRST_ONLY, "template_calls"), (ENDLESS, "template_fails"), ("{% if %}", "template_fails")],
    ids=["no tools", "the first call only", "no end", "no template"],
)
@pytest.mark.costly
def test_what_a_template_drops_is_found(template: str, code: str) -> None:
    assert codes(lines()[0], template) == {code}


def test_the_form_of_arguments_decides() -> None:
    line = lines()[0]
    assert codes(line, GOOD, arguments="string") == {"template_calls"}
    assert codes(line, CRASHES, arguments="string") == {"template_fails"}


def test_broken_rows_pass_by() -> None:
    outcomes = [judge(b"{"), judge(lines()[0])]
    assert [found.codes for found in proven(outcomes, GOOD, Options())] == [("not_json",), ()]


def test_a_row_that_a_template_breaks_is_set_aside(tmp_path: Any) -> None:
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(lines() + lines(parallel=False)))
    job = Job(command="clean", options=Options(), output=str(tmp_path / "out.jsonl"), template=FIRST_ONLY)
    told = run([tmp_path / "in.jsonl"], job)
    assert told["totals"]["aside"] == len(lines())
    assert told["totals"]["kept"] == len(lines(parallel=False))
    aside = json.loads((tmp_path / "out.aside.jsonl").read_bytes().splitlines()[0])
    assert aside["codes"] == ["template_calls"]
