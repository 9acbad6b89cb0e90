"""The JSON action protocol, held to: an answer is an action, a final, or is asked for again, and never raw protocol.

Sits behind the parser of the text: what it left as text goes through here.  Knows events, the protocol's row and the
names of tools; nothing of wires, prompts or asking.  Where the prompt told the protocol (`told`), whatever is neither
an action nor a final is a breach; with `strict`, prose is one too.  Where it did not, only what is written in its form
all the same is: a call of a declared tool, a final, a lone thought; what stands in quotes among prose is left alone.
Contract: any chunking gives the same folded events; nothing is lost, for a breach holds its text in `Issue.raw`; text
waits only while it may still be protocol; linear time.
Source: seed document 004, §1 (guardrails) and §4 (`error("Invalid protocol")`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import groupby

from ..dialects.engine.parse import parse
from ..dialects.engine.parsed import Parsed
from ..dialects.judge.judge import breach
from ..dialects.reading.json import FINAL
from ..events import (
    CallDoubted,
    CallEnded,
    CallStarted,
    Ended,
    Event,
    IssueReported,
    PartEnded,
    Reclassified,
    TextDelta,
)
from ..memo import names_of
from ..types import Issue, IssueKind, Stop, Text, Tool
from .running import Stage

PROTOCOL = "json_protocol"
MARK = r"[\"'“”‘’`]"
OPENING = re.compile(r"(?:\A\s*`{1,3}\w*\s*(?=[\[{]))|\A\s*\[\s*(?=\{)|\{\s*(?=[\"'“‘]?\w)")
"""Where text may begin to be protocol: an object with a key, and the fence or bracket around it at the very start."""
MAY_OPEN = re.compile(
    r"\A\s{0,80}`{1,3}\w{0,12}\s{0,80}(?:\[\s{0,80})?\Z|\A\s{0,80}\[\s{0,80}\Z|\{\s{0,80}[\"'“‘]?\Z"
)
OBJECT = re.compile(r"\{\s*+(?:(?=[\"'“‘]?\w)|[\"'“‘]?\Z)")
"""Where text may begin to be protocol, or stands at its end what may, once there was other text."""
SIGNS = re.compile(r"[\[{`]")
"""One of these stands wherever text may be protocol, or begin to be."""
BEGINS = "{"
"""This stands in what text may be protocol with, once there was other text."""
OPENED = re.compile(r"`\w*\s*\Z")
TAIL = 20
"""Characters before an object that show whether a fence was opened for it."""
TOKEN = re.compile(r"[\\\"{}\[\]]")
KEY = re.compile(rf"{MARK}?\b(thoughts?|action|final|content|tool|args?)\b{MARK}?\s*:", re.IGNORECASE)
OWN = frozenset({"thought", "action", "final"})
FENCE = re.compile(r"\s*(`{1,3})(?:json)?\s*(?P<inside>.*?)\s*\1\s*", re.DOTALL)
UNDECIDED = 600
"""Characters of an object in which a key of the protocol must have come; else it is somebody's data."""
MEANT = frozenset({
    IssueKind.MALFORMED,
    IssueKind.INVALID_ARGUMENTS,
    IssueKind.UNKNOWN_TOOL,
    IssueKind.TRUNCATED,
    IssueKind.DUPLICATE_KEYS,
})  # fmt: skip

NEITHER = "the answer is neither an action nor a final of the JSON protocol"
AROUND = "text or markup stands around the object of the JSON protocol"
OTHER_FORM = "the answer holds a call in another form than the JSON protocol, which was asked for"
UNTOLD = "the answer is written in a JSON protocol that nobody asked for, and is no call"
UNTOLD_CORRECTION = (
    "Your answer was a JSON object of thought, action or final, and nothing was run: nobody reads that form here. "
    "If you mean to call a tool, make the call in the form your tools were given to you; if you are done, give your "
    "answer as plain text."
)
CUT = "the answer was cut off inside an object of the JSON protocol"
CUT_CORRECTION = "Your answer was cut off. Nothing was run. Send one object, whole and shorter."
BESIDE = "an object of the JSON protocol stood beside a call; it is left out"


