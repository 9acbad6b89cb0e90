"""Markup made harmless, reversibly: what a model reads must not act when the model copies it.

Text that comes from a tool or a user may hold the markup of any dialect and the control tokens of any chat template.
`neutralise` puts an invisible word joiner (U+2060) after the first character of each, so that neither the model's
tokenizer nor our parser takes it for the real thing and a copy of it is no call; `restore` takes the joiners out.
This module does not know about calls, judging or prompts.

Laws: `restore(neutralise(x, rows)) == x` for every `x`, joiners included (a joiner that was there is doubled);
`neutralise` is linear in its text; ordinary prose, Markdown and JSON come through unchanged.
Bare JSON is not markup and is left alone: what tells a copy of it from a call is provenance (judge-rules.md 8).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, product
from typing import TypeAlias

from ...memo import per_object
from ...records import NamedTuple
from ..rows.table import ALL
from ..spec import Dialect, Listing, TaggedArgs

JOINER = "\u2060"
PIECE = 64 * 1024
"""Characters searched at once."""
REACH = 256
"""Characters that are looked at behind a first one, at most."""


def _each(*words: str) -> tuple[str, ...]:
    """Every way to put together one of each."""
    return tuple("".join(chosen) for chosen in product(*(told.split(" ") for told in words)))


OTHER_CASES = "ſıİ\u212a\u212b"
"""What the engine takes for s, i, k and å, and Python's own cases do not name."""
LETTER = f"[a-zA-Z{OTHER_CASES}]"
CALL_WORDS = r"(?:tool|function)_(?:call|response|result|output)s?\b"

CONTROL: tuple[tuple[tuple[str, ...], str], ...] = (
    (("<|", "<｜"), r"[^\s|｜<>][^|｜<>\n]{0,60}+[|｜]>"),  # <|im_start|> <|eot_id|> <｜tool▁call▁begin｜>
    (_each("< </", "| ｜"), LETTER),  # <|channel> <｜DSML｜invoke
    (("<",), rf"{LETTER}\w{{0,40}}+[|｜]"),  # <channel|> <tool_call|> <ifm|think>
    (_each("<< <</", "SYS>>"), ""),
    (_each("< </", "s bos eos pad unk", ">"), ""),
    (_each("<", "start end", "_of_", "turn image text role", ">"), ""),
    (_each("< </", "seed mm minimax longcat steptml atem rfl", ":"), r"\w"),
    (_each("< </", "tool function", "_", "call response result output"), r"(?i:s)?\b"),
    (("<",), rf"\s\s{{0,3}}+/?\s{{0,4}}+(?i:{CALL_WORDS})"),
    (("</",), rf"\s\s{{0,3}}+(?i:{CALL_WORDS})"),
    (_each("< </", "tool tools"), r"[ >]"),
    (_each("< </ <antml: </antml:", "invoke parameter"), r"\b"),
    (_each("<", "function= parameter="), ""),
    (_each("< </", "think> thinking>"), ""),
    (_each("[ [/", "INST] THINK] ARGS] CALL_ID]"), ""),
    (("[", "[/"), r"[a-zA-Z]{3,20}+_[a-zA-Z_]{3,20}+\]"),
    (("]<]minimax[>[",), ""),
)
"""Control tokens by family: how each may begin, and the pattern of the rest.

Every chat template spells its own, few spell them alike.  Sources: formats.md §3 and §6.1, and the chat templates of
Llama 2-4, Qwen, DeepSeek, Mistral, Gemma, GLM and gpt-oss.
"""

ORDINARY = frozenset({"```json"})
"""Spellings of a row that are everyday text as well; the judge tells those by place and by name."""
TELLING = re.compile(r"[^\W\d_].*[^\w\s]|[^\w\s].*[^\W\d_]", re.DOTALL)
"""A marker worth breaking holds a letter and a sign: a bare bracket, quote or newline is everyday text."""
NAME_IN_TAG = "{name}"
"""Tags that are a tool's name are everyday markup until the tools are known: provenance guards those."""
SIGN = re.compile(r"\W")
FIELD = re.compile(r"\{\w+\}")
WORD_ENDS = r"(?!(?<=\w)\w)"
"""After a marker that ends in a letter no letter follows: `<tool ` is not found in `<toolbox>`."""
JOINERS = re.compile(f"{JOINER}({JOINER}?)")


def neutralise(text: str, dialects: Iterable[Dialect] = ALL) -> str:
    """`text` with every marker of `dialects` and every control token broken by a joiner after its first character."""
    text, finders = doubled(text), _finders_of(tuple(dialects))
    if len(text) <= PIECE:
        return _broken(finders, text)
    return "".join(_pieces(finders, text))


def doubled(text: str) -> str:
    """`text` with its own joiners doubled, by which `restore` knows them."""
    return text.replace(JOINER, JOINER + JOINER)


def _broken(finders: _Finders, text: str) -> str:
    """`text` with each marker that begins in the first piece of it broken."""
    at = finders.starts(text)
    if not at:
        return text
    edges = (0, *[start + 1 for start in at if start < PIECE], len(text))
    return JOINER.join([text[begin:end] for begin, end in pairwise(edges)])


def _pieces(finders: _Finders, text: str) -> Iterator[str]:
    """`text` piece by piece: one search over all of a long text would keep every other thread waiting."""
    for at in range(0, len(text), PIECE):
        ahead = text[at + PIECE : at + PIECE + REACH]
        made = _broken(finders, text[at : at + PIECE] + ahead)
        yield made[: len(made) - len(ahead)]


