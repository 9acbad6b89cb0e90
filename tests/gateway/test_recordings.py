"""Recordings that survive: both stores by one table of behaviours, the queue before them, and what is written."""

from __future__ import annotations

import json
import os
import resource
import signal
import stat
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.counts import counting
from dragoman.errors import UsageError
from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.config.load import read
from dragoman.gateway.inspector.recorded_rows import chat_row, recorded_rows
from dragoman.gateway.inspector.storing import StoringRecorder
from dragoman.gateway.observers import watching
from dragoman.gateway.recordings.store import Rejected, Unavailable, open_store
from dragoman.gateway.recordings.table import Query, StoredRow
from dragoman.gateway.recordings.writer import Made, Writer
from dragoman.gateway.telemetry.metrics import Metrics
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.providers.spec import Tools
from dragoman.sim.scripted import ScriptedPeer
from tests.support import postgres
from tests.support.asgi import call
from tests.support.clocks import LONG
from tests.support.gateways import DOWN, FENCE, KEY, PATHS, ask, asking, bearer, every_front, row
from tests.support.inspecting import SECRET, look, see, tell
from tests.support.postgres import Cluster
from tests.support.processes import CHAT as CHAT_BODY
from tests.support.processes import post, serving_process
from tests.support.recorded import TODAY, gateway, plain_row, reading, settled, storing
from tests.support.upstreams import ScriptedReply, model, refusal, text_reply

SLANTED = FENCE.replace('"sky"}}', '"sky",}}')
CHAT = PATHS["openai_chat"]
OTHER = "sk-a-key-of-bob"


# ── the stores ───────────────────────────────────────────────────────────────


def test_rows_come_back_as_they_were_written_newest_first_and_by_pages(where: str) -> None:
    rows = [plain_row(model=f"m{n}", document=json.dumps({"n": n, "text": 'Größe "\\u0000"'})) for n in range(25)]
    with reading(where) as store:
        assert store.lines(Query()) == []
        store.maintain(TODAY, 0)
        store.write(rows[:20], [])
        store.write(rows[20:], [])
        found, before = list[StoredRow](), 0
        while page := store.rows(Query(limit=10, before=before)):
            assert len(page) <= 10
            found, before = found + [each.row for each in page], page[-1].number
        assert found == rows[::-1]
        newest = store.lines(Query(limit=1))[0]
        one = store.get(newest.number)
        assert one is not None
        assert one.row == rows[-1]
        assert store.get(10**9) is None


FITS: list[tuple[dict[str, Any], list[str]]] = [
    ({"model": "small"}, ["a", "b"]),
    ({"route": "box/large"}, ["c"]),
    ({"session": "s1"}, ["a", "c"]),
    ({"marks": ("mended",)}, ["a", "b"]),
    ({"marks": ("mended", "refused")}, ["b"]),
    ({"owner": "bob", "namespace": "east"}, ["b"]),
    ({"owner": "bob", "namespace": "west"}, []),
    ({"words": "NEEDLE in"}, ["b"]),
    ({"words": 'über "alles"'}, ["c"]),
    ({"words": "apart"}, ["a"]),
    ({"words": "100%"}, []),
    ({"words": "x' OR '1'='1"}, []),
    ({"content": True}, ["c"]),
    ({"since": 2000.0}, ["b", "c"]),
    ({"before": 0, "limit": 1}, ["c"]),
]


@pytest.fixture
def filled(where: str) -> Iterator[Any]:
    nested = json.dumps({"body": json.dumps({"text": 'Über "alles"'}, ensure_ascii=False)}, ensure_ascii=False)
    with reading(where) as store:
        common: dict[str, Any] = {"model": "small", "route": "box/small"}
        store.maintain(0, 0)
        store.write([StoredRow(day=0, began=1000.0, request_id="a", session="s1", marks="|mended|", bodies="beef", **common)],
                    [(0, "beef", "It stands Apart."), (0, "dead", "needle in no row")])  # fmt: skip
        store.write([StoredRow(day=0, began=2000.0, request_id="b", session="s2", owner="bob", namespace="east",
                               marks="|mended|refused|", line='{"prompt": "a needle in hay"}', **common)], [])  # fmt: skip
        store.write([StoredRow(day=0, began=3000.0, request_id="c", session="s1", model="large", route="box/large",
                               document=nested, content=1, input_tokens=5)], [])  # fmt: skip
        yield store


