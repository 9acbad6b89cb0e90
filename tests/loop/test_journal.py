"""A run that survives its process: whatever is killed wherever, it goes on, and no effect happens twice."""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.client import AsyncClient, Client
from dragoman.codecs.shared.spec import WireFields
from dragoman.effects import Effect, NewId, Now, drive
from dragoman.errors import ErrorCode, JournalError
from dragoman.events import CallDelta, ReasoningDelta, TextDelta, assemble, replay
from dragoman.io.cancel import Cancel
from dragoman.loop import (
    Allowed,
    Answered,
    ApprovalRequest,
    Bound,
    Denied,
    Edited,
    Interrupted,
    Limit,
    Policy,
    Run,
    ToolStarted,
)
from dragoman.loop.journal import JournalStore, RunRecorder, decode, encode
from dragoman.loop.journal.recorder import joined
from dragoman.sim.scripted import ScriptedPeer
from dragoman.tools import Context, tool
from dragoman.types import (
    Edit,
    Issue,
    IssueKind,
    Media,
    Message,
    Opaque,
    Reasoning,
    Report,
    Response,
    Sampling,
    Stop,
    Text,
    ToolCall,
    ToolChoice,
    ToolResult,
    Usage,
)
from tests.support.both_clients import NOW, Face, both
from tests.support.journalled import KEY, PAYMENTS
from tests.support.places import ROOT
from tests.support.upstreams import ScriptedReply, model, refusal, text_reply

API = "openai_chat"
DONE = text_reply("All is paid.")

# ── values ───────────────────────────────────────────────────────────────────

RESPONSE = Response(
    message=Message(
        "assistant",
        [
            Reasoning("hm", metadata=WireFields("anthropic_messages", {"signature": "x"})),
            Text("Hello\ud800 ✓"),
            ToolCall(
                id="c",
                name="n",
                arguments={"!": [1, {"!": None}], "a": 1.5},
                raw="{",
                report=Report(edits=(Edit("k"),)),
            ),
            Media(mime="image/png", data="AA=="),
            Opaque(api="gemini", block={"x": [True]}),
        ],
    ),
    stop=Stop.TOOL_CALLS,
    usage=Usage(input=1),
    issues=(Issue(kind=IssueKind.WIRE_FAULT, message="m", span=(1, 2)),),
    extra=WireFields("openai_chat", {"seed": 2**70}),
)
VALUES: list[Any] = [
    RESPONSE,
    list(replay(RESPONSE)),
    ToolResult(call_id="c", name="n", content=[Text("t")], is_error=True, error_code="ENOENT"),
    Message("user", "Hi.", cache=True, metadata={"a": 1}),
    (Allowed(), Denied("no"), Edited({"a": [1]}), None, True),
    Sampling(stop=("a",)),
    ToolChoice("named", "x"),
]
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("!"), inner) | st.tuples(inner, inner),
)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_record_is_read_as_it_was_written(value: Any) -> None:
    again = decode(encode(value))
    assert again == value
    assert repr(again) == repr(value)


@given(plain)
def test_anything_that_is_json_is_read_as_it_was_written(value: Any) -> None:
    assert repr(decode(encode(value))) == repr(value)


@pytest.mark.parametrize("value", [object(), {1: 2}, b"x", print, {1, 2}, RuntimeError()])
def test_what_a_journal_cannot_hold_is_told(value: Any) -> None:
    with pytest.raises(TypeError, match="a journal cannot hold"):
        encode(value)


@pytest.mark.parametrize(
    "written", ["{", '{"!": "os.system", "is": "x"}', '{"!": "Text"}', '{"!": 3}', '{"!": "tuple"}']
)
def test_what_nobody_wrote_is_told_and_never_run(written: str) -> None:
    with pytest.raises(ValueError):
        decode(written)


