"""A peer whose TLS is wrong is refused, and the error says in what way, and what helps."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman import AsyncClient, Client, Provider, ProviderError
from tests.support import tls
from tests.support.places import ROOT

WRONG = {
    "self-signed": ("nobody whom this machine trusts has signed", "SSL_CERT_FILE"),
    "expired": ("has expired", "renew it"),
    "not yet valid": ("not valid yet", "clock"),
    "another host": ("is for another host", "base URL"),
    "plaintext": ("does not speak TLS", "http://"),
    "cut handshake": ("broke off the handshake", "proxy"),
    "closed at once": ("broke off the handshake", "proxy"),
}


def handle_of(kind: str, folder: Path) -> tuple[tls.Handle, Path | None]:
    """The peer, and the certificate that is trusted."""
    match kind:
        case "plaintext":
            return tls.plain, None
        case "cut handshake":
            return tls.cut, None
        case "closed at once":
            return tls.closed, None
    days = {"expired": (-9, -2), "not yet valid": (2, 9)}.get(kind, (-1, 1))
    names = ("other.test",) if kind == "another host" else ("127.0.0.1",)
    file = tls.certificate(folder, names=names, days=days)
    return tls.speaking(file), None if kind == "self-signed" else file


def error_of(url: str, *, synchronous: bool) -> ProviderError:
    row = Provider(name="acme", codec="openai_chat", base_url=url)
    try:
        _ask(row) if synchronous else asyncio.run(_aask(row))
    except ProviderError as error:
        return error
    raise AssertionError("it was answered")


def _ask(row: Provider) -> None:
    with Client("acme/x", providers=[row]) as client:
        client.run("Hi")


async def _aask(row: Provider) -> None:
    async with AsyncClient("acme/x", providers=[row]) as client:
        await client.run("Hi")


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("synchronous", [True, False], ids=["sync", "async"])
@pytest.mark.costly
def test_each_is_named_with_its_remedy(kind: str, synchronous: bool, tmp_path: Path) -> None:
    handle, trusted = handle_of(kind, tmp_path)
    with tls.peer(handle) as port:
        url = f"https://127.0.0.1:{port}/v1"
        if trusted is None:
            error = error_of(url, synchronous=synchronous)
            code, message = str(error.code), str(error)
        else:  # who is trusted is read when a process begins
            code, message = _in_a_process(url, synchronous, trusted)
    assert code == "TLSError"
    assert f"https://127.0.0.1:{port}" in message
    assert all(words in message for words in WRONG[kind])


def _in_a_process(url: str, synchronous: bool, trusted: Path) -> tuple[str, str]:
    program = (
        "import json, sys\nfrom tests.io.test_tls_failures import error_of\n"
        f"error = error_of({url!r}, synchronous={synchronous})\nprint(json.dumps([str(error.code), str(error)]))"
    )
    environment = {**os.environ, "SSL_CERT_FILE": str(trusted), "PYTHONPATH": os.pathsep.join(sys.path)}
    told = subprocess.run([sys.executable, "-c", program], env=environment, cwd=ROOT, capture_output=True, check=True)
    code, message = json.loads(told.stdout)
    return code, message


@pytest.mark.parametrize("synchronous", [True, False], ids=["sync", "async"])
@pytest.mark.costly
def test_what_is_trusted_is_spoken_to(synchronous: bool, tmp_path: Path) -> None:
    file = tls.certificate(tmp_path, names=("127.0.0.1",))
    with tls.peer(tls.speaking(file)) as port:
        code, message = _in_a_process(f"https://127.0.0.1:{port}/v1", synchronous, file)
    assert code != "TLSError"
    assert "choices" in message  # its answer is `{}`, which is none of a model's


@pytest.mark.slow
def test_tls_where_http_was_asked_is_told_of(tmp_path: Path) -> None:
    with tls.peer(tls.speaking(tls.certificate(tmp_path, names=("127.0.0.1",)))) as port:
        for synchronous in (True, False):
            assert "broke off" in str(error_of(f"http://127.0.0.1:{port}/v1", synchronous=synchronous))
