"""Answers read by vLLM's own serving code, in a process of its own: JSON lines of cases in, of what came of them out.

Run with the folder vLLM was unpacked in.  A case: `text`, `chunks` (None: by token), `tools`, `parser`, and if need be
`reasoning_parser`, `tool_choice`, `messages`, `prompt`, `finish`, `parallel`.  What came of it: `whole` and `streamed`,
each `{content, reasoning, calls: [[name, arguments, id] …], finish}` or `{error}`; `deltas`; `request` as adjusted.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import re
import sys
from pathlib import Path
from typing import Any

from tests.plugins import stand_ins
from tests.plugins.tokens import Tokenizer

ROOTS = [
    "torch", "xgrammar", "triton", "compressed_tensors", "zmq",
    *(f"vllm.{room}" for room in (
        "_C", "compilation", "config", "distributed", "engine", "env_override", "inputs", "lora", "model_executor",
        "multimodal", "outputs", "platforms", "transformers_utils", "triton_utils", "utils.torch_utils", "v1",
    )),
]  # fmt: skip
MARK = re.compile(r"\]<\]\w+\[>\[|<[^<>\s\"'=]{1,40}>|\[/?[A-Z_]{3,}\]")
WRITTEN = re.compile(r"[\"'](<[^\s\"'{}()\\]{1,40}>|\[/?[A-Z_]{3,}\])[\"']")


def marks(folder: Path) -> set[str]:
    """The marks that vLLM's parsers name."""
    rooms = ("tool_parsers", "parser", "reasoning")
    files = [file for room in rooms for file in (folder / "vllm" / room).rglob("*.py")]
    return {mark for file in files for mark in WRITTEN.findall(file.read_text(encoding="utf-8"))}


class Server:
    """vLLM's chat serving from the decoded text on: parsers, stream steps and the assembling of messages."""

    def __init__(self, folder: Path) -> None:
        stand_ins.install(folder, "vllm", ROOTS)
        logging.disable(logging.CRITICAL)
        os.environ["VLLM_ENFORCE_STRICT_TOOL_CALLING"] = "0"  # constrained decoding is xgrammar's, which stands in
        load = importlib.import_module
        self.managers = load("vllm.parser.parser_manager").ParserManager
        self.protocol = load("vllm.entrypoints.openai.chat_completion.protocol")
        self.processors = load("vllm.entrypoints.openai.chat_completion.stream_processor")
        self.assembly = load("vllm.entrypoints.openai.chat_completion.message_assembly")
        self.ends = load("vllm.entrypoints.serve.utils.tool_calls_utils")
        load("vllm.tool_parsers").ToolParserManager.import_tool_parser("dragoman.plugins.vllm_parser")
        self.marks = marks(folder)

    def serve(self, case: dict[str, Any]) -> dict[str, Any]:
        """What the server's client gets."""
        tokenizer = Tokenizer(self.marks | set(MARK.findall(case["text"])))
        kinds = self.managers.get_parser(
            tool_parser_name=case["parser"], reasoning_parser_name=case.get("reasoning_parser"),
            enable_auto_tools=True, tokenizer=tokenizer,
        )  # fmt: skip
        given: dict[str, Any] = {}
        for way in (self._whole, self._streamed):
            request = self.request(case)
            try:
                parser = kinds(tokenizer, request.tools)
                request = parser.adjust_request(request)
                given |= {way.__name__[1:]: way(case, parser, request, kinds, tokenizer)}
            except Exception as error:  # a parser's own
                given |= {way.__name__[1:]: {"error": f"{type(error).__name__}: {error}"}}
        given["deltas"] = given["streamed"].pop("deltas", [])
        given["request"] = {key: getattr(request, key) for key in ("skip_special_tokens", "spaces_between_special_tokens")}
        return given

    def request(self, case: dict[str, Any]) -> Any:
        """The request that the case comes with, as vLLM's protocol has it."""
        return self.protocol.ChatCompletionRequest.model_validate({
            "model": "m",
            "messages": case.get("messages") or [{"role": "user", "content": "Do it."}],
            "tools": case["tools"] or None,
            **({"tool_choice": case.get("tool_choice", "auto")} if case["tools"] else {}),
            **({"parallel_tool_calls": case["parallel"]} if "parallel" in case else {}),
        })

    def _whole(self, case: dict[str, Any], parser: Any, request: Any, kinds: Any, tokenizer: Any) -> dict[str, Any]:
        ids = tokenizer.encode(case["text"])
        found = parser.parse(case["text"], request, enable_auto_tools=True, model_output_token_ids=ids)
        told = self.assembly.assemble_chat_message_fields(request, *found, enable_auto_tools=True, parser_cls=kinds)
        calls = [[call.function.name, call.function.arguments, call.id] for call in told.tool_calls]
        finish = self.ends.resolve_finish_reason(case.get("finish", "stop"), request, bool(calls))
        return {"content": told.content, "reasoning": told.reasoning, "calls": calls, "finish": finish}

    def _streamed(self, case: dict[str, Any], parser: Any, request: Any, kinds: Any, tokenizer: Any) -> dict[str, Any]:
        processor = self.processors.ChatStreamProcessor(request, parser, enable_auto_tools=True, parser_cls=kinds)
        chunks = case.get("chunks") or tokenizer.tokenize(case["text"]) or [""]
        prompt = tokenizer.encode(case.get("prompt", ""))
        told: dict[str, Any] = {"content": "", "reasoning": "", "calls": [], "finish": None, "deltas": []}
        calls: dict[int, list[Any]] = {}
        for n, chunk in enumerate(chunks):
            finish = case.get("finish", "stop") if n == len(chunks) - 1 else None
            step = processor.step(chunk, tokenizer.encode(chunk), finish, prompt)
            told["finish"] = step.finish_reason
            if step.delta is None:
                continue
            delta = json.loads(step.delta.model_dump_json(exclude_unset=True))
            told["deltas"].append(delta)
            told["content"] += delta.get("content") or ""
            told["reasoning"] += delta.get("reasoning") or ""
            for call in delta.get("tool_calls", ()):
                made = calls.setdefault(call["index"], ["", "", None])
                function = call.get("function") or {}
                made[0] += function.get("name") or ""
                made[1] += function.get("arguments") or ""
                made[2] = made[2] or call.get("id")
        told["calls"] = [calls[index] for index in sorted(calls)]
        return told


def main() -> None:
    """Serve the cases of standard input."""
    out = sys.stdout
    sys.stdout = sys.stderr  # what vLLM prints is not an answer
    server = Server(Path(sys.argv[1]))
    for line in sys.stdin:
        try:
            answer = server.serve(json.loads(line))
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(answer) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
