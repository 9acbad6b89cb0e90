"""Texts on which the laws of the parser are tested: every shape it must survive, good and bad."""

from __future__ import annotations

from typing import Any

from dragoman.dialects import DIALECTS

TOOLS: list[dict[str, Any]] = [
    {
        "name": "f",
        "parameters": {"type": "object", "properties": {"a": {"type": "integer"}, "s": {"type": "string"}}},
    },
    {
        "name": "write_file",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}, "append": {"type": "boolean"}},
            "required": ["path", "content"],
        },
    },
    {"name": "ping", "parameters": {"type": "object", "properties": {}}},
]

CALL = '{"name": "write_file", "arguments": {"path": "a.py", "content": "x = \\"1\\"\\n"}}'
SAMPLES = [d.sample for d in DIALECTS.values() if d.sample]

TEXTS = [
    *SAMPLES,
    "Just prose, with `code`, a [link](http://x) and {braces}.",
    f"Lead-in.\n<tool_call>\n{CALL}\n</tool_call>\ntrailing words",
    f"<tool_call>{CALL}</tool_call><tool_call>{CALL}</tool_call>",
    f"~~~tool_call\n{CALL}\n~~~\nand\n~~~tool_call\n{{\"name\": \"ping\"}}\n~~~\n",
    f"~~~tool_call\n{CALL}\n~~~tool_call\n{CALL}\n~~~",
    f"<think>maybe <tool_call>{CALL}</tool_call>?</think>No.",
    f"<think>never closed <tool_call>{CALL}</tool_call>",
    f"before</think>after <tool_call>{CALL}</tool_call>",
    f"`<tool_call>{CALL}</tool_call>` is how",
    f"a ` stray tick <tool_call>{CALL}</tool_call> and more\n\nend",
    f"```\n<tool_call>{CALL}</tool_call>\n```",
    f"```json\n{CALL}\n```",
    f"I run it:\n```json\n{CALL}\n```",
    f"```json\n{CALL}\n```\nThat was an example.",
    f"> <tool_call>{CALL}</tool_call>\n\nquoted",
    CALL,
    f"{CALL}\n{CALL}",
    f"[{CALL}, {CALL}]",
    f"{CALL} and prose",
    '{"thought": "t", "action": {"tool": "ping", "args": {}}}',
    '{"final": {"content": "done"}}',
    '{"answer": 42, "name": "nobody"}',
    "@tool f {\"a\": 1}\n@tool ping {}",
    "<tool_call>{\"name\": \"nope\", \"arguments\": {}}</tool_call>",
    "<tool_call>{\"name\": \"f\", \"arguments\": [1]}</tool_call>",
    "<tool_call>{'name': 'f', 'arguments': {'a': '3', s: \"it's\",}}</tool_call>",
    "<tool_call>{\"name\": \"write_file\", \"arguments\": {\"path\": \"a\", \"content\": \"cut he",
    "<tool_call>{\"arguments\": {\"a\": 1}, \"name\": \"f\"}</tool_call>",
    "<tool_call>{\"name\": \"f\", \"arguments\": \"{\\\"a\\\": 1}\"}</tool_call>",
    "<tool_call fakeout and <tool_calls nothing",
    "<tool_call>",
    "<tool_call name=\"f\" args='{\"a\": 1}' /> <tool name=ping />",
    "<tool_call>\n<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\n</tool_call>\n<b>\n"
    "</parameter>\n</function>\n</tool_call>",
    "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
    f"<tool_call>{CALL}</tool_call>\n<tool_response>ok</tool_response>\n<tool_call>{CALL}</tool_call>",
    "<|im_start|>assistant\nhello<|im_end|>",
    "[f(a=1), ping()]",
    "[f(a=x)]",
    "see [f(a=1)](u) for more",
    "\U0001f600 emoji <tool_call>{\"name\": \"f\", \"arguments\": {\"s\": \"\\ud83d\\ude00 é\"}}</tool_call>",
    "half \ud83d surrogate",
    "",
    "\n\n",
]
