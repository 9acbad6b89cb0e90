"""A scripted model as a machine that asks sees it: responses in order, without a wire between."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.effects import Machine
from dragoman.errors import ProviderError
from dragoman.events import Event, assemble, replay
from dragoman.types import Issue, Message, Part, Request, Response, Stop, Text, ToolCall, ToolResult, Usage

COST = Usage(input=10, output=5)
"""What each response costs."""


def response_of(*parts: Part | str, stop: Stop | None = None, issues: Sequence[Issue] = ()) -> Response:
    """A response of these parts, which ended as their kinds suggest."""
    given = [Text(part) if isinstance(part, str) else part for part in parts]
    calls = any(isinstance(part, ToolCall) for part in given)
    ended = stop or (Stop.TOOL_CALLS if calls else Stop.END)
    return Response(message=Message("assistant", given), stop=ended, usage=COST, issues=tuple(issues), model="up")


class ScriptedModel:
    """Answers in order; keeps the requests it got."""

    def __init__(self, *answers: Response | ProviderError | Sequence[Event]) -> None:
        self._answers = list(answers)
        self.requests: list[Request] = []

    def __call__(self, request: Request) -> Machine[Response]:
        self.requests.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, ProviderError):
            raise answer
        events = list(replay(answer)) if isinstance(answer, Response) else list(answer)
        yield from events
        return assemble(events)

    @property
    def results(self) -> list[ToolResult]:
        """All results it was shown in the end."""
        return [result for message in self.requests[-1].messages for result in message.results]
