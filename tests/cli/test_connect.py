"""`dragoman connect`: settings shown and written; what else is in a file stays."""

from __future__ import annotations

import json
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.cli.client_settings import CLIENTS, Client, Form, Target, join, merged
from dragoman.cli.client_settings.merging import read
from dragoman.cli.client_settings.spec import fill
from dragoman.errors import UsageError
from dragoman.gateway.fronts import FRONTS
from dragoman.sim import WeakModel, running

from .conftest import Run

TARGET = Target("http://gateway:4242", "the-model", "the-key")
ROWS = [pytest.param(row, id=row.name) for row in CLIENTS.values()]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("DRAGOMAN_KEY", raising=False)
    return tmp_path


def connect(run: Run, name: str, *more: str) -> Any:
    return run("connect", name, "--model", "the-model", *more)


# ── the rows ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("row", ROWS)
def test_a_row_names_the_gateway_and_its_api(row: Client) -> None:
    for api in row.api:
        shown = row.settings(TARGET, api)
        settings = repr((shown.files, dict(shown.variables), shown.commands, shown.code))
        assert TARGET.url in settings
        places = ("url", "model", "key", *row.words.get(api, ()))
        assert not any(f"{{{place}}}" in settings for place in places)
        assert shown.api == (api,)
    assert set(row.api) <= {front.codec.name for front in FRONTS}
    assert row.api
    assert row.source


@pytest.mark.parametrize("row", ROWS)
def test_settings_by_api_cover_every_api_of_the_row(row: Client) -> None:
    settings = {repr(row.settings(TARGET, api)) for api in row.api}
    assert len(settings) == len(row.api)
    assert not row.words or tuple(row.words) == row.api


@pytest.mark.parametrize("row", ROWS)
def test_files_of_a_row_parse_as_their_form(row: Client) -> None:
    for file in row.settings(TARGET).files:
        assert read(merged("", file.form, file.content), file.form) == file.content
        assert file.path.startswith(("~/", "{config}/"))


def test_placeholders_are_filled_once() -> None:
    target = Target("http://{key}", "{url}", "secret")
    assert fill({"{model}": ["{url}/v1", 3]}, target) == {"{url}": ["http://{key}/v1", 3]}


def test_the_key_of_a_target_is_not_in_its_repr() -> None:
    assert "the-key" not in repr(TARGET)


# ── the command ──────────────────────────────────────────────────────────────


def test_without_a_name_every_client_is_listed(run: Run) -> None:
    listed = [line.split()[0] for line in run("connect").out.splitlines()[1:]]
    assert listed == list(CLIENTS)
    assert [row["name"] for row in json.loads(run("connect", "--json").out)] == list(CLIENTS)


def test_settings_are_shown_and_nothing_is_written(run: Run, home: Path) -> None:
    ran = connect(run, "codex", "--url", "http://gw:1/v1/", "--key", "k y")
    assert "# ~/.codex/config.toml" in ran.out
    assert 'base_url = "http://gw:1/v1"' in ran.out
    assert "export DRAGOMAN_API_KEY='k y'" in ran.out
    assert list(home.iterdir()) == []


def test_written_files_are_private_and_hold_the_settings(run: Run, home: Path) -> None:
    ran = connect(run, "codex", "--write", "--key", "secret")
    file = home / ".codex" / "config.toml"
    assert tomllib.loads(file.read_text())["model"] == "the-model"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert f"wrote {file}" in ran.err
    assert ran.out == "export DRAGOMAN_API_KEY=secret\n"


def test_writing_again_changes_nothing_and_keeps_no_copy(run: Run, home: Path) -> None:
    connect(run, "claude-code", "--write")
    written = json.loads(connect(run, "claude-code", "--write", "--json").out)["written"]
    assert [one["changed"] for one in written] == [False]
    assert [p.name for p in (home / ".claude").iterdir()] == ["settings.json"]


