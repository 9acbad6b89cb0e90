"""Calls in doubt are asked about: over every front, streamed and whole, by native tools and by text, and in the loop."""

from __future__ import annotations

import asyncio
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from dragoman.codecs.shared.frames import KEEP_ALIVE
from dragoman.gateway import Access
from tests.support.asgi import Client, Reply, call
from tests.support.asking import FRONTS, QUESTION, Looped, Native, Result, Said, Served
from tests.support.clocks import run_virtually
from tests.support.gateways import Slow, converse, read

VECTORS = Path(__file__).parent.parent / "vectors" / "asking" / "scenes.jsonl"
SCENES: list[dict[str, Any]] = [json.loads(line) for line in VECTORS.read_text().splitlines()]


def said(answer: Any) -> Said:
    if isinstance(answer, str):
        return answer
    return answer["status"] if "status" in answer else Native(tuple((name, given) for name, given in answer["calls"]))


def check(expected: dict[str, Any], result: Result) -> None:
    wanted = expected["calls"]
    assert result.status == 200
    assert result.calls == [(name, arguments) for name, arguments in wanted or []]
    if wanted is None:
        assert result.text.strip() == expected["answers"][0].strip()
    if expected["questions"] is not None:
        assert result.questions == expected["questions"]
    assert QUESTION not in result.seen
    assert expected.get("refused", "") in result.text


@pytest.mark.parametrize("scene", SCENES, ids=[scene["id"] for scene in SCENES])
def test_a_call_in_doubt_is_asked_about_and_the_model_decides(scene: dict[str, Any]) -> None:
    options = {name: scene[name] for name in ("doubt", "reasks") if name in scene}
    place = Looped(scene["channel"], **options) if scene["front"] == "loop" else Served(scene["channel"], scene["front"], **options)
    check(scene, place.ask([*map(said, scene["answers"])], stream=scene["streamed"]))
    if "then" in scene:
        then = scene["then"]
        more = {name: then[name] for name in ("model", "shown") if name in then}
        check(then, place.ask([*map(said, then["answers"])], stream=scene["streamed"], **more))


FENCED = 'I look.\n\n```json\n{"name": "read_file", "arguments": {"path": "x"}}\n```'
CALL = Native((("read_file", {"path": "x"}),))


def test_the_headers_say_what_the_model_said() -> None:
    served = Served("native", "chat")
    assert served.ask([FENCED, "No."], stream=False).headers["x-dragoman-asked"] == "denied"
    assert served.ask([FENCED, CALL], stream=False).headers["x-dragoman-asked"] == "confirmed"
    assert "x-dragoman-asked" not in served.ask([FENCED], stream=False).headers
    assert Served("native", "chat", reasks=0).ask([FENCED], stream=False).headers["x-dragoman-doubtful"] == "1"


DONE = (b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n', b"")
OVERLOOKED = {
    "colon": 'Calling tool: {"name": "read_file", "arguments": {"path": "x"}}',
    "item": 'Look:\n- {"name": "read_file", "arguments": {"path": "x"}}',
    "line behind": 'Calling: {"name": "read_file", "arguments": {"path": "x"}}\nNow I wait for it.',
    "key too many": 'I do it.\n{"name": "read_file", "arguments": {"path": "x"}, "why": "to see"}',
    "another key": 'Now: {"tool": "read_file", "args": {"path": "x"}}',
    "tag": "Reading it: <read_file><path>x</path></read_file>",
    "spaced": 'So: {  "name" :\n"read_file", "arguments": {"path": "x"}}',
    "bold": '**Call:** {"name": "read_file", "arguments": {"path": "x"}}',
}


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("text", OVERLOOKED.values(), ids=OVERLOOKED)
def test_a_call_that_no_marker_led_to_is_told_once_as_text_or_as_a_call(text: str, stream: bool, front: str) -> None:
    made = Served("native", front).ask([text, CALL], stream=stream)
    assert ([name for name, _ in made.calls], "read_file" in made.text) == (["read_file"], False)
    denied = Served("native", front).ask([text, "No."], stream=stream)
    assert (denied.calls, denied.text) == ([], text)


@pytest.mark.parametrize("front", ["chat", "responses", "anthropic"])
def test_the_end_of_a_stream_says_what_the_model_said(front: str) -> None:
    assert ": x-dragoman-asked: denied\n\n" in Served("native", front).ask([FENCED, "No."], stream=True).seen
    assert ": x-dragoman-asked: confirmed\n\n" in Served("native", front).ask([FENCED, CALL], stream=True).seen
    assert "x-dragoman" not in Served("native", front).ask(["Hello.", CALL], stream=True).seen
    assert ": x-dragoman-doubtful: 1\n\n" in Served("native", front, reasks=0).ask([FENCED], stream=True).seen


@pytest.mark.parametrize("front", ["openai_chat", "anthropic_messages"])
def test_comments_go_out_while_a_question_is_open(front: str) -> None:
    look = 'I look.\n\n```json\n{"name": "look", "arguments": {"at": "sky"}}\n```'

    def said(text: str) -> bytes:
        return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}).encode() + b"\n\n"

    async def go() -> Reply:
        slow = Slow()

        async def script(client: Client) -> None:
            for piece in (said(look), *DONE):
                slow.pieces.put_nowait(piece)
            await client.until(b"I look.")
            await client.until(KEEP_ALIVE, client.reply.body.count(KEEP_ALIVE) + 2)
            for piece in (said("No."), *DONE):
                slow.pieces.put_nowait(piece)

        return await converse(front, slow, script, keep_alive=15.0)

    reply = run_virtually(go())
    assert read(front, reply, stream=True).text == look
    assert b"x-dragoman-asked: denied" in reply.body


