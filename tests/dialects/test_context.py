"""What quotes, told from the visible text alone."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.dialects.judge.boxes import Quote, Standing, closes
from dragoman.dialects.judge.quotation import PENDING, Context

PLACES: list[tuple[str, Quote | None]] = [
    ("plain words ", None),
    ("a `span` and then ", None),
    ("an open `span ", Quote.SPAN),
    ("an open `` span with ` inside ", Quote.SPAN),
    ("an open `span\n\nnew paragraph ", None),
    ("```\ncode ", Quote.FENCE),
    ("```python\ncode\n```\n", None),
    ("````\n```\nstill inside ", Quote.FENCE),
    ("~~~\n```\n~~~\n", None),
    ("```inline``` and then ", None),
    ("> quoted ", Quote.BLOCK),
    ("> quoted\nlive ", None),
    ("<code>x ", Quote.HTML),
    ("<code>x</code> ", None),
    ("<pre class='a'>x ", Quote.HTML),
    ("<!-- x ", Quote.COMMENT),
    ("<!-- x --> ", None),
    ('he said "do ', Quote.MARKS),
    ('he said "do it" and ', None),
    ('a 5" disk and ', None),
    ("„so ", Quote.MARKS),
    ("„so“ ", None),
    ("text\n\n    indented", Quote.INDENTED),
    ("text\n    continued", None),
    ("```\nopen fence line ", Quote.FENCE),
    ("text\n\n    first\n    second ", Quote.INDENTED),
    ("text\n\n    first\n\n    after a blank line ", Quote.INDENTED),
    ("text\n\n    code\nlive ", None),
    ("1. item\n\n    its paragraph ", None),
    ("- item\n\n      its code ", Quote.INDENTED),
    ("- a\n    - b\n\n        its paragraph ", None),
    ("    at the start ", None),
    ("so « ", Quote.MARKS),
    ("so « x » and ", None),
    ('so " ', Quote.MARKS),
    ("the mark is ‘", Quote.MARKS),
    ("it’s ", None),
    ("as &quot;", Quote.MARKS),
    ("as &quot;x&quot; and ", None),
    ("as '", Quote.MARKS),
    ("<textarea rows=2>x ", Quote.HTML),
    ("<kbd>x</kbd> ", None),
    ("\\begin{verbatim}\nx ", Quote.LATEX),
    ("\\begin{lstlisting}\nx\n\\end{lstlisting}\n", None),
    ("\\verb|x ", Quote.LATEX),
    ("\\verb|x| and ", None),
    ("| a | b |\n|---|---|\n| 1 | ", Quote.CELL),
    ("| a | b |\n|---|---|\n| 1 | 2 |\n\n", None),
    ("| a | b |\n|---|---|\n| 1 | 2 |\n", None),
    ("a | b\nc | ", None),
    ("@@ -1 +1 @@\n- old ", Quote.DIFF),
    ("-old\n+new ", Quote.DIFF),
    ("- item\n- item ", None),
    ("@@ -1 +1 @@\n-old\nlive ", None),
    ('{"text": "x ', Quote.ANSWER),
    ('{"text": "x\\" ', Quote.ANSWER),
    ('{"text": "x", "n": ', None),
    ('{"text": "x"}\n', None),
    ("{not json ", None),
    ("key: |\n  block ", Quote.SCALAR),
    ("key: |\n  block\nnext: ", None),
    ('x = """a\n\nb ', Quote.STRING),
    ('x = """a""" and ', None),
    ("x = '''a\n", Quote.STRING),
    ('he said """', Quote.STRING),
    ("int x; /* a\n\n b ", Quote.REMARK),
    ("/* a **/ ", None),
    ("ls src/* and ", None),
    ("// a ", Quote.REMARK),
    ("// a\nb ", None),
    ("see https://a.b/c ", None),
    ("# ", Quote.REMARK),
    ("# a heading ", None),
    ("cat <<EOF\na\n\nb ", Quote.STRING),
    ("cat <<'END' > f\na\nEND\n", None),
    ("[quote]a ", Quote.HTML),
    ("[code=python]a[/code] ", None),
    ("[codes]a ", None),
    ("<example>a ", Quote.HTML),
    ("<documents>a</documents> ", None),
    ("<document_id>a ", None),
]
SIGNS = (
    '"""', "'''", '"', "'", "/*", "*/", "/", " /* ", "*", "[quote]", "[/quote]", "[quote=Bob]", "<example>", "</example>", "<pre>",
    "</pre>", "<<EOF", "EOF", "\n", "\n", "\n\n", "word ", "a b", "// ", "-- ", "; ", " ", "é", "w ",
)  # fmt: skip


