"""Formats of agents' runs: tau-bench's simulations, SWE-agent, OpenHands, ATIF.

Knows these shapes; nothing of how a run is scored.
Sources: tau2-bench data model; SWE-agent docs "Trajectories"; OpenHands event serialization and its published
trajectories; the Agent Trajectory Interchange Format.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..row_json import text
from .chat import chats, sorted_fields, tools_of
from .chat_row import Chat, ChatRow, a_list, a_text, an_object, call, paired, plain_text, said
from .spec import Demands, Format

# ── tau ──────────────────────────────────────────────────────────────────────


def _fits_tau(obj: Mapping[str, Any]) -> bool:
    run = obj.get("messages", obj.get("traj"))
    return isinstance(run, list) and "task_id" in obj and ("trial" in obj or "reward_info" in obj or "traj" in obj)


def _read_tau(obj: dict[str, Any]) -> ChatRow:
    key = "messages" if "messages" in obj else "traj"
    listed = a_list(obj[key], f"$.{key}")
    row = ChatRow(messages=paired(_tau_messages(listed, f"$.{key}")), tools=tools_of(obj))
    return sorted_fields(row, {k: v for k, v in obj.items() if k not in (key, "tools")})


def _tau_messages(listed: list[Any], path: str) -> Iterator[Chat]:
    users: set[str] = set()
    for i, one in enumerate(listed):
        message = dict(an_object(one, f"{path}[{i}]"))
        calls = message.get("tool_calls") or []
        if message.get("role") == "user" and calls:
            # The user has tools of its own here; the chat API knows no such calls, so they stay beside the text.
            users.update(str(c.get("id")) for c in calls if isinstance(c, dict))
            yield {"role": "user", "content": message.get("content") or "", "user_tool_calls": calls}
            continue
        if message.get("role") == "tool" and (message.get("requestor") == "user" or message.get("id") in users):
            yield {"role": "user", "content": message.get("content") or "", "user_tool_result": message.get("id")}
            continue
        yield from chats([_tau_message(message, calls)], f"{path}[{i}]")


def _tau_message(message: dict[str, Any], calls: Any) -> Chat:
    made = {k: v for k, v in message.items() if k not in ("tool_calls", "id", "requestor", "error", "turn_idx")}
    if calls:
        made["tool_calls"] = [_wrapped(one) for one in a_list(calls, "$")]
    if message.get("role") == "tool":
        made.setdefault("tool_call_id", message.get("id"))
        if message.get("error") is True:
            made["content"] = "[ERROR] " + a_text(message.get("content"), "$")
    return made


def _wrapped(one: Any) -> Any:
    """A flat call of tau in the chat API's wrapping."""
    if not isinstance(one, dict) or "function" in one:
        return one
    return call(one.get("name"), one.get("arguments"), str(one.get("id") or ""))


# ── SWE-agent ────────────────────────────────────────────────────────────────


def _fits_swe(obj: Mapping[str, Any]) -> bool:
    steps = obj.get("trajectory")
    return isinstance(steps, list) and bool(steps) and isinstance(steps[0], dict) and "action" in steps[0]


def _read_swe(obj: dict[str, Any]) -> ChatRow:
    history = obj.get("history")
    spoken = isinstance(history, list) and all(isinstance(m, dict) and "role" in m for m in history)
    messages = chats(history, "$.history") if spoken and history else list(_swe_steps(obj["trajectory"]))
    row = ChatRow(messages=paired(_swe_message(m) for m in messages), tools=tools_of(obj))
    return sorted_fields(row, {k: v for k, v in obj.items() if k not in ("trajectory", "history", "tools")})


def _swe_message(message: Chat) -> Chat:
    left = {k: v for k, v in message.items() if k not in ("agent", "message_type", "thought", "action", "cache_control")}
    return left | ({"tool_call_id": left.pop("tool_call_ids")[0]} if left.get("tool_call_ids") else {})


def _swe_steps(steps: list[Any]) -> Iterator[Chat]:
    for i, step in enumerate(steps):
        one = an_object(step, f"$.trajectory[{i}]")
        yield said("assistant", a_text(one.get("response"), f"$.trajectory[{i}].response"))
        if one.get("observation"):
            yield said("user", a_text(one["observation"], f"$.trajectory[{i}].observation"))


# ── OpenHands ────────────────────────────────────────────────────────────────


def _fits_openhands(obj: Mapping[str, Any]) -> bool:
    run = obj.get("trajectory")
    return isinstance(run, list) and bool(run) and isinstance(run[0], dict) and "role" in run[0]


def _read_openhands(obj: dict[str, Any]) -> ChatRow:
    row = ChatRow(messages=paired(chats(obj["trajectory"], "$.trajectory")), tools=tools_of(obj))
    return sorted_fields(row, {k: v for k, v in obj.items() if k not in ("trajectory", "tools")})


def _fits_events(obj: Mapping[str, Any]) -> bool:
    events = obj.get("events", obj.get("history"))
    return isinstance(events, list) and any(isinstance(e, dict) and "source" in e and _is_event(e) for e in events[:5])


def _is_event(event: Mapping[str, Any]) -> bool:
    return "action" in event or "observation" in event


def _read_events(obj: dict[str, Any]) -> ChatRow:
    key = "events" if "events" in obj else "history"
    row = ChatRow(messages=list(_spoken_events(a_list(obj[key], f"$.{key}"))), tools=tools_of(obj))
    return sorted_fields(row, {k: v for k, v in obj.items() if k not in (key, "tools")})


