"""The question about calls in doubt: what is asked, how it is worded for the channel, and what counts as a yes.

Knows calls, their reports and dialects; asks nobody and remembers nothing.
Contract: the question shows each call and how to make it: by the API's own field where that is how the model was told
to call, else as the prompt's dialect writes it.  Only the call itself is a yes; words are none.  The question is the
last message of its request and knows its calls, so that whoever plans the request can word it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from ..dialects.judge import hints
from ..dialects.rows.nonce import with_nonce
from ..dialects.spec import Dialect
from ..dialects.writing.render import Unrenderable, render
from ..types import Message, Part, Request, Response, Text, Tool, ToolCall
from .answer_constraint import as_words
from .composer import identity
from .text_tools import OURS

QUESTION = "question"
"""Key of the metadata of the question's text: the calls it is about."""
MOST_SHOWN = 4
LONGEST_FORM = 2_000
"""Characters of a call that is written out in the question; the answer it stands in is shown anyway."""

AGREED = "agreed"
"""Key of the same metadata: the model said yes, and made no call."""
YES = re.compile(
    r"\W*(?:yes|yep|yeah|yup|sure|ok(?:ay)?|correct|exactly|indeed|right|confirmed|please do|go ahead|"
    r"i (?:do|did)|ja|jawohl|genau|oui|d['’]accord|sí|si|claro|sim|sì|tak|jo|"
    r"да|конечно|是|是的|对|好|好的|はい|네|예|نعم|हाँ|हां|evet|vâng|có)"
    r"(?:\W|\Z)",
    re.IGNORECASE,
)
"""A yes at the beginning of an answer."""
MOST_YES = 120
"""Characters of an answer that may be a mere yes."""

SAID_YES = "You say yes to this call: {calls}. Words alone run nothing: it was not run. Do you want it made?"
DOUBTED = "In the text of your last answer stands what looks like a call: {calls}. It was not run."
MEANT = "Did you mean to make it?"
MAKE_IT = {
    "": "If so, make it now, and write nothing else.",
    "native": "If so, make it now by calling the tool itself, not by writing the call as text.",
    "told": "If so, make it now in the form you were shown for calls, and write nothing else.",
    "form": "If so, write exactly this, and nothing else:",
}
IF_NOT = "If you did not mean it, answer with one word: no."
NO = re.compile(
    r"\W*(?:no|nope|not|nein|nicht|non|nee|nej|nei|não|ne|nie|нет|не|不是|不|没有|否|いいえ|いや|아니요?|아뇨|لا|नहीं|hayır|không)"
    r"\b(?!\s+problem)",
    re.IGNORECASE,
)
"""A no at the beginning of an answer, in whatever form the call is repeated behind it."""

SENTENCE = re.compile(r"[.!?:。！？：]\s*$", re.MULTILINE)
"""The end of one, behind which a call of another sentence would stand."""


def question(calls: Sequence[ToolCall], *, agreed: bool = False) -> Message:
    """The question about `calls`, worded for a model of which nothing is known; `agreed`: it said yes, in words."""
    about = {QUESTION: tuple(calls), AGREED: agreed}
    return Message("user", [Text(_words(calls, "", agreed=agreed), metadata=about)])


def asked_about(request: Request) -> tuple[ToolCall, ...]:
    """The calls that the last message of `request` asks about; () where it is no such question."""
    last = request.messages[-1] if request.messages else None
    part = last.parts[0] if last is not None and last.parts else None
    if not isinstance(part, Text) or not part.metadata:
        return ()
    calls: Any = part.metadata.get(QUESTION, ())
    return calls if isinstance(calls, tuple) else ()


def worded(request: Request, dialect: Dialect | None, nonce: str = "") -> Request:
    """`request` with its question in words: for native tools, or for calls that are written in `dialect`."""
    calls = asked_about(request)
    if not calls:
        return request
    form = _form(calls, with_nonce(dialect, nonce) if nonce else dialect, request.tools) if dialect is not None else ""
    first = request.messages[-1].parts[0]
    agreed = isinstance(first, Text) and bool(first.metadata.get(AGREED))
    how = "native" if dialect is None else "form" if form else "told"
    parts: list[Part] = [Text(_words(calls, how, agreed=agreed))]
    if form:
        shown = Text(f"\n\n{form}\n\n", metadata={OURS: True})
        parts = [Text(_doubted(calls, "form", agreed=agreed)), shown, Text(IF_NOT)]
    last = request.messages[-1].with_parts(parts)
    return replace(request, messages=(*request.messages[:-1], last))


