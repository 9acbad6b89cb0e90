"""One request and its answer: a machine that asks a provider and tells what the model really said.

Plan (native tools or text) → repair the history → augment (text only) → prepare for the wire → encode → prove who
asks → open → read → decode → listen.  Knows routes, codecs and the parser by their contracts; performs nothing
(`effects.py`), runs no tool, retries nothing but a refusal of tools, of their schemas, or of a demand on the answer.
Contract: yields events as soon as they are certain, returns the `Response` they fold to; a peer's failure is a
`ProviderError` without secrets; nothing is ever told from two attempts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ..codecs import CODECS
from ..codecs.fidelity.losses import wish_losses
from ..codecs.shared.errors import http_date
from ..codecs.shared.frames import FrameKind
from ..codecs.shared.requests import WrittenTools
from ..codecs.shared.spec import Codec, Ids, Quirks
from ..conversation.cache_markers import in_order
from ..conversation.history import repair
from ..dialects.engine.parser import Parser
from ..dialects.judge.judge import Judge
from ..dialects.rows.table import ALL
from ..dialects.writing.prompt import compact_for, with_nonce
from ..effects import Machine, NewId, Now, Open, Opened, Read
from ..errors import ErrorKind, ProviderError, UsageError
from ..events import Assembler, CallDelta, CallEnded, CallStarted, Ended, Event, Noticed, TextDelta
from ..jsontext import to_json
from ..memo import MESSAGES, TOOLS, FrozenTools, if_small, memoize
from ..providers.authorize import Tokens, admit, signals
from ..providers.route import Route
from ..providers.spec import Tools
from ..redaction import redact
from ..schema.definitions import tools as as_tools
from ..schema.narrowing.narrow import narrow
from ..schema.validation import check_schema
from ..types import Issue, IssueKind, JsonObject, Message, Request, Response, Stop, Tool
from .capabilities import Learned, signed
from .constrain import FREE, held
from .instructions import FORMS, told_form
from .native_calls import Natives
from .prepare import only_allowed, prepare, wants_thinking
from .rejections import calls_written, refused_demand, refused_generation, refused_schemas, refuses_tools
from .response_reader import SHOWN_GARBAGE, Source, Streamed, Whole
from .stream_parser import Listener, Presumed, Reads, Restorer
from .text_tools import Tongue, augment, left_out

MAX_REFUSAL = 256 * 1024
"""Bytes of a refusal that are read; the rest says nothing new."""
ACCEPTS: Mapping[FrameKind, str] = {
    FrameKind.SSE: "text/event-stream",
    FrameKind.NDJSON: "application/x-ndjson",
    FrameKind.AWS: "application/vnd.amazon.eventstream",
}


STREAMS = frozenset(ACCEPTS.values())
SPEECH = (TextDelta, CallStarted)
REDIRECTED = "{root} answered with a redirect ({status}), which is not followed; give its target as base URL"
NONCE_LENGTH = 8
UNAUTHORISED = 401
CONSTRAINT_REFUSALS = frozenset({ErrorKind.BAD_REQUEST, ErrorKind.SERVER, ErrorKind.UNKNOWN})
"""How servers refuse a grammar or schema they cannot compile (llama.cpp: 400; older vLLM: 500)."""


def turn(request: Request, route: Route, learned: Learned | None = None) -> Machine[Response]:
    """Ask `route` what `request` asks; yields the events of the answer, returns it whole.

    Raises ProviderError (also after events), and UsageError for a route or request that cannot be asked.
    """
    learned = learned or Learned()
    asked = request.messages
    model = route.model or request.model
    repaired = repair(learned.sidecar.refill(asked, learned.owner))
    tools, unsound = _sound(request.tools)
    request = replace(request, model=model, messages=repaired.messages, tools=tools)
    issues = (*route.issues, *unsound, *repaired.issues)
    for _ in range(ATTEMPTS):
        text = route.mode is Tools.TEXT or (route.mode is Tools.BOTH and learned.no_tools(route, model))
        try:
            response = yield from _ask(request, route, learned, issues, text=text)
        except ToolsRefused:
            learned.note_no_tools(route, model)
        except SchemasRefused as refused:
            learned.note_bare(route, model, refused.tools)
        except ConstraintRefused:
            learned.note_free(route, model)
        except DemandRefused as refused:
            learned.note_untold(route, model, refused.demand)
        else:
            learned.sidecar.remember(asked, response.message, learned.owner)
            return response
    raise AssertionError("each refusal is asked for once; this cannot be")


ATTEMPTS = 8
"""As asked; without the schemas it refuses; without native tools; without a constraint on its decoding; with a weaker
tool choice, twice; with a weaker form of the answer, twice."""


LONGEST_NAME = 256
"""Characters of a tool's name; no API takes more than 128, and what is listened for in text grows with their square."""
LONG_NAME = "the name of the tool {name:.40}… has {size} characters; give it one of at most 64, as every API takes it"


