"""Clients of five APIs, by the official packages: one request each, in a way that luck chooses.

Knows how each package asks and what it raises; nothing of the gateway's process.
Contract: whatever becomes of a request is counted under one name; an answer that a package could not read is
`UNREADABLE`, one that did not end `STUCK`, one whose connection ended before it `LOST`.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random
from typing import Any

import anthropic
import httpx
import httpx2
import ollama
import openai
from google import genai
from google.genai import errors as google

MODEL = "weak+errors=0.035"
WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "get_weather", "description": "Weather.", "parameters": WEATHER}
CHAT: Any = [{"type": "function", "function": FUNCTION}]
RESPONSES: Any = [{"type": "function", "strict": False, **FUNCTION}]
ANTHROPIC: Any = [{"name": "get_weather", "description": "Weather.", "input_schema": WEATHER}]
GOOGLE: Any = [{"function_declarations": [FUNCTION]}]
ASKED = "What is the weather in Oslo and Paris?"
MESSAGES: Any = [{"role": "user", "content": ASKED}]
HANG_UPS = 0.1
STUCK = 60.0
REFUSALS = (openai.APIError, anthropic.APIError, ollama.ResponseError, google.APIError)
"""What the packages raise for an error that they could read."""
LOST = (
    openai.APIConnectionError,
    anthropic.APIConnectionError,
    httpx2.TransportError,
    httpx.TransportError,
    ConnectionError,
)
"""What they raise for a connection that ended without an answer, or in the middle of one."""


class HungUp(Exception):
    """The client went away in the middle, as it wanted."""


class Clients:
    """The official clients, and what became of their requests."""

    def __init__(self, url: str, seed: int) -> None:
        self._openai = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=STUCK)
        self._anthropic = anthropic.AsyncAnthropic(base_url=url, api_key="none", max_retries=0, timeout=STUCK)
        self._ollama = ollama.AsyncClient(host=url, timeout=STUCK)
        self._google = genai.Client(api_key="none", http_options={"base_url": url}).aio.models
        self._luck = Random(seed)
        self.ends: Counter[str] = Counter()

    async def one(self) -> None:
        """One request, in one of the ways."""
        try:
            calls = await asyncio.wait_for(self._luck.choice(WAYS)(self), STUCK + 10)
        except HungUp:
            self.ends["hung up"] += 1
        except (TimeoutError, openai.APITimeoutError, anthropic.APITimeoutError):
            self.ends["STUCK"] += 1
        except LOST as error:
            self.ends[f"LOST {type(error.__cause__ or error).__name__}"] += 1
        except REFUSALS as error:
            self.ends[_told(error)] += 1
        except Exception as error:
            self.ends[f"UNREADABLE {type(error).__name__}: {error}"[:100]] += 1
        else:
            self.ends["calls" if calls else "words"] += 1

    def _may_hang_up(self, chance: float = HANG_UPS) -> None:
        if self._luck.random() < chance:
            raise HungUp

    async def chat_whole(self) -> int:
        """Chat completions, whole."""
        answer = await self._openai.chat.completions.create(model=MODEL, messages=MESSAGES, tools=CHAT)
        return len(answer.choices[0].message.tool_calls or ())

    async def chat_stream(self) -> int:
        """Chat completions, by the stream helper."""
        async with self._openai.chat.completions.stream(model=MODEL, messages=MESSAGES, tools=CHAT) as stream:
            async for _ in stream:
                self._may_hang_up(HANG_UPS / 10)
            answer = await stream.get_final_completion()
        return len(answer.choices[0].message.tool_calls or ())

    async def responses_whole(self) -> int:
        """Responses, whole and stored."""
        answer = await self._openai.responses.create(model=MODEL, input=ASKED, tools=RESPONSES)
        return sum(item.type == "function_call" for item in answer.output)

    async def responses_stream(self) -> int:
        """Responses, by the stream helper."""
        async with self._openai.responses.stream(model=MODEL, input=ASKED, tools=RESPONSES, store=False) as stream:
            async for event in stream:
                if event.type in ("error", "response.failed"):
                    raise openai.APIError("told", request=None, body=None)  # type: ignore[arg-type]
                self._may_hang_up(HANG_UPS / 10)
            answer = await stream.get_final_response()
        return sum(item.type == "function_call" for item in answer.output)

    async def messages_whole(self) -> int:
        """Anthropic messages, whole."""
        asked: Any = {"model": MODEL, "max_tokens": 2000, "messages": MESSAGES, "tools": ANTHROPIC}
        answer = await self._anthropic.messages.create(**asked)
        return sum(block.type == "tool_use" for block in answer.content)

    async def messages_stream(self) -> int:
        """Anthropic messages, by the stream helper."""
        asked: Any = {"model": MODEL, "max_tokens": 2000, "messages": MESSAGES, "tools": ANTHROPIC}
        async with self._anthropic.messages.stream(**asked) as stream:
            async for _ in stream:
                self._may_hang_up(HANG_UPS / 10)
            answer = await stream.get_final_message()
        return sum(block.type == "tool_use" for block in answer.content)

    async def ollama_stream(self) -> int:
        """Ollama's chat, streamed."""
        calls = 0
        asked: Any = {"model": MODEL, "messages": MESSAGES, "tools": CHAT, "stream": True}
        async for part in await self._ollama.chat(**asked):
            self._may_hang_up(HANG_UPS / 10)
            calls += len(part.message.tool_calls or ())
        return calls

    async def gemini_stream(self) -> int:
        """Gemini's generateContent, streamed."""
        calls = 0
        asked: Any = {"model": MODEL, "contents": ASKED, "config": {"tools": GOOGLE}}
        async for part in await self._google.generate_content_stream(**asked):
            self._may_hang_up(HANG_UPS / 10)
            calls += len(part.function_calls or ())
        return calls


WAYS = (
    Clients.chat_whole,
    Clients.chat_stream,
    Clients.responses_whole,
    Clients.responses_stream,
    Clients.messages_whole,
    Clients.messages_stream,
    Clients.ollama_stream,
    Clients.gemini_stream,
)


def _told(error: Exception) -> str:
    """An error's name: by its status where the answer was one, as told in a stream otherwise."""
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    begun = isinstance(error, openai.APIError | anthropic.APIError) and not isinstance(
        error, openai.APIStatusError | anthropic.APIStatusError
    )
    return f"refused {status}" if isinstance(status, int) and status >= 400 and not begun else "told in the stream"
