"""What the scripts of scenes share: the things they send, and the lines they talk in.

A scene is one conversation with a model that plays its part: the script is told the front, the scene, the model and
whether to stream, one JSON line each, and answers each with what its SDK showed.  It judges nothing.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel

URL = os.environ["DRAGOMAN_URL"]
KEY = "not-a-real-key"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
IMAGE = base64.b64encode(PNG).decode()
PICTURE = "https://pictures.test/cat.png"
PDF = base64.b64encode(b"%PDF-1.4\n%%EOF\n").decode()
NOTES = "Alpha\nBeta\n"
NOTES_DATA = base64.b64encode(NOTES.encode()).decode()
ASKED = "What is this?"
QUESTION = "What is the weather in Oslo?"
QUESTIONS = "What is the weather in Oslo and Paris?"
NAMED, NAME = "My name is Ada.", "What is my name?"
REPORTS = {"Oslo": "rain", "Paris": "sun"}
DESCRIPTION = "The weather in a city."
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"name": "weather", "description": DESCRIPTION, "parameters": SCHEMA}
RAN: list[str] = []


class Report(BaseModel):
    """The form of structured output."""

    city: str
    temperature: int


def weather(city: str) -> str:
    """The weather in a city.

    Args:
        city: the city
    """
    RAN.append(city)
    return REPORTS[city]


Scene = Callable[[str, bool], dict[str, Any]]


def serve(fronts: Mapping[str, Mapping[str, Scene]]) -> None:
    """Play the scenes that are asked for, until there are no more lines."""
    print(json.dumps({front: list(scenes) for front, scenes in fronts.items()}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        RAN.clear()
        try:
            told = {"got": fronts[asked["front"]][asked["scene"]](asked["model"], asked["stream"])}
        except Exception as error:  # whatever an SDK raises is what it showed
            traceback.print_exc()
            told = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(told, default=str), flush=True)
