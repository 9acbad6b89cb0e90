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
