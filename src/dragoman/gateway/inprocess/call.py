"""One ASGI call made inside the process.

Knows ASGI messages and answers; nothing of threads or of any client.
Contract: whatever the application does, the answer has a head and an end; a client that has left is a client that has
gone away, as a server would say it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp

from ...jsontext import to_json
from ..exchange import JSON_TYPE
from ..http.asgi import Message, Scope
from ..http.endpoints import problem
from .answer import Answer, AnswerHead

log: logging.Logger = logging.getLogger("dragoman.gateway")

FAILED = "the gateway failed here, which is a mistake of ours; its log says where"
CUT = "the gateway ended before the answer did"


@dataclass(slots=True, eq=False)
class Call:
    """A request with its body, and the answer to it."""

    scope: Scope
    body: bytes = field(repr=False)
    answer: Answer
    _sent: bool = False
    _started: bool = False

    async def run(self, app: ASGIApp) -> None:
        """Let `app` serve it."""
        why = CUT
        try:
            await app(self.scope, self._receive, self._send)
        except Exception:
            log.exception("an application inside this process failed for a reason of our own")
            why = FAILED
            await self.refuse(500, FAILED, "api_error")
        finally:
            self.answer.end(why)

    async def refuse(self, status: int, message: str, kind: str) -> None:
        """Answer with an error that clients of OpenAI and of Anthropic both read, where no answer was begun."""
        if not self._started:
            body = to_json(problem(message, kind)).encode()
            headers = [(b"content-type", JSON_TYPE.encode()), (b"content-length", str(len(body)).encode())]
            await self._send({"type": "http.response.start", "status": status, "headers": headers})
            await self._send({"type": "http.response.body", "body": body})

    async def _receive(self) -> Message:
        if not self._sent:
            self._sent = True
            body, self.body = self.body, b""
            return {"type": "http.request", "body": body, "more_body": False}
        await self.answer.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._started = True
            self.answer.start(AnswerHead(message["status"], message.get("headers", ())))
        elif message["type"] == "http.response.body":
            await self.answer.write(message.get("body", b""), last=not message.get("more_body", False))


def scope_of(method: str, url: Any, headers: Any) -> dict[str, Any]:
    """The scope of a request; `url` and `headers` as httpx gives them: whatever host was meant, it comes here."""
    raw_path, _, query = url.raw_path.partition(b"?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": url.scheme,
        "path": url.path,
        "raw_path": raw_path,
        "query_string": query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in headers.raw],
        "server": (url.host, url.port),
        "client": None,
    }
