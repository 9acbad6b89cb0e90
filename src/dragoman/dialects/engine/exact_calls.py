"""One call exactly as its dialect writes it, read in one step.

For each row, the patterns of a call in which nothing is missing, spelt otherwise or in need of mending; whatever is not
plainly that is left to the readers of `dialects/reading/table.py`, which read everything.  Knows rows and shapes;
does not know where in a message it stands, and judges nothing.

Contract: a reading is what the general readers would make of the same characters, to the letter, or none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from ...lenient.source import Source, finder
from ...lenient.strings import SURROGATE
from ..judge.candidate import Draft
from ..reading.arguments import RawArguments
from ..reading.compiled import Row
from ..reading.exact import NO_TOOL, Wanted, compact, object_at
from ..reading.segments import header
from ..spec import BraceArgs, JsonArgs, JsonCall, KeywordArgs, Listing, TaggedArgs, Typing
from .lookahead import SP, any_of, longest_first, maybe

WS = r"[ \t\r\n]*+"
WORD = r"[\w.:-]"
NAME = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
"""A name that no rule reads otherwise."""


Reading: TypeAlias = tuple[str, str, dict[str, Any], str, int, int]
"""A call as it was read: name, id ("" where the text gives none), arguments, these as strict JSON, start and end."""


# ── rows' patterns ──────────────────────────────────────────────────────────


def _exactly(marks: Sequence[str]) -> str:
    """A pattern for the longest of `marks` that stands here, as `finder` finds it."""
    return f"(?>{'|'.join(map(re.escape, longest_first(marks)))})"


def _tail(row: Row) -> str:
    """After the arguments: the body's closer, where there is one, and the call's, which must not be missing."""
    body = f"(?:{SP}{any_of(row.body_close)})?+" if row.body_close else ""
    return body + (SP + any_of(row.call_close) if row.call_close else "")


Tools: TypeAlias = Mapping[str, Wanted] | None
"""The declared tools, by name; None where they are not known."""


class Clean:
    """Reads one call of a row; `call(text, pos, tools)` gives it and where it ends, or None."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.array = row.dialect.listing is Listing.ARRAY
        self.opening = re.compile((any_of(row.section_open) if row.section_open else "") + SP)
        self.closing = re.compile(SP + any_of(row.section_close)) if row.section_close else None
        self.between = re.compile(f"{SP}{maybe(row.between)}{SP}(?={any_of(row.again)})" if row.again else r"(?!)")
        self.item_end = re.compile(rf"{SP}(?:(?P<more>[,;]){SP}|\])")
        self.list_open = re.compile(rf"\[{SP}")
        self.stray = re.compile(rf"{SP}[\]{{,;]")
        self.tail = re.compile(_tail(row))

    def call(self, text: str, pos: int, tools: Tools) -> tuple[Reading, int] | None:
        """The call that begins here."""
        raise NotImplementedError

    def _ended(self, reading: Reading, text: str, pos: int) -> tuple[Reading, int] | None:
        tail = self.tail.match(text, pos)
        return None if tail is None else (reading, tail.end())


class CleanJsonCall(Clean):
    """`{"name": …, "arguments": {…}}`, in this order and with nothing else but an id before the name."""

    def __init__(self, row: Row, args: JsonCall) -> None:
        super().__init__(row)
        key, ids = (rf"\"(?:{'|'.join(map(re.escape, keys))})\"{WS}:{WS}" for keys in (args.name, args.id))
        value = re.compile(rf"\"(?P<name>[A-Za-z_]{WORD}*+)\"", re.ASCII).pattern
        body = f'"(?:{"|".join(map(re.escape, args.args))})"{WS}:{WS}(?={{)'
        given = rf"(?:{ids}\"(?P<id>[\w:.-]++)\"{WS},{WS})?+"
        self.head = re.compile(
            rf"{maybe(row.call_open)}{SP}(?P<start>\{{){WS}{given}{key}{value}{WS},{WS}{body}", re.ASCII
        )
        more = "" if row.call_close else rf"(?!{SP}[,;]?{SP}\{{)" if row.call_open else ""
        self.tail = re.compile(rf"{WS}(?P<end>\}}){_tail(row)}{more}")

    def call(self, text: str, pos: int, tools: Tools) -> tuple[Reading, int] | None:
        head = self.head.match(text, pos)
        if head is None:
            return None
        found = object_at(text, head.end())
        if found is None:
            return None
        tail = self.tail.match(text, found[2])
        if tail is None:
            return None
        name, id_ = head.group("name", "id")
        return (name, id_ or "", found[0], found[1], head.start("start"), tail.end("end")), tail.end()