@pytest.mark.parametrize(("asked", "expected"), FITS, ids=[json.dumps(asked) for asked, _ in FITS])
def test_rows_are_sifted_by_the_store(filled: Any, asked: dict[str, Any], expected: list[str]) -> None:
    assert sorted(found.row.request_id for found in filled.rows(Query(**asked))) == expected


def test_sessions_are_grouped_with_their_counts(filled: Any) -> None:
    first, second = filled.sessions(Query())
    assert (first.session, first.exchanges, first.first, first.last, first.input_tokens) == ("s1", 2, 1000.0, 3000.0, 5)
    assert (second.session, second.exchanges) == ("s2", 1)
    assert "mended" in first.marks
    assert [each.session for each in filled.sessions(Query(before=first.newest))] == ["s2"]


def test_a_body_that_is_sent_again_is_stored_once_a_day(where: str) -> None:
    with reading(where) as store:
        store.maintain(TODAY, 0)
        for _ in range(3):
            store.write([plain_row(bodies="abc")], [(TODAY, "abc", "long")])
        assert [found.apart for found in store.rows(Query())] == [{"abc": "long"}] * 3


def test_what_is_too_old_is_let_go_of_by_whole_days(where: str) -> None:
    with reading(where) as store:
        store.maintain(TODAY - 5, 0)
        for ago in (5, 3, 1, 0):
            store.write([plain_row(day=TODAY - ago, request_id=str(ago), bodies="h")], [(TODAY - ago, "h", "text")])
        store.maintain(TODAY, 3)
        assert [found.row.request_id for found in store.rows(Query())] == ["0", "1", "3"]
        store.maintain(TODAY + 30, 3)
        assert store.rows(Query()) == []


@postgres.skip_without
def test_partitions_are_made_ahead_and_dropped_whole_and_nothing_is_deleted(cluster: Cluster) -> None:
    address = cluster.database("partitions")
    with reading(address) as store:
        store.maintain(TODAY - 4, 0)
        store.write([plain_row(day=TODAY - 4)], [])
        store.maintain(TODAY, 2)
    made = cluster.ask(address, "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r' ORDER BY 1")
    days = {name.rpartition("_")[2] for [name] in made}
    assert len(days) == 4  # of four days ago two days ahead, of which the last is young enough; today, and two ahead
    assert {name.rpartition("_")[0] for [name] in made} == {"dragoman_recordings", "dragoman_bodies"}
    cluster.ask(address, "SELECT pg_stat_force_next_flush()")
    [[deleted]] = cluster.ask(address, "SELECT coalesce(sum(n_tup_del), 0) FROM pg_stat_user_tables")
    assert deleted == 0


def test_two_writers_that_begin_together_do_not_get_in_each_others_way(where: str) -> None:
    wrong: list[Exception] = []

    def write(name: str) -> None:
        try:
            with reading(where) as store:
                for _ in range(10):
                    store.maintain(TODAY, 3)
                    store.write([plain_row(request_id=name)], [])
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    with reading(where) as store:
        assert sorted(found.row.request_id for found in store.rows(Query(limit=100))) == sorted("abcd" * 10)


def test_a_file_of_recordings_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "r.sqlite"
    with reading(str(path)) as store:
        store.maintain(TODAY, 0)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_another_programs_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database" * 100)
    with reading(str(path)) as store, pytest.raises(Unavailable, match=r"notes\.txt"):
        store.write([plain_row()], [])
    assert path.read_text() == "not a database" * 100


def test_a_row_that_cannot_be_written_is_said_to_be_so(tmp_path: Path) -> None:
    with reading(str(tmp_path / "r")) as store, pytest.raises(Rejected):
        store.write([plain_row(size=2**70)], [])


