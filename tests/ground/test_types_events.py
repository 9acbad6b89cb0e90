"""The laws of the values: a response unfolds into events and folds back, and nothing is lost on the way."""

from __future__ import annotations

import dataclasses
import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs import CODECS, encode_result
from dragoman.errors import UsageError
from dragoman.events import (
    Assembler,
    CallDelta,
    CallEnded,
    CallStarted,
    Ended,
    Event,
    IssueReported,
    PartAdded,
    PartEnded,
    ReasoningDelta,
    Reclassified,
    Started,
    TextDelta,
    assemble,
    replay,
)
from dragoman.jsontext import as_dict, dumps, to_bytes, to_json
from dragoman.types import (
    Edit,
    Issue,
    IssueKind,
    JsonObject,
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Report,
    Request,
    Response,
    Stop,
    Text,
    Tier,
    ToolCall,
    ToolResult,
    Usage,
    Verdict,
    spoken,
)

# ── responses of every kind ──────────────────────────────────────────────────

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(max_size=4), JSON, max_size=3)
REPORTS = st.builds(
    Report,
    dialect=st.sampled_from(["", "hermes"]),
    span=st.none() | st.tuples(st.integers(0, 9), st.integers(9, 20)),
    tier=st.sampled_from(Tier),
    edits=st.lists(st.builds(Edit, st.sampled_from(["trailing_comma", "wrapped"])), max_size=2).map(tuple),
    verdict=st.sampled_from([Verdict.ACCEPTED, Verdict.MENDED]),
)
CALLS = st.builds(
    ToolCall,
    id=st.text(min_size=1, max_size=8),
    name=st.text(max_size=8),
    arguments=OBJECTS,
    raw=st.none() | st.sampled_from(["{'a':1}", "{}", ""]),
    report=st.none() | REPORTS,
    metadata=OBJECTS,
)
PARTS: st.SearchStrategy[Part] = st.one_of(
    st.builds(Text, st.text(max_size=8), metadata=OBJECTS),
    st.builds(Reasoning, st.text(max_size=8), metadata=OBJECTS),
    st.builds(Media, mime=st.just("image/png"), data=st.just("aGk=")),
    st.builds(Opaque, api=st.just("anthropic_messages"), block=OBJECTS),
    CALLS,
)
ISSUES = st.builds(Issue, kind=st.sampled_from(IssueKind), message=st.text(max_size=8), raw=st.text(max_size=8))
RESPONSES = st.builds(
    Response,
    message=st.lists(PARTS, max_size=5).map(lambda parts: Message("assistant", parts)),
    stop=st.none() | st.sampled_from(Stop),
    usage=st.none() | st.builds(Usage, input=st.integers(0, 9), output=st.integers(0, 9)),
    model=st.text(max_size=8),
    id=st.text(max_size=8),
    issues=st.lists(ISSUES, max_size=3).map(tuple),
    extra=OBJECTS,
)


@given(RESPONSES)
def test_a_response_told_as_events_folds_back_into_itself(response: Response) -> None:
    assert assemble(replay(response)) == response


@given(RESPONSES)
def test_what_does_not_take_part_in_comparison_survives_too(response: Response) -> None:
    folded = assemble(replay(response))
    for before, after in zip(response.calls, folded.calls, strict=True):
        assert after.report == before.report
        assert before.raw is None or after.raw == before.raw


@given(RESPONSES)
def test_deltas_of_a_call_are_strict_json(response: Response) -> None:
    pieces: dict[int, str] = {}
    for event in replay(response):
        if isinstance(event, CallDelta):
            pieces[event.index] = pieces.get(event.index, "") + event.json
    assert [strict(pieces[i]) for i in range(len(response.calls))] == [c.arguments for c in response.calls]


def strict(text: str) -> Any:
    def refuse(word: str) -> Any:
        raise ValueError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


@given(RESPONSES)
def test_replay_starts_once_ends_once_and_numbers_its_calls(response: Response) -> None:
    events = list(replay(response))
    assert [type(e) for e in events].count(Started) == [type(e) for e in events].count(Ended) == 1
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Ended)
    assert [e.index for e in events if isinstance(e, CallStarted)] == list(range(len(response.calls)))


@given(RESPONSES, st.data())
def test_a_fold_may_be_asked_at_any_time(response: Response, data: st.DataObject) -> None:
    events = list(replay(response))
    assembler = Assembler()
    for event in events[: data.draw(st.integers(0, len(events)))]:
        assembler.add(event)
    assert len(assembler.response().message.parts) <= len(response.message.parts)


