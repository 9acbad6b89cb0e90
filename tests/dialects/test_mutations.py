"""A call that is damaged in its marks runs with its own arguments, or not at all (judge-rules.md E)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman import IssueKind, ToolCall, UsageError, dialects, parse, render
from dragoman.dialects.spec import KeywordArgs, Strength, YamlArgs, YamlCall
from tests.support.mutations import CALLS, TOOLS, alike, with_a_sign_wrong, with_a_token_wrong

ROWS = tuple(
    name for name, row in dialects.items() if row.strength is Strength.STRONG and not isinstance(row.args, YamlCall)
)
"""But YAML's, whose texts need no quotes: any sign may be one of theirs."""
WEAK = tuple(
    name
    for name, row in dialects.items()
    if row.strength is not Strength.STRONG and not isinstance(row.args, YamlArgs | YamlCall)
)
JOINED = re.compile(r'"a b"\s*"c,d"')
"""Two strings that Python takes for one."""


def _drawn(row: str, data: st.DataObject, damage: Any) -> tuple[str, str, dict[str, Any]]:
    """A call that was damaged so, with what was meant; "" where the row cannot carry one, or Python reads another."""
    name, arguments = data.draw(st.sampled_from(CALLS))
    try:
        text = render([ToolCall(id="call_0", name=name, arguments=arguments)], dialects[row], tools=TOOLS)
    except UsageError:
        return "", name, arguments
    text = data.draw(damage(text, arguments))
    joined = isinstance(dialects[row].args, KeywordArgs) and JOINED.search(text)
    return "" if joined else text, name, arguments


@pytest.mark.parametrize("row", ROWS)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_sign_of_its_marks_changes_no_argument_of_a_call_that_runs(row: str, data: st.DataObject) -> None:
    text, name, arguments = _drawn(row, data, with_a_sign_wrong)
    for call in parse(text, tools=TOOLS).calls:
        assert call.name == name, text
        assert alike(dict(call.arguments), arguments, free=False), (text, call.arguments)


@pytest.mark.parametrize("row", ROWS)
@given(data=st.data())
@settings(max_examples=10, deadline=None)
def test_a_token_of_its_marks_changes_no_argument_of_a_call_that_runs(row: str, data: st.DataObject) -> None:
    text, name, arguments = _drawn(row, data, with_a_token_wrong)
    for call in parse(text, tools=TOOLS).calls:
        assert call.name == name, text
        assert alike(dict(call.arguments), arguments, free=False), (text, call.arguments)


@pytest.mark.parametrize("row", WEAK)
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_a_weak_call_with_a_sign_wrong_is_its_own_or_none_told_its_dialect_or_not(
    row: str, data: st.DataObject
) -> None:
    text, name, arguments = _drawn(row, data, with_a_sign_wrong)
    told, untold = parse(text, tools=TOOLS, dialects=row), parse(text, tools=TOOLS)
    for call in (*told.calls, *told.doubtful, *untold.calls, *untold.doubtful):
        assert call.name == name, text
        assert alike(dict(call.arguments), arguments, free=False), (text, call.arguments)


def _hermes(name: str, written: str) -> str:
    return f'<tool_call>{{"name": "{name}", "arguments": {written}}}</tool_call>'


def _yaml(name: str, body: str) -> str:
    return f"<tool_call>\nname: {name}\narguments:\n  {body}</tool_call>"


