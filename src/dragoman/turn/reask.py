"""An answer made good before anybody sees it broken: what was wrong is asked for again.

Knows requests, events and, by its contract, whatever asks a model; nothing of wires, routes, dialects or clients.
Contract of `reask`, over however many answers it takes: they are emitted as one (`composer.py`).  A call goes out once,
whole, and only if it names a tool, fits its schema and was asked for; what a model must do (`tool_choice`,
`output_schema`) was done, or a `ProviderError` says that it was not; so does one of an answer that stayed empty; a call
that could not be made good is said in words, never left out; an answer that broke off is never given as one that ended.
The first answer streams as it comes, its calls last: only the end of an answer shows that they did not stand in its
reasoning; later ones are taken whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import TypeAlias

from ..codecs.crossing.media import media_beside
from ..dialects.writing.history import AS_WRITTEN
from ..effects import Machine, relay
from ..errors import RETRYABLE, ErrorKind, ProviderError
from ..events import Ended, Event, IssueReported
from ..lenient.answers import Fitting
from ..lenient.brackets import depth
from ..lenient.reader import MAX_DEPTH
from ..types import (
    NOTHING,
    Issue,
    IssueKind,
    JsonObject,
    Message,
    Part,
    Reasoning,
    Request,
    Response,
    Stop,
    Text,
    ToolCall,
)
from .answer_constraint import AnswerConstraint, AnswerError, as_words, forbidden, written
from .composer import FINAL_STOPS, AnswerComposer, final_stop
from .protocol import written_in_protocol
from .several import further, one_choice

Ask: TypeAlias = Callable[[Request], Machine[Response]]
"""Whatever asks a model: a turn on a route, or a chain of them."""

LOST = frozenset({
    IssueKind.TRUNCATED,
    IssueKind.MALFORMED,
    IssueKind.DUPLICATE_KEYS,
    IssueKind.UNKNOWN_TOOL,
    IssueKind.INVALID_ARGUMENTS,
})  # fmt: skip
"""Kinds of issue that stand for a call the model meant and nobody will run, where they say which (`loses_a_call`)."""
UNPROCESSABLE = 422
"""The status where a demand was not met: SDKs repeat a 5xx by themselves, and this was asked often enough."""
SERVERS_OWN = RETRYABLE | {ErrorKind.GARBLED}
"""Failures of asking again that say nothing of the model: the request may be sent again."""
MOST_CORRECTIONS = 6
SHOWN = 80
"""Characters that are shown of what is nested without end."""
NEARLY = 0.9
"""Of a limit: servers do not all count their own marks."""

OWN_ENDS = frozenset({Stop.END, Stop.TOOL_CALLS})
EXCUSED = FINAL_STOPS - {Stop.ERROR}
"""Stops that leave nothing to ask again; a server that failed (a call it could not read) is asked like a model."""
ONLY_THESE = "These calls of yours are taken and being run; do not repeat them: {calls}."
AGAIN = "Send only what is corrected, without comment."
BROKEN_OFF = "the provider's answer broke off before its end, and nothing says why; send the request again"
EMPTY = "the model's answer was empty"
SAY_SOMETHING = "Your last answer was empty. Make a call, or give your answer."
STAYED_EMPTY = "{why} (it was asked {times} times); ask more simply, or ask another model"
UNMET = "the model did not give {what}: {why} (it was asked {times} times); ask more simply, or ask a stronger model"
HONEST = "[The call of {name} was not run: {why}.]"
UNANSWERED = "[The model gave no answer in the form it was asked for, also when it was asked again: {why}.]"
NOISE = "text beside a corrected call was left out, for other text went out before"


@dataclass(slots=True)
class Budget:
    """How often one request of a client may be asked again, for whatever reason."""

    left: int

    def take(self) -> bool:
        """Once more; False where it is spent."""
        if self.left <= 0:
            return False
        self.left -= 1
        return True


def reask(
    request: Request, ask: Ask, reasks: int | Budget = 2, *, whole_calls: bool = True, quiet: bool = False
) -> Machine[Response]:
    """Ask `request`, and up to `reasks` times more for what was wrong; yields the events of the one answer.

    `whole_calls` False emits the fragments of calls as they come: such a call cannot be taken back, so it is not
    checked here.  `quiet` yields no events: nobody listens, and the answer is what is returned.  Raises ProviderError
    as `ask` does, and for a demand that was never met.
    """
    budget = reasks if isinstance(reasks, Budget) else Budget(reasks)
    answer = GoodAnswer(request, whole_calls=whole_calls)

    answer.ask, answer.budget, answer.is_quiet = ask, budget, quiet
    if quiet:
        return relay(ask(request), on_step=answer.note_step, at_once=answer.note_steps, then=answer.first_ended)
    return relay(ask(request), on_step=answer.stream, then=answer.first_ended)


def _made_good(  # noqa: PLR0917
    request: Request, ask: Ask, budget: Budget, answer: GoodAnswer, response: Response,
    emitted: Callable[[Iterator[Event]], Iterable[Event]],
) -> Machine[Response]:  # fmt: skip
    """What follows the first answer, `response`."""
    yield from emitted(answer.take_first(response))
    asked = request
    while answer.errors and not _is_excused(request, response):
        if (asked is not request and all(map(_is_endless, answer.errors))) or not budget.take():
            break  # a model that was told so, and nests as deep again, will not do otherwise
        asked = _again(asked, response, answer.errors, answer.calls)
        try:
            response = yield from relay(ask(asked), on_step=_unheard)
        except ProviderError as error:
            answer.note_failure(error)
            break
        yield from emitted(answer.take(response))
    yield from emitted(answer.finish(response))
    return answer.response()


def loses_a_call(issue: Issue) -> bool:
    """Does `issue` stand for a call that nobody will run?  An answer cut before it said anything holds none."""
    return issue.kind in LOST and bool(issue.name or issue.raw or issue.call_id or issue.correction)


def good_as_it_is(
    request: Request, response: Response, constraint: AnswerConstraint | None = None
) -> Response | None:
    """The first answer to `request` as it goes out where nothing is wrong with it; None where it is to be composed.

    What would be composed is the same: its calls stand last as they are, and it ends for what it says.
    """
    calls, demands = response.calls, constraint or AnswerConstraint(request)
    beside = response.issues or response.doubtful or response.stop is None
    if beside or demands.demands_form or demands.demands_call or (calls and demands.forbids_calls):
        return None
    if not calls:
        return None if _is_empty(request, response) else _ending(response, calls)
    if len(calls) > 1 and (request.parallel is False or len({call.id for call in calls}) < len(calls)):
        return None
    parts = response.message.parts
    if parts[-len(calls) :] != calls or not all(map(_is_written, calls)) or any(map(_is_blank, parts)):
        return None
    return _ending(response, calls) if all(map(is_, map(demands.check, calls), calls)) else None


def _is_excused(request: Request, response: Response) -> bool:
    """Did the answer end for a reason that leaves nothing to ask again, or where the client wanted it to?"""
    own_limit = response.stop is Stop.LENGTH and _reached(request.sampling.max_tokens, response)
    return response.stop in EXCUSED or own_limit


def _is_endless(error: AnswerError) -> bool:
    """Is what was written nested deeper than anything that is read?"""
    return depth(error.issue.raw) > MAX_DEPTH


def _shortened(raw: str) -> str:
    """`raw`, of which the beginning says all where it is brackets in brackets without end; the issue has the whole."""
    return raw if len(raw) <= SHOWN or depth(raw) <= MAX_DEPTH else f"{raw[:SHOWN]}… ({len(raw)} characters)"


def _reached(limit: int | None, response: Response) -> bool:
    """Was `limit` what cut the answer?  Programs set one far above what a server or a full context allows.

    Uncounted, an answer of fewer bytes than that has fewer tokens.
    """
    if limit is None:
        return False
    if response.usage is not None and response.usage.output:
        return response.usage.output >= limit * NEARLY
    raws = (issue.raw for issue in response.issues)
    texts = (response.text, response.reasoning, *raws, *map(written, response.calls))
    return sum(len(text.encode(errors="replace")) for text in texts) >= limit


def _is_empty(request: Request, response: Response) -> bool:
    """Did the model say nothing, or only think, though nothing cut it off and it was to say something?

    Where the request goes on with a text of the model's own, or names texts to stop at, nothing may be all of it.
    """
    if response.stop not in (*OWN_ENDS, Stop.ERROR) or request.sampling.stop or response.calls or response.doubtful:
        return False
    last = response.message.parts[-1] if response.message.parts else None
    if type(last) is Text and not last.text.isspace() and last.text:
        return False  # as most
    expects = bool(request.messages) and request.messages[-1].role in ("user", "tool")
    silent = all(isinstance(p, Reasoning) or _is_blank(p) for p in response.message.parts)
    return expects and silent and not media_beside(response.extra)


def _is_written(call: ToolCall) -> bool:
    """Do the arguments stand there as the model wrote them?"""
    return call.raw is not None and type(call.arguments) is dict


def _ending(response: Response, calls: Sequence[ToolCall]) -> Response:
    stop = final_stop(response.stop, calls=bool(calls))
    return response if stop is response.stop else replace(response, stop=stop)


def _is_blank(part: Part) -> bool:
    return isinstance(part, Text) and not part.text.strip()


def _unheard(_: Event) -> Sequence[Event]:
    return ()


def _as_they_come(events: Iterator[Event]) -> Iterable[Event]:
    return events


def _unheard_all(events: Iterator[Event]) -> Iterable[Event]:
    for _ in events:
        pass
    return ()


def _again(asked: Request, response: Response, errors: Sequence[AnswerError], made: Sequence[ToolCall]) -> Request:
    """The next request: the conversation so far, what the model wrote, and what was wrong with it.

    The model's words go back as text: a native call must be answered by a result, and there is none.
    """
    raws = [_shortened(error.written or error.issue.raw) for error in errors]
    wrote = "\n".join(filter(None, (response.text.strip(), *raws)))
    sentences = list(dict.fromkeys(error.correction for error in errors))[:MOST_CORRECTIONS]
    if made:
        sentences.insert(0, ONLY_THESE.format(calls="; ".join(map(as_words, made))))
    if sentences != [SAY_SOMETHING]:
        sentences.append(AGAIN)
    turns = [Message("user", " ".join(sentences))]
    if wrote:
        turns.insert(0, Message("assistant", [Text(wrote, metadata={AS_WRITTEN: True})]))
    return replace(one_choice(asked), messages=(*asked.messages, *turns))


class GoodAnswer(AnswerComposer):
    """The one answer: what of each goes out, and what is wrong with the last.

    `ask` and `budget` are for what is asked again; `is_quiet`: nobody listens.
    """

    __slots__ = (
        "_barred", "_constraint", "_empty", "_extra", "_failure", "_reasks", "_request", "_unread", "ask", "budget",
        "errors", "is_quiet",
    )  # fmt: skip
    ask: Ask
    budget: Budget
    is_quiet: bool

    def __init__(self, request: Request, *, whole_calls: bool) -> None:
        super().__init__(form=request.output_schema is not None, whole_calls=whole_calls)
        self.errors: list[AnswerError] | tuple[()] = ()
        self._request, self._constraint = request, AnswerConstraint(request)
        self._barred: list[AnswerError] | tuple[()] = ()
        self._reasks = 0
        self._empty = False  # the last answer said nothing
        self._extra: JsonObject = NOTHING
        self._unread: list[Event] | tuple[()] = ()  # of an answer that nobody hears
        self._failure: ProviderError | None = None  # of asking again

    # ── the first answer, and those asked for again ──────────────────────────

    def first_ended(self, response: Response) -> Response | Machine[Response]:
        """The first answer has ended: it goes out where nothing is wrong with it."""
        if self.is_quiet:
            if (as_it_is := self.is_good(response)) is not None:
                return as_it_is
            self.catch_up()
        emitted = _unheard_all if self.is_quiet else _as_they_come
        return _made_good(self._request, self.ask, self.budget, self, response, emitted)

    def report(self, event: IssueReported) -> list[Event]:
        """Emit an issue of the first answer, and note it."""
        self._note(event.issue)
        return super().report(event)

    def note_step(self, event: Event) -> tuple[()]:
        """Take an event of the first answer; nobody listens."""
        self._unread = unread = self._unread or []
        unread.append(event)
        return ()

    def note_steps(self, events: list[Event]) -> tuple[()]:
        """The same of several."""
        self._unread = unread = self._unread or []
        unread += events
        return ()

    def catch_up(self) -> None:
        """Compose what nobody heard, as if somebody did."""
        unread, self._unread = self._unread, ()
        for event in unread:
            self.stream(event)

    def is_good(self, response: Response) -> Response | None:
        """The first answer as it goes out where nothing is wrong with it; None where it is to be composed."""
        return good_as_it_is(self._request, response, self._constraint)

    def note_end(self, event: Ended) -> list[Event]:
        """Keep what the first answer's end holds besides."""
        self._extra = event.extra
        return []

    def take_first(self, response: Response) -> Iterator[Event]:
        """The first answer has ended."""
        if self._whole_calls:
            yield from self._take_calls(response)
        else:
            self.went_out(response.calls)
        self._judge(response)

    def take(self, response: Response) -> Iterator[Event]:
        """Emit what may go out of an answer asked for again."""
        self._reasks += 1
        self.follow_up()
        yield from self.let_go()
        self.errors, self._barred, self._extra = (), (), further(self._extra)
        for issue in response.issues:
            self._note(issue)
            yield from self.emit(IssueReported(issue))
        yield from self._take_calls(response)
        if response.text.strip() and not self._constraint.demands_form:
            yield from self._take_text(response.text, answers=not response.calls and not self.errors)
        self._judge(response)

    def note_failure(self, error: ProviderError) -> None:
        """Asking again came to nothing."""
        self._failure = error
        self._err(AnswerError(Issue(kind=IssueKind.WIRE_FAULT, message=f"asking again failed: {error.message}")))

    def _err(self, error: AnswerError) -> None:
        self.errors = errors = self.errors or []
        errors.append(error)

    def _bar(self, error: AnswerError) -> None:
        self._barred = barred = self._barred or []
        barred.append(error)

    def _note(self, issue: Issue) -> None:
        refused = issue.kind is IssueKind.NOT_ALLOWED and bool(issue.correction)
        if refused and self._constraint.forbids_calls:
            self._bar(AnswerError(issue))
        elif refused or loses_a_call(issue):
            self._err(AnswerError(issue))

    def _take_calls(self, response: Response) -> Iterator[Event]:
        """Hold the calls that are good; what goes out is what is wrong with the others."""
        for call in response.calls:
            if self.repeats(call):
                continue
            if self._request.parallel is False and self.calls:
                yield from self._left_out(call, "one call at a time was asked for")
            elif self._constraint.forbids_calls:
                self._bar(forbidden(call))
                yield from self._left_out(call, "no call was to be made")
            elif isinstance(found := self._constraint.check(call), AnswerError):
                self._err(found)
                yield from self.emit(IssueReported(found.issue))
            else:
                self.calls.append(found)

    def _left_out(self, call: ToolCall, why: str) -> list[Event]:
        message = f"{why}; the call of {call.name!r} was left out"
        issue = Issue(kind=IssueKind.NOT_ALLOWED, message=message, name=call.name, raw=written(call), call_id=call.id)
        return self.emit(IssueReported(issue))

    def _take_text(self, text: str, *, answers: bool) -> list[Event]:
        """Text beside a corrected call says again what was said before; text instead of one is the answer."""
        if self.spoke and not answers:
            return self.emit(IssueReported(Issue(kind=IssueKind.NOISE, message=NOISE, raw=text)))
        return self.emit_text(text.strip() if self.spoke else text)

    def _judge(self, response: Response) -> None:
        """Find the errors of this answer: lost calls, else those nobody wanted, else what it owes."""
        self.count(response)
        self._empty = False
        if self.errors or self.calls:
            return
        if self._barred and not (self.spoke or response.text.strip()):
            self.errors = [*self._barred]  # a call that nobody wanted was all of the answer
        else:
            self.errors = self._constraint.unmet(response)
        if not self.errors and _is_empty(self._request, response):
            self._empty = True
            issue = Issue(kind=IssueKind.NOT_ALLOWED, message=EMPTY, correction=SAY_SOMETHING)
            self.errors = [AnswerError(issue)]

    # ── the end ──────────────────────────────────────────────────────────────

    def finish(self, response: Response) -> Iterator[Event]:
        """End the answer.  Raises ProviderError for a demand that was not met."""
        if self._reasks:
            message = f"the model was asked again {self._reasks} times"
            issue = Issue(kind=IssueKind.REASKED, message=message, raw=str(self._reasks))
            yield from self.emit(IssueReported(issue))
        failed = bool(self.errors) and not self.calls
        self._check_end(response)
        if not failed or _is_excused(self._request, response):
            yield from self._emit_value(response)
        if failed:
            self._check_demands(response)
            yield from self._stayed_empty() if self._empty else self._honestly()
        said = failed and response.stop is Stop.ERROR  # what went wrong stands there in words
        cut = bool(self.errors) and response.stop is Stop.LENGTH
        yield from self.end(Stop.END if said else response.stop, self._extra, cut=cut)

    def _emit_value(self, response: Response) -> list[Event]:
        """The value alone; what was written, beside calls or where the answer ended before it was one."""
        texts = [part for part in response.message.parts if isinstance(part, Text)]
        found = self._constraint.value(response)
        if isinstance(found, Fitting) and not self.calls:
            texts = [Text(self._constraint.spelled(found.value), metadata=texts[-1].metadata)]
        return self.emit_form(texts)

    def _check_end(self, response: Response) -> None:
        """Half an answer is none, and nobody can tell the half; a call or a value that is there is whole."""
        if response.stop is None and not self.calls and (self.errors or not self._constraint.demands_form):
            raise ProviderError(BROKEN_OFF, kind=ErrorKind.NETWORK, code="incomplete_answer")

    def _check_demands(self, response: Response) -> None:
        forced = self._constraint.demands_call
        if _is_excused(self._request, response) or not (forced or self._constraint.demands_form):
            return
        why = "; ".join(error.issue.message for error in self.errors)
        what = "a call" if forced else "an answer of the form asked for"
        message = UNMET.format(what=what, why=why, times=self._reasks + 1)
        raise self._unmet(message, "demand_not_met")

    def _stayed_empty(self) -> list[Event]:
        """Say that nothing came: in words where text went out before.  Raises ProviderError where none did."""
        why = "; ".join(error.issue.message for error in self.errors)
        message = STAYED_EMPTY.format(why=why, times=self._reasks + 1)
        if not self.spoke:
            raise self._unmet(message, "empty_answer")
        self.apart = True
        return self.emit_text(f"[{message}]")

    def _unmet(self, message: str, code: str) -> ProviderError:
        """The error of an answer that never came right; the server's own where it was the server that failed last."""
        last = self._failure
        if last is None or last.kind not in SERVERS_OWN:
            return ProviderError(message, status=UNPROCESSABLE, kind=ErrorKind.GARBLED, code=code)
        return ProviderError(message, status=last.status, kind=last.kind, code=last.code, retry_after=last.retry_after)

    def _honestly(self) -> Iterator[Event]:
        """The calls that will not run, in words."""
        for error in self.errors:
            why = error.issue.message.rstrip(".")
            if not (loses_a_call(error.issue) or error in self._barred):
                if error.issue.raw:
                    yield from self.emit_text(UNANSWERED.format(why=why))
                continue
            name = repr(error.issue.name) if error.issue.name else "a tool"
            said = HONEST.format(name=name, why=why)
            self.apart: bool = self.spoke
            raw = error.issue.raw
            shown = "" if written_in_protocol(raw, [error.issue.name], told=True) else f"\n{_shortened(raw)}"
            yield from self.emit_text(f"{said}{shown}")
