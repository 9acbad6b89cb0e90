"""Many clients for a long time: `python -m bench.soak [--minutes N] [--clients N] [--write]`.

Clients of five APIs ask a model that errs in three answers of ten through the gateway; one client in ten hangs up in
the middle, one upstream connection in twenty is reset.  What must hold: every answer that is not hung up on ends and is
read by the official client; memory and sockets of the gateway stay flat; nothing is stuck.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import anthropic
import openai

from ..load.__main__ import free_port, process
from ..table import machine, publish, table

MODEL = "weak+errors=0.035"
WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "get_weather", "description": "Weather.", "parameters": WEATHER}
CHAT: Any = [{"type": "function", "function": FUNCTION}]
ASKED = "What is the weather in Oslo and Paris?"
MESSAGES: Any = [{"role": "user", "content": ASKED}]
HANG_UPS = 0.1
STUCK = 60.0


class Clients:
    """The official clients, and what became of their requests."""

    def __init__(self, url: str, seed: int) -> None:
        self._openai = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=STUCK)
        self._anthropic = anthropic.AsyncAnthropic(base_url=url, api_key="none", max_retries=0, timeout=STUCK)
        self._luck = Random(seed)
        self.ends: Counter[str] = Counter()

    async def one(self) -> None:
        """One request, in one of the ways."""
        way = self._luck.choice([self.chat_whole, self.chat_stream, self.responses_stream, self.messages_stream])
        try:
            await asyncio.wait_for(way(), STUCK + 10)
        except (openai.APIStatusError, anthropic.APIStatusError) as error:
            self.ends["told in the stream" if error.status_code == 200 else f"refused {error.status_code}"] += 1
        except (openai.APIError, anthropic.APIError):
            self.ends["told in the stream"] += 1
        except TimeoutError:
            self.ends["STUCK"] += 1
        except Exception as error:
            self.ends[f"UNREADABLE {type(error).__name__}: {error}"[:100]] += 1

    def _hangs_up(self) -> bool:
        return self._luck.random() < HANG_UPS

    def _note(self, calls: int) -> None:
        self.ends["calls" if calls else "words"] += 1

    async def chat_whole(self) -> None:
        """Chat completions, whole."""
        answer = await self._openai.chat.completions.create(model=MODEL, messages=MESSAGES, tools=CHAT)
        self._note(len(answer.choices[0].message.tool_calls or ()))

    async def chat_stream(self) -> None:
        """Chat completions, by the stream helper."""
        async with self._openai.chat.completions.stream(model=MODEL, messages=MESSAGES, tools=CHAT) as stream:
            if self._hangs_up():
                await anext(aiter(stream))
                self.ends["hung up"] += 1
                return
            answer = await stream.get_final_completion()
        self._note(len(answer.choices[0].message.tool_calls or ()))

    async def responses_stream(self) -> None:
        """Responses, by the stream helper."""
        tools: Any = [{"type": "function", "strict": False, **FUNCTION}]
        async with self._openai.responses.stream(model=MODEL, input=ASKED, tools=tools, store=False) as stream:
            async for event in stream:
                if event.type in ("error", "response.failed"):
                    self.ends["told in the stream"] += 1
                    return
                if self._luck.random() < HANG_UPS / 10:
                    self.ends["hung up"] += 1
                    return
            answer = await stream.get_final_response()
        self._note(sum(item.type == "function_call" for item in answer.output))

    async def messages_stream(self) -> None:
        """Anthropic messages, by the stream helper."""
        tools: Any = [{"name": "get_weather", "description": "Weather.", "input_schema": WEATHER}]
        asked: Any = {"model": MODEL, "max_tokens": 2000, "messages": MESSAGES, "tools": tools}
        async with self._anthropic.messages.stream(**asked) as stream:
            if self._hangs_up():
                await anext(aiter(stream))
                self.ends["hung up"] += 1
                return
            answer = await stream.get_final_message()
        self._note(sum(block.type == "tool_use" for block in answer.content))


def resources(pid: int) -> tuple[float, int]:
    """MB of memory a process holds, and its open files."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 / 1e6, len(list(Path(f"/proc/{pid}/fd").iterdir()))


async def soak(url: str, pid: int, minutes: float, at_once: int) -> tuple[Counter[str], list[list[str]]]:
    """Ask for `minutes`; how the requests ended, and the gateway's resources at eleven moments."""
    clients, end = Clients(url, 1), time.monotonic() + minutes * 60
    rows: list[list[str]] = []

    async def client() -> None:
        while time.monotonic() < end:
            await clients.one()

    async def watch() -> None:
        for moment in range(11):
            await asyncio.sleep(minutes * 6 if moment else 5)
            held, files = resources(pid)
            rows.append([f"{moment * 10} %", f"{held:.0f}", str(files), str(clients.ends.total())])
            print(rows[-1], file=sys.stderr, flush=True)

    await asyncio.gather(watch(), *(client() for _ in range(at_once)))
    await asyncio.sleep(3)
    held, files = resources(pid)
    rows.append(["idle again", f"{held:.0f}", str(files), str(clients.ends.total())])
    return clients.ends, rows


def main(argv: Sequence[str] | None = None) -> None:
    """Soak, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args(argv)
    ports = free_port(), free_port()
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    command = [sys.executable, "-m", "bench.soak.servers"]
    with process([*command, "upstream", str(ports[0]), "-"], urls[0]):
        gateway = [*command, "gateway", str(ports[1]), urls[0]]
        with process(gateway, urls[1]):
            pid = next(
                int(path.name)
                for path in Path("/proc").iterdir()
                if path.name.isdigit() and f"gateway\0{ports[1]}" in (path / "cmdline").read_text(errors="replace")
            )
            ends, rows = asyncio.run(soak(urls[1], pid, given.minutes, given.clients))
    told = ", ".join(f"{name} {count:,}" for name, count in ends.most_common())
    text = f"{given.minutes:g} minutes, {given.clients} clients; {machine()}.  Ends: {told}.\n\n"
    text += table(("moment", "gateway MB", "open files", "requests"), rows)
    print(text)
    if given.write:
        publish("soak", text)


if __name__ == "__main__":
    main()
