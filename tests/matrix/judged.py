"""What a cell of requests comes to: carried, mapped, told, silent, wrongly told, refused or broken.

Knows the table's wishes and what was sent and told; runs nothing.
"""

from __future__ import annotations

from typing import Any

from tests.support.asgi import Reply

from .answered import AnswerRow
from .running import Outcome
from .table import Row, misses

GOOD = ("carried", "mapped", "told", "weakened and told")


def judged(row: Row, backend: str, outcome: Outcome) -> tuple[str, str]:
    """The verdict, and what is wrong where it is none of `GOOD`."""
    if outcome.sent is None or outcome.reply.status != 200:
        return ("refused" if outcome.reply.status == 400 else "broken"), f"{outcome.reply.status} {outcome.reply.body[:200]!r}"
    told = outcome.told
    named = any(word in told for word in row.words)
    if backend in row.stands:
        wrong = misses(outcome.sent, row.stands[backend])
        if wrong:
            return ("told, though it could stand" if named else "silent"), "; ".join(wrong)
        return ("wrongly told", told) if told else ("carried", "")
    if backend in row.near:
        wrong = misses(outcome.sent, row.near[backend])
        return (("told, though it could stand" if named else "silent"), "; ".join(wrong)) if wrong else ("mapped", "")
    if backend in row.weaker:
        wrong = misses(outcome.sent, row.weaker[backend])
        if wrong:
            return ("told, though it could stand" if named else "silent"), "; ".join(wrong)
        return ("weakened and told", "") if named else ("silent", f"weaker, and told only {told!r}")
    if backend in row.either and not misses(outcome.sent, row.either[backend]):
        return "mapped", ""
    return ("told", "") if named else ("silent", f"told {told!r}" if told else "")


def judged_answer(row: AnswerRow, front: str, reply: Reply, held: Any, told: str) -> tuple[str, str]:
    """The same of a cell of answers."""
    if held is None:
        return "broken", f"{reply.status} {reply.body[:200]!r}"
    named = any(word in told for word in row.words)
    for places, verdict in ((row.stands, "carried"), (row.near, "mapped")):
        if front in places:
            if wrong := misses(held, places[front]):
                return ("told, though it could stand" if named else "silent"), "; ".join(wrong)
            return ("wrongly told", told) if told and verdict == "carried" else (verdict, "")
    if front in row.either and not misses(held, row.either[front]):
        return "mapped", ""
    return ("told", "") if named else ("silent", f"told {told!r}" if told else "")