def test_pieces_are_joined_and_fold_to_the_same() -> None:
    events = [*replay(RESPONSE)]
    split: list[Any] = []
    for event in events:
        match event:
            case TextDelta(text) | ReasoningDelta(text):
                split += [type(event)(character) for character in text]
            case CallDelta(index, piece):
                split += [CallDelta(index, character) for character in piece]
            case _:
                split.append(event)
    assert joined(split) == events
    assert assemble(joined(split)) == RESPONSE


# ── the file ─────────────────────────────────────────────────────────────────


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "run.journal")


def begun(path: str) -> JournalStore:
    store = JournalStore(path, new=True)
    store.write_about("about")
    return store


def test_a_reopened_file_holds_what_was_written(path: str) -> None:
    store = begun(path)
    store.put("turn", "0", "said", 1.0)
    store.put("tool", "k", None, 2.0)
    store.put("tool", "k", "done", 3.0)
    store.close()
    again = JournalStore(path, new=False)
    assert again.read_about() == "about"
    assert [again.get("turn", "0"), again.get("tool", "k"), again.get("tool", "x")] == [
        type(again.get("turn", "0"))("said", 1.0),  # type: ignore[misc]
        type(again.get("turn", "0"))("done", 3.0),  # type: ignore[misc]
        None,
    ]
    again.close()


def test_only_the_owner_may_read_a_journal(path: str) -> None:
    store = begun(path)
    store.put("turn", "0", "said", 1.0)
    for file in Path(path).parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    store.close()


