"""Errors become codes by their class, errno and status, and messages without secrets or tracebacks."""

from __future__ import annotations

import asyncio
import concurrent.futures
import errno
import http.client
import multiprocessing
import os
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from email.message import Message
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import httpx2
import jsonschema_rs
import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman import ErrorCode, ProviderError, ToolError
from dragoman.effects import Cancelled
from dragoman.tools import code_of, failure_of
from dragoman.types import ToolCall
from tests.support.peer import refusing_port

CALL = ToolCall(id="c1", name="fetch")


def raised_by(run: Any) -> BaseException:
    try:
        run()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def wrapped(outer: BaseException, cause: BaseException) -> BaseException:
    outer.__cause__ = cause
    return outer


def meanwhile(outer: BaseException, context: BaseException) -> BaseException:
    outer.__context__ = context
    return outer


REQUEST = httpx.Request("GET", "http://a.test/x?api_key=s3cr3t")
REFUSED = ConnectionRefusedError(errno.ECONNREFUSED, "refused")
UNKNOWN_HOST = socket.gaierror(socket.EAI_NONAME, "unknown")


class Answered(Exception):
    """Like every client library's: the status stands on the response or on the error."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Status:
    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Hostile(Exception):
    @property
    def response(self) -> Any:
        raise RuntimeError("not read yet")

    def __str__(self) -> str:
        raise RuntimeError("no words")


# (what is raised, its code)
TABLE: list[tuple[BaseException, str]] = [
    (ToolError("BusinessError:ItemNotFound", "no such item"), "BusinessError:ItemNotFound"),
    (ToolError(ErrorCode.DENIED), "Denied"),
    (ToolError("a] b"), "a_b"),
    (FileNotFoundError(), "ENOENT"),
    (PermissionError(errno.EPERM, "not permitted"), "EPERM"),
    (PermissionError(), "EACCES"),
    (OSError(errno.ELOOP, "loop"), "ELOOP"),
    (OSError("no number"), "UnknownError"),
    (TimeoutError(), "Timeout"),
    (TimeoutError(errno.ETIMEDOUT, "timed out"), "ETIMEDOUT"),
    (asyncio.CancelledError(), "Canceled"),
    (concurrent.futures.CancelledError(), "Canceled"),
    (KeyboardInterrupt(), "Canceled"),
    (Cancelled(), "Canceled"),
    (multiprocessing.TimeoutError(), "Timeout"),
    (subprocess.TimeoutExpired("sleep", 3), "Timeout"),
    (subprocess.CalledProcessError(2, "ls"), "ExitCode:2"),
    (subprocess.CalledProcessError(-9, "ls"), "ExitCode:137"),
    (SystemExit(3), "ExitCode:3"),
    (SystemExit(), "ExitCode:0"),
    (SystemExit("words"), "ExitCode:1"),
    (UNKNOWN_HOST, "DNSError"),
    (ssl.SSLCertVerificationError(1, "certificate"), "TLSError"),
    (ssl.SSLError(1, "handshake"), "TLSError"),
    (ConnectionError(), "NetworkError"),
    (BrokenPipeError(), "EPIPE"),
    (BlockingIOError(errno.EAGAIN, "again"), "EAGAIN"),
    (http.client.RemoteDisconnected("closed"), "ECONNRESET"),
    (http.client.BadStatusLine("x"), "NetworkError"),
    (urllib.error.URLError(UNKNOWN_HOST), "DNSError"),
    (urllib.error.URLError(REFUSED), "ECONNREFUSED"),
    (urllib.error.URLError("unknown url type"), "NetworkError"),
    (urllib.error.HTTPError("http://a.test", 404, "Not Found", Message(), None), "HTTP:404"),
    (httpx.ConnectTimeout("slow"), "NetworkTimeout"),
    (wrapped(httpx.ReadTimeout("slow"), TimeoutError()), "NetworkTimeout"),
    (httpx.ConnectError("failed"), "NetworkError"),
    (wrapped(httpx.ConnectError("failed"), wrapped(OSError(), UNKNOWN_HOST)), "DNSError"),
    (meanwhile(httpx2.ConnectError("failed"), meanwhile(httpx2.ConnectError("inner"), REFUSED)), "ECONNREFUSED"),
    (wrapped(httpx2.ConnectError("failed"), ssl.SSLError(1, "handshake")), "TLSError"),
    (wrapped(httpx2.ConnectError("failed"), TimeoutError()), "NetworkTimeout"),
    (httpx2.RemoteProtocolError("closed"), "NetworkError"),
    (httpx.HTTPStatusError("503", request=REQUEST, response=httpx.Response(503, request=REQUEST)), "HTTP:503"),
    (aiohttp.ServerTimeoutError(), "NetworkTimeout"),
    (aiohttp.ServerDisconnectedError(), "NetworkError"),
    (aiohttp.ClientPayloadError(), "NetworkError"),
    (aiohttp.ClientResponseError(None, (), status=429), "HTTP:429"),  # type: ignore[arg-type]
    (aiohttp.ClientConnectorError(None, REFUSED), "ECONNREFUSED"),  # type: ignore[arg-type]
    (aiohttp.ClientConnectorDNSError(None, UNKNOWN_HOST), "DNSError"),  # type: ignore[arg-type]
    (Answered(response=Status(status_code=418)), "HTTP:418"),
    (Answered(response=Status(status=500)), "HTTP:500"),
    (Answered(status_code=401), "HTTP:401"),
    (Answered(response={"ResponseMetadata": {"HTTPStatusCode": 403}}), "HTTP:403"),
    (Answered(code=7), "ToolCrashed"),
    (ProviderError("too many", status=429), "HTTP:429"),
    (raised_by(lambda: pydantic.TypeAdapter(int).validate_python("x")), "InvalidArgs"),
    (raised_by(lambda: jsonschema_rs.validate({"type": "integer"}, "x")), "InvalidArgs"),
    (KeyError("user_id"), "ToolCrashed"),
    (RecursionError(), "ToolCrashed"),
    (Hostile(), "ToolCrashed"),
    (wrapped(RuntimeError("cannot read the settings"), FileNotFoundError(errno.ENOENT, "no")), "ENOENT"),
    (meanwhile(ValueError("bad settings"), FileNotFoundError(errno.ENOENT, "no")), "ToolCrashed"),
    (ExceptionGroup("two", [KeyError("a"), TimeoutError()]), "Timeout"),
]


@pytest.mark.requirement("weak-chatcli-10")
@pytest.mark.parametrize(("error", "code"), TABLE, ids=[f"{i}-{type(row[0]).__name__}" for i, row in enumerate(TABLE)])
def test_an_error_has_its_code(error: BaseException, code: str) -> None:
    found = failure_of(CALL, error)
    assert found.error_code == code
    assert (found.call_id, found.name, found.is_error) == ("c1", "fetch", True)
    assert found.text
    assert failure_of(CALL, error) == found


@pytest.mark.parametrize(
    "name", [code.value for code in ErrorCode if code.value.startswith("E") and code.value.isupper()]
)
def test_every_errno_of_the_taxonomy_is_told_by_its_name(name: str) -> None:
    number = getattr(errno, name)
    assert code_of(OSError(number, os.strerror(number))) == name


# ── real ones ────────────────────────────────────────────────────────────────


async def ask_aiohttp(port: int) -> None:
    async with aiohttp.ClientSession() as session:
        await session.get(f"http://127.0.0.1:{port}/")


CLIENTS: dict[str, Any] = {
    "urllib": lambda port: urllib.request.urlopen(f"http://127.0.0.1:{port}/"),
    "httpx": lambda port: httpx.get(f"http://127.0.0.1:{port}/", trust_env=False),
    "httpx2": lambda port: httpx2.get(f"http://127.0.0.1:{port}/", trust_env=False),
    "aiohttp": lambda port: asyncio.run(ask_aiohttp(port)),
    "socket": lambda port: socket.create_connection(("127.0.0.1", port)),
}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_refused_connection_is_one_whatever_the_client(client: str) -> None:
    assert code_of(raised_by(lambda: CLIENTS[client](refusing_port()))) == "ECONNREFUSED"


def test_requests_tells_a_refused_connection_too() -> None:
    requests = pytest.importorskip("requests")
    assert code_of(raised_by(lambda: requests.get(f"http://127.0.0.1:{refusing_port()}/"))) == "ECONNREFUSED"


def test_files_and_processes_as_python_raises_them(tmp_path: Path) -> None:
    assert code_of(raised_by((tmp_path / "nothing").read_text)) == "ENOENT"
    assert code_of(raised_by(tmp_path.read_text)) == "EISDIR"
    assert code_of(raised_by(tmp_path.mkdir)) == "EEXIST"
    failed = raised_by(
        lambda: subprocess.run(
            [sys.executable, "-c", "import sys; sys.exit('broken pump')"], check=True, capture_output=True
        )
    )
    found = failure_of(CALL, failed)
    assert found.error_code == "ExitCode:1"
    assert "broken pump" in found.text


# ── words ────────────────────────────────────────────────────────────────────


def test_the_message_ends_with_what_to_do() -> None:
    error = FileNotFoundError(errno.ENOENT, "No such file or directory", "/tmp/x")
    assert (
        failure_of(CALL, error).text
        == "No such file or directory: '/tmp/x'; check the path or name, and look first at what there is"
    )
    assert failure_of(CALL, KeyError("user_id")).text == "KeyError: 'user_id'; try other arguments or another way"


def test_a_tools_own_words_stay_as_they_are() -> None:
    assert failure_of(CALL, ToolError("NoSuchItem", "There is no item 7.")).text == "There is no item 7."


SECRETS = [
    "cannot reach https://user:hunter2@host/x",
    "GET https://a.test/v1?api_key=hunter2&x=1 failed",
    "the header Authorization: Bearer hunter2hunter2 was refused",
    "login with password=hunter2 failed",
    "bad key sk-hunter2hunter2hunter2",
]


@pytest.mark.parametrize("words", SECRETS)
@pytest.mark.parametrize("kind", [RuntimeError, ToolError, OSError, httpx.ConnectError])
def test_no_secret_reaches_the_model_or_the_journal(words: str, kind: Any) -> None:
    def act() -> None:
        raise kind("X", words) if kind is ToolError else kind(words)

    found = failure_of(CALL, raised_by(act))
    assert "hunter2" not in found.text
    assert "hunter2" not in found.metadata["traceback"]


def test_the_traceback_is_for_the_journal_alone() -> None:
    def act() -> None:
        raise ValueError("wrong turn")

    found = failure_of(CALL, raised_by(act))
    assert "wrong turn" in found.text
    assert __file__ not in found.text
    assert __file__ in found.metadata["traceback"]


def test_a_traceback_inside_the_words_is_left_out() -> None:
    words = 'worker died\nTraceback (most recent call last):\n  File "/srv/app/secret.py", line 3, in <module>\n    run()\nValueError: no turns left'
    text = failure_of(CALL, RuntimeError(words)).text
    assert "secret.py" not in text
    assert "ValueError: no turns left" in text
    assert "worker died" in text


def test_a_command_is_not_shown_for_it_may_hold_secrets() -> None:
    failed = subprocess.CalledProcessError(1, ["curl", "-u", "me:hunter2"], stderr=b"401")
    assert "hunter2" not in failure_of(CALL, failed).text


@settings(deadline=None)
@given(st.text(), st.sampled_from([ValueError, OSError, RuntimeError, ToolError]))
def test_a_message_is_short_whatever_was_said(words: str, kind: Any) -> None:
    found = failure_of(CALL, kind(words * 200))
    assert 0 < len(found.text) < 1200
    found.text.encode()


@pytest.mark.parametrize("piece", ["0", "\n", " ", "://", "key", "token-", 'File "', "a@", "?key=", "Bearer ", "eyJ."])
def test_a_message_of_any_length_is_cut_at_once(piece: str) -> None:
    assert len(failure_of(CALL, RuntimeError(piece * 100_000)).text) < 1200