class ProtocolAnswer(Stage):
    """The events of one answer, held to the protocol.  `tools` are those the answer may name."""

    __slots__ = (
        "_blank", "_breaches", "_called", "_doubted", "_final", "_kept", "_names", "_rest", "_scan", "_size", "_start",
        "_stretches", "_strict", "_tail", "_told", "_tools", "_wrong",
    )  # fmt: skip

    def __init__(self, tools: Sequence[Tool], *, told: bool, strict: bool = False) -> None:
        self._tools, self._told, self._strict = tools, told, told and strict
        self._names = names_of(tools)
        self._start = ""  # what may be the beginning of an object
        self._scan: _Object | None = None  # the object that waits for its end
        self._kept = told  # does everything wait from here on?
        self._rest: list[str] = []
        self._size, self._tail, self._blank = 0, "", True  # of what went out
        self._final: PartEnded | None = None
        self._breaches: list[Issue] = []
        self._called = self._wrong = self._doubted = False
        self._stretches: dict[int, int] = {}  # which pieces of what waits hold calls in doubt

    def handle(self, event: Event) -> list[Event]:
        """Handle `event`; its events come in order."""
        match event:
            case TextDelta(text, doubt):
                return self._doubtful(event) if doubt else self._take(text)
            case PartEnded() if FINAL in event.metadata:
                self._final = event
                return [] if self._strict else [*(self._let_go() or [TextDelta("")]), event]
            case IssueReported(issue) if self._strict and issue.kind is IssueKind.NOT_ALLOWED and not issue.name:
                self._breaches.append(issue)
                return []
            case Ended(stop):
                return [*self._end(stop), event]
            case Reclassified():
                return [*self._let_go(), event]
            case CallStarted() | CallEnded():
                self._called = True
            case CallDoubted():
                self._doubted = True
            case IssueReported(issue):
                self._wrong = self._wrong or issue.kind in MEANT or bool(issue.name and issue.correction)
        return [event]

    def passes(self, text: str) -> bool:
        """Would `text`, if it came next, go on at once?"""
        if self._kept or self._scan or self._start or self._blank:
            return False
        return "{" not in text or OBJECT.search(text) is None

    def signs(self, kind: type) -> str | None:
        """What a delta of this kind that does not pass holds; None where none may."""
        if kind is not TextDelta:
            return ""
        return BEGINS if self.passes("") else None

    # ── text as it comes ─────────────────────────────────────────────────────

    def _doubtful(self, event: TextDelta) -> list[Event]:
        """A call in doubt, which somebody may ask about: it stays a piece of its own."""
        if not self._kept:
            return [*self._let_go(), *self._out(event.text, event.doubt)]
        self._stretches[len(self._rest)] = event.doubt
        self._rest.append(event.text)
        return []

    def _take(self, text: str) -> list[Event]:
        if self._kept:
            self._rest.append(text)
            return []
        if self.passes(text) or not (self._scan or self._start or SIGNS.search(text)):
            return self._out(text)
        passed: list[str] = []
        while text := self._step(text, passed):
            pass
        return self._out("".join(passed))

    def _step(self, text: str, passed: list[str]) -> str:
        """One step through `text`: what is no protocol passes, what is left is to be looked at."""
        if self._kept:
            self._rest.append(text)
            return ""
        if self._scan is None:
            return self._search(self._start + text, passed)
        behind = self._scan.read(text)
        if behind is None:
            return ""
        read, self._scan = self._scan.text, None
        self._kept = self._is_protocol(read)
        (self._rest if self._kept else passed).append(read)
        return behind

    def _search(self, text: str, passed: list[str]) -> str:
        first = self._blank and not "".join(passed).strip()
        self._start = ""
        found = next((m for m in OPENING.finditer(text) if first or m[0].lstrip()[:1] == "{"), None)
        if found is not None:
            passed.append(text[: found.start()])
            self._scan = _Object()
            return text[found.start() :]
        waits = MAY_OPEN.search(text)
        at = waits.start() if waits is not None and (first or "{" in waits[0]) else len(text)
        passed.append(text[:at])
        self._start = text[at:]
        return ""

    def _out(self, text: str, doubt: int = 0) -> list[Event]:
        if not text:
            return []
        self.went_out(text)
        return [TextDelta(text, doubt)]

    def went_out(self, text: str) -> None:
        """A text that `passes` went out."""
        self._size += len(text)
        self._tail = (self._tail + text)[-TAIL:]
        self._blank = self._blank and not text.strip()

    @property
    def _text(self) -> str:
        """What waits."""
        return "".join((*self._rest, self._scan.text if self._scan is not None else self._start))

    def _taken(self) -> str:
        """What waits, which waits no longer."""
        text = self._text
        self._start, self._scan, self._rest = "", None, []
        return text

    def _is_protocol(self, text: str) -> bool:
        return written_in_protocol(text, self._names, told=self._told)

    def _let_go(self) -> list[Event]:
        """What waits, as it is."""
        stretches, self._stretches = self._stretches, {}
        if not stretches:
            return self._out(self._taken())
        pieces = [*self._rest, self._scan.text if self._scan is not None else self._start]
        self._taken()
        runs = groupby(enumerate(pieces), key=lambda piece: stretches.get(piece[0], 0))
        return [event for doubt, run in runs for event in self._out("".join(text for _, text in run), doubt)]

    # ── the end ──────────────────────────────────────────────────────────────

    def _end(self, stop: Stop | None) -> list[Event]:
        if self._doubted or not (self._text.strip() or self._breaches or self._told):
            return self._let_go()
        if self._called or self._wrong:
            return self._beside()
        if self._final is not None:
            return [*(self._let_go() or [TextDelta("")]), self._final] if self._strict else self._let_go()
        return self._alone(stop)

    def _beside(self) -> list[Event]:
        """What waits beside calls: protocol is left out, prose is not."""
        text = self._text
        if not (self._kept and self._is_protocol(text)) and not self._breaches:
            return self._let_go()
        self._taken()
        said = [Issue(kind=IssueKind.NOISE, message=BESIDE, raw=text)] if text.strip() else []
        return [IssueReported(issue) for issue in (*self._breaches, *said)]

    def _alone(self, stop: Stop | None) -> list[Event]:
        """An answer without calls: a final, an answer in words, or a breach."""
        final = self._as_final() if self._blank else None
        if final is not None:
            self._taken()
            return final
        broken = self._breach(stop)
        if broken is None:
            return self._let_go()
        raw = self._taken() or broken.raw
        span = (self._size, self._size + len(raw))
        return [IssueReported(replace(broken, raw=raw, span=span))]

    def _as_final(self) -> list[Event] | None:
        """The events of a final action, where the text that waits is one and nothing else."""
        inside = self._text if self._strict else unfenced(self._text)
        if not inside.lstrip().startswith("{"):
            return None
        parts = self._by_name(inside).parts
        texts = [part for part in parts if isinstance(part, Text) and (part.metadata or part.text.strip())]
        if len(texts) != 1 or FINAL not in texts[0].metadata:
            return None
        return [TextDelta(texts[0].text), PartEnded(texts[0].metadata)]

    def _by_name(self, text: str) -> Parsed:
        return parse(text, tools=self._tools, dialects=PROTOCOL, strict=self._strict)

    def _wrong_call(self) -> Issue | None:
        """What is wrong with the call that the answer is, where it can be read as one."""
        issues = self._by_name(unfenced(self._text)).issues
        return next((issue for issue in issues if issue.kind in MEANT and issue.correction), None)

    def _breach(self, stop: Stop | None) -> Issue | None:
        """What is wrong with the answer; None where it is one in words."""
        text = self._text
        written = self._is_protocol(text) and not self._is_quoted()
        if stop is Stop.LENGTH:
            cut = Issue(kind=IssueKind.TRUNCATED, message=CUT, correction=CUT_CORRECTION)
            return cut if written else None
        if self._breaches:
            return self._breaches[0]
        if written and (wrong := self._wrong_call()) is not None:
            return wrong
        if not self._told:
            return unasked("") if written else None
        if not text.strip():
            return None
        if self._strict or written or unfenced(text)[:1] in ("{", "["):
            return breach(NEITHER if unfenced(text)[:1] == "{" else AROUND)
        return breach(OTHER_FORM) if self._holds_a_call() else None

    def _is_quoted(self) -> bool:
        """Does the object stand in quotes among prose, where nobody told the protocol?"""
        return not self._told and not self._blank and OPENED.search(self._tail) is not None

    def _holds_a_call(self) -> bool:
        """Does an answer in words hold a call as any other dialect writes it?"""
        found = parse(self._text, tools=self._tools)
        return bool(found.calls or found.doubtful) or any(issue.kind in MEANT for issue in found.issues)


