"""SGLang's tool-call detectors, taken from its wheel without its server: `load(folder)`.

`folder` holds `sglang/srt/function_call` as the wheel packs it (`pip download sglang --no-deps`, then unzip that part).
What they import from the server is replaced by the few names they use: the `Tool` of the API, one environment switch.
They need `orjson`, `partial-json-parser` and `pydantic`.  Nothing of theirs is kept here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

ROOT = "sglang.srt"
# our dialect → its module and class
DETECTORS: Mapping[str, tuple[str, str]] = {
    "hermes": ("hermes_detector", "HermesDetector"),
    "qwen3_coder": ("qwen3_coder_detector", "Qwen3CoderDetector"),
    "glm45": ("glm4_moe_detector", "Glm4MoeDetector"),
    "kimi_k2": ("kimik2_detector", "KimiK2Detector"),
    "deepseek_v3": ("deepseekv3_detector", "DeepSeekV3Detector"),
    "deepseek_v31": ("deepseekv31_detector", "DeepSeekV31Detector"),
    "deepseek_v32": ("deepseekv32_detector", "DeepSeekV32Detector"),
    "mistral": ("mistral_detector", "MistralDetector"),
    "llama3_json": ("llama32_detector", "Llama32Detector"),
    "pythonic": ("pythonic_detector", "PythonicDetector"),
    "minimax_m2": ("minimax_m2", "MinimaxM2Detector"),
    "gigachat3": ("gigachat3_detector", "GigaChat3Detector"),
    "gemma4": ("gemma4_detector", "Gemma4Detector"),
    "lfm2": ("lfm2_detector", "Lfm2Detector"),
    "internlm2": ("internlm_detector", "InternlmDetector"),
    "step3": ("step3_detector", "Step3Detector"),
    "harmony": ("gpt_oss_detector", "GptOssDetector"),
}


Found = list[tuple[str, Any]]
"""Calls: their names and arguments."""


def load(folder: Path, tools: Sequence[Mapping[str, Any]]) -> dict[str, Callable[[str], Any]]:
    """Dialect → a function from a text to what the detector finds in it whole; `calls_of` reads that."""
    return {dialect: _reader(make, known) for dialect, make, known in _makers(folder, tools)}


def streaming(folder: Path, tools: Sequence[Mapping[str, Any]]) -> dict[str, Callable[[], Callable[[str, bool], Any]]]:
    """Dialect → what begins a stream: a function from a piece, and whether it is the last, to what was found."""
    return {dialect: _stream(make, known) for dialect, make, known in _makers(folder, tools)}


def _makers(folder: Path, tools: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Callable[[], Any], list[Any]]]:
    """Each dialect, what makes its detector, and the tools as the detectors want them."""
    _stand_in(folder)
    protocol = import_module(f"{ROOT}.entrypoints.openai.protocol")
    known = [protocol.Tool(function=protocol.Function(**tool)) for tool in tools]
    for dialect, (module, name) in DETECTORS.items():
        try:
            make = getattr(import_module(f"{ROOT}.function_call.{module}"), name)
            make()
        except Exception as why:  # a peer's own trouble: told, and left out of the table
            print(f"left out: SGLang {module}: {type(why).__name__}: {why}", file=sys.stderr)
            continue
        yield dialect, make, known


def _reader(make: Callable[[], Any], tools: Sequence[Any]) -> Callable[[str], Any]:
    return lambda text: make().detect_and_parse(text, tools)


def _stream(make: Callable[[], Any], tools: Sequence[Any]) -> Callable[[], Callable[[str, bool], Any]]:
    def start() -> Callable[[str, bool], Any]:
        read = make().parse_streaming_increment
        return lambda piece, _last: read(piece, tools)

    return start


def calls_of(peer: Callable[[str], Any], text: str) -> Found:
    """The calls that the detector reads in a text; none where it raises."""
    try:
        return [(call.name, json.loads(call.parameters)) for call in peer(text).calls]
    except Exception:  # whatever it raises, it has read nothing
        return []


def _stand_in(folder: Path) -> None:
    """Packages without their start-up code, and what the detectors take from the server."""
    from pydantic import BaseModel  # noqa: PLC0415 -- only for this bench

    class Function(BaseModel):
        name: str
        description: str | None = None
        parameters: dict[str, Any] | None = None
        strict: bool | None = None

    class Tool(BaseModel):
        type: str = "function"
        function: Function

    for package in (
        "sglang",
        ROOT,
        f"{ROOT}.function_call",
        f"{ROOT}.parser",
        f"{ROOT}.entrypoints",
        f"{ROOT}.entrypoints.openai",
    ):
        module = sys.modules.setdefault(package, ModuleType(package))
        module.__path__ = [str(folder / package.replace(".", "/"))]
    switch = SimpleNamespace(get=lambda: False)
    standing_in: dict[str, dict[str, Any]] = {
        f"{ROOT}.entrypoints.openai.protocol": {"Tool": Tool, "Function": Function, "ToolChoice": object},
        f"{ROOT}.environ": {
            "envs": SimpleNamespace(SGLANG_FORWARD_UNKNOWN_TOOLS=switch, SGLANG_TOOL_STRICT_LEVEL=switch)
        },
    }
    for name, names in standing_in.items():
        module = sys.modules.setdefault(name, ModuleType(name))
        module.__dict__.update(names)