# ── tables of streams ────────────────────────────────────────────────────────

REFUSED = Report(verdict=Verdict.REFUSED, reason="unknown_tool")
ISSUE = Issue(kind=IssueKind.UNKNOWN_TOOL, message="no such tool", raw='{"name":"x"}', name="x")


def call(index: int, *pieces: str, report: Report | None = None, name: str = "f") -> list[Event]:
    deltas = [CallDelta(index, piece) for piece in pieces]
    return [CallStarted(index, f"c{index}", name), *deltas, CallEnded(index, report)]


def parts(*events: Event) -> tuple[Part, ...]:
    return assemble(events).message.parts


def a_call(index: int, **arguments: Any) -> ToolCall:
    return ToolCall(id=f"c{index}", name="f", arguments=arguments)


STREAMS: list[tuple[str, list[Event], tuple[Part, ...]]] = [
    ("nothing", [], ()),
    ("deltas of one kind are one part", [TextDelta("a"), TextDelta("b")], (Text("ab"),)),
    ("another kind begins another part", [TextDelta("a"), ReasoningDelta("b"), TextDelta("c")],
     (Text("a"), Reasoning("b"), Text("c"))),
    ("an ended part is not continued", [TextDelta("a"), PartEnded(), TextDelta("b")], (Text("a"), Text("b"))),
    ("metadata belongs to the part that ends", [ReasoningDelta("a"), PartEnded({"signature": "s"})],
     (Reasoning("a", metadata={"signature": "s"}),)),
    ("metadata alone is reasoning nobody may read", [PartEnded({"encrypted": "e"})],
     (Reasoning("", metadata={"encrypted": "e"}),)),
    ("the end of nothing is nothing", [PartEnded(), PartEnded()], ()),
    ("arguments in pieces", call(0, '{"a"', ":1", "}"), (a_call(0, a=1),)),
    ("no arguments at all", call(0), (a_call(0),)),
    ("calls that overlap keep the order they began in",
     [CallStarted(0, "c0", "f"), CallStarted(1, "c1", "f"), CallDelta(1, "{}"), CallDelta(0, '{"a":1}'),
      CallEnded(1), CallEnded(0)],
     (a_call(0, a=1), a_call(1))),
    ("text around calls stays where it was", [TextDelta("a"), *call(0, "{}"), TextDelta("b")],
     (Text("a"), a_call(0), Text("b"))),
    ("media ends the text before it", [TextDelta("a"), PartAdded(Media(url="u")), TextDelta("b")],
     (Text("a"), Media(url="u"), Text("b"))),
    ("a refused call is not there", [*call(0, '{"a":', report=REFUSED), *call(1, "{}")], (a_call(1),)),
    ("a call still open is not there", [CallStarted(0, "c0", "f"), CallDelta(0, '{"a')], ()),
    ("text turns out to be reasoning", [TextDelta("a"), ReasoningDelta("b"), Reclassified(), TextDelta("c")],
     (Reasoning("ab"), Text("c"))),
    ("nothing came", [Reclassified(), TextDelta("c")], (Text("c"),)),
]  # fmt: skip


@pytest.mark.parametrize(("events", "wanted"), [row[1:] for row in STREAMS], ids=[row[0] for row in STREAMS])
def test_a_stream_folds_as_it_should(events: list[Event], wanted: tuple[Part, ...]) -> None:
    assert parts(*events) == wanted


@pytest.mark.parametrize("verdict", [Verdict.REFUSED, Verdict.QUOTED])
def test_a_call_not_to_run_leaves_an_issue(verdict: Verdict) -> None:
    folded = assemble(
        [*call(0, '{"never": "whole', report=Report(verdict=verdict)), IssueReported(ISSUE), Ended(Stop.END)]
    )
    assert folded.calls == ()
    assert folded.issues == (ISSUE,)


def test_calls_before_reclassifying_become_issues_with_text() -> None:
    folded = assemble([TextDelta("I might call "), *call(0, '{"a":1}'), Reclassified(), TextDelta("Hello")])
    assert folded.message.parts == (Reasoning("I might call "), Text("Hello"))
    (issue,) = folded.issues
    assert (issue.kind, issue.name, issue.call_id, issue.raw) == (IssueKind.IN_REASONING, "f", "c0", '{"a":1}')


