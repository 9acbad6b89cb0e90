"""Models' names as people and services write them → the normalised ones that rows are matched against.

Knows spellings alone: prefixes of services, shards, quantisations.  Contract: pure; the whole name comes first, then
the rest behind each prefix (`us.anthropic.claude…`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

SHARD = re.compile(r"-\d{5}-of-\d{5}$|\.(?:gguf|safetensors)$")
QUANTISED = re.compile(
    r"[-.@:](?:gguf|ggml|gptq|awq|exl[23]|mlx|fp8|fp16|bf16|f16|nvfp4|mxfp4|int[48]|[2-8](?:\.\d)?-?bits?|dwq|ud|latest"
    r"|w[48]a(?:8|16)|i?q[2-8](?:-[a-z0-9]+)*|g\d+)$"
)
DECIMAL = re.compile(r"(?<=\d)p(?=\d)")
CUT = re.compile(r"[/:@]|\.(?=[a-z])")


def _plain(name: str) -> str:
    name = DECIMAL.sub(".", re.sub(r"[\s_]+", "-", name.strip().casefold()))
    while (shorter := QUANTISED.sub("", SHARD.sub("", name))) != name:
        name = shorter
    return name.replace(":", "-")


def _names(model: str) -> Iterator[str]:
    """Parts of a name that may be the model: all of it, and the rest behind each prefix (`us.anthropic.claude…`)."""
    path = model.replace("\\", "/").rstrip("/")
    yield _plain(path)
    for cut in CUT.finditer(path.casefold()):
        if rest := _plain(path[cut.end() :]):
            yield rest


def spellings(model: str) -> tuple[str, ...]:
    """The normalised names that a row may fit, the whole name first."""
    return tuple(dict.fromkeys(_names(model)))