class CleanNamed(Clean):
    """Notations whose markup carries the tool's name: `tool` reads it."""

    def __init__(self, row: Row) -> None:
        super().__init__(row)
        self.names: dict[str, tuple[str, str] | None] = {}
        split = re.compile(row.dialect.tool_re, re.S)
        self.split = split.fullmatch
        marks = row.tool_close + row.ends
        self.stays = {m for m in row.tool_close if m in row.key_open}
        self.open = re.compile(f"{maybe(row.call_open)}{SP}")
        self.name = re.compile(
            rf"{any_of(row.tool_open) if row.tool_open else ''}(?P<name>{WORD}++)\s*?(?P<mark>{_exactly(marks)})",
            re.ASCII,
        )
        self.header = finder(row.dialect.segments.head)[0] if row.headed and row.dialect.segments else None

    @staticmethod
    def reads(row: Row) -> bool:
        """Can a name be read in one step?  Not where a mark may stand inside one, or none ends it."""
        marks = row.tool_close + row.ends
        return bool(row.tool_close) and not any(re.match(WORD, m) for m in marks if m)

    def tool(self, text: str, pos: int) -> tuple[str, str, str, int, int] | None:
        """Name, id, the mark that ended them, where the call begins, where its arguments do."""
        start = self.open.match(text, pos).end()  # type: ignore[union-attr]
        if self.header is not None:
            return self._headed(text, start)
        found = self.name.match(text, start)
        if found is None:
            return None
        written, mark = found.group("name", "mark")
        if mark not in self.row.tool_close or mark.endswith("/>"):
            return None
        name = self._named(written)
        if name is None:
            return None
        return *name, mark, start, found.start("mark") if mark in self.stays else found.end()

    def _headed(self, text: str, start: int) -> tuple[str, str, str, int, int] | None:
        found = self.header.search(text, start, start + 300)  # type: ignore[union-attr]
        name = None if found is None else self._named(text[start : found.end()])
        return None if name is None or found is None else (*name, found.group(), start, found.end())

    def _named(self, written: str) -> tuple[str, str] | None:
        """Name and id out of the text that holds them; remembered, since few tools are called often."""
        if written in self.names:
            return self.names[written]
        parts = self.split((self._header_words(written) if self.header is not None else written).strip())
        groups = parts.groupdict() if parts else {}
        name = (groups.get("name") or "").strip()
        if len(self.names) > 256:
            self.names.clear()
        found = self.names[written] = (name, groups.get("id") or "") if NAME.fullmatch(name) else None
        return found

    def _header_words(self, written: str) -> str:
        """The text of a segment's header, "" where it is none."""
        segments = self.row.dialect.segments
        assert segments is not None
        src = Source()
        src.feed(written)
        src.eof = True
        try:
            next(header(src, (segments,)))
        except StopIteration as ended:
            mark = next((m for m in segments.head if written.endswith(m)), "")
            return written.removesuffix(mark) if ended.value == written else ""
        return ""


class CleanJsonArgs(CleanNamed):
    """`NAME … {json}`."""

    def __init__(self, row: Row) -> None:
        super().__init__(row)
        self.body = re.compile(f"{SP}{maybe(row.body_open)}{SP}(?={{)")
        self.head = re.compile(rf"{self.open.pattern}(?P<start>){self.name.pattern}{self.body.pattern}", re.ASCII)
        self.fused = self.header is None and "{" not in row.tool_close

    def call(self, text: str, pos: int, tools: Tools) -> tuple[Reading, int] | None:
        head = self._fused(text, pos) if self.fused else self._apart(text, pos)
        if head is None:
            return None
        name, id_, start, body = head
        found = object_at(text, body)
        if found is None:
            return None
        end = found[2]
        tail = self.tail.match(text, end)
        return None if tail is None else ((name, id_, found[0], found[1], start, end), tail.end())

    def _fused(self, text: str, pos: int) -> tuple[str, str, int, int] | None:
        """Name, id, where the call begins, where its arguments do: in one match."""
        head = self.head.match(text, pos)
        if head is None:
            return None
        written, mark = head.group("name", "mark")
        name = self._named(written) if mark in self.row.tool_close else None
        return None if name is None else (name[0], name[1], head.start("start"), head.end())

    def _apart(self, text: str, pos: int) -> tuple[str, str, int, int] | None:
        tool = self.tool(text, pos)
        body = self.body.match(text, tool[4] - 1 if tool[2] == "{" else tool[4]) if tool else None
        return None if tool is None or body is None else (tool[0], tool[1], tool[3], body.end())