@pytest.mark.parametrize("where", ["", "mysql://a/b", "sqlite://"])
def test_what_is_no_store_is_refused_with_what_to_give(where: str) -> None:
    with pytest.raises(UsageError, match="give postgresql://"):
        open_store(where)


@postgres.skip_without
def test_an_error_of_the_database_never_holds_its_password() -> None:
    with reading("postgresql://me:p4ssw0rd-of-mine@127.0.0.1:1/none") as store, pytest.raises(Unavailable) as caught:
        store.lines(Query())
    assert "p4ssw0rd" not in str(caught.value)
    assert "lets me in" in str(caught.value)


# ── the queue ────────────────────────────────────────────────────────────────


class Slow:
    """A store that is away until it is told otherwise."""

    def __init__(self) -> None:
        self.rows: list[StoredRow] = []
        self.away = True

    def write(self, rows: Any, apart: Any) -> None:
        if self.away:
            raise Unavailable("it is away; wait")
        if any(row.model == "bad" for row in rows):
            raise Rejected("it is not taken; report it")
        self.rows += rows

    def maintain(self, day: int, days: int) -> None:
        pass

    def close(self) -> None:
        pass


def test_what_there_is_no_room_for_is_dropped_and_counted_and_nobody_waits() -> None:
    store = Slow()
    writer = Writer(store, most=5, linger=0.0)  # type: ignore[arg-type]
    writer.start()
    for n in range(12):
        writer.offer(lambda n=n: Made(plain_row(request_id=str(n))), 10)  # type: ignore[misc]
    assert writer.dropped == {"queue_full": 7}
    store.away = False
    settled(writer, 12)
    writer.close()
    assert [row.request_id for row in store.rows] == list("01234")
    assert writer.written == 5


def test_bytes_that_wait_are_bounded_too() -> None:
    writer = Writer(Slow(), most_bytes=100)  # type: ignore[arg-type]
    for size in (500, 60, 60, 20):  # the first is let in however large it is
        writer.offer(lambda: Made(plain_row()), size)
    assert writer.dropped == {"queue_full": 3}


def test_one_row_that_is_not_taken_costs_no_other() -> None:
    store = Slow()
    store.away = False
    writer = Writer(store, linger=0.05)  # type: ignore[arg-type]
    for name in ("good", "bad", "fine"):
        writer.offer(lambda name=name: Made(plain_row(model=name)), 10)  # type: ignore[misc]
    writer.offer(lambda: 1 / 0, 10)  # type: ignore[arg-type, return-value]
    writer.start()
    settled(writer, 4)
    writer.close()
    assert [row.model for row in store.rows] == ["good", "fine"]
    assert writer.dropped == {"rejected": 1, "failed": 1}


def test_what_still_waits_when_the_process_ends_is_counted() -> None:
    writer = Writer(Slow(), linger=0.0)  # type: ignore[arg-type]
    writer.offer(lambda: Made(plain_row()), 10)
    writer.start()
    writer.close()
    assert writer.dropped == {"ended": 1}


# ── what is recorded ─────────────────────────────────────────────────────────


@every_front
def test_an_exchange_is_shown_again_as_it_was(where: str, front: str) -> None:
    memory = model("openai_chat", text_reply(SLANTED))
    with storing(where) as recorder:
        app = gateway(memory, recorder, tools=Tools.TEXT)
        reply = ask(app, front, stream=True)
        settled(recorder.writer, 1)
        [line] = see(app, "exchanges")["rows"]
        assert (line["marks"], line["calls"], line["front"]) == (["calls", "mended"], ["look"], front)
        shown = see(app, f"exchanges/{line['number']}")
        assert shown["steps"][0]["wrote"]["text"] == SLANTED
        assert [each["kind"] for each in shown["answer"]["events"]].count("CallStarted") == 1
        assert shown["answer"]["response"]["calls"][0]["report"]["verdict"] == "mended"
        assert see(app, f"exchanges/{line['number']}/wire/response")["text"].encode() == reply.body
        assert see(app, f"exchanges/{line['number']}/wire/sent-0")["text"].encode() == memory.sent[0].body
        judged = tell(app, f"exchanges/{line['number']}/judge", {"dialect": "hermes"})
        assert (judged.status, judged.json["result"]["calls"]) == (200, [])
        assert see(app, f"exchanges/{line['number']}/export/dialect")["file"].endswith("tool_call_fence.jsonl")


