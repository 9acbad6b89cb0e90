"""Answers as peers are known to send them: one row each, with its source, whole or streamed in any pieces.

A row: `response` or `stream` (frames) → `calls` (an id only where the wire's must be kept), `text`, `reasoning`,
`stop`, `usage`, the kinds of `issues` and their `raw`, or the `error`.
"""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.codecs import CODECS
from dragoman.errors import ProviderError
from dragoman.events import assemble, replay
from tests.support.recordings import (
    VECTORS,
    assert_says,
    codec,
    read,
    rows,
)

CASES = [pytest.param(api, row, id=f"{api}-{row['id']}") for api in CODECS for row in rows(VECTORS / f"{api}.jsonl")]


def test_there_are_vectors_of_every_codec() -> None:
    assert {api for api in CODECS if rows(VECTORS / f"{api}.jsonl")} == set(CODECS)


@pytest.mark.parametrize(("api", "row"), CASES)
def test_an_answer_is_read_as_meant(api: str, row: dict[str, Any]) -> None:
    response, error = read(codec(api), row)
    if "error" in row:
        assert_error(error, row["error"])
    if response is not None:
        assert_says(response, row)


def assert_error(error: ProviderError | None, expected: dict[str, Any]) -> None:
    assert error is not None
    assert error.kind == expected["kind"]
    assert expected["says"] in error.message
    assert error.status == expected.get("status", error.status)


@pytest.mark.parametrize(("api", "row"), [case for case in CASES if "error" not in case.values[1]])  # type: ignore[operator]
def test_what_was_read_is_told_again(api: str, row: dict[str, Any]) -> None:
    response, _ = read(codec(api), row)
    assert response is not None
    assert assemble(replay(response)) == response
    again = codec(api).decode_response(codec(api).encode_response(response))
    assert [(c.id, c.name, c.arguments) for c in again.calls] == [(c.id, c.name, c.arguments) for c in response.calls]
    assert (again.text, again.reasoning) == (response.text, response.reasoning)
