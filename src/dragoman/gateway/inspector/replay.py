"""What a model wrote, read again as the gateway read it, or otherwise: its text, what was judged of it, step by step.

Knows recorded hops, codecs and the parser; nothing of pages or stores.  Contract: nothing here asks a model, and
nothing raises on what a peer or a model wrote.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import dropwhile
from typing import Any

from ...codecs import CODECS
from ...codecs.shared.frames import Reader, readers
from ...codecs.shared.framing import OBJECTS, framing, is_framed
from ...codecs.shared.spec import Codec
from ...dialects.engine.listening import Dialects
from ...dialects.engine.parser import Parser
from ...dialects.explain.findings import Finding, verdicts
from ...dialects.explain.spans import Span, spans
from ...dialects.judge.provenance import ShownText
from ...dialects.rows.nonce import with_nonce
from ...dialects.rows.table import ALL, resolve
from ...dialects.spec import Dialect
from ...errors import CodecError, DragomanError, ProviderError, UsageError
from ...events import Assembler, Event, ReasoningDelta, TextDelta, replay
from ...providers.route import Route
from ...turn.answer import shown_texts
from ...turn.constrain import decoding_constraint
from ...turn.prepare import wants_thinking
from ...turn.reasoned_calls import MOST, OPENER, ends_by_itself
from ...turn.send import STREAMS
from ...types import Request, Response, Stop, Tool, Verdict
from .doubt import relied_on
from .recording import Body, Hop

MOST_STAGES = 2000
"""Steps of one reading that are shown; a longer text is read in larger pieces."""
RUNS = frozenset({Verdict.ACCEPTED, Verdict.MENDED})
GAVE_WAY = "the answer made native calls, and what stood in its text was not run"


@dataclass(frozen=True, slots=True)
class DecodedAnswer:
    """A decoded answer: events with the second each came, and why it could not be read further."""

    events: tuple[tuple[float, Event], ...]
    error: str = ""

    @property
    def response(self) -> Response:
        """The answer as far as it came."""
        assembler = Assembler()
        for _, event in self.events:
            assembler.add(event)
        return assembler.response()

    @property
    def thinks_first(self) -> bool:
        """Does it begin with reasoning, by the wire?"""
        words = (event for _, event in self.events if isinstance(event, TextDelta | ReasoningDelta))
        return isinstance(next(words, None), ReasoningDelta)

    @property
    def pieces(self) -> list[str]:
        """The text in the pieces in which it came."""
        return [event.text for _, event in self.events if isinstance(event, TextDelta)]

    @property
    def is_all_reasoning(self) -> bool:
        """Is reasoning all that it says?  Then that is what is read for calls (`turn/reasoned_calls.py`)."""
        words = [event for _, event in self.events if isinstance(event, TextDelta | ReasoningDelta) and event.text]
        behind = [*dropwhile(lambda event: isinstance(event, TextDelta) and event.text.isspace(), words)]
        response = self.response
        alone = bool(behind) and not response.calls and all(isinstance(event, ReasoningDelta) for event in behind)
        return alone and len(response.reasoning) <= MOST and ends_by_itself(response.stop, response.extra)

    @property
    def read_pieces(self) -> list[str]:
        """What is read for calls, in the pieces in which it came."""
        if not self.is_all_reasoning:
            return self.pieces
        return [event.text for _, event in self.events if isinstance(event, ReasoningDelta)]


def decode_body(codec: Codec, body: Body, *, streamed: bool) -> DecodedAnswer:
    """What a body says in an API; `streamed` is what it is called, and it is read as what it is."""
    events: list[tuple[float, Event]] = []
    reader = _reader(codec, body.data, streamed=streamed)
    try:
        events.extend(_whole(codec, body) if reader is None else _streamed(codec, body, reader))
    except (ProviderError, CodecError) as error:
        return DecodedAnswer(tuple(events), str(error))
    except (ValueError, RecursionError) as error:
        return DecodedAnswer(tuple(events), f"it is not what the {codec.name} API says: {error}")
    return DecodedAnswer(tuple(events))


def _reader(codec: Codec, data: bytes, *, streamed: bool) -> Reader | None:
    """What reads its frames; None where it is one JSON text."""
    framed = is_framed(data, codec.frames, ended=True)
    if streamed and (framed or not data.strip()):
        return _framing(codec, data)()
    try:
        value = read_object(data)
    except (ValueError, RecursionError):
        if framed:
            return _framing(codec, data)()
        if data.lstrip().startswith(b"{"):
            return OBJECTS[0]()
        return _framing(codec, data)() if streamed else None
    return _framing(codec, data)() if framed and isinstance(value, list) else None


def _framing(codec: Codec, data: bytes) -> Callable[[], Reader]:
    otherwise = framing(data, codec.frames)[1]
    return readers[codec.frames] if otherwise is None else otherwise[0]


def _streamed(codec: Codec, body: Body, reader: Reader) -> Iterator[tuple[float, Event]]:
    decoder, start, at = codec.decode_stream(), 0, 0.0
    for at, end in body.pieces:
        for frame in reader.feed(body.data[start:end]):
            yield from ((at, event) for event in decoder.feed(frame))
        start = end
    for frame in reader.close():
        yield from ((at, event) for event in decoder.feed(frame))
    yield from ((at, event) for event in decoder.close())


def _whole(codec: Codec, body: Body) -> Iterator[tuple[float, Event]]:
    at = body.times[-2] if body.times else 0.0
    yield from ((at, event) for event in replay(codec.decode_response(read_object(body.data))))


def read_object(data: bytes) -> Any:
    """JSON, as Python reads it: no digit is lost."""
    return json.loads(data)


def answer_of(hop: Hop) -> DecodedAnswer | None:
    """What the provider answered; None where it refused, or nobody knows in which API."""
    if hop.route is None or not 200 <= hop.status < 300 or hop.is_exchange_of_keys:
        return None
    kind = hop.got_headers.get("content-type", "").partition(";")[0].strip().lower()
    wanted = hop.headers.get("accept", "") in STREAMS
    streamed = kind in STREAMS or (wanted and kind != "application/json")
    return decode_body(CODECS[hop.route.provider.codec], hop.got, streamed=streamed)


def sent_by(hop: Hop) -> Request | None:
    """The request as the provider read it; None where it cannot be read back."""
    if hop.route is None or hop.is_exchange_of_keys:
        return None
    try:
        return CODECS[hop.route.provider.codec].decode_request(read_object(hop.sent.data))
    except (DragomanError, ValueError, RecursionError):
        return None


# ── how a text is listened to ────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserInput:
    """How one text is read; the fields are the parser's.

    `gives_way` says that native calls of the same answer make those in its text give way.
    """

    text: str
    tools: tuple[Tool | Mapping[str, Any], ...] | None = None
    dialects: Dialects = "auto"
    prompted_dialect: str = ""
    prefix: str = ""
    finish_reason: str | None = None
    shown: tuple[ShownText, ...] = ()
    strict: bool = False
    doubt: str = "ask"
    native: bool = False
    confirmed: frozenset[str] = frozenset()
    gives_way: bool = False

    @property
    def dialect_names(self) -> str:
        """For whom is listened, in a word: "auto", or names."""
        rows = resolve(self.dialects)
        return "auto" if len(rows) == len(ALL) else ", ".join(row.name for row in rows)

    def _options(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in {"text", "gives_way"}}

    def parser(self) -> Parser:
        """A parser that reads so."""
        return Parser(**self._options())

    def events(self) -> list[Event]:
        """What the text comes to."""
        parser = self.parser()
        return [*parser.feed(self.text), *parser.close()]

    def findings(self) -> tuple[Finding, ...]:
        """What was judged of the text, candidate by candidate."""
        found = verdicts(self.text, **self._options())
        return tuple(map(_gave_way, found)) if self.gives_way else found

    def spans(self, findings: Sequence[Finding]) -> list[Span]:
        """The text cut by what it is."""
        return spans(self.text, findings, self.events())


def _gave_way(found: Finding) -> Finding:
    if found.verdict not in RUNS:
        return found
    return replace(found, verdict=Verdict.QUOTED, rule="gave_way", reason=GAVE_WAY)


def parser_input_of(hop: Hop, answer: DecodedAnswer) -> ParserInput | None:
    """How the gateway parsed this answer; None where text was only text."""
    attempt, route = hop.attempt, hop.route
    if attempt is None or route is None or not _may_call(attempt.request):
        return None
    request, response = attempt.request, answer.response
    native = bool((sent := sent_by(hop)) and sent.tools)
    request = replace(request, model=route.model or request.model)
    dialect = _prompted_dialect(request, route, native=native)
    return ParserInput(
        text="".join(answer.read_pieces),
        tools=request.tools,
        dialects=_parser_dialects(dialect, route, request.model, "" if native else hop.nonce, native=native),
        prompted_dialect="" if native else dialect.name,
        prefix=OPENER if answer.is_all_reasoning else _prefix(request, route, answer),
        finish_reason=str(response.stop) if response.stop is not None else None,
        shown=shown_texts(request.messages),
        strict=route.strict,
        doubt=route.doubt,
        native=native,
        confirmed=relied_on(attempt.response),
        gives_way=native and bool(response.calls),
    )


def _may_call(request: Request) -> bool:
    return bool(request.tools) and (request.tool_choice is None or request.tool_choice.mode != "none")


def _prompted_dialect(request: Request, route: Route, *, native: bool) -> Dialect:
    dialect = route.prompt_dialect_for(request.model)
    if native or route.nonce:
        return dialect
    return decoding_constraint(request, route.provider, dialect).dialect or dialect


def _parser_dialects(dialect: Dialect, route: Route, model: str, nonce: str, *, native: bool) -> Dialects:
    if not native and route.strict and dialect.is_protocol:
        return dialect
    try:
        return with_nonce(dialect, nonce[:8]) if nonce and route.nonce else route.parser_dialects(model)
    except UsageError:
        return route.parser_dialects(model)


def _prefix(request: Request, route: Route, answer: DecodedAnswer) -> str:
    """What the template had opened, as it turned out: a model that opens or never ends its thinking began outside."""
    provider = route.provider
    if route.prefix or (provider.base_url and not provider.port):
        return route.prefix
    thinks = wants_thinking(request)
    opener = "" if thinks is False else route.family(request.model).prefix(thinking=bool(thinks))
    text = "".join(answer.pieces)
    if not opener or answer.thinks_first or text.lstrip().startswith(opener):
        return ""
    return opener if answer.response.stop is Stop.LENGTH or _closes_reasoning(text, opener, request.tools) else ""


def _closes_reasoning(text: str, opener: str, tools: Sequence[Tool]) -> bool:
    parser = Parser(tools=tools, prefix=opener)
    parser.feed(text)
    parser.close()
    return parser.reasoned


# ── step by step ─────────────────────────────────────────────────────────────


def stages(given: ParserInput, pieces: Iterable[str]) -> list[tuple[int, list[Event]]]:
    """(characters read, what they settled) for each piece; what only the end settles comes with one more."""
    parser, read, steps = given.parser(), 0, list[tuple[int, list[Event]]]()
    for piece in pieces:
        read += len(piece)
        steps.append((read, parser.feed(piece)))
    return [*steps, (read, parser.close())]


def chunks(text: str, size: int) -> list[str]:
    """`text` in pieces of `size` characters, or of as many as make no more steps than are shown."""
    size = max(size or len(text), -(-len(text) // MOST_STAGES), 1)
    return [text[at : at + size] for at in range(0, len(text), size)]


def regrouped(pieces: Sequence[str]) -> list[str]:
    """The pieces in which a text came, some together where there are more than are shown."""
    count = -(-len(pieces) // MOST_STAGES) or 1
    return ["".join(pieces[at : at + count]) for at in range(0, len(pieces), count)]
