"""Who asks is proved on the request itself: tokens fetched and kept, keys signed with, requests signed."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from dragoman.effects import Machine, Open, run
from dragoman.errors import ErrorKind, ProviderError, UsageError
from dragoman.io.environment import route_to
from dragoman.providers.authorize import Tokens, admit, signals
from dragoman.providers.route import Route
from dragoman.providers.rows import PROVIDERS, Tools
from dragoman.providers.sigv4 import Credentials, Scope, sign
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.turn.capabilities import Capabilities
from dragoman.turn.machine import turn
from dragoman.types import Media, Message, Request, Response, Text, Tool, ToolCall, ToolResult
from tests.support.upstreams import model, refusal, text_reply

SECRET = "a-very-secret-key"
ASK = Request(model="m", messages=(Message("user", "hi"),))
BODY = b'{"a": 1}'


def stackspot(**more: str) -> Route:
    environ = {"STACKSPOT_CLIENT_ID": "my-client", "STACKSPOT_CLIENT_KEY": SECRET, "STACKSPOT_REALM": "acme"}
    return route_to(PROVIDERS["stackspot"], environ=environ | more, model="agent")


def token(value: str = "tok-1", lasts: Any = 1200) -> Answer:
    return refusal(200, {"access_token": value, "expires_in": lasts})


SPOKEN = refusal(200, {"message": "hello"})
"""StackSpot's answer, whole."""


def ask(memory: ScriptedPeer, route: Route, learned: Capabilities, request: Request = ASK) -> Response:
    return run(turn(request, route, learned), memory.sync_performer())


# ── tokens ───────────────────────────────────────────────────────────────────


def test_a_token_is_fetched_once_and_sent_with_every_request() -> None:
    memory, learned = ScriptedPeer([token(), SPOKEN, SPOKEN]), Capabilities()
    assert ask(memory, stackspot(), learned).text == "hello"
    assert ask(memory, stackspot(), learned).text == "hello"
    fetched, *spoken = memory.sent
    assert fetched.url == "https://idm.stackspot.com/acme/oidc/oauth/token"
    assert b"client_id=my-client" in fetched.body
    assert [opened.headers["authorization"] for opened in spoken] == ["Bearer tok-1"] * 2
    assert all(SECRET.encode() not in opened.body for opened in spoken)


def test_a_token_is_fetched_anew_before_its_end() -> None:
    memory, learned = ScriptedPeer([token(lasts=100), SPOKEN, token("tok-2"), SPOKEN]), Capabilities()
    ask(memory, stackspot(), learned)
    memory.slept.append(41)
    ask(memory, stackspot(), learned)
    assert memory.sent[-1].headers["authorization"] == "Bearer tok-2"


def test_a_refused_token_is_forgotten() -> None:
    memory, learned = ScriptedPeer([token(), refusal(401, {"message": "no"}), token("tok-2"), SPOKEN]), Capabilities()
    with pytest.raises(ProviderError) as caught:
        ask(memory, stackspot(), learned)
    assert caught.value.kind is ErrorKind.AUTH
    ask(memory, stackspot(), learned)
    assert memory.sent[-1].headers["authorization"] == "Bearer tok-2"


OTHERS = [{"STACKSPOT_REALM": "else"}, {"STACKSPOT_CLIENT_ID": "b"}, {"STACKSPOT_CLIENT_KEY": "k"}]


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_a_token_goes_to_nobody_else(other: dict[str, str]) -> None:
    memory, learned = ScriptedPeer([token(), SPOKEN, token("tok-2"), SPOKEN]), Capabilities()
    ask(memory, stackspot(), learned)
    ask(memory, stackspot(**other), learned)
    assert memory.sent[-1].headers["authorization"] == "Bearer tok-2"


