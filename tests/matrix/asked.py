"""All rows of requests."""

from __future__ import annotations

from . import asked_media, asked_settings, asked_talk, asked_thought
from .table import Row

ROWS: tuple[Row, ...] = (*asked_talk.ROWS, *asked_media.ROWS, *asked_settings.ROWS, *asked_thought.ROWS)
