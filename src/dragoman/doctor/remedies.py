"""What helps where a probe failed: a row for each server that has a remedy of its own, and one for all others.

Data only.  Sources: the servers' own documentation, named in their rows of `providers/rows.py`; peers.md §3 (what
users of them were told when it did not work).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Ill(StrEnum):
    """What a remedy is for."""

    NO_TOOLS = "no_tools"
    LEAKS = "leaks"
    CONTEXT = "context"
    FORCED = "forced"
    CONSTRAINT = "constraint"
    SILENT = "silent"
    STREAM = "stream"


GENERAL: Mapping[Ill, str] = {
    Ill.NO_TOOLS: "nothing to do: dragoman tells the tools as text and reads the answer",
    Ill.LEAKS: "nothing to do: dragoman reads the calls out of the text",
    Ill.CONTEXT: "raise the context the server runs the model with, or set budget so that tools are told briefly",
    Ill.FORCED: "nothing to do: dragoman checks the answer and asks again",
    Ill.CONSTRAINT: "nothing to do: dragoman checks the answer's form and asks again",
    Ill.STREAM: "clients get each answer at once; look for a proxy that buffers in between, or update the server",
    Ill.SILENT: "try a larger model, or one that was taught tool calling",
}
BY_SERVER: Mapping[tuple[str, Ill], str] = {
    ("ollama", Ill.NO_TOOLS): "dragoman tells tools as text; or pull a model whose template has tools (ollama show)",
    ("ollama", Ill.CONTEXT): "set OLLAMA_CONTEXT_LENGTH for the server, or num_ctx for the model: the default is small",
    ("llamacpp", Ill.NO_TOOLS): "start llama-server with --jinja; until then dragoman tells the tools as text",
    ("llamacpp", Ill.LEAKS): "start llama-server with --jinja and the model's own --chat-template-file",
    ("llamacpp", Ill.CONTEXT): "start llama-server with a larger -c (0 takes what the model was trained with)",
    ("vllm", Ill.NO_TOOLS): "start vLLM with --enable-auto-tool-choice and the model's --tool-call-parser",
    ("vllm", Ill.LEAKS): "start vLLM with the --tool-call-parser of this model's dialect",
    ("vllm", Ill.CONTEXT): "start vLLM with a larger --max-model-len",
    ("sglang", Ill.NO_TOOLS): "start SGLang with --tool-call-parser",
    ("sglang", Ill.LEAKS): "start SGLang with the --tool-call-parser of this model's dialect",
    ("sglang", Ill.CONTEXT): "start SGLang with a larger --context-length",
    ("lmstudio", Ill.CONTEXT): "raise Context Length where the model is loaded in LM Studio",
}


def remedy(provider: str, ill: Ill) -> str:
    """What to do, in one line."""
    return BY_SERVER.get((provider, ill), GENERAL[ill])
