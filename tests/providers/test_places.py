"""Places of clouds: our requests go where the vendors' own clients send theirs, with the same proof of who asks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import httpx2
import pytest

from dragoman.effects import run
from dragoman.errors import ProviderError
from dragoman.io.environment import route_to
from dragoman.providers.rows import PROVIDERS
from dragoman.sim.scripted import ScriptedPeer
from dragoman.turn.machine import turn
from dragoman.types import Message, Request, Sampling
from tests.support.upstreams import refusal, sent

openai: Any = pytest.importorskip("openai")
anthropic: Any = pytest.importorskip("anthropic")
genai: Any = pytest.importorskip("google.genai")
credentials: Any = pytest.importorskip("google.oauth2.credentials")

TOKEN = "t0ken"
Call = Callable[[Any, bool], Any]
"""Makes the client's request over this HTTP client, streamed or whole."""


def _messages(client: Any, stream: bool) -> Any:
    return client.messages.create(
        model="m-1", max_tokens=9, messages=[{"role": "user", "content": "hi"}], stream=stream
    )


def _chat(client: Any, stream: bool) -> Any:
    return client.chat.completions.create(model="m-1", messages=[{"role": "user", "content": "hi"}], stream=stream)


def _responses(client: Any, stream: bool) -> Any:
    return client.responses.create(model="m-1", input=[{"role": "user", "content": "hi"}], stream=stream)


def _vertex(region: str) -> Call:
    return lambda http, stream: _messages(
        anthropic.AnthropicVertex(region=region, project_id="p-1", access_token=TOKEN, http_client=http, max_retries=0),
        stream,
    )


def _gemini(location: str) -> Call:
    def call(http: Any, stream: bool) -> Any:
        client = genai.Client(
            vertexai=True, project="p-1", location=location, credentials=credentials.Credentials(token=TOKEN),
            http_options=genai.types.HttpOptions(httpx_client=http),
        )  # fmt: skip
        contents = [{"role": "user", "parts": [{"text": "hi"}]}]
        if stream:
            return list(client.models.generate_content_stream(model="m-1", contents=contents))
        return client.models.generate_content(model="m-1", contents=contents)

    return call


AWS = {"AWS_BEARER_TOKEN_BEDROCK": TOKEN, "AWS_REGION": "eu-west-1"}
AZURE = {"AZURE_OPENAI_API_KEY": TOKEN, "AZURE_OPENAI_ENDPOINT": "https://me.openai.azure.com"}


def _vertex_env(location: str) -> dict[str, str]:
    return {"GOOGLE_OAUTH_ACCESS_TOKEN": TOKEN, "GOOGLE_CLOUD_PROJECT": "p-1", "GOOGLE_CLOUD_LOCATION": location}