WORDS = ("weather-of-oslo", "a-secret-plan", "invented_tool", "look-at-the-sky")


@pytest.mark.parametrize("content", [False, True])
def test_content_is_recorded_only_where_it_is_asked_for(where: str, content: bool) -> None:
    text = f"a-secret-plan\n{FENCE.replace('sky', 'look-at-the-sky')}\n{FENCE.replace('look', 'invented_tool', 1)}"
    with storing(where, content=content) as recorder:
        app = gateway(model("openai_chat", *[text_reply(text)] * 4), recorder, tools=Tools.TEXT)
        call(app, CHAT, {**asking("openai_chat", stream=False)[1], "messages": [{"role": "user", "content": "weather-of-oslo"}]})
        settled(recorder.writer, 1)
        [found] = recorder.store.rows(Query())
        written = json.dumps([found.row.line, found.row.document, *found.apart.values()])
        assert [word in written for word in WORDS] == [content] * len(WORDS)
        [line] = see(app, "exchanges")["rows"]
        assert "refused" in line["marks"]
        assert line["content"] is content
        shown = see(app, f"exchanges/{line['number']}")
        assert "look" in json.dumps(shown["steps"])
        assert {"strong", "mark", "place"} <= set(found_evidence(shown))


def found_evidence(shown: Any) -> list[str]:
    calls = [each for step in shown["steps"] for each in (step.get("answered") or {}).get("calls", [])]
    calls += (shown["answer"]["response"] or {}).get("calls", [])
    findings = [each for step in shown["steps"] for each in (step.get("wrote") or {}).get("findings", [])]
    return [name for each in calls if each["report"] for name in each["report"]["evidence"]] + [
        name for each in findings for name in each["evidence"]
    ]


PLANTED = ("the-clients-very-own-key", "a-key-in-the-address", SECRET, "a-cookie-of-theirs-123")


@pytest.mark.parametrize("content", [False, True])
@pytest.mark.costly
def test_planted_secrets_are_nowhere_in_the_store(where: str, content: bool, tmp_path: Path, server_or_none: Cluster | None) -> None:
    client, address, provider, cookie = PLANTED
    said = f"I know {client} and {address} and {provider}.\n" + FENCE.replace("sky", provider)
    spelt = "".join(f"\\u{ord(c):04x}" for c in client)
    body = {**asking("openai_chat", stream=True)[1], "messages": [{"role": "user", "content": f"{client} {address} {cookie} {provider}"}], "model": f"m-{client}", "user": spelt}
    headers = {"authorization": f"Bearer {client}", "cookie": f"id={cookie}", "x-request-id": f"req-{client}", "x-session-id": f"session {client}"}
    replies = (text_reply(said), refusal(500, {"error": {"message": f"your key {provider} is wrong, {client}"}}), ScriptedReply(calls=(("c1", "look", {"at": client}),)))
    for reply in replies:
        with storing(where, content=content) as recorder:
            app = gateway(model("openai_chat", *[reply] * 6), recorder, tools=Tools.TEXT if reply is replies[0] else Tools.NATIVE)
            call(app, f"{CHAT}?key={address}", body, headers=headers)
            settled(recorder.writer, 1)
    with reading(where) as store:
        rows = store.rows(Query())
        assert len(rows) == 3
        everything = repr(rows)
    assert [secret for secret in PLANTED if secret in everything] == []
    if where.startswith("postgresql"):
        assert server_or_none is not None
        files = b"".join(path.read_bytes() for path in server_or_none.flushed().rglob("*") if path.is_file())
    else:
        files = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert [secret for secret in PLANTED if secret.encode() in files] == []


@pytest.fixture
def server_or_none(request: pytest.FixtureRequest, where: str) -> Cluster | None:
    return request.getfixturevalue("cluster") if where.startswith("postgresql") else None


