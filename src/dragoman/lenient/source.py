"""Text that arrives in pieces, and generators that read it.

A reader is a generator over one `Source`: it yields when it needs more text and goes on when there is more, so one body
of code reads whole texts and streams alike.  This module does not know about JSON, tools or dialects.

Contract: no character is searched twice by `until`; what lies before `pos` may be forgotten unless `hold` asked for it;
a reader decides only on text or on `eof`, never on where a piece ended, so any chunking gives the same result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Mapping
from functools import lru_cache
from typing import TypeAlias, TypeVar

from ..late import late
from ..records import NamedTuple

T = TypeVar("T")
Need: TypeAlias = Generator[None, None, T]
Sink: TypeAlias = Callable[[str], object]

SPACE = late(r"[ \t\r\n\f\v\u00a0\ufeff]*")

NO_LIMIT = 1 << 62


class Tap(NamedTuple):
    """Where a reader waits in the middle of a run: text in which `search` finds nothing may be given to `sink` at once.

    `run` matches what else may be given to it, where more may than what `search` passes.
    """

    search: Callable[[str], object]
    sink: Sink
    run: Callable[[str], re.Match[str] | None] | None = None


class Source:
    """The text received so far and a place in it.

    `buf[pos:]` is unread; `base` is the offset of `buf[0]` in the whole text; `eof` says that no more will come.
    `last` is the character before `buf`, "" at the text's beginning.  `tap` is set by a reader that waits in the middle
    of a run.  `reread` counts what readers read a second time, `earlier` what of it was read before the present reader
    began, `quotes` those in strings that were decided one by one.
    `limit` is how far whoever reads values goes on where what they hold is not wanted for long.
    `wants` is how many unread characters a reader waits for that has nothing to do with fewer, unless the text ends;
    who goes on with it sets it back.
    """

    __slots__ = (
        "_holds", "_kept", "_last_held", "base", "buf", "earlier", "eof", "last", "limit", "pos", "quotes", "reread",
        "tap", "wants",
    )  # fmt: skip
    buf: str
    pos: int
    eof: bool
    base: int
    last: str

    def __init__(self) -> None:
        self.buf, self.pos, self.base, self.eof = "", 0, 0, False
        self.reread: int = 0
        self.earlier: int = 0
        self.quotes: int = 0
        self.limit: int = NO_LIMIT
        self.wants: int = 0
        self.last = self._last_held = ""
        self._holds: list[int] = []
        self._kept: list[str] = []
        self.tap: Tap | None = None

    @property
    def at(self) -> int:
        """The place reached, as an offset in the whole text."""
        return self.base + self.pos

    def feed(self, text: str) -> None:
        """Append `text`, forgetting what was read and is not held."""
        pos = self.pos
        if not pos:
            self.buf += text
            return
        if self._holds:
            start = self._holds[0] - self.base
            self._kept.append(self.buf[start:pos] if start > 0 else self.buf[:pos])
        self.base += pos
        self.last = self.buf[pos - 1]
        self.buf = self.buf[pos:] + text if pos < len(self.buf) else text
        self.pos = 0

    def run(self, text: str) -> bool:
        """Give `text` to the waiting reader's tap.  False: it needs the reader itself."""
        tap = self.tap
        if tap is None or not text or self.pos != len(self.buf) or tap.search(text) is not None:
            return False
        self.passed(text)
        tap.sink(text)
        return True

    def passed(self, text: str) -> None:
        """`text` followed what was read, and was taken without the reader."""
        if self._holds:
            start = self._holds[0] - self.base
            self._kept += [self.buf[start:] if start > 0 else self.buf, text]
        self.base += len(self.buf) + len(text)
        self.last = text[-1:] or self.buf[-1:] or self.last
        self.buf, self.pos = "", 0

    def hold(self) -> int:
        """From here on remember what is read, for `held` and `rewind`.  Returns the number of holds."""
        if not self._holds:
            self._last_held = self.buf[self.pos - 1] if self.pos else self.last
        self._holds.append(self.base + self.pos)
        return len(self._holds)

    @property
    def is_held(self) -> bool:
        """Is what is read remembered?"""
        return bool(self._holds)

    def unwind(self, depth: int) -> None:
        """Forget the holds inside number `depth`: the reader that asked for them was left by an exception."""
        del self._holds[depth:]

    def held(self) -> str:
        """What was read since the innermost `hold`."""
        if not self._holds:
            return ""
        first = self._holds[0]
        text = "".join(self._kept) + self.buf[max(0, first - self.base) : self.pos]
        return text[self._holds[-1] - first :]

    def behind(self, n: int) -> str:
        """The last `n` characters read, or fewer; sure to be there only as far as they are held."""
        text = self.buf[max(0, self.pos - n) : self.pos]
        for piece in reversed(self._kept):
            if len(text) >= n:
                break
            text = piece[len(text) - n :] + text
        return text

    def release(self) -> None:
        """Forget the innermost hold."""
        self._holds.pop()
        if not self._holds:
            self._kept = []

    def rewind(self) -> None:
        """Go back to the innermost hold, and forget it."""
        mark = self._holds[-1]
        if mark < self.base:
            self.buf = "".join(self._kept) + self.buf
            self.base, self.last = self._holds[0], self._last_held
            self._kept = []
        self.pos = mark - self.base
        self.release()

    # ── readers ──────────────────────────────────────────────────────────────

    def peek(self, n: int = 1) -> Need[str]:
        """The next `n` characters, fewer only at the end; not consumed."""
        while len(self.buf) - self.pos < n and not self.eof:
            self.wants = n
            yield
        return self.buf[self.pos : self.pos + n]

    def space(self) -> Need[str]:
        """Consume white space; returns it."""
        got = ""
        while True:
            end = SPACE.match(self.buf, self.pos).end()  # type: ignore[union-attr]
            got += self.buf[self.pos : end]
            self.pos = end
            if end < len(self.buf) or self.eof:
                return got
            yield

    def literal(self, options: tuple[str, ...]) -> Need[str]:
        """Consume the longest of `options` that stands here, in any case; returns it, "" when none does."""
        while (found := self._stands(0, options)) is None:
            yield
        self.pos += found[0]
        return found[1]

    def match(
        self, pattern: re.Pattern[str], limit: int, begun: re.Pattern[str] | None = None
    ) -> Need[re.Match[str] | None]:
        """Match `pattern` here on `limit` characters, or all there are; not consumed.

        More than these count for nothing, however many came with them.  Where `begun` says of a text to its end that
        more might change the answer, nothing else is waited for.
        """
        while len(self.buf) - self.pos < limit and not self.eof:
            if begun is None:
                self.wants = limit
            elif begun.match(self.buf, self.pos) is None:
                break
            yield
        return pattern.match(self.buf, self.pos, self.pos + limit)

    def until(self, markers: tuple[str, ...], sink: Sink, *, tapped: bool = True) -> Need[str]:
        """Pour text into `sink` up to the first of `markers`; consume and return that marker, "" at the end.

        A sink that may raise must not be `tapped`: what it raises belongs into the reader.
        """
        pattern, prefixes, longest, lead = finder(markers)
        tap = Tap(lead, sink) if tapped else None
        while True:
            found = pattern.search(self.buf, self.pos)
            if found is not None and (self.eof or not may_be_longer(found, self.buf, prefixes, longest)):
                if found.start() > self.pos:
                    sink(self.buf[self.pos : found.start()])
                self.pos = found.end()
                return found.group()
            size = len(self.buf)
            if self.eof:
                safe = size
            elif found is not None:
                safe = found.start()
            else:
                safe = size - partial(self.buf, self.pos, prefixes, longest)
            if safe > self.pos:
                sink(self.buf[self.pos : safe])
                self.pos = safe
            if self.eof:
                return ""
            self.tap = tap
            yield
            self.tap = None

    def glance(self, options: tuple[str, ...], between: tuple[str, ...] = ()) -> Need[tuple[int, str]]:
        """What stands after white space (and one of `between`, and white space): how far its end is, and which option.

        Nothing is consumed.  (0, "") when none of `options` stands there.
        """
        ahead = 0
        while True:
            end = SPACE.match(self.buf, self.pos + ahead).end()  # type: ignore[union-attr]
            ahead = end - self.pos
            if end < len(self.buf) or self.eof:
                break
            yield
        if between:
            while (found := self._stands(ahead, between)) is None:
                yield
            if found[1]:
                ahead = yield from self._over_space(found[0])
        while (found := self._stands(ahead, options)) is None:
            yield
        return found

    def ends_within(self, marks: tuple[str, ...], ahead: int = 0) -> bool:
        """Has the text ended, with nothing `ahead` of here but the beginning of one of `marks`, if anything?

        A long rest is not even copied: this may be asked at every mark of a text.
        """
        start, size = self.pos + ahead, len(self.buf)
        if not self.eof or size - start > max(map(len, marks), default=0):
            return False
        rest = self.buf[start:]
        return not rest or any(mark.startswith(rest) for mark in marks)

    def over_space(self) -> Need[int]:
        """How far ahead white space ends."""
        return (yield from self._over_space(0))

    def _over_space(self, ahead: int) -> Need[int]:
        while True:
            end = SPACE.match(self.buf, self.pos + ahead).end()  # type: ignore[union-attr]
            ahead = end - self.pos
            if end < len(self.buf) or self.eof:
                return ahead
            yield

    def _option(self, ahead: int, options: tuple[str, ...]) -> Need[tuple[int, str]]:
        while (found := self._stands(ahead, options)) is None:
            yield
        return found

    def _stands(self, ahead: int, options: tuple[str, ...]) -> tuple[int, str] | None:
        """How far the end of the option is that stands so far ahead, and which; None where more text must tell."""
        pattern, spelt, longest = chooser(options)
        begin = self.pos + ahead
        found = pattern.match(self.buf, begin)
        best = "" if found is None else found.group()
        left = len(self.buf) - begin
        if self.eof or left >= longest or begun(options).get((left, self.buf[begin:].casefold()), 0) <= len(best):
            return (ahead + len(best), spelt[best.casefold()]) if best else _NONE
        return None


