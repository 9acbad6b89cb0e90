"""Clients of both libraries, synchronous and asynchronous, in one form: what a test does it does with each of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import httpx
import httpx2
import pytest

from tests.support.gateways import ASKS

CHAT = "http://anywhere.test/v1/chat/completions"
KINDS = {
    "httpx": (httpx, False), "httpx, async": (httpx, True), "httpx2": (httpx2, False), "httpx2, async": (httpx2, True),
}  # fmt: skip
every_kind = pytest.mark.parametrize("kind", KINDS)


class Asker:
    """One client, driven synchronously whatever it is."""

    def __init__(self, kind: str, transport: Any, **options: Any) -> None:
        self.library: ModuleType = KINDS[kind][0]
        self._is_async = KINDS[kind][1]
        self._runner = asyncio.Runner() if self._is_async else None
        made = self.library.AsyncClient if self._is_async else self.library.Client
        self.client: Any = made(transport=transport, **options)

    def do(self, what: Any) -> Any:
        """The value of `what`, awaited where this client's are."""
        return self._runner.run(what) if self._runner is not None else what

    def begin(self, **more: Any) -> Any:
        """Ask for a streamed answer; its head."""
        request = self.client.build_request("POST", CHAT, json={**ASKS["openai_chat"], "stream": True, **more})
        return self.do(self.client.send(request, stream=True))

    def pieces(self, answer: Any) -> Iterator[bytes]:
        """The body as it comes."""
        if self._runner is None:
            yield from answer.iter_raw()
            return
        coming = answer.aiter_raw()
        while (piece := self._runner.run(anext(coming, None))) is not None:
            yield piece

    def end(self, answer: Any) -> None:
        """Read no more."""
        self.do(answer.aclose() if self._is_async else answer.close())

    def post(self, url: str = CHAT, **more: Any) -> Any:
        """A whole answer."""
        return self.do(self.client.post(url, json={**ASKS["openai_chat"], **more}))

    def close(self) -> None:
        """Close the client, and with it the transport."""
        self.do(self.client.aclose() if self._is_async else self.client.close())
        if self._runner is not None:
            self._runner.close()


@contextmanager
def asker(kind: str, transport: Any, **options: Any) -> Iterator[Asker]:
    """A client for the length of a block."""
    made = Asker(kind, transport, **options)
    try:
        yield made
    finally:
        made.close()


def texts(data: bytes) -> str:
    """The text of a stream of OpenAI's chat API."""
    lines = [line[6:] for line in data.decode().splitlines() if line.startswith("data: {")]
    choices = [choice for line in lines for choice in json.loads(line).get("choices", ())]
    return "".join(choice["delta"].get("content") or "" for choice in choices)