NO_TOKENS: list[tuple[str, Answer, ErrorKind, str]] = [
    ("a wrong key", refusal(401, {"error": "invalid_client", "error_description": f"bad {SECRET}"}),
     ErrorKind.AUTH, "invalid_client"),
    ("no server", refusal(503, b"down"), ErrorKind.SERVER, "down"),
    ("a web page", refusal(200, b"<html>"), ErrorKind.AUTH, "Expecting value"),
    ("something else", refusal(200, {"token": "x"}), ErrorKind.AUTH, "no access_token"),
    ("something deep", refusal(200, b"[" * 200_000), ErrorKind.AUTH, "gave no token"),
    ("a redirect", refusal(302, b""), ErrorKind.AUTH, "status 302"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "kind", "words"), [n[1:] for n in NO_TOKENS], ids=[n[0] for n in NO_TOKENS])
def test_a_place_that_gives_no_token_is_told_without_secrets(answer: Answer, kind: ErrorKind, words: str) -> None:
    memory = ScriptedPeer([answer])
    with pytest.raises(ProviderError) as caught:
        ask(memory, stackspot(), Capabilities())
    error = caught.value
    assert error.kind is kind
    assert words in error.message
    assert "stackspot" in error.message
    assert SECRET not in str(error) + error.body + repr(error)
    assert memory.closed == len(memory.sent) == 1


def test_what_is_kept_shows_no_secret() -> None:
    tokens = Tokens()
    run(admit(Open(url="https://h"), stackspot(), tokens), ScriptedPeer([token(SECRET)]).sync_performer())
    assert SECRET not in repr(vars(tokens))


def test_a_missing_realm_is_the_callers_mistake() -> None:
    route = Route(provider=PROVIDERS["stackspot"], key="k", secrets={"client_id": "c"})
    with pytest.raises(UsageError, match="set STACKSPOT_REALM"):
        run(admit(Open(url="https://h"), route, Tokens()), ScriptedPeer([]).sync_performer())


# ── keys that sign ───────────────────────────────────────────────────────────


def admitted(machine: Machine[Open], now: float) -> Mapping[str, str]:
    """The headers of what goes out where it is `now`."""
    memory = ScriptedPeer([])
    memory.slept.append(now)
    return run(machine, memory.sync_performer()).headers


def test_zais_key_signs_a_token_for_each_request() -> None:
    route = route_to(PROVIDERS["zai"], environ={"ZAI_API_KEY": f"name.{SECRET}"})
    headers = admitted(admit(Open(url="https://h", headers=route.headers()), route, Tokens()), 7.0)
    claims = headers["authorization"].split(".")[1]
    assert json.loads(base64.urlsafe_b64decode(claims + "==="))["timestamp"] == 7000
    assert SECRET not in str(headers)


@pytest.mark.parametrize("echoed", [SECRET, f"name.{SECRET}"])
def test_a_signing_key_is_redacted_whole_and_in_half(echoed: str) -> None:
    route = route_to(PROVIDERS["zai"], environ={"ZAI_API_KEY": f"name.{SECRET}"})
    with pytest.raises(ProviderError) as caught:
        ask(ScriptedPeer([refusal(401, {"error": {"message": f"wrong {echoed}"}})]), route, Capabilities())
    assert SECRET not in str(caught.value) + caught.value.body


# ── signed requests ──────────────────────────────────────────────────────────

AWS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "eu-west-1"}
THEN = 1_440_938_160.0


@pytest.mark.parametrize("session", ["", "session-token"])
def test_a_request_to_bedrock_is_signed_as_it_goes_out(session: str) -> None:
    environ = AWS | ({"AWS_SESSION_TOKEN": session} if session else {})
    route = route_to(PROVIDERS["bedrock-invoke"], environ=environ)
    opened = Open(url=route.request_url("/model/{model}/invoke", "a.b:1"), headers=route.headers(), body=BODY)
    headers = admitted(admit(opened, route, Tokens()), THEN)
    credentials = Credentials(access_key_id="AKIDEXAMPLE", secret_access_key=SECRET, session_token=session)
    scope = Scope("eu-west-1", "bedrock")
    wanted = sign("POST", opened.url, opened.headers, BODY, credentials=credentials, scope=scope, now=THEN)
    assert headers == {**opened.headers, **wanted}
    assert "Credential=AKIDEXAMPLE/20150830/eu-west-1/bedrock/aws4_request" in headers["authorization"]
    assert headers.get("x-amz-security-token", "") == session
    assert SECRET not in str(headers)