UNCLEAR = (
    _hermes("search", '{"query": "w", "tags": ["a b"", "c,d"]}'),
    _hermes("search", '{"query": "w", "tags": ["a b, "c,d"]}'),
    _hermes("search", '{"query": "w," "limit": 5}'),
    _hermes("search", '{"query": "w}"'),
    _hermes("search", '{"query": "w", "li{mit": 5}'),
    _hermes("search", '{"query": "w", "": 5}'),
    _hermes("write_file", '{"path": "a.py", "conte\nnt": "x = 1", "force": true}'),
    _hermes("write_file", '{"path": "a.py", c"ontent": "x = 1", "force": true}'),
    _hermes("bash", '{"command": "ls", "env": {"A": "1", "B"": "x y"}}'),
    _hermes("bash", '{"command": "ls", "env": {"A": "B": "x y"}}'),
    '<|python_tag|>{"name": "search", "parameters": {"query": "w", "tags": ["a b, "c,d"]}}',
    '<|tools_prefix|>[{"write_file": {"path": "a.py", "f"orce": true}}]<|tools_suffix|>',
    '<|tools_prefix|>[{"edit": {"file": "a.py", "edits": [{"old": "x", "new": "y"“}, {"old": "y", "new": "z"}]}}]<|tools_suffix|>',
    '[TOOL_CALLS]write_file[ARGS]{"path": "a.py", "content": "x = 1", "mode"} 420, "force": true}',
    '[TOOL_CALLS]search[ARGS]{"query": "x", "tags": ["a b"]} "limit": 5}',
    '<|tool_call>call:search{query:<|"|>x<|"|>,tags:[<|"|>a b<"||>,<|"|>c,d<|"|>]}<tool_call|>',
    "<start_function_call>call:search{query:<escape>x<escape>,tags:[e<scape>a b<escape>]}<end_function_call>",
    '<function_calls>search(query="w", tags=["a b," "c,d"])</function_calls>',
    '<function_calls>search(query="w", tags=["a" "b"])</function_calls>',
    '<function_calls>search(q,uery="x=1")</function_calls>',
    '<function_calls>write_file(path="a.py", co：tent="x = 1")</function_calls>',
    '<function_calls>\n<invoke name="search">\n<parameter name="query>"x=1</parameter>\n</invoke>\n</function_calls>',
    '<function_calls>\n<invoke name="search">\n<parameter name="query">x=1</paramete>r\n</invoke>\n</function_calls>',
    "<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>x=1</arg_val ue>\n</tool_call>",
    "<tool_call>\n<search>\n<query>x=1</qu\tery></search>\n</tool_call>",
    "<tool_call>\n<bash>\n<command>ls</command><env><A>1</A><e/nv></bash>\n</tool_call>",
    "```tool\nTOOL_NAME: write_file\nBEGIN_ARG: path\na.py\nEND_AR\nGBEGIN_ARG: content\nx\nEND_ARG\n\n```",
    '<tool_call>\nname: search\narguments:\n  query: w\n  tags: ["a b", "c,d]\n</tool_call>',
    "<tool_call>\nname: search\narguments:\n  query: w\n  l|mit: 5\n</tool_call>",
    '<tool_call name="write_file" args=\'{"path": "a.py", "f}rce": true}\' />',
    _hermes("bash", '{"command": "a.txt" or "b.txt"}'),
    _hermes("bash", '{"command": "rm -rf a" "b"}'),
    _hermes("bash", '{"command": "ls", "env": {"A": "x" | "y"}}'),
    _hermes("bash", r'{"command": "C:\temp\Users"}'),
    "<tool_call>{'name': 'bash', 'arguments': {'command': 'set -e; '\n 'ls'}}</tool_call>",
    '<function_calls>bash(command="echo ") && rm x")</function_calls>',
    '<|tool_call_start|>[write_file(path="a", content="print("hello, world"), mode=3)]<|tool_call_end|>',
    '<|tool_call_start|>[bash(command="echo "hi")',
    '```tool_call\n{"name": "write_file", "arguments": {"path": "a", "content": "x "``` y"}}\n```',
    '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}\n<code>\npwd\n</code>\n</tool_call>',
    "<function_calls><invoke name=\"edit\"><file>a</file><edits/><item><old>x</old><new>y</new></item></edits></invoke></function_calls>",
    "<function=search>\n<parameter=query>\nw\n</paramter>\n</function>\n"
    "<function=search>\n<parameter=query>\nx\n</parameter>\n</function>",
    '<function_calls><invoke name="search"><parameter name="query">w</paramter></invoke>'
    '<invoke name="search"><parameter name="query">x</parameter></invoke></function_calls>',
    "<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>w</arg_vlue>\n</tool_call>\n"
    "<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>x</arg_value>\n</tool_call>",
    "```tool\nTOOL_NAME: search\nBEGIN_ARG: query\nw\nEND_RG\n```\n```tool\nTOOL_NAME: search\nBEGIN_ARG: query\nx\nEND_ARG\n```",
    '<tool_call>\n<function="search">\n<parameter="query">\nw\n<parameter>\n<parameter="limit">\n3\n</parameter>\n'
    "</function>\n</tool_call>",
    "<function=bash>\n<parameter=command>\nls\n</paramter>\n<parameter=follow>\nalways\n</parameter>\n</function>",
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="bash">\n<｜DSML｜parameter name="command" string="true">ls\n'
    '<｜DSML｜parameter name="timeot" string="false">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    "<function=write_file>\n<parameter=path>\na.txt\n<path>\n<parameter=content>\nx\n</parameter>\n</function>",
    '<function_calls>\n<invoke name="write_file">\n<parameter name="path">a.txt</path\n</invoke>\n</function_calls>',
    "<tool_call>\n<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\nx\n</content>\n</function\n</tool_call>",
    "<tool_call>search\n<arg_key>query</arg_key>\nw\n<arg_key>limit</arg_key>\n<arg_value>5</arg_value>\n</tool_call>",
    "<tool_call>search\n<arg_key>query</arg_key>\narg_value>w</arg_value>\n</tool_call>",
    "<tool_call>search\n<arg_key>query</arg_key>\n  w</arg_value>\n</tool_call>",
    "<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>w</arg_key> or x\n</tool_call>",
    _yaml("search", "query: red  limit:\n    5\n"),
    _yaml("search", "query: red\n    limit: 5\n"),
    _yaml("search", "query:\n    red\n    limit: 5\n"),
    _yaml("write_file", "path: a.py\n  content: import os\n    def f():\n        return 1\n"),
    _yaml("write_file", "path: a.py\n  content:\n    # The module.\n    import os\n"),
    _yaml("write_file", "path: a.py\n  content: |\n      import os\n    x = 1\n"),
)


