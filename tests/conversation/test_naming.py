"""Words come out as a wire allows them, each its own way, and the way back is certain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.conversation.naming import ANY_SPELLING, Spelling, fitting, respell
from dragoman.conversation.requirements import MISTRAL_IDS, OPENAI_CHAT, REQUIREMENTS, WORD_NAMES

GEMINI = REQUIREMENTS["gemini"].names
COHERE = REQUIREMENTS["cohere_chat"].names

SPELLED = [
    (WORD_NAMES, "kom.memory.v1.search", "kom_memory_v1_search"),
    (WORD_NAMES, "mcp/files read", "mcp_files_read"),
    (WORD_NAMES, "get_weather-2", "get_weather-2"),
    (GEMINI, "kom.memory:search", "kom.memory:search"),
    (GEMINI, "2fa.check", "_2fa.check"),
    (COHERE, "get-weather", "get_weather"),
]


@pytest.mark.parametrize(("spelling", "word", "written"), SPELLED)
def test_a_word_is_spelled_as_it_reads(spelling: Spelling, word: str, written: str) -> None:
    found = respell([word, "other"], spelling)
    assert found.spelled(word) == written
    assert found.original(written) == word


def test_words_that_would_read_alike_are_told_apart() -> None:
    found = respell(["a.b", "a/b", "a_b"], WORD_NAMES)
    spelled = [found.spelled(word) for word in ("a.b", "a/b", "a_b")]
    assert spelled[2] == "a_b"
    assert len(set(spelled)) == 3
    assert all(written.startswith("a_b") for written in spelled)


@given(
    st.sampled_from([WORD_NAMES, MISTRAL_IDS, OPENAI_CHAT.ids, GEMINI, COHERE, ANY_SPELLING, Spelling("a-z", first="b")]),
    st.lists(st.text("abz09_.\0\né", max_size=4) | st.integers(0, 70).map("a".__mul__), max_size=7),
)
def test_words_that_are_looked_at_together_are_looked_at_one_by_one(spelling: Spelling, words: list[str]) -> None:
    assert fitting(spelling, words) == all(map(spelling.allows, words))


def test_a_word_that_is_too_long_keeps_its_beginning() -> None:
    long = "search_the_whole_of_the_companys_knowledge_base_" * 3
    written = respell([long], WORD_NAMES).spelled(long)
    assert len(written) == 64
    assert written.startswith("search_the_whole_of")


def test_ids_of_nine_letters() -> None:
    written = respell(["call_PTLP8xhu3uwZk4l3nlnrrJha", "functions.look:0"], MISTRAL_IDS, readable=False)
    assert all(len(spelled) == 9 and spelled.isalnum() for spelled in written.forth.values())
    assert respell(["aB3dE6gH9"], MISTRAL_IDS, readable=False).forth == {}


SPELLINGS = [
    WORD_NAMES,
    GEMINI,
    COHERE,
    MISTRAL_IDS,
    OPENAI_CHAT.ids,
    ANY_SPELLING,
    REQUIREMENTS["anthropic_messages"].ids,
]
words = st.lists(
    st.text("ab._-:/ é0A", min_size=1, max_size=8) | st.text(min_size=1, max_size=80), min_size=1, max_size=6
)


@given(words, st.sampled_from(SPELLINGS), st.booleans())
def test_every_writtenis_allowed_and_leads_back(given_: list[str], spelling: Spelling, readable: bool) -> None:
    found = respell(given_, spelling, readable=readable)
    spelled = {word: found.spelled(word) for word in given_}
    assert all(map(spelling.allows, spelled.values()))
    assert len(set(spelled.values())) == len(spelled)
    assert all(found.original(written) == word for word, written in spelled.items())
    assert all(written == word for word, written in spelled.items() if spelling.allows(word))


@given(words, st.sampled_from(SPELLINGS))
def test_the_order_of_the_words_does_not_matter(given_: list[str], spelling: Spelling) -> None:
    assert respell(given_, spelling) == respell([*reversed(given_), *given_], spelling)


@given(words, words, st.sampled_from(SPELLINGS))
def test_an_id_keeps_its_writtenwhen_others_come(first: list[str], then: list[str], spelling: Spelling) -> None:
    before, after = respell(first, spelling, readable=False), respell(first + then, spelling, readable=False)
    assert all(before.spelled(word) == after.spelled(word) for word in first)
