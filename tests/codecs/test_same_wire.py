"""Where front and backend speak one API nothing is lost: answers, written again, leaf for leaf.

They are the recorded ones, and some written by hand from the types of the official SDKs and from documents
(`vectors/wires/same_wire.jsonl`): events and fields of which there are no recordings.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

import pytest

from dragoman.codecs.shared.frames import readers, writers
from dragoman.codecs.shared.spec import Codec
from dragoman.errors import ProviderError
from tests.codecs.test_wire import APIS, _is_older, recorded, stream_bytes
from tests.support.leaves import Said, lost_of_body, same
from tests.support.places import VECTORS
from tests.support.recordings import codec

EXCEPTIONS: Mapping[str, Mapping[str, str]] = {
    "*": {
        "* obfuscation": "padding against listeners, random by nature",
        "obfuscation": "padding against listeners, random by nature",
    },
    "openai_chat": {
        "whole choices[].finish_reason": "an answer with calls stopped for them: clients go by this word",
        "choices[].finish_reason": "an answer with calls stopped for them: clients go by this word",
        "choices[].message.*": "Writer's chunks say each delta twice; it is said once",
        "choices[].delta.tool_calls[].index": "Z.ai numbers a call -1; clients count from 0",
        "created": "some peers tell the time of each chunk; a stream has one",
        "sla_metrics.ts_us": "the clock of one chunk that says nothing else",
    },
    "openai_responses": {
        "* sequence_number": "counted anew, for a stream of ours may hold other events",
        "response.completed response.output[].encrypted_content": "encrypted anew in the last event; the item's is told",
        "*[].status": "a call that is given out is complete, whatever its item says",
        "* item.status": "a call that is given out is complete, whatever its item says",
        "whole output[].id": "a message that says nothing is no item",
        "whole output[].role": "a message that says nothing is no item",
        "whole output[].type": "a message that says nothing is no item",
        "whole output[].content[].type": "a message that says nothing is no item",
        "* output_index": "items told at once are told one after the other",
    },
    "gemini": {
        "*.functionCall.partialArgs[].*": "a call goes out once, whole",
        "*.functionCall.willContinue": "a call goes out once, whole",
        "whole *.parts[].thought": "neighbouring texts of one kind are one part",
        "whole candidates[].finishReason": "Vertex over gRPC writes a number; it comes as its digits",
    },
    "gemini_interactions": {"interaction.status_update": "the status stands in the event that completes the answer"},
    "bedrock_converse": {
        "* p": "padding against listeners, random by nature",
        "*toolUse.type": "says what the key `toolUse` says; AWS documents `server_tool_use` only",
        "contentBlock* contentBlockIndex": "blocks are counted anew where one of them was empty or the server's",
        "contentBlockDelta delta.toolResult[].*": "a block of the server comes whole in the event that begins it",
        "contentBlockDelta delta.toolUse.input": "a block of the server comes whole in the event that begins it",
    },
    "cohere_chat": {
        "[DONE]": "`message-end` ends this wire's answers; its SDKs never wait for more",
    },
}
"""API → event and path of a leaf (`*` for anything; `whole` for the event of a whole answer) → why it does not come out again, or not as it was."""

RUNNING: Mapping[str, tuple[str, ...]] = {"gemini": ("usageMetadata.*",), "openai_chat": ("usage.*",)}
"""API → paths of counts that run through a stream: the last ones are told."""
CUT = "incomplete_partial_json_response.txt#0"
"""Its call is cut off by max_tokens: where calls are whole that is none, and its text is in an issue."""
BY_HAND = [json.loads(line) for line in (VECTORS / "wires" / "same_wire.jsonl").read_text("utf-8").splitlines()]


def _answers(api: str, *, stream: bool) -> Iterator[Any]:
    for row in recorded(api):
        asked = row["request"]
        older = isinstance(asked, dict) and _is_older({**row, "model": row["model"] or ""})
        first_version = api == "cohere_chat" and "response_id" in row["response"]
        if row["status"] == 200 and row["stream"] is stream and not (older or first_version):
            yield pytest.param(api, row, id=f"{api}:{row['id'][-90:]}")


    for row in BY_HAND:
        if row["api"] == api and row["stream"] is stream:
            yield pytest.param(api, row, id=row["id"])


def path_fits(path: str, pattern: str) -> bool:
    return fnmatchcase(path, pattern.replace("[", "[[]"))


def _excepting(api: str, path: str) -> tuple[str, str] | None:
    """The exception that a leaf falls under: whose, and its pattern."""
    return next(((of, one) for of in ("*", api) for one in EXCEPTIONS.get(of, {}) if path_fits(path, one)), None)


def is_excepted(api: str, row: dict[str, Any], path: str) -> bool:
    """Is it excepted for its API, or in its row?"""
    return _excepting(api, path) is not None or any(path_fits(path, one) for one in row.get("except", ()))


def _lost_of_whole(api: str, row: dict[str, Any]) -> list[tuple[str, Any]]:
    got = json.loads(json.dumps(codec(api).encode_response(codec(api).decode_response(row["response"]))))
    return [(f"whole {path}", one) for path, one in lost_of_body(row["response"], got)]


def _lost_of_stream(api: str, row: dict[str, Any], *, whole_calls: bool) -> list[tuple[str, Any]]:
    data = stream_bytes(api, row)
    try:
        again = _again(codec(api), data, whole_calls=whole_calls)
    except ProviderError:
        return []  # told as the error it is
    sent = Said(frames_of(codec(api), data))
    found = sent.lost(Said(frames_of(codec(api), again)))
    return [(path, one) for path, one in found if not has_run_on(api, sent, path, one)]


def has_run_on(api: str, sent: Said, path: str, one: Any) -> bool:
    """Is this a running count that another one followed?"""
    return any(path_fits(path, pattern) for pattern in RUNNING.get(api, ())) and not same(one, sent.values["", path][-1])


@pytest.mark.parametrize(("api", "row"), [case for api in APIS for case in _answers(api, stream=False)])
def test_a_whole_answer_comes_out_as_it_came_in(api: str, row: dict[str, Any]) -> None:
    assert [one for one in _lost_of_whole(api, row) if not is_excepted(api, row, one[0])] == []


@pytest.mark.parametrize("whole_calls", [True, False], ids=["whole", "growing"])
@pytest.mark.parametrize(("api", "row"), [case for api in APIS for case in _answers(api, stream=True)])
def test_a_stream_comes_out_as_it_came_in(api: str, row: dict[str, Any], whole_calls: bool) -> None:
    lost = _lost_of_stream(api, row, whole_calls=whole_calls)
    if whole_calls and row["id"].endswith(CUT):
        lost = [one for one in lost if not one[0].startswith("content_block_")]
    assert [one for one in lost if not is_excepted(api, row, one[0])] == []


@pytest.mark.slow
def test_every_exception_is_needed_by_some_answer() -> None:
    used: set[tuple[str, str] | None] = set()
    for api in APIS:
        for case in _answers(api, stream=False):
            used.update(_excepting(api, path) for path, _ in _lost_of_whole(api, case.values[1]))
        for case in _answers(api, stream=True):
            used.update(_excepting(api, path) for path, _ in _lost_of_stream(api, case.values[1], whole_calls=False))
    if any(recorded(api) for api in APIS):  # where the recordings are absent, nothing can be said
        assert {(api, one) for api, listed in EXCEPTIONS.items() for one in listed} - used == set()


def test_a_leaf_that_is_missing_is_found() -> None:
    sent = {"a": [{"b": 1, "c": "x"}], "d": '{"e": 1}'}
    assert list(lost_of_body(sent, {"a": [{"b": 1}], "d": '{"e":1}'})) == [("a[].c", "x")]
    assert list(Said([("start", sent), ("end", {})]).lost(Said([("start", {"a": [{"b": 2, "c": "x"}]})]))) == [
        ("end", "the event"),
        ("start a[].b", 1),
        ("start d", '{"e": 1}'),
    ]
    assert not same(True, 1)


def _again(api: Codec, data: bytes, *, whole_calls: bool) -> bytes:
    reader, decoder = readers[api.frames](), api.decode_stream()
    encoder = api.encode_stream(whole_calls=whole_calls)
    events = [event for frame in (*reader.feed(data), *reader.close()) for event in decoder.feed(frame)]
    frames = [frame for event in (*events, *decoder.close()) for frame in encoder.feed(event)]
    return b"".join(map(writers[api.frames], [*frames, *encoder.close()]))


def frames_of(api: Codec, data: bytes) -> Iterator[tuple[str, Any]]:
    """The frames of a stream: the kind of each, and its body."""
    reader = readers[api.frames]()
    for frame in (*reader.feed(data), *reader.close()):
        try:
            body = json.loads(frame.data)
        except ValueError:
            yield frame.data, None
            continue
        if api.name == "bedrock_invoke":
            body = json.loads(base64.b64decode(body["bytes"]))
        yield body.get("type") or body.get("event_type") or frame.event, body
