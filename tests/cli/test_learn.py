"""`dragoman learn`: from a model's files to its dialect, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dragoman.providers.spec import Tools
from dragoman.sim import serving
from tests.support import places
from tests.support.gateways import ask
from tests.support.inspecting import recording
from tests.support.upstreams import model, text_reply

from .conftest import Run

VECTORS = places.VECTORS / "learn"


def test_learn_shows_the_marks_of_a_chat_template(run: Run) -> None:
    ran = run("learn", "--template", VECTORS / "qwen3.jinja", "--name", "mine")
    assert ran.code == 0
    for line in (
        "dialect    mine",
        "call       <tool_call>⏎ … ⏎</tool_call>",
        "arguments  JsonCall",
        "reasoning  <think>⏎ … ⏎</think>",
        "results    <tool_response>⏎{content}⏎</tool_response>",
        "note       calls are written as in the built-in dialect 'hermes'",
    ):
        assert line in ran.out


def test_learn_reports_what_the_prompt_opened_and_weak_marks(run: Run) -> None:
    assert "prefix     <think>  (the prompt has written it" in run("learn", "--template", VECTORS / "glm47.jinja").out
    assert "strength   weak" in run("learn", "--template", VECTORS / "llama31_json.jinja").out
    assert "JsonCall, in an array" in run("learn", "--template", VECTORS / "mistral_nemo.jinja").out


def test_learn_prints_the_row_as_json(run: Run) -> None:
    found = json.loads(run("learn", "--template", VECTORS / "glm47.jinja", "--json").out)
    assert found["dialect"]["args"]["kind"] == "TaggedArgs"
    assert found["dialect"]["call"] == {"open": ["<tool_call>"], "close": ["</tool_call>"]}
    assert (found["prompt_opens_reasoning"], found["prefix"]) == (True, "<think>")


def test_learn_reads_a_tokenizers_configuration(run: Run, tmp_path: Path) -> None:
    template = (VECTORS / "qwen25.jinja").read_text(encoding="utf-8")
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({"eos_token": "<|im_end|>", "chat_template": template}), encoding="utf-8")
    assert "<tool_call>" in run("learn", "--tokenizer-config", path).out


def test_learn_reads_a_template_wrapped_in_json(run: Run, tmp_path: Path) -> None:
    template = (VECTORS / "qwen25.jinja").read_text(encoding="utf-8")
    path = tmp_path / "chat_template.json"
    path.write_text(json.dumps({"chat_template": template}), encoding="utf-8")
    assert "<tool_call>" in run("learn", "--template", path).out


def test_learn_reads_a_response_template(run: Run, tmp_path: Path) -> None:
    templates = json.loads((VECTORS / "response_templates.json").read_text(encoding="utf-8"))
    path = tmp_path / "response_template.json"
    path.write_text(json.dumps(templates["braces"]["template"]), encoding="utf-8")
    assert "arguments  BraceArgs" in run("learn", "--response-template", path).out


def test_learn_reports_what_it_lacked_or_did_not_understand(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "template.jinja"
    path.write_text("{% for m in messages %}{{ m.content }}{% endfor %}", encoding="utf-8")
    config = tmp_path / "config.json"
    config.write_text("[]", encoding="utf-8")
    for arguments, words in (
        ((), "give one of --template"),
        (("--template", path), "does not write the calls of past turns"),
        (("--tokenizer-config", config), "must hold a JSON object"),
    ):
        ran = run("learn", *arguments)
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err


# ── from outputs ─────────────────────────────────────────────────────────────

SAMPLES = VECTORS / "outputs" / "dev-do_with.jsonl"
PLACES_SEEN = ("sky", "sea", "Ulm", "the moon", "notes", "north")


def test_learn_shows_how_each_sample_is_read_and_writes_a_row_and_vectors(run: Run, tmp_path: Path) -> None:
    ran = run("learn", "--samples", SAMPLES, "--name", "mine", "--into", tmp_path)
    assert ran.code == 0, ran.err
    for line in ("dialect    mine", "call       <step> … </step>", "arguments  TaggedArgs", "explains   14 of 14 samples"):
        assert line in ran.out
    assert "    6 + git_status({})" in ran.out
    row = json.loads((tmp_path / "mine.json").read_text(encoding="utf-8"))
    assert (row["name"], row["args"]["kind"], row["tool"]) == ("mine", "TaggedArgs", {"open": ["<do>"], "close": ["</do>"]})
    vectors = (tmp_path / "mine.vectors.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(vectors[5])["calls"] == [{"name": "git_status", "arguments": {}}]


def test_the_file_of_a_row_stands_where_a_dialect_is_named(run: Run, tmp_path: Path) -> None:
    run("learn", "--samples", SAMPLES, "--name", "mine", "--into", tmp_path)
    row = tmp_path / "mine.json"
    call = {"name": "read_file", "arguments": {"path": "a.py"}}
    written = run("render", "--dialect", row, stdin=json.dumps(call)).out
    assert written == '<step><do>read_file</do><with name="path">a.py</with></step>\n'
    parsed = json.loads(run("parse", "--dialect", row, "--json", stdin=written).out)
    assert [c["arguments"] for c in parsed["calls"]] == [{"path": "a.py"}]
    settings = tmp_path / "dragoman.toml"
    settings.write_text(f'[models.m]\nroute = "ollama/x"\ndialect = "{row}"\n', encoding="utf-8")
    assert "mine" in run("check", settings).out
    settings.write_text(f'[models.m]\nroute = "ollama/x"\ndialect = "{tmp_path / "no.json"}"\n', encoding="utf-8")
    assert "no.json" in run("check", settings).err
    assert "cannot read" in run("parse", "--dialect", tmp_path / "no.json", stdin="x").err


@pytest.mark.parametrize(
    ("name", "message"),
    [("a/b", "is no name of a dialect; write letters"), ("..", "is no name"), ("hermes", "is a built-in dialect; choose another name")],
)
def test_a_name_that_a_row_cannot_have_is_refused_before_anything_is_learned(
    run: Run, tmp_path: Path, name: str, message: str
) -> None:
    ran = run("learn", "--samples", SAMPLES, "--name", name, "--into", tmp_path)
    assert (ran.code, message in ran.err) == (2, True), ran.err
    assert not list(tmp_path.iterdir())


def test_learn_leaves_files_that_are_there_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("{}", encoding="utf-8")
    ran = run("learn", "--samples", SAMPLES, "--name", "mine", "--into", tmp_path)
    assert (ran.code, (tmp_path / "mine.json").read_text(encoding="utf-8")) == (2, "{}")
    assert "choose another --name" in ran.err


def test_learn_prints_what_it_learned_from_outputs_as_json(run: Run, tmp_path: Path) -> None:
    ran = run("learn", "--samples", SAMPLES, "--into", tmp_path, "--json")
    found = json.loads(ran.out)
    assert (found["explained"], found["samples"][5]["calls"]) == (14, [{"name": "git_status", "arguments": {}}])


def test_learn_says_what_is_wrong_with_samples(run: Run, tmp_path: Path) -> None:
    bad, few = tmp_path / "bad.jsonl", tmp_path / "few.json"
    bad.write_text('{"tools": [{"name": "f"}]}\n{"text": ', encoding="utf-8")
    few.write_text(json.dumps({"tools": [{"name": "f"}], "samples": ["f", "x"]}), encoding="utf-8")
    for arguments, words in (
        (("--samples", bad), "line 2 of"),
        (("--samples", few), "give about a dozen outputs with calls"),
        (("--samples", SAMPLES, "--recordings", few), "give one of"),
        (("--recordings", tmp_path / "none"), "give a gateway's address, or a file"),
        (("--recordings", "http://127.0.0.1:9"), "no inspector answers"),
    ):
        ran = run("learn", *arguments, "--into", tmp_path)
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err


def test_learn_takes_what_a_gateway_recorded(run: Run, tmp_path: Path) -> None:
    texts = [f'[[look]]{json.dumps({"at": at})}[[/]]' for at in PLACES_SEEN]
    gateway, _ = recording(model("openai_chat", *map(text_reply, texts)), tools=Tools.TEXT)
    for _ in texts:
        ask(gateway, "openai_chat", stream=True)
    with serving(gateway) as url:
        ran = run("learn", "--recordings", url, "--name", "seen", "--into", tmp_path)
        other = run("learn", "--recordings", url, "--model", "nobody", "--into", tmp_path)
    assert "holds no output with tools" in other.err
    assert "explains   6 of 6 samples" in ran.out, ran.err
    vectors = tmp_path / "seen.vectors.jsonl"
    again = run("learn", "--recordings", vectors, "--name", "again", "--into", tmp_path)
    assert "explains   6 of 6 samples" in again.out, again.err
