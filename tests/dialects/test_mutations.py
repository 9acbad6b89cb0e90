"""A call that is damaged in one sign of its marks runs with its own arguments, or not at all (judge-rules.md E)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman import IssueKind, Tool, ToolCall, UsageError, dialects, parse, render
from dragoman.dialects.spec import KeywordArgs, Strength, YamlCall

STRING = {"type": "string"}


def _tool(name: str, properties: dict[str, Any], *required: str) -> Tool:
    return Tool(name=name, parameters={"type": "object", "properties": properties, "required": list(required)})


EDIT = {"type": "object", "properties": {"old": STRING, "new": STRING}, "required": ["old", "new"]}
TOOLS = [
    _tool("write_file", {"path": STRING, "content": STRING, "mode": {"type": "integer"}, "force": {"type": "boolean"}}, "path"),
    _tool("search", {"query": STRING, "tags": {"type": "array", "items": STRING}, "limit": {"type": "integer"}}, "query"),
    _tool("edit", {"file": STRING, "edits": {"type": "array", "items": EDIT}, "note": STRING}, "file", "edits"),
    _tool("bash", {"command": STRING, "env": {"type": "object", "additionalProperties": STRING}}, "command"),
]
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("write_file", {"path": "src/app.py", "content": "def area(a, b):\n    return a * b\n", "mode": 420, "force": True}),
    ("search", {"query": "weather in Oslo, Norway", "tags": ["a b", "c,d"], "limit": 5}),
    ("search", {"query": "x=1; y=2"}),
    ("edit", {"file": "a.py", "edits": [{"old": "x = 1", "new": "x = 2"}, {"old": "y", "new": "z"}], "note": "two"}),
    ("bash", {"command": "for f in *.py; do\n  echo $f\ndone", "env": {"AB": "x y"}}),
)
ROWS = tuple(
    name for name, row in dialects.items() if row.strength is Strength.STRONG and not isinstance(row.args, YamlCall)
)
"""But YAML's, whose texts need no quotes: any sign may be one of theirs."""
SIGNS = "\"'<>{}[]:,/=|`“”，： \n"
JOINED = re.compile(r'"a b"\s*"c,d"')
"""Two strings that Python takes for one."""
KEY = re.compile(r"[\w./: -]*")


def _leaves(value: Any) -> list[str]:
    """The keys and scalars of a value, as they may be written."""
    if isinstance(value, dict):
        return [*value, *(leaf for inner in value.values() for leaf in _leaves(inner))]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in _leaves(inner)]
    return [value] if isinstance(value, str) else [str(value), json.dumps(value)]


def _outside(text: str, arguments: dict[str, Any], keys: set[str]) -> list[int]:
    """The places of a written call at which no value stands."""
    inside: set[int] = set()
    for leaf in _leaves(arguments):
        for spelt in {leaf, json.dumps(leaf)[1:-1], leaf.strip("\n"), leaf.replace("\n", "\n  ")} - keys - {""}:
            for found in re.finditer(re.escape(spelt), text):
                inside.update(range(found.start(), found.end()))
    return [at for at in range(len(text)) if at not in inside]


def _damaged(text: str, at: int, how: str, sign: str) -> str:
    """The text with one sign left out, written twice, put behind the next one, changed, or put in."""
    return {
        "left out": text[:at] + text[at + 1 :],
        "twice": text[: at + 1] + text[at:],
        "swapped": text[:at] + text[at + 1 : at + 2] + text[at] + text[at + 2 :],
        "changed": text[:at] + sign + text[at + 1 :],
        "put in": text[:at] + sign + text[at:],
    }[how]


def _nearly(got: Any, meant: Any) -> bool:
    """Is a value the one that was meant, but for white space and a sign at an edge of a text?

    Nothing tells these from the text's own.
    """
    if isinstance(meant, str) and isinstance(got, str):
        core = got.strip()
        return meant.strip() in {core, core[1:].strip(), core[:-1].strip()}
    if isinstance(meant, list) and isinstance(got, list):
        return len(got) == len(meant) and all(map(_nearly, got, meant))
    if isinstance(meant, dict) and isinstance(got, dict):
        return _alike(got, meant, free=True)
    return type(got) is type(meant) and bool(got == meant)


