"""Answers in shapes that no API describes and providers send: `tests/vectors/wires/shapes.jsonl`, and how to ask for one.

Each row is the bytes of an answer on the wire `api`, and what has to come of them: `calls`, `text`, `stop`, or words of
an `error`; `sound` where nothing is to be reported of it.
"""

from __future__ import annotations

import json
from typing import Any

from dragoman.codecs import CODECS
from dragoman.codecs.shared.frames import FrameKind
from dragoman.providers.route import Route
from dragoman.providers.spec import Provider
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.types import Response

from .places import VECTORS

SHAPES: list[dict[str, Any]] = [
    json.loads(line) for line in (VECTORS / "wires" / "shapes.jsonl").read_text(encoding="utf-8").splitlines()
]
STREAMED = {FrameKind.SSE: "text/event-stream", FrameKind.NDJSON: "application/x-ndjson"}
SECRET = "sk-shapes-0123456789abcdef"


def route(shape: dict[str, Any]) -> Route:
    """Where such an answer comes from."""
    return Route(provider=Provider(name="odd", codec=shape["api"]), base_url="http://model.test", key=SECRET)


def answering(shape: dict[str, Any], *, stream: bool, label: str = "", size: int = 10**9) -> ScriptedPeer:
    """Who gives it, as often as it is asked, in pieces of `size`, labelled as what was asked for or as `label`."""
    data = shape["body"].encode()
    asked = STREAMED[CODECS[shape["api"]].frames] if stream else "application/json"
    pieces = tuple(data[at : at + size] for at in range(0, len(data), size))
    return ScriptedPeer(lambda _: Answer(pieces, headers={"content-type": label or asked}))


def asks(shape: dict[str, Any], *, stream: bool) -> bool:
    """Is that one of the ways in which it is asked for?"""
    return ("stream" if stream else "whole") in shape.get("asks", ("stream", "whole"))


def faults(shape: dict[str, Any], came: Response | str) -> list[str]:
    """What of `came`, an answer or the message of an error, is not as it has to be."""
    error = shape.get("error")
    if isinstance(came, str):
        wrong = came if error is None or error not in came or ";" not in came or SECRET in came else ""
        return [f"an error: {wrong}"] if wrong else []
    if error is not None:
        return [f"no error, but {came}"]
    calls = [[call.name, dict(call.arguments)] for call in came.calls]
    made = {"calls": calls, "text": came.text, "stop": str(came.stop)}
    return [f"{key}: {made[key]!r}" for key in made if key in shape and made[key] != shape[key]]
