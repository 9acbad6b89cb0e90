"""What the words directly around a call say against it: enough to ask, never enough to decide.

Words (`hint_words.py`) are wrong either way at times: a hint only turns *run* into *ask*.  Where signs tell it no words
are needed: a sentence that goes on behind the call, an interjection behind it.  Knows sentences; nothing of calls or
markup.
Contract: `before` looks at the last line of what precedes, `behind` at the first line of what follows; both are pure.
Source: judge-rules.md, second edition, C.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ...late import late
from ...records import NamedTuple
from .hint_words import (
    ABOVE,
    AHEAD,
    ANNOUNCES,
    ASKED,
    CLAUSE,
    CONDITION,
    COURTESY,
    EXAMPLE,
    FALTERS,
    HARMLESS,
    HASTE,
    NEGATION,
    OTHERS,
    PARTICLES,
    PAST,
    QUESTION,
    REVOKED,
    SHOWN,
    WONDERS,
    Terms,
    small,
)

KEPT = 600
"""Characters kept for the words before a candidate."""
REACH = 240
"""Characters on either side that are looked at."""
SENTENCES = late(r"\s(?<=[.!?。！？；;]\s)\s*+|(?<=[。！？；])(?=\S)")
PLAIN_SENTENCES = late(r"\s(?<=[.!?;]\s)\s*+")
"""The same in ASCII."""
CLAUSES = late(r"[,;，、；]\s*|\s[—–-]\s")
SPOKEN = 3
"""Words behind a call that can be the rest of a sentence around it."""
LEADS_UP = late(r"[:：]\s*\Z")
FEW = 4
"""Words of a sentence that is too short to speak of anything but what stands right before it."""
FEW_SIGNS = 12
"""The same, in characters, where words have no spaces between them."""
UNSPACED = late(r"[぀-ヿ㐀-鿿]")


class Words(NamedTuple):
    """One kind of words: what they hint at, and whether their sentence must speak of the call besides."""

    hint: str
    terms: Terms
    of_it: bool


REFUSAL = "a prohibition or refusal"
DOUBTS = "second thoughts"
CONDITIONAL = "a condition"
QUERY = "a question"
LEADS = (
    Words(REFUSAL, NEGATION, True),
    Words(QUERY, QUESTION, False),
    Words(CONDITIONAL, CONDITION, False),
    Words("an example", EXAMPLE, True),
    Words("a report of the past", PAST, True),
)
TAILS = (
    Words("a revocation", REVOKED, False),
    Words(DOUBTS, FALTERS, False),
    Words(DOUBTS, ABOVE, False),
    Words(REFUSAL, NEGATION, True),
    Words(QUERY, QUESTION, False),
    Words(CONDITIONAL, CONDITION, False),
    Words("an example", EXAMPLE, True),
)
RECORD = "a line of code or of a record"
ASSIGNS = late(r"(?<![=<>!])=[ \t]*[\w@$#]{0,3}[\"'`\[({]{0,3}\s*\Z")
"""The end of a line that gives a name a value, which does not stand on it."""
ASSIGNED = late(
    r"[ \t]*(?:(?:const|let|var|my|our|local|static|final|auto|char|string|export|set)\b[\w \t:*&<>\[\],$@%]*"
    r"|[$@%\w][\w.\[\]\"'-]*+[ \t]*+(?::[^=\n]{1,20})?)[ \t:?+]*",
    re.IGNORECASE,
)
"""What stands before that, of code or settings: a name, perhaps declared."""
STAMPED = late(r"[ \t]*\[?(?:\d{4}-\d\d-\d\d|\d{1,2}:\d\d)")
"""What the lines of a log or a chat begin with: a time."""
SPEAKS = late(r"[ \t]*<[@+%&~ ]?(?P<nick>[\w\[\]\\^{}|`-]{1,30})>[ \t]*")
"""What the lines of a chat begin with, where they tell no time: who says it."""
SPEAKERS = late(r"^[ \t]*<[@+%&~ ]?([\w\[\]\\^{}|`-]{1,30})>[ \t]+(?=\S)", re.MULTILINE)
RESULT = "a tool's result that the model wrote itself"
"""Before any call it may be a word on the format, or the last result once more; what follows may be invented too."""
GOES_ON = "a sentence that goes on behind it"
POINTS_BACK = frozenset({"a revocation", DOUBTS, "an example", GOES_ON})
"""What words behind a call say of it, and never of the next one."""
ANNOUNCED = frozenset({REFUSAL, "an example", "a report of the past"})
"""What a clause that announces an act has nothing to do with."""

INTERJECTION = late(
    r"\W*(?P<said>[^\W\d_]+['’]?[^\W\d_]*(?:\s[^\W\d_]+['’]?[^\W\d_]*)?)"
    r"(?:\s?(?:,(?=\s|\Z)|[.!]+(?=\s+\S)|\.{2,}|[，、…—–]|[。！](?=\S))|\s-\s)"
)
"""One or two words, set off by a sign: how second thoughts begin in any language.  What is all of a line sums it up."""
LONGEST_UNSPACED = 5
"""Characters of an interjection where words have no spaces between them."""
UNENDED = late(r"[\w,](?:['’]|\s)*\Z")
CONTINUES = late(r"\s*(?:[,;]|(?-i:[a-zß-öø-ÿа-яёα-ω])|と|って|という|のよう|[をにで]|[을를]|라고|라는|的)")

QUOTES = late(r"`[^`]*`|「[^」]*」|\|")
BOXED = late(r"(?:\A|\n)(?:[^\n]*(?:```|~~~)[ \t]*|[ \t]*>[^\n]*|[ \t]*\|[^\n]*|(?: {4}|\t)[^\n]*)\s*\Z")
"""A text that ends in what quotes."""


MIDLINE_FENCE = late(r"\S[^\n]*(?:`{3}|~{3})[\w-]*[ \t]*\r?\n\s*\Z")
"""A fence that opens behind words on its line: what stands in it is no plain object, as a habit may be of those."""


def opens_midline(text: str) -> bool:
    """Does `text` end in a fence that opens behind words on its line?  Only its last line with words may hold one."""
    if "```" not in text and "~~~" not in text:
        return False
    line = text[text.rfind("\n", 0, len(text.rstrip())) + 1 :]
    return ("```" in line or "~~~" in line) and MIDLINE_FENCE.search(line) is not None


def before(text: str, *, inline: bool, after_call: bool = False) -> tuple[str, ...]:
    """What the last sentence before a call says against it.

    `inline`: it stands on the call's line.  `after_call`: right before it stands a call that is text or in doubt; a
    sentence that ends, in a paragraph of its own, speaks of that one, or of what it quotes itself.
    """
    rest, _, line = text.rstrip()[-REACH:].rpartition("\n")
    if _assigns(line) or (inline and (STAMPED.match(line) or _is_said(line, rest))):
        return (RECORD,)
    line = line.strip()
    if not line:
        return ()
    last = (PLAIN_SENTENCES if line.isascii() else SENTENCES).split(line)[-1]
    own = not inline and text.endswith("\n\n") and not AHEAD.stand_in(small(last))
    if own and (after_call or QUOTES.search(line) or BOXED.search(rest)):
        return ()
    return _before(last, inline)


def behind(text: str, lead: str = "") -> tuple[str, ...]:
    """What the first line after a call says against it; `lead` is what stands before the call."""
    line = text.lstrip()[:REACH].partition("\n")[0].strip()
    if not line:
        return ()
    found = _behind(line)
    return (*found, GOES_ON) if _goes_on(lead[-REACH:], line) else found


def _assigns(line: str) -> bool:
    """Is this a line of code or settings that leaves off before a value?"""
    found = ASSIGNS.search(line)
    return found is not None and ASSIGNED.fullmatch(line, 0, found.start()) is not None


def _is_said(line: str, above: str) -> bool:
    """Is this one's line of a chat, in which somebody else spoke above?  A tag looks like a name, but is closed."""
    speaks = SPEAKS.fullmatch(line)
    if speaks is None:
        return False
    return any(other != speaks["nick"] and f"</{other}" not in above for other in SPEAKERS.findall(above))


