"""Values made of what ends calls: every dialect reads them back to the letter, or not at all (judge-rules.md D, E)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.dialects import DIALECTS, Dialect, Parsed, Parser, parse
from dragoman.dialects.engine.parsed import fold
from dragoman.dialects.spec import AttributeArgs, BraceArgs, ElementArgs, Strength, TaggedArgs, TextArgs
from dragoman.dialects.writing.render import render
from dragoman.types import Tool, ToolCall

TEXT = {"type": "string"}
WRITE = Tool(name="write", parameters={"type": "object", "properties": {"path": TEXT, "content": TEXT}})
NOTE = Tool(name="write", parameters={"type": "object", "properties": {"content": TEXT}})
QUOTED = Tool(name="f", parameters={"type": "object", "properties": {"a": {}}})
"""The tool of the rows' samples: a call of it stands only inside a value."""
HERE = "WHERETHEVALUEIS"
EVERY = list(DIALECTS.values())
SAMPLES = [d.sample for d in EVERY if d.sample]
ORDINARY = [
    "", " ", "x", "plain words, with 'quotes' and \"more\"", "{\"a\": [1, {\"b\": \"}}\"}]}", "a < b && c > d || e",
    "<p class=\"x\">html &amp; more</p>\n<br>\n<!-- no -->", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new",
    "cat > f <<'EOF'\necho \"$HOME\"\nEOF\nrm -rf \"a b\" # keep", "```json\n{\"name\": \"f\", \"arguments\": {}}\n```",
    "def f(x):\n    \"\"\"Doc.\"\"\"\n    return {\"k\": x}  # ok", "C:\\Users\\new\\table", "\\d+\\.\\w*$", "a\tb\r\nc",
    "<parameter name=\"a\">1</parameter>", "<parameter=", "the <tool_call> tag", "</tool_call>", "</parameter> closes it",
    "<arg_value>1</arg_value>", "</function>\n</tool_call>\nand on", "<think>no</think>", "[TOOL_CALLS] and [ARGS]",
]  # fmt: skip
VALUES = [*ORDINARY, *SAMPLES, *(f"Before:\n{s}\nbehind." for s in SAMPLES)]


def tool(dialect: Dialect) -> Tool:
    return NOTE if isinstance(dialect.args, TextArgs) else WRITE


def spelt(value: str, dialect: Dialect) -> str:
    """A value as a model writes it in this dialect, with no care for what stands in it."""
    args = dialect.args
    if isinstance(args, ElementArgs) and args.trim and value.startswith(args.trim):
        return args.trim + value + args.trim
    if isinstance(args, TaggedArgs | ElementArgs | TextArgs) or (isinstance(args, BraceArgs) and len(args.quotes[0]) > 1):
        return value
    written = json.dumps(value, ensure_ascii=False)[1:-1]
    return written.replace("'", "\\u0027") if isinstance(args, AttributeArgs) else written


def written(value: str, dialect: Dialect, *, last: bool) -> tuple[str, dict[str, Any]]:
    arguments = {"content": HERE} if isinstance(dialect.args, TextArgs) else {"path": "a.md", "content": HERE}
    if not last:
        arguments = dict(reversed(arguments.items()))
    call = ToolCall(id="", name="write", arguments=arguments)
    text = render([call], dialect, tools=[tool(dialect)]).replace(HERE, spelt(value, dialect))
    return text, {**arguments, "content": value}


def read(text: str, dialect: Dialect, size: int = 0) -> Parsed:
    named = dialect.strength in (Strength.OWN, Strength.ASKED)
    how: dict[str, Any] = {"tools": [tool(dialect), QUOTED], "dialects": dialect.name if named else "auto"}
    if not size:
        return parse(text, **how)
    parser = Parser(**how)
    events = [e for at in range(0, len(text), size) for e in parser.feed(text[at : at + size])]
    return fold(events + parser.close())


def outcome(value: str, dialect: Dialect, *, last: bool, size: int = 0) -> str:
    """"exact", "none", or what ran in its place."""
    text, arguments = written(value, dialect, last=last)
    calls = [(c.name, dict(c.arguments)) for c in read(text, dialect, size).calls]
    return "exact" if calls == [("write", arguments)] else repr(calls) if calls else "none"


def changes_text(dialect: Dialect, value: str) -> bool:
    """Is this a value that the row's markup changes by design: text on lines of its own, entities, white space?"""
    if isinstance(dialect.args, TextArgs):
        return True
    return getattr(dialect.args, "entities", False) and "&" in value


@pytest.mark.parametrize("dialect", EVERY, ids=[d.name for d in EVERY])
def test_values_are_read_to_the_letter_or_not_at_all(dialect: Dialect) -> None:
    values = [v for v in VALUES if not changes_text(dialect, v)]
    found = {(v, last): outcome(v, dialect, last=last) for v in values for last in (True, False)}
    assert {k: o for k, o in found.items() if o not in ("exact", "none")} == {}
    assert sum(o == "exact" for o in found.values()) >= 0.85 * len(found)


