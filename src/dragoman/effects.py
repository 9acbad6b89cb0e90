"""What a machine asks of the world, and the two drivers that let it.

A machine is a generator: it yields *effects* (records of this module), is sent their replies, and yields *steps*
(events, frames, bytes) to whoever listens; steps that are there at once may come as a list, in order, so that a machine
behind ten others is not resumed for each.  What it returns is its outcome.  Nothing here performs anything, and nothing
here knows what a turn is.

Contract.  An effect that cannot be performed is raised inside the machine, at the `yield`, as a `ProviderError`.
A caller who cancels comes as `Cancelled`, raised at every effect from then on but `RunTools` and `Close`.
Where an effect says how long it may take (`patience`), `Late` is raised once that is over.
A machine holds at most one exchange open: `Open` closes the one before.  The drivers end every machine with `Close`,
also when the listener walks away, so nothing a machine opened outlives it.  With `adrive`, walk away by closing the
iterator (`contextlib.aclosing`): that is Python's rule for asynchronous generators.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from types import GeneratorType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from .records import dataclass, field
from .types import NOTHING, ToolCall

if TYPE_CHECKING:
    from .tools import Runnable

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds to wait: for a connection, between two pieces of an answer (also before the first), and for the rest.

    `grace` is for what may follow once the answer said why it stops, where its wire's last word is still missing.
    """

    connect: float = 10.0
    idle: float = 600.0
    grace: float = 3.0


DEFAULT_TIMEOUTS = Timeouts()


class Effect:
    """The kind of all effects; a step that is not one goes to the listener."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Open(Effect):
    """Send a request and wait for the head of its answer.  Reply: `Opened`.

    Headers and body stay out of `repr`: they hold keys and conversations.  `upload` is a body as it comes, in place of
    `body`; only where performing is awaited.
    """

    url: str
    method: str = "POST"
    headers: Mapping[str, str] = field(default=NOTHING, repr=False)
    body: bytes = field(default=b"", repr=False)
    upload: AsyncIterable[bytes] | None = field(default=None, repr=False)
    timeouts: Timeouts = DEFAULT_TIMEOUTS
    patience: float | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """The head of an answer: its status, and its headers by lower-case name."""

    status: int
    headers: Mapping[str, str] = NOTHING


@dataclass(frozen=True, slots=True)
class Read(Effect):
    """Wait for more of the answer's body.  Reply: bytes, b"" once it has ended; or what `take` made of them.

    `within`: what follows is welcome, but not needed; so many seconds are waited for it.  The reply is b"" too where
    nothing comes in that time, or the connection breaks; the answer is let go of then, and at once for 0 seconds.
    `take` handles bytes at once, where they were read: what comes of them is given back as the reply (`Taken`), in one
    piece or in several, in order, before anything else.
    `passing` is for whoever drives the machine and listens to it: of all that is read it may be asked what goes out of
    it at once, as a step, b"" for nothing; then the same is to be performed again.  None: what was read is the reply.
    `held`: bytes of this answer that the machine holds now.  Where many answers share one budget, more is read only
    once there is room for these, and a `ProviderError` (FULL) is raised where there is none in time.
    """

    within: float | None = None
    take: Take | None = field(default=None, repr=False, compare=False)
    held: int = 0
    passing: Callable[[bytes], bytes | None] | None = field(default=None, repr=False, compare=False)
    patience: float | None = None


class Last(bytes):
    """A reply to `Read` behind which nothing comes: whoever gets it need not ask for more."""

    __slots__ = ()


@dataclass(slots=True)
class Taken:
    """What comes of bytes that were read: steps of the machine, and what went wrong behind them.

    `goes_on`: may the next bytes be read before the machine has these?
    """

    steps: Sequence[Any]
    error: Exception | None = None
    goes_on: bool = False


class Take(Protocol):
    """Handles bytes where they are read."""

    def __call__(self, data: bytes) -> Taken:
        """What comes of them."""

    def more(self, data: bytes, kind: type) -> str | Taken:
        """The same; where that is one more event of this kind of delta, or none, its text alone.

        To be asked only where the last step was such an event; the machine is to be given the texts later.
        """


@dataclass(frozen=True, slots=True)
class Close(Effect):
    """Let go of the answer, read or not; an unread one is cancelled at the peer.  Reply: None."""


CLOSE = Close()


@dataclass(frozen=True, slots=True)
class Sleep(Effect):
    """Wait `seconds`.  Reply: None."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Now(Effect):
    """Ask for the time.  Reply: float, seconds since 1970 (UTC).

    `steady`: seconds since some moment of this process's own, for durations: the other clock may be set back or forth.
    """

    steady: bool = False


NOW = Now()


@dataclass(frozen=True, slots=True)
class NewId(Effect):
    """Mint an id nobody can guess.  Reply: str, `prefix` and 24 letters and digits."""

    prefix: str = ""