class _Object:
    """An object that waits for its end, read piece by piece; linear however small the pieces are."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._size = self._depth = 0
        self._quoted = self._escaped = self._sure = False

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._pieces)

    def read(self, text: str) -> str | None:
        """Read `text`: what of it stands behind the object, None where it has not ended.

        One that shows no key of the protocol in its first characters is given up, and nothing of it waits any longer.
        """
        if self._sure:
            return self._read(text)
        room = UNDECIDED - self._size
        behind = self._read(text[:room])
        if behind is not None:
            return behind + text[room:]
        if len(text) < room:
            return None
        self._sure = KEY.search(self.text) is not None
        return self._read(text[room:]) if self._sure else text[room:]

    def _read(self, text: str) -> str | None:
        skipped = -1
        if self._escaped and text:
            self._escaped, skipped = False, 0
        for token in TOKEN.finditer(text):
            at = token.start()
            if at == skipped:
                continue
            if token[0] == "\\":
                skipped = at + 1
            elif self._ends(token[0]):
                self._pieces.append(text[: at + 1])
                return text[at + 1 :]
        self._escaped = skipped == len(text)
        self._pieces.append(text)
        self._size += len(text)
        return None

    def _ends(self, sign: str) -> bool:
        if sign == '"':
            self._quoted = not self._quoted
        elif not self._quoted:
            self._depth += 1 if sign in "{[" else -1
            return self._depth <= 0
        return False


def unasked(raw: str) -> Issue:
    """The issue of an answer in the protocol where nobody asked for it."""
    return Issue(kind=IssueKind.NOT_ALLOWED, message=UNTOLD, correction=UNTOLD_CORRECTION, raw=raw)


def unfenced(text: str) -> str:
    """The text inside the fence or the quotes that are all of `text`."""
    fenced = FENCE.fullmatch(text)
    return fenced["inside"] if fenced else text.strip()


def written_in_protocol(text: str, names: Collection[str], *, told: bool) -> bool:
    """Is `text` written in the protocol: an action, a final, or a thought alone?

    Where nobody told it, an action must name a tool that there is, or have the form of one to the key.
    """
    keys = {found[1].casefold().rstrip("s") for found in KEY.finditer(text)}
    own = keys & OWN
    if {"final", "content"} <= keys or {"action", "tool", "arg"} <= keys or (told and len(own) >= 2):
        return True
    if own and any(name in text for name in names):
        return True
    return bool(own - {"action"}) and _top_keys(text) <= OWN


def _top_keys(text: str) -> set[str]:
    """The keys of the object that `text` is, in the singular; one that is none of ours where it is no object."""
    try:
        value = json.loads(unfenced(text))
    except (ValueError, RecursionError):
        return {""}
    return {key.casefold().rstrip("s") for key in value} if isinstance(value, dict) else {""}


__all__ = ["ProtocolAnswer", "unasked", "unfenced", "written_in_protocol"]
