"""An event of a stream among the others that must stand around it.

Knows which events and blocks belong together, by the vendors' own order; nothing of our codecs.
"""

from __future__ import annotations

from typing import Any

Body = dict[str, Any]

# ── OpenAI Responses ─────────────────────────────────────────────────────────

RESPONSE: Body = {
    "id": "resp_1", "object": "response", "created_at": 3, "model": "m", "status": "completed", "output": [],
    "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
}  # fmt: skip
_ITEM_OF = {
    "output_text": "message", "refusal": "message", "content_part": "message", "reasoning": "reasoning",
    "function_call": "function_call", "custom_tool_call": "custom_tool_call", "file_search_call": "file_search_call",
    "web_search_call": "web_search_call", "image_generation_call": "image_generation_call", "mcp_call": "mcp_call",
    "mcp_list_tools": "mcp_list_tools", "code_interpreter_call": "code_interpreter_call",
    "shell_call_output": "shell_call_output", "shell_call": "shell_call", "apply_patch_call": "apply_patch_call",
    "program_output": "program_output", "program": "program", "compaction": "compaction",
}  # fmt: skip
"""How the events of an item begin → its type."""
_REMOTE = {"environment": {"type": "container_reference", "container_id": "c_1"}}
_ITEMS: dict[str, Body] = {
    "message": {"role": "assistant", "content": [{"type": "output_text", "text": "text", "annotations": []}]},
    "reasoning": {"summary": []},
    "function_call": {"call_id": "call_1", "name": "look", "arguments": '{"a": 1}'},
    "custom_tool_call": {"call_id": "call_1", "name": "look", "input": "input"},
    "shell_call": {"call_id": "call_1", "action": {"commands": ["command"]}, **_REMOTE},
    "shell_call_output": {"call_id": "call_1", "output": []},
    "mcp_call": {"name": "look", "server_label": "s", "arguments": '{"a": 1}'},
    "mcp_list_tools": {"server_label": "s", "tools": []},
}
_ENDS = ("response.completed", "response.incomplete", "response.failed", "error")


def of_responses(event: Body) -> list[Body]:
    """The frames of a stream in which this event is."""
    kind = str(event.get("type"))
    if "function_call_arguments" in kind and "delta" in event:
        event = {**event, "delta": '{"a": 1}'}
    if "custom_tool_call_input" in kind and "delta" in event:
        event = {**event, "delta": "input"}
    begun = {"type": "response.created", "response": {**RESPONSE, "status": "in_progress"}}
    ended = {"type": "response.completed", "response": RESPONSE}
    if kind == "response.incomplete":
        event = {**event, "response": {**RESPONSE, "status": "incomplete"}}
    if kind in _ENDS or kind in ("response.created", "response.in_progress", "response.queued"):
        return [event] if kind == "error" else [begun, event] if kind in _ENDS else [event, ended]
    if "item" in event:
        added = {"type": "response.output_item.added", "output_index": 0, "item": event["item"]}
        done = {"type": "response.output_item.done", "output_index": 0, "item": event["item"]}
        around = [event, done] if kind.endswith("added") else [added, event]
        return [begun, *around, {**ended, "response": {**RESPONSE, "output": [event["item"]]}}]
    item = _item_for(kind, event)
    if item is None:
        return [begun, event, ended]
    told = _told(kind, item)
    added = {"type": "response.output_item.added", "output_index": 0, "item": item}
    done = {**added, "type": "response.output_item.done"}
    around = [event, *told] if kind.endswith("part.added") else [*told, event]
    return [begun, added, *around, done, {**ended, "response": {**RESPONSE, "output": [item]}}]


