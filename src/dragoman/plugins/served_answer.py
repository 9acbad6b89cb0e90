"""One answer, read where its model is served: text in pieces to visible text and calls, with nobody left to ask.

Knows the dialect parser and its events; nothing of vLLM or SGLang.
Contract: whole = `feed` + `close`, so what is streamed is what a whole answer gives; a call goes out when it is
complete, strict JSON, names a tool and was meant; at the end of the answer, for only there is it certain that it did
not stand in reasoning (`Settings.stream_arguments` gives this up).  What was to be a call and is none is said in words
with what the model wrote; reasoning that the server left in the text stays there, between `<think>` and `</think>`, or
is told apart, where the server can take it; space round calls is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from dragoman.dialects.engine.parser import Parser
from dragoman.dialects.judge.provenance import ShownText
from dragoman.events import (
    NOT_RUN,
    CallDelta,
    CallEnded,
    CallStarted,
    Event,
    IssueReported,
    ReasoningDelta,
    Reclassified,
    TextDelta,
)
from dragoman.plugins.settings import Settings
from dragoman.turn.reask import HONEST, loses_a_call
from dragoman.types import Edit, Issue, IssueKind, Report

THINK, UNTHINK = "<think>", "</think>"
INVALID = IssueKind.INVALID_ARGUMENTS


@dataclass(frozen=True, slots=True)
class Said:
    """More visible text."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """More reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class Called:
    """Call `index`, counted from 0, begins; `arguments` is all of them, or "" where they follow."""

    index: int
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class More:
    """More of the arguments of call `index`; all of them together are strict JSON."""

    index: int
    arguments: str


Piece: TypeAlias = Said | Thought | Called | More


@dataclass(slots=True)
class _Call:
    """A call being read."""

    id: str
    name: str
    known_as: str = ""  # to the parser
    pieces: list[str] = field(default_factory=list)
    index: int = -1  # of those that went out


