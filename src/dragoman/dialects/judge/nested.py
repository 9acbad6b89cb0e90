"""How deep plain JSON nests, and where it ends: over all of it in one look.

Knows brackets and strings; not what may be wrong with a value, nor what it is.
Contract: as told bracket by bracket.
"""

from __future__ import annotations

import re
from itertools import accumulate

from ...late import late

STRING = r'"(?:[^"\\\n]++|\\.|\n(?![ \t\r]*\n))*+"'
VALUES = late(rf"(?:[\s\d,:.+\-eEtrufalsn]++|[{{}}\[\]]++|{STRING})*+", re.DOTALL)
OTHERS = late(rf"[^{{}}\[\]\"]++|{STRING}", re.DOTALL)
STEPS = {"{": 1, "[": 1, "}": -1, "]": -1}


def over_values(text: str, pos: int, depth: int) -> tuple[int, int]:
    """Behind all that is plain JSON here, and how deep that is; where a value ends in it that holds all, nothing is.

    Read in one look: data of a megabyte has a hundred thousand signs.
    """
    end = VALUES.match(text, pos).end()  # type: ignore[union-attr]
    values = text[pos:end]
    brackets = OTHERS.sub("", values) if '"' in values else values
    opened, closed = brackets.count("{") + brackets.count("["), brackets.count("}") + brackets.count("]")
    if closed < depth:
        return end, depth + opened - closed
    brackets = OTHERS.sub("", brackets)
    depths = list(accumulate([STEPS[sign] for sign in brackets], initial=depth))
    return (end, depths[-1]) if min(depths) > 0 else (pos, depth)