def test_every_write_is_on_the_disk_before_it_counts(path: str) -> None:
    store = begun(path)
    settings = [store._database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    assert settings == ["wal", 2]
    store.close()


def foreign(path: str) -> None:
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE theirs (x)")
    database.commit()
    database.close()


def garbage(path: str) -> None:
    Path(path).write_bytes(b"These are not the bytes you are looking for. " * 100)


def damaged(path: str) -> None:
    store = begun(path)
    for at in range(50):
        store.put("turn", str(at), "x" * 1000, 1.0)
    store.close()
    data = bytearray(Path(path).read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    Path(path).write_bytes(data)


def cut(path: str) -> None:
    damaged(path)
    Path(path).write_bytes(Path(path).read_bytes()[:5000])


def newer(path: str) -> None:
    begun(path).close()
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version=99")
    database.close()


def folder(path: str) -> None:
    Path(path).mkdir()


UNSOUND: list[tuple[Callable[[str], Any], str]] = [
    (lambda path: None, "there is no journal"),
    (lambda path: Path(path).touch(), "holds no run"),
    (foreign, "another program's database"),
    (garbage, "file is not a database"),
    (damaged, "is damaged"),
    (cut, "is damaged"),
    (newer, "a newer dragoman"),
    (folder, "not a file"),
    (lambda path: begun(path).close(), "does not say what it is a run of"),
]


@pytest.mark.parametrize(("make", "why"), UNSOUND, ids=[row[1] for row in UNSOUND])
@both
def test_a_file_that_cannot_be_continued_is_left_alone(
    face: Face, make: Callable[[str], Any], why: str, path: str
) -> None:
    make(path)
    held = Path(path).read_bytes() if Path(path).is_file() else b""
    with pytest.raises(JournalError, match=why) as caught:
        face.do(ScriptedPeer([]), "resume", path)
    assert path in str(caught.value)
    assert (Path(path).read_bytes() if Path(path).is_file() else b"") == held


def test_a_run_is_never_written_over(path: str) -> None:
    begun(path).close()
    with pytest.raises(JournalError, match="already holds a run; continue it with resume"):
        NOW.run(ScriptedPeer([]), "Hi.", journal=path)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="give a path that can be written"):
        NOW.run(ScriptedPeer([]), "Hi.", journal=tmp_path / "nowhere" / "x")


def test_an_open_journal_is_locked_for_everybody_else(path: str) -> None:
    store = begun(path)
    code = f"from dragoman.loop.journal import JournalStore; JournalStore({path!r}, new=False)"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "is in use by another run or process" in other.stderr
    with pytest.raises(JournalError, match="in use"):
        JournalStore(path, new=False)
    store.close()
    JournalStore(path, new=False).close()


@pytest.mark.slow
def test_a_full_disk_stops_a_run_before_its_effects(path: str) -> None:
    office = Office()

    def fill(step: Any) -> None:
        if type(step).__name__ == "TurnEnded":
            [store] = [each for each in gc.get_objects() if isinstance(each, JournalStore) and each.path == path]
            store._database.execute("PRAGMA max_page_count=1")

    wide = ScriptedReply(("x" * 20_000,), (("pay1", "pay", {"n": 1}), ("send1", "send", {"n": 1})))
    with pytest.raises(JournalError, match="make room, or see to the disk, then resume the run"):
        NOW.run(model(API, both_tools(1), wide, DONE), "Pay.", tools=office.tools, journal=path, on_event=fill)
    done = list(office.done)
    run = NOW.do(in_order(), "resume", path, tools=office.tools)
    assert run.end == Answered()
    assert office.done[: len(done)] == done
    assert Counter(office.done)["paid 1"] == Counter(office.done)["paid 2"] == 1


@pytest.mark.skipif(sys.platform == "win32", reason="limits are those of POSIX")
@pytest.mark.slow
def test_wherever_the_room_runs_out_nothing_happens_twice(tmp_path: Path) -> None:
    """The system's own refusal to write (RLIMIT_FSIZE), from the first byte to the last."""
    sizes = [1, *range(4096, 350_000, 16_000)]
    command = [sys.executable, "-m", "tests.support.full_disk", str(tmp_path), *map(str, sizes)]
    told = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    runs = [json.loads(line) for line in told.splitlines()]
    assert [run["room"] for run in runs] == sizes
    for run in runs:
        assert run["ends"][-1] == "Answered"
        assert run["done"] == [f"{what} {n}" for n in range(4) for what in ("paid", "sent")]
        first, *between = run["ends"][:-1] or [""]
        assert not first or ("cannot be written" in first and "make room" in first)
        assert all(end == "Answered" or ("JournalError: " in end and ";" in end) for end in between)
    assert {len(run["first"]) for run in runs} >= {0, 2, 4, 8}  # it ran out before, between and never


# ── runs ─────────────────────────────────────────────────────────────────────


class Office:
    """Tools with effects: what happened, in order."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.keys: list[str] = []

    @property
    def tools(self) -> list[Any]:
        """One that may be repeated with its key, one that may not."""

        @tool(idempotent=True)
        def pay(n: int, context: Context) -> str:
            """Pay, once for each key."""
            if context.key not in self.keys:
                self.keys.append(context.key)
                self.done.append(f"paid {n}")
            return f"paid {n}"

        @tool
        async def send(n: int) -> str:
            """Send; each call sends."""
            await asyncio.sleep(0)
            self.done.append(f"sent {n}")
            return f"sent {n}"

        return [pay, send]


def both_tools(n: int) -> ScriptedReply:
    return ScriptedReply(("Next.",), ((f"pay{n}", "pay", {"n": n}), (f"send{n}", "send", {"n": n})))


def script() -> ScriptedPeer:
    return model(API, both_tools(1), both_tools(2), DONE)


def results(run: Run) -> list[ToolResult]:
    return [result for message in run.messages for result in message.results]


def kinds_of(steps: list[Any]) -> list[str]:
    """The kinds of the steps, neighbours of one kind as one: a record tells in larger pieces."""
    return [kind for kind, _ in itertools.groupby(type(step).__name__ for step in steps)]


@both
def test_a_finished_run_is_replayed_without_effects(face: Face, path: str) -> None:
    office, first_steps, again = Office(), list[Any](), list[Any]()
    run = face.run(script(), "Pay.", tools=office.tools, journal=path, on_event=first_steps.append)
    assert run.end == Answered()
    silent = ScriptedPeer([])
    replayed = face.do(silent, "resume", path, tools=office.tools, on_event=again.append)
    assert replayed == run
    assert silent.sent == []
    assert office.done == ["paid 1", "sent 1", "paid 2", "sent 2"]
    assert kinds_of(again) == [kind for kind in kinds_of(first_steps) if kind != "RouteAsked"]


def test_a_journal_is_the_same_for_both_clients(path: str) -> None:
    office = Office()
    run = NOW.run(script(), "Pay.", tools=office.tools, journal=path)

    async def go() -> Run:
        async with AsyncClient("m", base_url="http://model.test", performer=ScriptedPeer([]).performer) as client:
            return await client.resume(path, tools=office.tools)

    assert asyncio.run(go()) == run


@both
def test_a_run_that_failed_without_an_answer_resumes_there(face: Face, path: str) -> None:
    office = Office()
    broken = model(API, both_tools(1), refusal(401, {"error": "no"}))
    first = face.run(broken, "Pay.", tools=office.tools, journal=path)
    assert not first.done
    memory = model(API, both_tools(2), DONE)
    run = face.do(memory, "resume", path, tools=office.tools)
    assert run.end == Answered()
    assert len(memory.sent) == 2
    assert office.done == ["paid 1", "sent 1", "paid 2", "sent 2"]


class Killed(BaseException):
    """What stops a machine as a dying process does: nothing after it is performed or heard."""


class Mortal:
    """A world that dies at its n-th effect, before or after performing it."""

    def __init__(self, memory: ScriptedPeer, at: int, *, after: bool) -> None:
        self.memory, self.at, self.after, self.count = memory, at, after, 0

    def performer(self, *given: Any) -> Callable[[Effect], Any]:
        perform = self.memory.sync_performer(*given)

        def mortal(effect: Effect) -> Any:
            self.count += 1
            if self.count == self.at and not self.after:
                raise Killed
            reply = perform(effect)
            if self.count == self.at:
                raise Killed
            return reply

        return mortal


def in_order() -> ScriptedPeer:
    """A model without a memory of its own: what it says follows from what it is asked."""
    answers = [both_tools(1), both_tools(2), DONE]

    def answer(sent: Any) -> Any:
        body = json.loads(sent.body)
        done = sum(message["role"] == "tool" for message in body["messages"]) // 2
        return model(API, answers[done])._answer(sent)

    return ScriptedPeer(answer)


def effects_of_a_run(tmp_path: Path) -> int:
    mortal = Mortal(in_order(), 0, after=False)
    with Client("m", base_url="http://model.test", performer=mortal.performer) as client:
        client.run("Pay.", tools=Office().tools, journal=tmp_path / "whole")
    return mortal.count


@pytest.mark.parametrize("stride", [5, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "every"])
@pytest.mark.parametrize("after", [False, True], ids=["before it", "after it"])
def test_a_run_stopped_at_any_effect_resumes_and_pays_once(tmp_path: Path, *, after: bool, stride: int) -> None:
    total = effects_of_a_run(tmp_path)
    assert total > 20
    for at in range(1 + 2 * after, total, stride):
        office, path = Office(), tmp_path / f"{after}-{at}"
        mortal = Mortal(in_order(), at, after=after)
        settings: dict[str, Any] = {"model": "m", "base_url": "http://model.test"}
        with Client(**settings, performer=mortal.performer) as client, pytest.raises(Killed):
            client.run("Pay.", tools=office.tools, journal=path)
        with Client(**settings, performer=in_order().sync_performer) as client:
            try:
                run = client.resume(path, tools=office.tools)
            except JournalError:
                assert at == 1
                continue
        assert run.end == Answered()
        counted = Counter(office.done)
        assert (counted["paid 1"], counted["paid 2"]) == (1, 1)
        for n in (1, 2):
            [sent] = [result for result in results(run) if result.call_id == f"send{n}"]
            assert counted[f"sent {n}"] == 1 if not sent.is_error else counted[f"sent {n}"] <= 1
            assert sent.error_code in (None, ErrorCode.MISSING_RESULT)


def started_but_not_ended(path: str, name: str) -> None:
    """Make the record say that the tool's call was begun and never ended."""
    database = sqlite3.connect(path)
    database.execute("UPDATE entry SET value = NULL WHERE kind = 'tool' AND value LIKE ?", (f'%"name":"{name}"%',))
    database.execute("DELETE FROM entry WHERE kind = 'turn' AND key <> '0'")
    database.commit()
    database.close()


@both
def test_an_interrupted_tool_that_may_not_repeat_is_reported(face: Face, path: str) -> None:
    office = Office()
    face.run(model(API, both_tools(1), DONE), "Pay.", tools=office.tools, journal=path)
    started_but_not_ended(path, "send")
    run = face.do(model(API, DONE), "resume", path, tools=office.tools)
    assert run.end == Answered()
    assert office.done == ["paid 1", "sent 1"]
    [_, sent] = results(run)
    assert (sent.is_error, sent.error_code) == (True, ErrorCode.MISSING_RESULT)
    assert "whether it took effect is not known" in sent.text
    assert results(face.do(ScriptedPeer([]), "resume", path, tools=office.tools)) == results(run)


@both
def test_an_interrupted_idempotent_tool_runs_again_with_its_key(face: Face, path: str) -> None:
    office = Office()
    face.run(model(API, both_tools(1), DONE), "Pay.", tools=office.tools, journal=path)
    started_but_not_ended(path, "pay")
    again = Office()
    run = face.do(model(API, DONE), "resume", path, tools=again.tools)
    assert [result.is_error for result in results(run)] == [False, False]
    assert (again.keys, again.done) == (office.keys, ["paid 1"])


def test_a_hook_that_answered_is_not_asked_again(path: str) -> None:
    requests: list[str] = []

    async def approve(asking: ApprovalRequest) -> Any:
        requests.append(asking.call.name)
        return Edited({"n": 7}) if asking.call.name == "pay" else Denied("no letters")

    office, policy = Office(), Policy(approve=approve)
    run = NOW.run(model(API, both_tools(1), DONE), "Pay.", tools=office.tools, journal=path, policy=policy)
    assert NOW.do(ScriptedPeer([]), "resume", path, tools=office.tools, policy=policy) == run
    assert requests == ["pay", "send"]
    assert office.done == ["paid 7"]


@both
def test_a_result_is_recorded_without_its_odd_metadata(face: Face, path: str) -> None:
    @tool
    def pay(n: int) -> ToolResult:
        """Pay."""
        return ToolResult(call_id="", content=[Text("paid", metadata={"a": object()})], metadata={"b": object()})

    script = model(API, ScriptedReply((), (("a", "pay", {"n": 1}),)), DONE)
    run = face.run(script, "Pay.", tools=[pay], journal=path)
    replayed = face.do(ScriptedPeer([]), "resume", path, tools=[pay])
    assert replayed.end == run.end == Answered()
    assert [result.text for result in results(replayed)] == ["paid"]


def test_a_conversation_that_cannot_be_recorded_is_refused(path: str) -> None:
    with pytest.raises(JournalError, match="cannot hold a object; leave that out"):
        NOW.run(ScriptedPeer([]), Message("user", "Hi.", metadata={"x": object()}), journal=path)


def test_a_cancelled_run_can_be_gone_on_with(path: str) -> None:
    office, cancel = Office(), Cancel()

    def listen(step: Any) -> None:
        if type(step).__name__ == "TurnEnded":
            cancel.cancel()

    first = NOW.run(script(), "Pay.", tools=office.tools, journal=path, cancel=cancel, on_event=listen)
    assert first.end == Interrupted()
    run = NOW.do(in_order(), "resume", path, tools=office.tools)
    assert run.end == Answered()
    assert len([n for n in office.done if n == "paid 2"]) == 1


def test_a_cancelled_run_frees_its_journal_and_resumes(path: str) -> None:
    office, cancelled = Office(), threading.Event()

    @tool
    async def send(n: int) -> str:
        """Send, and never come back."""
        office.done.append(f"sent {n}")
        try:
            await asyncio.sleep(1000)
        finally:
            cancelled.set()
        return ""

    async def go() -> None:
        async with AsyncClient("m", base_url="http://model.test", performer=script().performer) as client:
            steps = client.stream("Pay.", tools=[office.tools[0], send], journal=path)
            async for step in steps:
                if isinstance(step, ToolStarted) and step.call.name == "send":
                    break
            waiting = asyncio.ensure_future(anext(steps))
            while "sent 1" not in office.done:
                await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

    asyncio.run(go())
    assert cancelled.is_set()
    run = NOW.do(in_order(), "resume", path, tools=office.tools)
    assert run.end == Answered()
    assert [result.error_code for result in results(run)] == [None, ErrorCode.MISSING_RESULT, None, None]
    assert office.done == ["paid 1", "sent 1", "paid 2", "sent 2"]


def test_a_run_interrupted_by_ctrl_c_resumes(path: str) -> None:
    office = Office()

    def listen(step: Any) -> None:
        if type(step).__name__ == "ToolEnded":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        NOW.run(in_order(), "Pay.", tools=office.tools, journal=path, on_event=listen)
    assert NOW.do(in_order(), "resume", path, tools=office.tools).end == Answered()
    assert office.done == ["paid 1", "sent 1", "paid 2", "sent 2"]


def test_a_limit_that_is_raised_lets_a_run_go_on(path: str) -> None:
    office = Office()
    first = NOW.run(script(), "Pay.", tools=office.tools, journal=path, policy=Policy(max_turns=1))
    assert first.end == Limit(Bound.TURNS, 1)
    run = NOW.do(model(API, both_tools(2), DONE), "resume", path, tools=office.tools, policy=Policy(max_turns=9))
    assert run.end == Answered()
    assert office.done == ["paid 1", "sent 1", "paid 2", "sent 2"]


@both
def test_a_journal_of_another_run_is_refused(face: Face, path: str) -> None:
    office = Office()
    face.run(script(), "Pay.", tools=office.tools, journal=path)
    with pytest.raises(JournalError, match="resume it with the tools and the policy it began with"):
        face.do(ScriptedPeer([]), "resume", path, tools=office.tools[:1])


def test_system_prompt_sampling_and_form_of_the_answer_are_kept(path: str) -> None:
    wanted = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    broken = model(API, refusal(401, {"error": "no"}))
    NOW.run(broken, "How many?", system="Brief.", sampling=Sampling(top_p=0.5), output=wanted, journal=path)
    memory = model(API, ScriptedReply((), (("v", "final_answer", {"n": 3}),)))
    run = NOW.do(memory, "resume", path)
    body = json.loads(memory.sent[0].body)
    assert run.value == {"n": 3}
    assert (body["messages"][0]["content"], body["top_p"]) == ("Brief.", 0.5)


def test_no_key_is_in_a_journal(path: str) -> None:
    office = Office()
    with Client("openai/m", api_key=KEY, base_url="http://model.test", performer=script().sync_performer) as client:
        steps = client.stream("Pay.", tools=office.tools, journal=path)
        while True:
            step = next(steps)
            if type(step).__name__ == "ToolEnded":
                break
        files = [file.read_bytes() for file in Path(path).parent.iterdir()]
        steps.close()
    assert any(b"paid 1" in data for data in files)
    assert not any(KEY.encode() in data for data in files)


def test_the_clock_of_a_run_stands_between_processes(path: str) -> None:
    def asks() -> Any:
        first = yield Now()
        second = yield Now()
        return second - first

    def perform_at(times: list[float]) -> Callable[[Effect], Any]:
        return lambda effect: times.pop(0) if isinstance(effect, Now) else None

    store = begun(path)
    store.put("turn", "0", "x", 105.0)
    recorder = RunRecorder(store, "run", 100.0)
    recorder._recall("turn", "0")
    machine = recorder.machine(recorder._live(recorder._tick()))
    list(drive(machine, perform_at([9000.0])))
    with pytest.raises(StopIteration) as ended:
        next(drive(recorder.machine(asks()), perform_at([9001.0, 9003.0])))
    store.close()
    assert ended.value.value == 2.0
    assert recorder._time == 108.0


def test_ids_repeat_within_a_run_and_differ_between_runs(path: str) -> None:
    def mints() -> Any:
        return [(yield NewId("a_")), (yield NewId("a_"))]

    store = begun(path)
    made = []
    for run_id in ("one", "one", "two"):
        with pytest.raises(StopIteration) as ended:
            next(drive(RunRecorder(store, run_id, 0.0).machine(mints()), lambda _: None))
        made.append(ended.value.value)
    store.close()
    assert made[0] == made[1]
    assert len({*made[0], *made[2]}) == 4


# ── kill -9 ──────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def runs() -> Iterator[subprocess.Popen[str]]:
    """What forks the processes of runs: starting Python anew for each takes longer than they do."""
    command, pipe = [sys.executable, "-m", "tests.support.journalled"], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def child(runs: subprocess.Popen[str], folder: Path, kill_at: int) -> dict[str, Any] | None:
    """What the run came to in a process of its own; None where it was killed."""
    assert runs.stdin is not None
    assert runs.stdout is not None
    print(folder / "journal", folder / "effects", kill_at, sep="\t", file=runs.stdin, flush=True)
    code, printed = json.loads(runs.stdout.readline())
    if code == -signal.SIGKILL:
        return None
    assert code == 0
    result: dict[str, Any] = json.loads(printed)
    return result


def killed_and_resumed(runs: subprocess.Popen[str], folder: Path, kills: list[int]) -> None:
    """A run that is killed at each of these ticks, then left to end; every payment once, every letter at most once."""
    (folder / "effects").mkdir(parents=True)
    result = None
    for kill_at in [*kills, 0]:
        result = result or child(runs, folder, kill_at)
    assert result is not None
    assert (result["end"], result["text"]) == ("Answered", "All is paid.")
    happened = Counter(name.name.rpartition("-")[0] for name in (folder / "effects").iterdir())
    codes = {f"{name}-{at // 3}": code for at, (name, code, _) in enumerate(result["results"])}
    assert len(result["results"]) == 3 * PAYMENTS
    for n in range(PAYMENTS):
        assert happened[f"paid-{n}"] == 1
        assert codes[f"pay-{n}"] is None
        if codes[f"send-{n}"] is None:
            assert happened[f"sent-{n}"] == 1
        else:
            assert codes[f"send-{n}"] == ErrorCode.MISSING_RESULT
            assert happened[f"sent-{n}"] <= 1


TICKS = 420
"""About as many as a whole run has."""


@pytest.mark.parametrize("kills", [[97, 180], [260]], ids=str)
@pytest.mark.costly
def test_a_killed_run_goes_on_and_each_effect_happens_once(
    runs: subprocess.Popen[str], tmp_path: Path, kills: list[int]
) -> None:
    killed_and_resumed(runs, tmp_path, kills)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_a_run_killed_at_random_points_repeats_no_effect(
    runs: subprocess.Popen[str], tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    killed_and_resumed(runs, tmp_path, [chance.randrange(1, TICKS) for _ in range(chance.randrange(1, 4))])
