"""`learn` from plain data to plain data, so that another process can do it.

Contract: `answer(order)` gives `{"learned": …}` or `{"failed": words}`; `learned(answer)` is what `learn` returns, or
raises its `LearnError`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..rows.record import from_record, to_record
from .learner import Learned, learn
from .voice import LearnError

WARM: Mapping[str, Any] = {
    "template": "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls or [] %}<call>"
    "{{ c.function | tojson }}</call>{% endfor %}{% endfor %}<|assistant|>"
}
"""An order that asks for everything that any may need."""


def answer(order: Mapping[str, Any]) -> dict[str, Any]:
    """What is learned of the arguments of `learn` in `order`."""
    try:
        found = learn(**order)
    except LearnError as why:
        return {"failed": why.what}
    return {"learned": {**asdict(found), "dialect": to_record(found.dialect)}}


def learned(given: Mapping[str, Any]) -> Learned:
    """What `answer` gave, as `learn` would have returned or raised it."""
    if "failed" in given:
        raise LearnError(given["failed"])
    found = given["learned"]
    return Learned(**{**found, "dialect": from_record(found["dialect"]), "notes": tuple(found["notes"])})
