"""One client's request served over any route: a machine without I/O.

Front codec decodes → turn → front codec encodes.  Knows codecs, the turn and effects; nothing of ASGI or sockets.
Contract of `Exchange.steps`: yields effects, then exactly one `Head`, then the bytes of the body; what one read brought
goes out as one piece, before the next effect.  Whatever goes wrong is told in the caller's own shape: with the right
status while nothing was sent, in the stream's own form after that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ..codecs.shared.frames import FrameKind, writers
from ..codecs.shared.spec import Stamp
from ..effects import Machine, NewId, Now, relay
from ..errors import CodecError, DragomanError, ProviderError
from ..events import EVENTS, IssueReported
from ..fallback import Health, Rules, chain
from ..jsontext import to_json
from ..loop.policy import Policy
from ..providers.route import Route
from ..server_tools.machine import DEFAULT_POLICY, with_tools
from ..server_tools.memory import Memory
from ..tools import ToolSet
from ..turn.capabilities import Learned
from ..turn.machine import turn
from ..turn.reask import Ask, loses_a_call, reask
from ..types import NOTHING, Issue, IssueKind, JsonObject, Request, Response, Tier, Tool
from .fronts import STREAM_TYPES, Front
from .state.response_items import Items
from .telemetry.exchange_record import GONE, Account

JSON_TYPE = "application/json"
PATIENT = Rules()
MANY_TOOLS = "{tools} tools are more than the {most} this gateway takes; send fewer, or raise limits.tools"
MOST_SHOWN = 500
"""Characters of one of our headers: what made it longer is in the answer itself."""


@dataclass(frozen=True, slots=True)
class Head:
    """The head of our answer."""

    status: int
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """The tools a model gets besides its client's: those run here (by server), and those the client is to run."""

    tools: Mapping[str, ToolSet] = field(default_factory=dict)
    offered: tuple[Tool, ...] = ()
    policy: Policy = DEFAULT_POLICY


ALONE = Attached()