@pytest.mark.parametrize("text", UNCLEAR)
def test_what_a_value_or_a_name_holds_by_mistake_runs_nothing(text: str) -> None:
    parsed = parse(text, tools=TOOLS)
    assert not parsed.calls
    assert {issue.kind for issue in parsed.issues} & {IssueKind.MALFORMED, IssueKind.DUPLICATE_KEYS}


WHOLE = (
    _hermes("search", '{"query":"query": "x"}'),
    _hermes("bash", '{"command": "ls",  {"AB": "x y"}}'),
    _hermes("bash", '{"command": "ls", "evn" {"AB": "x y"}}'),
    _hermes("search", '{"query": "{"query": "x"}'),
    _hermes("edit", '{"file": "a", "edits": [{"old": "x = 1", "new"": "x = 2"}, {"old": ""y", "new": "z"}]}'),
    '<tool_call>{"name": "search", "query": {"arguments": "x"}}</tool_call>',
    "<tool_call>\n<function=search>\n<parameter=query>\n<parameter=query>\nx\n</parameter>\n</function>\n</tool_call>",
    "<tool_call>\n<function=bash>\n<parameter=command>\nls\n</paramter>\n<praameter=env>\n{}\n</parameter>\n</function>\n</tool_call>",
    "<seed:tool_call>\n<function=search>\n<parameter=query>\nx\n</function>\n</parameter>\n</seed:tool_call>",
    '<function name="write_file"><param name="path">a.py</param>420</param><param name="force">true</param></function>',
    "<tool_call>\n<search>\n<query>x</qquery></saerch>\n</tool_call>",
    "<tool_call>\n<search>\n<query>x</query><tags><item>a</item>b<item>c</item></tags></search>\n</tool_call>",
    "<tool_call>\n<bash>\n<command>ls</command><tool_call>\n<edit>\n<file>a.py</file></edit>\n</tool_call>",
    "<start_function_call>call:search{query:<escape>x<escape>,tags:[<escape><escape>a b<escape>]}<end_function_call>",
    '~~~tool_call\n{"name": "write_file", "arguments": {"path": "a.py"~~~tool_call\n{"name": "wri"\n~~~',
)
"""More than one sign is wrong, or a mark is missing, written twice, or stands elsewhere."""


@pytest.mark.parametrize("text", WHOLE)
def test_marks_that_are_missing_or_misplaced_run_nothing(text: str) -> None:
    parsed = parse(text, tools=TOOLS)
    assert not parsed.calls
    assert {issue.kind for issue in parsed.issues} & {IssueKind.MALFORMED, IssueKind.DUPLICATE_KEYS}


