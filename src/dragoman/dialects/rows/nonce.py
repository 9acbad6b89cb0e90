"""A row that asks for a code: its calls count only where their fence carries a nonce.

Knows rows that open a call by a fence; not who makes a nonce, nor how a model is told of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...errors import UsageError
from ...records import replace
from ..spec import Dialect, Span
from .documents import TILDE_FENCE
from .table import row_of

NONCE = re.compile(r"[A-Za-z0-9]{4,32}")
FENCE = re.compile(r"(?P<mark>~~~|```)(?P<word>\w+)(?P<end>\s*)")


def with_nonce(dialect: Dialect, nonce: str) -> Dialect:
    """The same fence dialect, opened by `~~~tool_call:NONCE`; text the model has read elsewhere cannot forge it.

    The nonce is 4 to 32 letters or digits.  Raises `UsageError` for a dialect whose calls are no fences.
    """
    if not isinstance(nonce, str) or not NONCE.fullmatch(nonce):
        raise UsageError(f"the nonce {nonce!r} is not 4 to 32 letters or digits; take for instance 8 random hex digits")
    if not carries_a_nonce(dialect):
        raise UsageError(f"dialect {dialect.name!r} has no fence to carry a nonce; use 'tool_call_fence'")
    found = map(FENCE.fullmatch, dialect.call.open)
    opened = tuple(f"{m['mark']}{m['word']}:{nonce}{m['end']}" for m in found if m)
    return replace(dialect, call=Span(opened, dialect.call.close))


def carries_a_nonce(dialect: Dialect) -> bool:
    """Are its calls fences, which can carry one?"""
    return bool(dialect.call.open) and all(map(FENCE.fullmatch, dialect.call.open))


def listens_for(nonce: str, dialects: str | Dialect | Sequence[str | Dialect], prompted: str) -> Dialect:
    """The one row that listens where calls must carry `nonce`: the one named, or the documents' fence.

    Every other row would believe calls without the code, so several that are named are refused, with a `UsageError`.
    """
    named = [prompted] if dialects == "auto" else [dialects] if isinstance(dialects, str | Dialect) else [*dialects]
    if len(named) != 1:
        raise UsageError(f"a nonce is carried by one dialect, not {len(named)}; name the one that the prompt asked for")
    return with_nonce(row_of(named[0] or TILDE_FENCE), nonce)
