"""What several wires say in words of their own: settings, parts of messages and media."""

from __future__ import annotations
