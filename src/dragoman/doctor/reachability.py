"""Is there an API at the address at all, and which address is meant: looked at before everything else.

A machine without I/O.  Knows routes and lists of models; nothing of tools.  Contract: whatever answers, or does not, is
a finding that says what to do; `facts.unreachable` is set where nothing else is worth asking.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..effects import Machine, Open, Opened, Read
from ..errors import DragomanError
from ..providers.authorize import Tokens, admit
from ..providers.route import Route
from .findings import Grade, ProbeResult

PROBE = "address"
MOST = 8 * 1024 * 1024
"""Bytes of a list of models that are read."""
MOVED = "the API is at {found}, not at {given}"
USE = "use {found} as its base URL"
NO_KEY = ("it wants a key", "give the key in DRAGOMAN_UPSTREAM_KEY, or with --key")
WRONG_KEY = ("it refuses this key", "check the key: it may be another server's, or not allowed to do this")
A_PAGE = ("a web page answers here, not an API", "give the address of the API, not of its page; most end in /v1")
NO_LIST = ("it does not list its models", "name the model with --model, and the API with --api where it is another one")
REFUSED: Mapping[int, tuple[str, str]] = {
    401: NO_KEY,
    403: NO_KEY,
    404: ("no API answers at this path", "give the root of the API; most end in /v1"),
    429: ("it takes no more requests for now (429)", "wait a moment, and examine it again"),
}
BROKEN = ("it answers {status}", "look into that server's log; it may still be loading its model")


@dataclass(frozen=True, slots=True)
class Reached:
    """The outcome: the result of the probe, the route that is meant, and the models that it lists."""

    finding: ProbeResult
    route: Route
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    page: bool
    models: tuple[str, ...] | None


def reach(route: Route, *, named: bool) -> Machine[Reached]:
    """Look where the API of `route` is; `named` says that a model was named, and no list is needed."""
    if not route.provider.models.path:
        message = "this provider has no list of models"
        return Reached(ProbeResult(probe=PROBE, grade=Grade.UNKNOWN, message=message), route)
    try:
        answer = yield from _look(route)
        longer = _longer(route)
        if answer.models is None and (answer.page or answer.status == 404) and longer is not None:
            second = yield from _look(longer)
            if second.models is not None or second.status in {401, 403}:
                return _moved(route, longer, second)
    except DragomanError as error:
        message, _, remedy = str(error).rpartition("; ")
        return Reached(_bad(message or str(error), remedy or "mend that first"), route)
    return _judged(route, answer, named=named)


def _longer(route: Route) -> Route | None:
    """The route with the path its API usually has."""
    root, usual = route.root(), route.provider.root
    return replace(route, base_url=root + usual) if usual and not root.endswith(usual) else None


def _moved(given: Route, found: Route, answer: _Answer) -> Reached:
    if answer.models is None:
        return _judged(found, answer, named=False)
    names = {"found": found.root(), "given": given.root()}
    finding = ProbeResult(probe=PROBE, grade=Grade.POOR, message=MOVED.format(**names), remedy=USE.format(**names))
    return Reached(finding, found, answer.models)


def _judged(route: Route, answer: _Answer, *, named: bool) -> Reached:
    if answer.models is not None:
        message = f"{route.root()} answers, and lists {len(answer.models)} models"
        return Reached(ProbeResult(probe=PROBE, grade=Grade.GOOD, message=message), route, answer.models)
    message, remedy = _refused(answer, has_key=bool(route.key))
    message = f"{message} ({route.root()})"
    if named and (answer.status == 404 or answer.status < 300) and not answer.page:
        return Reached(ProbeResult(probe=PROBE, grade=Grade.UNKNOWN, message=message), route)
    return Reached(_bad(message, remedy), route)


def _refused(answer: _Answer, *, has_key: bool) -> tuple[str, str]:
    if answer.page and answer.status < 500 and answer.status not in {401, 403, 429}:
        return A_PAGE
    if answer.status in {401, 403} and has_key:
        return WRONG_KEY
    if answer.status >= 500:
        return BROKEN[0].format(status=answer.status), BROKEN[1]
    return REFUSED.get(answer.status, NO_LIST)


def _bad(message: str, remedy: str) -> ProbeResult:
    return ProbeResult(probe=PROBE, grade=Grade.BAD, message=message, remedy=remedy, facts={"unreachable": True})


def _look(route: Route) -> Machine[_Answer]:
    listing = route.provider.models
    request = Open(url=route.url(listing.path), method="GET", headers=route.headers(), timeouts=route.timeouts)
    opened: Opened = yield (yield from admit(request, route, Tokens()))
    body = b""
    while len(body) < MOST and (data := (yield Read())):
        body += data
    kind = next((value for name, value in opened.headers.items() if name.lower() == "content-type"), "")
    page = "html" in kind or body.lstrip()[:1] == b"<"
    return _Answer(opened.status, page, _names(body, route) if opened.status == 200 else None)


def _names(body: bytes, route: Route) -> tuple[str, ...] | None:
    try:
        listed = json.loads(body)[route.provider.models.items]
        return tuple(item[route.provider.models.name] for item in listed)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
