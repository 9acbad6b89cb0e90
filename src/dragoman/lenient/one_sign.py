"""What a damaged JSON text was before one kind of sign in it went wrong: candidates, each strict JSON.

For a text that no reader could read: all its quotes are escaped once more, a list has lost a bracket, `=` stands for a
colon, or a key has lost a quote.  Each is undone where it shows, and what comes out counts only where it is JSON to the
letter: so what is damaged besides has no reading here.  Knows which keys are wanted and what stands under them; nothing
of tools or calls, and not which of several candidates is meant.

Contract of `readings`: it takes steps in proportion to the text, and gives few candidates; nothing of the text is left
out of any.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, takewhile

from ..late import late
from ..records import NamedTuple
from ..schema.validation import ANYTHING, Shape
from ..types import Edit

STRING = r'"(?:[^"\\]++|\\.)*+"'
TOKEN = late(rf'{STRING}|[{{}}\[\],:]|[^\s{{}}\[\],:"]++|"', re.DOTALL)
PAIR = late(
    rf'(?:(?P<string>{STRING})|(?<=[{{,\s])(?P<bare>[A-Za-z_$][\w$-]*+))\s*+(?P<pair>=>?)(?=\s*+["\w{{\[-])'
    rf'|{STRING}|(?P<open>")',
    re.DOTALL,
)
"""A key with an equals sign or an arrow behind it; other strings are passed, and one that never ends is told."""
UNOPENED = late(r'[{,]\s*+(?P<key>[A-Za-z_$][\w$-]*+)"\s*+:')
UNCLOSED = late(r'[{,]\s*+"(?P<key>[A-Za-z_$][\w$-]*+)\s*+:(?!\s*+"\s)')
"""(in `"key:" text"` the quote behind the colon is perhaps the key's own)"""
MOST_QUOTES = 8
"""A text with more keys that lack a quote lacks more than one."""
MOST_SIGNS = 4096
"""Of a text with more strings, words and signs no bracket is missed."""
ESCAPED = late(r'[{\[](?:\\[nrt]|[\s{\[]){0,64}+\\"')
"""An object, or a list of them, whose first key stands in escaped quotes."""
CALLED = late(r'\((?:[^"\\]|\\(?!"))*+\\"')
OVER = late(r'(?P<run>\\*+)"|\\++|[(){}\[\]]')
DOUBLED = late(r"(?<!\\)\\\\(?P<letter>[^\\\"])")
"""Behind two backslashes and no more, a letter: an escape of the text inside, or a backslash doubled as JSON has it."""
PLAIN_DOUBLED = frozenset("nu")
"""Such letters that in a text are an escape, and little else."""
DRIVE = late(r"\b[A-Za-z]:\\\\")


class Reading(NamedTuple):
    """What the text may have been, and what was mended for it."""

    text: str
    edit: Edit


def readings(text: str, wanted: Mapping[str, Shape]) -> Iterator[Reading]:
    """What `text`, one object or several, may have been; `wanted` are the keys that may stand in it."""
    text = _in_double_quotes(text)
    escaped, keyed = over_escaped(text, "{", is_json), (*_paired(text, wanted), *_quoted(text, wanted))
    for reading in (*escaped, *keyed, *_bracketed(text, wanted)):
        if is_json(reading.text):
            yield reading


def is_json(text: str) -> bool:
    """Is this JSON to the letter: one value, or several with commas between?"""
    try:
        json.loads(f"[{text}]")
    except (ValueError, RecursionError):
        return False
    return True


def _in_double_quotes(text: str) -> str:
    """A text in single quotes throughout, with those of JSON; where one is an apostrophe, it comes out as no JSON."""
    return text if '"' in text or "\\" in text else text.replace("'", '"')


# ── escaped once more ────────────────────────────────────────────────────────


def over_escaped(text: str, opener: str, is_whole: Callable[[str], bool]) -> Iterator[Reading]:
    """Values in brackets, all of whose quotes and backslashes are escaped, as in a string, but without its quotes."""
    begun = ESCAPED.search(text) if opener == "{" else CALLED.match(text)
    end = _escaped_end(text, begun.start()) if begun is not None else 0
    if begun is None or not end:
        return
    escaped = text[begun.start() : end]
    try:
        inner = json.loads(f'"{escaped}"', strict=False)
    except ValueError:
        return
    if is_whole(inner) and not _is_plainly_quoted(escaped, is_whole):
        yield Reading(text[: begun.start()] + inner + text[end:], Edit("over_escaped"))


def _escaped_end(text: str, start: int) -> int:
    """Where the object ends that begins here; 0 where it does not, or a quote in it is not escaped."""
    depth, inside = 0, False
    for sign in OVER.finditer(text, start):
        if sign["run"] is not None:
            if not sign["run"]:
                return 0
            inside ^= len(sign["run"]) == 1
        elif not inside and sign.group()[0] != "\\":
            depth += 1 if sign.group() in "{[(" else -1
            if not depth:
                return sign.end()
    return 0


def _is_plainly_quoted(escaped: str, is_whole: Callable[[str], bool]) -> bool:
    """May its quotes alone be escaped, and its backslashes stand as they should?  Then a text in it has two readings.

    What looks like a line's end is one.
    """
    doubled = {found["letter"] for found in DOUBLED.finditer(escaped)}
    if not doubled or not is_whole(escaped.replace('\\"', '"')):
        return False
    return not doubled <= PLAIN_DOUBLED or DRIVE.search(escaped) is not None


# ── an equals sign for a colon ───────────────────────────────────────────────


def _paired(text: str, wanted: Mapping[str, Shape]) -> Iterator[Reading]:
    """Keys that are parted from their values as in a program."""
    pieces, done = list[str](), 0
    for found in PAIR.finditer(text):
        key = found["bare"] or (found["string"] or "")[1:-1]
        if found["open"] or (found["pair"] and key not in wanted):
            return
        if found["pair"]:
            pieces += [text[done : found.start()], f'"{key}":']
            done = found.end()
    if pieces:
        yield Reading("".join([*pieces, text[done:]]), Edit("pair", "", "=", ":"))


# ── a quote of a key ─────────────────────────────────────────────────────────


def _quoted(text: str, wanted: Mapping[str, Shape]) -> Iterator[Reading]:
    """A key that has lost the first of its quotes, or the last."""
    places = [found.start("key") for found in UNOPENED.finditer(text) if found["key"] in wanted]
    places += [found.end("key") for found in UNCLOSED.finditer(text) if found["key"] in wanted]
    for at in places if len(places) <= MOST_QUOTES else ():
        yield Reading(f'{text[:at]}"{text[at:]}', Edit("missing_quote", "", "", '"'))


# ── a bracket of a list ──────────────────────────────────────────────────────


class _Open:
    """A bracket that is open: where it stands among the signs, under which key, and what is known of its inside."""

    __slots__ = ("at", "colon", "key", "nests", "sign")

    def __init__(self, sign: str, at: int, key: str) -> None:
        self.sign, self.at, self.key = sign, at, key
        self.nests, self.colon = False, -1


def _bracketed(text: str, wanted: Mapping[str, Shape]) -> Iterator[Reading]:
    """A list that has lost its last bracket, where a key or the end of its object shows it, or its first."""
    tokens = list(islice(takewhile(lambda token: token.group() != '"', TOKEN.finditer(text)), MOST_SIGNS))
    signs = [token.group() for token in tokens]
    found = missing_bracket(signs, wanted) if len(tokens) < MOST_SIGNS else None
    if found is not None:
        index, bracket = found
        at = tokens[index].start()
        yield Reading(text[:at] + bracket + text[at:], Edit("missing_bracket", "", "", bracket))


def missing_bracket(signs: Sequence[str], wanted: Mapping[str, Shape]) -> tuple[int, str] | None:
    """Before which sign a bracket is missing, and which; None where none, or where it is not clear."""
    stack: list[_Open] = []
    for at, sign in enumerate(signs):
        top = stack[-1] if stack else None
        if sign in ("{", "["):
            if top is not None and top.sign == "[" == sign:
                top.nests = True
            stack.append(_Open(sign, at, _key_before(signs, at)))
        elif top is None:
            continue
        elif sign == ":" and top.sign == "{":
            top.colon = at
        elif sign == ":":
            return (at - 2, "]") if _is_key(top, wanted, signs, at) and _ends(top, wanted, signs[: at - 2]) else None
        elif sign == "}" and top.sign == "[":
            return (at, "]") if _ends(top, wanted, signs[:at]) else None
        elif sign == "]" and top.sign == "{":
            return (top.colon + 1, "[") if _begins(top, wanted, signs[:at]) else None
        elif sign in ("}", "]"):
            stack.pop()
    return None


def _key_before(signs: Sequence[str], at: int) -> str:
    """The key whose value begins at this sign; "" where none does."""
    return signs[at - 2][1:-1] if at > 1 and signs[at - 1] == ":" and signs[at - 2][:1] == '"' else ""


def _is_key(opened: _Open, wanted: Mapping[str, Shape], signs: Sequence[str], at: int) -> bool:
    """Is the string before this colon a key of the object round the list, and of nothing in it?"""
    key = signs[at - 1][1:-1]
    if at < 2 or signs[at - 2] != "," or signs[at - 1][:1] != '"' or key not in wanted:
        return False
    return not wanted.get(opened.key, ANYTHING).item.has(key)


def _ends(opened: _Open, wanted: Mapping[str, Shape], signs: Sequence[str]) -> bool:
    """Is all that stands behind this bracket a list by what is wanted, and its last one in no text?"""
    items = signs[opened.at + 1 :]
    whole = not opened.nests and bool(items) and not items[-1].endswith(']"')
    return whole and _is_list(wanted.get(opened.key, ANYTHING), items, wanted)


def _begins(opened: _Open, wanted: Mapping[str, Shape], signs: Sequence[str]) -> bool:
    """Is all that stands behind this object's last colon one, and its first bracket in no text?"""
    items = signs[opened.colon + 1 :] if opened.colon > 0 else ()
    whole = bool(items) and not items[0].startswith('"[')
    return whole and _is_list(wanted.get(signs[opened.colon - 1][1:-1], ANYTHING), items, wanted)


def _is_list(shape: Shape, signs: Sequence[str], wanted: Mapping[str, Shape]) -> bool:
    """Is a list wanted, of what is no list and of a known kind, and is none of its texts perhaps a key behind it?"""
    item = shape.item
    plain = bool(item.kinds) and "array" not in item.kinds and ("object" not in item.kinds or bool(item.keys))
    if shape.kinds - {"null"} != {"array"} or not plain:
        return False
    texts = (sign[1:-1] for sign in signs if sign[0] == '"')
    return "object" in item.kinds or all(text not in wanted for text in texts)


__all__ = ["MOST_SIGNS", "Reading", "is_json", "missing_bracket", "over_escaped", "readings"]
