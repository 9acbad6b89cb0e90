"""How backends answer: whole bodies from what they say, and the streams that tell the same.

Written by hand after each vendor's SDK types and recorded streams; knows no codec.  Text goes out in two pieces, so that
nothing is read that only a whole one would show.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dragoman.codecs.shared.frames import Frame, FrameKind, writers

from .table import A, B, C, G, H, L, R, X

Body = dict[str, Any]
SSE, AWS, LINES = "text/event-stream", "application/vnd.amazon.eventstream", "application/x-ndjson"


# ── whole ────────────────────────────────────────────────────────────────────


def chat(message: Body, finish: str = "stop", *, choice: Body | None = None, usage: Body | None = None, **more: Any) -> Body:
    first = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": None, **message}, **(choice or {})}
    usage = usage or {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": "up", "choices": [first], "usage": usage, **more}


def responses(*items: Body, usage: Body | None = None, **more: Any) -> Body:
    usage = usage or {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}
    return {"id": "resp_1", "object": "response", "created_at": 1, "model": "up", "status": "completed", "error": None, "incomplete_details": None,
            "output": list(items), "usage": usage, **more}  # fmt: skip


def message(text: str, **part: Any) -> Body:
    content = [{"type": "output_text", "text": text, "annotations": [], **part}]
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}


def messages(*blocks: Body, stop: str = "end_turn", usage: Body | None = None, **more: Any) -> Body:
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": "up", "content": list(blocks), "stop_reason": stop, "stop_sequence": None,
            "usage": {"input_tokens": 11, "output_tokens": 7, **(usage or {})}, **more}  # fmt: skip


def gemini(*parts: Body, finish: str = "STOP", usage: Body | None = None, top: Body | None = None, **candidate: Any) -> Body:
    usage = usage or {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
    first = {"content": {"role": "model", "parts": list(parts)}, "finishReason": finish, "index": 0, **candidate}
    return {"candidates": [first], "usageMetadata": usage, "modelVersion": "up", "responseId": "g1", **(top or {})}


def ollama(said: Body, done: str = "stop", **more: Any) -> Body:
    return {"model": "up", "created_at": "2026-11-22T00:00:00Z", "message": {"role": "assistant", "content": "", **said}, "done": True, "done_reason": done,
            "total_duration": 9, "prompt_eval_count": 11, "eval_count": 7, **more}  # fmt: skip


def converse(*blocks: Body, stop: str = "end_turn", usage: Body | None = None, **more: Any) -> Body:
    usage = usage or {"inputTokens": 11, "outputTokens": 7, "totalTokens": 18}
    return {"output": {"message": {"role": "assistant", "content": list(blocks)}}, "stopReason": stop, "usage": usage, "metrics": {"latencyMs": 1}, **more}


def cohere(said: Body, finish: str = "COMPLETE", **more: Any) -> Body:
    usage = {"billed_units": {"input_tokens": 11, "output_tokens": 7}, "tokens": {"input_tokens": 11, "output_tokens": 7}}
    return {"id": "h1", "finish_reason": finish, "message": {"role": "assistant", **said}, "usage": usage, **more}


# ── streamed ─────────────────────────────────────────────────────────────────


def _sse(data: Any, event: str = "") -> bytes:
    return f"{f'event: {event}' + chr(10) if event else ''}data: {json.dumps(data)}\n\n".encode()


def halves(text: str) -> tuple[str, ...]:
    return tuple(one for one in (text[: len(text) // 2], text[len(text) // 2 :]) if one)


def chat_stream(body: Body) -> Iterator[bytes]:
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "up", **{k: v for k, v in body.items() if k not in ("id", "object", "choices", "usage")}}
    for choice in body["choices"]:
        place = {"index": choice["index"], "finish_reason": None}
        yield _sse({**base, "choices": [{**place, "delta": {"role": "assistant", "content": ""}}]})
        for delta in _chat_deltas(choice["message"]):
            held = {"logprobs": choice["logprobs"]} if "logprobs" in choice and delta == _first_text(choice["message"]) else {}
            yield _sse({**base, "choices": [{**place, "delta": delta, **held}]})
        yield _sse({**base, "choices": [{"index": choice["index"], "delta": {}, "finish_reason": choice["finish_reason"]}]})
    yield _sse({**base, "choices": [], "usage": body["usage"]})
    yield b"data: [DONE]\n\n"


def _first_text(said: Body) -> Body:
    return {"content": halves(said["content"])[0]}


def _chat_deltas(said: Body) -> Iterator[Body]:
    order = ("reasoning", "reasoning_content", "reasoning_details", "content", "refusal", "annotations", "images", "audio")
    for key in sorted((key for key in said if key not in ("role", "tool_calls")), key=lambda key: order.index(key) if key in order else 9):
        value = said[key]
        if isinstance(value, str):
            yield from ({key: half} for half in halves(value))
        elif value is not None:
            yield {key: value}
    for index, one in enumerate(said.get("tool_calls", ())):
        yield {"tool_calls": [{**one, "index": index, "function": {"name": one["function"]["name"], "arguments": ""}}]}
        yield from ({"tool_calls": [{"index": index, "function": {"arguments": half}}]} for half in halves(one["function"]["arguments"]))


def responses_stream(body: Body) -> Iterator[bytes]:
    events: list[tuple[str, Body]] = [("response.created", {"response": {**body, "output": [], "status": "in_progress", "usage": None, "incomplete_details": None}})]
    for index, item in enumerate(body["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        bare = {**item, **{k: v for k, v in (("summary", []), ("content", []), ("arguments", ""), ("result", None)) if k in item}}
        events.append(("response.output_item.added", {"output_index": index, "item": bare}))
        for at, part in enumerate(item.get("summary", ())):
            events += [("response.reasoning_summary_text.delta", {**place, "summary_index": at, "delta": half}) for half in halves(part["text"])]
        for at, part in enumerate(item.get("content", ()) if item["type"] == "message" else ()):
            empty = {**part, **({"text": ""} if "text" in part else {"refusal": ""}), **({"annotations": []} if "annotations" in part else {})}
            events.append(("response.content_part.added", {**place, "content_index": at, "part": empty}))
            events += [(kind, {**place, "content_index": at, **data}) for kind, data in _responses_part(part)]
            events.append(("response.content_part.done", {**place, "content_index": at, "part": part}))
        if item["type"] == "function_call":
            events += [("response.function_call_arguments.delta", {**place, "delta": half}) for half in halves(item["arguments"])]
            events.append(("response.function_call_arguments.done", {**place, "arguments": item["arguments"]}))
        events.append(("response.output_item.done", {"output_index": index, "item": item}))
    events.append((f"response.{body['status']}", {"response": body}))
    yield from (_sse({"type": kind, "sequence_number": n, **data}, kind) for n, (kind, data) in enumerate(events))


def _responses_part(part: Body) -> Iterator[tuple[str, Body]]:
    if part["type"] == "refusal":
        yield from (("response.refusal.delta", {"delta": half}) for half in halves(part["refusal"]))
        yield "response.refusal.done", {"refusal": part["refusal"]}
        return
    for n, half in enumerate(halves(part["text"])):
        yield "response.output_text.delta", {"delta": half, "logprobs": part.get("logprobs", []) if n == 0 else []}
    for n, one in enumerate(part.get("annotations", ())):
        yield "response.output_text.annotation.added", {"annotation_index": n, "annotation": one}
    yield "response.output_text.done", {"text": part["text"], "logprobs": part.get("logprobs", [])}


def messages_stream(body: Body) -> Iterator[bytes]:
    first = {**body, "content": [], "stop_reason": None, "stop_sequence": None, "usage": {**body["usage"], "output_tokens": 1}}
    first.pop("stop_details", None)
    yield _sse({"type": "message_start", "message": first}, "message_start")
    for index, block in enumerate(body["content"]):
        empty, deltas = _messages_block(block)
        yield _sse({"type": "content_block_start", "index": index, "content_block": empty}, "content_block_start")
        for delta in deltas:
            yield _sse({"type": "content_block_delta", "index": index, "delta": delta}, "content_block_delta")
        yield _sse({"type": "content_block_stop", "index": index}, "content_block_stop")
    end = {key: body[key] for key in ("stop_reason", "stop_sequence", "stop_details", "container") if key in body}
    yield _sse({"type": "message_delta", "delta": end, "usage": body["usage"]}, "message_delta")
    yield _sse({"type": "message_stop"}, "message_stop")


def _messages_block(block: Body) -> tuple[Body, list[Body]]:
    match block["type"]:
        case "text":
            cited = [{"type": "citations_delta", "citation": one} for one in block.get("citations", ())]
            return {"type": "text", "text": ""}, [*({"type": "text_delta", "text": half} for half in halves(block["text"])), *cited]
        case "thinking":
            told = [{"type": "thinking_delta", "thinking": half} for half in halves(block["thinking"])]
            return {**block, "thinking": "", "signature": ""}, [*told, {"type": "signature_delta", "signature": block["signature"]}]
        case "tool_use" | "server_tool_use":
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": half} for half in halves(json.dumps(block["input"]))]
    return block, []


def gemini_stream(body: Body) -> Iterator[bytes]:
    rest = {key: value for key, value in body.items() if key not in ("candidates", "usageMetadata")}
    for candidate in body["candidates"]:
        at = {"index": candidate["index"]}
        for part in candidate["content"]["parts"]:
            pieces = [{**part, "text": half} for half in halves(part["text"])] if "text" in part else [part]
            for piece in pieces:
                yield _sse({"candidates": [{"content": {"role": "model", "parts": [piece]}, **at}], **rest})
        left = {key: value for key, value in candidate.items() if key != "content"}
        yield _sse({"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, **left}], "usageMetadata": body["usageMetadata"], **rest})


def ollama_stream(body: Body) -> Iterator[bytes]:
    said, base = body["message"], {"model": "up", "created_at": body["created_at"]}
    told = {"logprobs": body["logprobs"]} if "logprobs" in body else {}
    for key in ("thinking", "content"):
        for half in halves(said.get(key, "")):
            yield json.dumps({**base, "message": {"role": "assistant", "content": "", key: half}, "done": False, **told}).encode() + b"\n"
            told = {}
    for key in ("tool_calls", "images"):
        if said.get(key):
            yield json.dumps({**base, "message": {"role": "assistant", "content": "", key: said[key]}, "done": False}).encode() + b"\n"
    end = {key: value for key, value in body.items() if key != "logprobs"}
    yield json.dumps({**end, "message": {"role": "assistant", "content": ""}}).encode() + b"\n"


def converse_stream(body: Body) -> Iterator[bytes]:
    write = writers[FrameKind.AWS]
    yield write(Frame(data=json.dumps({"role": "assistant"}), event="messageStart"))
    for index, block in enumerate(body["output"]["message"]["content"]):
        at = {"contentBlockIndex": index}
        if "toolUse" in block:
            start = {"toolUse": {key: block["toolUse"][key] for key in ("toolUseId", "name")}}
            yield write(Frame(data=json.dumps({**at, "start": start}), event="contentBlockStart"))
        for delta in _converse_deltas(block):
            yield write(Frame(data=json.dumps({**at, "delta": delta}), event="contentBlockDelta"))
        yield write(Frame(data=json.dumps(at), event="contentBlockStop"))
    extra = {key: body[key] for key in ("additionalModelResponseFields",) if key in body}
    yield write(Frame(data=json.dumps({"stopReason": body["stopReason"], **extra}), event="messageStop"))
    last = {key: body[key] for key in ("usage", "metrics", "serviceTier", "trace") if key in body}
    yield write(Frame(data=json.dumps(last), event="metadata"))


def _converse_deltas(block: Body) -> Iterator[Body]:
    if "toolUse" in block:
        yield from ({"toolUse": {"input": half}} for half in halves(json.dumps(block["toolUse"]["input"])))
    elif "reasoningContent" in block:
        told = block["reasoningContent"]["reasoningText"]
        yield from ({"reasoningContent": {"text": half}} for half in halves(told["text"]))
        yield {"reasoningContent": {"signature": told["signature"]}}
    else:
        yield from ({"text": half} for half in halves(block["text"]))


def cohere_stream(body: Body) -> Iterator[bytes]:
    said = body["message"]
    yield _sse({"type": "message-start", "id": "h1", "delta": {"message": {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}}})
    for half in halves(said.get("tool_plan", "")):
        yield _sse({"type": "tool-plan-delta", "delta": {"message": {"tool_plan": half}}})
    probable = {"logprobs": body["logprobs"][0]} if "logprobs" in body else {}
    for index, part in enumerate(said.get("content", ())):
        key = part["type"]
        yield _sse({"type": "content-start", "index": index, "delta": {"message": {"content": {"type": key, key: ""}}}})
        for half in halves(part[key]):
            yield _sse({"type": "content-delta", "index": index, "delta": {"message": {"content": {key: half}}}, **probable})
            probable = {}
        yield _sse({"type": "content-end", "index": index})
    for index, one in enumerate(said.get("citations", ())):
        yield _sse({"type": "citation-start", "index": index, "delta": {"message": {"citations": one}}})
        yield _sse({"type": "citation-end", "index": index})
    for index, one in enumerate(said.get("tool_calls", ())):
        empty = {**one, "function": {"name": one["function"]["name"], "arguments": ""}}
        yield _sse({"type": "tool-call-start", "index": index, "delta": {"message": {"tool_calls": empty}}})
        for half in halves(one["function"]["arguments"]):
            yield _sse({"type": "tool-call-delta", "index": index, "delta": {"message": {"tool_calls": {"function": {"arguments": half}}}}})
        yield _sse({"type": "tool-call-end", "index": index})
    yield _sse({"type": "message-end", "id": "h1", "delta": {"finish_reason": body["finish_reason"], "usage": body["usage"]}})


STREAMS: Mapping[str, tuple[Callable[[Body], Iterator[bytes]], str]] = {
    C: (chat_stream, SSE), X: (chat_stream, SSE), R: (responses_stream, SSE), A: (messages_stream, SSE), G: (gemini_stream, SSE),
    L: (ollama_stream, LINES), B: (converse_stream, AWS), H: (cohere_stream, SSE),
}  # fmt: skip
