"""What is written down: one line per exchange that says all but what was said, and never a secret."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.config.load import Server
from dragoman.gateway.config.words import LOG_FORMAT, LOG_LEVEL, Form
from dragoman.gateway.observers import observers
from dragoman.gateway.telemetry.logs import ACCESS, OTHERS, ROOT, Logs, configure, hidden
from dragoman.gateway.telemetry.metrics import Metrics
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, Tools
from dragoman.sim.scripted import ScriptedPeer
from tests.support.asgi import call
from tests.support.gateways import ASKS, DOWN, FENCE, KEY, PATHS, ask, bearer, every_front, held
from tests.support.upstreams import model, refusal, text_reply

SECRET = "a-very-secret-key-of-the-provider"


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """The loggers as they were."""
    loggers = [logging.getLogger(name) for name in (ROOT, *OTHERS)]
    before = [(logger, list(logger.handlers), logger.level, logger.propagate) for logger in loggers]
    yield
    for logger, handlers, level, propagate in before:
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)


def logged(memory: ScriptedPeer, *, config: dict[str, Any] | None = None, form: Form = Form.JSON, **route: Any) -> Any:
    """A gateway that logs, and what it writes to."""
    to = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test", key=SECRET, **route)
    settings, out = GatewayConfig(default=to, **(config or {})), io.StringIO()
    configure(form, "info", lambda: hidden(settings), out)
    return create_app(settings, memory, observers=[Logs()]), out


def lines(out: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


@every_front
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_an_exchange_is_one_line_with_its_outcome(front: str, stream: bool) -> None:
    broken, slanted = FENCE.replace('"look"', '"lok_at_it"'), FENCE.replace('"sky"}}', '"sky",}}')
    gateway, out = logged(model("openai_chat", text_reply(broken), text_reply(slanted)), tools=Tools.TEXT)
    reply = ask(gateway, front, stream=stream, headers={"x-request-id": "mine-1"})
    assert reply.headers["x-request-id"] == "mine-1"
    (entries,) = lines(out)
    assert entries.pop("time").endswith("+00:00")
    assert all(entries.pop(name) >= 0 for name in ("seconds", "first_byte"))
    assert entries == {
        "level": "info",
        "logger": ACCESS,
        "request_id": "mine-1",
        "front": front,
        "model": "m",
        "route": "compatible/m",
        "status": 200,
        "outcome": "ok",
        "stream": stream,
        "attempts": 2,
        "reasks": 1,
        "stop": "tool_calls",
        "tokens": {"input": 14, "output": 10},
        "calls": 1,
        "dialects": ["tool_call_fence"],
        "verdicts": {"mended": 1},
        "edits": {"trailing_comma": 1},
        "issues": {"unknown_tool": 1, "reasked": 1},
    }


def test_nothing_that_was_said_is_written() -> None:
    gateway, out = logged(model("openai_chat", text_reply("It is blue.")))
    ask(gateway, "openai_chat", stream=False)
    assert [word for word in ("What is up?", "It is blue.", "Look.", "sky") if word in out.getvalue()] == []


def test_a_failure_line_names_provider_and_kind_without_content() -> None:
    failing = refusal(500, {"error": {"message": f"What is up? {SECRET}", "code": "boom"}})
    gateway, out = logged(ScriptedPeer(lambda _: failing))
    ask(gateway, "openai_chat", stream=False)
    (entries,) = lines(out)
    assert (entries["level"], entries["status"], entries["outcome"]) == ("error", 500, "server_error")
    failure = {"route": "compatible/m", "kind": "server_error", "status": 500, "code": "boom"}
    assert entries["failures"] == [failure] * 3
    assert SECRET not in out.getvalue()
    assert "What is up?" not in out.getvalue()


def test_a_refused_client_is_logged_without_its_key() -> None:
    gateway, out = logged(model("openai_chat", text_reply("hi")), config=held())
    ask(gateway, "openai_chat", stream=False, headers=bearer("sk-wrong-key-of-mallory"))
    ask(gateway, "openai_chat", stream=False, headers=bearer())
    refused, served = lines(out)
    assert (refused["status"], refused["outcome"], "key" in refused) == (401, "auth", False)
    assert served["key"] == "alice"
    assert "mallory" not in out.getvalue()
    assert KEY not in out.getvalue()


def test_whatever_a_client_calls_itself_stays_one_line() -> None:
    gateway, out = logged(ScriptedPeer([DOWN]))
    body = {**ASKS["openai_chat"], "model": 'a"b\nlevel=fatal\u2028' + "m" * 10_000}
    call(gateway, PATHS["openai_chat"], body, headers={"x-request-id": "x" * 5000})
    (entries,) = lines(out)
    assert len(out.getvalue()) < 2000
    assert entries["model"].startswith('a"b\nlevel=fatal')


def test_text_is_for_people_and_as_silent() -> None:
    gateway, out = logged(ScriptedPeer(lambda _: DOWN), form=Form.TEXT)
    call(gateway, PATHS["openai_chat"], {**ASKS["openai_chat"], "model": "a b\nc"})
    (line,) = out.getvalue().splitlines()
    assert " error dragoman.access request_id=req_" in line
    assert r'model="a b\nc"' in line
    assert "status=502" in line


@pytest.mark.parametrize("form", list(Form))
def test_secrets_are_blotted_out_of_whatever_is_logged(form: Form) -> None:
    _, out = logged(ScriptedPeer([]), form=form)
    try:
        raise ValueError(f"cannot send {SECRET}\nBearer sk-ant-0123456789abcdef0123456789")
    except ValueError:
        logging.getLogger("dragoman.gateway").exception("failed with %s", SECRET)
    assert SECRET not in out.getvalue()
    assert "sk-ant-0123456789" not in out.getvalue()
    assert "ValueError" in out.getvalue()
    assert len(out.getvalue().splitlines()) == 1


def test_the_servers_own_warnings_are_lines_of_the_same_form() -> None:
    _, out = logged(ScriptedPeer([]))
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    logging.getLogger("uvicorn.error").info("chatter")
    (entries,) = lines(out)
    assert (entries["level"], entries["logger"], entries["message"]) == (
        "warning", "uvicorn.error", "Invalid HTTP request received.",
    )  # fmt: skip


ASKED: list[tuple[Server, dict[str, str], str, int]] = [
    (Server(), {}, "text", logging.WARNING),
    (Server(log_format="json"), {}, "json", logging.INFO),
    (Server(log_format="json", log_level="error"), {}, "json", logging.ERROR),
    (Server(log_format="json", log_level="error"), {LOG_FORMAT: "text", LOG_LEVEL: "debug"}, "text", logging.DEBUG),
    (Server(), {LOG_FORMAT: "json"}, "json", logging.INFO),
]


@pytest.mark.parametrize(("server", "environ", "form", "level"), ASKED)
def test_the_environment_counts_before_the_file(server: Server, environ: dict[str, str], form: str, level: int) -> None:
    made = observers(server, GatewayConfig(), environ)
    assert logging.getLogger(ROOT).level == level
    (handler,) = logging.getLogger(ROOT).handlers
    assert getattr(handler.formatter, "_form", None) == form
    assert [type(one) for one in made] == [Logs, Metrics]


def test_what_is_turned_off_is_not_made() -> None:
    assert [type(one) for one in observers(Server(metrics=False), GatewayConfig(), {})] == [Logs]
