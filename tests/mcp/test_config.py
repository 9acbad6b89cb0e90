"""Configuration files of many hosts are read as their hosts read them, and what cannot be used is named."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import UsageError
from dragoman.mcp.config import STARTUP, Http, ServerSpec, Stdio, read_servers, without_comments

ENVIRON = {"TOKEN": "secret", "EMPTY": "", "ROOT": "/srv"}


def one(row: dict[str, Any], container: str = "mcpServers") -> ServerSpec:
    [spec] = read_servers({container: {"it": row}}, ENVIRON)
    return spec


# (host whose words these are, fields of a server, what they mean)
PLACES: list[tuple[str, dict[str, Any], Stdio | Http]] = [
    ("Claude", {"command": "npx", "args": ["-y", "x"], "env": {"A": "1"}}, Stdio(command="npx", args=("-y", "x"), env={"A": "1"})),
    ("with a folder", {"command": "x", "cwd": "/tmp"}, Stdio(command="x", cwd="/tmp")),
    ("opencode, local", {"type": "local", "command": ["uvx", "y"], "environment": {"A": "1"}}, Stdio(command="uvx", args=("y",), env={"A": "1"})),
    ("opencode, remote", {"type": "remote", "url": "http://h/mcp"}, Http(url="http://h/mcp", kind="either")),
    ("Zed", {"command": {"path": "x", "args": ["a"], "env": {}}}, Stdio(command="x", args=("a",))),
    ("one line", {"command": "npx -y 'a b'"}, Stdio(command="npx", args=("-y", "a b"))),
    ("a path with blanks, and arguments", {"command": "/opt/my tools/x", "args": []}, Stdio(command="/opt/my tools/x")),
    ("a URL", {"url": "http://h/mcp"}, Http(url="http://h/mcp", kind="either")),
    ("VS Code", {"type": "http", "url": "http://h/mcp", "headers": {"X": "1"}}, Http(url="http://h/mcp", headers={"X": "1"}, kind="http")),
    ("SSE", {"type": "sse", "url": "http://h/sse"}, Http(url="http://h/sse", kind="sse")),
    ("Cline", {"type": "streamableHttp", "url": "http://h/mcp"}, Http(url="http://h/mcp", kind="http")),
    ("LangChain", {"transport": "streamable_http", "url": "http://h/mcp"}, Http(url="http://h/mcp", kind="http")),
    ("Gemini CLI", {"httpUrl": "http://h/mcp"}, Http(url="http://h/mcp", kind="http")),
    ("Windsurf", {"serverUrl": "http://h/sse"}, Http(url="http://h/sse", kind="either")),
    ("Codex", {"url": "http://h", "bearer_token_env_var": "TOKEN"}, Http(url="http://h", headers={"Authorization": "Bearer secret"})),
    ("numbers and null in the environment", {"command": "x", "env": {"N": 3, "B": True, "Z": None}}, Stdio(command="x", env={"N": "3", "B": "true"})),
]  # fmt: skip


@pytest.mark.parametrize(("row", "place"), [p[1:] for p in PLACES], ids=[p[0] for p in PLACES])
def test_a_server_is_where_its_host_would_find_it(row: dict[str, Any], place: Stdio | Http) -> None:
    assert one(row).place == place


@pytest.mark.parametrize("container", ["mcpServers", "servers", "mcp_servers", "context_servers", "mcp"])
def test_servers_are_found_under_the_key_of_any_host(container: str) -> None:
    assert one({"command": "x"}, container).name == "it"


def test_servers_are_found_in_vs_codes_settings() -> None:
    inner = {"it": {"command": "x"}}
    for content in ({"mcp": {"servers": inner, "inputs": []}}, inner):
        assert [spec.name for spec in read_servers(content, ENVIRON)] == ["it"]


VARIABLES = [
    ("${TOKEN}", "secret"),
    ("${env:TOKEN}", "secret"),
    ("${input:TOKEN}", "secret"),
    ("Bearer ${TOKEN}!", "Bearer secret!"),
    ("${MISSING:-there}", "there"),
    ("${MISSING:-}", ""),
    ("${EMPTY:-instead}", "instead"),
    ("${EMPTY}", ""),
    ("${TOKEN:-other}", "secret"),
    ("${ROOT}/${TOKEN}", "/srv/secret"),
    ("${MISSING:-http://a:1/b}", "http://a:1/b"),
    ("$TOKEN and $", "$TOKEN and $"),
    ("${userHome}", str(Path.home())),
]


@pytest.mark.parametrize(("text", "value"), VARIABLES)
def test_variables_are_filled_in_everywhere(text: str, value: str) -> None:
    place = one({"command": "x", "args": [text], "env": {"V": text}}).place
    assert isinstance(place, Stdio)
    assert (place.args, dict(place.env)) == ((value,), {"V": value})
    remote = one({"url": "http://h/" + text, "headers": {"V": text}}).place
    assert isinstance(remote, Http)
    assert (remote.url, dict(remote.headers)) == ("http://h/" + value, {"V": value})


TIMES = [
    ({"timeout": 60}, (STARTUP, 60.0)),
    ({"timeout": 30000}, (STARTUP, 30.0)),
    ({"timeoutMs": 500}, (STARTUP, 0.5)),
    ({"startup_timeout_sec": 5, "tool_timeout_sec": 7}, (5.0, 7.0)),
    ({"initTimeout": 9000}, (9.0, None)),
    ({"timeout": 0}, (STARTUP, None)),
    ({"timeout": "soon"}, (STARTUP, None)),
]


@pytest.mark.parametrize(("fields", "times"), TIMES)
def test_times_are_seconds_whatever_the_host_writes_them_in(fields: dict[str, Any], times: tuple[Any, Any]) -> None:
    spec = one({"command": "x", **fields})
    assert (spec.startup, spec.timeout) == times


WANTED = [
    ({}, {"read", "write"}),
    ({"includeTools": ["read"]}, {"read"}),
    ({"enabled_tools": ["r*"]}, {"read"}),
    ({"tools": ["*"]}, {"read", "write"}),
    ({"tools": []}, set()),
    ({"excludeTools": ["write"]}, {"read"}),
    ({"includeTools": ["*"], "disabledTools": ["w*"]}, {"read"}),
]


@pytest.mark.parametrize(("fields", "names"), WANTED)
def test_tools_are_chosen_as_the_configuration_says(fields: dict[str, Any], names: set[str]) -> None:
    spec = one({"command": "x", **fields})
    assert {name for name in ("read", "write") if spec.wants(name)} == names


def test_allowed_tools_are_read_in_every_hosts_words() -> None:
    assert one({"command": "x", "alwaysAllow": ["a"], "autoApprove": ["b"]}).allowed == ("a", "b")
    assert one({"command": "x", "trust": True}).allowed == ("*",)


@pytest.mark.parametrize("off", [{"disabled": True}, {"enabled": False}])
def test_variables_of_a_disabled_server_are_not_read(off: dict[str, Any]) -> None:
    content = {"mcpServers": {"off": {"command": "${MISSING}", **off}, "on": {"command": "x", "disabled": False}}}
    assert [spec.name for spec in read_servers(content, ENVIRON)] == ["on"]


WRONG = [
    ({"command": "${MISSING}"}, "field 'command', uses ${MISSING}, and MISSING is not set; set it, or write ${MISSING:-default}"),
    ({"url": "http://h", "headers": {"A": "${input:MISSING}"}}, "field 'headers', uses ${input:MISSING}"),
    ({"args": ["x"]}, 'give "command" for a local server or "url" for a remote one'),
    ({"command": "x", "args": "y z"}, "field 'args': expected a list of texts"),
    ({"command": "x", "env": ["A=1"]}, "field 'env': expected an object"),
    ({"command": "x", "args": [{}]}, "field 'args': expected text"),
    ({"url": "http://h", "type": "websocket"}, "unknown transport 'websocket'; use one of stdio, http, sse"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "message"), WRONG, ids=[w[1][:30] for w in WRONG])
def test_what_cannot_be_used_is_named_with_its_remedy(row: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as error:
        one(row)
    assert str(error.value).startswith("MCP server 'it'")
    assert message in str(error.value)


def test_a_file_may_hold_comments_and_trailing_commas(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    text = """{
      // where VS Code keeps them
      "servers": { /* one, so far */
        "it": {"command": "x", "args": ["http://a", "/* no comment */", "\\"//", ",]"],},
      },
    }"""
    path.write_text("\ufeff" + text, encoding="utf-8")
    [spec] = read_servers(path, ENVIRON)
    assert spec.place == Stdio(command="x", args=("http://a", "/* no comment */", '"//', ",]"))


def test_a_file_may_be_toml_and_variables_know_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[mcp_servers.it]\ncommand = "x"\nargs = ["${workspaceFolder}"]\n', encoding="utf-8")
    [spec] = read_servers(str(path), ENVIRON)
    assert spec.place == Stdio(command="x", args=(str(tmp_path),))


FILES = [("{", "cannot be read"), ("[]", "no servers in"), ('{"a": 1}', "no servers in"), ("{}", "no servers in")]


@pytest.mark.parametrize(("text", "message"), FILES)
def test_a_file_that_names_no_servers_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        read_servers(path, ENVIRON)
    with pytest.raises(UsageError, match="give the path of a file"):
        read_servers(tmp_path / "missing.json", ENVIRON)


def test_secrets_stay_out_of_repr() -> None:
    for row in ({"command": "x", "env": {"K": "${TOKEN}"}}, {"url": "http://h", "headers": {"K": "${TOKEN}"}}):
        assert "secret" not in repr(one(row))


KEYS = st.sampled_from([
    "command", "args", "env", "environment", "cwd", "url", "httpUrl", "type", "transport", "headers", "timeout", "tools",
    "alwaysAllow", "trust", "disabled", "bearer_token_env_var", "includeTools", "startup_timeout_ms", "path",
])  # fmt: skip
JSONISH = st.text('"\\/*,:{}[] \né')
LETTERS = st.text("ab ${}:-\"'\\/")
WORDS = LETTERS | st.sampled_from(["stdio", "http://h", "'", "${A}", "${TOKEN}"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | LETTERS, inner, max_size=4),
    max_leaves=6,
)


@given(st.dictionaries(KEYS, ANYTHING, max_size=5))
def test_any_entry_is_used_or_refused_with_a_remedy(row: dict[str, Any]) -> None:
    specs: tuple[ServerSpec, ...] = ()
    with contextlib.suppress(UsageError):
        specs = read_servers({"mcpServers": {"it": row}}, ENVIRON)
    for spec in specs:
        assert spec.place.command if isinstance(spec.place, Stdio) else spec.place.url
        assert spec.wants("x") in (True, False)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | JSONISH,
        lambda inner: st.lists(inner) | st.dictionaries(JSONISH, inner),
    )
)
def test_plain_json_is_left_as_it_is(value: Any) -> None:
    assert json.loads(without_comments(json.dumps(value, ensure_ascii=False))) == value
