"""The wrapper around a run's machine that lets it be continued: answers, results and decisions by key.

Knows loops as machines whose every input is an effect or a turn; nothing of HTTP.  Contract: the machine gets the same
again that it got before, as far as the record goes, and goes on where it was; a tool that ended is never run twice; one
that had begun is run again only if that is harmless (`read_only`, `idempotent`: the same `Context.key`), else its call
is answered honestly.  A record that does not fit what is asked is a `JournalError`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar, get_args

from ...effects import Effect, Invoke, Job, Machine, NewId, Now, RunTools, relay
from ...errors import ErrorCode, JournalError, ToolError
from ...events import CallDelta, Event, ReasoningDelta, TextDelta, assemble
from ...tools import failure_of
from ...types import NOTHING, Media, Opaque, Part, Reasoning, Request, Response, Text, ToolCall, ToolResult
from .store import Entry, JournalStore
from .values import decode, encode

T = TypeVar("T")
Ask: TypeAlias = Callable[[Request], Machine[Response]]

EVENTS = get_args(Event)
TURN, TOOL, ANSWER = "turn", "tool", "answer"
UNFIT = (
    "{path} does not fit this run: turn {index} was asked something else; resume it with the tools and the policy it"
    " began with"
)
INTERRUPTED = (
    "the program was ended while this tool was running; whether it took effect is not known: check that before calling"
    " it again"
)


class RunRecorder:
    """Wraps one run.  `ask` and `machine` wrap what asks the model and what runs the loop; it observes the tools."""

    def __init__(self, store: JournalStore, run_id: str, begun: float) -> None:
        self._store, self._run_id = store, run_id
        self._counted: Counter[str] = Counter()
        self._asking = False
        self._jobs: list[tuple[Job, str]] = []
        self._time = begun  # by the run's clock, which stands while it is taken from the record
        self._behind: float | None = None  # seconds by which that clock is behind

    # ── turns ────────────────────────────────────────────────────────────────

    def ask(self, real: Ask) -> Ask:
        """`real`, with answers from the record as far as it goes."""

        def ask(request: Request) -> Machine[Response]:
            index = self._counted[TURN]
            key, digest = str(index), _digest(request)
            written = self._recall(TURN, key)
            if written is None:
                yield from self._live(self._tick())
                events: list[Event] = []
                response = yield from relay(self._live(real(request)), on_step=lambda step: _logged(step, events))
                yield from self._live(self._tick())
                self._put(TURN, key, encode((digest, joined(events))))
            else:
                was, events = decode(written)
                if was != digest:
                    raise JournalError(UNFIT.format(path=self._store.path, index=index + 1))
                yield from events
                response = assemble(events)
            self._counted[TURN] += 1
            return response

        return ask

    def _live(self, steps: Machine[T]) -> Machine[T]:
        """`steps`, whose effects are not the run's own: they are performed and not written down."""
        self._asking = True
        try:
            return (yield from steps)
        finally:
            self._asking = False

    # ── all else ─────────────────────────────────────────────────────────────

    def machine(self, steps: Machine[T]) -> Machine[T]:
        """`steps`, its effects answered from the record as far as it goes."""
        return relay(steps, self._performed)

    def _performed(self, effect: Effect) -> Machine[Any]:
        if self._asking:
            return (yield effect)
        match effect:
            case RunTools():
                return (yield from self._tools(effect))
            case Invoke():
                return (yield from self._answer(effect))
            case Now():
                return (yield from self._now())
            case NewId(prefix):
                return prefix + self._id()
            case _:
                return (yield effect)

    def _answer(self, effect: Invoke) -> Machine[Any]:
        """A hook's answer.  One that cannot be written down is asked for again."""
        key = self._count(ANSWER)
        written = self._recall(ANSWER, key)
        if written is not None:
            return decode(written)
        yield from self._tick()
        value = yield effect
        try:
            encoded = encode(value)
        except TypeError:
            return value
        self._put(ANSWER, key, encoded)
        return value

    def _now(self) -> Machine[float]:
        """The time of the run, which stood still while the program did not run."""
        if self._behind is not None:
            yield from self._tick()
        return self._time

    def _tick(self) -> Machine[None]:
        """The run's clock goes on; the first time from where the record ends."""
        now: float = yield Now(steady=True)
        if self._behind is None:
            self._behind = now - self._time
        self._time = max(self._time, now - self._behind)

    def _id(self) -> str:
        """The run's next id: the same again when it is continued."""
        return hashlib.sha256(f"{self._run_id}\0{self._count('id')}".encode()).hexdigest()[:24]

    # ── tools ────────────────────────────────────────────────────────────────

    def _tools(self, work: RunTools) -> Machine[tuple[ToolResult, ...]]:
        self._jobs = [(job, self._count(job.key)) for job in work.jobs]
        results = [self._recalled(job, key) for job, key in self._jobs]
        missing = [job for job, result in zip(work.jobs, results, strict=True) if result is None]
        if missing:
            yield from self._tick()
            fresh = iter((yield replace(work, jobs=tuple(missing))))
            results = [next(fresh) if result is None else result for result in results]
        return tuple(result for result in results if result is not None)

    def _recalled(self, job: Job, key: str) -> ToolResult | None:
        entry = self._entry(TOOL, key)
        if entry is None:
            return None
        if entry.value is not None:
            result: ToolResult = decode(entry.value)
            return result
        if job.runnable.read_only or job.runnable.idempotent:
            return None
        result = failure_of(job.call, ToolError(ErrorCode.MISSING_RESULT, INTERRUPTED))
        self._put(TOOL, key, _written(result))
        return result

    def started(self, job: Job) -> None:
        """The job is about to start."""
        self._put(TOOL, self._key(job), None)

    def ended(self, job: Job, result: ToolResult) -> None:
        """The job has its result."""
        self._put(TOOL, self._key(job), _written(result))

    def _key(self, job: Job) -> str:
        return next(key for each, key in self._jobs if each is job)

    # ── the record ───────────────────────────────────────────────────────────

    def _count(self, name: str) -> str:
        """The key of the next thing of this name: its name and how many there were, so that no two share one."""
        self._counted[name] += 1
        return f"{name}#{self._counted[name]}"

    def _put(self, kind: str, key: str, value: str | None) -> None:
        self._store.put(kind, key, value, self._time)

    def _recall(self, kind: str, key: str) -> str | None:
        entry = self._entry(kind, key)
        return None if entry is None else entry.value

    def _entry(self, kind: str, key: str) -> Entry | None:
        entry = self._store.get(kind, key)
        if entry is not None:
            self._time = max(self._time, entry.at)
        return entry


