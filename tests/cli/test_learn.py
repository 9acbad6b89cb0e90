"""`dragoman learn`: from a model's files to its dialect, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support import places

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
        ((), "give --template"),
        (("--template", path), "does not write the calls of past turns"),
        (("--tokenizer-config", config), "must hold a JSON object"),
    ):
        ran = run("learn", *arguments)
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err
