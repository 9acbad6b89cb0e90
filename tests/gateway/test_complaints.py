"""What is wrong with a settings file is told with its line, its place and what to do; half a file is no file."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import ssl
import tomllib
from datetime import date
from pathlib import Path

import pytest

from dragoman.errors import UsageError
from dragoman.gateway import factory
from dragoman.gateway.config.environment import SECTIONS, VARIABLES
from dragoman.gateway.config.errors import complaints, shown
from dragoman.gateway.config.json_schema import FORM
from dragoman.gateway.config.load import Server, load, read
from dragoman.gateway.config.model import GatewayConfig
from dragoman.gateway.reload import Watched, keep_current, on_sighup
from tests.support.clocks import LONG

KEYS = {"K": "one-key", "L": "another-key"}
DEFAULT = '[default]\nroute = "ollama"\n'
WRONG = [
    ("a word", "[server]\n# comment\nprot = 1\n", "line 3: $.server.prot: unknown here; write 'port'"),
    ("a table", f"{DEFAULT}[severs]\n", "line 3: $.severs: unknown here; write 'server'"),
    ("nothing alike", "[server]\nzzz = 1\n", "line 2: $.server.zzz: unknown here; leave it out, or take one of: host,"),
    ("a type", '[server]\nport = "x"\n', 'line 2: $.server.port: must be integer, not string "x"; mend it there'),
    ("no number", "[limits]\ntimeout = inf\n", "line 2: $.limits.timeout: must be a finite number"),
    ("a date", "[server]\nhost = 2026-01-01\n", "line 2: $.server.host: a date is nothing that is wanted here"),
    ("a size", '[limits]\nbody = "much"\n', 'line 2: $.limits.body: no size; write a number of bytes, or a text like "32MB"'),
    ("a model as a text", '[models]\n\nq = "ollama/q"\n', "line 3: $.models.q: a model is a table with either route"),
    ("two ways", '[models.q]\nroute = "ollama/q"\nroutes = ["ollama/q"]\n', "line 1: $.models.q: a model is a table"),
    ("a row", f'{DEFAULT}[[keys]]\nname = "a"\n', "line 3: $.keys[0]: a key has a name, and either key"),
    ("key and hash", f'[[keys]]\nname = "a"\nkey = "${{K}}"\nsha256 = "{"a" * 64}"\n', "line 1: $.keys[0]: a key has"),
    ("a dialect", '[models."q.5"]\nroute = "ollama/q"\ndialect = "hermess"\n', 'line 3: $.models["q.5"].dialect: unknown'),
    ("a provider", '[models.q]\nroute = "olama/q"\n', "line 1: $.models.q: 'olama/q' names no provider; did you mean 'ol"),
    ("no address", '[providers.u]\nbase_url = "ftp://u"\n[models.q]\nroute = "u/q"\n', "'ftp://u/v1' is no address"),
    ("a header", '[providers.u]\nbase_url = "http://u"\nheaders = { a = "x\\ny" }\n', "line 3: $.providers.u.headers.a: this"),
    ("a key that is empty", f'{DEFAULT}[[keys]]\nname = "a"\nkey = "${{NO:-}}"\n', "line 3: $.keys[0]: the key is empty"),
    ("a name twice", '[[keys]]\nname = "a"\nkey = "${K}"\n[[keys]]\nname = "a"\nkey = "${L}"\n', "line 4: $.keys[1]: this name is"),
    ("a key twice", '[[keys]]\nname = "a"\nkey = "${K}"\n[[keys]]\nname = "b"\nkey = "${K}"\n', "line 4: $.keys[1]: this key is"),
    ("half a certificate", '[server]\ntls_key = "/k"\n', "line 2: $.server.tls_key: there is no certificate"),
    ("no certificate", '[server]\ntls_cert = "/none.pem"\n', "line 2: $.server.tls_cert: cannot be used for TLS: No such"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_a_mistake_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(UsageError) as wrong:
        load(tmp_path / "a.toml", KEYS)
    assert message in str(wrong.value)
    assert ";" in str(wrong.value).partition(message[:10])[2], "it ends with what to do"
    assert not any(key in str(wrong.value) for key in KEYS.values())


def test_several_mistakes_stand_below_each_other() -> None:
    text = "[server]\nprot = 1\nwokers = 2\n[limits]\ntimeout = -1\n"
    lines = shown(complaints(tomllib.loads(text)), text, {}, "a.toml").splitlines()
    assert [line[:10] for line in lines] == ["a.toml is ", "  line 2: ", "  line 3: ", "  line 5: "]


def test_the_line_of_a_value_is_where_it_begins() -> None:
    text = 'title = """\n[server]\nport = "x"\n"""\n[server] # \nport = 1\n\n[mcp]\nmax_turns = [\n  1,\n  2,\n]\n'
    assert "line 1: $.title" in shown(complaints(tomllib.loads(text)), text, {}, "a")
    assert "line 9: $.mcp.max_turns" in shown(complaints(tomllib.loads(text)), text, {}, "a")


def test_values_json_lacks_are_reported_and_none_twice() -> None:
    found = complaints({"limits": {"timeout": float("nan")}, "server": {"host": date(2026, 1, 1)}})
    assert sorted(one.path for one in found) == ["$.limits.timeout", "$.server.host"]


@pytest.mark.parametrize("text", ["", "# nothing\n", "[server]\nport = 1\n"])
def test_a_file_that_serves_nothing_is_half_a_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(UsageError, match="no model is served; write"):
        load(tmp_path / "a.toml", {})


def test_a_file_may_begin_with_a_mark_of_its_encoding(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("\ufeff" + DEFAULT, encoding="utf-8")
    assert load(tmp_path / "a.toml", {}).config.default is not None


def test_a_hash_may_be_written_in_capitals() -> None:
    (key,) = read({"keys": [{"name": "a", "sha256": "AB" * 32}]}, {}).config.access
    assert key.sha256 == "ab" * 32


# ── the environment ──────────────────────────────────────────────────────────


def test_the_environment_counts_before_the_file_for_every_plain_setting() -> None:
    plain = {
        f"{section}.{name}"
        for section in SECTIONS
        for name in FORM["properties"][section]["properties"]
    }  # fmt: skip
    assert {f"{section}.{name}" for section, name, _ in VARIABLES.values()} == plain
    data = {"server": {"port": 1, "metrics": True}, "limits": {"body": "1MB"}, "mcp": {"max_turns": 1}}
    environ = {
        "DRAGOMAN_PORT": "2", "DRAGOMAN_METRICS": "off", "DRAGOMAN_KEEP_ALIVE": "2.5", "DRAGOMAN_LIMITS_BODY": "2kb",
        "DRAGOMAN_MCP_MAX_TURNS": "3", "DRAGOMAN_FALLBACK_RETRIES": "4", "DRAGOMAN_HOST": " ",
    }  # fmt: skip
    settings = read(data, environ)
    assert (settings.server.port, settings.server.metrics, settings.server.host) == (2, False, Server().host)
    assert (settings.config.keep_alive, settings.config.limits.body) == (2.5, 2048)
    assert (settings.config.mcp.policy.max_turns, settings.config.rules.retries) == (3, 4)


def test_a_variable_that_is_wrong_is_named() -> None:
    with pytest.raises(UsageError, match=r"the variable DRAGOMAN_PORT: \$.server.port: must be integer"):
        read({}, {"DRAGOMAN_PORT": "http"})


# ── TLS ──────────────────────────────────────────────────────────────────────


def test_a_key_of_another_certificate_is_told_before_it_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Context(ssl.SSLContext):
        def load_cert_chain(self, *_: object, **more: object) -> None:
            error = ssl.SSLError(1, "")
            error.reason = "KEY_VALUES_MISMATCH"
            raise error

    monkeypatch.setattr(ssl, "SSLContext", Context)
    with pytest.raises(UsageError, match="cannot be used for TLS: key values mismatch; give a certificate"):
        read({"server": {"tls_cert": "a.pem", "tls_key": "b.pem"}}, {})


# ── reading again ────────────────────────────────────────────────────────────

GUARDED = f'{DEFAULT}[[keys]]\nname = "a"\nsha256 = "{"ab" * 32}"\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "dragoman.toml"
    made.write_text(GUARDED)
    return made


def written(file: Path, text: str) -> None:
    fresh = file.with_suffix(".new")
    fresh.write_text(text)
    os.replace(fresh, file)


def watched(file: Path) -> Watched:
    made = Watched(file)
    made.settings = load(file)
    return made


@pytest.mark.parametrize("text", ["", DEFAULT, DEFAULT + "[[keys]]\n"])
def test_half_a_file_never_lets_in_whoever_has_no_key(file: Path, text: str, caplog: pytest.LogCaptureFixture) -> None:
    watching = watched(file)
    written(file, text)
    assert watching.look() is None
    assert "not taken" in caplog.text
    written(file, GUARDED + "[server]\nreasks = 1\n")
    config = watching.look()
    assert config is not None
    assert (len(config.access), config.reasks) == (1, 1)


def test_what_holds_from_the_next_start_on_is_told(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    watching = watched(file)
    written(file, GUARDED + "[server]\nport = 1\ndrain_seconds = 2\n")
    assert watching.look() is not None
    assert "[server] port, drain_seconds hold from the next start on" in caplog.text


def test_a_file_that_was_made_readable_is_read(file: Path) -> None:
    watching = watched(file)
    file.chmod(0o600)
    assert watching.look() is not None


def test_a_file_is_taken_once_it_rests_despite_failing_looks(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    taken: list[GatewayConfig] = []
    looks: list[int] = []

    class Restless(Watched):
        def changed(self) -> tuple[int, int, int, int] | None:
            looks.append(len(looks))
            if looks[-1] == 2:
                raise RuntimeError("a look that fails")
            return (min(looks[-1], 6), 0, 0, 0)

    async def go() -> None:
        got = asyncio.Event()
        restless = Restless(file)
        restless.forget()

        def take(config: GatewayConfig) -> None:
            taken.append(config)
            got.set()

        watching = asyncio.ensure_future(keep_current(restless, take, every=0.001))
        await asyncio.wait_for(got.wait(), LONG)
        watching.cancel()

    asyncio.run(go())
    assert len(taken) == 1
    assert looks[-1] >= 7, "two looks found the same"
    assert "could not be looked at" in caplog.text


def test_sighup_reads_it_at_once(file: Path) -> None:
    taken: list[GatewayConfig] = []

    async def go() -> None:
        wanted, got = asyncio.Event(), asyncio.Event()
        before = signal.getsignal(signal.SIGHUP)
        with on_sighup(wanted):

            def take(config: GatewayConfig) -> None:
                taken.append(config)
                got.set()

            watching = asyncio.ensure_future(keep_current(watched(file), take, 3600.0, wanted))
            await asyncio.sleep(0)
            signal.raise_signal(signal.SIGHUP)
            await asyncio.wait_for(got.wait(), LONG)
            watching.cancel()
        assert signal.getsignal(signal.SIGHUP) is before

    asyncio.run(go())
    assert len(taken) == 1


def test_a_worker_that_starts_with_a_broken_file_ends(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("[broken")
    monkeypatch.setenv("DRAGOMAN_CONFIG", str(file))
    with pytest.raises(SystemExit) as ended:
        factory.app()
    assert ended.value.code == 1
    err = capsys.readouterr().err
    assert "could not begin to serve" in err
    assert "Traceback" not in err
    logging.getLogger("dragoman").handlers.clear()