def _spoken_events(events: list[Any]) -> Iterator[Chat]:
    for i, one in enumerate(events):
        event = an_object(one, f"$.events[{i}]")
        args = event.get("args")
        arguments = args if isinstance(args, dict) else {}
        if event.get("action") == "message":
            yield said("user" if event.get("source") == "user" else "assistant", str(arguments.get("content", "")))
        elif event.get("action") == "system":
            yield said("system", str(arguments.get("content", "")))
        elif event.get("source") == "agent" and event.get("action"):
            thought = arguments.get("thought")
            told = {k: v for k, v in arguments.items() if k != "thought" and v is not None}
            id_ = f"event_{event.get('id', i)}"
            calls = [call(str(event["action"]), told, id_)]
            yield {"role": "assistant", "content": thought if isinstance(thought, str) else None, "tool_calls": calls}
        elif event.get("observation") and event.get("cause") is not None:
            yield said("tool", str(event.get("content") or event.get("message") or ""), tool_call_id=f"event_{event['cause']}")


# ── ATIF ─────────────────────────────────────────────────────────────────────


def _fits_atif(obj: Mapping[str, Any]) -> bool:
    return str(obj.get("schema_version", "")).startswith("ATIF") and isinstance(obj.get("steps"), list)


def _read_atif(obj: dict[str, Any]) -> ChatRow:
    agent = obj["agent"] if isinstance(obj.get("agent"), dict) else {}
    row = ChatRow(messages=paired(_atif_messages(obj["steps"])), tools=tools_of(agent, ("tool_definitions",)))
    return sorted_fields(row, {k: v for k, v in obj.items() if k != "steps"})


def _atif_messages(steps: list[Any]) -> Iterator[Chat]:
    for i, one in enumerate(steps):
        step = an_object(one, f"$.steps[{i}]")
        if step.get("source") != "agent":
            yield said(str(step.get("source", "user")), a_text(step.get("message"), f"$.steps[{i}].message"))
            continue
        message = said("assistant", a_text(step.get("message"), f"$.steps[{i}].message"))
        if step.get("reasoning_content"):
            message["reasoning_content"] = step["reasoning_content"]
        calls = step.get("tool_calls") or []
        if calls:
            message["tool_calls"] = [
                call(c.get("function_name"), c.get("arguments"), str(c.get("tool_call_id") or "")) for c in calls
            ]
        yield message
        results = (step.get("observation") or {}).get("results") or []
        for result in results:
            content = result.get("content")
            told = content if isinstance(content, str) else plain_text(result) or text(content)
            yield said("tool", told, **({"tool_call_id": result["source_call_id"]} if result.get("source_call_id") else {}))


_CHAT = '[{"role":"user","content":"hi"},{"role":"assistant","content":"","tool_calls":[%s]},{"role":"tool",%s,"content":"7"},{"role":"assistant","content":"Seven."}]'
_CALL = '{"id":"c1","type":"function","function":{"name":"f","arguments":"{\\"a\\":1}"}}'
_TOOLS = '"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"integer"}}}}}]'

TAU = Format(
    name="tau", fits=_fits_tau, read=_read_tau, demands=Demands(arguments="object"),
    sample='{"task_id":"1","trial":0,"reward_info":{"reward":1.0},"termination_reason":"user_stop","messages":' + _CHAT % ('{"id":"c1","name":"f","arguments":{"a":1},"requestor":"assistant"}', '"id":"c1","requestor":"assistant","error":false') + "," + _TOOLS + "}",
    source="https://github.com/sierra-research/tau2-bench",
)  # fmt: skip
SWE_AGENT = Format(
    name="swe_agent", fits=_fits_swe, read=_read_swe,
    sample='{"trajectory":[{"response":"I list.\\n```\\nls\\n```","thought":"I list.","action":"ls","observation":"a.py","state":"{}","query":[]}],"info":{"exit_status":"submitted"}}',
    source="https://swe-agent.com/latest/usage/trajectories/",
)  # fmt: skip
OPENHANDS = Format(
    name="openhands", fits=_fits_openhands, read=_read_openhands,
    sample='{"trajectory_id":"t","trajectory":' + _CHAT % (_CALL, '"tool_call_id":"c1","name":null,"tool_calls":null') + "," + _TOOLS + ',"model_patch":"","exit_status":"finish","resolved":1}',
    source="https://huggingface.co/datasets/nebius/SWE-rebench-openhands-trajectories",
)  # fmt: skip
OPENHANDS_EVENTS = Format(
    name="openhands_events", fits=_fits_events, read=_read_events,
    sample='{"events":[{"id":0,"source":"user","action":"message","args":{"content":"hi"}},{"id":1,"source":"agent","action":"run","args":{"command":"ls","thought":"I list."}},{"id":2,"source":"agent","observation":"run","content":"a.py","cause":1}]}',
    source="https://docs.all-hands.dev/",
)  # fmt: skip
ATIF = Format(
    name="atif", fits=_fits_atif, read=_read_atif, demands=Demands(arguments="object"),
    sample='{"schema_version":"ATIF-v1.4","session_id":"s","agent":{"name":"a","tool_definitions":[{"type":"function","function":{"name":"f"}}]},"steps":[{"step_id":1,"source":"user","message":"hi"},{"step_id":2,"source":"agent","message":"","tool_calls":[{"tool_call_id":"c1","function_name":"f","arguments":{}}],"observation":{"results":[{"source_call_id":"c1","content":"7"}]}}]}',
    source="https://www.harborframework.com/docs/agents/trajectory-format",
)  # fmt: skip
