"""The inspector's questions about habits: ways of writing calls that models have confirmed, shown and forgotten.

Knows habits and keys; nothing of recordings or pages.
Contract: a key sees and forgets what its own conversations taught, one that may see all (or nobody's, where no keys
are asked for) everybody's; an address that holds a secret is shown without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...errors import UsageError
from ...report_words import habit_words
from ...turn.habits import Habit, Habits
from ..config.model import Access
from .redaction import shown_url

NO_FIELD = "there is no field {name!r} of a habit; give any of {fields}, or none to forget all of them"


class HabitList:
    """The habits that an asker may see."""

    def __init__(self, habits: Habits) -> None:
        self._habits = habits

    def shown(self, access: Access | None) -> list[dict[str, str]]:
        """Each habit as data and in words."""
        return [{**_fields(habit), "words": habit_words(habit.name)} for habit in self._seen(access)]

    def forget(self, access: Access | None, asked: Mapping[str, str]) -> int:
        """Forget those whose fields are as asked; how many it were."""
        unknown = next((name for name in asked if name not in FIELDS), "")
        if unknown:
            raise UsageError(NO_FIELD.format(name=unknown[:80], fields=", ".join(FIELDS)))
        gone = [one for one in self._seen(access) if all(_fields(one)[name] == value for name, value in asked.items())]
        for habit in gone:
            self._habits.forget(habit)
        return len(gone)

    def _seen(self, access: Access | None) -> Iterator[Habit]:
        everything = access is None or access.inspect
        return (habit for habit in self._habits if everything or (access is not None and habit.owner == access.name))


FIELDS = ("owner", "place", "model", "habit")


def _fields(habit: Habit) -> dict[str, str]:
    values = (habit.owner, shown_url(habit.place, ()), habit.model, habit.name)
    return dict(zip(FIELDS, values, strict=True))