def restore(text: str) -> str:
    """The text that `neutralise` was given."""
    return JOINERS.sub(r"\1", text)


@per_object
def _finders_of(dialects: tuple[Dialect, ...]) -> _Finders:
    """The very tuple that was asked for before is found without hashing a hundred rows."""
    return _finders(_markers(dialects))


@lru_cache(maxsize=64)
def _markers(dialects: tuple[Dialect, ...]) -> tuple[str, ...]:
    """The telling spellings of the rows, longest first."""
    found = {m.strip() for d in dialects for m in _spellings(d)}
    telling = (m for m in found if m not in ORDINARY and NAME_IN_TAG not in m and TELLING.search(m))
    return tuple(sorted(telling, key=lambda m: (-len(m), m)))


def _spellings(dialect: Dialect) -> Iterable[str]:
    spans = [dialect.section, dialect.call, dialect.tool, dialect.body, *dialect.reasoning]
    if dialect.segments is not None:
        yield from (*dialect.segments.open, *dialect.segments.head, *dialect.segments.close)
    if isinstance(dialect.args, TaggedArgs):
        spans += [dialect.args.key, dialect.args.value]
    yield from (m for s in spans for m in (*s.open, *s.close))
    if dialect.listing is Listing.ARRAY:
        yield from (f"{m.strip()}[" for m in dialect.section.open)  # `functools` alone is everyday text
    yield from dialect.quiet
    if not dialect.result.startswith("{{"):
        yield from FIELD.split(dialect.result)


class _Worded(NamedTuple):
    """What finds the markers that begin with a letter, of which the `longest` has so many characters.

    Such letters are a third of ordinary text, signs that end such a marker are few: one is looked for before these.
    `first` matches its first character, `last` its last one, in a text read backwards.
    """

    first: re.Pattern[str]
    last: re.Pattern[str]
    longest: int

    def starts(self, text: str) -> list[int]:
        """Where they begin in `text`."""
        size, reach = len(text), self.longest
        ends = [size - found.start() for found in self.last.finditer(text[::-1])]
        if 2 * reach * len(ends) > size:
            ends, reach = [size], size
        return [
            found.start() for end in ends
            for found in self.first.finditer(text, max(0, end - reach), end + reach + 1) if found.start() < end
        ]  # fmt: skip


class _Finders(NamedTuple):
    """What finds markers, wherever one begins (also inside another): `signed` those that begin with a sign."""

    signed: re.Pattern[str]
    worded: _Worded | None

    def starts(self, text: str) -> list[int]:
        """Where they begin in `text`."""
        at = [found.start() for found in self.signed.finditer(text)]
        begun = [] if self.worded is None else self.worded.starts(text)
        return sorted({*at, *begun}) if begun else at


@lru_cache(maxsize=64)
def _finders(markers: tuple[str, ...]) -> _Finders:
    signed = [marker for marker in markers if not marker[0].isalpha()]
    worded = [marker for marker in markers if marker[0].isalpha()]
    return _Finders(_finder((*CONTROL, (signed, WORD_ENDS))), _worded(worded) if worded else None)


def _worded(markers: Sequence[str]) -> _Worded:
    last = [marker[::-1] for marker in markers if not any(map(marker.startswith, _ended(marker, markers)))]
    return _Worded(_finder(((markers, WORD_ENDS),)), _finder(((last, ""),)), max(map(len, markers)))


def _ended(marker: str, markers: Iterable[str]) -> Iterator[str]:
    """The other markers that end in a sign: where `marker` goes on from one, that is found in its place."""
    return (one for one in markers if one != marker and SIGN.match(one[-1]))


def _finder(markers: Iterable[tuple[Iterable[str], str]]) -> re.Pattern[str]:
    """Matches the first character of any marker: how each may begin, and the pattern of the rest.

    The first characters stand in one set, so that the search runs over ordinary text at full speed; what follows is a
    tree by character, so that at each place one branch is tried, however many markers there are.
    """
    tree: _Tree = {}
    for opens, rest in markers:
        for opening in opens:
            _grow(tree, opening, rest)
    firsts = "".join(sorted({case for c in tree for case in _cases(c)}))
    # The tree is asked from behind the first character: before the set it would make the search a slow one.
    return re.compile(f"[{re.escape(firsts)}](?<=(?={_branches(tree)})(?s:.))")


_Tree: TypeAlias = dict[str, "_Tree"]
"""Markers by their characters; under a key of several characters, or none, what is asked where one ends."""


def _grow(tree: _Tree, opening: str, rest: str) -> None:
    for character in opening:
        tree = tree.setdefault(_cases(character)[0], {})
    tree[END + rest] = {}


def _branches(tree: _Tree) -> str:
    ways = [key.removeprefix(END) if key.startswith(END) else _case(key) + _branches(tree[key]) for key in tree]
    return ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"


END = "end "
"""Before what is asked where a marker ends."""


@lru_cache(maxsize=1024)
def _cases(character: str) -> tuple[str, ...]:
    """The characters that a pattern without case takes for this one, the same ones for each of them."""
    asked = re.compile(re.escape(character), re.IGNORECASE)
    known = {character, character.upper(), character.lower(), *OTHER_CASES}
    return tuple(sorted(case for case in known if asked.fullmatch(case)))


def _case(character: str) -> str:
    """The same as a set: unlike a character without case, it is passed over at once where it does not fit."""
    cases = _cases(character)
    return re.escape(character) if len(cases) == 1 else f"[{''.join(map(re.escape, cases))}]"
