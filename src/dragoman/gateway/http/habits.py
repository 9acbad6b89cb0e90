"""`/v1/habits`: ways of writing calls that models have confirmed to whoever asks: shown, and forgotten.

Knows habits and ASGI; nothing of how they came about.
Contract: who asks sees and forgets his own and nobody else's; where a model is served is not told.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs

from ...turn.habits import Habit, Habits
from .asgi import Receive, Scope, Send
from .endpoints import ACCESS, problem, send_json

FILTERS = ("model", "habit")
UNKNOWN = "there is no field {name!r} here; give model, habit, or neither for all of them"


class ShowHabits:
    """The habits of models, as far as the asker's own conversations taught them."""

    def __init__(self, habits: Habits) -> None:
        self._habits = habits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """List them."""
        shown = [{"model": habit.model, "habit": habit.name} for habit in _own(self._habits, scope)]
        await send_json(send, {"habits": shown})


class ForgetHabits:
    """The same, forgotten: all of them, or those of a `model`, or one `habit`."""

    def __init__(self, habits: Habits) -> None:
        self._habits = habits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forget them, and say how many it were."""
        asked = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        unknown = next((name for name in asked if name not in FILTERS), "")
        if unknown:
            await send_json(send, problem(UNKNOWN.format(name=unknown[:80]), "invalid_request_error"), 400)
            return
        model, name = (asked.get(field, [""])[0] for field in FILTERS)
        own = list(_own(self._habits, scope))
        gone = [habit for habit in own if model in {"", habit.model} and name in {"", habit.name}]
        for habit in gone:
            self._habits.forget(habit)
        await send_json(send, {"forgotten": len(gone)})


def _own(habits: Habits, scope: Scope) -> Iterator[Habit]:
    access = scope.get(ACCESS)
    owner = access.name if access is not None else ""
    return (habit for habit in habits if habit.owner == owner)
