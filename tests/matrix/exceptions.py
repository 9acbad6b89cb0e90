"""Cells that come to something else than the table asks, each with what it comes to and why that is so.

Short, and held to: a cell that is listed and no longer comes to this fails too.
"""

from __future__ import annotations

from collections.abc import Mapping

from .table import C, G, X

SEVERAL = "one answer is given of several where the backend is Gemini or the client's: the others are told"
FEWER = "these backends are asked for two answers and give one, which is told"
REQUESTS: Mapping[tuple[str, str, str], tuple[str, str]] = {
    ("two answers", G, C): ("told, though it could stand", SEVERAL),
    ("two answers", G, X): ("told, though it could stand", SEVERAL),
    ("two answers", C, G): ("told, though it could stand", SEVERAL),
    ("two answers", G, G): ("wrongly told", SEVERAL),
    ("two answers", C, C): ("wrongly told", FEWER),
    ("two answers", C, X): ("wrongly told", FEWER),
}
"""Row, front, backend → what it comes to, and why."""
UNREAD = "other answers that nobody asked for are not judged, and an answer that nobody judged is not given"
ANSWERS: Mapping[tuple[str, str, str], tuple[str, str]] = {
    ("a second answer", C, C): ("told, though it could stand", UNREAD),
    ("a second answer", C, G): ("told, though it could stand", UNREAD),
    ("a second answer", G, C): ("told, though it could stand", UNREAD),
    ("a second answer", G, G): ("told, though it could stand", UNREAD),
}
"""Row, backend, front → what it comes to, whole and streamed, and why."""
