"""A call answered on every wire, whole and streamed, in bytes written by hand; and what a request's body says."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dragoman.codecs.shared.frames import Frame, FrameKind, writers
from dragoman.effects import Open
from dragoman.sim.scripted import Answer, ScriptedPeer

from .upstreams import (
    ScriptedReply,
    chat_stream,
    chat_whole,
    messages_stream,
    messages_whole,
    ollama_stream,
    ollama_whole,
)

Arguments = Mapping[str, Any]
USAGE = {"inputTokens": 7, "outputTokens": 5, "totalTokens": 12}


def _sse(*events: tuple[str, Mapping[str, Any]]) -> list[bytes]:
    return [f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode() for name, data in events]


def _aws(*events: tuple[str, Mapping[str, Any]]) -> list[bytes]:
    write = writers[FrameKind.AWS]
    return [write(Frame(data=json.dumps(data), event=name)) for name, data in events]


# ── Responses ────────────────────────────────────────────────────────────────


def _item(call: str, name: str, arguments: str, status: str = "completed") -> dict[str, Any]:
    return {
        "id": "fc_1", "type": "function_call", "call_id": call, "name": name, "arguments": arguments, "status": status,
    }  # fmt: skip


def _answer(output: list[Any], status: str) -> dict[str, Any]:
    usage = {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12}
    return {"id": "r", "object": "response", "model": "up", "status": status, "output": output, "usage": usage}


def responses_whole(call: str, name: str, arguments: Arguments) -> bytes:
    return json.dumps(_answer([_item(call, name, json.dumps(arguments))], "completed")).encode()


def responses_stream(call: str, name: str, arguments: Arguments) -> list[bytes]:
    written, place = json.dumps(arguments), {"output_index": 0, "item_id": "fc_1"}
    done = _item(call, name, written)
    return _sse(
        ("response.created", {"response": _answer([], "in_progress")}),
        ("response.output_item.added", {"output_index": 0, "item": _item(call, name, "", "in_progress")}),
        ("response.function_call_arguments.delta", {**place, "delta": written}),
        ("response.function_call_arguments.done", {**place, "arguments": written}),
        ("response.output_item.done", {"output_index": 0, "item": done}),
        ("response.completed", {"response": _answer([done], "completed")}),
    )


# ── Gemini ───────────────────────────────────────────────────────────────────


def gemini_whole(call: str, name: str, arguments: Arguments) -> bytes:
    part = {"functionCall": {"id": call, "name": name, "args": arguments}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return json.dumps({"candidates": [candidate], "usageMetadata": {"promptTokenCount": 7}}).encode()


def gemini_stream(call: str, name: str, arguments: Arguments) -> list[bytes]:
    return [b"data: " + gemini_whole(call, name, arguments) + b"\r\n\r\n"]


def interactions_whole(call: str, name: str, arguments: Arguments) -> bytes:
    step = {"type": "function_call", "id": call, "name": name, "arguments": arguments}
    return json.dumps({"id": "i1", "status": "requires_action", "model": "up", "steps": [step]}).encode()


def interactions_stream(call: str, name: str, arguments: Arguments) -> list[bytes]:
    step = {"type": "function_call", "id": call, "name": name, "arguments": {}}
    delta = {"type": "arguments_delta", "arguments": json.dumps(arguments)}
    events = (
        {"event_type": "interaction.created", "interaction": {"id": "i1", "status": "in_progress", "model": "up"}},
        {"event_type": "step.start", "index": 0, "step": step},
        {"event_type": "step.delta", "index": 0, "delta": delta},
        {"event_type": "step.stop", "index": 0},
        {"event_type": "interaction.completed", "interaction": {"id": "i1", "status": "requires_action"}},
    )
    return [f"data: {json.dumps(event)}\n\n".encode() for event in events]


# ── Bedrock ──────────────────────────────────────────────────────────────────


def converse_whole(call: str, name: str, arguments: Arguments) -> bytes:
    message = {"role": "assistant", "content": [{"toolUse": {"toolUseId": call, "name": name, "input": arguments}}]}
    return json.dumps({"output": {"message": message}, "stopReason": "tool_use", "usage": USAGE}).encode()


def converse_stream(call: str, name: str, arguments: Arguments) -> list[bytes]:
    start = {"toolUse": {"toolUseId": call, "name": name}}
    return _aws(
        ("messageStart", {"role": "assistant"}),
        ("contentBlockStart", {"contentBlockIndex": 0, "start": start}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"toolUse": {"input": json.dumps(arguments)}}}),
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("messageStop", {"stopReason": "tool_use"}),
        ("metadata", {"usage": USAGE}),
    )


def invoke_stream(call: str, name: str, arguments: Arguments) -> list[bytes]:
    events = messages_stream(ScriptedReply((), ((call, name, arguments),)))
    data = [event.decode().partition("data: ")[2].strip() for event in events]
    return _aws(*(("chunk", {"bytes": base64.b64encode(one.encode()).decode()}) for one in data))


# ── Cohere ───────────────────────────────────────────────────────────────────


def cohere_whole(call: str, name: str, arguments: Arguments) -> bytes:
    made = {"id": call, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    message = {"role": "assistant", "tool_calls": [made]}
    return json.dumps({"id": "u1", "finish_reason": "TOOL_CALL", "message": message}).encode()


def cohere_stream(call: str, name: str, arguments: Arguments) -> list[bytes]:
    made = {"id": call, "type": "function", "function": {"name": name, "arguments": ""}}
    more = {"message": {"tool_calls": {"function": {"arguments": json.dumps(arguments)}}}}
    return _sse(
        ("message-start", {"id": "u1", "delta": {"message": {"role": "assistant", "content": []}}}),
        ("tool-call-start", {"index": 0, "delta": {"message": {"tool_calls": made}}}),
        ("tool-call-delta", {"index": 0, "delta": more}),
        ("tool-call-end", {"index": 0}),
        ("message-end", {"delta": {"finish_reason": "TOOL_CALL"}}),
    )


# ── what requests say ────────────────────────────────────────────────────────


@dataclass
class WireRequest:
    """Of a request's body: the declared tools, the calls (id, name), the results (id, text, is it marked natively)."""

    tools: list[str]
    calls: list[tuple[str, str]]
    results: list[tuple[str, str, Any]]


