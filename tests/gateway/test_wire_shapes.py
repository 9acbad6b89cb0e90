"""Answers in shapes that no API describes: every front's client gets what they say, whole and streamed."""

from __future__ import annotations

from typing import Any

from dragoman.errors import ProviderError
from dragoman.gateway import GatewayConfig, create_app
from dragoman.types import Response
from tests.support.asgi import call
from tests.support.gateways import asking, every_front, message_of, read, streamed_and_whole
from tests.support.shapes import SHAPES, answering, asks, faults, route


def came(shape: dict[str, Any], front: str, *, stream: bool) -> Response | str:
    gateway = create_app(GatewayConfig(default=route(shape)), answering(shape, stream=stream))
    reply = call(gateway, *asking(front, stream=stream))
    try:
        return read(front, reply, stream=stream) if reply.status == 200 else message_of(front, reply)
    except ProviderError as error:  # told once the stream had begun
        return error.message


@every_front
@streamed_and_whole
def test_every_client_gets_what_an_odd_shape_says(front: str, stream: bool) -> None:
    wrong: dict[str, list[str]] = {}
    for shape in SHAPES:
        if asks(shape, stream=stream) and "stop" not in shape:  # whose word each API has of its own
            wrong |= {shape["id"]: found} if (found := faults(shape, came(shape, front, stream=stream))) else {}
    assert wrong == {}
