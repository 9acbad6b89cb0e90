"""The one answer that a client gets of all those a model gave while tools were run for it.

Knows events and calls; nothing of asking, or of running tools.
Contract: over `composer.py`'s: calls of the client's tools are held from every answer, one made again is given once;
calls that could not be run here are said in words where nothing else is; what was wrong with a call of the client's and
was made good in a later answer is reported as that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from ..errors import ProviderError
from ..events import Event, IssueReported
from ..jsontext import dumps
from ..loop.transcript import Transcript
from ..turn.composer import AnswerComposer
from ..turn.reask import loses_a_call
from ..types import Issue, IssueKind, Request, Response, ToolCall

UNRUN = "[The call of {name!r} was not run: no more tools could be run for this request.]"
BROKEN_OFF = (
    "[{ran} ran for this request, and what that did is done. Then the model could not be asked for the rest of its "
    "answer: {why}. Ask to go on.]"
)
MADE_AGAIN = "the call of {name!r} was made again while it was taken already; it is given once"
MENDED = "{message}; the model was asked, and made the call again"
Runs: TypeAlias = Callable[[str], bool]
"""Is this the name of a tool that runs here?"""


class ClientAnswer(AnswerComposer):
    """The client's answer; `runs` tells its tools from those that run here."""

    def __init__(self, request: Request, runs: Runs) -> None:
        super().__init__(form=request.output_schema is not None)
        self._runs = runs
        self._unrun: list[ToolCall] = []
        self._repeated: list[ToolCall] = []
        self._lost: list[Issue] = []

    # ── one answer, and the next ─────────────────────────────────────────────

    def report(self, event: IssueReported) -> list[Event]:
        """Emit an issue; what is wrong with calls, only once the answer is known."""
        return [] if loses_a_call(event.issue) else super().report(event)

    def take(self, response: Response) -> None:
        """Keep what the client gets at the end."""
        for call in response.calls:
            if not self._runs(call.name):
                (self._repeated if self.repeats(call) else self.calls).append(call)
        self._lost += [issue for issue in response.issues if loses_a_call(issue) and not self._runs(issue.name)]

    # ── the end ──────────────────────────────────────────────────────────────

    def give_up(self, transcript: Transcript) -> None:
        """Calls of the last answer that would run here are not run any more."""
        self._unrun += [call for call in transcript.message.calls if self._runs(call.name)]
        for issue in transcript.in_text:
            if self._runs(issue.name):
                self._unrun.append(ToolCall(id=issue.call_id, name=issue.name, raw=issue.raw))

    def break_off(self, error: ProviderError, ran: Sequence[str]) -> list[Event]:
        """There is no more of the answer; what went out of it stays, and why it ends is said."""
        report = IssueReported(Issue(kind=IssueKind.WIRE_FAULT, message=str(error)))
        text = BROKEN_OFF.format(ran=", ".join(dict.fromkeys(ran)), why=error.message.rstrip("."))
        return [*self.next_answer(), *self.emit(report), *self.emit_text(text)]

    def finish(self, response: Response) -> Iterator[Event]:
        """End the answer, of which `response` was the last."""
        self.take(response)
        yield from self.emit_form(response.message.parts)
        yield from self.emit(*self._reports(response, {call.name for call in self.calls}))
        yield from self._honestly(response)
        yield from self.end(response.stop, response.extra)

    def _reports(self, response: Response, made: Collection[str]) -> Iterator[Event]:
        now = [issue for issue in response.issues if loses_a_call(issue)]
        for issue in self._lost:
            mended = issue not in now and (issue.name in made or (not issue.name and bool(made)))
            yield IssueReported(_made_good(issue) if mended else issue)
        for call in self._repeated:
            yield _left_out(call, MADE_AGAIN.format(name=call.name))

    def _honestly(self, response: Response) -> Iterator[Event]:
        """Say what could not be run, where nothing else is said."""
        for call in self._unrun:
            text = UNRUN.format(name=call.name)
            yield from self.emit(_left_out(call, text))
            if not (self.calls or response.text.strip()):
                yield from self.emit_text(f"\n{text}" if self.spoke and not self.apart else text)


def _made_good(issue: Issue) -> Issue:
    """What was wrong with a call that a later answer made well: with nothing left to correct, or it is asked again."""
    message = MENDED.format(message=issue.message)
    return replace(issue, kind=IssueKind.NOT_ALLOWED, message=message, correction="")


def _left_out(call: ToolCall, why: str) -> IssueReported:
    raw = call.raw or dumps(call.arguments)
    return IssueReported(Issue(kind=IssueKind.NOT_ALLOWED, message=why, name=call.name, raw=raw, call_id=call.id))
