"""Values written as Python writes them: what is read is what Python reads."""

from __future__ import annotations

import ast
import warnings
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dragoman import Tool, parse

PIECES = (
    "a", "it's", 'say "x"', r"x\n", "\\\\", r"C:\temp", "é", "\t", "a, b", "[1]", "{x}", "# c", "f(x)", "q=1", ")", "(",
    "'", '"', r"\'", r"\"", r"\x41", r"\u00e9", "%s", "```", "</tool_call>", ", n=2", "',", '"}', "'''", '"""', "\n",
)  # fmt: skip
WORDS = ("1", "-2", "+3", "1_000", "0x1F", "0b11", "0o7", "1.5", "1e3", ".5", "5.", "True", "False", "None", "1 + 2", "007")
bodies = st.lists(st.sampled_from(PIECES), max_size=4).map("".join)
prefixes = st.sampled_from(["", "", "", "r", "u", "f", "R", "b"])
plain = st.builds(lambda p, q, body: p + q + body + q, prefixes, st.sampled_from(["'", '"', "'''", '"""']), bodies)
strings = st.one_of(plain, bodies.map(repr))
joined = st.lists(strings, min_size=1, max_size=2).map(" ".join)
scalars = st.one_of(joined, st.sampled_from(WORDS))
keys = st.one_of(strings, st.sampled_from(["'k'", "1", "True"]))


def _brackets(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(inner, max_size=3).map(", ".join)
    pairs = st.lists(st.builds("{}: {}".format, keys, inner), max_size=3).map(", ".join)
    return st.one_of(
        several.map("[{}]".format), several.map("({})".format), inner.map("({},)".format), inner.map("(\n{}\n)".format),
        pairs.map("{{{}}}".format),
    )  # fmt: skip


values = st.recursive(scalars, _brackets, max_leaves=4)
TOOLS = [Tool(name="search", parameters={"type": "object", "properties": {"q": {}, "n": {}}})]


def plain_json(value: Any) -> Any:
    """The value as JSON has it: a tuple is a list, a key a text."""
    if isinstance(value, (list, tuple)):
        return [plain_json(one) for one in value]
    if isinstance(value, dict):
        return {str(key): plain_json(one) for key, one in value.items()}
    assume(not isinstance(value, (set, bytes, complex)))
    return value


@settings(max_examples=400, deadline=None)
@given(st.dictionaries(st.sampled_from(["q", "n"]), values, min_size=1))
def test_what_is_read_of_a_python_call_is_what_python_reads(arguments: dict[str, str]) -> None:
    written = ", ".join(f"{key}={value}" for key, value in arguments.items())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            call = ast.parse(f"search({written})", mode="eval").body
            assert isinstance(call, ast.Call)
            wanted = {str(one.arg): plain_json(ast.literal_eval(one.value)) for one in call.keywords}
        except (SyntaxError, ValueError, TypeError, AssertionError):
            assume(False)
    for value in wanted.values():  # `True` and 1 are one key to Python, and two texts
        assume("True" not in str(value) or "1" not in str(value))
    read = parse(f"[search({written})]", tools=TOOLS)
    for one in (*read.calls, *read.doubtful):
        assert one.arguments == wanted


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('("one "\n    "two")', "one two"),
        ('("one",)', ["one"]),
        ("(1)", 1),
        ("[('a'), (2)]", ["a", 2]),
        ("()", []),
        ("0x1F", 31),
        ("-1_000", -1000),
        ('r"""a "b" \\n"""', 'a "b" \\n'),
        (r"r'it\'s'", r"it\'s"),
        ('f"""a\nb"""', "a\nb"),
        ('u"""é "x" \\u00e9"""', 'é "x" é'),
        ("""(R'"}' r"{x}")""", '"}{x}'),
    ],
)
def test_brackets_numbers_and_prefixed_strings_are_read(written: str, value: Any) -> None:
    read = parse(f"[search(q={written}), search(n=1)]", tools=TOOLS)
    assert [one.arguments for one in (*read.calls, *read.doubtful)] == [{"q": value}, {"n": 1}]


@pytest.mark.parametrize("written", ["['a' 'b']", "['a'\n 'b', 'c']", "{'k': ['a' r'b']}"])
def test_strings_side_by_side_in_a_list_are_refused(written: str) -> None:
    read = parse(f"[search(q={written})]", tools=TOOLS)
    assert not read.calls
    assert not read.doubtful


def test_a_text_in_brackets_is_a_text() -> None:
    tools = [Tool(name="send", parameters={"type": "object", "properties": {"text": {"type": "string"}}})]
    read = parse('[send(text=("one "\n  "two\\n"))]', tools=tools)
    assert [one.arguments for one in (*read.calls, *read.doubtful)] == [{"text": "one two\n"}]


def test_a_number_that_is_to_be_a_text_keeps_its_spelling() -> None:
    tools = [Tool(name="send", parameters={"type": "object", "properties": {"text": {"type": "string"}}})]
    for written in ("0x1F", "007", "1_000"):
        read = parse(f"[send(text={written})]", tools=tools)
        assert [one.arguments for one in (*read.calls, *read.doubtful)] == [{"text": written}]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("'cp 'my file' 'your file' /tmp'", "cp 'my file' 'your file' /tmp"),
        ("'SELECT 'a' 'b''", "SELECT 'a' 'b'"),
        ('["cp "my file" "your file" x"]', ['cp "my file" "your file" x']),
        (r"""'printf "\033[1mBold\033[0m"'""", 'printf "\x1b[1mBold\x1b[0m"'),
        (r"'\U0001F600 \012 \0 \x1b'", "\U0001f600 \n \0 \x1b"),
        (r"'s/(a)/\1\9/ \Users \U12'", r"s/(a)/\1\9/ \Users \U12"),
    ],
)
def test_no_character_between_quotes_or_behind_a_backslash_is_lost(written: str, value: Any) -> None:
    read = parse(f"[search(q={written}), search(n=1)]", tools=TOOLS)
    assert [one.arguments for one in (*read.calls, *read.doubtful)] == [{"q": value}, {"n": 1}]


@pytest.mark.parametrize("written", ["'a' 'b' c' d'", "'a' 'b'c'd'"])
def test_a_damaged_string_beside_another_is_refused(written: str) -> None:
    read = parse(f"[search(q={written})]", tools=TOOLS)
    assert not read.calls
    assert not read.doubtful
    assert "side by side" in read.issues[0].message
