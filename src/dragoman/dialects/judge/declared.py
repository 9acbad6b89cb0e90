"""The tools of one request by name: found by how a name is written, or by how one begins.

Knows tools and the notation of names; reads no text for calls.
Contract: making one costs a step for each tool, asking none; the same tools, as they were given before, are prepared
once, if nobody has put another name or schema into them since.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from operator import attrgetter, itemgetter, methodcaller
from typing import Any, TypeAlias

from ...late import late
from ...memo import FrozenTools, Recent
from ...schema import definitions
from ...types import Tool

NAMESPACES = (
    "functions.", "function.", "default_api.", "tools.", "tool.", "functions/", "declaration:default_api:",
    "default_api:", "declaration:",
)
"""Namespace prefixes of several wires, stripped without guessing (judge-rules.md 4; malformations.md §6)."""
BEGUN_NAMESPACES = frozenset(space[:size] for space in NAMESPACES for size in range(len(space) + 1))
PRINT = "print"
"""Calls may be printed: `print(read_file(…))`."""
COUNT = late(r":\d*\Z")
ODD = late(r"[^A-Za-z0-9_-]")
"""A sign that OpenAI's and Anthropic's wires forbid in a name."""
MAX_WORD = 256
"""No name is longer as written."""
WORD = late(rf"[\w$@][\w.\-:/$@\\]{{0,{MAX_WORD - 1}}}")
"""A name as it is written where no markup delimits it."""
HEAD = 3
"""Characters of a name by which most words are told from it."""
WHOLE = "\0"
"""Stands behind a shorter name."""
CALL_WORD = late(r"[\w.:-](?:(?<=[<>=\"'].)[\w.:-]*+(?=[\"'>\s({<])|(?<![\w.:-].)[\w.:-]*+(?=\())", re.DOTALL)
"""A word where calls have their tool's name: behind a mark, a quote or a sign, or before a parenthesis."""
CALL_WORD_SIGNS = late(r"[\w.:-]+")
SHORT_TAILS = tuple(first + second for first in ".:/" for second in ("", *".:/0123456789"))
"""What may be written behind a name that ends no word (`_clean`, and the end of a sentence)."""
WORDS = 256
"""So many words are remembered, of each set of tools."""
FEW = 4
"""So many names are looked for in a text sooner than its words are."""
MOST_WORDS = 256
"""Of more names one pattern would try each at every place."""
SETS = 64
MANY = 20_000
"""So many sets of tools, and tools in them, are remembered."""


