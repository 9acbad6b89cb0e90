"""The examples of other engines count what one process counts, where they are installed."""

from __future__ import annotations

import runpy
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from dragoman.batch.options import Options
from dragoman.batch.running.engine import run
from dragoman.batch.running.job import Job
from tests.support import places

from .corpora import TELLERS, row

FOLDER = places.ROOT / "examples" / "engines"
NEEDS = {"on_polars": "polars", "on_duckdb": "duckdb", "on_dask": "dask", "on_daft": "daft", "on_spark": "pyspark"}


def test_every_example_is_tried() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == set(NEEDS)


@pytest.mark.parametrize("name", NEEDS)
@pytest.mark.filterwarnings("ignore")
def test_an_engine_counts_what_one_process_counts(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = [module for module in (NEEDS[name], "pyarrow") if find_spec(module) is None]
    if missing or (name == "on_spark" and shutil.which("java") is None):
        pytest.skip(f"{', '.join(missing) or 'Java'} is not installed")
    path = tmp_path / "rows.jsonl"
    lines = [row(teller, seed)[1] for seed in range(2) for teller in TELLERS]
    path.write_bytes(b"\n".join([*lines, b"{", b'{"a": 1}']) + b"\n")
    program = runpy.run_path(str(FOLDER / f"{name}.py"))
    program["main"](str(path))
    printed = capsys.readouterr().out.split("\n")
    verdicts = run([path], Job(command="lint", options=Options()))["totals"]["verdicts"]
    assert [line for line in printed if line] == [f"{verdict} {count}" for verdict, count in verdicts.items()]
