"""Garbage collection of a process that serves: what was loaded is not looked through again for each few requests.

Knows the interpreter; nothing of requests.  Contract: what is garbage is still collected; only processes of our own do
this, for it counts for all that runs in one.
"""

from __future__ import annotations

import gc

YOUNG, MIDDLE, OLD = 10_000, 20, 20
"""Objects made, and collections of the generation before, after which a generation is looked through.

A request makes some thousand objects that are no garbage, or are let go of at once: Python's own 700 are looked through
several times for each.
"""


def collect_less() -> None:
    """From now on what is there is taken for lasting, and what is new is looked through less often."""
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
