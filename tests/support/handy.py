"""Tools for the command line's tests: `tests.support.handy`, `tests.support.handy:WEATHER`, `tests.support.handy:MORE`."""

from __future__ import annotations

import os
import signal
from typing import Any

from dragoman.tools import Context, ToolSet, tool

RAN: list[str] = []
"""What ran, in order."""


@tool(read_only=True)
def get_weather(city: str) -> str:
    """The weather in a city."""
    RAN.append(f"get_weather {city}")
    return {"Oslo": "rain", "Paris": "sun"}[city]


@tool
def save(text: str) -> str:
    """Save a text."""
    RAN.append(f"save {text}")
    return f"saved {text!r}"


@tool(final=True)
def hand_in(value: int) -> dict[str, Any]:
    """Hand in the result."""
    return {"value": value}


@tool(read_only=True)
async def dawdle(context: Context) -> str:
    """Work until the user presses Ctrl-C."""
    context.report("dawdling")
    os.kill(os.getpid(), signal.SIGINT)
    return "x" * 1000


@tool(read_only=True)
def hang(context: Context) -> str:
    """Never end; the user presses Ctrl-C."""
    context.report("hanging")
    os.kill(os.getpid(), signal.SIGINT)
    signal.sigtimedwait([], 600)
    return "late"


WEATHER = ToolSet(get_weather)
MORE = [save, hand_in]


class Box:
    """An object with tools among its methods."""

    @tool
    def open(self) -> str:
        """Open the box."""
        return "empty"


BOX = Box()
NUMBER = 3
