"""A native call whose arguments are damaged runs as it was meant, or is refused with a correction (judge-rules.md E)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman import Response
from dragoman.dialects.judge.judge import Judge
from dragoman.events import CallDelta, CallEnded, CallStarted, Event, assemble
from dragoman.turn.native_calls import NativeCalls
from tests.support.mutations import CALLS, TOOLS, alike, with_a_sign_wrong, with_a_token_wrong

SPELLINGS: tuple[dict[str, Any], ...] = ({}, {"separators": (",", ":")}, {"indent": 2})


def _handled(name: str, pieces: list[str]) -> Response:
    natives = NativeCalls(Judge(tuple(TOOLS)))
    events: list[Event] = [CallStarted(0, "c", name), *(CallDelta(0, piece) for piece in pieces), CallEnded(0)]
    told = [one for event in events for one in natives.handle(event)]
    json.loads("".join(event.json for event in told if isinstance(event, CallDelta)) or "{}")
    return assemble(told)


def _cut(text: str, data: st.DataObject) -> list[str]:
    places = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


@pytest.mark.parametrize("damage", [with_a_sign_wrong, with_a_token_wrong])
@pytest.mark.parametrize("call", CALLS)
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_damaged_arguments_run_as_meant_or_are_refused_whole_and_streamed(
    call: tuple[str, dict[str, Any]], damage: Any, data: st.DataObject
) -> None:
    name, arguments = call
    text = data.draw(damage(json.dumps(arguments, **data.draw(st.sampled_from(SPELLINGS))), arguments))
    whole, streamed = _handled(name, [text]), _handled(name, _cut(text, data))
    assert [dict(one.arguments) for one in whole.calls] == [dict(one.arguments) for one in streamed.calls]
    assert [issue.kind for issue in whole.issues] == [issue.kind for issue in streamed.issues]
    for one in whole.calls:
        assert alike(dict(one.arguments), arguments, free=False), (text, one.arguments)
    if not whole.calls:
        assert all(issue.correction for issue in whole.issues), text
        assert whole.issues, text


@pytest.mark.parametrize(
    "text",
    [
        '{"path":"a.py"|,"content":"x"}',
        '{"path": "a.py", "content"} 420, "force": true}',
        '{"path": "a.py"}, "force": true}',
        '{"path": "a.py",}force": true}',
        '{"path": "a.py", "m\\de": 5}',
        '{"path": "a.py", "content": "{"path": "b.py"}',
        '{"path": "a.py"{"path": "b.py", "content": "x"}',
    ],
)
def test_what_an_argument_holds_by_mistake_is_refused(text: str) -> None:
    answer = _handled("write_file", [text])
    assert not answer.calls
    assert answer.issues[0].correction


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{"path": "a.py", "content": "print("a", "b")"}', {"path": "a.py", "content": 'print("a", "b")'}),
        ('{"path": "a.py"}{"path": "a.py"}', {"path": "a.py"}),
        ('{"path": "a.py",}', {"path": "a.py"}),
    ],
)
def test_damage_that_leaves_one_reading_is_mended(text: str, arguments: dict[str, Any]) -> None:
    assert [dict(call.arguments) for call in _handled("write_file", [text]).calls] == [arguments]
