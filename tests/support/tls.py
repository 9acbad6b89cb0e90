"""Peers whose TLS is wrong in one way each, on this machine; certificates are made when they are asked for."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
Handle = Callable[[socket.socket], None]


def certificate(folder: Path, *, names: tuple[str, ...], days: tuple[int, int] = (-1, 1)) -> Path:
    """A file with a key and a certificate it signs itself, valid for these names and days from now."""
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    kinds = [x509.IPAddress(ipaddress.ip_address(n)) if n[0].isdigit() else x509.DNSName(n) for n in names]
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + datetime.timedelta(days=days[0]))
        .not_valid_after(now + datetime.timedelta(days=days[1]))
        .add_extension(x509.SubjectAlternativeName(kinds), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{names[0]}.pem"
    kept = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(kept + made.public_bytes(serialization.Encoding.PEM))
    return path


def speaking(file: Path) -> Handle:
    """TLS with this certificate, and an answer behind it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)

    def handle(client: socket.socket) -> None:
        with context.wrap_socket(client, server_side=True) as secure:
            _take_request(secure)
            secure.sendall(ANSWER)

    return handle


def _take_request(stream: socket.socket) -> None:
    """All of one request: a peer that ends with something unread resets the connection, its own answer included."""
    got = b""
    while b"\r\n\r\n" not in got and (more := stream.recv(65536)):
        got += more
    head, _, body = got.partition(b"\r\n\r\n")
    size = re.search(rb"(?i)content-length: *(\d+)", head)
    while size is not None and len(body) < int(size[1]) and (more := stream.recv(65536)):
        body += more


def plain(client: socket.socket) -> None:
    """No TLS at all."""
    client.recv(65536)  # a greeting of TLS, and nothing behind it
    client.sendall(ANSWER)


def cut(client: socket.socket) -> None:
    """A handshake that ends after its first bytes."""
    client.recv(65536)
    client.sendall(b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03")


def closed(client: socket.socket) -> None:
    """Nothing but the end."""


@contextlib.contextmanager
def peer(handle: Handle) -> Iterator[int]:
    """The port of a peer that handles each connection so."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                with client, contextlib.suppress(OSError):
                    handle(client)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
