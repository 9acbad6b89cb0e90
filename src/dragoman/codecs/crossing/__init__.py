"""What several wires say in words of their own: settings, parts of messages, citations, media and searches."""

from __future__ import annotations
