"""Hard cells of the wires: a request in one API, a scripted provider of another, and what must be sent or given, where.

A cell is JSON: `front`, `backend` (a provider's row), `model`, the client's `request`, the provider's `answers` in order
(an object with `$status` is a refusal), and what is expected: `sent` and `absent` of the last request upstream, `got` of
the client's last answer, `told` of the header of unsupported parameters, `somewhere` and `nowhere` of the bytes sent.
With `way` the client goes on after the first answer, echoing what that names, and `fresh` asks a gateway that remembers
nothing.  `headers` are the client's, `sent_headers` what those upstream hold, `flow` what a streamed answer must hold.
Paths are `a.b[0].c`; a value may be a wish: `{"$exists": …}`, `{"$ge": …}`, `{"$in": […]}`, `{"$contains": …}` of a list
or a text, `{"$like": {…}}` of an object that may hold more.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from dragoman.codecs import CODECS
from dragoman.codecs.shared.frames import readers
from dragoman.effects import Open
from dragoman.gateway import GatewayConfig, create_app
from dragoman.providers.auth import KeyHeader
from dragoman.providers.route import Route
from dragoman.providers.rows import PROVIDERS
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.asgi import Reply, call
from tests.support.gateways import PATHS

FRONTS = {
    "chat": "openai_chat",
    "responses": "openai_responses",
    "anthropic": "anthropic_messages",
    "ollama": "ollama_chat",
    "gemini": "gemini",
}
MISSING = object()
LOCK = KeyHeader()


def at(value: Any, path: str) -> Any:
    """What stands at `path`; MISSING where nothing does."""
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        try:
            value = value[int(index)] if index else value[name]
        except (KeyError, IndexError, TypeError):
            return MISSING
    return value


def fits(value: Any, wish: Any) -> bool:
    """Is `value` what is wished for?"""
    if isinstance(wish, Mapping) and not str(next(iter(wish), "")).startswith("$") and isinstance(value, Mapping):
        return wish.keys() == value.keys() and all(fits(value[key], one) for key, one in wish.items())
    if isinstance(wish, list) and isinstance(value, list):
        return len(wish) == len(value) and all(map(fits, value, wish))
    if not (isinstance(wish, Mapping) and len(wish) == 1 and next(iter(wish)).startswith("$")):
        return bool(value == wish)
    (kind, given), *_ = wish.items()
    absent = value is MISSING
    match kind:
        case "$exists":
            return absent is not given
        case "$ge":
            return not absent and value >= given
        case "$in":
            return (None if absent else value) in given
        case "$contains":
            return isinstance(value, list | str) and (given in value or any(fits(one, given) for one in value))
        case "$like":
            return isinstance(value, Mapping) and all(fits(value.get(key, MISSING), one) for key, one in given.items())
    raise AssertionError(f"no such wish: {kind}")


def faults(cell: Mapping[str, Any], *, stream: bool = False) -> list[str]:
    """What is not as the cell says; an empty list is a cell that holds."""
    sent, reply, raw, headers = run(cell, stream=stream)
    found = [f"status {reply.status}: {reply.body[:300]!r}"] if reply.status != 200 else []
    for path, wish in cell.get("sent", {}).items():
        if not fits(at(sent, path), wish):
            found.append(f"sent {path}: {at(sent, path)!r}, not {wish!r}")
    found += [f"sent {path} though it must not be" for path in cell.get("absent", ()) if at(sent, path) is not MISSING]
    for path, wish in cell.get("got", {}).items() if not stream else ():
        if not fits(at(reply.json, path), wish):
            found.append(f"got {path}: {at(reply.json, path)!r}, not {wish!r}")
    told = reply.headers.get("x-dragoman-unsupported-params", "")
    found += [f"not told: {word} (told: {told!r})" for word in cell.get("told", ()) if word not in told]
    found += [f"not given: {word}" for word in cell.get("flow", ()) if stream and word not in reply.body.decode()]
    for name, word in cell.get("sent_headers", {}).items():
        if word not in headers.get(name, ""):
            found.append(f"sent header {name}: {headers.get(name)!r}, without {word!r}")
    found += [f"nowhere sent: {word}" for word in cell.get("somewhere", ()) if word not in raw]
    return [*found, *(f"sent somewhere: {word}" for word in cell.get("nowhere", ()) if word in raw)]


def run(cell: Mapping[str, Any], *, stream: bool = False) -> tuple[Any, Reply, str, dict[str, str]]:
    """The last body sent upstream, the client's last answer, that body's text, and the headers it was sent with."""
    front, request = FRONTS[cell["front"]], cell["request"]
    peer = scripted(cell)
    gateway = _gateway(cell, peer)
    reply = _ask(gateway, front, request, stream=stream, headers=cell.get("headers", {}))
    if "way" in cell and reply.status == 200:
        request = gone_on(cell["front"], request, _folded(front, reply, stream=stream), cell["way"])
        gateway = _gateway(cell, peer) if cell.get("fresh") else gateway
        reply = _ask(gateway, front, request, stream=stream)
    raw = peer.sent[-1].body.decode()
    return json.loads(raw), reply, raw, {name.lower(): value for name, value in peer.sent[-1].headers.items()}


def scripted(cell: Mapping[str, Any]) -> ScriptedPeer:
    """The cell's provider."""
    script, codec = iter(cell["answers"]), PROVIDERS[cell["backend"]].codec
    return ScriptedPeer(lambda opened: _answer(codec, next(script), streamed=_is_streamed(opened)))