@memoize(TOOLS)
def _sound(given: Sequence[Tool]) -> tuple[tuple[Tool, ...], list[Issue]]:
    """The tools by name, each once, and what had to be mended.  Raises UsageError for a name twice or without end.

    A schema that is none is mended, not refused: one odd tool must not kill a request with fifty good ones.
    """
    told: list[Tool] = []
    issues: list[Issue] = []
    for tool in in_order(as_tools(given) or ()):
        if len(tool.name) > LONGEST_NAME:
            raise UsageError(LONG_NAME.format(name=tool.name, size=len(tool.name)))
        schema, why = _sound_schema(tool.name, to_json(tool.parameters))
        told.append(replace(tool, parameters=schema))
        if why:
            issues.append(Issue(kind=IssueKind.LOSSY, message=f"{why}; what is sound of it is used", name=tool.name))
    return (FrozenTools(told) if type(given) is FrozenTools else tuple(told)), issues


@lru_cache(maxsize=1024)
def _sound_schema(name: str, written: str) -> tuple[JsonObject, str]:
    """The schema, sound, and what was wrong with it; the same object for the same text.

    Clients send the same tools with every request, and what is known of a schema is kept by its identity.
    """
    schema: JsonObject = json.loads(written)
    try:
        check_schema(schema, name)
    except UsageError as error:
        return narrow(schema).schema, str(error)
    return schema, ""


class ToolsRefused(Exception):
    """The model takes no native tools, and nothing of an answer was told yet."""


class SchemasRefused(Exception):
    """The place does not take these tools' schemas, and nothing of an answer was told yet."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        super().__init__(f"{len(tools)} schemas were refused")
        self.tools = tuple(tools)


class ConstraintRefused(Exception):
    """The place does not take the constraint on decoding, and nothing of an answer was told yet."""


class DemandRefused(Exception):
    """The place does not take this tool choice, or this form of the answer, and nothing of an answer was told yet."""

    def __init__(self, demand: str) -> None:
        super().__init__(f"{demand} was refused")
        self.demand = demand


# ── one request ──────────────────────────────────────────────────────────────


def _ask(request: Request, route: Route, learned: Learned, issues: Sequence[Issue], *, text: bool) -> Machine[Response]:
    """Raises what says so instead of the provider's error where the caller may ask another way (`another_way`)."""
    codec = CODECS[route.provider.codec]
    mint = yield from _minter()
    nonce = (yield NewId())[:NONCE_LENGTH] if text and route.nonce else ""
    free, bare = learned.free(route, request.model), learned.bare(route, request.model)
    untold = learned.untold(route, request.model)
    plan = Plan(request, route, text=text, nonce=nonce, bare=bare, free=free, untold=untold)
    noticed = [Noticed(issue) for issue in (*issues, *plan.issues)]
    hear, told, committed, spoke = plan.listener(mint), Assembler(), False, False
    try:
        source = yield from _open(plan, codec, mint, learned.tokens)
        while True:
            data = yield Read()
            for heard in source.feed(data) if data else source.close():
                for event in hear(heard) if committed else (*noticed, *hear(heard)):
                    committed, spoke = True, spoke or isinstance(event, SPEECH)
                    told.add(event)
                    yield event
            if not data:
                return told.response()
    except ProviderError as error:
        if error.status == UNAUTHORISED:
            learned.tokens.drop(route)
        written = refused_generation(error) if plan.asked.tools and not spoke else ""
        if not written and not committed:
            plan.another_way(error)
        if not written:
            raise _without_secrets(error, route) from error.__cause__
    for event in (*([] if committed else noticed), *_read_here(written, hear, mint("n"))):
        told.add(event)
        yield event
    return told.response()


READ_HERE = "the provider could not read its model's answer ({raw!r}) and gave it as an error; it was read here"


def _read_here(written: str, hear: Callable[[Event], list[Event]], ids: Ids) -> list[Event]:
    """The events of an answer that came as an error: calls where its server took it for calls, else its text."""
    calls = calls_written(written)
    said: list[Event] = [] if calls else [TextDelta(written)]
    for index, (name, arguments) in enumerate(calls):
        said += [CallStarted(index, ids(index), name), CallDelta(index, to_json(arguments)), CallEnded(index)]
    stop = Stop.TOOL_CALLS if calls else Stop.END
    issue = Issue(kind=IssueKind.WIRE, message=READ_HERE.format(raw=written[:SHOWN_GARBAGE]), raw=written)
    return [Noticed(issue), *(told for event in [*said, Ended(stop)] for told in hear(event))]


