"""Relaxed literals become strict JSON: spelling is mended and noted, meaning is never invented."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.lenient.reader import PYTHON, Broken, Cut, Relaxed, mend
from dragoman.lenient.source import Need, Source
from dragoman.schema.validation import shape

MENDED: list[tuple[str, Any, str]] = [
    ('{"a": 1,}', {"a": 1}, "trailing_comma"),
    ('{"a": 1 "b": 2}', {"a": 1, "b": 2}, "missing_comma"),
    ("[1,,2]", [1, 2], "extra_comma"),
    ("{„a“: „x“, „b“: „y“}", {"a": "x", "b": "y"}, "quotes"),
    ("{«a»: «x», «b»: [«y», «z»]}", {"a": "x", "b": ["y", "z"]}, "quotes"),
    ("[[1]，[2]]", [[1], [2]], "comma"),
    ('{"a": [1]，，"b": 2}', {"a": [1], "b": 2}, "comma"),
    ('{"a"： "x"， "b"： "y，z"}', {"a": "x", "b": "y，z"}, "comma"),
    ('{"a"： "他说"好"，再见"}', {"a": '他说"好"，再见'}, "unescaped_quote"),
    ("{'a': 'it\\'s'}", {"a": "it's"}, "quotes"),
    ("{'a': 'it's fine'}", {"a": "it's fine"}, "unescaped_quote"),
    ("{a: 1}", {"a": 1}, "bare_key"),
    ('{"a": True, "b": None}', {"a": True, "b": None}, "python_word"),
    ('{"a": "x\ny\tz"}', {"a": "x\ny\tz"}, "raw_control"),
    ('{"p": "C:\\Users\\Public"}', {"p": "C:\\Users\\Public"}, "invalid_escape"),
    ('{"p": "C:\\Users\\new"}', {"p": "C:\\Users\\new"}, "invalid_escape"),
    ('{"r": "\\d+\\.\\w"}', {"r": "\\d+\\.\\w"}, "invalid_escape"),
    ('{"a": "cost \\$5 \\& more"}', {"a": "cost \\$5 \\& more"}, "invalid_escape"),
    ('{"c": "rm My\\ Documents \\; ls"}', {"c": "rm My\\ Documents \\; ls"}, "invalid_escape"),
    ('{"c": "rm "a b" # keep", "t": 5}', {"c": 'rm "a b" # keep', "t": 5}, "unescaped_quote"),
    ('{"c": "ls "a" /* "b"", "t": 5}', {"c": 'ls "a" /* "b"', "t": 5}, "unescaped_quote"),
    ('{"c": "jq \'{"c": .n, "t": 5}\' a.json", "t": 6}', {"c": 'jq \'{"c": .n, "t": 5}\' a.json', "t": 6}, "unescaped_quote"),
    ('{"c": "echo \\"a\\" "b""}', {"c": 'echo "a" "b"'}, "unescaped_quote"),
    ('{"a": 1} // done', {"a": 1}, "comment"),
    ('{"a": /* one */ 1}', {"a": 1}, "comment"),
    ('{“a”: “b”}', {"a": "b"}, "quotes"),
    ('{"a"：1}', {"a": 1}, "pair"),
    ('{"a": """two "words" here"""}', {"a": 'two "words" here'}, "triple_quotes"),
    ('{"code": "use "strict"; x = 1;"}', {"code": 'use "strict"; x = 1;'}, "unescaped_quote"),
    ("{{\"a\": 1}}", {"a": 1}, "doubled_braces"),
    ('{"a": 007, "b": .5, "c": 5., "d": +1}', {"a": 7, "b": 0.5, "c": 5.0, "d": 1}, "number"),
    ('{"a": 1}}', {"a": 1}, "stray_bracket"),
]

BROKEN = [
    '{"c": "a" + "b", "t": 3}',
    '{"c": "type C:\\Users\\me"}'.replace("C:", "in C:").replace("me", "new"),
    '{"c": "echo "a \\"b\\" c""}',
    '{"a": , "b": 1}',
    '{"a": maybe}',
    '{"a": NaN}',
    '{"a": 0x}',
    '{"a": 1/6}',
    '{"a": [1, 2, ...]}',
    '{"a": {b}}',
    '{"a": "x", "b": "\\ud83c"}',
    '{"c": "he said "hi", "c": "she said "hi""}',
    "{command: rm -rf /tmp/a, timeout: 5}",
    '{"a": 1} and more',
    '{"a": 1, "a": 2}',
    "[" * 200 + "]" * 200,
]

CUT = ['{"a": "x', '{"a": 1', '{"a": [1, 2', '{"a"', '{"a": "x\\', '{"a": tr', "{", '{"a": {"b": "c"}']


@pytest.mark.parametrize(("text", "value", "edit"), MENDED)
def test_spelling_is_mended_and_noted(text: str, value: Any, edit: str) -> None:
    got, edits = mend(text)
    assert got == value
    assert edit in [e.kind for e in edits]


@pytest.mark.parametrize("blank", ["\u00a0", "\u3000", "\ufeff", "\u200b", "\u2060"])
def test_signs_that_nobody_sees_part_values_and_stay_in_strings(blank: str) -> None:
    assert mend(f'{{"a"{blank}: {blank}"x{blank}"{blank}}}') == ({"a": f"x{blank}"}, [])


@pytest.mark.parametrize("text", BROKEN)
def test_what_has_no_single_reading_is_refused(text: str) -> None:
    with pytest.raises(Broken):
        mend(text)


@pytest.mark.parametrize("text", CUT)
def test_what_was_cut_is_told_apart_from_what_is_broken(text: str) -> None:
    with pytest.raises(Cut):
        mend(text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(), v, max_size=4),
    max_leaves=12,
)


@given(json_values, st.booleans())
def test_well_formed_json_is_read_without_an_edit(value: Any, ascii_only: bool) -> None:
    got, edits = mend(json.dumps(value, ensure_ascii=ascii_only))
    assert got == value
    assert edits == []


@pytest.mark.parametrize("length", [40, 300, 1000])
def test_a_long_key_after_an_empty_string_is_a_key(length: int) -> None:
    value = {"": "", "k" * length: None}
    assert mend(json.dumps(value)) == (value, [])


def test_integers_keep_every_digit() -> None:
    assert mend('{"n": 123456789012345678901234567890}')[0] == {"n": 123456789012345678901234567890}


def read(chunks: list[str], form: Any = None, schema: Any = None) -> str:
    src = Source()
    got: list[str] = []
    reader = Relaxed(src, form) if form else Relaxed(src)
    running: Need[None] = reader.value(got.append, shape(schema))
    try:
        for chunk in chunks:
            if not src.run(chunk):
                src.feed(chunk)
                next(running, None)
        src.eof = True
        next(running, None)
    except (Broken, Cut) as why:
        return f"{type(why).__name__}"
    return "".join(got)


@given(st.sampled_from([t for t, _, _ in MENDED] + BROKEN[:-1] + CUT), st.data())
def test_any_chunking_reads_the_same(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    chunks = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert read(chunks) == read([text])


SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "s": {"type": "string"},
        "b": {"type": "boolean"},
        "l": {"type": "array", "items": {"type": "string"}},
        "u": {"type": ["integer", "string"]},
        "e": {"enum": ["celsius", "fahrenheit"]},
    },
}
TYPED = [
    ('{"n": "3"}', {"n": 3}),
    ('{"s": 3}', {"s": "3"}),
    ('{"s": "00123"}', {"s": "00123"}),
    ('{"s": "[1]"}', {"s": "[1]"}),
    ('{"b": "True"}', {"b": True}),
    ('{"l": "[\\"x\\"]"}', {"l": ["x"]}),
    ('{"l": "x"}', {"l": ["x"]}),
    ('{"u": "42"}', {"u": "42"}),
    ('{"e": "Celsius"}', {"e": "celsius"}),
    ('{"e": "kelvin"}', {"e": "kelvin"}),
    ('{"s": hall}', {"s": "hall"}),
]


@pytest.mark.parametrize(("text", "value"), TYPED)
def test_the_schema_types_values_only_where_it_says_so(text: str, value: Any) -> None:
    assert mend(text, shape(SCHEMA))[0] == value


PYTHONIC = [
    ("(a=1, b='x')", {"a": 1, "b": "x"}),
    ("(a=(1, 2), b={'k': [True, None]},)", {"a": [1, 2], "b": {"k": [True, None]}}),
    ("(p='a\\x41\\'')", {"p": "aA'"}),
    ("(r=r'\\d+')", {"r": "\\d+"}),
    ("(t='''two\nlines''')", {"t": "two\nlines"}),
]


@pytest.mark.parametrize(("text", "value"), PYTHONIC)
def test_python_keyword_arguments_are_read_as_literals(text: str, value: Any) -> None:
    src = Source()
    got: list[str] = []
    src.feed(text)
    src.eof = True
    list(Relaxed(src, PYTHON).object(got.append, form=PYTHON))
    assert json.loads("".join(got)) == value


@pytest.mark.parametrize("text", ["(a=b.c)", "(a=b+c)", "(a=int)", "(b)", "(a=f(1))", "(a=60*5)", "(a=f'{x}')", "(a=1 for a in b)", "('x')"])
def test_python_expressions_are_never_evaluated(text: str) -> None:
    src = Source()
    got: list[str] = []
    src.feed(text)
    src.eof = True
    with pytest.raises(Broken):
        list(Relaxed(src, PYTHON).object(got.append, form=PYTHON))


@pytest.mark.parametrize(("text", "value", "kind"), [
    ("(a=b)", {"a": "b"}, "bare_string"), ("(a={'k': b})", {"a": {"k": "b"}}, "bare_string"), ("(a=a)", {"a": "a"}, "variable"),
])  # fmt: skip
def test_words_without_quotes_are_text_where_the_schema_says_nothing(text: str, value: Any, kind: str) -> None:
    src = Source()
    got: list[str] = []
    src.feed(text)
    src.eof = True
    reader = Relaxed(src, PYTHON)
    list(reader.object(got.append, form=PYTHON))
    assert json.loads("".join(got)) == value
    assert [edit.kind for edit in reader.edits] == [kind]


QUOTES = ('"', '"', '"', ",", ":", "}", "]", " ", "a", "key", "=", "\n", "\\n", "\\", "'", ".", "_", "/", '"a": ')


@given(st.lists(st.sampled_from(QUOTES), max_size=24))
@settings(max_examples=200, deadline=None)
def test_quotes_inside_a_string_are_decided_alike_however_chunked(inside: list[str]) -> None:
    text = '{"outer": {"path": "x' + "".join(inside) + '", "list": ["' + "".join(reversed(inside)) + '", "b"]}}'
    assert one_by_one(text, len(text)) == one_by_one(text, 1)


def one_by_one(text: str, size: int) -> object:
    src, got = Source(), list[str]()
    src.hold()
    reader = Relaxed(src)
    steps = reader.value(got.append)
    try:
        for at in range(0, len(text), size):
            src.feed(text[at : at + size])
            next(steps)
        src.eof = True
        next(steps)
    except StopIteration:
        return "".join(got), reader.edits
    except (Broken, Cut) as why:
        return type(why), str(why)
    raise AssertionError("the reader waited for more at the end")


@pytest.mark.parametrize("written", ['"None"', '"null"', "'None'", "null", "None"])
@pytest.mark.parametrize("kind", ["object", "integer", "array", "boolean"])
def test_nothing_in_quotes_for_an_optional_argument_is_no_argument(written: str, kind: str) -> None:
    wanted = shape({"type": "object", "properties": {"q": {"type": "string"}, "x": {"type": kind}}, "required": ["q"]})
    value, edits = mend(f'{{"q": "None", "x": {written}}}', wanted)
    assert value == {"q": "None"}
    assert "null_dropped" in {edit.kind for edit in edits}