class Declared(Mapping[str, Tool]):
    """Declared tools by name, each read out of its definition when it is asked for.

    `some` says that there are any; `begun` remembers which words begin as a name does, `prepared` what others made once
    for these tools.  `also` are other spellings that count as exact: spelling → name.  Where it does not
    say, a name with signs that many wires forbid (`kom.memory.search`) may be written with underscores, as those wires
    and their models write it.
    """

    def __init__(
        self, tools: Mapping[str, Tool | Mapping[str, Any]], also: Mapping[str, str] | None = None
    ) -> None:
        self._given = tools
        self.some = bool(tools)
        self._also = also
        self._tools: dict[str, Tool] = {}
        self._known: dict[str, tuple[str, str]] = {}
        self.begun: dict[str, bool] = {}
        self.prepared: dict[Hashable, Any] = {}

    def __getitem__(self, name: str) -> Tool:
        found = self._tools.get(name)
        if found is None:
            found = self._tools[name] = definitions.tool(self._given[name])
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._given

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)

    def spelt_also(self, also: Mapping[str, str]) -> Declared:
        """The same tools, under these spellings too."""
        return Declared(self._given, {**self._spellings, **also}) if also else self

    @cached_property
    def _spellings(self) -> Mapping[str, str]:
        """Spelling → name, for spellings that are no names and mean one tool."""
        if self._also is not None:
            return {spelling: name for spelling, name in self._also.items() if spelling not in self._given}
        odd = [(ODD.sub("_", name), name) for name in self._given if ODD.search(name)]
        alike = Counter(spelling for spelling, _ in odd)
        return {spelling: name for spelling, name in odd if alike[spelling] == 1 and spelling not in self._given}

    @cached_property
    def written(self) -> tuple[str, ...]:
        """Every exact spelling of every name."""
        return (*self._given, *self._spellings)

    def exact(self, written: str) -> str:
        """The declared name that is spelt exactly so; "" where none is."""
        return written if written in self._given else self._spellings.get(written, "")

    def any_of(self, words: Iterable[str]) -> bool:
        """Is one of these words spelt exactly as a declared name is?"""
        told = set(words)
        return not (told.isdisjoint(self._given) and told.isdisjoint(self._spellings))

    def called_in(self, text: str, most: int) -> list[str]:
        """The declared names that are spelt exactly so where calls have them, in order, each at least `most` times.

        Those that stand there no more often, as often as they do.

        Few names are looked for one by one: each is one literal, and a megabyte has a hundred thousand words.
        """
        if len(self.written) > FEW:
            return self.named_in(CALL_WORD.findall(text))
        found = [place for pattern in self._called for place in islice(pattern.finditer(text), most)]
        return self.named_in([place.group() for place in sorted(found, key=_start)])

    @cached_property
    def _called(self) -> list[re.Pattern[str]]:
        """What finds each name where calls have theirs."""
        names = [re.escape(name) for name in self.written if CALL_WORD_SIGNS.fullmatch(name)]
        behind = r"(?=[\"'>\s({<])(?<=[<>=\"']{0})|(?=\()(?<![\w.:-]{0})"
        return [re.compile(f"{name}(?:{behind.replace('{0}', name)})") for name in names]

    def named_in(self, words: Iterable[str]) -> list[str]:
        """The declared names that are spelt exactly so, as often as they are."""
        given, spellings = self._given, self._spellings
        return [word if word in given else spellings[word] for word in words if word in given or word in spellings]

    @cached_property
    def _folded(self) -> Mapping[str, str]:
        others = {spelling.casefold(): name for spelling, name in self._spellings.items()}
        return {**others, **{name.casefold(): name for name in reversed(tuple(self._given))}}

    @cached_property
    def _tails(self) -> Mapping[str, str]:
        """The last part of a dotted name → the name, where no other ends so and no tool is called so; else ""."""
        tails: dict[str, str] = {}
        for name in self._given:
            tail = name.rpartition(".")[2]
            if tail != name:
                tails[tail] = "" if tail in tails or self.exact(tail) else name
        return tails

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted({*self._folded, *map(str.casefold, self._tails)})

    def shortened(self, written: str) -> str:
        """The declared name of which only the part behind its namespace is written; "" for none or several."""
        return self._tails.get(written.replace("\\", ""), "")

    def spelt(self, written: str) -> str:
        """The declared name that is written so, in any case; "" where none is."""
        if written in self._given:
            return written
        return self._spellings.get(written) or self._folded.get(written.casefold(), "")

    def meant(self, written: str) -> str:
        """The declared name that is written so, perhaps under a namespace or with markdown's escapes."""
        if written in self._given:
            return written
        clean = _clean(written)
        if clean is written and not written.startswith(NAMESPACES):
            return self._spellings.get(written) or self._tails.get(written, "")
        found = next((name for n in (written, clean, *_unspaced(clean)) if (name := self.exact(n))), "")
        return found or self._tails.get(clean, "")

    def both(self, written: str) -> tuple[str, str]:
        """What `spelt` and `meant` find; remembered, for the same words stand in marks again and again."""
        found = self._known.get(written)
        if found is None:
            if len(self._known) >= WORDS:
                self._known.clear()
            found = self._known[written] = self.spelt(written), self.meant(written)
        return found

    def may_begin(self, written: str) -> bool:
        """May this be the beginning of what `spelt` or `meant` finds?"""
        clean = _clean(written)
        return clean in BEGUN_NAMESPACES or any(self._begins(part.casefold()) for part in (clean, *_unspaced(clean)))

    @cached_property
    def heads(self) -> frozenset[str]:
        """The first characters, folded, up to `HEAD`, of all that `spelt` or `meant` finds."""
        return _heads((*self._folded, *map(str.casefold, self._tails), *NAMESPACES)) if self._given else frozenset()

    @cached_property
    def initials(self) -> frozenset[str]:
        """What they begin with, in either case."""
        return frozenset(sign for head in self.heads for sign in (head[0], head[0].upper()))

    @cached_property
    def first_words(self) -> frozenset[str]:
        """The same of the words that a call may begin with which is written as a line of a program."""
        return self.heads | _heads((PRINT,)) if self._given else self.heads

    @cached_property
    def told_heads(self) -> frozenset[str]:
        """Those of `first_words` that tell a word from others: whole heads, and names that are no longer."""
        return frozenset(head.rstrip(WHOLE) for head in self.first_words if len(head) == HEAD or head[-1] == WHOLE)

    @cached_property
    def words(self) -> str:
        """A choice, to be read in any case, of all that `spelt` finds and of their last parts; "" where none tells."""
        names = (*self._folded, *map(str.casefold, self._tails))
        if not names or len(names) > MOST_WORDS or not all(map(str.isascii, names)):
            return ""
        return "|".join(map(re.escape, sorted(names, reverse=True)))

    def _begins(self, folded: str) -> bool:
        at = bisect_left(self._sorted, folded)
        return at < len(self._sorted) and self._sorted[at].startswith(folded)