def agreed_to(request: Request) -> bool:
    """Does the last message of `request` ask about calls to which the model has said yes?"""
    part = request.messages[-1].parts[0] if asked_about(request) else None
    return isinstance(part, Text) and bool(part.metadata.get(AGREED))


def confirmed(calls: Sequence[ToolCall], answer: Response, *, agreed: bool = False) -> list[ToolCall]:
    """Those of `calls` that `answer` makes, as it makes them: really, or once more as its last words, without a no.

    `agreed`: it had said yes before, so words behind a call take nothing back unless they speak against it.
    """
    about = {identity(call) for call in calls}
    made = [call for call in answer.calls if identity(call) in about]
    seen = {identity(call) for call in made}
    if NO.match(answer.text):
        return made
    return [*made, *(c for c in answer.doubtful if identity(c) in about - seen and _insists(c, agreed))]


def after_the_no(calls: Sequence[ToolCall], answer: Response) -> list[ToolCall]:
    """The calls of `answer` that are in doubt only for the no before them, which speaks of `calls` and not of them."""
    starts = [call.report.span[0] for call in answer.doubtful if call.report is not None and call.report.span]
    reply, _, rest = answer.text[: min(starts, default=0)].strip().partition("\n")
    if not NO.match(reply) or SENTENCE.search(rest):
        return []
    about = {identity(call) for call in calls}
    against = {*hints.before(reply, inline=False), *hints.before(reply, inline=True)}
    return [call for call in answer.doubtful if identity(call) not in about and _only_for(call, against)]


def _only_for(call: ToolCall, against: Collection[str]) -> bool:
    """Would it run, if these hints did not stand against it?"""
    evidence = call.report.evidence if call.report is not None else {}
    found = evidence.get("hints", ())
    proves = bool(evidence.get("strong") or evidence.get("asked"))
    return proves and bool(found) and all(hint in against for hint in found)


def _insists(call: ToolCall, agreed: bool) -> bool:
    """Is it in doubt for its place alone, and the last thing that was said?"""
    evidence = call.report.evidence if call.report is not None else {}
    habit = str(evidence.get("habit", ""))
    return bool(habit) if agreed else habit.endswith(":ends")


def habits(calls: Sequence[ToolCall], answer: Response, *, agreed: bool = False) -> list[str]:
    """The ways of writing of those of `calls` that `answer` makes, where nothing else made them doubtful."""
    made = {identity(call) for call in confirmed(calls, answer, agreed=agreed)}
    reports = (call.report for call in calls if identity(call) in made)
    found = (report.evidence.get("habit") for report in reports if report is not None)
    return [habit for habit in found if isinstance(habit, str)]


def agrees(answer: Response) -> bool:
    """Is `answer` a yes in words, and nothing else?"""
    said = answer.text.strip()
    return not answer.calls and not answer.doubtful and len(said) <= MOST_YES and YES.match(said) is not None


def _words(calls: Sequence[ToolCall], how: str, *, agreed: bool) -> str:
    return f"{_doubted(calls, how, agreed=agreed)} {IF_NOT}"


def _doubted(calls: Sequence[ToolCall], how: str, *, agreed: bool) -> str:
    named = "; ".join(map(as_words, calls[:MOST_SHOWN]))
    more = f" and {len(calls) - MOST_SHOWN} more" if len(calls) > MOST_SHOWN else ""
    if agreed:
        return f"{SAID_YES.format(calls=f'{named}{more}')} {MAKE_IT[how]}"
    return f"{DOUBTED.format(calls=f'{named}{more}')} {MEANT} {MAKE_IT[how]}"


def _form(calls: Sequence[ToolCall], dialect: Dialect, tools: Sequence[Tool]) -> str:
    """The calls as `dialect` writes them; "" where it cannot, or they are long."""
    try:
        form = render(list(calls[:MOST_SHOWN]), dialect, tools=tools)
    except Unrenderable:
        return ""
    return form if len(form) <= LONGEST_FORM and len(calls) <= MOST_SHOWN else ""