class Exchange:
    """Serves one request.

    `pick` says where a model goes, `attach` which tools it gets besides its client's, `memory` what those did
    before, `health` and `rules` how several places are asked, `path` what the address said of the request (model,
    stream). `items` keeps what a client may refer to, `account` is written while it runs; `committed` is whether
    the head has been sent, `pings` whether comments may be sent while the provider is silent.  More than `tools`
    tools are refused, 0 for no limit.
    """

    def __init__(
        self,
        front: Front,
        body: JsonObject,
        pick: Callable[[str], Sequence[Route]],
        *,
        learned: Learned | None = None,
        health: Health | None = None,
        rules: Rules = PATIENT,
        request_id: str = "",
        stream_arguments: bool = False,
        reasks: int = 0,
        path: Mapping[str, Any] = NOTHING,
        items: Items | None = None,
        account: Account | None = None,
        attach: Callable[[str], Attached] | None = None,
        memory: Memory | None = None,
        tools: int = 0,
    ) -> None:
        self._front, self._body, self._pick = front, body, pick
        self._learned, self._health, self._rules = learned, health, rules
        self._request_id = request_id
        self._whole_calls = not stream_arguments
        self._reasks = reasks
        self._path = path
        self._items = items if front.refers else None
        self._account = account or Account(request_id=request_id, front=front.codec.name)
        self._attach, self._memory, self._most_tools = attach, memory, tools
        self._streams = False
        self._lost: list[str] = []
        self.committed = False

    @property
    def pings(self) -> bool:
        """May a comment stand in this answer?"""
        return self._streams and self._front.codec.frames is FrameKind.SSE

    def commit(self) -> Head:
        """The head of a stream, now: from here on errors are told inside it."""
        self.committed = True
        kind = STREAM_TYPES[self._front.codec.frames]
        return self._head(200, kind, {"cache-control": "no-cache", "x-accel-buffering": "no"})

    def steps(self) -> Machine[None]:
        """Serve; yields effects, a `Head` and bytes.  An exception that is our bug is told to the client and raised."""
        try:
            yield from self._serve()
        except DragomanError as error:
            yield from self.fail(error)
        except GeneratorExit:
            self._account.status = GONE  # what is told after this (a time limit) overrides it
            raise
        except Exception as error:
            yield from self.fail(error)
            raise

    def _serve(self) -> Machine[None]:
        request = self._request()
        self._account.model, self._account.stream = request.model, request.stream
        routes = self._pick(request.model)
        if not (request.model or routes[0].model):
            raise CodecError("model is missing; name the model to ask", "$.model", self._front.codec.name)
        stamp = Stamp(id=(yield NewId(self._front.ids)), created=int((yield Now())), model=request.model)
        self._streams = request.stream
        attached = self._attach(request.model) if self._attach is not None else ALONE
        request = _offered(request, attached.offered)
        alone = len(routes) == 1
        ask = self._at_home(self._asking(routes), attached, self._rules if alone else None)
        steps = reask(request, ask, self._reasks, whole_calls=self._whole_calls)
        try:
            yield from self._stream(steps, request, stamp) if request.stream else self._whole(steps, request, stamp)
        finally:
            steps.close()

    def _asking(self, routes: Sequence[Route]) -> Ask:
        """One route is asked as it is: its client has patience of its own.  Several are a chain."""
        if len(routes) == 1:
            ask = partial(turn, route=routes[0], learned=self._learned)
            return self._account.watch(ask, routes[0])
        asks = partial(chain, routes=routes, health=self._health, learned=self._learned, rules=self._rules)
        return self._account.watch(asks, None)

    def _at_home(self, ask: Ask, attached: Attached, patience: Rules | None) -> Ask:
        """`ask`, with the house's tools; what they did is written into the account."""
        key = self._account.key
        home = with_tools(ask, attached.tools, attached.policy, self._memory, key, patience=patience)
        if home is ask:
            return ask

        return lambda request: relay(home(request), hear=self._account.at_home)

    def _request(self) -> Request:
        codec, body = self._front.codec, self._body
        if self._items is not None:
            body = self._items.resolve(body, codec.name, self._account.key)
        request = codec.decode_request(body)
        if self._most_tools and len(request.tools) > self._most_tools:
            message = MANY_TOOLS.format(tools=len(request.tools), most=self._most_tools)
            raise CodecError(message, "$.tools", codec.name)
        return replace(request, **self._path) if self._path else request

    def _stream(self, steps: Machine[Response], request: Request, stamp: Stamp) -> Machine[None]:
        codec = self._front.codec
        encoder = codec.encode_stream(stamp, request, whole_calls=self._whole_calls)
        write = writers[codec.frames]
        pieces: list[bytes] = []

        def hear(step: Any) -> tuple[()]:
            if type(step) in EVENTS:
                if type(step) is IssueReported:
                    self._lost += lost_wishes([step.issue])
                for frame in encoder.feed(step):
                    pieces.append(write(frame))
            return ()

        def before() -> Iterable[Head | bytes]:
            return self._send(pieces) if pieces else ()

        try:
            response = yield from relay(steps, hear=hear, before=before)
        except DragomanError:
            yield from self._send(pieces)  # what the provider said before it failed is told before the failure
            raise
        self._account.response = response
        pieces += map(write, encoder.close())
        self._keep(lambda: codec.encode_response(response, stamp, request))
        yield from self._send(pieces)

    def _keep(self, answer: Callable[[], JsonObject]) -> None:
        """What may be referred to is kept, unless the client says that it sends everything itself."""
        if self._items is not None and self._body.get("store") is not False:
            self._items.keep(answer(), self._account.key)

    def _send(self, pieces: list[bytes]) -> Iterator[Head | bytes]:
        if not pieces:
            return
        if not self.committed:
            yield self.commit()
        self._account.flowing()
        data = b"".join(pieces)
        pieces.clear()
        yield data

    def _whole(self, steps: Machine[Response], request: Request, stamp: Stamp) -> Machine[None]:
        response = yield from relay(steps, hear=lambda _: ())
        self._account.response = response
        self._account.flowing()
        answer = self._front.codec.encode_response(response, stamp, request)
        self._keep(lambda: answer)
        self._lost = lost_wishes(response.issues)
        body = to_json(answer).encode()
        self.committed = True
        told = {**audit(response), **self._ran(), "content-length": str(len(body))}
        yield self._head(200, JSON_TYPE, told)
        yield body

    def _ran(self) -> dict[str, str]:
        """Which tools were run here."""
        names = [call.name for results in self._account.house for call, _ in results]
        return {"x-dragoman-server-tools": _printable(",".join(names))} if names else {}

    def fail(self, error: Exception) -> Iterator[Head | bytes]:
        """Tell `error`: as an answer where none was begun, inside the stream where one was."""
        codec = self._front.codec
        if self.committed:
            self._account.failed(error, codec.encode_error(error)[0])
            yield writers[codec.frames](codec.error_frame(error))
            return
        self.committed = True
        head, body = failure(self._front, error, self._request_id)
        self._account.failed(error, head.status)
        yield Head(head.status, {**head.headers, **self._asked()})
        yield body

    def _head(self, status: int, kind: str, more: Mapping[str, str]) -> Head:
        self._account.status = status
        return Head(status, {"content-type": kind, "x-request-id": self._request_id, **self._asked(), **more})

    def _asked(self) -> dict[str, str]:
        """Who answers, and what of the request they cannot be told, as far as is known when the head goes out."""
        unsupported = ",".join(dict.fromkeys(self._lost))
        headers = {"x-dragoman-route": self._account.route, "x-dragoman-unsupported-params": unsupported}
        return {name: _printable(value) for name, value in headers.items() if value}


