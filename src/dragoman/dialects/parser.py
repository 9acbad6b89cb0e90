"""One incremental parser for every dialect: text in any pieces to events.

The parser scans live text for markers, tries the dialects a marker may open, asks the judge, and tells events as soon as
nothing that may still come could change them.  It knows no dialect by name: rows are in `table.py`, readers of their
notations in `readers.py`, verdicts in `judge.py`, what quotes in `context.py`.

Contract: whole = feed + close; any chunking gives the same folded events; the deltas of a call concatenate to strict
JSON; every character is in exactly one of text, reasoning, a call or `Issue.raw`; `feed` never raises on content; time
is linear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import definitions
from ..events import (
    Assembler,
    CallDelta,
    CallEnded,
    CallStarted,
    Event,
    Noticed,
    ReasoningDelta,
    Recast,
    TextDelta,
)
from ..relaxed import Broken, Cut
from ..text import Need, Source, line_is_blank
from ..types import Issue, IssueKind, Part, Stop, Tier, Tool, ToolCall
from .attempt import Attempt, Mismatch
from .context import Context, Quote, Standing, closes
from .draft import Draft
from .judge import Judge, unreadable
from .readers import READERS
from .row import Row
from .rows import DIALECTS, resolve
from .spec import Dialect, JsonCall, Place, TaggedArgs
from .table import Table, reasoning_table, table

MAX_SPAN = 4000
"""How far a code span or quotation that was open before a call may still close after it."""
MAX_INFO = 200
"""A fence's info line is not longer."""
KEPT_LEAD = 600
"""Characters of visible text kept for the words before a candidate."""

HARD = frozenset({Quote.FENCE, Quote.BLOCK, Quote.HTML, Quote.COMMENT})
TENTATIVE = frozenset({Quote.SPAN, Quote.MARKS})
MAKES_DATA = frozenset({"", "json", "jsonc", "json5"})
"""Fence info words under which a call may end a message after an announcement (judge-rules.md 2)."""

Tools = Iterable[Tool | Mapping[str, Any]] | None
Dialects = str | Dialect | Sequence[str | Dialect]