@pytest.mark.parametrize(("text", "quote"), PLACES)
def test_the_place_after_a_text_stands_as_markdown_says(text: str, quote: Quote | None) -> None:
    context = Context()
    context.add(text)
    assert context.standing().quote == quote


@given(st.sampled_from([t for t, _ in PLACES]), st.data())
def test_the_reading_does_not_depend_on_the_pieces(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=5)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole, cut = Context(), Context()
    whole.add(text)
    for piece in pieces:
        cut.add(piece)
    assert cut.standing() == whole.standing()
    assert cut.line_blank == whole.line_blank
    assert cut.before == whole.before


@pytest.mark.parametrize("seed", range(20))
def test_the_reading_of_many_signs_does_not_depend_on_the_pieces(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(50):
        few = rng.sample(SIGNS, rng.randint(3, 12))
        text = "plain words\n" * rng.choice((0, 0, 20)) + "".join(rng.choices(few, k=rng.randint(3, 60)))
        whole, cut, at = Context(), Context(), 0
        whole.add(text)
        while at < len(text):
            size = rng.randint(1, 9)
            cut.add(text[at : at + size])
            at += size
            if rng.random() < 0.5:
                cut.forget()
        assert (cut.standing(), cut.turned(), cut.line_blank) == (whole.standing(), whole.turned(), whole.line_blank), text


CLOSED: list[tuple[str, str, bool | None]] = [
    ("a `", "` b", True),
    ("a `", "\n\nb `", False),
    ("a <pre>", " x </pre>", True),
    ("a <pre>", " x\n\ny", None),
    ('a " ', ' " b', True),
    ('a " ', 'b" c', None),
    ("as '", "' and", True),
    ("as '", " and '", False),
    ("| ", " | x |\n|---|", True),
    ("| ", " | x |\nplain", False),
    ("+", "\n-old\n", True),
    ("+", "\n- item\n", False),
    ("\\verb|", "| b", True),
    ("\\verb|", "\n| b", False),
    ("x <!-- ", " y -->", True),
    ('x = """', 'a\n\n"""', True),
    ('x = """', "a\n\n", None),
    ("/* ", "a */", True),
    ("cat <<EOF\n", "a\nEOF\n", True),
    ("cat <<EOF\n", "a\nEOF", None),
    ("cat <<EOF\n", "a\nEOFS", None),
]


LISTED = (
    "- an item\n", "1. one\n", "1. \t\r\n", "ab\n", "## A head\n", "    code\n", "\tr\n", "\n", "\n\n", "x" * 200 + "\n", "a | b\n",
    "--|--\n", ".. note::\r\n", "\xa0{code}\n", "-gone\n", "> quoted\n", "```\n", "````\n", "```<code>\n", "<pre>\n", "</pre>\n",
)  # fmt: skip


def told(pieces: list[str], *, asked: bool = False, forgets: bool = False) -> tuple[Standing, bool, bool, bool]:
    context = Context()
    for piece in pieces:
        context.add(piece)
        if asked:
            context.standing()
        if forgets:
            context.forget()
    return context.standing(), context.turned(), context.any, context.line_blank


@pytest.mark.parametrize("seed", range(20))
def test_how_a_place_stands_does_not_depend_on_what_was_asked_before(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(300):
        lines = [*rng.choices(LISTED, k=rng.randint(2, 12)), rng.choice(("", "    ", "\t", "x", "    x", "+x")) or "y"]
        assert told(lines, asked=True) == told(lines), lines


@pytest.mark.parametrize("pieces", [
    ["- an item\nab\n", f"{'x' * 200}\n## A head\n\n\n\tr"],
    [f"{'x' * 200}\n1. \t\r\n", "\n\t"],
    ["words\n", ".. note::\r\n" * 20, "\n "],
    ["\xa0{code}\nlong\n\n", f"{'x < y ' * 40}\n\nx "],
    ['{"\\\n', "\n"],
])  # fmt: skip
def test_a_place_stands_alike_whether_or_not_one_before_it_was_asked_of(pieces: list[str]) -> None:
    assert told(pieces, asked=True) == told(pieces)


@pytest.mark.parametrize("text", [
    "```\n```<example>\n", "~~~\n~~~\x0b\n", "~~~\n~~~ &quot;\n", '\x0c["', "\\verb|a|\\verb|b|", "\x0b",
])  # fmt: skip
def test_forgetting_a_text_changes_nothing(text: str) -> None:
    assert told([text], forgets=True) == told([text])
    for cut in range(1, len(text)):
        assert told([text[:cut], text[cut:]], forgets=True) == told([text])


@pytest.mark.parametrize(("before", "after", "closed"), CLOSED)
def test_what_is_open_quotes_only_if_it_closes(before: str, after: str, closed: bool | None) -> None:
    context = Context()
    context.add("words\n" + before)
    standing = context.standing()
    assert standing.awaited
    assert closes(standing, after) is closed


def test_another_partys_turn_in_words_is_told_from_a_form() -> None:
    def turned(text: str) -> bool:
        context = Context()
        context.add(text)
        return context.turned()

    assert turned("Done.\n\nUser: hi\n\n")
    assert turned("Done.\n### User\nhi\n### Assistant:\n")
    assert turned("Done.\n\n**Human:** hi\n")
    assert turned("Done.[INST] hi [/INST]")
    assert not turned("Assistant: hi\n")
    assert not turned("Host: x\nUser: root\n\n")
    assert not turned("The server.\n\nUser: root\nHost: x\n\n")
    assert not turned("### User guide\n\n")
    assert not turned("We write [INST] before it. ")
    assert not turned("```\nUser: hi\n\nAssistant:\n```\n")


def test_long_prose_is_read_in_bounded_pieces() -> None:
    context = Context()
    for _ in range(500):
        context.add("word `a` " * 1_000)
        assert context._size <= PENDING
    assert context.before.endswith("word `a` ")


FLAT = ("- a", "* b c", "27. x", "3) y", "words", "a `b` c", '"quoted" x', "> q", "{", "[a](b)", "x: y", "-x", "a ~~~ b", "--> x")
ENDS = (
    "", "- a\n      ", "+x", "a | b\n|---|---|\nc | ", "    code", "  text", "> quoted ", "key: >\n  x", "1. a\n    ",
    "an open `span ", '"open ', "```\n", "User: x\n", "@@ x\n+", "--- x\n+y", "[source]\n----\n",
)  # fmt: skip


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("before", ["", "- item\n", "text\n\n    code\n", "a | b\n", "1. x\n   - y\n\n"])
def test_many_lines_that_leave_nothing_open_are_read_as_one_by_one(before: str, end: str) -> None:
    for shift in range(len(FLAT)):
        lines = [FLAT[(n * (shift + 1)) % len(FLAT)] for n in range(60)]
        text = before + "\n".join(lines) + "\n" + end
        whole, single = Context(), Context()
        whole.add(text)
        for line in text.splitlines(keepends=True):
            single.add(line)
            single.standing()
        assert (whole.standing(), whole.turned()) == (single.standing(), single.turned())
