"""Document 004 at run time: odd answers of a model, by every way of asking it, in a run and through the gateway.

An answer is an action, a final, or is asked for again: raw protocol text is never handed out as one.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from dragoman.client import Client
from dragoman.errors import UsageError
from dragoman.gateway.config.load import read as read_settings
from dragoman.loop import Answered, Bound, FinalAction, Limit, Policy
from dragoman.providers.spec import Tools
from dragoman.tools import ToolSet
from dragoman.types import JsonObject
from tests.support.asgi import call
from tests.support.both_clients import Face, both
from tests.support.gateways import PATHS, app, read, streamed_and_whole
from tests.support.places import VECTORS
from tests.support.scenes import Played, Shop, play, route, sent
from tests.support.upstreams import model, text_reply

VECTOR_FILE = VECTORS / "protocol" / "answers.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in VECTOR_FILE.read_text().splitlines()]
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"namespace": {"type": "string"}, "items": {"type": "array"}},
    "required": ["namespace", "items"],
}
IN_PROTOCOL: dict[str, Any] = {"tools": Tools.TEXT, "prompt_dialect": "json_protocol"}
WAYS: dict[str, dict[str, Any]] = {
    "named": {**IN_PROTOCOL, "dialects": "json_protocol"},
    "auto": IN_PROTOCOL,
    "native": {},
}
FINAL = '{"final":{"content":"saved"}}'
RAW = re.compile(r"[\"'“](?:thoughts?|action|final)[\"'”]\s*:|@tool |~~~|<tool_call>|Action Input", re.IGNORECASE)
WORDS = re.compile(r"\[The (?:call of .* was not run|model gave no answer in the form)")

rows = pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])


def tools(shop: Shop) -> ToolSet:
    return ToolSet(shop.make("upsert", SCHEMA, lambda a: {"upserted": len(a["items"])}))


def run(*answers: str, way: str, **more: Any) -> Played:
    policy = Policy(max_corrections=2, max_turns=6)
    return play(*answers, to=route(**{**WAYS[way], **more}), tools=tools, policy=policy)


def shown(played: Played) -> str:
    """What the caller takes for the answer."""
    return played.run.text if isinstance(played.run.end, Answered | FinalAction) else ""


def served(*answers: str, way: str, stream: bool, **more: Any) -> tuple[str, bool, int]:
    """What a client of the gateway gets: the text, whether a call, and how often the model was asked."""
    memory = model("openai_chat", *map(text_reply, answers))
    tool = {"name": "upsert", "description": "Saves.", "input_schema": SCHEMA}
    body = {"model": "m", "max_tokens": 900, "messages": [{"role": "user", "content": "Save."}], "tools": [tool]}
    gateway = app(memory, "openai_chat", **{**WAYS[way], **more})
    reply = call(gateway, PATHS["anthropic_messages"], {**body, "stream": stream})
    assert reply.status == 200
    response = read("anthropic_messages", reply, stream=stream)
    return response.text, bool(response.calls), len(memory.sent)


# ── once: the next answer is right ───────────────────────────────────────────


def what_came(*, ran: bool, asked: int) -> str:
    return "action" if ran else "reask" if asked > 1 else "final"


@pytest.mark.requirement("004-loop")
@pytest.mark.parametrize("way", ["named", "auto"])
@pytest.mark.parametrize("strict", [True, False], ids=["strict", "tolerant"])
@rows
def test_an_answer_is_an_action_a_final_or_asked_for_again(row: dict[str, Any], strict: bool, way: str) -> None:
    got = run(row["text"], FINAL, FINAL, FINAL, way=way, strict=strict)
    assert not RAW.search(shown(got))
    assert isinstance(got.run.end, FinalAction) or not strict
    came = what_came(ran=bool(got.shop.ran), asked=len(got.requests))
    if strict:
        assert came in row["may"]
    elif "tolerated" in row:
        assert came == row["tolerated"]


@pytest.mark.requirement("004-loop")
@pytest.mark.parametrize("way", ["named", "auto"])
@pytest.mark.parametrize("strict", [True, False], ids=["strict", "tolerant"])
@streamed_and_whole
@rows
def test_the_gateway_holds_to_it_too(row: dict[str, Any], stream: bool, strict: bool, way: str) -> None:
    text, ran, asked = served(row["text"], FINAL, FINAL, FINAL, way=way, stream=stream, strict=strict)
    assert not RAW.search(text)
    if strict:
        assert what_came(ran=ran, asked=asked) in row["may"]


@pytest.mark.requirement("004-loop")
@rows
def test_where_nobody_told_the_protocol_its_text_is_no_answer_either(row: dict[str, Any]) -> None:
    assert not RAW.search(shown(run(row["text"], "Saved.", "Saved.", "Saved.", way="native")))


@pytest.mark.requirement("004-loop")
@streamed_and_whole
@rows
def test_nor_does_the_gateway_hand_it_out(row: dict[str, Any], stream: bool) -> None:
    assert not RAW.search(served(row["text"], "Saved.", "Saved.", way="native", stream=stream)[0])


# ── again and again ──────────────────────────────────────────────────────────


@pytest.mark.requirement("004-loop")
@pytest.mark.parametrize("way", WAYS)
@rows
def test_a_model_that_insists_ends_the_run_in_words(row: dict[str, Any], way: str) -> None:
    got = run(*[row["text"]] * 8, way=way, strict=way != "native")
    assert not RAW.search(shown(got))
    if row["may"] == ["reask"] and way != "native":
        assert got.run.end == Limit(Bound.CORRECTIONS, 2)
        assert not got.shop.ran


@pytest.mark.requirement("004-loop")
@pytest.mark.parametrize("way", WAYS)
@streamed_and_whole
@rows
def test_a_client_is_told_in_words_too(row: dict[str, Any], stream: bool, way: str) -> None:
    text, _, _ = served(*[row["text"]] * 4, way=way, stream=stream, strict=way != "native")
    assert not RAW.search(text)
    if row["may"] == ["reask"] and way != "native":
        assert WORDS.search(text)


# ── where it was in doubt ────────────────────────────────────────────────────

ACTION = ROWS[0]["text"]
EXAMPLE = f"Agents of that kind write:\n{ACTION}"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_action_in_doubt_is_asked_about_then_refused_as_protocol(stream: bool) -> None:
    assert served(f"{ACTION}\nDone!", "No.", "It is saved.", way="native", stream=stream) == ("It is saved.", False, 3)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_example_that_words_led_to_stands_after_a_plain_no(stream: bool) -> None:
    assert served(EXAMPLE, "No.", way="native", stream=stream) == (EXAMPLE, False, 2)


@pytest.mark.parametrize("doubt", ["ask", "text"])
def test_an_action_in_doubt_that_nobody_may_ask_about_is_no_answer(doubt: str) -> None:
    policy = Policy(max_corrections=0, doubt=doubt)
    got = play(f"{ACTION}\nDone!", "Saved.", to=route(), tools=tools, policy=policy)
    assert got.run.end == Limit(Bound.CORRECTIONS, 0)
    assert not RAW.search(shown(got))


# ── what the model is shown of it ────────────────────────────────────────────


@pytest.mark.requirement("004-loop")
@pytest.mark.parametrize("text", ['{"thought":"hm"}', "I have saved it.", '{"plan":"x","action":{"tool":"upsert"}}'])
def test_a_refused_answer_is_replayed_as_it_was(text: str) -> None:
    got = run(text, FINAL, way="named", strict=True)
    assert [m["content"] for m in sent(got.memory)["messages"] if m["role"] == "assistant"] == [text]
    assert "exactly one JSON object" in got.corrections[0]


@pytest.mark.requirement("004-loop")
def test_prose_is_an_answer_unless_the_protocol_is_enforced() -> None:
    assert shown(run("It is saved.", way="named")) == "It is saved."
    assert shown(run("Use `{}` for none, as in {\"a\": 1}.", way="auto")) == 'Use `{}` for none, as in {"a": 1}.'


OTHERS = [
    'Set {"action": "allow", "port": 80} in the file.',
    '```json\n{"final": 3, "semi": 4}\n```',
    '[{"thought": 1, "b": 2}]',
    "if (a) { return b; }",
    "{}",
    "{",
    'Agents of that kind write `{"thought": "…", "action": {"tool": "upsert", "args": {}}}` and nothing else.',
    "A " + "{\"k\": [" + "1, " * 400 + "1]}",
]


@pytest.mark.parametrize("text", OTHERS)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_other_json_is_an_answer_as_it_stands(text: str, size: int) -> None:
    got = play(text_reply(text, size=size), to=route(), tools=tools)
    assert (got.run.text, got.run.turns) == (text, 1)


@rows
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("strict", [True, False], ids=["strict", "tolerant"])
def test_any_chunking_gives_the_same(row: dict[str, Any], way: str, strict: bool) -> None:
    last = text_reply(FINAL)

    def come_to(size: int) -> tuple[Any, ...]:
        played = play(
            text_reply(row["text"], size=size), last, last, last, to=route(**{**WAYS[way], "strict": strict}),
            tools=tools,
        )  # fmt: skip
        return played.shop.ran, played.run.text, played.run.messages, played.run.issues

    assert come_to(1) == come_to(7) == come_to(10_000)


# ── where it is asked for ────────────────────────────────────────────────────

FOR_CLIENTS: dict[str, Any] = {"tool_mode": "text", "prompt_dialect": "json_protocol"}
def upsert(namespace: str, items: list[str]) -> int:
    """Saves items."""
    return len(items)


PROSE = "I have saved it."


@pytest.mark.requirement("004-loop")
@pytest.mark.parametrize(
    "given",
    [
        {"client": {"strict": True}},
        {"policy": Policy(strict=True)},
        {"client": {"policy": Policy(strict=True)}},
        {"client": {"routes": [route(model="m", **IN_PROTOCOL, strict=True)], "model": ()}},
    ],
    ids=["client", "policy", "policy of the client", "route"],
)
@both
def test_a_client_enforces_the_protocol(face: Face, given: dict[str, Any]) -> None:
    memory = model("openai_chat", text_reply(PROSE), text_reply(FINAL))
    given = dict(given)
    own = given.pop("client", {})
    client = {**({} if "routes" in own else FOR_CLIENTS), **own}
    run = face.run(memory, "Save.", tools=[upsert], client=client, **given)
    assert (run.end, len(memory.sent)) == (FinalAction("saved"), 2)


@pytest.mark.requirement("004-loop")
def test_a_policy_takes_the_enforcement_back() -> None:
    memory = model("openai_chat", text_reply(PROSE))
    with Client("m", base_url="http://model.test", performer=memory.sync_performer, strict=True, **FOR_CLIENTS) as client:
            assert client.run("Save.", tools=[upsert], policy=Policy(strict=False)).text == PROSE


def test_a_model_of_the_settings_says_it() -> None:
    row = {"route": "ollama/m", "dialect": "json_protocol", "strict": True}
    found = read_settings({"models": {"m": row}}, {}).config
    assert [each.strict for each in found.routes("m")] == [True]


@pytest.mark.parametrize("mode", ["text", "native", Tools.TEXT])
def test_the_way_for_tools_is_one_option_of_a_client(mode: Any) -> None:
    memory = model("openai_chat", text_reply(PROSE))
    with Client("m", base_url="http://model.test", performer=memory.sync_performer, tool_mode=mode) as client:
        client.run("Save.", tools=[upsert])
    assert ("tools" in sent(memory)) is (mode == "native")


def test_a_way_for_tools_that_there_is_not_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="give one of native, text, both"):
        Client("ollama/m", tool_mode="xml")
