"""The engine on Ray: units scheduled by Ray Data, here or on a cluster, done by the same function into the same parts.

Ray is the scheduler and nothing else: names, order, errors and resume are those of every run, so the bytes are too.
The machines must see the same files under the same paths.  Ray is imported when it is asked for (extra `[ray]`).
Knows units; nothing of rows.  Contract: a unit that raises raises here, with its words; where Ray was not running, it
is ended afterwards.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from ...errors import UsageError
from .job import Job
from .units import Unit
from .work import run_unit

NO_RAY = "this needs Ray; install it: pip install 'dragoman[ray]'"
LOCAL = "local"


class Ray:
    """Ray at an address: "local" for one of this run's own, "auto" for one that runs here, "ray://host:10001"."""

    def __init__(self, address: str = LOCAL, workers: int = 0) -> None:
        self._address, self._workers = address, workers

    def __call__(self, units: Sequence[Unit], job: Job) -> Iterator[dict[str, Any]]:
        """The records of `units`, each as soon as Ray gives it."""
        if not units:
            return
        ray, data = _modules()
        own = not ray.is_initialized()
        if own:
            self._start(ray)
        try:
            yield from _scheduled(data, units, job)
        finally:
            if own:
                ray.shutdown()

    def _start(self, ray: Any) -> None:
        asked: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if self._address != LOCAL:
            ray.init(address=self._address, **asked)
            return
        os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # else it writes a token into the home directory
        ray.init(num_cpus=self._workers or None, include_dashboard=False, **asked)


def _modules() -> tuple[Any, Any]:
    try:
        import ray  # noqa: PLC0415  half a gigabyte, and seconds until it runs
        import ray.data  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(NO_RAY) from error
    return ray, ray.data


def _scheduled(data: Any, units: Sequence[Unit], job: Job) -> Iterator[dict[str, Any]]:
    """A row of Ray Data for each unit, a block for each row; what comes back is the record, or the error, as JSON."""
    context = data.DataContext.get_current()
    context.enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    items = [{"unit": json.dumps(asdict(unit))} for unit in units]
    made = data.from_items(items, override_num_blocks=len(items)).map(_Done(job))
    for row in made.iter_rows():
        told = json.loads(row["told"])
        if "error" in told:
            raise UsageError(told["error"])
        yield told


class _Done:
    """Does a unit; nothing is ever raised through Ray, which would take other units with it."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        try:
            told = run_unit(Unit(**json.loads(row["unit"])), self._job)
        except Exception as error:
            told = {"error": f"{type(error).__name__}: {error}"}
        return {"told": json.dumps(told)}
