"""Ray schedules, and nothing else: the bytes of a run on it are those of any run."""

from __future__ import annotations

import random
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import pytest

from dragoman.batch.options import Options
from dragoman.batch.running.engine import run
from dragoman.batch.running.job import Job
from dragoman.batch.running.on_ray import Ray
from dragoman.errors import UsageError

from .corpora import TELLERS, row

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")


def written(folder: Path, engine: Ray | None) -> dict[str, str]:
    rnd = random.Random(3)
    lines = [row(teller, seed)[1] for seed in range(3) for teller in TELLERS] + [b"{", b"\xff"]
    rnd.shuffle(lines)
    folder.mkdir()
    source = folder.parent / "in.jsonl"
    source.write_bytes(b"\n".join(lines))
    job = Job(command="clean", options=Options(), output=str(folder / "out.jsonl"), dedup="rows")
    run([source], job, engine=engine, unit_bytes=30_000)
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


@needs_ray
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_ray_writes_what_one_process_writes(tmp_path: Path) -> None:
    assert written(tmp_path / "ray", Ray(workers=1)) == written(tmp_path / "here", None)


@pytest.mark.skipif(find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_it_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"dragoman\[ray\]"):
        written(tmp_path / "ray", Ray())
