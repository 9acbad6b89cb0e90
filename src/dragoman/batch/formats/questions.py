"""Formats in which a row is a question and its calls in columns: xLAM, When2Call, Glaive's flat text, BFCL.

Knows these shapes; nothing of conversations as lists.
Sources: Salesforce/xlam-function-calling-60k, nvidia/When2Call, glaiveai/glaive-function-calling-v2 dataset cards;
berkeley-function-call-leaderboard README.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..result import Repair
from ..row_json import BadRow, loads
from .chat import GOLD, a_call, chats, in_form, listed_tools, others, sorted_fields
from .chat_row import Chat, ChatRow, a_list, a_text, an_object, call, paired, plain_text, said
from .spec import ANY, Demands, Format
from .toolbox import tools_in_text

# ── xLAM ─────────────────────────────────────────────────────────────────────

_PYTHON = re.compile(r"\s*([A-Za-z]+)\s*(?:\[(.*)\])?")
_TYPES = {
    "str": "string", "string": "string", "int": "integer", "integer": "integer", "float": "number", "number": "number",
    "bool": "boolean", "boolean": "boolean", "list": "array", "array": "array", "tuple": "array", "set": "array",
    "dict": "object", "object": "object",
}  # fmt: skip


def _fits_xlam(obj: Mapping[str, Any]) -> bool:
    return "query" in obj and "answers" in obj and "tools" in obj


def _read_xlam(obj: dict[str, Any]) -> ChatRow:
    tools = [_with_schema(one) for one in listed_tools(obj["tools"], "$.tools")]
    answers = obj["answers"]
    repairs: list[Repair] = []
    calls = a_call(answers, "$.answers", repairs) if answers not in ("", "[]", [], None) else []
    answer: Chat = {"role": "assistant", "content": None, "tool_calls": calls} if calls else said("assistant", "")
    row = ChatRow(messages=paired([said("user", a_text(obj["query"], "$.query")), answer]), tools=tools)
    row.repairs = repairs
    rest = {key: value for key, value in obj.items() if key not in ("query", "answers", "tools")}
    return sorted_fields(row, rest)


def _with_schema(tool: Any) -> Any:
    """A definition whose parameters are a schema; xLAM lists them by name with a type in Python's words."""
    inner = tool.get("function", tool) if isinstance(tool, dict) else None
    given = inner.get("parameters") if isinstance(inner, dict) else None
    if not isinstance(inner, dict) or not isinstance(given, dict) or _is_schema(given):
        return tool
    described = {name: one for name, one in given.items() if isinstance(one, dict)}
    required = [n for n, one in described.items() if not _is_optional(one)]
    schema: dict[str, Any] = {"type": "object", "properties": {n: _property(one) for n, one in described.items()}}
    return {**inner, "parameters": {**schema, "required": required} if required else schema}


def _is_schema(given: Mapping[str, Any]) -> bool:
    return isinstance(given.get("properties"), dict) or isinstance(given.get("type"), str) or "$ref" in given


def _is_optional(one: Mapping[str, Any]) -> bool:
    return "optional" in str(one.get("type", "")).casefold() or "default" in one


def _property(one: Mapping[str, Any]) -> dict[str, Any]:
    declared = str(one.get("type", "")).split(",")[0]
    found = _PYTHON.match(declared)
    word, inside = (found[1].casefold(), found[2]) if found else ("", None)
    made: dict[str, Any] = {"type": _TYPES[word]} if word in _TYPES else {}
    inner = _PYTHON.match(inside or "")
    if made.get("type") == "array" and inner is not None and inner[1].casefold() in _TYPES:
        made["items"] = {"type": _TYPES[inner[1].casefold()]}
    for key in ("description", "enum", "default"):
        if key in one:
            made[key] = one[key]
    return made


# ── When2Call ────────────────────────────────────────────────────────────────


def _fits_when2call(obj: Mapping[str, Any]) -> bool:
    return "question" in obj and isinstance(obj.get("answers"), dict) and "correct_answer" in obj


def _read_when2call(obj: dict[str, Any]) -> ChatRow:
    answers = an_object(obj["answers"], "$.answers")
    row = ChatRow(
        messages=[said("user", a_text(obj["question"], "$.question"))],
        tools=listed_tools(obj.get("tools") or [], "$.tools"),
        branches={name: [said("assistant", a_text(one, f"$.answers.{name}"))] for name, one in answers.items()},
        labels={"correct_answer": obj["correct_answer"]},
        gold=answers.get(str(obj["correct_answer"])),
    )
    known = ("question", "answers", "tools", "correct_answer")
    return sorted_fields(row, {key: value for key, value in obj.items() if key not in known})


# ── Glaive ───────────────────────────────────────────────────────────────────

