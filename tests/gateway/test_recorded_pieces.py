"""Texts in pieces of which each is stored once a day: what they become, what of it is stored, and that it comes back."""

from __future__ import annotations

import asyncio
import gc
import json
import random
import threading
from typing import Any

import pytest

from dragoman.gateway.inspector.pieces import Cut, Pieces, Place
from dragoman.gateway.inspector.recorded_rows import recorded_rows
from dragoman.gateway.inspector.redaction import blot, spellings
from dragoman.gateway.recordings.store import Rejected
from dragoman.gateway.recordings.table import DAY, Query
from dragoman.gateway.recordings.writer import Made, Writer
from dragoman.providers.spec import Tools
from tests.support.asgi import Client, call
from tests.support.gateways import PATHS, asking, every_front
from tests.support.inspecting import see
from tests.support.recorded import TODAY, gateway, plain_row, reading, settled, storing
from tests.support.upstreams import model, text_reply

SECRET = "sk-a-secret-that-nobody-may-see"
PLACE = Place("alice", "request", "one")
WORDS = "the words of a turn, as many as it takes to make a piece of them. "


def turns(count: int, *, of: str = "one", note: str = "") -> bytes:
    """A conversation of so many messages, as clients send it."""
    said = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"{of} {n}: {WORDS * 4}"} for n in range(count)]
    tools = [{"type": "function", "function": {"name": f"tool_{n}", "description": WORDS}} for n in range(9)]
    return json.dumps({"model": "m", "messages": said, "tools": tools, "note": note}).encode()


class Shelf:
    """What is stored, day by day; what is read of it is of the same day."""

    def __init__(self) -> None:
        self.pieces, self.days = Pieces(), dict[int, dict[str, str]]()
        self.written = 0

    def put(self, data: bytes, *secrets: str, place: Place = PLACE, day: int = TODAY) -> Cut:
        apart: dict[str, str] = {}
        cut = self.pieces.cut(day, place, data, spellings(secrets), apart)
        self.days.setdefault(day, {}).update(apart)
        self.written += len(cut.text) + sum(map(len, apart.values()))
        return cut

    def read(self, cut: Cut, day: int = TODAY) -> bytes:
        there = self.days[day]
        return b"".join(
            [*(there[digest].encode() for digest in cut.before), cut.text, there.get(cut.behind, "").encode()]
        )


def test_what_grows_comes_back_as_it_was_and_only_what_is_new_is_written() -> None:
    shelf, sent = Shelf(), 0
    for count in range(1, 120, 2):
        data = turns(count)
        assert shelf.read(shelf.put(data)) == data
        sent += len(data)
    assert shelf.written < sent / 6
    assert len(shelf.put(turns(121)).before) <= 25


def test_what_another_conversation_ends_with_is_not_written_again() -> None:
    shelf = Shelf()
    for n in range(4):
        data = turns(2, of=f"conversation {n}")
        cut = shelf.put(data, place=PLACE._replace(conversation=n))
        assert shelf.read(cut) == data
    assert len(cut.text) < len(data) / 2
    assert "tool_8" in shelf.days[TODAY][cut.behind]


def test_branches_of_one_session_do_not_drive_each_other_out() -> None:
    shelf = Shelf()
    for count in range(21, 61, 2):
        for of in ("main", "helper"):
            data = turns(count, of=of)
            cut = shelf.put(data)
            assert shelf.read(cut) == data
            assert count < 27 or len(cut.text) < 3000, (count, of)


def test_a_text_that_got_shorter_or_was_edited_comes_back_too() -> None:
    shelf, chance = Shelf(), random.Random(1)
    data = turns(41)
    for _ in range(200):
        start = chance.randrange(len(data))
        changed = (
            data[:start]
            + chance.choice([b"", b'{"', b"x" * 700, data[: chance.randrange(900)]])
            + data[start + chance.randrange(900) :]
        )
        assert shelf.read(shelf.put(changed)) == changed
        data = changed if len(changed) > 5000 else turns(41)


@pytest.mark.parametrize(
    "data", [b"\xff\xfe" * 4000, b"\0" * 4000, turns(9)[:-1] + b"\xff}", b"", b"{}" * 9000, 'ü{"🙂'.encode() * 900]
)
def test_what_is_no_text_stays_whole(data: bytes) -> None:
    shelf = Shelf()
    for more in (b"", b"1", b"22"):
        assert shelf.read(shelf.put(data + more)) == data + more