def test_a_client_s_key_that_is_a_word_of_ours_leaves_the_recording_readable(where: str) -> None:
    with storing(where) as recorder:
        app = gateway(model("openai_chat", text_reply(FENCE)), recorder, tools=Tools.TEXT)
        ask(app, "openai_chat", stream=False, headers={"authorization": "Bearer compatible"})
        settled(recorder.writer, 1)
        assert see(app, "exchanges/1")["steps"][0]["wrote"]["text"] == FENCE


def test_a_big_body_stands_apart_and_comes_back(where: str) -> None:
    long = "An endless story. " * 20_000
    with storing(where) as recorder:
        app = gateway(model("openai_chat", text_reply("Yes.")), recorder, tools=Tools.TEXT)
        body = {**asking("openai_chat", stream=False)[1], "messages": [{"role": "user", "content": long}]}
        call(app, CHAT, body)
        settled(recorder.writer, 1)
        [found] = recorder.store.rows(Query())
        assert sorted(found.row.bodies.split()) == sorted(found.apart)
        assert json.loads(see(app, "exchanges/1/wire/request")["text"]) == body
        assert [line["number"] for line in see(app, "exchanges?q=AN+ENDLESS+story")["rows"]] == [1]


def test_failures_and_refusals_are_recorded_with_what_came_of_them(where: str) -> None:
    with storing(where) as recorder:
        app = gateway(ScriptedPeer([DOWN] * 9), recorder, config={"access": (row(),)})
        call(app, CHAT, asking("openai_chat", stream=False)[1], headers=bearer(KEY))
        call(app, CHAT, asking("openai_chat", stream=False)[1], headers=bearer("sk-nobody-knows"))
        call(app, CHAT, b"{not json", headers=bearer(KEY))
        settled(recorder.writer, 3)
        rows = [found.row for found in recorder.store.rows(Query())]
    assert {(each.status, each.outcome) for each in rows} >= {(401, "auth"), (400, "bad_request")}
    assert all("failed" in each.marks for each in rows)


def test_a_key_sees_what_was_asked_with_it_in_its_namespace(where: str) -> None:
    access = (row(), row(OTHER, "bob"), row("sk-a-key-of-the-boss", "boss", inspect=True))

    def asked(namespace: str, key: str, path: str) -> Any:
        with storing(where, namespace=namespace) as recorder:
            app = gateway(model("openai_chat", text_reply("Up.")), recorder, config={"access": access})
            if not path:
                call(app, CHAT, asking("openai_chat", stream=False)[1], headers=bearer(key))
                return None
            return look(app, path, **bearer(key))

    for namespace, key in (("east", KEY), ("east", OTHER), ("west", KEY)):
        asked(namespace, key, "")
    assert [line["number"] for line in asked("east", KEY, "exchanges").json["rows"]] == [1]
    assert [line["number"] for line in asked("west", KEY, "exchanges").json["rows"]] == [3]
    assert asked("east", KEY, "exchanges/3").status == 404
    assert asked("east", OTHER, "exchanges/1").status == 404
    assert [line["number"] for line in asked("east", "sk-a-key-of-the-boss", "exchanges").json["rows"]] == [3, 2, 1]
    assert asked("east", KEY, "exchanges?q=x%27+OR+1%3D1").json["rows"] == []
    assert asked("east", "sk-nobody", "exchanges").status == 401


def test_exchanges_of_one_conversation_are_one_session(where: str) -> None:
    with storing(where, content=False) as recorder:
        app = gateway(model("openai_chat", *[text_reply("Up.")] * 3), recorder)
        turns = [{"role": "user", "content": "What is up?"}]
        for more in ([], [{"role": "assistant", "content": "Up."}, {"role": "user", "content": "And now?"}]):
            call(app, CHAT, {"model": "m", "messages": [*turns, *more]})
        call(app, CHAT, {"model": "m", "messages": [{"role": "user", "content": "Another."}]})
        settled(recorder.writer, 3)
        sessions = see(app, "sessions")["sessions"]
        assert [each["count"] for each in sessions] == [1, 2]
        [first, second] = see(app, f"exchanges?session={sessions[1]['session']}")["rows"]
        assert (first["number"], second["number"]) == (2, 1)


