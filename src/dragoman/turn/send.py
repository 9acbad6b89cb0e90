"""A request on its way: the body and headers as the wire wants them, and the bytes of its answer opened.

Knows plans, codecs as records of functions, and how a key is proved; reads nothing of what the model says.
Contract: what refuses a request is a `ProviderError`; `without_secrets` gives it as it may be shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import Any, TypeAlias

from ..codecs.shared.errors import http_date
from ..codecs.shared.frames import FrameKind
from ..codecs.shared.spec import Codec, Ids, TurnWriter
from ..codecs.shared.written import Piece, Written, with_commas
from ..conversation.cache_markers import with_places, without_markers
from ..conversation.grown import Grown, by_growth, grown
from ..conversation.plain import as_plain
from ..effects import Machine, Now, Open, Opened, Read
from ..errors import ProviderError
from ..jsontext import to_bytes
from ..memo import names_of
from ..providers.authorize import Tokens, admit, signals
from ..providers.route import Route
from ..records import NamedTuple, maker
from ..redaction import redact
from ..types import Message
from .beginning import DRAIN
from .plan import Plan, function_name
from .response_reader import AnswerSource, Streamed, Whole
from .unlabelled import Unlabelled
from .whole_body import WholeBody

LENGTH = "content-length"
MAX_REFUSAL = 256 * 1024
"""Bytes of a refusal that are read; the rest says nothing new."""
ACCEPTS: Mapping[FrameKind, str] = {
    FrameKind.SSE: "text/event-stream",
    FrameKind.NDJSON: "application/x-ndjson",
    FrameKind.AWS: "application/vnd.amazon.eventstream",
}
STREAMS = frozenset(ACCEPTS.values())
REDIRECTED = "{root} answered with a redirect ({status}), which is not followed; give its target as base URL"


def send(plan: Plan, ids: Ids, tokens: Tokens) -> Machine[AnswerSource]:
    """Send the request; the source of the answer's events.  Raises ProviderError for a refusal."""
    route, stream = plan.route, plan.request.stream
    codec, url, headers = plan.once(_addressed)
    if route.provider.signals:
        headers = {**headers, **signals(plan.asked, route)}
    asked = maker(Open)(url=url, headers=headers, body=_encoded(plan), timeouts=route.timeouts)
    opened: Opened = yield (yield from admit(asked, route, tokens))
    if not 200 <= opened.status < 300:
        raise (yield from _refusal(opened, codec, route))
    kind = opened.headers.get("content-type", "").partition(";")[0].strip().lower()
    sized = LENGTH in opened.headers
    streamed = partial(Streamed, codec, ids, route, names_of(plan.named))
    whole = partial(Whole, codec, ids, route, sized=sized)
    if stream == (kind in STREAMS) or codec.frames is FrameKind.AWS:  # as it was asked for
        return streamed() if kind in STREAMS or stream else whole()
    return Unlabelled(streamed, whole, codec.frames)


def _addressed(plan: Plan) -> tuple[Codec, str, Mapping[str, str]]:
    """How such a request is written, where it goes, and its headers, without those that say what is in it."""
    route, codec, stream = plan.route, plan.codec, plan.request.stream
    url = route.request_url(codec.stream_path if stream else codec.path, plan.request.model, stream=stream)
    return codec, url, {**route.headers(), "accept": ACCEPTS[codec.frames] if stream else "application/json"}


class _Frame(NamedTuple):
    """A body but for its turns: the instructions in front of them, and what is written before and behind them.

    `marks` are the places of the instructions that bear a cache marker.
    """

    head: tuple[Message, ...]
    marks: tuple[int, ...]
    pieces: tuple[Sequence[Piece], Sequence[Piece]]

    def stands_around(self, messages: Sequence[Message], marks: tuple[int, ...]) -> bool:
        """Do the messages, with markers at `marks`, begin with these instructions, or with equal ones?"""
        end = len(self.head)
        if self.head != messages[:end] or end >= len(messages) or messages[end].role == "system":
            return False
        return self.marks == marks or self.marks == tuple([at for at in marks if at < end])


_Turns: TypeAlias = tuple[int, Any]
"""So many messages that stand beside the turns of a conversation on a wire, and these, as their writer knows them."""

MOST_FRAMES = 8
"""Bodies of one plan, by the instructions in them, of which what stands around the turns is remembered."""


class _Bodies:
    """The bodies of all requests of a plan: what writes their turns, and what stands around these, the latest first."""

    __slots__ = ("frames", "writer")

    def __init__(self, plan: Plan) -> None:
        make = plan.codec.turns
        self.writer: TurnWriter | None = None if make is None else make(plan.request.with_messages(()), plan.quirks)
        self.frames: tuple[_Frame, ...] = ()


def _encoded(plan: Plan) -> bytes:
    """The body.  Of a plain conversation that grew only what is new is written, for all else of it is known."""
    bodies = plan.once(_Bodies)
    messages, marks = without_markers(plan.request.messages)
    writer = bodies.writer
    if writer is not None and type(messages) is Grown and (turns := _turns(messages, writer)) is not None:
        beside, written = turns
        frame = _framed(plan, bodies, messages, marks)
        listed = frame and writer.pieces(written, len(messages), beside, marks)
        if frame is not None and listed is not None:
            before, behind = frame.pieces
            return b"".join((*before, *with_commas(listed), *behind))
    return b"".join(_written(_body(plan))[0])