def test_a_bedrock_request_is_signed_over_its_bytes() -> None:
    said = {"message": {"role": "assistant", "content": [{"text": "hello"}]}}
    usage = {"inputTokens": 200, "outputTokens": 5, "totalTokens": 205}
    memory = ScriptedPeer([refusal(200, {"output": said, "stopReason": "end_turn", "usage": usage})])
    memory.slept.append(THEN)
    request = Request(
        model="us.anthropic.claude-sonnet-4-5-20250929-v1:0", messages=ASK.messages, tools=(Tool(name="f"),)
    )
    assert run(turn(request, route_to(PROVIDERS["bedrock"], environ=AWS)), memory.sync_performer()).text == "hello"
    (opened,) = memory.sent
    host = "https://bedrock-runtime.eu-west-1.amazonaws.com"
    assert opened.url == f"{host}/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/converse"
    given = {name: value for name, value in opened.headers.items() if name not in ("authorization", "x-amz-date")}
    credentials = Credentials(access_key_id="AKIDEXAMPLE", secret_access_key=SECRET)
    scope = Scope("eu-west-1", "bedrock")
    wanted = sign("POST", opened.url, given, opened.body, credentials=credentials, scope=scope, now=THEN)
    assert opened.headers["authorization"] == wanted["authorization"]


def test_a_bearer_key_of_bedrock_is_sent_as_it_is() -> None:
    only = route_to(PROVIDERS["bedrock"], environ={"AWS_BEARER_TOKEN_BEDROCK": "b"})
    headers = admitted(admit(Open(url="https://h", headers=only.headers()), only, Tokens()), 0.0)
    assert headers["authorization"] == "Bearer b"


# ── headers that say something of a request ──────────────────────────────────

IMAGE = Media(mime="image/png", data="eA==")
CALL = Message("assistant", [ToolCall(id="c1", name="look")])
DONE = ToolResult(call_id="c1", name="look", content="blue")
SEEN = ToolResult(call_id="c1", name="look", content=[IMAGE])
USER = Message("user", "hi")
SIGNALS: list[tuple[str, list[Message], dict[str, str]]] = [
    ("the user asks", [USER], {"x-initiator": "user"}),
    ("instructions come first", [Message("system", "s"), USER], {"x-initiator": "user"}),
    ("results go back", [USER, CALL, Message("tool", [DONE])], {"x-initiator": "agent"}),
    ("results go back as the user's", [USER, CALL, Message("user", [DONE])], {"x-initiator": "agent"}),
    ("the user asks again", [USER, Message("assistant", "hello"), USER], {"x-initiator": "user"}),
    ("an image", [Message("user", [Text("what is it?"), IMAGE])],
     {"x-initiator": "user", "copilot-vision-request": "true"}),
    ("a recording", [Message("user", [Media(mime="audio/wav", data="eA==")])], {"x-initiator": "user"}),
    ("an image in a result", [USER, CALL, Message("tool", [SEEN])],
     {"x-initiator": "agent", "copilot-vision-request": "true"}),
    ("nothing", [], {"x-initiator": "user"}),
]  # fmt: skip
COPILOT = Route(provider=PROVIDERS["github-copilot"], key="k")


@pytest.mark.parametrize(("messages", "wanted"), [s[1:] for s in SIGNALS], ids=[s[0] for s in SIGNALS])
def test_copilot_is_told_of_the_request(messages: list[Message], wanted: dict[str, str]) -> None:
    assert signals(replace(ASK, messages=tuple(messages)), COPILOT) == wanted
    assert signals(replace(ASK, messages=tuple(messages)), Route(provider=PROVIDERS["openai"])) == {}


@pytest.mark.parametrize("tools", [Tools.NATIVE, Tools.TEXT])
def test_results_told_in_text_are_results_still(tools: Tools) -> None:
    memory = model("openai_chat", text_reply("ok"))
    request = replace(ASK, messages=(USER, CALL, Message("tool", [DONE])), tools=(Tool(name="look"),))
    run(turn(request, replace(COPILOT, tools=tools)), memory.sync_performer())
    assert memory.sent[0].headers["x-initiator"] == "agent"
    assert memory.sent[0].headers["openai-intent"] == "conversation-edits"