_NONE = 0, ""


@lru_cache(maxsize=1024)
def chooser(options: tuple[str, ...]) -> tuple[re.Pattern[str], Mapping[str, str], int]:
    """For these options: a pattern for the longest that stands at a place, how each is spelt, the longest's length."""
    ordered = sorted({o for o in options if o}, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, ordered)) or r"(?!)", re.IGNORECASE | re.ASCII)
    spelt = {option.casefold(): option for option in reversed(options)}
    return pattern, spelt, max(map(len, ordered), default=0)


@lru_cache(maxsize=1024)
def begun(options: tuple[str, ...]) -> Mapping[tuple[int, str], int]:
    """How long the longest of these options is that begins with such a text, by its length and itself, folded."""
    return {(n, o[:n].casefold()): len(o) for o in sorted(options, key=len) for n in range(len(o))}


Finder: TypeAlias = tuple[re.Pattern[str], frozenset[str], int, Callable[[str], object]]


@lru_cache(maxsize=1024)
def finder(markers: tuple[str, ...]) -> Finder:
    """For these markers: a pattern for the longest at a place, all their proper prefixes, the longest's length, and a
    search for any character that one may begin with."""
    ordered = sorted({m for m in markers if m}, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, ordered)) or r"(?!)")
    leads = "".join(sorted({m[0] for m in ordered}))
    lead = re.compile(f"[{re.escape(leads)}]" if leads else r"(?!)")
    return pattern, prefixes_of(ordered), max(map(len, ordered), default=0), lead.search


def may_be_longer(found: re.Match[str], buf: str, prefixes: frozenset[str], longest: int) -> bool:
    """May a marker found near the end of `buf` still turn out to be a longer one, or the middle of one?"""
    first = max(found.pos, len(buf) - longest + 1)
    return any(buf[at:] in prefixes for at in range(first, found.start() + 1))


def same(a: str, b: str) -> bool:
    """Are two markers the same but for case?"""
    return len(a) == len(b) and a.casefold() == b.casefold()


def prefixes_of(markers: Iterable[str]) -> frozenset[str]:
    """Every proper, non-empty prefix of every marker."""
    return frozenset(m[:i] for m in markers for i in range(1, len(m)))


def partial(text: str, start: int, prefixes: frozenset[str], longest: int) -> int:
    """How many characters at the end of `text[start:]` may still become a marker."""
    size = len(text)
    for n in range(min(longest - 1, size - start), 0, -1):
        if text[size - n :] in prefixes:
            return n
    return 0
