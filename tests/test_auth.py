"""Keys go into one header and never come out again."""

from __future__ import annotations

import pytest

from dragoman.auth import KeyHeader, redact
from dragoman.errors import UsageError


def test_a_key_stands_in_its_header_in_its_form() -> None:
    assert KeyHeader().headers("k-1") == {"authorization": "Bearer k-1"}
    assert KeyHeader(header="x-api-key", form="{key}").headers("k-1") == {"x-api-key": "k-1"}


def test_no_key_is_no_header() -> None:
    assert KeyHeader().headers("") == {}


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "k\u00e9y", "tab\t"])
def test_a_key_no_header_can_hold_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(UsageError) as caught:
        KeyHeader(env=("SOME_API_KEY",)).headers(key)
    assert "SOME_API_KEY" in str(caught.value)
    assert key not in str(caught.value)


HIDES = [
    ("Incorrect API key provided: hunter2hunter2.", ["hunter2hunter2"], "Incorrect API key provided: [redacted]."),
    ("you sent Authorization: Bearer abcdef123", [], "you sent Authorization: Bearer [redacted]"),
    ("key sk-proj-AbCdEf123456 is wrong", [], "key [redacted] is wrong"),
    ("ghp_0123456789abcdef0123 expired", [], "[redacted] expired"),
    ("the bearer of bad news", [], "the bearer of bad news"),
    ("task-oriented risk-averse text", [], "task-oriented risk-averse text"),
    ("a placeholder x stays x", ["x"], "a placeholder x stays x"),
]


@pytest.mark.parametrize(("text", "secrets", "shown"), HIDES)
def test_secrets_are_blotted_out_and_words_are_not(text: str, secrets: list[str], shown: str) -> None:
    assert redact(text, secrets) == shown
