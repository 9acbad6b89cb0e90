"""Calls that came by the wire, judged: names in the tool's own spelling, arguments that fit its schema.

The rules are the judge's, as for calls found in text; what differs is that a native call is meant, whatever stands
around it, and that a copy of something shown is a call all the same.  Knows the judge and the reader of arguments;
nothing of wires, prompts or providers.
Contract of `handle`, over the events of one answer: every call that may run has a declared name and arguments that fit;
what had to be mended is in its report, what cannot run ends refused, with an `Issue` that says what to do; the deltas
of a call stay strict JSON, and what may go out of a call goes out at once.
Sources: malformations.md §4 and §6; judge-rules.md 4 and 5.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import replace
from itertools import count
from typing import Any

from ..dialects.judge.candidate import Draft, close_json
from ..dialects.judge.judge import Judge, Unknown, slip_of
from ..dialects.reading.arguments import wrappers
from ..dialects.reading.arguments_object import members_of
from ..dialects.reading.keys import NO_KEY
from ..events import NOT_RUN, CallDelta, CallEnded, CallStarted, Event, IssueReported, assemble
from ..jsontext import dumps
from ..late import late, late_call
from ..lenient.notation import JSON, Broken, Cut
from ..lenient.reader import Relaxed, check_repeated
from ..lenient.source import Need, Source
from ..schema.validation import faults
from ..types import Edit, Issue, IssueKind, Report, Tier, ToolCall, Verdict

_unclear: Callable[[Draft], str] = late_call("..dialects.reading.misplaced", "unclear", __name__)
"""Asked of calls that were mended."""
FORBIDDEN = "the call of {name!r} was made though the request allows no calls; it was not run"
NO_TOOLS = "the call of {name!r} was made though the request declares no tools; it was not run"
HALF = "\\ud"
"""What the escape of half a character begins with; two of them are one."""
MORE = late(r"[\s,]*+[\w.-]{0,64}+\"")
"""A string behind the end of the arguments, or a name that is in want of a quote: one argument more."""
UNCODED = "the call of {name!r} came by the wire, without the code that calls must carry; it was not run"
CODED = "Nothing was run: only calls with their code are. Write the call in the form you were shown, with its code."
ANSWER = "You have no tools here. Nothing was run. Answer in text."


class NativeCalls:
    """The native calls of one answer.

    `judge` knows the tools as the wire names them.  `allowed` False: the request forbids calls.  `others` True: there
    are tools besides, of the wire's own or the provider's, whose names nobody knows here; unknown names may be theirs.
    `taken` are the ids of the conversation's calls: servers that count the calls of each answer give them again, and
    clients that keep calls by their ids lose one of the two.  `coded`: only calls that carry a nonce count, and what
    the wire brings carries none: a server that reads calls out of text reads forged ones too.
    """

    def __init__(
        self, judge: Judge, *, allowed: bool = True, others: bool = False, taken: Collection[str] = frozenset(),
        coded: bool = False,
    ) -> None:  # fmt: skip
        self._judge, self._allowed, self._others, self._coded = judge, allowed, others and not coded, coded
        self._taken = {*taken}
        self._renamed: dict[str, str] = {}
        self._open: dict[int, _NativeCall | None] = {}

    def handle(self, event: Event) -> list[Event]:
        """Handle `event`; only the events of calls are changed."""
        match event:
            case CallStarted():
                return [self._start(event)]
            case CallDelta(index, text):
                call = self._open.get(index)
                return [event] if call is None else call.feed(text)
            case CallEnded(index):
                call = self._open.pop(index, None)
                return [event] if call is None else call.end(event)
            case IssueReported(issue) if issue.call_id in self._renamed:
                return [IssueReported(replace(issue, call_id=self._renamed[issue.call_id]))]
            case _:
                return [event]

    def _start(self, event: CallStarted) -> CallStarted:
        if event.id in self._taken:
            spellings = (f"{event.id}_{n}" for n in count(2))
            self._renamed[event.id] = next(id_ for id_ in spellings if id_ not in self._taken)
            event = replace(event, id=self._renamed[event.id])
        self._taken.add(event.id)
        draft = Draft("", 0, strong=True, id=event.id, index=event.index, name=event.name)
        try:
            self._judge.name(draft, event.name)
        except (Unknown, Broken) as unknown:
            if self._others:
                self._open[event.index] = None
                return event
            self._refuse_unknown(draft, unknown)
        if not self._allowed:
            draft.refuse(IssueKind.NOT_ALLOWED, FORBIDDEN.format(name=draft.name), ANSWER)
        elif self._coded and draft.refusal is None:
            draft.refuse(IssueKind.NOT_ALLOWED, UNCODED.format(name=draft.name), CODED)
        self._open[event.index] = _NativeCall(draft, self._judge)
        return event if event.name == draft.name else replace(event, name=draft.name)

    def _refuse_unknown(self, draft: Draft, why: Exception) -> None:
        if not self._judge.tools:
            draft.refuse(IssueKind.UNKNOWN_TOOL, NO_TOOLS.format(name=draft.name), ANSWER)
            return
        known = ", ".join(sorted(self._judge.tools))
        listed = f"{why}. Available tools: {known}. Call one of them."
        correction = why.correction if isinstance(why, Unknown) else listed
        draft.refuse(IssueKind.UNKNOWN_TOOL, f"{why}; the call was not run", correction)


class _NativeCall:
    """One call.  What will not run anyway passes as it came; the rest is read, mended and typed by the schema."""

    def __init__(self, draft: Draft, judge: Judge) -> None:
        self._draft, self._judge = draft, judge
        self._reader: _ArgumentsReader | None = None  # most arguments fit as they are, and are not read in pieces
        self._written: list[str] = []
        self._verbatim = draft.refusal is not None
        self._whole = False  # what came first is all of the arguments and fits, if nothing but blanks follows

    def feed(self, text: str) -> list[Event]:
        """More of the arguments."""
        first = not self._written
        self._written.append(text)
        if self._verbatim:
            self._draft.write(text)
        elif first and self._fits(text):
            self._whole = True
        elif self._whole:
            self._whole = not text.strip()
            if not self._whole:
                self._read("".join(self._written))
        else:
            self._read(text)
        return self._news()

    def _fits(self, text: str) -> bool:
        """Is this the whole of the arguments, and do they fit as they are?  Then they keep their spelling."""
        if not text.rstrip().endswith("}"):
            return False
        try:
            arguments = check_repeated(text)
            if HALF in text.casefold():
                json.dumps(arguments, ensure_ascii=False).encode()
        except (Broken, ValueError, RecursionError):  # half a character cannot be encoded
            return False
        return self._draft.tool is None or _suit(self._draft, arguments)

    def _read(self, text: str = "") -> None:
        """Go on reading; what has no right reading refuses the call."""
        draft, reader = self._draft, self._reading()
        if draft.refusal is not None or draft.done or reader.source.run(text):
            return
        reader.source.feed(text)
        try:
            next(reader.reading)
        except StopIteration:
            draft.done = True
        except (Broken, Cut) as why:
            self._malformed(why)

    def _reading(self) -> _ArgumentsReader:
        self._reader = self._reader or _ArgumentsReader(self._draft)
        return self._reader

    def end(self, event: CallEnded) -> list[Event]:
        """The call is complete, or was given up by the wire."""
        draft = self._draft
        raw = "".join(self._written)
        if event.report is not None and event.report.verdict in NOT_RUN:
            return [*self._closed(), event]
        if self._whole:
            draft.write(raw)
        elif not self._verbatim:
            self._finish()
            if draft.refusal is None:
                self._judge.settle(draft)
        if draft.refusal is None:
            mended = replace(event, report=_report(event.report, draft.edits)) if draft.edits else event
            return [*self._news(), mended]
        return [*self._closed(), *_refused(event, draft, raw)]

    def _finish(self) -> None:
        draft = self._draft
        if not any(map(str.strip, self._written)):
            draft.write("{}")
            return
        reader = self._reading()
        reader.source.eof = True
        self._read()
        draft.edits += reader.relaxed.edits
        if draft.refusal is None and reader.relaxed.repeated:
            self._check_repeated()
        if draft.refusal is None:
            self._check_ends(reader.source)
        if draft.refusal is None and reader.relaxed.unfit:
            self._judge.refuse_numbers(draft, reader.relaxed.unfit)

    def _check_repeated(self) -> None:
        try:
            check_repeated(self._draft.text())
        except Broken as why:
            self._malformed(why)

    def _check_ends(self, source: Source) -> None:
        """Is it clear where the values end, and the arguments?"""
        if MORE.match("".join(self._written), source.base + source.pos) is not None:
            self._malformed(Broken("an argument stands behind the end of the arguments: a bracket is one too many"))
        elif self._draft.edits and (why := _unclear(self._draft)):
            self._malformed(Broken(why))

    def _malformed(self, why: Exception) -> None:
        message = str(why) or "its arguments end too early"
        self._draft.refuse(slip_of(why), message, self._judge.correction(self._draft, message))

    def _news(self) -> list[Event]:
        """The arguments written since the last news."""
        draft = self._draft
        text = "".join(draft.pieces[draft.told :])
        draft.told = len(draft.pieces)
        return [CallDelta(draft.index, text)] if text else []

    def _closed(self) -> list[Event]:
        """The same, closed to strict JSON where it is not complete."""
        draft = self._draft
        if self._whole:
            draft.write("".join(self._written))
        elif not self._verbatim and not draft.done:
            draft.write(close_json(draft.text()))
        return self._news()


class _ArgumentsReader:
    """Reads the arguments of a draft as they come, mending them."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self.source = Source()
        self.relaxed = Relaxed(self.source)
        self.reading = self._arguments()

    def _arguments(self) -> Need[None]:
        yield from self.source.space()
        draft = self._draft
        if draft.shape.keys or draft.shape.open:
            yield from members_of(draft, self.relaxed, JSON)
        else:
            yield from self.relaxed.object(draft.write, draft.shape)


