"""Responses in the background, for every backend: the official SDK over loopback, one process and several."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Container, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import openai
import pytest

from dragoman.effects import Machine
from dragoman.fallback import Rules
from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.config.model import Access, Limits
from dragoman.gateway.http import background
from dragoman.gateway.http.events import Events
from dragoman.gateway.http.keys import AccessControl
from dragoman.gateway.inspector.recorder import Recorder
from dragoman.gateway.state import runs
from dragoman.gateway.state.shelf import Shelf
from dragoman.gateway.state.stores import StateStores
from dragoman.gateway.telemetry.metrics import Metrics
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from tests.support.asgi import Client, call
from tests.support.clocks import LONG, OFTEN, auntil, until
from tests.support.gateways import PIECE, Slow, bearer, every_back, row
from tests.support.held import HeldModel
from tests.support.kept import alone, told
from tests.support.mcp_gateways import ECHO, alive, served
from tests.support.processes import serving_process
from tests.support.servers import serving
from tests.support.upstreams import model, text_reply

ALICE, BOB = "sk-alice", "sk-bob"
LOOK = {"type": "function", "name": "look", "strict": False, "parameters": {"type": "object", "properties": {"at": {}}}}
ENDED = {"completed", "failed", "cancelled", "incomplete"}


class World:
    """A model, and gateways before it that may share a directory."""

    def __init__(self, stack: ExitStack, back: str = "openai_chat") -> None:
        self.model, self.stack, self._back = HeldModel(back), stack, back

    def app(
        self,
        directory: Path | None = None,
        access: tuple[Access, ...] = (),
        stores: StateStores | None = None,
        **config: Any,
    ) -> Any:
        route = Route(provider=COMPATIBLE[self._back], base_url="http://model.test")
        rows = access or (row(ALICE, "alice"), row(BOB, "bob"))
        made = GatewayConfig(default=route, access=rows, rules=Rules(retries=0), **config)
        return create_app(made, self.model, stores=stores or StateStores(directory), observers=[Metrics()])

    def address(self, directory: Path | None = None, **config: Any) -> str:
        """Where another gateway is served."""
        return self.stack.enter_context(serving(self.app(directory, **config)))

    def client(self, address: str = "", key: str = ALICE, **config: Any) -> Any:
        """A client of the gateway there, or of another one."""
        url = f"{address or self.address(**config)}/v1"
        return self.stack.enter_context(openai.OpenAI(base_url=url, api_key=key, max_retries=0, timeout=LONG))


@pytest.fixture
def world() -> Iterator[World]:
    with ExitStack() as stack:
        made = World(stack)
        yield made
        made.model.go.set()


def reached(client: Any, name: str, states: Container[str]) -> Any:
    """The response, once its state is one of these."""
    found: list[Any] = []

    def look() -> bool:
        found.append(client.responses.retrieve(name))
        return found[-1].status in states

    until(look)
    return found[-1]


def ended(client: Any, name: str) -> Any:
    return reached(client, name, ENDED)


def running(client: Any, name: str) -> Any:
    return reached(client, name, {"in_progress"})


def begun(client: Any, words: str = "hold") -> tuple[str, Any]:
    """The id of a response that is under way, and its stream."""
    stream = client.responses.create(model="m", input=words, background=True, stream=True)
    name = next(iter(stream)).response.id
    running(client, name)
    return name, stream


def status_of(event: Any) -> str:
    """Of an event that may be unknown to the SDK, as `response.cancelled` is."""
    status: str = event.response["status"] if isinstance(event.response, dict) else event.response.status
    return status


def text_of(events: list[Any]) -> str:
    return "".join(event.delta for event in events if event.type == "response.output_text.delta")


# ── create and poll ──────────────────────────────────────────────────────────


@every_back
def test_a_response_is_polled_for_on_every_backend(back: str) -> None:
    with ExitStack() as stack:
        client = World(stack, back).client()
        first = client.responses.create(model="m", input="one", background=True, metadata={"of": "mine"})
        last = ended(client, first.id)
    assert (first.status, first.output, first.usage, first.background) == ("queued", [], None, True)
    assert (last.status, last.output_text, last.background, last.store) == ("completed", "1 turns", True, True)
    assert (last.id, last.created_at, last.metadata) == (first.id, first.created_at, {"of": "mine"})
    assert last.usage.output_tokens == 5


@every_back
def test_its_events_are_numbered_from_created_to_completed(back: str) -> None:
    with ExitStack() as stack:
        client = World(stack, back).client()
        events = list(client.responses.create(model="m", input="one", background=True, stream=True))
        again = list(client.responses.retrieve(events[0].response.id, stream=True))
    kinds = [event.type for event in events]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert kinds[:3] == ["response.created", "response.queued", "response.in_progress"]
    assert (kinds[-1], text_of(events)) == ("response.completed", "1 turns")
    assert again == events


def test_a_call_is_made_and_answered(world: World) -> None:
    client = world.client()
    first = ended(client, client.responses.create(model="m", input="look up", tools=[LOOK], background=True).id)
    (made,) = first.output
    output = {"type": "function_call_output", "call_id": made.call_id, "output": "blue"}
    second = client.responses.create(
        model="m", input=[output], tools=[LOOK], previous_response_id=first.id, background=True
    )
    assert ended(client, second.id).output_text == "3 turns"


@pytest.mark.parametrize("stream", [True, False])
def test_a_length_that_ran_out_is_incomplete(world: World, stream: bool) -> None:
    client = world.client()
    made = client.responses.create(model="m", input="length", background=True, stream=stream)
    name = next(iter(made)).response.id if stream else made.id
    last = ended(client, name)
    assert (last.status, last.incomplete_details.reason) == ("incomplete", "max_output_tokens")


@pytest.mark.parametrize(("words", "code"), [("break 400", "invalid_prompt"), ("break 500", "server_error")])
def test_a_providers_failure_is_a_failed_response(world: World, words: str, code: str) -> None:
    client = world.client()
    events = list(client.responses.create(model="m", input=words, background=True, stream=True))
    kept = client.responses.retrieve(events[0].response.id)
    assert [event.type for event in events] == ["response.created", "response.queued", "response.failed"]
    assert events[-1].response == kept
    assert (kept.status, kept.error.code, kept.output) == ("failed", code, [])
    assert "it fell over" in kept.error.message


def test_a_server_tool_runs_in_the_background() -> None:
    async def go() -> Any:
        async with alive(served(model("openai_chat", ECHO, text_reply("It is blue.")))) as app:
            asked = {"model": "m", "input": "What colour?", "background": True}
            path = f"/v1/responses/{(await Client(app, '/v1/responses', asked).run()).json['id']}"
            async with asyncio.timeout(LONG):
                while (reply := await Client(app, path, method="GET").run()).json["status"] not in ENDED:
                    await asyncio.sleep(OFTEN)
            return reply.json

    found = asyncio.run(go())
    texts = [item["content"][0]["text"] for item in found["output"]]
    assert (found["status"], "".join(texts)) == ("completed", "I ask.\n\nIt is blue.")


@pytest.mark.parametrize("stream", [True, False])
def test_what_its_headers_would_have_said_is_told_with_it(world: World, stream: bool) -> None:
    client = world.client()
    made = client.responses.create(model="m", input="one", background=True, stream=stream, extra_body={"truncation": "auto"})
    name = next(iter(made)).response.id if stream else made.id
    ended(client, name)
    headers = client.responses.with_raw_response.retrieve(name).headers
    assert (headers["x-dragoman-route"], headers["x-dragoman-unsupported-params"]) == ("compatible/m", "truncation")


def test_a_recording_is_sealed_when_the_answer_has_ended() -> None:
    async def go() -> None:
        recorder, slow = Recorder(), Slow()
        route = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test", key="sk-secret-of-the-place")
        app = create_app(GatewayConfig(default=route), slow, observers=[recorder])
        await Client(app, "/v1/responses", {"model": "m", "input": "x", "background": True, "stream": False}).run()
        (recording,) = recorder
        await asyncio.wait_for(slow.opened.wait(), LONG)
        assert not recording.sealed
        for piece in (PIECE, b"data: sk-secret-of-the-place\n\n", b""):
            slow.pieces.put_nowait(piece)
        await auntil(lambda: recording.sealed)
        assert b"sk-secret" not in recording.hops[0].got.data

    asyncio.run(go())


# ── streams again ────────────────────────────────────────────────────────────


def test_a_dropped_stream_is_taken_up_behind_its_cursor(world: World) -> None:
    client = world.client()
    name, stream = begun(client)
    stream.close()
    rest = client.responses.retrieve(name, stream=True, starting_after=1)
    world.model.go.set()
    events = list(rest)
    assert [event.sequence_number for event in events] == list(range(2, 2 + len(events)))
    assert (events[-1].type, text_of(events)) == ("response.completed", "1 turns")


def test_the_helper_of_the_sdk_takes_up_a_stream(world: World) -> None:
    client = world.client()
    with client.responses.stream(model="m", input="one", background=True) as stream:
        first = next(iter(stream))
    with client.responses.stream(response_id=first.response.id) as stream:
        assert stream.get_final_response().output_text == "1 turns"


def test_a_cursor_behind_the_end_gives_nothing(world: World) -> None:
    client = world.client()
    events = list(client.responses.create(model="m", input="one", background=True, stream=True))
    assert list(client.responses.retrieve(events[0].response.id, stream=True, starting_after=99)) == []


UNSTREAMED = [
    ("in the foreground", {}, {}, "background=true"),
    ("whole", {"background": True}, {}, "stream=true"),
    ("from nowhere", {"background": True, "stream": True}, {"starting_after": "x"}, "sequence_number"),
]


@pytest.mark.parametrize(("how", "query", "why"), [pytest.param(*case[1:], id=case[0]) for case in UNSTREAMED])
def test_what_has_no_events_is_not_streamed(world: World, how: Any, query: Any, why: str) -> None:
    client = world.client()
    made = client.responses.create(model="m", input="one", **how)
    name = next(iter(made)).response.id if how.get("stream") else made.id
    with pytest.raises(openai.BadRequestError, match=why):
        list(client.responses.retrieve(name, stream=True, extra_query=query))


def test_events_that_are_lost_are_said_to_be_lost(world: World) -> None:
    shelf = Shelf("run")
    kept = runs.Runs(shelf)
    for chunk in range(3):
        alone(kept.add("resp_1", "alice", chunk, [runs.Event(chunk, "e", "{}")]))
    alone(shelf.drop("alice", "resp_1/1"))
    with pytest.raises(runs.Gap):
        alone(kept.events("resp_1", "alice", 0))
    assert alone(kept.events("resp_1", "alice", 3)) == []


@pytest.mark.parametrize(("seen", "number"), [(-1, 2), (0, 2), (7, 8)], ids=["none", "some", "more"])
def test_a_failure_among_kept_events_has_the_number_that_is_next(
    monkeypatch: pytest.MonkeyPatch, seen: int, number: int
) -> None:
    stores = StateStores()
    chunks: list[list[runs.Event] | runs.Gap] = [[runs.Event(0, "a", "{}"), runs.Event(1, "b", "{}")], runs.Gap()]

    def kept(name: str, owner: str, chunk: int) -> Machine[list[list[runs.Event]]]:
        yield from ()
        found = chunks[min(chunk, 1)]
        if isinstance(found, runs.Gap):
            raise found
        return [found]

    monkeypatch.setattr(stores.responses.runs, "events", kept)
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def never() -> Any:
        await asyncio.Event().wait()

    async def serve() -> None:
        jobs = background.Background(stores, AccessControl(time.monotonic))
        await Events(stores, jobs, lambda: LONG).serve("resp_1", "alice", seen, never, send)

    asyncio.run(serve())
    last = sent[-2]["body"].decode()
    assert last.startswith("event: error")
    assert f'"sequence_number":{number},' in last


# ── cancelled and forgotten ──────────────────────────────────────────────────


def test_what_is_cancelled_ends_and_lets_its_provider_go(world: World) -> None:
    client = world.client()
    name, stream = begun(client)
    first, second = client.responses.cancel(name), client.responses.cancel(name)
    assert (first.status, second.status) == ("cancelled", "cancelled")
    assert world.model.let_go.wait(LONG)
    assert status_of(list(stream)[-1]) == "cancelled"
    world.model.go.set()
    assert client.responses.retrieve(name).status == "cancelled"
    assert client.responses.create(model="m", input="two", previous_response_id=name).output_text == "2 turns"


def test_what_has_ended_is_given_back_by_cancelling(world: World) -> None:
    client = world.client()
    done = ended(client, client.responses.create(model="m", input="one", background=True).id)
    assert client.responses.cancel(done.id) == done


def test_a_foreground_response_is_not_cancelled(world: World) -> None:
    client = world.client()
    made = client.responses.create(model="m", input="one")
    with pytest.raises(openai.BadRequestError, match="background=true"):
        client.responses.cancel(made.id)


def test_what_waits_is_cancelled_without_being_asked(world: World) -> None:
    client = world.client(limits=Limits(background=1))
    name, _ = begun(client)
    waits = client.responses.create(model="m", input="two", background=True)
    assert client.responses.cancel(waits.id).status == "cancelled"
    world.model.go.set()
    assert ended(client, name).status == "completed"
    assert len(world.model.sent) == 1


def test_what_is_deleted_ends_and_is_forgotten(world: World) -> None:
    client = world.client()
    name, stream = begun(client)
    client.responses.delete(name)
    assert world.model.let_go.wait(LONG)
    *_, last = stream
    assert (last.type, name in last.message) == ("error", True)
    for again in (client.responses.retrieve, client.responses.cancel, client.responses.delete):
        with pytest.raises(openai.NotFoundError):
            again(name)
    with pytest.raises(openai.NotFoundError):
        list(client.responses.retrieve(name, stream=True))


# ── who may, and how much ────────────────────────────────────────────────────


def test_another_key_finds_nothing_of_it(world: World) -> None:
    address = world.address()
    alice, bob = world.client(address), world.client(address, BOB)
    name, _ = begun(alice)
    for refused in (bob.responses.retrieve, bob.responses.cancel, bob.responses.delete, bob.responses.input_items.list):
        with pytest.raises(openai.NotFoundError, match=name):
            refused(name)
    with pytest.raises(openai.NotFoundError, match=name):
        list(bob.responses.retrieve(name, stream=True))
    assert alice.responses.retrieve(name).status == "in_progress"


REFUSED: list[tuple[str, dict[str, Any], type[openai.APIStatusError], str]] = [
    ("nothing is stored", {"input": "one", "store": False}, openai.BadRequestError, "store"),
    ("no switch", {"input": "one", "extra_body": {"background": "yes"}}, openai.BadRequestError, "background"),
    ("no input", {"input": 5}, openai.BadRequestError, "input"),
    ("not its model", {"input": "one", "model": "other"}, openai.PermissionDeniedError, "other"),
    ("no such answer", {"input": "one", "previous_response_id": "resp_no"}, openai.BadRequestError, "resp_no"),
]


@pytest.mark.parametrize(("sent", "error", "why"), [pytest.param(*case[1:], id=case[0]) for case in REFUSED])
def test_what_is_wrong_is_refused_at_once(world: World, sent: Any, error: Any, why: str) -> None:
    client = world.client(access=(row(ALICE, "alice", models=("m",)),))
    with pytest.raises(error, match=why):
        client.responses.create(**{"model": "m", "background": True, **sent})
    assert world.model.sent == []


def test_what_still_runs_cannot_be_followed(world: World) -> None:
    client = world.client()
    name, _ = begun(client)
    with pytest.raises(openai.BadRequestError, match=f"{name}' is still in_progress") as error:
        client.responses.create(model="m", input="two", previous_response_id=name)
    assert (error.value.param, error.value.code) == ("previous_response_id", "previous_response_in_progress")
    items = list(client.responses.input_items.list(name))
    assert [item.content[0].text for item in items] == ["hold"]


def test_a_conversation_gets_what_was_answered(world: World) -> None:
    client = world.client()
    talk = client.conversations.create()
    ended(client, client.responses.create(model="m", input="one", conversation=talk.id, background=True).id)
    assert client.responses.create(model="m", input="two", conversation=talk.id).output_text == "3 turns"


def test_more_than_may_run_wait_and_more_than_may_wait_are_refused(world: World) -> None:
    address = world.address(limits=Limits(background=1, background_queue=1))
    alice, bob = world.client(address), world.client(address, BOB)
    name, _ = begun(alice)
    waits = alice.responses.create(model="m", input="hold", background=True)
    with pytest.raises(openai.RateLimitError, match="waiting already") as error:
        alice.responses.create(model="m", input="hold", background=True)
    assert int(error.value.response.headers["retry-after"]) > 0
    assert ended(bob, bob.responses.create(model="m", input="one", background=True).id).status == "completed"
    assert alice.responses.retrieve(waits.id).status == "queued"
    world.model.go.set()
    assert [ended(alice, one).status for one in (name, waits.id)] == ["completed", "completed"]


def test_what_runs_counts_as_a_request_of_its_key(world: World) -> None:
    client = world.client(access=(row(ALICE, "alice", max_concurrent=1),))
    name = client.responses.create(model="m", input="hold", background=True).id
    running(client, name)
    with pytest.raises(openai.RateLimitError, match="at the same time"):
        client.responses.create(model="m", input="one")
    world.model.go.set()
    ended(client, name)


def test_the_longest_time_of_an_answer_holds(world: World) -> None:
    client = world.client(limits=Limits(timeout=0.1, background_timeout=0.2))
    last = ended(client, client.responses.create(model="m", input="hold", background=True).id)
    assert (last.status, last.error.code) == ("failed", "server_error")
    assert "0.2 s" in last.error.message
    assert "limits.background_timeout" in last.error.message


def test_what_is_in_the_background_is_counted(world: World) -> None:
    app = world.app()
    address = world.stack.enter_context(serving(app))
    client = world.client(address)

    def counted() -> str:
        return call(app, "/metrics", method="GET", headers=bearer(ALICE)).body.decode()

    name, _ = begun(client)
    assert 'dragoman_background_responses{status="in_progress"} 1.0' in counted()
    world.model.go.set()
    ended(client, name)
    until(lambda: 'dragoman_background_responses{status="in_progress"} 0.0' in counted())
    assert 'type="output"} 5.0' in counted()


# ── several processes ────────────────────────────────────────────────────────


def test_another_process_shows_streams_and_cancels(world: World, tmp_path: Path) -> None:
    one, two = (world.client(world.address(tmp_path)) for _ in range(2))
    name, mine = begun(one)
    assert two.responses.retrieve(name).status == "in_progress"
    theirs = two.responses.retrieve(name, stream=True)
    assert two.responses.cancel(name).status == "cancelled"
    assert world.model.let_go.wait(LONG)
    seen = list(theirs)
    assert [event.sequence_number for event in seen] == list(range(len(seen)))
    assert status_of(seen[-1]) == status_of(list(mine)[-1]) == "cancelled"


def test_another_process_forgets(world: World, tmp_path: Path) -> None:
    one, two = (world.client(world.address(tmp_path)) for _ in range(2))
    name, _ = begun(one)
    two.responses.delete(name)
    assert world.model.let_go.wait(LONG)
    with pytest.raises(openai.NotFoundError):
        one.responses.retrieve(name)


def test_a_gateway_that_ends_says_so_of_what_runs_and_waits(world: World, tmp_path: Path) -> None:
    with serving(world.app(tmp_path, limits=Limits(background=1))) as address:
        client = world.client(address)
        runs_, _ = begun(client)
        waits = client.responses.create(model="m", input="hold", background=True).id
    after = world.client(world.address(tmp_path))
    found = [after.responses.retrieve(name) for name in (runs_, waits)]
    assert [one.status for one in found] == ["failed", "failed"]
    assert all("the gateway ended" in one.error.message for one in found)


@pytest.mark.parametrize("refreshed", [True, False])
def test_what_is_refreshed_outlives_what_came_later(refreshed: bool) -> None:
    kept = StateStores().responses
    kept._shelf = Shelf("response", limit=20_000)
    for n in range(50):
        body = {"id": f"resp_{n}", "status": "queued", "background": True}
        opening = alone(kept.opening({"input": "one", "background": True}, "alice"))
        alone(kept.begin(opening, body, runs.Run("run_1")))
        if refreshed:
            alone(kept.refresh("resp_0", "alice"))
    assert (alone(kept.find("resp_0", "alice")) is not None) == refreshed


def test_what_is_under_way_is_refreshed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "REFRESH", 0.0)
    stores, refreshed = StateStores(), list[str]()

    def refresh(name: str, owner: str) -> Machine[None]:
        refreshed.append(name)
        yield from ()

    monkeypatch.setattr(stores.responses, "refresh", refresh)
    client = world.client(world.stack.enter_context(serving(world.app(stores=stores))))
    name, _ = begun(client)
    until(lambda: name in refreshed)


def test_what_is_too_large_to_be_kept_is_not_taken(world: World, tmp_path: Path) -> None:
    stores = StateStores()
    stores.responses._shelf = Shelf("response", limit=2_000)
    client = world.client(world.stack.enter_context(serving(world.app(stores=stores))))
    with pytest.raises(openai.APIStatusError, match="too large") as error:
        client.responses.create(model="m", input="one", instructions="x" * 5_000, background=True)
    assert error.value.status_code == 413


def test_what_a_dead_process_answered_has_failed(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = world.client(world.address(tmp_path))
    name, stream = begun(client)
    monkeypatch.setattr(runs, "SILENT", 0.0)
    other = world.client(world.address(tmp_path))
    found = other.responses.retrieve(name)
    assert (found.status, found.error.code) == ("failed", "server_error")
    assert "process" in found.error.message
    world.model.go.set()
    assert status_of(list(stream)[-1]) == "failed"
    assert client.responses.retrieve(name) == found


@pytest.mark.slow
def test_a_killed_process_leaves_a_stream_that_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "SILENT", 1.0)
    with ExitStack() as stack:
        world = World(stack)
        client = world.client(world.address(tmp_path))
        stores = StateStores(tmp_path)
        kept = stores.responses
        opening = told(stores, kept.opening({"model": "m", "input": "one", "background": True}, "alice"))
        body = {"id": "resp_1", "status": "queued", "background": True}
        told(stores, kept.begin(opening, body, runs.Run("run_dead", stream=True)))
        event = runs.Event(0, "response.created", '{"type":"response.created"}')
        told(stores, kept.runs.add("resp_1", "alice", 0, [event]))
        asyncio.run(stores.aclose())
        (first, last) = list(client.responses.retrieve("resp_1", stream=True))
    assert (first.type, last.type, last.sequence_number) == ("response.created", "response.failed", 1)


def own_client(url: str) -> Any:
    return openai.OpenAI(base_url=f"{url}/v1", api_key="x", timeout=LONG)


@pytest.mark.slow
def test_sigterm_lets_what_runs_finish(tmp_path: Path) -> None:
    state = {"DRAGOMAN_STATE_DIR": str(tmp_path)}
    with serving_process("--demo", **state) as (process, url, _), own_client(url) as one:
        name = one.responses.create(model="weak", input="Say something.", background=True).id
        os.kill(process.pid, signal.SIGTERM)
        process.wait(LONG)
    with serving_process("--demo", **state) as (_, url, _), own_client(url) as one:
        assert one.responses.retrieve(name).status == "completed"