@dataclass(slots=True)
class Pending:
    """A candidate read whole whose verdict awaits what follows it.

    `standing` awaits a closer that would quote it; otherwise it awaits the message's end, and any other word before
    that makes it text (or reasoning, where it stood in reasoning).
    """

    items: list[Draft | Event]
    raw: str
    row: Row
    before: str
    standing: Standing | None = None
    reasoning: bool = False
    fenced: bool = False
    whole: bool = False
    after: list[str] = field(default_factory=list)
    size: int = 0
    raws: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A parsed text: calls to run, visible text, reasoning, and everything that had to be noticed."""

    calls: tuple[ToolCall, ...]
    text: str
    reasoning: str
    issues: tuple[Issue, ...]
    parts: tuple[Part, ...]


class Parser:
    """`feed(text)` gives events, `close()` the rest.

    tools     Tools or any provider's definitions; None: not known; []: nothing may run
    dialects  "auto" (all rows listen), a name, a row, or several
    prefix    what the chat template had already opened (`<think>\\n`)
    finish    the stop reason, if known; "length" refuses a call that was cut (`close` may say it later)
    shown     texts the model was shown: a copy of a call in them is not a call
    strict    refuse what needs mending
    ids       makes the id of the call with this index where the text gives none
    """

    def __init__(
        self,
        *,
        tools: Tools = None,
        dialects: Dialects = "auto",
        prefix: str = "",
        finish: str | None = None,
        shown: Iterable[str] = (),
        strict: bool = False,
        ids: Callable[[int], str] | None = None,
    ) -> None:
        known = definitions.tools(tools)
        chosen = resolve(dialects)
        named = dialects != "auto"
        self.judge = Judge(known, shown=shown, strict=strict, asked_by_name=named)
        self._table = table(chosen, calls=known is None or bool(known), weak=known is not None or named)
        self._scan_table = self._table
        self._finish, self._ids, self._strict = finish, ids or _default_id, strict
        self._src = Source()
        self._context = Context()
        self._out: list[Event] = []
        self._queue: list[Event | Pending] = []
        self._live: Draft | None = None
        self._may_tell = False
        self._taken: set[str] = set()
        self._told: list[tuple[str, Any]] = []
        self._count = 0
        self._line_blank = True
        self._before = ""
        self._weak_from = 0
        self._fence_from = -1
        self._reasoned = False
        self._reasoning: tuple[str, ...] | None = None
        self._seen_call = False
        self._prose_since_call = False
        self._prefix_left = 0
        self._begin(prefix)
        self._reader = self._message()
        self._closed = False

    def feed(self, text: str) -> list[Event]:
        """Take more text; returns the events it settles.  Never raises on content."""
        self._src.feed(text)
        next(self._reader, None)
        return self._drain()

    def close(self, finish: str | None = None) -> list[Event]:
        """The text has ended (because of `finish`); returns the rest of the events."""
        if self._closed:
            return []
        self._closed = True
        if finish is not None:
            self._finish = finish
        self._src.eof = True
        next(self._reader, None)
        self._settle_end()
        return self._drain()

    # ── telling events ───────────────────────────────────────────────────────

    def _drain(self) -> list[Event]:
        live = self._live
        if live is not None:
            self._tell_pieces(live)
        if not self._out:
            return []
        out, self._out = _joined(self._out), []
        return out

    def _emit(self, event: Event) -> None:
        (self._queue if self._queue else self._out).append(event)

    def _tell_pieces(self, draft: Draft) -> None:
        if draft.started and draft.told < len(draft.pieces):
            self._out.append(CallDelta(draft.index, "".join(draft.pieces[draft.told :])))
            draft.told = len(draft.pieces)

    def _begun(self, draft: Draft) -> None:
        """A reader knows a name.  If the call stands live, its start is told at once."""
        self._end_live()
        if self._may_tell and draft.refusal is None:
            self._start(draft, self._out)
            self._live = draft

    def _end_live(self) -> None:
        if self._live is not None:
            draft, self._live = self._live, None
            self._settled(draft, "")
            self._end(draft, "", self._out)

    def _start(self, draft: Draft, out: list[Event]) -> None:
        draft.index = self._count
        self._count += 1
        if not draft.id or draft.id in self._taken:
            draft.id = self._free_id(draft.index)
        self._taken.add(draft.id)
        draft.started = True
        out.append(CallStarted(draft.index, draft.id, draft.name))

    def _free_id(self, index: int) -> str:
        minted = self._ids(index)
        while minted in self._taken:
            minted += "_"
        return minted

    def _end(self, draft: Draft, raw: str, out: list[Event]) -> None:
        """Tell the end of a draft, with its verdict."""
        draft.ended = True
        self._seen_call, self._prose_since_call = True, False
        tier = Tier.RAW_JSON if not draft.strong else Tier.TAGGED
        if draft.refusal is None and not draft.started:
            self._start(draft, out)
        if draft.started:
            if draft.told < len(draft.pieces):
                out.append(CallDelta(draft.index, "".join(draft.pieces[draft.told :])))
                draft.told = len(draft.pieces)
            out.append(CallEnded(draft.index, draft.report(tier)))
        if draft.refusal is not None:
            out.append(Noticed(_located(draft, raw or draft.text())))
        else:
            self._told.append((draft.name, draft.arguments()))

    def _notice(self, kind: IssueKind, message: str, raw: str, start: int) -> None:
        span = (start, start + len(raw))
        self._emit(Noticed(Issue(kind=kind, message=message, raw=raw, span=span)))

    # ── visible text and reasoning ───────────────────────────────────────────

    def _say(self, text: str) -> None:
        """Visible text (or reasoning, while it is open)."""
        if not text:
            return
        if self._prefix_left:
            cut = min(self._prefix_left, len(text))
            self._prefix_left -= cut
            text = text[cut:]
            if not text:
                return
        if self._queue and not self._resume(text):
            return
        if self._reasoning is not None:
            self._line_blank = line_is_blank(text, self._line_blank)
            self._emit(ReasoningDelta(text))
            return
        self._visible(text)

    def _visible(self, text: str) -> None:
        self._context.add(text)
        self._line_blank = line_is_blank(text, self._line_blank)
        self._before = (self._before + text)[-KEPT_LEAD:] if len(text) < KEPT_LEAD else text[-KEPT_LEAD:]
        if self._seen_call and not text.isspace():
            self._prose_since_call = True
        self._emit(TextDelta(text))

    def _resume(self, text: str) -> bool:
        """Text arrives while candidates await it.  False when it was queued."""
        head = next((q for q in self._queue if isinstance(q, Pending)), None)
        if head is None:
            return True
        if head.standing is None:
            if text.isspace():
                self._visible_queued(text)
                return False
            self._release_all()
            return True
        self._visible_queued(text)
        head.after.append(text)
        head.size += len(text)
        verdict = closes(head.standing, "".join(head.after))
        if verdict is None and head.size < MAX_SPAN:
            return False
        self._resolve(quoted=bool(verdict))
        return False

    def _visible_queued(self, text: str) -> None:
        self._line_blank = line_is_blank(text, self._line_blank)
        self._queue.append(ReasoningDelta(text) if self._reasoning is not None else TextDelta(text))

    def _take_queue(self) -> list[Event | Pending]:
        queue, self._queue = self._queue, []
        return queue

    def _release_all(self) -> None:
        """What awaited the message's end did not get it: it was text all along."""
        for item in self._take_queue():
            if isinstance(item, Pending):
                self._release(item)
            else:
                self._retell(item)

    def _retell(self, event: Event) -> None:
        if isinstance(event, TextDelta):
            self._visible(event.text)
        else:
            self._emit(event)

    def _release(self, pending: Pending) -> None:
        refused = [i for i in pending.items if isinstance(i, Draft) and i.refusal is not None and not i.done]
        if pending.reasoning:
            self._emit(ReasoningDelta(pending.raw))
            self._line_blank = line_is_blank(pending.raw, self._line_blank)
        else:
            self._visible(pending.raw)
        for draft in refused:
            self._emit(Noticed(_located(draft, "")))

    def _resolve(self, *, quoted: bool) -> None:
        """A span that was open before a call closed after it, or did not."""
        queue = self._take_queue()
        for place, item in enumerate(queue):
            if isinstance(item, Pending) and item.standing is not None and not quoted:
                self._accept(item)
                quoted = False
            elif isinstance(item, Pending):
                self._release(item)
            else:
                self._retell(item)
            if self._queue:
                self._queue += queue[place + 1 :]
                return

    def _accept(self, pending: Pending) -> None:
        for item in pending.items:
            if isinstance(item, Draft):
                raw = pending.raws.get(id(item), pending.raw)
                if not self._settled(item, raw):
                    self._visible(raw)
                    continue
                if item.refusal is not None or not self._is_recap(item, pending):
                    self._end(item, raw, self._out)
                else:
                    self._visible(raw)
            else:
                self._emit(item)

    def _is_recap(self, draft: Draft, pending: Pending) -> bool:
        """A weak repetition, after prose, of a call already made, is told to the reader, not made again (rule 10)."""
        if draft.strong or not self._prose_since_call:
            return False
        return (draft.name, draft.arguments()) in self._told

    def _settled(self, draft: Draft, raw: str) -> bool:
        return not draft.done or self.judge.settle(draft, raw)

    def _settle_end(self) -> None:
        """The message has ended: what awaited its end has it."""
        queue = self._take_queue()
        for item in queue:
            if not isinstance(item, Pending):
                self._retell(item)
            elif item.standing is not None or item.reasoning or self._meant(item):
                self._accept(item)
            else:
                self._release(item)

    def _meant(self, pending: Pending) -> bool:
        """Rule 11 and the fence rule, for a weak candidate that ends the message."""
        if pending.fenced and not pending.whole:
            return pending.row.strong or self.judge.announced(pending.before)
        return pending.whole or not self.judge.shown_as_example(pending.before)

    # ── the message ──────────────────────────────────────────────────────────

    def _begin(self, prefix: str) -> None:
        """What the template opened: reasoning, or a call."""
        folded = prefix.casefold()
        last = max(((folded.rfind(o), o) for o in self._table.think), default=(-1, ""))
        if last[0] >= 0 and not any(c.casefold() in folded[last[0] :] for c in self._table.think[last[1]]):
            self._open_reasoning(self._table.think[last[1]])
            return
        tail = prefix.strip()
        opener = next((m for m in sorted(self._table.rows, key=len, reverse=True) if tail.casefold().endswith(m)), "")
        if opener and len(opener) > 2:
            self._src.feed(tail[len(tail) - len(opener) :])
            self._src.base = -len(opener)

    def _open_reasoning(self, closers: tuple[str, ...]) -> None:
        self._reasoning = closers
        self._scan_table = reasoning_table(self._table, closers)

    def _message(self) -> Need[None]:
        src = self._src
        while True:
            marker = yield from self._scan()
            if not marker:
                return
            folded = marker.casefold()
            if self._reasoning is not None and folded in self._scan_table.unthink:
                src.pos += len(marker)
                self._close_reasoning()
            elif not (yield from self._handle(folded, marker)):
                src.pos += len(marker)
                self._say(marker)

    def _close_reasoning(self) -> None:
        if self._queue:
            self._release_all()
        self._reasoning, self._scan_table, self._reasoned = None, self._table, True
        self._line_blank = True

    def _scan(self) -> Need[str]:
        """Tell text up to the next marker; the source stands at it.  "" at the end."""
        src = self._src
        while True:
            t = self._scan_table
            buf, start = src.buf, src.pos
            size = len(buf)
            pos = start
            while True:
                hit = t.lead.search(buf, pos)
                if hit is None:
                    cut = size
                    break
                at = hit.start()
                found = t.marker.match(buf, at)
                if size - at < t.longest and not src.eof and buf[at:].casefold() in t.prefixes:
                    cut = at
                    break
                if found is not None:
                    marker = found.group()
                    if marker.casefold() not in t.line or line_is_blank(buf[start:at], self._line_blank):
                        src.pos = at
                        self._say(buf[start:at])
                        return marker
                    at += 1 if marker[0] not in "`~" else len(marker) - 1
                pos = at + 1 if found is None else max(at, hit.end())
            src.pos = cut
            self._say(buf[start:cut])
            if src.eof:
                return ""
            yield

    def _handle(self, folded: str, marker: str) -> Need[bool]:
        """What a marker in the text means.  False: it is text."""
        t = self._scan_table
        if folded in t.rows and (yield from self._candidate(folded, marker)):
            return True
        if self._reasoning is not None:
            return False
        if folded in t.fences:
            return (yield from self._fence(marker))
        standing = self._context.standing()
        if standing.quote is not None and standing.quote is not Quote.INDENTED:
            return False
        if folded in t.think:
            self._src.pos += len(marker)
            if self._queue:
                self._release_if_prose()
            self._open_reasoning(t.think[folded])
            return True
        if folded in t.unthink:
            return self._orphan(marker)
        if folded in t.quiet:
            self._drop(marker)
            return True
        if folded in t.turns or folded in t.fabricated:
            return (yield from self._foreign(folded, marker))
        return False

    def _release_if_prose(self) -> None:
        """Reasoning that opens after a weak candidate: something follows it, so it did not end the message."""
        self._release_all()

    def _orphan(self, marker: str) -> bool:
        """A closing tag without an opening one ends reasoning that began at the start."""
        if self._reasoned:
            return False
        self._src.pos += len(marker)
        self._reasoned = True
        if self._queue:
            self._release_all()
        if self._context.any or self._count:
            self._out.append(Recast())
            self._context, self._before, self._line_blank = Context(), "", True
            self._told, self._seen_call = [], False
        return True

    def _drop(self, marker: str) -> None:
        start = self._src.at
        self._src.pos += len(marker)
        self._notice(IssueKind.NOISE, "a control token leaked into the text", marker, start)

    def _foreign(self, folded: str, marker: str) -> Need[bool]:
        """An invented result or a foreign turn: from here on nothing counts."""
        if folded in self._table.fabricated and not (self._seen_call or self._queue):
            return False
        src, start = self._src, self._src.at
        if folded in self._table.turns and not self._context.any and not self._seen_call and not self._queue:
            head = yield from src.peek(len(marker) + 40)
            role = head[len(marker) :].lstrip()
            if role.casefold().startswith(("assistant", "model", "<|chatbot")):
                end = head.find("\n")
                self._drop(head[: end + 1] if end >= 0 else marker)
                return True
        got: list[str] = []
        while not src.eof or src.pos < len(src.buf):
            got.append(src.buf[src.pos :])
            src.pos = len(src.buf)
            if not src.eof:
                yield
        self._notice(IssueKind.FABRICATED, "the model wrote another party's turn; nothing after it counts", "".join(got), start)
        return True

    # ── candidates ───────────────────────────────────────────────────────────

    def _candidate(self, folded: str, marker: str) -> Need[bool]:
        """Try the dialects this marker may open."""
        src = self._src
        reasoning = self._reasoning is not None
        standing = Standing() if reasoning else self._context.standing()
        if standing.quote in HARD or (standing.quote is Quote.INDENTED and self._context.any):
            return False
        at = src.at
        failure: tuple[Row, Broken | Cut] | None = None
        reached = 0
        for row in self._scan_table.rows[folded]:
            if not self._may_try(row, standing, at):
                continue
            src.hold()
            self._may_tell = self._tells(row, standing)
            attempt = Attempt(src, row, self.judge, self._begun, READERS)
            try:
                yield from attempt.run()
            except (Mismatch, Broken, Cut) as why:
                if attempt.items and not (isinstance(why, Mismatch) and not row.strong):
                    self._damaged(attempt, row, why, at)
                    return True
                if not row.strong:
                    reached = max(reached, src.at)
                elif failure is None and not isinstance(why, Mismatch):
                    failure = (row, why)
                src.rewind()
                continue
            finally:
                self._may_tell = False
            self._complete(attempt, row, at, standing)
            return True
        self._weak_from = max(self._weak_from, reached)
        if failure is not None:
            return (yield from self._unread(failure[0], failure[1], at))
        return False

    def _may_try(self, row: Row, standing: Standing, at: int) -> bool:
        if row.strong:
            line_ok = row.place is Place.INLINE or self._line_blank
            return line_ok and not (standing.quote in TENTATIVE and self._queue)
        if at < self._weak_from or standing.quote is not None or not self._line_blank:
            return False
        return row.place is not Place.WHOLE or not self._context.any

    def _tells(self, row: Row, standing: Standing) -> bool:
        """May this call be told while it is read?"""
        return (
            row.strong
            and standing.quote not in TENTATIVE
            and self._reasoning is None
            and not self._queue
            and not self._strict
            and not self.judge.watches_copies
            and not self.judge.forbidden(self._before)
        )

    def _complete(self, attempt: Attempt, row: Row, at: int, standing: Standing) -> None:
        """An attempt that read to its end."""
        src = self._src
        raw = src.held()
        src.release()
        self._check_cut(attempt)
        self._after(raw)
        if self._live is not None or any(d.started for d in attempt.drafts):
            self._finish_live(attempt, raw, at)
            return
        pending = Pending(attempt.items, raw, row, self._before, raws=_raws(attempt, raw, at))
        if self._reasoning is not None:
            pending.reasoning = True
        elif standing.quote in TENTATIVE:
            pending.standing = standing
        elif row.strong and self.judge.forbidden(self._before):
            self._visible(raw)
            return
        elif row.strong and not self._queue:
            self._accept(pending)
            return
        elif row.strong:
            pending.whole = True
        else:
            pending.whole = not self._context.any
        self._queue.append(pending)

    def _finish_live(self, attempt: Attempt, raw: str, at: int) -> None:
        """The end of an attempt whose calls were told while they were read."""
        self._live = None
        self._end_all(attempt, raw, at, self._out)

    def _end_all(self, attempt: Attempt, raw: str, at: int, out: list[Event], broken: Draft | None = None) -> None:
        raws = _raws(attempt, raw, at)
        for item in attempt.items:
            if not isinstance(item, Draft):
                out.append(item)
            elif not item.ended:
                written = raws.get(id(item), raw)
                if item is broken or self._settled(item, written):
                    self._end(item, written, out)
                else:
                    self._visible(written)

    def _check_cut(self, attempt: Attempt) -> None:
        """A tagged call whose closer is missing may have lost arguments when the limit was hit."""
        if attempt.closed or self._finish != Stop.LENGTH.value or not isinstance(attempt.spec.args, TaggedArgs):
            return
        if attempt.drafts and any(e.kind == "unclosed" for e in attempt.drafts[-1].edits):
            draft = attempt.drafts[-1]
            issue = unreadable(IssueKind.TRUNCATED, "the call was cut off at the token limit", "", draft.name, 0, self.judge)
            draft.refuse(IssueKind.TRUNCATED, issue.message, issue.correction)

    def _after(self, raw: str) -> None:
        """A call was taken out of the text: the line it stood on is no longer blank, unless it ended with one."""
        self._line_blank = True

    def _damaged(self, attempt: Attempt, row: Row, why: Exception, at: int) -> None:
        """An attempt that began a call and could not end it."""
        src = self._src
        raw = src.held()
        kind, message = self._why(why, row, raw)
        broken = attempt.draft
        if not row.strong and kind is IssueKind.MALFORMED:
            self._weak_damaged(attempt, raw, message, at)
            return
        src.release()
        issue = unreadable(kind, message, raw, broken.name if broken else "", at, self.judge)
        if broken is not None:
            broken.done = False
            broken.refuse(kind, message, issue.correction)
            broken.end = src.at
            _make_strict(broken)
        self._reject(attempt, raw, at, issue, broken)

    def _why(self, why: Exception, row: Row, raw: str) -> tuple[IssueKind, str]:
        """Truncated or malformed?  A text that runs past its own closer to the end was not cut, it was never closed."""
        if not isinstance(why, Cut):
            return IssueKind.MALFORMED, str(why) or "this is not a call"
        if self._finish != Stop.LENGTH.value and raw.rstrip().endswith(row.call_close + row.section_close or ("\0",)):
            return IssueKind.MALFORMED, "a string or bracket is never closed"
        return IssueKind.TRUNCATED, "the text ends inside the call"

    def _reject(self, attempt: Attempt, raw: str, at: int, issue: Issue, broken: Draft | None) -> None:
        if self._reasoning is not None and not any(d is not broken for d in attempt.drafts):
            self._say(raw)
            return
        if self._queue:
            self._release_all()
        self._live = None
        self._end_all(attempt, raw, at, self._out, broken)
        if broken is None:
            self._out.append(Noticed(issue))

    def _weak_damaged(self, attempt: Attempt, raw: str, message: str, at: int) -> None:
        """A weak candidate that broke is text, and noticed where it named a tool."""
        src = self._src
        self._weak_from = max(self._weak_from, src.at)
        src.rewind()
        name = attempt.drafts[-1].name
        self._emit(Noticed(unreadable(IssueKind.MALFORMED, message, "", name, at, self.judge)))
        first = src.buf[src.pos : src.pos + 1]
        src.pos += 1
        self._say(first)

    def _unread(self, row: Row, why: Exception, at: int) -> Need[bool]:
        """A strong opener whose call could not be read at all: its text goes to an issue, up to its closer."""
        src = self._src
        if isinstance(why, Cut) and self._finish != Stop.LENGTH.value and not self._has_body(row):
            return False
        src.hold()
        for opener in row.openers:
            if src.buf[src.pos : src.pos + len(opener)].casefold() == opener.casefold():
                src.pos += len(opener)
                break
        yield from src.until(row.call_close + row.section_close, _drop)
        raw = src.held()
        src.release()
        kind, message = self._why(why, row, raw)
        if self._reasoning is not None:
            self._say(raw)
            return True
        if self._queue:
            self._release_all()
        self._seen_call = True
        self._emit(Noticed(unreadable(kind, message, raw, "", at, self.judge)))
        return True

    def _has_body(self, row: Row) -> bool:
        """Does anything but white space follow the opener that stands here?"""
        rest = self._src.buf[self._src.pos :]
        return any(rest[len(o) :].strip() for o in row.openers if rest.casefold().startswith(o.casefold()))

    # ── fences ───────────────────────────────────────────────────────────────

    def _fence(self, marker: str) -> Need[bool]:
        """A fence opens: perhaps its only content is a call, and it ends the message."""
        src = self._src
        at = src.at
        standing = self._context.standing()
        if standing.quote is not None or at == self._fence_from:
            return False
        line = yield from self._info_line()
        run = line[: len(line) - len(line.lstrip(marker[0]))]
        info = line[len(run) :].strip().casefold()
        whole = not self._context.any and not self._seen_call
        if not line.endswith("\n") or "`" in info or not (whole or info in MAKES_DATA):
            self._fence_from = at
            return False
        src.hold()
        src.pos += len(line)
        found = yield from self._fenced(run, whole, at)
        if not found:
            src.rewind()
            self._fence_from = at
        return found

    def _info_line(self) -> Need[str]:
        src = self._src
        ahead = 3
        while True:
            end = src.buf.find("\n", src.pos + ahead)
            if end >= 0 and end - src.pos <= MAX_INFO:
                return src.buf[src.pos : end + 1]
            if end >= 0 or src.eof or len(src.buf) - src.pos > MAX_INFO:
                return src.buf[src.pos : src.pos + MAX_INFO]
            yield

    def _fenced(self, run: str, whole: bool, at: int) -> Need[bool]:
        """Candidates and nothing else up to the fence's end; then they await the message's end."""
        src = self._src
        items: list[Draft | Event] = []
        raws: dict[int, str] = {}
        row: Row | None = None
        while True:
            yield from src.space()
            _, closed = yield from src.glance((run,))
            if closed or (src.eof and src.pos == len(src.buf)):
                break
            inner = yield from self._inner_candidate()
            if inner is None:
                return False
            attempt, raw, start = inner
            row = attempt.row
            items += attempt.items
            raws |= _raws(attempt, raw, start)
        if row is None:
            return False
        size, _ = yield from src.glance((run,))
        src.pos += size
        raw = src.held()
        src.release()
        pending = Pending(items, raw, row, self._before, fenced=True, whole=whole, raws=raws)
        self._queue.append(pending)
        self._line_blank = True
        return True

    def _inner_candidate(self) -> Need[tuple[Attempt, str, int] | None]:
        """One candidate inside a fence, told nothing of yet."""
        src, t = self._src, self._table
        yield from src.peek(t.longest)
        found = t.marker.match(src.buf, src.pos)
        start = src.at
        for row in t.rows.get(found.group().casefold(), ()) if found else ():
            src.hold()
            attempt = Attempt(src, row, self.judge, _nothing, READERS)
            try:
                yield from attempt.run()
            except (Mismatch, Broken, Cut):
                src.rewind()
                continue
            raw = src.held()
            src.release()
            return attempt, raw, start
        return None


