"""What the official SDKs' types hold is treated by our codecs, or stands in a table with the reason why not."""

from __future__ import annotations

from typing import Required, TypedDict

import pytest

from bench import sdk_gap
from dragoman.codecs import CODECS
from tests.support.sdk_types import gap
from tests.support.sdk_types.carried import Finding, What, findings
from tests.support.sdk_types.official import OFFICIAL, version
from tests.support.sdk_types.samples import Maker

SDKS = tuple(dict.fromkeys(row.sdk for row in OFFICIAL))


def _numbers(given: str) -> tuple[int, ...]:
    return tuple(int(part) for part in given.split(".") if part.isdecimal())


def _fit(sdk: str) -> None:
    """Skip where the SDK is not there, or newer than what the table was made for."""
    made_for, there = gap.table()[0][sdk], version(sdk)
    if not there:
        pytest.skip(f"{sdk} is not installed")
    if _numbers(there) > _numbers(made_for):
        pytest.skip(f"{sdk} {there} is newer than {made_for}: `python -m bench.sdk_gap {sdk}` tells what it brings")


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.costly
def test_nothing_an_sdk_knows_is_unknown_here(sdk: str) -> None:
    _fit(sdk)
    unknown = [f"{one.api} {one.way} {one.what}: {one.word} at {place}" for one, place in gap.unknown(sdk).items()]
    assert unknown == [], gap.WHAT_TO_DO


def test_the_table_of_exceptions_names_nothing_that_is_treated() -> None:
    for sdk in SDKS:
        if version(sdk) != gap.table()[0][sdk]:
            pytest.skip(f"{sdk} is not the one the table was made for")
    assert gap.idle(list(SDKS)) == []


def test_every_row_of_the_table_has_a_reason_and_an_api() -> None:
    versions, rows = gap.table()
    assert set(versions) == set(SDKS)
    assert all(row.reason and row.words for row in rows)
    assert {row.api for row in rows} - set(CODECS) == {"*", "ollama_*"}


def test_the_command_tells_the_gap(capsys: pytest.CaptureFixture[str]) -> None:
    _fit("ollama")
    assert sdk_gap.main(["ollama"]) == 0
    assert "unknown 0" in capsys.readouterr().out
    assert sdk_gap.main(["ollama", "--all"]) == 0
    assert "ollama_chat request kept: field:keep_alive" in capsys.readouterr().out


# ── the means ────────────────────────────────────────────────────────────────


class Inner(TypedDict, total=False):
    kind: Required[str]
    size: int


class Outer(TypedDict, total=False):
    name: Required[str]
    inner: Inner | None
    many: list[Inner | str]


def test_samples_hold_each_field_and_each_choice_once() -> None:
    made = {one.place: one.value for one in Maker().samples(Outer)}
    assert made == {
        ".Outer": {"name": "look"},
        ".Outer.inner.Inner": {"name": "look", "inner": {"kind": "kind"}},
        ".Outer.inner.Inner.size": {"name": "look", "inner": {"kind": "kind", "size": 3}},
        ".Outer.many[].Inner": {"name": "look", "many": [{"kind": "kind"}]},
        ".Outer.many[].Inner.size": {"name": "look", "many": [{"kind": "kind", "size": 3}]},
        ".Outer.many[]|str": {"name": "look", "many": ["many"]},
    }


CHAT = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
DONE = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "ho"}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("way", "body", "what", "word"),
    [
        ("request", {**CHAT, "newest": 1}, What.KEPT, "field:newest"),
        ("request", {**CHAT, "tools": [{"type": "newest"}]}, What.KEPT, "tool:newest"),
        ("request", {**CHAT, "messages": [{"role": "user", "content": [{"type": "newest"}]}]}, What.KEPT, "part:newest"),
        ("request", {**CHAT, "messages": 5}, What.REFUSED, "CodecError: expected an array, got a number"),
        ("answer", {**DONE, "choices": [{**DONE["choices"][0], "finish_reason": "newest"}]}, What.KEPT, "stop:newest"),
        ("answer", {**DONE, "choices": [{**DONE["choices"][0], "message": {"content": [{"type": "newest", "a": 1}]}}]},
         What.LOST, "choices[].message.content[]<newest>.a"),
    ],
)  # fmt: skip
def test_what_nobody_has_heard_of_is_found(way: str, body: dict[str, object], what: What, word: str) -> None:
    found = list(findings("openai_chat", way, body))
    assert any(one.what is what and one.word.startswith(word) for one in found), found


def test_an_event_that_is_not_told_again_is_found() -> None:
    frames = [{"type": "message-start", "id": "1"}, {"type": "newest", "a": 1}]
    found = list(findings("cohere_chat", "stream", frames))
    assert Finding("cohere_chat", "stream", What.LOST, "event:newest") in found
    assert Finding("cohere_chat", "stream", What.LOST, "newest a") in found


def test_an_event_that_is_told_again_as_it_came_is_kept() -> None:
    frames = [{"type": "message_start", "message": {"id": "1", "content": []}}, {"type": "newest", "a": 1}]
    assert [*findings("anthropic_messages", "stream", frames)] == [
        Finding("anthropic_messages", "stream", What.KEPT, "event:newest")
    ]