def test_an_exchange_is_asked_again_by_whichever_process(where: str) -> None:
    with storing(where) as recorder:
        app = gateway(model("openai_chat", text_reply("Once.")), recorder)
        ask(app, "openai_chat", stream=False)
        settled(recorder.writer, 1)
    with storing(where) as recorder:
        app = gateway(model("openai_chat", text_reply("Twice.")), recorder)
        assert tell(app, "exchanges/1/again", {}).json == {"of": 1, "after": 1}
        settled(recorder.writer, 1)
        [again, first] = see(app, "exchanges")["rows"]
        assert (again["again"], again["answer"], first["answer"]) == (1, "Twice.", "Once.")


def test_recordings_are_not_cleared_by_the_page(where: str) -> None:
    with storing(where) as recorder:
        app = gateway(model("openai_chat", text_reply("Up.")), recorder)
        reply = call(app, "/inspect/api/exchanges", method="DELETE", headers={"host": "127.0.0.1:1"})
        assert (reply.status, "by their age" in reply.json["error"]["message"]) == (400, True)


def test_recorded_rows_are_canonical_and_export_as_chat(where: str) -> None:
    with storing(where) as recorder:
        app = gateway(model("openai_chat", text_reply(SLANTED), text_reply("No call.")), recorder, tools=Tools.TEXT)
        ask(app, "anthropic_messages", stream=True)
        ask(app, "openai_chat", stream=True)
        settled(recorder.writer, 2)
    with storing(where, content=False) as recorder:
        ask(gateway(model("openai_chat", text_reply("Unseen.")), recorder), "openai_chat", stream=False)
    with reading(where) as store:
        newest, oldest = recorded_rows(store)
    assert newest.answer.text == "No call."
    assert [(each.name, dict(each.arguments)) for each in oldest.answer.calls] == [("look", {"at": "sky"})]
    assert oldest.verdicts == ("mended",)
    assert [tool.name for tool in oldest.request.tools] == ["look"]
    line = chat_row(oldest)
    assert [each["role"] for each in line["messages"]] == ["user", "assistant"]
    assert line["messages"][1]["tool_calls"][0]["function"]["name"] == "look"
    assert line["metadata"]["verdicts"] == [{"verdict": "mended", "rule": "strong"}]


def test_what_runs_at_once_is_bounded_too_and_keeps_its_verdicts(tmp_path: Path) -> None:
    where = str(tmp_path / "r.sqlite")
    with storing(where, most_bytes_running=4000) as recorder:
        app = gateway(model("openai_chat", text_reply(SLANTED), text_reply(SLANTED)), recorder, tools=Tools.TEXT)
        body = asking("openai_chat", stream=False)[1]
        for words in ("a-long-story " * 500, "short"):
            call(app, CHAT, {**body, "messages": [{"role": "user", "content": words}]})
        settled(recorder.writer, 3)
        short, long = (found.row for found in recorder.store.rows(Query()))
    assert (long.content, "mended" in long.marks, "a-long-story" in long.document) == (0, True, False)
    assert (short.content, recorder.size) == (1, 0)
    assert recorder.writer.dropped == {"content": 1}


def test_recordings_of_the_form_before_are_shown_as_they_were(where: str) -> None:
    before = [json.loads(line) for line in (Path(__file__).parent / "recordings_of_form_2.jsonl").read_text().splitlines()]
    with storing(where, days=0) as recorder:
        for each in before:
            stored = StoredRow(**each["row"])
            recorder.store.write([stored], [(stored.day, digest, body) for digest, body in each["apart"].items()])
        app = gateway(model("openai_chat"), recorder)
        lines = see(app, "exchanges")["rows"][::-1]
        for number, (each, line) in enumerate(zip(before, lines, strict=True), 1):
            assert json.loads(each["row"]["line"]).items() <= line.items()
            shown = see(app, f"exchanges/{number}")
            assert shown == {**each["shown"], "row": {**each["shown"]["row"], "number": number}}


