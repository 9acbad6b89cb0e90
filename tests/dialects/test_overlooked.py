"""Calls that no marker led to: in doubt behind words on their line, and left alone where anything quotes them."""

from __future__ import annotations

import pytest

from dragoman import parse

CALL = '{"name": "read_file", "arguments": {"path": "a.txt"}}'
TOOLS = [
    {
        "name": "read_file",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    }
]
QUOTED = {
    "comment": f"<!--\nuse: {CALL}\n-->\nThat is the form.",
    "comment on a line": f"See <!-- {CALL} --> above.",
    "element of lines": f"<pre>\nUse {CALL}\n</pre>\nThat is it.",
    "element": f"Write <code>{CALL}</code>\nand done.",
    "verbatim": f"\\begin{{verbatim}}\ncall: {CALL}\n\\end{{verbatim}}\nSo.",
    "inline verbatim": f"Use \\verb|{CALL}|\nSo.",
    "block quote": f"> call: {CALL}\n\nSo he said.",
    "longer fence": f"~~~~\ncall: {CALL}\n~~~\ncall: {CALL}\n~~~~\nSo.",
    "fence in a fence": f"````\n```\ncall: {CALL}\n```\n````\nSo.",
    "cell": f"| form | what |\n|---|---|\n| call | {CALL} |\n\nSo.",
    "wiki": f"{{noformat}}\ncall: {CALL}\n{{noformat}}\nSo.",
    "org": f"#+BEGIN_SRC\ncall: {CALL}\n#+END_SRC\nSo.",
    "indented": f"The form::\n\n    call: {CALL}\n\nSo.",
    "diff": f"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-call: x\n+call: {CALL}\n",
    "fence behind words in a quote": f"> Let me look: ```json\n> {CALL}\n> ```\n\nSo he said.",
    "more than the call in a fence behind words": f"So: ```py\nx = 1\n{CALL}\n```\nSee?",
    "span": f"The form is ``call: {CALL}`` here.",
    "marks": f"He wrote «call: {CALL}» to me.",
    "part of more": f'{{"calls": [{{"id": 1, "x": {CALL}}}]}}',
    "under a key that says nothing of calls": f'{{"result": {CALL}, "rows": [1]}}',
    "a value that more follows": f'{{"command": {CALL}}}\n\nThat is how it looked.',
    "a fenced value among words": f'It looks so:\n```json\n{{"command": {CALL}, "plan": ""}}\n```',
    "an indented value": f'The form is:\n\n    {{"command": {CALL}, "plan": ""}}',
    "a value with arguments that do not fit": '{"why": "", "tool": "read_file", "args": {"file": "a"}}',
    "a value with a tool of no such name": '{"why": "", "tool": "write_file", "args": {"path": "a"}}',
    "a value with two kinds of arguments": '{"why": "", "tool": "read_file", "args": {"path": "a"}, "input": {"path": "b"}}',
    "AutoGPT's, which is held to the JSON protocol elsewhere": '{"thoughts": {"text": "t"}, "command": {"name": "read_file", "args": {"path": "a.txt"}}}',
    "what is held to the JSON protocol elsewhere": '{"thought": "t", "action": {"name": "read_file", "args": {"path": "a.txt"}}}',
    "ReAct's with an observation of the model's own": "Action: read_file\nAction Input: a.txt\nObservation: It says so.",
    "ReAct's in a fence among words": "It looks so:\n```\nAction: read_file\nAction Input: a.txt\n```",
    "ReAct's that is quoted": "> Action: read_file\n> Action Input: a.txt",
    "ReAct's with a list": "Action: read_file\nAction Input: [1]",
    "ReAct's of another tool": "Action: write_file\nAction Input: a.txt",
    "a value whose command is no tool's name": '{"command": "cat", "args": {"path": "a.txt"}}',
    "a transcript": f'{{"messages": [{{"role": "assistant", "content": [{CALL}]}}]}}',
    "amid a sentence": f"With {CALL} you can read it.",
}
OPEN = {
    "behind a colon": f"Calling tool: {CALL}",
    "behind words": f"Sure, here: {CALL}",
    "bold": f"**Call:** {CALL}",
    "behind a comment": f"<!-- a note -->\nCalling: {CALL}",
    "behind a fence": f"```py\nx=1\n```\nCalling: {CALL}",
    "item": f"I call:\n- {CALL}",
    "numbered item": f"I call:\n1. {CALL}",
    "before another line": f"I call: {CALL}\nNow I wait.",
    "key too many": '{"name": "read_file", "arguments": {"path": "a.txt"}, "why": "to see"}',
    "behind a quotation": f'He said "yes". Calling: {CALL}',
    "behind a span": f"Use `ls`. Calling: {CALL}",
    "all of the message is a span": f"`{CALL}`",
    "fence behind words": f"Let me look: ```json\n{CALL}\n```",
    "call fence behind words": f"I read it. ```tool_call\n{CALL}\n```\nThen I tell you.",
    "fence behind words left open": f"Let me look: ```json\n{CALL}",
    "an agent's protocol, the call first": '{"command": {"name": "read_file", "args": {"path": "a.txt"}}, "plan": "x"}',
    "an agent's protocol, the call last": '{"plan": "x", "command": {"name": "read_file", "args": {"path": "a.txt"}}}',
    "another agent's": '{"plan": ["a"], "headline": "b", "tool_name": "read_file", "tool_args": {"path": "a.txt"}}',
    "ReAct's with a plain text": "Thought: I read it.\nAction: read_file\nAction Input: a.txt",
    "ReAct's with a text in quotation marks": 'Action: read_file\nAction Input: "a.txt"\nObservation:',
    "ReAct's with an object in backticks": 'Action: `read_file`\nAction Input: `{"path": "a.txt"}`',
    "ReAct's in bold": "**Action:** read_file\n**Action Input:** a.txt",
    "a command by its name": '{"reasoning": "r", "command": "read_file", "args": {"path": "a.txt"}}',
    "a next action": '{"next_action": {"name": "read_file", "parameters": {"path": "a.txt"}}, "reasoning": "r"}',
    "the same in a fence": '```json\n{"headline": "b", "tool_name": "read_file", "tool_args": {"path": "a.txt"}}\n```',
    "JSON-RPC": f'{{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {CALL}}}',
    "JSON-RPC behind words": f'I read it.\n{{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {CALL}}}',
    "content blocks": '[{"type": "text", "text": "So."}, {"type": "tool_use", "name": "read_file", "input": {"path": "a.txt"}}]',
    "a message": '{"role": "assistant", "content": [{"type": "tool_use", "name": "read_file", "input": {"path": "a.txt"}}]}',
    "a wire's answer": '{"choices": [{"message": {"tool_calls": [{"function": {"name": "read_file", "arguments": "{\\"path\\": \\"a.txt\\"}"}}]}}]}',
    "tildes behind words": f"Let me look: ~~~tool_call\n{CALL}\n~~~",
}