def test_the_former_file_and_earlier_copies_are_kept(run: Run, home: Path) -> None:
    file = home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text('{"theme": "dark"}')
    connect(run, "claude-code", "--write")
    connect(run, "claude-code", "--write", "--key", "another")
    copies = sorted(file.parent.glob("settings.json.before-dragoman*"))
    assert copies[0].read_text() == '{"theme": "dark"}'
    assert len(copies) == 2
    now = json.loads(file.read_text())
    assert (now["theme"], now["env"]["ANTHROPIC_AUTH_TOKEN"]) == ("dark", "another")


def test_a_link_stays_a_link(run: Run, home: Path) -> None:
    real = home / "dotfiles.json"
    real.write_text("{}")
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").symlink_to(real)
    connect(run, "claude-code", "--write")
    assert (home / ".claude" / "settings.json").is_symlink()
    assert "env" in json.loads(real.read_text())


def test_the_users_configuration_folder_is_where_the_environment_says(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "elsewhere"))
    connect(run, "opencode", "--write")
    assert (home / "elsewhere" / "opencode" / "opencode.json").is_file()


def test_the_first_listed_model_is_the_default(run: Run) -> None:
    with running(WeakModel()) as url:
        ran = run("connect", "openai-agents", "--url", url)
        assert ran.code == 0
        assert "model: weak" in ran.err


def test_the_first_api_of_a_client_is_the_default(run: Run, home: Path) -> None:
    for more, api, base in (
        ((), "openai-completions", "http://127.0.0.1:4242/v1"),
        (("--api", "gemini"), "google-generative-ai", "http://127.0.0.1:4242/v1beta"),
    ):
        assert connect(run, "pi", "--write", *more).code == 0
        provider = json.loads((home / ".pi/agent/models.json").read_text())["providers"]["dragoman"]
        assert (provider["api"], provider["baseUrl"]) == (api, base)
    ran = connect(run, "pi", "--api", "bedrock_converse")
    assert (ran.code, "choose one of: openai_chat" in ran.err) == (2, True)


def test_what_is_wrong_is_told_with_what_to_do(run: Run, home: Path) -> None:
    assert "choose one of" in connect(run, "nobody").err
    assert "write it like http://" in connect(run, "pi", "--url", "gateway:1").err
    file = home / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text("= broken")
    ran = connect(run, "codex", "--write")
    assert (ran.code, "mend it, or move it away" in ran.err, file.read_text()) == (2, True, "= broken")
    refusal = run("connect", "pi", "--url", "http://127.0.0.1:9")
    assert (refusal.code, "--model" in refusal.err) == (1, True)


# ── files that hold something already ────────────────────────────────────────

# (form, before, settings, after)
JOINED: list[tuple[Form, str, Any, str]] = [
    (Form.JSON, '{"a": 1}', {"b": 2}, '{"a": 1,\n  "b": 2}'),
    (Form.JSON, '{\n  "a": {"x": 1}\n}\n', {"a": {"y": [1]}}, '{\n  "a": {"x": 1,\n    "y": [\n      1\n    ]}\n}\n'),
    (Form.JSON, '{"a": "old", "z": 0}', {"a": "new"}, '{"a": "new", "z": 0}'),
    (Form.JSON, "{}", {"a": 1}, '{\n  "a": 1\n}'),
    (Form.JSON, '{"a": {}}', {"a": {"b": 1}}, '{"a": {\n    "b": 1\n  }}'),
    (Form.JSON, '{"m": [{"id": "x", "k": 1}]}', {"m": [{"id": "x", "n": 2}]},
     '{"m": [\n    {\n      "id": "x",\n      "k": 1,\n      "n": 2\n    }\n  ]}'),
    (Form.JSONC, '{\n  // mine\n  "a": 1, /* "b": 3 */\n}', {"b": "//2"},
     '{\n  // mine\n  "a": 1,\n  "b": "//2", /* "b": 3 */\n}'),
    (Form.JSONC, '{"a": [1, 2,], }', {"a": [3]}, '{"a": [\n    1,\n    2,\n    3\n  ], }'),
    (Form.TOML, "# mine\na = 1 # one\n\n[t]\nx = 1\n", {"b": "two"}, '# mine\na = 1 # one\nb = "two"\n\n[t]\nx = 1\n'),
    (Form.TOML, 'a = """\none\n"""\nb = 1\n', {"a": "two"}, 'a = "two"\nb = 1\n'),
    (Form.TOML, "[t]\nx = 1\n[u]\n", {"t": {"y": True}, "v": {"w.x": {"z": 1}}},
     '[t]\nx = 1\ny = true\n[u]\n\n[v."w.x"]\nz = 1\n'),
    (Form.TOML, '[[p]]\nname = "a"\n[[p]]\nname = "b"\nk = 1\n', {"p": [{"name": "b", "k": 2}, {"name": "c"}]},
     '[[p]]\nname = "a"\n[[p]]\nname = "b"\nk = 2\n\n[[p]]\nname = "c"\n'),
    (Form.YAML, "# mine\na: 1 # one\nb: old\n", {"b": "new", "c": [1]}, "# mine\na: 1 # one\nb: new\nc:\n- 1\n"),
    (Form.YAML, "m:\n- name: x\n  k: 1\n", {"m": [{"name": "x", "n": 2}]}, "m:\n- name: x\n  k: 1\n  n: 2\n"),
    (Form.DOTENV, "# mine\nA=1\nexport B='x y'\n", {"B": "z", "C": "a b"}, '# mine\nA=1\nB=z\nC="a b"\n'),
]  # fmt: skip