@pytest.mark.parametrize("words", ["req_of-theirs", "compatible/m", "openai_chat", "bob"])
def test_words_are_found_in_what_stands_in_columns_alone(where: str, words: str) -> None:
    with storing(where, content=False) as recorder:
        access = (row(OTHER, "bob", inspect=True),)
        app = gateway(model("openai_chat", text_reply("Up.")), recorder, config={"access": access})
        ask(app, "openai_chat", stream=False, headers={**bearer(OTHER), "x-request-id": "req_of-theirs"})
        settled(recorder.writer, 1)
        assert recorder.store.rows(Query())[0].row.line == "{}"
        assert [line["number"] for line in look(app, f"exchanges?q={words}", **bearer(OTHER)).json["rows"]] == [1]
        assert look(app, "exchanges?q=nowhere", **bearer(OTHER)).json["rows"] == []


@pytest.mark.parametrize("count", [0, 1, 7, 8, 31, 32, 33, 41, 77])
def test_any_number_of_rows_is_written_in_order(where: str, count: int) -> None:
    with reading(where) as store:
        store.maintain(TODAY, 0)
        store.write([plain_row(request_id=str(n)) for n in range(count)], [(TODAY, str(n), "") for n in range(count)])
        assert [line.request_id for line in store.lines(Query(limit=100))][::-1] == [str(n) for n in range(count)]


# ── trouble ──────────────────────────────────────────────────────────────────


ROUTE = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test", key=SECRET)


def served(recorder: Any, count: int) -> Any:
    """A gateway that has answered so many requests, with its metrics."""
    memory = model("openai_chat", *[text_reply("Up.")] * count)
    app = create_app(GatewayConfig(default=ROUTE), memory, observers=[Metrics(), recorder])
    for _ in range(count):
        assert ask(app, "openai_chat", stream=False).status == 200
    return app


def counted(app: Any, name: str) -> float:
    text = call(app, "/metrics", method="GET").body.decode()
    return sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(f"dragoman_{name}"))


@postgres.skip_without
@pytest.mark.slow
def test_a_server_that_is_restarted_gets_what_waited_and_nobody_noticed() -> None:
    with postgres.cluster() as own, storing(own.url, most=5) as recorder:
        app = served(recorder, 2)
        settled(recorder.writer, 2)
        own.stop("fast")
        for _ in range(8):
            recorder.writer.offer(lambda: Made(plain_row(request_id="waits")), 10)
        assert counted(app, "recordings_dropped_total{") == 3
        reply = look(app, "exchanges")
        assert (reply.status, "see that it runs" in reply.json["error"]["message"]) == (503, True)
        own.start()
        settled(recorder.writer, 10)
        assert recorder.writer.written == 7
        assert counted(app, "recordings_total") == 7
        assert len(see(app, "exchanges")["rows"]) == 7


@postgres.skip_without
def test_a_server_that_stands_still_slows_nothing() -> None:
    with postgres.cluster() as own, storing(own.url, most=3) as recorder:
        app = served(recorder, 1)
        settled(recorder.writer, 1)
        children = own.pids()
        for pid in children:
            os.kill(pid, signal.SIGSTOP)
        try:
            app = served(recorder, 10)
            assert recorder.writer.dropped["queue_full"] >= 5
            assert counted(app, "recordings_dropped_total{") >= 5
        finally:
            for pid in children:
                os.kill(pid, signal.SIGCONT)
        settled(recorder.writer, 11)


def test_a_full_disk_slows_nothing_and_is_counted(tmp_path: Path) -> None:
    with storing(str(tmp_path / "r.sqlite"), most=4) as recorder:
        served(recorder, 1)
        settled(recorder.writer, 1)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        handled = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
        try:
            app = served(recorder, 12)
            assert counted(app, "recordings_dropped_total{") >= 6
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, handled)
        settled(recorder.writer, 13)
        assert recorder.writer.written >= 2


