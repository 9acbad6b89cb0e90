"""Patterns for what marks begin with: by a few signs, so that text without marks is passed over by one search.

Knows spellings of marks, and how words and lines begin; nothing of what marks mean, of rows or of tables.
Contract: a pattern finds each place where one of its marks begins, and perhaps others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from ...late import late
from ..judge.declared import NAMESPACES
from .choices import CUT, either, so_far, trie

FENCE = "```"
LOOK = 6
"""How far is looked behind a character before it is taken for a mark's first: half of all words hold an `f` or `h`."""
NEAR = 3
"""How far behind a sign where few places are looked at: in short texts, and where lines begin.  Half of a pattern is
its last signs, and those of all marks take as long to compile as a page to read."""
WAIT = 24
"""How far where a marker's first characters are waited for rather than read: a word of prose begins like a phrase."""
PLAIN = "#|-+(!=>*"
"""Signs that lines of prose and code begin with, and objects never: where no mark begins so."""
LINE_BEGINS = r"\n[ \t\r]*+(?!\n)"


NAMED = r"[\w$@][\w.:/$@-]?\\|[^\x00-\x7f]"
"""A word that its first signs do not tell from a declared name: one that is escaped, or of another script."""


@lru_cache(maxsize=64)
def surely_on_line(
    lead: re.Pattern[str], begun: frozenset[str], heads: frozenset[str], named: frozenset[str], marks: frozenset[str]
) -> re.Pattern[str]:
    """What `lead` finds on lines, but words that begin neither as marks (`begun`) nor as known names (`heads`).

    Nor does it find what stands before a name (`named`) where none that is known follows, and no mark (`marks`) begins.
    """
    may = rf"(?=[^\w$@]|(?i:{_any(begun | heads)})|{NAMED})"
    every, none = named | marks, list[str]()
    for before in sorted(named - marks):
        longer = [other for other in every if other != before and other.startswith(before)]
        rests = frozenset(other[len(before) :][:NEAR] for other in longer)
        none.append(rf"{re.escape(before)}(?=[\w$@])(?!(?i:{_any(heads | rests)})|{NAMED})")
    return re.compile(lead.pattern.replace(LINE_BEGINS, f"{LINE_BEGINS}{may}(?!{'|'.join(none) or '(?!)'})", 1))


ASIDE = r"[\w$@][!-\[\]-~]{0,255}+"
"""A word up to the first sign that no pattern of names tells of: an escape, or one of another script."""
REST = r"[\w.\-:/$@\\]{0,256}+[ \t]*+"


@lru_cache(maxsize=64)
def exactly_on_line(
    lead: re.Pattern[str], marks: frozenset[str], forms: frozenset[tuple[str, str]], words: str
) -> re.Pattern[str]:
    """The same, but what begins neither with a mark in full, nor as one of `forms` with a name of this choice.

    A namespace and escapes stand only where something must follow the name.
    """
    before = "|".join(map(re.escape, sorted({before for before, _ in forms if before}))) or "(?!)"
    ends = "".join(sorted({sign for _, behind in forms if behind for sign in (behind[0], behind[0].swapcase())}))
    end = f"[{re.escape(ends)}]" if ends else "(?!)"
    spaced = "|".join(map(re.escape, NAMESPACES))
    exact = (
        trie(marks) or "(?!)",
        rf"(?:{before})?(?:[^\x00-\x7f]|print\(|{ASIDE}(?:[^\x00-\x7f\s]|\\{REST}{end})|(?:{spaced}){REST}{end})",
        rf"(?:{before})(?:{words})(?![\w$@-])",
        rf"(?:{words})(?::\d*+)?[ \t]*+(?:{end}|\r?(?:\n|\Z))",
    )
    return re.compile(lead.pattern.replace(LINE_BEGINS, f"{LINE_BEGINS}(?=(?i:{'|'.join(exact)}))", 1))


def _any(words: frozenset[str]) -> str:
    return "|".join(map(re.escape, sorted(words))) or "(?!)"


def on_line(first: str) -> str:
    """A pattern for a line that begins with `first`."""
    return rf"{LINE_BEGINS}(?={first})" if first else r"(?!)"