@pytest.mark.parametrize(("form", "before", "settings", "after"), JOINED)
def test_what_else_a_file_holds_stays_as_it_is_written(form: Form, before: str, settings: Any, after: str) -> None:
    assert merged(before, form, settings) == after


@pytest.mark.parametrize(("form", "before", "settings", "after"), JOINED)
def test_a_file_that_has_the_settings_is_left_alone(form: Form, before: str, settings: Any, after: str) -> None:
    assert merged(after, form, settings) == after


@pytest.mark.parametrize("form", list(Form))
def test_a_faulty_file_is_reported_without_its_content(form: Form) -> None:
    broken = "key: sk-secret\n  - [sk-secret\n: = {" if form is Form.YAML else '{"key": "sk-secret" = ['
    if form is Form.DOTENV:
        assert read(broken, form) == {}
        return
    with pytest.raises(UsageError, match="mend it") as raised:
        read(broken, form)
    assert "sk-secret" not in str(raised.value)


def test_a_file_of_another_layout_is_refused_untouched() -> None:
    with pytest.raises(UsageError, match="by hand"):
        merged("p = { name = 'a' }\n", Form.TOML, {"p": {"k": 1}})


NAMES = st.text("abcdef-_. \"'#é", min_size=1, max_size=6)
PLAIN = st.booleans() | st.integers(-99, 99) | st.text(max_size=12)
TREES = st.recursive(
    st.dictionaries(NAMES, PLAIN, max_size=4),
    lambda inner: st.dictionaries(NAMES, PLAIN | inner | st.lists(PLAIN, max_size=3), max_size=4),
    max_leaves=12,
)
FORMS = st.sampled_from([Form.JSON, Form.JSONC, Form.TOML, Form.YAML])


@given(FORMS, TREES, TREES)
def test_a_merged_file_holds_its_own_and_our_settings(
    form: Form, before: dict[str, Any], ours: dict[str, Any]
) -> None:
    text = merged("", form, before)
    try:
        after = merged(text, form, ours)
    except UsageError:
        assert form is Form.TOML  # a value that became a table: told, not guessed
        return
    assert (read(after, form) or {}) == (join(before, ours) if ours else before)


@given(
    st.dictionaries(
        st.from_regex(r"[A-Z_]{1,5}", fullmatch=True),
        st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=12),
        max_size=4,
    )
)
def test_variables_are_read_as_they_were_told(expected: dict[str, str]) -> None:
    assert (read(merged("X=1\n", Form.DOTENV, expected), Form.DOTENV) or {}) == {"X": "1", **expected}
