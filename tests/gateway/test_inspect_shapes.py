"""The inspector shows of an answer what the gateway read: in whatever shape it came, and where it was all reasoning."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.inspector.recorder import Recorder
from tests.gateway.test_inspect_browser import opened
from tests.gateway.test_reasoned_calls import LEFT, MADE, provider
from tests.support.asgi import call
from tests.support.chromium import skip_without
from tests.support.gateways import ask, asking, streamed_and_whole
from tests.support.inspecting import recording, see, tell
from tests.support.servers import serving
from tests.support.shapes import SHAPES, answering, asks, route

SKY = {"at": "sky"}


def wrote(app: Any, number: int = 1) -> Any:
    return see(app, f"exchanges/{number}")["steps"][0]["wrote"]


@streamed_and_whole
def test_what_an_odd_shape_says_is_shown(stream: bool) -> None:
    shown: dict[str, Any] = {}
    for shape in SHAPES:
        if asks(shape, stream=stream) and "error" not in shape:
            app = create_app(
                GatewayConfig(default=route(shape)), answering(shape, stream=stream), observers=[Recorder()]
            )
            call(app, *asking("openai_chat", stream=stream))
            seen = wrote(app)
            found = [one for one in seen["findings"] if one["verdict"] in {"accepted", "mended"}]
            wanted = (len(shape["calls"]), "text" not in shape or seen["text"] == shape["text"])
            if (len(seen["calls"]) + len(found), True) != wanted or seen["error"]:
                shown[shape["id"]] = seen
    assert shown == {}


# ── an answer that is all reasoning ──────────────────────────────────────────


def reasoned(reasoning: str, *, stream: bool) -> Any:
    app, _ = recording(provider("chat, reasoning_content", reasoning))
    ask(app, "openai_chat", stream=stream)
    return app


@streamed_and_whole
def test_a_call_read_out_of_reasoning_is_shown_where_it_stands(stream: bool) -> None:
    seen = wrote(reasoned(MADE, stream=stream))
    assert (seen["text"], seen["is_reasoning"], seen["reasoning"]) == (MADE, True, MADE)
    (found,) = seen["findings"]
    assert (found["verdict"], found["name"]) == ("accepted", "look")
    assert "".join(MADE[start:end] for start, end, *_ in seen["spans"]) == MADE
    assert {kind for _, _, kind, _ in seen["spans"]} >= {"reasoning", "accepted"}


@streamed_and_whole
def test_reasoning_that_only_rehearses_is_shown_as_it_was_judged(stream: bool) -> None:
    seen = wrote(reasoned(LEFT, stream=stream))
    assert (seen["text"], seen["is_reasoning"]) == (LEFT, True)
    assert {found["verdict"] for found in seen["findings"]} == {"quoted"}


def test_reasoning_behind_which_an_answer_stands_is_not_what_was_read() -> None:
    app = reasoned(LEFT, stream=False)
    again = see(app, "exchanges/1")["steps"][1]["wrote"]
    assert (again["text"], "is_reasoning" in again) == ("Well.", False)


def test_it_is_judged_again_as_it_was() -> None:
    app = reasoned(MADE, stream=True)
    again, seen = tell(app, "exchanges/1/judge", {"hop": 0}).json, wrote(app)
    assert again["result"]["calls"] == [{"name": "look", "arguments": SKY}]
    assert [again[key] for key in ("text", "spans", "findings")] == [seen[key] for key in ("text", "spans", "findings")]


@skip_without
@pytest.mark.slow
def test_the_page_shows_the_reasoning_that_a_call_was_read_from(tmp_path: Path) -> None:
    async def go() -> None:
        async with opened(url, tmp_path, "/inspect#1") as seen:
            await seen.until("document.querySelector('.step .coloured .span-accepted')")
            story = await seen.value("document.querySelector('.tab-story').innerText")
            assert "of reasoning, and nothing else," in story
            assert "I should look at the sky." in story
            assert "No text." not in story

    with serving(reasoned(MADE, stream=True)) as url:
        asyncio.run(go())