SOON = 4
"""So many signs of a word that begins a line tell it from most others."""
TOLD = 8
"""So many from nearly all: half of all answers have lines that begin with "Here's"."""
WORD_BEGINS = r"[^\x00-#%-/:-?\[-^`{-\x7f]"
"""No sign of ASCII that no word begins with.  A class of what it is not is looked up without asking Unicode."""


def line_that_may_matter(exact: str, marks: Iterable[str], behind: Iterable[str]) -> str:
    """A pattern for a line that may begin with what `exact` finds, or with a word and what stands `behind` one.

    `marks` are all that `exact` begins with.  Most lines are ruled out by their first sign or four, each held against
    one class, where `exact` takes five looks at each of them.
    """
    every = {mark.casefold() for mark in marks}
    words = {mark for mark in every if LETTER.match(mark)}
    choice = [f"[{first_signs(frozenset(every - words))}](?<=(?={exact}).)"]
    if words:
        places = ({either(word[at]).strip("[]") for word in words} for at in range(min(SOON, *map(len, words))))
        few = [f"[{''.join(sorted(signs))}]" for signs in places]
        told = trie(word[:TOLD] for word in words)
        choice.append(f"{''.join(few)}(?<=(?=(?i:{told})){'.' * len(few)})")
    ends = {sign for b in behind for sign in ((b[0], b[0].swapcase()) if b else "\r\n")}
    if ends:
        stop = re.escape("".join(sorted(ends)))
        soon, exactly = rf"[^\x00- {stop}]*+[ \t]*+(?:[{stop}]|\Z)", rf"[\w.\-:/$@\\]*+[ \t]*+(?:[{stop}]|\Z)"
        choice.append(f"{WORD_BEGINS}(?={soon})(?={exactly})")
    return rf"\n[ \t\r]*+(?:{'|'.join(choice)})"


def first_signs(markers: frozenset[str]) -> str:
    """The first characters of these markers, in either case, for a character class."""
    return re.escape("".join(sorted({c for m in markers for c in (m[0], m[0].upper())})))


def starts(markers: frozenset[str], look: int = LOOK, *, taken: bool = False) -> list[str]:
    """Patterns of one character each that may begin a marker; each begins with a literal, which `re` searches fast.

    What is looked at behind it is `taken` into what is found, or not.

    A letter does so only where a word begins (`glued`): else half of all words would hold one.
    """
    rests: dict[str, set[str]] = {}
    for marker in markers:
        for first in {marker[0], marker[0].upper()}:
            rests.setdefault(first, set()).add(marker[1:look])
    return [
        re.escape(first) + _alone(first) + _ahead(so_far(rest), taken=taken) for first, rest in sorted(rests.items())
    ]


LETTERS, CAPITALS = "A-Za-z", "A-Z"
"""What glues a word to the one before it; a language written without spaces, or in another script, does not, and a
capital behind a small letter begins a word."""
LETTER, GLUED = late(f"[{LETTERS}]"), late(f"[{LETTERS}][a-z]|[{CAPITALS}]{{2}}")


def _alone(first: str) -> str:
    return f"(?<![{LETTERS if first.islower() else CAPITALS}]{first})" if LETTER.match(first) else ""


def glued(before: str, first: str) -> bool:
    """Does a word that begins with `first` only go on with the one that `before` is the last character of?"""
    return GLUED.match(before + first) is not None


def ended(pattern: str) -> str:
    """The pattern where all text is there, so that what ends with it begins nothing: sooner compiled."""
    return pattern.replace(f"{CUT})", ")")


def _ahead(pattern: str, *, taken: bool) -> str:
    return pattern if taken or not pattern else f"(?={pattern})"


def plain_fence(every: frozenset[str], first: str) -> str:
    """A pattern for a fence, opened or closed, behind whose line no call begins: a word does, or another fence.

    It holds nothing of which anything is told, and asks nothing: whoever looks at it may as well pass it.
    """
    first = "|".join((first, *starts(frozenset(mark for mark in every if mark[0] in PLAIN), NEAR)))
    words, info = re.escape(PLAIN), r"[\w+#. \t-]{0,160}+\r?"
    tags = "|".join(re.escape(mark[len(FENCE) :]) for mark in sorted(every) if mark.startswith(FENCE) and mark != FENCE)
    behind = rf"(?=[\w{words}])(?!{first})|```{info}\n\s*+[^\[{{\s]"
    return rf"```(?!(?i:{tags or '`'})){info}\n\s*+(?:{behind})"