def _told(kind: str, item: Body) -> list[Body]:
    """The delta without which an event of a text would speak of nothing."""
    if kind.endswith("delta") or item["type"] not in ("message", "reasoning"):
        return []
    parts: list[Body] = item.get("content") or item["summary"]
    part = parts[0]
    what = {"refusal": "refusal", "reasoning_text": "reasoning_text", "summary_text": "reasoning_summary_text"}.get(
        part["type"], "output_text"
    )
    place = "summary_index" if what == "reasoning_summary_text" else "content_index"
    text = part.get("text") or part.get("refusal")
    return [{"type": f"response.{what}.delta", "item_id": item["id"], "output_index": 0, place: 0, "delta": text}]


def mapping(value: Any) -> Body:
    """`value`, where it is an object."""
    return value if isinstance(value, dict) else {}


def _item_for(kind: str, event: Body) -> Body | None:
    word = kind.removeprefix("response.")
    found = next((of for start, of in _ITEM_OF.items() if word.startswith(start)), None)
    if found is None:
        return None
    if mapping(event.get("part")).get("type") == "reasoning_text":
        found = "reasoning"
    item: Body = {"type": found, "id": event.get("item_id", "id_1"), "status": "completed", **_ITEMS.get(found, {})}
    if found == "message" and "annotation" in event:
        item["content"] = [{**item["content"][0], "annotations": [event["annotation"]]}]
    if found == "message" and "logprobs" in event:
        item["content"] = [{**item["content"][0], "logprobs": event["logprobs"]}]
    if "refusal" in event:
        item["content"] = [{"type": "refusal", "refusal": event["refusal"]}]
    if "part" in event and found == "message":
        item["content"] = [event["part"]]
    if found == "reasoning":
        written = "summary_text" if "summary" in kind else "reasoning_text"
        part = event.get("part") or {"type": written, "text": event.get("text") or event.get("delta")}
        item["summary" if "summary" in kind else "content"] = [part]
    return item


# ── Anthropic Messages ───────────────────────────────────────────────────────

_MESSAGE: Body = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
    "stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 3},
}  # fmt: skip
_BLOCK_OF: dict[str, Body] = {
    "thinking_delta": {"type": "thinking", "thinking": "", "signature": ""},
    "signature_delta": {"type": "thinking", "thinking": "", "signature": ""},
    "input_json_delta": {"type": "tool_use", "id": "call_1", "name": "look", "input": {}},
    "compaction_delta": {"type": "compaction", "content": None},
}


def of_messages(event: Body) -> list[Body]:
    """The frames of a stream in which this event is."""
    kind = event.get("type")
    begun: Body = {"type": "message_start", "message": _MESSAGE}
    ended: list[Body] = [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
             {"type": "message_stop"}]  # fmt: skip
    stop: Body = {"type": "content_block_stop", "index": 0}
    if kind == "message_start":
        return [event, *ended]
    if kind == "content_block_start":
        return [begun, event, stop, *ended]
    if kind == "content_block_delta":
        delta = event["delta"]
        block = _BLOCK_OF.get(delta["type"], {"type": "text", "text": ""})
        said = [{**event, "delta": {"type": "text_delta", "text": "text"}}] if block["type"] == "text" else []
        more = said if delta["type"] == "citations_delta" else []
        given = {**event, "delta": {**delta, "partial_json": '{"a": 1}'}} if "partial_json" in delta else event
        return [begun, {"type": "content_block_start", "index": 0, "content_block": block}, *more, given, stop, *ended]
    if kind == "message_delta":
        return [begun, event, ended[1]]
    return [begun, *([] if kind == "message_stop" else [event]), *ended]


# ── Gemini Interactions ──────────────────────────────────────────────────────

INTERACTION: Body = {"id": "i_1", "model": "m", "object": "interaction", "status": "completed"}
_STEP_OF = {"text": "model_output", "image": "model_output", "audio": "model_output", "document": "model_output",
            "video": "model_output", "text_annotation_delta": "model_output", "text_annotation": "model_output",
            "thought_summary": "thought", "thought_signature": "thought", "arguments_delta": "function_call"}  # fmt: skip