@by_growth
def _turns(messages: Sequence[Message], start: int, known: _Turns | None, writer: TurnWriter) -> _Turns | None:
    """The turns of a plain conversation; None for any other."""
    found = as_plain(messages)
    if found is None or (writer.filled and not found.filled):
        return None
    beside, written = known or (start, None)
    if start <= beside:
        beside = writer.beside(messages)
        return beside, writer.more(None, messages[beside:], beside, single=found.single)
    return beside, writer.more(written, messages[start:], start, single=found.single)


def _framed(plan: Plan, bodies: _Bodies, messages: tuple[Message, ...], marks: tuple[int, ...]) -> _Frame | None:
    """What stands around the turns of a plain conversation: what does around the first; None where that is not told."""
    for frame in bodies.frames:
        if frame.stands_around(messages, marks):
            return frame
    head = (*takewhile(_instructs, messages),)
    if bodies.writer is None or len(head) == len(messages):
        return None
    marked = tuple([at for at in marks if at < len(head)])
    begun = with_places(grown(None, messages[: len(head) + 1]), marked)
    pieces = _written(_body(plan, begun), bodies.writer.field)
    if len(pieces) == 1:
        return None
    made = _Frame(head, marked, (pieces[0], pieces[2]))
    bodies.frames = (made, *bodies.frames[: MOST_FRAMES - 1])
    return made


def _instructs(message: Message) -> bool:
    return message.role == "system"


def _body(plan: Plan, messages: tuple[Message, ...] | None = None) -> dict[str, Any]:
    """The body; with other `messages`, where some are given."""
    request = plan.request if messages is None else plan.request.with_messages(messages)
    return _with_fields(plan.codec.encode_request(request, plan.quirks), plan)


def _with_fields(body: dict[str, Any], plan: Plan) -> dict[str, Any]:
    """`body` with the fields that go out with every request; lists go on, and tools that go in text stay off."""
    for key, value in (*plan.route.fields.items(), *plan.constraint.fields.items()):
        if key == "tools" and plan.text:
            continue
        known = body.get(key)
        if isinstance(known, list) and isinstance(value, list):
            value = [*known, *_besides(key, known, value)]
        body[key] = value
    return body


def _besides(key: str, known: list[Any], more: list[Any]) -> list[Any]:
    """What goes on a list that is there: a function is declared once, and the request's own definition is the one."""
    if key != "tools":
        return more
    names = {name for one in known if (name := function_name(one))}
    return [one for one in more if function_name(one) not in names]


def _written(body: dict[str, Any], turns: str = "") -> list[Sequence[Piece]]:
    """`body` as JSON in pieces, in its order; what comes with every request is written already (`Written`).

    Three lists of pieces where the field `turns` is: what stands before the turns, they, and what stands behind them.
    """
    pieces: list[Piece] = []
    made: list[Sequence[Piece]] = [pieces]
    run: dict[str, Any] = {}  # fields that are still to be written
    mark = "{"  # what stands before the next
    for key, value in body.items():
        if type(value) is not Written:
            run[key] = value
            continue
        if run:
            pieces += (mark.encode(), to_bytes(run)[1:-1])
            run, mark = {}, ","
        pieces.append(f'{mark}"{key}":['.encode())
        mark = ","
        if key == turns:
            pieces = []
            made += (with_commas(value.pieces), pieces)
        else:
            pieces += with_commas(value.pieces)
        pieces.append(b"]")
    pieces += (mark.encode(), to_bytes(run)[1:]) if run or mark == "{" else (b"}",)
    return made


def _refusal(opened: Opened, codec: Codec, route: Route) -> Machine[ProviderError]:
    if 300 <= opened.status < 400:
        return ProviderError(REDIRECTED.format(root=route.root(), status=opened.status), status=opened.status)
    body = yield from _words(opened, route)
    headers = opened.headers
    until = http_date(headers.get("retry-after", ""))
    if until is not None and "date" not in headers:
        now: float = yield Now()
        headers = {**headers, "retry-after": str(max(0.0, until - now))}
    return codec.decode_error(opened.status, body, headers)


def _words(opened: Opened, route: Route) -> Machine[bytes]:
    """The body of a refusal: welcome, but who refuses and never ends has refused all the same."""
    body = WholeBody()
    within: float | None = None if LENGTH in opened.headers else route.timeouts.grace
    while body.size < MAX_REFUSAL and (data := (yield Read(within, held=body.size))):
        body.add(data)
        if within is not None and body.is_complete():
            within = DRAIN
    return body.start(body.size)


def without_secrets(error: ProviderError, route: Route) -> ProviderError:
    """The error as it may be shown: peers echo keys."""
    return ProviderError(
        redact(error.message, route.hidden),
        status=error.status,
        kind=error.kind,
        code=redact(error.code, route.hidden),
        retry_after=error.retry_after,
        body=redact(error.body, route.hidden),
    )