def parse(
    text: str,
    *,
    tools: Tools = None,
    dialects: Dialects = "auto",
    prefix: str = "",
    finish: str | None = None,
    shown: Iterable[str] = (),
    strict: bool = False,
) -> Parsed:
    """Parse a whole text: exactly `Parser.feed(text)` and `close()`, folded."""
    parser = Parser(tools=tools, dialects=dialects, prefix=prefix, finish=finish, shown=shown, strict=strict)
    return fold([*parser.feed(text), *parser.close()])


def fold(events: Iterable[Event]) -> Parsed:
    """Events of a parser as one value."""
    assembler = Assembler()
    for event in events:
        assembler.add(event)
    response = assembler.response()
    return Parsed(
        calls=response.calls,
        text=response.text,
        reasoning=response.reasoning,
        issues=response.issues,
        parts=response.message.parts,
    )


def _default_id(index: int) -> str:
    return f"call_{index}"


def _nothing(draft: Draft) -> None:
    return None


def _drop(text: str) -> None:
    return None


def _joined(events: list[Event]) -> list[Event]:
    """Neighbouring deltas of one kind made one."""
    out: list[Event] = []
    for event in events:
        last = out[-1] if out else None
        if type(event) is type(last) and isinstance(event, TextDelta | ReasoningDelta):
            assert isinstance(last, TextDelta | ReasoningDelta)
            out[-1] = type(event)(last.text + event.text)
        else:
            out.append(event)
    return out


