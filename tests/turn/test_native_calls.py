"""Native calls are judged as calls in text are: names settled, arguments mended and typed, the rest refused and told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.dialects.judge.judge import Judge
from dragoman.effects import run
from dragoman.events import CallDelta, CallEnded, CallStarted, Event, IssueReported, TextDelta, assemble
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, Tools
from dragoman.turn.machine import turn
from dragoman.turn.native_calls import NativeCalls
from dragoman.types import (
    Edit,
    Issue,
    IssueKind,
    Message,
    Report,
    Request,
    Response,
    Stop,
    Tier,
    Tool,
    ToolChoice,
    ToolResult,
    Verdict,
)
from tests.support.upstreams import ScriptedReply, model, text_reply

PROPERTIES: dict[str, Any] = {
    "at": {"type": "string"},
    "n": {"type": "integer"},
    "deep": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "how": {"enum": ["fast", "slow"]},
    "maybe": {"type": "string"},
    "to": {"type": "object", "properties": {"x": {"type": "number"}}},
}
LOOK = Tool(name="look", parameters={"type": "object", "properties": PROPERTIES, "required": ["at"]})
READ = Tool(name="read_file", parameters={"type": "object", "properties": {"path": {"type": "string"}}})
OPEN = Tool(name="note", parameters={"type": "object"})
NONE = Tool(name="now", parameters={"type": "object", "properties": {}, "additionalProperties": False})
TOOLS = (LOOK, READ, OPEN, NONE)
ARGUMENTS: dict[str, Any] = {"at": "sky", "n": 3, "deep": True, "tags": ["a"], "how": "fast", "to": {"x": 1.5}}


def handled(pieces: list[str], name: str = "look", *, report: Report | None = None, **more: Any) -> list[Event]:
    natives = NativeCalls(Judge(more.pop("tools", TOOLS)), **more)
    events: list[Event] = [CallStarted(0, "c", name), *(CallDelta(0, p) for p in pieces), CallEnded(0, report)]
    return [judged for event in events for judged in natives.handle(event)]


def got(arguments: str, name: str = "look", **more: Any) -> Response:
    return assemble(handled([arguments], name, **more))


def deltas(events: list[Event]) -> str:
    return "".join(event.json for event in events if isinstance(event, CallDelta))


# ── what fits passes as it is ────────────────────────────────────────────────


@pytest.mark.parametrize("text", ['{"at": "sky"}', '{ "at":"\\u0041", "n" : 10000000000000000000001 }', '{"at":"x"}\n'])
def test_arguments_that_fit_keep_their_spelling(text: str) -> None:
    events = handled([text])
    assert deltas(events) == text
    assert events[-1] == CallEnded(0, None)


def test_other_events_pass() -> None:
    assert NativeCalls(Judge(TOOLS)).handle(TextDelta("x")) == [TextDelta("x")]


def test_a_text_is_told_while_it_comes() -> None:
    natives = NativeCalls(Judge(TOOLS))
    natives.handle(CallStarted(0, "c", "look"))
    judged = [natives.handle(CallDelta(0, piece)) for piece in ('{"at": "once', " upon", ' a time"', "}")]
    assert all(judged[:3])
    assert judged[1] == [CallDelta(0, " upon")]


# ── what is mended ───────────────────────────────────────────────────────────

MENDED: list[tuple[str, str, dict[str, Any]]] = [
    # arguments as they came, arguments as they run
    ("a number as text", '{"at": "x", "n": "3"}', {"at": "x", "n": 3}),
    ("a truth value as text", '{"at": "x", "deep": "False"}', {"at": "x", "deep": False}),
    ("a list as text", '{"at": "x", "tags": "[\\"a\\", \\"b\\"]"}', {"at": "x", "tags": ["a", "b"]}),
    ("an object as text", '{"at": "x", "to": "{\\"x\\": 2}"}', {"at": "x", "to": {"x": 2}}),
    ("one for a list", '{"at": "x", "tags": "a"}', {"at": "x", "tags": ["a"]}),
    ("a value in other case", '{"at": "x", "how": "FAST"}', {"at": "x", "how": "fast"}),
    ("a key in other case", '{"At": "x"}', {"at": "x"}),
    ("a null that means nothing", '{"at": "x", "maybe": null}', {"at": "x"}),
    ("a number for text", '{"at": 5}', {"at": "5"}),
    ("an object for text", '{"at": {"a": 1}}', {"at": '{"a": 1}'}),
    ("arguments in arguments", '{"arguments": {"at": "x"}}', {"at": "x"}),
    ("arguments in text in arguments", '{"input": "{\\"at\\": \\"x\\"}"}', {"at": "x"}),
    ("a digit that a float would lose", '{"at": "x", "n": "12345678901234567891"}',
     {"at": "x", "n": 12345678901234567891}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), [m[1:] for m in MENDED], ids=[m[0] for m in MENDED])
def test_arguments_are_mended_and_typed_by_the_schema(text: str, wanted: dict[str, Any]) -> None:
    whole, pieces = got(text), assemble(handled(list(text)))
    (call,) = whole.calls
    assert call.arguments == wanted
    assert call.report is not None
    assert (call.report.verdict, call.report.tier) == (Verdict.MENDED, Tier.NATIVE)
    assert call.report.edits
    assert whole.issues == ()
    assert pieces.message == whole.message
    assert pieces.calls[0].report == call.report


NAMES = [
    ("functions.look", "look"), ("look<|channel|>commentary", "look"), ("functions.look:3", "look"), (" look ", "look"),
    ("ReadFile", "read_file"), ("read-file", "read_file"), ("default_api.read_file", "read_file"),
    ("read\\_file", "read_file"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "name"), NAMES)
def test_a_name_in_another_notation_is_the_tools(written: str, name: str) -> None:
    (call,) = got('{"at": "x", "path": "y"}', written).calls
    assert call.name == name
    assert call.report is not None
    assert call.report.edits == (Edit("name", "", written, name),)


def test_what_the_wire_mended_is_told_with_what_we_mended() -> None:
    before = Report(tier=Tier.NATIVE, edits=(Edit("double_encoded", "$"),), verdict=Verdict.MENDED)
    (call,) = got('{"at": "x", "n": "3"}', report=before).calls
    assert call.report is not None
    assert next(edit.kind for edit in call.report.edits) == "double_encoded"
    assert len(call.report.edits) == 2


@pytest.mark.parametrize("text", ["", "{}"])
def test_a_tool_without_arguments_needs_none(text: str) -> None:
    assert [c.arguments for c in got(text, "now").calls] == [{}]


def test_a_tool_that_takes_anything_gets_anything() -> None:
    assert got('{"x": {"y": [1]}, "arguments": 1}', "note").calls[0].arguments == {"x": {"y": [1]}, "arguments": 1}


# ── what is refused ──────────────────────────────────────────────────────────

REFUSED: list[tuple[str, str, str, IssueKind, str]] = [
    ("an unknown name", "lock", '{"at": "x"}', IssueKind.UNKNOWN_TOOL, "Did you mean 'look'?"),
    ("no name at all", "{}", "{}", IssueKind.UNKNOWN_TOOL, "look, note, now, read_file"),
    ("a missing argument", "look", "{}", IssueKind.INVALID_ARGUMENTS, '"at" is missing'),
    ("a value that is none of those", "look", '{"at": "x", "how": "never"}', IssueKind.INVALID_ARGUMENTS, "$.how"),
    ("a fraction for a whole number", "look", '{"at": "x", "n": 1.5}', IssueKind.INVALID_ARGUMENTS, "$.n"),
    ("escapes of two readings", "look", '{"at": "type in C:\\Users\\new"}', IssueKind.MALFORMED, "two readings"),
    ("half a character", "look", '{"at": "\\ud83d"}', IssueKind.MALFORMED, "half a character"),
    ("a key of signs", "note", '{"{\\"at\\": 1}": 2}', IssueKind.MALFORMED, "no argument's name"),
    ("a key that is not taken", "now", '{"tz": "UTC"}', IssueKind.INVALID_ARGUMENTS, "tz"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "kind", "message"), [r[1:] for r in REFUSED],
                         ids=[r[0] for r in REFUSED])  # fmt: skip
def test_what_cannot_run_is_refused_and_told(name: str, text: str, kind: IssueKind, message: str) -> None:
    for events in (handled([text], name), handled(list(text), name)):
        response = assemble(events)
        assert response.calls == ()
        (issue,) = response.issues
        assert (issue.kind, issue.call_id, issue.raw) == (kind, "c", text)
        assert message in issue.correction
        assert isinstance(json.loads(deltas(events)), dict)
        (ended,) = [event for event in events if isinstance(event, CallEnded)]
        assert ended.report is not None
        assert (ended.report.verdict, ended.raw) == (Verdict.REFUSED, text)


def test_a_call_the_wire_gave_up_is_told_once() -> None:
    broken = Report(tier=Tier.NATIVE, verdict=Verdict.REFUSED, reason="malformed")
    events = handled(['{"at": "x', '"}'], report=broken)
    assert not any(isinstance(event, IssueReported) for event in events)
    assert events[-1] == CallEnded(0, broken)
    assert json.loads(deltas(events)) == {"at": "x"}


def test_where_no_tools_are_declared_nothing_runs() -> None:
    response = got('{"at": "x"}', tools=())
    assert response.calls == ()
    assert [(i.kind, i.name) for i in response.issues] == [(IssueKind.UNKNOWN_TOOL, "look")]


def test_a_name_may_be_one_of_the_wires_own_tools() -> None:
    response = got('{"command":  "ls"}', "bash", others=True)
    assert [(c.name, c.arguments) for c in response.calls] == [("bash", {"command": "ls"})]
    assert response.calls[0].raw == '{"command":  "ls"}'


def test_where_calls_are_forbidden_none_runs() -> None:
    response = got('{"at": "x"}', allowed=False)
    assert response.calls == ()
    assert [i.kind for i in response.issues] == [IssueKind.NOT_ALLOWED]


# ── laws ─────────────────────────────────────────────────────────────────────

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
    | st.sampled_from(["3", "true", "[1]", "{}", "fast"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*PROPERTIES, "x", "AT"]), inner),
    max_leaves=6,
)  # fmt: skip
OBJECTS = st.dictionaries(st.sampled_from([*PROPERTIES, "arguments", "type", "zz", "AT"]), VALUES, max_size=5)


@given(OBJECTS, st.sampled_from([tool.name for tool in TOOLS]), st.data())
def test_any_pieces_come_to_the_same_and_what_runs_fits(value: dict[str, Any], name: str, data: st.DataObject) -> None:
    text = json.dumps(value)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True) if a < b]
    events, whole = handled(pieces, name), handled([text], name)
    one, two = assemble(events), assemble(whole)
    assert one.message == two.message
    assert one.issues == two.issues
    assert isinstance(json.loads(deltas(events)), dict)
    assert len(one.calls) + len(one.issues) == 1
    tool = next(tool for tool in TOOLS if tool.name == name)
    for call in one.calls:
        assert assemble(handled([json.dumps(call.arguments)], name)).message == one.message
        assert not Judge(TOOLS).known(call.name) or call.name == tool.name


@given(st.text(alphabet="{}[]\":,'\\nuUx aé\n1，", max_size=40), st.booleans(), st.data())
def test_any_pieces_of_damaged_arguments_come_to_the_same(raw: str, quoted: bool, data: st.DataObject) -> None:
    text = f'{{"at": "{raw}"}}' if quoted else f'{{"at": {raw}}}'
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True) if a < b]
    events = handled(pieces)
    one, two = assemble(events), assemble(handled([text]))
    assert one.message == two.message
    assert one.issues == two.issues
    assert isinstance(json.loads(deltas(events)), dict)


# ── through a turn, on every wire ────────────────────────────────────────────

APIS = ("openai_chat", "anthropic_messages", "ollama_chat")


def answered_natively(api: str, scripted: ScriptedReply, *, stream: bool = True, tools: tuple[Tool, ...] = TOOLS, **more: Any) -> Response:
    route = Route(provider=COMPATIBLE[api], base_url="http://model.test", tools=more.pop("mode", None))
    request = Request(model="m", messages=(Message("user", "go"),), tools=tools, stream=stream, **more)
    return run(turn(request, route), model(api, scripted).sync_performer())


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_damaged_native_call_is_mended_or_reported(api: str, stream: bool) -> None:
    calls = (
        ("a1", "functions.look", {"at": "sky", "n": "3"}), ("a2", "lock", {"at": "sea"}), ("a3", "look", {"n": 1}),
    )  # fmt: skip
    response = answered_natively(api, ScriptedReply((), calls), stream=stream)
    assert [(c.name, c.arguments) for c in response.calls] == [("look", {"at": "sky", "n": 3})]
    assert [issue.kind for issue in response.issues] == [IssueKind.UNKNOWN_TOOL, IssueKind.INVALID_ARGUMENTS]
    assert response.stop is Stop.TOOL_CALLS


def test_an_answer_of_impossible_calls_alone_ends() -> None:
    response = answered_natively("openai_chat", ScriptedReply((), (("a1", "lock", {}),)))
    assert (response.calls, response.stop) == ((), Stop.END)


def test_a_renamed_tool_is_judged_under_its_own_name() -> None:
    odd = Tool(name="fs.look at", parameters=LOOK.parameters)
    response = answered_natively("anthropic_messages", ScriptedReply((), (("a1", "fs_look_at", {"at": "x", "n": "3"}),)), tools=(odd,))
    assert [(c.name, c.arguments) for c in response.calls] == [("fs.look at", {"at": "x", "n": 3})]
    response = answered_natively("anthropic_messages", ScriptedReply((), (("a1", "fs_look_at", {}),)), tools=(odd,))
    assert [issue.name for issue in response.issues if issue.kind is IssueKind.INVALID_ARGUMENTS] == ["fs.look at"]


def test_a_native_call_beside_text_tools_is_judged_too() -> None:
    response = answered_natively("openai_chat", ScriptedReply((), (("a1", "look", {"at": "x", "n": "3"}),)), mode=Tools.TEXT)
    assert [c.arguments for c in response.calls] == [{"at": "x", "n": 3}]


def test_a_call_made_against_the_callers_word_does_not_run() -> None:
    scripted = ScriptedReply(("No.",), (("a1", "look", {"at": "x"}),))
    response = answered_natively("openai_chat", scripted, tool_choice=ToolChoice("none"))
    assert response.calls == ()
    assert [issue.kind for issue in response.issues] == [IssueKind.NOT_ALLOWED]


def test_without_native_calls_nothing_is_told_of_them() -> None:
    assert answered_natively("openai_chat", text_reply("hello")).issues == ()


# ── ids ──────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("taken", "given", "expected"), [
    (["c0"], ["c0"], ["c0_2"]),
    (["c0", "c0_2"], ["c0"], ["c0_3"]),
    (["c0", "c1"], ["c0", "c1"], ["c0_2", "c1_2"]),
    (["c1"], ["c0"], ["c0"]),
    ([], ["c0"], ["c0"]),
    (["c0", "c9"], ["c9", "c0_2", "c0"], ["c9_2", "c0_2", "c0_3"]),
])  # fmt: skip
def test_an_id_that_the_conversation_knows_is_given_to_no_other_call(
    taken: list[str], given: list[str], expected: list[str]
) -> None:
    natives = NativeCalls(Judge(TOOLS), taken=taken)
    started = [natives.handle(CallStarted(n, id_, "note"))[0] for n, id_ in enumerate(given)]
    assert [event.id for event in started if isinstance(event, CallStarted)] == expected


@pytest.mark.parametrize("api", ["openai_chat", "anthropic_messages", "ollama_chat"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_server_that_counts_from_nought_in_each_answer_gives_ids_of_their_own_to_clients(
    api: str, stream: bool
) -> None:
    look = ScriptedReply(calls=(("call_0", "look", {"at": "sky"}),))
    peer, route = model(api, look, look, look), Route(provider=COMPATIBLE[api], base_url="http://model.test")
    messages: tuple[Message, ...] = (Message("user", "Look."),)
    for _ in range(3):
        request = Request(model="m", messages=messages, tools=(LOOK,), stream=stream)
        response = run(turn(request, route), peer.sync_performer())
        (made,) = response.calls
        result = ToolResult(call_id=made.id, name="look", content="nothing")
        messages += (response.message, Message("tool", [result]))
    ids = [call.id for message in messages for call in message.calls]
    assert len(set(ids)) == 3


def test_what_is_wrong_with_a_call_is_told_under_the_id_it_was_given() -> None:
    natives = NativeCalls(Judge((Tool(name="look"),)), taken={"c0"})
    (started,) = natives.handle(CallStarted(0, "c0", "look"))
    assert isinstance(started, CallStarted)
    assert started.id == "c0_2"
    (told,) = natives.handle(IssueReported(Issue(kind=IssueKind.MALFORMED, message="m", call_id="c0")))
    assert isinstance(told, IssueReported)
    assert told.issue.call_id == "c0_2"
