"""Formats in which a row is `messages` and `tools` of the chat API: OpenAI, TRL, Axolotl, Mistral, ms-swift.

Knows the chat API's messages; nothing of other shapes.
Sources: OpenAI fine-tuning guide; TRL dataset formats; Axolotl docs; ms-swift docs "Agent support"; Mistral fine-tuning.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...dialects.engine.parse import parse
from ...lenient.notation import Broken, Cut
from ...lenient.reader import mend
from ..result import Repair
from ..row_json import BadRow, loads, text
from .chat_row import TRAIN, Chat, ChatRow, a_list, an_object, call, paired, plain_text, said
from .speakers import CALL, role_of
from .spec import Demands, Format

TOOL_KEYS = ("tools", "functions", "available_tools", "functions_list")
SETTINGS = ("parallel_tool_calls", "tool_choice", "function_call")
WEIGHTS = ("weight", "train", "loss")
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
BRANCHES = {
    "chosen": "chosen", "rejected": "rejected", "preferred_output": "chosen", "non_preferred_output": "rejected",
    "completion": "completion",
}  # fmt: skip
"""Columns of answers that continue the prompt, and what we call them."""
GOLD = "gold"
LABELS = ("label", "reward", "split", "score", "finish_reason", "reward_info", "resolved", "exit_status")
METADATA = (
    "id", "uuid", "model", "source", "task_id", "trial", "trajectory_id", "category", "task", "license", "domain",
    "dataset", "instance_id", "language", "custom_id", "request_id", "trace_id", "session_id",
)  # fmt: skip


# ── reading ──────────────────────────────────────────────────────────────────


def sorted_fields(row: ChatRow, rest: Mapping[str, Any]) -> ChatRow:
    """`row` with the other columns of it where they belong."""
    for key, value in rest.items():
        if key == GOLD and row.gold is None:
            row.gold = value
            continue
        place = row.labels if key in LABELS else row.metadata if key in METADATA else row.extra
        place[key] = value
    return row


def tools_of(obj: Mapping[str, Any], keys: Iterable[str] = TOOL_KEYS) -> list[Any] | None:
    """The tools of a row: a list, or JSON in a string; None where nothing is said of them."""
    for key in keys:
        if obj.get(key) is not None:
            return listed_tools(obj[key], f"$.{key}")
    return None


def listed_tools(value: Any, path: str) -> list[Any]:
    """Tools in a list, in a JSON string, or each in a string of its own (datasets' `Json()`)."""
    if isinstance(value, str):
        value = from_text(value, path) if value.strip() else []
    if isinstance(value, dict):
        value = value.get("tools", [value])
    return [
        from_text(one, f"{path}[{i}]") if isinstance(one, str) else one for i, one in enumerate(a_list(value, path))
    ]


def from_text(value: str, path: str) -> Any:
    """The JSON in a string.  Raises `BadRow`."""
    try:
        return loads(value.encode("utf-8", "surrogatepass"))
    except BadRow as why:
        raise BadRow("bad_tools" if "tools" in path else "unreadable", f"the JSON in a string: {why}", path) from None


def flagged(message: Chat) -> Chat:
    """A message with the one word for what is learnt from."""
    key = next((key for key in WEIGHTS if message.get(key) is not None), None)
    if key is None:
        return message
    value = message[key]
    left = {name: one for name, one in message.items() if name not in WEIGHTS}
    return {**left, TRAIN: bool(value)} if isinstance(value, bool | int | float) else message


def chats(value: Any, path: str) -> list[Chat]:
    """Messages of the chat API, their keys without a value left out."""
    made = []
    for i, one in enumerate(a_list(value, path)):
        message = from_text(one, f"{path}[{i}]") if isinstance(one, str) else one
        message = {key: part for key, part in an_object(message, f"{path}[{i}]").items() if part is not None}
        role = message.get("role")
        if not isinstance(role, str):
            raise BadRow("unreadable", "a message without a role", f"{path}[{i}]")
        if role not in PLAIN_ROLES and (known := role_of(role)) not in (None, CALL):
            message["role"] = known
        made.append(flagged(_with_calls(message, f"{path}[{i}]")))
    return made


def _with_calls(message: Chat, path: str) -> Chat:
    """The message with its calls in a list: they may be JSON text, each or all, or the one call of the old API."""
    calls = message.get("tool_calls")
    if isinstance(calls, str):
        calls = message["tool_calls"] = from_text(calls, f"{path}.tool_calls")
    if isinstance(calls, list) and any(isinstance(one, str) for one in calls):
        where = f"{path}.tool_calls"
        message["tool_calls"] = [from_text(one, where) if isinstance(one, str) else one for one in calls]
    old = message.get("function_call")
    if isinstance(old, dict) and not calls and message["role"] == "assistant":
        message.setdefault("content", None)
        message["tool_calls"] = [call(old.get("name"), old.get("arguments"))]
        del message["function_call"]
    elif message["role"] == "function":
        message["role"] = "tool"
    return message


def read_chat(obj: dict[str, Any]) -> ChatRow:
    """A row of messages, or of a prompt and the answers that continue it."""
    rest = dict(obj)
    if "messages" in rest:
        messages = chats(rest.pop("messages"), "$.messages")
    else:
        messages = _prompt(rest)
    row = ChatRow(messages=paired(messages), tools=tools_of(rest), padded=_is_padded(obj))
    for key in [key for key in TOOL_KEYS if key in rest]:
        del rest[key]
    read_branches(row, rest, plain=_is_plain_prompt(obj))
    for key in [key for key, value in rest.items() if "prompt" in obj and _is_answer(value)]:
        row.branches[key] = chats(rest.pop(key), f"$.{key}")
    for key in SETTINGS:
        if rest.get(key) is not None:
            row.labels[key] = rest.pop(key)
    return sorted_fields(row, rest)


def _is_padded(obj: Mapping[str, Any]) -> bool:
    return any(value is None and key != "content" for message in _all_messages(obj) for key, value in message.items())


def read_branches(row: ChatRow, rest: dict[str, Any], *, plain: bool = False) -> None:
    """Take the answers that exclude each other out of the columns; where one is rejected, the row's own is chosen."""
    for key, name in BRANCHES.items():
        value = rest.get(key)
        if isinstance(value, dict) and "role" in value:
            value = [value]
        elif isinstance(value, str) and (plain or (key == "rejected" and row.messages and "chosen" not in rest)):
            value = [said("assistant", value)]
        if isinstance(value, list):
            row.branches[name] = paired(chats(value, f"$.{key}"))
            del rest[key]
    at = len(row.messages)
    while at and row.messages[at - 1].get("role") == "assistant":
        at -= 1
    if set(row.branches) == {"rejected"} and at < len(row.messages):
        told, row.messages[at:] = row.messages[at:], []
        rejected = row.branches["rejected"]
        shared = rejected[:at] == row.messages
        row.branches = {"chosen": told, "rejected": rejected[at:] if shared else rejected}


def _is_answer(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(m, dict) and "role" in m for m in value)


def _prompt(rest: dict[str, Any]) -> list[Chat]:
    if isinstance(given := rest.get("input"), dict) and "messages" in given:  # OpenAI's preferences
        del rest["input"]
        for key in ("tools", *SETTINGS):
            if key in given:
                rest.setdefault(key, given[key])
        return chats(given["messages"], "$.input.messages")
    prompt = rest.pop("prompt", [])
    return [said("user", prompt)] if isinstance(prompt, str) else chats(prompt, "$.prompt")


def _fits_chat(obj: Mapping[str, Any]) -> bool:
    listed = obj.get("messages")
    if isinstance(listed, list):
        return not listed or (isinstance(listed[0], dict) and "role" in listed[0]) or isinstance(listed[0], str)
    given = obj.get("input")
    if isinstance(given, dict) and "messages" in given:
        return any(isinstance(obj.get(key), list) for key in BRANCHES)
    return _is_answer(obj.get("prompt")) or _is_plain_prompt(obj)


def _is_plain_prompt(obj: Mapping[str, Any]) -> bool:
    """Is it a prompt and answers in plain text?  With tools it is an answer alone (`answers.py`)."""
    told = any(isinstance(obj.get(key), str) for key in ("completion", "chosen", "rejected"))
    return isinstance(obj.get("prompt"), str) and told and not any(key in obj for key in TOOL_KEYS)


def _is_object_form(obj: Mapping[str, Any]) -> bool:
    """Does the first call have arguments as an object?"""
    for message in _all_messages(obj):
        for one in message.get("tool_calls") or ():
            function = one.get("function") if isinstance(one, dict) else None
            return isinstance(function, dict) and isinstance(function.get("arguments"), dict)
    return False


def _all_messages(obj: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key in ("messages", "prompt", *BRANCHES):
        listed = obj.get(key)
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, dict) and isinstance(one.get("tool_calls") or (), list | tuple):
                yield one


def _fits_trl(obj: Mapping[str, Any]) -> bool:
    return _fits_chat(obj) and ("prompt" in obj or isinstance(obj.get("tools"), str) or _is_object_form(obj))


def _fits_axolotl(obj: Mapping[str, Any]) -> bool:
    return _fits_chat(obj) and any("train" in m or "train_detail" in m for m in _all_messages(obj))


def _fits_mistral(obj: Mapping[str, Any]) -> bool:
    ids = [one.get("id") for m in _all_messages(obj) for one in m.get("tool_calls") or () if isinstance(one, dict)]
    nine = all(isinstance(one, str) and len(one) == 9 and one.isalnum() for one in ids)
    return bool(ids) and nine and _fits_chat(obj) and not _is_object_form(obj)


# ── writing ──────────────────────────────────────────────────────────────────


def written_messages(messages: Iterable[Chat], demands: Demands) -> list[Chat]:
    """Messages as the target wants them."""
    made = [_written(message, demands) for message in messages]
    return [one for each in made for one in _apart(each)] if demands.parallel != "list" else made


def _written(message: Chat, demands: Demands) -> Chat:
    made = {key: value for key, value in message.items() if key != TRAIN}
    if TRAIN in message and demands.train:
        flag: Any = message[TRAIN]
        made[demands.train] = int(flag) if demands.train == "weight" else flag
    if made.get("tool_calls"):
        made["tool_calls"] = [written_call(one, demands) for one in made["tool_calls"]]
        made.setdefault("content", None)
    if "tool_call_id" in made:
        made["tool_call_id"] = an_id(made["tool_call_id"], demands)
    return made


def written_call(one: Chat, demands: Demands) -> Chat:
    """A call with its arguments and its id in the form the target wants."""
    function = one.get("function")
    if not isinstance(function, dict):
        return one
    arguments = in_form(function.get("arguments"), demands)
    made = {**one, "function": {**function, "arguments": arguments}}
    if isinstance(made.get("id"), str):
        made["id"] = an_id(made["id"], demands)
    return made


def in_form(arguments: Any, demands: Demands) -> Any:
    """Arguments as an object or as a string; what is no JSON stays as it is."""
    if demands.arguments == "string":
        return arguments if isinstance(arguments, str) else text({} if arguments is None else arguments)
    if not isinstance(arguments, str):
        return {} if arguments is None else arguments
    try:
        value = loads(arguments.encode()) if arguments.strip() else {}
    except (BadRow, UnicodeEncodeError):
        return arguments
    return value if isinstance(value, dict) else arguments


def an_id(given: str, demands: Demands) -> str:
    """An id in the target's alphabet: as it is where that fits, else made of it, the same one every time."""
    if demands.ids != "nine" or (len(given) == 9 and given.isascii() and given.isalnum()):
        return given
    number = int.from_bytes(hashlib.sha256(given.encode("utf-8", "replace")).digest()[:8], "big")
    return "".join(ALPHABET[number // 62**place % 62] for place in range(9))


def _apart(message: Chat) -> Iterator[Chat]:
    """One message for each call."""
    calls = message.get("tool_calls") or ()
    if len(calls) < 2:
        yield message
        return
    for number, one in enumerate(calls):
        first = message if not number else {"role": message["role"], "content": None}
        yield {**first, "tool_calls": [one]}


def written_tools(tools: list[Any] | None, demands: Demands) -> dict[str, Any]:
    """The column of tools; without one where the row says nothing of tools."""
    if tools is None or demands.tools in ("none", "text"):
        return {}
    return {"tools": text(tools) if demands.tools == "string" else tools}


def others(row: ChatRow) -> dict[str, Any]:
    """The columns besides."""
    return {**row.metadata, **row.labels, **row.extra, **({} if row.gold is None else {GOLD: row.gold})}


def write_chat(row: ChatRow, demands: Demands) -> dict[str, Any]:
    """A row of messages and tools; branches as TRL has them."""
    branches = {name: written_messages(one, demands) for name, one in row.branches.items()}
    head = {"prompt" if branches else "messages": written_messages(row.messages, demands)}
    return {**head, **branches, **written_tools(row.tools, demands), **others(row)}


def write_openai(row: ChatRow, demands: Demands) -> dict[str, Any]:
    """The same, branches as OpenAI's preference tuning has them."""
    if not row.branches:
        return write_chat(row, demands)
    words = {ours: theirs for theirs, ours in BRANCHES.items() if theirs.endswith("_output")}
    branches = {words.get(name, name): written_messages(one, demands) for name, one in row.branches.items()}
    given = {"messages": written_messages(row.messages, demands), **written_tools(row.tools, demands)}
    return {"input": given, **branches, **others(row)}


# ── ms-swift: a message for each call ────────────────────────────────────────

PLAIN_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function", "ipython"})
"""Roles of the chat API and of its templates; calls and results under other names are ms-swift's or LLaMA-Factory's."""


def _fits_swift(obj: Mapping[str, Any]) -> bool:
    listed = obj.get("messages")
    return isinstance(listed, list) and any(_has_own_role(one) for one in listed if isinstance(one, dict))


def _has_own_role(message: Mapping[str, Any]) -> bool:
    role = message.get("role")
    return isinstance(role, str) and role not in PLAIN_ROLES and role_of(role) in (CALL, "tool")


def _read_swift(obj: dict[str, Any]) -> ChatRow:
    made: list[Chat] = []
    repairs: list[Repair] = []
    before = ""
    for i, one in enumerate(a_list(obj["messages"], "$.messages")):
        message = flagged(an_object(one, f"$.messages[{i}]"))
        role = str(message.get("role"))
        kind = role if role in PLAIN_ROLES else role_of(role) or role
        if kind == CALL:
            turn = calling_turn(message.get("content"), f"$.messages[{i}].content", repairs)
            left = {key: value for key, value in message.items() if key not in ("role", "content")}
            if "tool_calls" in turn and made and before in ("assistant", CALL):
                calls = [*made[-1].get("tool_calls", ()), *turn["tool_calls"]]
                made[-1] = {**made[-1], **left, "tool_calls": calls}
            else:
                made.append({**turn, **left})
        else:
            content = message.get("content")
            shown = {"content": text(content)} if kind == "tool" and isinstance(content, dict) else {}
            made.append(message if kind == role and not shown else {**message, **shown, "role": kind})
        before = kind
    rest = {key: value for key, value in obj.items() if key not in ("messages", *TOOL_KEYS)}
    row = ChatRow(messages=paired(made), tools=tools_of(obj), repairs=repairs)
    read_branches(row, rest)
    return sorted_fields(row, rest)


def calling_turn(content: Any, path: str, repairs: list[Repair]) -> Chat:
    """A turn that is the model's calling: with its calls, or as text where calls stand in it among other words."""
    try:
        return {"role": "assistant", "content": None, "tool_calls": a_call(content, path, repairs)}
    except BadRow:
        if not isinstance(content, str) or not parse(content).calls:
            raise
        return said("assistant", content)


def a_call(content: Any, path: str, repairs: list[Repair]) -> list[Chat]:
    """The call, or the list of calls, that stands in a text as JSON; what had to be mended in it goes to `repairs`."""
    value = content
    if isinstance(content, str):
        try:
            value = loads(content.encode("utf-8", "surrogatepass"))
        except BadRow as why:
            value = _mended(content, path, repairs)
            if value is None:
                raise BadRow("malformed", f"the call is not JSON: {why}", path) from None
    made = []
    for one in value if isinstance(value, list) else [value]:
        given = one if isinstance(one, dict) else {}
        if isinstance(given.get("function"), dict):
            given = given["function"]
        if not isinstance(given.get("name"), str):
            raise BadRow("malformed", "a call without a name", path)
        made.append(call(given["name"], given.get("arguments", given.get("parameters", {}))))
    return made


def _mended(content: str, path: str, repairs: list[Repair]) -> Any:
    """What a text that is no JSON says as one value; None where that cannot be told."""
    try:
        value, edits = mend(content)
        written = text(value)
    except (ValueError, Broken, Cut, TypeError):
        return None
    mends = tuple(dict.fromkeys(edit.kind for edit in edits))
    repairs.append(Repair("mended_call", path, (0, len(content)), content, written, mends))
    return value


def _write_swift(row: ChatRow, demands: Demands) -> dict[str, Any]:
    made: list[Chat] = []
    for message in written_messages(row.messages, Demands(arguments="object", train=demands.train)):
        calls = message.pop("tool_calls", None)
        if message["role"] == "tool":
            made.append({"role": "tool_response", "content": plain_text(message)})
            continue
        if not calls or message.get("content"):
            made.append(message)
        for one in calls or ():
            function = one["function"]
            told = {"name": function["name"], "arguments": function["arguments"]}
            flag = {demands.train: message[demands.train]} if demands.train in message else {}
            made.append({"role": "tool_call", "content": text(told), **flag})
    return {**written_tools(row.tools, demands), "messages": made, **others(row)}


# ── the rows ─────────────────────────────────────────────────────────────────

_TOOLS = '"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"integer"}}}}}]'
_SAMPLE = (
    '{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"%s","type":"function","function":{"name":"f","arguments":%s}}]},{"role":"tool","tool_call_id":"%s","content":"7"},{"role":"assistant","content":"Seven."%s}],'
    + _TOOLS
    + "}"
)

SWIFT = Format(
    name="swift", fits=_fits_swift, read=_read_swift, write=_write_swift,
    demands=Demands(parallel="consecutive", ids="none", tools="string", train="loss"),
    sample='{"tools":"[{\\"name\\":\\"f\\"}]","messages":[{"role":"user","content":"hi"},{"role":"tool_call","content":"{\\"name\\":\\"f\\",\\"arguments\\":{\\"a\\":1}}"},{"role":"tool_response","content":"7"},{"role":"assistant","content":"Seven."}]}',
    source="https://swift.readthedocs.io/en/latest/Instruction/Agent-support.html",
)  # fmt: skip
AXOLOTL = Format(
    name="axolotl", fits=_fits_axolotl, read=read_chat, write=write_chat,
    demands=Demands(train="train", answers="pair"), sample=_SAMPLE % ("c1", '"{\\"a\\":1}"', "c1", ',"train":true'),
    source="https://docs.axolotl.ai/docs/dataset-formats/conversation.html",
)  # fmt: skip
TRL = Format(
    name="trl", fits=_fits_trl, read=read_chat, write=write_chat,
    demands=Demands(arguments="object", answers="any"), sample=_SAMPLE % ("c1", '{"a":1}', "c1", ""),
    source="https://huggingface.co/docs/trl/dataset_formats",
)  # fmt: skip
MISTRAL = Format(
    name="mistral", fits=_fits_mistral, read=read_chat, write=write_chat,
    demands=Demands(ids="nine", train="weight", answers="pair"), sample=_SAMPLE % ("abcDEF123", '"{\\"a\\":1}"', "abcDEF123", ""),
    source="https://docs.mistral.ai/capabilities/finetuning/",
)  # fmt: skip
OPENAI = Format(
    name="openai", fits=_fits_chat, read=read_chat, write=write_openai,
    demands=Demands(train="weight", answers="pair"), sample=_SAMPLE % ("call_1", '"{\\"a\\":1}"', "call_1", ""),
    source="https://platform.openai.com/docs/guides/fine-tuning",
)  # fmt: skip
