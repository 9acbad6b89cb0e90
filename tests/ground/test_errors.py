"""Errors: what they carry reaches another process."""

from __future__ import annotations

import copy
import importlib
import pickle
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest

import dragoman
from dragoman.codecs.shared.spec import Unsupported
from dragoman.dialects.learning.outputs.learner import AlreadyRead
from dragoman.dialects.writing.render import Unrenderable
from dragoman.errors import (
    CodecError,
    DragomanError,
    ErrorKind,
    ExtractError,
    ProviderError,
    ToolError,
    UnknownName,
)
from dragoman.fallback.chain import ChainError, RouteFailed, Then
from dragoman.fallback.health import Place
from dragoman.loop import Bound, Limit, Run, RunUnfinished
from dragoman.types import Issue, IssueKind, Message

LOADED = ("codecs", "dialects", "fallback", "loop", "mcp", "schema", "tools", "turn", "client", "batch")
WRONG = Issue(kind=IssueKind.MALFORMED, message="no call", correction="Call it.")
BUSY = ProviderError("busy; wait", status=429, kind=ErrorKind.RATE_LIMIT, code="slow", retry_after=3.0, body="{}")
OWN: dict[type[DragomanError], tuple[Any, ...]] = {
    UnknownName: ("dialect", "herms", ["hermes"]),
    CodecError: ("no text", "$.messages[2]", "openai_chat"),
    ExtractError: ([WRONG],),
    ToolError: ("ENOENT", "no such file"),
    ChainError: ([RouteFailed(Place("a", "b"), 1, BUSY, Then.GIVE_UP)], 30.0),
    Unrenderable: ("hermes", "a call", "it holds a mark"),
    Unsupported: ("not served", "$.n", "openai_chat", {"param": "n"}),
    AlreadyRead: (["hermes"],),
    RunUnfinished: (Run(end=Limit(Bound.TURNS, 3), messages=(Message("user", "Hi."),), issues=(WRONG,)),),
}
"""What the errors are made of that are made of more than words."""


def errors() -> list[type[DragomanError]]:
    """Every error class, of all that a caller may load."""
    for room in LOADED:
        for found in pkgutil.walk_packages(importlib.import_module(f"dragoman.{room}").__path__, f"dragoman.{room}."):
            importlib.import_module(found.name)

    def below(kind: type[DragomanError]) -> Iterator[type[DragomanError]]:
        yield kind
        for each in kind.__subclasses__():
            yield from below(each)

    rooms = tuple(f"dragoman.{room}" for room in ("errors", *LOADED))
    return sorted({kind for kind in below(DragomanError) if kind.__module__.startswith(rooms)}, key=str)


def as_told(error: Any) -> tuple[Any, ...]:
    """What can be seen of an error."""
    fields = {key: as_told(value) if isinstance(value, Exception) else value for key, value in vars(error).items()}
    failures = [(each.place, each.attempt, as_told(each.error)) for each in fields.pop("failures", ())]
    return type(error), error.args, str(error), fields, failures


@pytest.mark.parametrize("kind", errors(), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_an_error_is_the_same_in_another_process(kind: type[DragomanError], protocol: int) -> None:
    error = kind(*OWN.get(kind, ("something went wrong; do this",)))
    error.run = "what it ended"  # type: ignore[attr-defined]
    again = pickle.loads(pickle.dumps(error, protocol))
    assert as_told(again) == as_told(error)
    assert as_told(pickle.loads(pickle.dumps(again, protocol))) == as_told(error)
    assert as_told(copy.copy(error)) == as_told(error)


def test_the_place_of_an_error_is_told_once() -> None:
    assert str(pickle.loads(pickle.dumps(CodecError("no text")))).count("(at $)") == 1


def test_a_failure_that_ended_a_run_carries_it_to_another_process() -> None:
    error = ProviderError("busy; wait", status=429, kind=ErrorKind.RATE_LIMIT, retry_after=3.0)
    error.run = Run(end=Limit(Bound.TURNS, 3))
    again = pickle.loads(pickle.dumps(error))
    assert (again.kind, again.retryable, again.retry_after, again.run) == ("rate_limit", True, 3.0, error.run)


def test_every_error_of_the_face_is_one_of_them() -> None:
    named = {getattr(dragoman, name) for name in dir(dragoman) if name.endswith("Error")}
    assert named <= set(errors())