def _offered(request: Request, offered: Sequence[Tool]) -> Request:
    """`request` with tools its client is to run besides its own; its own keep their names."""
    own = {tool.name for tool in request.tools}
    more = tuple(tool for tool in offered if tool.name not in own)
    return replace(request, tools=(*request.tools, *more)) if more else request


def failure(front: Front, error: Exception, request_id: str = "", status: int = 0) -> tuple[Head, bytes]:
    """`error` as a whole answer in the shape of `front`; `status` replaces the one it would have."""
    told, body = front.codec.encode_error(error)
    data = to_json(body).encode()
    headers = {"content-type": JSON_TYPE, "content-length": str(len(data)), "x-request-id": request_id}
    if isinstance(error, ProviderError) and error.retry_after is not None:
        headers["retry-after"] = str(math.ceil(error.retry_after))
    return Head(status or told, headers), data


def lost_wishes(issues: Iterable[Issue]) -> list[str]:
    """The fields of a request that were lost on the way to the model, but for what was cut from a tool's schema."""
    told = [issue for issue in issues if issue.kind is IssueKind.UNSUPPORTED and issue.path.startswith("$.")]
    paths = [issue.path for issue in told if not issue.name or issue.path == "$.tool_choice"]
    return [path.removeprefix("$.").removeprefix("extra.") for path in paths]


def audit(response: Response) -> dict[str, str]:
    """What the calls of an answer went through, as headers; none where there were no calls."""
    reports = [call.report for call in response.calls if call.report is not None]
    refused = sum(map(loses_a_call, response.issues))
    told = {
        "x-dragoman-dialect": [report.dialect for report in reports],
        "x-dragoman-tier": [(call.report.tier if call.report else Tier.NATIVE).value for call in response.calls],
        "x-dragoman-edits": [edit.kind for report in reports for edit in report.edits],
        "x-dragoman-refused": [str(refused)] if refused else [],
        "x-dragoman-reasks": [issue.raw for issue in response.issues if issue.kind is IssueKind.REASKED],
    }
    joined = {name: ",".join(dict.fromkeys(filter(None, values))) for name, values in told.items()}
    return {name: _printable(value) for name, value in joined.items() if value}


def _printable(text: str) -> str:
    """`text` as a header may carry it: a model's name comes from a client and may hold anything."""
    return "".join(c if " " <= c <= "~" else "?" for c in text[:MOST_SHOWN])
