"""What a client of each front holds when it has read a stream: its own folding, by its API's rules.

Written after the accumulators of the official SDKs; knows no codec.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from .table import A, C, G, L, R


def events(body: bytes) -> list[Any]:
    """The JSON of server-sent events, comments and `[DONE]` left out."""
    told = [line[5:].strip() for line in body.decode().replace("\r\n", "\n").split("\n") if line.startswith("data:")]
    return [json.loads(one) for one in told if one and one != "[DONE]"]


def _joined(into: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for key, value in delta.items():
        if value is None:
            continue
        if key == "tool_calls":
            for one in value:
                held = into.setdefault(key, {}).setdefault(one["index"], {"function": {"arguments": ""}})
                function = one.get("function", {})
                held.update({k: v for k, v in one.items() if k != "function"})
                held["function"] = {**held["function"], **function, "arguments": held["function"]["arguments"] + function.get("arguments", "")}
        elif isinstance(value, str) and key != "role" and isinstance(into.get(key), str):
            into[key] += value
        elif isinstance(value, list) and isinstance(into.get(key), list):
            into[key] = [*into[key], *value]
        elif isinstance(value, Mapping) and isinstance(into.get(key), Mapping):
            _joined(into[key], value)
        else:
            into[key] = dict(value) if isinstance(value, Mapping) else value


def chat(body: bytes) -> Any:
    told: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for chunk in events(body):
        told.update({key: value for key, value in chunk.items() if key != "choices" and value is not None})
        for one in chunk.get("choices", ()):
            held = choices.setdefault(one["index"], {"index": one["index"], "message": {}, "finish_reason": None})
            _joined(held["message"], one.get("delta", {}))
            held.update({key: value for key, value in one.items() if key not in ("delta", "index", "logprobs") and value is not None})
            if one.get("logprobs"):
                _joined(held.setdefault("logprobs", {}), one["logprobs"])
    for held in choices.values():
        if "tool_calls" in held["message"]:
            held["message"]["tool_calls"] = [one for _, one in sorted(held["message"]["tool_calls"].items())]
    return {**told, "choices": [choices[index] for index in sorted(choices)]}


def responses(body: bytes) -> Any:
    told = events(body)
    end = next(one for one in reversed(told) if one["type"] in ("response.completed", "response.incomplete", "response.failed"))
    streamed = {kind: "".join(one["delta"] for one in told if one["type"] == f"response.{kind}.delta") for kind in ("output_text", "refusal", "reasoning_summary_text")}
    return {**end["response"], "streamed": streamed}


def messages(body: bytes) -> Any:
    told: dict[str, Any] = {}
    blocks: dict[int, Any] = {}
    for event in events(body):
        match event["type"]:
            case "message_start":
                told = dict(event["message"])
            case "content_block_start":
                blocks[event["index"]] = {**event["content_block"], "partial": ""}
            case "content_block_delta":
                _block(blocks[event["index"]], event["delta"])
            case "message_delta":
                told = {**told, **event["delta"], "usage": {**told["usage"], **event["usage"]}}
    for block in blocks.values():
        if partial := block.pop("partial"):
            block["input"] = json.loads(partial)
    return {**told, "content": [blocks[index] for index in sorted(blocks)]}


def _block(block: Any, delta: Any) -> None:
    match delta["type"]:
        case "text_delta":
            block["text"] += delta["text"]
        case "thinking_delta":
            block["thinking"] += delta["thinking"]
        case "signature_delta":
            block["signature"] = delta["signature"]
        case "input_json_delta":
            block["partial"] += delta["partial_json"]
        case "citations_delta":
            block["citations"] = [*(block.get("citations") or ()), delta["citation"]]


def gemini(body: bytes) -> Any:
    told: dict[str, Any] = {}
    candidates: dict[int, dict[str, Any]] = {}
    for chunk in events(body):
        told.update({key: value for key, value in chunk.items() if key != "candidates"})
        for one in chunk.get("candidates", ()):
            held = candidates.setdefault(one.get("index", 0), {"content": {"role": "model", "parts": []}})
            for part in one.get("content", {}).get("parts", ()):
                _part(held["content"]["parts"], part)
            held.update({key: value for key, value in one.items() if key != "content"})
    return {**told, "candidates": [candidates[index] for index in sorted(candidates)]}


def _part(parts: list[Any], part: Any) -> None:
    plain = {"text", "thought", "thoughtSignature"}
    if parts and "text" in part and part.keys() <= plain and parts[-1].keys() <= plain and "text" in parts[-1] and parts[-1].get("thought") == part.get("thought"):
        parts[-1] = {**parts[-1], **part, "text": parts[-1]["text"] + part["text"]}
    elif part != {"text": ""}:
        parts.append(part)


def ollama(body: bytes) -> Any:
    told: dict[str, Any] = {}
    said: dict[str, Any] = {"role": "assistant", "content": ""}
    probable: list[Any] = []
    for line in map(json.loads, filter(None, body.decode().split("\n"))):
        probable += line.get("logprobs") or ()
        told.update(line)
        for key, value in line["message"].items():
            if key != "role" and value:
                said[key] = said[key] + value if said.get(key) else value
    return {**told, "message": said, **({"logprobs": probable} if probable else {})}


READ: Mapping[str, Callable[[bytes], Any]] = {C: chat, R: responses, A: messages, G: gemini, L: ollama}
