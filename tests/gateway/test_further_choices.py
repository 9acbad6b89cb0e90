"""Several answers to one request: each is judged as the first is, whole and streamed, natively and in text."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from dragoman.codecs import CODECS
from dragoman.codecs.shared.frames import readers
from dragoman.effects import Open
from dragoman.providers.spec import Tools
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.asgi import Client, Reply
from tests.support.gateways import CALLS, FENCE, HERMES, PATHS, SCHEMA, app, ask, streamed_and_whole
from tests.support.mcp_gateways import alive, served
from tests.support.upstreams import model as upstream

USAGE = {"prompt_tokens": 900, "completion_tokens": 5, "total_tokens": 905}
DOTTED = {"type": "function", "function": {"name": "sky.look.v1", "parameters": SCHEMA}}
BROKEN = '<tool_call>\n{"name": "lock", "arguments": {"at": "sky"}}\n</tool_call>'
CUT = '<tool_call>\n{"name": "look", "arguments": {"at": "sk'
SHOWN = f"You would write it so:\n\n```\n{HERMES}\n```\n\nThat is all."
GOOD = [("look", {"at": "sky"})]
LOGPROBS = {"content": [{"token": "Blue.", "logprob": -0.5, "bytes": None, "top_logprobs": []}]}


def native(*calls: tuple[str, str], text: str | None = None) -> dict[str, Any]:
    made = [
        {"index": i, "id": "", "type": "function", "function": {"name": name, "arguments": written}}
        for i, (name, written) in enumerate(calls)
    ]
    return {"content": text, "tool_calls": made}


class Model:
    """Gives its answers in turn; an answer is its choices: texts, or messages, with why they stopped."""

    def __init__(self, *answers: Sequence[Any]) -> None:
        self.answers, self.bodies = [*answers], list[dict[str, Any]]()

    def peer(self) -> ScriptedPeer:
        return ScriptedPeer(self._answer)

    def _answer(self, sent: Open) -> Answer:
        body = json.loads(sent.body or b"{}")
        self.bodies.append(body)
        answer = self.answers[min(len(self.bodies), len(self.answers)) - 1]
        choices = [{"message": {"content": each}} if isinstance(each, str) else each for each in answer]
        if not body.get("stream"):
            written = [self._whole(i, choice) for i, choice in enumerate(choices)]
            return Answer((json.dumps({"id": "x", "model": "m", "choices": written, "usage": USAGE}).encode(),))
        frames = [f for i in range(6) for place, choice in enumerate(choices) for f in self._piece(i, place, choice)]
        chunks: list[Any] = [{"id": "x", "model": "m", "choices": [frame]} for frame in frames]
        chunks.append({"id": "x", "model": "m", "choices": [], "usage": USAGE})
        pieces = [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks]
        return Answer((*pieces, b"data: [DONE]\n\n"), headers={"content-type": "text/event-stream"})

    @staticmethod
    def _whole(place: int, choice: Mapping[str, Any]) -> dict[str, Any]:
        message = {"role": "assistant", **choice["message"]}
        more = {"logprobs": choice["logprobs"]} if "logprobs" in choice else {}
        return {"index": place, "message": message, "finish_reason": choice.get("finish", "stop"), **more}

    @staticmethod
    def _piece(step: int, place: int, choice: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The chunk of this choice at `step`: choices come by turns, as providers send them."""
        message, base = choice["message"], {"index": place, "finish_reason": None}
        text, calls = message.get("content") or "", message.get("tool_calls") or []
        size = -(-len(text) // 3) or 1
        if step == 0:
            return [{**base, "delta": {"role": "assistant", "content": ""}}]
        if step <= 3:
            more = {"logprobs": choice["logprobs"]} if "logprobs" in choice and step == 1 else {}
            piece = text[(step - 1) * size : step * size]
            return [{**base, "delta": {"content": piece}, **more}] if piece else []
        if step == 4:
            return [{**base, "delta": {"tool_calls": [call]}} for call in calls]
        return [{**base, "delta": {}, "finish_reason": choice.get("finish", "stop")}]


def choices_of(reply: Reply, *, stream: bool) -> list[dict[str, Any]]:
    """What a client of the API reads: a message, and why it stopped, for each choice; by its rules, not by ours."""
    assert reply.status == 200, reply.body
    if not stream:
        return [_read(each["message"], each["finish_reason"]) for each in reply.json["choices"]]
    reader = readers[CODECS["openai_chat"].frames]()
    found: dict[int, dict[str, Any]] = {}
    for frame in [*reader.feed(reply.body), *reader.close()]:
        for choice in json.loads(frame.data)["choices"] if frame.data != "[DONE]" else ():
            into = found.setdefault(choice["index"], {"content": "", "tool_calls": {}, "finish": None})
            assert into["finish"] is None, "nothing follows the end of a choice"
            into["content"] += choice["delta"].get("content") or ""
            for call in choice["delta"].get("tool_calls", ()):
                made = into["tool_calls"].setdefault(call["index"], {"id": "", "name": "", "arguments": ""})
                made["id"] += call.get("id") or ""
                made["name"] += call["function"].get("name") or ""
                made["arguments"] += call["function"].get("arguments") or ""
            into["finish"] = choice["finish_reason"]
    return [
        _read({"content": each["content"], "tool_calls": [{"id": c["id"], "function": c} for c in each["tool_calls"].values()]}, each["finish"])
        for _, each in sorted(found.items())
    ]


def _read(message: Mapping[str, Any], finish: str) -> dict[str, Any]:
    calls = message.get("tool_calls") or ()
    return {
        "text": message.get("content") or "",
        "calls": [(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in calls],
        "ids": [call["id"] for call in calls],
        "finish": finish,
    }


def asked(model: Model, *, stream: bool, n: int = 2, body: Mapping[str, Any] = {}, **route: Any) -> list[dict[str, Any]]:
    gateway = app(model.peer(), **route)
    return choices_of(ask(gateway, "openai_chat", stream=stream, n=n, **body), stream=stream)


in_text_and_natively = pytest.mark.parametrize("mode", [Tools.TEXT, Tools.NATIVE], ids=["text", "native"])


@streamed_and_whole
@in_text_and_natively
@pytest.mark.parametrize("written", [HERMES, f"I look.\n{HERMES}", FENCE], ids=["hermes", "behind_words", "fence"])
def test_a_call_in_the_text_of_any_choice_is_a_call(written: str, mode: Tools, stream: bool) -> None:
    model = Model([written, written, {"message": {"content": "Blue."}}])
    first, second, third = asked(model, stream=stream, n=3, tools=mode)
    assert first["calls"] == second["calls"] == GOOD
    assert (first["text"].strip(), first["finish"]) == (second["text"].strip(), second["finish"])
    assert second["finish"] == "tool_calls"
    assert (third["text"], third["calls"], third["finish"]) == ("Blue.", [], "stop")
    assert len({*first["ids"], *second["ids"]}) == 2
    assert len(model.bodies) == 1
    assert model.bodies[0]["n"] == 3


@streamed_and_whole
def test_choices_that_come_in_another_order_have_each_its_own_number(stream: bool) -> None:
    whole = [{"index": n, "message": {"content": text}, "finish_reason": "stop"} for n, text in ((1, "B"), (0, "A"))]
    pieces = [{"index": n, "delta": {"content": text}, "finish_reason": None} for n, text in ((1, "B"), (0, "A"))]
    ends: list[dict[str, Any]] = [{"index": n, "delta": {}, "finish_reason": "stop"} for n in (1, 0)]
    chunks = [json.dumps({"choices": choices}) for choices in ([[one] for one in pieces + ends] if stream else [whole])]
    written = tuple(f"data: {chunk}\n\n".encode() for chunk in chunks) if stream else (chunks[0].encode(),)
    kind = {"content-type": "text/event-stream" if stream else "application/json"}
    reply = ask(app(ScriptedPeer([Answer(written, headers=kind)])), "openai_chat", stream=stream, n=2)
    assert sorted(one["text"] for one in choices_of(reply, stream=stream)) == ["A", "B"]
    if not stream:
        assert [(one["index"], one["message"]["content"]) for one in reply.json["choices"]] == [(0, "A"), (1, "B")]


@streamed_and_whole
@in_text_and_natively
def test_a_call_that_any_choice_shows_stays_text(mode: Tools, stream: bool) -> None:
    first, second = asked(Model([SHOWN, SHOWN]), stream=stream, tools=mode)
    assert first == second == {"text": SHOWN, "calls": [], "ids": [], "finish": "stop"}


@streamed_and_whole
def test_native_calls_of_any_choice_are_judged(stream: bool) -> None:
    odd = {"message": native(("look", '{"at": "sky",}'), ("look", '{"at": 7}')), "finish": "tool_calls"}
    first, second = asked(Model([odd, odd]), stream=stream, tools=Tools.NATIVE)
    assert first["calls"] == second["calls"] == [("look", {"at": "sky"}), ("look", {"at": "7"})]
    assert len({*first["ids"], *second["ids"]}) == 4


@streamed_and_whole
@in_text_and_natively
def test_a_call_that_cannot_run_is_said_in_words(mode: Tools, stream: bool) -> None:
    model = Model(["Blue.", BROKEN, {"message": {"content": CUT}, "finish": "length"}])
    first, second, third = asked(model, stream=stream, n=3, tools=mode)
    assert (first["text"], second["calls"], third["calls"]) == ("Blue.", [], [])
    assert "'lock' was not run" in second["text"]
    assert "was not run" in third["text"]
    assert (second["finish"], third["finish"]) == ("stop", "length")
    assert len(model.bodies) == 1


@streamed_and_whole
def test_names_are_the_clients_in_every_choice(stream: bool) -> None:
    wire = {"message": native(("sky_look_v1", '{"at": "sky"}')), "finish": "tool_calls"}
    model = Model([wire, wire])
    asked(model, stream=stream, tools=Tools.NATIVE, body={"tools": [DOTTED]})
    sent = model.bodies[0]["tools"][0]["function"]["name"]
    named = {"message": native((sent, '{"at": "sky"}')), "finish": "tool_calls"}
    answers = asked(Model([named, named]), stream=stream, tools=Tools.NATIVE, body={"tools": [DOTTED]})
    assert [each["calls"] for each in answers] == [[("sky.look.v1", {"at": "sky"})]] * 2


@streamed_and_whole
def test_only_the_first_is_asked_for_again_and_the_others_come_once(stream: bool) -> None:
    model = Model([BROKEN, "Blue.", HERMES], [HERMES])
    first, second, third = asked(model, stream=stream, n=3, tools=Tools.NATIVE)
    assert first["calls"] == third["calls"] == GOOD
    assert second["text"] == "Blue."
    assert [body.get("n") for body in model.bodies] == [3, None]


@streamed_and_whole
def test_a_call_in_doubt_is_asked_about_in_the_first_and_stays_text_in_the_others(stream: bool) -> None:
    doubtful = f"A call would look like this:\n{HERMES}"
    model = Model([doubtful, doubtful], ["No."])
    first, second = asked(model, stream=stream, tools=Tools.NATIVE)
    assert first["text"].strip() == second["text"].strip() == doubtful
    assert [body.get("n") for body in model.bodies] == [2, None]


@streamed_and_whole
def test_what_a_choice_says_besides_is_kept(stream: bool) -> None:
    each = {"message": {"content": "Blue."}, "logprobs": LOGPROBS}
    reply = ask(app(Model([each, each]).peer(), tools=Tools.NATIVE), "openai_chat", stream=stream, n=2)
    assert reply.body.count(b"-0.5") == 2
    assert "x-dragoman-unsupported-params" not in reply.headers


@streamed_and_whole
@pytest.mark.costly
def test_tools_that_run_here_need_one_conversation_and_the_client_is_told(stream: bool) -> None:
    async def script() -> Reply:
        model = Model(["Blue.", "Red."])
        async with alive(served(model.peer())) as gateway:
            body = {"model": "m", "messages": [{"role": "user", "content": "?"}], "n": 2, "stream": stream}
            reply = await Client(gateway, PATHS["openai_chat"], body).run()
        assert "n" not in model.bodies[0]
        return reply

    reply = asyncio.run(script())
    assert "n" in reply.headers["x-dragoman-unsupported-params"].split(",")


def test_where_a_backend_gives_one_answer_the_client_is_told() -> None:
    reply = ask(app(upstream("ollama_chat", CALLS), "ollama_chat"), "openai_chat", stream=False, n=2)
    assert reply.headers["x-dragoman-unsupported-params"].split(",")[0] == "n"
    assert len(reply.json["choices"]) == 1