def _alike(got: dict[str, Any], meant: dict[str, Any], *, free: bool) -> bool:
    """Are these the arguments, but for one key that is spelt as another word, whose value then has no type?"""
    other = got.keys() - meant.keys()
    if len(got) != len(meant) or len(other) > 1 or not all(free or KEY.fullmatch(key) for key in other):
        return False
    return all(_nearly(got[key], meant[key]) for key in got.keys() & meant.keys())


@pytest.mark.parametrize("row", ROWS)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_sign_of_its_marks_changes_no_argument_of_a_call_that_runs(row: str, data: st.DataObject) -> None:
    name, arguments = data.draw(st.sampled_from(CALLS))
    try:
        text = render([ToolCall(id="call_0", name=name, arguments=arguments)], dialects[row], tools=TOOLS)
    except UsageError:
        return
    places = _outside(text, arguments, {*arguments} | {"old", "new"})
    at = data.draw(st.sampled_from(places))
    how = data.draw(st.sampled_from(["left out", "twice", "swapped", "changed", "put in"]))
    if how == "swapped" and at + 1 not in places:
        return
    damaged = _damaged(text, at, how, data.draw(st.sampled_from(SIGNS)))
    if isinstance(dialects[row].args, KeywordArgs) and JOINED.search(damaged):
        return
    for call in parse(damaged, tools=TOOLS).calls:
        assert call.name == name, damaged
        assert _alike(dict(call.arguments), arguments, free=False), (damaged, call.arguments)


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
    '<function_calls>search(q,uery="x=1")</function_calls>',
    '<function_calls>write_file(path="a.py", co：tent="x = 1")</function_calls>',
    '<function_calls>\n<invoke name="search">\n<parameter name="query>"x=1</parameter>\n</invoke>\n</function_calls>',
    '<function_calls>\n<invoke name="search">\n<parameter name="query">x=1</paramete>r\n</invoke>\n</function_calls>',
    "<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>x=1</arg_val ue>\n</tool_call>",
    "<tool_call>\n<search>\n<query>x=1</qu\tery></search>\n</tool_call>",
    "<tool_call>\n<bash>\n<command>ls</command><env><A>1</A><e/nv></bash>\n</tool_call>",
    "```tool\nTOOL_NAME: write_file\nBEGIN_ARG: path\na.py\nEND_AR\nGBEGIN_ARG: content\nx\nEND_ARG\n\n```",
    '<tool_call>\nname: search\narguments:\n  query: w\n  tags: ["a b", "c,d]\n</tool_call>',
    '<tool_call>\nname: search\narguments:\n  query: w\n  l|mit: 5\n</tool_call>',
    '<tool_call name="write_file" args=\'{"path": "a.py", "f}rce": true}\' />',
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


NESTED = "<list>\n<parameter>a</parameter>\n<parameter>b</parameter>\n</invoke-list>"
CLEAR = (
    (_hermes("bash", '{"command": "echo "a", "b" x"}'), {"command": 'echo "a", "b" x'}),
    (_hermes("bash", '{"command": "ls", "env": {"A": "say "hi" now"}}'), {"command": "ls", "env": {"A": 'say "hi" now'}}),
    (_hermes("bash", '{"command": "f() { ls; }"'), {"command": "f() { ls; }"}),
    (_hermes("edit", '{"file": "a", "edits": [{"old": "print("a", "b")", "new": "x"}]}'),
     {"file": "a", "edits": [{"old": 'print("a", "b")', "new": "x"}]}),
    (_hermes("search", '{"query": "w", "tags": ["a" "b"]}'), {"query": "w", "tags": ["a", "b"]}),
    ('<function_calls>search(query="w", tags=["a" "b"])</function_calls>', {"query": "w", "tags": ["ab"]}),
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
