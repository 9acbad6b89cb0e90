"""A scripted HTTP peer on loopback: raw bytes in, raw bytes out, so that tests see what really crosses the wire."""

from __future__ import annotations

import atexit
import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.support.clocks import LONG

Talk = Callable[["Exchange"], None]


@dataclass
class Exchange:
    """One connection as the script sees it."""

    wire: socket.socket
    request: bytes = b""
    number: int = 0  # in the order in which they were begun
    gone: threading.Event = field(default_factory=threading.Event)

    def say(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.wire.sendall(data)

    def head(self, status: str = "200 OK", kind: str = "text/event-stream") -> None:
        """The head of an answer that ends when the connection does."""
        self.say(f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n".encode())

    def whole(self, body: bytes, status: str = "200 OK", headers: str = "") -> None:
        """A whole answer."""
        length = f"content-length: {len(body)}\r\nconnection: close\r\n"
        self.say(f"HTTP/1.1 {status}\r\n{headers}{length}\r\n".encode() + body)

    def reset(self) -> None:
        """Break the connection off, hard."""
        self.wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        self.wire.close()

    def until_gone(self) -> None:
        """Wait until the other side has closed the connection."""
        with contextlib.suppress(OSError):
            while self.wire.recv(4096):
                pass
        self.gone.set()


class Peer:
    """Serves every connection with `talk`; `exchanges` keeps what was asked."""

    def __init__(self, talk: Talk) -> None:
        self.talk, self.exchanges = talk, list[Exchange]()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._workers: list[threading.Thread] = []
        self._thread.start()

    def close(self) -> None:
        """Stop listening; wait for the conversations to end."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in (self._thread, *self._workers):
            thread.join(LONG)

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                wire, _ = self._listener.accept()
                worker = threading.Thread(target=self._converse, args=(wire, len(self._workers)), daemon=True)
                self._workers.append(worker)
                worker.start()

    def _converse(self, wire: socket.socket, number: int) -> None:
        with contextlib.closing(wire), contextlib.suppress(OSError):
            wire.settimeout(LONG)
            exchange = Exchange(wire, read_request(wire), number)
            self.exchanges.append(exchange)
            self.talk(exchange)


def read_request(wire: socket.socket) -> bytes:
    """A whole request: its head, and as much body as it announces."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = wire.recv(65536)
        if not piece:
            return data
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    while len(body) < length:
        body += wire.recv(65536)
    return head + b"\r\n\r\n" + body


@contextlib.contextmanager
def peer(talk: Talk) -> Iterator[Peer]:
    """A peer for the length of a block."""
    served = Peer(talk)
    try:
        yield served
    finally:
        served.close()


def refusing_port() -> int:
    """A port where nobody listens, nor ever will: it is taken."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    atexit.register(taken.close)
    port: int = taken.getsockname()[1]
    return port