def _text(content: Any) -> str:
    parts = content if isinstance(content, list) else [{"text": content}]
    return "".join(part.get("text", "") for part in parts)


def _functions(body: Any) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", [])]


def read_chat(body: Any) -> WireRequest:
    """OpenAI Chat, Cohere, Ollama."""
    calls = [call for message in body["messages"] for call in message.get("tool_calls", ())]
    results = [message for message in body["messages"] if message["role"] == "tool"]
    return WireRequest(
        _functions(body),
        [(call["id"], call["function"]["name"]) for call in calls],
        [(result["tool_call_id"], _text(result["content"]), None) for result in results],
    )


def read_responses(body: Any) -> WireRequest:
    items = body["input"]
    calls = [item for item in items if item.get("type") == "function_call"]
    results = [item for item in items if item.get("type") == "function_call_output"]
    return WireRequest(
        [tool["name"] for tool in body.get("tools", [])],
        [(call["call_id"], call["name"]) for call in calls],
        [(result["call_id"], _text(result["output"]), None) for result in results],
    )


def read_messages(body: Any) -> WireRequest:
    blocks = [block for message in body["messages"] if isinstance(message["content"], list)
              for block in message["content"]]  # fmt: skip
    return WireRequest(
        [tool["name"] for tool in body.get("tools", [])],
        [(block["id"], block["name"]) for block in blocks if block["type"] == "tool_use"],
        [(block["tool_use_id"], _text(block["content"]), block.get("is_error"))
         for block in blocks if block["type"] == "tool_result"],
    )  # fmt: skip