@lru_cache(maxsize=512)
def _before(line: str, inline: bool) -> tuple[str, ...]:
    line = HASTE.sub(" ", small(line))
    speaks = SHOWN.stand_in(line)
    found = _found(LEADS, line, shown=inline or speaks)
    if QUERY not in found and speaks and ASKED.search(line) and not WONDERS.match(line):
        return (QUERY, *found)
    if REFUSAL not in found and (inline or LEADS_UP.search(line)) and PARTICLES.stand_in(line) and not _announces(line):
        return (REFUSAL, *found)
    if CONDITIONAL not in found and inline and CLAUSE.match(line) and not _announces(line):
        return (CONDITIONAL, *found)
    return found


@lru_cache(maxsize=512)
def _behind(line: str) -> tuple[str, ...]:
    line = COURTESY.sub(" ", small(line)).strip()
    shown = SHOWN.stand_in(line)
    short = _is_short(line) and not LEADS_UP.search(line)
    found = _found(TAILS, line, shown=short or shown)
    if REFUSAL in found and OTHERS.stand_in(line) and not shown:
        found = tuple(hint for hint in found if hint != REFUSAL)
    return (*found, DOUBTS) if DOUBTS not in found and _interjects(line) else found


def _found(table: tuple[Words, ...], line: str, *, shown: bool) -> tuple[str, ...]:
    found = [each.hint for each in table if (shown or not each.of_it) and each.terms.stand_in(line)]
    announced = bool(found) and _announces(SENTENCES.split(line)[0])
    return tuple(dict.fromkeys(hint for hint in found if not (announced and hint in ANNOUNCED)))


def _announces(line: str) -> bool:
    """Does the last clause announce an act, and deny nothing?"""
    clause = [clause for clause in CLAUSES.split(line) if clause][-1:]
    if not any(ANNOUNCES.stand_in(last) for last in clause):
        return False
    return not any(PARTICLES.stand_in(last) or NEGATION.stand_in(last) for last in clause)


def _is_short(line: str) -> bool:
    return len(line) <= FEW_SIGNS if UNSPACED.search(line) else len(line.split()) <= FEW


def _interjects(line: str) -> bool:
    """Does the line open with a word or two that stand for themselves, and are none of those that lead on?"""
    found = INTERJECTION.match(line)
    if found is None:
        return False
    said = found["said"]
    if UNSPACED.search(said) and len(said) > LONGEST_UNSPACED:
        return False
    return HARMLESS.match(said) is None


def _goes_on(lead: str, line: str) -> bool:
    """Does a sentence that began before the call go on behind it?  A word or two are a label or a sign-off."""
    if len(line.split()) < SPOKEN and not UNSPACED.search(line):
        return False
    return UNENDED.search(lead.rstrip()) is not None and CONTINUES.match(line) is not None
