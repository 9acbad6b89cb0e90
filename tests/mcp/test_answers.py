"""What servers ask of a client, as our values and back."""

from __future__ import annotations

import asyncio
from typing import Any

import mcp_types as types
import pytest

from dragoman.mcp import ClientCallbacks
from dragoman.mcp.client_callbacks import sampling_request
from dragoman.types import JsonObject, Media, Message, Request, Response, Sampling, Stop, Text
from tests.support.mcp_lab import PIXEL

TEXT = {"type": "text", "text": "hi"}
IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
ASKED: list[tuple[dict[str, Any], Request]] = [
    ({"messages": [{"role": "user", "content": TEXT}], "maxTokens": 5},
     Request(model="", messages=(Message("user", "hi"),), sampling=Sampling(max_tokens=5))),
    ({"messages": [{"role": "user", "content": [TEXT, IMAGE]}, {"role": "assistant", "content": TEXT}]},
     Request(model="", messages=(Message("user", [Text("hi"), Media(mime="image/png", data=PIXEL)]), Message("assistant", "hi")))),
    ({"messages": [], "systemPrompt": "s", "temperature": 0.5, "stopSequences": ["x"],
      "modelPreferences": {"hints": [{}, {"name": "big"}, {"name": "small"}]}},
     Request(model="big", messages=(Message("system", "s"),), sampling=Sampling(temperature=0.5, stop=("x",)))),
]  # fmt: skip


@pytest.mark.parametrize(("params", "request_"), ASKED)
def test_a_servers_sampling_request_is_a_request(params: dict[str, Any], request_: Request) -> None:
    assert sampling_request(params) == request_


STOPS = [(Stop.END, "endTurn"), (None, "endTurn"), (Stop.LENGTH, "maxTokens"), (Stop.STOP_SEQUENCE, "stopSequence")]


@pytest.mark.parametrize(("stop", "reason"), STOPS)
def test_a_response_of_ours_is_what_the_server_gets(stop: Stop | None, reason: str) -> None:
    async def sample(_: Request) -> Response:
        return Response(message=Message("assistant", "four"), stop=stop, model="m")

    params = types.CreateMessageRequestParams.model_validate({"messages": [], "maxTokens": 5})
    answer = asyncio.run(ClientCallbacks(sample=sample).callbacks()["sampling_callback"](None, params))
    assert (answer.role, answer.model, answer.stop_reason, answer.content.text) == ("assistant", "m", reason, "four")


FORM = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}
URL = {"mode": "url", "message": "Log in", "url": "https://h/login", "elicitationId": "e1"}


@pytest.mark.parametrize(("params", "question"), [(FORM, "Who?"), (URL, "Log in\nhttps://h/login")])
@pytest.mark.parametrize(("answer", "action"), [({"name": "Ann"}, "accept"), (None, "decline")])
def test_a_question_is_put_in_words_and_answered_or_declined(
    params: dict[str, Any], question: str, answer: JsonObject | None, action: str
) -> None:
    requests: list[tuple[str, JsonObject]] = []

    def elicit(message: str, schema: JsonObject) -> JsonObject | None:
        requests.append((message, schema))
        return answer

    kind = types.ElicitRequestURLParams if "url" in params else types.ElicitRequestFormParams
    result = asyncio.run(
        ClientCallbacks(elicit=elicit).callbacks()["elicitation_callback"](None, kind.model_validate(params))
    )
    assert (result.action, result.content) == (action, answer)
    [(message, schema)] = requests
    assert message == question
    assert schema["type"] == "object"


def test_only_what_is_answered_is_offered() -> None:
    assert ClientCallbacks().callbacks() == {}
    assert set(ClientCallbacks(roots=["."]).callbacks()) == {"list_roots_callback"}
