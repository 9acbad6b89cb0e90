"""Knowledge of what backends do with the tools they are sent: read them, or ignore them in silence.

Knows places and models by their names; nothing of how it is found out (`ignored_tools.py`).
Contract: bounded; what counts against a backend is forgotten after an hour, for it may be started otherwise any time;
that it reads tools is not.  It holds for all owners alike: what decides are the backend's counts and our own question,
and no conversation steers these.
"""

from __future__ import annotations

from enum import StrEnum

from ..memo import Backing, Recent
from ..records import NamedTuple

MOST_MODELS = 4096
LIFETIME = 3600.0
"""Seconds after which what is not sure for ever is found out anew."""
SEPARATOR = "\0"


class Support(StrEnum):
    """What is known of one model at one place."""

    UNKNOWN = "unknown"
    SUSPECTED = "suspected"  # its counts left no room for tools, and told in text it did not call either
    CLEARED = "cleared"  # it was suspected, asked, and nothing came of it: for now it is left in peace
    IGNORED = "ignored"
    READ = "read"


class Finding(NamedTuple):
    """What was found out: until when it holds (seconds since 1970; 0: for good), and what it was found out by."""

    support: Support
    until: float = 0.0
    why: str = ""


UNKNOWN = Finding(Support.UNKNOWN)


class ToolSupport:
    """The findings: this process' `own`; `behind` is what others know, and what it says counts first."""

    def __init__(self, behind: Backing[Finding] | None = None) -> None:
        self.own: Recent[tuple[str, str], Finding] = Recent(MOST_MODELS)
        self.behind = behind

    def of(self, place: str, model: str) -> Finding:
        """What is known of this model, whether it still holds or not."""
        if self.behind is not None and (found := self.behind.get([key := _key(place, model)])):
            return found[key]
        return self.own.get((place, model)) or UNKNOWN

    def note(self, place: str, model: str, finding: Finding) -> None:
        """This was found out."""
        self.own.put((place, model), finding)
        if self.behind is not None:
            self.behind.put({_key(place, model): finding})


def _key(place: str, model: str) -> str:
    key = SEPARATOR.join((place, model))
    return key if key.count(SEPARATOR) == 1 else SEPARATOR.join(part.replace(SEPARATOR, "") for part in (place, model))