def _raws(attempt: Attempt, raw: str, at: int) -> dict[int, str]:
    """What each draft of an attempt was written as; the opener too, where the name stands in the markup."""
    drafts = attempt.drafts
    if len(drafts) == 1 and not isinstance(attempt.spec.args, JsonCall):
        return {id(drafts[0]): raw}
    return {id(d): raw[d.start - at : (d.end or at + len(raw)) - at] for d in drafts}


def _located(draft: Draft, raw: str) -> Issue:
    refusal = draft.refusal
    assert refusal is not None
    span = (draft.start, draft.end or draft.start + len(raw))
    return Issue(
        kind=refusal.kind,
        message=refusal.message,
        raw=raw,
        name=draft.name,
        correction=refusal.correction,
        span=span,
        call_id=draft.id,
    )


def _make_strict(draft: Draft) -> None:
    """Close what a cut or broken call left open, so that its deltas are strict JSON even though it will not run."""
    draft.pieces.append(closing(draft.text()))


def closing(written: str) -> str:
    """What makes `written`, the beginning of a strict JSON text, strict JSON."""
    stack: list[str] = []
    string = escape = False
    for c in written:
        if string:
            if escape:
                escape = False
            elif c == "\\":
                escape = True
            elif c == '"':
                string = False
        elif c == '"':
            string = True
        elif c in "{[":
            stack.append("}" if c == "{" else "]")
        elif c in "}]":
            stack.pop()
    tail = '"' if string else ""
    text = written.rstrip()
    if not text:
        return "{}"
    if not string and text[-1] == ":":
        tail = "null"
    elif not string and text[-1] == ",":
        tail = '"":null' if stack and stack[-1] == "}" else "null"
    return tail + "".join(reversed(stack))


__all__ = ["DIALECTS", "Parsed", "Parser", "Table", "closing", "fold", "parse"]
