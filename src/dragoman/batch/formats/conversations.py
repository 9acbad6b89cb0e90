"""Formats in which a row is `conversations` of speakers and values: ShareGPT, LLaMA-Factory, Hermes, ToolACE, ToolBench.

Calls stand in a turn of their own, or in the text by the corpus' own dialect.
Knows who speaks under which name; nothing of dialects but their names.
Sources: LLaMA-Factory data/README.md; NousResearch/hermes-function-calling-v1, Team-ACE/ToolACE, ToolBench dataset cards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...dialects.writing.render import Unrenderable, render
from ...types import ToolCall
from ..result import Repair
from ..row_json import BadRow, text
from .chat import TOOL_KEYS, calling_turn, flagged, in_form, others, sorted_fields, tools_of, written_tools
from .chat_row import TRAIN, Chat, ChatRow, a_list, a_text, an_object, paired, plain_text, results_apart, said
from .speakers import CALL, role_of
from .spec import Demands, Format
from .toolbox import as_json, tools_in_text

KEYS = (("from", "value"), ("role", "content"), ("role", "value"), ("from", "content"), ("speaker", "text"))
PREFERRED = ("chosen", "rejected")
"""Columns of two answers of which one is better."""
RESPONSES = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)


# ── reading ──────────────────────────────────────────────────────────────────


def turns(obj: Mapping[str, Any], key: str = "conversations") -> Iterator[tuple[str, str, dict[str, Any], str]]:
    """Role, text, the other fields and the path of each turn."""
    for i, one in enumerate(a_list(obj[key], f"$.{key}")):
        path = f"$.{key}[{i}]"
        turn = an_object(one, path)
        who, what = next(((w, v) for w, v in KEYS if w in turn and v in turn), ("from", "value"))
        speaker = a_text(turn.get(who), f"{path}.{who}")
        role = role_of(speaker)
        if role is None:
            raise BadRow("unreadable", f"nobody is called {speaker!r}; rename with --columns, or correct it", path)
        left = {name: value for name, value in turn.items() if name not in (who, what) and value is not None}
        value = turn.get(what)
        yield role, value if isinstance(value, str) else "" if value is None else text(value), left, path


def _read(obj: dict[str, Any]) -> ChatRow:
    repairs: list[Repair] = []
    made = [said("system", obj["system"])] if isinstance(obj.get("system"), str) and obj["system"] else []
    row = ChatRow(messages=made + _spoken_in(obj, "conversations", repairs), tools=tools_of(obj), repairs=repairs)
    rest = {key: value for key, value in obj.items() if key not in ("conversations", "system", *TOOL_KEYS)}
    for key in PREFERRED:
        if isinstance(rest.get(key), dict | list):
            row.branches[key] = paired(_spoken_in({key: _listed(rest.pop(key))}, key, repairs))
    row.messages = paired(row.messages)
    return sorted_fields(row, rest)


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _spoken_in(obj: Mapping[str, Any], key: str, repairs: list[Repair]) -> list[Chat]:
    """The turns in a column as messages."""
    made: list[Chat] = []
    before = ""
    for role, value, left, path in turns(obj, key):
        left = flagged(left)
        if role == CALL:
            turn = calling_turn(value, path, repairs)
            if before == "assistant" and "tool_calls" in turn:  # said and called in one turn, told in two
                made[-1] = {**made[-1], **left, "tool_calls": turn["tool_calls"]}
            else:
                made.append({**turn, **left})
        elif role == "tool":
            waiting = len(made[-1].get("tool_calls") or ()) if made else 0
            made += [said("tool", content, **left) for content in _results(value, waiting)]
        else:
            made.append(said(role, value, **left))
        before = role
    return made


def _results(value: str, waiting: int) -> list[str]:
    """The results in one turn: several where several calls wait and it is a list of as many, or marks keep them apart."""
    marked = RESPONSES.findall(value)
    if marked and not RESPONSES.sub("", value).strip():
        return [str(one) for one in marked]
    return results_apart(value, waiting)


def _turns(obj: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = obj.get("conversations")
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _fits(obj: Mapping[str, Any]) -> bool:
    found = _turns(obj)
    return bool(found) and any(who in found[0] and what in found[0] for who, what in KEYS)


def _values(obj: Mapping[str, Any]) -> Iterator[str]:
    for one in _turns(obj):
        for _, what in KEYS:
            if isinstance(one.get(what), str):
                yield one[what]


def _fits_hermes(obj: Mapping[str, Any]) -> bool:
    return _fits(obj) and any("<tool_call>" in value or "<tools>" in value for value in _values(obj))


REACT = re.compile(r"(?:^|\n)\s*Action:.*\n\s*Action Input:")


def _fits_toolbench(obj: Mapping[str, Any]) -> bool:
    return _fits(obj) and any(REACT.search(value) for value in _values(obj))


def _fits_toolace(obj: Mapping[str, Any]) -> bool:
    return _fits(obj) and not tools_key(obj) and bool(tools_in_text(_system(obj)))


def tools_key(obj: Mapping[str, Any]) -> bool:
    """Does a row have a column of tools?"""
    return any(obj.get(key) for key in TOOL_KEYS)


def _system(obj: Mapping[str, Any]) -> str:
    if isinstance(obj.get("system"), str):
        return str(obj["system"])
    first = next(iter(_turns(obj)), {})
    return next((v for v in _values({"conversations": [first]})), "") if "system" in first.values() else ""


def _read_toolace(obj: dict[str, Any]) -> ChatRow:
    row = _read(obj)
    row.tools = [{key: value for key, value in one.items() if value is not None} for one in tools_in_text(_system(obj))]
    return row


def _read_toolbench(obj: dict[str, Any]) -> ChatRow:
    row = _read(obj)
    if row.tools is None:
        system = next((m["content"] for m in row.messages if m["role"] == "system"), "")
        row.tools = [_plain_schema(one) for one in tools_in_text(as_json(system))] or None
    return row


def _plain_schema(tool: dict[str, Any]) -> dict[str, Any]:
    """A definition of ToolBench: `optional` lists what is not required, examples are no schema words."""
    inner = tool.get("function", tool)
    schema = inner.get("parameters")
    if not isinstance(schema, dict):
        return tool
    return {**inner, "parameters": {key: value for key, value in schema.items() if key != "optional"}}


# ── writing ──────────────────────────────────────────────────────────────────


def _split_system(row: ChatRow) -> tuple[dict[str, Any], list[Chat]]:
    """The system prompt a row begins with, as a column, and the turns."""
    first = row.messages[0] if row.messages else {}
    if first.get("role") == "system" and isinstance(first.get("content"), str):
        return {"system": first["content"]}, row.messages[1:]
    return {}, row.messages


def _flags(message: Chat, demands: Demands) -> dict[str, Any]:
    return {demands.train: message[TRAIN]} if demands.train and TRAIN in message else {}


def _write_sharegpt(row: ChatRow, demands: Demands) -> dict[str, Any]:
    system, messages = _split_system(row)
    made: list[Chat] = []
    results: list[str] = []
    for message in [*messages, {"role": ""}]:
        if message["role"] == "tool":
            results.append(plain_text(message))
            continue
        if results:
            value = results[0] if len(results) == 1 else text(results)
            made.append({"from": "observation", "value": value})
            results = []
        made += _spoken(message, demands)
    answers = {key: _one_turn(one, demands) for key, one in row.branches.items()}
    return {"conversations": made, **answers, **system, **written_tools(row.tools, demands), **others(row)}


def _one_turn(answer: list[Chat], demands: Demands) -> Chat:
    turns_made = [turn for message in answer for turn in _spoken(message, demands)]
    if len(turns_made) != 1:
        raise BadRow("unwritable", "an answer of several turns is no preference of ShareGPT's; convert to trl", "$")
    return turns_made[0]


def _spoken(message: Chat, demands: Demands) -> Iterator[Chat]:
    words = {"user": "human", "system": "system", "developer": "system", "assistant": "gpt"}
    calls = [one for one in message.get("tool_calls") or () if isinstance(one, dict)]
    said_too = plain_text(message)
    flags = _flags(message, demands)
    if message["role"] in words and (not calls or (said_too and demands.turns == "free")):
        yield {"from": words[message["role"]], "value": said_too, **flags}
    if calls:
        listed = [_told(one) for one in calls]
        if len(listed) > 1 and demands.parallel == "none":
            raise BadRow("unwritable", "several calls in one turn, and --parallel none", "$")
        yield {"from": "function_call", "value": text(listed[0] if len(listed) == 1 else listed), **flags}


def _told(one: Chat) -> dict[str, Any]:
    function = one["function"]
    return {"name": function["name"], "arguments": in_form(function.get("arguments"), Demands(arguments="object"))}


def typed_calls(message: Chat) -> list[ToolCall]:
    """The calls of a message in our own type.  Raises `BadRow` for arguments that are no object."""
    made = []
    for number, one in enumerate(message.get("tool_calls") or ()):
        told = _told(one)
        if not isinstance(told["arguments"], dict):
            raise BadRow("unwritable", "arguments that are no JSON object cannot be written in a text", "$")
        made.append(ToolCall(id=str(one.get("id", number)), name=str(told["name"]), arguments=told["arguments"]))
    return made


def calls_as_text(message: Chat, dialect: str) -> str:
    """The calls of a message in a dialect.  Raises `BadRow`."""
    try:
        return render(typed_calls(message), dialect)
    except Unrenderable as why:
        raise BadRow("unwritable", str(why), "$") from None


def with_calls(message: Chat, dialect: str) -> str:
    """What the model says and calls, as one text."""
    calls = calls_as_text(message, dialect) if message.get("tool_calls") else ""
    words = plain_text(message)
    return words + ("\n" if words and calls and not words.endswith("\n") else "") + calls


def _write_hermes(row: ChatRow, demands: Demands) -> dict[str, Any]:
    made: list[Chat] = []
    words = {"user": "human", "system": "system", "developer": "system", "assistant": "gpt"}
    for message in row.messages:
        if message["role"] == "tool":
            value = f"<tool_response>\n{plain_text(message)}\n</tool_response>"
            if made and made[-1]["from"] == "tool":
                made[-1]["value"] += "\n" + value
            else:
                made.append({"from": "tool", "value": value})
        else:
            value = with_calls(message, demands.dialect) if message["role"] == "assistant" else plain_text(message)
            made.append({"from": words.get(message["role"], "human"), "value": value, **_flags(message, demands)})
    return {"conversations": made, **written_tools(row.tools, demands), **others(row)}


def _write_dialect(row: ChatRow, demands: Demands) -> dict[str, Any]:
    """Messages of the chat API whose calls are text."""
    made: list[Chat] = []
    for message in row.messages:
        if message["role"] == "assistant":
            left = {k: v for k, v in message.items() if k not in ("tool_calls", "content", TRAIN)}
            made.append({**left, "content": with_calls(message, demands.dialect), **_flags(message, demands)})
        else:
            made.append({k: v for k, v in message.items() if k != "tool_call_id"})
    return {"messages": made, **written_tools(row.tools, demands), **others(row)}


def _read_dialect(obj: dict[str, Any]) -> ChatRow:
    rest = {key: value for key, value in obj.items() if key not in ("messages", *TOOL_KEYS)}
    messages = [dict(an_object(one, "$.messages")) for one in a_list(obj.get("messages"), "$.messages")]
    return sorted_fields(ChatRow(messages=messages, tools=tools_of(obj)), rest)


def _never(obj: Mapping[str, Any]) -> bool:
    return False  # it looks like chat without calls, and is read so: named with --format it is this


_TURNS = '{"conversations":[{"from":"human","value":"hi"},{"from":"%s","value":"%s"},{"from":"%s","value":"%s"},{"from":"gpt","value":"Seven."}]%s}'
_COLUMN = ',"tools":"[{\\"name\\":\\"f\\",\\"parameters\\":{\\"type\\":\\"object\\",\\"properties\\":{\\"a\\":{\\"type\\":\\"integer\\"}}}}]"'

HERMES = Format(
    name="hermes", fits=_fits_hermes, read=_read, write=_write_hermes,
    demands=Demands(arguments="object", ids="none", tools="string", dialect="hermes"),
    sample=_TURNS % ("gpt", '<tool_call>\\n{\\"name\\": \\"f\\", \\"arguments\\": {\\"a\\": 1}}\\n</tool_call>', "tool", "<tool_response>\\n7\\n</tool_response>", _COLUMN),
    source="https://huggingface.co/datasets/NousResearch/hermes-function-calling-v1",
)  # fmt: skip
TOOLBENCH = Format(
    name="toolbench", fits=_fits_toolbench, read=_read_toolbench, demands=Demands(ids="none", dialect="react"),
    sample=_TURNS % ("assistant", 'Thought: well\\nAction: f\\nAction Input: {\\"a\\": 1}', "function", "7", _COLUMN),
    source="https://github.com/OpenBMB/ToolBench",
)  # fmt: skip
TOOLACE = Format(
    name="toolace", fits=_fits_toolace, read=_read_toolace, demands=Demands(ids="none", tools="text", dialect="pythonic"),
    sample='{"system":"You may use: [{\\"name\\":\\"Get X\\",\\"description\\":\\"x\\",\\"parameters\\":{\\"type\\":\\"dict\\",\\"properties\\":{\\"a\\":{\\"type\\":\\"int\\"}}}}]","conversations":[{"from":"user","value":"hi"},{"from":"assistant","value":"[Get X(a=1)]"},{"from":"tool","value":"7"},{"from":"assistant","value":"Seven."}]}',
    source="https://huggingface.co/datasets/Team-ACE/ToolACE",
)  # fmt: skip
SHAREGPT = Format(
    name="sharegpt", fits=_fits, read=_read, write=_write_sharegpt,
    demands=Demands(arguments="object", ids="none", tools="string", answers="pair", train="train"),
    sample=_TURNS % ("function_call", '{\\"name\\":\\"f\\",\\"arguments\\":{\\"a\\":1}}', "observation", "7", _COLUMN),
    source="https://github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md",
)  # fmt: skip
LLAMAFACTORY = Format(
    name="llamafactory", fits=_never, read=_read, write=_write_sharegpt,
    demands=Demands(arguments="object", ids="none", tools="string", turns="alternate", answers="pair"), sample=SHAREGPT.sample,
    source="https://github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md",
)  # fmt: skip
DIALECT = Format(
    name="dialect", fits=_never, read=_read_dialect, write=_write_dialect,
    demands=Demands(arguments="object", ids="none", dialect="hermes", train="train"),
    sample='{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"<tool_call>\\n{\\"name\\": \\"f\\", \\"arguments\\": {\\"a\\": 1}}\\n</tool_call>"},{"role":"tool","content":"7"},{"role":"assistant","content":"Seven."}],"tools":[{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"integer"}}}}]}',
    source="docs/dialects.md",
)  # fmt: skip
