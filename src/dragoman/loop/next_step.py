"""The step after an answer without a call: the end of the run, or one more turn with a correction.

One function per kind of reply (`classify.py`), all of one form; each returns an end, or None for another turn.  Knows a
run's state; asks no model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ..effects import Machine
from ..errors import ErrorKind, ProviderError
from ..types import Message, Response
from .classify import AnswerKind, Reply, read
from .corrections import announced
from .outcomes import Answered, Bound, End, Failed, FinalAction, Limit
from .state import State
from .transcript import Transcript, as_written

SAYS_NOTHING = Message("user", "Your last answer was empty. Call a tool, or give your answer.")
HAS_NO_ROOM = Message(
    "user", "Your last answer reached its length limit before it said anything. Answer at once, and briefly."
)
WENT_WRONG = Message("user", "Your last answer broke off with an error. Give it again.")
ANNOUNCES = Message(
    "user",
    "You announced a call but did not make it. Make the call now, in the form you were shown. "
    "If you are done, give your final answer; if you need something of the user, ask for it.",
)
GO_ON = Message(
    "user",
    "Your answer was cut off at the length limit. Go on exactly where it stopped, and do not repeat anything.",
)
MUST_CALL = "You must call {what} before you answer. Make the call now."
BROKE_OFF = "the provider said that making the answer went wrong; ask again, or ask another provider"


def answered(state: State, response: Response, transcript: Transcript) -> Machine[End | None]:
    """Follow up `response`, which made no call."""
    reply = read(response, state.checker.tools)
    value, fits = _value_in(state, reply, response)
    if fits:
        state.history.add_answer(transcript.message)
        state.value = value
        return Answered()
    return (yield from REPLIES[reply.kind](state, reply, response, transcript))


def _value_in(state: State, reply: Reply, response: Response) -> tuple[Any, bool]:
    """The value that was asked for, where the answer is one."""
    if state.output is None or _must_call(state):
        return None, False
    if reply.kind is AnswerKind.FINAL:
        value, found = state.output.take(reply.value)
        return value, not found
    value, found = state.output.read(response.text)
    return value, not found and bool(response.text.strip())


def _answer(state: State, reply: Reply, response: Response, transcript: Transcript) -> Machine[End | None]:
    if not _must_call(state) and state.output is None:
        state.history.add_answer(transcript.message)
        return Answered()
    state.history.add_answer(as_written(transcript.message))
    if _must_call(state):
        return (yield from state.demand("no tool was called", _demanded(state)))
    assert state.output is not None
    return (yield from state.reask(state.output.read(response.text)[1]))


def _final(state: State, reply: Reply, response: Response, transcript: Transcript) -> Machine[End | None]:
    if _must_call(state) or state.output is not None:
        return (yield from _answer(state, reply, response, transcript))
    state.history.add_answer(transcript.message)
    state.value = reply.value
    return FinalAction(reply.value)


def _broken(state: State, reply: Reply, response: Response, transcript: Transcript) -> Machine[End | None]:
    state.history.add_answer(as_written(transcript.message))
    errors = [state.checker.error_of(issue) for issue in reply.issues]
    return (yield from state.correct(errors, errors))


def _announced(state: State, reply: Reply, response: Response, transcript: Transcript) -> Machine[End | None]:
    if _asked_enough(state):
        return (yield from _answer(state, reply, response, transcript))
    state.history.add_answer(as_written(transcript.message))
    again = ANNOUNCES if not state.counts.nudged else _announced_again(state, response.text)
    return (yield from _again(state, "a call was announced and not made", again))


def _empty(state: State, reply: Reply, response: Response, transcript: Transcript) -> Machine[End | None]:
    if _asked_enough(state):
        return Limit(Bound.EMPTY, state.policy.nudges)
    return (yield from _again(state, "the answer was empty", SAYS_NOTHING))


def _cut(state: State, reply: Reply, response: Response, transcript: Transcript) -> Machine[End | None]:
    if not response.text.strip():
        if _asked_enough(state):
            return Limit(Bound.LENGTH)
        return (yield from _again(state, "the answer was cut before it said anything", HAS_NO_ROOM))
    state.history.add_answer(transcript.message)
    if state.output is not None:
        return (yield from state.reask(state.output.read(response.text)[1]))
    if state.counts.continued >= state.policy.continuations:
        return Limit(Bound.LENGTH, state.policy.continuations)
    state.counts.continued += 1
    state.text.append(response.text)
    yield from state.nudge("the answer was cut at the length limit", GO_ON)
    return None


def _faulty(state: State, reply: Reply, response: Response, transcript: Transcript) -> Machine[End | None]:
    if _asked_enough(state):
        return Failed(ProviderError(BROKE_OFF, kind=ErrorKind.SERVER))
    return (yield from _again(state, "the answer broke off with an error", WENT_WRONG))


def _paused(state: State, reply: Reply, response: Response, transcript: Transcript) -> Machine[End | None]:
    state.history.add_answer(transcript.message)
    return None
    yield


Answering: TypeAlias = Callable[[State, Reply, Response, Transcript], Machine[End | None]]
REPLIES: Mapping[AnswerKind, Answering] = {
    AnswerKind.ANSWER: _answer,
    AnswerKind.FINAL: _final,
    AnswerKind.BROKEN: _broken,
    AnswerKind.ANNOUNCED: _announced,
    AnswerKind.EMPTY: _empty,
    AnswerKind.CUT: _cut,
    AnswerKind.FAULTY: _faulty,
    AnswerKind.PAUSED: _paused,
}


def _announced_again(state: State, text: str) -> Message:
    tools = state.checker.tools
    return announced(next((tool.name for tool in tools if tool.name in text), ""), tools, state.dialect([]))


def _again(state: State, why: str, correction: Message) -> Machine[End | None]:
    state.counts.nudged += 1
    yield from state.nudge(why, correction)
    return None


def _asked_enough(state: State) -> bool:
    return state.counts.nudged >= state.policy.nudges


def _must_call(state: State) -> bool:
    choice = state.request.tool_choice
    return choice is not None and choice.mode in ("required", "named") and not state.counts.called


def _demanded(state: State) -> Message:
    choice = state.request.tool_choice
    what = f"the tool {choice.name!r}" if choice is not None and choice.name else "a tool"
    return Message("user", MUST_CALL.format(what=what))