def test_the_question_shows_the_call_and_how_to_make_it() -> None:
    native = Served("native", "chat").ask([FENCED, CALL], stream=True)
    question = native.asked[1]["messages"][-1]["content"]
    assert 'read_file {"path": "x"}' in question
    assert "by calling the tool itself" in question
    told = Served("text:hermes", "chat").ask([FENCED, "No."], stream=True)
    assert '<tool_call>\n{"name": "read_file", "arguments": {"path": "x"}}\n</tool_call>' in json.dumps(
        told.asked[1]["messages"][-1]["content"]
    ).encode().decode("unicode_escape")


def test_text_before_a_call_in_doubt_is_told_at_once_and_the_rest_when_it_is_decided() -> None:
    result = Served("native", "chat").ask([f"{FENCED}\nThat is all.", CALL], stream=True)
    assert result.text == "I look.\n\n\nThat is all."
    assert "```" not in result.seen


def test_tokens_of_the_question_are_counted() -> None:
    whole = json.loads(Served("native", "chat").ask([FENCED, CALL], stream=False).seen)
    assert whole["usage"]["total_tokens"] == 24


def test_a_native_call_beside_a_doubtful_one_is_not_asked_about() -> None:
    served = Served("native", "chat")
    result = served.ask([CALL], stream=True)
    assert (result.calls, result.questions) == ([("read_file", {"path": "x"})], 0)


def test_what_a_model_confirmed_is_shown_and_can_be_forgotten() -> None:
    served = Served("native", "chat")
    served.ask([FENCED, CALL], stream=False)
    assert call(served.app, "/v1/habits", method="GET").json == {
        "habits": [{"model": "m", "habit": "fenced_json:fence:ends"}]
    }
    assert call(served.app, "/v1/habits?model=other", method="DELETE").json == {"forgotten": 0}
    assert call(served.app, "/v1/habits?modell=m", method="DELETE").status == 400
    assert served.ask([FENCED], stream=False).questions == 0
    assert call(served.app, "/v1/habits", method="DELETE").json == {"forgotten": 1}
    assert served.ask([FENCED, CALL], stream=False).questions == 1


def test_a_key_is_asked_about_its_own_conversations_only() -> None:
    keys = tuple(Access(name=name, sha256=sha256(name.encode()).hexdigest()) for name in ("ann", "bob"))
    served = Served("native", "chat", access=keys)
    ann, bob = ({"authorization": f"Bearer {name}"} for name in ("ann", "bob"))
    assert [served.ask([FENCED, CALL], stream=False, headers=ann).questions for _ in range(2)] == [1, 0]
    assert served.ask([FENCED, CALL], stream=False, headers=bob).questions == 1
    assert call(served.app, "/v1/habits", method="GET").status == 401
    assert call(served.app, "/v1/habits", method="DELETE", headers=bob).json == {"forgotten": 1}
    assert served.ask([FENCED], stream=False, headers=ann).questions == 0


def test_processes_that_share_their_state_share_what_was_confirmed(tmp_path: Path) -> None:
    first, second = (Served("native", "chat", state=tmp_path) for _ in range(2))

    def exchange() -> None:
        for each in (first, second, first):
            asyncio.run(each.stores.exchange())

    assert first.ask([FENCED, CALL], stream=False).questions == 1
    exchange()
    result = second.ask([FENCED], stream=False)
    assert (result.questions, result.calls) == (0, [("read_file", {"path": "x"})])
    assert call(second.app, "/v1/habits", method="DELETE").json == {"forgotten": 1}
    exchange()
    assert first.ask([FENCED, CALL], stream=False).questions == 1
