"""The two clients: each performs the operations of `operations.py`, one now, the other awaited.

Knows operations and performers; no method is written twice: what a client can do is taken from `Operations`, with its
signature.
Contract: a client may be shared by threads (`Client`) or by tasks (`AsyncClient`); its connections are shared by all
its turns and closed with it; what an operation opened is closed when it ends, also when nobody listens any more.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, Generic, NoReturn, ParamSpec, TypeAlias, TypeVar

from ..effects import Outcome, Perform, PerformAsync, Timeouts, adrive, arun, drive, run
from ..errors import UsageError, nearest
from ..events import TextDelta
from ..fallback import Health, Rules
from ..io import aio, sync
from ..io.cancel import Cancel
from ..io.execution import ToolObserver
from ..loop import Policy, RunEvent
from ..providers.route import Route
from ..providers.rows import COMPATIBLE
from ..providers.spec import Provider
from ..providers.spec import Tools as ToolMode
from ..types import Sampling
from .given import check, check_rows
from .models import ByProvider, Catalogue, Models, listed
from .operations import DEFAULT, PLAIN, Defaults, Operation, Operations
from .tools import Tools, toolset

P = ParamSpec("P")
T = TypeVar("T")
W = TypeVar("W")
F = TypeVar("F", bound=Callable[..., Any])
Performing: TypeAlias = Callable[[Cancel | None, ToolObserver | None], Perform]
AsyncPerforming: TypeAlias = Callable[[Cancel | None, ToolObserver | None], PerformAsync]


OPTIONS = frozenset(each.name for each in fields(Route)) - {"provider", "model", "base_url", "key", "tools"}
"""Fields of every route that a client may be given."""


def _check(options: Mapping[str, Any]) -> None:
    """Raises TypeError for what no client takes, as a function does."""
    for name in options:
        if name not in OPTIONS:
            near = nearest(name, {*OPTIONS, *inspect.signature(_BaseClient.__init__).parameters})
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise TypeError(f"a client takes no {name!r}{hint}")


def _options(route: Mapping[str, Any], timeouts: Timeouts | None, mode: ToolMode | str | None) -> dict[str, Any]:
    """Fields of every route.  Raises UsageError for what no route takes, before anything is asked."""
    options = {**route, **({} if timeouts is None else {"timeouts": timeouts}), **_mode(mode)}
    Route(provider=COMPATIBLE["openai_chat"], **options)
    return options


def _mode(given: ToolMode | str | None) -> dict[str, ToolMode]:
    """The way for tools, as a field of routes.  Raises UsageError for one that is none."""
    if given is None:
        return {}
    try:
        return {"tools": ToolMode(given)}
    except ValueError:
        modes = ", ".join(mode.value for mode in ToolMode)
        raise UsageError(f"tool_mode is {given!r}; give one of {modes}, and tools in tools=[…]") from None


class _BaseClient(Generic[W]):
    """The parts of both clients; `W` performs their machines."""

    def _open(self) -> W:
        """The client's own connections."""
        raise NotImplementedError

    def __init__(
        self,
        model: Models = "",
        *,
        routes: Sequence[Route] = (),
        tools: Tools = (),
        tool_mode: ToolMode | str | None = None,
        system: str | None = None,
        policy: Policy = PLAIN,
        sampling: Sampling = DEFAULT,
        api_key: ByProvider = "",
        base_url: ByProvider = "",
        providers: Sequence[Provider] = (),
        environ: Mapping[str, str] | None = None,
        timeouts: Timeouts | None = None,
        rules: Rules | None = None,
        health: Health | None = None,
        raise_on_failure: bool = True,
        performer: W | None = None,
        **route: Any,
    ) -> None:
        """Set the defaults of all calls.

        model      `provider/model`, several (asked in turn: a list, or separated by commas), or routes
        routes     routes ready made, asked after `model`
        tools, system, policy, sampling   as in `run`
        tool_mode  how tools travel: "text" never sends them but tells them in the prompt, "native" never falls back to
                   text, "both" tries native first; None: as the provider's row says
        api_key    the key, where it is not in the environment; a mapping by provider where there are several
        base_url   the address, where it is not the provider's own; the same
        providers  rows of your own, beside those we know
        environ    where keys and addresses are looked for; None: the environment
        timeouts   seconds to wait for a connection, and for a sign of life
        rules      how the fallback chain waits and retries;  health: what is known of routes, to share it
        raise_on_failure   False: `run`, `stream` and `resume` return runs that failed too, and `Run.end` says how
        performer  makes what performs, instead of connections of its own: the `performer` of a pool
        route      further fields of every `Route`: dialects, prompt_dialect, strict, compact, nonce, stream …

        Raises TypeError for a field there is not, UsageError for a value that none takes.
        """
        _check(route)
        check(policy=policy, sampling=sampling, system=system, timeouts=timeouts, rules=rules, health=health)
        check(raise_on_failure=raise_on_failure)
        check(api_key=api_key, base_url=base_url, environ=environ, routes=routes, providers=providers)
        check_rows(providers)
        options = _options(route, timeouts, tool_mode)
        catalogue = Catalogue(
            api_key=api_key or "", base_url=base_url or "", providers=tuple(providers or ()), environ=environ,
            options=options,
        )  # fmt: skip
        models = (*listed(model), *listed([*(routes or ())]))
        defaults = Defaults(
            model=models,
            tools=toolset(() if tools is None else tools),
            system=system,
            policy=policy or PLAIN,
            sampling=sampling or DEFAULT,
            raise_on_failure=raise_on_failure,
        )
        self._operations = Operations(catalogue, defaults, rules, health)
        self._performer = self._open() if performer is None else performer

    def __reduce__(self) -> NoReturn:
        raise UsageError("a client holds connections and cannot be pickled; make one in each process")

    @property
    def health(self) -> Health:
        """Which routes failed lately: iterate over it to read, `reset()` to forget."""
        return self._operations.health


