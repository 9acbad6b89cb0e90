"""`dragoman.toml`: what is right comes out as it was meant, what is wrong is said all at once."""

from __future__ import annotations

import hashlib
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import UsageError
from dragoman.gateway.config.json_schema import FORM
from dragoman.gateway.config.load import load, read
from dragoman.providers.spec import Tools
from dragoman.schema.validation import check_schema, faults

FULL = """
[server]
host = "0.0.0.0"
port = 8080
workers = 2
reasks = 1

[limits]
body = "8MB"
max_concurrent = 64

[fallback]
cooldown = 10
text_tools = false

[[keys]]
name = "alice"
key = "${ALICE_KEY}"
models = ["qwen*"]
per_minute = 60

[providers.box]
base_url = "http://10.0.0.5:8000/v1"
key = "${BOX_KEY:-}"
headers = { "x-team" = "${TEAM}" }

[providers.ollama]
base_url = "http://10.0.0.6:11434"

[models.qwen]
routes = ["ollama/qwen3:8b", "box/qwen3-32b"]
dialect = "hermes"
tools = "text"
compact = true
timeout = 30

[models."gpt"]
route = "openai/gpt-5"
mcp = ["time"]

[default]
route = "ollama"

[mcpServers.time]
command = "mcp-server-time"
"""
ENV = {"ALICE_KEY": "alices-secret", "TEAM": "red", "OPENAI_API_KEY": "sk-1"}


def settings(text: str, environ: dict[str, str] | None = None) -> Any:
    return read(tomllib.loads(text), ENV if environ is None else environ)


def test_a_whole_file_comes_out_as_it_was_meant() -> None:
    read = settings(FULL)
    config = read.config
    first, second = config.routes("qwen")
    assert (first.provider.name, first.model, first.root()) == ("ollama", "qwen3:8b", "http://10.0.0.6:11434")
    assert (second.provider.name, second.model, second.root()) == ("box", "qwen3-32b", "http://10.0.0.5:8000/v1")
    assert second.headers()["x-team"] == "red"
    assert (first.mode, first.compact, first.prompt_dialect_for("").name, first.timeouts.idle) == (
        Tools.TEXT,
        True,
        "hermes",
        30,
    )
    assert [row.name for row in first.parser_dialects("")] == ["hermes"]
    (gpt,) = config.routes("gpt")
    assert (gpt.key, gpt.mode) == ("sk-1", Tools.BOTH)
    assert config.routes("anything")[0].provider.name == "ollama"
    assert (config.limits.body, config.limits.max_concurrent, config.reasks) == (8 * 1024 * 1024, 64, 1)
    assert (config.rules.cooldown, config.rules.text_tools) == (10, False)
    (key,) = config.access
    assert (key.name, key.per_minute) == ("alice", 60)
    assert key.sha256 == hashlib.sha256(b"alices-secret").hexdigest()
    assert (key.allows("qwen3"), key.allows("gpt")) == (True, False)
    assert (read.server.host, read.server.port, read.server.workers) == ("0.0.0.0", 8080, 2)
    assert [[each.server for each in config.attached(name)] for name in ("gpt", "qwen")] == [["time"], []]


def test_no_secret_is_shown() -> None:
    assert "alices-secret" not in repr(settings(FULL))
    assert "sk-1" not in repr(settings(FULL))


WRONG = [
    ("a misspelt word", '[server]\nprot = 1', ["prot"]),
    ("another type", '[server]\nport = "x"', ["$.server.port"]),
    ("no provider", '[models.a]\nroute = "nowhere/x"', ["$.models.a", "'nowhere/x' names no provider"]),
    ("neither route nor routes", "[models.a]\ncompact = true", ["$.models.a"]),
    ("both", '[models.a]\nroute = "ollama/a"\nroutes = ["ollama/a"]', ["$.models.a"]),
    ("an unknown dialect", '[models.a]\nroute = "ollama/a"\ndialect = "hermes2"', ["did you mean 'hermes'"]),
    ("a key in the file", '[[keys]]\nname = "a"\nkey = "plain-secret"', ["write a key as ${NAME}"]),
    ("a variable that is not set", '[[keys]]\nname = "a"\nkey = "${NOBODY}"', ["NOBODY is not set"]),
    ("a key that is wanted", '[models.a]\nroute = "groq/x"', ["GROQ_API_KEY"]),
    ("no key at all", '[[keys]]\nname = "a"', ["$.keys[0]"]),
    ("a row of ours in another API", '[providers.ollama]\napi = "openai_chat"', ["has a row already"]),
    ("two mistakes", '[models.a]\nroute = "no/x"\n[models.b]\nroute = "not/y"', ["$.models.a", "$.models.b"]),
]  # fmt: skip