class CleanBraces(CleanNamed):
    """`NAME{key:<|"|>text<|"|>,other:1}`, flat."""

    def __init__(self, row: Row, args: BraceArgs) -> None:
        super().__init__(row)
        mark = re.escape(args.quotes[0])
        self.pair = re.compile(
            rf"{WS}(?P<key>[A-Za-z_]\w*+){WS}:{WS}"
            rf"(?:{mark}(?P<text>.*?){mark}|(?P<word>true|false|null|-?(?:0|[1-9][0-9]{{0,16}}))(?=[,}}])){WS}"
            rf"(?P<end>[,}}])",
            re.ASCII | re.S,
        )

    def call(self, text: str, pos: int, tools: Tools) -> tuple[Reading, int] | None:
        tool = self.tool(text, pos)
        if tool is None or tool[2] != "{":
            return None
        name, id_, _, start, after = tool
        read = _pairs(self.pair, text, after)
        return self._ended((name, id_, read[0], read[1], start, read[2]), text, read[2]) if read else None


_WORDS = {"true": True, "false": False, "null": None}


def _pairs(pattern: re.Pattern[str], text: str, pos: int) -> tuple[dict[str, Any], str, int] | None:
    """Flat pairs up to the closing bracket."""
    values: dict[str, Any] = {}
    end = ","
    while end == ",":
        found = pattern.match(text, pos)
        if found is None:
            return None
        key, written, word, end = found.group("key", "text", "word", "end")
        if key in values:
            return None
        values[key] = written if word is None else _WORDS[word] if word in _WORDS else int(word)
        pos = found.end()
    written = compact(values)
    return None if not written.isascii() and SURROGATE.search(written) else (values, written, pos)


class CleanKeywords(Clean):
    """`name(key="text", other=1)`, flat."""

    PAIR = re.compile(
        rf"{WS}(?P<key>[A-Za-z_]\w*+){WS}={WS}"
        r"(?:(?P<quote>[\"'])(?P<text>[^\"'\\\x00-\x1f“”‘’„«»「」＂]++)(?P=quote)"
        rf"|(?P<word>-?(?:0|[1-9][0-9]{{0,16}}))(?=[ \t\r\n,)])){WS}(?P<end>[,)])",
        re.ASCII,
    )
    HEAD = re.compile(r"(?P<name>[A-Za-z_]\w*+)\(", re.ASCII)
    AFTER = re.compile(r"[)\]}]*+(?![\"']|\w)")

    def call(self, text: str, pos: int, tools: Tools) -> tuple[Reading, int] | None:
        head = self.HEAD.match(text, pos)
        if head is None or (tools is None and head["name"] == "print"):
            return None
        read = _pairs(self.PAIR, text, head.end())
        if read is None or not self.AFTER.match(text, read[2]):
            return None
        return self._ended((head["name"], "", read[0], read[1], pos, read[2]), text, read[2])


