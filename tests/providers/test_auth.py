"""Keys go into one header and never come out again."""

from __future__ import annotations

import base64
import hmac
import json
from typing import Any
from urllib.parse import parse_qs

import pytest

from dragoman.errors import UsageError
from dragoman.providers.auth import ClientCredentials, KeyHeader, SignedKey, SigV4
from dragoman.redaction import redact


def test_a_key_stands_in_its_header_in_its_form() -> None:
    assert KeyHeader().headers("k-1") == {"authorization": "Bearer k-1"}
    assert KeyHeader(header="x-api-key", form="{key}").headers("k-1") == {"x-api-key": "k-1"}


def test_no_key_is_no_header() -> None:
    assert KeyHeader().headers("") == {}


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "k\u00e9y", "tab\t"])
def test_an_odd_key_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(UsageError) as caught:
        KeyHeader(env=("SOME_API_KEY",)).headers(key)
    assert "SOME_API_KEY" in str(caught.value)
    assert key not in str(caught.value)


HIDES = [
    ("Incorrect API key provided: hunter2hunter2.", ["hunter2hunter2"], "Incorrect API key provided: [redacted]."),
    ("you sent Authorization: Bearer abcdef123", [], "you sent Authorization: Bearer [redacted]"),
    ("key sk-proj-AbCdEf123456 is wrong", [], "key [redacted] is wrong"),
    ("ghp_0123456789abcdef0123 expired", [], "[redacted] expired"),
    ("AKIAIOSFODNN7EXAMPLE, ASIAIOSFODNN7EXAMPLE", [], "[redacted], [redacted]"),
    ("slack xoxb-123456789012-abcdef and xapp-1-A012-345", [], "slack [redacted] and [redacted]"),
    ("github_pat_11ABCDEFG0abcdefghij_x npm_abcdefghijklmnopqrstuvwxyz", [], "[redacted] [redacted]"),
    ("SG.abcdefghijklmnop_1.abcdefghijklmnopqr ya29.a0AfH6SMB-abcdefgh", [], "[redacted] [redacted]"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIB/+=\n-----END RSA PRIVATE KEY-----\nand more", [], "[redacted]\nand more"),
    ("AKIARA was there, xoxo, npm_install, PRIVATE KEY", [], "AKIARA was there, xoxo, npm_install, PRIVATE KEY"),
    ("the bearer of bad news", [], "the bearer of bad news"),
    ("task-oriented risk-averse text", [], "task-oriented risk-averse text"),
    ("a placeholder x stays x", ["x"], "a placeholder x stays x"),
]


@pytest.mark.parametrize(("text", "secrets", "shown"), HIDES)
def test_secrets_are_blotted_out_and_words_are_not(text: str, secrets: list[str], shown: str) -> None:
    assert redact(text, secrets) == shown


# ── Z.ai's signed key ────────────────────────────────────────────────────────

NOW = 1_700_000_000.25


def _decoded(part: str) -> Any:
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def test_a_signed_key_sends_a_token_and_no_key() -> None:
    header = SignedKey().headers("name.hush-hush", NOW)["authorization"]
    scheme, _, token = header.partition(" ")
    head, claims, signature = token.split(".")
    assert scheme == "Bearer"
    assert _decoded(head) == {"alg": "HS256", "sign_type": "SIGN"}
    assert _decoded(claims) == {"api_key": "name", "timestamp": 1_700_000_000_250, "exp": 1_700_001_800_250}
    signed = hmac.new(b"hush-hush", f"{head}.{claims}".encode(), "sha256").digest()
    assert base64.urlsafe_b64encode(signed).rstrip(b"=").decode() == signature
    assert "hush" not in header


@pytest.mark.parametrize("key", ["plain", "dot.", ".dot"])
def test_a_key_that_cannot_sign_is_sent_as_it_is(key: str) -> None:
    assert SignedKey().headers(key, NOW) == {"authorization": f"Bearer {key}"}


def test_no_signed_key_is_no_header() -> None:
    assert SignedKey().headers("", NOW) == {}


def test_a_key_is_divided_at_its_first_dot() -> None:
    token = SignedKey().headers("name.a.b", NOW)["authorization"].removeprefix("Bearer ")
    signed, _, signature = token.rpartition(".")
    wanted = hmac.new(b"a.b", signed.encode(), "sha256").digest()
    assert base64.urlsafe_b64encode(wanted).rstrip(b"=").decode() == signature


# ── client credentials ───────────────────────────────────────────────────────

CLIENT = ClientCredentials("https://idm.test/{realm}/oauth/token", id_env=("ID",), env=("KEY",))


def test_a_clients_id_and_key_are_exchanged_for_a_token() -> None:
    exchange = CLIENT.token_request("h&sh hush", {"client_id": "me", "realm": "acme"})
    assert exchange.url == "https://idm.test/acme/oauth/token"
    assert exchange.headers["content-type"] == "application/x-www-form-urlencoded"
    form = {"grant_type": ["client_credentials"], "client_id": ["me"], "client_secret": ["h&sh hush"]}
    assert parse_qs(exchange.body.decode(), strict_parsing=True) == form
    assert "hush" not in repr(exchange)


@pytest.mark.parametrize("realm", ["../../x", "a?b", "a#b", "a/b"])
def test_a_setting_stays_in_its_place_of_the_path(realm: str) -> None:
    url = CLIENT.token_request("k", {"client_id": "me", "realm": realm}).url
    assert url.startswith("https://idm.test/")
    assert url.endswith("/oauth/token")
    assert url.count("/") == 5
    assert not set("?#") & set(url)


TOKENS = [
    ({"access_token": "t", "expires_in": 1200}, 1140.0),
    ({"access_token": "t", "expires_in": 5}, 0.0),
    ({"access_token": "t"}, 240.0),
    ({"access_token": "t", "expires_in": "soon"}, 240.0),
]


@pytest.mark.parametrize(("answer", "lasts"), TOKENS)
def test_a_token_is_used_until_shortly_before_its_end(answer: dict[str, Any], lasts: float) -> None:
    token = CLIENT.read_token(json.dumps(answer).encode(), 1000.0)
    assert (token.value, token.until) == ("t", 1000.0 + lasts)
    assert CLIENT.headers(token) == {"authorization": "Bearer t"}
    assert "'t'" not in repr(token)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b'{"access_token": ""}', b'{"access_token": 3}'])
def test_an_answer_without_a_token_is_none(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"no access_token|Expecting value"):
        CLIENT.read_token(body, NOW)


def test_each_way_names_its_settings_and_secrets() -> None:
    assert [part.name for part in SigV4("bedrock").parts if part.secret] == ["access_key_id", "session_token"]
    assert [part.name for part in CLIENT.parts if part.secret] == ["client_id"]
    assert KeyHeader().parts == SignedKey().parts == ()