def test_a_call_open_at_reclassifying_becomes_an_issue() -> None:
    started, *ended = call(0, "{}")
    events = [TextDelta("a"), started, Reclassified(), *ended, TextDelta("b")]
    folded = assemble(events)
    assert folded.message.parts == (Reasoning("a"), Text("b"))
    assert [(i.kind, i.raw) for i in folded.issues] == [(IssueKind.IN_REASONING, "{}")]


def test_calls_after_a_recast_stand() -> None:
    assert parts(*call(0, "{}"), Reclassified(), *call(1, "{}"), TextDelta("x")) == (a_call(1), Text("x"))


def test_the_arguments_as_written_are_kept_beside_the_mended_ones() -> None:
    folded = assemble([CallStarted(0, "c0", "f"), CallDelta(0, '{"a":1}'), CallEnded(0, None, "{'a': 1,}")])
    assert folded.calls == (a_call(0, a=1),)
    assert folded.calls[0].raw == "{'a': 1,}"


def test_what_started_and_what_ended_are_told() -> None:
    folded = assemble([Started("m", "i", {"x": 1}), Ended(Stop.LENGTH, Usage(input=3, output=4), {"y": 2})])
    assert (folded.model, folded.id, folded.stop, folded.extra) == ("m", "i", Stop.LENGTH, {"x": 1, "y": 2})
    assert folded.usage is not None
    assert folded.usage.total == 7


def test_a_result_cannot_stand_in_an_answer() -> None:
    with pytest.raises(TypeError, match="role 'tool'"):
        list(replay(Response(message=Message("assistant", [ToolResult(call_id="c")]))))


# ── values ───────────────────────────────────────────────────────────────────


def test_a_string_stands_for_one_text_part() -> None:
    assert Message("user", "hi") == Message("user", [Text("hi")])
    assert ToolResult(call_id="c", content="hi") == ToolResult(call_id="c", content=[Text("hi")])


def test_a_message_tells_its_parts_by_kind() -> None:
    result = ToolResult(call_id="c", content=[Text("a"), Media(url="u"), Text("b")])
    message = Message("assistant", [Reasoning("r"), Text("a"), a_call(0), Text("b"), result])
    assert (message.text, message.reasoning, message.calls, message.results) == ("ab", "r", (a_call(0),), (result,))
    assert result.text == "ab"


def test_values_are_frozen() -> None:
    for value in (Message("user", "a"), ToolResult(call_id="c"), a_call(0), Response(), TextDelta("a")):
        field = dataclasses.fields(value)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, field, "x")


def test_an_error_code_and_an_error_are_two_signals() -> None:
    assert ToolResult(call_id="c", error_code="ENOENT").is_error is False
    assert ToolResult(call_id="c", is_error=True, error_code="").error_code is None


def test_any_mapping_and_any_tuple_is_json() -> None:
    value: JsonObject = MappingProxyType({"a": (1, MappingProxyType({})), "é": "\u2028"})
    assert strict(dumps(value)) == {"a": [1, {}], "é": "\u2028"}
    with pytest.raises(ValueError, match="not JSON compliant"):
        dumps(float("nan"))
    with pytest.raises(TypeError, match="object is not JSON"):
        dumps(object())


@given(st.text(), st.integers(0, 400), st.booleans())
def test_a_long_text_is_written_as_a_short_one_is(odd: str, size: int, half: bool) -> None:
    text = "x" * size + odd + "".join(map(chr, range(0x90))) + "\u2028\ud800"[: 1 + half] + "é🙂"
    value = {"short": odd, "long": text, odd: [text, {"deep": text * 2}]}
    assert dumps(value) == json.dumps(value, ensure_ascii=False)


@given(st.text(), st.integers(0, 3), st.integers(0, 40_000))
def test_what_is_not_ascii_is_written_as_the_standard_library_does(odd: str, times: int, size: int) -> None:
    value = ["x" * size, {odd: odd * times}, "a\x7fb" * times]
    assert to_json(value) == json.dumps(value, separators=(",", ":"))
    assert to_bytes(value).decode() == to_json(value)


class Standing:
    """Stands for a JSON value until that is written."""

    def __init__(self, value: Any) -> None:
        self.value = value


def made_of(thing: Any) -> Any:
    return {"of": thing.value} if type(thing) is Standing else as_dict(thing)