def _logged(step: Any, events: list[Event]) -> Machine[None]:
    if isinstance(step, EVENTS):
        events.append(step)
    yield step


def joined(events: Sequence[Event]) -> list[Event]:
    """`events` with neighbouring pieces of the same text as one: they fold to the same."""
    out: list[Event] = []
    for event in events:
        before = out[-1] if out else None
        match event, before:
            case TextDelta(text, doubt), TextDelta(start, same) if doubt == same:
                out[-1] = TextDelta(start + text, doubt)
            case ReasoningDelta(text), ReasoningDelta(start):
                out[-1] = ReasoningDelta(start + text)
            case CallDelta(index, piece), CallDelta(same, start) if index == same:
                out[-1] = CallDelta(index, start + piece)
            case _:
                out.append(event)
    return out


def _digest(request: Request) -> str:
    """A digest that tells one question from another: of the conversation, as it is said.

    Tools differ by what they answer; metadata need not be JSON.
    """
    words = [[message.role, [_words(part) for part in message.parts]] for message in request.messages]
    return hashlib.sha256(encode(words).encode()).hexdigest()


def _words(part: Part) -> list[Any]:
    kind = type(part).__name__
    match part:
        case Text(text) | Reasoning(text):
            return [kind, text]
        case Media():
            return [kind, part.mime, part.data, part.url, part.name]
        case ToolCall():
            return [kind, part.id, part.name, part.arguments]
        case ToolResult():
            content = [_words(each) for each in part.content]
            return [kind, part.call_id, part.name, content, part.is_error, str(part.error_code)]
        case Opaque():
            return [kind, part.api, part.block]


def _written(result: ToolResult) -> str:
    """A result as text; a tool's metadata may hold anything, and what is no JSON is left out."""
    try:
        return encode(result)
    except TypeError:
        content = tuple(replace(part, metadata=NOTHING) for part in result.content)
        return encode(replace(result, content=content, metadata=NOTHING))