def _gateway(cell: Mapping[str, Any], peer: ScriptedPeer) -> Any:
    row = replace(PROVIDERS[cell["backend"]], auth=LOCK, or_auth=(), settings=(), url_env=(), base_url="http://model.test/v1")
    to = Route(provider=row, model=cell["model"], base_url="http://model.test/v1", key="k")
    return create_app(GatewayConfig(default=to, reasks=0), peer)


def _ask(
    gateway: Any, front: str, request: Mapping[str, Any], *, stream: bool, headers: Mapping[str, str] = MappingProxyType({})
) -> Reply:
    path, body = PATHS[front], dict(request)
    if front == "gemini":
        path = path.replace(":g", ":streamG") + "?alt=sse" if stream else path
    else:
        body["stream"] = stream
    return call(gateway, path, body, headers=dict(headers))


def _is_streamed(opened: Open) -> bool:
    return "stream" in opened.url.lower().rsplit("/", 1)[-1] or json.loads(opened.body).get("stream") is True


def _answer(codec: str, body: Mapping[str, Any], *, streamed: bool) -> Answer:
    kind = {"content-type": "application/json"}
    if "$status" in body:
        left = {key: value for key, value in body.items() if key != "$status"}
        return Answer((json.dumps(left).encode(),), status=body["$status"], headers=kind)
    if not streamed:
        return Answer((json.dumps(body).encode(),), headers=kind)
    pieces, kind_of = STREAMS[codec](body)
    return Answer(tuple(pieces), headers={"content-type": kind_of})


# ── the provider's streams, by hand ──────────────────────────────────────────

SSE = "text/event-stream"


def _sse(data: Any, event: str = "") -> bytes:
    return f"{f'event: {event}' + chr(10) if event else ''}data: {json.dumps(data)}\n\n".encode()


