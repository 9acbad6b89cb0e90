"""Answers as peers are known to send them: one row each, with its source, whole or streamed in any pieces.

A row: `response` or `stream` (frames) → `calls` (an id only where the wire's must be kept), `text`, `reasoning`,
`stop`, `usage`, the kinds of `issues` and their `raw`, or the `error`.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest

from dragoman.codecs import CODECS
from dragoman.codecs.shared.frames import Frame, FrameKind
from dragoman.codecs.shared.spec import Codec
from dragoman.errors import ProviderError
from dragoman.events import assemble, replay
from dragoman.types import Response
from tests.support.recordings import CHUNKS, VECTORS, codec, decoded, pieces, rows, written

from .test_laws import assert_strict

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


def read(api: Codec, row: dict[str, Any]) -> tuple[Response | None, ProviderError | None]:
    if "response" in row:
        try:
            return api.decode_response(row["response"]), None
        except ProviderError as error:
            return None, error
    data = written(api, [_frame(api, one) for one in row["stream"]])
    events, failed = decoded(api, [data])
    for size in CHUNKS:
        assert decoded(api, pieces(data, size))[0] == events
    if failed is None:
        assert_strict(events)
    return assemble(events), failed


def _frame(api: Codec, one: Any) -> Frame:
    if isinstance(one, str):
        return Frame(one)
    if api.frames is FrameKind.AWS:
        ((name, fields),) = one.items()
        return Frame(json.dumps(fields), name)
    named = isinstance(one.get("type"), str)
    return Frame(json.dumps(one), one["type"] if named else "")


def assert_error(error: ProviderError | None, expected: dict[str, Any]) -> None:
    assert error is not None
    assert error.kind == expected["kind"]
    assert expected["says"] in error.message
    assert error.status == expected.get("status", error.status)


def assert_says(response: Response, row: dict[str, Any]) -> None:
    assert [(call.name, call.arguments) for call in response.calls] == [
        (call["name"], call["arguments"]) for call in row["calls"]
    ]
    ids = [call.id for call in response.calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    assert all(want.get("id", got) == got for want, got in zip(row["calls"], ids, strict=True))
    assert response.text == row.get("text", "")
    assert response.reasoning == row.get("reasoning", "")
    assert [issue.kind.value for issue in response.issues] == row.get("issues", []) or "error" in row
    if "raw" in row:
        assert [issue.raw for issue in response.issues] == row["raw"]
    if "stop" in row:
        assert (response.stop and response.stop.value) == row["stop"]
    if "usage" in row:
        assert response.usage is not None
        assert {key: n for key, n in asdict(response.usage).items() if n} == row["usage"]


@pytest.mark.parametrize(("api", "row"), [case for case in CASES if "error" not in case.values[1]])  # type: ignore[operator]
def test_what_was_read_is_told_again(api: str, row: dict[str, Any]) -> None:
    response, _ = read(codec(api), row)
    assert response is not None
    assert assemble(replay(response)) == response
    again = codec(api).decode_response(codec(api).encode_response(response))
    assert [(c.id, c.name, c.arguments) for c in again.calls] == [(c.id, c.name, c.arguments) for c in response.calls]
    assert (again.text, again.reasoning) == (response.text, response.reasoning)
