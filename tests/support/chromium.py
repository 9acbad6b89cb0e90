"""A real Chromium without a window, driven over its own protocol: what the tests of pages look through.

Nothing but the browser itself and a websocket.  `skip_without` says where there is none.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 60.0
"""Seconds until what never comes counts as never coming."""
LOOKS = 0.03
LOOK = "(() => { try { const v = %s; return v instanceof Node || v; } catch { return null; } })()"
"""Looks for what may not be there yet."""

skip_without = pytest.mark.skipif(not any(map(shutil.which, NAMES)), reason="no Chromium on this machine")


class Page:
    """One page: what it asked for, and what its console says."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket, self._count = socket, itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._session = ""
        self.requested: list[str] = []
        self.complaints: list[str] = []
        self._listening = asyncio.ensure_future(self._listen())

    async def begin(self) -> None:
        """Make the page."""
        target = await self.command("Target.createTarget", url="about:blank")
        attached = await self.command("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            await self.command(f"{domain}.enable")

    async def open(self, url: str) -> None:
        """Go to `url`."""
        await self.command("Page.navigate", url=url)

    async def size(self, width: int, height: int, theme: str = "light") -> None:
        """How large the window is, and what the system likes."""
        await self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        await self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    async def value(self, expression: str) -> Any:
        """What a script comes to."""
        reply = await self.command("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in reply, reply["exceptionDetails"]
        return reply["result"].get("value")

    async def until(self, expression: str) -> Any:
        """Wait until a script comes to something that counts as true."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not (found := await self.value(LOOK % expression)):
                    await asyncio.sleep(LOOKS)
        except TimeoutError:
            shown = await self.value("document.body.innerText.slice(0, 3000)")
            raise AssertionError(f"never came: {expression}\n{self.complaints}\n{shown}") from None
        return found

    async def press(self, key: str) -> None:
        """Press and let go of a key."""
        text = {"text": key} if len(key) == 1 else {}
        await self.command("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        await self.command("Input.dispatchKeyEvent", type="keyUp", key=key)

    async def click(self, selector: str) -> None:
        """Click what `selector` finds first."""
        await self.value(f"document.querySelector({json.dumps(selector)}).click()")

    async def picture(self, path: Path) -> None:
        """What is seen, as a PNG."""
        reply = await self.command("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(reply["data"]))

    async def command(self, method: str, **params: Any) -> dict[str, Any]:
        """One command of the protocol."""
        number = next(self._count)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        session = {"sessionId": self._session} if self._session else {}
        await self._socket.send_json({"id": number, "method": method, "params": params, **session})
        return await asyncio.wait_for(self._waiting[number], PATIENCE)

    async def end(self) -> None:
        """Listen no longer."""
        self._listening.cancel()
        with suppress(asyncio.CancelledError):
            await self._listening

    async def _listen(self) -> None:
        async for message in self._socket:
            event = json.loads(message.data)
            waiting = self._waiting.pop(event.get("id", 0), None)
            if waiting is not None and "error" in event:
                waiting.set_exception(AssertionError(event["error"]))
            elif waiting is not None:
                waiting.set_result(event["result"])
            else:
                self._hear(event.get("method", ""), event.get("params", {}))

    def _hear(self, method: str, event: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requested.append(event["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(event["exceptionDetails"])[:2000])
        elif method == "Runtime.consoleAPICalled" and event["type"] in {"error", "warning", "assert"}:
            self.complaints.append(json.dumps(event["args"])[:2000])
        elif method == "Log.entryAdded" and event["entry"]["level"] in {"error", "warning"}:
            self.complaints.append(json.dumps(event["entry"])[:2000])


@asynccontextmanager
async def page(folder: Path) -> AsyncIterator[Page]:
    """A page of a browser of its own, whose profile is in `folder`; both end with the block."""
    program = next(filter(None, map(shutil.which, NAMES)))
    process = await asyncio.create_subprocess_exec(
        program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        "--disable-extensions", "--disable-background-networking", "--hide-scrollbars", "--remote-debugging-port=0",
        f"--user-data-dir={folder}", "about:blank",
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        port, path = await _address(folder / "DevToolsActivePort")
        async with (
            aiohttp.ClientSession(trust_env=False) as session,
            session.ws_connect(f"ws://127.0.0.1:{port}{path}", max_msg_size=0) as socket,
        ):
            made = Page(socket)
            await made.begin()
            try:
                yield made
            finally:
                with suppress(Exception):
                    await made.command("Browser.close")
                await made.end()
    finally:
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), 5)
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _address(file: Path) -> tuple[str, str]:
    async with asyncio.timeout(PATIENCE):
        while not (file.exists() and file.read_text().count("\n")):
            await asyncio.sleep(LOOKS)
    port, path = file.read_text().split("\n")[:2]
    return port, path
