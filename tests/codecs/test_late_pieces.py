"""Pieces of a call that come when it has ended, or that its end says again: none is lost, and none is added to it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.codecs.openai import responses
from dragoman.codecs.shared.frames import Frame
from dragoman.events import Event, assemble
from dragoman.types import IssueKind
from tests.support.recordings import assert_strict

CALL = {"type": "function_call", "id": "fc_a", "call_id": "a", "name": "f", "arguments": "", "status": "in_progress"}
ADDED = {"type": "response.output_item.added", "output_index": 1, "item": CALL}
OVER: dict[str, Any] = {"type": "response.completed", "response": {"status": "completed"}}


def piece(text: str) -> dict[str, Any]:
    return {"type": "response.function_call_arguments.delta", "output_index": 1, "item_id": "fc_a", "delta": text}


def done(arguments: str) -> dict[str, Any]:
    item = {**CALL, "arguments": arguments, "status": "completed"}
    return {"type": "response.output_item.done", "output_index": 1, "item": item}


def events(*frames: dict[str, Any]) -> list[Event]:
    decoder = responses.CODEC.decode_stream()
    found = [event for frame in frames for event in decoder.feed(Frame(json.dumps(frame)))]
    found += decoder.close()
    assert_strict(found)
    return found


WHOLE = '{"x": 1}'


@pytest.mark.parametrize("come", range(len(WHOLE) + 1))
@pytest.mark.parametrize("late", ["", "1}", "}", '{"y": 2', "x"])
def test_the_end_of_a_call_says_what_of_it_has_not_come(come: int, late: str) -> None:
    before = [piece(WHOLE[:come])] if come else []
    behind = [piece(late)] if late else []
    response = assemble(events(ADDED, *before, done(WHOLE), *behind, OVER))
    assert dict(response.calls[0].arguments) == {"x": 1}


@pytest.mark.parametrize("late", ["1}", "}", '{"y": 2}', "x"])
def test_what_follows_a_call_that_broke_is_told_of_and_passed_over(late: str) -> None:
    response = assemble(events(ADDED, piece('{"x":'), done('{"z": 1}'), piece(late), OVER))
    assert not response.calls
    kinds = [issue.kind for issue in response.issues]
    assert IssueKind.MALFORMED in kinds
    assert IssueKind.WIRE_FAULT in kinds
