"""How a line begins that outlasts itself: another party's turn, a fence, a diff, a listing, a block that quotes.

Knows these signs as one pattern; nothing of what they open, or of dialects.
"""

from __future__ import annotations

import re

PARTIES = ("User", "USER", "Human", "HUMAN", "Instruction")
LINE_SIGNS = "`~@+#*_[{."
"""What these begin with that are not another party."""
LINE_MARKS = (
    rf"(?=[{re.escape(LINE_SIGNS)}{''.join(sorted({party[0] for party in PARTIES}))}])"
    r"(?:\.(?:[. ]?\w|[^\s.])|`{3}|~{3}|@@|\+{3}|#\+"
    rf"|(?:#{{1,6}}[ \t]*+)?(?:[*_]{{2}})?(?:{'|'.join(PARTIES)})"
    r"|\[(?:source|listing|literal|example|quote|verse)\b|\{(?i:code|noformat|quote)\b)"
)
"""Their first signs come once more before the choice, for most lines begin with none of them."""
