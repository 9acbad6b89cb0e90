"""Rows of providers, and routes over them: addresses, keys, names."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.codecs import CODECS
from dragoman.dialects import DIALECTS
from dragoman.errors import UnknownName, UsageError
from dragoman.io.environment import address, route_to
from dragoman.providers.auth import KeyHeader
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, PROVIDERS, ROWS, Provider, Providers, Tools

PLAIN = PROVIDERS["compatible"]

ADDRESSES = [
    ("http://127.0.0.1:8080", "/chat/completions", "http://127.0.0.1:8080/v1/chat/completions"),
    ("http://127.0.0.1:8080/", "/chat/completions", "http://127.0.0.1:8080/v1/chat/completions"),
    ("http://127.0.0.1:8080/v1", "/chat/completions", "http://127.0.0.1:8080/v1/chat/completions"),
    ("http://127.0.0.1:8080/v1/", "/chat/completions", "http://127.0.0.1:8080/v1/chat/completions"),
    ("127.0.0.1:8080", "/chat/completions", "http://127.0.0.1:8080/v1/chat/completions"),
    ("https://api.z.ai/api/paas/v4", "/chat/completions", "https://api.z.ai/api/paas/v4/chat/completions"),
    ("http://h/v1/chat/completions", "/chat/completions", "http://h/v1/chat/completions"),
    ("http://h/v1", "/v1/messages", "http://h/v1/messages"),
    ("http://h/anthropic", "/v1/messages", "http://h/anthropic/v1/messages"),
    ("http://h/v1beta", "/models/{model}:go", "http://h/v1beta/models/a%2Fb:go"),
]


@pytest.mark.parametrize(("base", "path", "url"), ADDRESSES)
def test_a_base_url_is_taken_as_people_write_it(base: str, path: str, url: str) -> None:
    assert Route(provider=PLAIN, base_url=base).url(path, "a/b") == url


BEDROCK = "https://bedrock-runtime.eu-west-1.amazonaws.com"
REQUESTS: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("openai", {}, "/chat/completions", "gpt", "https://api.openai.com/v1/chat/completions"),
    ("writer", {}, "/chat/completions", "palmyra", "https://api.writer.com/v1/chat"),
    ("minimax", {}, "/chat/completions", "m", "https://api.minimax.io/v1/chat/completions"),
    ("minimax-anthropic", {}, "/v1/messages", "m", "https://api.minimax.io/anthropic/v1/messages"),
    ("gemini", {}, "/models/{model}:go", "models/g", "https://generativelanguage.googleapis.com/v1beta/models/g:go"),
    ("bedrock", {"settings": {"region": "eu-west-1"}}, "/model/{model}/converse", "anthropic.claude-v2:1",
     f"{BEDROCK}/model/anthropic.claude-v2:1/converse"),
    ("bedrock", {"settings": {"region": "eu-west-1"}}, "/model/{model}/converse", "arn:aws:x/y",
     f"{BEDROCK}/model/arn:aws:x%2Fy/converse"),
    ("bedrock", {}, "/model/{model}/converse", "m",
     "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse"),
    ("azure", {"base_url": "https://me.openai.azure.com/"}, "/chat/completions", "gpt",
     "https://me.openai.azure.com/openai/v1/chat/completions"),
    ("azure-deployments", {"base_url": "https://me.openai.azure.com", "settings": {"api_version": "2024-10-21"}},
     "/chat/completions", "my gpt",
     "https://me.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21"),
    ("snowflake", {"settings": {"account": "my-org"}}, "/chat/completions", "m",
     "https://my-org.snowflakecomputing.com/api/v2/cortex/v1/chat/completions"),
    ("stackspot", {}, "/v1/agent/{model}/chat", "01AB",
     "https://genai-inference-app.stackspot.com/v1/agent/01AB/chat"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "more", "path", "model", "url"), REQUESTS, ids=[f"{r[0]}-{r[3]}" for r in REQUESTS])
def test_a_row_knows_where_its_requests_go(name: str, more: dict[str, Any], path: str, model: str, url: str) -> None:
    assert Route(provider=PROVIDERS[name], **more).request_url(path, model) == url


@pytest.mark.parametrize("region", ["evil.test/", "a@evil.test", "a:80", "a#", "a?b", " a", "ä", "-a"])
def test_a_setting_cannot_lead_the_key_to_another_host(region: str) -> None:
    with pytest.raises(UsageError, match="cannot stand in a host name"):
        Route(provider=PROVIDERS["bedrock"], settings={"region": region}).root()


MISSING = [("snowflake", "", "SNOWFLAKE_ACCOUNT"), ("azure-deployments", "https://h", "OPENAI_API_VERSION")]


@pytest.mark.parametrize(("name", "base", "variable"), MISSING)
def test_a_setting_that_is_missing_is_told_by_its_variable(name: str, base: str, variable: str) -> None:
    with pytest.raises(UsageError, match=variable):
        Route(provider=PROVIDERS[name], base_url=base).request_url("/x", "m")


def test_what_must_not_be_shown_is_known() -> None:
    signed = Route(provider=PROVIDERS["zai"], key="name.hush-hush")
    assert "hush-hush" in signed.hidden
    assert set(Route(provider=PLAIN, key="k", secrets={"client_id": "c"}).hidden) == {"k", "c"}
    assert Route(provider=PLAIN).hidden == ()
    assert "hush" not in repr(Route(provider=PROVIDERS["bedrock"], key="hush", secrets={"access_key_id": "hush"}))


def test_a_row_without_an_address_wants_one() -> None:
    with pytest.raises(UsageError, match="give a base URL"):
        Route(provider=PLAIN).url("/chat/completions")


def test_the_key_goes_into_its_header_and_into_no_repr() -> None:
    route = Route(provider=PROVIDERS["anthropic"], key="hush-hush")
    headers = route.headers()
    assert headers["x-api-key"] == "hush-hush"
    assert headers["anthropic-version"]
    assert headers["user-agent"].startswith("dragoman/")
    assert "hush" not in repr(route)


def test_dialects_are_taken_by_known_names() -> None:
    route = Route(provider=PLAIN, prompt_dialect="hermes", dialects=["hermes", "command"])
    assert route.prompt_dialect_for("m") is DIALECTS["hermes"]
    names = [d.name for d in route.parser_dialects("m")]
    assert names[0] == "hermes"
    assert names[-1] == "command"
    with pytest.raises(UnknownName, match="did you mean 'hermes'"):
        Route(provider=PLAIN, prompt_dialect="hermes2").prompt_dialect_for("m")


def test_the_row_says_how_tools_travel_unless_the_route_does() -> None:
    assert Route(provider=PROVIDERS["anthropic"]).mode is Tools.NATIVE
    assert Route(provider=PROVIDERS["anthropic"], tools=Tools.TEXT).mode is Tools.TEXT


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row_is_complete(row: Provider) -> None:
    assert row.codec in CODECS
    assert row.docs.startswith("https://") or not row.base_url
    assert not row.base_url or "{" in row.base_url or Route(provider=row).root() == row.base_url
    assert not row.port or str(row.port) in row.base_url


def test_names_and_aliases_find_rows_and_others_get_advice() -> None:
    assert PROVIDERS["llama.cpp"] is PROVIDERS["llamacpp"]
    assert list(PROVIDERS) == [row.name for row in ROWS]
    with pytest.raises(UnknownName, match="did you mean 'openai'"):
        _ = PROVIDERS["opanai"]


def test_users_rows_are_as_good_as_ours() -> None:
    mine = Provider(name="mine", codec="openai_chat", base_url="http://h/v1")
    assert Providers([*ROWS, mine])["mine"] is mine


MODELS = [
    ("ollama/qwen3:8b", "ollama", "qwen3:8b"),
    ("ollama:qwen3:8b", "ollama", "qwen3:8b"),
    ("openrouter/z-ai/glm-5", "openrouter", "z-ai/glm-5"),
    ("llama.cpp/x", "llamacpp", "x"),
    ("qwen3:8b", None, "qwen3:8b"),
    ("z-ai/glm-5", None, "z-ai/glm-5"),
    ("openai/", None, "openai/"),
    ("gpt", None, "gpt"),
]


@pytest.mark.parametrize(("name", "provider", "model"), MODELS)
def test_a_model_may_name_its_provider_in_both_spellings(name: str, provider: str | None, model: str) -> None:
    found, rest = PROVIDERS.split(name)
    assert (found and found.name, rest) == (provider, model)


ENVIRONMENTS = [
    ("ollama", {}, ""),
    ("ollama", {"OLLAMA_HOST": "http://10.0.0.1:11434"}, "http://10.0.0.1:11434"),
    ("ollama", {"OLLAMA_HOST": "0.0.0.0"}, "127.0.0.1:11434"),
    ("ollama", {"OLLAMA_HOST": "0.0.0.0:9999"}, "127.0.0.1:9999"),
    ("openai", {"OPENAI_BASE_URL": "https://proxy/v1"}, "https://proxy/v1"),
]


@pytest.mark.parametrize(("name", "environ", "wanted"), ENVIRONMENTS)
def test_the_environment_may_move_a_provider(name: str, environ: dict[str, str], wanted: str) -> None:
    assert address(PROVIDERS[name], environ) == wanted


def test_a_route_finds_its_key_in_the_environment() -> None:
    route = route_to(PROVIDERS["openai"], environ={"OPENAI_API_KEY": " k-123 "}, model="gpt")
    assert (route.key, route.model) == ("k-123", "gpt")


def test_a_missing_key_is_named_by_its_variable() -> None:
    with pytest.raises(UsageError, match="set OPENAI_API_KEY"):
        route_to(PROVIDERS["openai"], environ={})


def test_a_key_goes_to_no_other_host() -> None:
    everything = {name: "secret" for row in ROWS for name in row.auth.env}
    for row in COMPATIBLE.values():
        assert route_to(row, base_url="http://h", environ=everything).key == ""


def test_a_required_key_without_a_variable_is_still_told() -> None:
    row = Provider(name="odd", codec="openai_chat", base_url="http://h", auth=KeyHeader())
    with pytest.raises(UsageError, match="set its key"):
        route_to(row, environ={})