@pytest.mark.parametrize(
    "secrets",
    [(SECRET,), (SECRET, SECRET[3:]), ("a" * 8,), ("aabaabaab", "baabaa"), ('with "quotes" é',), ("k" * 1500,)],
)
@pytest.mark.costly
def test_no_secret_stands_across_a_cut_wherever_it_was_said(secrets: tuple[str, ...]) -> None:
    chance, spelt = random.Random(str(secrets)), spellings(secrets)
    for _ in range(60):
        shelf, text = Shelf(), bytearray(turns(chance.randrange(1, 20)))
        for _ in range(12):
            for secret in chance.choices([word.encode() for word in spelt], k=2):
                at = chance.randrange(len(text))
                part = secret if chance.random() < 0.6 else secret[: chance.randrange(1, len(secret))]
                text[at:at] = part + chance.choice([b"", b'{"', part])
            data = bytes(text)
            read = shelf.read(shelf.put(data, *secrets))
            assert len(read) == len(data)
            assert not any(word.encode() in read for word in spelt)
            differ = [n for n, (one, other) in enumerate(zip(read, blot(data, spelt), strict=True)) if one != other]
            assert all(read[n] == ord("*") or data[n] == read[n] for n in differ)  # never another's bytes
            text += b'{"more": "' + WORDS.encode() * chance.randrange(20) + b'"}'


def test_a_secret_that_is_known_later_is_blotted_in_all_that_is_written_from_then_on() -> None:
    shelf = Shelf()
    for count in range(11, 21, 2):
        shelf.put(turns(count, note=SECRET))
    cut = shelf.put(turns(23, of=SECRET), SECRET)
    assert SECRET.encode() not in shelf.read(cut)
    assert b"*" * len(SECRET) in shelf.read(cut)


def test_nothing_is_referred_to_from_another_day_or_once_it_may_be_lost() -> None:
    shelf = Shelf()
    for count in range(11, 21, 2):
        shelf.put(turns(count))
    assert shelf.read(shelf.put(turns(21), day=TODAY + 1), TODAY + 1) == turns(21)
    assert shelf.read(shelf.put(turns(23), day=TODAY + 1), TODAY + 1) == turns(23)
    shelf.pieces.forget()
    shelf.days.clear()
    for count in range(25, 31, 2):
        assert shelf.read(shelf.put(turns(count))) == turns(count)


def test_what_is_held_is_bounded() -> None:
    pieces = Pieces(100_000)
    for n in range(50):
        pieces.cut(TODAY + 7, PLACE._replace(owner=n, conversation=n), turns(41, of=str(n)), (), {})
    assert sum(len(held.data) for branches in pieces._rows.values() for held in branches) == pieces._size <= 100_000
    held_type = type(next(held for branches in pieces._rows.values() for held in branches))
    assert len([each for each in gc.get_objects() if type(each) is held_type and each.day == TODAY + 7]) <= 10


# ── in the stores ────────────────────────────────────────────────────────────


def said(count: int, of: str = "one") -> list[dict[str, str]]:
    words = ((f"{of} {n}: {WORDS * 9}", "user" if n % 2 == 0 else "assistant") for n in range(count))
    return [{"role": role, "content": text} for text, role in words]


@every_front
@pytest.mark.costly
def test_a_conversation_is_shown_turn_by_turn_as_it_was(where: str, front: str) -> None:
    bodies, replies = list[bytes](), [text_reply(f"Answer {n}.") for n in range(8)]
    memory = model("openai_chat", *replies)
    with storing(where) as recorder:
        app = gateway(memory, recorder, tools=Tools.TEXT)
        body = asking(front, stream=False)[1]
        for n in range(8):
            grown = {**body, **(_grown(body, n))}
            bodies.append(json.dumps(grown).encode())
            assert call(app, asking(front, stream=False)[0], bodies[-1]).status == 200
        settled(recorder.writer, 8)
        rows = recorder.store.rows(Query())[::-1]
        assert len({found.row.session for found in rows}) == 1
        for found, sent, given in zip(rows, bodies, memory.sent, strict=True):
            wire = f"exchanges/{found.number}/wire"
            assert see(app, f"{wire}/request")["text"].encode() == sent
            assert see(app, f"{wire}/sent-0")["text"].encode() == given.body
        written = [len(found.row.document) for found in rows[2:]]
        assert max(written) - min(written) < (len(bodies[-1]) - len(bodies[2])) / 3
        story = see(app, f"exchanges/{rows[-1].number}")
        assert "turn 6" in json.dumps(story["client"]["request"]["messages"])
        newest, *_ = recorded_rows(recorder.store)
        assert newest.request.messages[-1].text.startswith("turn 6")
        words = see(app, "exchanges?q=turn+3:+the+words")["rows"]
        assert sorted(line["number"] for line in words) == [found.number for found in rows[4:]]


def _grown(body: dict[str, Any], turns: int) -> dict[str, Any]:
    """The body's history, so many messages longer."""
    for field in ("messages", "input", "contents"):
        if field in body:
            first = body[field] if isinstance(body[field], list) else [{"role": "user", "content": body[field]}]
            role = "model" if field == "contents" else "assistant"
            texts = [f"turn {n}: {WORDS * 12}" for n in range(turns)]
            saying = [{"parts": [{"text": text}]} if field == "contents" else {"content": text} for text in texts]
            return {
                field: [*first, *({"role": role if n % 2 == 0 else "user", **said} for n, said in enumerate(saying))]
            }
    return {"prompt": f"{body['prompt']}" + "".join(f"turn {n}: {WORDS * 12}" for n in range(turns))}


