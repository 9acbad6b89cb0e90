"""What the inspector's page is told, and who is not told anything."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any
from urllib.parse import urlencode

import pytest

from dragoman.dialects import DIALECTS
from dragoman.dialects.explain.spans import Kind
from dragoman.display import stylesheet
from dragoman.gateway.inspector.api import API, COLOURS, CSP, STATIC, stranger
from dragoman.gateway.inspector.recorder import Recorder
from dragoman.providers.spec import Tools
from dragoman.sim.scripted import ScriptedPeer
from tests.support.asgi import Client, Reply, call
from tests.support.asking import Native, Said, Served
from tests.support.gateways import FENCE, HERMES, KEY, PATHS, ask, asking, bearer, every_front, row
from tests.support.inspecting import HERE, JSON, look, recording, see, tell
from tests.support.upstreams import model, text_reply

OTHER = "sk-a-key-of-bob"
SLANTED = FENCE.replace('"sky"}}', '"sky",}}')


def answered(*texts: str, **more: Any) -> Any:
    """A gateway that has served one exchange for each text."""
    gateway, _ = recording(model("openai_chat", *map(text_reply, texts)), tools=Tools.TEXT, **more)
    for _ in texts:
        ask(gateway, "openai_chat", stream=True)
    return gateway


# ── the page ─────────────────────────────────────────────────────────────────


def test_the_page_runs_no_script_but_its_own() -> None:
    gateway, _ = recording(ScriptedPeer([]))
    for path in ("/inspect", "/inspect/", *(f"/inspect/{name}" for name in (COLOURS, *(file.name for file in STATIC.iterdir())))):
        reply = call(gateway, path, method="GET")
        assert (reply.status, reply.headers["content-security-policy"]) == (200, CSP)
        assert reply.headers["x-content-type-options"] == "nosniff"
    assert "script-src 'self'" in CSP
    assert "unsafe" not in CSP
    assert call(gateway, "/inspect/nothing.js", method="GET").status == 404
    assert call(gateway, "/inspect/../app.py", method="GET").status == 404


def test_the_page_asks_nobody_else_and_writes_no_markup() -> None:
    texts = {file.name: file.read_text(encoding="utf-8") for file in STATIC.iterdir()}
    assert [name for name, text in texts.items() if re.search(r"https?://|//cdn", text)] == []
    scripts = "".join(text for name, text in texts.items() if name.endswith(".js"))
    assert re.findall(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function", scripts) == []
    page = texts["inspect.html"]
    assert re.findall(r"<script(?![^>]*src=)|<style|\son\w+=|\sstyle=", page) == []
    for named in re.findall(r'(?:src|href)="/inspect/([^"]+)"', page):
        assert named in {*texts, COLOURS}
    for named in re.findall(r'from "\./([^"]+)"', scripts):
        assert named in texts


# ── strangers ────────────────────────────────────────────────────────────────

STRANGERS: list[tuple[dict[str, str], bool]] = [
    ({"host": "127.0.0.1:4242"}, False),
    ({"host": "[::1]:4242"}, False),
    ({"host": "localhost:4242", "origin": "http://localhost:4242", "sec-fetch-site": "same-origin"}, False),
    ({"host": "192.168.1.7:4242", "sec-fetch-site": "none"}, False),
    ({"host": "dev.localhost"}, False),
    ({"host": "rebound.example.com:4242"}, True),
    ({"host": "localhost.evil.example"}, True),
    ({"host": "127.0.0.1.evil.example"}, True),
    ({"host": ""}, True),
    ({}, True),
    ({"host": "127.0.0.1:4242", "origin": "https://evil.example"}, True),
    ({"host": "127.0.0.1:4242", "origin": "http://127.0.0.1:8080"}, True),
    ({"host": "127.0.0.1:4242", "origin": "null"}, True),
    ({"host": "127.0.0.1:4242", "sec-fetch-site": "cross-site"}, True),
    ({"host": "127.0.0.1:4242", "sec-fetch-site": "same-site"}, True),
]


@pytest.mark.parametrize(("headers", "strange"), STRANGERS, ids=[json.dumps(h) for h, _ in STRANGERS])
def test_only_our_own_page_is_answered(headers: dict[str, str], strange: bool) -> None:
    assert bool(stranger(headers)) is strange
    gateway, _ = recording(ScriptedPeer([]))
    reply = call(gateway, f"{API}/exchanges", method="GET", headers=headers)
    assert reply.status == (403 if strange else 200)


def test_pages_of_other_sites_are_refused_behind_keys_too() -> None:
    assert stranger({"host": "gateway.example"}, keyed=True) == ""
    assert stranger({"host": "gateway.example", "origin": "https://evil.example"}, keyed=True)


def test_what_does_something_takes_json_only() -> None:
    gateway = answered("Up.")
    reply = call(gateway, f"{API}/exchanges/1/again", b"{}", headers={**HERE, "content-type": "text/plain"})
    assert reply.status == 400
    assert "application/json" in reply.json["error"]["message"]
    assert len(see(gateway, "exchanges?since=0")["rows"]) == 1


# ── keys ─────────────────────────────────────────────────────────────────────


def keyed(**more: Any) -> Any:
    access = (row(**more), row(OTHER, "bob"))
    gateway, _ = recording(model("openai_chat", text_reply("for alice"), text_reply("for bob")), config={"access": access})
    for key in (KEY, OTHER):
        call(gateway, PATHS["openai_chat"], asking("openai_chat", stream=False)[1], headers=bearer(key))
    call(gateway, PATHS["openai_chat"], {}, headers=bearer("sk-nobody"))
    return gateway


@pytest.mark.parametrize("path", ["about", "exchanges", "exchanges/1", "exchanges/1/wire/request", "search?q=a"])
def test_where_keys_are_asked_for_the_inspector_asks_too(path: str) -> None:
    gateway = keyed()
    assert look(gateway, path).status == 401
    assert look(gateway, path, **bearer("sk-wrong-key")).status == 401
    assert look(gateway, path, **bearer()).status == 200
    assert call(gateway, "/inspect", method="GET").status == 200


def numbers(gateway: Any, key: str) -> list[int]:
    return [each["number"] for each in see(gateway, "exchanges?since=0", **bearer(key))["rows"]]


def test_a_key_sees_what_was_asked_with_it() -> None:
    gateway = keyed()
    assert (numbers(gateway, KEY), numbers(gateway, OTHER)) == ([1], [2])
    for path in ("exchanges/2", "exchanges/2/wire/response", "exchanges/2/export/curl"):
        assert look(gateway, path, **bearer(KEY)).status == 404
    assert see(gateway, "search?q=for%20bob", **bearer(KEY))["numbers"] == []
    assert tell(gateway, "exchanges/2/again", {}, **bearer(KEY)).status == 404
    call(gateway, f"{API}/exchanges", method="DELETE", headers={**HERE, **bearer(KEY)})
    assert (numbers(gateway, KEY), numbers(gateway, OTHER)) == ([], [2])


def test_a_key_that_may_inspect_sees_everything() -> None:
    assert numbers(keyed(inspect=True), KEY) == [1, 2, 3]


def test_a_replayed_request_carries_the_key_of_whoever_replays() -> None:
    access = (row(inspect=True), row(OTHER, "bob"))
    memory = model("openai_chat", text_reply("one"), text_reply("two"))
    gateway, recorder = recording(memory, config={"access": access})
    call(gateway, PATHS["openai_chat"], asking("openai_chat", stream=False)[1], headers=bearer(OTHER))
    repeat(gateway, recorder, 1, **bearer(KEY))
    (_, second) = recorder
    assert (second.again, second.exchange and second.exchange.key, second.status) == (1, "alice", 200)


# ── news, search, bytes ──────────────────────────────────────────────────────


def test_only_what_changed_is_told_again() -> None:
    gateway = answered("Up.")
    news = see(gateway, "exchanges?since=0")
    assert [each["number"] for each in news["rows"]] == [1]
    assert see(gateway, f"exchanges?since={news['version']}")["rows"] == []
    assert see(gateway, f"exchanges?since={news['version']}&wait=0.01")["rows"] == []


def test_whoever_waits_is_told_as_soon_as_something_happens() -> None:
    async def go() -> Reply:
        gateway, _ = recording(model("openai_chat", text_reply("Up.")))
        waiting = asyncio.ensure_future(
            Client(gateway, f"{API}/exchanges?since=0&wait=2", method="GET", headers=HERE).run()
        )
        await Client(gateway, PATHS["openai_chat"], asking("openai_chat", stream=False)[1]).run()
        return await waiting

    assert asyncio.run(go()).json["rows"][0]["number"] == 1


@pytest.mark.parametrize("words", ["what is UP", "sky", "tool_call", "/v1/chat", "compatible"])
def test_what_was_said_is_found_wherever_it_stood(words: str) -> None:
    gateway = answered(SLANTED)
    found = see(gateway, f"search?q={words.replace(' ', '%20')}")["numbers"]
    assert found == ([] if words == "compatible" else [1])
    assert see(gateway, "search?q=nobody-said-this")["numbers"] == []


def test_words_that_came_in_pieces_and_in_escapes_are_found() -> None:
    gateway = answered("Größer als alles, was war.")
    assert see(gateway, "search?q=gr%C3%B6%C3%9Fer%20als%20alles")["numbers"] == [1]


WRONG = [
    ("exchanges/9", 404, "not kept"), ("exchanges/1/wire/got-7", 404, "has no step"), ("exchanges/1/wire/else-0", 400, "there are no bytes"),
    ("exchanges/1/export/dialect?dialect=klingon", 400, "no dialect 'klingon'"), ("exchanges/1/export/else", 400, "no export"),
    ("exchanges?since=x", 400, "since is 'x'; give a number"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "status", "message"), WRONG)
def test_what_is_asked_wrongly_is_told_so(path: str, status: int, message: str) -> None:
    reply = look(answered("Up."), path)
    assert reply.status == status
    assert message in reply.json["error"]["message"]


# ── judge again ──────────────────────────────────────────────────────────────


def judged(gateway: Any, **body: Any) -> Any:
    reply = tell(gateway, "exchanges/1/judge", body)
    assert reply.status == 200, reply.body
    return reply.json


def test_judged_again_as_it_was_it_comes_to_the_same() -> None:
    gateway = answered(f"Look:\n{SLANTED}")
    shown = see(gateway, "exchanges/1")["steps"][0]["wrote"]
    again = judged(gateway)
    assert {key: again[key] for key in ("text", "spans", "findings", "parser", "marks")} == {
        key: shown[key] for key in ("text", "spans", "findings", "parser", "marks")
    }
    assert again["result"]["calls"] == [{"name": "look", "arguments": {"at": "sky"}}]


@pytest.mark.parametrize("chunk", ["as it came", 1, 5, 0])
def test_however_it_is_cut_the_steps_come_to_the_same(chunk: Any) -> None:
    text = f"Look:\n{SLANTED}\nDone."
    again = judged(answered(text), chunk=chunk)
    assert again["stages"][-1]["read"] == len(text)
    assert sorted(stage["read"] for stage in again["stages"]) == [stage["read"] for stage in again["stages"]]
    events = [event for stage in again["stages"] for event in stage["events"]]
    assert "".join(event["text"] for event in events if event["kind"] == "TextDelta") == again["result"]["text"]
    assert json.loads("".join(event["json"] for event in events if event["kind"] == "CallDelta")) == {"at": "sky"}


def test_judged_otherwise_it_comes_to_something_else() -> None:
    gateway = answered(SLANTED)
    assert judged(gateway, dialect="hermes")["result"]["calls"] == []
    assert judged(gateway, dialect="auto")["result"]["calls"] != []
    assert judged(gateway, strict=True)["result"]["calls"] == []
    assert judged(gateway, tools=[])["result"]["calls"] == []
    other = judged(gateway, tools=[{"name": "peek", "parameters": {"type": "object"}}])
    assert [found["rule"] for found in other["findings"]] == ["unknown_tool"]
    assert judged(gateway, text=SLANTED[:-20], finish_reason="length")["result"]["issues"][0]["kind"] == "truncated"


def test_a_long_text_becomes_few_enough_steps_to_show() -> None:
    gateway, _ = recording(model("openai_chat", text_reply("word " * 60_000, size=60_000)), tools=Tools.TEXT)
    ask(gateway, "openai_chat", stream=True)
    assert len(judged(gateway, chunk=1)["stages"]) <= 2001


@pytest.mark.parametrize("body", [{"dialect": "klingon"}, {"tools": 7}, {"text": 7}, {"hop": 9}])
def test_a_reading_asked_for_wrongly_is_told_so(body: dict[str, Any]) -> None:
    assert tell(answered("Up."), "exchanges/1/judge", body).status in {400, 404}


def test_every_dialect_may_be_listened_for() -> None:
    gateway = answered("Up.")
    assert see(gateway, "about")["dialects"] == sorted(DIALECTS)
    for name in DIALECTS:
        assert judged(gateway, dialect=name)["result"]["text"] == "Up."


# ── ask again ────────────────────────────────────────────────────────────────


def repeat(gateway: Any, recorder: Any, number: int, **headers: str) -> Any:
    """Ask again, and wait until that is over."""

    async def go() -> Any:
        reply = await Client(gateway, f"{API}/exchanges/{number}/again", {}, headers={**JSON, **headers}).run()
        while any(record.live for record in recorder) or len(list(recorder)) < 2:
            await recorder.changed(recorder.version, 1.0)
        return reply.json

    return asyncio.run(go())


@every_front
def test_a_request_is_asked_again_as_it_was(front: str) -> None:
    memory = model("openai_chat", text_reply("one"), text_reply("two"))
    gateway, recorder = recording(memory)
    ask(gateway, front, stream=True)
    again = repeat(gateway, recorder, 1)
    first, second = recorder
    assert again == {"of": 1, "after": 1}
    assert (second.number, second.again) == (2, 1)
    assert second.request.data == first.request.data
    assert memory.sent[0].body == memory.sent[1].body
    assert see(gateway, "exchanges/2")["answer"]["response"]["text"] == "two"


def test_a_request_that_was_cut_is_not_asked_again() -> None:
    gateway, _ = recording(model("openai_chat", text_reply("Up.")), recorder=Recorder(longest=10))
    ask(gateway, "openai_chat", stream=False)
    reply = tell(gateway, "exchanges/1/again", {})
    assert reply.status == 400
    assert "longer than is kept" in reply.json["error"]["message"]


# ── what was seen of each candidate ──────────────────────────────────────────

WEAK = 'I look.\n\n```json\n{"name": "read_file", "arguments": {"path": "x"}}\n```'
MEANT = Native((("read_file", {"path": "x"}),))


def asked_about(*answers: Said, shown: str = "", headers: Any = None, **more: Any) -> Served:
    """A gateway that records, and has served one exchange."""
    served = Served("native", "chat", observers=[Recorder()], **more)
    served.ask(answers, stream=False, shown=shown, headers=headers)
    return served


def steps_of(app: Any, number: int = 1) -> Any:
    return see(app, f"exchanges/{number}")["steps"]


def test_each_candidate_comes_with_its_evidence_in_words() -> None:
    told = f"Text in `{HERMES}` code.\n\n{SLANTED}\n\n{FENCE.replace('look', 'nowhere')}\n"
    findings = steps_of(answered(told))[0]["wrote"]["findings"]
    assert [found["verdict"] for found in findings] == ["quoted", "mended", "refused"]
    for found in findings:
        assert found["rule"]
        assert found["reason"]
        assert found["evidence"]
        assert len(found["words"]) >= len(found["evidence"])
    mended = next(found for found in findings if found["verdict"] == "mended")
    assert [mend for mend in mended["mends"] if "trailing comma" in mend]


def test_a_copy_names_the_result_it_stands_in_and_its_place() -> None:
    served = asked_about(WEAK, "No.", shown=f"A page says:\n{WEAK[9:]}")
    (found,) = steps_of(served.app)[0]["wrote"]["findings"]
    assert (found["verdict"], found["rule"]) == ("quoted", "copy")
    copy = found["evidence"]["copy"]
    assert (copy["kind"], copy["name"], copy["start"]) == ("tool", "read_file", 13)
    assert copy["excerpt"].startswith("```json")
    assert any("a tool's result" in words and "(read_file)" in words for _, words in found["words"])


@pytest.mark.parametrize(("said", "fate"), [(MEANT, "confirmed"), ("No.", "denied")], ids=["yes", "no"])
def test_a_question_is_a_step_with_its_answer(said: Said, fate: str) -> None:
    served = asked_about(WEAK, said)
    doubted, asked = steps_of(served.app)
    assert [(found["verdict"], found["rule"]) for found in doubted["wrote"]["findings"]] == [("doubtful", "weak")]
    assert doubted["asks"] == []
    (about,) = asked["asks"]
    assert (about["call"]["name"], about["answer"]) == ("read_file", fate)
    assert about["call"]["report"]["words"]
    assert about["remembered"] == ("fenced_json, in a fenced block, with nothing behind it" if fate == "confirmed" else "")
    assert "Did you mean to make it?" in json.dumps(asked["correction"])
    assert "doubtful" in see(served.app, "exchanges?since=0")["rows"][0]["marks"]


def test_doubt_that_nobody_asked_about_is_in_the_answer() -> None:
    served = asked_about(WEAK, reasks=0)
    shown = see(served.app, "exchanges/1")["answer"]["response"]
    assert [(call["name"], call["report"]["rule"]) for call in shown["doubtful"]] == [("read_file", "weak")]


def test_a_text_is_read_by_the_habits_that_held_then() -> None:
    served = asked_about(WEAK, MEANT)
    served.ask([WEAK], stream=False)
    wrote = steps_of(served.app, 2)[0]["wrote"]
    assert [(found["verdict"], found["rule"]) for found in wrote["findings"]] == [("accepted", "habit")]
    assert wrote["parser"]["confirmed"] == ["fenced_json, in a fenced block, with nothing behind it"]


def test_doubt_is_judged_as_its_route_wants_it() -> None:
    (found,) = steps_of(asked_about(WEAK, doubt="text").app)[0]["wrote"]["findings"]
    assert (found["verdict"], found["rule"]) == ("quoted", "weak")


def test_habits_are_shown_and_forgotten_by_who_may_see_them() -> None:
    keys = (row(), row(key=OTHER, name="bob"), row(key="sk-all", name="all", inspect=True))
    served = asked_about(WEAK, MEANT, access=keys, headers=bearer(KEY))
    habit = {"owner": row().name, "place": "http://model.test/v1", "model": "m", "habit": "fenced_json:fence:ends"}
    (shown,) = see(served.app, "habits", **bearer(KEY))["habits"]
    assert {**shown, **habit} == shown
    assert shown["words"].startswith("fenced_json, in a fenced block")
    assert see(served.app, "habits", **bearer(OTHER)) == {"habits": []}
    assert see(served.app, "habits", **bearer("sk-all"))["habits"] == [shown]
    assert look(served.app, "habits").status == 401
    for who, gone in ((OTHER, 0), ("sk-all", 1), (KEY, 0)):
        reply = forget(served.app, f"habits?{urlencode(habit)}", **bearer(who))
        assert (reply.status, reply.json) == (200, {"forgotten": gone})
    assert see(served.app, "habits", **bearer(KEY)) == {"habits": []}
    reply = forget(served.app, "habits?modell=m", **bearer(KEY))
    assert (reply.status, "give any of owner, place, model, habit" in reply.json["error"]["message"]) == (400, True)


def forget(app: Any, path: str, **headers: str) -> Reply:
    return call(app, f"{API}/{path}", method="DELETE", headers={**HERE, **headers})


def test_the_page_has_the_colours_of_the_one_table() -> None:
    gateway, _ = recording(ScriptedPeer([]))
    assert call(gateway, f"/inspect/{COLOURS}", method="GET").body.decode() == stylesheet()
    kinds = see(gateway, "about")["kinds"]
    assert [name for name, _, says in kinds if not says] == []
    assert {name for name, *_ in kinds} == set(map(str, Kind))
    written = "".join(file.read_text(encoding="utf-8") for file in STATIC.glob("*.css"))
    assert [name for name, *_ in kinds if f".chip.is-{name} " in written] == []
