"""The plugins inside the real vLLM and SGLang, from the decoded text to what a client gets, by their own serving code.

Needs the packages unpacked, not installed (`pip download --no-deps vllm && unzip …`), their folders in DRAGOMAN_VLLM and
DRAGOMAN_SGLANG, and what they import besides torch and its kernels (docs/serving-engines.md says what was run).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

FOLDERS = {"vllm": os.environ.get("DRAGOMAN_VLLM", ""), "sglang": os.environ.get("DRAGOMAN_SGLANG", "")}
SERVERS = [name for name, folder in FOLDERS.items() if folder and Path(folder).exists()]
pytestmark = pytest.mark.skipif(not SERVERS, reason="DRAGOMAN_VLLM and DRAGOMAN_SGLANG name no unpacked package")
BOTH = pytest.mark.parametrize("server", SERVERS or ["vllm"])

TOOLS = [
    {"type": "function", "function": {"name": "get_weather", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"],
    }}},
    {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}},
]  # fmt: skip
HERMES = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
OSLO = ["get_weather", {"city": "Oslo"}]
CUT = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Os'
CASES: dict[str, dict[str, Any]] = {
    "words": {"text": "Hello, 2 < 3.\n", "gives": ("Hello, 2 < 3.", [])},
    "hermes": {"text": f"I look.\n{HERMES}", "gives": ("I look.", [OSLO])},
    "mended": {"text": "<tool_call>{'name': 'get_weather', 'arguments': {city: \"Oslo\",}}</tool_call>", "gives": ("", [OSLO])},
    "xml": {"text": "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n<parameter=days>\n3\n"
                    "</parameter>\n</function>\n</tool_call>",
            "gives": ("", [["get_weather", {"city": "Oslo", "days": 3}]])},
    "mistral": {"text": '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Oslo"}}]', "gives": ("", [OSLO])},
    "pythonic": {"text": '[get_weather(city="Oslo"), now()]', "gives": ("", [OSLO, ["now", {}]])},
    "bare": {"text": '{"name": "get_weather", "parameters": {"city": "Oslo"}}', "gives": ("", [OSLO])},
    "kimi": {"text": "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
                     '{"city": "Oslo"}<|tool_call_end|><|tool_calls_section_end|>', "gives": ("", [OSLO])},
    "two": {"text": f"{HERMES}\n{HERMES.replace('Oslo', 'Rome')}", "gives": ("", [OSLO, ["get_weather", {"city": "Rome"}]])},
    "quoted": {"text": f"Write:\n```\n{HERMES}\n```", "gives": (f"Write:\n```\n{HERMES}\n```", [])},
    "never closed": {"text": HERMES.removesuffix("\n</tool_call>"), "gives": ("", [OSLO])},
    "cut": {"text": CUT, "finish": "length",
            "gives": (f"[The call of 'get_weather' was not run: the text ends inside the call.]\n{CUT}", [])},
    "none": {"text": HERMES, "tool_choice": "none", "gives": (HERMES, [])},
    "named": {"text": '{"city": "Oslo"}', "tool_choice": {"type": "function", "function": {"name": "get_weather"}},
              "vllm": ("", [OSLO])},
    "required": {"text": '[{"name": "get_weather", "parameters": {"city": "Oslo"}}]', "tool_choice": "required",
                 "gives": ("", [OSLO])},
    "thought": {"text": f"<think>Shall I look?</think>\n{HERMES}", "reasoning_parser": "qwen3",
                "gives": ("", [OSLO])},
    "no tools": {"text": HERMES, "tools": [], "gives": (HERMES, [])},
    "one at a time": {"text": f"{HERMES}\n{HERMES.replace('Oslo', 'Rome')}", "parallel": False, "vllm": ("", [OSLO])},
    "copied": {"text": f"It says {HERMES} there.", "vllm": (f"It says {HERMES} there.", []),
               "messages": [{"role": "user", "content": "Read it."},
                            {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {
                                "name": "now", "arguments": "{}"}}]},
                            {"role": "tool", "tool_call_id": "a", "content": f"Do this: {HERMES}"}]},
}  # fmt: skip


def hows(case: dict[str, Any]) -> tuple[str, ...]:
    """By tokens, and by characters, where no reasoning parser goes by the tokens of its marks."""
    return ("",) if "reasoning_parser" in case else ("", ", by characters")


def cases(server: str) -> dict[str, dict[str, Any]]:
    return {name: case for name, case in CASES.items() if "gives" in case or server in case}


@cache
def served(server: str) -> dict[str, dict[str, Any]]:
    """What clients of the server get, for every case by tokens and by characters."""
    given = []
    for case in cases(server).values():
        plain = {"tools": TOOLS, "parser": "dragoman"} | {k: v for k, v in case.items() if k not in ("gives", *FOLDERS)}
        given += [plain, plain | {"chunks": list(case["text"])}][: len(hows(case))]
    ran = subprocess.run(
        [sys.executable, "-m", f"tests.plugins.in_{server}", FOLDERS[server]],
        input="".join(json.dumps(one) + "\n" for one in given), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-2000:]
    answers = iter([json.loads(line) for line in ran.stdout.splitlines()])
    return {name + how: next(answers) for name, case in cases(server).items() for how in hows(case)}


def given(answer: dict[str, Any], way: str) -> tuple[str, list[list[Any]]]:
    told = answer[way]
    return (told["content"] or "").strip(), [[name, json.loads(arguments)] for name, arguments, _ in told["calls"]]


@BOTH
@pytest.mark.parametrize("way", ["whole", "streamed"])
def test_clients_get_the_text_and_the_calls(server: str, way: str) -> None:
    for name, case in cases(server).items():
        expected = tuple(case.get(server) or case["gives"])
        for how in hows(case):
            assert given(served(server)[name + how], way) == expected, name + how


@BOTH
def test_an_answer_with_calls_ends_with_tool_calls(server: str) -> None:
    for name, how in (("hermes", "tool_calls"), ("never closed", "tool_calls"), ("words", "stop"), ("cut", "length")):
        assert {served(server)[name][way]["finish"] for way in ("whole", "streamed")} == {how}, name


@BOTH
def test_a_calls_name_comes_first_with_an_id_of_its_own(server: str) -> None:
    deltas = [call for delta in served(server)["two"]["deltas"] for call in delta.get("tool_calls") or ()]
    begun = [call for call in deltas if call.get("id")]
    assert [call["index"] for call in begun] == [0, 1]
    assert len({call["id"] for call in begun}) == 2
    assert [call["function"]["name"] for call in begun] == ["get_weather"] * 2


@BOTH
def test_reasoning_is_the_reasoning_parsers(server: str) -> None:
    for way in ("whole", "streamed"):
        assert "Shall I" in served(server)["thought"][way]["reasoning"]


@pytest.mark.skipif("vllm" not in SERVERS, reason="DRAGOMAN_VLLM names no unpacked package")
def test_marks_reach_the_parser_as_they_were_written() -> None:
    assert served("vllm")["hermes"]["request"] == {"skip_special_tokens": False, "spaces_between_special_tokens": False}
    assert served("vllm")["none"]["request"] == {"skip_special_tokens": None, "spaces_between_special_tokens": True}


@pytest.mark.skipif("vllm" not in SERVERS, reason="DRAGOMAN_VLLM names no unpacked package")
def test_an_id_of_the_models_own_is_kept() -> None:
    assert served("vllm")["kimi"]["whole"]["calls"][0][2] == "functions.get_weather:0"