LEAVES: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3).map(MappingProxyType),
    max_leaves=8,
)


@given(VALUES | st.just("half \ud800"))
def test_what_is_made_where_it_is_written_is_written_as_what_was_made_before(value: Any) -> None:
    written = to_bytes((Standing(value), [Standing(value)]), [value], made_of)
    assert written == to_bytes([{"of": value}, [{"of": value}]])


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], object(), {1}])
def test_what_is_made_where_it_is_written_must_be_json_too(value: Any) -> None:
    with pytest.raises(UsageError, match="not JSON"):
        to_bytes([Standing(value)], [value], made_of)


@pytest.mark.parametrize("parts", [
    [], [Text("a")], [Reasoning("r"), Text("a"), a_call(0), a_call(1)], [Text("a", metadata={"b": 1}), a_call(0)],
])  # fmt: skip
def test_what_the_model_spoke_is_noted_at_once(parts: list[Any]) -> None:
    noted, message = spoken(parts), Message("assistant", parts)
    assert noted == message
    assert (noted.calls, noted.results, noted.bare) == (message.calls, message.results, message.bare)


# ── what is no part ──────────────────────────────────────────────────────────

CONTENTS: list[tuple[Any, tuple[str, ...]]] = [
    ({"a": 1, "ä": None}, ('{"a": 1, "ä": null}',)),
    (["a", "b"], ('["a", "b"]',)),
    ([{"type": "text", "text": "x"}], ('[{"type": "text", "text": "x"}]',)),
    (None, ("null",)),
    (5, ("5",)),
    (True, ("true",)),
    (Text("x"), ("x",)),
    ([Text("x"), "y", {"a": 1}], ("x", "y", '{"a": 1}')),
    ((Text(each) for each in "ab"), ("a", "b")),
    ((), ()),
]


@pytest.mark.parametrize(("content", "texts"), CONTENTS)
def test_a_results_content_is_parts_or_the_json_of_a_value(content: Any, texts: tuple[str, ...]) -> None:
    result = ToolResult(call_id="c", content=content)
    assert result.content == tuple(Text(each) for each in texts)


@pytest.mark.parametrize("api", [api for api in CODECS if api not in ("ollama_generate", "stackspot")])
@pytest.mark.parametrize("content", [{"oslo": 12}, ["oslo", "12"], None, 12.5])
def test_a_value_given_as_a_result_reaches_every_api(content: Any, api: str) -> None:
    written = json.dumps(encode_result(ToolResult(call_id="c", name="f", content=content), api))
    assert json.dumps(json.dumps(content))[1:-1] in written


@pytest.mark.parametrize("content", [b"x", object(), float("nan"), [1, object()], {"a": b"x"}])
def test_what_has_no_json_is_no_content(content: Any) -> None:
    with pytest.raises(UsageError, match="give a text"):
        ToolResult(call_id="c", content=content)


def test_a_messages_parts_may_be_one_or_texts_among_others() -> None:
    call = ToolCall(id="c", name="f")
    assert Message("assistant", call).calls == (call,)
    assert Message("assistant", ["Hm.", call]).parts == (Text("Hm."), call)
    assert Message("user", (Text(each) for each in "ab")).text == "ab"


@pytest.mark.parametrize("parts", [{"a": 1}, [{"type": "text", "text": "x"}], None, 5, b"x", [None]])
def test_what_is_no_part_is_refused_and_never_taken_apart(parts: Any) -> None:
    with pytest.raises(UsageError, match="no part of a message; give a text"):
        Message("user", parts)


@pytest.mark.parametrize("role", ["usr", "", None, {}])
def test_a_role_there_is_not_is_refused(role: Any) -> None:
    with pytest.raises(UsageError, match="give one of system, user"):
        Message(role, "x")


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_media_may_be_given_as_bytes(kind: type) -> None:
    media = Media(mime="image/png", data=kind(b"\x89PNG"))
    assert media == Media(mime="image/png", data="iVBORw==")
    assert dataclasses.replace(media, name="a") == Media(mime="image/png", data="iVBORw==", name="a")
    request = Request(model="m", messages=(Message("user", [media]),))
    assert "iVBORw==" in to_json(CODECS["openai_chat"].encode_request(request))


def test_media_of_anything_else_is_refused() -> None:
    with pytest.raises(UsageError, match="give its bytes"):
        Media(data=3)  # type: ignore[arg-type]
