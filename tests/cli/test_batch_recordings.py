"""What gateways recorded, read as a corpus out of its store: the rows of `dragoman recordings export`, in its order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.batch.options import Options
from dragoman.batch.running import units
from dragoman.batch.running.engine import run as run_job
from dragoman.batch.running.job import Job
from dragoman.batch.running.sources import sources_of
from dragoman.batch.running.units import plan, rows
from dragoman.batch.running.work import Stopped
from dragoman.errors import UsageError
from dragoman.gateway.recordings.store import is_store, without_password
from dragoman.providers.spec import Tools
from tests.support import postgres
from tests.support.gateways import FENCE, ask
from tests.support.postgres import Cluster
from tests.support.recorded import gateway, settled, storing
from tests.support.upstreams import model, text_reply

from .conftest import Run

_NUMBERS = iter(range(1000))


@pytest.fixture(scope="module")
def server() -> Iterator[Cluster]:
    with postgres.cluster() as found:
        yield found


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=postgres.skip_without)])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store."""
    if request.param == "sqlite":
        return str(tmp_path / "recordings.sqlite")
    cluster: Cluster = request.getfixturevalue("server")
    return cluster.database(f"corpus_{next(_NUMBERS)}")


def recorded(where: str, *answers: str, content: bool = True) -> str:
    with storing(where, content=content) as recorder:
        app = gateway(model("openai_chat", *map(text_reply, answers)), recorder, tools=Tools.TEXT)
        for _ in answers:
            ask(app, "openai_chat", stream=False)
        settled(recorder.writer, len(answers))
    return where


@pytest.fixture
def store(empty: str) -> str:
    """A store of five exchanges, one of them with a call."""
    return recorded(empty, "One.", FENCE, "Three.", "Four.", "Five.")


@pytest.mark.costly
def test_rows_are_those_of_the_export_in_its_order(run: Run, store: str) -> None:
    exported = [json.loads(line) for line in run("recordings", "export", "--store", store).out.splitlines()]
    for step in (1, 2, 5, 2000):
        found = [raw for unit in stepped(store, step) for raw in rows(unit, 1 << 20)]
        assert [json.loads(raw.data) for raw in found] == exported
        assert [raw.offset for raw in found] == [5, 4, 3, 2, 1]


def stepped(store: str, step: int) -> list[units.Unit]:
    whole, units.RECORDINGS = units.RECORDINGS, step
    try:
        return plan(sources_of([store]))
    finally:
        units.RECORDINGS = whole


def test_every_command_takes_a_store(run: Run, store: str, tmp_path: Path) -> None:
    for command in (["inspect"], ["lint"], ["score"], ["leak", "--against", store]):
        told = run("batch", command[0], store, *command[1:], "--json")
        assert told.code == (1 if command[0] == "leak" else 0), told.err
    for command in (["clean"], ["convert", "--to", "trl"]):
        out = tmp_path / f"{command[0]}.jsonl"
        assert run("batch", command[0], store, *command[1:], "-o", out, "--workers", 2, "--limit", 4).code == 0
        lines = [json.loads(line) for line in out.read_text().splitlines()]
        assert [line["id"] for line in lines] == [f"recording-{n}" for n in (5, 4, 3, 2)]
        assert lines[3]["messages"][-1]["tool_calls"][0]["function"]["name"] == "look"


def test_a_run_is_gone_on_with_though_the_store_grew(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(units, "RECORDINGS", 2)
    out = tmp_path / "out.jsonl"
    job = Job(command="clean", options=Options(), output=str(out))

    def dies(step: object) -> None:
        raise Stopped("here")

    with pytest.raises(Stopped):
        run_job([store], job, on_step=dies)
    recorded(store, "Six.")
    told = run_job([store], job, resume=True)
    assert (told["totals"]["read"], told["inputs"][0]["recordings"]) == (5, [1, 5])
    first = out.read_bytes()
    assert run_job([store], job, overwrite=True)["totals"]["read"] == 6
    assert out.read_bytes().endswith(first)


@postgres.skip_without
def test_a_password_is_written_nowhere(server: Cluster, run: Run, tmp_path: Path) -> None:
    where = recorded(server.database(f"corpus_{next(_NUMBERS)}"), "One.")
    secret = where.replace("postgres@", "postgres:hush@") + "&sslpassword=hush"
    assert without_password(secret) == where
    done = run(
        "batch", "clean", secret, "-o", tmp_path / "out.jsonl", "--keep", "strict", "--report", tmp_path / "r.html"
    )
    assert done.code == 0, done.err
    assert len(list(tmp_path.iterdir())) >= 5
    shown = [
        done.out,
        done.err,
        repr(plan(sources_of([secret]))),
        *(p.read_text() for p in tmp_path.iterdir() if p.is_file()),
    ]
    assert not any("hush" in each for each in shown)


def test_stores_without_content_say_what_to_set(empty: str) -> None:
    recorded(empty, "Unseen.", content=False)
    with pytest.raises(UsageError, match="content = true"):
        sources_of([empty])


def test_stores_are_told_by_address_or_first_bytes(tmp_path: Path) -> None:
    plain = tmp_path / "a.jsonl"
    plain.write_text("{}\n")
    assert [is_store(one) for one in ("postgresql://x/y", "sqlite:///x", str(plain), str(tmp_path))] == [
        True,
        True,
        False,
        False,
    ]
    with pytest.raises(UsageError, match="no recordings at"):
        sources_of([f"sqlite:///{tmp_path}/none"])
