"""Is a call a copy of one in a text that the model was shown?

Copies are found by reading: the shown texts are read by the engine itself, as they are and after undoing the ways in
which a call reaches the model (JSON strings, entities, line numbers, quoted mail, diffs), and calls are compared by
value, whatever dialect they are written in (judge-rules.md, G).  Knows texts and who wrote them; reading is a function
it is given.

Contract: nothing is read before a call is asked about, and a text only if the tool's name and every part of the values
stand in it, and near a place where the rarest of them does; the time for a text is linear in it, and the answer is
remembered.  What there was no time to read holds a call if it holds its name and every one of its values.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, Self, TypeAlias

from ...late import late, late_call
from ...memo import Recent
from ...records import NamedTuple, dataclass

Kind: TypeAlias = Literal["tool", "system", "user", "assistant"]
FEW_VIEWS, MOST_VIEWS, DEEPEST = 8, 48, 4
"""So many ways of undoing are tried on one text, and so many on top of each other."""
VIEWED = 2_000_000
"""Signs of all views of a text, if it is long."""
EXCERPT = 160
"""Characters of the place a call was copied from that are kept to be looked at."""
EACH, FREE = 1, 300_000
"""So many signs are read for each sign of a text, and for any text."""


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text the model was shown, and by whom; `calls` are those it made itself, as names and arguments.

    `name` is what the text is called to people: the tool whose result it is, a file.
    """

    text: str
    kind: Kind = "tool"
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    name: str = ""


class ShownHistory(tuple[ShownText, ...]):
    """The shown texts of a conversation, in order; `copyable` says that a call could be copied from one of them."""

    copyable: bool

    def __new__(cls, known: tuple[ShownText, ...] | None, more: Iterable[ShownText]) -> Self:
        """`known` texts and those that came since: only these are looked at, where the others were before."""
        added = tuple(more)
        made = super().__new__(cls, (*(known or ()), *added))
        before = known.copyable if isinstance(known, ShownHistory) else any(map(_is_copyable, known or ()))
        made.copyable = before or any(map(_is_copyable, added))
        return made


def _is_copyable(shown: ShownText) -> bool:
    return bool(shown.text) and shown.kind in {"tool", "system"}


class ReadCall(NamedTuple):
    """A call that stands in a shown text, quoted or not."""

    name: str
    arguments: Mapping[str, Any]
    start: int
    dialect: str


class Reading(NamedTuple):
    """The call that was looked for, up to where the text was read, and how much more may be read."""

    call: ReadCall | None
    end: int
    left: int


class Sought(NamedTuple):
    """A call that is looked for: it begins at most so far before a place where the pattern is found."""

    near: re.Pattern[str]
    reach: int
    is_it: Callable[[ReadCall], bool]


Read: TypeAlias = Callable[[str, Sought, int], Reading]
"""Finds a call in a text, reading no more signs than are allowed."""


@dataclass(frozen=True, slots=True)
class CopyOf:
    """Where a call was copied from: the text with this index, by whom, its offset there, and how it was written.

    `name` and `excerpt` are what the text is called, and what stands at the place.
    """

    source: int
    kind: Kind
    start: int
    dialect: str = ""
    encoding: str = ""
    name: str = ""
    excerpt: str = ""

    def words(self) -> dict[str, Any]:
        """The same as it stands in a report's evidence; what is not known is left out."""
        known = {"dialect": self.dialect, "encoding": self.encoding, "name": self.name, "excerpt": self.excerpt}
        place = {"source": self.source, "kind": self.kind, "start": self.start}
        return {**place, **{name: value for name, value in known.items() if value}}

    def __str__(self) -> str:
        written = ", ".join(filter(None, (self.dialect, self.encoding)))
        return f"shown text {self.source} ({self.kind}) at {self.start}" + (f", {written}" if written else "")


# ── ways a call reaches the model ────────────────────────────────────────────

UNSEEN = late("[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]")
ESCAPE = late(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
SHORTEST = 4
"""No call is shorter."""
STRING = late(r'"((?:[^"\\]++|\\.)*+)(?:"|\\?\Z)', re.DOTALL)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else ESCAPES.get(m[2], m[2]), text)


def _strings(text: str) -> str:
    """The strings of a JSON text, decoded, one below the other."""
    if '"' not in text:
        return text
    return "\n\n".join(_unescape(found[1]) for found in STRING.finditer(text) if len(found[1]) >= SHORTEST)


_html_text: Callable[[str], str] = late_call("html", "unescape")


def _unentity(text: str) -> str:
    return _html_text(text) if "&" in text else text


def _seen(text: str) -> str:
    return text if text.isascii() else UNSEEN.sub("", text)


def _lines(pattern: str) -> Callable[[str], str]:
    prefix = late(rf"^(?:{pattern})", re.MULTILINE)
    return lambda text: prefix.sub("", text)