@pytest.mark.parametrize(("what", "text", "messages"), WRONG, ids=[row[0] for row in WRONG])
def test_what_is_wrong_is_said_with_its_place(what: str, text: str, messages: list[str]) -> None:
    with pytest.raises(UsageError) as wrong:
        settings(text)
    for words in messages:
        assert words in str(wrong.value)
    assert "plain-secret" not in str(wrong.value)


def test_the_form_is_a_schema_and_takes_the_whole_file() -> None:
    check_schema(FORM)
    assert faults(FORM, tomllib.loads(FULL)) == []


@pytest.mark.parametrize(("text", "size"), [("1024", 1024), ('"16 kb"', 16384), ('"1G"', 2**30), ('"5"', 5)])
def test_sizes_may_be_written_with_units(text: str, size: int) -> None:
    assert settings(f"[limits]\nbody = {text}").config.limits.body == size


def test_a_missing_or_malformed_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        load(tmp_path / "none.toml")
    (tmp_path / "a.toml").write_text("= 3")
    with pytest.raises(UsageError, match="is not TOML"):
        load(tmp_path / "a.toml")


@pytest.mark.parametrize("more", ['tools = "native"', 'dialect = "hermes"', 'prompt_dialect = "hermes"'])
def test_a_nonce_that_no_call_could_carry_is_refused(more: str) -> None:
    with pytest.raises(UsageError, match=r"\$\.models\.a: .*leave out one of the two"):
        read(tomllib.loads(f'[models.a]\nroute = "ollama/x"\nnonce = true\n{more}\n'), {}, "a.toml")


MISSPELT_INSIDE = {
    "routes=[{route='ollama/x', wieght=3}]": r"\$\.models\.a\.routes\[0\]\.wieght: unknown here; write 'weight'",
    "route='ollama/x'\nmcp=[{server='t', alow=['y']}]": r"\$\.models\.a\.mcp\[0\]\.alow: unknown here; write 'allow'",
    "routes=[{route='ollama/x', colour=1}]": r"colour: unknown here; leave it out, or take one of: route, weight",
}


@pytest.mark.parametrize("row", MISSPELT_INSIDE)
def test_a_misspelt_word_where_several_forms_are_taken_is_named_alone(row: str) -> None:
    with pytest.raises(UsageError, match=MISSPELT_INSIDE[row]) as wrong:
        read(tomllib.loads(f"[mcpServers.t]\ncommand = 't'\n[models.a]\n{row}\n"), {}, "a.toml")
    assert str(wrong.value).count("unknown here") == 1


# ── stores that cannot be used ───────────────────────────────────────────────


@pytest.mark.parametrize("url", ["mysql://h/x", "sqlite:", "sqlite:///", "http://h/x"])
def test_an_address_at_which_nothing_can_be_recorded_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match=r"\$\.recordings\.url: .* is no store of recordings; give postgresql://"):
        read(tomllib.loads(f'[default]\nroute = "ollama"\n[recordings]\nurl = "{url}"\n'), {}, "a.toml")


def test_what_is_shown_of_such_an_address_holds_no_password() -> None:
    data = tomllib.loads('[default]\nroute = "ollama"\n[recordings]\nurl = "mysql://me:${PASSWORD}@h/x?password=${PASSWORD}"\n')
    with pytest.raises(UsageError, match="'mysql://h/x' is no store") as wrong:
        read(data, {"PASSWORD": "p4ssw0rd"}, "a.toml")
    assert "p4ssw0rd" not in str(wrong.value)


MISSING = {
    "psycopg": ('[recordings]\nurl = "postgresql://h/d"', r"\$\.recordings\.url: .*pip install 'dragoman\[postgres\]'"),
    "redis": (
        '[server]\nstate = "redis://h"\nnamespace = "a"\nstate_key = "${KEY}"',
        r"\$\.server\.state: .*pip install 'dragoman\[redis\]'",
    ),
}


@pytest.mark.parametrize("driver", MISSING)
def test_a_store_whose_driver_is_not_installed_is_refused(driver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, driver, None)
    table, message = MISSING[driver]
    with pytest.raises(UsageError, match=message):
        read(tomllib.loads(f'[default]\nroute = "ollama"\n{table}\n'), {"KEY": "k" * 16}, "a.toml")
