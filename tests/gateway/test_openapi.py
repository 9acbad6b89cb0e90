"""The OpenAPI document says what is served, and nothing that it allows makes the gateway fail."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.fronts import FRONTS
from dragoman.gateway.http.openapi import ASKED, document
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.schema.validation import check_schema, faults
from dragoman.sim.scripted import ScriptedPeer
from tests.support.asgi import call
from tests.support.gateways import ASKS, always, asking, every_front


def gateway() -> Any:
    to = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
    return create_app(GatewayConfig(default=to, models={"m": to}), ScriptedPeer(always))


def test_the_document_is_served_and_is_json() -> None:
    reply = call(gateway(), "/openapi.json", method="GET")
    assert reply.status == 200
    assert reply.json == document()
    assert reply.json["openapi"].startswith("3.1")


def test_every_front_has_a_schema_of_its_own() -> None:
    assert set(ASKED) == {front.codec.name for front in FRONTS}
    for schema in ASKED.values():
        check_schema(schema, "a request")


def test_every_address_listed_is_served_by_its_method() -> None:
    app = gateway()
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            body = b"{" if "requestBody" in operation else None
            reply = call(app, path.replace("{model}", "m"), body, method=method.upper())
            assert reply.status in ({400, 404, 200} if "_id}" in path else {200} if body is None else {400}), path
            assert "no such endpoint" not in reply.body.decode()


def test_no_method_is_served_that_the_document_leaves_out() -> None:
    app = gateway()
    for path, methods in document()["paths"].items():
        told = call(app, path.replace("{model}", "m"), None, method="PATCH").headers["allow"].split(", ")
        assert {method.lower() for method in told} == set(methods), path


@every_front
def test_what_clients_really_send_is_allowed(front: str) -> None:
    _, body = asking(front, stream=False)
    assert faults(ASKED[front], body) == []
    assert faults(ASKED[front], {**ASKS[front], "an-unknown-field": {"of": "a client"}}) == []


@pytest.mark.slow
def test_requests_near_the_schema_never_make_the_gateway_fail() -> None:
    schemathesis = pytest.importorskip("schemathesis")
    hypothesis = pytest.importorskip("hypothesis")
    schema = schemathesis.openapi.from_asgi("/openapi.json", gateway())
    operations = []
    for result in schema.get_all_operations():
        operation = result.ok()

        @hypothesis.given(
            case=operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE)
            | operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE)
        )
        @hypothesis.settings(max_examples=100, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
        def never_fails(case: Any) -> None:
            response = case.call()
            assert response.status_code < 500, response.text

        never_fails()
        operations.append(operation.label)
    assert len(operations) == sum(map(len, document()["paths"].values()))
