"""The engine of this machine: units done by this process, or by several beside it.

Knows processes and pipes; nothing of rows.  Contract: every unit is done once, in any order; a process that dies is
replaced and its unit done again; where this process is gone, the others end by themselves when their unit is done.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

from ...errors import DragomanError, UsageError
from .job import Job
from .units import Unit
from .work import run_unit

TRIES = 3
"""So often a unit is begun whose process dies."""
AWAY = "the process that did unit {index} ({source}) died {tries} times; lower --workers if memory is short"


class UnitFailed(DragomanError):
    """A unit could not be done."""


def run(units: Sequence[Unit], job: Job, workers: int = 1) -> Iterator[dict[str, Any]]:
    """The records of `units`, each as soon as it is done."""
    if workers <= 1 or len(units) <= 1:
        for unit in units:
            yield run_unit(unit, job)
        return
    crew = _Crew(job, min(workers, len(units)))
    try:
        yield from crew.run(units)
    finally:
        crew.end()


class _Crew:
    """Processes, each with a pipe on which it is given units and gives records."""

    def __init__(self, job: Job, size: int) -> None:
        self._job = job
        # Fresh processes: a forked one would hold its brothers' pipes open, and outlive this process.
        self._context = multiprocessing.get_context("spawn")
        self._busy: dict[Connection, Unit] = {}
        self._processes: dict[Connection, Any] = {}
        self._size = size
        self._tries: dict[int, int] = {}

    def run(self, units: Sequence[Unit]) -> Iterator[dict[str, Any]]:
        """Give out the units, and give the records as they come."""
        waiting = list(reversed(units))
        for _ in range(self._size):
            self._hire()
        idle = list(self._processes)
        while waiting or self._busy:
            while waiting and idle:
                pipe, unit = idle.pop(), waiting.pop()
                self._busy[pipe] = unit
                pipe.send(unit)
            for ready in wait(list(self._busy)):
                assert isinstance(ready, Connection)
                unit = self._busy.pop(ready)
                try:
                    told = ready.recv()
                except (EOFError, ConnectionError):
                    waiting.append(self._again(unit))
                    self._processes.pop(ready).join()
                    idle.append(self._hire())
                    continue
                idle.append(ready)
                if isinstance(told, BaseException):
                    raise told
                yield told

    def _again(self, unit: Unit) -> Unit:
        tries = self._tries[unit.index] = self._tries.get(unit.index, 0) + 1
        if tries >= TRIES:
            raise UnitFailed(AWAY.format(index=unit.index, source=unit.source, tries=tries))
        return unit

    def _hire(self) -> Connection:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs, self._job), daemon=True)
        process.start()
        theirs.close()
        self._processes[ours] = process
        return ours

    def end(self) -> None:
        """Nobody works any more."""
        for pipe, process in self._processes.items():
            pipe.close()
            if pipe in self._busy:
                process.terminate()
        for process in self._processes.values():
            process.join(5)


def _serve(pipe: Connection, job: Job) -> None:
    """Do units until nobody gives any more."""
    import signal  # noqa: PLC0415  only where another process is

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who gives the units decides
    while True:
        try:
            unit = pipe.recv()
        except (EOFError, ConnectionError):
            return
        try:
            told: Any = run_unit(unit, job)
        except Exception as error:
            told = error if isinstance(error, DragomanError | OSError) else _plain(error)
        try:
            pipe.send(told)
        except (ConnectionError, ValueError):
            return


def _plain(error: Exception) -> Exception:
    """An error that another process can read."""
    if type(error).__name__ == "Stopped":
        return error
    return UsageError(f"{type(error).__name__}: {error}") if not error.args else error
