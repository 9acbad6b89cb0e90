"""Endpoints that ask no model: lists of models, counts, health, the dialect engine as JSON, and wrong addresses."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from dragoman.gateway import GatewayConfig, create_app
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.asgi import Reply, call

LISTED = Answer((b'{"data": [{"id": "qwen3:8b"}, {"id": "org/plain"}]}',), headers={"content-type": "application/json"})


def app(*answers: Answer) -> Any:
    to = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
    return create_app(GatewayConfig(default=to), ScriptedPeer(answers))


def get(path: str, **more: Any) -> Reply:
    return call(app(LISTED), path, method="GET", **more)


SHAPES = [
    ("/v1/models", {}, lambda body: [m["id"] for m in body["data"]]),
    ("/models", {}, lambda body: [m["id"] for m in body["data"]]),
    ("/v1/models", {"anthropic-version": "2023-06-01"}, lambda body: [m["display_name"] for m in body["data"]]),
    ("/v1/models", {"x-goog-api-key": "k"}, lambda body: [m["name"][7:] for m in body["models"]]),
    ("/v1beta/models", {}, lambda body: [m["name"][7:] for m in body["models"]]),
    ("/api/tags", {}, lambda body: [m["model"] for m in body["models"]]),
    ("/api/ps", {}, lambda body: [m["name"] for m in body["models"]]),
]


@pytest.mark.parametrize(("path", "headers", "names"), SHAPES, ids=[f"{r[0]} {''.join(r[1])}" for r in SHAPES])
def test_the_models_are_listed_in_the_callers_shape(path: str, headers: dict[str, str], names: Any) -> None:
    assert names(get(path, headers=headers).json) == ["qwen3:8b", "org/plain"]


@pytest.mark.parametrize("path", ["/v1/models/qwen3:8b", "/v1beta/models/org/plain", "/v1/models/org%2Fplain"])
def test_one_model_is_shown(path: str) -> None:
    assert get(path).status == 200


def test_a_model_that_is_not_served_is_not_shown() -> None:
    reply = get("/v1/models/gpt-9")
    assert reply.status == 404
    assert "qwen3:8b" in reply.json["error"]["message"]


def test_ollama_shows_that_every_model_has_tools() -> None:
    answer = call(app(), "/api/show", {"model": "qwen3:8b"}).json
    assert {"completion", "tools"} <= set(answer["capabilities"])
    family = answer["model_info"]["general.architecture"]
    assert answer["model_info"][f"{family}.context_length"] > 0
    assert call(app(), "/api/show", {}).status == 400


NAMED = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")


def by_name() -> Any:
    return create_app(GatewayConfig(models={"plain": NAMED, "oai/*": NAMED}), ScriptedPeer([]))


@pytest.mark.parametrize("path", ["/v1/models/oai/abc", "/v1/models/oai%2Fabc", "/v1beta/models/oai/abc"])
def test_a_model_that_a_pattern_serves_is_shown(path: str) -> None:
    assert call(by_name(), path, method="GET").status == 200


def test_ollama_is_told_of_a_model_that_is_not_served() -> None:
    reply = call(by_name(), "/api/show", {"model": "nope"})
    assert reply.status == 404
    assert "'nope' is not served here" in reply.json["error"]
    assert call(by_name(), "/api/show", {"model": "oai/abc"}).status == 200


def test_ollamas_tag_is_no_part_of_a_name() -> None:
    assert call(by_name(), "/api/show", {"model": "plain:latest"}).status == 200
    config = GatewayConfig(models={"plain": NAMED, "own:latest": replace(NAMED, model="o"), "*": replace(NAMED, model="p*")})
    assert [config.routes(name)[0].model for name in ("plain:latest", "own:latest", "x:latest")] == ["", "o", "px:latest"]


@pytest.mark.parametrize(("method", "path"), [("GET", "/v1beta/models/nope"), ("POST", "/v1beta/models/plain:fooBar")])
def test_what_gemini_has_not_is_refused_in_its_form(method: str, path: str) -> None:
    reply = call(by_name(), path, {} if method == "POST" else None, method=method)
    assert reply.status == 404
    assert reply.json["error"].keys() == {"code", "message", "status"}
    assert (reply.json["error"]["code"], reply.json["error"]["status"]) == (404, "NOT_FOUND")


COUNTS = [
    ("/v1/messages/count_tokens?beta=true", {"messages": [{"role": "user", "content": "hi"}]}, "tools", "input_tokens"),
    ("/v1beta/models/m:countTokens", {"contents": [{"parts": [{"text": "hi"}]}]}, "tools", "totalTokens"),
]


@pytest.mark.parametrize(("path", "body", "more", "field"), COUNTS, ids=["anthropic", "gemini"])
def test_tokens_are_estimated_tools_included(path: str, body: dict[str, Any], more: str, field: str) -> None:
    few = call(app(), path, body).json[field]
    many = call(app(), path, {**body, more: [{"name": "look", "description": "x" * 400}]}).json[field]
    assert 0 < few < few + 100 <= many


ALIVE = ["/healthz", "/readyz", "/health", "/health/liveliness", "/health/readiness", "/"]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("path", ALIVE)
def test_it_says_that_it_lives(path: str, method: str) -> None:
    reply = call(app(), path, method=method)
    assert reply.status == 200
    assert bool(reply.body) is (method == "GET")


def test_a_wrong_method_is_refused_with_what_to_use() -> None:
    reply = call(app(), "/v1/chat/completions", method="GET")
    assert (reply.status, reply.headers["allow"]) == (405, "POST")
    assert "use POST" in reply.json["error"]["message"]


def test_an_address_nobody_serves_is_refused_with_those_that_are() -> None:
    reply = call(app(), "/v2/chat", {})
    assert reply.status == 404
    assert "/v1beta/models/{model}:generateContent" in reply.json["error"]["message"]


def test_telemetry_is_taken_and_forgotten() -> None:
    assert call(app(), "/api/event_logging/batch", {"events": []}).status == 200


TOOL = {"name": "look", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}}
TEXT = '<tool_call>\n{"name": "look", "arguments": {"at": "sky",}}\n</tool_call>'


def test_parse_takes_what_a_model_has_confirmed() -> None:
    text = f'I look.\n{json.dumps({"name": TOOL["name"], "arguments": {}})}'
    bare = {"name": TOOL["name"], "parameters": {"type": "object"}}
    doubted = call(app(), "/v1/parse", {"text": text, "tools": [bare]}).json["doubtful"]
    habit = doubted[0]["report"]["evidence"]["habit"]
    again = call(app(), "/v1/parse", {"text": text, "tools": [bare], "confirmed": [habit]}).json
    assert ([one["name"] for one in again["calls"]], again["doubtful"]) == ([TOOL["name"]], [])


def test_text_is_parsed_over_the_wire() -> None:
    answer = call(app(), "/v1/parse", {"text": f"So. {TEXT}", "tools": [TOOL]}).json
    assert [(c["name"], c["arguments"]) for c in answer["calls"]] == [("look", {"at": "sky"})]
    assert answer["calls"][0]["report"]["dialect"] == "hermes"
    assert answer["text"].strip() == "So."
    cut = call(app(), "/v1/parse", {"text": TEXT[:50], "finish_reason": "length"}).json
    assert (cut["calls"], cut["issues"][0]["kind"]) == ([], "truncated")


def test_calls_are_rendered_over_the_wire_and_parse_back() -> None:
    calls = [{"name": "look", "arguments": {"at": "sky"}}]
    text = call(app(), "/v1/render", {"calls": calls, "dialect": "hermes"}).json["text"]
    back = call(app(), "/v1/parse", {"text": text, "dialects": ["hermes"]}).json["calls"]
    assert [{"name": c["name"], "arguments": c["arguments"]} for c in back] == calls


WRONG = [
    ("/v1/parse", {}, "$.text"),
    ("/v1/parse", {"text": 3}, "$.text"),
    ("/v1/parse", {"text": "", "tools": [{"x": 1}]}, "$.tools"),
    ("/v1/parse", {"text": "", "dialects": "hermes2"}, "did you mean 'hermes'"),
    ("/v1/render", {"calls": [{}], "dialect": "hermes"}, "$.calls[0]"),
    ("/v1/render", {"calls": []}, "$.dialect"),
    ("/v1/render", {"calls": [], "dialect": "nope"}, "$.dialect"),
    ("/v1/parse", [], "$"),
]


@pytest.mark.parametrize(("path", "body", "message"), WRONG, ids=[f"{r[0]} {r[2]}" for r in WRONG])
def test_what_is_asked_wrongly_is_refused_with_its_place(path: str, body: Any, message: str) -> None:
    reply = call(app(), path, body)
    assert reply.status == 400
    assert message in reply.json["error"]["message"]


@pytest.mark.parametrize("path", ["/api/nothing", "/v1/api/nothing"])
def test_an_address_of_ollamas_that_is_not_served_is_told_as_ollama_does(path: str) -> None:
    assert isinstance(get(path).json["error"], str)
    assert isinstance(call(app(), "/api/tags", {}).json["error"], str)  # nor is that method


def test_any_other_address_that_is_not_served_is_told_in_the_form_of_the_rest() -> None:
    assert get("/v1/nothing").json["error"]["type"] == "not_found_error"