def _suit(draft: Draft, arguments: Any) -> bool:
    """Do these arguments fit the draft's tool as they are, each under a name of its own?"""
    assert draft.tool is not None
    shape = draft.shape
    if shape.keys:
        plain = all(map(shape.has, arguments))
    else:
        plain = wrappers(draft).isdisjoint(arguments) and not any(map(NO_KEY.search, arguments))
    return plain and not faults(draft.tool.parameters, arguments)


def _report(given: Report | None, edits: list[Edit]) -> Report:
    mends = (*(given.edits if given else ()), *edits)
    return Report(tier=Tier.NATIVE, edits=mends, verdict=Verdict.MENDED)


def _refused(event: CallEnded, draft: Draft, raw: str) -> list[Event]:
    """The call ends refused, and why; nothing of it is lost."""
    assert draft.refusal is not None
    written = raw if event.raw is None else event.raw
    report = Report(
        tier=Tier.NATIVE, edits=tuple(draft.edits), verdict=Verdict.REFUSED, reason=draft.refusal.kind.value,
    )  # fmt: skip
    issue: Issue = replace(draft.refusal, raw=written, call_id=draft.id)
    return [replace(event, report=report, raw=written), IssueReported(issue)]


def judged(call: ToolCall, judge: Judge) -> ToolCall | Issue:
    """A whole native call as it may run, or why it may not."""
    if judge.known(call.name) and (call.report is None or call.report.verdict not in NOT_RUN):
        draft = Draft("", 0, strong=True, id=call.id)
        judge.name(draft, call.name)
        if type(call.arguments) is dict and _suit(draft, call.arguments):
            return call if call.raw is not None else replace(call, raw=dumps(call.arguments))
    natives = NativeCalls(judge)
    events = (
        CallStarted(0, call.id, call.name, call.metadata),
        CallDelta(0, dumps(call.arguments)),
        CallEnded(0, call.report, call.raw),
    )
    response = assemble(made for event in events for made in natives.handle(event))
    return response.calls[0] if response.calls else response.issues[0]
