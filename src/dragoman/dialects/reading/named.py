"""Openers with a declared tool's name in them: `<read_file`, `read_file[ARGS]`, `read_file(`.

Finds one where it stands, however many tools there are: the name is read as a word and looked up.  Knows forms of
openers and declared names; not what follows them.

Contract: a decision needs no more text than what is asked for (`UNDECIDED`), so any chunking gives the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from ...late import late
from ...lenient.source import Need, Source, same
from ...records import NamedTuple
from ..judge.declared import HEAD, MAX_WORD, PRINT, WHOLE, WORD, WORDS, Declared
from .compiled import Form, Row

LINE_END = late(r":?[ \t]*(?:\r?\n|(?P<cut>\r?\Z))")
"""What stands behind a name that has a line of its own."""
BLANKS = {"(": re.compile(""), "{": re.compile(r"[ \t]*+")}
BRACKETS = frozenset("({")
"""Behind a name they begin its arguments, and are no part of the opener."""
PRINT_OPEN = f"{PRINT}("
PRINTED = re.compile(rf"(?:{PRINT}\()*+")
ENOUGH = 2 * len(PRINT_OPEN) + HEAD
"""So much of a text tells whether a name begins in it, unless it is printed as it is printed."""
TAIL = ".:/"
"""Signs of a name that may also end it: `name:` on a line of its own, `<name/>`."""
SIGNS = r"\w$@"
NAME_SIGNS = rf"{SIGNS}.\-:/\\"
"""Behind one of these no name begins: it goes on."""
goes_on = re.compile(rf"[{NAME_SIGNS}]").match
"""Is this sign one of a name?"""
BEGUN = re.compile(rf"[{SIGNS}][\w.\-:/$@\\]{{0,{HEAD - 1}}}")
"""So much of a name tells most words from it."""


class Opener(NamedTuple):
    """An opener that stands somewhere: its form, the declared tool, and where it ends."""

    form: Form
    name: str
    end: int


class Fitting(NamedTuple):
    """Forms that may stand where a sign does, what stands before their names, and whether one of these does."""

    forms: tuple[Form, ...]
    befores: tuple[str, ...]
    begin: Callable[[str, int], object] | None


UNDECIDED = Opener(("", ""), "", -1)


def opener(
    names: Declared, forms: Iterable[Form], buf: str, at: int, *, eof: bool
) -> Opener | None:
    """The first of `forms` that stands at this place with a declared name; `UNDECIDED` where more text may tell."""
    undecided = None
    for form in forms:
        found = opened(form, names, buf, at, eof=eof)
        if found is UNDECIDED:
            undecided = found
        elif found is not None:
            return undecided or found
    return undecided


def going_on(forms: tuple[Form, ...], buf: str, at: int) -> tuple[Form, ...]:
    """Those of `forms` of which the sign behind the word that stands here may be one, in a text that has ended."""
    word = WORD.match(buf, at)
    if word is None:
        return forms
    end = BLANKS["{"].match(buf, word.end()).end()  # type: ignore[union-attr]
    return _behind_sign(forms, buf[end : end + 1])


@lru_cache(maxsize=1024)
def _behind_sign(forms: tuple[Form, ...], sign: str) -> tuple[Form, ...]:
    return tuple(form for form in forms if form[0] or not form[1] or (sign and same(form[1][0], sign)))


def opened(form: Form, names: Declared, buf: str, at: int, *, eof: bool) -> Opener | None:
    """The opener of this form that stands at this place with a declared name; `UNDECIDED` where more text may tell."""
    before, behind = form
    if not buf.startswith(before, at):
        return UNDECIDED if not eof and before.startswith(buf[at:]) else None
    start = at + len(before)
    if behind == "(" and PRINT not in names:
        start = PRINTED.match(buf, start).end()  # type: ignore[union-attr]
    word = WORD.match(buf, start)
    if word is None:
        return UNDECIDED if start == len(buf) and not eof else None
    if word.end() == len(buf) and not eof and len(word.group()) < MAX_WORD:
        prints = behind == "(" and PRINT.startswith(word.group())
        return UNDECIDED if prints or names.may_begin(word.group().rstrip(TAIL)) else None
    written = word.group()
    spelt, meant = names.both(written)
    name = meant if behind in BRACKETS else spelt or (behind and meant)
    end = word.end()
    if not name and written[-1] in TAIL:
        name, end = names.spelt(written.rstrip(TAIL)), start + len(written.rstrip(TAIL))
    return _behind(form, name, buf, end, eof) if name else None


def _behind(form: Form, name: str, buf: str, end: int, eof: bool) -> Opener | None:
    """Does what must follow the name follow it?"""
    before, behind = form
    if behind in BRACKETS:
        after = BLANKS[behind].match(buf, end).end()  # type: ignore[union-attr]
        if after == len(buf):
            return None if eof else UNDECIDED
        return Opener(form, name, end) if buf[after] == behind else None
    if not behind and not before:
        found = LINE_END.match(buf, end)
        if found is None:
            return None
        return UNDECIDED if found["cut"] is not None and not eof else Opener(form, name, end)
    end = BLANKS["{"].match(buf, end).end() if behind else end  # type: ignore[union-attr]
    given = buf[end : end + len(behind)]
    if same(given, behind):
        return Opener(form, name, end + len(behind))
    return UNDECIDED if not eof and len(given) < len(behind) and same(given, behind[: len(given)]) else None


@lru_cache(maxsize=256)
def _by_sign(forms: tuple[Form, ...]) -> Mapping[str, Fitting]:
    """The forms that may stand where this sign does; under "", where it is one of a name."""
    found = {"": Fitting(tuple(form for form in forms if not form[0]), ("",), None)}
    for sign in {before[0] for before, _ in forms if before}:
        fitting = tuple(f for f in forms if f[0][:1] == sign or (not f[0] and WORD.match(sign)))
        befores = tuple({before: None for before, _ in fitting})
        begun = "|".join(map(re.escape, befores))
        found[sign] = Fitting(fitting, befores, re.compile(rf"(?:{begun})(?=[{SIGNS}])").match)
    return found


def forms_at(names: Declared, forms: tuple[Form, ...], buf: str, at: int, *, eof: bool) -> tuple[Form, ...]:
    """Those of `forms` that may stand at this place, in order: by the sign that stands there, and the word."""
    if at == len(buf):
        return forms
    by_sign = _by_sign(forms)
    found = by_sign.get(buf[at])
    if found is None:
        if eof and not begins_word(names, buf, at):
            return ()
        return by_sign[""].forms if _may_name(names, buf, at, eof=eof) else ()
    if not eof:
        return found.forms
    if found.begin is not None and found.begin(buf, at) is None:
        return ()
    for before in found.befores:
        if buf.startswith(before, at) and begins_word(names, buf, at + len(before)):
            return found.forms
    return ()


def begins_name(heads: frozenset[str], text: str, at: int) -> bool | None:
    """May a name with one of these `heads` begin here, by its first characters?  None: more text must tell."""
    found = BEGUN.match(text, at)
    if found is None:
        return None if at == len(text) else False
    begun = found.group()
    if "\\" in begun:
        return True
    folded = begun.casefold()
    if folded[:HEAD] not in heads:
        return False
    if len(begun) == HEAD or folded + WHOLE in heads:
        return True
    return None if found.end() == len(text) else False


def begins_word(names: Declared, text: str, at: int) -> bool:
    """The same of a word in a text that has ended; what a call gives may be printed.

    Lines begin with the same words again and again: what was found of a word's first signs is remembered.
    """
    begun = text[at : at + ENOUGH]
    found = names.begun.get(begun)
    if found is None:
        found = _begins_word(names.heads, text, at)
        word = WORD.match(begun) if found and not begun.startswith(PRINT_OPEN) else None
        if word is not None and word.end() < len(begun):  # all of it was seen
            found = _may_name(names, begun, 0, eof=True)
        if not begun.startswith(PRINT_OPEN * 2):
            if len(names.begun) >= WORDS:
                names.begun.clear()
            names.begun[begun] = found
    return found


def _begins_word(heads: frozenset[str], text: str, at: int) -> bool:
    while text.startswith(PRINT_OPEN, at):
        if begins_name(heads, text, at):
            return True
        at += len(PRINT_OPEN)
    return begins_name(heads, text, at) is True


def _may_name(names: Declared, buf: str, at: int, *, eof: bool) -> bool:
    """May the word that stands here be a declared name, or the beginning of one, or print what one gives?"""
    word = WORD.match(buf, at)
    if word is None:
        return at == len(buf) and not eof
    if word.end() == len(buf) and not eof:
        return True
    written = word.group()
    if any(names.both(written)):
        return True
    if printed := PRINTED.match(buf, at).end() - at:  # type: ignore[union-attr]
        return _may_name(names, buf, at + printed, eof=eof)
    return written[-1] in TAIL and bool(names.spelt(written.rstrip(TAIL)))


def named_rows(
    names: Declared, forms: Mapping[Form, tuple[Row, ...]], src: Source, ahead: int = 0
) -> Need[tuple[Row, ...]]:
    """The rows that a declared name may open so far ahead of the source's place."""
    found: dict[Row, None] = {}
    for form in forms_at(names, tuple(forms), src.buf, src.pos + ahead, eof=src.eof) if names else ():
        while (one := opener(names, (form,), src.buf, src.pos + ahead, eof=src.eof)) is UNDECIDED:
            yield
        if one is not None:
            found |= dict.fromkeys(forms[form])
    return tuple(found)