@pytest.mark.parametrize("text", QUOTED.values(), ids=QUOTED)
def test_what_is_quoted_is_left_alone(text: str) -> None:
    parsed = parse(text, tools=TOOLS)
    assert (parsed.calls, parsed.doubtful) == ((), ())


@pytest.mark.parametrize("text", OPEN.values(), ids=OPEN)
def test_what_nothing_quotes_is_in_doubt_or_runs(text: str) -> None:
    parsed = parse(text, tools=TOOLS)
    assert [call.name for call in (*parsed.calls, *parsed.doubtful)] == ["read_file"]


def test_each_call_of_a_value_is_in_doubt_in_order_and_where_it_stands() -> None:
    first, second = CALL, CALL.replace("a.txt", "b.txt")
    text = f'Both:\n{{"plan": "{{", "actions": [{first}, {{"x": 1}}, {second}]}}'
    parsed = parse(text, tools=TOOLS)
    assert parsed.calls == ()
    assert [dict(call.arguments) for call in parsed.doubtful] == [{"path": "a.txt"}, {"path": "b.txt"}]
    assert parsed.text == text


def test_a_deep_or_endless_value_is_text() -> None:
    for text in ('{"content": [' * 3000 + CALL + "]}" * 3000, '{"content": [' * 3000 + CALL, "[" * 100_000 + CALL):
        assert parse(text, tools=TOOLS).calls == ()
