"""One client's request served over any route: a machine without I/O.

Front codec decodes → turn → front codec encodes.  Knows codecs, the turn and effects; nothing of ASGI or sockets.
Contract of `Exchange.steps`: yields effects, then exactly one `Head`, then the bytes of the body; what one read brought
goes out as one piece, before the next effect.  Whatever goes wrong is answered in the caller's own shape: with the
right status while nothing was sent, in the stream's own form after that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

from ..codecs.shared.frames import FrameKind, writers
from ..codecs.shared.issues import OTHER_ANSWERS, unsupported
from ..codecs.shared.spec import Stamp, StreamEncoder
from ..codecs.typed.hosted import asked, demanded, without
from ..effects import NOW, Machine, NewId, Sleep, relay
from ..errors import CodecError, DragomanError, ProviderError, without_frames
from ..fallback import Balancer, Health, Spread, chaining, place
from ..jsontext import to_bytes
from ..providers.route import Route
from ..records import dataclass, replace
from ..server_tools.machine import with_tools
from ..server_tools.memory import Memory
from ..turn.asking import asking
from ..turn.capabilities import Capabilities
from ..turn.machine import First
from ..turn.plan import runs_hosted
from ..turn.reask import Ask, Budget, reask
from ..turn.several import one_choice
from ..types import NOTHING, Issue, IssueKind, JsonObject, Message, Request, Response
from .answer_losses import may_lose, unsupported_fields
from .attached import ALONE, Attached, not_ready, offering, taken
from .config.model import Access, GatewayConfig
from .crossing.answers import AnswerCrossing, crossing_of
from .fronts import STREAM_TYPES, Front
from .loading import asks_nothing, load
from .outgoing import Outgoing
from .request_faults import Besides, check, check_turns
from .seals import Sealer, opened
from .shortcut import Shortcut
from .state.responses import Opening, Responses
from .straight import straight
from .telemetry.exchange_record import GONE, ExchangeRecord
from .telemetry.headers import audit, comments, lost_fields, printable, unsupported_parameters, with_lost

JSON_TYPE = "application/json"
NO_INPUT = "input is missing or empty; send it, or previous_response_id, conversation or prompt"
MANY_TOOLS = "{tools} tools are more than the {most} this gateway takes; send fewer, or raise limits.tools"


@dataclass(frozen=True, slots=True)
class Head:
    """The head of our answer."""

    status: int
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeServices:
    """What the exchanges under one configuration share.

    learned  what models refused before;  health  of places, where several are asked;  balancer  of those that share
    responses  what clients may come back to;  memory  what server tools did for answers before
    attach   the tools a model gets besides its client's
    """

    config: GatewayConfig
    learned: Capabilities | None = None
    health: Health | None = None
    balancer: Balancer | None = None
    responses: Responses | None = None
    memory: Memory | None = None
    attach: Callable[[str, Collection[str]], Attached] = lambda _, kinds: ALONE


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """What holds for one request: what its address said of it (model, stream), and the access of its client's key."""

    path: Mapping[str, Any] = NOTHING
    access: Access | None = None