@pytest.mark.costly
def test_days_go_with_their_pieces_and_a_conversation_goes_on_over_midnight(where: str) -> None:
    now = (TODAY - 5) * DAY + 100.0
    with storing(where, now=lambda: now, days=0) as recorder:
        recorder.writer._now = lambda: now
        app = gateway(model("openai_chat", *[text_reply("Yes.")] * 12), recorder)
        for n in range(12):
            now += DAY / 4
            recorder.store.maintain(int(now // DAY), 0)
            call(app, PATHS["openai_chat"], {"model": "m", "messages": said(2 * n + 5)})
            settled(recorder.writer, n + 1)
        rows = recorder.store.rows(Query())
        assert len({found.row.day for found in rows}) == 4
        last = int(now // DAY)
        recorder.store.maintain(last, 1)
        left = recorder.store.rows(Query())
        assert {found.row.day for found in left} == {last - 1, last}
        for found in left:
            assert all(found.apart.get(digest) for digest in found.row.bodies.split())
            assert json.loads(see(app, f"exchanges/{found.number}/wire/request")["text"])["messages"][:5] == said(5)
        assert any(found.row.bodies for found in left)
        recorder.store.maintain(last + 9, 1)
    assert orphans(where) == 0


def orphans(where: str) -> int:
    """Pieces that are left where no exchange is."""
    with reading(where) as store:
        store.maintain(0, 0)
        assert store.rows(Query()) == []
        found: list[Any] = store._asked("SELECT count(*) FROM dragoman_bodies", [])  # type: ignore[attr-defined]
        return int(found[0][0])


def test_what_came_with_a_row_that_is_not_taken_is_there_for_the_next(where: str) -> None:
    with reading(where) as store:
        writer = Writer(store, linger=0.2)
        bad, good = plain_row(size=2**70, bodies="abc"), plain_row(bodies="abc")
        writer.offer(lambda: Made(bad, [(TODAY, "abc", "a piece")]), 10)
        writer.offer(lambda: Made(good), 10)
        writer.start()
        settled(writer, 2)
        writer.close()
        assert writer.dropped == {"rejected": 1}
        assert [found.apart for found in store.rows(Query())] == [{"abc": "a piece"}]


def test_pieces_are_forgotten_where_they_may_not_be_stored() -> None:
    class Refusing:
        def write(self, rows: Any, apart: Any) -> None:
            raise Rejected("never")

        def maintain(self, day: int, days: int) -> None:
            pass

        def close(self) -> None:
            pass

    forgot: list[int] = []
    writer = Writer(Refusing(), linger=0.0)  # type: ignore[arg-type]
    writer.on_trouble = lambda: forgot.append(1)
    writer.offer(lambda: Made(plain_row()), 10)
    writer.start()
    settled(writer, 1)
    writer.close()
    assert len(forgot) >= 2  # as it began, and once it was refused


def test_who_writes_the_same_pieces_at_once_does_not_stand_in_the_others_way(where: str) -> None:
    wrong: list[Exception] = []

    def write(seed: int) -> None:
        chance = random.Random(seed)
        try:
            with reading(where) as store:
                for n in range(40):
                    apart = [(TODAY, f"{n}-{each:03}", WORDS) for each in range(60)]
                    chance.shuffle(apart)
                    store.write([plain_row(request_id=f"{seed}.{n}", bodies=apart[0][1])], apart)
        except Exception as error:
            wrong.append(error)

    with reading(where) as store:
        store.maintain(TODAY, 0)
    threads = [threading.Thread(target=write, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    with reading(where) as store:
        assert all(found.apart[found.row.bodies] == WORDS for found in store.rows(Query(limit=200)))


def test_each_of_two_keys_is_a_secret(where: str) -> None:
    keys = ("sk-the-first-of-two-keys", "sk-the-second-of-two-keys")
    with storing(where) as recorder:
        app = gateway(model("openai_chat", text_reply("Yes.")), recorder)
        body = {"model": "m", "messages": [{"role": "user", "content": " ".join(keys)}]}
        client = Client(app, PATHS["openai_chat"], body)
        client._scope["headers"] = [
            *client._scope["headers"],
            *((b"authorization", f"Bearer {key}".encode()) for key in keys),
        ]
        asyncio.run(client.run())
        settled(recorder.writer, 1)
        [found] = recorder.store.rows(Query())
        assert "*" * len(keys[0]) in found.row.document
        assert [key for key in keys if key in repr(found)] == []
