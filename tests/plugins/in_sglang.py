"""Answers read by SGLang's own serving code, in a process of its own: JSON lines of cases in, of what came of them out.

Run with the folder SGLang was unpacked in; cases and answers are those of `in_vllm.py`.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.plugins import stand_ins
from tests.plugins.in_vllm import MARK, WRITTEN
from tests.plugins.tokens import Tokenizer

ROOTS = [
    "torch", "xgrammar", "triton", "compressed_tensors", "zmq", "IPython", "sgl_kernel", "sglang.kernels",
    "sglang.multimodal_gen",
    *(f"sglang.srt.{room}" for room in (
        "arg_groups", "configs", "disaggregation", "distributed", "layers", "lora", "managers", "mem_cache",
        "model_executor", "observability", "platforms", "runtime_context", "sampling", "server_args", "speculative",
        "tracing", "utils",
    )),
]  # fmt: skip


class Server:
    """SGLang's chat serving from the decoded text on."""

    def __init__(self, folder: Path) -> None:
        stand_ins.install(folder, "sglang", ROOTS)
        logging.disable(logging.CRITICAL)
        load = importlib.import_module
        load("sglang.srt.plugins").load_plugins()  # as `sglang serve` does before it reads its arguments
        self.registry = load("sglang.srt.function_call.function_call_parser").FunctionCallParser.ToolCallParserEnum
        self.by_entry_point = "dragoman" in self.registry
        if not self.by_entry_point:  # this checkout is not installed
            load("dragoman.plugins.sglang_detector").register()
        self.serving = load("sglang.srt.entrypoints.openai.serving_chat")
        self.protocol = load("sglang.srt.entrypoints.openai.protocol")
        self.reasoning = load("sglang.srt.parser.reasoning_parser").ReasoningParser
        rooms = ("function_call", "parser")
        files = [file for room in rooms for file in (folder / "sglang/srt" / room).rglob("*.py")]
        self.marks = {mark for file in files for mark in WRITTEN.findall(file.read_text(encoding="utf-8"))}

    def serve(self, case: dict[str, Any]) -> dict[str, Any]:
        """What the server's client gets."""
        tokenizer = Tokenizer(self.marks | set(MARK.findall(case["text"])))
        chat = object.__new__(self.serving.OpenAIServingChat)
        chat.tool_call_parser, chat.reasoning_parser = case["parser"], case.get("reasoning_parser")
        chat.tokenizer_manager = SimpleNamespace(tokenizer=tokenizer)
        chat.template_manager = SimpleNamespace(force_reasoning=bool(case.get("opened")), reasoning_config=None)
        chat._encoding_adapter = chat._reasoning_detector = chat.chat_encoding_spec = None
        chat._get_reasoning_from_request = lambda request: False
        given: dict[str, Any] = {}
        for way in (self._whole, self._streamed):
            try:
                given[way.__name__[1:]] = way(case, chat, self._request(case), tokenizer)
            except Exception as error:  # a detector's own
                given[way.__name__[1:]] = {"error": f"{type(error).__name__}: {error}"}
        given["deltas"] = given["streamed"].pop("deltas", [])
        return given

    def _request(self, case: dict[str, Any]) -> Any:
        return self.protocol.ChatCompletionRequest.model_validate({
            "model": "m",
            "messages": [{"role": "user", "content": "Do it."}],
            "tools": case["tools"] or None,
            **({"tool_choice": case.get("tool_choice", "auto")} if case["tools"] else {}),
        })

    def _whole(self, case: dict[str, Any], chat: Any, request: Any, tokenizer: Any) -> dict[str, Any]:
        text, reasoning, calls = case["text"], None, None
        finish: dict[str, Any] = {"type": case.get("finish", "stop"), "matched": None}
        active = chat._tool_call_parsing_active(request)
        if chat.reasoning_parser:
            parser = self.reasoning(
                model_type=chat.reasoning_parser, stream_reasoning=False, force_reasoning=bool(case.get("opened")),
                request=request, tokenizer=tokenizer, tool_call_parser_active=active,
            )  # fmt: skip
            reasoning, text = parser.parse_non_stream(text)
        if active:
            tools = chat._effective_tools(request)
            calls, text, finish = chat._process_tool_calls(text, tools, finish, request.tool_choice)
        made = [[call.function.name, call.function.arguments, call.id] for call in calls or ()]
        return {"content": text, "reasoning": reasoning, "calls": made, "finish": finish["type"]}

    def _streamed(self, case: dict[str, Any], chat: Any, request: Any, tokenizer: Any) -> dict[str, Any]:
        told: dict[str, Any] = {"content": "", "reasoning": "", "calls": [], "deltas": []}
        has_calls: dict[int, bool] = {}
        parsers: dict[int, Any] = {}
        reasoners: dict[int, Any] = {}
        chunks = case.get("chunks") or tokenizer.tokenize(case["text"]) or [""]

        async def run() -> None:
            for n, chunk in enumerate(chunks):
                finish = case.get("finish", "stop") if n == len(chunks) - 1 else None
                async for event in chat._generate_stream_content(
                    content={"text": chunk, "meta_info": {"id": "x"}}, index=0, request=request, created=0,
                    stream_offsets={}, reasoning_parser_dict=reasoners, parser_dict=parsers, has_tool_calls=has_calls,
                    choice_logprobs=None, finish_reason_type=finish, continuous_usage_stats=False, prompt_tokens={},
                    reasoning_tokens={}, completion_tokens={},
                ):  # fmt: skip
                    told["deltas"].append(json.loads(event.removeprefix("data: "))["choices"][0]["delta"])

        asyncio.run(run())
        calls: dict[int, list[Any]] = {}
        for delta in told["deltas"]:
            told["content"] += delta.get("content") or ""
            told["reasoning"] += delta.get("reasoning_content") or ""
            for call in delta.get("tool_calls") or ():
                made = calls.setdefault(call["index"], ["", "", None])
                made[0] += call["function"].get("name") or ""
                made[1] += call["function"].get("arguments") or ""
                made[2] = made[2] or call.get("id")
        told["calls"] = [calls[index] for index in sorted(calls)]
        ended = case.get("finish", "stop")
        told["finish"] = "tool_calls" if has_calls.get(0) and ended == "stop" else ended
        return told


def main() -> None:
    """Serve the cases of standard input."""
    out = sys.stdout
    sys.stdout = sys.stderr
    server = Server(Path(sys.argv[1]))
    for line in sys.stdin:
        try:
            answer = server.serve(json.loads(line))
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps({**answer, "by_entry_point": server.by_entry_point}) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
