# ruff: noqa: E501 -- bodies of APIs, read across
"""The forty hard cells of the wires (`tests/matrix/forty.jsonl`) through LiteLLM's SDK, by the rules ours are scored by.

Run it with a Python that has litellm and mcp, from the root: `PYTHONPATH=. python bench/forty_litellm.py`.  Requests go to
a server in this process.  Each cell is tried with `drop_params` off and on, and the better counts; a parameter refused
aloud counts as told; what is right in another spelling (Gemini's snake case, Responses instead of chat upstream,
citations in `provider_specific_fields`, other ids of calls) counts as right.
"""

from __future__ import annotations

import asyncio
import copy
import json
import os
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from tests.matrix.rules import cells, is_right

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "TOGETHERAI_API_KEY")
os.environ.update({"LITELLM_LOCAL_MODEL_COST_MAP": "True", "AWS_REGION_NAME": "us-east-1", "LITELLM_LOG": "CRITICAL", **dict.fromkeys(KEYS, "k")})

import litellm  # noqa: E402
from litellm.anthropic_interface import messages  # noqa: E402
from litellm.google_genai import generate_content  # noqa: E402

litellm.suppress_debug_info = True
ELSEWHERE: dict[str, list[list[dict[str, Any]]]] = {
    "budget-to-effort-gpt51": [[{"at": "reasoning.effort", "in": ["medium", "high"]}]],
    "image-detail-gemini3": [[{"at": "contents[0].parts[0].mediaResolution.level", "is": "MEDIA_RESOLUTION_HIGH"}]],
    "claude-citation-to-chat": [[{"answer": "choices[0].message.provider_specific_fields.citations[0][0].url", "is": "https://example.org/a"}]],
    "encrypted-reasoning-over-chat": [[{"at": "input[type=reasoning].encrypted_content", "has": "c2lnbmF0dXJl"}]],
}
"""Right in LiteLLM's own way."""
USED = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
DETAILS = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
PREFIX = {"openai_chat": "openai/", "openai_responses": "openai/responses/", "anthropic_messages": "anthropic/", "gemini": "gemini/",
          "ollama_chat": "ollama_chat/", "bedrock_converse": "bedrock/converse/"}  # fmt: skip


