"""Requests are signed as AWS signs them: by its published examples, and by botocore where it is installed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.providers.sigv4 import Credentials, Scope, sign

WHO = Credentials(access_key_id="AKIDEXAMPLE", secret_access_key="wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
WHEN = datetime(2015, 8, 30, 12, 36, tzinfo=UTC).timestamp()
FORM = {"content-type": "application/x-www-form-urlencoded; charset=utf-8"}

# AWS's signature test suite, by the names of its cases, and the IAM user guide
HERE, AT = Scope("us-east-1", "service"), "https://example.amazonaws.com/"
EXAMPLES: list[tuple[str, str, str, dict[str, str], Scope, str]] = [
    ("get-vanilla", "GET", "https://example.amazonaws.com/", {}, Scope("us-east-1", "service"),
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    ("get-vanilla-query-order-key-case", "GET", "https://example.amazonaws.com/?Param2=value2&Param1=value1", {},
     Scope("us-east-1", "service"), "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
    ("post-vanilla", "POST", "https://example.amazonaws.com/", {}, Scope("us-east-1", "service"),
     "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    ("IAM user guide", "GET", "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08", FORM,
     Scope("us-east-1", "iam"), "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"),
    ("get-utf8", "GET", AT + "\u1234", {}, HERE, "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
    ("get-vanilla-utf8-query", "GET", AT + "?%E1%88%B4=bar", {}, HERE,
     "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"),
    ("get-vanilla-empty-query-key", "GET", AT + "?Param1=value1", {}, HERE,
     "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"),
    ("get-vanilla-query-order-value", "GET", AT + "?Param1=value2&Param1=value1", {}, HERE,
     "5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694"),
    ("post-vanilla-query", "POST", AT + "?Param1=value1", {}, HERE,
     "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"),
    ("get-header-value-trim", "GET", AT, {"My-Header1": " value1", "My-Header2": ' "a   b   c"'}, HERE,
     "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"),
    ("post-header-key-sort", "POST", AT, {"My-Header1": "value1"}, HERE,
     "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"),
    ("post-header-value-case", "POST", AT, {"My-Header1": "VALUE1"}, HERE,
     "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"),
]  # fmt: skip
BODIES = [
    ("post-x-www-form-urlencoded", "application/x-www-form-urlencoded",
     "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
    ("post-x-www-form-urlencoded-parameters", "application/x-www-form-urlencoded; charset=utf8",
     "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "signature"), [b[1:] for b in BODIES], ids=[b[0] for b in BODIES])
def test_aws_examples_with_a_body(kind: str, signature: str) -> None:
    signed = sign("POST", AT, {"Content-Type": kind}, b"Param1=value1", credentials=WHO, scope=HERE, now=WHEN)
    assert signed["authorization"].endswith(f"Signature={signature}")


@pytest.mark.parametrize(("method", "url", "headers", "scope", "signature"), [e[1:] for e in EXAMPLES],
                         ids=[e[0] for e in EXAMPLES])  # fmt: skip
def test_aws_examples(method: str, url: str, headers: dict[str, str], scope: Scope, signature: str) -> None:
    signed = sign(method, url, headers, b"", credentials=WHO, scope=scope, now=WHEN)
    assert signed["x-amz-date"] == "20150830T123600Z"
    assert signed["authorization"].endswith(f"Signature={signature}")
    assert "Credential=AKIDEXAMPLE/20150830/us-east-1/" in signed["authorization"]


def test_temporary_credentials_are_signed_too() -> None:
    who = Credentials(access_key_id="A", secret_access_key="s", session_token="tok")
    signed = sign("POST", "https://h/", {}, b"{}", credentials=who, scope=Scope("eu-west-1", "bedrock"), now=WHEN)
    assert signed["x-amz-security-token"] == "tok"
    assert "x-amz-security-token" in signed["authorization"]


def test_credentials_are_in_no_repr() -> None:
    who = Credentials(access_key_id="AKID-1", secret_access_key="hush", session_token="tok")
    assert not {"AKID-1", "hush", "tok"} & set(repr(who).replace("'", " ").split())


MODELS = st.sampled_from([
    "anthropic.claude-3-sonnet-20240229-v1:0", "us.amazon.nova-2-lite-v1%3A0",
    "arn:aws:bedrock:us-east-1:123456789012:inference-profile%2Fus.anthropic.claude-sonnet-4",
])  # fmt: skip
HEADERS = st.dictionaries(
    st.sampled_from(["content-type", "x-amzn-bedrock-trace", "user-agent", "accept"]),
    st.text("abc 123;=/", min_size=1, max_size=12).filter(str.strip),
)


@given(MODELS, HEADERS, st.binary(max_size=40), st.floats(0, 4e9), st.booleans())
def test_botocore_signs_the_same(model: str, headers: dict[str, str], body: bytes, now: float, temporary: bool) -> None:
    auth = pytest.importorskip("botocore.auth")
    request = pytest.importorskip("botocore.awsrequest")
    known = pytest.importorskip("botocore.credentials")
    token = "tok" if temporary else ""
    url = f"https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}/converse?x=1%2F2"
    signer: Any = auth.SigV4Auth(known.Credentials("AKID", "hush", token or None), "bedrock", "us-east-1")
    wanted: Any = request.AWSRequest(method="POST", url=url, data=body, headers=headers)
    stamp = datetime.fromtimestamp(int(now), UTC).strftime("%Y%m%dT%H%M%SZ")
    wanted.context["timestamp"] = stamp
    wanted.headers["X-Amz-Date"] = stamp
    if token:
        wanted.headers["X-Amz-Security-Token"] = token
    del wanted.headers["accept"]  # botocore signs it, and proxies change it
    text = signer.string_to_sign(wanted, signer.canonical_request(wanted))
    who = Credentials(access_key_id="AKID", secret_access_key="hush", session_token=token)
    signed = sign("POST", url, headers, body, credentials=who, scope=Scope("us-east-1", "bedrock"), now=now)
    assert signed["authorization"].endswith(f"Signature={signer.signature(text, wanted)}")