LINES: Mapping[str, Callable[[str], str]] = {
    "line numbers": _lines(r"[ \t]*\d+[ \t]*(?:→|\t|[|:])[ ]?"),
    "a quotation": _lines(r"[ \t]*(?:>[ \t]?)+"),
    "a diff": _lines(r"[+\- ](?!\s*\Z)"),
    "places and times": _lines(
        r"\[?\d{4}-\d\d-\d\d[T ][\d:.,]{5,15}\S{0,6}[ \t]+(?:\[?[A-Z]{4,8}\]?:?[ \t]+)?"
        r"|[^\s:]{1,200}(?::\d+:(?:\d+:)?|-\d+-)"
    ),
    "comments": _lines(r"[ \t]*(?://|#|\*|;|--)[ \t]?"),
}
"""What stands before lines: undoing it brings no word to light that was not there."""
UNDOINGS: Mapping[str, Callable[[str], str]] = {
    "unseen characters": _seen, "a JSON string": _unescape, "strings of JSON": _strings, "HTML entities": _unentity,
    **LINES,
}  # fmt: skip


class View(NamedTuple):
    """A text after some undoing."""

    text: str
    undone: tuple[str, ...]

    def place(self, original: str, start: int) -> int:
        """Where in the original text this place of the view is."""
        if not self.undone:
            return start
        return bisect_left(range(len(original)), start, key=lambda n: len(_undo(original[:n], self.undone)))


def _undo(text: str, names: Iterable[str]) -> str:
    for name in names:
        text = UNDOINGS[name](text)
    return text


HIDDEN = late(rf"\\u|&\w|&#|{UNSEEN.pattern}")
"""What a word may be hidden by."""


