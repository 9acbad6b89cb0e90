"""A tool's name that comes in pieces, or again with every fragment, is the name of one call."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from dragoman.codecs import CODECS
from dragoman.codecs.shared.frame_stream import FrameStream
from dragoman.codecs.shared.name_pieces import LONGEST, Names
from dragoman.events import CallStarted, Event, assemble

DECLARED = frozenset({"look", "look_up", "add", "go", "gogo"})
SKY = '{"at": "sky"}'
Fragment = tuple[int | None, str | None, str | None, str | None]
"""An index, an id, a name and arguments."""

ONE: list[tuple[str, list[Fragment], str]] = [
    ("in pieces before the arguments", [(0, "a", "ad", None), (0, None, "d", None), (0, None, None, SKY)], "add"),
    ("in pieces beside empty arguments", [(0, "a", "ad", ""), (0, None, "d", ""), (0, None, "", SKY)], "add"),
    ("in pieces, the id each time", [(0, "a", "ad", ""), (0, "a", "d", ""), (0, "a", None, SKY)], "add"),
    ("in pieces, without an index", [(None, "a", "ad", ""), (None, "a", "d", ""), (None, "a", None, SKY)], "add"),
    ("in pieces beside the arguments", [(0, "a", "ad", SKY[:3]), (0, None, "d", SKY[3:])], "add"),
    ("in pieces, the last behind the arguments", [(0, "a", "ad", SKY), (0, None, "d", None)], "add"),
    ("letter by letter", [*((0, "a", one, "") for one in "look_up"), (0, "a", None, SKY)], "look_up"),
    ("all of it there is, each time", [(0, "a", "l", ""), (0, "a", "look", ""), (0, "a", "look_up", SKY)], "look_up"),
    ("whole each time", [(0, "a", "look", SKY[:3]), (0, "a", "look", SKY[3:5]), (0, "a", "look", SKY[5:])], "look"),
    ("twice what is itself declared", [(0, "a", "go", SKY[:3]), (0, "a", "go", SKY[3:])], "go"),
    ("twice before the arguments", [(0, "a", "go", ""), (0, "a", "go", SKY)], "go"),
    ("declared, and the beginning of another", [(0, "a", "look", SKY)], "look"),
    ("declared, and then more", [(0, "a", "look", ""), (0, None, "_up", ""), (0, None, None, SKY)], "look_up"),
    ("unknown in pieces", [(0, "a", "fly_", ""), (0, None, "away", ""), (0, None, None, SKY)], "fly_away"),
    ("unknown each time", [(0, "a", "Look", SKY[:3]), (0, "a", "Look", SKY[3:])], "Look"),
    ("behind a prefix", [(0, "a", "functions.", ""), (0, None, "look", ""), (0, None, None, SKY)], "functions.look"),
    ("once, another id each time", [(0, "a", "look", ""), *((0, f"b{i}", "", c) for i, c in enumerate(SKY))], "look"),
    ("once, behind the arguments", [(0, "a", None, SKY), (0, None, "look", None)], "look"),
]
TWO: list[tuple[str, list[Fragment]]] = [
    ("one after the other", [(0, "a", "lo", ""), (0, None, "ok", ""), (0, None, None, SKY), (1, "b", "ad", ""),
                             (1, None, "d", ""), (1, None, None, SKY)]),
    ("interleaved", [(0, "a", "lo", ""), (1, "b", "ad", ""), (0, None, "ok", ""), (1, None, "d", ""),
                     (0, None, None, SKY), (1, None, None, SKY)]),
    ("under one index, the first without arguments", [(0, None, "look", ""), (0, None, "add", SKY)]),
    ("under one index and ids of their own", [(0, "a", "look", ""), (0, "b", "add", SKY)]),
]  # fmt: skip


def call_of(fragment: Fragment) -> dict[str, Any]:
    index, id_, name, arguments = fragment
    function = {key: one for key, one in (("name", name), ("arguments", arguments)) if one is not None}
    return {**({} if index is None else {"index": index}), **({} if id_ is None else {"id": id_}), "function": function}


def frames(fragments: Sequence[Fragment], stop: str = "tool_calls") -> list[bytes]:
    deltas: list[Any] = [{"tool_calls": [call_of(one)]} for one in fragments]
    chunks = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    chunks.append({"index": 0, "delta": {}, "finish_reason": stop})
    return [f"data: {json.dumps({'choices': [one]})}\n\n".encode() for one in chunks]


def told(pieces: Sequence[bytes], names: frozenset[str] = DECLARED) -> list[Event]:
    stream = FrameStream(CODECS["openai_chat"], names=names)
    return [event for piece in pieces for event in stream.feed(piece)] + [*stream.close()]


@pytest.mark.parametrize(("what", "fragments", "name"), ONE, ids=[what for what, _, _ in ONE])
def test_the_fragments_are_one_call(what: str, fragments: list[Fragment], name: str) -> None:
    for pieces in (frames(fragments), [b"".join(frames(fragments))]):
        calls = assemble(told(pieces)).calls
        assert [(call.name, dict(call.arguments)) for call in calls] == [(name, {"at": "sky"})]


@pytest.mark.parametrize(("what", "fragments"), TWO, ids=[what for what, _ in TWO])
def test_the_names_of_two_calls_stay_two(what: str, fragments: list[Fragment]) -> None:
    made = [call.name for call in assemble(told(frames(fragments))).calls]
    assert sorted(made) == ["add", "look"]
    assert made == ["look", "add"] or what == "interleaved"  # the one whose name is whole is told of first


def test_a_name_that_cannot_grow_is_told_of_at_once() -> None:
    stream = FrameStream(CODECS["openai_chat"], names=DECLARED)
    first = [*stream.feed(frames([(0, "a", "add", "")])[0])]
    assert [event.name for event in first if isinstance(event, CallStarted)] == ["add"]


def test_where_no_names_are_known_the_first_piece_is_the_name() -> None:
    assert [call.name for call in assemble(told(frames(ONE[0][1]), frozenset())).calls] == ["ad"]


def test_a_call_that_is_cut_in_its_name_is_told_and_does_not_run() -> None:
    answer = assemble(told(frames([(0, "a", "lo", "")], "length")))
    assert not answer.calls
    assert [issue.name for issue in answer.issues if issue.name] == ["lo"]


def test_the_deprecated_call_is_put_together_too() -> None:
    pieces = [{"name": "lo"}, {"name": "ok", "arguments": ""}, {"arguments": SKY}]
    chunks = [{"choices": [{"index": 0, "delta": {"function_call": one}}]} for one in pieces]
    given = [f"data: {json.dumps(one)}\n\n".encode() for one in chunks] + [frames([], "function_call")[-1]]
    assert [call.name for call in assemble(told(given)).calls] == ["look"]


def test_a_name_without_end_is_not_put_together_for_ever() -> None:
    names, known = Names(DECLARED), ""
    for _ in range(3 * LONGEST):
        known = names.joined(known, "x" if known else "y")
    assert len(known) <= LONGEST + 1
    assert not names.may_grow(known, begun=False)