def chat_stream(body: Any) -> tuple[list[bytes], str]:
    """A whole chat answer, streamed: reasoning, content and calls each in a chunk of its own."""
    choice, base = body["choices"][0], {"id": body["id"], "object": "chat.completion.chunk", "created": 1, "model": "m"}
    base |= {key: body[key] for key in ("citations", "search_results", "service_tier") if key in body}
    deltas = [{key: value} for key, value in choice["message"].items() if key not in ("role",) and value]
    deltas = [_indexed(delta) for delta in deltas]
    chunks = [{**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    last = {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    first = {**base, "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]}
    order = {"reasoning": 0, "reasoning_content": 0, "reasoning_details": 1, "content": 2, "tool_calls": 3}
    chunks.sort(key=lambda chunk: order.get(next(iter(chunk["choices"][0]["delta"])), 9))
    return [*map(_sse, [first, *chunks, last, {**base, "choices": [], "usage": body["usage"]}]), b"data: [DONE]\n\n"], SSE


def _indexed(delta: dict[str, Any]) -> dict[str, Any]:
    if "tool_calls" not in delta:
        return delta
    return {"tool_calls": [{"index": i, **one} for i, one in enumerate(delta["tool_calls"])]}


def messages_stream(body: Any) -> tuple[list[bytes], str]:
    """A whole Anthropic answer, streamed as its API does: the signature comes at the end of its block."""
    out = [_sse({"type": "message_start", "message": {**body, "content": [], "stop_reason": None}}, "message_start")]
    for index, block in enumerate(body["content"]):
        empty, deltas = _block(block)
        kind = "content_block_start"
        out.append(_sse({"type": kind, "index": index, "content_block": empty}, kind))
        for delta in deltas:
            kind = "content_block_delta"
            out.append(_sse({"type": kind, "index": index, "delta": delta}, kind))
        out.append(_sse({"type": "content_block_stop", "index": index}, "content_block_stop"))
    end = {"type": "message_delta", "delta": _stopped(body), "usage": {"output_tokens": 20}}
    return [*out, _sse(end, "message_delta"), _sse({"type": "message_stop"}, "message_stop")], SSE


def _stopped(body: Any) -> dict[str, Any]:
    return {key: body[key] for key in ("stop_reason", "stop_sequence", "stop_details") if key in body}


def _block(block: Any) -> tuple[Any, list[Any]]:
    match block["type"]:
        case "thinking":
            text, signature = block["thinking"], block["signature"]
            halves = [{"type": "thinking_delta", "thinking": piece} for piece in (text[:3], text[3:])]
            return {**block, "thinking": "", "signature": ""}, [
                *halves,
                {"type": "signature_delta", "signature": signature},
            ]
        case "text":
            cited = [{"type": "citations_delta", "citation": one} for one in block.get("citations", ())]
            return {"type": "text", "text": ""}, [{"type": "text_delta", "text": block["text"]}, *cited]
        case "tool_use":
            given = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            return {**block, "input": {}}, [given]
    return block, []


def responses_stream(body: Any) -> tuple[list[bytes], str]:
    """A whole answer of Responses, streamed."""
    out: list[tuple[str, dict[str, Any]]] = [("response.created", {"response": {**body, "output": [], "status": "in_progress"}})]
    for index, item in enumerate(body["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        start = {key: value for key, value in item.items() if key != "encrypted_content"}
        empty: dict[str, Any] = {"reasoning": {"summary": []}, "message": {"content": []}}.get(item["type"], {"arguments": ""})
        out.append(("response.output_item.added", {"output_index": index, "item": {**start, **empty}}))
        for at_, part in enumerate(item.get("summary", ())):
            out.append(("response.reasoning_summary_text.delta", {**place, "summary_index": at_, "delta": part["text"]}))
        for at_, part in enumerate(item.get("content", ()) if item["type"] == "message" else ()):
            out += [(kind, {**place, "content_index": at_, **data}) for kind, data in _part(part)]
        if "arguments" in item:
            out.append(("response.function_call_arguments.delta", {**place, "delta": item["arguments"]}))
        out.append(("response.output_item.done", {"output_index": index, "item": item}))
    out.append(("response.completed", {"response": body}))
    return [_sse({"type": kind, "sequence_number": n, **data}, kind) for n, (kind, data) in enumerate(out)], SSE


def _part(part: Any) -> list[tuple[str, dict[str, Any]]]:
    if part["type"] == "refusal":
        return [("response.refusal.delta", {"delta": part["refusal"]})]
    kind, notes = "response.output_text.annotation.added", part.get("annotations", ())
    text = ("response.output_text.delta", {"delta": part["text"]})
    return [text, *((kind, {"annotation_index": index, "annotation": one}) for index, one in enumerate(notes))]


def gemini_stream(body: Any) -> tuple[list[bytes], str]:
    """A whole Gemini answer, a chunk for each part."""
    candidate = body["candidates"][0]
    parts = candidate["content"]["parts"]
    chunks = [{"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]} for part in parts]
    left = {key: value for key, value in candidate.items() if key not in ("content", "index")}
    end = {"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, **left, "index": 0}]}
    return [*map(_sse, chunks), _sse({**end, "usageMetadata": body["usageMetadata"]})], SSE


def ollama_stream(body: Any) -> tuple[list[bytes], str]:
    """A whole Ollama answer, a line for each field."""
    message = body["message"]
    fields = [key for key in ("thinking", "content", "tool_calls") if message.get(key)]
    lines = [{**body, "message": {"role": "assistant", "content": "", key: message[key]}, "done": False} for key in fields]
    lines.append({**body, "message": {"role": "assistant", "content": ""}})
    return [json.dumps(line).encode() + b"\n" for line in lines], "application/x-ndjson"


STREAMS: dict[str, Callable[[Any], tuple[list[bytes], str]]] = {
    "openai_chat": chat_stream,
    "anthropic_messages": messages_stream,
    "openai_responses": responses_stream,
    "gemini": gemini_stream,
    "ollama_chat": ollama_stream,
}


# ── the client goes on ───────────────────────────────────────────────────────


def _folded(front: str, reply: Reply, *, stream: bool) -> Any:
    """The answer as a client holds it when it has read it: the whole body, or what its SDK folds a stream to."""
    if not stream:
        return reply.json
    codec = CODECS[front]
    frames = [*(reader := readers[codec.frames]()).feed(reply.body), *reader.close()]
    return FOLDS[front]([json.loads(frame.data) for frame in frames if frame.data.strip() != "[DONE]"])


def _fold_chat(chunks: list[Any]) -> Any:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    for delta in (choice["delta"] for chunk in chunks for choice in chunk["choices"]):
        for key, value in delta.items():
            if key == "role" or not value:
                continue
            if key == "tool_calls":
                message.setdefault(key, []).extend(value)
            else:
                message[key] = value if message.get(key) is None else message[key] + value
    return {"choices": [{"message": message}]}


def _fold_messages(events: list[Any]) -> Any:
    blocks: dict[int, Any] = {}
    for event in events:
        if event["type"] == "content_block_start":
            blocks[event["index"]] = dict(event["content_block"])
        elif event["type"] == "content_block_delta":
            block, delta = blocks[event["index"]], event["delta"]
            key = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}.get(delta["type"])
            if key:
                block[key] = block.get(key, "") + delta[key]
            else:
                block["partial"] = block.get("partial", "") + delta["partial_json"]
    for block in blocks.values():
        if partial := block.pop("partial", ""):
            block["input"] = json.loads(partial)
    return {"content": [blocks[index] for index in sorted(blocks)]}


def _fold_gemini(chunks: list[Any]) -> Any:
    parts = [part for chunk in chunks for c in chunk.get("candidates", ()) for part in c["content"]["parts"]]
    return {"candidates": [{"content": {"role": "model", "parts": parts}}]}


def _fold_ollama(lines: list[Any]) -> Any:
    message: dict[str, Any] = {"role": "assistant", "content": "", "thinking": "", "tool_calls": []}
    for line in lines:
        for key in ("content", "thinking", "tool_calls"):
            message[key] += line["message"].get(key) or type(message[key])()
    return {"message": {key: value for key, value in message.items() if value or key in {"content", "role"}}}


FOLDS: dict[str, Callable[[list[Any]], Any]] = {
    "openai_chat": _fold_chat,
    "anthropic_messages": _fold_messages,
    "openai_responses": lambda events: next(e["response"] for e in events if e["type"] == "response.completed"),
    "gemini": _fold_gemini,
    "ollama_chat": _fold_ollama,
}
RESULT = "It rains."
EDITED = "I looked elsewhere."


def gone_on(front: str, request: Mapping[str, Any], answer: Any, way: str) -> dict[str, Any]:
    """The client's next request: its conversation, the answer as `way` echoes it, and a result for each call.

    all: as it came.  no_reasoning: without reasoning and signatures.  no_ids: without the ids of calls and items.
    only_ids: the calls with their ids, names and arguments.  altered: the text of the reasoning rewritten.
    """
    key = {"responses": "input", "gemini": "contents"}.get(front, "messages")
    request = copy.deepcopy(dict(request))
    return {**request, key: [*request[key], *GOES_ON[front](copy.deepcopy(answer), way)]}


def _go_on_chat(answer: Any, way: str) -> list[Any]:
    message = answer["choices"][0]["message"]
    if way in ("no_reasoning", "only_ids"):
        message = {key: value for key, value in message.items() if not key.startswith("reasoning")}
    if way == "only_ids":
        keep = ("id", "type", "function")
        message["tool_calls"] = [{key: one[key] for key in keep} for one in message["tool_calls"]]
    if way == "altered":
        message["reasoning_content"] = EDITED
    for n, one in enumerate(message.get("tool_calls", ())):
        one["id"] = f"mine_{n}" if way == "no_ids" else one["id"]
        one.pop("index", None)
    results = [{"role": "tool", "tool_call_id": c["id"], "content": RESULT} for c in message.get("tool_calls", ())]
    return [message, *results]


def _go_on_responses(answer: Any, way: str) -> list[Any]:
    items = answer["output"]
    if way in ("no_reasoning", "only_ids"):
        items = [item for item in items if item["type"] != "reasoning"]
    if way == "only_ids":
        items = [{k: v for k, v in item.items() if k in ("type", "call_id", "name", "arguments")} for item in items]
    for n, item in enumerate(items):
        if way == "no_ids":
            item.pop("id", None)
            if "call_id" in item:
                item["call_id"] = f"mine_{n}"
        if way == "altered" and item["type"] == "reasoning":
            item["summary"] = [{"type": "summary_text", "text": EDITED}]
    called = [item for item in items if item["type"] == "function_call"]
    return [*items, *({"type": "function_call_output", "call_id": c["call_id"], "output": RESULT} for c in called)]


def _go_on_messages(answer: Any, way: str) -> list[Any]:
    content = answer["content"]
    if way in ("no_reasoning", "only_ids"):
        content = [block for block in content if "thinking" not in block["type"]]
    for n, block in enumerate(content):
        if way == "no_ids" and block["type"] == "tool_use":
            block["id"] = f"mine_{n}"
        if way == "altered" and block["type"] == "thinking":
            block["thinking"] = EDITED
    called = [block for block in content if block["type"] == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": c["id"], "content": RESULT} for c in called]
    return [{"role": "assistant", "content": content}, {"role": "user", "content": results}]


def _go_on_gemini(answer: Any, way: str) -> list[Any]:
    content = answer["candidates"][0]["content"]
    parts = [part for part in content["parts"] if part != {"text": ""}]
    if way in ("no_reasoning", "only_ids"):
        parts = [part for part in parts if not part.get("thought")]
        for part in parts:
            part.pop("thoughtSignature", None)
    for part in parts:
        if way == "no_ids" and "functionCall" in part:
            part["functionCall"].pop("id", None)
        if way == "altered" and part.get("thought"):
            part["text"] = EDITED
    called = [part["functionCall"] for part in parts if "functionCall" in part]
    results = [
        {"functionResponse": {"name": c["name"], "response": {"output": RESULT}, **({"id": c["id"]} if "id" in c else {})}}
        for c in called
    ]
    return [{**content, "parts": parts}, {"role": "user", "parts": results}]


def _go_on_ollama(answer: Any, way: str) -> list[Any]:
    message = answer["message"]
    if way in ("no_reasoning", "only_ids"):
        message.pop("thinking", None)
    if way == "altered" and "thinking" in message:
        message["thinking"] = EDITED
    results = []
    for one in message.get("tool_calls", ()):
        if way == "no_ids":
            one.pop("id", None)
        named = {"tool_call_id": one["id"]} if "id" in one else {}
        results.append({"role": "tool", "tool_name": one["function"]["name"], "content": RESULT, **named})
    return [message, *results]


GOES_ON: dict[str, Callable[[Any, str], list[Any]]] = {
    "chat": _go_on_chat,
    "responses": _go_on_responses,
    "anthropic": _go_on_messages,
    "gemini": _go_on_gemini,
    "ollama": _go_on_ollama,
}
