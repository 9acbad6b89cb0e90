"""What is counted: every exchange once, whatever becomes of it, and under a bounded number of names."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from dragoman.errors import ErrorKind, ProviderError
from dragoman.fallback import Rules
from dragoman.gateway import GatewayConfig, Limits, create_app
from dragoman.gateway.telemetry import metrics
from dragoman.gateway.telemetry.metrics import COUNTED, OTHER, Metrics
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, Tools
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support import places
from tests.support.asgi import Client, call
from tests.support.gateways import ASKS, DOWN, FENCE, PATHS, PIECE, Slow, ask, asking, bearer, every_front, held
from tests.support.upstreams import ScriptedReply, model, refusal, text_reply

ROUTE = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
CALLS = ScriptedReply((), (("a1", "look", {"at": "sky"}),))


def counting(memory: Any, *, config: dict[str, Any] | None = None, **route: Any) -> Any:
    to = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test", **route)
    return create_app(GatewayConfig(default=to, **(config or {})), memory, observers=[Metrics()])


def read(gateway: Any, **headers: str) -> dict[tuple[str, ...], float]:
    """(name, label=value …) → number, without buckets and times of creation."""
    reply = call(gateway, "/metrics", method="GET", headers=headers)
    assert reply.status == 200
    found = {}
    for family in text_string_to_metric_families(reply.body.decode()):
        for sample in family.samples:
            if not sample.name.endswith(("_bucket", "_created", "_sum")):
                labels = (f"{k}={v}" for k, v in sorted(sample.labels.items()))
                found[(sample.name.removeprefix("dragoman_"), *labels)] = sample.value
    return found


def of(found: dict[tuple[str, ...], float], name: str) -> dict[tuple[str, ...], float]:
    return {key[1:]: value for key, value in found.items() if key[0] == name}


@every_front
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.costly
def test_an_exchange_counts_once_with_all_it_came_to(front: str, stream: bool) -> None:
    gateway = counting(model("openai_chat", CALLS))
    assert ask(gateway, front, stream=stream).status == 200
    found, shown = read(gateway), str(stream).lower()
    (counted,) = of(found, "requests_total").items()
    route = "route=compatible/m"
    assert counted == ((f"front={front}", "model=m", route, "status=200", f"stream={shown}"), 1)
    assert of(found, "request_duration_seconds_count") == {(f"front={front}", "model=m", f"stream={shown}"): 1}
    assert of(found, "time_to_first_byte_seconds_count") == {(f"front={front}", "model=m", f"stream={shown}"): 1}
    assert of(found, "tokens_total") == {("model=m", route, "type=input"): 7, ("model=m", route, "type=output"): 5}
    assert of(found, "upstream_requests_total") == {("outcome=ok", route): 1}
    assert of(found, "in_flight_requests") == {(f"front={front}",): 0}
    assert sum(of(found, "tool_calls_total").values()) == 1


def test_calls_count_by_dialect_tier_and_verdict() -> None:
    slanted = FENCE.replace('"sky"}}', '"sky",}}')
    gateway = counting(model("openai_chat", text_reply(FENCE), text_reply(slanted)), tools=Tools.TEXT)
    for _ in range(2):
        ask(gateway, "openai_chat", stream=False)
    found = read(gateway)
    assert of(found, "tool_calls_total") == {
        ("dialect=tool_call_fence", "tier=tagged", "verdict=accepted"): 1,
        ("dialect=tool_call_fence", "tier=tagged", "verdict=mended"): 1,
    }
    assert of(found, "edits_total") == {("kind=trailing_comma",): 1}


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_questions_count_by_what_the_model_said(stream: bool) -> None:
    doubted = text_reply('I look.\n\n```json\n{"name": "look", "arguments": {"at": "sky"}}\n```')
    no = text_reply("No.")
    gateway = counting(model("openai_chat", doubted, no, doubted, CALLS), config={"reasks": 1})
    for _ in range(2):
        assert ask(gateway, "openai_chat", stream=stream).status == 200
    route = "route=compatible/m"
    assert of(read(gateway), "questions_total") == {
        ("model=m", route, "said=denied"): 1,
        ("model=m", route, "said=confirmed"): 1,
    }


def test_refusals_and_reasks_count_by_kind() -> None:
    broken = FENCE.replace('"look"', '"lok_at_it"')
    gateway = counting(model("openai_chat", text_reply(broken), text_reply(FENCE)), tools=Tools.TEXT)
    assert ask(gateway, "openai_chat", stream=False).status == 200
    found = read(gateway)
    assert of(found, "issues_total")["kind=unknown_tool",] == 1
    assert of(found, "reasks_total") == {("model=m", "route=compatible/m"): 1}
    assert of(found, "upstream_requests_total") == {("outcome=ok", "route=compatible/m"): 2}
    assert of(found, "tokens_total")["model=m", "route=compatible/m", "type=input"] == 14


def test_a_chain_counts_failures_by_kind_and_resting_routes() -> None:
    one = Route(provider=COMPATIBLE["openai_chat"], base_url="http://one.test", model="one")
    two = Route(provider=COMPATIBLE["openai_chat"], base_url="http://two.test", model="two")
    config = GatewayConfig(models={"m": (one, two)}, rules=Rules(retries=1))
    gateway = create_app(config, model("openai_chat", DOWN, DOWN, text_reply("hi")), observers=[Metrics()])
    reply = ask(gateway, "openai_chat", stream=False)
    assert reply.headers["x-dragoman-route"] == "compatible/two"
    found = read(gateway)
    assert of(found, "upstream_requests_total") == {
        ("outcome=network", "route=compatible/one"): 2,
        ("outcome=ok", "route=compatible/two"): 1,
    }
    assert of(found, "route_cooldown_until_timestamp_seconds")["route=compatible/one",] > 0


STATUSES: list[tuple[str, Any, Any, int]] = [
    ("no key", b"{}", {}, 401),
    ("no JSON", b"{", bearer(), 400),
    ("too large", b"x" * 3000, bearer(), 413),
    ("a provider that fails", None, bearer(), 500),
]


@pytest.mark.parametrize(("body", "headers", "status"), [s[1:] for s in STATUSES], ids=[s[0] for s in STATUSES])
def test_what_is_refused_counts_too(body: Any, headers: dict[str, str], status: int) -> None:
    gateway = counting(model("openai_chat", refusal(500, {})), config={**held(), "limits": Limits(body=2000)})
    assert call(gateway, PATHS["openai_chat"], body or ASKS["openai_chat"], headers=headers).status == status
    found = read(gateway, **bearer())
    assert [key[3] for key in of(found, "requests_total")] == [f"status={status}"]
    assert of(found, "in_flight_requests") == {("front=openai_chat",): 0}
    assert set(of(found, "upstream_in_flight_requests").values()) <= {0}


def test_a_failed_stream_counts_with_its_would_be_status() -> None:
    reset = ProviderError("the peer broke off; try again", kind=ErrorKind.NETWORK)
    gateway = counting(ScriptedPeer([Answer((PIECE, reset), headers={"content-type": "text/event-stream"})]))
    assert ask(gateway, "openai_chat", stream=True).status == 200
    assert "status=502" in next(iter(of(read(gateway), "requests_total")))


def test_a_client_that_hangs_up_counts_as_closed() -> None:
    async def go() -> Any:
        slow = Slow()
        gateway = counting(slow)
        client = Client(gateway, *asking("openai_chat", stream=True))
        running = asyncio.ensure_future(client.run())
        slow.pieces.put_nowait(PIECE)
        await client.until(b"Hello")
        meanwhile = (await Client(gateway, "/metrics", method="GET").run()).body
        client.hang_up()
        await running
        return meanwhile, gateway

    meanwhile, gateway = asyncio.run(go())
    assert b'dragoman_in_flight_requests{front="openai_chat"} 1.0' in meanwhile
    assert b'dragoman_upstream_in_flight_requests{route="compatible/other"} 1.0' in meanwhile
    found = read(gateway)
    assert "status=499" in next(iter(of(found, "requests_total")))
    assert of(found, "upstream_requests_total") == {("outcome=canceled", "route=compatible/other"): 1}


def test_invented_model_names_share_a_label_until_one_answers() -> None:
    gateway = counting(model("openai_chat", *(refusal(404, {}) for _ in range(50)), text_reply("hi")))
    for number in range(50):
        call(gateway, PATHS["openai_chat"], {**ASKS["openai_chat"], "model": f"made-up-{number}"})
    assert {key[1] for key in of(read(gateway), "requests_total")} == {f"model={OTHER}"}
    call(gateway, PATHS["openai_chat"], {**ASKS["openai_chat"], "model": "real"})
    assert {key[1] for key in of(read(gateway), "requests_total")} == {f"model={OTHER}", "model=real"}


def test_even_models_that_answer_have_a_bounded_number_of_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "MOST_NAMES", 5)
    gateway = counting(model("openai_chat", *(text_reply("hi") for _ in range(8))))
    for number in range(8):
        call(gateway, PATHS["openai_chat"], {**ASKS["openai_chat"], "model": f"m{number}"})
    assert len({key[1] for key in of(read(gateway), "requests_total")}) == 5 + 1


def test_a_configured_model_has_its_name_from_the_start() -> None:
    gateway = create_app(GatewayConfig(models={"m": ROUTE}), ScriptedPeer([DOWN]), observers=[Metrics()])
    ask(gateway, "openai_chat", stream=False)
    assert next(iter(of(read(gateway), "requests_total")))[1] == "model=m"


def test_where_keys_are_asked_for_the_numbers_need_one_too() -> None:
    gateway = counting(ScriptedPeer([]), config=held())
    assert call(gateway, "/metrics", method="GET").status == 401
    assert call(gateway, "/metrics", method="GET", headers=bearer("sk-another")).status == 401
    assert call(gateway, "/metrics", method="GET", headers=bearer()).status == 200


def test_without_metrics_there_is_no_such_address() -> None:
    gateway = create_app(GatewayConfig(default=ROUTE), ScriptedPeer([]))
    assert call(gateway, "/metrics", method="GET").status == 404


def test_what_nobody_asked_for_is_not_loaded() -> None:
    code = "import dragoman.gateway.observers, sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"prometheus_client", "yaml", "opentelemetry.trace"} & set(run.stdout.split()) == set()


@pytest.mark.parametrize("accept", ["", "application/openmetrics-text; version=1.0.0"])
def test_the_form_is_the_one_that_was_asked_for(accept: str) -> None:
    reply = call(counting(ScriptedPeer([])), "/metrics", method="GET", headers={"accept": accept})
    assert ("openmetrics" in reply.headers["content-type"]) is bool(accept)


def test_every_metric_says_what_it_is_in_a_sentence() -> None:
    assert all(script.endswith(".") and kind in {"Counter", "Gauge", "Histogram"} for kind, script, _ in COUNTED.values())


SHARED = """
import os
from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.telemetry.metrics import Metrics
from dragoman.providers.rows import COMPATIBLE
from dragoman.providers.route import Route
from tests.support.asgi import call
from tests.support.upstreams import model, text_reply
child = os.fork()
to = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
gateway = create_app(GatewayConfig(default=to), model("openai_chat", text_reply("hi")), observers=[Metrics()])
call(gateway, "/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "hi"}]})
if child:
    os.waitpid(child, 0)
    print(call(gateway, "/metrics", method="GET").body.decode())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_several_processes_count_together(tmp_path: Path) -> None:
    environ = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    root = places.ROOT
    run = subprocess.run(
        [sys.executable, "-c", SHARED], capture_output=True, text=True, check=True, env=environ, cwd=root
    )
    assert re.findall(r"^dragoman_requests_total\{.*\} (\S+)$", run.stdout, re.MULTILINE) == ["2.0"]


def test_an_answer_names_its_route_and_nothing_unprintable() -> None:
    name = "käse\r\nx-evil: 1\u2028" + "m" * 1000
    gateway = counting(model("openai_chat", text_reply("hi"), text_reply("hi")))
    for stream in (True, False):
        body = {**ASKS["openai_chat"], "model": name, "stream": stream}
        reply = call(gateway, PATHS["openai_chat"], json.dumps(body).encode())
        route = reply.headers["x-dragoman-route"]
        assert route.startswith("compatible/k?se??x-evil: 1?mmm")
        assert len(route) <= 500


class Broken:
    """An observer that fails at whatever it hears."""

    def take(self, config: GatewayConfig) -> None:
        """Only this it can."""

    def exchange_began(self, *_: Any) -> None:
        raise ZeroDivisionError

    attempt_began = attempt_ended = exchange_ended = exchange_began


@every_front
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_failing_observer_is_logged_and_disturbs_nobody(
    front: str, stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    counted = Metrics()
    gateway = create_app(GatewayConfig(default=ROUTE), model("openai_chat", CALLS), observers=[Broken(), counted])
    assert ask(gateway, front, stream=stream).status == 200
    assert sum(of(read(gateway), "requests_total").values()) == 1
    assert [record.getMessage() for record in caplog.records] == [
        "an observer failed; the exchange goes on without it"
    ] * 4


BUSY = """
import os
from dragoman.gateway.telemetry.exchange_record import ExchangeRecord
from dragoman.gateway.telemetry.metrics import Metrics
metrics = Metrics()
metrics.exchange_began(ExchangeRecord(front="openai_chat"))
print(metrics.exposed()[1].decode(), flush=True)
os._exit(9 if os.environ.get("KILLED") else 0)
"""


def test_requests_of_a_killed_process_are_no_longer_in_flight(tmp_path: Path) -> None:
    seen = []
    for killed in ("1", "", ""):
        environ = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path), "KILLED": killed}
        ran = subprocess.run([sys.executable, "-c", BUSY], env=environ, capture_output=True, text=True, check=False)
        seen.append(ran.stdout)
    assert all('dragoman_in_flight_requests{front="openai_chat"} 1.0' in each for each in seen)