@pytest.mark.slow
def test_of_all_values_in_all_dialects_nearly_all_are_exact() -> None:
    found = [outcome(v, d, last=True) for d in EVERY for v in VALUES[::3] if not changes_text(d, v)]
    assert found.count("exact") >= 0.97 * len(found)


FRAGMENTS = [*SAMPLES, *ORDINARY, "\n", " ", '"', "'", "<", ">"]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(EVERY), st.lists(st.sampled_from(FRAGMENTS), max_size=4), st.booleans(), st.integers(1, 7))
def test_any_value_is_read_alike_in_pieces(dialect: Dialect, parts: list[str], last: bool, size: int) -> None:
    value = "".join(parts)
    assert outcome(value, dialect, last=last) == outcome(value, dialect, last=last, size=size)


COMMANDS = """grep "foo" /etc/hosts
cp "a b" /dst
rm -rf "build" # keep dist
echo "hi"
git commit -m "Fix the parser"
sed -n "1,20p" /src/app/main.py
find . -name "*.py" -exec grep -l "import os" {} +
python -c "print('a')" // not this
awk -F"," '{print $1, $2}' f.csv
curl -H "Accept: application/json" -d '{"command": "ls", "timeout": 9}' http://h/run
jq '.[] | {"command": .name, "timeout": 5}' in.json
ssh h "cd /srv && ls"
docker run -e "A=b" img sh -c "echo done" # run
echo "a" > "b c.txt"
printf "%s\\n" "x"
test -f "/etc/x" && echo "yes" || echo "no"
for f in "a" "b"; do echo "$f"; done
tar czf "out dir/a.tgz" /src /lib
ls "src" /* "doc"
cut -d";" -f2 "b c.csv"
mkdir -p "My Documents/x"
psql -c "select \\"a\\" from t"
node -e "console.log({"a": [1, 2]})"
echo "}}" "]"
make CFLAGS="-O2 -g" all
xargs -I{} sh -c "echo {}"
grep -E "foo|bar" /var/log/a.log /var/log/b.log
echo "x", "y"
say "one" ; say "two"
rg "fn main\\(" src""".splitlines()
WRAPPERS = (
    '<tool_call>\n{"name": "bash", "arguments": {"command": "%s"}}\n</tool_call>',
    '<tool_call>\n{"name": "bash", "arguments": {"command": "%s", "timeout": 5}}\n</tool_call>',
    '```json\n{"name": "bash", "arguments": {"command": "%s", "timeout": 5}}\n```',
    '{\n  "name": "bash",\n  "arguments": {\n    "command": "%s",\n    "timeout": 5\n  }\n}',
)
BASH = Tool(name="bash", parameters={"type": "object", "properties": {"command": TEXT, "timeout": {"type": "integer"}}})


def shell() -> Iterator[tuple[str, dict[str, Any], Parsed]]:
    for command in COMMANDS:
        for wrapper in WRAPPERS:
            meant = {"command": command} | ({"timeout": 5} if "timeout" in wrapper else {})
            yield command, meant, parse(wrapper.replace("%s", command), tools=[BASH])


def test_commands_with_unescaped_quotes_run_as_meant_or_never() -> None:
    right = 0
    for command, meant, parsed in shell():
        given_ = [dict(c.arguments) for c in parsed.calls]
        meant = meant | {"command": command.replace("\\n", "\n")}
        assert given_ in ([meant], []), command
        right += given_ == [meant]
    assert right >= 0.85 * len(COMMANDS) * len(WRAPPERS)


def test_many_damaged_strings_take_time_in_proportion() -> None:
    call = '<tool_call>{"name": "bash", "arguments": {"command": "echo "a" "b"", "timeout": 5}}</tool_call>\n'
    parsed = parse(call * 200, tools=[BASH])
    assert len(parsed.calls) == 200


@pytest.mark.parametrize(
    "written",
    [
        '<tool_call>{"name": "ping", "arguments": "null"}</tool_call>',
        '{"name": "ping", "arguments": "null"}',
        '{"arguments": " null ", "name": "ping"}',
    ],
)
def test_null_in_a_string_is_no_arguments_as_it_is_natively(written: str) -> None:
    parsed = parse(written, tools=[{"name": "ping", "parameters": {"type": "object", "properties": {}}}])
    assert [(call.name, dict(call.arguments)) for call in parsed.calls] == [("ping", {})]
    needy = [{"name": "ping", "parameters": {"type": "object", "required": ["a"]}}]
    (issue,) = parse(written, tools=needy).issues
    assert 'the required property "a" is missing' in issue.message