# ── the caller's own code ────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Invoke(Effect):
    """Call a user's function (a hook, an approval) and await what it returns where that is awaitable.

    Reply: its value.  What it raises is raised in the machine.  With `patience` a plain function that is called
    synchronously runs in a thread, which nobody waits for any longer than that.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    patience: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One execution of a tool: what runs, the call with its validated arguments, and how long it may take.

    `key` is the stable id of this execution: the same again when a run is resumed after a crash.  `timeout` is in
    seconds, None for as long as it takes.
    """

    runnable: Runnable
    call: ToolCall
    key: str
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class RunTools(Effect):
    """Run these jobs, at most `at_once` of them at the same time.  Reply: tuple[ToolResult, ...] in the order of jobs.

    `patience`: seconds for all of them together; those that have not begun by then do not.

    Never raises: what fails, is late or was cancelled is a result that says so (`ErrorCode`).
    """

    jobs: tuple[Job, ...]
    at_once: int = 1
    patience: float | None = None


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """A step: what a running tool reports of itself (`Context.report`), where the performer can pass it on."""

    call_id: str
    text: str


# ── what requests leave for those that follow ────────────────────────────────

Address: TypeAlias = tuple[str, str]
"""Where a text is kept: its kind, and its key among those of that kind."""


@dataclass(frozen=True, slots=True)
class Recall(Effect):
    """Ask for what is kept at these addresses.  Reply: `dict[Address, str]`, the texts of those that are.

    Raises ProviderError (503) where nobody can say: what cannot be looked up is not said to be forgotten.
    """

    addresses: Sequence[Address]


@dataclass(frozen=True, slots=True)
class Retain(Effect):
    """Keep these texts.  Reply: bool, once others find them; False where they wait in this process for that."""

    rows: Mapping[Address, str]


