"""What earlier conversations taught about a deployment: how its model writes calls, and whether it reads its tools.

Knows the knowledge of turns by its own values; asks nobody.  Contract: everything remembered of this place and model is
shown, with how to forget it; forgetting leaves nothing of it, and nothing of others is touched.
"""

from __future__ import annotations

from datetime import UTC, datetime

from ..providers.route import Route
from ..providers.spec import Tools
from ..report_words import habit_words
from ..turn.capabilities import Capabilities
from ..turn.habits import Habit
from ..turn.ignored_tools import WHY
from ..turn.tool_support import UNKNOWN, Finding, Support
from .findings import Grade, ProbeResult

HABITS, SERVED = "remembered habits", "remembered tools"
FORGET = "to forget it, run this again with --forget; a running gateway forgets by DELETE /v1/habits and in /inspect"
FORGET_TOOLS = "to ask anew at once, run this once more with --forget"
NO_HABITS = "it has confirmed no way of writing calls; one that is in doubt is asked about"
SAID: dict[Support, tuple[Grade, str]] = {
    Support.UNKNOWN: (Grade.UNKNOWN, "nothing is known of whether it reads its tools; they are sent natively"),
    Support.READ: (Grade.GOOD, "it reads the tools it is sent; they are sent natively"),
    Support.CLEARED: (Grade.UNKNOWN, "asked for its tools it said nothing clear; they are sent natively{until}"),
    Support.SUSPECTED: (
        Grade.POOR, "its counts left no room for tools, and told in text it called none; they are sent natively{until}",
    ),
    Support.IGNORED: (Grade.POOR, "it ignores the tools it is sent: {why}; they are told in text{until}"),
}  # fmt: skip
AS_TEXT = "its tools are told in text, as its provider or its settings say"


def learned(route: Route, model: str, known: Capabilities, now: float) -> list[ProbeResult]:
    """What is remembered of `model` at `route`: habits first, then how its tools go; `now` is seconds since 1970."""
    names = list(dict.fromkeys(habit.name for habit in _habits(route, model, known)))
    words = "; ".join(map(habit_words, names))
    habits = ProbeResult(
        probe=HABITS,
        grade=Grade.GOOD if names else Grade.UNKNOWN,
        message=f"it means calls that it writes so, and is not asked about them: {words}" if names else NO_HABITS,
        remedy=FORGET if names else "",
        facts={"habits": names},
    )
    return [habits, _served(route, known.support.of(route.root(), model), now)]


def forget(route: Route, model: str, known: Capabilities) -> int:
    """Forget all of it; how many things it were."""
    habits = _habits(route, model, known)
    for habit in habits:
        known.habits.forget(habit)
    finding = known.support.of(route.root(), model)
    if finding.support is not Support.UNKNOWN:
        known.support.note(route.root(), model, UNKNOWN)
    return len(habits) + (finding.support is not Support.UNKNOWN)


def _habits(route: Route, model: str, known: Capabilities) -> list[Habit]:
    return [habit for habit in known.habits if habit.place == route.root() and habit.model == model]


def _served(route: Route, finding: Finding, now: float) -> ProbeResult:
    if route.mode is not Tools.BOTH:
        message = AS_TEXT if route.mode is Tools.TEXT else "its tools are sent natively, as its settings say"
        return ProbeResult(probe=SERVED, grade=Grade.UNKNOWN, message=message, facts={"tools": str(route.mode)})
    if finding.until and now >= finding.until:
        finding = UNKNOWN
    grade, said = SAID[finding.support]
    until = f" until {datetime.fromtimestamp(finding.until, UTC):%H:%M} UTC" if finding.until else ""
    text = finding.support is Support.IGNORED
    return ProbeResult(
        probe=SERVED,
        grade=grade,
        message=said.format(why=WHY.get(finding.why, finding.why), until=until),
        remedy=FORGET_TOOLS if finding.support is not Support.UNKNOWN else "",
        facts={"support": str(finding.support), "tools": "text" if text else "native"},
    )