def of_interactions(event: Body) -> list[Body]:
    """The frames of a stream in which this event is."""
    kind = event.get("event_type")
    begun = {"event_type": "interaction.created", "interaction": {**INTERACTION, "status": "in_progress"}}
    ended = {"event_type": "interaction.completed", "interaction": INTERACTION}
    stop = {"event_type": "step.stop", "index": 0}
    if kind == "step.start":
        return [begun, event, stop, ended]
    if kind == "step.delta":
        word = event["delta"].get("type")
        step: Body = {"type": _STEP_OF.get(word, word)}
        if step["type"] == "function_call":
            step |= {"id": "call_1", "name": "look"}
            event = {**event, "delta": {**event["delta"], "arguments": '{"a": 1}'}}
        text = {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": "text"}}
        said = [text] if str(word).startswith("text_annotation") else []
        return [begun, {"event_type": "step.start", "index": 0, "step": step}, *said, event, stop, ended]
    if kind == "step.stop":
        return [begun, {"event_type": "step.start", "index": 0, "step": {"type": "model_output"}}, event, ended]
    return {"interaction.created": [event, ended], "interaction.completed": [begun, event]}.get(
        str(kind), [event] if kind == "error" else [begun, event, ended]
    )


# ── Cohere ───────────────────────────────────────────────────────────────────

_START: Body = {"type": "message-start", "id": "id_1", "delta": {"message": {"role": "assistant"}}}
_END: Body = {"type": "message-end", "id": "id_1", "delta": {"finish_reason": "COMPLETE"}}
_TEXT: Body = {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": "text"}}}}
_CALL: Body = {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": {
    "id": "call_1", "type": "function", "function": {"name": "look", "arguments": ""}}}}}  # fmt: skip


def of_cohere(event: Body) -> list[Body]:
    """The frames of a stream in which this event is."""
    match event.get("type"):
        case "message-start":
            return [event, _TEXT, {"type": "content-end", "index": 0}, _END]
        case "message-end":
            return [_START, _TEXT, {"type": "content-end", "index": 0}, event]
        case "content-start":
            return [_START, event, {"type": "content-end", "index": 0}, _END]
        case "content-delta" | "citation-start" | "citation-end":
            return [_START, _TEXT, event, {"type": "content-end", "index": 0}, _END]
        case "content-end":
            return [_START, _TEXT, event, _END]
        case "tool-call-start":
            return [_START, event, {"type": "tool-call-end", "index": 0}, _END]
        case "tool-call-delta" | "tool-call-end":
            return [_START, _CALL, event, *([{"type": "tool-call-end", "index": 0}] if "delta" in event else []), _END]
    return [_START, event, _END]


# ── Bedrock Converse ─────────────────────────────────────────────────────────


def of_converse(event: Body) -> list[Body]:
    """The frames of a stream in which this event is: each the event's name and its body."""
    begun, stop = {"messageStart": {"role": "assistant"}}, {"contentBlockStop": {"contentBlockIndex": 0}}
    ended = {"messageStop": {"stopReason": "end_turn"}}
    usage = {
        "metadata": {"usage": {"inputTokens": 3, "outputTokens": 3, "totalTokens": 6}, "metrics": {"latencyMs": 3}}
    }
    kind = next(iter(event), "")
    if kind == "messageStart":
        return [event, ended, usage]
    if kind == "contentBlockStart":
        return [begun, event, stop, ended, usage]
    if kind == "contentBlockDelta":
        calls = "toolUse" in event[kind].get("delta", {})
        start = {
            "contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "call_1", "name": "look"}}}
        }
        given = {kind: {**event[kind], "delta": {"toolUse": {"input": '{"a": 1}'}}}} if calls else event
        return [begun, *([start] if calls else []), given, stop, ended, usage]
    if kind == "messageStop":
        return [begun, event, usage]
    return [begun, event, ended, usage] if kind != "metadata" else [begun, ended, event]