_SPEAKER = re.compile(r"(?:^|\n)\s*(USER|ASSISTANT|FUNCTION RESPONSE):[ ]?", re.MULTILINE)
_END = re.compile(r"\s*<\|endoftext\|>\s*")
_CALL = re.compile(r"""<functioncall>\s*\{\s*"name"\s*:\s*"([^"]+)"\s*,\s*"arguments"\s*:\s*'(.*)'\s*\}\s*\Z""", re.DOTALL)
_ROLES = {"USER": "user", "ASSISTANT": "assistant", "FUNCTION RESPONSE": "tool"}


def _fits_glaive(obj: Mapping[str, Any]) -> bool:
    if isinstance(obj.get("sample"), str):
        return bool(_SPEAKER.search(obj["sample"]))
    return isinstance(obj.get("chat"), str) and isinstance(obj.get("system"), str)


def _read_glaive(obj: dict[str, Any]) -> ChatRow:
    if "sample" in obj:  # version 1
        begin = _SPEAKER.search(obj["sample"])
        at = begin.start() if begin is not None else 0
        obj = {**obj, "system": obj["sample"][:at], "chat": obj["sample"][at:]}
        del obj["sample"]
    system = obj["system"]
    made = [said("system", system.removeprefix("SYSTEM:").strip())] if system.strip() else []
    made += list(_glaive_turns(obj["chat"]))
    row = ChatRow(messages=paired(made), tools=tools_in_text(system) or None)
    return sorted_fields(row, {key: value for key, value in obj.items() if key not in ("system", "chat")})


def _glaive_turns(chat: str) -> Iterator[Chat]:
    pieces = _SPEAKER.split(chat)
    if pieces[0].strip():
        raise BadRow("unreadable", "the chat begins with nobody's name", "$.chat")
    for name, value in zip(pieces[1::2], pieces[2::2], strict=True):
        content = _END.sub("", value).strip()
        found = _CALL.search(content) if name == "ASSISTANT" else None
        arguments = None if found is None else _single_quoted(found[2])
        if found is not None and arguments is not None:
            before = content[: found.start()].strip()
            yield {"role": "assistant", "content": before or None, "tool_calls": [call(found[1], arguments)]}
        else:
            yield said(_ROLES[name], content)


def _single_quoted(written: str) -> str | None:
    """The arguments between Glaive's single quotes, which escape nothing; None where they are no JSON."""
    for spelling in (written, written.replace("\\'", "'")):
        try:
            loads(spelling.encode("utf-8", "surrogatepass"))
        except BadRow:
            continue
        return spelling
    return None


# ── BFCL ─────────────────────────────────────────────────────────────────────


def _fits_bfcl(obj: Mapping[str, Any]) -> bool:
    return isinstance(obj.get("question"), list) and ("function" in obj or "involved_classes" in obj)


def _fits_bfcl_answer(obj: Mapping[str, Any]) -> bool:
    return "ground_truth" in obj and "question" not in obj and "id" in obj


def _fits_bfcl_result(obj: Mapping[str, Any]) -> bool:
    return "result" in obj and "id" in obj and "question" not in obj and "messages" not in obj


def _read_bfcl(obj: dict[str, Any]) -> ChatRow:
    listed = a_list(obj["question"], "$.question")
    asked = [turn for turn in listed if isinstance(turn, list)] or [listed]
    messages = [m for i, turn in enumerate(asked) for m in chats(turn, f"$.question[{i}]")]
    functions = obj.get("function", [])
    row = ChatRow(messages=messages, tools=listed_tools(functions, "$.function"), gold=obj.get("ground_truth"))
    if len(asked) > 1:
        row.labels["turns"] = [len(turn) for turn in asked]
    return sorted_fields(row, {k: v for k, v in obj.items() if k not in ("question", "function", "ground_truth")})


def _read_bfcl_answer(obj: dict[str, Any]) -> ChatRow:
    row = ChatRow(messages=[], gold=obj["ground_truth"])
    return sorted_fields(row, {k: v for k, v in obj.items() if k != "ground_truth"})


def _read_bfcl_result(obj: dict[str, Any]) -> ChatRow:
    row = ChatRow(messages=paired(_answered(obj["result"], "$.result")))
    return sorted_fields(row, {k: v for k, v in obj.items() if k != "result"})


def _answered(result: Any, path: str) -> Iterator[Chat]:
    """What a model answered: text, calls as it gave them by name, or one of these for each turn and step."""
    if isinstance(result, str):
        yield said("assistant", result)
    elif isinstance(result, list) and result and all(isinstance(one, dict) for one in result):
        calls = [call(name, arguments) for one in result for name, arguments in one.items()]
        yield {"role": "assistant", "content": None, "tool_calls": calls}
    elif isinstance(result, list):
        for i, one in enumerate(result):
            yield from _answered(one, f"{path}[{i}]")
    else:
        raise BadRow("unreadable", "a result must be a text, or a list of calls by name", path)


