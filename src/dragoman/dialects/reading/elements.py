"""Calls whose every argument is an element named after it: `<city>Oslo</city>`, perhaps with elements inside.

Where a value is text, its closer is decided by what follows, as in `tags.py`; every other value is read whole and its
elements become objects and arrays as the schema says.  Knows no dialect by name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from ...late import late
from ...lenient.notation import Broken, Cut
from ...lenient.source import SPACE, Need
from ...schema.validation import ANYTHING, Shape
from ...types import Edit
from ..judge.candidate import Draft
from ..spec import ElementArgs
from .arguments import RawArguments, Trim, Unescape, declared_key, html_text, is_wrapper, unescaped
from .call import Attempt, Mismatch
from .clean import at_once
from .clean_elements import Plain, plain_elements
from .element_tree import ATTRIBUTES, CLOSE, OPEN, Node, tree
from .keys import TEXT
from .nesting import OPENER, until_over
from .raw_values import RawValue, Role, Seen
from .strays import CallMarks

MAX_TAG = 400
"""No tag with its attributes is longer."""
HEAD = late(ATTRIBUTES + r"\s*(?P<end>/?>)")
ATTRIBUTE = late(r"([\w:.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|(\S+))")
ENDED = late(r"(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*[<>]")
"""A tag is over, or is none, at the first angle bracket outside quotes."""
LEGAL = late(r"[\w\s/]")
NO_TAG = late(r"[^<]*+<[^<>\"']*+(?:<|\Z)")
NO_NAME = r"(?=/?+\s*+[^\w\s])"
NO_TAGS = late(rf"(?:[^<]*+<(?:(?=[^<>\"']*+<)|{NO_NAME}))++")
"""Angle brackets that open no element: another follows before one closes, or a sign that no name begins with."""
WORD = r"\w[\w:.-]*"
TAGS = late(rf"(?:[^<]*+<(?:\w[^<>]*+(?:>|(?=<))|/\s*{WORD}\s*>(?=\s*+(?:[^<\s]|<[^<>]*+[<>]))|{NO_NAME}))++")
"""Text with tags in it of which all is there, and with what looks like tags."""
TAG = late(rf"{OPENER.pattern}|</\s*(?P<closes>{WORD})\s*>(?=\s*+</\s*(?P<behind>{WORD})|)")
ONE_TAG = late(r"\s*+<[^<>]*+[<>]")
ANY_TAG = late(rf"</?\s*+(?P<name>{WORD}+)")
NAME = late(WORD)
ITEMS = frozenset({"item"})
WORDLESS = late(r"(?:</?[\w:.-]++>|\W)*+")
"""What may stand loose between the items of a list: no word of a value."""
LEFT = late(r"[<>]|\A\W*\Z")
"""What a damaged tag leaves between elements."""


def element_args(attempt: Attempt) -> Need[None]:
    """`<city>Oslo</city>…`, up to the end of the call."""
    args = attempt.spec.args
    assert isinstance(args, ElementArgs)
    draft = attempt.new()
    reader = _Elements(attempt, draft, args)
    if attempt.called:
        name, call_id = attempt.called, None
        given, alone = yield from reader.head()
    else:
        name, call_id, mark = yield from attempt.tool()
        given, alone = {}, mark.endswith("/>")
        if mark in attempt.row.ends:
            attempt.src.pos -= len(mark)
    yield from attempt.src.space()
    if (yield from attempt.src.literal(attempt.row.body_open)):
        yield from attempt.src.space()
    if not alone and not given and not (yield from reader.begins()):
        raise Mismatch
    attempt.begin(draft, name, call_id)
    for key, text in given.items():
        reader.out.put(reader.out.key(key), text)
    if not alone:
        yield from reader.read()
    else:
        attempt.ended = bool(attempt.called) or not attempt.row.call_open
    reader.out.finish()
    attempt.finish(draft)
    if not alone:
        yield from attempt.closing(attempt.row.body_close)


class _Elements:
    """The arguments of one call."""

    def __init__(self, attempt: Attempt, draft: Draft, args: ElementArgs) -> None:
        self.a, self.draft, self.args = attempt, draft, args
        self.out = RawArguments(draft, typing=args.typing, repeats=args.nested)
        self.lead = f"{args.prefix}<"
        self.closers = attempt.row.body_close + attempt.call_close + attempt.row.section_close

    def head(self) -> Need[tuple[dict[str, str], bool]]:
        """The rest of the call's own tag: its attributes, and whether it closes itself."""
        src = self.a.src
        opener = self.a.opener
        if not opener.endswith(self.a.called) or opener[0] != "<":
            yield from self.a.tool()
            return {}, False
        found = yield from src.match(HEAD, MAX_TAG)
        if found is None:
            yield from self.a.tool()
            self.closers = self.a.row.body_close + self.a.call_close
            return {}, False
        src.pos = found.end()
        pairs = ATTRIBUTE.findall(found["attributes"])
        return {k: html_text(a or b or c) for k, a, b, c in pairs}, found["end"] == "/>"

    def begins(self) -> Need[bool]:
        """Does an argument, or the call's end, stand here?"""
        src = self.a.src
        if (yield from self._call_ends()):
            return True
        if not (yield from src.peek(len(self.lead))).startswith(self.lead):
            return src.eof and src.pos == len(src.buf)
        return (yield from self._tag(OPEN)) is not None

    def read(self) -> Need[None]:
        """Every argument up to the call's end."""
        if self._read_plain():
            return
        src = self.a.src
        while True:
            yield from src.space()
            if (yield from self._call_ends()):
                return
            if src.eof and self._is_rest_of_closer():
                if not self.out.given:
                    raise Cut
                src.pos = len(src.buf)
                self.a.closed = False
                self.draft.edits.append(Edit("unclosed"))
                return
            found = yield from self._tag(OPEN)
            if (yield from self._another_call(found)):
                self.draft.edits.append(Edit("unclosed"))
                self.a.ended = True
                return
            if found is not None:
                yield from self._element(found)
            elif not (yield from self._stray()):
                raise Broken("text stands between the arguments")

    def _read_plain(self) -> bool:
        """Read them all if none holds a tag and all are declared, in a text that has ended."""
        src, shape = self.a.src, self.draft.shape
        if not src.eof or self.lead != "<":
            return False
        barred = {self.a.called, *(mark[2:-1] for mark in self.closers)}
        found = plain_elements(src.buf, src.pos, self.closers, {*shape.keys} - barred)
        if not found or src.base + found[-1].end > src.limit or self._goes_on_behind(found[-1]):
            return False
        for key, text, end in found:
            src.pos = end
            if shape.property(key).kinds != TEXT:
                self._put(key, text, guessed=False)
            elif self.out.is_text(key):
                self.out.put_text(key, self._plain(text))
            else:
                self.out.put(key, self._plain(text))
        src.pos = SPACE.match(src.buf, src.pos).end()  # type: ignore[union-attr]
        return True

    def _goes_on_behind(self, last: Plain) -> bool:
        """Does the last value go on behind its closer?"""
        src, begin, size = self.a.src, self.a.src.pos, len(f"</{last.key}>")
        src.pos = last.end - size
        goes_on = at_once(self.goes_on(last.key, size, text=self.draft.shape.property(last.key).kinds == TEXT))
        src.pos = begin
        return goes_on is not False

    def goes_on(self, key: str, size: int, *, text: bool) -> Need[bool]:
        """Does the value of this argument, perhaps any `text`, go on behind the closer that stands here?"""
        called, closers, opens = self.a.called, self.closers, self.a.row.opens_call
        if called:
            closers, opens = (f"{self.lead}/{called}>", *closers), (f"{self.lead}{called}", *opens)
        return (yield from self.a.goes_on(size, CallMarks((f"{self.lead}/{key}>",), closers, opens), text=text))

    def _another_call(self, tag: re.Match[str] | None) -> Need[bool]:
        """Does another call begin here, so that this one's closer is missing?"""
        if not self.a.called:
            return tag is not None and tag["key"] not in self.draft.shape.keys and self._opens_call(tag["key"])
        if tag is not None:
            return self.a.judge.known(tag["key"]) and not self.draft.shape.has(tag["key"])
        return bool((yield from self.a.another())[1])

    def _opens_call(self, key: str) -> bool:
        """Is the tag of this name one that opens a call?"""
        marks = self.a.row.call_open + self.a.row.tool_open
        return any(re.match(rf"{re.escape(self.lead + key)}(?![\w:.-])", mark) for mark in marks)

    def _call_ends(self, *, taken: bool = True) -> Need[bool]:
        """Does the call's closer stand here?  One of the tool's own name is `taken`."""
        src = self.a.src
        _, found = yield from src.glance(self.closers)
        if found:
            return True
        if not self.a.called:
            return False
        ahead = 0 if taken else (yield from src._over_space(0))
        tag = yield from self._tag(CLOSE, ahead)
        if tag is None or tag["key"] != self.a.called:
            return False
        if taken:
            src.pos = tag.end()
            self.a.ended = True
        return True

    def _is_rest_of_closer(self) -> bool:
        return self.a.src.ends_within(self.closers)

    def _stray(self) -> Need[bool]:
        """A closing tag that closes nothing here."""
        tag = yield from self._tag(CLOSE)
        if tag is None:
            return False
        self.a.src.pos = tag.end()
        self.draft.edits.append(Edit("stray_closer", "$", tag["key"]))
        return True

    def _tag(self, pattern: re.Pattern[str], ahead: int = 0) -> Need[re.Match[str] | None]:
        """A tag that stands here, or `ahead` of here; not consumed."""
        src = self.a.src
        skip = ahead + len(self.lead)
        first = (yield from src.peek(skip + 1))[ahead:]
        if not first.startswith(self.lead) or not LEGAL.match(first, len(self.lead)):
            return None
        while True:
            start = src.pos + skip
            if ENDED.match(src.buf, start) or src.eof or len(src.buf) - start > MAX_TAG:
                return pattern.match(src.buf, start)
            yield

    # ── one argument ─────────────────────────────────────────────────────────

    def _element(self, tag: re.Match[str]) -> Need[None]:
        out = self.out
        self.a.src.pos = tag.end()
        key = out.key(tag["key"])
        if tag["end"] == "/>":
            out.put(key, "")
        elif out.is_text(key) and not (self.args.nested and not out.shape(key).kinds):
            out.begin_text(key)
            yield from self._text(tag["key"], out.text)
            out.end_text()
        elif out.shape(key).kinds == TEXT:
            got: list[str] = []
            yield from self._text(tag["key"], got.append)
            out.put(key, "".join(got))
        else:
            raw, guessed = yield from self._raw(tag["key"])
            self._put(key, raw, guessed=guessed)

    def _put(self, key: str, raw: str, *, guessed: bool) -> None:
        """A whole value: elements by the schema, else text."""
        shape = self.out.shape(key)
        node = tree(raw, self.args.prefix) if self.args.nested or is_wrapper(self.draft, key) else None
        if node is not None and node.children:
            self.out.put_value(key, self._value(node, shape))
            return
        text = node.text if node is not None else [raw]
        self.out.put(key, self._plain("".join(text), guessed=guessed))

    def _plain(self, text: str, *, guessed: bool = False) -> str:
        """A text without the framing around it."""
        got: list[str] = []
        trim = Trim(self.args.trim, got.append)
        trim.feed(text)
        trim.close(guessed=guessed)
        return unescaped("".join(got)) if self.args.entities else "".join(got)

    def _text(self, key: str, sink: Callable[[str], object]) -> Need[None]:
        """Pour a text into `sink` up to its closer."""
        if (yield from self.a.src.glance(("<![CDATA[",)))[1]:
            raw, _ = yield from self._raw(key)
            node = tree(raw, self.args.prefix)
            sink("".join(node.text) if node is not None and not node.children else raw)
            return
        unescape = Unescape(sink, active=self.args.entities)
        trim = Trim(self.args.trim, unescape.feed)
        guessed = yield from self._value_into(key, trim.feed, text=True)
        trim.close(guessed=guessed)
        unescape.close()

    def _raw(self, key: str) -> Need[tuple[str, bool]]:
        """A whole value: its raw text, and whether it has no closer."""
        got: list[str] = []
        guessed = yield from self._value_into(key, got.append)
        return "".join(got), guessed

    def _value_into(self, key: str, sink: Callable[[str], object], *, text: bool = False) -> Need[bool]:
        """Pour a value into `sink` up to its closer, as it is written; returns whether it has none."""
        marks = _ElementMarks(self, key, text=text)
        value = RawValue(self.a.src, marks, sink, marks, {key})
        yield from value.read()
        assert value.ended is not None
        if value.guessed:
            self.a.guessed.append(self.draft)
        if value.ended.role is Role.WRONG:
            self._refuse_others(key, value.ended.kind)
            self.draft.edits.append(Edit("wrong_closer", "$", value.ended.kind))
        elif value.ended.role is not Role.CLOSES:
            self.draft.edits.append(Edit("unclosed_argument", "$", key))
        return value.unclosed

    def _refuse_others(self, key: str, closer: str) -> None:
        """The closer of another argument, which is not given, ends this one: it stands in it."""
        if closer in self.draft.shape.keys and closer != key and closer not in self.out.given:
            raise Broken(f"the argument {key[:40]!r} ends with the closer of {closer[:40]!r}, which is missing")

    def legal_next(self, ahead: int = 0) -> Need[tuple[bool, bool]]:
        """What stands `ahead` of here: may it follow an argument, and is it sure to?"""
        src = self.a.src
        ahead = yield from src._over_space(ahead)
        if (src.eof and src.pos + ahead == len(src.buf)) or src.ends_within(self.closers, ahead):
            return True, True
        if (yield from src._option(ahead, self.closers))[1]:
            return True, True
        tag = yield from self._tag(CLOSE, ahead)
        if tag is not None:
            return True, tag["key"] == self.a.called
        tag = yield from self._tag(OPEN, ahead)
        if tag is not None:
            key = declared_key(self.draft, tag["key"])
            return True, self.draft.tool is None or self.draft.shape.has(key)
        if src.ends_within(self.closers, ahead):  # the text may have ended while the next sign was awaited
            return True, True
        return bool(self.a.called and (yield from self.a._named(ahead))), True

    def call_may_end(self, ahead: int) -> Need[bool]:
        """Can the call have ended `ahead` of here?"""
        src, row = self.a.src, self.a.row
        ahead = yield from src._over_space(ahead)
        if src.eof and src.pos + ahead == len(src.buf):
            return True
        marks = row.after_body
        return bool((yield from src._option(ahead, marks))[1]) or src.ends_within(marks, ahead)

    def _is_closer(self, tag: re.Match[str]) -> bool:
        return self.lead + tag.group().replace(" ", "") in self.closers

    def ends_call(self, tag: re.Match[str]) -> bool:
        """Does this closing tag end the call, or what is around it?"""
        return bool(tag["key"] == self.a.called or self._is_closer(tag))

    # ── elements inside a value ──────────────────────────────────────────────

    def _value(self, node: Node, shape: Shape) -> Any:
        """What an element with children stands for."""
        keys = [c.key for c in node.children]
        if shape.kinds and not shape.kinds & {"array", "object"} and len(keys) == 1 and keys[0] in ITEMS:
            return self._leaf(node.children[0], shape)
        if "array" in shape.kinds and ("object" not in shape.kinds or (set(keys) <= ITEMS and not shape.has(keys[0]))):
            return self._items(node, shape.item)
        if not shape.kinds and not node.is_mixed and (set(keys) <= ITEMS or keys == [str(i) for i in range(len(keys))]):
            return self._items(node, ANYTHING)
        found: dict[str, list[Node]] = {}
        for child in node.children:
            found.setdefault(child.key, []).append(child)
        value: dict[str, Any] = {k: self._several(v, shape.property(k)) for k, v in found.items()}
        if node.is_mixed:
            value["$text"] = "".join(node.text).strip()
            if LEFT.search(value["$text"]):
                raise Broken("a piece of a tag stands between elements")
        return value

    def _several(self, nodes: list[Node], shape: Shape) -> Any:
        if len(nodes) == 1:
            return self._leaf(nodes[0], shape)
        item = shape.item if "array" in shape.kinds else shape
        return [self._leaf(n, item) for n in nodes]

    def _items(self, node: Node, item: Shape) -> list[Any]:
        """An array out of its elements; one of a kind unknown to the schema keeps the name of its only element."""
        loose = "".join(node.text).strip()
        if WORDLESS.fullmatch(loose) is None:
            raise Broken("text stands between the items of a list")
        if loose:
            self.draft.edits.append(Edit("stray_mark", "$", loose))
        keys = {c.key for c in node.children}
        if len(keys) > 1 and any(map(self.draft.shape.has, keys - ITEMS)):
            raise Broken("another argument stands among the items of a list, which is not closed")
        named = len(node.children) == 1 and not (keys & ITEMS) and not item.kinds and node.children[0].children
        if named:
            return [self._value(node, ANYTHING)]
        return [self._leaf(c, item) for c in node.children]

    def _leaf(self, node: Node, shape: Shape) -> Any:
        if node.children:
            return self._value(node, shape)
        text = self._plain("".join(node.text))
        if f"</{node.key}" in text and f"<{node.key}" not in text:
            raise Broken(f"a closer of <{node.key}> stands in it")
        if shape.kinds == TEXT and not shape.enum:
            return text
        value = self.out.typed(text.strip(), shape)
        return text if value == text.strip() and not shape.kinds else value


