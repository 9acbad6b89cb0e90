"""A source gives its readers the same result under any chunking, and forgets nothing that is held."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dragoman.lenient.source import Need, Source

MARKERS = ("</tool_call>", "</t>", "~~~", "<")
pieces = st.lists(st.text("<>/tol_ca~x \n", max_size=7), max_size=12)


def run(reader: Need[None], src: Source, chunks: list[str]) -> None:
    for chunk in chunks:
        if not src.run(chunk):
            src.feed(chunk)
            next(reader, None)
    src.eof = True
    next(reader, None)


def poured(chunks: list[str]) -> tuple[str, list[str]]:
    """Text between markers joined by "|", and the markers in order."""
    src, got, marks = Source(), [""], []

    def reader() -> Need[None]:
        while mark := (yield from src.until(MARKERS, lambda s: got.__setitem__(-1, got[-1] + s))):
            marks.append(mark)
            got.append("")

    run(reader(), src, chunks)
    return "|".join(got), marks


@given(pieces)
def test_until_finds_the_same_markers_however_the_text_is_cut(chunks: list[str]) -> None:
    assert poured(chunks) == poured(["".join(chunks)])


@given(pieces)
def test_until_loses_nothing(chunks: list[str]) -> None:
    text, marks = poured(chunks)
    parts = text.split("|")
    assert "".join(p + m for p, m in zip(parts, [*marks, ""], strict=True)) == "".join(chunks)


@given(pieces, st.integers(0, 20), st.integers(0, 20))
def test_holds_nest_and_rewind_gives_back_exactly_what_was_read(chunks: list[str], first: int, second: int) -> None:
    src, seen = Source(), []

    def take(n: int) -> Need[str]:
        got = yield from src.peek(n)
        src.pos += len(got)
        return got

    def reader() -> Need[None]:
        src.hold()
        a = yield from take(first)
        src.hold()
        b = yield from take(second)
        seen.append(src.held() == b)
        src.rewind()
        again = yield from take(second)
        seen.append(again == b)
        seen.append(src.held() == a + b)
        src.rewind()
        seen.append((yield from take(first + second)) == a + b)

    run(reader(), src, chunks)
    assert seen == [True] * 4


@given(pieces)
def test_a_glance_consumes_nothing(chunks: list[str]) -> None:
    src, seen = Source(), []

    def reader() -> Need[None]:
        size, mark = yield from src.glance(MARKERS, ("x",))
        seen.append((src.at, size, mark))

    run(reader(), src, chunks)
    text = "".join(chunks)
    at, size, mark = seen[0]
    assert at == 0
    assert text[:size].endswith(mark)
    assert bool(size) == bool(mark)


def test_the_longest_literal_is_taken_though_it_arrives_split() -> None:
    src, got = Source(), []

    def reader() -> Need[None]:
        got.append((yield from src.literal(("<a", "<a>b", "<"))))

    run(reader(), src, ["<a", ">b"])
    assert got == ["<a>b"]
