"""Words without quotes as models write values: numbers, booleans, null, in JSON's spelling, Python's or neither.

Knows single words; `reader.py` finds them.  Contract: no digit of a number is lost; what is no literal is None.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..late import late

MAX_DIGITS = 4000
"""CPython refuses to convert longer integers (sys.set_int_max_str_digits)."""

BARE = late(r"[^\s,\[\]{}()\"'`:=<>|;]+")
COMMENTED = late(r"(?:-?\d[\d.eE+-]*|true|false|null|True|False|None)(?=//|/\*)")
"""A literal with a comment directly behind it."""
NULL = late(r"(?:null|None)(?!\w)")
QUOTED_NULL = late(r"([\"'])(?:null|[Nn]one)\1")
NUMBER = late(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
LOOSE_NUMBER = late(r"([+-]?)0*(?=[\d.])(\d*)(?:\.(\d*))?([eE][+-]?\d+)?")
INTEGER = late(r"([+-]?)(0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|[1-9]\d*(?:_\d+)+)")
"""An integer as programs write it: in another base, or with its digits in groups."""
SUFFIXED = late(r"-?\d+[lLn]")
"""An integer as Java (`5L`) and JavaScript (`5n`) write a long one."""
WORDS = frozenset({"true", "false", "null"})
OTHERS = {
    "True": "true", "False": "false", "None": "null",
    "TRUE": "true", "FALSE": "false", "NULL": "null", "undefined": "null", "nil": "null",
}  # fmt: skip
"""Python's words, and those of other languages."""

EXPRESSION = late(r"\*|%|\.\.\.|\\|[\w)]\s*\+\s*\w|\s[-/]\s|\b(?:lambda|await|new|for|if)\s|^[^\w\s#@$/.~+-]")
"""What shows that a text would have to be evaluated."""
TYPES = frozenset(
    {"str", "string", "int", "integer", "float", "number", "bool", "boolean", "list", "array", "dict", "object", "any"}
)


def literal(word: str) -> tuple[str, str] | None:
    """A number, boolean or null as JSON, and the kind of mend it took ("" for none); None when it is none of these."""
    if word in WORDS or (NUMBER.fullmatch(word) and len(word) <= MAX_DIGITS and not is_endless(word)):
        return word, ""
    if word in OTHERS:
        return OTHERS[word], "python_word"
    loose = LOOSE_NUMBER.fullmatch(word if not SUFFIXED.fullmatch(word) else word[:-1])
    if loose and (loose[2] or loose[3]) and len(word) <= MAX_DIGITS and not is_endless(word):
        return _number(loose), "number"
    whole = INTEGER.fullmatch(word) if len(word) <= MAX_DIGITS else None
    return (f"{whole[1].strip('+')}{int(whole[2], 0)}", "number") if whole else None


def is_endless(number: str) -> bool:
    """Is this larger than any number that JSON's readers tell from infinity?"""
    return ("e" in number or "E" in number) and abs(float(number)) == float("inf")


def _number(found: re.Match[str]) -> str:
    sign, whole, fraction, power = found.groups()
    point = "" if fraction is None else f".{fraction or '0'}"
    return ("-" if sign == "-" else "") + (whole or "0") + point + (power or "")


def is_whole(number: str) -> bool:
    """Has a number with a point no fraction?  (A float would hide the fraction of a long one.)"""
    if "e" in number or "E" in number:
        return float(number).is_integer()
    return not number.partition(".")[2].strip("0")


def is_plain(text: str, path: Sequence[str]) -> bool:
    """Is this text that was meant as it stands: no literal, no expression, and no name of a type or of its own key?"""
    if not text or literal(text) is not None or EXPRESSION.search(text):
        return False
    return text.casefold() not in TYPES and f".{text}" not in path


def is_one_word(word: str) -> bool:
    """Is this one identifier, or several joined by dots or dashes?"""
    return word.isidentifier() or all(p.isidentifier() for p in re.split(r"[-.]", word))