SOON = 4
"""So many signs of a mark beside a name are looked at for where one may stand: longer patterns take long to compile."""


@lru_cache(maxsize=256)
def leads(forms: tuple[Form, ...], *, line: bool, taken: bool = False) -> tuple[str, ...]:
    """Patterns of one character each that may begin one of these forms; on a `line` of its own, or anywhere.

    Of a name, `HEAD` characters may be `taken`.
    """
    found = list(dict.fromkeys(_begins(before) for before in sorted({before for before, _ in forms if before})))
    behind = sorted({b for before, b in forms if not before})
    if behind:
        tails = "|".join(dict.fromkeys(_tail(b if taken else b[:SOON]) for b in behind))
        soon = "".join(sorted({c for b in behind for c in ((b[0], b[0].swapcase()) if b else "\r\n")}))
        behind_word = rf"[\w.\-:/$@\\]{{0,{MAX_WORD}}}+"
        begun = rf"[\w.\-:/$@]{{0,{HEAD - 1}}}+" if taken else ""
        word = rf"[{SIGNS}]{begun}(?={behind_word}[ \t]*+(?:[{re.escape(soon)}]|\Z))(?={behind_word}(?:{tails}|\Z))"
        found.append(word if line else rf"(?<![{NAME_SIGNS}]){word}")
    return tuple(found)


def _begins(before: str) -> str:
    """A pattern for the first character of what stands before a name, with the rest of it, or what there is, behind."""
    rest = rf"(?:[{SIGNS}]|\Z)" if len(before) <= SOON else ""
    for c in reversed(before[1:SOON]):
        rest = rf"(?:{re.escape(c)}{rest}|\Z)"
    return rf"{re.escape(before[0])}(?={rest})"


def _tail(behind: str) -> str:
    """A pattern for what stands behind the name, or for as much of it as there is."""
    if behind in BRACKETS:
        return rf"{BLANKS[behind].pattern}(?:{re.escape(behind)}|\Z)"
    if not behind:
        return r"[ \t]*+(?:\r?\n|\r?\Z)"
    pattern = ""
    for c in reversed(behind):
        pattern = rf"(?:{re.escape(c)}{pattern}|\Z)"
    return rf"[ \t]*+(?i:{pattern})"
