"""Remedies where a probe failed: a row for each server that has a remedy of its own, and one for all others.

Data only.  Sources: the servers' own documentation, named in their rows of `providers/rows.py`; peers.md §3 (what
users of them were told when it did not work).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Symptom(StrEnum):
    """Ailments that remedies are for."""

    NO_TOOLS = "no_tools"
    IGNORED = "ignored"
    LEAKS = "leaks"
    CONTEXT = "context"
    FORCED = "forced"
    CONSTRAINT = "constraint"
    SILENT = "silent"
    STREAM = "stream"


GENERAL: Mapping[Symptom, str] = {
    Symptom.NO_TOOLS: "nothing to do: dragoman tells the tools as text and reads the answer",
    Symptom.IGNORED: 'set tools = "text" for this model, or update the server',
    Symptom.LEAKS: "nothing to do: dragoman reads the calls out of the text",
    Symptom.CONTEXT: "raise the context the server runs the model with, or set budget so that tools are told briefly",
    Symptom.FORCED: "nothing to do: dragoman checks the answer and asks again",
    Symptom.CONSTRAINT: "nothing to do: dragoman checks the answer's form and asks again",
    Symptom.STREAM: "clients get each answer at once; look for a proxy that buffers in between, or update the server",
    Symptom.SILENT: "try a larger model, or one that was taught tool calling",
}
BY_SERVER: Mapping[str, Mapping[Symptom, str]] = {
    "ollama": {
        Symptom.NO_TOOLS: "dragoman tells tools as text; or pull a model whose template has tools (ollama show)",
        Symptom.IGNORED: 'set tools = "text" for this model, or pull one whose template has tools (ollama show)',
        Symptom.CONTEXT: "set OLLAMA_CONTEXT_LENGTH for the server, or num_ctx for the model: the default is small",
    },
    "llamacpp": {
        Symptom.NO_TOOLS: "start llama-server with --jinja; until then dragoman tells the tools as text",
        Symptom.IGNORED: 'start llama-server with --jinja, or set tools = "text" for this model',
        Symptom.LEAKS: "start llama-server with --jinja and the model's own --chat-template-file",
        Symptom.CONTEXT: "start llama-server with a larger -c (0 takes what the model was trained with)",
    },
    "vllm": {
        Symptom.NO_TOOLS: "start vLLM with --enable-auto-tool-choice and the model's --tool-call-parser, or Dragoman's"
        " (docs/serving-engines.md)",
        Symptom.IGNORED: 'start vLLM with a --chat-template that has tools, or set tools = "text" for this model',
        Symptom.LEAKS: "start vLLM with the --tool-call-parser of this model's dialect, or with Dragoman's",
        Symptom.CONTEXT: "start vLLM with a larger --max-model-len",
    },
    "sglang": {
        Symptom.NO_TOOLS: "start SGLang with --tool-call-parser, the model's or Dragoman's (docs/serving-engines.md)",
        Symptom.LEAKS: "start SGLang with the --tool-call-parser of this model's dialect, or with Dragoman's",
        Symptom.CONTEXT: "start SGLang with a larger --context-length",
    },
    "lmstudio": {Symptom.CONTEXT: "raise Context Length where the model is loaded in LM Studio"},
}


def remedy(provider: str, symptom: Symptom) -> str:
    """Advice, in one line."""
    return BY_SERVER.get(provider, {}).get(symptom) or GENERAL[symptom]