NESTED = "<list>\n<parameter>a</parameter>\n<parameter>b</parameter>\n</invoke-list>"
CLEAR = (
    (_hermes("bash", '{"command": "if [ "$a" = "$b" ]; then x; fi"}'), {"command": 'if [ "$a" = "$b" ]; then x; fi'}),
    (_hermes("bash", '{"command": "5" and 6" pipes"}'), {"command": '5" and 6" pipes'}),
    (_hermes("bash", '{"command": "print("""doc""")"}'), {"command": 'print("""doc""")'}),
    (_hermes("bash", r'{"command": "C:\Users\temp"}'), {"command": r"C:\Users\temp"}),
    ('<function_calls>bash(command="ls")\n\nIt said "no".', {"command": "ls"}),
    ('<tool_call>{"name": "bash", "arguments": {"command": ""}}<code>pwd</code></tool_call>', {"command": "pwd"}),
    (_hermes("bash", '{"command": "echo "a", "b" x"}'), {"command": 'echo "a", "b" x'}),
    (_hermes("bash", '{"command": "ls", "env": {"A": "say "hi" now"}}'), {"command": "ls", "env": {"A": 'say "hi" now'}}),
    (_hermes("bash", '{"command": "f() { ls; }"'), {"command": "f() { ls; }"}),
    (_hermes("edit", '{"file": "a", "edits": [{"old": "print("a", "b")", "new": "x"}]}'),
     {"file": "a", "edits": [{"old": 'print("a", "b")', "new": "x"}]}),
    (_hermes("bash", '{"command": "x.split(", ")"}'), {"command": 'x.split(", ")'}),
    (_hermes("bash", '{"command": "say "hi", "bye" now"}'), {"command": 'say "hi", "bye" now'}),
    (_hermes("search", '{"query": "w", "tags": ["a" "b"]}'), {"query": "w", "tags": ["a", "b"]}),
    ("<tool_call>search<param_key>query</param_key><param_value>w</param_value><param_key>tags</param_key>"
     "<param_value>['a', \" \", \"\"]</param_value></tool_call>", {"query": "w", "tags": ["a", " ", ""]}),
    (f'<minimax:tool_call>\n<invoke name="write_file">\n<parameter name="path">a.xml</parameter>\n<parameter name="content">{NESTED}'
     "</parameter>\n</invoke>\n</minimax:tool_call>", {"path": "a.xml", "content": NESTED}),
    ("<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>a,b\n<arg_key>limit</arg_key>\n<arg_value>20</arg_value>\n</tool_call>",
     {"query": "a,b", "limit": 20}),
    ("<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>w</arg_key>\n<arg_key>limit</arg_key>\n<arg_value>5</arg_key>\n</tool_call>",
     {"query": "w", "limit": 5}),
    ("<tool_call>search\n<arg_key>query</arg_key>\nw</arg_value>\n<arg_key>limit</arg_key>\n5</arg_value>\n</tool_call>",
     {"query": "w", "limit": 5}),
    ("<tool_call>bash\n<arg_key>command</arg_key>\n<arg_value>end </arg_key>\n</tool_call> it</arg_value>\n</tool_call>",
     {"command": "end </arg_key>\n</tool_call> it"}),
    (_yaml("write_file", "path: 007\n  content:\n    import os\n\n    # set up\n    if os:\n        x = 1\n  mode: 3\n"),
     {"path": "007", "content": "import os\n\n# set up\nif os:\n    x = 1\n", "mode": 3}),
    (_yaml("search", "query: red\n    shoes\n  limit: 5\n"), {"query": "red shoes", "limit": 5}),
    (_yaml("search", 'query: "red limit: 5"\n'), {"query": "red limit: 5"}),
    ("<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\nWrite <parameter=a>, then\n"
     "</parameter>\n</function>", {"path": "a", "content": "Write <parameter=a>, then"}),
    ("<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\nEnd it by </function>:\n<function=search>"
     "\n<parameter=query>\nw\n</parameter>\n</function>\n</parameter>\n</function>",
     {"path": "a", "content": "End it by </function>:\n<function=search>\n<parameter=query>\nw\n</parameter>\n</function>"}),
)  # fmt: skip


@pytest.mark.parametrize(("text", "arguments"), CLEAR)
def test_damage_that_leaves_one_reading_is_mended(text: str, arguments: dict[str, Any]) -> None:
    assert [dict(call.arguments) for call in parse(text, tools=TOOLS).calls] == [arguments]
