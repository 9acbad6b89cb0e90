"""The demands of a request on its answer, and the errors of one: calls that may not run, calls or a form missing.

Knows requests, schemas and the judge of native calls; nothing of asking or of events.
Contract: a call comes out as it may run, by the full schemas whoever asked the model, or as an `AnswerError`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..dialects.judge.judge import Judge
from ..jsontext import dumps
from ..lenient.answers import Fitting, Unfit, read_answer, read_word
from ..memo import names_of
from ..types import Issue, IssueKind, Request, Response, ToolCall, ToolChoice
from .native_calls import judged

IN_TEXT = "No tool may be called in this answer, and nothing was run. Answer in text."
UNANSWERED = "This request must be answered by a call of {what}, and you made none. Make the call now."
NOT_JSON = "Your answer must be JSON that fits the schema, alone; {why}. Send the whole answer again.{schema}"


@dataclass(frozen=True, slots=True)
class AnswerError:
    """One thing that is wrong with an answer: what it is, and what of the answer it is about."""

    issue: Issue
    written: str = ""

    @property
    def correction(self) -> str:
        """The sentence that asks the model to mend it."""
        return self.issue.correction or f"{self.issue.message}. Send it again."


class AnswerConstraint:
    """The demands of `request` on its answer."""

    __slots__ = ("_choice", "_form", "_judge", "_names", "_request")

    def __init__(self, request: Request) -> None:
        self._request, self._choice, self._form = request, request.tool_choice, request.output_schema
        self._judge: Judge | None = None  # most answers make no call
        self._names = names_of(request.tools)

    @property
    def forbids_calls(self) -> bool:
        """Must nothing be called?"""
        return self._choice is not None and self._choice.mode == "none"

    @property
    def demands_call(self) -> bool:
        """Must something be called?"""
        return self._choice is not None and self._choice.mode in {"required", "named"}

    @property
    def demands_form(self) -> bool:
        """Must the answer be a value?"""
        return self._form is not None

    # ── calls ────────────────────────────────────────────────────────────────

    def check(self, call: ToolCall) -> ToolCall | AnswerError:
        """The call as it may run, or what is wrong with it."""
        choice = self._choice
        if choice is not None and choice.mode == "named" and call.name != choice.name:
            why = f"{choice.name!r} had to be called, not {call.name!r}"
            return _error(call, IssueKind.NOT_ALLOWED, why, f"Call {choice.name!r}, and nothing else.")
        if choice is not None and choice.allowed and call.name not in choice.allowed:
            why = f"{call.name!r} may not be called in this answer, only {', '.join(choice.allowed)}"
            return _error(call, IssueKind.UNKNOWN_TOOL, why, f"{why}. Call one of those, or answer.")
        return self._judged(call)

    def _judged(self, call: ToolCall) -> ToolCall | AnswerError:
        own = bool(self._request.extra.get("tools"))  # tools of the wire's own, which no schema here describes
        if not self._names or (own and call.name not in self._names):
            return call
        self._judge = self._judge or Judge(self._request.tools)
        found = judged(call, self._judge)
        return AnswerError(found, as_words(call)) if isinstance(found, Issue) else found

    # ── what is missing ──────────────────────────────────────────────────────

    def unmet(self, response: Response) -> list[AnswerError]:
        """The errors of an answer without calls: a call or a form that is owed."""
        if self.demands_call and self._choice is not None:
            message, correction = _missing(self._choice)
            return [AnswerError(Issue(kind=IssueKind.NOT_ALLOWED, message=message, correction=correction))]
        found = self.value(response)
        if not isinstance(found, Unfit):
            return []
        schema = f" The schema: {dumps(self._form.schema)}" if self._form is not None and self._form.schema else ""
        message = f"the answer is not the JSON that was asked for: {found.why}"
        correction = NOT_JSON.format(why=found.why, schema=schema)
        return [AnswerError(Issue(kind=IssueKind.NOT_ALLOWED, message=message, correction=correction))]

    def value(self, response: Response) -> Fitting | Unfit | None:
        """The value that the answer is, or why it is none; None where no value is demanded."""
        if self._form is None:
            return None
        return (read_word if self._form.bare else read_answer)(response.text, self._form.schema)

    def spelled(self, value: Any) -> str:
        """The value as the answer gives it."""
        return str(value) if self._form is not None and self._form.bare else dumps(value)


def _missing(choice: ToolChoice) -> tuple[str, str]:
    what = f"of {choice.name!r}" if choice.name else "of a tool"
    correction = UNANSWERED.format(what=repr(choice.name) if choice.name else "one of the tools")
    return f"no call {what} was made, though one was demanded", correction


def _error(call: ToolCall, kind: IssueKind, why: str, correction: str) -> AnswerError:
    issue = Issue(kind=kind, message=why, name=call.name, raw=written(call), correction=correction, call_id=call.id)
    return AnswerError(issue, as_words(call))


def forbidden(call: ToolCall) -> AnswerError:
    """The error of a call where none may be made."""
    message = f"the call of {call.name!r} was made though the request allows no calls"
    raw = written(call)
    return AnswerError(Issue(kind=IssueKind.NOT_ALLOWED, message=message, name=call.name, raw=raw, correction=IN_TEXT))


def written(call: ToolCall) -> str:
    """The call's arguments as the model wrote them."""
    return call.raw or dumps(call.arguments)


def as_words(call: ToolCall) -> str:
    """The call in a line that the model can recognise."""
    return f"{call.name} {dumps(call.arguments)}"[:300]