class Exchange:
    """Serves one request; `record` is written while it runs.

    `committed` is whether the head has been sent, `pings` whether comments may be sent while the provider is silent.
    """

    __slots__ = (
        "_accepted", "_body", "_config", "_encoder", "_front", "_ignored", "_missing", "_opening", "_options",
        "_record", "_renamed", "_responses", "_services", "_streams", "_unsupported", "_whole_calls", "committed",
    )  # fmt: skip

    committed: bool

    def __init__(
        self,
        front: Front,
        body: JsonObject,
        services: ExchangeServices,
        options: RequestOptions = RequestOptions(),  # noqa: B008
        record: ExchangeRecord | None = None,
    ) -> None:
        self._front, self._body = front, body
        self._services, self._options, self._config = services, options, services.config
        self._record = record or ExchangeRecord(front=front.codec.name)
        self._responses = services.responses if front.refers else None
        self._opening = NO_OPENING if self._responses is None else Opening(body)
        self._accepted: tuple[Request, Stamp] | None = None
        self._whole_calls = not services.config.stream_arguments
        self._streams = False
        self._encoder: StreamEncoder | None = None
        self._unsupported: Sequence[str] = ()
        self._ignored: Sequence[str] = ()  # by what it was found out that the backend ignores tools
        self._missing: Sequence[str] = ()  # servers the model does without
        self._renamed: Sequence[str] = ()  # tools of servers that a tool of the client's took the name of
        self.committed = False

    @property
    def pings(self) -> bool:
        """May a comment stand in this answer?"""
        return self._streams and self._comments

    @property
    def _comments(self) -> bool:
        return self._front.comments and self._front.codec.frames is FrameKind.SSE

    def commit(self) -> Head:
        """The head of a stream, now: from here on errors stand inside it."""
        self.committed = True
        kind = STREAM_TYPES[self._front.codec.frames]
        return self._head(200, kind, {"cache-control": "no-cache", "x-accel-buffering": "no"})

    def steps(self) -> Machine[None]:
        """Serve; yields effects, a `Head` and bytes.  An exception that is our bug is answered, and raised."""
        try:
            answering = yield from self._serve()
            if answering is not None:
                yield from answering
        except DragomanError as error:
            without_frames(error)  # the record keeps it
            yield from self.fail(error)
        except GeneratorExit:
            self._record.status = GONE  # what comes after this (a time limit) overrides it
            raise
        except Exception as error:
            yield from self.fail(error)
            raise

    def accept(self, name: str, now: float) -> Machine[tuple[Opening, JsonObject]]:
        """Take the request, to be served later under the id `name`: what it was, and its answer before it begins.

        Raises DragomanError for one that would be refused without asking anybody.
        """
        request, _ = yield from self._admitted()
        stamp = self._stamp(request, name, now)
        stamp = replace(stamp, fields={**stamp.fields, "created_at": stamp.created})  # whatever a backend says
        self._accepted = request, stamp
        empty = Response(message=Message("assistant", ()))
        return self._opening, self._front.codec.encode_response(empty, stamp, request)

    def _admitted(self) -> Machine[tuple[Request, Sequence[Route]]]:
        """The request, and where it goes."""
        request = self._accepted[0] if self._accepted is not None else (yield from self._request())
        self._record.model, self._record.stream, self._record.asked = request.model, request.stream, request
        routes = self._routes(request.model)
        check(request, self._front.codec.name, partial(self._besides, request.model, routes))
        if not (request.model or routes[0].model):
            raise CodecError("model is missing; name the model to ask", "$.model", self._front.codec.name)
        return request, routes

    def _besides(self, model: str, routes: Sequence[Route]) -> Besides:
        """The tools that the model gets besides its client's."""
        attached = self._services.attach(model, NO_KINDS)
        names = {tool.name for tool in attached.offered} | {name for tools in attached.tools.values() for name in tools}
        return Besides(names, sure=not (attached.missing or any("tools" in route.fields for route in routes)))

    def _stamp(self, request: Request, name: str, now: float) -> Stamp:
        return Stamp(id=name, created=int(now), model=request.model, fields=self._opening.fields)

    def _serve(self) -> Machine[Machine[None] | None]:
        """What answers; None where it is answered."""
        request, routes = yield from self._admitted()
        if self._accepted is not None:
            stamp = self._accepted[1]
        else:
            minted, now = (yield _new_id(self._front.ids)), (yield NOW)
            stamp = self._stamp(request, minted, now)
        if self._front.loads is not None and asks_nothing(self._front, request):
            steps = load(request, routes, self._ask_of(request.model, routes))
        else:
            kinds = self._stand_ins(request, routes)
            attached = yield from self._attached(request, kinds)
            demand = ""
            if kinds:
                demand, request = demanded(request), without(request, kinds)
                demand = demand if demand in kinds else ""
            if attached is not ALONE:
                self._renamed = taken(request, attached)
                request = self._for_one(offering(request, attached.offered), attached)
            if request.stream or attached is not ALONE or len(routes) > 1 or not self._config.rules.text_tools:
                steps = self._made_good(request, routes, attached, demand)
            else:
                steps = self._straight(request, routes)
        self._streams = request.stream
        return self._stream(steps, request, stamp) if request.stream else self._whole(steps, request, stamp)

    def _straight(self, request: Request, routes: Sequence[Route]) -> Machine[Response]:
        """A whole answer of the only route, by no more machines than it needs."""
        route, record = routes[0], self._record
        began = partial(record.ask, place(route, request.model), request)
        found = yield from straight(request, route, self._learned(), began)
        if isinstance(found, Response):
            record.answered(found)
            return found
        return (yield from self._made_good(request, routes, first=found))

    def _made_good(
        self, request: Request, routes: Sequence[Route], attached: Attached = ALONE, demand: str = "",
        first: First | None = None,
    ) -> Machine[Response]:  # fmt: skip
        """The answer, asked for until it is good; `first` is an attempt that was made before."""
        budget = Budget(self._config.reasks)
        sure = asking(self._ask_of(request.model, routes, first), budget)
        ask = self._with_tools(sure, attached, demand)
        return reask(request, ask, budget, whole_calls=self._whole_calls, quiet=not request.stream)

    def _for_one(self, request: Request, attached: Attached) -> Request:
        """`request`, for one answer where server tools run between answers: one conversation goes on from there."""
        alone = one_choice(request) if any(attached.tools.values()) else request
        self._unsupported = [*self._unsupported, *(field for field in request.extra if field not in alone.extra)]
        return alone

    def _stand_ins(self, request: Request, routes: Sequence[Route]) -> frozenset[str]:
        """The server's tools in `request` that are run here, since not every place that may be asked runs them."""
        if not self._config.mcp.stand_ins:
            return NO_KINDS
        known = [kind for kind in asked(request) if kind in self._config.mcp.stand_ins]
        return frozenset(kind for kind in known if not all(runs_hosted(route, request, kind) for route in routes))

    def _attached(self, request: Request, kinds: Collection[str]) -> Machine[Attached]:
        """The tools the model gets besides, waited for; raises ProviderError (503) where a server is not ready in time.

        Without a word that a tool is missing the model answers as if there were none, and nobody knows why.
        """
        waited, step = 0.0, FIRST_LOOK
        while True:
            attached = self._services.attach(request.model, kinds)
            if attached is ALONE:
                return attached
            needed = [each for each in attached.missing if not each.optional]
            if not needed or (request.tool_choice is not None and request.tool_choice.mode in NO_SERVER_TOOLS):
                self._missing = [each.server for each in attached.missing]
                return attached
            due = max(each.due for each in needed)
            if waited + due >= attached.patience:
                raise not_ready(needed, due)
            yield Sleep(step)
            waited, step = waited + step, min(2 * step, LONGEST_LOOK)

    def _routes(self, model: str) -> Sequence[Route]:
        """Where `model` goes.  Raises ProviderError where it is not served, or not to this key."""
        if self._options.access is not None:
            self._options.access.check(model)
        return self._config.routes(model)

    def _learned(self) -> Capabilities:
        """What was learnt about models, for this client."""
        learned = self._services.learned
        return learned.of(self._record.key) if learned is not None else Capabilities()

    def _ask_of(self, model: str, routes: Sequence[Route], first: First | None = None) -> Ask:
        """A chain of them.  Of a route that stands alone no health is kept: it is asked whatever it did before."""
        services, learned = self._services, self._learned()
        health = services.health if len(routes) > 1 else None
        spread = self._spread(model) if len(routes) > 1 else None
        return self._record.watch(chaining(routes, health, learned, self._config.rules, spread, first=first))

    def _spread(self, model: str) -> Spread | None:
        """How the routes of `model` share its requests; None where they are asked in order."""
        balance, name = self._config.balance(model)
        if balance is None or self._services.balancer is None:
            return None
        session = self._record.session
        return self._services.balancer.spread(balance, name, session.key if session is not None else "")

    def _with_tools(self, ask: Ask, attached: Attached, demand: str) -> Ask:
        """`ask`, with the server tools; what they did is written into the record."""
        if attached is ALONE:
            return ask
        key, memory = self._record.key, self._services.memory
        looped = with_tools(ask, attached.tools, attached.policy, memory, key, demand=demand)
        if looped is ask:
            return ask

        return lambda request: relay(looped(request), on_step=self._record.note_tools)

    def _request(self) -> Machine[Request]:
        codec, body = self._front.codec, self._body
        if self._responses is not None:
            self._opening = yield from self._responses.opening(body, self._record.key)
            self._record.conversation = self._opening.conversation
            body = self._opening.body
        if self._front.loads is None and not self._front.refers:  # Ollama loads a model so, Responses may refer
            check_turns(body, self._front.history, codec.name)
        self._body = NOTHING  # a stream may be open for long, and what it was asked is held as a request
        request, altered = opened(codec.decode_request(body), self._record.key)
        if self._front.refers and not request.messages and "prompt" not in request.extra:
            raise CodecError(NO_INPUT, "$.input", codec.name)
        if altered:
            self._unsupported = [*self._unsupported, *unsupported_parameters(altered)]
        most = self._config.limits.tools
        if len(request.tools) > most:
            raise CodecError(MANY_TOOLS.format(tools=len(request.tools), most=most), "$.tools", codec.name)
        path = self._options.path
        return replace(request, **path) if path else request

    def _stream(self, steps: Machine[Response], request: Request, stamp: Stamp) -> Machine[None]:
        codec = self._front.codec
        encoder = self._encoder = codec.encode_stream(stamp, request, whole_calls=self._whole_calls)
        write = writers[codec.frames]
        pieces: list[bytes] = []
        across = AnswerCrossing(codec.name)
        shortcut = Shortcut(encoder, codec.frames, pieces, self._send)
        outgoing = Outgoing(self._sealer(), across, shortcut, encoder, write, pieces, self._note)
        try:
            response = yield from relay(steps, shortcut.perform, outgoing.take)
        except DragomanError:
            yield from self._send(pieces)  # what the provider said before it failed goes out before the failure
            raise
        self._record.response = response
        sent, whole = self._outgoing(response)
        answer: JsonObject = NOTHING
        if self._keeps or may_lose(whole, codec):  # nobody else reads the whole of it
            answer = codec.encode_response(sent, stamp, request)
        lost = self._note_losses(whole, answer, others=across.others)
        if self._comments:
            pieces += comments(response, lost)
        elif lost and pieces and codec.frames is FrameKind.NDJSON:
            pieces[-1] = with_lost(pieces[-1], lost)
        pieces += map(write, encoder.close())
        yield from self._keep(answer)
        yield from self._send(pieces)

    def _sealer(self) -> Sealer:
        """What puts state of other wires where this client gives it back."""
        return Sealer(self._front.native, self._record.key)

    def _outgoing(self, response: Response) -> tuple[Response, Response]:
        """A whole answer in the words of this client's API, and with the fields that these do not say."""
        if not response.message.bare or response.message.reasoning:
            response = self._sealer().response(response)
        return crossing_of(response, self._front.codec.name)

    @property
    def _keeps(self) -> bool:
        """May the answer be referred to?  Not where the client says that it sends everything itself."""
        return self._responses is not None and self._opening.keeps

    def _keep(self, answer: JsonObject) -> Machine[None]:
        """Keep the answer, before its client knows the end of it: what it refers to next is there, whoever it asks."""
        if self._responses is not None and self._opening.keeps:
            yield from self._responses.close(self._opening, answer)

    def _send(self, pieces: list[bytes]) -> Iterator[Head | bytes]:
        if not pieces:
            return
        if not self.committed:
            yield self.commit()
        self._record.flowing()
        data = b"".join(pieces)
        pieces.clear()
        yield data

    def _whole(self, steps: Machine[Response], request: Request, stamp: Stamp) -> Machine[None]:
        response = yield from steps
        self._record.response = response
        self._record.flowing()
        sent, whole = self._outgoing(response)
        answer = self._answer(sent, stamp, request)
        yield from self._keep(answer)
        lost = self._note_losses(whole, answer)
        more = {**audit(response)}
        if response.issues or lost:
            self._note(response.issues)
            more |= {name: printable(",".join(each)) for name, each in lost_fields(lost).items()}
        if self._record.server_tools:
            more |= self._tools_header()
        yield self._given_out(answer, more)

    def _given_out(self, answer: JsonObject, more: dict[str, str]) -> list[Head | bytes]:
        """A whole answer as it goes out."""
        body = to_bytes(answer)
        self.committed = True
        return [self._head(200, JSON_TYPE, more | {"content-length": str(len(body))}), body]

    def _answer(self, sent: Response, stamp: Stamp, request: Request) -> JsonObject:
        """The body of a whole answer."""
        return self._front.codec.encode_response(sent, stamp, request)

    def _note_losses(self, response: Response, answer: JsonObject, *, others: bool = False) -> tuple[Issue, ...]:
        """What of the answer its client's API has no place for; the record knows it as issues of the answer.

        `others`: there were answers beside this one, of which the client gets none.
        """
        known = [issue for issue in response.issues if issue.path == OTHER_ANSWERS]
        beside = [unsupported(ONE_ANSWER, path=OTHER_ANSWERS).issue] if others and not known else known
        lost = (*beside, *unsupported_fields(response, self._front.codec, answer))
        recorded = self._record.response
        if lost and recorded is not None:
            self._record.response = replace(recorded, issues=tuple(dict.fromkeys((*recorded.issues, *lost))))
        return lost

    def _note(self, issues: Sequence[Issue]) -> None:
        """Keep what of these the headers say."""
        self._unsupported = [*self._unsupported, *unsupported_parameters(issues)]
        self._ignored = [*self._ignored, *(issue.raw for issue in issues if issue.kind is IssueKind.TOOLS_IGNORED)]

    def _tools_header(self) -> dict[str, str]:
        """Which server tools ran."""
        names = [call.name for results in self._record.server_tools for call, _ in results]
        return {"x-dragoman-server-tools": printable(",".join(names))} if names else {}

    def fail(self, error: Exception) -> Iterator[Head | bytes]:
        """Tell `error`: as an answer where none was begun, inside the stream where one was."""
        codec = self._front.codec
        if self.committed:
            self._record.failed(error, codec.encode_error(error)[0])
            number = self._encoder.number if self._encoder is not None else 0
            yield writers[codec.frames](codec.error_frame(error, number))
            return
        self.committed = True
        head, body = failure(self._front, error, self._record.request_id)
        self._record.failed(error, head.status)
        yield Head(head.status, {**head.headers, **self._route_headers()})
        yield body

    def _head(self, status: int, kind: str, more: Mapping[str, str]) -> Head:
        self._record.status = status
        named = {"content-type": kind, "x-request-id": self._record.request_id}
        return Head(status, {**named, **self._route_headers(), **more})

    def _route_headers(self) -> dict[str, str]:
        """The route, and what of the request it does not support, as far as is known when the head goes out."""
        route = self._record.route
        found = {"x-dragoman-route": printable(route)} if route else {}
        if not (self._unsupported or self._ignored or self._missing or self._renamed):
            return found
        lists: dict[str, Iterable[str]] = {
            "x-dragoman-unsupported-params": dict.fromkeys(self._unsupported),
            "x-dragoman-ignored-tools": dict.fromkeys(self._ignored),
            "x-dragoman-missing-servers": self._missing,
            "x-dragoman-renamed-tools": self._renamed,
        }
        return found | {name: printable(",".join(values)) for name, values in lists.items() if values}


_new_id: Callable[[str], NewId] = cache(NewId)
NO_KINDS: frozenset[str] = frozenset()
NO_OPENING = Opening(NOTHING)
ONE_ANSWER = "the model gave several answers; clients of this API get the first"
FIRST_LOOK, LONGEST_LOOK = 0.02, 0.5
"""Seconds between two looks whether a server is ready: they double, up to the longest."""
NO_SERVER_TOOLS = frozenset({"none", "named"})
"""Tool choices with which no server tool is offered."""


def failure(front: Front, error: Exception, request_id: str = "", status: int = 0) -> tuple[Head, bytes]:
    """`error` as a whole answer in the shape of `front`; `status` replaces the one it would have."""
    own_status, body = front.codec.encode_error(error)
    data = to_bytes(body)
    headers = {"content-type": JSON_TYPE, "content-length": str(len(data)), "x-request-id": request_id}
    if isinstance(error, ProviderError) and error.retry_after is not None:
        headers["retry-after"] = str(math.ceil(error.retry_after))
    return Head(status or own_status, headers), data
