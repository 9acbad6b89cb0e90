"""One request on a connection of its own, and how it ended: what the network did, not what the answer means.

Knows HTTP/1.1; nothing of gateways.  Contract: `ask` raises nothing that a peer could cause; of an answer cut short,
`whole` is false, and `port`, this end's, tells who held the other.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import h11


@dataclass(slots=True)
class Ended:
    """How a request ended; times are of `time.monotonic()`."""

    begun: float
    port: int = 0
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    whole: bool = False
    stuck: bool = False
    hung_up: bool = False
    why: str = ""
    ended: float = 0.0

    def value(self) -> Any:
        """The body as JSON; `{}` where it is none."""
        try:
            found = json.loads(self.body)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def events(self) -> list[dict[str, Any]]:
        """What server-sent events said, `[DONE]` as `{"type": "[DONE]"}`."""
        said = []
        for line in self.body.splitlines():
            if line.startswith(b"data: "):
                said.append({"type": "[DONE]"} if line == b"data: [DONE]" else json.loads(line[6:]))
        return said


async def ask(
    url: str, path: str, body: object, headers: Mapping[str, str], *, patience: float, leave_after: int = -1
) -> Ended:
    """Post `body`; hang up after `leave_after` pieces of the answer, where that is not negative."""
    found = Ended(time.monotonic())
    host, _, port = url.removeprefix("http://").partition(":")
    try:
        async with asyncio.timeout(patience):
            reader, writer = await asyncio.open_connection(host, int(port))
            try:
                found.port = writer.get_extra_info("sockname")[1]
                writer.write(_request(host, path, body, headers))
                await _read(reader, found, leave_after)
            finally:
                writer.close()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
    except TimeoutError:
        found.stuck = True
    except (OSError, h11.ProtocolError, asyncio.IncompleteReadError) as error:
        found.why = f"{type(error).__name__}: {error}"
    found.ended = time.monotonic()
    return found


def _request(host: str, path: str, body: object, headers: Mapping[str, str]) -> bytes:
    text = json.dumps(body).encode()
    told = {"host": host, "content-type": "application/json", "content-length": str(len(text)), "connection": "close"}
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in {**told, **headers}.items())]
    return "\r\n".join([*lines, "", ""]).encode() + text


async def _read(reader: asyncio.StreamReader, found: Ended, leave_after: int) -> None:
    wire = h11.Connection(h11.CLIENT)
    wire.send(h11.Request(method="POST", target="/", headers=[("host", "x"), ("connection", "close")]))
    wire.send(h11.EndOfMessage())
    pieces: list[bytes] = []
    while not found.whole:
        match event := wire.next_event():
            case h11.NEED_DATA:
                wire.receive_data(await reader.read(65536))
            case h11.Response():
                found.status = event.status_code
                found.headers = {name.decode(): value.decode() for name, value in event.headers}
            case h11.Data():
                pieces.append(bytes(event.data))
                if len(pieces) == leave_after:
                    found.hung_up = True
                    return
            case h11.EndOfMessage():
                found.body, found.whole = b"".join(pieces), True
            case _:
                raise h11.RemoteProtocolError(f"{event!r} before the answer's end")