def test_without_content_and_with_it_gateways_write_beside_each_other(where: str) -> None:
    with storing(where) as one, storing(where) as two, storing(where, content=False) as three:
        for recorder, name in ((one, "first"), (two, "second"), (three, "third")):
            app = gateway(model("openai_chat", text_reply(name)), recorder)
            ask(app, "openai_chat", stream=False)
            settled(recorder.writer, 1)
        assert [line["answer"] for line in see(app, "exchanges")["rows"]] == ["", "second", "first"]


@pytest.mark.slow  # four workers begin; the test above shows the same of recorders in one process
def test_two_workers_and_two_gateways_write_and_either_inspector_shows_all(where: str) -> None:
    more = {"DRAGOMAN_RECORDINGS_URL": where, "DRAGOMAN_WORKERS": "2", "DRAGOMAN_RECORDINGS_CONTENT": "true"}
    with serving_process("--demo", "--inspect", **more) as one, serving_process("--demo", "--inspect", **more) as two:
        for _ in range(8):
            for _, url, _ in (one, two):
                post(f"{url}/v1/chat/completions", CHAT_BODY)
        with reading(where) as store:
            until = time.monotonic() + LONG
            while len(rows := store.rows(Query())) < 16:
                assert time.monotonic() < until, len(rows)
                time.sleep(0.05)
        assert len({found.row.process for found in rows}) >= 3  # the kernel shares out, and may leave one worker idle
        for _, url, printed in (one, two):
            with urllib.request.urlopen(f"{url}/inspect/api/exchanges", timeout=LONG) as answer:
                assert [line["number"] for line in json.load(answer)["rows"]] == [found.number for found in rows]
            assert not any("one process" in line for line in printed)
        one[0].terminate()
        one[0].wait(LONG)
        with reading(where) as store:
            assert len(store.rows(Query())) == 16


# ── settings ─────────────────────────────────────────────────────────────────

MODEL = {"default": {"route": "openai/m"}}


def test_nothing_is_recorded_unless_it_is_asked_for() -> None:
    assert watching(read(MODEL, {"OPENAI_API_KEY": "k"}).server, {})[1:] == []


def test_the_store_comes_from_the_file_or_the_environment(tmp_path: Path) -> None:
    path = str(tmp_path / "r.sqlite")
    data = {**MODEL, "recordings": {"url": path, "content": True, "days": 7, "queue_bytes": "1MB"}}
    recordings = read(data, {"OPENAI_API_KEY": "k"}).server.recordings
    assert (recordings.url, recordings.content, recordings.days, recordings.queue_bytes) == (path, True, 7, 1024 * 1024)
    server = read(MODEL, {"OPENAI_API_KEY": "k", "DRAGOMAN_RECORDINGS_URL": path}).server
    [recorder] = [each for each in watching(server, {}) if isinstance(each, StoringRecorder)]
    assert (recorder.content, recorder.shown) == (False, False)


def test_a_password_is_a_reference_to_the_environment() -> None:
    keys = {"OPENAI_API_KEY": "k", "PW": "hidden-word"}
    plain = {**MODEL, "recordings": {"url": "postgresql://me:hidden-word@db/x"}}
    with pytest.raises(UsageError, match="set the variable NAME") as caught:
        read(plain, keys)
    assert "hidden-word" not in str(caught.value)
    named = read({**MODEL, "recordings": {"url": "postgresql://me:${PW}@db/x"}}, keys).server
    assert named.recordings.url == "postgresql://me:hidden-word@db/x"
    assert "hidden-word" not in repr(named)


def test_what_happens_on_the_way_of_a_request_is_little(tmp_path: Path) -> None:
    def calls(*observers: Any) -> int:
        app = create_app(GatewayConfig(default=ROUTE), model("openai_chat", *[text_reply("Up.")] * 4), observers=observers)
        for _ in range(3):  # by then all is known that such requests have in common
            ask(app, "openai_chat", stream=True)
        with counting() as count:
            ask(app, "openai_chat", stream=True)
        return count.calls

    with storing(str(tmp_path / "r.sqlite"), content=False) as recorder:
        assert calls(Metrics(), recorder) - calls(Metrics()) <= MOST_CALLS


MOST_CALLS = 16
"""Calls on the way of a request without content, of some 1,500: what else there is to do is done in another thread."""
