"""`dragoman recordings`: what was recorded, listed, shown and exported; and learned from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dragoman.providers.spec import Tools
from tests.support.gateways import FENCE, ask
from tests.support.recorded import gateway, settled, storing
from tests.support.upstreams import model, text_reply

from .conftest import Run

SLANTED = FENCE.replace('"sky"}}', '"sky",}}')


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    where = str(tmp_path_factory.mktemp("recorded") / "r.sqlite")
    with storing(where) as recorder:
        app = gateway(model("openai_chat", text_reply(SLANTED), text_reply("Up.")), recorder, tools=Tools.TEXT)
        for _ in range(2):
            ask(app, "openai_chat", stream=True)
        settled(recorder.writer, 2)
    with storing(where, content=False) as recorder:
        ask(gateway(model("openai_chat", text_reply("Unseen.")), recorder), "openai_chat", stream=False)
    return where


def test_exchanges_are_listed_newest_first_and_sifted(run: Run, store: str) -> None:
    lines = run("recordings", "list", "--store", store).out.splitlines()
    assert [line.split()[0] for line in lines] == ["number", "3", "2", "1"]
    mended = run("recordings", "list", "--store", store, "--mark", "mended", "--json").out.splitlines()
    assert [json.loads(line)["number"] for line in mended] == [1]
    assert run("recordings", "list", "--store", store, "--since", "2030-01-01").out.splitlines()[1:] == []
    assert len(run("recordings", "list", "--store", store, "--limit", "2").out.splitlines()) == 3


def test_one_exchange_is_shown_whole(run: Run, store: str) -> None:
    shown = json.loads(run("recordings", "show", "1", "--store", store).out)
    assert shown["steps"][0]["wrote"]["text"] == SLANTED
    assert run("recordings", "show", "99", "--store", store).code == 2


def test_exports_are_rows_of_a_corpus(run: Run, store: str, tmp_path: Path) -> None:
    done = run("recordings", "export", "--store", store)
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["id"] for row in rows] == ["recording-2", "recording-1"]
    assert rows[1]["messages"][-1]["tool_calls"][0]["function"]["name"] == "look"
    file = tmp_path / "rows.jsonl"
    file.write_text(done.out)
    assert run("batch", "inspect", str(file)).code == 0


def test_the_environment_names_the_store(run: Run, store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_RECORDINGS_URL", store)
    assert len(run("recordings", "list").out.splitlines()) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give --store"),
        (["--store", "/nowhere/r.sqlite"], "there are no recordings at"),
        (["--store", "mysql://x/y"], "is no store of recordings"),
    ],
)
def test_what_cannot_be_read_says_what_to_give(run: Run, options: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("recordings", "list", *options)
    assert done.code == 2
    assert message in done.err


def test_a_span_of_time_is_read_or_refused(run: Run, store: str) -> None:
    assert len(run("recordings", "list", "--store", store, "--since", "12h").out.splitlines()) == 4
    assert "write 90m" in run("recordings", "list", "--store", store, "--since", "soon").err


def test_dialects_are_learned_from_what_is_stored(run: Run, tmp_path: Path) -> None:
    calls = [("look", "sky"), ("look", "sea"), ("find", "hat"), ("find", "cup"), ("look", "map"), ("find", "way")] * 2
    said = [f'Well.\n<<do>> {name} <<with>> {{"at": "{at}"}} <<end>>' for name, at in calls]
    tools = [{"type": "function", "function": {"name": name, "parameters": AT}} for name in ("look", "find")]
    where = str(tmp_path / "r.sqlite")
    with storing(where) as recorder:
        app = gateway(model("openai_chat", *map(text_reply, said)), recorder, tools=Tools.TEXT)
        for _ in calls:
            ask(app, "openai_chat", stream=False, tools=tools)
        settled(recorder.writer, len(calls))
    done = run("learn", "--recordings", where, "--into", str(tmp_path), "--name", "mine")
    assert (done.code, (tmp_path / "mine.json").exists()) == (0, True), done.err


AT = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
