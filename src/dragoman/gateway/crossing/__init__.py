"""What an answer holds besides text and calls, told to clients of another wire than it came on."""

from __future__ import annotations
