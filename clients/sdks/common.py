"""What the SDK scripts share: the task, the tool, and how a result is told (one JSON line each, answered by a line)."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

URL = os.environ["DRAGOMAN_URL"]
KEY = "not-a-real-key"
MODEL = "weak"
QUESTION = "What is the weather in Oslo and Paris?"
REPORTS = {"Oslo": "rain", "Paris": "sun"}
RAN: list[str] = []
DESCRIPTION = "The weather in a city."
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
OPENAI_TOOL = {
    "type": "function",
    "function": {"name": "get_weather", "description": DESCRIPTION, "parameters": SCHEMA},
}


def get_weather(city: str) -> str:
    """The weather in a city.

    Args:
        city: the city
    """
    RAN.append(city)
    return REPORTS[city]


def run(*paths: Callable[[], str | Awaitable[str]]) -> None:
    """Run every path: it asks, runs the tool, and gives the final text."""
    only = sys.argv[1:]
    for path in paths:
        if only and path.__name__ not in only:
            continue
        RAN.clear()
        start = time.monotonic()
        note = ""
        try:
            text: Any = path()
            if not isinstance(text, str):
                text = asyncio.run(text)
            # Gemini's clients wrap a result in an object, which the model then reads out.
            answered = re.search(r"Oslo: .*rain.*Paris: .*sun", text, re.DOTALL)
            ok = sorted(RAN) == ["Oslo", "Paris"] and answered is not None
            note = "" if ok else f"ran {RAN}, text {text[:200]!r}"
        except Exception as error:
            ok, note = False, f"{type(error).__name__}: {str(error)[:300]}"
            traceback.print_exc()
        told = {"path": path.__name__, "ok": ok, "seconds": round(time.monotonic() - start, 1), "note": note}
        print(json.dumps(told), flush=True)
        sys.stdin.readline()