def _as(operation: Callable[..., Any], result: str) -> Callable[[F], F]:
    """Gives a method the name, the words and the parameters of `operation`; `result` is what it returns of a run."""

    def dressed(method: F) -> F:
        signature = inspect.signature(operation)
        made = str(signature.return_annotation).removeprefix("Operation[").removesuffix("]")
        wraps(operation)(method)
        method.__signature__ = signature.replace(return_annotation=result.format(made))  # type: ignore[attr-defined]
        return method

    return dressed


def _ended(outcome: Outcome[T]) -> T:
    """Its value.  The caller's mistake is a DragomanError, also where a machine would raise a LookupError."""
    if not outcome.has_value:
        raise UsageError("the run has not ended; listen to all its steps before asking for its outcome, or use run(…)")
    return outcome.value


def _closed(cancel: Cancel | None, observer: ToolObserver | None) -> NoReturn:
    """Performs nothing, for a client that is closed."""
    raise UsageError("this client is closed; make a new one, or ask before its block ends")


# ── now ──────────────────────────────────────────────────────────────────────


class Steps(Generic[T]):
    """An iterator over the events of a run while it happens; `run` is its outcome, `text_stream` its text alone.

    Leave it early with `close`, or use it as a context manager.  A run that fails raises after its last event.
    """

    def __init__(self, steps: Generator[RunEvent, None, T], outcome: Outcome[T]) -> None:
        self._steps, self._outcome = steps, outcome

    @property
    def run(self) -> T:
        """The outcome.  Raises UsageError while it has not ended."""
        return _ended(self._outcome)

    def close(self) -> None:
        """Break it off."""
        self._steps.close()

    @property
    def text_stream(self) -> Iterator[str]:
        """The text of all answers, piece by piece, instead of their events."""
        return (event.text for event in self if isinstance(event, TextDelta))

    def __iter__(self) -> Iterator[RunEvent]:
        return self

    def __next__(self) -> RunEvent:
        return next(self._steps)

    def __enter__(self) -> Steps[T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _now(operation: Callable[Concatenate[Operations, P], Operation[T]]) -> Callable[Concatenate[Client, P], T]:
    @_as(operation, "{}")
    def method(client: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        made = operation(client._operations, *args, **kwargs)
        return run(made.steps(False), client._performer(made.cancel, made.observer))

    return method


def _steps(operation: Callable[Concatenate[Operations, P], Operation[T]]) -> Callable[Concatenate[Client, P], Steps[T]]:
    @_as(operation, "Steps[{}]")
    def method(client: Client, /, *args: P.args, **kwargs: P.kwargs) -> Steps[T]:
        made = operation(client._operations, *args, **kwargs)
        outcome: Outcome[T] = Outcome()
        return Steps(drive(made.steps(True), client._performer(made.cancel, made.observer), outcome), outcome)

    return method


class Client(_BaseClient[Performing]):
    """Asks models, runs their tools, corrects their mistakes: `Client().run("…", tools=[…], model="ollama/qwen3:8b")`.

    `run` asks until there is an answer; `stream` is the same, as it happens; `resume` goes on with a journal;
    `turn` asks once and runs nothing.  Close it, or leave its block.
    """

    _pool: sync.Pool | None = None

    def _open(self) -> Performing:
        self._pool = sync.Pool()
        return self._pool.performer

    run = _now(Operations.run)
    stream = _steps(Operations.run)
    resume = _now(Operations.resume)
    turn = _now(Operations.turn)

    def close(self) -> None:
        """Close its connections."""
        if self._pool is not None:
            self._performer = _closed
            self._pool.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


# ── awaited ──────────────────────────────────────────────────────────────────


class AsyncSteps(Generic[T]):
    """`Steps`, awaited: `async for`, `async with`, `aclose`."""

    def __init__(self, steps: AsyncGenerator[RunEvent, None], outcome: Outcome[T]) -> None:
        self._steps, self._outcome = steps, outcome

    @property
    def run(self) -> T:
        """The outcome.  Raises UsageError while it has not ended."""
        return _ended(self._outcome)

    async def aclose(self) -> None:
        """Break it off."""
        await self._steps.aclose()

    @property
    async def text_stream(self) -> AsyncIterator[str]:
        """The text of all answers, piece by piece, instead of their events."""
        async for event in self:
            if isinstance(event, TextDelta):
                yield event.text

    def __aiter__(self) -> AsyncIterator[RunEvent]:
        return self

    async def __anext__(self) -> RunEvent:
        return await anext(self._steps)

    async def __aenter__(self) -> AsyncSteps[T]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _later(
    operation: Callable[Concatenate[Operations, P], Operation[T]],
) -> Callable[Concatenate[AsyncClient, P], Awaitable[T]]:
    @_as(operation, "{}")
    async def method(client: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        made = operation(client._operations, *args, **kwargs)
        return await arun(made.steps(False), client._performer(made.cancel, made.observer))

    return method


def _async_steps(
    operation: Callable[Concatenate[Operations, P], Operation[T]],
) -> Callable[Concatenate[AsyncClient, P], AsyncSteps[T]]:
    @_as(operation, "AsyncSteps[{}]")
    def method(client: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> AsyncSteps[T]:
        made = operation(client._operations, *args, **kwargs)
        outcome: Outcome[T] = Outcome()
        return AsyncSteps(adrive(made.steps(True), client._performer(made.cancel, made.observer), outcome), outcome)

    return method


class AsyncClient(_BaseClient[AsyncPerforming]):
    """`Client`, awaited.  `stream` is not awaited itself: `async for step in client.stream(…)`."""

    _pool: aio.AsyncPool | None = None

    def _open(self) -> AsyncPerforming:
        self._pool = aio.AsyncPool()
        return self._pool.performer

    run = _later(Operations.run)
    stream = _async_steps(Operations.run)
    resume = _later(Operations.resume)
    turn = _later(Operations.turn)

    async def aclose(self) -> None:
        """Close its connections."""
        if self._pool is not None:
            self._performer = _closed
            await self._pool.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
