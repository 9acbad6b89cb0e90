"""What the SDK scripts share: the task, the tool, and how a result is told (one JSON line each, answered by a line)."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any

URL = os.environ["DRAGOMAN_URL"]
KEY = "not-a-real-key"
MODEL = "weak"
QUESTION = "What is the weather in Oslo and Paris?"
REPORTS = {"Oslo": "rain", "Paris": "sun"}
RAN: list[str] = []
FORM = {"city": "Oslo", "temperature": 21}
FORM_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "temperature": {"type": "integer"}},
    "required": ["city", "temperature"],
    "additionalProperties": False,
}
FORM_QUESTION = "Report that the temperature in Oslo is 21 degrees, in the form you are given."
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


def listed(model: str) -> str:
    """The name of a model without what it says of the model's mistakes."""
    return model.partition("+")[0]


Path = Callable[[], Any]


def run(*paths: Path, others: Mapping[Path, object] | None = None) -> None:
    """Run every path: it asks, runs the tool, and gives the final text.  `others` must give just what stands there."""
    expected, only = others or {}, sys.argv[1:]
    for path in (*paths, *expected):
        if only and path.__name__ not in only:
            continue
        RAN.clear()
        start = time.monotonic()
        try:
            given: Any = path()
            given = asyncio.run(given) if asyncio.iscoroutine(given) else given
            note = _wrong(given) if path not in expected else "" if given == expected[path] else f"gave {given!r}"[:300]
        except Exception as error:
            note = f"{type(error).__name__}: {str(error)[:300]}"
            traceback.print_exc()
        told = {"path": path.__name__, "ok": not note, "seconds": round(time.monotonic() - start, 1), "note": note}
        # On a line of its own, whatever a library printed before; the answer is waited for.
        print("\n" + json.dumps(told), flush=True)
        sys.stdin.readline()
    print('\n{"path": null}', flush=True)


def _wrong(text: str) -> str:
    """What is wrong with the end of the task; Gemini's clients wrap a result in an object, which is read out."""
    if sorted(RAN) == ["Oslo", "Paris"] and re.search(r"Oslo: .*rain.*Paris: .*sun", text, re.DOTALL):
        return ""
    return f"ran {RAN}, text {text[:200]!r}"
