"""`dragoman convert`: a body or a stream of one API → the same in another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

import click

from ..codecs import CODECS
from ..codecs.spec import Codec, Stamp
from ..events import Event
from ..frames import Frame, readers, writers
from .printing import print_json
from .reading import name, read_json

CHUNK = 65536
"""Bytes read at once."""
Body = Mapping[str, Any]


def _request(body: Body, origin: Codec, goal: Codec) -> Body:
    return goal.encode_request(origin.decode_request(body))


def _response(body: Body, origin: Codec, goal: Codec) -> Body:
    response = origin.decode_response(body)
    return goal.encode_response(response, Stamp(id=response.id, model=response.model))


WHOLE: Mapping[str, Callable[[Body, Codec, Codec], Body]] = {"request": _request, "response": _response}


@click.command(name="convert")
@click.argument("file", type=click.File("rb"), default="-")
@click.option("--from", "source", required=True, metavar="API", help="The API it is written in (dragoman list codecs).")
@click.option("--to", "target", required=True, metavar="API", help="The API to write.")
@click.option("--kind", type=click.Choice([*WHOLE, "stream"]), default="request", show_default=True)
def command(file: IO[bytes], source: str, target: str, kind: str) -> None:
    """Convert FILE (standard input when not given) between APIs."""
    origin, goal = CODECS[source], CODECS[target]
    if kind == "stream":
        write = writers[goal.frames]
        for frame in _frames(_events(file, origin), goal):
            click.echo(write(frame), nl=False)
        return
    body = read_json(file)
    if not isinstance(body, dict):
        raise click.BadParameter(f"{name(file)} must hold a JSON object")
    print_json(WHOLE[kind](body, origin, goal))


def _events(file: IO[bytes], origin: Codec) -> Iterator[Event]:
    reader, decoder = readers[origin.frames](), origin.decode_stream()
    while chunk := file.read(CHUNK):
        for frame in reader.feed(chunk):
            yield from decoder.feed(frame)
    for frame in reader.close():
        yield from decoder.feed(frame)
    yield from decoder.close()


def _frames(events: Iterator[Event], goal: Codec) -> Iterator[Frame]:
    encoder = goal.encode_stream()
    for event in events:
        yield from encoder.feed(event)
    yield from encoder.close()