def read_gemini(body: Any) -> WireRequest:
    parts = [part for content in body["contents"] for part in content["parts"]]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    results = [part["functionResponse"] for part in parts if "functionResponse" in part]
    return WireRequest(
        [one["name"] for tool in body.get("tools", []) for one in tool["functionDeclarations"]],
        [(call["id"], call["name"]) for call in calls],
        [(one["id"], *next((text, key == "error") for key, text in one["response"].items())) for one in results],
    )


def read_interactions(body: Any) -> WireRequest:
    steps = body["input"]
    results = [step for step in steps if step["type"] == "function_result"]
    return WireRequest(
        [tool["name"] for tool in body.get("tools", [])],
        [(step["id"], step["name"]) for step in steps if step["type"] == "function_call"],
        [(step["call_id"], _text(step["result"]), step.get("is_error")) for step in results],
    )


def read_converse(body: Any) -> WireRequest:
    blocks = [block for message in body["messages"] for block in message["content"]]
    calls = [block["toolUse"] for block in blocks if "toolUse" in block]
    results = [block["toolResult"] for block in blocks if "toolResult" in block]
    tools = body.get("toolConfig", {}).get("tools", [])
    return WireRequest(
        [tool["toolSpec"]["name"] for tool in tools if "toolSpec" in tool],
        [(call["toolUseId"], call["name"]) for call in calls],
        [(one["toolUseId"], _text(one["content"]), one.get("status")) for one in results],
    )


# ── the wires ────────────────────────────────────────────────────────────────

SSE, AWS = "text/event-stream", "application/vnd.amazon.eventstream"


@dataclass(frozen=True)
class Wire:
    """One wire: a call answered whole and streamed, its content type, what its requests say."""

    whole: Callable[[str, str, Arguments], bytes]
    stream: Callable[[str, str, Arguments], list[bytes]]
    kind: str
    read: Callable[[Any], WireRequest]


def _says(write: Callable[[ScriptedReply], Any]) -> Callable[[str, str, Arguments], Any]:
    return lambda call, name, arguments: write(ScriptedReply((), ((call, name, arguments),)))


WIRES: Mapping[str, Wire] = {
    "openai_chat": Wire(_says(chat_whole), _says(chat_stream), SSE, read_chat),
    "openai_responses": Wire(responses_whole, responses_stream, SSE, read_responses),
    "anthropic_messages": Wire(_says(messages_whole), _says(messages_stream), SSE, read_messages),
    "ollama_chat": Wire(_says(ollama_whole), _says(ollama_stream), "application/x-ndjson", read_chat),
    "gemini": Wire(gemini_whole, gemini_stream, SSE, read_gemini),
    "gemini_interactions": Wire(interactions_whole, interactions_stream, SSE, read_interactions),
    "bedrock_converse": Wire(converse_whole, converse_stream, AWS, read_converse),
    "bedrock_invoke": Wire(_says(messages_whole), invoke_stream, AWS, read_messages),
    "cohere_chat": Wire(cohere_whole, cohere_stream, SSE, read_chat),
}


def calling(api: str, call: str, arguments: Arguments, *, stream: bool) -> ScriptedPeer:
    """A model that calls, every time, the first tool it is told of."""
    wire = WIRES[api]

    def answer(opened: Open) -> Answer:
        name = wire.read(json.loads(opened.body)).tools[0]
        if stream:
            return Answer(tuple(wire.stream(call, name, arguments)), headers={"content-type": wire.kind})
        return Answer((wire.whole(call, name, arguments),), headers={"content-type": "application/json"})

    return ScriptedPeer(answer)


def wire_requests(api: str, memory: ScriptedPeer) -> Iterator[WireRequest]:
    """What each request to the model said."""
    return (WIRES[api].read(json.loads(opened.body)) for opened in memory.sent)
