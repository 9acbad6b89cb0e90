"""A whole answer asked for straight on: what the machines around an attempt come to where none has anything to do.

Of most answers nobody is asked again, elsewhere, besides or about anything.  Knows the machines of a turn and of what
follows it (`machine.py`, `ignored_tools.py`, `asking.py`, `reask.py`) by what lets an answer through each of them.
Contract: what stands is what these would return, after the same effects; where anything is in their way the attempt is
theirs (`turn(…, first)`), and nothing is asked twice.
"""

from __future__ import annotations

from collections.abc import Callable

from ..effects import Machine
from ..errors import DragomanError, ProviderError
from ..providers.route import Route
from ..turn.asking import is_doubtful
from ..turn.attempt import Attempt, attempted
from ..turn.capabilities import Capabilities
from ..turn.ignored_tools import stands
from ..turn.machine import First, begin
from ..turn.question import asked_about
from ..turn.reask import good_as_it_is
from ..turn.tool_support import Finding, Support
from ..types import Request, Response


def straight(
    request: Request, route: Route, learned: Capabilities, began: Callable[[], object]
) -> Machine[Response | First | None]:
    """Ask `route` for a whole answer, unheard: the answer that stands, or what a turn goes on from.

    `began` is called before anybody is asked; None, without that, for a request that cannot be.
    """
    try:
        begun = yield from begin(request, route, learned)
    except DragomanError:
        return None  # the turn will say it
    began()
    asked, sent, issues, known, _ = begun
    finding = known.finding
    if not _is_plain(finding) or asked_about(request):
        return begun
    attempt = yield from attempted(sent, route, learned, issues, known)
    if attempt is None or attempt.error is not None:
        return First(asked, sent, issues, known, attempt)
    if (good := _good(request, sent, attempt, finding)) is not None:
        try:
            yield from learned.reasoning.remember(asked, good.message, learned.whose(sent.model))
        except ProviderError:
            pass
        else:
            return good
    return First(asked, sent, issues, known, attempt)


def _good(request: Request, sent: Request, attempt: Attempt, finding: Finding | None) -> Response | None:
    """The answer as it goes out; None where a machine would do something with it."""
    response = attempt.answer.response()
    if (finding is None or stands(sent, response, finding)) and not any(map(is_doubtful, attempt.steps)):
        return good_as_it_is(request, response)
    return None


def _is_plain(finding: Finding | None) -> bool:
    """Are the tools sent as they are, whatever the time?"""
    return finding is None or not (finding.until or finding.support is Support.IGNORED)
