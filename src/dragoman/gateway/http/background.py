"""Responses answered in the background: tasks of this process, each an exchange whose client is a shelf.

Knows exchanges and what is kept of responses; nothing of wires or routes.
Contract: a response that was accepted ends, completed, incomplete, failed or cancelled, whatever happens to its client
or to this process.  Whoever cancels or forgets it, here or in another process, has its provider let go of within `LOOK`
seconds.  Of each key so many run at the same time as its limits allow, in the order in which they came; while they run
they count as requests being served.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

from ...effects import PerformAsync
from ...errors import ErrorKind, ProviderError
from ...io.ids import mint
from ...types import JsonObject
from ..config.model import Access, GatewayConfig
from ..exchange import Exchange
from ..state.quota import refused
from ..state.responses import Opening
from ..state.runs import BEAT, Run
from ..state.stores import StateStores
from ..telemetry.exchange_record import ExchangeRecord
from .asgi import run_exchange
from .keys import AccessControl
from .shelved import Shelved

log: logging.Logger = logging.getLogger("dragoman.gateway")

LOOK = 0.5
"""Seconds between two looks whether one is to be stopped, or may begin."""
MOST_WAITING = 256 * 1024 * 1024
"""Bytes of the requests that run or wait in this process."""
REFRESH = 30.0
"""Seconds between two times that what is under way is kept as what was kept last."""
SELDOM = 3600.0
"""Seconds between two signs of life that nobody looks for."""
QUEUED, RUNNING = "queued", "in_progress"
FULL = "this key has {most} responses waiting already; wait until one of them has ended, or cancel one"
NO_ROOM = "too much waits here already; send the request again later"
ENDED = "the gateway ended before this response was complete; ask again"
Count = Callable[[str, int], None]
"""Is told of so many more responses in a state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A response to be answered: `stream` says whether its events are kept, `size` how many bytes its request had."""

    id: str
    exchange: Exchange = field(repr=False)
    opening: Opening = field(repr=False)
    record: ExchangeRecord = field(repr=False)
    perform: PerformAsync = field(repr=False)
    config: GatewayConfig = field(repr=False)
    access: Access | None = None
    stream: bool = False
    size: int = 0


@dataclass(slots=True, eq=False)
class _Running:
    """A job and what becomes of it."""

    job: Job
    out: Shelved
    task: asyncio.Task[None] | None = None
    status: str = QUEUED
    ends: bool = False

    def cancel(self) -> None:
        """End it; what becomes of it is kept all the same."""
        if self.task is not None and not self.ends:
            self.task.cancel()


class Background:
    """Those of one process; `count` is told how many there are."""

    def __init__(
        self, stores: StateStores, access_control: AccessControl, count: Count = lambda status, more: None
    ) -> None:
        self._stores, self._responses, self._runs = stores, stores.responses, stores.responses.runs
        self._access_control, self._count = access_control, count
        self._runner = mint("run_")
        self._jobs: dict[str, _Running] = {}
        self._unsettled: list[_Running] = []
        self._turns: dict[tuple[str, int], asyncio.Semaphore] = {}
        self._news: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._look = asyncio.Event()
        self._minding: asyncio.Task[None] | None = None
        self._ending = False

    # ── begin and end ────────────────────────────────────────────────────────

    def unless_full(self, config: GatewayConfig, owner: str, size: int) -> None:
        """Raises ProviderError (429) where no more may wait."""
        own = [one for one in self._jobs.values() if one.job.opening.owner == owner]
        limits = config.limits
        if len(own) >= limits.background + limits.background_queue:
            raise refused(FULL.format(most=limits.background_queue), 5.0)
        if size + sum(one.job.size for one in self._jobs.values()) > MOST_WAITING:
            raise refused(NO_ROOM, 5.0)

    async def begin(self, job: Job, body: JsonObject) -> JsonObject:
        """Answer it as soon as it may be; gives its answer as it stands now, made of `body`."""
        waiting = {**body, "status": QUEUED, "output": [], "usage": None, "completed_at": None}
        await self._stores.ask(self._responses.begin(job.opening, waiting, Run(self._runner, job.stream)))
        notify = lambda: self._notify(job.id)  # noqa: E731
        out = Shelved(job.id, job.opening, self._stores, stream=job.stream, notify=notify)
        if job.stream:
            out.say("response.created", response=waiting)
            out.say("response.queued", response=waiting)
            await out.flush()
        running = self._jobs[job.id] = _Running(job, out)
        self._count(QUEUED, 1)
        loop = asyncio.get_running_loop()
        running.task = loop.create_task(self._answer(running))
        if self._minding is None or self._minding.done():
            self._minding = loop.create_task(self._mind())
        return waiting

    def look(self) -> None:
        """See at once what is to be stopped."""
        self._look.set()

    async def news(self, name: str, seconds: float) -> None:
        """Wait for more events of this response, at most `seconds`."""
        if name not in self._jobs:
            await asyncio.sleep(seconds)
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news[name].wait(), seconds)

    def _notify(self, name: str) -> None:
        if name in self._news:
            self._news.pop(name).set()

    def running(self, name: str) -> asyncio.Future[None] | None:
        """What answers this response here; None where it has ended."""
        return self._jobs[name].task if name in self._jobs else None

    def hurry(self) -> None:
        """Wait for nothing any more."""
        for one in self._jobs.values():
            one.cancel()

    async def aclose(self, seconds: float = 0.0) -> None:
        """End: what runs may take so long, what waits has failed."""
        self._ending = True
        tasks = [one.task for one in self._jobs.values() if one.task is not None]
        for one in self._jobs.values():
            if one.status == QUEUED:
                one.cancel()
        if tasks and seconds > 0:
            await asyncio.wait(tasks, timeout=seconds)
        self.hurry()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._minding is not None:
            self._minding.cancel()

    # ── one response ─────────────────────────────────────────────────────────

    async def _answer(self, one: _Running) -> None:
        job = one.job
        try:
            async with self._turn(job):
                if await self._stores.ask(self._responses.progress(job.id, job.opening.owner, status=RUNNING)):
                    self._moved(one, RUNNING)
                    limits = job.config.limits
                    await run_exchange(
                        job.exchange, job.perform, one.out.receive, one.out.send,
                        keep_alive=SELDOM, seconds=limits.background_timeout,
                        setting="limits.background_timeout", size=job.size,
                    )  # fmt: skip
        except asyncio.CancelledError:
            pass
        except Exception:
            log.exception("a response in the background failed for a reason of our own")
        finally:
            one.ends = True
            await self._end(one)

    async def _end(self, one: _Running) -> None:
        self._moved(one, "")
        if not await self._settled(one):
            self._unsettled.append(one)
        self._jobs.pop(one.job.id, None)
        self._news.pop(one.job.id, asyncio.Event()).set()
        one.job.record.end()

    async def _settled(self, one: _Running) -> bool:
        """Is its end kept?"""
        error = one.job.record.error
        if error is None and self._ending:
            error = ProviderError(ENDED, status=503, kind=ErrorKind.OVERLOADED)
        try:
            await one.out.finish(error)
        except ProviderError:  # what is kept cannot be reached now
            return False
        return True

    def _moved(self, one: _Running, status: str) -> None:
        self._count(one.status, -1)
        one.status = status
        if status:
            self._count(status, 1)

    @asynccontextmanager
    async def _turn(self, job: Job) -> AsyncIterator[None]:
        """Within this block it is its turn, and it counts as a request of its key."""
        key = job.opening.owner, job.config.limits.background
        access = replace(job.access, per_minute=0) if job.access is not None else None  # it was counted when it came
        async with self._turns.setdefault(key, asyncio.Semaphore(key[1])), AsyncExitStack() as inside:
            while True:
                try:
                    visit = self._access_control.occupy(job.config, access, job.record)
                    await inside.enter_async_context(visit)
                    break
                except ProviderError:
                    await asyncio.sleep(LOOK)
            yield

    # ── all of them ──────────────────────────────────────────────────────────

    async def _mind(self) -> None:
        """Say that this process lives, and stop what is to be stopped, while there is anything."""
        clock = asyncio.get_running_loop().time
        beaten, refreshed = 0.0, clock()
        while self._jobs or self._unsettled:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._look.wait(), LOOK)
            self._look.clear()
            try:
                if clock() - beaten >= BEAT:
                    beaten = clock()
                    await self._stores.ask(self._runs.beat(self._runner))
                if clock() - refreshed >= REFRESH:
                    refreshed = clock()
                    for name, one in list(self._jobs.items()):
                        await self._stores.ask(self._responses.refresh(name, one.job.opening.owner))
                await self._stop()
                self._unsettled = [one for one in self._unsettled if not await self._settled(one)]
            except ProviderError:  # what is kept cannot be reached now
                continue
            except Exception:
                log.exception("looking after responses in the background failed for a reason of our own")
        self._turns.clear()

    async def _stop(self) -> None:
        owners: defaultdict[str, list[str]] = defaultdict(list)
        for name, one in self._jobs.items():
            owners[one.job.opening.owner].append(name)
        for owner, names in owners.items():
            for name in await self._stores.ask(self._runs.stopped(names, owner)):
                if name in self._jobs:
                    self._jobs[name].cancel()
