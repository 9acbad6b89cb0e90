"""Judge the units of a file with Dask, each written by itself: `python on_dask.py rows.jsonl`."""

import sys

import dask.bag

from dragoman.batch.options import Options
from dragoman.batch.running.engine import run
from dragoman.batch.running.job import Job
from dragoman.batch.running.work import run_unit


def scheduled(units, job):
    """An engine: the units' records, however Dask likes to make them."""
    if units:
        yield from dask.bag.from_sequence(units, npartitions=len(units)).map(run_unit, job).compute(scheduler="threads")


def main(path: str) -> None:
    """Count the verdicts."""
    told = run([path], Job(command="lint", options=Options()), engine=scheduled, unit_bytes=4096)
    for verdict, count in told["totals"]["verdicts"].items():
        print(verdict, count)


if __name__ == "__main__":
    main(sys.argv[1])