class _ElementMarks:
    """What the tags inside one value are; as a container, the kinds of those that begin or end no call."""

    def __init__(self, reader: _Elements, key: str, *, text: bool) -> None:
        self.reader, self.key, self.text = reader, key, text
        self.marks: tuple[str, ...] = (reader.lead,)
        whole = all(NO_TAG.match(mark) is None for mark in reader.closers)
        self.nothing: re.Pattern[str] | None = None
        self.false: re.Pattern[str] | None = None
        nesting = reader.a.row.nesting
        self._around = {*nesting.closes.values(), *filter(None, (reader.a.called,))}
        self._ends = {*self._around, *(found["key"] for mark in reader.closers if (found := CLOSE.match(mark, 1)))}
        self._stops = {key, *self._ends}
        if reader.lead == "<" and whole and all(NAME.fullmatch(kind.strip()) for kind in self._around):
            self.nothing = NO_TAGS

    def __contains__(self, kind: object) -> bool:
        return kind not in self._around

    def past(self, text: str, pos: int, limit: int, depth: dict[str, int], *, known: bool, nests: bool = False) -> int:
        if self.nothing is None:
            return pos
        if known:
            end = max(pos, text.rfind("<", pos, limit))  # what stands behind the last one, more must tell
            for tag in ANY_TAG.finditer(text, pos, end):
                if tag["name"] == self.key:
                    if text[tag.start() + 1] == "/":
                        if not (nests and depth[self.key] and CLOSE.match(text, tag.start() + 1, end)):
                            return tag.start()
                        depth[self.key] -= 1
                        continue
                    opener = OPENER.match(text, tag.start())
                    depth[self.key] += opener is not None and opener["name"] == self.key
            return end
        run = TAGS.match(text, pos, limit)
        if run is None:
            return pos
        end = run.end()
        if text.find("</", pos, end) < 0 and self._ends.isdisjoint(opened := OPENER.findall(text, pos, end)):
            depth.update({name: depth.get(name, 0) + count for name, count in Counter(opened).items()})
            return end
        behind = ONE_TAG.match(text, end)
        for tag in TAG.finditer(text, pos, end if behind is None else behind.end()):
            opens, closes = tag["name"], tag["closes"]
            if tag.start() >= end:
                break
            if closes in self._stops or opens in self._ends:
                return tag.start()
            if opens:
                depth[opens] += 1
            elif closes and depth.get(closes):
                depth[closes] -= 1
            elif closes and tag["behind"] in self._stops:
                return tag.start()
        return end

    def look(self, mark: str, balances: Callable[[str], bool]) -> Need[Seen]:
        """What the tag that stands here is."""
        reader, size = self.reader, len(mark)
        src = reader.a.src
        close = yield from reader._tag(CLOSE)
        if close is None:
            return (yield from self._opener(size))
        size = close.end() - src.pos
        name = close["key"]
        if name != self.key and balances(name):
            return Seen(Role.ENDS, len(mark) if reader.ends_call(close) else size, name)
        if reader.ends_call(close):
            return Seen(Role.ENDS, len(mark), name, (yield from reader.call_may_end(size)))
        follows, sure = yield from reader.legal_next(size)
        if name == self.key:
            return Seen(Role.CLOSES, size, name, follows, sure)
        if not reader.args.prefix:
            follows = follows and (yield from self._call_ends_behind(size))
        return Seen(Role.WRONG, size, name, follows)

    def goes_on(self, seen: Seen) -> Need[bool]:
        """Does the value go on behind the closer that stands here?"""
        return (yield from self.reader.goes_on(self.key, seen.size, text=self.text))

    def _call_ends_behind(self, size: int) -> Need[bool]:
        src = self.reader.a.src
        ahead = yield from src._over_space(size)
        if (yield from src._option(ahead, self.reader.closers))[1]:
            return True
        tag = yield from self.reader._tag(CLOSE, ahead)
        return tag is not None and self.reader.ends_call(tag)

    def _opener(self, size: int) -> Need[Seen]:
        src = self.reader.a.src
        yield from until_over(src)
        tag = OPENER.match(src.buf, src.pos + len(self.reader.lead) - 1)
        return Seen(Role.TEXT, size) if tag is None else Seen(Role.OPENS, size, tag["name"])


__all__ = ["element_args"]