def plain(path: str, text: str) -> dict[str, Any]:
    """The plainest answer of whatever API is asked at `path`."""
    said = {"role": "assistant", "content": text}
    answers: dict[str, dict[str, Any]] = {
        "/chat/completions": {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": said}],
                              "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}},
        "/responses": {"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "m", "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
                       "output": [{"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]}],
                       "usage": {**USED, **DETAILS}},
        "/messages": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": None, "usage": USED},
        "enerateContent": {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": 0}], "usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 2}},
        "/api/": {"model": "m", "created_at": "2026-11-22T00:00:00Z", "message": said, "done": True, "done_reason": "stop", "prompt_eval_count": 1, "eval_count": 1},
        "converse": {"output": {"message": {"role": "assistant", "content": [{"text": text}]}}, "stopReason": "end_turn", "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}},
    }  # fmt: skip
    return next((body for part, body in answers.items() if part in path), {})


class Backend(BaseHTTPRequestHandler):
    """Every backend: keeps what it was sent, and answers as the cell says."""

    sent: ClassVar[list[Any]] = []
    cell: ClassVar[dict[str, Any]] = {}

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"{}")
        if self.path.endswith("/api/show"):
            out: Any = {"capabilities": ["tools", "thinking"], "model_info": {}}
        else:
            Backend.sent.append(body)
            enum = Backend.cell["id"] == "enum-gemini-chat"
            out = plain(self.path, "blue" if enum else "ok") if enum or "answer" not in Backend.cell else Backend.cell["answer"]
        data = json.dumps(out).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        return None


def ask(cell: dict[str, Any], body: dict[str, Any], base: str) -> Any:
    """What LiteLLM gives its caller, as JSON."""
    front, back, body = cell["front"], cell["backend"], copy.deepcopy(body)
    common: dict[str, Any] = {"api_base": base + ("/v1" if back.startswith("openai") else ""), "api_key": "k", "timeout": 20}
    if back == "bedrock_converse":
        common = {"aws_bedrock_runtime_endpoint": base, "api_base": base, "timeout": 20}
    bare = PREFIX[back].replace("responses/", "") + cell["model"]
    if front == "openai_chat":
        return dumped(litellm.completion(model=PREFIX[back] + cell["model"], **body, **common))
    if front == "openai_responses":  # an openai/ model would be asked over Responses, not over chat
        return dumped(litellm.responses(model=f"together_ai/{cell['model']}" if back == "openai_chat" else bare, **body, **common))
    if front == "anthropic_messages":
        litellm.use_chat_completions_url_for_anthropic_messages = back == "openai_chat"
        return dumped(asyncio.run(messages.acreate(model=bare, **body, **common)))
    config = dict(body.get("generationConfig", {}))
    return dumped(generate_content(model=PREFIX[back] + cell["model"], contents=body["contents"], config=config, tools=body.get("tools"), **common))


def dumped(value: Any) -> Any:
    text = value.model_dump_json() if hasattr(value, "model_dump_json") else json.dumps(value, default=lambda one: one.model_dump() if hasattr(one, "model_dump") else str(one))
    return json.loads(text)


def gone_on(front: str, body: dict[str, Any], got: Any) -> dict[str, Any]:
    """The client's next request: everything echoed, and a result for each call."""
    if front == "openai_chat":
        said = {key: value for key, value in got["choices"][0]["message"].items() if value is not None}
        results = [{"role": "tool", "tool_call_id": call["id"], "content": "r"} for call in said["tool_calls"]]
        return {**body, "messages": [*body["messages"], said, *results]}
    if front == "openai_responses":
        items = [{key: value for key, value in item.items() if value is not None} for item in got["output"]]
        results = [{"type": "function_call_output", "call_id": item["call_id"], "output": "r"} for item in items if item["type"] == "function_call"]
        return {**body, "input": [*body["input"], *items, *results]}
    results = [{"type": "tool_result", "tool_use_id": one["id"], "content": "r"} for one in got["content"] if one["type"] == "tool_use"]
    return {**body, "messages": [*body["messages"], {"role": "assistant", "content": got["content"]}, {"role": "user", "content": results}]}


def run(cell: dict[str, Any], base: str) -> tuple[Any, Any, str, bool]:
    """What was sent last, what the caller got first, what it was told, and whether it was refused."""
    Backend.cell, body, got = cell, dict(cell["request"]), None
    Backend.sent.clear()
    if cell.get("echo") and cell["front"] == "openai_responses":
        body["input"] = [{"role": "user", "content": "hi"}]
    try:
        got = ask(cell, body, base)
        if cell.get("echo"):
            Backend.sent.clear()
            ask(cell, gone_on(cell["front"], body, got), base)
    except Exception as error:  # whatever it raises is what its caller is told
        return (Backend.sent[0] if Backend.sent else None), got, repr(error), not Backend.sent
    return (Backend.sent[0] if Backend.sent else None), got, "", False


def camel(value: Any) -> Any:
    """Keys of Gemini in one spelling: its API takes both."""
    if isinstance(value, dict):
        return {re.sub(r"_([a-z])", lambda found: found[1].upper(), key): camel(one) for key, one in value.items()}
    return [camel(one) for one in value] if isinstance(value, list) else value


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Backend)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    right = 0
    for cell in cells():
        cell["right"] += ELSEWHERE.get(cell["id"], [])
        found = False
        for drop in (False, True):
            litellm.drop_params = drop
            sent, got, told, refused = run(cell, f"http://127.0.0.1:{server.server_port}")
            found = found or is_right(cell, camel(sent) if cell["backend"] == "gemini" else sent, got, told, refused=refused)
        right += found
        print("right" if found else "wrong", cell["id"])
    print(f"{right} of 40")


if __name__ == "__main__":
    main()