class ServedAnswer:
    """Reads one answer.

    tools   definitions of the tools the request declared; None: not known, any name counts
    new_id  makes an id; `taken` are those the conversation holds already
    shown   texts the model was shown: a call copied out of a result or a document is none
    apart   tell reasoning apart from the visible text, as `Thought`
    """

    def __init__(
        self,
        tools: Iterable[Mapping[str, Any]] | None,
        settings: Settings,
        new_id: Callable[[], str],
        *,
        taken: Collection[str] = (),
        shown: Iterable[str | ShownText] = (),
        apart: bool = False,
    ) -> None:
        named = None if tools is None else list({tool["name"]: tool for tool in tools if tool["name"]}.values())
        self._parser = Parser(
            tools=named, prompted_dialect=settings.dialect, doubt=settings.doubt, shown=shown,
            ids=lambda index: new_id(),
        )  # fmt: skip
        self._settings, self._new_id, self._taken, self._apart = settings, new_id, taken, apart
        self._out: list[Piece] = []
        self._open: dict[int, _Call] = {}
        self._handed: set[str] = set()  # refused by the parser, and handed over all the same
        self._ready: list[tuple[_Call, str]] = []
        self._count = 0  # calls that went out
        self._space = ""  # that may turn out to stand beside a call
        self._spoke = self._thinking = False

    def feed(self, text: str) -> list[Piece]:
        """Take more text; returns what it settles.  Never raises on content."""
        return self._take(self._parser.feed(text))

    def close(self) -> list[Piece]:
        """The answer has ended; returns the rest, its calls last."""
        out = self._take(self._parser.close())
        if self._thinking and self._parser.reasoned:
            self._end_reasoning()
        for call, arguments in self._ready:
            self._begin(call, arguments)
        if not self._count and self._space:
            self._out.append(Said(self._space))
        return [*out, *self._drain()]

    def whole(self, text: str) -> tuple[str, list[Called]]:
        """All of an answer: its visible text, and its calls with their arguments."""
        pieces = [*self.feed(text), *self.close()]
        calls = {p.index: p for p in pieces if isinstance(p, Called)}
        for piece in pieces:
            if isinstance(piece, More):
                call = calls[piece.index]
                calls[piece.index] = replace(call, arguments=call.arguments + piece.arguments)
        return "".join(p.text for p in pieces if isinstance(p, Said)), list(calls.values())

    # ── events ───────────────────────────────────────────────────────────────

    def _take(self, events: list[Event]) -> list[Piece]:
        unsent = {e.index for e in events if isinstance(e, CallEnded) and not self._goes_out(e.report)}
        for event in events:
            match event:
                case TextDelta(text):
                    self._end_reasoning()
                    self._say(text)
                case ReasoningDelta(text):
                    self._think(text)
                case CallStarted():
                    self._start(event)
                case CallDelta(index, json):
                    self._add(index, json, sent=index not in unsent)
                case CallEnded():
                    self._end(event)
                case Reclassified():
                    self._ready.clear()
                    if not self._apart:
                        self._say(UNTHINK)
                case IssueReported(issue):
                    self._note(issue)
        return self._drain()

    def _drain(self) -> list[Piece]:
        out, self._out = self._out, []
        return out

    def _goes_out(self, report: Report | None) -> bool:
        """Does the call of `report` go out?"""
        if report is None or report.verdict not in NOT_RUN:
            return True
        refusal = report.evidence.get("refusal")
        unfit = isinstance(refusal, Mapping) and refusal.get("kind") == str(INVALID)
        return self._settings.pass_invalid and unfit and _was_closed(report.edits)

    # ── text ─────────────────────────────────────────────────────────────────

    def _say(self, text: str) -> None:
        """Visible text; space at its end waits for what follows."""
        kept = text.rstrip()
        if kept:
            self._out.append(Said(self._space + kept))
            self._space, self._spoke = text[len(kept) :], True
        else:
            self._space += text

    def _think(self, text: str) -> None:
        if self._apart:
            self._out.append(Thought(text))
            return
        self._say(text if self._thinking else THINK + text)
        self._thinking = True

    def _end_reasoning(self) -> None:
        if self._thinking:
            self._thinking = False
            self._say(UNTHINK)

    def _note(self, issue: Issue) -> None:
        """A call that is none: it goes to the client if only its arguments are wrong, else it is said in words."""
        if not loses_a_call(issue):
            return
        if issue.kind is INVALID and self._settings.pass_invalid:
            if issue.call_id in self._handed:
                return
            arguments = self._arguments_of(issue)
            if arguments:
                self._hand_over(_Call(self._new_id(), issue.name), arguments)
                return
        name = repr(issue.name) if issue.name else "a tool"
        said = HONEST.format(name=name, why=issue.message.rstrip("."))
        self._say(("\n" if self._spoke else "") + f"{said}\n{issue.raw}")

    def _arguments_of(self, issue: Issue) -> str:
        """The arguments of a call that was refused for them before any of it was told; "" where none were read."""
        for draft, _ in reversed(self._parser.decisions):
            if draft.name == issue.name and draft.refusal is not None and draft.refusal.kind is INVALID:
                return draft.text() if _was_closed(draft.edits) else ""
        return ""

    # ── calls ────────────────────────────────────────────────────────────────

    def _start(self, event: CallStarted) -> None:
        self._end_reasoning()
        made = self._new_id() if event.id in self._taken else event.id
        call = self._open[event.index] = _Call(made, event.name, event.id)
        if self._settings.stream_arguments:
            self._begin(call, "")

    def _add(self, index: int, json: str, *, sent: bool) -> None:
        call = self._open[index]
        call.pieces.append(json)
        if sent and call.index >= 0 and json:
            self._out.append(More(call.index, json))

    def _end(self, event: CallEnded) -> None:
        call = self._open.pop(event.index)
        if not self._goes_out(event.report):
            return
        self._handed.add(call.known_as)
        if call.index < 0:
            self._hand_over(call, "".join(call.pieces) or "{}")

    def _hand_over(self, call: _Call, arguments: str) -> None:
        """A call is complete."""
        if self._settings.stream_arguments:
            self._begin(call, arguments)
        else:
            self._ready.append((call, arguments))

    def _begin(self, call: _Call, arguments: str) -> None:
        call.index = self._count
        self._count += 1
        self._out.append(Called(call.index, call.id, call.name, arguments))


def _was_closed(edits: Iterable[Edit]) -> bool:
    """Was everything closed that was opened?  Else what is missing may have been cut off."""
    return not any(edit.kind.startswith("unclosed") for edit in edits)