def _write_bfcl(row: ChatRow, demands: Demands) -> dict[str, Any]:
    """A question, its functions and the truth: the calls of the model's first turn that has any."""
    called = next((m for m in row.messages if m.get("tool_calls")), None)
    upto = row.messages.index(called) if called is not None else len(row.messages)
    asked = [said(m["role"], plain_text(m)) for m in row.messages[:upto] if m["role"] in ("user", "system")]
    truth = row.gold if row.gold is not None else None if called is None else [_possible(c) for c in called["tool_calls"]]
    functions = [one.get("function", one) for one in row.tools or [] if isinstance(one, dict)]
    made = {"id": str(row.metadata.get("id", "")), "question": [asked], "function": functions}
    if truth is not None:
        made["ground_truth"] = truth
    return {**made, **{k: v for k, v in others(row).items() if k not in ("id", "turns", GOLD)}}


def _possible(one: Chat) -> dict[str, Any]:
    function = one["function"]
    arguments = in_form(function.get("arguments"), Demands(arguments="object"))
    if not isinstance(arguments, dict):
        raise BadRow("unwritable", "arguments that are no JSON object are no truth", "$")
    return {function["name"]: {key: [value] for key, value in arguments.items()}}


XLAM = Format(
    name="xlam", fits=_fits_xlam, read=_read_xlam,
    sample='{"id":0,"query":"hi","tools":"[{\\"name\\":\\"f\\",\\"description\\":\\"x\\",\\"parameters\\":{\\"a\\":{\\"type\\":\\"int, optional\\",\\"description\\":\\"n\\"}}}]","answers":"[{\\"name\\":\\"f\\",\\"arguments\\":{\\"a\\":1}}]"}',
    source="https://huggingface.co/datasets/Salesforce/xlam-function-calling-60k",
)  # fmt: skip
WHEN2CALL = Format(
    name="when2call", fits=_fits_when2call, read=_read_when2call, demands=Demands(dialect="nemotron_toolcall"),
    sample='{"uuid":"u","question":"hi","correct_answer":"tool_call","answers":{"direct":"No.","tool_call":"<TOOLCALL>[{\\"name\\": \\"f\\", \\"arguments\\": {\\"a\\": 1}}]</TOOLCALL>"},"target_tool":"f","tools":["{\\"name\\":\\"f\\",\\"parameters\\":{\\"type\\":\\"object\\",\\"properties\\":{\\"a\\":{\\"type\\":\\"integer\\"}}}}"],"held_out_param":null}',
    source="https://huggingface.co/datasets/nvidia/When2Call",
)  # fmt: skip
GLAIVE = Format(
    name="glaive", fits=_fits_glaive, read=_read_glaive, demands=Demands(ids="none", tools="text"),
    sample='{"system":"SYSTEM: You have functions. Use them if required -\\n{\\n \\"name\\": \\"f\\",\\n \\"parameters\\": {\\"type\\": \\"object\\", \\"properties\\": {\\"a\\": {\\"type\\": \\"integer\\"}}}\\n}\\n","chat":"USER: hi\\n\\n\\nASSISTANT: <functioncall> {\\"name\\": \\"f\\", \\"arguments\\": \'{\\"a\\": 1}\'} <|endoftext|>\\n\\n\\nFUNCTION RESPONSE: 7\\n\\n\\nASSISTANT: Seven. <|endoftext|>\\n\\n\\n"}',
    source="https://huggingface.co/datasets/glaiveai/glaive-function-calling-v2",
)  # fmt: skip
BFCL = Format(
    name="bfcl", fits=_fits_bfcl, read=_read_bfcl, write=_write_bfcl, demands=Demands(arguments="object", ids="none"),
    sample='{"id":"simple_python_0","question":[[{"role":"user","content":"hi"}]],"function":[{"name":"f","description":"x","parameters":{"type":"dict","properties":{"a":{"type":"integer"}},"required":["a"]}}]}',
    source="https://github.com/ShishirPatil/gorilla/tree/main/berkeley-function-call-leaderboard",
)  # fmt: skip
BFCL_ANSWER = Format(
    name="bfcl_answer", fits=_fits_bfcl_answer, read=_read_bfcl_answer,
    sample='{"id":"simple_python_0","ground_truth":[{"f":{"a":[1,""]}}]}', source=BFCL.source,
)  # fmt: skip
BFCL_RESULT = Format(
    name="bfcl_result", fits=_fits_bfcl_result, read=_read_bfcl_result, demands=Demands(dialect=ANY),
    sample='{"id":"simple_python_0","result":[{"f":"{\\"a\\":1}"}]}', source=BFCL.source,
)  # fmt: skip