def _minter() -> Machine[Callable[[str], Ids]]:
    """Ids for the calls of one answer: `mint("x")(0)`; the letter keeps those of two sources apart."""
    base: str = yield NewId("call_")
    return lambda letter: lambda index: f"{base}{letter}{index}"


class Plan:
    """How one request is asked: the request as the wire carries it, and what is listened for in the answer."""

    def __init__(
        self,
        request: Request,
        route: Route,
        *,
        text: bool,
        nonce: str,
        bare: frozenset[str],
        free: bool,
        untold: frozenset[str],
    ) -> None:
        request = only_allowed(request, "" if text else route.provider.codec)
        self.route = route
        self.asked = request
        self.text = text
        self.nonce = nonce
        self.family = route.family(request.model)
        spoken = route.tongue(request.model)
        self.held = held(request, route.provider, spoken) if text and not (free or nonce) else FREE
        self._spoken = self.held.tongue or spoken
        self.stream = route.stream if route.stream is not None else request.stream
        self._bare = [tool for tool in request.tools if bare and signed(tool) in bare]
        told = augment(request, self._tongue()) if text else request
        told = replace(told, stream=self.stream) if told.stream != self.stream else told
        told = replace(told, output_schema=self.held.form) if self.held.form else self._formed(told, untold)
        names = [tool.name for tool in self._bare]
        self._prepared = prepare(told, route.provider, self.family, text=text, bare=names, untold=untold)
        self.sent = self._prepared.request
        self.quirks = self._prepared.quirks

    def _formed(self, told: Request, untold: frozenset[str]) -> Request:
        """`told`, its form in words where it cannot go by the wire: a form there would forbid calls told in text."""
        if told.output_schema is None:
            return told
        provider, calls = self.route.provider, self.text and bool(self.asked.tools) and not self._forbids
        refused = untold | FORMS if calls else untold
        return told_form(told, CODECS[provider.codec], provider.quirks, refused)

    @property
    def issues(self) -> tuple[Issue, ...]:
        """What had to be changed for this wire, and what of the request it does not hold."""
        lost = wish_losses(self.sent, CODECS[self.route.provider.codec], self.quirks)
        return (*self._prepared.issues, *(left_out(self.asked) if self.text else ()), *lost)

    def another_way(self, error: ProviderError) -> None:
        """Raises what says which other way this refusal can be asked around."""
        if self.held and error.kind in CONSTRAINT_REFUSALS:
            raise ConstraintRefused from error
        if demand := refused_demand(error, self.sent):
            raise DemandRefused(demand) from error
        if self.text or not self.asked.tools:
            return
        if self.route.mode is Tools.BOTH and refuses_tools(error):
            raise ToolsRefused from error
        refused = {self._prepared.names.original(tool.name) for tool in refused_schemas(error, self.sent.tools)}
        tools = [tool for tool in self.asked.tools if tool.name in refused and tool not in self._bare]
        if tools:
            raise SchemasRefused(tools) from error

    def listener(self, mint: Callable[[str], Ids]) -> Callable[[Event], list[Event]]:
        """What to make of each event the wire tells."""
        listener = Listener(self._parser(mint("t")), self._judged(), native=not self.text)
        if not (self.text or self._prepared.names.back):
            return listener.hear
        undo = Restorer().hear if self.text else self._prepared.restored
        return lambda event: [undo(heard) for heard in listener.hear(event)]

    def _tongue(self) -> Tongue:
        return Tongue(dialect=self._spoken, guarded=ALL, compact=self._compact(), nonce=self.nonce)

    def _compact(self) -> bool:
        """As the route says; else where the full prompt would take more than its share of the model's context."""
        route, asked = self.route, self.asked
        if route.compact is not None:
            return route.compact
        allowed = route.allowance(asked.model)
        return bool(allowed) and _must_be_short(asked.tools, self._spoken, allowed)

    @property
    def _forbids(self) -> bool:
        """Does the request say that nothing may be called?"""
        return self.asked.tool_choice is not None and self.asked.tool_choice.mode == "none"

    @property
    def _tools(self) -> tuple[Tool, ...]:
        """The tools as the answer may name them."""
        return self.asked.tools if self.text else self._prepared.heard

    def _judged(self) -> Callable[[Event], list[Event]]:
        """What native calls come to; most answers make none."""
        natives: list[Natives] = []

        def hear(event: Event) -> list[Event]:
            if not natives:
                others = bool(self.asked.extra.get("tools") or self.route.fields.get("tools"))
                natives.append(Natives(Judge(self._tools), allowed=not self._forbids, others=others))
            return natives[0].hear(event)

        return hear

    def _parser(self, ids: Ids) -> Reads | None:
        """None where nothing may be called: then text is text, untouched."""
        asked, route, tools = self.asked, self.route, self._tools
        if not tools or self._forbids:
            return None
        dialects = with_nonce(self._spoken, self.nonce) if self.nonce else route.ears(asked.model)
        shown = [result.text for message in asked.messages for result in message.results]
        spoken = self._spoken.name if self.text else ""

        def make(prefix: str) -> Parser:
            return Parser(tools=tools, dialects=dialects, spoken=spoken, prefix=prefix, shown=shown, ids=ids)

        opened = self._presumed()
        return Presumed(make, opened) if opened else make(route.prefix)

    def _presumed(self) -> str:
        """What the family's chat template opens before the model begins, where the text may come as it was written.

        Services take reasoning out of the text; a server of one's own may have been started without doing so.
        """
        provider = self.route.provider
        if self.route.prefix or (provider.base_url and not provider.port):
            return ""
        thinks = wants_thinking(self.asked)
        return "" if thinks is False else self.family.prefix(thinking=bool(thinks))