def _views(text: str, wanted: Wanted) -> Iterator[View]:
    """The text as it is and with what can be undone undone, the least undone first; those that may hold the call."""
    row, known, most = [View(text, ())], {text}, max(FEW_VIEWS, min(MOST_VIEWS, VIEWED // (len(text) + 1)))
    for depth in range(DEEPEST + 1):
        found: list[View] = []
        for view in row:
            held = wanted.may_stand(view.text)
            if held:
                yield view
            if depth == DEEPEST or not (held or HIDDEN.search(view.text)):
                continue
            for label, undo in UNDOINGS.items():
                undone = undo(view.text) if held or label not in LINES else view.text
                if undone not in known and len(known) < most:
                    known.add(undone)
                    found.append(View(undone, (*view.undone, label)))
        row = found


# ── values ───────────────────────────────────────────────────────────────────

SPACE = late(r"\s+")


def _flat(text: str) -> str:
    return SPACE.sub("", UNSEEN.sub("", text))


def _canonical(value: Any) -> Any:
    """A value as it is compared: some dialects write no types, and lines are broken anew on the way."""
    if isinstance(value, Mapping):
        return {str(k): _canonical(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(v) for v in value]
    if not isinstance(value, str):
        return json.dumps(value)
    if value.strip()[:1] in ("{", "["):
        try:
            return _canonical(json.loads(value))
        except (ValueError, RecursionError):
            pass
    return _flat(value)


def _key(arguments: Mapping[str, Any]) -> str:
    return json.dumps(_canonical(arguments), sort_keys=True)


def _leaves(value: Any) -> Iterator[str]:
    """The values that say something, as text."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


PARTS = late(r"[\s\\\"'`&<>;/]+")
MOST_PARTS = 16
"""So many parts of the values are looked for, the longest."""
REACH = 2000
"""A call begins no further before its parts than this, and twice the length of its values."""


class Wanted:
    """A call that is looked for: its name, its value, and what must stand in a text that holds it."""

    key: str
    name: str

    def __init__(self, name: str, arguments: Mapping[str, Any]) -> None:
        self.name, self.key = name, _key(arguments)
        self.leaves: list[str] = [leaf for leaf in _leaves(arguments) if leaf.strip()]
        parts = {part for leaf in self.leaves for part in PARTS.split(UNSEEN.sub("", leaf)) if part}
        self._parts = sorted(parts, key=len, reverse=True)[:MOST_PARTS]
        self._words = [word.casefold() for word in WORDS.findall(name)]
        signs = [re.escape(c) for c in name if c.isalnum()] or [re.escape(name)]
        self.written: re.Pattern[str] = re.compile(r"[\s._\-/:\\]*".join(signs), re.IGNORECASE)
        self.reach: int = REACH + 2 * sum(map(len, self.leaves))

    def is_it(self, call: ReadCall) -> bool:
        """Is this the call?"""
        return call.name == self.name and _key(call.arguments) == self.key

    def is_named(self, text: str) -> bool:
        """Does the tool's name stand in the text, whatever separates its words?"""
        folded = text.casefold()
        return all(word in folded for word in self._words) and self.written.search(text) is not None

    def may_stand(self, text: str) -> bool:
        """Do the name and all parts of the values stand in the text?"""
        return all(part in text for part in self._parts) and self.is_named(text)

    def rarest(self, text: str) -> re.Pattern[str]:
        """A pattern for that of the name and the parts which the text holds fewest times."""
        parts = min(self._parts, key=text.count, default="")
        return re.compile(re.escape(parts)) if parts else self.written

    def is_held(self, text: str) -> bool:
        """Does the text hold the name and every value?"""
        flat = _flat(text)
        return self.is_named(text) and all(_flat(leaf) in flat for leaf in self.leaves)

    def is_asked(self, text: str) -> bool:
        """Do these words hold every value, or, where the call has none, its name?"""
        if not self.leaves:
            return self.written.search(text) is not None
        if any(len(leaf.strip()) < TELLING and not leaf.strip().isdigit() for leaf in self.leaves):
            return False
        folded = text.casefold()
        found = (re.search(rf"(?<!\w){re.escape(v.casefold().strip())}(?!\w)", folded) for v in self.leaves)
        return all(found)


TELLING = 3
"""A shorter word stands in any text."""
WORDS = late(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")


# ── what was shown ───────────────────────────────────────────────────────────

Place: TypeAlias = tuple[int, str, str]
"""Where a call stands in a text, in which dialect, and what had to be undone."""
_FOUND: Recent[tuple[int, str, str, str], tuple[object, Place | None]] = Recent(4 * 1024 * 1024)
"""For a set of tools (which is held, so that no other can have its id), a call and a text."""


class Provenance:
    """What the model was shown, and what of it a call may be a copy of.

    `read` finds every call in a text; `tools` stands for what it reads them by.
    """

    def __init__(self, shown: Iterable[str | ShownText], read: Read, tools: object = None) -> None:
        lasting = isinstance(shown, Sequence) and not isinstance(shown, ShownHistory)
        self._given = tuple(shown) if lasting else shown
        self._read, self._tools = read, tools

    @cached_property
    def _shown(self) -> Sequence[ShownText]:
        """The texts, when a call asks for them: most answers make none, and a history may be long."""
        if isinstance(self._given, ShownHistory):
            return self._given
        return [ShownText(each) if isinstance(each, str) else each for each in self._given]

    def __bool__(self) -> bool:
        given = self._given
        return given.copyable if isinstance(given, ShownHistory) else any(map(_is_copyable, self._shown))

    def copy_of(self, name: str, arguments: Mapping[str, Any]) -> CopyOf | None:
        """What a call with this name and these arguments is a copy of; a tool's result before a prompt.

        None also where the model itself made this very call before, or the user asked for it.
        """
        wanted = Wanted(name, arguments)
        for kind in ("tool", "system"):
            for source, shown in self._of(kind):
                found = self._in(shown.text, wanted)
                if found is not None:
                    excerpt = shown.text[found[0] : found[0] + EXCERPT]
                    own = self._is_own(wanted)
                    return None if own else CopyOf(source, shown.kind, *found, name=shown.name, excerpt=excerpt)
        return None

    def _of(self, kind: str) -> Iterator[tuple[int, ShownText]]:
        return ((n, each) for n, each in enumerate(self._shown) if each.kind == kind)

    def _is_own(self, wanted: Wanted) -> bool:
        """Did the model make this call before, or do the user's own words ask for it?"""
        for _, shown in self._of("assistant"):
            if any(made == wanted.name and _key(given) == wanted.key for made, given in shown.calls):
                return True
            if self._in(shown.text, wanted):
                return True
        return any(wanted.is_asked(shown.text) or self._in(shown.text, wanted) for _, shown in self._of("user"))

    def _in(self, text: str, wanted: Wanted) -> Place | None:
        """Where a text holds this call."""
        asked = (id(self._tools), wanted.name, wanted.key, text)
        known = _FOUND.get(asked)
        if known is None or known[0] is not self._tools:
            known = self._tools, self._search(text, wanted)
            _FOUND.put(asked, known, len(text) + len(wanted.key) + 100)
        return known[1]

    def _search(self, text: str, wanted: Wanted) -> Place | None:
        left = EACH * len(text) + FREE
        for view in _views(text, wanted):
            sought = Sought(wanted.rarest(view.text), wanted.reach, wanted.is_it)
            call, end, left = self._read(view.text, sought, left)
            undone = ", ".join(dict.fromkeys(view.undone))
            if call is not None:
                return view.place(text, call.start), call.dialect, undone
            if end < len(view.text) and wanted.is_held(view.text[end:]):
                return view.place(text, end), "", undone
        return None