PLACES: list[tuple[str, str, Mapping[str, str], tuple[str, ...], Call]] = [
    # what is special, the row, the environment, the headers that count, the vendor's client
    *(
        (f"claude at {where}", "vertex-anthropic", _vertex_env(where), ("authorization",), _vertex(where))
        for where in ("global", "us", "eu", "europe-west4")
    ),
    *(
        (f"gemini at {where}", "vertex", _vertex_env(where), ("authorization",), _gemini(where))
        for where in ("global", "us", "eu", "europe-west4")
    ),
    ("claude on mantle", "bedrock-mantle-anthropic", AWS, ("authorization",),
     lambda http, stream: _messages(anthropic.AnthropicBedrockMantle(
         api_key=TOKEN, aws_region="eu-west-1", http_client=http, max_retries=0), stream)),
    ("claude's platform on AWS", "aws-anthropic",
     {"ANTHROPIC_AWS_API_KEY": TOKEN, "AWS_REGION": "eu-west-1", "ANTHROPIC_AWS_WORKSPACE_ID": "w-1"},
     ("authorization", "anthropic-workspace-id"),
     lambda http, stream: _messages(anthropic.AnthropicAWS(
         api_key=TOKEN, aws_region="eu-west-1", workspace_id="w-1", http_client=http, max_retries=0), stream)),
    ("claude on Foundry", "azure-anthropic",
     {"ANTHROPIC_FOUNDRY_API_KEY": TOKEN, "ANTHROPIC_FOUNDRY_RESOURCE": "r-1"}, ("x-api-key",),
     lambda http, stream: _messages(anthropic.AnthropicFoundry(
         api_key=TOKEN, resource="r-1", http_client=http, max_retries=0), stream)),
    ("responses on mantle", "bedrock-mantle", AWS, ("authorization",),
     lambda http, stream: _responses(openai.BedrockOpenAI(
         api_key=TOKEN, aws_region="eu-west-1", http_client=http, max_retries=0), stream)),
    ("chat on mantle", "bedrock-mantle-chat", AWS, ("authorization",),
     lambda http, stream: _chat(openai.BedrockOpenAI(
         api_key=TOKEN, aws_region="eu-west-1", http_client=http, max_retries=0), stream)),
    ("responses on Bedrock", "bedrock-responses", AWS, ("authorization",),
     lambda http, stream: _responses(openai.BedrockOpenAI(
         api_key=TOKEN, base_url="https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1", aws_region="eu-west-1",
         http_client=http, max_retries=0), stream)),
    ("chat on Bedrock", "bedrock-openai", AWS, ("authorization",),
     lambda http, stream: _chat(openai.BedrockOpenAI(
         api_key=TOKEN, base_url="https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1", aws_region="eu-west-1",
         http_client=http, max_retries=0), stream)),
    ("responses on Azure", "azure-responses", AZURE, ("api-key",),
     lambda http, stream: _responses(openai.OpenAI(
         api_key=TOKEN, base_url="https://me.openai.azure.com/openai/v1", default_headers={"api-key": TOKEN},
         http_client=http, max_retries=0), stream)),
    ("dated responses on Azure", "azure-responses", {**AZURE, "OPENAI_API_VERSION": "2025-04-01-preview"}, ("api-key",),
     lambda http, stream: _responses(openai.AzureOpenAI(
         api_key=TOKEN, azure_endpoint="https://me.openai.azure.com", api_version="2025-04-01-preview",
         http_client=http, max_retries=0), stream)),
    ("deployments on Azure", "azure", {**AZURE, "OPENAI_API_VERSION": "2025-04-01-preview"}, ("api-key",),
     lambda http, stream: _chat(openai.AzureOpenAI(
         api_key=TOKEN, azure_endpoint="https://me.openai.azure.com", api_version="2025-04-01-preview",
         http_client=http, max_retries=0), stream)),
]  # fmt: skip


def theirs(call: Call, *, stream: bool) -> httpx2.Request:
    """The request that the vendor's client makes."""
    seen: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(400, json={"error": {"message": "enough"}})

    with httpx2.Client(transport=httpx2.MockTransport(answer)) as http, pytest.raises(Exception, match="enough"):
        call(http, stream)
    return seen[0]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("name", "environ", "headers", "call"), [row[1:] for row in PLACES], ids=[row[0] for row in PLACES])
def test_a_request_is_the_one_that_the_vendors_client_makes(
    name: str, environ: Mapping[str, str], headers: tuple[str, ...], call: Call, stream: bool
) -> None:
    expected = theirs(call, stream=stream)
    route = route_to(PROVIDERS[name], environ=dict(environ), stream=stream or None)
    peer = ScriptedPeer([refusal(401, {"error": {"message": "enough"}})])
    request = Request(model="m-1", messages=(Message("user", "hi"),), sampling=Sampling(max_tokens=9), stream=stream)
    with pytest.raises(ProviderError, match="enough"):
        run(turn(request, route), peer.sync_performer())
    made = peer.sent[0]
    assert made.url == str(expected.url)
    assert {name: made.headers[name] for name in headers} == {name: expected.headers[name] for name in headers}
    body, wanted = sent(peer), json.loads(expected.content)
    left = ("messages", "input", "contents", "generationConfig", "stream", "anthropic_version")
    assert {key: body.get(key) for key in wanted if key not in left} == {
        key: value for key, value in wanted.items() if key not in left
    }
    assert bool(body.get("stream")) is bool(wanted.get("stream"))
    assert ("model" in body) is ("model" in wanted)
