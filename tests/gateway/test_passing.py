"""Endpoints that pass as they are: official SDKs over loopback, streams and forms both ways, keys and refusals."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from typing import Any

import ollama
import openai
import pytest

from dragoman.effects import Open
from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.http.form_data import FieldFinder, boundary_of
from dragoman.providers.endpoints import ENDPOINTS, HAS
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, PROVIDERS
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.asgi import Reply, call
from tests.support.clocks import LONG
from tests.support.gateways import ALICE, BOB, openai_client, row
from tests.support.servers import serving

UPSTREAM = "sk-of-the-route"
JSON = {"content-type": "application/json"}
SPEECH = tuple(os.urandom(9000) for _ in range(4))


def _json(body: Any, status: int = 200, **headers: str) -> Answer:
    return Answer((json.dumps(body).encode(),), status, {**JSON, **headers})


def _file(number: int) -> dict[str, Any]:
    return {"id": f"file-{number}", "object": "file", "bytes": 1, "created_at": 1, "filename": "x", "purpose": "batch",
            "status": "processed"}  # fmt: skip


BATCH = {"id": "batch_1", "object": "batch", "endpoint": "/v1/chat/completions", "input_file_id": "file-1",
         "output_file_id": "file-9", "completion_window": "24h", "status": "completed", "created_at": 1}  # fmt: skip


class Provider:
    """A provider of everything; `sent` are its requests."""

    def __init__(self) -> None:
        self.files = 0
        self.peer = ScriptedPeer(self.answer)

    @property
    def sent(self) -> list[Open]:
        return self.peer.sent

    def answer(self, sent: Open) -> Answer:
        path = sent.url.partition("//")[2].partition("/")[2].partition("?")[0]
        if b"boom" in sent.body:
            error = {"message": f"Incorrect API key: {UPSTREAM}", "type": "invalid_request_error", "code": "boom_code"}
            return _json({"error": error}, 429, **{"retry-after": "7"})
        match path.removeprefix("v1/"):
            case "embeddings":
                data = [{"object": "embedding", "index": 0, "embedding": [1.0, 2.0]}]
                usage = {"prompt_tokens": 5, "total_tokens": 5}
                return _json({"object": "list", "model": "x", "data": data, "usage": usage})
            case "api/embed":
                return _json({"model": "x", "embeddings": [[0.5]]})
            case "audio/speech":
                return Answer(SPEECH, headers={"content-type": "audio/mpeg"})
            case "audio/transcriptions":
                return _json({"text": f"{len(sent.body)} bytes"})
            case "images/generations" | "images/edits":
                return _json({"created": 1, "data": [{"b64_json": "QUJD"}]})
            case "files" if sent.method == "POST":
                self.files += 1
                return _json(_file(self.files))
            case "files":
                return _json({"object": "list", "data": [_file(n + 1) for n in range(self.files)], "has_more": False})
            case "batches" | "batches/batch_1":
                return _json(BATCH)
            case "files/file-1/content":
                return Answer((b"all of it",), headers={"content-type": "application/octet-stream"})
            case one if one.startswith("files/"):
                number = int(one.rpartition("-")[2])
                return _json({**_file(number), "deleted": True} if sent.method == "DELETE" else _file(number))
        return _json({"error": {"message": f"no {path}"}}, 404)


def app(provider: Provider) -> Any:
    def route(name: str, back: str = "openai_chat") -> Route:
        return Route(provider=COMPATIBLE[back], base_url="http://model.test", model=name, key=UPSTREAM)

    models: dict[str, Any] = {
        "m": route("m-real"),
        "claude": route("claude-real", "anthropic_messages"),
        "many": (route("a-real", "anthropic_messages"), route("b-real")),
        "lla": route("lla-real", "ollama_chat"),
    }
    access = (row(ALICE, "alice"), row(BOB, "bob"), row("sk-carol", "carol", models=("m",), per_minute=2))
    return create_app(GatewayConfig(models=models, access=access), provider.peer)


@pytest.fixture(scope="module")
def provider() -> Provider:
    return Provider()


@pytest.fixture(scope="module")
def address(provider: Provider) -> Iterator[str]:
    with serving(app(provider)) as found:
        yield found


def ask(path: str, body: Any, key: str = ALICE, **more: Any) -> Reply:
    headers = {"authorization": f"Bearer {key}", **JSON, **more.pop("headers", {})}
    return call(app(Provider()), path, body, headers=headers, **more)


# ── as they are ──────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("model", "real"), [("m", "m-real"), ("many", "b-real")])
def test_embeddings_go_to_the_first_route_that_has_them(
    provider: Provider, alice: Any, model: str, real: str
) -> None:
    made = alice.embeddings.create(model=model, input="hi", dimensions=2, encoding_format="float")
    sent = provider.sent[-1]
    assert made.data[0].embedding == [1.0, 2.0]
    assert json.loads(sent.body) == {"model": real, "input": "hi", "dimensions": 2, "encoding_format": "float"}
    assert sent.headers["authorization"] == f"Bearer {UPSTREAM}"
    assert ALICE not in repr((sent.headers, sent.body, sent.url))


def test_ollama_embeds(provider: Provider, address: str) -> None:
    one = ollama.Client(address, headers={"authorization": f"Bearer {ALICE}"})
    made = one.embed(model="lla", input="hi")
    one._client.close()
    assert made.embeddings == [[0.5]]
    assert json.loads(provider.sent[-1].body)["model"] == "lla-real"


def test_speech_comes_byte_for_byte(alice: Any) -> None:
    made = alice.audio.speech.create(model="m", voice="alloy", input="hi")
    assert made.content == b"".join(SPEECH)
    assert made.response.headers["content-type"] == "audio/mpeg"


def test_a_form_passes_with_another_model(provider: Provider, alice: Any) -> None:
    sound = os.urandom(300_000)
    made = alice.audio.transcriptions.create(model="m", file=("a.wav", sound), language="en")
    sent = provider.sent[-1]
    assert made.text == f"{len(sent.body)} bytes"
    assert sent.body.count(sound) == 1
    assert b'name="model"\r\n\r\nm-real\r\n' in sent.body
    assert sent.headers["content-length"] == str(len(sent.body))


def test_images_are_made_and_edited(alice: Any) -> None:
    assert alice.images.generate(model="m", prompt="a cat").data[0].b64_json == "QUJD"
    assert alice.images.edit(model="m", image=("i.png", b"\x89PNG"), prompt="x").data[0].b64_json == "QUJD"


def test_a_form_goes_up_as_it_comes() -> None:
    """The provider has the first piece before the client sends the last."""
    seen: list[bytes] = []
    arrived = asyncio.Event()

    class Slow:
        def performer(self) -> Any:
            return self.perform

        async def aclose(self) -> None:
            return None

        async def perform(self, effect: Any) -> Any:
            if not isinstance(effect, Open):
                return b""
            assert effect.upload is not None
            async for piece in effect.upload:
                seen.append(piece)
                arrived.set()
            raise AssertionError("the form never ended")

    async def script() -> None:
        route = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
        gateway = create_app(GatewayConfig(default=route), Slow())
        first = b'--B\r\ncontent-disposition: form-data; name="model"\r\n\r\nm\r\n--B\r\n'
        messages = iter([{"type": "http.request", "body": first, "more_body": True}])

        async def receive() -> Any:
            for message in messages:
                return message
            await arrived.wait()
            return {"type": "http.disconnect"}

        headers = [(b"content-type", b"multipart/form-data; boundary=B")]
        scope = {"type": "http", "method": "POST", "path": "/v1/audio/transcriptions", "headers": headers}

        async def send(_: Any) -> None:
            return None

        await asyncio.wait_for(gateway(scope, receive, send), LONG)

    asyncio.run(script())
    assert seen[0].startswith(b"--B")


# ── files and batches ────────────────────────────────────────────────────────


def test_files_and_batches_are_their_own_keys_alone(alice: Any, bob: Any) -> None:
    made = alice.files.create(file=("b.jsonl", b"{}"), purpose="batch")
    assert [one.id for one in alice.files.list()] == [made.id]
    assert alice.files.content(made.id).read() == b"all of it"
    begun = {"input_file_id": made.id, "endpoint": "/v1/chat/completions", "completion_window": "24h"}
    batch = alice.batches.create(**begun)
    assert alice.batches.retrieve(batch.id).id == batch.id
    assert alice.files.retrieve(batch.output_file_id).id == "file-9"
    assert list(bob.files.list()) == []
    for refused, name in ((bob.files.retrieve, made.id), (bob.files.delete, made.id), (bob.batches.retrieve, batch.id)):
        with pytest.raises(openai.NotFoundError, match=name):
            refused(name)
    with pytest.raises(openai.NotFoundError, match=made.id):
        bob.batches.create(**begun)
    assert alice.files.delete(made.id).deleted


# ── refusals ─────────────────────────────────────────────────────────────────


def test_a_model_without_a_route_that_has_it_is_told_which_have(alice: Any) -> None:
    with pytest.raises(openai.NotFoundError, match="ask for one of: m, many, lla") as error:
        alice.embeddings.create(model="claude", input="hi")
    assert error.value.code == "endpoint_not_found"


def test_a_provider_refuses_in_the_callers_shape_without_its_secrets(alice: Any) -> None:
    with pytest.raises(openai.RateLimitError) as error:
        alice.embeddings.create(model="m", input="boom")
    assert (error.value.code, error.value.response.headers["retry-after"]) == ("boom_code", "7")
    assert UPSTREAM not in error.value.response.text


def test_keys_and_their_limits_hold(address: str) -> None:
    with openai_client(address, "sk-carol") as carol, openai_client(address, "sk-nobody") as nobody:
        with pytest.raises(openai.PermissionDeniedError):
            carol.embeddings.create(model="many", input="hi")
        carol.embeddings.create(model="m", input="hi")
        with pytest.raises(openai.RateLimitError):
            carol.embeddings.create(model="m", input="hi")
        with pytest.raises(openai.AuthenticationError):
            nobody.embeddings.create(model="m", input="hi")


def test_a_form_beyond_the_limit_is_refused() -> None:
    form = b'--B\r\ncontent-disposition: form-data; name="model"\r\n\r\nm\r\n--B\r\n'
    headers = {"content-type": "multipart/form-data; boundary=B", "content-length": str(1 << 40)}
    assert ask("/v1/audio/transcriptions", form, headers=headers).status == 413


def test_a_form_that_names_its_model_too_late_is_told_so() -> None:
    form = b'--B\r\ncontent-disposition: form-data; name="file"\r\n\r\n' + b"x" * (2 << 20)
    headers = {"content-type": "multipart/form-data; boundary=B"}
    reply = ask("/v1/audio/transcriptions", form, headers=headers)
    assert (reply.status, "before the file" in reply.json["error"]["message"]) == (400, True)
    assert ask("/v1/audio/transcriptions?model=m", form, headers=headers).status == 200


@pytest.mark.parametrize("name", ["..", ".", "a%5Cb"])
def test_an_id_leads_nowhere_else(name: str) -> None:
    assert ask(f"/v1/files/{name}", None, method="GET").status in {400, 404}


# ── forms ────────────────────────────────────────────────────────────────────

FORM = (
    b'--B\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n--Bad\r\n\r\n--B\r\n'
    b'Content-Disposition: form-data; name="model"\r\n\r\nthe one\r\n--B\r\n'
    b'Content-Disposition: form-data; name="model"\r\n\r\nanother\r\n--B--\r\n'
)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, len(FORM)])
def test_a_field_is_found_however_the_form_is_cut(size: int) -> None:
    finder = FieldFinder("B", "model")
    pieces = [FORM[at : at + size] for at in range(0, len(FORM), size)]
    used = next(n for n, piece in enumerate(pieces, 1) if finder.feed(piece))
    assert finder.value == "the one"
    assert finder.replaced("THE") + b"".join(pieces[used:]) == FORM.replace(b"the one", b"THE")


@pytest.mark.parametrize("kind", ["", "application/json", "multipart/mixed; boundary=B", "multipart/form-data"])
def test_what_is_no_form_has_no_boundary(kind: str) -> None:
    assert boundary_of(kind) == ""


def test_rows_name_only_endpoints_that_are_served() -> None:
    assert {name for row in HAS.values() for name in row} == set(ENDPOINTS)
    assert set(HAS) <= set(PROVIDERS)
