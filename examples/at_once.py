"""Several runs at the same time, with asynchronous tools, over one client."""

import asyncio
import os
import sys

from dragoman import AsyncClient, tool

MODEL = os.environ.get("DRAGOMAN_MODEL", "ollama/qwen3:8b")


@tool(read_only=True, timeout=5)
async def get_weather(city: str) -> str:
    """Say what the weather is like."""
    await asyncio.sleep(0)  # here a real tool would ask a server
    return f"fine in {city}"


async def main() -> None:
    """Ask about each city by itself."""
    async with AsyncClient(MODEL, tools=[get_weather]) as client:
        cities = ("Oslo", "Paris", "Lima")
        asked = (client.run(f"What is the weather in {city}?") for city in cities)
        runs = await asyncio.gather(*asked, return_exceptions=True)
    for city, run in zip(cities, runs, strict=True):
        if isinstance(run, BaseException):
            print(f"no answer about {city}: {run}", file=sys.stderr)
        else:
            print(run.text.strip())
    if any(isinstance(run, BaseException) for run in runs):
        sys.exit(1)


asyncio.run(main())