NO_TOOLS = Declared({})
_start: Callable[[re.Match[str]], int] = methodcaller("start")


def _heads(names: Iterable[str]) -> frozenset[str]:
    """The first characters of names, and of shorter ones with what may be written behind them, `WHOLE` at their end."""
    short = {name for name in names if 0 < len(name) < HEAD}
    tailed = {name + tail for name in short for tail in SHORT_TAILS}
    begun = {name[:size] for name in (*names, *tailed) for size in range(1, HEAD + 1)}
    return frozenset((*begun, *(name + WHOLE for name in (*short, *tailed))))


def _clean(written: str) -> str:
    """The name without a count behind it, and without Markdown's escapes."""
    return COUNT.sub("", written.replace("\\", "")) if ":" in written or "\\" in written else written


def _unspaced(name: str) -> tuple[str, ...]:
    """The name without the namespaces it may stand under."""
    if not name.startswith(NAMESPACES):
        return ()
    return tuple(name[len(space) :] for space in NAMESPACES if name.startswith(space))


# ── the same tools, given again ──────────────────────────────────────────────


SCHEMAS = ("parameters", "input_schema", "inputSchema")


class _Given:
    """Definitions of one form as they were given: the things, and what a parser asks of them."""

    __slots__ = ("_asked", "_things", "declared")

    def __init__(self, things: tuple[Any, ...], asked: _Asked, declared: Declared) -> None:
        self._things, self._asked, self.declared = things, asked, declared

    def is_as_it_was(self) -> bool:
        """Do they still say the same?"""
        held = list(self._things)
        for field, values in self._asked:
            try:
                now = list(map(itemgetter(field), held))
            except (KeyError, TypeError):
                return False
            if now != values:
                return False
            if field == "function":
                held = values
        return True


_Asked: TypeAlias = tuple[tuple[str, list[Any]], ...]


def _asked(things: tuple[Any, ...]) -> _Asked | None:
    """The names and schemas in definitions of one form; None where they are not of one form."""
    if all(type(one) is Tool for one in things):
        return ()
    try:
        wrapped = "function" in things[0]
        inner = [one["function"] for one in things] if wrapped else list(things)
        schema = next(key for key in SCHEMAS if key in inner[0])
        fields = [(key, [one[key] for one in inner]) for key in ("name", schema)]
    except (KeyError, StopIteration, TypeError):
        return None
    return (*([("function", inner)] if wrapped else []), *fields)


Tools: TypeAlias = Iterable[Tool | Mapping[str, Any]] | Declared | None
"""Tools as a caller gives them, or as they were prepared before."""
_GIVEN: Recent[tuple[int, ...], _Given] = Recent(MANY)
_READ: Recent[int, tuple[object, Declared]] = Recent(MANY)


def declared(tools: Tools) -> Declared | None:
    """The tools by name; None where they are not known.  Raises `UsageError` as `definitions.tools` does."""
    if tools is None or type(tools) is Declared:  # asking a class of mappings costs more than all the rest
        return tools
    if type(tools) is FrozenTools:
        return _frozen(tools)
    if type(tools) is not list and type(tools) is not tuple:
        return tools if isinstance(tools, Declared) else _read(tools)
    key = tuple(map(id, tools))
    found = _GIVEN.get(key) if key else None
    if found is not None and found.is_as_it_was():
        return found.declared
    things = tuple(tools)
    asked = _asked(things) if things else None
    made = _unread(things, asked) or _read(things)
    if asked is not None:
        _GIVEN.put(key, _Given(things, asked, made), len(key) + MANY // SETS)
    return made


def _unread(things: tuple[Any, ...], asked: _Asked | None) -> Declared | None:
    """Definitions in which nothing can be wrong need not be read before they are asked for."""
    if not asked:
        return None
    (_, names), (_, schemas) = asked[-2:]
    by_name = dict(zip(names, things, strict=True)) if set(map(type, names)) == {str} else {}
    if len(by_name) < len(things) or "" in by_name or set(map(type, schemas)) != {dict}:
        return None
    return Declared(by_name)


def _read(tools: Iterable[Tool | Mapping[str, Any]]) -> Declared:
    found = definitions.tools(tools) or ()
    return Declared(dict(zip(map(attrgetter("name"), found), found, strict=True)))


def _frozen(tools: FrozenTools) -> Declared:
    found = _READ.get(id(tools))
    if found is None or found[0] is not tools:
        found = tools, _read(tools)
        _READ.put(id(tools), found, len(tools) + MANY // SETS)
    return found[1]