class CleanTags(CleanNamed):
    """`<parameter=key>value</parameter>` and its kin."""

    def __init__(self, row: Row, args: TaggedArgs) -> None:
        super().__init__(row)
        self.args = args
        value_open = SP + any_of(row.value_open) if row.value_open else ""
        self.key = re.compile(
            rf"{SP}{any_of(row.key_open)}(?P<key>[\w.-]++)(?P<mark>{_exactly(row.key_close)}){value_open}", re.ASCII
        )
        self.ended = re.compile(f"{SP}(?={any_of(row.ends)})")
        self.close = row.value_close[0]
        self.marks = finder(row.value_marks)[0]
        self.stems = {"<" if m[0] == "<" else m for m in row.value_marks}
        self.wanted: dict[str, Wanted] = {}

    @staticmethod
    def reads_tags(row: Row, args: TaggedArgs) -> bool:
        """Can arguments be read in one step?"""
        closers = row.value_close
        return (
            bool(closers and row.ends and row.key_open)
            and not (row.type_open or args.attributes or args.entities)
            and args.trim not in row.key_close
            and not any(re.match(r"[\w.-]", m) for m in row.key_close)
            and not any(m != closers[0] and m.startswith(closers[0]) for m in row.value_marks)
        )

    def call(self, text: str, pos: int, tools: Tools) -> tuple[Reading, int] | None:
        tool = self.tool(text, pos)
        if tool is None:
            return None
        name, id_, _, start, pos = tool
        wanted = NO_TOOL if tools is None else tools.get(name)
        if wanted is None:
            return None
        given: list[tuple[str, str, str]] = []
        key_at, close, trim = self.key.match, self.close, self.args.trim
        while (found := key_at(text, pos)) is not None:
            key, mark = found.group("key", "mark")
            first = found.end()
            end = text.find(close, first)
            if end < 0 or self._holds_mark(text, first, end, key):
                return None
            value = text[first:end]
            if trim and value.startswith(trim):
                value = value.removeprefix(trim).removesuffix(trim)
            given.append((key, value, mark))
            pos = end + len(close)
        if not given or not self.ended.match(text, pos):
            return None
        read = self._texts(wanted, given) or self._typed(name, wanted, given)
        return self._ended((name, id_, read[0], read[1], start, pos), text, pos) if read else None

    def _holds_mark(self, text: str, start: int, end: int, key: str) -> bool:
        """Does anything in the value look like a mark?"""
        for stem in self.stems:
            at = text.find(stem, start, end)
            if at >= 0 and (
                self.marks.search(text, at, end)
                or text.find(f"</{key}>", at, end) >= 0
                or text.find("[CDATA[", at, end) >= 0
            ):
                return True
        return False

    def _texts(self, wanted: Wanted, given: list[tuple[str, str, str]]) -> tuple[dict[str, Any], str] | None:
        """Arguments of which each is declared as text."""
        values: dict[str, Any] = {}
        texts = wanted.texts
        for key, value, _ in given:
            if key not in texts:
                return None
            values[key] = value
        return _checked(values, compact(values), len(given))

    def _typed(self, name: str, wanted: Wanted, given: list[tuple[str, str, str]]) -> tuple[dict[str, Any], str] | None:
        """The arguments, typed as the general reader types them; None where a key or a value would be mended."""
        draft = Draft(self.row.dialect.name, 0, self.row.strong, name=name, tool=wanted.tool, shape=wanted.shape)
        out = RawArguments(draft, typing=self.args.typing)
        for key, value, mark in given:
            if key in out.given or (wanted.tool is not None and key not in wanted.shape.keys):
                return None
            raw, typed = mark in self.args.raw_flag, mark in self.args.json_flag
            out.put(key, value, Typing.TEXT if raw else Typing.LITERAL if typed else None)
        out.finish()
        written = draft.text()
        return None if draft.edits else _checked(json.loads(written), written, len(given))


def _checked(values: dict[str, Any], written: str, count: int) -> tuple[dict[str, Any], str] | None:
    """Arguments of which none was given twice and none holds half a character."""
    if len(values) != count or (not written.isascii() and SURROGATE.search(written)):
        return None
    return values, written


# ── rows ─────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=2048)
def reader(row: Row) -> Clean | None:
    """What reads this row's clean calls; None where only the general readers can."""
    args = row.dialect.args
    if isinstance(args, JsonCall):
        special = args.inside or args.single_key or args.thought or args.answer
        return None if special or row.forms else CleanJsonCall(row, args)
    if isinstance(args, KeywordArgs):
        return CleanKeywords(row) if row.dialect.listing is Listing.ARRAY and not row.call_open else None
    if row.forms or not (row.headed or CleanNamed.reads(row)):
        return None
    if isinstance(args, JsonArgs):
        return CleanJsonArgs(row)
    if isinstance(args, BraceArgs):
        return CleanBraces(row, args)
    if isinstance(args, TaggedArgs) and CleanTags.reads_tags(row, args):
        return CleanTags(row, args)
    return None