_must_be_short = memoize(TOOLS)(compact_for)


def _open(plan: Plan, codec: Codec, mint: Callable[[str], Ids], tokens: Tokens) -> Machine[Source]:
    """Send the request; the source of the answer's events.  Raises ProviderError for a refusal."""
    route, sent = plan.route, plan.sent
    path = codec.stream_path if plan.stream else codec.path
    accept = ACCEPTS[codec.frames] if plan.stream else "application/json"
    asked = Open(
        url=route.request_url(path, sent.model),
        headers={**route.headers(), **signals(plan.asked, route), "accept": accept},
        body=_encoded(sent, plan, codec),
        patience=route.patience,
    )
    opened: Opened = yield (yield from admit(asked, route, tokens))
    if not 200 <= opened.status < 300:
        raise (yield from _refusal(opened, codec, route))
    kind = opened.headers.get("content-type", "").partition(";")[0].strip().lower()
    streams = kind in STREAMS or (plan.stream and kind != "application/json")
    return Streamed(codec, mint("n"), route) if streams else Whole(codec, mint("n"), route)


def _encoded(sent: Request, plan: Plan, codec: Codec) -> bytes:
    """The body; where each message stands for itself on this wire, what was written before is not written again."""
    if codec.write_message is None or "messages" in plan.route.fields:
        return _written(_with_fields(codec.encode_request(sent, plan.quirks), plan))
    body = _with_fields(codec.encode_request(replace(sent, messages=()), plan.quirks), plan)
    told = [_message_written(message, plan.quirks, codec) for message in sent.messages]
    return _written(body, ",".join(filter(None, told)))


@memoize(MESSAGES, if_small(str.__len__))
def _message_written(message: Message, quirks: Quirks, codec: Codec) -> str:
    assert codec.write_message is not None
    return ",".join(map(to_json, codec.write_message(message, quirks)))


def _with_fields(body: dict[str, Any], plan: Plan) -> dict[str, Any]:
    """`body` with the fields that go out with every request; lists are continued, and tools told in text stay off."""
    for key, value in (*plan.route.fields.items(), *plan.held.fields.items()):
        if key == "tools" and plan.text:
            continue
        held = body.get(key)
        body[key] = [*held, *value] if isinstance(held, list) and isinstance(value, list) else value
    return body


def _written(body: dict[str, Any], messages: str | None = None) -> bytes:
    """`body` as JSON; tools that come with every request are written already, and its messages may be."""
    done: list[str] = []
    if messages is not None:
        del body["messages"]
        done.append(f'"messages":[{messages}]')
    if type(body.get("tools")) is WrittenTools:
        done.append(f'"tools":{body.pop("tools").json}')
    return "".join(("{", ",".join(filter(None, (to_json(body)[1:-1], *done))), "}")).encode()


def _refusal(opened: Opened, codec: Codec, route: Route) -> Machine[ProviderError]:
    if 300 <= opened.status < 400:
        return ProviderError(REDIRECTED.format(root=route.root(), status=opened.status), status=opened.status)
    body = b""
    while len(body) < MAX_REFUSAL and (data := (yield Read())):
        body += data
    headers = opened.headers
    until = http_date(headers.get("retry-after", ""))
    if until is not None and "date" not in headers:
        now: float = yield Now()
        headers = {**headers, "retry-after": str(max(0.0, until - now))}
    return codec.decode_error(opened.status, body, headers)


def _without_secrets(error: ProviderError, route: Route) -> ProviderError:
    """The error as it may be shown: peers echo keys."""
    return ProviderError(
        redact(error.message, route.hidden),
        status=error.status,
        kind=error.kind,
        code=redact(error.code, route.hidden),
        retry_after=error.retry_after,
        body=redact(error.body, route.hidden),
    )
