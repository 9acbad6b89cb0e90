"""`dragoman convert`: a request, an answer or a stream of one API → the same in another, and what was lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import IO, Any
from urllib.parse import quote

import click

from ..codecs import CODECS
from ..codecs.fidelity.losses import request_losses
from ..codecs.shared.frames import Frame, readers, writers
from ..codecs.shared.spec import Codec, Stamp, StreamEncoder
from ..errors import ProviderError
from ..events import Assembler, Event, replay
from ..gateway.answer_losses import response_losses, stream_losses
from ..types import Issue, IssueKind, Request, Response
from .inputs import name, read_json
from .outputs import issue_as_json, print_json

CHUNK = 65536
"""Bytes read at once."""
KINDS = ("request", "response", "stream")


@click.command(name="convert")
@click.argument("file", type=click.File("rb"), default="-")
@click.option("--from", "source", required=True, metavar="API", help="API of FILE (dragoman list codecs).")
@click.option("--to", "target", required=True, metavar="API", help="API to write.")
@click.option("--kind", type=click.Choice(KINDS), default="request", show_default=True, help="Kind of FILE.")
@click.option("--into", type=click.Choice(KINDS[1:]), help="Write an answer whole or as a stream, whichever FILE is.")
@click.option("--model", default="", metavar="NAME", help="Ask this model (some APIs name it in the path only).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: the result, and the report.")
def command(
    file: IO[bytes], *, source: str, target: str, kind: str, into: str | None, model: str, as_json: bool
) -> None:
    """Convert FILE (standard input when not given) between APIs.

    What the other API cannot hold is reported on stderr, with its path in the request or answer.
    """
    origin, goal = CODECS[source], CODECS[target]
    if kind == "request":
        if into:
            raise click.UsageError("--into is for answers; a request stays a request")
        made = _request(read_body(file), origin, goal, model)
    elif (into or kind) == "stream":
        made = _stream(_events(file, origin, kind), goal, _silent if as_json else _writing(goal))
    else:
        made = _response(_events(file, origin, kind), goal)
    _print(made, as_json=as_json)


def read_body(file: IO[bytes]) -> dict[str, Any]:
    """The JSON object in `file`."""
    body = read_json(file)
    if not isinstance(body, dict):
        raise click.BadParameter(f"{name(file)} must hold a JSON object")
    return body


# ── requests ─────────────────────────────────────────────────────────────────


def _request(body: Mapping[str, Any], origin: Codec, goal: Codec, model: str) -> dict[str, Any]:
    request = origin.decode_request(body)
    if model:
        request = replace(request, model=model)
    issues = [*_unnamed(request, origin, goal), *request_losses(request, goal)]
    path = goal.stream_path if request.stream else goal.path
    made = {"path": path.replace("{model}", quote(request.model, safe="")) if request.model else path}
    return {**made, "request": goal.encode_request(request), "issues": issues}


def _unnamed(request: Request, origin: Codec, goal: Codec) -> Iterator[Issue]:
    if not request.model and "{model}" not in goal.path:
        message = f"{origin.name} names the model, and whether to stream, in the path; name it with --model"
        yield Issue(kind=IssueKind.UNSUPPORTED, message=message, path="$.model")


# ── answers ──────────────────────────────────────────────────────────────────


def _events(file: IO[bytes], origin: Codec, kind: str) -> Iterator[Event]:
    """The events of the answer in `file`, as they are read where it is a stream."""
    if kind == "response":
        yield from replay(origin.decode_response(read_body(file)))
        return
    reader, decoder = readers[origin.frames](), origin.decode_stream()
    while chunk := file.read(CHUNK):
        for frame in reader.feed(chunk):
            yield from decoder.feed(frame)
    for frame in reader.close():
        yield from decoder.feed(frame)
    yield from decoder.close()


def _response(events: Iterable[Event], goal: Codec) -> dict[str, Any]:
    assembler = Assembler()
    for event in events:
        assembler.add(event)
    response = assembler.response()
    body = goal.encode_response(response, Stamp(id=response.id, model=response.model))
    return {"response": body, "issues": [*response.issues, *response_losses(response, goal)]}


def _stream(events: Iterable[Event], goal: Codec, write: Callable[[Frame], None]) -> dict[str, Any]:
    """The frames of the answer, each told as soon as it is made.  A peer's error is told in the stream, then raised."""
    assembler, encoder, frames = Assembler(), goal.encode_stream(), list[Frame]()
    try:
        for frame in _encoded(events, encoder, assembler):
            frames.append(frame)
            write(frame)
    except ProviderError as error:
        write(goal.error_frame(error, encoder.number))
        raise
    response: Response = assembler.response()
    return {"stream": frames, "issues": [*response.issues, *stream_losses(response, goal, frames)]}


def _encoded(events: Iterable[Event], encoder: StreamEncoder, assembler: Assembler) -> Iterator[Frame]:
    for event in events:
        assembler.add(event)
        yield from encoder.feed(event)
    yield from encoder.close()


# ── printing ─────────────────────────────────────────────────────────────────


def _writing(goal: Codec) -> Callable[[Frame], None]:
    write = writers[goal.frames]
    return lambda frame: click.echo(write(frame), nl=False)


def _silent(frame: Frame) -> None:
    """Frames are printed later, all together."""


def _print(made: Mapping[str, Any], *, as_json: bool) -> None:
    """`made` on stdout and its report on stderr, or all of it as one object."""
    issues: list[Issue] = made["issues"]
    if as_json:
        shown = {**made, "issues": [issue_as_json(issue) for issue in issues]}
        shown |= {"stream": [frame._asdict() for frame in made["stream"]]} if "stream" in made else {}
        print_json(shown)
        return
    body = made.get("request", made.get("response"))
    if body is not None:
        print_json(body)
    if "path" in made:
        click.echo(f"POST {made['path']}", err=True)
    for issue in issues:
        click.echo(f"{issue.kind}  {issue.path or '$'}  {issue.message}", err=True)
