"""What quotes, told from the visible text alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.dialects.judge.quotation import Context, Quote

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
]


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


def test_long_prose_is_read_in_bounded_pieces() -> None:
    context = Context()
    for _ in range(10_000):
        context.add("word `a` ")
    assert context._size < 10_000