@dataclass(frozen=True, slots=True)
class Revise(Effect):
    """Put what `change` gives for a text in its place, None for none; nobody comes in between.  Reply: None.

    `change` may be called more than once; what it raises is raised.  Raises ProviderError (503) as `Recall`.
    """

    address: Address
    change: Callable[[str | None], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Enter(Effect):
    """Count one more request of `key`, under the name `lease`, unless a limit says no.  Reply: `Entered`.

    Limits are of requests at the same time, and of requests and tokens in a minute; 0 for none.  `tokens` is what it
    may cost.  Raises ProviderError (503) where nobody counts now.
    """

    key: str
    lease: str
    concurrent: int = 0
    per_minute: int = 0
    tokens_per_minute: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Entered:
    """Whether a request came in: `refused` names the limit that says no ("" for none), `wait` in how many seconds to
    come again; `at` is the second in which it was counted."""

    refused: str
    wait: float = 0.0
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave(Effect):
    """It has ended, and cost `tokens` more (or fewer) than it came in with at second `at`.  Reply: None.

    What cannot be said now is forgotten: its lease ends by itself.
    """

    key: str
    lease: str
    tokens: int = 0
    at: int = 0


class Cancelled(Exception):
    """The caller wants no more: raised in the machine, which ends what it has begun and asks for nothing new."""


class Late(Cancelled):
    """The time that an effect was given is over; what it began is let go of."""


Machine: TypeAlias = Generator[Any, Any, T]
Perform: TypeAlias = Callable[[Effect], Any]
PerformAsync: TypeAlias = Callable[[Effect], Awaitable[Any]]


class Outcome(Generic[T]):
    """The value a machine returned, left here by its driver."""

    def __init__(self) -> None:
        self._values: list[T] = []

    @property
    def has_value(self) -> bool:
        """Has the machine ended by itself?"""
        return bool(self._values)

    @property
    def value(self) -> T:
        """The returned value; LookupError while the machine has not ended by itself."""
        if not self._values:
            raise LookupError("the machine has not ended; listen to all its steps before asking for the outcome")
        return self._values[0]

    def put(self, value: T) -> T:
        """The machine has returned `value`."""
        self._values = [value]
        return value


def drive(machine: Machine[T], perform: Perform, outcome: Outcome[T] | None = None) -> Generator[Any, None, T]:
    """Run `machine`, performing its effects and yielding its steps; returns (and puts in `outcome`) what it returns."""
    resume: Callable[[Any], Any] = machine.send
    reply: Any = None
    try:
        while True:
            step = resume(reply)
            resume, reply = machine.send, None
            if not isinstance(step, Effect):
                yield from step if type(step) is list else (step,)
                continue
            try:
                reply = perform(step)
            except Exception as error:
                resume, reply = machine.throw, error
    except StopIteration as done:
        return _ended(done, outcome)
    finally:
        machine.close()
        perform(CLOSE)


async def adrive(
    machine: Machine[T], perform: PerformAsync, outcome: Outcome[T] | None = None
) -> AsyncGenerator[Any, None]:
    """`drive` where performing is awaited; an asynchronous generator returns nothing, so ask `outcome`."""
    resume: Callable[[Any], Any] = machine.send
    reply: Any = None
    try:
        while True:
            step = resume(reply)
            resume, reply = machine.send, None
            if not isinstance(step, Effect):
                for one in step if type(step) is list else (step,):
                    yield one
                continue
            try:
                reply = await perform(step)
            except Exception as error:
                resume, reply = machine.throw, error
    except StopIteration as done:
        _ended(done, outcome)
    finally:
        machine.close()
        await perform(CLOSE)


def run(machine: Machine[T], perform: Perform) -> T:
    """The outcome of `machine`, its steps passed over."""
    outcome = Outcome[T]()
    for _ in drive(machine, perform, outcome):
        pass
    return outcome.value


class Offload(Protocol):
    """Takes steps that may be long where nobody waits for them."""

    def are_long(self, reply: Any, *, told: bool = False) -> bool:
        """May the steps be long that `reply` leads to?

        To be asked first, and of all bytes; `told`: since the last, steps went out, so what was read is dealt with."""

    async def take(self, resume: Callable[[Any], Any], reply: Any) -> Any:
        """`resume(reply)`; raises what it raises, StopIteration as `Over`."""


class Over(Exception):
    """A machine has ended off the loop: no coroutine lets StopIteration pass."""

    def __init__(self, done: StopIteration) -> None:
        super().__init__()
        self.done = done


async def arun(
    machine: Machine[T],
    perform: PerformAsync,
    on_step: Callable[[Any], Awaitable[object]] | None = None,
    offload: Offload | None = None,
) -> T:
    """`run` where performing is awaited, and so is `on_step`, which gets the steps; `offload` takes the long ones.

    `adrive` turned inside out: a gateway sends thousands of pieces a second, and an asynchronous generator costs as
    much for each as all else that is done here.
    """
    resume: Callable[[Any], Any] = machine.send
    reply: Any = None
    passed: bytes | None = None
    told = False  # did steps go out since the last reply?
    long = offload is not None and offload.are_long(reply)
    try:
        while True:
            if passed is None:
                if offload is not None and type(reply) in _BYTES:
                    long, told = offload.are_long(reply, told=told), False
                step = await offload.take(resume, reply) if offload is not None and long else resume(reply)
                resume, reply = machine.send, None
            if isinstance(step, Effect):
                try:
                    reply = await perform(step)
                    passed = step.passing(reply) if type(step) is Read and step.passing is not None else None
                except Exception as error:
                    resume, reply, passed = machine.throw, error, None
                if passed is not None:
                    told = True
                    if passed and on_step is not None:
                        await on_step(passed)
                    reply, passed = None, b""  # a stream may wait for long
            elif on_step is not None:
                told = True
                await _tell(step, on_step)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    except Over as over:
        return over.done.value  # type: ignore[no-any-return]
    finally:
        machine.close()
        await perform(CLOSE)


async def _tell(step: Any, on_step: Callable[[Any], Awaitable[object]]) -> None:
    for one in step if type(step) is list else (step,):
        await on_step(one)


def relay(  # noqa: PLR0917
    steps: Machine[T],
    perform: Callable[[Effect], Machine[Any]] | None = None,
    on_step: Callable[[Any], Iterable[Any]] | None = None,
    at_once: Callable[[list[Any]], Sequence[Any] | None] | None = None,
    then: Callable[[T], T | Machine[T]] | None = None,
    failed: Callable[[Exception], Machine[T]] | None = None,
) -> Machine[T]:
    """`steps` as a machine whose effects `perform` replies to, whose steps `on_step` passes on; both give more steps.

    Without one, its kind passes as it is.  `at_once` is asked first of steps in a list: what it gives goes on in their
    place, None where `on_step` must look at each.  `then` makes of their outcome that of this machine, or a machine
    that goes on from there; so does `failed` of an exception, or raises it.
    """
    resume: Callable[[Any], Any] | None = None  # None: by `send`, of which nothing is to be kept
    reply: Any = None
    try:
        while True:
            step = steps.send(reply) if resume is None else resume(reply)
            resume = reply = None
            if not isinstance(step, Effect):
                if on_step is None:
                    yield step
                elif type(step) is not list:
                    yield from on_step(step)
                elif at_once is None or (passed := at_once(step)) is None:
                    yield from _passed_on(step, on_step)
                elif passed:
                    yield passed
                continue
            try:
                reply = (yield from perform(step)) if perform is not None else (yield step)
            except Exception as error:
                resume, reply = steps.throw, error
    except StopIteration as done:
        found: Any = done.value if then is None else then(done.value)
    except Exception as error:
        if failed is None:
            raise
        found = failed(error)
    finally:
        steps.close()
    del steps, resume  # what goes on may last
    return (yield from found) if type(found) is GeneratorType else found  # type: ignore[no-any-return]


def _passed_on(steps: list[Any], on_step: Callable[[Any], Iterable[Any]]) -> Machine[None]:
    """What `on_step` makes of all of them, at once where it makes it without asking for anything."""
    made: list[Any] = []
    try:
        for step in steps:
            found = on_step(step)
            if type(found) in _AT_ONCE:
                made += found
                continue
            if made:
                yield made
                made = []
            yield from found
    except Exception:
        if made:
            yield made
        raise
    if made:
        yield made


_AT_ONCE, _BYTES = frozenset({list, tuple}), frozenset({bytes, Last})


def _ended(done: StopIteration, outcome: Outcome[T] | None) -> T:
    return done.value if outcome is None else outcome.put(done.value)
